"""The use of a renewable resource over time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Usage:
    """The use of a renewable resource as a step function of time.

    Parameters
    ----------
    capacity : int
        The amount that is available at every time.

    Examples
    --------
    >>> crew = Usage(3)
    >>> crew.add(start=0, end=4, demand=2)
    >>> crew.earliest(start=1, duration=5, demand=2), crew.earliest(start=1, duration=5, demand=1)
    (4, 1)
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._times = [0]
        self._used = [0]  # from each time to the next one; the last one is 0

    def earliest(self, start: int, duration: int, demand: int) -> int:
        """Return the first time, not before ``start``, from which the demand is free for the whole duration."""
        times, used, most = self._times, self._used, self.capacity - demand
        k = bisect_right(times, start) - 1
        while True:
            end = start + duration
            while k < len(times) and times[k] < end:
                if used[k] > most:
                    break
                k += 1
            else:
                return start
            k += 1
            start = times[k]

    def add(self, start: int, end: int, demand: int) -> None:
        """Occupy the demand from ``start`` to ``end``."""
        first, last = self._breakpoint(start), self._breakpoint(end)
        for k in range(first, last):
            self._used[k] += demand

    def _breakpoint(self, time: int) -> int:
        """Return the position of a breakpoint at this time, which is inserted if there is none."""
        k = bisect_left(self._times, time)
        if k == len(self._times) or self._times[k] != time:
            self._times.insert(k, time)
            self._used.insert(k, self._used[k - 1])
        return k
