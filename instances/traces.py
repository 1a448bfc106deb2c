"""Job logs: their formats, reading one, and preparing one or a part of it for a replay on a platform."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import islice
from pathlib import Path

from ..models.arguments import Positive, checked
from ..models.comparing import hashable
from ..models.platform import MOST_CAPACITY, MOST_NODES, NodeGroup, Platform
from ..models.plugins import PluginError, WrongAnswer, explained
from ..models.registry import Registry
from ..models.words import UnknownName, excerpt, how_many
from .files.reading import TextError, WorkloadError, begins_with, line_blocks, read_json
from .formats.batsim import batsim_trace, is_batsim
from .formats.eurora import eurora_trace
from .formats.job_table import KNOWN, columns_of, is_header, is_parquet, job_table_trace, known_table
from .formats.pbs import STAMP, pbs_trace
from .formats.philly import like_philly, philly_trace
from .formats.sacct import sacct_trace
from .formats.sacct_rows import is_json_of_sacct, is_sacct
from .formats.swf import FIELDS, NUMBER, swf_trace
from .log_preparation import (
    KEPT,
    QUEUE,
    RESET,
    at_begin,
    during,
    ignored,
    in_partitions,
    preceding_of,
    window_of,
    with_dependencies,
    with_latest_starts,
    with_queues_from,
)
from .logged import Trace
from .workload import Workload

SNIFFED = 200  # first lines of a file from which its format is guessed


@hashable
@dataclass(frozen=True)
class Reading:
    """How a log is read: ``cores`` and ``memory`` of a node (SWF), ``zone`` of its times, ``columns``: see ``read_trace``."""

    cores: int = 1
    memory: int | None = None
    zone: tzinfo | None = None
    columns: Sequence[str] = ()


@dataclass(frozen=True)
class Format:
    """A format of logs: its reader, whether its files describe the machine, and the options of ``Reading`` that it obeys."""

    name: str
    about: str
    read: Callable[[str | Path, Reading], Trace]
    has_machine: bool = False
    options: tuple[str, ...] = ()


def _known_table(name: str, about: str, columns: Sequence[str]) -> Format:
    """Return the format of a table whose columns are known."""
    return Format(name, about, lambda p, r: job_table_trace(p, columns, r.zone or UTC), options=("zone",))


OWN = {
    f.name: f
    for f in (
        Format("swf", "Standard Workload Format 2.x, .gz too", lambda p, r: swf_trace(p, r.cores, r.memory)),
        Format(
            "sacct",
            "Slurm: sacct --parsable2, --json, jobcomp, its database as CSV",
            lambda p, r: sacct_trace(p, r.zone or UTC, r.columns),
            options=("zone", "columns"),
        ),
        Format("pbs", "PBS or Torque accounting log", lambda p, r: pbs_trace(p, r.zone or UTC), options=("zone",)),
        Format("eurora", "CSV of the Eurora jobs of 2014", lambda p, r: eurora_trace(p), has_machine=True),
        Format(
            "table",
            "jobs in CSV or Parquet, columns of jobs.csv or a map of columns",
            lambda p, r: job_table_trace(p, r.columns, r.zone or UTC),
            options=("zone", "columns"),
        ),
        Format("batsim", "Batsim workload, JSON", lambda p, r: batsim_trace(p), has_machine=True),
        *(_known_table(name, about, columns) for name, (about, columns) in KNOWN.items()),
        Format(
            "philly",
            "Microsoft's Philly clusters: cluster_job_log, JSON",
            lambda p, r: philly_trace(p, r.zone or UTC),
            options=("zone",),
        ),
    )
}


def _check(label: str, given: object) -> None:
    """Raise PluginError if an object is no Format."""
    if not isinstance(given, Format) or not callable(given.read):
        raise PluginError(f"{label} is {excerpt(given)}; expected a schedlab.instances.traces.Format")


FORMATS: Registry[Format] = Registry("log format", "schedlab.log_formats", OWN, _check)
"""The formats by name; a third party adds one by an entry point."""


@checked
def read_trace(
    path: str | Path,
    format: str | None = None,
    *,
    cores: Positive | None = None,
    memory: int | None = None,
    zone: tzinfo | None = None,
    columns: Sequence[str] = (),
) -> Trace:
    """Read a log, before the repairs that are common to all formats.

    Parameters
    ----------
    path
        The file, plain or compressed (``.gz``).
    format
        A name of ``FORMATS``: "swf", "sacct", "pbs", "eurora", "table" or "batsim", one of an installed package, or
        ``module:attribute``. None: guessed from the content, as one of schedlab's.
    cores
        Cores of a node; used by SWF only, whose jobs request processors. Default: 1.
    memory
        Memory of a node in MB; used by SWF only. None: memory is ignored.
    zone
        Time zone of the machine, for sacct and PBS, which do not record it. Default: UTC.
    columns
        Names of the columns of a file of ``sacct --noheader``; for a table, where its values come from: ``id=job_id``,
        ``walltime=60*time_limit``, ``cores=num_cores/units``, ... (``instances/formats/job_table.py``).

    Returns
    -------
    Trace
        The jobs as recorded; its ``workload`` has the jobs that can be replayed.

    Raises
    ------
    WorkloadError
        The file cannot be read, its format is unknown, or it has no use for ``zone`` or ``columns``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "log")
    ...     _ = log.write_text("1 0 10 60 4 -1 -1 4 3600 -1 1 5 1 -1 -1 -1 -1 -1")
    ...     trace = read_trace(log)
    >>> trace.format, len(trace.workload)
    ('swf', 1)
    """
    of_table = any("=" in column for column in columns)
    name = format
    if name is None and columns:
        name = "sacct"
        if of_table:
            name = "table"
    name = name or guess_format(path)
    try:
        form = FORMATS.get_named(name)
    except UnknownName as e:
        raise WorkloadError(str(e)) from None
    for option, value in (("zone", zone), ("columns", columns)):
        if value and option not in form.options:
            users = " and ".join(each for each, f in FORMATS.usable() if option in f.options)
            raise WorkloadError(
                f"{path}: a log of format {name} has no use for {option}, which is for {users}; leave it out"
            )
    if name in OWN:
        return form.read(path, Reading(cores or 1, memory, zone, columns))
    with explained(f"{path}: {FORMATS.label(name)} cannot read it"):
        trace = form.read(path, Reading(cores or 1, memory, zone, columns))
    if not isinstance(trace, Trace):
        raise WrongAnswer(f"{path}: {FORMATS.label(name)} returned {excerpt(trace)}; expected a Trace")
    return trace


def guess_format(path: str | Path) -> str:
    """Guess the format of a log from its content: a name of FORMATS. Raises WorkloadError if no format fits."""
    if Path(path).name.lower().removesuffix(".gz").endswith(".swf"):
        return "swf"
    if is_parquet(path):
        return known_table(columns_of(path)) or "table"
    if begins_with(path, "{"):
        return _json_format(path)
    texts = (text for block in line_blocks(path) for text in block if text.strip())
    lines = [text.strip() for text in islice(texts, SNIFFED)]
    if not lines:
        raise TextError(path, "file", "a log of jobs", None, said="the file is empty; expected a log of jobs")
    first = lines[0]
    if like_philly(lines):
        return "philly"
    if first.startswith("job_id,") and "walltime_req_hhmm" in first:
        return "eurora"
    if is_header(first):
        return "table"
    known = known_table(name.strip() for name in first.split(","))
    if known is not None:
        return known
    if is_sacct(lines):
        return "sacct"
    if any(STAMP.match(line) and line.count(";") >= 3 for line in lines):
        return "pbs"
    jobs = [line.split() for line in lines if not line.startswith(";")]
    like_swf = sum(len(words) >= len(FIELDS) and all(map(NUMBER.fullmatch, words)) for words in jobs)
    if 2 * like_swf > len(jobs) or first.startswith(";"):
        return "swf"
    raise WorkloadError(f"{path}: the format of this log is not recognised; name it: {_known()}")


def _json_format(path: str | Path) -> str:
    values = read_json(path)
    if is_json_of_sacct(values):
        return "sacct"
    if is_batsim(values):
        return "batsim"
    hint = ""
    if isinstance(values, dict) and {"jobs", "nodes", "Jobs"} & set(values):
        hint = "; the state of a machine (squeue --json, sinfo --json, qstat -F json) is read by bench import state"
    raise WorkloadError(
        f"{path}: the JSON of this file is that of no log: expected sacct --json, with jobs that have times, or a Batsim "
        f"workload, with nb_res, jobs and profiles{hint}"
    )


def _known() -> str:
    return "; ".join(f"{name} ({f.about})" for name, f in FORMATS.usable())


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
    busy: str | None = None,
    queue_from: str = QUEUE,
    partitions: Sequence[str] = (),
    dependencies: bool = False,
    latest_start: str | int | None = None,
    columns: Sequence[str] = (),
    cancelled: bool = False,
) -> tuple[Workload, Platform]:
    """Prepare a log, or a part of it, for a replay on a platform of equal nodes.

    Jobs that the platform cannot hold are left out and listed in the report of the workload. Logs of Eurora and Batsim
    have their own platform: leave out ``nodes``, ``cores``, ``memory`` and ``others``.

    Parameters
    ----------
    log
        The file of a log, or a trace that was read before.
    format
        A name of ``FORMATS``; None: guessed from the content.
    nodes
        Number of nodes. None: for SWF, from the header (MaxNodes if ``cores`` is given, else MaxProcs).
    cores
        Cores of a node.
    memory
        Memory of a node in MB. None: memory is ignored.
    others
        Other resources of a node, such as {"gpus": 2}.
    window
        Only the jobs submitted in this window, such as "2012-07-13:23d", in the time zone of the log.
    load
        Scale the times between submissions so that this is the offered load.
    first
        Only the first ``first`` jobs (of the window).
    zone
        Time zone of the machine, for formats that do not record it. Default: UTC.
    busy
        Whether the machine is in use at the begin of the window, by the recorded starts: jobs that run then are
        ``Workload.running`` (without nodes), jobs that were submitted before and start later wait. Their submit times
        are the begin ("reset") or those of the log ("kept"). None: only the jobs submitted in the window.
    queue_from
        Column from which the queues are taken: "queue" or "partition".
    partitions
        Only the jobs in these partitions (names, for SWF also numbers); the others are counted in the report.
    dependencies
        Whether a job waits for its preceding job and the think time (SWF, fields 17 and 18); see
        ``schedlab.instances.log_preparation``. Otherwise the jobs arrive at their submit times.
    latest_start
        Latest starts of the jobs, which replays count and dispatchers see: "mean-wait" (submit time plus the mean
        recorded wait of the job's partition or queue in the whole log), or seconds after the submit time. None: none.
    columns
        Names of the columns of a file of ``sacct --noheader``.
    cancelled
        Whether jobs that never ran, such as those cancelled in the queue, are jobs too: they hold a place in the queue until
        ``Workload.site.cancelled``. ``log_preparation.cancellations`` are the events by which they leave.

    Returns
    -------
    Workload
        The jobs.
    Platform
        The machine.

    Raises
    ------
    WorkloadError
        The log cannot be read, the platform is not fully described, or no job is left. The message says what to do.
    """
    if not isinstance(log, Trace):
        trace = read_trace(log, format, cores=cores, memory=memory, zone=zone, columns=columns)
    else:
        trace = log
    if cancelled:
        trace = trace.with_cancelled()
    if not len(trace):
        trace.workload.checked()  # reports an empty log before a missing number of nodes
    platform, notes = _platform(trace, nodes, cores, memory, others or {})
    if busy is not None and (window is None or busy not in (RESET, KEPT)):
        raise WorkloadError(f"busy is {busy!r}; expected {RESET!r} or {KEPT!r}, with a window")
    if latest_start is not None:
        trace = with_latest_starts(trace, latest_start)
    preceding = preceding_of(trace) if dependencies else {}
    if trace.preceding and not dependencies:
        notes.append(ignored(trace))
    if partitions:
        trace = in_partitions(trace, partitions)
    trace = with_queues_from(trace, queue_from)
    if window is not None:
        trace = during(trace, window, busy is not None)
    if first is not None and busy is None:
        trace = trace.first(first)
    if "memory" in trace.resources and "memory" not in platform.resources:
        trace = trace.without(
            "memory", "the memory of the nodes was not given: the memory requests of the jobs are ignored"
        )
    workload = trace.workload
    if window is not None and busy is not None:
        begin = max(0, window_of(window, trace)[0])  # the clock of a log begins at second 0, also within its first day
        workload = at_begin(workload, begin, busy == RESET)
        if first is not None:
            workload = workload.first(first)
    workload = with_dependencies(workload, preceding).on(platform).noted(*notes)
    return (workload if load is None else workload.at_load(load, platform)), platform


def _platform(
    trace: Trace, nodes: int | None, cores: int | None, memory: int | None, others: Mapping[str, int]
) -> tuple[Platform, list[str]]:
    """Return the platform, and notes on the source of its size if the caller did not give it."""
    if trace.platform is not None:
        if others or not nodes == cores == memory is None:
            raise WorkloadError(
                f"{trace.name}: {trace.format} logs have their own platform; leave out nodes, cores, memory"
            )
        return trace.platform, []
    notes = []
    if nodes is None:
        size = "nodes"
        if cores is None:
            size = "processors"
        if size not in trace.sizes:
            raise WorkloadError(
                f"{trace.name}: the log does not record how many {size} the machine has; give the number of nodes, "
                "and the cores of a node (bench: --nodes 300 --cores 32)"
            )
        nodes = trace.sizes[size]
        one = "of one core, from MaxProcs"
        if cores is not None:
            one = f"of {how_many(cores, 'core')}, from MaxNodes"
        notes.append(f"the platform is {how_many(nodes, 'node')} {one} in the header")
    elif cores is None and trace.format != "swf":
        raise WorkloadError(f"{trace.name}: give the number of cores of a node (bench: --cores 32)")
    capacity = {"cores": cores or 1, **others} | ({} if memory is None else {"memory": memory})
    for name, amount in {"nodes": nodes, **capacity}.items():
        if name == "nodes":
            most = MOST_NODES
        else:
            most = MOST_CAPACITY
        if not 1 <= amount <= most:
            raise WorkloadError(f"{trace.name}: a platform with {amount} {name}; expected 1 to {most:,}")
    return Platform([NodeGroup("node", nodes, capacity)]), notes
