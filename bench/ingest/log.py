"""``bench import`` of a log: a log of a machine, or a part of it, becomes an instance folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from ...backends import UnknownName
from ...instances import Instance, write
from ...instances.report import Report
from ...instances.traces import midnight, open_trace, read_trace
from ...instances.workload import Workload
from ...models.dispatch.problem import OBJECTIVES
from ...models.platform import Platform
from ..errors import WrongUse
from ..terminal import say

SHOWN = 10  # bad lines, and jobs left out, that are printed
GROUPED = 3  # ids that are printed of jobs left out for the same reason


def import_log(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="the log")],
    out: Annotated[Path, typer.Option(help="the folder to write")],
    nodes: Annotated[int | None, typer.Option(min=1, help="how many nodes; SWF: by default as its header says")] = None,
    cores: Annotated[int | None, typer.Option(min=1, help="per node")] = None,
    memory: Annotated[int | None, typer.Option(min=1, help="MB per node; without it memory plays no part")] = None,
    per_node: Annotated[str, typer.Option(help="what else a node has: gpus=2,mics=1")] = "",
    window: Annotated[
        str | None,
        typer.Option(help="only the jobs submitted then, by the log's clock: 2012-07-13:23d or 2012-07-13T12:00:6h"),
    ] = None,
    first: Annotated[int | None, typer.Option(min=1, help="only so many jobs, the first by submit time")] = None,
    load: Annotated[float | None, typer.Option(help="arrivals rescaled to this offered load, such as 1.2")] = None,
    zone: Annotated[str | None, typer.Option(help="of sacct and PBS logs: their time zone; by default UTC")] = None,
    name: Annotated[
        str | None, typer.Option(help="of the log, for the description; by default that of the file")
    ] = None,
    objective: Annotated[str, typer.Option(help=", ".join(OBJECTIVES))] = "waiting",
) -> None:
    """Makes an instance of the log of a machine: swf, sacct, pbs, eurora, batsim.

    Says everything that was repaired, left out or could not be read. The instance is for bench show, run and simulate.

    Example: bench import swf log.swf.gz --nodes 300 --cores 32 --memory 131072 --window 2012-07-13:23d --out my_days

    Example: bench import sacct jobs.txt --nodes 64 --cores 48 --per-node gpus=4 --zone Europe/Rome --out my_days
    """
    form = str(context.info_name)
    if objective not in OBJECTIVES:
        raise UnknownName("objective", objective, list(OBJECTIVES))
    clock = _zone(zone)
    others = _per_node(per_node)
    trace = read_trace(file, form, cores=cores, memory=memory, zone=clock)
    workload, platform = open_trace(
        trace,
        nodes=nodes,
        cores=cores,
        memory=memory,
        others=others,
        window=window,
        load=load,
        first=first,
    )
    origin, day = midnight(workload, trace.zone)
    workload = workload.since(origin)
    instance = as_instance(workload, platform, objective, name or trace.name, f"{form} log {file.name}", day)
    try:
        write(instance, out)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    say("\n".join(told(workload, platform)))
    say(f"{out}: {len(workload)} jobs on {len(platform.nodes)} nodes; bench show {out}")


def as_instance(
    workload: Workload, platform: Platform, objective: str, name: str, source: str, day: str = ""
) -> Instance:
    """The jobs of a workload as an instance, with the repairs under names that a TOML file takes.

    ``day``: the date of second 0, if it is known.
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


def told(workload: Workload, platform: Platform) -> Iterator[str]:
    """The report for people: repairs, lines that could not be read, jobs left out, notes, the offered load."""
    report = workload.report
    for what, n in report.repairs.items():
        yield f"repaired: {what}: {_jobs(n)}"
    yield from _told_bad(report)
    yield from _told_dropped(report)
    for note in report.notes:
        yield f"note: {note}"
    yield f"offered load: {workload.load(platform):.3f}"


def _told_bad(report: Report) -> Iterator[str]:
    n = len(report.bad_lines)
    if n:
        yield f"not read: {n} line{'s' * (n != 1)}{f', the first {SHOWN} of them' if n > SHOWN else ''}"
        yield from (f"  {line}" for line in report.bad_lines[:SHOWN])


def _told_dropped(report: Report) -> Iterator[str]:
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


def _zone(text: str | None) -> ZoneInfo | None:
    if text is None:
        return None
    try:
        return ZoneInfo(text)
    except (ValueError, LookupError, OSError) as e:
        raise WrongUse(f"--zone {text}: there is no such time zone; expected a name such as Europe/Rome") from e


def _per_node(text: str) -> Mapping[str, int]:
    """Amounts of a text such as "gpus=2,mics=1"."""
    found = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, amount = (part.strip() for part in pair.partition("="))
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not re.fullmatch(r"\d{1,9}", amount, re.ASCII):
            raise WrongUse(f"--per-node {text}: expected names and whole numbers such as gpus=2,mics=1")
        if name in ("cores", "memory"):
            raise WrongUse(f"--per-node {text}: {name} has an option of its own, --{name}")
        found[name] = int(amount)
    return found
