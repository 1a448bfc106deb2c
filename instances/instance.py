"""An instance: a problem with its name, its source and what was done to its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..models.dispatch.jobs import Job, Queue
from ..models.dispatch.problem import Dispatch
from ..models.eviction.problem import Eviction
from ..models.platform import Platform
from ..models.problem import Problem
from ..models.profit.problem import Profit
from .scenarios import Scenarios, UnknownScenario


@dataclass(frozen=True)
class Instance:
    """A problem under a name.

    ``path``: the folder it was read from, None if it was made in memory; ``generator``: name, version, seed and sizes;
    ``nodes_compared``: of an eviction instance, other numbers of nodes to ask for; ``centre``: of a profit
    instance, its scenarios, of which ``problem`` is the default one; ``repairs``: how many jobs were changed so that they
    can run, by kind; ``dropped``: the jobs that can never fit and were left out, with the reason.
    """

    name: str
    kind: str
    problem: Problem
    path: Path | None = None
    description: str = ""
    source: str = ""
    generator: Mapping[str, Any] = field(default_factory=dict)
    repairs: Mapping[str, int] = field(default_factory=dict)
    dropped: tuple[tuple[Job, str], ...] = ()
    nodes_compared: tuple[int, ...] = ()
    centre: Scenarios | None = None

    @property
    def dispatch(self) -> Dispatch:
        """The problem as a dispatching problem. Raises TypeError if it is of another kind."""
        if not isinstance(self.problem, Dispatch):
            raise TypeError(f"instance {self.name!r} is of kind {self.kind!r}, not a dispatching problem")
        return self.problem

    @property
    def eviction(self) -> Eviction:
        """The problem as an eviction problem. Raises TypeError if it is of another kind."""
        if not isinstance(self.problem, Eviction):
            raise TypeError(f"instance {self.name!r} is of kind {self.kind!r}, not an eviction problem")
        return self.problem

    @property
    def profit(self) -> Profit:
        """The problem as a profit problem, in the default scenario. Raises TypeError if it is of another kind."""
        if not isinstance(self.problem, Profit):
            raise TypeError(f"instance {self.name!r} is of kind {self.kind!r}, not a profit problem")
        return self.problem

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Names of the scenarios of a profit instance, such as "air,summer,cheap"; none of another kind."""
        return () if self.centre is None else self.centre.names

    def scenario(self, name: str) -> Problem:
        """The problem of a scenario. Raises UnknownScenario with the near names."""
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
        """The machine of a dispatching or profit instance."""
        return self._dispatching.platform

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs of a dispatching or profit instance."""
        return self._dispatching.jobs

    @property
    def queues(self) -> Sequence[Queue]:
        """The queues of a dispatching or profit instance."""
        return self._dispatching.queues
