"""The state of a large-neighbourhood search for projects, and its operators on the kept schedules."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...models import Schedule
from ...models.array_types import Floats, Ints
from ...models.excerpt import with_short_repr
from ...models.project.problem import Project
from ..errors import NothingFound
from ..incumbents import OnIncumbent
from ..kernels.project_schedules import (
    CROSSOVER,
    MISSED,
    NETWORK,
    RESOURCE,
    WINDOW,
    Child,
    Kept,
    evolve,
    generate,
    new_room,
)
from ..lns.control import Acceptance, HillClimbing, Stopped, TurnSearch
from .arrays import ProjectArrays
from .serial_sgs import feasible_modes

# --- The state of a large-neighbourhood search for projects: the kept schedules and the best one; ``search`` describes it.

FIRST_SHARE = 0.1  # of the time limit: the first schedules
NOISE = 0.6  # of the values of the rules, from 0 to 1: what random numbers add at most


class Found(NamedTuple):
    """A schedule as arrays: value of the objective; start and mode of each task, shape (tasks,)."""

    value: int
    starts: Ints
    modes: Ints


class ProjectSearch(TurnSearch):
    """The state of a search, which the operators read and change.

    Parameters
    ----------
    problem
        The project, with tasks.
    least
        A lower bound of the objective: the search ends when it is reached.
    size
        Number of kept schedules.
    time_limit, seed, warm_start, on_incumbent, acceptance, turn_seconds
        As for ``project_lns``.

    Attributes
    ----------
    arrays
        The project as flat arrays.
    room, child
        Arrays that kernels overwrite.
    rules
        Values of the priority rules from 0 to 1, shape (rules, tasks).
    kept
        The kept schedules.
    best
        The best schedule; operators must not change it.
    random
        State of the random numbers of kernels, uint64, shape (1,).
    """

    def __init__(
        self,
        problem: Project,
        least: int,
        *,
        size: int = 40,
        time_limit: float | None = None,
        seed: int = 0,
        warm_start: Schedule | None = None,
        on_incumbent: OnIncumbent | None = None,
        acceptance: Acceptance | None = None,
        turn_seconds: float = 0.15,
    ) -> None:
        super().__init__(problem, time_limit, seed, warm_start, on_incumbent, acceptance, turn_seconds)
        self.problem = problem
        self.least = least
        self.size = size
        self.arrays = ProjectArrays(problem)
        self.random = self._state()
        self.best: Found | None = None
        self._make_room()

    def _make_room(self) -> None:
        n = len(self.arrays.net.names)
        self.room = new_room(self.arrays.tasks)
        self.child = Child(np.zeros(n), *(np.zeros(n, np.int64) for _ in range(5)))

    def _state(self) -> Ints:
        return self.rng.integers(1, 2**63, 1).astype(np.uint64)

    @property
    def order_value(self) -> float:
        """The least value of the kept schedules."""
        return float(self.kept.value.min())

    @property
    def ready(self) -> bool:
        """Whether there is a schedule."""
        return self.best is not None

    def companion(self, rng: np.random.Generator) -> ProjectSearch:
        """Return a search from the same schedules with random numbers and kept schedules of its own."""
        other = super().companion(rng)
        other.random = other._state()
        other.kept = Kept(*(part.copy() for part in self.kept))
        other._make_room()
        return other

    def adopt(self, schedule: ProjectSearch, order: ProjectSearch) -> None:
        """Take over the best schedule of another search, if it is better than the best one here."""
        if schedule.best is not None and schedule.best_value < self.best_value:
            self.best_value = schedule.best_value
            self.best = schedule.best
            self.replace_worst(schedule.best)

    def replace_worst(self, other: Found) -> None:
        """Replace the worst kept schedule."""
        at = int(self.kept.value.argmax())
        self.kept.value[at], self.kept.starts[at], self.kept.modes[at] = other

    def keep(self, value: int, starts: Ints, modes: Ints) -> None:
        """Keep a schedule if it is the best and keeps the deadlines; report it. Raises Stopped, also if it cannot be improved."""
        if value >= min(self.best_value, MISSED):
            return
        with self.lock:
            if self.seen.stopped:  # by another search of the team
                raise Stopped
            kept = Found(int(value), starts.copy(), modes.copy())
            self.best_value = float(value)
            self.best = kept
            go_on = self.seen.report(kept.value, lambda: self.arrays.schedule(kept.starts, kept.modes))
        if not go_on or value <= self.least:
            self.ended = True
            raise Stopped

    def made(self, keys: Floats, modes: Ints, free: bool, in_parallel: bool) -> Found:
        """Return the schedule of keys and modes, justified twice for the makespan; modes may change if they are free."""
        began = time.perf_counter()
        child = self.child
        child.keys[:] = keys
        child.modes[:] = modes
        child.free[:] = int(free)
        a = self.arrays
        value = generate(
            a.tasks, a.back, a.aim, self.room, child.keys, child.modes, child.free, child.starts, in_parallel
        )
        self.trial_seconds = max(0.5 * self.trial_seconds, time.perf_counter() - began)
        return Found(int(value), child.starts.copy(), child.modes.copy())

    def look_around(self) -> None:
        """Make the first schedules: the start, those of the priority rules, and those of rules with noise."""
        schedules: list[Found] = []
        start = self.seen.start
        if start is not None:
            schedules.append(Found(int(self.seen.trace[0].objective), *self.arrays.placed(start)))  # type: ignore[arg-type]
            self.best_value = float(schedules[0].value)
            self.best = schedules[0]
            if schedules[0].value <= self.least:
                raise Stopped
        most_seconds = np.inf if self.limit is None else FIRST_SHARE * self.limit
        for each in self._first(schedules):
            schedules.append(each)
            self.keep(*each)
            if self.elapsed + self.trial_seconds > most_seconds:
                break
        if self.best is None:
            raise NothingFound("each schedule of a priority rule misses a deadline")
        schedules.sort(key=lambda each: each.value)
        chosen = [schedules[k % len(schedules)] for k in range(self.size)]
        self.kept = Kept(
            np.array([each.starts for each in chosen]),
            np.array([each.modes for each in chosen]),
            np.array([each.value for each in chosen], np.int64),
        )

    def _first(self, schedules: list[Found]) -> Iterator[Found]:
        """Yield schedules of the priority rules, of both schemes, then of rules with noise."""
        try:
            modes, _ = feasible_modes(self.problem, self.arrays.net)
        except NothingFound:
            if not schedules:
                raise
            modes = [self.arrays.modes[m] for m in schedules[0].modes]
        chosen = self.arrays.mode_indices(modes)
        self.rules = self.arrays.rules(modes)
        several = bool((np.diff(self.arrays.first_modes) > 1).any())
        for values in self.rules:
            yield self.made(values, chosen, several, False)
            yield self.made(values, chosen, False, True)
        for k in range(self.size):
            noise = NOISE * self.rng.random(chosen.size)
            yield self.made(self.rules[k % len(self.rules)] + noise, chosen, several and k % 2 == 0, k % 4 == 3)

    def schedule(self) -> Schedule:
        """Return the best schedule."""
        assert self.best is not None
        return self.arrays.schedule(self.best.starts, self.best.modes)


# --- Operators on the kept schedules of a project: crossover; destroy and repair by list scheduling.

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
            allowed = search.tolerances(self.acceptance, number)
            done = 0
            began = time.perf_counter()
            a = search.arrays
            s = search
            while done < number and s.clock.stop[0] == 0:
                steps, at = evolve(
                    a.tasks,
                    a.back,
                    a.aim,
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
