"""The ways to a better schedule that take turns in the large-neighbourhood search (``lns.py`` says what they do)."""

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

KEPT = 0.7  # of what is known of a way's gain per second, after a turn
SHARE = 0.15  # of the time, which every way gets
FREED = 12  # jobs of the first window of a solver, half as many waiting ones beside them
SPARE_NODES = 8  # beside those that the window's jobs are on
SOLVER_SECONDS = 1.0  # of one window
SOLVER_WORK = 0.2  # in the solver's own unit, where there is no clock
SLACK = 1e-5  # relative: how much worse a schedule may become on the way, in ruin and recreate


class Gain(NamedTuple):
    """What a way of searching did in all: turns, seconds, and what it improved the objective by."""

    turns: int
    seconds: float
    gain: float


class Stopped(Exception):
    """The limit on the clock was reached, or the caller wants no more."""


class Order(NamedTuple):
    """An order of the jobs, the keys that it comes from, and the schedule that it makes with its objective."""

    value: float
    keys: Floats
    answer: OrderResult


class SolverTurns(NamedTuple):
    """A backend that takes turns, and its threads."""

    backend: str
    threads: int | None


def turns(rounds: int | None) -> Iterator[int]:
    k = 0
    while rounds is None or k < rounds:
        yield k
        k += 1


class Operator:
    """A way to a better schedule.

    ``rate``: its gain per second of late; ``share``: of the time, at least; ``since``: which share of the search is over
    before it takes turns.
    """

    name = ""
    share = SHARE
    since = 0.0

    def __init__(self, search: LnsSearch) -> None:
        self.search = search
        self.rate = 0.0
        self.done = Gain(0, 0.0, 0.0)

    def turn(self, seconds: float | None) -> None:
        """Search for so long, or as long as one trial takes; None: a fixed number of trials, without a clock."""
        raise AssertionError("each way has its own")

    def note(self, seconds: float, gain: float, worth: float) -> None:
        """What a turn took and brought."""
        self.done = Gain(self.done.turns + 1, self.done.seconds + seconds, self.done.gain + gain)
        self.rate = KEPT * self.rate + (1 - KEPT) * worth / seconds


class Keys(Operator):
    """Other weights, other keys; all jobs placed anew."""

    name = "keys"

    def turn(self, seconds: float | None) -> None:
        until = None if seconds is None else time.perf_counter() + seconds
        s = self.search
        for k in turns(8):
            if k and until is not None and time.perf_counter() > until:
                break
            s.check(s.trial_seconds)
            parent = s.orders[s.parent()]
            s.follow(parent, s.place(disturbed(parent.keys, s.known, s.bulk, s.rng)))


class Moves(Operator):
    """A job to another place of the best order; those behind it placed anew."""

    name = "moves"
    each = 0.0  # seconds of a move

    def turn(self, seconds: float | None) -> None:
        s, best = self.search, self.search.orders[0]
        if best.keys.size < 2:
            return
        expected = self.each or s.trial_seconds
        number = 10 if seconds is None else int(np.clip(seconds / max(1e-6, expected), 1, 400))
        s.check()
        began = time.perf_counter()
        place = np.argsort(best.answer.order)  # of each job; while a batch of moves goes on it is a little out of date
        moves = place[drawn(2 * number, s.bulk, s.rng)].reshape(number, 2)
        answer = OrderResult(*(part.copy() for part in best.answer))
        value = float(improve(s.a.machine, s.a.jobs, s.a.costs, answer, moves, best.value, s.clock.stop))
        self.each = (time.perf_counter() - began) / number
        s.follow(best, Order(value, keys_of(answer.order, best.keys), answer))


class Ruin(Operator):
    """Jobs leave the best schedule and are put in again, all others staying where they are."""

    name = "ruin"
    each = 0.0  # seconds of a step

    def __init__(self, search: LnsSearch) -> None:
        super().__init__(search)
        a, problem = search.a, search.problem
        self.places = Places(search.best.starts.copy(), search.best.nodes.copy(), search.best.joules.copy())
        self.room = new_room(a.machine, a.jobs, self.places)
        self.profile = profile_of(a.machine, a.jobs, self.places)
        self.value = np.inf
        self.end = problem.horizon_end if isinstance(problem, Profit) else None

    def turn(self, seconds: float | None) -> None:
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
        """From the best schedule, where this way's own is far behind it."""
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
        placed = np.flatnonzero(starts != POSTPONED)
        by_start = placed[np.argsort(starts[placed], kind="stable")]
        last = int(starts.max(initial=s.a.machine.now)) + 1
        return Known(by_start, s.a.shares, s.a.machine.now, last if self.end is None else self.end)


class Solver(Operator):
    """A few jobs that start one after another, and some that wait then, are put in by a backend."""

    name = "solver"

    def __init__(self, search: LnsSearch, solver: SolverTurns) -> None:
        from ...backends import SolverUnavailable
        from ...backends import backend as find

        super().__init__(search)
        here = find(solver.backend).availability()
        if not here.ok:
            raise SolverUnavailable(f"backend {solver.backend!r} cannot be used: {here.reason}")
        self.solver = solver
        self.around = Neighbourhoods(search.problem)
        self.size = FREED

    def turn(self, seconds: float | None) -> None:
        from ...backends import Limits, LoweringTooLarge, SolverUnavailable

        s = self.search
        s.check(0.2)
        left = SOLVER_SECONDS if s.clock.end is None else min(SOLVER_SECONDS, s.clock.left)
        limits = Limits(None if seconds is None else left, self.solver.threads, int(s.rng.integers(2**31)))
        if seconds is None:
            limits = replace(limits, deterministic=SOLVER_WORK)
        free, nodes = self._free()
        placed = ScheduleArrays(s.best.starts.copy(), s.best.nodes.copy())
        began = time.perf_counter()
        try:
            better = improve_placed(self.around, placed, free, self.solver.backend, limits, nodes=nodes)
        except (SolverUnavailable, LoweringTooLarge):
            self.size = max(2, self.size // 2)
            return
        # windows that are proved in no time can be larger
        grown = 1.1 if time.perf_counter() - began < 0.3 * SOLVER_SECONDS else 0.9
        self.size = int(np.clip(round(self.size * grown), 3, MOST))
        if better is not None:
            starts = better.placed.starts
            s.keep(float(objective(s.a.costs, s.a.jobs, starts)), starts, better.placed.nodes)

    def _free(self) -> tuple[list[int], list[int]]:
        """The jobs of a window and some that wait, and the nodes that they may use: theirs and a few more."""
        s, starts = self.search, self.search.best.starts
        placed = np.flatnonzero(starts != POSTPONED)
        order = placed[np.argsort(starts[placed], kind="stable")]
        first = int(s.rng.integers(max(1, order.size - self.size + 1)))
        jobs = order[first : first + self.size]
        last = int(starts[jobs].max(initial=s.a.machine.now))
        waits = np.flatnonzero((s.a.jobs.release <= last) & ((starts == POSTPONED) | (starts > last)))
        free = np.concatenate([jobs, s.rng.permutation(waits)[: self.size // 2]])
        first_unit = s.a.jobs.first_unit
        used = [s.best.nodes[first_unit[j] : first_unit[j + 1]] for j in jobs.tolist()]
        spare = s.rng.permutation(s.a.machine.capacity.shape[0])[:SPARE_NODES]
        return free.tolist(), np.unique(np.concatenate([*used, spare])).tolist()
