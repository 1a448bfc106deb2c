"""Operators of the large-neighbourhood search, which take turns; ``search`` describes the search."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...models import Profit
from ...models.neighbourhood import Neighbourhoods
from ...models.schedule_arrays import ScheduleArrays
from ..kernels.earnings import profit
from ..kernels.placement import POSTPONED, objective
from ..kernels.profile import Floats
from ..kernels.ruin_and_recreate import DRAWS, MOST, Known, Places, new_room, profile_of, ruin_and_recreate
from ..list_scheduling.moves import OrderResult, improve
from ..neighbourhood_solve import improve_placed
from .random_keys import disturbed, drawn, keys_of

if TYPE_CHECKING:
    from .search import LnsSearch

KEPT = 0.7  # weight of the old rate (gain per second) in the average after a turn
SHARE = 0.15  # share of the time that each operator gets at least
FREED = 12  # jobs in the first window of a solver; half as many waiting jobs are added
SPARE_NODES = 8  # nodes in a window beside those of its jobs
SOLVER_SECONDS = 1.0  # time limit of one window
SOLVER_WORK = 0.2  # limit of one window without a clock, in the solver's own unit of work
SLACK = 1e-5  # ruin and recreate accepts a step that makes the objective at most this much worse (relative)


class Gain(NamedTuple):
    """The total effect of an operator.

    Parameters
    ----------
    turns
        Number of turns.
    seconds
        Time of all turns.
    gain
        Improvement of the best objective by all turns.
    """

    turns: int
    seconds: float
    gain: float


class Stopped(Exception):
    """The time limit was reached, or the callback returned False."""


class Order(NamedTuple):
    """An order of the jobs.

    Parameters
    ----------
    value
        Objective of its schedule, to be minimized; infinite if some job finds no start.
    keys
        Random keys, shape (jobs,): the order sorts the jobs by key.
    answer
        The order and its placement.
    """

    value: float
    keys: Floats
    answer: OrderResult


class SolverTurns(NamedTuple):
    """A backend that takes turns in the search, and its threads (None: all cores)."""

    backend: str
    threads: int | None


def turns(rounds: int | None) -> Iterator[int]:
    """Yield 0, 1, 2, ..., ``rounds`` numbers; without end for None."""
    k = 0
    while rounds is None or k < rounds:
        yield k
        k += 1


class Operator:
    """An operator that tries to improve the schedule when it has its turn.

    Attributes
    ----------
    name
        Its name in the results.
    share
        Share of the time that it gets at least.
    since
        Share of the search after which it takes its first turn.
    rate
        Running average of its gain per second.
    done
        Total of its turns.

    Parameters
    ----------
    search
        The search, with the best schedule and the good orders.
    """

    name = ""
    share = SHARE
    since = 0.0

    def __init__(self, search: LnsSearch) -> None:
        self.search = search
        self.rate = 0.0
        self.done = Gain(0, 0.0, 0.0)

    def turn(self, seconds: float | None) -> None:
        """Search for ``seconds``, but for at least one trial. None: a fixed number of trials, without a clock."""
        raise AssertionError("each operator has its own turn")

    def note(self, seconds: float, gain: float, worth: float) -> None:
        """Add a turn to the totals and the rate: its seconds, its gain, its worth for the choice of operators."""
        self.done = Gain(self.done.turns + 1, self.done.seconds + seconds, self.done.gain + gain)
        self.rate = KEPT * self.rate + (1 - KEPT) * worth / seconds


class Keys(Operator):
    """Operator "keys": change the random keys of a good order; place all jobs anew."""

    name = "keys"

    def turn(self, seconds: float | None) -> None:
        """Try changed keys: until ``seconds`` are over, 8 times at most."""
        end = None if seconds is None else time.perf_counter() + seconds
        s = self.search
        for k in turns(8):
            if k and end is not None and time.perf_counter() > end:
                break
            s.check(s.trial_seconds)
            parent = s.orders[s.parent()]
            s.follow(parent, s.place(disturbed(parent.keys, s.known, s.bulk, s.rng)))


class Moves(Operator):
    """Operator "moves": move a job to another place of the best order; place the jobs after it anew."""

    name = "moves"
    each = 0.0  # seconds of one move, measured

    def turn(self, seconds: float | None) -> None:
        """Try a batch of moves, in about ``seconds``; None: 10 moves."""
        s, best = self.search, self.search.orders[0]
        if best.keys.size < 2:
            return
        expected = self.each or s.trial_seconds
        number = 10 if seconds is None else int(np.clip(seconds / max(1e-6, expected), 1, 400))
        s.check()
        began = time.perf_counter()
        place = np.argsort(best.answer.order)  # of each job; the moves of one batch make it slightly outdated
        moves = place[drawn(2 * number, s.bulk, s.rng)].reshape(number, 2)
        answer = OrderResult(*(part.copy() for part in best.answer))
        value = float(improve(s.a.machine, s.a.jobs, s.a.costs, answer, moves, best.value, s.clock.stop))
        self.each = (time.perf_counter() - began) / number
        s.follow(best, Order(value, keys_of(answer.order, best.keys), answer))


class Ruin(Operator):
    """Operator "ruin": remove some jobs from the schedule and insert them again; all others stay."""

    name = "ruin"
    each = 0.0  # seconds of one step, measured

    def __init__(self, search: LnsSearch) -> None:
        super().__init__(search)
        a, problem = search.a, search.problem
        self.places = Places(search.best.starts.copy(), search.best.nodes.copy(), search.best.joules.copy())
        self.room = new_room(a.machine, a.jobs, self.places)
        self.profile = profile_of(a.machine, a.jobs, self.places)
        self.value = np.inf
        self.end = problem.horizon_end if isinstance(problem, Profit) else None

    def turn(self, seconds: float | None) -> None:
        """Make a batch of steps, in about ``seconds``; None: 100 steps."""
        s = self.search
        self._begin()
        each = self.each or 20 * s.trial_seconds / max(1, s.best.starts.size)
        number = 100 if seconds is None else int(np.clip(seconds / max(1e-7, each), 1, 2000))
        s.check()
        draws = s.rng.random((number, DRAWS + MOST))
        began = time.perf_counter()
        profile, change = ruin_and_recreate(
            s.a.machine,
            s.a.jobs,
            s.a.costs,
            self.places,
            self.profile,
            self._known(),
            self.room,
            draws,
            self._slack(),
            s.clock.stop,
        )
        self.each = (time.perf_counter() - began) / number
        self.profile, self.value = profile, self.value + float(change)
        if self.value < s.best_value:
            exact = float(objective(s.a.costs, s.a.jobs, self.places.starts))
            s.keep(exact, self.places.starts, self.places.nodes)
            self.value = exact

    def _begin(self) -> None:
        """Restart from the best schedule if the operator's own schedule is much worse."""
        s = self.search
        if self.value <= s.best_value + 10 * self._slack():
            return
        self.places.starts[:], self.places.nodes[:] = s.best.starts, s.best.nodes
        self.value = float(s.best_value)
        if self.places.joules.size:
            profit(s.a.costs.ledger, s.a.jobs.duration, self.places.starts, self.places.joules)
        self.profile = profile_of(s.a.machine, s.a.jobs, self.places)

    def _slack(self) -> float:
        return SLACK * abs(self.search.best_value)

    def _known(self) -> Known:
        s, starts = self.search, self.places.starts
        scheduled = np.flatnonzero(starts != POSTPONED)
        by_start = scheduled[np.argsort(starts[scheduled], kind="stable")]
        last = int(starts.max(initial=s.a.machine.now)) + 1
        return Known(by_start, s.a.shares, s.a.machine.now, last if self.end is None else self.end)


class Solver(Operator):
    """Operator "solver": a backend reschedules some jobs with consecutive starts and some waiting jobs."""

    name = "solver"

    def __init__(self, search: LnsSearch, solver: SolverTurns) -> None:
        from ...backends import SolverUnavailable
        from ...backends import backend as find

        super().__init__(search)
        here = find(solver.backend).availability()
        if not here.ok:
            raise SolverUnavailable(f"backend {solver.backend!r} is not available: {here.reason}")
        self.solver = solver
        self.around = Neighbourhoods(search.problem)
        self.size = FREED

    def turn(self, seconds: float | None) -> None:
        """Let the backend improve one window; the next window is larger if this was quick, else smaller."""
        from ...backends import Limits, LoweringTooLarge, SolverUnavailable

        s = self.search
        s.check(0.2)
        left = SOLVER_SECONDS if s.clock.end is None else min(SOLVER_SECONDS, s.clock.left)
        limits = Limits(None if seconds is None else left, self.solver.threads, int(s.rng.integers(2**31)))
        if seconds is None:
            limits = replace(limits, deterministic=SOLVER_WORK)
        free, nodes = self._free()
        placement = ScheduleArrays(s.best.starts.copy(), s.best.nodes.copy())
        began = time.perf_counter()
        try:
            better = improve_placed(self.around, placement, free, self.solver.backend, limits, nodes=nodes)
        except (SolverUnavailable, LoweringTooLarge):
            self.size = max(2, self.size // 2)
            return
        # a window that was solved to optimality quickly can be larger next time
        grown = 1.1 if time.perf_counter() - began < 0.3 * SOLVER_SECONDS else 0.9
        self.size = int(np.clip(round(self.size * grown), 3, MOST))
        if better is not None:
            starts = better.placement.starts
            s.keep(float(objective(s.a.costs, s.a.jobs, starts)), starts, better.placement.nodes)

    def _free(self) -> tuple[list[int], list[int]]:
        """Choose the jobs of a window, some waiting jobs, and the nodes that they may use."""
        s, starts = self.search, self.search.best.starts
        scheduled = np.flatnonzero(starts != POSTPONED)
        order = scheduled[np.argsort(starts[scheduled], kind="stable")]
        first = int(s.rng.integers(max(1, order.size - self.size + 1)))
        jobs = order[first : first + self.size]
        last = int(starts[jobs].max(initial=s.a.machine.now))
        waits = np.flatnonzero((s.a.jobs.release <= last) & ((starts == POSTPONED) | (starts > last)))
        free = np.concatenate([jobs, s.rng.permutation(waits)[: self.size // 2]])
        first_unit = s.a.jobs.first_unit
        used = [s.best.nodes[first_unit[j] : first_unit[j + 1]] for j in jobs.tolist()]
        spare = s.rng.permutation(s.a.machine.capacity.shape[0])[:SPARE_NODES]
        return free.tolist(), np.unique(np.concatenate([*used, spare])).tolist()
