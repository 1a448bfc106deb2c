"""An instance: a problem with its name, its source and the repairs of its data; and the scenarios of a computing centre."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from ..errors import SchedlabError, WrongArgument
from ..models.comparing import hashable
from ..models.dispatch.jobs import Job, Queue
from ..models.dispatch.problem import Dispatch
from ..models.eviction.problem import Eviction
from ..models.node_states import NodeEvent
from ..models.platform import Platform
from ..models.problem import Problem
from ..models.profit.problem import Cooling, Profit
from ..models.project.problem import Project
from ..models.reservations import Reservation
from ..models.server_events import ServerEvent
from ..models.step_function import StepFunction
from ..models.words import excerpt, hint, with_short_repr
from .formats.cooling_tables import cooling
from .weather import Weather

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    P = TypeVar("P", bound=Problem, default=Problem)  # default: from Python 3.13 on
else:
    from typing import TypeVar

    P = TypeVar("P")


TABLE_CORES = 9600  # cores of the machine for which the shipped cooling tables are made
PLANTS = ("air", "hybrid")
PRICES = {"cheap": 0.013, "expensive": 0.10}  # euro per core-hour, K1 of [Bridi2018, 6.8]
ENERGY_PRICE = 0.13  # euro per kWh, K2 of [Bridi2018, 6.8]
WATTS_PER_CORE = (7.8, 11.11)  # W; the power of a job per core is uniform in this range


class UnknownScenario(SchedlabError, LookupError):
    """The error for a scenario that does not exist; the message lists similar names."""


@dataclass(frozen=True)
class Plant:
    """A cooling plant.

    ``table``: name of a shipped cooling table, or of a file; ``scale``: factor by which the plant is larger than that
    of the table; ``text``: the content of the file, empty for a shipped table.
    """

    table: str
    cooling: Cooling
    scale: float = 1.0
    text: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True)
class Season:
    """The weather of a season, and name and content (empty if not read) of its file in the instance folder."""

    file: str
    weather: Weather
    text: str = field(default="", repr=False, compare=False)


@with_short_repr
@hashable
@dataclass(frozen=True)
class Scenarios:
    """The jobs of a profit instance, and its cooling plants, seasons and prices.

    A scenario combines one cooling plant, one season and one price. Its name consists of their keys, such as
    "air,summer,cheap".

    Attributes
    ----------
    jobs
        Platform, queues and jobs, common to all scenarios.
    cooling
        Key -> cooling plant.
    season
        Key -> weather.
    price
        Key -> price of a core-hour, in euro.
    energy_price
        Price of energy in euro per kWh, constant or over time, common to all scenarios.
    default
        Name of the default scenario.
    horizon_end
        End of the period in which profit counts, in seconds; None: the last submit time.
    watts_per_core
        Power per core, in W, of jobs without a power of their own; None: every job has a power.
    made
        Cache: name of a scenario -> its problem. A problem is made at its first use.
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
        """Names of all scenarios, ordered by cooling, then season, then price."""
        return tuple(map(",".join, product(self.cooling, self.season, self.price)))

    def problem(self, name: str) -> Profit:
        """Return the problem of a scenario. Raises UnknownScenario, and ProblemError for contradictory data."""
        plant_key, season_key, price_key = known(
            name, {"cooling": self.cooling, "season": self.season, "price": self.price}
        )
        name = ",".join((plant_key, season_key, price_key))
        if name not in self.made:
            plant = self.cooling[plant_key]
            self.made[name] = Profit(
                dispatch=self.jobs,
                temperature=self.season[season_key].weather.series,
                cooling=plant.cooling if plant.scale == 1 else plant.cooling.scaled(plant.scale),
                price=self.price[price_key],
                energy_price=self.energy_price,
                horizon_end=-1 if self.horizon_end is None else self.horizon_end,
                watts_per_core=self.watts_per_core,
            )
        return self.made[name]


def known(name: str, axes: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Split the name of a scenario into its keys, one per axis. Raises UnknownScenario, with similar keys.

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
            raise UnknownScenario(
                f"there is no scenario {excerpt(name)} ({form}): unknown {axis} {excerpt(word)}; "
                f"{hint(word, values, 'expected one of')}"
            )
    return words


def thesis_scenarios(jobs: Dispatch, seasons: Mapping[str, Weather], default: str = "") -> Scenarios:
    """Return the scenarios of [Bridi2018, 6.8] for a machine of any size: cooling x season x price of a core-hour.

    The plants are the shipped cooling tables, which are made for 9,600 cores, scaled to the number of cores of the
    machine. ``default``: the name of the default scenario, by default the first one. Raises UnknownScenario.
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


@with_short_repr
@hashable
@dataclass(frozen=True)
class Instance(Generic[P]):
    """A problem with a name and a record of its origin.

    ``Instance[Dispatch]`` is one with a dispatching problem. ``load`` returns ``Instance[Any]``, as only the files say of
    which kind the problem is; ``dispatch``, ``eviction``, ``profit`` and ``project`` are the problem with its type.

    Attributes
    ----------
    name
        The name of the instance, such as "eurora_700".
    kind
        The name of its problem kind, such as "dispatch", "eviction", "profit"; see ``schedlab.models.kind``.
    problem
        The problem to solve. For a profit instance: the problem of its default scenario.
    path
        The folder from which the instance was read; None if it was made in memory.
    description
        One sentence for the user.
    source
        Where the data come from.
    generator
        Name, version, seed and sizes of the generator that made the instance; empty if none did.
    repairs
        Kind of repair -> number of jobs that were changed so that they can run.
    dropped
        The jobs that cannot run even on the empty platform and were left out, each with the reason.
    nodes_compared
        For an eviction instance: further numbers of nodes to free, besides ``problem.nodes_needed``.
    centre
        For a profit instance: all its scenarios; None for the other kinds.
    events
        For a dispatching instance: the events of nodes (such as outages) and of the batch server (such as stopped
        queues) in its ``events.csv``; replays obey them, offline methods do not know them.
    reservations
        For a dispatching instance: its reservations; replays obey them, offline methods do not know them.
    """

    name: str
    kind: str
    problem: P
    path: Path | None = None
    description: str = ""
    source: str = ""
    generator: Mapping[str, Any] = field(default_factory=dict)
    repairs: Mapping[str, int] = field(default_factory=dict)
    dropped: tuple[tuple[Job, str], ...] = ()
    nodes_compared: tuple[int, ...] = ()
    centre: Scenarios | None = None
    events: tuple[NodeEvent | ServerEvent, ...] = ()
    reservations: tuple[Reservation, ...] = ()

    @property
    def dispatch(self) -> Dispatch:
        """The problem, as a dispatching problem. Raises TypeError for an instance of another kind."""
        if not isinstance(self.problem, Dispatch):
            raise WrongArgument(f"instance {self.name!r} is of kind {self.kind!r}, not a dispatching problem")
        return self.problem

    @property
    def eviction(self) -> Eviction:
        """The problem, as an eviction problem. Raises TypeError for an instance of another kind."""
        if not isinstance(self.problem, Eviction):
            raise WrongArgument(f"instance {self.name!r} is of kind {self.kind!r}, not an eviction problem")
        return self.problem

    @property
    def profit(self) -> Profit:
        """The problem of the default scenario, a profit problem. Raises TypeError for an instance of another kind."""
        if not isinstance(self.problem, Profit):
            raise WrongArgument(f"instance {self.name!r} is of kind {self.kind!r}, not a profit problem")
        return self.problem

    @property
    def project(self) -> Project:
        """The problem, as a project. Raises TypeError for an instance of another kind."""
        if not isinstance(self.problem, Project):
            raise WrongArgument(f"instance {self.name!r} is of kind {self.kind!r}, not a project")
        return self.problem

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Names of the scenarios, such as "air,summer,cheap"; empty unless the instance is of kind "profit"."""
        if self.centre is None:
            return ()
        return self.centre.names

    def scenario(self, name: str) -> Profit:
        """Return the problem of a scenario. Raises UnknownScenario, with similar names, for an unknown name."""
        if self.centre is None:
            raise UnknownScenario(
                f"there is no scenario {name!r}: instance {self.name!r} of kind {self.kind!r} has no scenarios"
            )
        return self.centre.problem(name)

    @property
    def _dispatching(self) -> Dispatch:
        if isinstance(self.problem, Profit):
            return self.problem.dispatch
        return self.dispatch

    @property
    def platform(self) -> Platform:
        """The platform of a dispatching or profit instance."""
        return self._dispatching.platform

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs of a dispatching or profit instance."""
        return self._dispatching.jobs

    @property
    def queues(self) -> Sequence[Queue]:
        """The queues of a dispatching or profit instance."""
        return self._dispatching.queues
