"""Operators on the kept schedules of a project: crossover; destroy and repair by list scheduling."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ....models.excerpt import with_short_repr
from ...kernels.projects.evolution import evolve
from ...kernels.projects.variation import CROSSOVER, NETWORK, RESOURCE, WINDOW
from ...lns.acceptance import Acceptance, HillClimbing

if TYPE_CHECKING:
    from .state import ProjectSearch

KINDS = {"crossover": CROSSOVER, "window": WINDOW, "resource": RESOURCE, "network": NETWORK}


@with_short_repr
@dataclass(frozen=True)
class Evolution:
    """Operator that makes new schedules from kept ones.

    Parameters
    ----------
    name
        Its name in the results.
    kinds
        What its steps do, one of them at random: "crossover", or destroy operators: "window" (of time), "resource" (tasks
        that use one, in a window of time), "network" (tasks that precedences connect).
    steps
        Steps in a turn without a clock.
    most_steps
        Most steps in a turn with a clock.
    acceptance
        When a new schedule replaces the one it was made from, if the search has no acceptance criterion for all operators.
    """

    name: str
    kinds: tuple[str, ...]
    steps: int = 60
    most_steps: int = 5000
    acceptance: Acceptance = field(default_factory=HillClimbing)

    def start(self, search: ProjectSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns."""
        each = 0.0  # seconds of one step, measured
        kinds = np.array([KINDS[kind] for kind in self.kinds], np.int64)

        def turn(seconds: float | None) -> None:
            nonlocal each
            number = self.steps
            if seconds is not None:
                number = int(np.clip(seconds / max(1e-6, each or search.trial_seconds), 1, self.most_steps))
            search.check()
            allowed, done, began = search.tolerances(self.acceptance, number), 0, time.perf_counter()
            a, s = search.arrays, search
            while done < number and s.clock.stop[0] == 0:
                steps, at = evolve(
                    a.tasks,
                    a.back,
                    s.room,
                    s.kept,
                    s.child,
                    s.rules,
                    kinds,
                    s.over,
                    allowed.over_current[done:],
                    allowed.over_best[done:],
                    int(s.best_value),
                    s.random,
                    s.clock.stop,
                )
                done += steps
                if at >= 0:
                    s.keep(int(s.kept.value[at]), s.kept.starts[at], s.kept.modes[at])
            each = (time.perf_counter() - began) / max(1, done)

        return turn
