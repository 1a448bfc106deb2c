"""Windows of a log: the jobs submitted in a time, and those that run or wait at its begin."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

import numpy as np

from ..models.dispatch.jobs import DAY, Running
from .files.lines import whole_of
from .repair import Trace
from .report import WorkloadError
from .workload import Workload, later

RESET, KEPT = "reset", "kept"  # submit times of the jobs that wait at the begin of a window


def window_of(text: str, trace: Trace) -> tuple[int, int]:
    """Return begin and end of a window such as 2012-07-13:23d or 2012-07-13T12:00:6h, in s of the log.

    Dates are in the time zone of the log. Days are calendar days: one with a change of daylight saving time has 23 or
    25 hours. Raises WorkloadError.
    """
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?):(\d{1,5})([dh])", text.strip(), re.ASCII)
    try:
        begin = datetime.fromisoformat(match[1]).replace(tzinfo=trace.zone) if match else None
    except ValueError:
        begin = None
    count = whole_of(match[2], 1) if match else None
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
    times = "submitted then" if reset else "with the submit times of the log"
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
