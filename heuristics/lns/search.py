"""A large-neighbourhood search of our own, for dispatching and profit problems.

Three ways to a better schedule take turns, by what each has gained per second of late:

- ``keys``: the order in which the first solution places the jobs is a sum of weighted features of a job (``keys.py``). Some
  weights change, some jobs get a number of their own on top; all jobs are placed anew. Several good orders are kept; the
  later it gets, the fewer of them are gone on from.
- ``moves``: a job goes to another place of the best of these orders; the jobs behind are placed anew (``moves.py``).
- ``ruin``: jobs around an idle moment of some nodes, or that start one after another, leave the schedule with some that
  wait, and are put in again in one of several orders, all others staying where they are (``lns_kernels.py``).

``solver`` (where a backend is named) frees a few jobs of a window likewise, and lets the backend put them in.

Of a profit problem, what is placed is only what still earns: jobs that find no place before ``until`` are parked, and
placed after it at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ...models import Cooling, Dispatch, Profit, Schedule, StepFunction
from ..arrays import Placement, arrays
from ..clock import Clock, running
from ..errors import NothingFound
from ..kernels.placement import EARNINGS, LAST_END, POSTPONED, build, objective
from ..kernels.profile import NEVER, Floats, Ints
from ..kernels.ruin_and_recreate import Places
from ..list_scheduling.moves import OrderResult
from ..list_scheduling.multi_search import AFTERWARDS
from ..list_scheduling.postponed import reserve_for_postponed
from ..list_scheduling.warm_up import tiny
from .operators import Gain, Keys, Moves, Operator, Order, Ruin, Solver, SolverTurns, Stopped, turns
from .random_keys import bulk_of, features

ROUNDS = 60  # turns where no time is given
TURN = 0.15  # seconds of a turn, as far as one trial is shorter
ORDERS_SHARE = 0.7  # of the time for orders, where profits are searched for; then the schedule is polished
ORDERS = 8  # that are gone on from
FOCUS = 1.3  # how soon only the best one is: 1 at the end, 2 after half of the time
TRIALS = 20  # that there is time for, for each order that is gone on from
PRESETS_SHARE = 0.4  # of the time, at most, for the first orders
SAME = 1e-12  # relative: what is no better than that is rounding


@dataclass(frozen=True)
class Improved:
    """The best schedule found and its objective; ``trace``: (seconds, objective) of improvements; ``ways``: who made them."""

    schedule: Schedule
    objective: float
    trace: tuple[tuple[float, float], ...]
    ways: dict[str, Gain] = field(default_factory=dict)


def lns(
    problem: Dispatch | Profit,
    time_limit: float | None = None,
    seed: int = 0,
    on_incumbent: Callable[[float, float, Placement], Any] | None = None,
    rounds: int | None = None,
    backend: str | None = None,
    threads: int | None = None,
) -> Improved:
    """The best schedule of a large-neighbourhood search over orders and over windows of the schedule.

    ``time_limit`` in seconds (the first schedule is always finished); without it ``rounds`` turns are made (60), and the
    same seed gives the same schedule. ``on_incumbent(seconds, objective, placement)`` returning False stops. ``backend``: a
    solver that takes turns, too, with so many ``threads`` (None: all cores). Raises NothingFound if no order leads to a schedule,
    SolverUnavailable for a backend that is not installed, UnknownName for one that is not known.

    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, d, 1, {"cores": c}, "q") for n, d, c in (("a", 9, 2), ("b", 2, 1), ("c", 3, 1))]
    >>> p = Dispatch(Platform([NodeGroup("n", 1, {"cores": 2})]), jobs, [Queue("q", 60)], "waiting")
    >>> lns(p, rounds=3).objective
    3.0
    """
    search = LnsSearch(problem, time_limit, seed, on_incumbent, SolverTurns(backend, threads) if backend else None)
    search.run(ROUNDS if rounds is None and time_limit is None else rounds)
    return search.result()


@cache
def warm_up() -> None:
    """Compile the kernels of this search, or load them from numba's cache."""
    flat = Cooling("flat", (0, 40), (0, 10), ((0, 1), (0, 1)))
    lns(Profit(tiny(), StepFunction.constant(20.0, 0, 60), flat, 1.0, 0.1, horizon_end=15), rounds=4)


class LnsSearch:
    """The best schedule so far, the orders that are gone on from, and the clock."""

    def __init__(
        self,
        problem: Dispatch | Profit,
        time_limit: float | None,
        seed: int,
        on_incumbent: Callable[[float, float, Placement], Any] | None,
        solver: SolverTurns | None = None,
    ) -> None:
        self.clock = Clock(time_limit)
        self.problem, self.limit, self.call, self.solver = problem, time_limit, on_incumbent, solver
        self.a = arrays(problem)
        self.clock.reserve(AFTERWARDS * self.clock.elapsed)
        self.rng = np.random.default_rng(seed)
        self.known, self.bulk = features(self.a), bulk_of(self.a)
        self.anytime = np.full(self.a.jobs.units.size, -NEVER, np.int64)
        self.orders: list[Order] = []
        self.best_value = np.inf
        self.best = Places(*self._room(), np.zeros(self.a.costs.ledger.euro_per_joule.size))
        self.trace: list[tuple[float, float]] = []
        self.trial_seconds = 0.0
        self.rounds: int | None = None
        self.made: Sequence[Operator] = ()

    def _room(self) -> tuple[Ints, Ints]:
        jobs = self.a.jobs
        return np.full(jobs.units.size, POSTPONED, np.int64), np.zeros(int(jobs.first_unit[-1]), np.int64)

    @property
    def elapsed(self) -> float:
        """Seconds since the call."""
        return self.clock.elapsed

    @property
    def over(self) -> float:
        """The share of the search that is over."""
        if self.limit is None:
            return sum(way.done.turns for way in self.made) / max(1, self.rounds or 0)
        return self.elapsed / self.limit if self.limit else 1.0

    def check(self, ahead: float = 0.0) -> None:
        """Raise Stopped if what takes so many seconds would end after the limit."""
        if self.trace and self.clock.left < ahead:
            raise Stopped

    def keep(self, value: float, starts: Ints, nodes: Ints) -> None:
        """Note a schedule if it is the best."""
        if not np.isfinite(value) or value >= self.best_value - SAME * abs(value):
            return
        if not self.trace:
            reserve_for_postponed(self.clock, self.a, starts, nodes)
        self.best_value = value
        self.best.starts[:], self.best.nodes[:] = starts, nodes
        self.trace.append((self.elapsed, self.a.sign * value))
        placement = Placement(self.a, self.best.starts, self.best.nodes)
        if self.call is not None and self.call(*self.trace[-1], placement) is False:
            raise Stopped

    def place(self, keys: Floats) -> Order:
        """All jobs in the order of these keys; its value is infinite if one of them finds no place. Raises Stopped."""
        a, began = self.a, time.perf_counter()
        order = np.argsort(keys, kind="stable")
        answer = OrderResult(order, *self._room())
        stop = self.clock.stop if self.trial_seconds else running()  # the first one is finished
        done = build(a.machine, a.jobs, a.costs.may_postpone, order, self.anytime, answer.starts, answer.nodes, stop)
        if done < 0:
            raise Stopped
        value = float(objective(a.costs, a.jobs, answer.starts)) if done == order.size else np.inf
        self.trial_seconds = max(0.5 * self.trial_seconds, time.perf_counter() - began)
        return Order(value, keys, answer)

    def run(self, rounds: int | None) -> None:
        """Look at the presets, then let the ways take turns to the limit or for so many rounds."""
        self.rounds = rounds
        try:
            with self.clock:
                self._look_around()
                if self.orders:
                    self._take_turns(rounds, self.ways())
        except Stopped:
            pass

    def _look_around(self) -> None:
        """The best of the presets, of which no two make the same schedule."""
        found: dict[float, Order] = {}
        for keys in self.known.presets() or [np.zeros(self.a.jobs.units.size)]:
            if found and self.limit is not None and self.elapsed + self.trial_seconds > PRESETS_SHARE * self.limit:
                break
            order = self.place(keys)
            if np.isfinite(order.value):
                found.setdefault(order.value, order)
                self.keep(order.value, order.answer.starts, order.answer.nodes)
        self.orders = [found[value] for value in sorted(found)][:ORDERS]

    def parent(self) -> int:
        """Which order to go on from: any of them at first, at last (and where there is little time) the best one."""
        among = round(len(self.orders) * (1 - FOCUS * self.over))
        if self.limit is not None:
            trials = (self.limit - self.elapsed) / max(1e-9, self.trial_seconds)
            among = min(among, round(trials / TRIALS))
        return int(self.rng.integers(max(1, among)))

    def follow(self, parent: Order, child: Order) -> None:
        """The child takes the place of its parent if it is no worse."""
        at = next((k for k, order in enumerate(self.orders) if order is parent), None)
        if at is not None and child.value <= parent.value:
            self.orders[at] = child
            self.orders.sort(key=lambda order: order.value)
            self.keep(child.value, child.answer.starts, child.answer.nodes)

    def ways(self) -> Sequence[Operator]:
        """The ways to a better schedule that fit the problem."""
        keys, moves = Keys(self), Moves(self)
        polish: list[Operator] = [] if self.a.costs.mode == LAST_END else [Ruin(self)]
        polish += [] if self.solver is None else [Solver(self, self.solver)]
        if self.a.costs.mode == EARNINGS:  # another order makes more of it than any change in one place
            keys.share = ORDERS_SHARE
            for way in polish:
                way.since, way.share = ORDERS_SHARE, (1 - ORDERS_SHARE) / len(polish)
        return (keys, moves, *polish)

    def _take_turns(self, rounds: int | None, ways: Sequence[Operator]) -> None:
        self.made = ways
        for _ in turns(rounds):
            way = self._next(ways)
            before, orders, began = self.best_value, self.orders[0].value, time.perf_counter()
            try:
                way.turn(None if self.limit is None else TURN)
            finally:
                gain, more = before - self.best_value, orders - self.orders[0].value
                way.note(max(1e-6, time.perf_counter() - began), gain, gain + 0.25 * max(0.0, more - gain))

    def _next(self, ways: Sequence[Operator]) -> Operator:
        """The way with the best gain per second of late, unless another has had less than its share of the time."""
        due = [way for way in ways if way.since <= self.over] or ways
        if self.limit is None:
            return min(due, key=lambda way: way.done.turns)
        spent = sum(way.done.seconds for way in ways)
        short = [way for way in due if way.done.seconds < way.share * spent]
        return short[0] if short else max(due, key=lambda way: way.rate)

    def result(self) -> Improved:
        """The best schedule, what is parked placed at last. Raises NothingFound."""
        if not np.isfinite(self.best_value):
            raise NothingFound("no order of the jobs that was tried leads to a schedule")
        schedule = self.schedule()
        value = float(self.problem.objective(schedule))
        ways = {way.name: way.done for way in self.made}
        return Improved(schedule, value, tuple(self.trace), ways)

    def schedule(self) -> Schedule:
        """The best schedule so far as one of the problem."""
        return self.a.schedule(self.best.starts, self.best.nodes)
