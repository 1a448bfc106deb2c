"""The state of a large-neighbourhood search: the best schedule, the kept orders, the clock; ``search`` describes it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np

from ...models import Dispatch, Profit, Schedule
from ...models.array_types import Floats, Ints
from ...models.deadline import Deadline
from ...models.excerpt import excerpt
from ...models.plugins import NUMBERS, WrongAnswer
from ...models.schedule_arrays import POSTPONED
from ...models.words import how_many
from ..arrays import Placement, arrays
from ..clock import running
from ..incumbents import OnIncumbent
from ..kernels.costs import EARNINGS, objective
from ..kernels.orders import OrderResult
from ..kernels.placement import build, same_for
from ..kernels.profile import NEVER
from ..kernels.ruin import Places
from ..list_scheduling import AFTERWARDS, Joins, order_by, order_of_starts, reserve_for_postponed, start_placed
from .control import Acceptance, HillClimbing, Stopped
from .orders import Order, Population, bulk_of, features, keys_of
from .turns import TurnSearch

SPREAD = 3**0.5  # the keys of a start are from -SPREAD to SPREAD: their standard deviation is 1
# orders of a profit problem that are tried even beyond the share of the presets: the fourth is a join, which gains more
BEFORE_LIMIT = 4
WEIGHTED = ("submit-weighted-area", "weighted-area")  # orders tried before the presets
SAME = 1e-12  # relative: smaller improvements are rounding errors


class LnsSearch(TurnSearch):
    """The state of a search, which the operators read and change.

    Parameters
    ----------
    problem, time_limit, seed, warm_start, on_incumbent, acceptance, population, turn_seconds
        As for ``lns``.

    Attributes
    ----------
    arrays
        The problem as flat arrays.
    rng
        Random numbers.
    orders
        The kept orders, the best one first.
    best
        Starts and nodes of the best schedule; operators must not change them.
    best_value
        Its objective, to be minimized: minus the profit for a profit problem.
    features, bulk
        Features of the jobs; cumulative probabilities to draw jobs with, large ones more often (``random_keys``).
    seen
        The incumbents, with the callback and the start.
    clock
        The clock; ``clock.stop`` is for kernels.
    trial_seconds
        Time of the longest recent placement of all jobs.
    """

    def __init__(
        self,
        problem: Dispatch | Profit,
        *,
        time_limit: float | None = None,
        seed: int = 0,
        warm_start: Schedule | None = None,
        on_incumbent: OnIncumbent | None = None,
        acceptance: Acceptance | None = None,
        population: Population | None = None,
        turn_seconds: float = 0.15,
    ) -> None:
        super().__init__(problem, time_limit, seed, warm_start, on_incumbent, acceptance, turn_seconds)
        self.problem = problem
        self.population = Population() if population is None else population
        preparing = Deadline()
        self.arrays = arrays(problem)
        self.clock.reserve(AFTERWARDS * preparing.elapsed)
        self.features, self.bulk = features(self.arrays), bulk_of(self.arrays)
        self.same = same_for(self.arrays.machine, self.arrays.jobs)
        self.anytime = np.full(self.arrays.jobs.units.size, -NEVER, np.int64)
        self.orders: list[Order] = []
        self.best = Places(*self._room(), np.zeros(self.arrays.costs.ledger.euro_per_joule.size))

    def _room(self) -> tuple[Ints, Ints]:
        jobs = self.arrays.jobs
        return np.full(jobs.units.size, POSTPONED, np.int64), np.zeros(int(jobs.first_unit[-1]), np.int64)

    @property
    def order_value(self) -> float:
        """The objective of the best order."""
        return self.orders[0].value

    @property
    def ready(self) -> bool:
        """Whether an order leads to a schedule."""
        return bool(self.orders)

    def keep(self, value: float, starts: Ints, nodes: Ints) -> None:
        """Keep a schedule (starts in seconds, nodes of all units) if it is the best; report it."""
        if not np.isfinite(value) or value >= self.best_value - SAME * abs(value):
            return
        if not np.isfinite(self.best_value):
            reserve_for_postponed(self.clock, self.arrays, starts, nodes)
        with self.lock:
            if self.seen.stopped:  # by another search of the team: the result is what was reported then
                raise Stopped
            self.best_value = value
            self.best.starts[:], self.best.nodes[:] = starts, nodes
            placement = Placement(self.arrays, self.best.starts, self.best.nodes)
            if self.arrays.keeps_limits(value) and not self.seen.report(self.arrays.sign * value, placement=placement):
                raise Stopped

    def place(self, keys: Floats) -> Order:
        """Place all jobs in the order of these keys; the value is infinite if one finds no start. Raises Stopped."""
        a = self.arrays
        began = time.perf_counter()
        _check_keys(keys, a.costs.submit.size)
        order = np.argsort(keys, kind="stable")
        answer = OrderResult(order, *self._room())
        # the first trial is always finished, if there is no start
        stop = self.clock.stop if self.trial_seconds or self.seen.start is not None else running()
        done = build(a.machine, a.jobs, self.same, a.costs, order, self.anytime, answer.starts, answer.nodes, stop)
        if done < 0:
            raise Stopped
        value = float(objective(a.costs, a.jobs, answer.starts)) if done == order.size else np.inf
        self.trial_seconds = max(0.5 * self.trial_seconds, time.perf_counter() - began)
        return Order(value, keys, answer)

    def companion(self, rng: np.random.Generator) -> LnsSearch:
        """Return a search from the same orders with random numbers of its own; both share clock and incumbents."""
        other = super().companion(rng)
        other.orders = list(self.orders)
        other.best = Places(*(part.copy() for part in self.best))  # type: ignore[arg-type]  # copies of its fields
        return other

    def adopt(self, schedule: LnsSearch, order: LnsSearch) -> None:
        """Take over a schedule and an order of other searches, if they are better than the best ones here."""
        if schedule.best_value < self.best_value:
            self.best_value = schedule.best_value
            self.best.starts[:], self.best.nodes[:] = schedule.best.starts, schedule.best.nodes
        if order.order_value < self.order_value:
            self.orders = [order.orders[0], *self.orders][: max(1, self.population.orders)]

    def place_all(self, every: Sequence[Floats]) -> list[Order]:
        """Place all jobs in the order of each of these keys, each in a thread of its own. Raises Stopped."""
        if len(every) == 1:
            return [self.place(every[0])]
        with ThreadPoolExecutor(len(every)) as pool:
            try:
                return list(pool.map(self.place, every))
            except BaseException:  # a stop or Ctrl-C in this thread ends the other ones, too
                self.clock.stop[0] = 1
                raise

    def look_around(self) -> None:
        """Keep the start and the best of the presets, no two of them with the same objective."""
        orders: dict[float, Order] = {}
        if self.seen.start is not None:
            orders = {order.value: order for order in reversed(list(self._of_start(self.seen.start)))}
        most_seconds = np.inf if self.limit is None else self.population.presets_share * self.limit
        joins = Joins(self.arrays) if self.arrays.costs.mode == EARNINGS else None
        for every in self._first_keys(joins):
            if (
                len(orders) >= (1 if joins is None else BEFORE_LIMIT)
                and self.elapsed + self.trial_seconds > most_seconds
            ):
                break
            for order in self.place_all(every):
                if np.isfinite(order.value):
                    orders.setdefault(order.value, order)
                    self.keep(order.value, order.answer.starts, order.answer.nodes)
                    if joins is not None:
                        joins.add(order.keys, order.answer.starts)
        self.orders = [orders[value] for value in sorted(orders)][: self.population.orders]

    def _first_keys(self, joins: Joins | None) -> Iterator[list[Floats]]:
        """Yield the keys of the presets, as many at a time as there are threads, and between them those of joins."""
        presets = self._presets()
        number = 1  # the first one is finished even after the time limit
        while every := list(islice(presets, number)):
            yield every
            number = self.threads
            if joins is not None and (keys := joins.best()) is not None:
                yield [keys]

    def _presets(self) -> Iterator[Floats]:
        """Yield the keys of the first orders, the most promising ones first."""
        even = np.linspace(-SPREAD, SPREAD, self.arrays.jobs.units.size)
        weighted = (keys_of(order_by(self.arrays, name), even) for name in WEIGHTED)
        if self.arrays.costs.mode == EARNINGS:  # waiting costs nothing there
            yield from self.features.presets(profits=True)
            yield from weighted
        else:
            yield from weighted
            yield from self.features.presets(profits=False)

    def _of_start(self, start: Schedule) -> Iterator[Order]:
        """Yield the start, in the order of its starts, and the list schedule of this order."""
        starts, nodes = start_placed(self.arrays, start)
        order = order_of_starts(starts)
        keys = keys_of(order, np.linspace(-SPREAD, SPREAD, order.size))
        value = float(objective(self.arrays.costs, self.arrays.jobs, starts))
        self.keep(value, starts, nodes)
        self.orders = [Order(value, keys, OrderResult(order, starts, nodes))]
        yield self.orders[0]
        listed = self.place(keys)
        if np.isfinite(listed.value):
            self.keep(listed.value, listed.answer.starts, listed.answer.nodes)
            yield listed

    def parent(self) -> Order:
        """Return the order to change, by the rule of the population."""
        left = None if self.limit is None else (self.limit - self.elapsed) / max(1e-9, self.trial_seconds)
        return self.orders[self.population.parent(len(self.orders), self.over, left, self.rng)]

    def follow(self, parent: Order, child: Order, own: Acceptance | None = None) -> None:
        """Replace the parent by the child if the acceptance criterion allows it.

        Parameters
        ----------
        parent
            A kept order.
        child
            The changed order, with its placement.
        own
            The criterion of the operator, which counts if the search has none; None: ``HillClimbing``.
        """
        for what, order in (("parent", parent), ("child", child)):
            if not isinstance(order, Order):
                raise WrongAnswer(f"{what} of follow is {excerpt(order)}; expected an Order, which place returns")
        allowed = self.tolerances(own or HillClimbing(), 1)
        limit = min(parent.value + allowed.over_current[0], self.best_value + allowed.over_best[0])
        if np.isfinite(child.value) and child.value <= limit:
            self.replace(parent, child)

    def replace(self, parent: Order, child: Order) -> None:
        """Replace a kept order by another one; keep its schedule if it is the best."""
        at = next((k for k, order in enumerate(self.orders) if order is parent), None)
        if at is not None:
            self.orders[at] = child
            self.orders.sort(key=lambda order: order.value)
            self.keep(child.value, child.answer.starts, child.answer.nodes)

    def schedule(self) -> Schedule:
        """Return the best schedule so far as a schedule of the problem."""
        return self.arrays.schedule(self.best.starts, self.best.nodes)


def _check_keys(keys: object, jobs: int) -> None:
    """Raise WrongAnswer if the keys of an operator are not one number for each job: compiled code would read beyond them."""
    right = isinstance(keys, np.ndarray) and keys.shape == (jobs,) and keys.dtype.kind in NUMBERS
    if not right or np.isnan(keys).any():  # type: ignore[call-overload]
        shape = f", of shape {keys.shape}" if isinstance(keys, np.ndarray) else ""
        raise WrongAnswer(
            f"keys of place is {excerpt(keys)}{shape}; expected an array of a number for each of {how_many(jobs, 'job')}"
        )
