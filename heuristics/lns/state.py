"""The state of a large-neighbourhood search: the best schedule, the kept orders and the keys that give new ones, the clock."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from ...models import Dispatch, Profit, Schedule
from ...models.array_types import Floats, Ints
from ...models.comparing import compared_by_identity
from ...models.long_calls import Deadline
from ...models.plugins import NUMBERS, WrongAnswer
from ...models.schedule_arrays import POSTPONED
from ...models.words import excerpt, how_many, with_short_repr
from ..arrays import Arrays, Placement, arrays
from ..kernels.costs import EARNINGS, objective
from ..kernels.orders import OrderResult
from ..kernels.placement import build, same_for
from ..kernels.profile import NEVER
from ..kernels.ruin import Places
from ..list_scheduling import AFTERWARDS, Joins, order_by, order_of_starts, reserve_for_postponed, start_placed
from ..search_parts import OnIncumbent, running
from .control import Acceptance, HillClimbing, Stopped, TurnSearch

# --- The orders that a search keeps, and which of them is changed next.


@compared_by_identity
@with_short_repr
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


@with_short_repr
@dataclass(frozen=True)
class Population:
    """How many orders are kept, and which of them are changed: any one at first, the best one later.

    Parameters
    ----------
    orders
        Number of kept orders; the first ones are the best presets (``PRESETS``).
    focus
        How soon only the best order is changed: 1: at the end, 2: after half of the search.
    trials
        An order may be changed only if there is time for this many trials per order.
    presets_share
        Largest share of the time limit for the presets.
    """

    orders: int = 8
    focus: float = 1.3
    trials: int = 20
    presets_share: float = 0.4

    def parent(self, kept: int, over: float, trials_left: float | None, rng: np.random.Generator) -> int:
        """Return the index of the order to change.

        Parameters
        ----------
        kept
            Number of orders, the best one first.
        over
            Share of the search that is over, from 0 to 1.
        trials_left
            Placements of all jobs that the time limit allows; None: no limit.
        rng
            Random numbers.
        """
        among = round(kept * (1 - self.focus * over))
        if trials_left is not None:
            among = min(among, round(trials_left / self.trials))
        return int(rng.integers(max(1, among)))


# --- Random keys: a key per job is a weighted sum of its features plus noise; sorting by key gives an order of the jobs.
#
# All usual ordering criteria are special cases with one weight; the best orders combine several features.

USUAL: tuple[dict[str, float], ...] = (
    {"submit": 1},
    {"request": -1},
    {"duration": -1, "units": -1, "request": -1},  # largest area first
    # Low power first: helps in a profit problem with too much work (1 % more profit with 33,000 jobs of the Curie log).
    {"power": 10, "duration": -1, "units": -0.5, "request": -0.5},
    {"power": 3, "duration": -1, "units": -0.5, "request": -0.5},
    {"submit": 1, "duration": -0.1},
    {"units": -1, "request": -1},
    {"duration": -1},
    {"duration": 1},
    {"weight": -1, "duration": 1, "units": 1, "request": 1},  # largest weight per area first (Smith's rule)
    {"latest": 1},
    {"power": 1},
    {"power": 1, "duration": -1, "units": -1, "request": -1},
)
AROUND_AREA = tuple(
    {"duration": d, "units": u, "request": u, "submit": s}
    for s in (0.0, 1.0, 2.5)
    for d in (-1.0, -0.7, -1.4)
    for u in (-1.0, -0.5)
)
PRESETS = (*USUAL, *AROUND_AREA)
"""Weights of the first orders of a search, the most promising ones first."""
FOR_PROFIT: tuple[dict[str, float], ...] = (
    {"power": 3, "duration": -0.3, "units": -0.15, "request": -10},
    {"request": -1},
    {"power": 1, "duration": -1, "units": -0.5, "request": -1},
    {"power": 3, "duration": -1, "units": -0.5, "request": -10},
    {"power": 1, "duration": -0.3, "units": -0.15, "request": -3},
    {"power": 10, "duration": -1, "units": -0.5, "request": -0.5},
)
"""Weights of the first orders for a profit problem, tried before ``PRESETS``: large requests and low power first.

They were chosen from 49 orders on generated problems of 1,000 jobs (seeds 101 to 103) and on 23 days of CEA Curie from
2012-08-10 (33,593 jobs), for both prices of core-hours. The first two of them make the best join (``joins``).
"""


@dataclass(frozen=True, eq=False)
class Features:
    """Features of the jobs.

    Parameters
    ----------
    names
        Names of the features.
    values
        Value of each feature, shape (jobs, features); logarithms, except for submit times and latest starts.
    scale
        Standard deviation of each feature, shape (features,).
    """

    names: tuple[str, ...]
    values: Floats
    scale: Floats

    def keys(self, weights: dict[str, float]) -> Floats:
        """Return the weighted sum of the features of each job, shape (jobs,); unknown features are ignored."""
        sums = np.zeros(len(self.values))
        for k, name in enumerate(self.names):
            sums += weights.get(name, 0.0) * self.values[:, k]
        return sums

    def presets(self, profits: bool) -> list[Floats]:
        """Return the keys of the presets that differ for these jobs; ``profits``: whether they are for a profit problem."""
        if profits:
            presets = (*FOR_PROFIT, *PRESETS)
        else:
            presets = PRESETS
        kinds = {tuple(sorted((n, w) for n, w in p.items() if n in self.names)): p for p in presets}
        return [self.keys(p) for kind, p in kinds.items() if kind]


def features(a: Arrays) -> Features:
    """Return the features in which the jobs differ.

    ``request`` is the share of the platform of one unit, ``latest`` the latest start, ``power`` the power per share.
    """
    share = np.maximum(1e-12, a.shares)
    span = max(1, int(a.costs.submit.max(initial=0) - a.costs.submit.min(initial=0)))
    known = {
        "duration": np.log(1.0 + a.jobs.duration),
        "units": np.log(a.jobs.units),
        "request": np.log(share),
        "submit": (a.costs.submit - a.costs.submit.min(initial=0)) / span,
        "latest": a.jobs.latest / max(1, int(a.jobs.latest.max(initial=1))),
        "weight": np.log(np.maximum(1e-12, a.costs.weight)),
    }
    if a.power is not None:
        known["power"] = np.log(np.maximum(1e-12, a.power / (share * a.jobs.units)))
    kept = {name: column for name, column in known.items() if column.size and column.std() > 0}
    if kept:
        values = np.column_stack(list(kept.values()))
    else:
        values = np.zeros((a.jobs.units.size, 0))
    return Features(tuple(kept), values, np.array([column.std() for column in kept.values()]))


@with_short_repr
@dataclass(frozen=True)
class KeyNoise:
    """A change of keys: other weights of some features, and noise on some jobs.

    Parameters
    ----------
    reweighted
        Probability that weights are changed.
    features
        Probability that the weight of a feature is changed, if weights are.
    weight_step
        Standard deviation of the change of a weight, in standard deviations of the feature.
    jobs
        Numbers of jobs with noise; one of them is drawn, or a part of all jobs.
    part
        This part of all jobs, plus one, is another number that can be drawn.
    noise
        Standard deviation of the noise on the key of a job.
    """

    reweighted: float = 0.6
    features: float = 0.4
    weight_step: float = 0.5
    jobs: tuple[int, ...] = (0, 1, 2, 5)
    part: float = 0.02
    noise: float = 1.0

    def apply(self, keys: Floats, known: Features, bulk: Floats, rng: np.random.Generator) -> Floats:
        """Return keys near the given ones.

        Parameters
        ----------
        keys
            The keys, shape (jobs,).
        known
            The features of the jobs.
        bulk
            Cumulative probabilities by which the jobs with noise are drawn, see ``bulk_of``; large jobs are more likely.
        rng
            Random numbers.
        """
        changed = keys
        if rng.random() < self.reweighted and known.scale.size:
            chosen = rng.random(known.scale.size) < self.features
            moved = rng.normal(0, self.weight_step, known.scale.size) * chosen / known.scale
            changed = changed + known.values @ moved
        count = int(rng.choice((*self.jobs, 1 + int(keys.size * self.part))))
        some = drawn(count, bulk, rng)
        changed = changed.copy()
        changed[some] += rng.normal(0, self.noise, some.size)
        return changed


def bulk_of(a: Arrays) -> Floats:
    """Return cumulative probabilities of the jobs for ``drawn``: half equal, half by the square root of the area."""
    area = np.sqrt(a.shares * a.jobs.units * np.maximum(1, a.jobs.duration))
    return np.cumsum(0.5 / max(1, area.size) + 0.5 * area / max(1e-12, float(area.sum())))


def drawn(count: int, bulk: Floats, rng: np.random.Generator) -> Ints:
    """Draw ``count`` jobs at random by their cumulative probabilities; return their indices."""
    drawn_ones = np.searchsorted(bulk, rng.random(count) * bulk[-1]) if bulk.size else np.zeros(0)
    return drawn_ones.astype(np.int64)


def keys_of(order: Ints, keys: Floats) -> Floats:
    """Return the same keys assigned to other jobs, so that sorting by key gives ``order``."""
    new_keys = np.empty(keys.size)
    new_keys[order] = np.sort(keys)
    return new_keys


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
        Features of the jobs; cumulative probabilities to draw jobs with, large ones more often (``bulk_of``).
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
        if population is None:
            self.population = Population()
        else:
            self.population = population
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
        if self.trial_seconds or self.seen.start is not None:
            stop = self.clock.stop
        else:
            stop = running()
        done = build(a.machine, a.jobs, self.same, a.costs, order, self.anytime, answer.starts, answer.nodes, stop)
        if done < 0:
            raise Stopped
        if done == order.size:
            value = float(objective(a.costs, a.jobs, answer.starts))
        else:
            value = np.inf
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
        if self.limit is None:
            most_seconds = np.inf
        else:
            most_seconds = self.population.presets_share * self.limit
        joins = None
        if self.arrays.costs.mode == EARNINGS:
            joins = Joins(self.arrays)
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
        left = None
        if self.limit is not None:
            left = (self.limit - self.elapsed) / max(1e-9, self.trial_seconds)
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
        shape = ""
        if isinstance(keys, np.ndarray):
            shape = f", of shape {keys.shape}"
        raise WrongAnswer(
            f"keys of place is {excerpt(keys)}{shape}; expected an array of a number for each of {how_many(jobs, 'job')}"
        )
