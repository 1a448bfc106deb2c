"""A workload: the jobs of a log as arrays, ready for a replay on a platform, with a report of the repairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..models import arguments
from ..models.arguments import is_number, is_whole, shown, whole_array, whole_pairs, wrong
from ..models.array_types import Bools, Floats, Ints
from ..models.comparing import hashable
from ..models.dispatch.arrays import FurtherChunks, JobArrays, column, distinct, impossible_jobs, kept_rows, numbers_of
from ..models.dispatch.jobs import Chunk, Durations, Job, Queue, Recorded, Running, Window, whole_running
from ..models.dispatch.problem import Dispatch
from ..models.kind import resolve
from ..models.platform import LATEST, Platform
from ..models.words import hint, how_many, how_many_of, shortened, visible, with_short_repr
from .files.reading import WorkloadError as WorkloadError
from .site_columns import SiteColumns

if TYPE_CHECKING:
    import pandas

# --- Times of jobs: those that a log does not record, in fractions of a second, beyond the limit, or moved.

UNKNOWN = -1
NEVER = 2**62  # a time (seconds) after all others


def later(times: Ints, seconds: Ints | int) -> Ints:
    """Return times that are later by some seconds; ``NEVER`` stays.

    >>> later(np.array([5, NEVER]), 10).tolist() == [15, NEVER]
    True
    """
    return np.where(times == NEVER, NEVER, times + seconds)


def whole_seconds(times: Floats | None, rows: Ints) -> Ints:
    """Return the times of some rows in whole seconds; ``NEVER`` where there is none."""
    seconds = np.full(len(rows), NEVER, np.int64)
    if times is not None:
        known = np.isfinite(times[rows])
        seconds[known] = np.rint(times[rows][known]).astype(np.int64)
    return seconds


def fraction(seconds: Floats) -> Bools:
    """Return which times have fractions of a second."""
    fractional: Bools = np.isfinite(seconds) & (seconds != np.floor(seconds))
    return fractional


def beyond(*seconds: Floats) -> Bools:
    """Return which rows have a time after ``LATEST``."""
    too_late: Bools = np.any([np.isfinite(s) & (s > LATEST) for s in seconds], axis=0)
    return too_late


# --- Busy beginnings: the jobs that run, and the jobs that wait, when a replay begins.


def running_at(
    begin: int, running: Iterable[Running], others: Collection[str]
) -> tuple[tuple[Running, ...], list[str]]:
    """Return the jobs that run at ``begin`` (s) and what is wrong with them; jobs that have ended by then are left out.

    ``others``: ids of the jobs that do not run.
    """
    if not is_whole(begin):
        return (), [f"the begin {wrong(begin)}"]
    if begin < 0:
        return (), [f"the begin is {begin}; at least second 0 is expected"]
    listed = tuple(running)
    strange = [f"{r!r:.100} is no Running (schedlab.models)" for r in listed if not isinstance(r, Running)]
    if strange:
        return (), strange
    listed, faults = whole_running(listed)
    if faults:
        return (), faults
    seen: set[str] = set()
    for r in listed:
        name = r.job.id
        units = sum(r.nodes.values())
        if name in others or name in seen:
            faults.append(f"job {name!r} runs at the begin and is listed a second time")
        seen.add(name)
        if r.start > begin:
            faults.append(f"job {name!r} runs at the begin, {begin}, but starts at {r.start}")
        if max(abs(r.start), abs(r.end), r.job.runtime or 0) > LATEST:
            faults.append(f"job {name!r}: a time beyond {LATEST:,} s (317 years) is not supported")
        if r.job.runtime is not None and r.job.runtime < 0:
            faults.append(f"job {name!r}: a runtime of {r.job.runtime} s; at least 0 is expected")
        if r.job.units < 1 or (r.nodes and (units != r.job.units or min(r.nodes.values()) < 1)):
            faults.append(
                f"job {name!r} runs with {how_many(r.job.units, 'unit')}; the units on its nodes are {dict(r.nodes)}"
            )
        if any(amount < 0 for amount in r.job.request.values()):
            faults.append(f"job {name!r}: requests {dict(r.job.request)}; amounts of at least 0 are expected")
    return tuple(r for r in listed if r.true_end > begin), faults


def ending_at_walltime(running: Iterable[Running]) -> tuple[Running, ...]:
    """Return running jobs that end at their walltime if their runtime is longer."""
    return tuple(
        r
        if r.job.runtime is None or r.job.runtime <= r.job.walltime
        else replace(r, job=replace(r.job, runtime=r.job.walltime))
        for r in running
    )


def moved(r: Running, seconds: int) -> Running:
    """Return a running job with all its times later by ``seconds``."""
    return replace(r, start=r.start + seconds, end=r.end + seconds, job=_moved(r.job, seconds))


def _moved(job: Job, seconds: int) -> Job:
    return replace(
        job,
        submit=job.submit + seconds,
        earliest_start=None if job.earliest_start is None else job.earliest_start + seconds,
        deadline=None if job.deadline is None else job.deadline + seconds,
        latest_start=None if job.latest_start is None else job.latest_start + seconds,
        windows=tuple((lo + seconds, hi + seconds) for lo, hi in job.windows),
    )


# --- Where jobs may run, and how: most jobs of a log are alike.


class NodeTerms(NamedTuple):
    """What a job asks of its nodes beyond the amounts of its units, and its licences; the other fields are those of ``Job``.

    Parameters
    ----------
    each_node : tuple of (str, int)
        What it takes on each of its nodes, beside what its units take, as resource and amount: GPUs that are asked for each node,
        whatever the number of nodes is. Only replays under ``slurm`` have such jobs.

    Examples
    --------
    >>> NodeTerms.of(Job("a", 0, 60, 2, {"cores": 8}, "q", features="ib", per_node=1)).features
    'ib'
    """

    nodes: tuple[str, ...] = ()
    features: str = ""
    per_node: int | None = None
    whole_nodes: bool = False
    licences: tuple[tuple[str, int], ...] = ()
    each_node: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, job: Job) -> NodeTerms:
        """Return what a job asks for."""
        if job.licences:
            licences = tuple(sorted(job.licences.items()))
        else:
            licences = ()
        return cls(job.nodes, job.features, job.per_node, job.whole_nodes, licences)


def _fields_of_job(terms: NodeTerms) -> dict[str, Any]:
    """Return the fields of a job with these terms; it has none for what it takes on each node."""
    fields = terms._asdict() | {"licences": dict(terms.licences)}
    del fields["each_node"]
    return fields


def node_terms_of(
    jobs: Iterable[Job], known: Sequence[NodeTerms] = (NodeTerms(),)
) -> tuple[tuple[NodeTerms, ...], Ints]:
    """Return distinct terms, after those that are known, and for each job the index of its terms."""
    number = {terms: k for k, terms in enumerate(known)}
    index = [number.setdefault(NodeTerms.of(job), len(number)) for job in jobs]
    return tuple(number), np.array(index, np.int64)


# --- A workload on a platform: the jobs that it can hold, the offered load, and submit times that are rescaled to a load.


class NoJobFits(WorkloadError):
    """The platform can hold no job of a log."""


def fitting(workload: Workload, platform: Platform) -> Workload:
    """Return the workload of the jobs that the empty platform can hold, with requests of its resources.

    The other jobs are in ``report.dropped``. Raises WorkloadError if no job is left.
    """
    w = workload
    columns = [w.request[:, w.resources.index(r)] if r in w.resources else np.zeros(len(w), np.int64)
               for r in platform.resources]  # fmt: skip
    foreign = [r for r in w.resources if r not in platform.resources]
    needs_foreign = np.zeros(len(w), np.bool_)
    for r in foreign:
        needs_foreign |= w.request[:, w.resources.index(r)] > 0
    for k, chunks in w.chunks.items():
        needs_foreign[k] |= any(c.request.get(r, 0) > 0 for c in chunks for r in foreign)
    _check_queues(w, platform)
    here = replace(w, resources=platform.resources, request=np.column_stack(columns).astype(np.int64))
    shape = np.zeros(len(w), np.int64)
    shapes: dict[tuple[tuple[int, tuple[tuple[str, int], ...]], ...], int] = {}
    for k, chunks in w.chunks.items():
        key = tuple((c.units, tuple(sorted(c.request.items()))) for c in chunks)
        shape[k] = shapes.setdefault(key, len(shapes) + 1)
    where = []
    if len(w.node_terms) > 1 or any(q.nodes for q in w.queues):
        where = [w.queue, w.node_term]
    kinds = distinct(np.column_stack([here.units, here.request, *([shape] if shapes else []), *where]))[1]
    _, samples = np.unique(kinds, return_index=True)
    kind_of = {here.ids[k]: int(kinds[k]) for k in samples}
    refused = impossible_jobs(platform, w.queues, [here.job(int(k)) for k in samples])
    why = {kind_of[job.id]: reason for job, reason in refused}
    gone = np.isin(kinds, list(why)) | needs_foreign
    if not gone.any():
        return here
    dropped = [
        (here.ids[k], why.get(int(kinds[k]), f"requests {', '.join(foreign)}, which the platform does not have"))
        for k in np.flatnonzero(gone).tolist()
    ]
    report = w.report.and_also({"larger than the platform, left out": len(dropped)}, dropped)
    if gone.all():
        raise NoJobFits(
            f"{w.name}: the platform can hold none of the {how_many(len(w), 'job')}; the first one {dropped[0][1]}"
        )
    return here.keep(~gone, report)


def _check_queues(workload: Workload, platform: Platform) -> None:
    """Raise WorkloadError if a queue, or a job, names a node that the platform does not have."""
    w = workload
    for who, names in [
        *((f"queue {q.name!r}", q.nodes) for q in w.queues),
        *(("a job", terms.nodes) for terms in w.node_terms),
    ]:
        unknown = next((name for name in names if name not in platform.capacity), None)
        if unknown is not None:
            raise WorkloadError(
                f"{w.name}: {who} names the node {unknown!r}; {hint(unknown, platform.nodes[:1000], 'the nodes are')}"
            )


def offered_load(workload: Workload, platform: Platform) -> float:
    """Return the offered load: work of the jobs / capacity of the platform.

    Work is the sum of units x cores x runtime; capacity is cores x time between first submission (or ``begin``) and
    last submission. Without a resource ``cores``, the first resource counts. Infinite if there is no such time.
    """
    w = workload
    resource = "cores"
    if "cores" not in w.resources:
        resource = w.resources[0]
    per_job = w.job_arrays.amounts[:, w.resources.index(resource)]
    work = float((per_job.astype(np.float64) * w.runtime).sum())  # int64 would overflow
    span = float(w.submit[-1] - _origin(w)) * platform.total(resource)
    if span > 0:
        return work / span
    return float("inf")


def at_load(workload: Workload, load: float, platform: Platform) -> Workload:
    """Return the same jobs with submit times (from ``begin`` on) rescaled so that the offered load is ``load``.

    Releases and latest starts move with the submit times; the recorded starts are lost. Raises WorkloadError if the
    load cannot be reached.
    """
    w = workload
    if not is_number(load) or not load > 0:
        raise WorkloadError(f"an offered load of {load} cannot be reached; expected a number above 0, such as 1.2")
    before = offered_load(w, platform)
    if not np.isfinite(before) or before <= 0:
        raise WorkloadError(
            f"{w.name}: the offered load is undefined: all jobs have the same submit time, or none has work"
        )
    origin = _origin(w)
    if (w.submit[-1] - origin) * (before / load) > LATEST:
        raise WorkloadError(f"{w.name}: an offered load of {load:g} moves submit times beyond {LATEST:,} s (317 years)")
    elapsed = np.rint((w.submit - origin) * (before / load)).astype(np.int64)
    submit = np.where(w.submit < origin, w.submit, origin + elapsed)
    notes = (f"arrivals rescaled from an offered load of {before:.3f} to {load:g}",)
    return replace(
        w,
        submit=submit,
        release=submit + (w.release - w.submit),
        recorded_start=np.full(len(w), UNKNOWN, np.int64),
        report=w.report.and_also(notes=notes),
        latest_start=later(w.latest_start, submit - w.submit),
        site=None if w.site is None else w.site.without_records(),
    )


def _recorded_start(job: Job) -> int:
    known = job.recorded is not None and job.recorded.start is not None
    return job.recorded.start if known else UNKNOWN  # type: ignore[union-attr, return-value]


def _origin(workload: Workload) -> int:
    if workload.begin is None:
        return int(workload.submit[0])
    return workload.begin


# --- A workload: the jobs of a log as arrays, ready for a replay, with a report of the repairs.


# --- The report of how a log became a workload.

REASONS = 5  # reasons for jobs left out that an error message lists


@dataclass(frozen=True)
class BadLine:
    """A line of a log that could not be read: its file, its line number from 1, and what was expected."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return shortened(visible(f"{self.file}, line {self.line}: {self.message}"))


@hashable
@dataclass(frozen=True)
class Report:
    """How a log became a workload.

    ``repairs``: kind of repair -> number of jobs; ``bad_lines``: lines that could not be read; ``dropped``: (id,
    reason) of each job that was left out; ``skipped``: kind of row or record that is no job -> number of them;
    ``not_obeyed``: what jobs requested that a replay does not give -> number of jobs; ``notes``: sentences for the user.
    """

    repairs: Mapping[str, int] = field(default_factory=dict)
    bad_lines: tuple[BadLine, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    not_obeyed: Mapping[str, int] = field(default_factory=dict)

    def losses(self) -> str:
        """Return a text: the numbers of lost lines and jobs, then the first lost line and the most frequent reasons."""
        bad = ""
        if self.bad_lines:
            bad = f"; {how_many(len(self.bad_lines), 'line')} could not be read"
        gone = ""
        if self.dropped:
            gone = f"; {how_many(len(self.dropped), 'job', verb='were')} left out"
        gone += "".join(f"; {how_many_of(n, what)}" for what, n in self.skipped.items())
        reasons = Counter(why for _, why in self.dropped).most_common()
        details = [str(line) for line in self.bad_lines[:1]]
        details += [f"{how_many(n, 'job')}: {why}" for why, n in reasons[:REASONS]]
        if len(reasons) > REASONS:
            details += [f"{how_many(sum(n for _, n in reasons[REASONS:]), 'job')}: other reasons"]
        return "\n  ".join([bad + gone, *details])

    def and_also(
        self,
        repairs: Mapping[str, int] | None = None,
        dropped: Iterable[tuple[str, str]] = (),
        notes: Iterable[str] = (),
        skipped: Mapping[str, int] | None = None,
        not_obeyed: Mapping[str, int] | None = None,
    ) -> Report:
        """Return a copy of this report with further repairs, dropped jobs, notes and so on."""
        return replace(
            self,
            repairs=_added(self.repairs, repairs or {}),
            dropped=(*self.dropped, *dropped),
            notes=(*self.notes, *notes),
            skipped=_added(self.skipped, skipped or {}),
            not_obeyed=_added(self.not_obeyed, not_obeyed or {}),
        )


def _added(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    total = dict(counts)
    for what, n in more.items():
        if n:
            total[what] = total.get(what, 0) + n
    return total


# --- The workload.

WITHOUT_PREDECESSOR = "preceding job not replayed, the job does not wait for it"
TABLE_READER = "schedlab.instances.formats.job_table:workload_of_table"  # imports this module
TABLE_WRITER = "schedlab.instances.formats.job_table:table_of_workload"
WHOLE = (
    "submit", "runtime", "walltime", "units", "request", "queue", "user", "program", "release", "recorded_start",
    "latest_start", "partition", "node_term",
)  # fmt: skip


@arguments.checked(values=False, deep=False)
@with_short_repr
@dataclass(frozen=True, eq=False)
class Workload:
    """The jobs of a log, one row per job, sorted by submit time (equal submit times in the order of the log).

    Arrays have shape (jobs,) unless another shape is given. Times are in seconds since second 0 of the workload. All
    arrays but ``power`` hold whole numbers: other values raise WorkloadError with the id of the job.

    Attributes
    ----------
    name
        The name of the log.
    ids
        Job ids, unique.
    submit, runtime, walltime
        Submit time, actual runtime, and runtime that the user requested, in s.
    units
        Number of job units (pieces of the job that run on one node each); of a heterogeneous job, of its first chunk.
    resources
        Names of the resources: the columns of ``request``.
    request
        Amount of each resource per unit (of the first chunk); shape (jobs, resources). Memory is in MB.
    queue, queues
        Index into ``queues``; the queues.
    user, users
        Index into ``users``; the user names.
    program, programs
        Index into ``programs``; the program names.
    release
        Earliest start of the job, in s; normally its submit time.
    recorded_start
        Start of the job on the real machine, in s; -1 if unknown.
    power
        Power of the whole job in W; NaN if unknown.
    windows
        Row of a job -> its own start windows (first, last), in s.
    after
        Row of a job -> row of the job that it waits for, and the seconds from the end of that job to its own arrival.
        Such a job arrives at the later of this time and its release.
    chunks
        Row of a heterogeneous job -> all its chunks.
    arrays
        Row of a job -> the name of its job array.
    unix_start
        Unix time of second 0; None if unknown.
    report
        Repairs, unreadable lines and jobs that were left out.
    begin
        Time at which a replay begins, in s; None: at the first event.
    running
        Jobs that run at ``begin``; they are not among the rows. One without nodes gets them from the allocator.
    latest_start
        Time by which the job should have started, in s; ``NEVER`` where there is none. Default: none for all jobs.
    partition, partitions
        Index into ``partitions``; the names of the partitions of the log, none if it has no partitions.
    node_term, node_terms
        Index into ``node_terms``; what jobs ask of their nodes beyond amounts, and their licences. Default: nothing.
    site
        What the jobs asked of their site (account, QOS, nodes, dependencies) and what its scheduler recorded (eligible
        times, nodes, states); None: unknown.

    Examples
    --------
    >>> from schedlab.instances import load
    >>> w = Workload.of(load("eurora_99").dispatch)
    >>> len(w), w.resources, w.job(0).id == w.ids[0]
    (99, ('cores', 'gpus', 'mics', 'memory'), True)
    """

    name: str
    ids: Sequence[str]
    submit: Ints
    runtime: Ints
    walltime: Ints
    units: Ints
    resources: tuple[str, ...]
    request: Ints
    queue: Ints
    queues: tuple[Queue, ...]
    user: Ints
    users: tuple[str, ...]
    program: Ints
    programs: tuple[str, ...]
    release: Ints
    recorded_start: Ints
    power: Floats
    windows: Mapping[int, tuple[Window, ...]] = field(default_factory=dict)
    after: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    chunks: Mapping[int, tuple[Chunk, ...]] = field(default_factory=dict)
    arrays: Mapping[int, str] = field(default_factory=dict)
    unix_start: int | None = None
    report: Report = field(default_factory=Report)
    begin: int | None = None
    running: tuple[Running, ...] = ()
    latest_start: Ints = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    partition: Ints = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    partitions: tuple[str, ...] = field(default=(), repr=False)
    node_term: Ints = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    node_terms: tuple[NodeTerms, ...] = field(default=(NodeTerms(),), repr=False)
    site: SiteColumns | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, usual in (("latest_start", NEVER), ("partition", 0), ("node_term", 0)):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.full(len(self.ids), usual, np.int64))
        for name in WHOLE:
            array, fault = whole_array(getattr(self, name))
            if fault is not None:
                raise WorkloadError(f"{self.name}: job {self._id(fault[0])}: {name} {wrong(fault[1])}")
            object.__setattr__(self, name, array)
        if self.site is not None and len(self.site) != len(self.ids):
            raise WorkloadError(
                f"{self.name}: site has {how_many(len(self.site), 'row')}; {len(self.ids)} are expected"
            )
        for row, windows in self.windows.items():
            if not is_whole(row):
                raise WorkloadError(f"{self.name}: windows has the key {row!r:.80}; the row of a job is expected")
            if whole_pairs(windows) is None:
                raise WorkloadError(
                    f"{self.name}: job {self._id(row)}: windows is {shown(windows)}; "
                    "pairs (first, last) of whole numbers are expected"
                )

    def _id(self, row: int) -> str:
        if is_whole(row) and 0 <= row < len(self.ids):
            return repr(self.ids[row])
        return f"in row {row!r}"

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    @arguments.checked
    def of(cls, problem: Dispatch, name: str = "jobs", report: Report | None = None) -> Workload:
        """Make a workload of the jobs of a problem. Raises WorkloadError for no job, or a job without a runtime.

        Deadlines and limits on objectives are left out: a dispatcher does not enforce them. If the problem has running jobs or a ``now`` other
        than 0, the replay begins at ``now`` with these jobs.
        """
        missing = [j.id for j in problem.jobs if j.runtime is None]
        if missing:
            raise WorkloadError(
                f"job {missing[0]!r} has no runtime ({len(missing)} of {how_many(len(problem.jobs), 'job')}); "
                "a replay needs the runtime of every job"
            )
        order = np.argsort(problem.job_arrays.submit, kind="stable")
        arrays = problem.job_arrays.some(order)
        jobs = [problem.jobs[k] for k in order.tolist()]
        users = numbers_of(j.user for j in jobs)
        programs = numbers_of(j.name for j in jobs)
        queues = {q.name: k for k, q in enumerate(problem.queues)}
        node_terms, node_term = node_terms_of(jobs)
        site = None
        if any(j.asked is not None or j.recorded is not None for j in jobs):
            site = SiteColumns.of((j.asked, j.recorded) for j in jobs)
        workload = cls(
            name=name,
            ids=tuple(j.id for j in jobs),
            submit=arrays.submit,
            runtime=column(j.runtime or 0 for j in jobs),
            walltime=column(j.walltime for j in jobs),
            units=arrays.units,
            resources=problem.platform.resources,
            request=arrays.request,
            queue=column(queues[j.queue] for j in jobs),
            queues=tuple(problem.queues),
            user=column(users[j.user] for j in jobs),
            users=tuple(users),
            program=column(programs[j.name] for j in jobs),
            programs=tuple(programs),
            release=column(j.release for j in jobs),
            recorded_start=column(_recorded_start(j) for j in jobs),
            power=np.array([np.nan if j.power is None else j.power for j in jobs], np.float64),
            windows={k: j.windows for k, j in enumerate(jobs) if j.windows},
            chunks={k: j.chunks for k, j in enumerate(jobs) if j.chunks},
            arrays={k: j.array for k, j in enumerate(jobs) if j.array},
            report=report or Report(),
            latest_start=column(NEVER if j.latest_start is None else j.latest_start for j in jobs),
            node_term=node_term,
            node_terms=node_terms,
            site=site,
        ).checked()
        if problem.now or problem.running:
            return workload.beginning(problem.now, problem.running)
        return workload

    @classmethod
    def from_pandas(cls, table: pandas.DataFrame, name: str = "table") -> Workload:
        """Make a workload of a table with one row per job.

        Parameters
        ----------
        table : pandas.DataFrame
            The columns of a table of jobs (``read_job_table``): ``id`` (or ``job``), ``submit``, ``units``, ``runtime``, and if known ``queue``,
            ``walltime``, ``start``, ``user``, ``name``, ``power``, ``array``. Every other column is a resource. Empty cells are
            unknown values; the repairs are those of logs.
        name : str
            The name of the workload.

        Raises
        ------
        WorkloadError
            If a column is missing, or a cell is wrong; the message names the row.

        Examples
        --------
        >>> import pandas
        >>> Workload.from_pandas(pandas.DataFrame({"id": ["a"], "submit": [0], "units": [2], "runtime": [60], "cores": [4]})).ids
        ('a',)
        """
        made: Workload = resolve(TABLE_READER)(table, name)
        return made

    def to_pandas(self) -> pandas.DataFrame:
        """Return the jobs as a table with one row per job.

        Returns
        -------
        pandas.DataFrame
            The columns of a table of jobs, which ``from_pandas`` reads: ``id``, ``submit``, ``units``, one per resource (amount per unit),
            ``walltime``, ``runtime``, ``start`` (as recorded), ``queue``, ``user``, ``name``, ``power``, ``array``; if the log has them, what the
            jobs asked of their site (``asked.account``, ...) and what was recorded of them (``recorded.nodes``, ...). Of a heterogeneous job,
            units and request are those of its first chunk.

        Examples
        --------
        >>> from schedlab.instances import load
        >>> Workload.of(load("eurora_99").dispatch).to_pandas()[["submit", "units", "cores", "walltime"]].shape
        (99, 4)
        """
        made: pandas.DataFrame = resolve(TABLE_WRITER)(self)
        return made

    @arguments.checked(deep=False)
    def beginning(self, begin: int, running: Iterable[Running] = ()) -> Workload:
        """Return the same jobs for a replay from ``begin`` (s) on, with jobs that run then; no other starts earlier.

        Running jobs that have ended by then are left out. Raises WorkloadError if the data contradict each other.
        """
        if begin > LATEST:
            raise WorkloadError(f"{self.name}: the begin is {begin} s; at most {LATEST:,} s (317 years) are supported")
        listed, faults = running_at(begin, running, set(self.ids))
        if faults:
            raise WorkloadError(f"{self.name}: {faults[0]}")
        return replace(self, begin=int(begin), running=listed, release=np.maximum(self.release, begin))

    def checked(self) -> Workload:
        """Return the workload itself. Raises WorkloadError if it has no job."""
        if not len(self):
            raise WorkloadError(f"{self.name}: no job to replay{self.report.losses()}")
        return self

    @cached_property
    def job_arrays(self) -> JobArrays:
        """The jobs as arrays with their runtimes as durations."""
        times = (self.submit, self.release, self.runtime, self.units)
        if not self.chunks:
            return JobArrays(*times, *distinct(self.request))
        listed = [(k, c) for k in sorted(self.chunks) for c in self.chunks[k][1:]]
        rows = column((c.request.get(r, 0) for _, c in listed for r in self.resources)).reshape(len(listed), -1)
        requests, kind = distinct(np.concatenate([self.request, rows]))
        further = FurtherChunks(column(k for k, _ in listed), column(c.units for _, c in listed), kind[len(self) :])
        return JobArrays(*times, requests, kind[: len(self)], further=further)

    @cached_property
    def requests(self) -> list[Mapping[str, int]]:
        """The distinct requests, each as {resource: amount}; ``request_kind`` has the index for each job."""
        return [dict(zip(self.resources, row, strict=True)) for row in self.job_arrays.requests.tolist()]

    @property
    def request_kind(self) -> Ints:
        """For each job the index of its request in ``requests``; shape (jobs,)."""
        return self.job_arrays.kind

    def job(self, k: int) -> Job:
        """Return the job of row k."""
        start = int(self.recorded_start[k])
        recorded = None
        if start != UNKNOWN:
            recorded = Recorded(start)
        if self.site is not None:
            recorded = self.site.recorded(k, start)
        return self._job(k, int(self.walltime[k]), int(self.runtime[k]), recorded)

    def waiting_job(self, k: int, done: int = 0) -> Job:
        """Return the job of row k as a dispatcher sees it: without its runtime, and less ``done`` s of its walltime."""
        return self._job(k, max(1, int(self.walltime[k]) - done), None)

    def _job(self, k: int, walltime: int, runtime: int | None, recorded: Recorded | None = None) -> Job:
        submit = int(self.submit[k])
        release = int(self.release[k])
        latest = int(self.latest_start[k])
        power = float(self.power[k])
        return Job(
            id=self.ids[k],
            submit=submit,
            walltime=walltime,
            units=int(self.units[k]),
            request=self.requests[int(self.request_kind[k])],
            queue=self.queues[int(self.queue[k])].name,
            earliest_start=release if release > submit else None,
            windows=self.windows.get(k, ()),
            runtime=runtime,
            user=self.users[int(self.user[k])],
            name=self.programs[int(self.program[k])],
            power=None if isnan(power) else power,
            latest_start=None if latest == NEVER else latest,
            chunks=self.chunks.get(k, ()),
            array=self.arrays.get(k, ""),
            asked=None if self.site is None else self.site.asked(k),
            recorded=recorded,
            **self._fields_of_terms[int(self.node_term[k])],
        )

    @cached_property
    def _fields_of_terms(self) -> list[dict[str, Any]]:
        """For each of ``node_terms`` the fields of a job; none where it asks for nothing, as in most logs."""
        return [{} if terms == NodeTerms() else _fields_of_job(terms) for terms in self.node_terms]

    def on_each_node(self, resources: Sequence[str]) -> Ints:
        """Return what each job takes of some resources on each of its nodes, beside what its units take, shape (jobs, resources)."""
        amounts = [[dict(terms.each_node).get(name, 0) for name in resources] for terms in self.node_terms]
        of_terms: Ints = np.array(amounts, np.int64).reshape(len(amounts), len(resources))
        return of_terms[self.node_term]

    @arguments.checked
    def dispatch(self, platform: Platform, objective: str = "waiting", durations: Durations = "walltime") -> Dispatch:
        """Return the offline problem of all jobs. Raises ProblemError for jobs that the platform cannot hold.

        Raises WorkloadError for running jobs without nodes.
        """
        jobs = [self.job(k) for k in range(len(self))]
        homeless = [r.job.id for r in self.running if not r.nodes]
        if homeless:
            raise WorkloadError(f"{self.name}: the nodes of the running job {homeless[0]!r} are unknown")
        running = [replace(r, end=r.true_end) if durations == "runtime" else r for r in self.running]
        return Dispatch(platform, jobs, self.queues, objective, self.begin or 0, running, durations)

    def keep(self, rows: Ints | NDArray[np.bool_], report: Report | None = None) -> Workload:
        """Return the workload of some rows, given as a mask or as indices."""
        index = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        columns = {name: getattr(self, name)[index] for name in (*WHOLE, "power")}
        kept = index.tolist()
        after, report = self._after_of(kept, report or self.report)
        return replace(
            self, ids=tuple(self.ids[k] for k in kept), windows=kept_rows(self.windows, kept), after=after,
            chunks=kept_rows(self.chunks, kept), arrays=kept_rows(self.arrays, kept), report=report,
            site=None if self.site is None else self.site.keep(kept), **columns,
        ).checked()  # fmt: skip

    def _after_of(self, kept: list[int], report: Report) -> tuple[dict[int, tuple[int, int]], Report]:
        """Return ``after`` for some rows, and the report; dependencies on the other rows are counted and left out."""
        if not self.after:
            return {}, report
        new = {old: k for k, old in enumerate(kept)}
        links = [(new[k], new.get(before), think) for k, (before, think) in self.after.items() if k in new]
        after = {k: (before, think) for k, before, think in links if before is not None}
        return after, report.and_also({WITHOUT_PREDECESSOR: len(links) - len(after)})

    @arguments.checked
    def first(self, n: int) -> Workload:
        """Return the workload of the first n jobs by submit time."""
        return self.keep(np.arange(min(n, len(self))))

    @arguments.checked
    def between(self, begin: int, end: int) -> Workload:
        """Return the workload of the jobs submitted in [begin, end), in s. Raises WorkloadError if there is none."""
        inside = (self.submit >= begin) & (self.submit < end)
        if not inside.any():
            raise WorkloadError(
                f"{self.name}: no job was submitted in [{begin}, {end}); the trace runs from "
                f"{self.submit[0]} to {self.submit[-1]}"
            )
        return self.keep(inside)

    @arguments.checked
    def on(self, platform: Platform) -> Workload:
        """Return the workload of the jobs that the empty platform can hold, with requests of its resources.

        The other jobs are in ``report.dropped``. Raises WorkloadError if no job is left.
        """
        return fitting(self, platform)

    def noted(self, *notes: str) -> Workload:
        """Return the same jobs with further notes in the report."""
        if notes:
            return replace(self, report=self.report.and_also(notes=notes))
        return self

    def since(self, origin: int) -> Workload:
        """Return the same jobs with all times relative to second ``origin``."""
        known = (self.recorded_start != UNKNOWN) & (self.recorded_start >= origin)
        start = np.where(known, self.recorded_start - origin, UNKNOWN)
        return replace(
            self,
            submit=self.submit - origin,
            release=self.release - origin,
            recorded_start=start,
            windows={k: tuple((lo - origin, hi - origin) for lo, hi in w) for k, w in self.windows.items()},
            unix_start=None if self.unix_start is None else self.unix_start + origin,
            begin=None if self.begin is None else self.begin - origin,
            running=tuple(moved(r, -origin) for r in self.running),
            latest_start=later(self.latest_start, -origin),
            site=None if self.site is None else self.site.later(-origin),
        )

    @arguments.checked
    def load(self, platform: Platform) -> float:
        """Return the offered load, work of the jobs / capacity of the platform; see ``offered_load``."""
        return offered_load(self, platform)

    @arguments.checked(values=False)
    def at_load(self, load: float, platform: Platform) -> Workload:
        """Return the same jobs with submit times (from ``begin`` on) rescaled so that the offered load is ``load``."""
        return at_load(self, load, platform)
