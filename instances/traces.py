"""Logs of machines by format, and a part of one made ready for a replay on a platform."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from pathlib import Path

from ..models.dispatch.jobs import DAY
from ..models.platform import MOST_CAPACITY, MOST_NODES, NodeGroup, Platform
from .files.lines import read_lines
from .formats.batsim import batsim_trace
from .formats.eurora_trace import eurora_trace
from .formats.pbs import STAMP, pbs_trace
from .formats.sacct import sacct_trace
from .formats.swf import FIELDS, NUMBER, swf_trace
from .repair import Trace
from .workload import Workload, WorkloadError

SNIFFED = 200  # lines that are looked at to tell a format


@dataclass(frozen=True)
class Format:
    """A format of logs. ``read(path, cores, memory, zone)``; ``has_machine``: its files tell the machine."""

    name: str
    about: str
    read: Callable[[str | Path, int, int | None, tzinfo | None], Trace]
    has_machine: bool = False


FORMATS: Mapping[str, Format] = {
    f.name: f
    for f in (
        Format("swf", "Standard Workload Format 2.x, .gz too", lambda p, c, m, z: swf_trace(p, c, m)),
        Format("sacct", "Slurm: sacct --parsable2", lambda p, c, m, z: sacct_trace(p, z or UTC)),
        Format("pbs", "PBS accounting log", lambda p, c, m, z: pbs_trace(p, z or UTC)),
        Format("eurora", "CSV of the Eurora jobs of 2014", lambda p, c, m, z: eurora_trace(p), has_machine=True),
        Format("batsim", "Batsim workload, JSON", lambda p, c, m, z: batsim_trace(p), has_machine=True),
    )
}


def read_trace(
    path: str | Path,
    format: str | None = None,
    *,
    cores: int | None = None,
    memory: int | None = None,
    zone: tzinfo | None = None,
) -> Trace:
    """A log as it is, before the common repairs; its ``workload`` is what can be replayed of it.

    ``format``: one of FORMATS; by default what the text looks like. ``cores`` and ``memory`` (MB) of a node matter to SWF,
    which counts processors; ``zone``: the time zone of logs that do not tell it (by default UTC). Raises WorkloadError.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "log")
    ...     _ = log.write_text("1 0 10 60 4 -1 -1 4 3600 -1 1 5 1 -1 -1 -1 -1 -1")
    ...     trace = read_trace(log)
    >>> trace.format, len(trace.workload)
    ('swf', 1)
    """
    name = format or guess_format(path)
    if name not in FORMATS:
        raise WorkloadError(f"there is no format {name!r} of logs; known are {', '.join(FORMATS)}")
    return FORMATS[name].read(path, cores or 1, memory, zone)


def guess_format(path: str | Path) -> str:
    """What a log looks like: a name of FORMATS. Raises WorkloadError if it looks like none of them."""
    if Path(path).name.lower().removesuffix(".gz").endswith(".swf"):
        return "swf"
    lines = [line.strip() for line in islice((t for t in read_lines(path) if t.strip()), SNIFFED)]
    first = lines[0] if lines else ""
    if first.startswith("{"):
        return "batsim"
    if first.startswith("job_id,") and "walltime_req_hhmm" in first:
        return "eurora"
    if "|" in first and any(cell.split("%")[0] == "JobID" for cell in first.split("|")):
        return "sacct"
    if any(STAMP.match(line) and line.count(";") >= 3 for line in lines):
        return "pbs"
    jobs = [line.split() for line in lines if not line.startswith(";")]
    like_swf = sum(len(words) >= len(FIELDS) and all(map(NUMBER.fullmatch, words)) for words in jobs)
    if 2 * like_swf > len(jobs) or first.startswith(";"):
        return "swf"
    known = "; ".join(f"{f.name} ({f.about})" for f in FORMATS.values())
    raise WorkloadError(f"{path}: this looks like no log that is known; say its format: {known}")


def open_trace(
    log: str | Path | Trace,
    *,
    format: str | None = None,
    nodes: int | None = None,
    cores: int | None = None,
    memory: int | None = None,
    others: Mapping[str, int] | None = None,
    window: str | None = None,
    load: float | None = None,
    first: int | None = None,
    zone: tzinfo | None = None,
) -> tuple[Workload, Platform]:
    """A log (its file, or a trace), or a part of it, on a platform: jobs that it cannot hold are left out and reported.

    ``nodes`` equal nodes of ``cores`` cores, ``memory`` MB (None: memory plays no part) and ``others``, such as
    {"gpus": 2}; logs of Eurora and Batsim bring their own platform. An SWF log without ``nodes`` is given as many
    processors (``cores`` given: nodes) as its header says. ``window``: such as "2012-07-13:23d", by submit time, in the
    time zone of the log; ``first``: so many jobs of the window; ``load``: arrivals rescaled to this offered load.

    Raises WorkloadError with what to do.
    """
    trace = log if isinstance(log, Trace) else read_trace(log, format, cores=cores, memory=memory, zone=zone)
    if not len(trace):
        trace.workload.checked()  # says that it is empty, before anything is said of nodes
    platform, notes = _platform(trace, nodes, cores, memory, others or {})
    if window is not None:
        trace = _during(trace, window)
    if first is not None:
        trace = trace.first(first)
    if "memory" in trace.resources and "memory" not in platform.resources:
        trace = trace.without("memory", "no memory of the nodes was given: what the jobs ask of it is left aside")
    workload = trace.workload.on(platform).noted(*notes)
    return (workload if load is None else workload.at_load(load, platform)), platform


def _platform(
    trace: Trace, nodes: int | None, cores: int | None, memory: int | None, others: Mapping[str, int]
) -> tuple[Platform, list[str]]:
    """The platform, and where its size comes from if nobody said it."""
    if trace.platform is not None:
        if others or not nodes == cores == memory is None:
            raise WorkloadError(
                f"{trace.name}: {trace.format} logs bring their platform; leave out nodes, cores, memory"
            )
        return trace.platform, []
    notes = []
    if nodes is None:
        size = "processors" if cores is None else "nodes"
        if size not in trace.sizes:
            raise WorkloadError(
                f"{trace.name}: the log does not tell how many {size} the machine has; say how many nodes there are, "
                "and how many cores each has (bench: --nodes 300 --cores 32)"
            )
        nodes = trace.sizes[size]
        one = "of one core, from MaxProcs" if cores is None else f"of {cores} cores, from MaxNodes"
        notes.append(f"the platform is {nodes} nodes {one} in the header")
    elif cores is None and trace.format != "swf":
        raise WorkloadError(f"{trace.name}: say how many cores a node has (bench: --cores 32)")
    capacity = {"cores": cores or 1, **others} | ({} if memory is None else {"memory": memory})
    for name, amount in {"nodes": nodes, **capacity}.items():
        most = MOST_NODES if name == "nodes" else MOST_CAPACITY
        if not 1 <= amount <= most:
            raise WorkloadError(f"{trace.name}: a platform with {amount} {name}; expected 1 to {most:,}")
    return Platform([NodeGroup("node", nodes, capacity)]), notes


def window_of(text: str, trace: Trace) -> tuple[int, int]:
    """The seconds of the log of a window such as 2012-07-13:23d or 2012-07-13T12:00:6h, on the clock of its time zone.

    Days are those of the calendar: one with a change of the clock has 23 or 25 hours. Raises WorkloadError.
    """
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?):(\d{1,5})([dh])", text.strip(), re.ASCII)
    try:
        begin = datetime.fromisoformat(found[1]).replace(tzinfo=trace.zone) if found else None
    except ValueError:
        begin = None
    if begin is None or found is None or int(found[2]) < 1:
        raise WorkloadError(
            f"the window {text!r} is not understood; expected a date and a number of days or hours, such as 2012-07-13:23d"
        )
    if trace.unix_start is None:
        raise WorkloadError(
            f"{trace.name}: the log does not tell the date of its second 0 (UnixStartTime in SWF), so no window of dates; "
            "take a number of first jobs instead"
        )
    try:
        days = timedelta(days=int(found[2]))
        seconds = (begin + days if found[3] == "d" else begin).timestamp() - trace.unix_start
    except (OverflowError, ValueError):
        raise WorkloadError(f"the window {text!r} ends beyond the calendar") from None
    start = begin.timestamp() - trace.unix_start
    return int(start), int(seconds if found[3] == "d" else start + 3600 * int(found[2]))


def _during(trace: Trace, window: str) -> Trace:
    """The jobs submitted in a window; if there are none, the message tells the dates of the log."""
    begin, end = window_of(window, trace)
    try:
        return trace.between(begin, end)
    except WorkloadError as e:
        raise WorkloadError(f"{e}{_dates(trace)}") from None


def _dates(trace: Trace) -> str:
    """When the first and the last job were submitted, on the clock of the log, and the window of all; "" if unknown."""
    known = trace.submit[trace.submit >= 0]
    if trace.unix_start is None or not len(known):
        return ""
    try:
        first, last = (datetime.fromtimestamp(trace.unix_start + t, trace.zone) for t in (known.min(), known.max()))
    except (OverflowError, ValueError, OSError):
        return ""
    days = (last.date() - first.date()).days + 1
    return (
        f", by its clock from {first:%Y-%m-%dT%H:%M} to {last:%Y-%m-%dT%H:%M}; "
        f"all of them: window {first.date()}:{days}d"
    )


def midnight(workload: Workload, zone: tzinfo) -> tuple[int, str]:
    """The second of the log at which the day of the first submission begins, and that day ("" if dates are unknown)."""
    submit = int(workload.submit[0])
    if workload.unix_start is None:
        return submit // DAY * DAY, ""
    try:
        day = datetime.fromtimestamp(workload.unix_start + submit, zone).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
    except (OverflowError, ValueError, OSError):
        return submit // DAY * DAY, ""
    return int(day.timestamp()) - workload.unix_start, day.date().isoformat()
