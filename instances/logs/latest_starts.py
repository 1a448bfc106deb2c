"""Latest starts of the jobs of a log: the submit time plus the mean recorded wait, or plus a number of seconds.

DARDIS, which plans a job within a window, uses it as the end of the window [Bridi2018, 5.5].
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...models.platform import LATEST
from ...models.whole_numbers import is_whole, shown
from ..files.numbers import whole_of
from ..logged import TextColumn
from ..repair import Trace
from ..report import WorkloadError
from ..workload import Floats

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
    group = trace.queue if trace.partition is None else trace.partition
    mean = _mean_waits(trace, group)
    if not np.isfinite(mean).any():
        raise WorkloadError(
            f"{trace.name}: the log records no waiting time, so that latest starts by {MEAN_WAIT} are unknown; "
            "give a number of seconds instead"
        )
    wait = mean[group.index]
    kind = "queue" if trace.partition is None else "partition"
    note = f"latest start of a job: its submit time plus the mean recorded wait of its {kind} in the whole log"
    return replace(
        trace,
        latest_start=trace.submit + wait,
        changed={**trace.changed, WITHOUT_WAIT: np.isnan(wait)},
        report=trace.report.and_also(notes=[note]),
    )


def _mean_waits(trace: Trace, group: TextColumn) -> Floats:
    """Return the mean recorded wait of each group in whole seconds, shape (groups,); NaN if none is recorded."""
    wait = trace.start - trace.submit
    known = np.isfinite(wait) & (wait >= 0) & (trace.start >= 0)
    count = np.bincount(group.index[known], minlength=len(group.names))
    total = np.bincount(group.index[known], wait[known], minlength=len(group.names))
    return np.where(count > 0, np.rint(total / np.maximum(count, 1)), np.nan)
