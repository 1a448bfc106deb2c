"""Dependencies between the jobs of a log: a job waits for the end of its preceding job and for the think time of its user.

A job with a preceding job arrives at the later of its recorded submit time and the end of the preceding job plus the
think time, both of the replay. Its wait is counted from there.

Dependencies are obeyed only on request (``open_trace(..., dependencies=True)``, ``--dependencies``): the submit times of
a log contain the dependencies already as they were on the real machine, and most studies replay them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..logged import Preceding
from ..repair import Trace
from ..times import later
from ..workload import WITHOUT_PREDECESSOR, Ints, Workload, WorkloadError

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
                more = f" and {len(cycle) - SHOWN} more" if len(cycle) > SHOWN else ""
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
    notes = [f"{len(after):,} jobs wait for their preceding job and the think time"]
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
    submit, release, latest = workload.submit.copy(), workload.release.copy(), workload.latest_start
    for k, (before, think) in workload.after.items():
        if end[before] >= 0:
            submit[k] = max(submit[k], end[before] + think)
            release[k] = max(release[k], submit[k])
    latest = later(latest, submit - workload.submit)
    return replace(workload, submit=submit, release=release, latest_start=latest)
