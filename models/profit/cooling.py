"""The power of cooling, as a table over temperatures and IT powers [Bridi2018, 6.5.3 and table 6.1]."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isfinite

from ..arguments import checked, is_real, shown
from ..comparing import hashable
from ..excerpt import with_short_repr
from ..platform import ProblemError

Point = tuple[float, float]
"""IT power and the cooling power for it, both in watts."""
ROUNDING = 1e-6  # of the steepest slope: smaller changes of the slope are ignored


def along(points: Sequence[Point], x: float) -> float:
    """Return the value at x of the piecewise-linear function through the points; its first and last pieces continue.

    Parameters
    ----------
    points : sequence of (float, float)
        At least two points (x, y) with increasing x.
    x : float
        The argument.

    Returns
    -------
    float
        The value at x.

    Examples
    --------
    >>> along([(0, 0), (10, 5), (20, 20)], 12)
    8.0
    """
    k = min(max(1, bisect_right(points, x, key=lambda p: p[0])), len(points) - 1)
    a, c = points[k - 1]
    b, d = points[k]
    return c + (d - c) * (x - a) / (b - a)


@checked(values=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class Cooling:
    """The power of a cooling plant in watts, as a table over temperatures and IT powers.

    The cooling power is linear between two IT powers and between two temperatures; PUE = 1 + cooling / IT follows from
    it. It is not defined outside of the table.

    Parameters
    ----------
    name : str
        The name that messages use.
    temperatures : sequence of float
        Increasing temperatures in degrees Celsius.
    powers : sequence of float
        Increasing IT powers in watts; the first one is 0.
    watts : sequence of sequence of float, shape (temperatures, powers)
        The cooling power in watts, >= 0.

    Raises
    ------
    ProblemError
        If the table has gaps, the temperatures or IT powers do not increase, the IT powers do not begin at 0, or a
        cooling power is below 0 (a PUE below 1).

    Examples
    --------
    >>> c = Cooling("flat", (0, 40), (0, 1000), ((0, 100), (0, 400)))
    >>> c.power(500, 20), c.pue(500, 20)
    (125.0, 1.25)
    """

    name: str
    temperatures: Sequence[float] = field(repr=False)
    powers: Sequence[float] = field(repr=False)
    watts: Sequence[Sequence[float]] = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("temperatures", "powers"):
            object.__setattr__(self, name, self._floats(getattr(self, name)))
        object.__setattr__(self, "watts", tuple(map(self._floats, self.watts)))
        self._check_axis("temperatures", "degrees", self.temperatures)
        self._check_axis("IT powers", "W", self.powers)
        if self.powers[0] != 0 or len(self.powers) < 2:
            raise ProblemError(
                f"cooling {self.name!r}: its IT powers are {self.powers} W; at least two are expected, the first one 0"
            )
        if len(self.watts) != len(self.temperatures) or any(len(row) != len(self.powers) for row in self.watts):
            raise ProblemError(
                f"cooling {self.name!r}: the table has gaps; a value for each temperature and IT power is expected"
            )
        for t, row in zip(self.temperatures, self.watts, strict=True):
            for p, w in zip(self.powers, row, strict=True):
                if not isfinite(w) or w < 0:
                    raise ProblemError(
                        f"cooling {self.name!r}: {w:g} W at {t:g} degrees and {p:g} W of IT power, which is a PUE below 1"
                    )

    def _floats(self, values: Sequence[float]) -> tuple[float, ...]:
        for v in values:
            if not is_real(v):
                raise ProblemError(f"cooling {self.name!r}: the table has {shown(v)}; a number is expected")
        return tuple(map(float, values))

    def _check_axis(self, what: str, unit: str, values: Sequence[float]) -> None:
        if not values or not all(map(isfinite, values)):
            raise ProblemError(f"cooling {self.name!r}: its {what} are {values}; numbers are expected")
        for a, b in pairwise(values):
            if b <= a:
                raise ProblemError(
                    f"cooling {self.name!r}: its {what} must increase, but {b:g} {unit} follow {a:g} {unit}"
                )

    @property
    def most(self) -> float:
        """The greatest IT power of the table, in watts."""
        return self.powers[-1]

    def curve(self, temperature: float) -> tuple[Point, ...]:
        """Return the points (IT power, cooling power) in watts for a temperature in degrees Celsius.

        Raises
        ------
        ProblemError
            If the temperature is outside of the table.
        """
        ts = self.temperatures
        if not ts[0] <= temperature <= ts[-1]:
            raise ProblemError(
                f"cooling {self.name!r} is known from {ts[0]:g} to {ts[-1]:g} degrees; {temperature:g} is outside of it"
            )
        i = min(bisect_right(ts, temperature), len(ts) - 1) - 1 if len(ts) > 1 else 0
        share = (temperature - ts[i]) / (ts[i + 1] - ts[i]) if len(ts) > 1 else 0.0
        above = self.watts[min(i + 1, len(ts) - 1)]
        return tuple((p, a + share * (b - a)) for p, a, b in zip(self.powers, self.watts[i], above, strict=True))

    def power(self, it_watts: float, temperature: float) -> float:
        """Return the cooling power in watts; raise ProblemError for values outside of the table."""
        if not 0 <= it_watts <= self.most:
            raise ProblemError(
                f"cooling {self.name!r} is known up to {self.most:g} W of IT power, not for {it_watts:g} W"
            )
        return along(self.curve(temperature), it_watts)

    def pue(self, it_watts: float, temperature: float) -> float | None:
        """Return the power usage effectiveness, 1 + cooling / IT; None for an IT power of 0."""
        return 1 + self.power(it_watts, temperature) / it_watts if it_watts > 0 else None

    def slope_change(self, temperature: float, above: float = 0.5) -> float | None:
        """Return the IT power in watts at which the slope of the cooling power increases most.

        This is the power at which chillers start [Bridi2018, 6.8.3]. Of equal increases the first one is returned; if
        the slope never increases, None.

        Parameters
        ----------
        temperature : float
            Degrees Celsius.
        above : float, default 0.5
            Increases below this share of the greatest IT power are ignored: there the cooling itself starts.

        Returns
        -------
        float or None
            The IT power in watts.

        Raises
        ------
        ProblemError
            If the temperature is outside of the table.

        Examples
        --------
        >>> c = Cooling("chillers from 800 W", (20,), (0, 100, 800, 1000), ((0, 0, 70, 130),))
        >>> c.slope_change(20), c.pue(800, 20)
        (800.0, 1.0875)
        """
        points = self.curve(temperature)
        slopes = [(v - y) / (u - x) for (x, y), (u, v) in pairwise(points)]
        noise = ROUNDING * max(map(abs, slopes))
        best, at = noise, None
        for (power, _), (before, after) in zip(points[1:-1], pairwise(slopes), strict=True):
            if power >= above * self.most * (1 - ROUNDING) and after - before > best + noise:
                best = after - before
                at = power
        return at

    def scaled(self, factor: float) -> Cooling:
        """Return the plant of a machine ``factor`` times as large: the same PUE at ``factor`` times the IT power."""
        if not 0 < factor < float("inf"):
            raise ProblemError(
                f"cooling {self.name!r}: the factor of scaling is {factor}; a number above 0 is expected"
            )
        watts = tuple(tuple(w * factor for w in row) for row in self.watts)
        return replace(self, powers=tuple(p * factor for p in self.powers), watts=watts)
