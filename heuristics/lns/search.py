"""A large-neighbourhood search for dispatching and profit problems (no published source).

1. Place the jobs by weighted area (``list_scheduling``; last in profit problems, whose objective has no waits) and in
   the orders of the presets (weights of job features, ``state.PRESETS``), in as many threads as there are searches. In profit
   problems also try joins: one order until a time, another one after it (``list_scheduling``). Keep the best
   orders (``state.Population``). A start is kept as well, as it is, and as the list schedule of the order of its starts.
2. Select an operator, by default one that has had less than its share of the time, else the one with the best recent
   gain per second (``control.Selection``).
3. Let it take a turn:

   - ``keys``: change the random keys of a kept order (the later, the more often the best one): other weights of the
     features, noise on single jobs. Place all jobs anew (``KeyChanges``).
   - ``moves``: move one to three jobs of the best order by short or long distances, place the jobs after the first
     change anew (``OrderMoves``).
   - ``ruin``: remove jobs around an idle time of some nodes, or with consecutive starts, together with some waiting
     jobs; insert them again in one of several orders; all other jobs stay (``RuinAndRecreate``).
   - ``solver`` (if a backend is named): free some jobs of a window in the same way; the backend inserts them
     (``SolverWindows``).

4. An acceptance criterion decides whether the search goes on from the new order or schedule (``control.Acceptance``). The best
   schedule is kept.
5. Repeat from step 2 until a stopping criterion or the time limit ends the search (``control.Stopping``).

With several threads, each thread has a search of its own from step 2 on; they share their best order (``control.Team``).

In a profit problem, jobs that find no start before ``horizon_end`` are postponed: they start after it, at the end.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...backends.base import MOST_THREADS
from ...backends.result import Result
from ...errors import WrongArgument, WrongValue
from ...models import Cooling, Dispatch, Profit, Schedule, StepFunction
from ...models.arguments import Natural, NonNegative, Positive, checked, is_number
from ...models.array_types import Floats, Ints
from ...models.comparing import hashable
from ...models.kind import WithProblem, given_problem
from ...models.neighbourhood import Neighbourhoods
from ...models.plugins import calling, returned_indices, returned_numbers
from ...models.schedule_arrays import POSTPONED, ScheduleArrays
from ...models.words import excerpt, with_short_repr
from ..arrays import Arrays, Placement
from ..errors import NothingFound
from ..kernels import ruin as kernel
from ..kernels.costs import EARNINGS, LAST_END, Costs, objective, profit
from ..kernels.orders import Mover, OrderResult
from ..kernels.ruin import (
    AROUND,
    BY_GIVEN,
    CONSECUTIVE,
    GIVEN,
    MOST_NODES,
    MOST_PAIRS,
    NOISE,
    ROOM,
    DestroyRow,
    Known,
    Places,
    Steps,
    chosen_alone,
    new_room,
    profile_of,
    ruin_and_recreate,
)
from ..list_scheduling import tiny
from ..relaxation import check_available, improve_placed, limits_of_turn
from ..search_parts import OnIncumbent, compiled_first, keeping_limits
from .control import (
    Acceptance,
    Alternate,
    FirstOf,
    GainPerSecond,
    HillClimbing,
    Seconds,
    Selection,
    Stopping,
    Threshold,
    Tolerances,
    Turns,
    as_text,
)
from .state import KeyNoise, LnsSearch, Order, Population, keys_of

if TYPE_CHECKING:
    from .state import LnsSearch


# --- The interface of all operators, and operators on orders.


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
    end = None
    if seconds is not None:
        end = time.perf_counter() + seconds
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
        grown = 0.9
        if time.perf_counter() - began < 0.3 * settings.seconds:
            grown = 1.1
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


# --- Destroy operators of ruin and recreate: they choose the jobs that are removed from the schedule.
#
# The operators here run in compiled code. An operator in Python is an object with ``weight`` and ``jobs``, see ``Destroy``.
# Those here remove jobs near a node and a time: of some random (node, time) pairs, the one with the most free resources.


class Destroy(Protocol):
    """A destroy operator in Python."""

    @property
    def weight(self) -> float:
        """Relative frequency among the destroy operators."""
        ...

    def jobs(self, placement: Placement, rng: np.random.Generator) -> Sequence[int] | Ints:
        """Return the indices of the jobs to remove; repeated ones count once, and the first ones if there are too many.

        A mask of truth values is refused: ``numpy.flatnonzero(mask)`` makes indices of it.

        Parameters
        ----------
        placement
            The schedule as arrays, which must not be changed, with the arrays of the problem.
        rng
            Random numbers.
        """
        ...


class CompiledDestroy(ABC):
    """Base class of destroy operators in compiled code (``kernels.ruin``)."""

    weight: float

    @abstractmethod
    def row(self) -> DestroyRow:
        """Return the number of the operator and its parameters."""


def _pairs(number: int) -> int:
    if not 1 <= number <= MOST_PAIRS:
        raise WrongValue(f"pairs is {number}; it must be from 1 to {MOST_PAIRS}")
    return number


@with_short_repr
@checked
@dataclass(frozen=True)
class AroundTime(CompiledDestroy):
    """Remove jobs that run on some nodes around a random time, and some waiting jobs.

    Parameters
    ----------
    pairs
        Number of random (node, time) pairs of which the idlest is chosen, at most 32; 1: any node and time.
    nodes
        The jobs run on the chosen node or on some random ones: fewer than this number, at most 32.
    least_window, window_share
        The jobs run within a random distance of the chosen time: at least ``least_window`` seconds, at most
        ``window_share`` of the time range.
    jobs
        Range of the number of jobs, as in ``range``.
    waiting
        Range of the number of waiting jobs: released, but started later.
    candidates
        Number of random waiting jobs from which each one is chosen: in profit problems the one with the least power per
        profit.
    reach
        Limits where the jobs are inserted: not after the last end of the removed jobs, and not earlier than ``reach`` times
        the time from their first start to their last end before that start. Infinite: no limit.
    weight
        Relative frequency.
    """

    pairs: int = 12
    nodes: int = 12
    least_window: float = 120.0
    window_share: float = 1 / 3
    jobs: tuple[int, int] = (4, 20)
    waiting: tuple[int, int] = (1, 12)
    candidates: int = 1
    reach: float = math.inf
    weight: float = 0.3

    def row(self) -> DestroyRow:
        """Return the number of the operator and its parameters."""
        if not 0 <= self.nodes <= MOST_NODES:
            raise WrongValue(f"nodes is {self.nodes}; it must be from 0 to {MOST_NODES}")
        if self.least_window <= 0:
            raise WrongValue(f"least_window is {self.least_window} s; it must be above 0")
        return DestroyRow(
            AROUND,
            _pairs(self.pairs),
            self.nodes,
            self.least_window,
            self.window_share,
            *self.jobs,
            *self.waiting,
            self.candidates,
            self.reach,
        )


@with_short_repr
@checked
@dataclass(frozen=True)
class ConsecutiveStarts(CompiledDestroy):
    """Remove jobs with consecutive starts around an idle time, and some waiting jobs.

    Parameters
    ----------
    pairs
        Number of random (node, time) pairs of which the idlest is chosen, at most 32.
    jobs
        Range of the number of jobs, as in ``range``.
    waiting
        Range of the number of waiting jobs: released, but started later.
    candidates, reach
        As of ``AroundTime``.
    weight
        Relative frequency.
    """

    pairs: int = 12
    jobs: tuple[int, int] = (4, 32)
    waiting: tuple[int, int] = (0, 8)
    candidates: int = 1
    reach: float = math.inf
    weight: float = 0.3

    def row(self) -> DestroyRow:
        """Return the number of the operator and its parameters."""
        return DestroyRow(
            CONSECUTIVE, _pairs(self.pairs), 0, 0.0, 0.0, *self.jobs, *self.waiting, self.candidates, self.reach
        )


@with_short_repr
@checked
@dataclass(frozen=True)
class RoomForWaiting(CompiledDestroy):
    """Remove a job that waits at an idle time and the jobs on the nodes that it could use; insert it first.

    Parameters
    ----------
    pairs
        Number of random (node, time) pairs of which the idlest is chosen, at most 32.
    candidates
        Number of waiting jobs of which the largest one is removed.
    weight
        Relative frequency.
    """

    pairs: int = 12
    candidates: int = 6
    weight: float = 0.4

    def row(self) -> DestroyRow:
        """Return the number of the operator and its parameters."""
        return DestroyRow(ROOM, _pairs(self.pairs), candidates=self.candidates)


def usual_destroy(profits: bool) -> tuple[CompiledDestroy, ...]:
    """Return the default destroy operators.

    Most steps in dispatching problems remove a few jobs on one to three nodes around a random time, and at most two waiting
    jobs. Near a local optimum they gain several times as much per second as larger steps. In profit problems a job may
    wait until the horizon, so that most searches over all times find nothing: there, jobs are inserted near their old
    places, and waiting jobs with low power are preferred.

    Parameters
    ----------
    profits
        Whether they are for a profit problem.

    Returns
    -------
    tuple
        Two ``AroundTime``, a ``ConsecutiveStarts`` and a ``RoomForWaiting``.
    """
    if profits:
        return (
            AroundTime(pairs=1, nodes=8, jobs=(2, 10), waiting=(1, 3), candidates=4, reach=0.5, weight=0.5),
            AroundTime(candidates=4, reach=0.5, weight=0.2),
            ConsecutiveStarts(candidates=4, reach=0.5, weight=0.25),
            RoomForWaiting(weight=0.05),
        )
    return (
        AroundTime(pairs=1, nodes=3, jobs=(2, 10), waiting=(0, 3), weight=0.7),
        AroundTime(jobs=(2, 10), waiting=(1, 6), weight=0.15),
        ConsecutiveStarts(jobs=(3, 12), waiting=(0, 3), weight=0.1),
        RoomForWaiting(weight=0.05),
    )


# --- Repair operators of ruin and recreate: the order in which removed jobs are inserted, each at its earliest start.

NUMBERS = {
    "random": kernel.RANDOM,
    "area": kernel.AREA,
    "width": kernel.WIDTH,
    "duration": kernel.DURATION,
    "start": kernel.START,
    "release": kernel.RELEASE,
    "near-start": kernel.NEAR_START,
    "power-per-profit": kernel.POWER_PER_PROFIT,
    "weight-per-area": kernel.WEIGHT_PER_AREA,
}


class Repair(Protocol):
    """A repair operator in Python."""

    @property
    def weight(self) -> float:
        """Relative frequency among the repair operators."""
        ...

    def keys(self, placement: Placement, removed: Ints, rng: np.random.Generator) -> Sequence[float] | Floats:
        """Return a key for each removed job; the job with the least key is inserted first.

        Parameters
        ----------
        placement
            The schedule as arrays, which must not be changed; the removed jobs still have their old places.
        removed
            Indices of the removed jobs, shape (removed jobs,).
        rng
            Random numbers.
        """
        ...


@with_short_repr
@checked
@dataclass(frozen=True)
class InsertBy:
    """Insert the removed jobs in the order of a key with noise; compiled.

    Parameters
    ----------
    key
        "random"; "area" (largest work first), "width" (widest first), "duration" (longest first); "start" (old start),
        "release", "near-start" (old start with noise); "power-per-profit" (least first, profit problems only),
        "weight-per-area" (largest first).
    spread
        Noise: the key is multiplied by a random factor from 1 - spread to 1 + spread. For "near-start": a share of the
        time range that is added or subtracted at most. "random", "start" and "release" have none.
    weight
        Relative frequency.
    """

    key: str
    spread: float = 0.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.key not in NUMBERS:
            raise WrongValue(f"the key {self.key!r} is unknown; known: {', '.join(NUMBERS)}")

    @property
    def number(self) -> int:
        """The number of the key in compiled code."""
        return NUMBERS[self.key]


def usual_repair(profits: bool) -> tuple[InsertBy, ...]:
    """Return the default repair operators.

    Parameters
    ----------
    profits
        Whether they are for a profit problem.

    Returns
    -------
    tuple
        An ``InsertBy`` for each key that fits.
    """
    return (
        InsertBy("random"),
        InsertBy("area", 0.5),
        InsertBy("width", 0.3),
        InsertBy("duration", 0.5),
        InsertBy("start"),
        InsertBy("release"),
        InsertBy("power-per-profit", 0.05) if profits else InsertBy("weight-per-area", 0.5),
        InsertBy("near-start", 0.1),
    )


# --- Operator "ruin": remove some jobs from a schedule and insert them again; all others stay.

NO_JOBS = np.zeros(0, np.int64)
NO_KEYS = np.zeros(0)


@with_short_repr
@hashable
@checked
@dataclass(frozen=True)
class RuinAndRecreate:
    """Operator "ruin": remove some jobs from the schedule and insert them again; all others stay [Shaw1998].

    Each step takes a destroy and a repair operator at random, by their weights. Steps whose operators are compiled run
    in compiled code without a break. It keeps a schedule of its own, which may be worse than the best one. It does not
    support the objective "makespan", which is no sum over jobs.

    Parameters
    ----------
    destroy
        The destroy operators, see above; None: ``usual_destroy``.
    repair
        The repair operators, see above; None: ``usual_repair``.
    acceptance
        When a step is kept, if the search has no acceptance criterion for all operators.
    restart
        Start again from the best schedule when its own one is worse by more than this share of the best objective.
    most_jobs
        Most jobs that a step removes.
    steps
        Steps in a turn without a clock.
    most_steps
        Most steps in a turn with a clock.
    name
        Its name in the results.
    """

    destroy: Sequence[Destroy | CompiledDestroy] | None = None
    repair: Sequence[Repair | InsertBy] | None = None
    acceptance: Acceptance = field(default_factory=Threshold)
    restart: float = 1e-4
    most_jobs: int = 40
    steps: int = 100
    most_steps: int = 2000
    name: str = "ruin"

    def start(self, search: LnsSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns. Raises ValueError for the objective "makespan"."""
        if search.arrays.costs.mode == LAST_END:
            raise WrongValue(f"operator {self.name!r} does not support makespan: it is no sum over jobs")
        return OwnSchedule(self, search).turn


class OwnSchedule:
    """The schedule that the operator changes in one search, with its profile.

    Parameters
    ----------
    settings
        The operator.
    search
        The search.
    """

    def __init__(self, settings: RuinAndRecreate, search: LnsSearch) -> None:
        a = search.arrays
        self.settings = settings
        self.search = search
        self.destroy = usual_destroy(a.costs.mode == EARNINGS) if settings.destroy is None else tuple(settings.destroy)
        self.repair = usual_repair(a.costs.mode == EARNINGS) if settings.repair is None else tuple(settings.repair)
        if a.costs.mode != EARNINGS and any(
            isinstance(one, InsertBy) and one.key == "power-per-profit" for one in self.repair
        ):
            raise WrongValue('the key "power-per-profit" needs a profit problem')
        self.rows = np.array(
            [one.row() if isinstance(one, CompiledDestroy) else DestroyRow(GIVEN) for one in self.destroy], float
        )
        self.places = Places(search.best.starts.copy(), search.best.nodes.copy(), search.best.joules.copy())
        self.record = Places(search.best.starts.copy(), search.best.nodes.copy(), NO_KEYS)
        self.room = new_room(a.machine, a.jobs, self.places, settings.most_jobs)
        self.profile = profile_of(a.machine, a.jobs, self.places)
        self.value = np.inf
        self.seen = Placement(a, _read_only(self.places.starts), _read_only(self.places.nodes))
        self.end = search.problem.horizon_end if isinstance(search.problem, Profit) else None
        self.by_release = np.argsort(a.jobs.release, kind="stable")
        _check_weights("destroy", self.destroy)
        _check_weights("repair", self.repair)
        self.rank = _rank(a.costs)
        self.each = 0.0  # seconds of one step, measured

    def turn(self, seconds: float | None) -> None:
        """Make a batch of steps, in about ``seconds``; None: a fixed number."""
        s = self.search
        self.begin()
        number = self.settings.steps
        if seconds is not None:
            each = self.each or 20 * s.trial_seconds / max(1, s.best.starts.size)
            number = int(np.clip(seconds / max(1e-7, each), 1, self.settings.most_steps))
        s.check()
        steps = self.draw(number)
        began = time.perf_counter()
        self.make(steps)
        self.each = (time.perf_counter() - began) / number
        if self.value < s.best_value:
            exact = float(objective(s.arrays.costs, s.arrays.jobs, self.places.starts))
            s.keep(exact, self.places.starts, self.places.nodes)
            self.value = exact

    def begin(self) -> None:
        """Start again from the best schedule if the own one is much worse."""
        s = self.search
        if self.value <= s.best_value + self.settings.restart * abs(s.best_value):
            return
        self.places.starts[:], self.places.nodes[:] = s.best.starts, s.best.nodes
        self.value = float(s.best_value)
        if self.places.joules.size:
            profit(s.arrays.costs.ledger, s.arrays.jobs.duration, self.places.starts, self.places.joules)
        self.profile = profile_of(s.arrays.machine, s.arrays.jobs, self.places)
        self.room.blocks[0] = 0

    def draw(self, number: int) -> Steps:
        """Draw the operators and the random numbers of the next steps; ``repair`` is an index of ``self.repair``."""
        rng = self.search.rng
        return Steps(
            self.rows,
            _drawn_by_weight([one.weight for one in self.destroy], number, rng),
            _drawn_by_weight([one.weight for one in self.repair], number, rng),
            np.zeros(number),
            rng.random((number, NOISE + self.settings.most_jobs)),
            *self.search.tolerances(self.settings.acceptance, number),
            NO_JOBS,
            NO_KEYS,
        )

    def make(self, steps: Steps) -> None:
        """Make the steps: those with compiled operators together, each other one alone."""
        compiled_destroy = np.array([isinstance(one, CompiledDestroy) for one in self.destroy])
        numbers = np.array([one.number if isinstance(one, InsertBy) else BY_GIVEN for one in self.repair])
        spreads = np.array([one.spread if isinstance(one, InsertBy) else 0.0 for one in self.repair])
        together = compiled_destroy[steps.destroy] & (numbers[steps.repair] != BY_GIVEN)
        known = self._known()
        for simple, group in groupby(range(together.size), key=lambda d: bool(together[d])):
            part = list(group)
            which = steps.repair[part]
            some = steps._replace(
                destroy=steps.destroy[part],
                repair=numbers[which],
                spread=spreads[which],
                draws=steps.draws[part],
                over_current=steps.over_current[part],
                over_best=steps.over_best[part],
            )
            if simple:
                self._run(some, known)
            else:
                for d in range(len(part)):
                    self._run(self._alone(some, d, self.repair[which[d]], known), known)
            if self.search.clock.stop[0] != 0:
                return

    def _alone(self, steps: Steps, d: int, repair: Repair | InsertBy, known: Known) -> Steps:
        """Return step d alone, with the jobs and keys that the operators in Python have chosen."""
        destroy = self.destroy[steps.destroy[d]]
        rng = self.search.rng
        if isinstance(destroy, CompiledDestroy):
            jobs = self._chosen(steps, d, known)
        else:
            jobs = self._checked(destroy, rng)
        keys = NO_KEYS
        if not isinstance(repair, InsertBy):
            who = f"repair operator {excerpt(repair)}: keys"
            with calling(who):
                returned = repair.keys(self.seen, jobs, rng)
            keys = returned_numbers(who, returned, jobs.size, "removed jobs")
        return steps._replace(
            rows=np.array([DestroyRow(GIVEN)], float),
            destroy=np.zeros(1, np.int64),
            repair=steps.repair[d : d + 1],
            spread=steps.spread[d : d + 1],
            draws=steps.draws[d : d + 1],
            over_current=steps.over_current[d : d + 1],
            over_best=steps.over_best[d : d + 1],
            given=jobs,
            given_keys=keys,
        )

    def _chosen(self, steps: Steps, d: int, known: Known) -> Ints:
        """Return the jobs that a compiled destroy operator chooses."""
        a = self.search.arrays
        row = steps.rows[steps.destroy[d]]
        size = chosen_alone(self.profile, a.machine, a.jobs, self.places, known, self.room, row, steps.draws[d])
        jobs = self.room.free[:size].copy()
        self.room.is_free[jobs] = False
        return jobs

    def _checked(self, destroy: Destroy, rng: np.random.Generator) -> Ints:
        """Return the jobs that an operator in Python chooses, at most ``most_jobs``. Raises WrongAnswer."""
        who = f"destroy operator {excerpt(destroy)}: jobs"
        with calling(who):
            returned = destroy.jobs(self.seen, rng)
        return returned_indices(who, returned, self.places.starts.size, "jobs")[: self.settings.most_jobs].copy()

    def _run(self, steps: Steps, known: Known) -> None:
        s = self.search
        a = self.search.arrays
        self.profile, change, best = ruin_and_recreate(
            a.machine,
            a.jobs,
            a.costs,
            self.places,
            self.profile,
            known,
            self.room,
            steps,
            self.value,
            s.best_value,
            self.record,
            s.clock.stop,
        )
        self.value += float(change)
        if a.costs.bounds.mode.size:  # sums with the large penalties of broken limits are inexact
            self.value = float(objective(a.costs, a.jobs, self.places.starts))
        if best < s.best_value:
            s.keep(float(objective(a.costs, a.jobs, self.record.starts)), self.record.starts, self.record.nodes)

    def _known(self) -> Known:
        a = self.search.arrays
        starts = self.places.starts
        scheduled = np.flatnonzero(starts != POSTPONED)
        by_start = scheduled[np.argsort(starts[scheduled], kind="stable")]
        last = int(starts.max(initial=a.machine.now)) + 1
        return Known(
            by_start,
            self.by_release,
            self.rank,
            int(a.jobs.duration.max(initial=0)),
            a.shares,
            a.machine.now,
            last if self.end is None else self.end,
        )


def _rank(costs: Costs) -> Floats:
    """Return the power per profit of each job; zeros if the objective is no profit."""
    if costs.mode != EARNINGS:
        return np.zeros(costs.submit.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(costs.ledger.gain > 0, costs.ledger.watts / costs.ledger.gain, np.inf)


def _read_only(numbers: Ints) -> Ints:
    view = numbers.view()
    view.flags.writeable = False
    return view


def _check_weights(what: str, operators: Sequence[object]) -> None:
    """Raise WrongValue if there is no operator, a weight is no number of at least 0, or all of them are 0."""
    weights = [getattr(one, "weight", None) for one in operators]
    for one, weight in zip(operators, weights, strict=True):
        if not is_number(weight) or weight < 0:
            why = f"weight is {excerpt(weight)}; expected a number of at least 0"
            raise WrongValue(f"{what} operator {excerpt(one)}: {why}")
    if not any(weights):
        raise WrongValue(f"ruin and recreate needs a {what} operator with a weight above 0, not {excerpt(operators)}")


def _drawn_by_weight(weights: Sequence[float], number: int, rng: np.random.Generator) -> Ints:
    """Draw indices of the weights at random, by weight."""
    ends = np.cumsum(np.array(weights, float))
    points: Floats = rng.random(number) * ends[-1]
    return np.searchsorted(ends, points, side="right").astype(np.int64)


ORDERS_SHARE = 0.7  # profit problems: share of the time for orders; then "ruin" and "solver" improve the best schedule
ORDER_SHARES = {"keys": 0.02, "moves": 0.03}  # sums of costs of the jobs: least shares of the time


@checked(skip=("problem", "warm_start"))
@compiled_first("lns.search:warm_up")
def lns(
    problem: Dispatch | Profit | WithProblem | str,
    *,
    time_limit: NonNegative | None = None,
    threads: Positive | None = None,
    seed: Natural = 0,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
    rounds: Positive | None = None,
    backend: str | None = None,
    operators: Sequence[Operator] | None = None,
    selection: Selection | None = None,
    acceptance: Acceptance | None = None,
    stopping: Stopping | None = None,
    population: Population | None = None,
    turn_seconds: NonNegative = 0.15,
) -> Result:
    """Return the best schedule of a large-neighbourhood search over orders and over parts of the schedule.

    Without a time limit the result depends on the seed and the threads only, if the given objects look at no clock.

    Parameters
    ----------
    problem
        A dispatching or profit problem, an Instance, or the name of one.
    time_limit
        Seconds; None: no limit. The first schedule is always finished.
    threads
        Most threads: that many searches share their best order, or with a backend, which has one search, threads of the
        solver. None: one search, and all cores for the solver.
    seed
        Seed of the random numbers.
    warm_start
        A schedule that the operators improve, beside the presets; None: no start.
    on_incumbent
        Called with each Incumbent; return False to stop.
    rounds
        Number of turns of each search; None: 60 without a time limit and a stopping criterion, else no limit.
    backend
        A solver that takes turns as well; None: no solver.
    operators
        The operators, with different names; None: ``usual_operators``. Not together with ``backend``.
    selection
        Selects the operator of the next turn; None: ``usual_selection``.
    acceptance
        Acceptance criterion of all operators; None: each operator has its own.
    stopping
        Ends the search if ``time_limit`` and ``rounds`` do not end it before; None: only these two.
    population
        The orders that are kept; None: ``Population()``.
    turn_seconds
        Seconds of a turn if there is a time limit; a turn is longer if one trial is longer.

    Returns
    -------
    Result
        Its ``details``: ``operators``, the ``Gain`` of each operator (turns, seconds, improvement), by its name.

    Raises
    ------
    NothingFound
        If no order leads to a schedule, or to none that keeps the limits on objectives, and there is no start.
    SolverUnavailable
        If the backend is not installed.
    UnknownName
        If the name of the backend is unknown.
    TypeError
        If both operators and a backend are given: the operator ``SolverWindows`` names its backend.
    ValueError
        If there is no operator, if two have the same name, or if one does not support the problem.

    Examples
    --------
    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, d, 1, {"cores": c}, "q") for n, d, c in (("a", 9, 2), ("b", 2, 1), ("c", 3, 1))]
    >>> p = Dispatch(Platform([NodeGroup("n", 1, {"cores": 2})]), jobs, [Queue("q", 60)], "waiting")
    >>> lns(p, rounds=3).objective
    3
    """
    p: Dispatch | Profit = given_problem(problem, ("dispatch", "profit"), "lns")
    if operators is not None and backend is not None:
        raise WrongArgument("lns takes operators or a backend; with operators, SolverWindows names the backend")
    time_limit = None if time_limit == np.inf else time_limit
    if threads is not None and threads > MOST_THREADS:
        raise WrongValue(f"threads of lns is {threads}; expected at most {MOST_THREADS:,}")
    search = LnsSearch(
        p,
        time_limit=time_limit,
        seed=seed,
        warm_start=warm_start,
        on_incumbent=on_incumbent,
        acceptance=acceptance,
        population=population,
        turn_seconds=turn_seconds,
    )
    limits: list[Stopping] = [] if time_limit is None else [Seconds(time_limit)]
    limits += [] if stopping is None else [stopping]
    limits += [] if rounds is None else [Turns(rounds)]
    if operators is None:
        operators = usual_operators(search.arrays, backend, threads)
    if selection is None:
        selection = usual_selection(search.arrays, operators, time_limit is not None)
    searches = 1 if any(isinstance(one, SolverWindows) for one in operators) else max(1, threads or 1)
    search.run(operators, selection, FirstOf(tuple(limits or [Turns()])), searches)
    start = search.seen.start
    if not np.isfinite(search.best_value) and start is None:
        raise NothingFound("no order of the jobs that was tried leads to a schedule")
    best = start if start is not None and not np.isfinite(search.best_value) else search.schedule()
    keeping_limits(search.arrays.dispatch, best)
    gains = search.gains
    return search.seen.result(best, message=as_text(gains), details={"operators": gains})


def usual_operators(a: Arrays, backend: str | None = None, threads: int | None = None) -> tuple[Operator, ...]:
    """Return the default operators of a problem.

    Parameters
    ----------
    a
        The arrays of the problem.
    backend
        A solver that takes turns as well; None: no solver.
    threads
        Threads of the solver; None: all cores.

    Returns
    -------
    tuple
        ``KeyChanges``, ``OrderMoves``, ``RuinAndRecreate`` (not for makespan), ``SolverWindows`` (with a backend).
    """
    operators: list[Operator] = [KeyChanges(), OrderMoves()]
    if a.costs.mode != LAST_END:
        operators += [RuinAndRecreate()]
    if backend is not None:
        operators += [SolverWindows(backend, threads)]
    return tuple(operators)


def usual_selection(a: Arrays, operators: Sequence[Operator], timed: bool) -> Selection:
    """Return the default selection; for profits, "ruin" and "solver" come late, as other orders gain more.

    Parameters
    ----------
    a
        The arrays of the problem.
    operators
        The operators.
    timed
        Whether there is a time limit. Without one, the selection must not depend on the clock.

    Returns
    -------
    Selection
        ``GainPerSecond`` with a time limit, else ``Alternate``.
    """
    polish = []
    if a.costs.mode == EARNINGS:
        polish = [o.name for o in operators if o.name in ("ruin", "solver")]
    since = dict.fromkeys(polish, ORDERS_SHARE)
    if not timed:
        return Alternate(since)
    shares = {name: (1 - ORDERS_SHARE) / len(polish) for name in polish}
    if a.costs.mode == EARNINGS:
        shares["keys"] = ORDERS_SHARE
    elif a.costs.mode != LAST_END:
        shares |= ORDER_SHARES
    return GainPerSecond(shares=shares, since=since)


def _tiny() -> Profit:
    flat = Cooling("flat", (0, 40), (0, 10), ((0, 1), (0, 1)))
    return Profit(tiny(), StepFunction.constant(20.0, 0, 120), flat, 1.0, 0.1, horizon_end=60)


@cache
def warm_up() -> None:
    """Compile the kernels of this search, or load them from numba's cache."""
    lns(_tiny(), rounds=4)


def warm_up_late() -> None:
    """Compile what this search needs late, for a second process: the objective, and the operator "ruin"."""
    search = LnsSearch(_tiny())
    starts = np.arange(3) * 10
    value = float(objective(search.arrays.costs, search.arrays.jobs, starts))
    search.keep(value, starts, np.zeros(3, np.int64))
    RuinAndRecreate().start(search)(None)
