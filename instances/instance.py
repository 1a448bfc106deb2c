"""An instance: a problem with its name, its source and the repairs of its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from ..errors import WrongArgument
from ..models.comparing import hashable
from ..models.dispatch.jobs import Job, Queue
from ..models.dispatch.problem import Dispatch
from ..models.eviction.problem import Eviction
from ..models.excerpt import with_short_repr
from ..models.node_states import NodeEvent
from ..models.platform import Platform
from ..models.problem import Problem
from ..models.profit.problem import Profit
from ..models.project.problem import Project
from ..models.reservations import Reservation
from ..models.server_events import ServerEvent
from .scenarios import Scenarios, UnknownScenario

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    P = TypeVar("P", bound=Problem, default=Problem)  # default: from Python 3.13 on
else:
    from typing import TypeVar

    P = TypeVar("P")


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
        return () if self.centre is None else self.centre.names

    def scenario(self, name: str) -> Profit:
        """Return the problem of a scenario. Raises UnknownScenario, with similar names, for an unknown name."""
        if self.centre is None:
            raise UnknownScenario(
                f"there is no scenario {name!r}: instance {self.name!r} of kind {self.kind!r} has no scenarios"
            )
        return self.centre.problem(name)

    @property
    def _dispatching(self) -> Dispatch:
        return self.problem.dispatch if isinstance(self.problem, Profit) else self.dispatch

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
