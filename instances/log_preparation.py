"""Parts of the preparation of a log for a replay: partitions, dependencies, latest starts, powers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

import numpy as np

from ..models.arguments import is_real, is_whole, shown
from ..models.array_types import Floats, Ints
from ..models.dispatch.jobs import DAY, Running
from ..models.platform import LATEST
from ..models.server_events import ServerEvent
from ..models.words import how_many, similar
from .files.reading import WorkloadError, whole_of
from .logged import LIMIT_OF_PARTITION, LIMIT_OF_SITE, Preceding, TextColumn, Trace
from .workload import WITHOUT_PREDECESSOR, Workload, later

# --- Partitions of a machine in a log: as queues, and as a filter of the jobs.

QUEUE = "queue"
PARTITION = "partition"
SOURCES = (QUEUE, PARTITION)  # columns of a log from which the queues can be taken


def with_queues_from(trace: Trace, source: str) -> Trace:
    """Return the trace with its queues taken from a column of the log.

    The expected waiting time of a queue is then the mean recorded wait of the jobs of this partition.

    Parameters
    ----------
    trace
        A log.
    source
        "queue" or "partition".

    Raises
    ------
    WorkloadError
        ``source`` is something else, or the log has no partitions.

    Examples
    --------
    >>> from schedlab.instances.logged import Logged
    >>> trace = Trace.of("log", "swf", [Logged("1", queue="q")], ["cores"])
    >>> with_queues_from(replace(trace, partition=TextColumn.of(["fat"])), "partition").queue.names
    ('fat',)
    """
    if source not in SOURCES:
        raise WorkloadError(f"queues cannot be taken from {source!r:.60}; expected {' or '.join(SOURCES)}")
    if source == QUEUE:
        return trace
    partition = _partitions(trace)
    note = f"the queues are the partitions: {', '.join(_first(partition.names))}"
    return replace(trace, queue=partition, ewt={}, report=trace.report.and_also(notes=[note]))


def in_partitions(trace: Trace, names: Sequence[str]) -> Trace:
    """Return the trace of the jobs in some partitions; the report has the number of the others.

    Parameters
    ----------
    trace
        A log.
    names
        Names of partitions; for SWF also their numbers (field 16).

    Raises
    ------
    WorkloadError
        A partition has no job in the log, or the log has no partitions.
    """
    partition = _partitions(trace)
    by_number = {number: name for name, number in trace.partition_numbers.items()}
    wanted = [by_number.get(name, name) for name in names]
    for name, full in zip(names, wanted, strict=True):
        if full not in partition.names:
            shown = [
                f"{n} ({trace.partition_numbers[n]})" if n in trace.partition_numbers else n for n in partition.names
            ]
            meant = ""
            if near := similar(name, partition.names):
                meant = f"did you mean {' or '.join(near)}? "
            raise WorkloadError(
                f"{trace.name}: no job is in the partition {name!r:.60}; {meant}the partitions are {', '.join(_first(shown, 40))}"
            )
    inside = np.isin(partition.index, [k for k, name in enumerate(partition.names) if name in wanted])
    others = Counter(partition.names[k] for k in partition.index[~inside].tolist())
    kept = trace.keep(inside)
    if not others:
        return kept
    most = ", ".join(f"{name}: {n:,}" for name, n in others.most_common(5))
    note = f"only jobs of partition {', '.join(dict.fromkeys(wanted))}; jobs of other partitions, left out, are from {most}"
    repairs = {"in other partitions, left out": int((~inside).sum())}
    return replace(kept, report=kept.report.and_also(repairs, notes=[note]))


def partition_names(text: str | None) -> tuple[str, ...]:
    """Return the names in a list with commas; None and an empty text give none.

    >>> partition_names("3, fat")
    ('3', 'fat')
    """
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _partitions(trace: Trace) -> TextColumn:
    if trace.partition is None:
        raise WorkloadError(
            f"{trace.name}: the log has no partitions (SWF: field 16; sacct: column Partition; PBS: queue); "
            "leave out the options on partitions"
        )
    return trace.partition


def _first(names: Sequence[str], most: int = 8) -> list[str]:
    if len(names) > most:
        return [*names[:most], f"and {len(names) - most} more"]
    return list(names)


# --- Dependencies between the jobs of a log: a job waits for the end of its preceding job and for the think time of its user.
#
# A job with a preceding job arrives at the later of its recorded submit time and the end of the preceding job plus the
# think time, both of the replay. Its wait is counted from there.
#
# Dependencies are obeyed only on request (``open_trace(..., dependencies=True)``, ``--dependencies``): the submit times of
# a log contain the dependencies already as they were on the real machine, and most studies replay them as they are.

SHOWN = 6  # jobs of a cycle that an error lists


def ignored(trace: Trace) -> str:
    """Return the note on dependencies that are not obeyed."""
    n = len(trace.preceding)
    return (
        f"{n:,} job{'s have' if n > 1 else ' has'} a preceding job (fields 17 and 18), which is ignored; "
        "the option dependencies (bench: --dependencies) obeys it"
    )


def preceding_of(trace: Trace) -> Mapping[str, Preceding]:
    """Return the preceding job of each job that has one, by job id.

    Raises
    ------
    WorkloadError
        The log has no dependencies, a preceding job is not in the log or not unique, or jobs wait for each other in a
        cycle. The message has the job and its line.
    """
    if not trace.preceding:
        raise WorkloadError(
            f"{trace.name}: no job has a preceding job (SWF: field 17); leave out the option dependencies"
        )
    known = set(trace.ids)
    repeated = set[str]()
    if len(known) < len(trace.ids):
        seen = set[str]()
        repeated = {job for job in trace.ids if job in seen or seen.add(job)}  # type: ignore[func-returns-value]
    for job, (before, _, line) in trace.preceding.items():
        where = f"{trace.name}, line {line}: job {job!r} waits for job {before!r}"
        if before not in known:
            raise WorkloadError(f"{where}, which is not in the log; correct field 17, -1 for no preceding job")
        if before in repeated or job in repeated:
            raise WorkloadError(
                f"{where}, and there are several jobs of one of these numbers; job numbers must be unique"
            )
    _check_cycles(trace)
    return trace.preceding


def _check_cycles(trace: Trace) -> None:
    ends: set[str] = set()  # jobs that lead to a job without a preceding job
    for first in trace.preceding:
        path: dict[str, None] = {}
        job = first
        while job in trace.preceding and job not in ends:
            if job in path:
                cycle = [*path][[*path].index(job) :]
                more = ""
                if len(cycle) > SHOWN:
                    more = f" and {len(cycle) - SHOWN} more"
                raise WorkloadError(
                    f"{trace.name}, line {trace.preceding[job].line}: job {job!r} waits for itself: the jobs "
                    f"{', '.join(cycle[:SHOWN])}{more} wait for each other; correct field 17"
                )
            path[job] = None
            job = trace.preceding[job].job
        ends.update(path)


def with_dependencies(workload: Workload, preceding: Mapping[str, Preceding]) -> Workload:
    """Return the workload in which jobs wait for their preceding jobs.

    A job whose preceding job is not replayed, because of damage, a window or a filter, does not wait; the report has the
    number of these.
    """
    if not preceding:
        return workload
    row = {job: k for k, job in enumerate(workload.ids)}
    pairs = [(row[job], row.get(p.job), p.think) for job, p in preceding.items() if job in row]
    after = {k: (before, think) for k, before, think in pairs if before is not None}
    notes = [f"{how_many(len(after), 'job', ',', verb='wait')} for their preceding job and the think time"]
    report = workload.report.and_also({WITHOUT_PREDECESSOR: len(pairs) - len(after)}, notes=notes)
    return replace(workload, after=after, report=report)


def arrived(workload: Workload, end: Ints) -> Workload:
    """Return the workload in which jobs with a preceding job have the submit times of a replay.

    Latest starts move with the submit times.

    Parameters
    ----------
    workload
        The jobs.
    end
        End of each job in the replay, in s; -1 if it has not ended. Shape (jobs,).
    """
    if not workload.after:
        return workload
    submit = workload.submit.copy()
    release = workload.release.copy()
    latest = workload.latest_start
    for k, (before, think) in workload.after.items():
        if end[before] >= 0:
            submit[k] = max(submit[k], end[before] + think)
            release[k] = max(release[k], submit[k])
    latest = later(latest, submit - workload.submit)
    return replace(workload, submit=submit, release=release, latest_start=latest)


# --- Walltimes of jobs that requested none: the limits of the partitions of a site.


def with_partition_limits(trace: Trace, limits: Mapping[str, float]) -> Trace:
    """Return the trace in which jobs without a limit of their own have that of their partition.

    Parameters
    ----------
    trace
        A log. Its reader gave these jobs the longest walltime of their partition in the log, or none.
    limits
        Name of a partition -> its limit in s; infinity for none. Other partitions stay as they are.
    """
    unlimited = np.isposinf(trace.walltime) | trace.changed.get(LIMIT_OF_PARTITION, np.zeros(len(trace), np.bool_))
    if trace.partition is None:
        group = trace.queue
    else:
        group = trace.partition
    limit = np.array([limits.get(name, np.nan) for name in group.names])[group.index]
    known = unlimited & ~np.isnan(limit)
    if not known.any():
        return trace
    changed = dict(trace.changed)
    if LIMIT_OF_PARTITION in changed:
        changed[LIMIT_OF_PARTITION] = changed[LIMIT_OF_PARTITION] & ~known
    changed[LIMIT_OF_SITE] = known & np.isfinite(limit)
    return replace(trace, walltime=np.where(known, limit, trace.walltime), changed=changed)


# --- Jobs that left the queue of the real machine without having run.


def cancellations(workload: Workload) -> tuple[ServerEvent, ...]:
    """Return the events by which the jobs that never ran leave the queue, in the order of their times.

    They are jobs of a workload only if its log was read with them (``Trace.with_cancelled``, ``open_trace(cancelled=True)``).
    """
    site = workload.site
    if site is None:
        return ()
    rows = np.flatnonzero(site.of_queue)
    in_order = rows[np.argsort(site.cancelled[rows], kind="stable")]
    return tuple(ServerEvent(int(site.cancelled[k]), "delete", workload.ids[k]) for k in in_order.tolist())


# --- Latest starts of the jobs of a log: the submit time plus the mean recorded wait, or plus a number of seconds.
#
# DARDIS, which plans a job within a window, uses it as the end of the window [Bridi2018, 5.5].

MEAN_WAIT = "mean-wait"
WITHOUT_WAIT = "no recorded wait in the partition or queue, no latest start"


def latest_start_rule(text: str) -> str | int:
    """Return the rule that a text names: "mean-wait", or a whole number of seconds.

    Raises
    ------
    WorkloadError
        If the text is neither.

    Examples
    --------
    >>> latest_start_rule("mean-wait"), latest_start_rule("3600")
    ('mean-wait', 3600)
    """
    if text == MEAN_WAIT:
        return text
    seconds = whole_of(text, most=2**62)  # with_latest_starts says what is too late
    if seconds is None:
        raise WorkloadError(
            f"the latest start {text!r:.60} is unknown; expected {MEAN_WAIT}, or seconds after the submit time such as 3600"
        )
    return seconds


def with_latest_starts(trace: Trace, rule: str | int) -> Trace:
    """Return the trace with a latest start for each job.

    Parameters
    ----------
    trace
        The whole log, so that the means are those of all its jobs.
    rule
        "mean-wait": the submit time plus the mean recorded wait of the job's partition, or of its queue if the log has no
        partitions. A number: the submit time plus this number of seconds.

    Returns
    -------
    Trace
        The trace. Jobs of a partition or queue without any recorded wait have no latest start; they are counted.

    Raises
    ------
    WorkloadError
        The rule is something else, or the log records no wait at all.

    Examples
    --------
    >>> from schedlab.instances.logged import Logged
    >>> jobs = [Logged("1", submit=0, start=20, queue="q"), Logged("2", submit=5, start=5, queue="q")]
    >>> with_latest_starts(Trace.of("log", "swf", jobs, ["cores"]), "mean-wait").latest_start.tolist()
    [10.0, 15.0]
    """
    if is_whole(rule):
        if not 0 <= rule <= LATEST:
            raise WorkloadError(f"the latest start is {shown(rule)} s after the submit time; expected 0 to {LATEST:,}")
        return replace(trace, latest_start=trace.submit + rule)
    if rule != MEAN_WAIT:
        raise WorkloadError(f"the latest start {rule!r:.60} is unknown; expected {MEAN_WAIT!r} or a number of seconds")
    if trace.partition is None:
        group = trace.queue
    else:
        group = trace.partition
    mean = _mean_waits(trace, group)
    if not np.isfinite(mean).any():
        raise WorkloadError(
            f"{trace.name}: the log records no waiting time, so that latest starts by {MEAN_WAIT} are unknown; "
            "give a number of seconds instead"
        )
    wait = mean[group.index]
    kind = "partition"
    if trace.partition is None:
        kind = "queue"
    note = f"latest start of a job: its submit time plus the mean recorded wait of its {kind} in the whole log"
    return replace(
        trace,
        latest_start=trace.submit + wait,
        changed={**trace.changed, WITHOUT_WAIT: np.isnan(wait)},
        report=trace.report.and_also(notes=[note]),
    )


def _mean_waits(trace: Trace, group: TextColumn) -> Floats:
    """Return the mean recorded wait of each group in whole seconds, shape (groups,); NaN if none is recorded."""
    wait = trace.wait
    known = np.isfinite(wait) & (wait >= 0) & (trace.start >= 0)
    count = np.bincount(group.index[known], minlength=len(group.names))
    total = np.bincount(group.index[known], wait[known], minlength=len(group.names))
    return np.where(count > 0, np.rint(total / np.maximum(count, 1)), np.nan)


# --- The power of jobs of which a log records none: watts per core.

CORES = "cores"
ABOVE = "above the power cap, left out"


def powered(workload: Workload, watts_per_core: float) -> Workload:
    """Return the workload in which each job without a power takes ``watts_per_core`` for each of its cores.

    Parameters
    ----------
    workload : Workload
        The jobs. Those with a power, also running ones, keep it.
    watts_per_core : float
        Watts above 0.

    Returns
    -------
    Workload
        The workload.

    Raises
    ------
    WorkloadError
        If the number is not above 0, or the jobs have no cores.

    Examples
    --------
    >>> from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
    >>> jobs = [Job("a", 0, 60, 2, {"cores": 8}, "q", runtime=60), Job("b", 0, 60, 1, {}, "q", runtime=9, power=5)]
    >>> problem = Dispatch(Platform([NodeGroup("n", 2, {"cores": 8})]), jobs, [Queue("q", 60)])
    >>> powered(Workload.of(problem), 10).power.tolist()
    [160.0, 5.0]
    """
    if not is_real(watts_per_core) or not 0 < watts_per_core < np.inf:
        raise WorkloadError(f"the power per core is {shown(watts_per_core)} W; expected a number above 0, such as 12.5")
    if CORES not in workload.resources:
        raise WorkloadError(
            f"{workload.name}: its jobs request {', '.join(workload.resources)}, but no cores; expected cores for a power per core"
        )
    cores = workload.job_arrays.amounts[:, workload.resources.index(CORES)]
    power = np.where(np.isnan(workload.power), watts_per_core * cores, workload.power)
    running = tuple(
        replace(r, job=replace(r.job, power=watts_per_core * r.job.units * r.job.request.get(CORES, 0)))
        if r.job.power is None
        else r
        for r in workload.running
    )
    return replace(workload, power=power, running=running)


def below_power(workload: Workload, watts: float) -> Workload:
    """Return the workload without the jobs that take more than ``watts`` alone; they are listed in its report.

    Raises
    ------
    WorkloadError
        If no job is left.
    """
    above = workload.power > watts  # False where the power is unknown
    if not above.any():
        return workload
    gone = [
        (workload.ids[k], f"takes {workload.power[k]:,.0f} W, more than {watts:,.0f} W")
        for k in np.flatnonzero(above).tolist()
    ]
    return workload.keep(~above, workload.report.and_also({ABOVE: len(gone)}, gone))


# --- Windows of a log: the jobs submitted in a time, and those that run or wait at its begin.


# submit times of the jobs that wait at the begin of a window
RESET = "reset"
KEPT = "kept"


def window_of(text: str, trace: Trace) -> tuple[int, int]:
    """Return begin and end of a window such as 2012-07-13:23d or 2012-07-13T12:00:6h, in s of the log.

    Dates are in the time zone of the log. Days are calendar days: one with a change of daylight saving time has 23 or
    25 hours. Raises WorkloadError.
    """
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?):(\d{1,5})([dh])", text.strip(), re.ASCII)
    try:
        begin = None
        if match:
            begin = datetime.fromisoformat(match[1]).replace(tzinfo=trace.zone)
    except ValueError:
        begin = None
    count = None
    if match:
        count = whole_of(match[2], 1)
    if begin is None or match is None or count is None:
        raise WorkloadError(
            f"the window {text!r} is malformed; expected a date and a number of days or hours, such as 2012-07-13:23d"
        )
    if trace.unix_start is None:
        raise WorkloadError(
            f"{trace.name}: the log has no date of its second 0 (UnixStartTime in SWF), which a window needs; "
            "select a number of first jobs instead"
        )
    try:
        days = timedelta(days=count)
        seconds = (begin + days if match[3] == "d" else begin).timestamp() - trace.unix_start
    except (OverflowError, ValueError):
        raise WorkloadError(f"the window {text!r} ends after the year 9999") from None
    start = begin.timestamp() - trace.unix_start
    return int(start), int(seconds if match[3] == "d" else start + 3600 * count)


def during(trace: Trace, window: str, busy: bool) -> Trace:
    """Return the jobs submitted in a window; ``busy``: also those that run or wait at its begin.

    Raises WorkloadError, with the dates of the log, if none is submitted in the window.
    """
    begin, end = window_of(window, trace)
    try:
        inside = trace.between(begin, end)
    except WorkloadError as e:
        raise WorkloadError(f"{e}{_dates(trace)}") from None
    if not busy:
        return inside
    active = (trace.start >= begin) | (trace.start + trace.runtime > begin)
    return trace.keep((trace.submit < end) & ((trace.submit >= begin) | active))


def at_begin(workload: Workload, begin: int, reset: bool) -> Workload:
    """Return the jobs that wait at ``begin`` (s) or arrive later, with the jobs that run then, by the recorded starts.

    Jobs that were submitted before and have no recorded start are left out.

    Parameters
    ----------
    workload
        The jobs of a log, with their recorded starts.
    begin
        The begin of the replay.
    reset
        Whether the submit times of the waiting jobs become ``begin`` [Bridi2018, 3.4], and their latest starts move
        with them; else they stay.
    """
    start = workload.recorded_start
    before = workload.submit < begin
    runs = before & (start >= 0) & (start < begin) & (start + workload.runtime > begin)
    waits = before & (start >= begin)
    running = [
        Running(part, int(start[k]), {}, int(start[k] + max(1, workload.walltime[k])))
        for k in np.flatnonzero(runs).tolist()
        for part in workload.job(k).parts
    ]
    kept = workload.keep(~before | waits)
    if reset:
        submit = np.maximum(kept.submit, begin)
        kept = replace(kept, submit=submit, latest_start=later(kept.latest_start, submit - kept.submit))
    times = "with the submit times of the log"
    if reset:
        times = "submitted then"
    note = f"at the begin of the window: {len(running)} running, {int(waits.sum())} waiting ({times})"
    return kept.beginning(begin, running).noted(note)


def _dates(trace: Trace) -> str:
    """Return a text with the dates of first and last submission and the window of all jobs; "" if they are unknown."""
    known = trace.submit[trace.submit >= 0]
    if trace.unix_start is None or not len(known):
        return ""
    try:
        first, last = (datetime.fromtimestamp(trace.unix_start + t, trace.zone) for t in (known.min(), known.max()))
    except (OverflowError, ValueError, OSError):
        return ""
    days = (last.date() - first.date()).days + 1
    return (
        f", in its time zone from {first:%Y-%m-%dT%H:%M} to {last:%Y-%m-%dT%H:%M}; "
        f"the window of all jobs is {first.date()}:{days}d"
    )


def midnight(workload: Workload, zone: tzinfo) -> tuple[int, str]:
    """Return the second at which the day of the first submission begins, and its date ("" if unknown)."""
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
