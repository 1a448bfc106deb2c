"""Accounting of Slurm: the output of ``sacct`` with its columns in any order, and what other programs write of the same data."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import WrongValue
from ...models.array_types import Bools
from ...models.dispatch.jobs import NOTHING, NOTHING_RECORDED, Gres, Recorded, RecordedAttempt, SiteRequest
from ...models.words import how_many
from ..files.reading import WorkloadError, begins_with, each_line, whole, whole_of
from ..logged import (
    AFTER_START,
    CANCELLED_WAITING,
    LIMIT_OF_PARTITION,
    MISSING,
    NEVER_STARTED,
    SEVERAL_NODES,
    SEVERAL_NODES_OF_PARTS,
    UNLIMITED,
    JobColumns,
    Logged,
    Trace,
    merged,
)
from ..workload import BadLine, Workload
from .sacct_rows import (
    EXPECTED,
    Refused,
    Row,
    Table,
    completion_rows,
    database_rows,
    is_completion,
    is_database,
    is_step,
    json_rows,
    table_of,
    text_rows,
)
from .slurm_values import (
    NO_GPUS,
    Options,
    array_limit,
    asked_by,
    begin_after,
    count,
    count_of_hosts,
    duration,
    generic_in,
    gpus_in,
    gres_gpus_of_job,
    is_unknown,
    later_fold,
    memory,
    moment,
    options_of,
    state_of,
    tres,
    with_columns,
)

NODES, CPUS = ("NNodes", "AllocNodes"), ("NCPUS", "AllocCPUS")
TRES = ("AllocTRES", "ReqTRES")
NEEDED = (
    ("JobID",), ("Submit",), ("Start",), ("End", "Elapsed", "ElapsedRaw"), ("Timelimit", "TimelimitRaw"),
    (*NODES, "ReqNodes", *TRES, "NodeList"), (*CPUS, "ReqCPUS", *TRES),
)  # fmt: skip
RESOURCES = ("cores", "gpus", "memory")
MOST = 10**10
NEGATIVE = re.compile(r"-\d[\d:.-]*", re.ASCII)  # an elapsed time across a change of the clock, in old versions
COMPONENT = re.compile(r"(.+)\+(\d{1,6})", re.ASCII)
RESIZING = "RESIZING"  # the state of a row that ends as its job gets another size
HELD_AGAIN = ("REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT")  # queued again, and held
WAITING = ("PENDING", *HELD_AGAIN, "RESV_DEL_HOLD", "REVOKED")
RUNNING = ("RUNNING", "SUSPENDED", "STOPPED", "CONFIGURING", "COMPLETING", "STAGE_OUT", "SIGNALING", RESIZING)
CANCELLED = ("CANCELLED", "DEADLINE")
UNFINISHED = (*CANCELLED, "BOOT_FAIL")  # states that a job without a node can end in
RAN = ("COMPLETED", "TIMEOUT", "OUT_OF_MEMORY")  # states of jobs that had a node, whatever other columns say
AMOUNTS = ("AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES", "ReqMem")  # columns of GPUs and memory
ALLOCATED = ("AllocTRES", "AllocNodes", "AllocCPUS")  # empty or 0 for a job that never had a node
TOGETHER = 60  # s between the submit times of the components of a heterogeneous job, at most
INTERRUPTED = (
    "REQUEUED", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", RESIZING, "LAUNCH_FAILED", "RECONFIG_FAIL", *HELD_AGAIN,
)  # fmt: skip
STILL_WAITED = "it never started: it still waited when the log was written"
NO_CPUS = "it has no CPUs, neither allocated nor requested"
FIRST_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
LATE = 5  # s by which a requeued job is submitted after one of a larger number, at least
END_AGAINST_HEADER = (
    "the rows end with a delimiter, and the header does not: it is taken for the end of the rows, not for an empty cell"
)
MOST_SHOWN = 8  # lines in a note
REJOINED = "rows broken by a delimiter or line end in a text, put together"
STILL_RAN = "still running when the log was written, the runtime until then is used"
OTHER_SPAN = "End - Start differs from Elapsed (suspension, change of the clock), Elapsed is used"
SUSPENDED = "End - Start without the time of suspension is used"
WHOLE_MEMORY = "all memory of the nodes requested, of which the amount is not recorded"
GPUS_UNTOLD = "GPUs for each task or socket, of which the number is not recorded, counted once for each node"
STEPS = "rows of job steps, which the rows of their jobs cover"
ATTEMPTS = "rows of earlier attempts of a requeued job"
REPEATED = "rows that repeat a job"
SIZES = "rows of other sizes of a job that was resized"
RESIZED = "size changed while the job ran, the largest is used from the first start to the end"
HEADERS = "lines that repeat the header"
OF_RULES = {  # column -> what it alone tells of the rules of a site
    "Account": "whose limits and fair shares of accounts hold",
    "QOS": "which priorities and limits of QOS hold",
    "Partition": "which nodes and limits of partitions hold",
    "Eligible": "from when jobs could start (dependencies, begin times, holds)",
    "SubmitLine": "which limits of arrays, whole nodes, excluded nodes and licences jobs asked for",
    "NodeList": "on which nodes jobs ran (bench calibrate needs them)",
}


def read_sacct(path: str | Path, zone: tzinfo = UTC, columns: Sequence[str] = ()) -> Workload:
    r"""Read the accounting of Slurm.

    The file is the output of ``sacct`` (``--parsable2``, ``--parsable``, another delimiter, or ``--json``), the text file
    of the plug-in ``jobcomp/filetxt``, or the table of jobs of the accounting database as CSV (MIT Supercloud).

    Rows of job steps (``12.batch``) are left out and counted; tasks of a job array (``12_4``) are jobs; the components
    ``12+0``, ``12+1``, ... of a heterogeneous job are its chunks. A unit is a node, with an equal share of the cores, GPUs
    and memory of the job. The exact column decides: AllocTRES before ReqTRES before ReqMem, Elapsed before End - Start.

    Jobs that never ran, such as those cancelled in the queue, are left out, with the reason. A job that still ran counts
    as running until the log was written. Of a job that was requeued (``sacct -D``) the last attempt that ran counts.

    Parameters
    ----------
    path
        The file, plain or compressed (``.gz``).
    zone
        Time zone of the times in the file, which are local times. Default: UTC.
    columns
        Names of the columns, for a file without a header (``sacct --noheader``).

    Returns
    -------
    Workload
        The jobs. Times are Unix times in s; memory is in MB per unit.

    Raises
    ------
    WorkloadError
        The file cannot be read, lacks a necessary column, or has no job that can be replayed.

    References
    ----------
    .. [1] Slurm documentation, sacct, https://slurm.schedmd.com/sacct.html

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "jobs.txt")
    ...     head = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS"
    ...     row = "11|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|02:00:00|2|32"
    ...     _ = log.write_text(f"{head}\n{row}\n")
    ...     w = read_sacct(log)
    >>> w.units.tolist(), w.request.tolist(), w.runtime.tolist(), w.walltime.tolist()
    ([2], [[16]], [3600], [7200])
    """
    return sacct_trace(path, zone, columns).workload


def sacct_trace(path: str | Path, zone: tzinfo = UTC, columns: Sequence[str] = ()) -> Trace:
    """Read the accounting of Slurm before the common repairs."""
    jobs = _Jobs(path, zone)
    header = jobs.read_all(columns)
    jobs.join_components()
    notes = [
        f"the log has no {what} (column {column})"
        for column, what in (("User", "users"), ("JobName", "program names"))
        if header and column not in header
    ]
    notes += _missing_columns(header)
    notes += [*jobs.notes, *_open_rows(jobs.open)]
    made = Trace.of_columns(
        Path(path).name, "sacct", jobs.columns, jobs.columns.requested("cores"), jobs.bad, [*notes, *_type_notes(jobs)]
    )
    trace = replace(made, unix_start=0, zone=zone, partition=made.queue)
    trace = _with_limits_of_partitions(_until_the_end(trace))
    trace, joined = _with_sizes_joined(trace, jobs)
    survivors, skipped, attempts, first = _last_attempts(trace, jobs, joined)
    attempts = {**jobs.earlier, **attempts}
    trace = _since_first_submission(trace, first)
    trace = replace(trace, report=trace.report.and_also(notes=_missing_attempts(trace, jobs, attempts)))
    if trace.site is not None:
        trace = replace(trace, site=replace(trace.site, attempts=attempts))
    if survivors is not None:
        trace = trace.keep(survivors)
    counted = {STEPS: jobs.steps, HEADERS: jobs.headers, **Counter(joined.values()) + Counter(skipped) + jobs.skipped}
    return replace(trace, report=trace.report.and_also(skipped=counted))


def _missing_columns(header: Sequence[str]) -> Iterator[str]:
    """Yield notes on the columns that a table does not have: the state of jobs, and what rules of a site need."""
    if header and "State" not in header:
        yield (
            "the log has no column State: jobs that were requeued, that were cancelled in the queue, or that still ran, look "
            "like others; to add it: sacct --format=...,State"
        )
    missing = [column for column in OF_RULES if header and column not in header]
    if missing:
        several = len(missing) > 1
        yield (
            f"the log has no column{'s' * several} {', '.join(missing)}: it does not tell "
            f"{'; '.join(OF_RULES[column] for column in missing)}; a replay on a site cannot obey that; "
            f"to add {'them' if several else 'it'}: sacct --format=...,{','.join(missing)}"
        )


def _open_rows(lines: Sequence[int]) -> Iterator[str]:
    """Yield a note on rows that can be put together in several ways that are as likely."""
    if lines:
        shown = ", ".join(map(str, lines[:MOST_SHOWN])) + (", ..." if len(lines) > MOST_SHOWN else "")
        yield (
            f"{how_many(len(lines), 'row', ',')} broken by a delimiter in a text can be read in several ways, of which one is taken "
            f"(line{'s' * (len(lines) > 1)} {shown}); to be sure: sacct --delimiter with a text that no name contains"
        )


def _missing_attempts(trace: Trace, jobs: _Jobs, attempts: Mapping[int, object]) -> Iterator[str]:
    """Yield a note if jobs were requeued and the log lacks the rows of their earlier attempts.

    The column Restarts tells it, of new versions. Else a job is taken for a requeued one that was submitted after jobs of
    larger numbers, while those with the next numbers were not: Slurm counts up, and a requeued job is submitted again.
    """
    last = [k for k in range(len(trace)) if k not in attempts and not jobs.interrupted[k]]
    requeued = sum(jobs.restarts[k] > 0 for k in last)
    if not requeued and not any(jobs.restarts) and len(jobs.clusters) <= 1:
        requeued = _submitted_again(trace)
    if requeued:
        yield (
            f"{how_many(requeued, 'job', ',', verb='were')} requeued, and the log has no rows of the earlier attempts, which had "
            "nodes, too: sacct without --duplicates leaves them out; to add them: sacct --duplicates"
        )


def _submitted_again(trace: Trace) -> int:
    """Return the number of jobs that were submitted after jobs of larger numbers, without their neighbours."""
    first: dict[int, float] = {}
    for name, submit in zip(trace.ids, trace.submit.tolist(), strict=True):
        number = FIRST_NUMBER.match(name)
        if number is not None and not math.isnan(submit):
            job = int(number[0])
            first[job] = min(submit, first.get(job, math.inf))
    submits = np.array([first[job] for job in sorted(first)])
    if len(submits) < 2:
        return 0
    earliest_after = np.minimum.accumulate(submits[::-1])[::-1]
    late = np.append(submits[:-1] > earliest_after[1:] + LATE, False)
    before = np.append(True, late[:-1])  # the first number of all may be one that begins again
    after = np.append(late[1:], False)
    return int((late & ~before & ~after).sum())


@dataclass
class _Jobs:
    """The jobs of a file, as they are read; ``interrupted``, ``cluster``, ``restarts``: one value per row of ``columns``.

    ``open``: the lines of rows that can be put together in several ways; ``earlier``: row of a heterogeneous job -> its
    earlier attempts.
    """

    path: str | Path
    zone: tzinfo
    columns: JobColumns = field(default_factory=lambda: JobColumns(RESOURCES))
    parts: dict[str, _Parts] = field(default_factory=dict)
    bad: list[BadLine] = field(default_factory=list)
    types: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    headers: int = 0
    interrupted: array[int] = field(default_factory=lambda: array("b"))
    cluster: array[int] = field(default_factory=lambda: array("i"))
    clusters: dict[str, int] = field(default_factory=dict)
    restarts: array[int] = field(default_factory=lambda: array("q"))
    open: array[int] = field(default_factory=lambda: array("q"))
    earlier: dict[int, tuple[RecordedAttempt, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def read_all(self, given: Sequence[str]) -> Sequence[str]:
        """Read the file, and return its columns, none for JSON. Raises WorkloadError."""
        lines = enumerate(text_or_brace(self.path), 1)
        first = next(((n, line) for n, line in lines if line.strip()), None)
        rows: Iterable[tuple[Row, Logged | None] | Refused]
        header: Sequence[str] = ()
        if first is not None and first[1].lstrip().startswith("{"):
            rows = self._each(json_rows(self.path))
        elif first is not None and is_database(first[1]):
            rows = self._each(database_rows(self.path))
        elif first is not None and is_completion(first[1].strip()):
            rows = self._each(completion_rows(chain([first], lines)))
        else:
            table, line = table_of(self.path, iter([first] if first else []), given)
            header = table.columns
            _check_columns(self.path, line, header)
            after: Iterator[tuple[int, str]] = lines
            if not line and first:  # no header: the first line is a row
                after = chain([first], lines)
            rows = text_rows(table, self._without_headers(table, after), self._job)
        for row in rows:
            if isinstance(row, Refused):
                self.bad.append(BadLine(str(self.path), row.line, row.why))
            elif row[1] is None:
                self.steps += 1
            else:
                self._add(row[1], row[0].cells)
                if row[0].open:
                    self.open.append(row[0].line)
        self.bad.sort(key=lambda b: b.line)
        return header

    def _without_headers(self, table: Table, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Yield the lines that do not repeat the header, as files that were joined do."""
        for number, line in lines:
            if table.is_header(line):
                self.headers += 1
            else:
                yield number, line
        if table.against_header:
            self.notes.append(END_AGAINST_HEADER)

    def _each(self, rows: Iterable[Row | Refused]) -> Iterator[tuple[Row, Logged | None] | Refused]:
        for row in rows:
            if isinstance(row, Refused):
                yield row
                continue
            try:
                yield row, self._job(row)
            except ValueError as e:
                yield Refused(row.line, str(e))

    def _job(self, row: Row) -> Logged | None:
        """Return the job of a row; None for a row of a step. Raises ValueError."""
        if is_step(row.cells["JobID"]):
            return None
        job = _job(row.cells, self.zone)
        if row.rejoined:
            return replace(job, changed=(*job.changed, REJOINED))
        return job

    def _add(self, job: Logged, cells: Mapping[str, str]) -> None:
        """Add a job; of a heterogeneous one its components are kept until the end of the file, with one row for all."""
        match = COMPONENT.fullmatch(job.id)
        interrupted = state_of(cells.get("State", "")) in INTERRUPTED
        cluster = cells.get("Cluster", "")
        name = ""
        if match is not None:
            name = f"{cluster} {match[1]}"
        if match is None or name not in self.parts:
            restarts = whole_of(cells.get("Restarts", "")) or 0
            self._append(job, interrupted, self.clusters.setdefault(cluster, len(self.clusters)), restarts)
        if match is not None:
            parts = self.parts.setdefault(name, _Parts(len(self.columns) - 1, []))
            parts.components.append(_Component(whole("JobID", match[2]), job, interrupted))
        if job.gpu_types:
            self.types.update(pair.partition("=")[0] for pair in job.gpu_types.split(","))

    def _append(self, job: Logged, interrupted: bool, cluster: int, restarts: int = 0) -> None:
        self.restarts.append(restarts)
        self.columns.append(job)
        self.interrupted.append(interrupted)
        self.cluster.append(cluster)

    def join_components(self) -> None:
        """Make the heterogeneous jobs of their components; where a number was used again, the later job gets a new row."""
        for name, (row, components) in self.parts.items():
            for k, attempts in enumerate(_by_job(_attempts(components))):
                best = next((each for each in reversed(attempts) if each.ran), attempts[-1])
                job = best.whole(name)
                earlier: list[Logged] = []
                for other in attempts:
                    if other is best:
                        continue
                    once_more = other.interrupted or not other.ran
                    self.skipped[ATTEMPTS if once_more else REPEATED] += len(other.components)
                    if once_more:
                        earlier.append(other.whole(name))
                if earlier:
                    first = attempts[0].whole(name)
                    job = replace(job, submit=first.submit, eligible=first.eligible)
                place = row
                if k:
                    place = len(self.columns)
                    self._append(job, False, self.cluster[row])
                else:
                    self.columns[row], self.interrupted[row] = job, False
                if earlier:
                    self.earlier[place] = tuple(map(_attempt_of, earlier))


def text_or_brace(path: str | Path) -> Iterator[str]:
    """Yield the lines of a text; of JSON, which may be one long line, only its first brace."""
    if begins_with(path, "{"):
        return iter(["{"])
    return each_line(path)


class _Component(NamedTuple):
    """The row of a component ``123+1`` of a heterogeneous job: its number, and whether it was interrupted."""

    number: int
    job: Logged
    interrupted: bool


class _Parts(NamedTuple):
    """The rows of the components of a heterogeneous job, in the order of the log, and the row of the whole job."""

    row: int
    components: list[_Component]


class _HetAttempt(NamedTuple):
    """An attempt to run a heterogeneous job: its submit time in s, and its components by their numbers."""

    submit: float
    components: dict[int, _Component]

    @property
    def ran(self) -> bool:
        """Whether every component ran."""
        return not any(each.job.unusable for each in self.components.values())

    @property
    def interrupted(self) -> bool:
        """Whether a component was interrupted, so that the job was queued again."""
        return any(each.interrupted for each in self.components.values())

    def whole(self, name: str) -> Logged:
        """Return the attempt as one job; ``name`` begins with the cluster and a space."""
        return _whole_job(name, [each.job for _, each in sorted(self.components.items())])


def _attempts(rows: Iterable[_Component]) -> list[_HetAttempt]:
    """Return the attempts in the order of their times; the components of one are submitted together."""
    attempts: list[_HetAttempt] = []
    for row in sorted(rows, key=lambda row: (_known(row.job.submit, 0.0), _known(row.job.start, math.inf))):
        submit = _known(row.job.submit, 0.0)
        if not attempts or row.number in attempts[-1].components or submit - attempts[-1].submit > TOGETHER:
            attempts.append(_HetAttempt(submit, {}))
        attempts[-1].components[row.number] = row
    return attempts


def _by_job(attempts: Iterable[_HetAttempt]) -> list[list[_HetAttempt]]:
    """Return the attempts of each job: one after an interrupted one, or submitted with it, is of the same job."""
    jobs: list[list[_HetAttempt]] = []
    for each in attempts:
        if jobs and (jobs[-1][-1].interrupted or each.submit - jobs[-1][-1].submit <= TOGETHER):
            jobs[-1].append(each)
        else:
            jobs.append([each])
    return jobs


def _known(time: float, otherwise: float) -> float:
    if math.isnan(time):
        return otherwise
    return time


def _check_columns(path: str | Path, line: int, header: Sequence[str]) -> None:
    for one_of in NEEDED:
        if not any(c in header for c in one_of):
            if line:
                where = f"{path}, line {line}"
            else:
                where = f"{path}"
            raise WorkloadError(f"{where}: there is no column {' or '.join(one_of)}; {EXPECTED}")


def _type_notes(jobs: _Jobs) -> list[str]:
    if not jobs.types:
        return []
    listed = ", ".join(f"{kind}: {how_many(n, 'job', ',')}" for kind, n in jobs.types.most_common(8))
    return [f"types of GPUs are recorded ({listed}); nodes that are all equal count GPUs of all types together"]


def _whole_job(name: str, listed: Sequence[Logged]) -> Logged:
    """Return the heterogeneous job of its components, in their order; ``name`` begins with the cluster and a space."""
    chunks = merged((job.units, job.request) for job in listed)
    first = listed[0]
    unusable = next((job.unusable for job in listed if job.unusable), "")
    if not unusable and not all(job.units for job in listed):
        unusable = "one of its components has no nodes"
    runtimes = [job.runtime for job in listed if job.runtime == job.runtime]
    walltimes = [job.walltime for job in listed if job.walltime == job.walltime]
    nodes = [job.recorded.nodes for job in listed if job.recorded is not None and job.recorded.nodes]
    job_id = name.rpartition(" ")[2]
    shares = [job.units * job.request.get("cores", 0) for job in listed]
    had = [
        own if job.recorded is None or job.recorded.cpus is None else job.recorded.cpus
        for own, job in zip(shares, listed, strict=True)
    ]
    cpus = None
    if had != shares:
        cpus = sum(had)
    return replace(
        first,
        id=job_id,
        recorded=replace(first.recorded or NOTHING_RECORDED, cpus=cpus, nodes=",".join(dict.fromkeys(nodes))),
        runtime=max(runtimes, default=MISSING),
        walltime=max(walltimes, default=MISSING),
        units=chunks[0].units,
        request=chunks[0].request,
        chunks=tuple(chunks) if len(chunks) > 1 else (),
        array=_array(job_id),
        unusable=unusable,
        changed=tuple(dict.fromkeys(what for job in listed for what in job.changed)),
        not_obeyed=(SEVERAL_NODES_OF_PARTS,),
        gpu_types=",".join(job.gpu_types for job in listed if job.gpu_types),
    )


def _until_the_end(trace: Trace) -> Trace:
    """Return the trace in which jobs that still run, without Elapsed, or still wait do so until the last time of the log."""
    still = trace.changed.get(STILL_RAN, np.zeros(len(trace), np.bool_))
    waits = trace.unusable.get(STILL_WAITED, np.zeros(len(trace), np.bool_))
    if not still.any() and not waits.any():
        return trace
    ends = [t[np.isfinite(t)] for t in (trace.submit, trace.start, trace.start + trace.runtime)]
    last = max((float(t.max()) for t in ends if len(t)), default=MISSING)
    missing = still & np.isnan(trace.runtime)
    runtime = np.where(missing, last - trace.start, trace.runtime)
    site = trace.site
    if site is not None and not math.isnan(last):
        site = replace(site, cancelled=np.where(waits & ~site.of_queue, round(last), site.cancelled))
    return replace(trace, runtime=runtime, site=site)


def _with_limits_of_partitions(trace: Trace) -> Trace:
    """Return the trace in which a walltime without a limit is the longest one of the partition in the whole log.

    Where no job of the partition has a limit, it stays infinite.
    """
    unlimited = np.isposinf(trace.walltime)
    if not unlimited.any():
        return trace
    longest = np.zeros(len(trace.queue.names))
    known = np.isfinite(trace.walltime)
    np.maximum.at(longest, trace.queue.index[known], trace.walltime[known])
    mine = longest[trace.queue.index]
    limited = unlimited & (mine > 0)
    walltime = np.where(limited, mine, trace.walltime)
    return replace(trace, walltime=walltime, changed={**trace.changed, LIMIT_OF_PARTITION: limited})


def _with_sizes_joined(trace: Trace, jobs: _Jobs) -> tuple[Trace, dict[int, str]]:
    """Return the trace in which jobs that were resized while they ran have one row each, and why other rows of them are left out.

    When its size changes, Slurm ends the row of a job with the state RESIZING, and begins another one, which was submitted
    and started at that time. The last row has the end; the whole job began with the first one, and has the largest size.
    """
    if trace.site is None or RESIZING not in trace.site.texts:
        return trace, {}
    resized = trace.site.state == trace.site.texts.index(RESIZING)
    submit = trace.submit.copy()
    start = trace.start.copy()
    runtime = trace.runtime.copy()
    units = trace.units.copy()
    request = trace.request.copy()
    eligible = None if trace.eligible is None else trace.eligible.copy()
    changed = np.zeros(len(trace), np.bool_)
    joined: dict[int, str] = {}
    for rows in _rows_of_ids(trace, jobs):
        if not resized[rows].any():
            continue
        last_copies = {(float(trace.submit[k]), float(trace.start[k])): k for k in rows}  # files that were joined
        parts = sorted(last_copies.values(), key=rows.index)
        joined.update((k, REPEATED) for k in rows if k not in parts)
        for before, row in pairwise(parts):
            if not resized[before]:
                continue
            joined[before] = SIZES
            changed[row] = True
            runtime[row] += runtime[before]
            submit[row] = submit[before]
            start[row] = start[before]
            if eligible is not None:
                eligible[row] = eligible[before]
            if units[before] * request[before, 0] > units[row] * request[row, 0]:
                units[row] = units[before]
                request[row] = request[before]
    whole = replace(
        trace, submit=submit, start=start, runtime=runtime, units=units, request=request, eligible=eligible,
        changed={**trace.changed, RESIZED: changed},
    )  # fmt: skip
    return whole, joined


def _rows_of_ids(trace: Trace, jobs: _Jobs) -> list[list[int]]:
    """Return the rows of each id, of a cluster, that several rows have, in the order of their times."""
    seen = set[str]()
    repeated = {job for job in trace.ids if job in seen or seen.add(job)}  # type: ignore[func-returns-value]
    groups: dict[tuple[int, str], list[int]] = {}
    for place, job in enumerate(trace.ids):
        if job in repeated:
            groups.setdefault((jobs.cluster[place], job), []).append(place)
    submit = np.nan_to_num(trace.submit)
    start = np.where(np.isnan(trace.start), np.inf, trace.start)
    return [sorted(rows, key=lambda k: (submit[k], start[k], k)) for rows in groups.values()]


def _last_attempts(
    trace: Trace, jobs: _Jobs, joined: Collection[int]
) -> tuple[Bools | None, dict[str, int], dict[int, tuple[RecordedAttempt, ...]], dict[int, int]]:
    """Return the mask of the rows that remain where jobs have several, None for all; reason -> rows left out; attempts.

    Last: the row that remains of a requeued job -> that of its first attempt. ``joined``: rows that are part of others.

    Rows of one id and cluster are attempts of one job if they have the same submit time, or if the earlier one was
    interrupted (REQUEUED, PREEMPTED, NODE_FAIL, ...). Other rows of the same id are other jobs: ids are used again. Of the
    attempts the last one that ran remains.
    """
    if len(set(trace.ids)) == len(trace.ids):
        return None, {}, {}, {}
    never = np.any([np.zeros(len(trace), np.bool_), *trace.unusable.values()], axis=0)
    submit = np.nan_to_num(trace.submit)
    kept = np.ones(len(trace), np.bool_)
    kept[list(joined)] = False
    skipped = Counter[str]()
    earlier: dict[int, tuple[RecordedAttempt, ...]] = {}
    first: dict[int, int] = {}
    for rows in _rows_of_ids(trace, jobs):
        attempts: list[int] = []
        in_order: list[int | None] = [*(k for k in rows if k not in joined), None]
        for k in in_order:
            one_job = attempts and k is not None and _same_job(attempts[-1], k, submit, jobs)
            if attempts and not one_job:
                last = next((j for j in reversed(attempts) if not never[j]), attempts[-1])
                others = [j for j in attempts if j != last]
                before = [j for j in others if jobs.interrupted[j] or never[j]]
                kept[others] = False
                skipped[ATTEMPTS] += len(before)
                skipped[REPEATED] += len(others) - len(before)
                if before:
                    earlier[last] = tuple(_attempt(trace, j) for j in before)
                    first[last] = attempts[0]
                attempts = []
            if k is not None:
                attempts.append(k)
    return kept, dict(skipped), earlier, first


def _since_first_submission(trace: Trace, first: Mapping[int, int]) -> Trace:
    """Return a trace in which requeued jobs were submitted, and eligible, when their first attempts were."""
    if not first:
        return trace
    rows, sources = np.array(list(first.items()), np.int64).T
    submit = trace.submit.copy()
    submit[rows] = submit[sources]
    if trace.eligible is None:
        return replace(trace, submit=submit)
    eligible = trace.eligible.copy()
    eligible[rows] = eligible[sources]
    return replace(trace, submit=submit, eligible=eligible)


def _attempt(trace: Trace, row: int) -> RecordedAttempt:
    start = float(trace.start[row])
    if trace.site is None:
        recorded = NOTHING_RECORDED
    else:
        recorded = trace.site.recorded(row)
    return _recorded_attempt(float(trace.submit[row]), start, start + float(trace.runtime[row]), recorded)


def _attempt_of(job: Logged) -> RecordedAttempt:
    return _recorded_attempt(job.submit, job.start, job.start + job.runtime, job.recorded or NOTHING_RECORDED)


def _recorded_attempt(submit: float, start: float, end: float, recorded: Recorded) -> RecordedAttempt:
    return RecordedAttempt(_second(submit), _second(start), _second(end), recorded.state, recorded.nodes)


def _second(time: float) -> int:
    """Return a time in whole seconds, -1 if it is unknown."""
    if math.isfinite(time):
        return round(time)
    return -1


def _same_job(before: int, after: int, submit: np.ndarray[tuple[int], np.dtype[np.float64]], jobs: _Jobs) -> bool:
    return bool(submit[before] == submit[after] or jobs.interrupted[before])


def _array(name: str) -> str:
    """Return the name of the job array of a job such as ``123_4`` or ``123_[5-9]``; empty if it is in none."""
    match = re.fullmatch(r"(.+)_(?:\d+|\[[^\]]*\])", name, re.ASCII)
    if match:
        return match[1]
    return ""


def _job(row: Mapping[str, str], zone: tzinfo) -> Logged:
    """Read the row of a job. Raises ValueError."""
    name = row["JobID"]
    if not name or not name[0].isalnum():
        raise WrongValue(f"JobID is {name[:40]!r}; expected a job such as 123 or 123_4")
    times = _times(row, zone)
    asked = _asked(row, times.submit, zone)
    cpus = _cpus(row) or _cpus_of_line(asked)
    units = 0
    if cpus:
        units = max(_nodes(row) or _nodes_of_line(asked), 1)
    if units > 1 and not _tells_nodes_asked_for(row):
        asked = replace(asked or NOTHING, min_nodes=units)
    changed = list(times.changed)
    request: dict[str, int] = {}
    types: dict[str, int] = {}
    if units:
        request, types, repairs = _request(row, units, cpus, asked)
        if asked is not None and not any(row.get(column) for column in AMOUNTS):
            request, types = _with_line(request, asked, units, cpus)
        changed += repairs
    why = times.why
    if not why and not cpus:
        why = NO_CPUS
    return Logged(
        id=name,
        submit=times.submit,
        start=MISSING if times.why else times.start,
        runtime=times.runtime,
        walltime=_walltime(row),
        units=units,
        request=request,
        queue=row.get("Partition", ""),
        user=row.get("User", ""),
        program=" ".join(row.get("JobName", "").split()),
        unusable=why,
        array=_array(name),
        changed=tuple(changed),
        not_obeyed=(*((SEVERAL_NODES,) if units > 1 else ()), *_options_not_obeyed(row)),
        gpu_types=",".join(f"{kind}={number}" for kind, number in types.items()),
        eligible=times.eligible,
        asked=asked,
        recorded=_recorded(row, times, None if cpus == units * request.get("cores", 0) else cpus),
    )


# --- What the command line of a job tells where no column does.


def _cpus_of_line(asked: SiteRequest | None) -> int:
    if asked is None or asked.tasks is None:
        return 0
    return asked.tasks * (asked.cpus_per_task or 1)


def _tells_nodes_asked_for(row: Mapping[str, str]) -> bool:
    """Return whether a column tells on how many nodes the job asked to run; else it is those that it got."""
    return bool(_count(row, "ReqNodes") or _tres_count(row, "ReqTRES", "node") or row.get("SubmitLine"))


def _nodes_of_line(asked: SiteRequest | None) -> int:
    if asked is None:
        return 0
    return asked.min_nodes or 0


def _with_line(
    request: Mapping[str, int], asked: SiteRequest, units: int, cpus: int
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the request of a unit with GPUs and memory that were asked for, and the GPUs of the job by type."""
    times = {"node": units, "socket": units, "task": asked.tasks or units, "job": 1}
    gpus = 0
    types: dict[str, int] = {}
    for name, kind, number, per in asked.gres:
        if name == "gpu":
            gpus += number * times[per]
        if name == "gpu" and kind:
            types[kind] = types.get(kind, 0) + number * times[per]
    memory_per_cpu = (asked.memory_per_cpu or 0) * -(-cpus // units)
    return {**request, "gpus": -(-gpus // units), "memory": asked.memory_per_node or memory_per_cpu}, types


ASKED = ("Account", "QOS", "Partition", "ReqNodes", "ReqCPUS", "ReqMem", "ReqTRES", "Constraints", "Licenses",
         "Reservation", "ArrayLimit")  # fmt: skip


def _options(row: Mapping[str, str]) -> Options:
    """Return the options of the command line of a job, of a heterogeneous one those of its component."""
    component = COMPONENT.fullmatch(row["JobID"])
    return options_of(row.get("SubmitLine", ""), whole_of(component[2]) or 0 if component else 0)


def _options_not_obeyed(row: Mapping[str, str]) -> Iterator[str]:
    """Yield what the command line of a job asks for that no replay gives."""
    for name in asked_by(_options(row)).not_obeyed:
        yield f"asked for --{name}"


def _asked(row: Mapping[str, str], submit: float, zone: tzinfo) -> SiteRequest | None:
    """Return what the job of a row asked for; None if no column tells. Raises ValueError."""
    limit = array_limit(row["JobID"])
    options = _options(row)
    asked = _of_columns(tuple(row.get(c, "") for c in ASKED), _licences(row), options)
    begin = begin_after(asked_by(options).begin, submit, zone)
    if limit or begin:
        asked = replace(asked, begin=begin, array_limit=limit or asked.array_limit)
    if asked == NOTHING:
        return None
    return asked


LICENCE = "license/"


def _licences(row: Mapping[str, str]) -> str:
    """Return the licences among the trackable resources of a job, as the column Licenses has them: ``matlab:2,ansys:1``."""
    for column in TRES:
        text = row.get(column, "")
        if LICENCE in text:
            listed = [(name, amount) for name, amount in tres(text).items() if name.startswith(LICENCE)]
            return ",".join(f"{name.removeprefix(LICENCE)}:{amount}" for name, amount in listed)
    return ""


@lru_cache(4096)
def _of_columns(cells: tuple[str, ...], licences: str, options: Options) -> SiteRequest:
    row = {column: "" if is_unknown(text) else text for column, text in zip(ASKED, cells, strict=True)}
    line = asked_by(options).asked
    resources = tres(row["ReqTRES"])
    partitions = tuple(filter(None, row["Partition"].split(",")))
    if set(partitions) <= set(line.partitions):  # it ran in one of those that it asked for
        partitions = line.partitions
    columns: dict[str, Any] = {
        "account": row["Account"],
        "qos": row["QOS"],
        "partitions": partitions,
        "features": row["Constraints"],
        "licences": row["Licenses"],
        "reservation": row["Reservation"],
        "cpus": _count(row, "ReqCPUS") or _tres_count(row, "ReqTRES", "cpu") or None,
        "array_limit": _count(row, "ArrayLimit") or None,
    }
    if not (line.licences or row["Licenses"]):  # a site may not track all licences
        columns["licences"] = licences
    if line.min_nodes is None:
        columns["min_nodes"] = _count(row, "ReqNodes") or _tres_count(row, "ReqTRES", "node") or None
    if not line.gres:
        columns["gres"] = _gres(resources)
    if row["ReqMem"]:
        with suppress(WrongValue):  # where AllocTRES tells the memory, this column may hold anything
            megabytes, per = memory(row["ReqMem"])
            if per != "job":
                columns[f"memory_per_{per}"] = math.ceil(megabytes)
    return with_columns(line, columns)


def _gres(resources: Mapping[str, str]) -> tuple[Gres, ...]:
    """Return the generic resources of a job, by type; those of a name that have no type are of any."""
    amounts = generic_in(resources)
    requests = []
    for name, amount in amounts.items():
        own, _, kind = name.partition(":")
        of_types = sum(n for other, n in amounts.items() if other.startswith(f"{own}:"))
        if kind:
            count = amount
        else:
            count = amount - of_types
        if count > 0:
            requests.append(Gres(own, kind, count, "job"))
    return tuple(requests)


def _recorded(row: Mapping[str, str], times: _Times, cpus: int | None) -> Recorded:
    nodes, reason = (row.get(column, "") for column in ("NodeList", "Reason"))
    return Recorded(
        cancelled=round(times.end) if times.why and times.end >= times.submit else None,
        priority=whole_of(row.get("Priority", "")),
        cpus=cpus,
        nodes="" if is_unknown(nodes) else nodes,
        state=state_of(row.get("State", "")),
        reason="" if is_unknown(reason) else reason,
    )


class _Times(NamedTuple):
    """The times of a row in s, NaN if unknown; why the job never ran, "" if it did; repairs."""

    submit: float
    eligible: float
    start: float
    end: float
    runtime: float
    why: str
    changed: tuple[str, ...]


def _times(row: Mapping[str, str], zone: tzinfo) -> _Times:
    submit, eligible, start, end = (_moment(row, c, zone) for c in ("Submit", "Eligible", "Start", "End"))
    elapsed = _elapsed(row)
    state = state_of(row.get("State", ""))
    if math.isnan(start) and elapsed > 0:
        start = end - elapsed
    if start < submit:
        second = later_fold(row["Start"], zone, submit)
        if not math.isnan(second):
            start = second
    if end < start:
        second = later_fold(row["End"], zone, start)
        if not math.isnan(second):
            end = second
    if elapsed >= 0 and abs(end - start - elapsed) > 1:
        start, end = _in_equal_hours(row, zone, start, end, elapsed)
    took = elapsed
    if math.isnan(elapsed) and state != "PENDING":  # of a job that waits, Start and End may be expected times
        took = end - start
    why = _never_ran(row, state, start, took)
    changed: list[str] = []
    runtime = elapsed
    if math.isnan(elapsed) and end >= start:
        suspended = _suspended(row)
        runtime = max(end - start - suspended, 0.0)
        if suspended:
            changed += [SUSPENDED]
    elif abs(end - start - elapsed) > 1:
        changed.append(OTHER_SPAN)
    if not why and (state in RUNNING or (not state and "End" in row)) and math.isnan(end):
        changed.append(STILL_RAN)
    if not why and start < submit:
        submit = start
        changed.append(AFTER_START)
    return _Times(
        submit, min(eligible, start) if eligible > start else eligible, start, end, runtime, why, tuple(changed)
    )


def _in_equal_hours(
    row: Mapping[str, str], zone: tzinfo, start: float, end: float, elapsed: float
) -> tuple[float, float]:
    """Return start and end, each perhaps in the second of the two equal hours when a clock is set back, if Elapsed tells it."""
    starts = [start, later_fold(row.get("Start", ""), zone, start)]
    ends = [end, later_fold(row.get("End", ""), zone, start)]
    fitting = ((s, e) for s in starts for e in ends if abs(e - s - elapsed) <= 1)
    return next(fitting, (start, end))


def _never_ran(row: Mapping[str, str], state: str, start: float, took: float) -> str:
    """Return why a job never ran; "" if it did. ``took``: seconds that it ran, NaN if unknown."""
    if state in WAITING and not took > 0:
        if state == "PENDING":
            return STILL_WAITED
        return NEVER_STARTED
    never = math.isnan(start)
    if not never and not took > 0 and state not in RUNNING:
        allocated = [row[column] for column in ALLOCATED if column in row]
        if "NodeList" in row:
            never = is_unknown(row["NodeList"])
        elif allocated:
            never = state not in RAN and all(is_unknown(text) or text == "0" for text in allocated)
        else:
            never = state in UNFINISHED
    if not never:
        return ""
    if state in CANCELLED:
        return CANCELLED_WAITING
    return NEVER_STARTED


def _elapsed(row: Mapping[str, str]) -> float:
    for column, alone in (("ElapsedRaw", 1), ("Elapsed", 60)):
        text = row.get(column, "")
        if not is_unknown(text) and not NEGATIVE.fullmatch(text):
            return _duration(column, text, alone)
    return MISSING


def _suspended(row: Mapping[str, str]) -> float:
    text = row.get("Suspended", "")
    if is_unknown(text):
        return 0.0
    return _duration("Suspended", text, 60)


def _walltime(row: Mapping[str, str]) -> float:
    for column in ("Timelimit", "TimelimitRaw"):
        text = row.get(column, "")
        if not is_unknown(text):
            limit = _duration(column, text, 60)
            if math.isinf(limit):
                return UNLIMITED
            return limit
    return MISSING


def _duration(column: str, text: str, alone: int) -> float:
    try:
        return duration(text, alone)
    except WrongValue as e:
        raise WrongValue(f"{column} is {e}") from None


def _moment(row: Mapping[str, str], column: str, zone: tzinfo) -> float:
    try:
        return moment(row.get(column, ""), zone)
    except WrongValue as e:
        raise WrongValue(f"{column} is {e}") from None


def _nodes(row: Mapping[str, str]) -> int:
    """Return the number of nodes of a job, 0 if it is not known: the allocated ones before the requested ones."""
    listed_counts = [_count(row, c) for c in NODES]
    allocated = _tres_count(row, "AllocTRES", "node") or max(listed_counts)
    if allocated:
        return allocated
    listed = row.get("NodeList", "")
    if not is_unknown(listed):
        return count_of_hosts(listed)
    return _tres_count(row, "ReqTRES", "node") or _count(row, "ReqNodes")


def _cpus(row: Mapping[str, str]) -> int:
    """Return the number of CPUs of a job, 0 if it is not known: the allocated ones before the requested ones."""
    counts = (
        _tres_count(row, "AllocTRES", "cpu"),
        *(_count(row, c) for c in CPUS),
        _tres_count(row, "ReqTRES", "cpu"),
        _count(row, "ReqCPUS"),
    )
    return next((n for n in counts if n), 0)


def _tres_count(row: Mapping[str, str], column: str, name: str) -> int:
    amounts = tres(row.get(column, ""))
    if name in amounts:
        return _counted(column, amounts[name])
    return 0


def _count(row: Mapping[str, str], column: str) -> int:
    text = row.get(column, "")
    if is_unknown(text):
        return 0
    return _counted(column, text)


def _counted(column: str, text: str) -> int:
    plain = whole_of(text)
    if plain is not None:
        return plain
    try:
        number = count(text)
    except WrongValue as e:
        raise WrongValue(f"{column} is {e}") from None
    if number > MOST:
        raise WrongValue(f"{column} is {text[:40]!r}, more than any machine has")
    return number


def _request(
    row: Mapping[str, str], units: int, cpus: int, asked: SiteRequest | None
) -> tuple[dict[str, int], dict[str, int], list[str]]:
    """Return the request of a unit (a node of the job), the GPUs of the job by type, and repairs."""
    repairs: list[str] = []
    listed = [tres(row.get(column, "")) for column in TRES]
    gpus, types = next((g for g in map(gpus_in, listed) if g[0]), (0, {}))
    if not gpus:
        tasks = None if asked is None else asked.tasks
        texts = filter(None, (row.get(column) for column in ("AllocGRES", "ReqGRES")))
        older = next((told for text in texts if (told := gres_gpus_of_job(text, units, tasks)).number), NO_GPUS)
        gpus = older.number
        types = older.types
        if not older.certain:
            repairs.append(GPUS_UNTOLD)
    megabytes, whole = _memory(row, listed, units, cpus)
    if whole:
        repairs.append(WHOLE_MEMORY)
    if gpus > MOST or megabytes > MOST:
        raise WrongValue(f"{how_many(gpus, 'GPU')} and {megabytes:.0f} MB per node are more than any machine has")
    return {"cores": -(-cpus // units), "gpus": -(-gpus // units), "memory": math.ceil(megabytes)}, types, repairs


def _memory(row: Mapping[str, str], listed: Sequence[Mapping[str, str]], units: int, cpus: int) -> tuple[float, bool]:
    """Return the memory per node in MB, and whether the whole memory of the nodes was requested, of unknown amount."""
    for column, resources in zip(TRES, listed, strict=True):
        text = resources.get("mem", "")
        if not is_unknown(text):
            total = _amount(column, text)[0]
            if total:
                return total / units, False
    text = row.get("ReqMem", "")
    if is_unknown(text):
        return 0.0, False
    megabytes, per = _amount("ReqMem", text)
    share = {"cpu": cpus / units, "node": 1.0, "job": 1 / units}[per]
    return megabytes * share, megabytes == 0


def _amount(column: str, text: str) -> tuple[float, str]:
    try:
        return memory(text)
    except WrongValue as e:
        raise WrongValue(f"{column} is {e}") from None
