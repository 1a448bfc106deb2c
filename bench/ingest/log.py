"""``bench import`` of a log: a workload log of a machine, or a part of it, is converted to an instance folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ...backends import UnknownName
from ...instances import Instance, write
from ...instances.logs.eurora_batches import BATCHES
from ...instances.logs.latest_starts import latest_start_rule
from ...instances.logs.partitions import partition_names
from ...instances.logs.windows import midnight
from ...instances.traces import open_trace, read_trace
from ...instances.workload import Workload
from ...models.dispatch.objectives import objective_names
from ...models.platform import Platform
from ..errors import WrongUse
from ..log_options import column_names, resources_per_node, time_zone
from ..show import reading
from ..terminal import console_for, say
from .eurora_batch import eurora_batch


def import_log(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="log file")],
    out: Annotated[Path, typer.Option(help="folder of the instance to write")],
    nodes: Annotated[
        int | None, typer.Option(min=1, help="number of nodes; default for SWF: that of its header")
    ] = None,
    cores: Annotated[int | None, typer.Option(min=1, help="cores of a node")] = None,
    memory: Annotated[
        int | None, typer.Option(min=1, help="memory of a node in MB; default: memory is ignored")
    ] = None,
    per_node: Annotated[str, typer.Option(help="other resources of a node: gpus=2,mics=1")] = "",
    queue_from: Annotated[str, typer.Option(help="take the queues from this column: queue or partition")] = "queue",
    partition: Annotated[
        str | None, typer.Option(help="only the jobs of these partitions, names or SWF numbers: 3,4")
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            help="only the jobs submitted in this time (clock of the log): 2012-07-13:23d or 2012-07-13T12:00:6h"
        ),
    ] = None,
    first: Annotated[int | None, typer.Option(min=1, help="only the first n jobs by submit time")] = None,
    load: Annotated[
        float | None, typer.Option(help="rescale the submit times to this offered load, such as 1.2")
    ] = None,
    latest_start: Annotated[
        str | None,
        typer.Option(
            help="latest start of each job: mean-wait (submit time + mean recorded wait of its partition or queue), or "
            "seconds after the submit time; default: none"
        ),
    ] = None,
    zone: Annotated[
        str | None, typer.Option(help="sacct and PBS logs: time zone, such as Europe/Rome; default: UTC")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="sacct --noheader: the names of its columns, as in --format: JobID,Submit,Start,..."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="name of the log in the description; default: name of the file")
    ] = None,
    objective: Annotated[
        str, typer.Option(help=f"objective of the instance: {', '.join(objective_names())}")
    ] = "waiting",
    batch: Annotated[
        int | None,
        typer.Option(min=1, max=3, help="log of Eurora only: the window nearest to this batch of Bridi's thesis, 3.4"),
    ] = None,
) -> None:
    """Convert the log of a machine to an instance.

    Prints what was repaired, left out or could not be read. The instance can be used with bench show, run and simulate.

    Example: bench import swf log.swf.gz --nodes 300 --cores 32 --memory 131072 --window 2012-07-13:23d --out my_days

    Example: bench import swf log.swf.gz --latest-start mean-wait --out my_days

    Example: bench import eurora eurora_jobs_unique.csv --batch 3 --out eurora_batch3

    Example: bench import sacct jobs.txt --nodes 64 --cores 48 --per-node gpus=4 --zone Europe/Rome --out my_days
    """
    form = str(context.info_name)
    if objective not in objective_names():
        raise UnknownName("objective", objective, list(objective_names()))
    if batch is not None:
        others = (nodes, cores, memory, per_node, partition, window, first, load, latest_start, zone, columns)
        if form != "eurora" or any(others) or queue_from != "queue":
            raise WrongUse("--batch: for bench import eurora, with no other options than --out, --name and --objective")
        import_batch(file, out, batch, name or f"eurora_batch{batch}", objective)
        return
    clock = time_zone(zone)
    other_resources = resources_per_node(per_node)
    trace = read_trace(file, form, cores=cores, memory=memory, zone=clock, columns=column_names(columns))
    workload, platform = open_trace(
        trace,
        nodes=nodes,
        cores=cores,
        memory=memory,
        others=other_resources,
        window=window,
        load=load,
        first=first,
        queue_from=queue_from,
        partitions=partition_names(partition),
        latest_start=None if latest_start is None else latest_start_rule(latest_start),
    )
    origin, day = midnight(workload, trace.zone)
    workload = workload.since(origin)
    instance = as_instance(workload, platform, objective, name or trace.name, f"{form} log {file.name}", day)
    try:
        write(instance, out)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    say("\n".join(report_lines(workload, platform)))
    say(f"{out}: {len(workload)} jobs on {len(platform.nodes)} nodes; to see it: bench show {out}")


def import_batch(file: Path, out: Path, number: int, name: str, objective: str) -> None:
    """Write a batch of Eurora as an instance whose machine is in use at its begin; print how near it is to the thesis's."""
    from ..show.composition import Composition, show_composition

    trace = read_trace(file, "eurora")
    origin, day = midnight(open_trace(trace)[0], trace.zone)
    workload, platform = eurora_batch(trace, file, number)
    workload, batch = workload.since(origin), BATCHES[number]
    source = f"eurora log {file.name}, {trace.format}"
    try:
        write(as_instance(workload, platform, objective, name, source, day), out)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    say("\n".join(report_lines(workload, platform)))
    counted = workload if batch.which != "queued" else replace(workload, running=())
    ours = Composition.of_workload(counted)
    show_composition(console_for(), {name: ours}, {f"BATCH{number} (thesis)": batch.composition})
    say(f"{out}: {len(workload)} jobs, {len(workload.running)} running at the begin; to see it: bench show {out}")


def as_instance(
    workload: Workload, platform: Platform, objective: str, name: str, source: str, day: str = ""
) -> Instance:
    """Return an instance of a dispatch problem with the jobs of a workload.

    Parameters
    ----------
    workload
        The jobs.
    platform
        The machine.
    objective
        Name of the objective.
    name
        Name of the instance.
    source
        Where the log comes from, for the description.
    day
        Date of second 0, "" if it is unknown.

    Returns
    -------
    Instance
        The instance; its repairs have names that are valid keys of a TOML file.
    """
    report = workload.report
    repairs = {re.sub(r"\W+", "_", what).strip("_"): n for what, n in report.repairs.items() if n}
    counted = {
        "lines_not_read": len(report.bad_lines),
        "rows_skipped": sum(report.skipped.values()),
        "jobs_left_out": len(report.dropped),
    }
    since = f", from {day} on" if day else ""
    return Instance(
        name=name,
        kind="dispatch",
        problem=workload.dispatch(platform, objective),
        description=f"{name}: {len(workload)} jobs of a log{since}, {len(platform.nodes)} nodes",
        source="; ".join([source, *report.notes]),
        repairs=repairs | {what: n for what, n in counted.items() if n},
    )


def report_lines(workload: Workload, platform: Platform) -> Iterator[str]:
    """Yield the lines of the report: repairs, unreadable lines, jobs left out, notes, offered load."""
    yield from reading.report_lines(workload.report)
    yield f"offered load: {reading.load_text(workload, platform, 3)}"
