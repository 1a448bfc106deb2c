"""``bench import`` of a log: a workload log of a machine, or a part of it, is converted to an instance folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from ...backends import UnknownName
from ...instances import Instance, write
from ...instances.formats.eurora_trace import eurora_platform
from ...instances.logs.eurora_batches import BATCHES, batch_of, on_recorded_nodes, recorded_nodes
from ...instances.logs.latest_starts import latest_start_rule
from ...instances.logs.partitions import partition_names
from ...instances.logs.windows import midnight
from ...instances.report import Report
from ...instances.traces import open_trace, read_trace
from ...instances.workload import Workload
from ...models.dispatch.objectives import objective_names
from ...models.platform import Platform
from ..errors import WrongUse
from ..terminal import console_for, say

SHOWN = 10  # number of unreadable lines, and of reasons for leaving out jobs, that are printed
GROUPED = 3  # number of ids printed of the jobs that are left out for the same reason


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
        others = (nodes, cores, memory, per_node, partition, window, first, load, latest_start, zone)
        if form != "eurora" or any(others) or queue_from != "queue":
            raise WrongUse("--batch: for bench import eurora, with no other options than --out, --name and --objective")
        import_batch(file, out, batch, name or f"eurora_batch{batch}", objective)
        return
    clock = time_zone(zone)
    other_resources = _per_node(per_node)
    trace = read_trace(file, form, cores=cores, memory=memory, zone=clock)
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
    from ...heuristics.kernels.events.beginning import on_nodes  # loads numba, 0.4 s
    from ..show.composition import Composition, show_composition

    trace = read_trace(file, "eurora")
    workload, platform = open_trace(trace)
    origin, day = midnight(workload, trace.zone)
    batch, platform = BATCHES[number], eurora_platform()
    workload = batch_of(trace, number).on(platform).since(origin)
    recorded = on_recorded_nodes(workload.running, recorded_nodes(file), platform)
    kept, placed = sum(bool(r.nodes) for r in recorded), on_nodes(recorded, platform, best=True)
    lost = len(workload.running) - len(placed)
    workload = replace(workload, running=tuple(placed)).noted(
        f"near to BATCH{number} of T. Bridi's thesis (3.4), not equal; jobs that are {batch.which}, window {batch.window}",
        f"the running jobs end as recorded; {kept} are on their recorded nodes, {len(placed) - kept} on others by best "
        f"fit, {lost} without room are left out",
    )
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
    counted = {"lines_not_read": len(report.bad_lines), "jobs_left_out": len(report.dropped)}
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
    report = workload.report
    for what, n in report.repairs.items():
        yield f"repaired: {what}: {_jobs(n)}"
    yield from _bad_lines(report)
    yield from _dropped_jobs(report)
    for note in report.notes:
        yield f"note: {note}"
    yield f"offered load: {workload.load(platform):.3f}"


def _bad_lines(report: Report) -> Iterator[str]:
    n = len(report.bad_lines)
    if n:
        yield f"not read: {n} line{'s' * (n != 1)}{f', the first {SHOWN} of them' if n > SHOWN else ''}"
        yield from (f"  {line}" for line in report.bad_lines[:SHOWN])


def _dropped_jobs(report: Report) -> Iterator[str]:
    if not report.dropped:
        return
    reasons: dict[str, list[str]] = {}
    for job, why in report.dropped:
        reasons.setdefault(why, []).append(job)
    yield f"left out: {_jobs(len(report.dropped))}"
    for why, ids in list(reasons.items())[:SHOWN]:
        more = f" and {len(ids) - GROUPED} more" if len(ids) > GROUPED else ""
        yield f"  job{'s' * (len(ids) > 1)} {', '.join(ids[:GROUPED])}{more}: {why}"
    if len(reasons) > SHOWN:
        yield f"  and {_jobs(sum(len(ids) for ids in list(reasons.values())[SHOWN:]))} for other reasons"


def _jobs(n: int) -> str:
    return f"{n} job{'s' * (n != 1)}"


def time_zone(text: str | None) -> ZoneInfo | None:
    """Return the time zone of an option; None without a text. Raises WrongUse."""
    if text is None:
        return None
    try:
        return ZoneInfo(text)
    except (ValueError, LookupError, OSError) as e:
        raise WrongUse(f"--zone {text}: unknown time zone; expected a name such as Europe/Rome") from e


def _per_node(text: str) -> Mapping[str, int]:
    """Parse a text such as "gpus=2,mics=1"."""
    found = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, amount = (part.strip() for part in pair.partition("="))
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not re.fullmatch(r"\d{1,9}", amount, re.ASCII):
            raise WrongUse(f"--per-node {text}: expected names and whole numbers such as gpus=2,mics=1")
        if name in ("cores", "memory"):
            raise WrongUse(f"--per-node {text}: use the option --{name} for {name}")
        found[name] = int(amount)
    return found
