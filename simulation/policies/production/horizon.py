"""The end of the horizon of the main model [Bridi2018, (4.1)]."""

from __future__ import annotations

from ...dispatcher import Moment
from ..cp.model import Usage, whole_jobs
from ..cp.waiting import Waiting


def end_of_schedule(moment: Moment, jobs: Waiting, usage: Usage) -> int:
    """Return ``Eoh = min start + sum of the durations`` of running and waiting jobs, in seconds.

    The printed sum is too short if jobs run longer than expected, or nodes take no starts. All jobs one after the other,
    behind every use of a node, always fit; the horizon does not end before that.

    Parameters
    ----------
    moment : Moment
        The current state.
    jobs : Waiting
        The jobs of the model.
    usage : tuple of ndarray
        The use of nodes by the running jobs, see ``cp.model.Usage``.
    """
    work = int(jobs.duration.sum())
    begin = min((r.start for r in moment.running), default=moment.now)
    printed = begin + work + sum(r.end - r.start for r in whole_jobs(moment))
    return int(max(printed, max([moment.now, *usage[1].tolist()]) + work))
