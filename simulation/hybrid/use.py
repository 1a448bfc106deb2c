"""The real use of the machine so far, as a share of its cores."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from ...models.dispatch.jobs import Job
from ...models.platform import ProblemError
from ...models.step_function import StepFunction


class UseRecord:
    """The cores in use since the begin of a replay.

    Parameters
    ----------
    total : int
        The cores of the machine.

    Examples
    --------
    >>> record = UseRecord(10)
    >>> record.add(100, 5)
    >>> record.add(200, 10)
    >>> list(record.until(300, since=0).pieces(0, 300))  # as before the begin as at the begin
    [(0, 200, 0.5), (200, 300, 1.0)]
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._times: list[int] = []
        self._shares: list[float] = []

    def add(self, now: int, cores: int) -> None:
        """Note the cores in use from ``now`` (s) on."""
        share = cores / self._total
        if self._times and self._times[-1] == now:
            self._shares[-1] = share
        elif not self._shares or self._shares[-1] != share:
            self._times.append(now)
            self._shares.append(share)

    def until(self, now: int, since: int) -> StepFunction:
        """Return the use from ``since`` to ``now`` (s); before the first entry it is taken to be that of the first one.

        Raises
        ------
        ProblemError
            If nothing is known before ``now``.
        """
        if not self._times or self._times[0] >= now:
            raise ProblemError(f"the use of the machine before {now} s is not known")
        end = bisect_left(self._times, now)
        first = max(0, bisect_right(self._times, since) - 1)
        times, shares = self._times[first:end], self._shares[first:end]
        times[0] = since
        return StepFunction(times, shares, now)


def cores_of(jobs: Iterable[Job]) -> int:
    """Return the cores of all units of some jobs."""
    return sum(job.units * job.request.get("cores", 0) for job in jobs)
