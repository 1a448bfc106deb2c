"""Operator "tabu" for shops: tabu search and path relinking between the best schedules [Peng2015]."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...errors import WrongArgument, WrongValue
from ...models.array_types import Floats, Ints
from ...models.excerpt import with_short_repr
from ..kernels.projects.schedules import Tasks
from ..kernels.projects.shops import (
    BEST,
    NONE,
    begin,
    new_memory,
    new_paths,
    new_plan,
    new_room,
    semi_active,
    tabu_search,
)
from .lns_state import NOISE

if TYPE_CHECKING:
    from .lns_state import ProjectSearch


# --- Which projects are shops, and their machines.


def machines(t: Tasks) -> Ints | None:
    """Return the machine of each mode of a shop, shape (modes,); None for another project.

    In a shop each mode occupies at most one resource, of capacity 1; no other resource is limited, and no precedence has
    a negative delay. Job shops, flow shops, open chains of machines and flexible job shops are shops, with any precedences
    between tasks. The machine is the index of the resource, ``NONE`` for a mode that occupies none.

    Examples
    --------
    >>> from schedlab.heuristics.project.arrays import ProjectArrays
    >>> from schedlab.models import Project, Resource, Task
    >>> tasks = [Task.single("saw", 3, {"saw": 1}), Task.single("dry", 8)]
    >>> machines(ProjectArrays(Project(tasks, [Resource("saw", 1)])).tasks).tolist()
    [0, -1]
    >>> machines(ProjectArrays(Project(tasks, [Resource("saw", 2)])).tasks)
    """
    used = np.diff(t.demand_first)
    alone = bool((used <= 1).all() and (t.capacity[t.resource] == 1).all())
    if not alone or t.budget.size or (t.before_delay < 0).any():
        return None
    machine = np.full(t.duration.size, NONE, np.int64)
    machine[used == 1] = t.resource
    return machine


# --- Elite schedules of a shop, their distance, and schedules between two of them.

UNEVEN = 3.0  # exponent of the random steps of ``between``: a few large ones


class Elite(NamedTuple):
    """A schedule of a shop.

    Parameters
    ----------
    value
        Makespan.
    order
        The tasks in an order in which each one follows its predecessors and the tasks before it on its machine, shape (tasks,).
    mode
        Mode of each task, shape (tasks,).
    before
        The task before each one on its machine, shape (tasks,).
    """

    value: int
    order: Ints
    mode: Ints
    before: Ints


def distance(one: Elite, other: Elite) -> int:
    """Return the number of tasks that have another mode, or another task before them on their machine."""
    return int(((one.mode != other.mode) | (one.before != other.before)).sum())


def between(one: Elite, other: Elite, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the order and the modes of a schedule between two.

    A task has the key ``(1 - share) * f(its position in one order) + share * g(its position in the other)`` with random
    increasing functions f and g. Tasks that are in the same order in both stay in this order, so that no cycle arises:
    it is a schedule on a path from one to the other that exchanges neighbours.

    Parameters
    ----------
    one, other
        The schedules.
    share
        How near it is to the other one, from 0 to 1: also the share of tasks that take their mode from it.
    rng
        Random numbers.

    Examples
    --------
    >>> a, b = (Elite(0, np.array(order), np.zeros(3, int), np.zeros(3, int)) for order in ([0, 1, 2], [1, 0, 2]))
    >>> [between(a, b, share, np.random.default_rng(1))[0].tolist() for share in (0.0, 1.0)]
    [[0, 1, 2], [1, 0, 2]]
    """
    keys = (1.0 - share) * _positions(one.order, rng) + share * _positions(other.order, rng)
    order: Ints = np.argsort(keys, kind="stable").astype(np.int64)
    return order, np.where(rng.random(order.size) < share, other.mode, one.mode)


def _positions(order: Ints, rng: np.random.Generator) -> Floats:
    """Return increasing numbers from 0 to 1 of the tasks in an order, with random distances."""
    steps = np.cumsum(rng.random(order.size) ** UNEVEN + 1e-6)
    positions = np.zeros(order.size)
    positions[order] = steps / steps[-1]
    return positions


# --- Operator "tabu": tabu search and path relinking between the best schedules of a shop [Peng2015].
#
# 1. Make tabu searches from the best schedule and from schedules of priority rules with noise: their results are the elite.
# 2. Take two elite schedules. Make some schedules between them (``elite.between``), a short tabu search from each, and a
#    long one from the best of these.
# 3. The result replaces the worst elite schedule, or the nearest one if that is similar, if it is better.
# 4. Repeat steps 2 and 3. If several results in a row were not taken, keep the best elite schedule and repeat from step 1.

SIMILAR = 0.05  # share of the tasks: schedules are similar if fewer have another mode or another task before them
FIRST_STEPS = 100  # iterations of the first turn with a clock: their speed is not known
NEAREST = 0.2  # least share of the way from one schedule to another at which one between them is made
FARTHEST = 0.8  # greatest share of that way

Steps = Generator[None, None, Elite]  # yields at the end of a turn


@with_short_repr
@dataclass(frozen=True)
class TabuSearch:
    """Operator for shops: tabu search on the disjunctive graph, and path relinking between its best schedules.

    Parameters
    ----------
    name
        Its name in the results.
    elite
        Number of elite schedules, at least 2.
    patience
        A long tabu search ends after this number of iterations without a better schedule.
    between
        Number of schedules between two elite ones from which short tabu searches are made.
    short
        Patience of the short searches.
    rejected
        Results in a row that are not taken, after which the elite is made anew.
    steps
        Iterations in a turn without a clock.
    most_steps
        Most iterations in a turn with a clock.
    """

    name: str = "tabu"
    elite: int = 8
    patience: int = 3_000
    between: int = 3
    short: int = 400
    rejected: int = 10
    steps: int = 2_000
    most_steps: int = 1_000_000

    def __post_init__(self) -> None:
        if self.elite < 2:
            raise WrongValue(f"operator {self.name}: elite is {self.elite}; path relinking needs at least 2 schedules")

    def start(self, search: ProjectSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns. Raises TypeError if the project is not a shop."""
        return _Tabu(self, search).turn


class _Tabu:
    """The elite and the current run of one search."""

    def __init__(self, settings: TabuSearch, search: ProjectSearch) -> None:
        self.settings = settings
        self.search = search
        self.tasks = search.arrays.tasks
        machine = machines(self.tasks)
        if machine is None:
            raise WrongArgument(
                f"operator {settings.name}: the project is not a shop, in which each mode needs at most one resource, of "
                "capacity 1, and delays are not negative; use other operators"
            )
        self.machine = machine
        count = self.tasks.capacity.size
        self.plan, self.paths = new_plan(self.tasks, count), new_paths(self.tasks)
        self.best_plan, self.best_paths = new_plan(self.tasks, count), new_paths(self.tasks)
        self.room, self.memory = new_room(self.tasks), new_memory(self.tasks)
        self.elite: list[Elite] = []
        self.left = 0  # iterations until the end of the turn
        self.each = 0.0  # seconds of an iteration
        self.work = self._work()

    def turn(self, seconds: float | None) -> None:
        """Go on with the search for one turn."""
        number = self.settings.steps
        if seconds is not None:
            number = int(np.clip(seconds / self.each, 1, self.settings.most_steps)) if self.each else FIRST_STEPS
        self.search.check()
        self.left = number
        began = time.perf_counter()
        next(self.work)
        self.each = (time.perf_counter() - began) / max(1, number - self.left)

    def _work(self) -> Generator[None, None, None]:
        """Search without an end; yield at the end of each turn."""
        settings = self.settings
        while True:
            while len(self.elite) < settings.elite:
                reached = yield from self._run(*self._first(), settings.patience)
                self.elite.append(reached)
            in_vain = 0
            while in_vain < settings.rejected:
                self._take_best()
                reached = yield from self._relinked()
                in_vain = 0 if self._taken(reached) else in_vain + 1
            self.elite = [min(self.elite, key=lambda each: each.value)]

    def _first(self) -> tuple[Ints, Ints]:
        """Return the order and the modes of the best schedule; if the elite has one, of a priority rule with noise."""
        s = self.search
        assert s.best is not None
        if not self.elite:
            return self._order(s.best.starts), s.best.modes
        keys = s.rules[s.rng.integers(len(s.rules))] + NOISE * s.rng.random(len(s.best.starts))
        first = s.made(keys, s.best.modes, True, False)
        return self._order(first.starts), first.modes

    def _order(self, starts: Ints) -> Ints:
        """Return the tasks by their starts, equal ones in topological order."""
        return np.lexsort((self.tasks.rank, starts)).astype(np.int64)

    def _take_best(self) -> None:
        """Replace the worst elite schedule by the best schedule of the search, if another operator or thread has found it."""
        s = self.search
        if s.best is not None and s.best_value < min(each.value for each in self.elite):
            self._replace_worst(self._made(self._order(s.best.starts), s.best.modes))

    def _replace_worst(self, other: Elite) -> None:
        worst = max(range(len(self.elite)), key=lambda k: self.elite[k].value)
        self.elite[worst] = other

    def _taken(self, reached: Elite) -> bool:
        """Put a schedule into the elite; return whether it was.

        It replaces the nearest elite schedule if that is similar and worse, the worst one if none is similar.
        """
        distances = [distance(each, reached) for each in self.elite]
        at = int(np.argmin(distances))
        if distances[at] >= SIMILAR * reached.mode.size:
            at = max(range(len(self.elite)), key=lambda k: self.elite[k].value)
        if reached.value >= self.elite[at].value:
            return False
        self.elite[at] = reached
        return True

    def _relinked(self) -> Steps:
        """Return the result of a tabu search from the best schedule between two elite ones."""
        rng = self.search.rng
        settings = self.settings
        one, other = (self.elite[int(k)] for k in rng.permutation(len(self.elite))[:2])
        best: Elite | None = None
        for share in rng.uniform(NEAREST, FARTHEST, settings.between):
            reached = yield from self._run(*between(one, other, float(share), rng), settings.short)
            if best is None or reached.value < best.value:
                best = reached
        assert best is not None
        return (yield from self._run(best.order, best.mode, settings.patience))

    def _run(self, order: Ints, mode: Ints, patience: int) -> Steps:
        """Return the best schedule of a tabu search; report it if it is the best one of the search."""
        s = self.search
        memory = self.memory
        over = False
        begin(self.tasks, self.machine, self.plan, self.paths, memory, order, mode)
        while not over:
            steps = 0
            most = self.left
            if most > 0:
                steps = tabu_search(
                    self.tasks,
                    self.machine,
                    self.plan,
                    self.paths,
                    self.room,
                    memory,
                    s.least,
                    patience,
                    most,
                    s.random,
                    s.clock.stop,
                )
            self.left -= max(1, steps)  # a run without a move counts, too: the turn has an end
            over = steps < most and s.clock.stop[0] == 0
            if memory.numbers[BEST] < s.best_value:
                self._report()
            if not over:
                yield
        return self._made(memory.order, memory.mode)

    def _report(self) -> None:
        """Report the best schedule of the run."""
        memory = self.memory
        value = self._arrange(memory.order, memory.mode)
        self.search.keep(value, self.best_paths.head, memory.mode)

    def _made(self, order: Ints, mode: Ints) -> Elite:
        """Return the schedule of an order and modes."""
        value = self._arrange(order, mode)
        return Elite(value, order.copy(), mode.copy(), self.best_plan.before.copy())

    def _arrange(self, order: Ints, mode: Ints) -> int:
        """Schedule the tasks in an order, each as early as possible, apart from the current run; return the makespan."""
        return int(semi_active(self.tasks, self.machine, self.best_plan, self.best_paths, order, mode))
