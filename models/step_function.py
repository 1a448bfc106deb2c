"""Step functions of time, such as temperatures and energy prices."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .arguments import all_whole, checked, is_number, is_whole, shown, wrong
from .comparing import hashable
from .excerpt import with_short_repr
from .platform import ProblemError
from .words import how_many

HOUR = 3600  # seconds
DAY = 86400  # seconds


@checked(values=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class StepFunction:
    """A quantity that is constant between given times: ``values[k]`` holds in [``times[k]``, ``times[k + 1]``).

    Parameters
    ----------
    times : sequence of int
        Increasing times in seconds.
    values : sequence of float
        The value from each time on.
    end : int
        The time in seconds up to which the last value holds.

    Raises
    ------
    ProblemError
        If the lengths differ, the times do not increase, or a value is no number.

    Examples
    --------
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
                f"a step function has {how_many(len(self.times), 'time')} and {how_many(len(self.values), 'value')}; "
                "equal numbers, at least 1, are expected"
            )
        if not all_whole((*self.times, self.end)):
            for t in (*self.times, self.end):
                if not is_whole(t):
                    raise ProblemError(f"a time of a step function {wrong(t)}")
            object.__setattr__(self, "times", tuple(map(int, self.times)))
            object.__setattr__(self, "end", int(self.end))
        for a, b in zip(self.times, (*self.times[1:], self.end), strict=True):
            if b <= a:
                raise ProblemError(f"the times of a step function must increase, but {b} s follows {a} s")
        for t, v in zip(self.times, self.values, strict=True):
            if not is_number(v):
                raise ProblemError(f"a step function has the value {shown(v)} at {t} s; a number is expected")

    @classmethod
    def hourly(cls, values: Sequence[float], begin: int = 0) -> StepFunction:
        """Return a step function with one value per hour, from the time ``begin`` on."""
        return cls([begin + HOUR * k for k in range(len(values))], values, begin + HOUR * len(values))

    @classmethod
    def constant(cls, value: float, begin: int, end: int) -> StepFunction:
        """Return a step function with the same value from ``begin`` to ``end``."""
        return cls([begin], [value], end)

    @property
    def begin(self) -> int:
        """The first time in seconds for which a value is known."""
        return self.times[0]

    def at(self, t: int) -> float:
        """Return the value at a time in seconds; raise ProblemError outside of [begin, end)."""
        if not self.begin <= t < self.end:
            raise ProblemError(
                f"the step function is defined from {self.begin} s to {self.end} s; {t} s is outside of it"
            )
        return self.values[bisect_right(self.times, t) - 1]

    def pieces(self, begin: int, end: int) -> Iterator[tuple[int, int, float]]:
        """Yield (from, to, value) for the steps in [begin, end); raise ProblemError if they do not cover it."""
        if begin < self.begin or end > self.end:
            raise ProblemError(
                f"the step function is defined from {self.begin} s to {self.end} s, but {begin} s to {end} s are needed"
            )
        k = bisect_right(self.times, begin) - 1
        while begin < end:
            step_end = min(end, self.times[k + 1] if k + 1 < len(self.times) else self.end)
            yield begin, step_end, self.values[k]
            begin = step_end
            k = k + 1

    def lasting(self, end: int) -> StepFunction:
        """Return the step function extended to ``end`` by repeating its last day (all of it, if it is shorter)."""
        if end <= self.end:
            return self
        first = max(self.begin, self.end - DAY)
        day = list(self.pieces(first, self.end))
        times = list(self.times)
        values = list(self.values)
        shift = self.end - first
        while times[-1] < end:
            times += [a + shift for a, _, _ in day]
            values += [v for *_, v in day]
            shift += self.end - first
        keep = bisect_right(times, end - 1)
        return StepFunction(times[:keep], values[:keep], end)
