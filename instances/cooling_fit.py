"""How the shipped cooling tables ``air`` and ``hybrid`` are made: what the thesis gives, and what is assumed beyond it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..models.cooling import Cooling, Point
from .cooling_tables import SHIPPED, cooling_csv
from .folder import write_files

Curve = Callable[[float], float]  # cooling watts of IT watts

TEMPERATURES = tuple(range(-20, 50, 5))
WINTER, SUMMER = 5, 25  # the rows of the slope-change points, degrees C
MOST = 110_000.0  # W; 300 nodes x 32 cores x 11.11 W are 106,656 W
RISE = 1.3  # slope above the slope-change point, in slopes below it
COLDER, HOTTER = 0.85, 1.03  # cooling power of a row, in those of the row 5 degrees nearer to the reference


@dataclass(frozen=True)
class Plant:
    """What makes a table: the cooling power (points of IT watts and watts) at 5 and 25 degrees, and at 10 and 15.

    ``between``: the row of 20 degrees lies so far from that of 15 to that of 25.
    """

    about: Sequence[str]
    winter: Sequence[Point]
    summer: Sequence[Point]
    ten: Curve
    fifteen: Curve
    bends: Sequence[float]
    between: float = 0.8

    def row(self, temperature: int) -> Curve:
        """Cooling watts of IT watts at a temperature of the table."""
        winter, summer = through(self.winter), through(self.summer)
        if temperature <= WINTER:
            return lambda p: winter(p) * COLDER ** ((WINTER - temperature) / 5)
        if temperature >= SUMMER:
            return lambda p: summer(p) * HOTTER ** ((temperature - SUMMER) / 5)
        if temperature == 20:
            return lambda p: self.fifteen(p) + self.between * (summer(p) - self.fifteen(p))
        return self.ten if temperature == 10 else self.fifteen

    def cooling(self, name: str) -> Cooling:
        """The table; cooling power in steps of a millionth of a watt."""
        powers = sorted({p for p, _ in (*self.winter, *self.summer)} | set(self.bends))
        rows = [[round(self.row(t)(p), 6) for p in powers] for t in TEMPERATURES]
        return Cooling(name, TEMPERATURES, powers, rows)


def through(points: Sequence[Point]) -> Curve:
    """The piecewise-linear curve through these points."""
    xs = [x for x, _ in points]

    def curve(p: float) -> float:
        k = min(max(1, bisect_right(xs, p)), len(xs) - 1)
        (a, b), (c, d) = points[k - 1], points[k]
        return b + (d - b) * (p - a) / (c - a)

    return curve


def rising(start: Point, change: float, pue: float, rise: float = RISE) -> list[Point]:
    """(0, 0), ``start``, the slope-change point (its IT power and PUE), and the end of the table after a steeper slope."""
    watts = round((pue - 1) * change, 6)
    slope = rise * (watts - start[1]) / (change - start[0])
    return [(0.0, 0.0), start, (change, watts), (MOST, watts + slope * (MOST - change))]


COMMON = (
    "Cooling power of a machine of 300 nodes x 32 cores, jobs of 7.8 to 11.11 W per core: up to 106,656 W of IT power, 90,768 W when",
    "it is full of average jobs. Linear between the IT powers (PUE = 1 + cooling / IT is derived) and between the temperatures.",
    "Made by schedlab.instances.cooling_fit; source: T. Bridi, PhD thesis, chapter 6, tables 6.1 and 6.2.",
)
BEYOND = (
    f"Assumed too: rows below 5 degrees are {COLDER} of the row 5 degrees warmer, rows above 25 degrees {HOTTER} of the row 5 degrees colder;",
    "the row of 20 degrees lies at 0.8 of the way from that of 15 to that of 25. Every row is convex in the IT power, and the cooling",
    "power falls neither with the IT power nor with the temperature.",
)
AIR_WINTER = rising((20_000.0, 0.0), 90_000.0, 1.11726, rise=1.1)
AIR_SUMMER = rising((50_000.0, 20_800.0), 90_000.0, 1.43497)
HYBRID_WINTER = rising((40_000.0, 104.0), 77_000.0, 1.00302)
HYBRID_SUMMER = rising((40_000.0, 2_400.0), 77_000.0, 1.08727)
HYBRID_TEN, HYBRID_FIFTEEN = 1.07, 0.955  # as air at its slope change: 10 degrees to 5, and 15 to 25

PLANTS: Mapping[str, Plant] = {
    "air": Plant(
        (
            "Air cooling.",
            "",
            *COMMON,
            "Given: 0.128 P - 180 W at 10 degrees and 0.416 P - 38 W at 15 degrees, never below 0 (table 6.1, through its four rows);",
            "a PUE of 1.43497 in summer and 1.11726 in winter where the slope changes, as the chillers start (table 6.2).",
            "Assumed: summer is the row of 25 degrees, winter that of 5; the slope changes at 90,000 W (by table 6.2 even the high workload,",
            "at 97 % of 90.8 kW, stays below). Winter: no cooling power up to 20 kW, a straight line from there to 90 kW, 1.1 times its slope",
            "beyond (more would cross the row of 10 degrees). Summer: a PUE of 1.416 up to 50 kW, a straight line from there to 90 kW,",
            f"{RISE} times its slope beyond.",
            *BEYOND,
        ),
        AIR_WINTER,
        AIR_SUMMER,
        lambda p: max(0.0, 0.128 * p - 180),
        lambda p: max(0.0, 0.416 * p - 38),
        (91.346, 1406.25, 55_000.0, 55_500.0),  # the first two: where the lines of 15 and 10 degrees leave 0
    ),
    "hybrid": Plant(
        (
            "Hybrid cooling (liquid and air).",
            "",
            *COMMON,
            "Given: a PUE of 1.08727 in summer and 1.00302 in winter where the slope changes, as the chillers start (table 6.2).",
            "Assumed: summer is the row of 25 degrees, winter that of 5; the slope changes at 77,000 W (84.82 % of 90.8 kW, the threshold of",
            "figure 6.5; by table 6.2 the high workload lies above, the low one below). A PUE of 1.06 in summer and 1.0026 in winter up to",
            f"40 kW, a straight line from there to 77 kW, {RISE} times its slope beyond, which gives the PUE of the high workload in table 6.2.",
            f"The row of 10 degrees is {HYBRID_TEN} of that of 5, the row of 15 degrees {HYBRID_FIFTEEN} of that of 25, as with air cooling.",
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
    """The files of the shipped tables, name -> text."""
    return {f"{name}.csv": cooling_csv(plant.cooling(name), plant.about) for name, plant in PLANTS.items()}


def ship(folder: Path = SHIPPED) -> None:
    """Write the shipped tables anew."""
    write_files(folder, shipped())
