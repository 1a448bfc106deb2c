"""A quantity over time that stays constant from one moment to the next: temperatures, energy prices."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .platform import ProblemError
from .whole_numbers import all_whole, is_number, is_whole, shown, wrong

HOUR = 3600
DAY = 86400


@dataclass(frozen=True)
class StepFunction:
    """``values[k]`` holds in ``[times[k], times[k + 1])``, the last one up to ``end``; times in seconds, increasing.

    Raises ProblemError for lists of different lengths, times that do not increase, values that are not numbers.

    >>> s = StepFunction.hourly([20.5, 21.0, 19.0])
    >>> s.at(3600), s.end
    (21.0, 10800)
    """

    times: Sequence[int] = field(repr=False)
    values: Sequence[float] = field(repr=False)
    end: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", tuple(self.times))
        object.__setattr__(self, "values", tuple(self.values))
        if not self.times or len(self.times) != len(self.values):
            raise ProblemError(
                f"a series of {len(self.times)} times and {len(self.values)} values; as many are expected"
            )
        if not all_whole((*self.times, self.end)):
            for t in (*self.times, self.end):
                if not is_whole(t):
                    raise ProblemError(f"a time of a series {wrong(t)}")
            object.__setattr__(self, "times", tuple(map(int, self.times)))
            object.__setattr__(self, "end", int(self.end))
        for a, b in zip(self.times, (*self.times[1:], self.end), strict=True):
            if b <= a:
                raise ProblemError(f"the times of a series must increase, but {b} s follows {a} s")
        for t, v in zip(self.times, self.values, strict=True):
            if not is_number(v):
                raise ProblemError(f"a series has {shown(v)} at {t} s; a number is expected")

    @classmethod
    def hourly(cls, values: Sequence[float], begin: int = 0) -> StepFunction:
        """A value per hour, from ``begin`` on."""
        return cls([begin + HOUR * k for k in range(len(values))], values, begin + HOUR * len(values))

    @classmethod
    def constant(cls, value: float, begin: int, end: int) -> StepFunction:
        """The same value from ``begin`` to ``end``."""
        return cls([begin], [value], end)

    @property
    def begin(self) -> int:
        """The first moment that is known."""
        return self.times[0]

    def at(self, t: int) -> float:
        """The value at a moment. Raises ProblemError outside of the series."""
        if not self.begin <= t < self.end:
            raise ProblemError(f"the series goes from {self.begin} s to {self.end} s; {t} s is outside of it")
        return self.values[bisect_right(self.times, t) - 1]

    def pieces(self, begin: int, end: int) -> Iterator[tuple[int, int, float]]:
        """(from, to, value) in [begin, end). Raises ProblemError if the series does not cover it."""
        if begin < self.begin or end > self.end:
            raise ProblemError(f"it goes from {self.begin} s to {self.end} s, but {begin} s to {end} s are needed")
        k = bisect_right(self.times, begin) - 1
        while begin < end:
            until = min(end, self.times[k + 1] if k + 1 < len(self.times) else self.end)
            yield begin, until, self.values[k]
            begin, k = until, k + 1

    def lasting(self, end: int) -> StepFunction:
        """The series continued to ``end`` by repeating its last day (all of it, if it is shorter)."""
        if end <= self.end:
            return self
        first = max(self.begin, self.end - DAY)
        day = list(self.pieces(first, self.end))
        times, values = list(self.times), list(self.values)
        shift = self.end - first
        while times[-1] < end:
            times += [a + shift for a, _, _ in day]
            values += [v for *_, v in day]
            shift += self.end - first
        keep = bisect_right(times, end - 1)
        return StepFunction(times[:keep], values[:keep], end)
