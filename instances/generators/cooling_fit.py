"""Generator of the shipped cooling tables ``air`` and ``hybrid`` from the data of [Bridi2018, 6] and own assumptions.

The data and the assumptions are listed in ``PLANTS[...].about``, which is also written into the files. Plausibility
check: the PUE of these tables is compared with that of [Bridi2018, table 6.2] (best rule; its temperatures are not
published). The IT power is 97 % (high) or 65 % (low; the power of this case is not in [Bridi2018]) of 90,768 W; the
temperatures are those of 15 to 21 July and 15 to 21 January in the Po valley (mean 21.0 and 3.6 degrees). First column:
these tables, second column: [Bridi2018]:

    air summer high     1.4247  1.4345
    air summer low      1.4158  1.4170
    air winter high     1.1139  1.1130
    air winter low      1.1047  1.0948
    hybrid summer high  1.0922  1.0921
    hybrid summer low   1.0774  1.0751
    hybrid winter high  1.0041  1.0032
    hybrid winter low   1.0037  1.0029
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ...models.comparing import hashable
from ...models.profit.problem import Cooling, Point
from ..files.writing import write_files
from ..formats.cooling_tables import SHIPPED, cooling_csv, read_cooling

Curve = Callable[[float], float]  # IT power in W -> cooling power in W

TEMPERATURES = tuple(range(-20, 50, 5))
WINTER = 5  # degrees C, of the slope-change point
SUMMER = 25
MOST = 110_000.0  # largest IT power of the tables, W; 300 nodes x 32 cores x 11.11 W are 106,656 W
KINKS = (20_000.0, 40_000.0, 60_000.0)  # W; IT powers below the slope-change point at which the slope grows slightly
COLDER = 0.85  # factor of the cooling power per 5 degrees below WINTER
HOTTER = 1.03  # the same above SUMMER


@hashable
@dataclass(frozen=True)
class FittedPlant:
    """The data from which a cooling table is computed.

    ``winter``, ``summer``: points (IT power in W, cooling power in W) of the curves at 5 and 25 degrees C; ``ten``,
    ``fifteen``: the curves at 10 and 15 degrees; ``bends``: further IT powers of the table, in W; ``between``: weight
    of the curve of 25 degrees, against that of 15 degrees, in the curve of 20 degrees.
    """

    about: Sequence[str]
    winter: Sequence[Point]
    summer: Sequence[Point]
    ten: Curve
    fifteen: Curve
    bends: Sequence[float]
    between: float = 0.8

    def row(self, temperature: int) -> Curve:
        """Return the curve from IT power to cooling power at a temperature of the table."""
        winter = through(self.winter)
        summer = through(self.summer)
        if temperature <= WINTER:
            return lambda p: winter(p) * COLDER ** ((WINTER - temperature) / 5)
        if temperature >= SUMMER:
            return lambda p: summer(p) * HOTTER ** ((temperature - SUMMER) / 5)
        if temperature == 20:
            return lambda p: self.fifteen(p) + self.between * (summer(p) - self.fifteen(p))
        if temperature == 10:
            return self.ten
        return self.fifteen

    def cooling(self, name: str) -> Cooling:
        """Return the table, with the cooling power rounded to 1e-6 W."""
        powers = sorted({p for p, _ in (*self.winter, *self.summer)} | set(self.bends))
        rows = [[round(self.row(t)(p), 6) for p in powers] for t in TEMPERATURES]
        return Cooling(name, TEMPERATURES, powers, rows)


def through(points: Sequence[Point]) -> Curve:
    """Return the piecewise linear curve through these points."""
    xs = [x for x, _ in points]

    def curve(p: float) -> float:
        k = min(max(1, bisect_right(xs, p)), len(xs) - 1)
        a, b = points[k - 1]
        c, d = points[k]
        return b + (d - b) * (p - a) / (c - a)

    return curve


def rising(start: float, change: float, pue: float, grow: float, rise: float) -> list[Point]:
    """Return the points of a convex curve that is 0 up to ``start`` and then grows with increasing slope.

    Parameters
    ----------
    start
        IT power in W up to which no cooling power is needed.
    change
        IT power in W of the slope-change point.
    pue
        PUE at the slope-change point.
    grow
        Factor of the slope at each of the KINKS.
    rise
        Factor of the slope at the slope-change point; the largest one.

    Returns
    -------
    list of (float, float)
        Points (IT power in W, cooling power in W), up to the end of the table.
    """
    ends = (start, *KINKS, change)
    widths = [b - a for a, b in pairwise(ends)]
    slope = (pue - 1) * change / sum(w * grow**k for k, w in enumerate(widths))
    if start > 0:
        points = [(0.0, 0.0), (start, 0.0)]
    else:
        points = [(0.0, 0.0)]
    for k, width in enumerate(widths):
        points.append((ends[k + 1], points[-1][1] + width * slope * grow**k))
    last = slope * grow ** (len(widths) - 1) * rise
    return [*points, (MOST, points[-1][1] + last * (MOST - change))]


def bent(first: float, bend: float, change: float, pue: float, rise: float) -> list[Point]:
    """Return the points of a curve of three linear pieces.

    Parameters
    ----------
    first
        Slope of the first piece, from 0 W to ``bend``.
    bend
        IT power in W at the end of the first piece; the second piece ends at the slope-change point.
    change
        IT power in W of the slope-change point.
    pue
        PUE at the slope-change point.
    rise
        Slope of the third piece, in multiples of that of the second.

    Returns
    -------
    list of (float, float)
        Points (IT power in W, cooling power in W), up to the end of the table.
    """
    watts = (pue - 1) * change
    slope = (watts - first * bend) / (change - bend)
    return [(0.0, 0.0), (bend, first * bend), (change, watts), (MOST, watts + rise * slope * (MOST - change))]


COMMON = (
    "Cooling power of a machine of 300 nodes x 32 cores, jobs of 7.8 to 11.11 W per core: up to 106,656 W of IT power,",
    "90,768 W when it is full of average jobs. Linear between the IT powers (PUE = 1 + cooling / IT is derived) and between",
    "the temperatures. Made by schedlab.instances.generators.cooling_fit; source: T. Bridi, PhD thesis, chapter 6, tables 6.1, 6.2.",
)
BEYOND = (
    f"Rows below 5 degrees are {COLDER} of the row 5 degrees warmer, rows above 25 degrees {HOTTER} of the row 5 degrees colder;",
    "the row of 20 degrees lies at 0.8 of the way from that of 15 to that of 25. Every row is convex in the IT power, and",
    "the cooling power falls neither with the IT power nor with the temperature.",
)
AIR_WINTER = rising(1406.25, 90_000.0, 1.11726, grow=1.15, rise=1.18)
AIR_SUMMER = bent(0.416, 50_000.0, 90_000.0, 1.43497, rise=1.3)
HYBRID_WINTER = rising(0.0, 77_000.0, 1.00302, grow=1.08, rise=1.3)
HYBRID_SUMMER = rising(0.0, 77_000.0, 1.08727, grow=1.2, rise=1.3)
# ratios of the rows of 10 to 5 degrees and of 15 to 25 degrees, taken from the air plant at its slope change
HYBRID_TEN = 1.07
HYBRID_FIFTEEN = 0.955

PLANTS: Mapping[str, FittedPlant] = {
    "air": FittedPlant(
        (
            "Air cooling.",
            "",
            *COMMON,
            "",
            "Given: 0.128 P - 180 W at 10 degrees and 0.416 P - 38 W at 15 degrees, never below 0 (table 6.1, through its four",
            "rows); a PUE of 1.43497 in summer and 1.11726 in winter where the slope changes, as the chillers start (table 6.2).",
            "",
            "Assumed: summer is the row of 25 degrees, winter that of 5; the slope changes at 90,000 W (by table 6.2 even the",
            "high workload stays below). Winter: no cooling power up to 1,406.25 W, where the row of 10 degrees leaves 0 too;",
            "the slope grows by 1.15 at 20, 40 and 60 kW, and by 1.18 at 90 kW (by more it would cross the row of 10 degrees).",
            "Summer: a PUE of 1.416 up to 50 kW, a straight line from there to 90 kW, 1.3 times its slope beyond.",
            *BEYOND,
        ),
        AIR_WINTER,
        AIR_SUMMER,
        lambda p: max(0.0, 0.128 * p - 180),
        lambda p: max(0.0, 0.416 * p - 38),
        (91.346, 55_000.0, 55_500.0),  # W; where the curve of 15 degrees becomes positive, and the columns of table 6.1
    ),
    "hybrid": FittedPlant(
        (
            "Hybrid cooling (liquid and air).",
            "",
            *COMMON,
            "",
            "Given: a PUE of 1.08727 in summer and 1.00302 in winter where the slope changes, as the chillers start (table 6.2).",
            "",
            "Assumed: summer is the row of 25 degrees, winter that of 5; the slope changes at 77,000 W (84.82 % of 90.8 kW, the",
            "threshold of figure 6.5; by table 6.2 the high workload lies above, the low one below). At 20, 40 and 60 kW the",
            "slope grows by 1.2 in summer and 1.08 in winter, at 77 kW by 1.3, which gives the PUEs of the high workload.",
            f"The row of 10 degrees is {HYBRID_TEN} of that of 5, the row of 15 degrees {HYBRID_FIFTEEN} of that of 25, as with air.",
            *BEYOND,
        ),
        HYBRID_WINTER,
        HYBRID_SUMMER,
        lambda p: HYBRID_TEN * through(HYBRID_WINTER)(p),
        lambda p: HYBRID_FIFTEEN * through(HYBRID_SUMMER)(p),
        (),
    ),
}  # fmt: skip


def shipped() -> dict[str, str]:
    """Return the files of the shipped tables, name -> text."""
    return {f"{name}.csv": cooling_csv(plant.cooling(name), plant.about) for name, plant in PLANTS.items()}


def ship(folder: Path = SHIPPED) -> None:
    """Write the files of the shipped tables."""
    files = shipped()
    write_files(folder, files, lambda path: [read_cooling(path / name) for name in files])
