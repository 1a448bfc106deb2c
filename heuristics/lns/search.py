"""A large-neighbourhood search for dispatching and profit problems (no published source).

1. Place the jobs in the orders of the presets (weights of job features, ``random_keys``). Keep the best ``ORDERS``
   orders.
2. Choose an operator: one that has had less than its share of the time, else the one with the best recent gain per
   second.
3. Let it take a turn:

   - ``keys``: change the random keys of a kept order (the later, the more often the best one): other weights of the
     features, noise on single jobs. Place all jobs anew.
   - ``moves``: move jobs to other places of the best order, place the jobs after them anew (``list_scheduling.moves``).
   - ``ruin``: remove jobs around an idle time of some nodes, or with consecutive starts, together with some waiting
     jobs; insert them again in one of several orders; all other jobs stay (``kernels.ruin_and_recreate``).
   - ``solver`` (if a backend is named): free some jobs of a window in the same way; the backend inserts them.

4. Acceptance: a new order replaces the one it was made from if it is not worse; ``ruin`` accepts slightly worse
   schedules. The best schedule is kept.
5. Repeat from step 2 until the time limit, or for a number of rounds.

In a profit problem, jobs that find no start before ``horizon_end`` are postponed: they start after it, at the end.
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

ROUNDS = 60  # turns if there is no time limit
TURN = 0.15  # seconds of a turn; longer if one trial is longer
ORDERS_SHARE = 0.7  # profit problems: share of the time for orders; then "ruin" and "solver" improve the best schedule
ORDERS = 8  # good orders that are kept
FOCUS = 1.3  # how soon only the best order is changed: 1: at the end, 2: after half of the time
TRIALS = 20  # an order is kept in the choice only if there is time for this many trials per order
PRESETS_SHARE = 0.4  # largest share of the time for the first orders
SAME = 1e-12  # relative: smaller improvements are rounding errors


@dataclass(frozen=True)
class Improved:
    """The result of the search.

    Parameters
    ----------
    schedule
        The best schedule.
    objective
        Its objective.
    trace
        (seconds, objective) of each incumbent.
    operators
        Turns, seconds and gain of each operator, by its name.
    """

    schedule: Schedule
    objective: float
    trace: tuple[tuple[float, float], ...]
    operators: dict[str, Gain] = field(default_factory=dict)


def lns(
    problem: Dispatch | Profit,
    time_limit: float | None = None,
    seed: int = 0,
    on_incumbent: Callable[[float, float, Placement], Any] | None = None,
    rounds: int | None = None,
    backend: str | None = None,
    threads: int | None = None,
) -> Improved:
    """Return the best schedule of a large-neighbourhood search over orders and over parts of the schedule.

    Without a time limit the result depends on the seed only.

    Parameters
    ----------
    problem
        A dispatching or profit problem.
    time_limit
        Seconds; None: no limit. The first schedule is always finished.
    seed
        Seed of the random numbers.
    on_incumbent
        Called with (seconds, objective, placement) for each incumbent; return False to stop.
    rounds
        Number of turns; None: 60 without a time limit, else no limit.
    backend
        A solver that takes turns as well; None: no solver.
    threads
        Threads of the solver; None: all cores.

    Returns
    -------
    Improved
        The best schedule and how it was found.

    Raises
    ------
    NothingFound
        If no order leads to a schedule.
    SolverUnavailable
        If the backend is not installed.
    UnknownName
        If the name of the backend is unknown.

    Examples
    --------
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
    """The state of the search: the best schedule, the kept orders, the clock."""

    def __init__(
        self,
        problem: Dispatch | Profit,
        time_limit: float | None,
        seed: int,
        on_incumbent: Callable[[float, float, Placement], Any] | None,
        solver: SolverTurns | None = None,
    ) -> None:
        self.clock = Clock(time_limit)
        self.problem, self.limit, self.on_incumbent, self.solver = problem, time_limit, on_incumbent, solver
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
        self.operators: Sequence[Operator] = ()

    def _room(self) -> tuple[Ints, Ints]:
        jobs = self.a.jobs
        return np.full(jobs.units.size, POSTPONED, np.int64), np.zeros(int(jobs.first_unit[-1]), np.int64)

    @property
    def elapsed(self) -> float:
        """Seconds since the call."""
        return self.clock.elapsed

    @property
    def over(self) -> float:
        """The share of the search that is over, by time or by turns."""
        if self.limit is None:
            return sum(operator.done.turns for operator in self.operators) / max(1, self.rounds or 0)
        return self.elapsed / self.limit if self.limit else 1.0

    def check(self, ahead: float = 0.0) -> None:
        """Raise Stopped if a trial of ``ahead`` seconds would end after the time limit."""
        if self.trace and self.clock.left < ahead:
            raise Stopped

    def keep(self, value: float, starts: Ints, nodes: Ints) -> None:
        """Keep a schedule (starts in seconds, nodes of all units) if it is the best; report it."""
        if not np.isfinite(value) or value >= self.best_value - SAME * abs(value):
            return
        if not self.trace:
            reserve_for_postponed(self.clock, self.a, starts, nodes)
        self.best_value = value
        self.best.starts[:], self.best.nodes[:] = starts, nodes
        self.trace.append((self.elapsed, self.a.sign * value))
        placement = Placement(self.a, self.best.starts, self.best.nodes)
        if self.on_incumbent is not None and self.on_incumbent(*self.trace[-1], placement) is False:
            raise Stopped

    def place(self, keys: Floats) -> Order:
        """Place all jobs in the order of these keys; the value is infinite if one finds no start. Raises Stopped."""
        a, began = self.a, time.perf_counter()
        order = np.argsort(keys, kind="stable")
        answer = OrderResult(order, *self._room())
        stop = self.clock.stop if self.trial_seconds else running()  # the first trial is always finished
        done = build(a.machine, a.jobs, a.costs.may_postpone, order, self.anytime, answer.starts, answer.nodes, stop)
        if done < 0:
            raise Stopped
        value = float(objective(a.costs, a.jobs, answer.starts)) if done == order.size else np.inf
        self.trial_seconds = max(0.5 * self.trial_seconds, time.perf_counter() - began)
        return Order(value, keys, answer)

    def run(self, rounds: int | None) -> None:
        """Try the presets, then let the operators take turns until the time limit or for ``rounds`` rounds."""
        self.rounds = rounds
        try:
            with self.clock:
                self._look_around()
                if self.orders:
                    self._take_turns(rounds, self.make_operators())
        except Stopped:
            pass

    def _look_around(self) -> None:
        """Keep the best of the presets, no two of them with the same objective."""
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
        """Return the index of the order to change: any one at first, the best one later or if time is short."""
        among = round(len(self.orders) * (1 - FOCUS * self.over))
        if self.limit is not None:
            trials = (self.limit - self.elapsed) / max(1e-9, self.trial_seconds)
            among = min(among, round(trials / TRIALS))
        return int(self.rng.integers(max(1, among)))

    def follow(self, parent: Order, child: Order) -> None:
        """Replace the parent by the child if the child is not worse."""
        at = next((k for k, order in enumerate(self.orders) if order is parent), None)
        if at is not None and child.value <= parent.value:
            self.orders[at] = child
            self.orders.sort(key=lambda order: order.value)
            self.keep(child.value, child.answer.starts, child.answer.nodes)

    def make_operators(self) -> Sequence[Operator]:
        """Return the operators that fit the problem."""
        keys, moves = Keys(self), Moves(self)
        polish: list[Operator] = [] if self.a.costs.mode == LAST_END else [Ruin(self)]
        polish += [] if self.solver is None else [Solver(self, self.solver)]
        if self.a.costs.mode == EARNINGS:  # for profits, other orders gain more than local changes
            keys.share = ORDERS_SHARE
            for operator in polish:
                operator.since, operator.share = ORDERS_SHARE, (1 - ORDERS_SHARE) / len(polish)
        return (keys, moves, *polish)

    def _take_turns(self, rounds: int | None, operators: Sequence[Operator]) -> None:
        self.operators = operators
        for _ in turns(rounds):
            operator = self._next(operators)
            before, orders, began = self.best_value, self.orders[0].value, time.perf_counter()
            try:
                operator.turn(None if self.limit is None else TURN)
            finally:
                gain, more = before - self.best_value, orders - self.orders[0].value
                operator.note(max(1e-6, time.perf_counter() - began), gain, gain + 0.25 * max(0.0, more - gain))

    def _next(self, operators: Sequence[Operator]) -> Operator:
        """Return an operator that has had less than its share of the time, else the one with the best rate."""
        due = [operator for operator in operators if operator.since <= self.over] or operators
        if self.limit is None:
            return min(due, key=lambda operator: operator.done.turns)
        spent = sum(operator.done.seconds for operator in operators)
        short = [operator for operator in due if operator.done.seconds < operator.share * spent]
        return short[0] if short else max(due, key=lambda operator: operator.rate)

    def result(self) -> Improved:
        """Return the best schedule, with starts for postponed jobs. Raises NothingFound."""
        if not np.isfinite(self.best_value):
            raise NothingFound("no order of the jobs that was tried leads to a schedule")
        schedule = self.schedule()
        value = float(self.problem.objective(schedule))
        gains = {operator.name: operator.done for operator in self.operators}
        return Improved(schedule, value, tuple(self.trace), gains)

    def schedule(self) -> Schedule:
        """Return the best schedule so far as a schedule of the problem."""
        return self.a.schedule(self.best.starts, self.best.nodes)
