"""How a log was read, as lines of text: what was repaired, not read, skipped and left out, with counts by reason."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from ...instances.report import Report
from ...instances.workload import Workload
from ...models.platform import Platform

SHOWN = 10  # number of unreadable lines, and of reasons for leaving out jobs, that are printed
GROUPED = 3  # number of ids printed of the jobs that are left out for the same reason


def report_lines(report: Report) -> Iterator[str]:
    """Yield the lines of a report, the same for every command: repairs, lines, jobs left out, rows skipped, notes.

    Examples
    --------
    >>> list(report_lines(Report({"runtime 0, taken as 1 s": 1}, skipped={"rows of job steps": 2})))
    ['repaired: runtime 0, taken as 1 s: 1 job', 'skipped: 2 rows of job steps']
    """
    for what, n in report.repairs.items():
        if n:
            yield f"repaired: {what}: {_jobs(n)}"
    for what, n in report.not_obeyed.items():
        yield f"not obeyed: {what}: {_jobs(n)}"
    yield from _bad_lines(report)
    for what, n in report.skipped.items():
        yield f"skipped: {n:,} {what}"
    yield from _dropped_jobs(report)
    for note in report.notes:
        yield f"note: {note}"


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


def load_text(workload: Workload, platform: Platform, digits: int) -> str:
    """Return the offered load; "unknown" where all jobs have one submit time."""
    load = workload.load(platform)
    return f"{load:.{digits}f}" if isfinite(load) else "unknown: all jobs have the same submit time"
