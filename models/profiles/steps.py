"""Step functions of a desired amount, defined at all times, periodic or not."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..comparing import hashable
from ..excerpt import with_short_repr
from ..platform import LATEST, ProblemError
from ..whole_numbers import is_real, is_whole, shown, wrong

ALWAYS = -LATEST  # the first time of steps without period: before all times of a workload


@with_short_repr
@hashable
@dataclass(frozen=True)
class Steps:
    """An amount that is constant between given times, at all times: ``amounts[k]`` holds from ``times[k]`` on.

    Parameters
    ----------
    times : sequence of int
        Increasing times in seconds. With a period, the first one is 0 and all are below the period; without, the
        first one is ``ALWAYS``, before all times of a workload.
    amounts : sequence of float
        The amount from each time on, at least 0; infinity: no wish. The last one holds for ever, or to the end of the
        period.
    period : int, optional
        The length of the period in seconds. The periods begin at the multiples of it.

    Raises
    ------
    ProblemError
        If the lengths differ, the times are not as above, or an amount is no number of at least 0.

    Examples
    --------
    >>> day = Steps((0, 28800, 72000), (32.0, 19.2, 32.0), period=86400)
    >>> day.at(86400 + 28800), list(day.pieces(80000, 120000))
    (19.2, [(80000, 115200, 32.0), (115200, 120000, 19.2)])
    """

    times: Sequence[int]
    amounts: Sequence[float]
    period: int | None = None

    def __post_init__(self) -> None:
        if not self.times or len(self.times) != len(self.amounts):
            raise ProblemError(
                f"the steps have {len(self.times)} times and {len(self.amounts)} amounts; equal numbers, at least 1, "
                "are expected"
            )
        for t in (*self.times, *(() if self.period is None else (self.period,))):
            if not is_whole(t):
                raise ProblemError(f"a time of the steps {wrong(t)}")
        object.__setattr__(self, "times", tuple(map(int, self.times)))
        first = ALWAYS if self.period is None else 0
        if self.times[0] != first:
            raise ProblemError(f"the first time of the steps is {self.times[0]} s; expected {first} s")
        for a, b in pairwise((*self.times, *(() if self.period is None else (self.period,)))):
            if b <= a:
                raise ProblemError(f"the times of the steps must increase up to the period, but {b} s follows {a} s")
        for t, amount in zip(self.times, self.amounts, strict=True):
            if not is_real(amount) or not amount >= 0:  # NaN
                raise ProblemError(f"the amount at {t} s is {shown(amount)}; a number of at least 0 is expected")
        object.__setattr__(self, "amounts", tuple(map(float, self.amounts)))

    @classmethod
    def constant(cls, amount: float) -> Steps:
        """Return steps with the same amount at all times."""
        return cls((ALWAYS,), (amount,))

    def at(self, t: int) -> float:
        """Return the amount at a time in seconds."""
        t = t if self.period is None else t % self.period
        return self.amounts[bisect_right(self.times, t) - 1]

    def pieces(self, begin: int, end: int) -> Iterator[tuple[int, int, float]]:
        """Yield (from, to, amount) in [begin, end); neighbouring pieces have different amounts."""
        held: tuple[int, int, float] | None = None
        for a, b, amount in self._cells(begin, end):
            if held is not None and held[2] == amount:
                held = (held[0], b, amount)
                continue
            if held is not None:
                yield held
            held = (a, b, amount)
        if held is not None:
            yield held

    def _cells(self, begin: int, end: int) -> Iterator[tuple[int, int, float]]:
        shift = 0 if self.period is None else begin // self.period * self.period
        k = bisect_right(self.times, begin - shift) - 1
        while begin < end:
            last = k + 1 == len(self.times)
            if not last:
                until = min(end, shift + self.times[k + 1])
            else:
                until = end if self.period is None else min(end, shift + self.period)
            yield begin, until, self.amounts[k]
            begin, k = until, 0 if last else k + 1
            shift += (self.period or 0) if last else 0

    def next_change(self, t: int) -> int | None:
        """Return the first time after ``t`` at which the next step begins, in seconds; None if there is none."""
        shift = 0 if self.period is None else t // self.period * self.period
        k = bisect_right(self.times, t - shift)
        if k < len(self.times):
            return self.times[k] + shift
        return None if self.period is None or len(self.times) == 1 else shift + self.period
