"""Scenarios of a computing centre: its cooling, the season and its price, in all combinations."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from ..models.dispatch.problem import Dispatch
from ..models.excerpt import MOST, excerpt
from ..models.profit.cooling import Cooling
from ..models.profit.problem import Profit
from ..models.step_function import StepFunction
from .formats.cooling_tables import cooling
from .weather import Weather

TABLE_CORES = 9600  # of the machine that the shipped cooling tables are made for
PLANTS = ("air", "hybrid")
PRICES = {"cheap": 0.013, "expensive": 0.10}  # euro per core-hour, K1
ENERGY_PRICE = 0.13  # euro per kWh, K2
WATTS_PER_CORE = (7.8, 11.11)  # of jobs, uniform


class UnknownScenario(LookupError):
    """A scenario that an instance has not; the message gives the near ones."""


@dataclass(frozen=True)
class Plant:
    """The cooling of a machine: a table (a shipped name, or a file), ``scale`` times as large; ``text``: of a file read."""

    table: str
    cooling: Cooling
    scale: float = 1.0
    text: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True)
class Season:
    """The weather, and the file of the folder that it stands in; ``text``: of a file read."""

    file: str
    weather: Weather
    text: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True)
class Scenarios:
    """Jobs, and what changes from scenario to scenario: cooling, season, price of a core-hour, each under a word.

    The name of a scenario has its three words, as "air,summer,cheap". ``prices``: euro per core-hour; ``energy_price``:
    euro per kWh, one for all scenarios; ``horizon_end``: up to when profit counts, None for the last submission;
    ``watts_per_core``: of jobs without a power of their own. A problem is made when it is asked for, once.
    """

    jobs: Dispatch
    cooling: Mapping[str, Plant]
    season: Mapping[str, Season]
    price: Mapping[str, float]
    energy_price: StepFunction | float
    default: str
    horizon_end: int | None = None
    watts_per_core: float | None = None
    made: dict[str, Profit] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """All scenarios, by cooling, then season, then price."""
        return tuple(map(",".join, product(self.cooling, self.season, self.price)))

    def problem(self, name: str) -> Profit:
        """The problem of a scenario. Raises UnknownScenario, and ProblemError for one that contradicts itself."""
        words = known(name, {"cooling": self.cooling, "season": self.season, "price": self.price})
        name = ",".join(words)
        if name not in self.made:
            plant = self.cooling[words[0]]
            self.made[name] = Profit(
                self.jobs,
                self.season[words[1]].weather.series,
                plant.cooling if plant.scale == 1 else plant.cooling.scaled(plant.scale),
                self.price[words[2]],
                self.energy_price,
                -1 if self.horizon_end is None else self.horizon_end,
                self.watts_per_core,
            )
        return self.made[name]


def known(name: str, axes: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The words of a scenario, one per axis. Raises UnknownScenario with the near ones.

    >>> known("air, summer", {"cooling": ["air", "hybrid"], "season": ["summer", "winter"]})
    ('air', 'summer')
    """
    words = tuple(w.strip() for w in name.split(","))
    choices = {axis: list(values) for axis, values in axes.items()}
    form = ",".join(axes)
    if len(words) != len(choices):
        example = ",".join(values[0] for values in choices.values() if values)
        raise UnknownScenario(f"there is no scenario {excerpt(name)}; expected {form}, such as {example}")
    for word, (axis, values) in zip(words, choices.items(), strict=True):
        if word not in values:
            near = difflib.get_close_matches(word[:MOST], values, n=3, cutoff=0.4)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(values)}"
            raise UnknownScenario(f"there is no scenario {excerpt(name)} ({form}): no {axis} {excerpt(word)}; {hint}")
    return words


def thesis_scenarios(jobs: Dispatch, seasons: Mapping[str, Weather], default: str = "") -> Scenarios:
    """The scenarios of the thesis (section 6.8) for a machine of any size: cooling x season x price of a core-hour.

    The plants are the shipped tables, made for 9,600 cores, as many times as large as the machine has cores. ``default``:
    by default the first one. Raises UnknownScenario.
    """
    scale = jobs.platform.total("cores") / TABLE_CORES
    made = Scenarios(
        jobs=jobs,
        cooling={name: Plant(name, cooling(name), scale) for name in PLANTS},
        season={word: Season(f"{word}.csv", weather) for word, weather in seasons.items()},
        price=PRICES,
        energy_price=ENERGY_PRICE,
        default="",
    )
    axes = {"cooling": made.cooling, "season": made.season, "price": made.price}
    return replace(made, default=",".join(known(default, axes)) if default else made.names[0])
