"""Prices and carbon intensity of energy over time, and what a power over time costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arguments import is_number, shown
from .excerpt import with_short_repr
from .platform import ProblemError
from .step_function import StepFunction

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
        listed = self.carbon.values if isinstance(self.carbon, StepFunction) else (self.carbon or 0.0,)
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
        return None if self.carbon is None else integral(power, self.carbon, begin, end) / JOULES / GRAMS


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
    functions = [f] if not isinstance(g, StepFunction) else [f, g]
    for one in functions:
        check_covers("values of a step function", one, begin, end)
    times = np.unique(np.concatenate([[begin, end], *(np.array(one.times) for one in functions)]))
    times = times[(times >= begin) & (times <= end)]
    product = np.ones(len(times) - 1) if isinstance(g, StepFunction) else np.full(len(times) - 1, float(g))
    for one in functions:
        product = product * np.array(one.values)[np.searchsorted(one.times, times[:-1], side="right") - 1]
    return float(product @ np.diff(times))
