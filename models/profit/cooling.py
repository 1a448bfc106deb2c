"""What cooling takes: a table of temperatures and IT powers (thesis 6.5.3, table 6.1)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isfinite

from ..platform import ProblemError
from ..whole_numbers import is_real, shown

Point = tuple[float, float]
"""IT power and the cooling power that it takes, both in watts."""
ROUNDING = 1e-6  # of the steepest slope: a smaller change of slope is none


def along(points: Sequence[Point], x: float) -> float:
    """The piecewise-linear function through points (x, y) of increasing x; its ends continue.

    >>> along([(0, 0), (10, 5), (20, 20)], 12)
    8.0
    """
    k = min(max(1, bisect_right(points, x, key=lambda p: p[0])), len(points) - 1)
    (a, c), (b, d) = points[k - 1], points[k]
    return c + (d - c) * (x - a) / (b - a)


@dataclass(frozen=True)
class Cooling:
    """The power that cooling takes, in watts: ``watts[i][k]`` at ``temperatures[i]`` (degrees C) and ``powers[k]`` (IT, W).

    Between the powers it is the cooling power that is linear; PUE = 1 + cooling / IT is derived. Between two
    temperatures it is interpolated linearly. Outside of the table nothing is known.

    Raises ProblemError for a table with gaps, axes that do not increase, IT powers that do not begin at 0, or a cooling
    power below 0 (a PUE below 1).

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
                f"cooling {self.name!r}: its IT powers begin at {self.powers[0]:g} W; 0 is expected, and more"
            )
        if len(self.watts) != len(self.temperatures) or any(len(row) != len(self.powers) for row in self.watts):
            raise ProblemError(
                f"cooling {self.name!r}: the table has gaps; a value per temperature and IT power is expected"
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
                raise ProblemError(f"cooling {self.name!r}: its table has {shown(v)}; a number is expected")
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
        """The points (IT W, cooling W) of a temperature. Raises ProblemError for one outside of the table."""
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
        """The cooling power in watts. Raises ProblemError outside of the table."""
        if not 0 <= it_watts <= self.most:
            raise ProblemError(
                f"cooling {self.name!r} is known up to {self.most:g} W of IT power, not for {it_watts:g} W"
            )
        return along(self.curve(temperature), it_watts)

    def pue(self, it_watts: float, temperature: float) -> float | None:
        """Power usage effectiveness, 1 + cooling / IT; None where nothing runs."""
        return 1 + self.power(it_watts, temperature) / it_watts if it_watts > 0 else None

    def slope_change(self, temperature: float, above: float = 0.5) -> float | None:
        """The IT power in watts at which the slope of the cooling power rises most, as chillers start (thesis 6.8.3).

        None where it nowhere rises. Rises below ``above`` times the greatest IT power of the table do not count: there
        it is the cooling itself that starts. Of equal rises the first. Raises ProblemError for a temperature outside of
        the table.

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
                best, at = after - before, power
        return at

    def scaled(self, factor: float) -> Cooling:
        """The plant of a machine ``factor`` times as large: the same PUE at ``factor`` times the IT power."""
        if not 0 < factor < float("inf"):
            raise ProblemError(f"cooling {self.name!r}: it can be scaled by a factor above 0, not by {factor}")
        watts = tuple(tuple(w * factor for w in row) for row in self.watts)
        return replace(self, powers=tuple(p * factor for p in self.powers), watts=watts)
