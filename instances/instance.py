"""An instance: a problem with its name, its source and what was done to its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..models.dispatch import Dispatch, Job, Queue
from ..models.eviction import Eviction
from ..models.platform import Platform
from ..models.problem import Problem


@dataclass(frozen=True)
class Instance:
    """A problem under a name.

    ``path``: the folder it was read from, None if it was made in memory; ``generator``: name, version, seed and sizes;
    ``nodes_compared``: of an eviction instance, other numbers of nodes to ask for; ``repairs``: how many jobs were changed so that they can run, by kind; ``dropped``: the jobs that can never fit and
    were left out, with the reason.
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
    def platform(self) -> Platform:
        """The machine of a dispatching instance."""
        return self.dispatch.platform

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs of a dispatching instance."""
        return self.dispatch.jobs

    @property
    def queues(self) -> Sequence[Queue]:
        """The queues of a dispatching instance."""
        return self.dispatch.queues
