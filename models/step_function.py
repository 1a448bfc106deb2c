"""Step functions of time, such as temperatures; and the prices and the carbon intensity of energy, and what a power over time costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from .arguments import all_whole, checked, is_number, is_whole, shown, wrong
from .comparing import hashable
from .platform import ProblemError
from .words import how_many, with_short_repr

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


JOULES = 3.6e6  # in a kWh
GRAMS = 1000  # in a kg


@with_short_repr
@dataclass(frozen=True)
class Tariff:
    """The price and the carbon intensity of energy.

    Parameters
    ----------
    price : StepFunction or float
        Euro per kWh; it may be negative.
    carbon : StepFunction or float, optional
        Grams of CO2 per kWh, >= 0. None: unknown.

    Raises
    ------
    ProblemError
        If a value is no number, or a carbon intensity is negative.

    Examples
    --------
    >>> night = Tariff(StepFunction([0, 3600], [0.10, 0.30], 7200), carbon=250)
    >>> round(night.cost(StepFunction.constant(2000, 0, 7200), 0, 7200), 9)  # 2 kWh for 0.10 and 2 kWh for 0.30 euro
    0.8
    >>> night.kg_co2(StepFunction.constant(2000, 0, 7200), 0, 7200)
    1.0
    """

    price: StepFunction | float
    carbon: StepFunction | float | None = None

    def __post_init__(self) -> None:
        for what, value in (("price", self.price), ("carbon intensity", self.carbon)):
            if value is not None and not isinstance(value, StepFunction) and not is_number(value):
                raise ProblemError(f"the {what} of energy is {shown(value)}; a number or a StepFunction is expected")
        if isinstance(self.carbon, StepFunction):
            listed = self.carbon.values
        else:
            listed = (self.carbon or 0.0,)
        if min(listed) < 0:
            raise ProblemError(f"the carbon intensity of energy is {min(listed):g} g per kWh; at least 0 is expected")

    def check_covers(self, begin: int, end: int) -> None:
        """Check that prices and carbon intensities are known from ``begin`` to ``end`` in seconds; raise ProblemError."""
        for what, series in (("energy prices", self.price), ("carbon intensities", self.carbon)):
            if isinstance(series, StepFunction):
                check_covers(what, series, begin, end)

    def prices(self, begin: int, end: int) -> StepFunction:
        """Return the price as a step function on [begin, end); raise ProblemError if it is not known there."""
        self.check_covers(begin, end)
        if isinstance(self.price, StepFunction):
            return self.price
        return StepFunction.constant(self.price, begin, max(end, begin + 1))

    def cost(self, power: StepFunction, begin: int, end: int) -> float:
        """Return the cost in euro of a power in watts over [begin, end).

        Raises
        ------
        ProblemError
            If the power or the price is not known there.
        """
        self.check_covers(begin, end)
        return integral(power, self.price, begin, end) / JOULES

    def kg_co2(self, power: StepFunction, begin: int, end: int) -> float | None:
        """Return the kg of CO2 of a power in watts over [begin, end); None if the carbon intensity is unknown.

        Raises
        ------
        ProblemError
            If the power or the carbon intensity is not known there.
        """
        self.check_covers(begin, end)
        if self.carbon is None:
            return None
        return integral(power, self.carbon, begin, end) / JOULES / GRAMS


def check_covers(what: str, series: StepFunction, begin: int, end: int) -> None:
    """Raise ProblemError if a series, named ``what``, does not cover [begin, end)."""
    if series.begin > begin or series.end < end:
        raise ProblemError(
            f"the {what} go from {series.begin} s to {series.end} s, which does not cover {begin} s to {end} s"
        )


def integral(f: StepFunction, g: StepFunction | float, begin: int, end: int) -> float:
    """Return the integral of the product of two step functions over a period.

    Parameters
    ----------
    f : StepFunction
        The first one.
    g : StepFunction or float
        The second one, or a constant.
    begin, end : int
        The period in seconds.

    Returns
    -------
    float
        The integral; 0 if the period has no length.

    Raises
    ------
    ProblemError
        If one of them does not cover [begin, end).
    """
    if end <= begin:
        return 0.0
    if not isinstance(g, StepFunction):
        functions = [f]
    else:
        functions = [f, g]
    for one in functions:
        check_covers("values of a step function", one, begin, end)
    times = np.unique(np.concatenate([[begin, end], *(np.array(one.times) for one in functions)]))
    times = times[(times >= begin) & (times <= end)]
    if isinstance(g, StepFunction):
        product = np.ones(len(times) - 1)
    else:
        product = np.full(len(times) - 1, float(g))
    for one in functions:
        product = product * np.array(one.values)[np.searchsorted(one.times, times[:-1], side="right") - 1]
    return float(product @ np.diff(times))
