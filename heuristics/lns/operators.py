"""Operators on orders, and the interface of all operators of the large-neighbourhood search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...models.arguments import checked
from ...models.array_types import Ints
from ...models.excerpt import with_short_repr
from ..kernels.orders import Mover, OrderResult
from .control import Acceptance, HillClimbing, Tolerances
from .orders import KeyNoise, Order, keys_of

if TYPE_CHECKING:
    from .state import LnsSearch


from typing import TYPE_CHECKING

from ...models.neighbourhood import Neighbourhoods
from ...models.schedule_arrays import POSTPONED, ScheduleArrays
from ..kernels.costs import objective
from ..neighbourhood_solve import check_available, improve_placed, limits_of_turn

if TYPE_CHECKING:
    from .state import LnsSearch


class Operator(Protocol):
    """An operator of the search. One object can serve several searches: what a search needs is made by ``start``."""

    @property
    def name(self) -> str:
        """Its name in the results."""
        ...

    def start(self, search: LnsSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns of this operator in a search.

        The function gets the seconds of a turn (at least one trial is made), or None: a fixed number of trials, without
        a clock. It hands better schedules to ``search.keep`` or changed orders to ``search.follow``.

        Parameters
        ----------
        search
            The search: its problem, the best schedule, the kept orders, random numbers.
        """
        ...


def trials(most: int, seconds: float | None) -> Iterator[int]:
    """Yield 0, 1, 2, ..., at most ``most`` numbers, until ``seconds`` are over (None: no limit), but at least one."""
    end = None if seconds is None else time.perf_counter() + seconds
    for k in range(most):
        if k and end is not None and time.perf_counter() > end:
            return
        yield k


@with_short_repr
@checked
@dataclass(frozen=True)
class KeyChanges:
    """Operator "keys": change the random keys of a kept order; place all jobs anew.

    Parameters
    ----------
    noise
        The change of the keys.
    trials
        Most changes in a turn.
    acceptance
        When the new order replaces the one it was made from, if the search has no acceptance criterion for all operators.
    name
        Its name in the results.
    """

    noise: KeyNoise = field(default_factory=KeyNoise)
    trials: int = 8
    acceptance: Acceptance = field(default_factory=HillClimbing)
    name: str = "keys"

    def start(self, search: LnsSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns."""

        def turn(seconds: float | None) -> None:
            for _ in trials(self.trials, seconds):
                search.check(search.trial_seconds)
                parent = search.parent()
                child = search.place(self.noise.apply(parent.keys, search.features, search.bulk, search.rng))
                search.follow(parent, child, self.acceptance)

        return turn


@with_short_repr
@checked
@dataclass(frozen=True)
class OrderMoves:
    """Operator "moves": move some jobs to other places of the best order; place the jobs after them anew.

    Parameters
    ----------
    jobs
        Numbers of jobs that a step moves; one of them is drawn.
    reach
        Range of the standard deviation of the distance that the jobs of a step are moved, as a share of the number of
        jobs; a step draws it at random, small numbers as often as large ones (log-uniform).
    moves
        Steps in a turn without a clock.
    most_moves
        Most steps in a turn with a clock.
    acceptance
        When a step is kept, if the search has no acceptance criterion for all operators.
    name
        Its name in the results.
    """

    jobs: tuple[int, ...] = (1, 2, 3)
    reach: tuple[float, float] = (0.025, 0.5)
    moves: int = 10
    most_moves: int = 400
    acceptance: Acceptance = field(default_factory=HillClimbing)
    name: str = "moves"

    def start(self, search: LnsSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns."""
        each = 0.0  # seconds of one step, measured
        a = search.arrays
        mover = Mover(a.machine, a.jobs, a.costs, search.same)

        def turn(seconds: float | None) -> None:
            nonlocal each
            best = search.orders[0]
            if best.keys.size < 2:
                return
            expected = each or search.trial_seconds
            number = self.moves
            if seconds is not None:
                number = int(np.clip(seconds / max(1e-6, expected), 1, self.most_moves))
            search.check()
            began = time.perf_counter()
            allowed = search.tolerances(self.acceptance, number)
            moved = self._moved(search, mover, best, number, allowed)
            if moved.value <= best.value + allowed.over_current.sum():  # the kernel ignores rounding errors
                search.replace(best, moved)
            each = (time.perf_counter() - began) / number

        return turn

    def drawn(self, jobs: int, steps: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Draw the moves of some steps.

        Parameters
        ----------
        jobs
            Number of jobs of the problem.
        steps
            Number of steps.
        rng
            Random numbers; each choice has its own.

        Returns
        -------
        tuple of numpy.ndarray
            (from, to) places, shape (moves, 2); index of the first move of each step, shape (steps + 1,).
        """
        count = rng.choice(self.jobs, steps)
        deviation = jobs * self.reach[0] * (self.reach[1] / self.reach[0]) ** rng.random(steps)
        first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        places = rng.integers(0, jobs, first[-1])
        distance = np.rint(rng.normal(0, 1, first[-1]) * np.repeat(deviation, count)).astype(np.int64)
        return np.column_stack([places, np.clip(places + distance, 0, jobs - 1)]), first

    def _moved(self, search: LnsSearch, mover: Mover, order: Order, number: int, allowed: Tolerances) -> Order:
        """Return the order after some steps, each of which was accepted or undone."""
        answer = OrderResult(*(part.copy() for part in order.answer))
        value, left, record = mover.improve(
            answer,
            *self.drawn(answer.order.size, number, search.rng),
            order.value,
            search.best_value,
            *allowed,
            search.clock.stop,
        )
        if left < search.best_value:
            search.keep(float(left), record.starts, record.nodes)
        return Order(float(value), keys_of(answer.order, order.keys), answer)


# --- Operator "solver": a backend repairs a part of the schedule.


@with_short_repr
@dataclass(frozen=True)
class SolverWindows:
    """Operator "solver": a backend reschedules some jobs with consecutive starts and some waiting jobs.

    It keeps better schedules only, so that it needs no acceptance criterion.

    Parameters
    ----------
    backend
        Name of the backend.
    threads
        Threads of the solver; None: all cores.
    jobs
        Jobs in the first window; half as many waiting jobs are added. The next window is larger after a quick solve,
        else smaller.
    most_jobs
        Most jobs in a window.
    spare_nodes
        Nodes in a window beside those of its jobs.
    seconds
        Time limit of one window.
    work
        Limit of one window without a clock, in the solver's own unit of work.
    name
        Its name in the results.
    """

    backend: str
    threads: int | None = None
    jobs: int = 12
    most_jobs: int = 40
    spare_nodes: int = 8
    seconds: float = 1.0
    work: float = 0.2
    name: str = "solver"

    def start(self, search: LnsSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns. Raises SolverUnavailable and UnknownName."""
        check_available(self.backend)
        return _Windows(self, search).turn


class _Windows:
    """The windows of one search."""

    def __init__(self, settings: SolverWindows, search: LnsSearch) -> None:
        self.settings = settings
        self.search = search
        self.around = Neighbourhoods(search.problem)
        self.size = settings.jobs

    def turn(self, seconds: float | None) -> None:
        """Let the backend improve one window."""
        from ...backends import LoweringTooLarge, SolverUnavailable

        s = self.search
        settings = self.settings
        s.check(0.2)
        seed = int(s.rng.integers(2**31))
        limits = limits_of_turn(seconds, s.clock, settings.seconds, settings.work, settings.threads, seed)
        free, nodes = self._free()
        placement = ScheduleArrays(s.best.starts.copy(), s.best.nodes.copy())
        began = time.perf_counter()
        try:
            better = improve_placed(self.around, placement, free, settings.backend, limits, nodes=nodes)
        except (SolverUnavailable, LoweringTooLarge):
            self.size = max(2, self.size // 2)
            return
        # a window that was solved to optimality quickly can be larger next time
        grown = 1.1 if time.perf_counter() - began < 0.3 * settings.seconds else 0.9
        self.size = int(np.clip(round(self.size * grown), 3, settings.most_jobs))
        if better is not None:
            starts = better.placement.starts
            s.keep(float(objective(s.arrays.costs, s.arrays.jobs, starts)), starts, better.placement.nodes)

    def _free(self) -> tuple[list[int], list[int]]:
        """Choose the jobs of a window, some waiting jobs, and the nodes that they may use."""
        s = self.search
        starts = self.search.best.starts
        scheduled = np.flatnonzero(starts != POSTPONED)
        order = scheduled[np.argsort(starts[scheduled], kind="stable")]
        first = int(s.rng.integers(max(1, order.size - self.size + 1)))
        jobs = order[first : first + self.size]
        last = int(starts[jobs].max(initial=s.arrays.machine.now))
        waits = np.flatnonzero((s.arrays.jobs.release <= last) & ((starts == POSTPONED) | (starts > last)))
        free = np.concatenate([jobs, s.rng.permutation(waits)[: self.size // 2]])
        first_unit = s.arrays.jobs.first_unit
        used = [s.best.nodes[first_unit[j] : first_unit[j + 1]] for j in jobs.tolist()]
        spare = s.rng.permutation(s.arrays.machine.capacity.shape[0])[: self.settings.spare_nodes]
        return free.tolist(), np.unique(np.concatenate([*used, spare])).tolist()
