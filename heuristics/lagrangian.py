"""The method ``lagrangian``: a bound from a Lagrangian relaxation, and schedules in the order of its starts.

1. Run multi-search, unless there is a start. Its end bounds the grid.
2. Choose the rows with the most load, and sets of jobs that fit together (``rows``, ``sets``).
3. Maximize the smoothed dual on grids of more and more cells, each at lower and lower temperatures (``dual``).
4. After each grid, place the jobs in the order of their expected starts plus a share of their durations.
5. Compute the bound of the best prices in whole numbers (``exact``).

The relaxation has prices per cell of time; ``docs/appendix/bounds.md`` has the formulas.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from ..backends.result import Result, close
from ..models import Dispatch, Schedule
from ..models.arguments import rational
from ..models.array_types import Floats, Ints
from ..models.dispatch.arrays import column, is_placed_freely, offsets, request_rows
from ..models.dispatch.jobs import Job, lack
from ..models.dispatch.objectives import Excess, Late
from ..models.long_calls import Deadline
from ..models.platform import Platform
from ..models.words import how_many
from .arrays import Placement, arrays
from .errors import NoSchedule
from .kernels.lagrangian import cheapest_starts, dearest_sets, minimize
from .list_scheduling import AFTERWARDS, ListScheduler, place_all_orders, tiny
from .list_scheduling import warm_up as warm_up_lists
from .search_parts import Clock, Incumbents, KernelStopped, OnIncumbent, compiled_first, improves, keeping_limits

# --- What the relaxation prices: the jobs, and the running jobs, which have one possible start.

Vector = tuple[int, ...]
Demand = tuple[tuple[int, Vector], ...]
"""Units and request of each chunk of a job."""


class Site(NamedTuple):
    """Where the units of each demand may run, and what it holds of the licences.

    Parameters
    ----------
    classes : list of (tuple of int, int)
        Capacity and number of the nodes of each class (``Dispatch.node_classes``).
    allowed : list of frozenset of int
        The classes that the units of each demand may use.
    licences : array of int, shape (demands, licences)
        What each demand holds of the licences.
    total : array of int, shape (licences,)
        The licences of the machine.
    """

    classes: list[tuple[Vector, int]]
    allowed: list[frozenset[int]]
    licences: Ints
    total: Ints


class Items(NamedTuple):
    """Jobs, then running jobs, as arrays.

    A start s of item i costs ``weight[i] * max(0, s - free[i])``, or 1 if ``late`` and ``s > free[i]``; ``constant`` is the
    cost that no start changes.

    Parameters
    ----------
    duration : array of int, shape (items,)
        Seconds; of a running job what is left from ``now``.
    weight : array of float, shape (items,)
        Cost per second of delay.
    free : array of int, shape (items,)
        The last start in seconds without cost.
    late : bool
        Whether the objective counts late jobs.
    constant : float
        The part of the cost that is the same for all schedules.
    first : array of int, shape (items + 1,)
        The start windows of item i are ``first[i]`` to ``first[i + 1] - 1``.
    low, high : array of int, shape (windows,)
        First and last start of each window in seconds.
    kind : array of int, shape (items,)
        Index of the demand of the item.
    demands : list of Demand
        The distinct demands.
    jobs : int
        The number of jobs.
    site : Site, optional
        Where the demands may run; None: on all nodes, and without licences.
    """

    duration: Ints
    weight: Floats
    free: Ints
    late: bool
    constant: float
    first: Ints
    low: Ints
    high: Ints
    kind: Ints
    demands: list[Demand]
    jobs: int
    site: Site | None = None

    @property
    def release(self) -> Ints:
        """The earliest start of each item in seconds."""
        return self.low[self.first[:-1]]


def is_sum_over_jobs(problem: Dispatch) -> bool:
    """Return whether the objective is a sum over jobs, and every job has a start window."""
    return isinstance(problem.costs, Excess | Late) and all(map(problem.start_windows, problem.jobs))


def items_of(problem: Dispatch) -> Items:
    """Return the jobs and the running jobs of a problem whose objective is a sum over jobs."""
    costs = problem.costs
    jobs = problem.job_arrays
    assert isinstance(costs, Excess | Late)
    running = [r for r in problem.running if r.end > problem.now]
    windows = [problem.start_windows(j) for j in problem.jobs] + [((problem.now, problem.now),) for _ in running]
    freely = is_placed_freely(problem)
    number: dict[PlacedDemand, int] = {}
    placed = ((d, frozenset[int](), ()) for d in _demands(problem)) if freely else _placed_demands(problem)
    kind = [number.setdefault(each, len(number)) for each in placed]
    excess = None
    if isinstance(costs, Excess):
        excess = costs
    if excess is None:
        weight = np.zeros(len(jobs))
    else:
        weight = excess.weight
    return Items(
        np.concatenate([jobs.duration, column(r.end - problem.now for r in running)]),
        np.concatenate([weight, np.zeros(len(running))]),
        np.concatenate([jobs.submit + costs.grace, np.full(len(running), problem.now)]),
        excess is None,
        0.0 if excess is None else float(excess.constant.sum()),
        offsets([len(w) for w in windows]),
        column(lo for w in windows for lo, _ in w),
        column(hi for w in windows for _, hi in w),
        column(kind),
        [demand for demand, _, _ in number],
        len(jobs),
        None if freely else _site(problem, list(number)),
    )


PlacedDemand = tuple[Demand, frozenset[int], Vector]
"""A demand, the classes of nodes that it may use, and its licences."""


def _site(problem: Dispatch, placed: Sequence[PlacedDemand]) -> Site:
    """Return where some demands may run."""
    classes = problem.node_classes
    sizes = [(vector, len(names)) for vector, names in zip(classes.capacity, classes.members, strict=True)]
    licences = problem.platform.licences
    held = np.array([holds for *_, holds in placed], np.int64).reshape(len(placed), len(licences))
    return Site(sizes, [allowed for _, allowed, _ in placed], held, column(licences.values(), len(licences)))


def _demands(problem: Dispatch) -> Iterator[Demand]:
    """Yield the demand of each job, then of each running job."""
    resources = problem.platform.resources
    for job in problem.jobs:
        yield tuple(zip((part.units for part in job.parts), request_rows(job.parts, resources), strict=True))
    for r in problem.running:
        if r.end > problem.now:
            yield ((sum(r.nodes.values()), request_rows([r.job], resources)[0]),)


def _placed_demands(problem: Dispatch) -> Iterator[PlacedDemand]:
    """Yield the demand, the classes of nodes and the licences of each job, then of each running job.

    A whole-node job is one unit with all that a node has for each of its nodes, if these are equal; else its demand is that of
    its units, which is less.
    """
    platform = problem.platform
    classes = problem.node_classes
    resources = platform.resources
    sets = problem.node_sets.number.tolist()

    def holds(job: Job) -> Vector:
        return tuple(job.licences.get(name, 0) for name in platform.licences)

    for job, node_set, demand in zip(problem.jobs, sets, _demands(problem), strict=False):
        allowed = frozenset(np.flatnonzero(classes.sets[node_set]).tolist())
        if job.whole_nodes:
            room = classes.units(job, node_set, resources)
            shapes = {(classes.capacity[c], room[c]) for c in allowed if room[c] > 0}
            if len(shapes) == 1:
                ((vector, most),) = shapes
                demand = ((-(-job.units // most), vector),)
        yield demand, allowed, holds(job)
    for r in problem.running:
        if r.end > problem.now:
            on = {name: units for name, units in r.nodes.items() if units > 0}
            request = request_rows([r.job], resources)[0]
            of_nodes = tuple((1, platform.capacity[name]) for name in on)
            if r.job.whole_nodes:
                demand = of_nodes
            else:
                demand = ((sum(on.values()), request),)
            yield demand, frozenset(classes.of_node[name] for name in on), holds(r.job)


# --- Cells of time with constant prices, and the starts of each item between which its cost is linear.

LOOK = 100  # items between two looks at the clock: about 10 ms


class DualStopped(Exception):
    """The time limit was reached, or the caller has ended the search."""


class Candidates(NamedTuple):
    """The starts of each item at which its cost with prices may be least, in increasing order.

    Between two neighbours the cost is linear, for any prices that are constant in each cell.

    Parameters
    ----------
    first : array of int, shape (items + 1,)
        The candidates of item i are ``first[i]`` to ``first[i + 1] - 1``.
    start : array of int, shape (candidates,)
        Seconds.
    cost : array of float, shape (candidates,)
        The cost of the start without prices.
    begin, end : array of int, shape (candidates,)
        The cell in which the start and the end lie; the number of cells if they lie behind the last one.
    """

    first: Ints
    start: Ints
    cost: Floats
    begin: Ints
    end: Ints


def candidate_starts(items: Items, i: int, points: Ints) -> Ints:
    """Return the candidates of an item: where the start or the end is a grid point, where costs begin, ends of windows.

    Of the starts behind the last grid point, the earliest one of each window is kept.
    """
    duration = int(items.duration[i])
    free = int(items.free[i])
    kinks = np.concatenate([points, points - duration, [free, free + 1]])
    candidates = []
    for lo, hi in _windows(items, i):
        inside = kinks[(kinks >= lo) & (kinks <= hi)]
        candidates.append(np.concatenate([[lo, hi], inside]))
        if lo >= points[-1]:
            break
    starts = np.unique(np.concatenate(candidates))
    return starts[: np.searchsorted(starts, points[-1]) + 1]


def candidates(items: Items, points: Ints, stopped: Callable[[], bool]) -> Candidates:
    """Return the candidates of all items on a grid; ``points``: increasing times in seconds. Raises DualStopped."""
    each = []
    for i in range(items.duration.size):
        if i % LOOK == 0 and stopped():
            raise DualStopped
        each.append(candidate_starts(items, i, points))
    sizes = [s.size for s in each]
    start = np.concatenate([*each, np.zeros(0, np.int64)])
    item = np.repeat(np.arange(len(each)), sizes)
    over = start - items.free[item]
    cells = points.size - 1

    def cell(time: Ints) -> Ints:
        return np.clip(np.searchsorted(points, time, side="right") - 1, 0, cells)

    return Candidates(
        offsets(sizes),
        start,
        (over > 0).astype(np.float64) if items.late else items.weight[item] * np.maximum(0, over),
        cell(start),
        cell(start + items.duration[item]),
    )


def uniform(now: int, end: int, cells: int) -> Ints:
    """Return increasing times from ``now`` to at least ``end`` in about ``cells`` equal cells, at least one."""
    step = max(1, -(-(end - now) // cells))
    return np.arange(now, max(end, now + 1) + step, step, dtype=np.int64)


def _windows(items: Items, i: int) -> list[tuple[int, int]]:
    part = slice(items.first[i], items.first[i + 1])
    return list(zip(items.low[part].tolist(), items.high[part].tolist(), strict=True))


# --- Rows: inequalities ``sum_j a[j] <= b`` over the jobs that run at the same instant (proofs: ``docs/appendix/bounds.md``).
#
# For a set of node classes C let the *confined* units be those that fit only nodes of C. Rows of C:
#
# ``pool``      the requests of the confined units for a resource, at most the capacity of C
# ``share``     the confined units that request at least q of a resource: on a node with capacity c run at most c // q of them
# ``rounded``   a dual feasible function f of another row: f(a[j]), at most f(b)
# ``licences``  what the jobs hold of a kind of licences, at most what the machine has

SUBSETS = 16  # sets of node classes that are used at most
ROUNDINGS = (1, 2, 3, 4)


class Rows(NamedTuple):
    """Inequalities ``a @ running <= b``, where ``running`` counts the running jobs of each demand.

    Parameters
    ----------
    a : array of int, shape (rows, demands)
        Coefficients.
    b : array of int, shape (rows,)
        Limits, above 0.
    """

    a: Ints
    b: Ints

    def some(self, index: Ints) -> Rows:
        """Return some of the rows."""
        return Rows(self.a[index], self.b[index])


def base_rows(platform: Platform, demands: Sequence[Demand], site: Site | None = None) -> Rows:
    """Return the rows ``pool`` and ``share`` of all sets of classes, and ``licences``."""
    if site is None:
        classes = [(vector, len(nodes)) for vector, nodes in platform.classes.items()]
    else:
        classes = site.classes
    every = frozenset(range(len(classes)))
    if site is None:
        allowed = [every] * len(demands)
    else:
        allowed = site.allowed
    holding = {q: frozenset(c for c, (v, _) in enumerate(classes) if _fits(q, v)) for d in demands for _, q in d}
    fits = {(q, may): holding[q] & may for d, may in zip(demands, allowed, strict=True) for _, q in d}
    sets = list(dict.fromkeys([every, *sorted(set(fits.values()), key=lambda s: sorted(s))]))
    rows = [
        row
        for chosen in sets[:SUBSETS]
        for row in _rows_of(
            [classes[c] for c in sorted(chosen)],
            [[(units, q) for units, q in d if fits[q, may] <= chosen] for d, may in zip(demands, allowed, strict=True)],
        )
    ]
    if site is not None:
        rows += [(site.licences[:, k], int(total)) for k, total in enumerate(site.total.tolist())]
    return _joined(rows, len(demands))


def roundings(a: Ints, b: int) -> Iterator[tuple[Ints, int]]:
    """Yield the rows of dual feasible functions of a row.

    With x = a / b: ``u_k(x) = x`` if (k + 1) x is a whole number, else ``floor((k + 1) x) / k`` [Fekete2001]; and the
    function that is 1 for x > 1 - e, 0 for x < e, else x.

    Examples
    --------
    >>> [(a.tolist(), b) for a, b in roundings(np.array([3, 1]), 4)][0]
    ([4, 0], 4)
    """
    for k in ROUNDINGS:
        whole = (k + 1) * a // b
        yield np.where((k + 1) * a % b == 0, k * a, b * whole), k * b
    for part in (8, 4, 3):
        e = b // part
        if e > 0:
            yield np.where(a > b - e, b, np.where(a < e, 0, a)), b


def chosen_rows(
    platform: Platform, demands: Sequence[Demand], load: Floats, bases: int = 16, site: Site | None = None
) -> Rows:
    """Return the base rows with the greatest load, at most ``bases``, and the roundings of the first one.

    Parameters
    ----------
    platform : Platform
        The nodes.
    demands : sequence of Demand
        The demands of the jobs.
    load : array of float, shape (demands,)
        The seconds that the jobs of each demand run.
    bases : int
        The greatest number of base rows.
    site : Site, optional
        Where the demands may run.
    """
    base = base_rows(platform, demands, site)
    share = (base.a / base.b[:, None]) @ load
    rows = [(base.a[r], int(base.b[r])) for r in np.argsort(-share, kind="stable")[:bases]]
    return _joined([*rows, *(row for a, b in rows[:1] for row in roundings(a, b))], len(demands))


def _fits(request: Vector, capacity: Vector) -> bool:
    return all(r <= c for r, c in zip(request, capacity, strict=True))


def _rows_of(
    classes: Sequence[tuple[Vector, int]], demands: Sequence[Iterable[tuple[int, Vector]]]
) -> Iterator[tuple[Ints, int]]:
    """Yield the rows ``pool`` and ``share`` of some classes (capacity, number of nodes) and the units confined to them."""
    for r in range(len(classes[0][0]) if classes else 0):
        total = sum(n * v[r] for v, n in classes)
        if total == 0:
            continue
        yield np.array([sum(units * q[r] for units, q in d) for d in demands], np.int64), total
        requests = sorted({q[r] for d in demands for _, q in d if q[r] > 0})
        known: set[tuple[int, ...]] = set()
        for least in requests:
            most = tuple(v[r] // least for v, _ in classes)
            if most not in known:  # the smallest request with these numbers counts the most units
                known.add(most)
                count = [sum(units for units, q in d if q[r] >= least) for d in demands]
                yield np.array(count, np.int64), sum(n * m for (_, n), m in zip(classes, most, strict=True))


def _joined(found: Sequence[tuple[Ints, int]], demands: int) -> Rows:
    """Return the rows with coefficients, divided by their greatest common divisor, each once."""
    kept: dict[tuple[int, ...], None] = {}
    for a, b in found:
        if b > 0 and a.any():
            divisor = int(np.gcd.reduce(np.append(a, b)))
            kept[(*(a // divisor).tolist(), b // divisor)] = None
    table = np.array(list(kept), np.int64).reshape(-1, demands + 1)
    return Rows(np.ascontiguousarray(table[:, :-1]), np.ascontiguousarray(table[:, -1]))


# --- Sets of jobs that fit the nodes together: the configurations of an instant (proofs: ``docs/appendix/bounds.md``).

MOST = 4_000  # sets that fit together, at most
STATES = 50  # of the search for nodes for one set


class Sets(NamedTuple):
    """The maximal sets of some items that fit together.

    Parameters
    ----------
    items : array of int, shape (members,)
        The items that the sets are about; other items never count.
    first : array of int, shape (sets + 1,)
        The entries of set s are ``first[s]`` to ``first[s + 1] - 1``.
    member : array of int, shape (entries,)
        Positions in ``items``.
    """

    items: Ints
    first: Ints
    member: Ints


def no_sets() -> Sets:
    """Return sets of no items."""
    return Sets(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64))


def maximal_sets(
    platform: Platform, items: Items, rows: Rows, order: Ints, over: Callable[[], bool], most: int = MOST
) -> Sets:
    """Return the maximal sets that fit together, of as many items as lead to at most ``most`` sets that fit.

    Parameters
    ----------
    platform : Platform
        The nodes.
    items : Items
        The jobs and running jobs.
    rows : Rows
        Rows that all jobs which run together satisfy; they reject most sets at once.
    order : array of int
        The items, the most important ones first.
    over : callable
        Returns whether the time is over; then the sets are of fewer items.
    most : int
        The greatest number of sets that fit, also those that are not maximal.

    Notes
    -----
    If the search for nodes for a set is too long, the set counts as one that fits.
    """
    fits = _Fits(platform, items.demands, rows)
    family: dict[frozenset[int], tuple[int, ...]] = {frozenset(): ()}  # set of items -> its sorted demands
    used: list[int] = []
    for i in order.tolist():
        kind = int(items.kind[i])
        room = most - len(family)
        more: dict[frozenset[int], tuple[int, ...]] = {}
        for members, kinds in family.items():
            together = tuple(sorted((*kinds, kind)))
            if fits(together):
                more[members | {i}] = together
                if len(more) > room or over():
                    break
        if len(more) > room or over():
            break
        family.update(more)
        used.append(i)
    inner = {members - {i} for members in family for i in members}
    maximal = [sorted(members) for members in family if members not in inner and members]
    position = {i: k for k, i in enumerate(sorted(used))}
    return Sets(
        np.array(sorted(used), np.int64),
        offsets([len(s) for s in maximal]),
        np.array([position[i] for s in maximal for i in s], np.int64),
    )


class _Fits:
    """Whether jobs of some demands fit the empty platform together; remembers the answers."""

    def __init__(self, platform: Platform, demands: Sequence[Demand], rows: Rows) -> None:
        self.platform = platform
        self.demands = demands
        self.rows = rows
        self.known: dict[tuple[int, ...], bool] = {}

    def __call__(self, kinds: tuple[int, ...]) -> bool:
        if kinds not in self.known:
            self.known[kinds] = self._test(kinds)
        return self.known[kinds]

    def _test(self, kinds: tuple[int, ...]) -> bool:
        if (self.rows.a[:, list(kinds)].sum(axis=1) > self.rows.b).any():
            return False
        return lack(self.platform, [chunk for k in kinds for chunk in self.demands[k]], STATES) is None


# --- The smoothed Lagrangian dual on one grid, and its maximization.


class Prices(NamedTuple):
    """Prices per second in each cell, not negative.

    Parameters
    ----------
    points : array of int, shape (cells + 1,)
        Grid points in seconds.
    rows : array of float, shape (rows, cells)
        The price of a unit of each row.
    sets : array of float, shape (members, cells)
        The price of each item of the sets.
    """

    points: Ints
    rows: Floats
    sets: Floats

    def on(self, points: Ints) -> Prices:
        """Return the prices on another grid: those at the first second of each cell, 0 behind the last cell."""
        cell = np.searchsorted(self.points, points[:-1], side="right") - 1
        inside = cell < self.points.size - 1
        cell = np.minimum(cell, self.points.size - 2)
        return Prices(points, self.rows[:, cell] * inside, self.sets[:, cell] * inside)


class Dual:
    """The function of prices whose values are bounds.

    Parameters
    ----------
    items, rows, sets
        What is priced.
    points : array of int
        Grid points in seconds.
    scale : float
        A typical price per second of the whole machine: variables are prices divided by it.
    stopped : callable
        Returns whether to stop.

    Raises
    ------
    DualStopped
        If it is to stop before the candidates are made.

    Attributes
    ----------
    best : float
        The greatest bound so far, computed in floating point.
    prices : Prices or None
        Its prices.
    mean : array of float, shape (items,)
        The expected start of each item at the last prices.
    """

    def __init__(
        self, items: Items, rows: Rows, sets: Sets, points: Ints, scale: float, stopped: Callable[[], bool]
    ) -> None:
        self.items = items
        self.rows = rows
        self.sets = sets
        self.points = points
        self.stopped = stopped
        self.grid = points.astype(np.float64)
        self.length = np.diff(points).astype(np.float64)
        self.candidates = candidates(items, points, stopped)
        self.cells = points.size - 1
        members = sets.items.size
        self.a = rows.a.astype(np.float64)
        # kinds of prices: that of each demand, then that of each member of the sets
        self.kind = items.kind.copy()
        self.kind[sets.items] = len(items.demands) + np.arange(members)
        self.of_member = items.kind[sets.items]
        if rows.b.size:
            size = (rows.a / rows.b[:, None]).max(axis=0, initial=0.0)[self.of_member]
        else:
            size = np.ones(members)
        self.scale = scale * np.concatenate([1.0 / rows.b, size])[:, None]
        self.usage = np.zeros((len(items.demands) + members, self.cells))
        self.in_sets = np.zeros((members, self.cells))
        self.mean = np.zeros(items.duration.size)
        self.evaluations = 0
        self.best: float = -np.inf
        self.prices: Prices | None = None

    def value(self, x: Floats, tau: float) -> tuple[float, Floats]:
        """Return minus the smoothed bound of scaled prices, and its gradient; raise DualStopped."""
        if self.stopped():
            raise DualStopped
        self.evaluations += 1
        items = self.items
        rows = self.rows
        c = self.candidates
        y = x.reshape(-1, self.cells) * self.scale
        row = y[: rows.b.size]
        own = np.ascontiguousarray(y[rows.b.size :])
        price = np.einsum("rk,rt->kt", self.a, row)  # not BLAS, whose threads wait for each other on a busy computer
        price = np.concatenate([price, price[self.of_member] + own])
        hard, smooth = cheapest_starts(
            self.grid, price, self.kind, items.duration, c.first, c.start, c.cost, c.begin, c.end, tau, self.usage, self.mean
        )  # fmt: skip
        each = tau * items.duration.size / max(1, self.cells)
        most, smooth_most = dearest_sets(self.length, own, self.sets.first, self.sets.member, each, self.in_sets)
        fixed = items.constant - float((rows.b * (row * self.length).sum(axis=1)).sum())
        if hard - most + fixed > self.best:
            self.best = hard - most + fixed
            self.prices = Prices(self.points, row.copy(), own.copy())
        kinds = len(items.demands)
        used = self.usage[:kinds].copy()
        np.add.at(used, self.of_member, self.usage[kinds:])
        slope = np.concatenate(
            [np.einsum("rk,kt->rt", self.a, used) - rows.b[:, None] * self.length, self.usage[kinds:] - self.in_sets]
        )
        return smooth_most - smooth - fixed, -(slope * self.scale).ravel()

    def maximize(self, start: Prices, tau: float, steps: int) -> Prices:
        """Return better prices, found in at most ``steps`` steps at the temperature ``tau``; raise DualStopped.

        The scaled variables are bounded below by 0. The prices of the best bound are kept in ``prices``.
        """
        x = (np.concatenate([start.rows, start.sets]) / self.scale).ravel()
        y = minimize(lambda z: self.value(z, tau), x, steps).reshape(-1, self.cells) * self.scale
        return Prices(self.points, y[: self.rows.b.size], y[self.rows.b.size :])


# --- The bound of given prices in whole numbers: no rounding error can make it too large.
#
# The prices are rounded down to multiples of 1 / Q, a power of two; any prices that are not negative give a bound. The weights
# of the objective are rounded down to multiples of 1 / Q, too. All further numbers are integers.

BITS = 61  # sums stay below 2^61


class WholePrices(NamedTuple):
    """Prices in multiples of 1 / Q, as prices of the items themselves.

    Parameters
    ----------
    shift : int
        log2 of Q.
    points : array of int, shape (cells + 1,)
        Grid points in seconds.
    price : array of int, shape (items, cells)
        What each item pays per second.
    together : array of int, shape (cells,)
        At least what all items that run together pay per second.
    """

    shift: int
    points: Ints
    price: Ints
    together: Ints


def whole_prices(
    items: Items, points: Ints, rows: Rows, sets: Sets, row_price: Floats, set_price: Floats
) -> WholePrices:
    """Round prices down to multiples of 1 / Q.

    Parameters
    ----------
    items : Items
        The jobs and running jobs.
    points : array of int, shape (cells + 1,)
        Grid points in seconds.
    rows, sets
        The rows and the maximal sets of items.
    row_price : array of float, shape (rows, cells)
        Price per second of a unit of each row; negative ones count as 0.
    set_price : array of float, shape (members, cells)
        Price per second of each item of the sets; negative ones count as 0.
    """
    shift = _shift(items, points, rows, row_price, set_price)
    prices, members = (np.floor(np.maximum(0.0, p) * 2.0**shift).astype(np.int64) for p in (row_price, set_price))
    price = (rows.a.T @ prices)[items.kind]
    price[sets.items] += members
    together = rows.b @ prices
    if sets.first.size > 1:
        together = together + np.add.reduceat(members[sets.member], sets.first[:-1], axis=0).max(axis=0)
    return WholePrices(shift, points, price, together)


def exact_bound(items: Items, prices: WholePrices) -> Fraction:
    """Return the bound of prices on the cost of all schedules."""
    total = sum(_least(items, i, prices) for i in range(items.duration.size))
    length = np.diff(prices.points)
    total -= sum(int(p) * int(n) for p, n in zip(prices.together, length, strict=True))
    return Fraction(total, 1 << prices.shift) + Fraction(rational(items.constant))


def whole_weight(weight: float, shift: int) -> int:
    """Return a weight of the objective in multiples of 1 / Q, rounded down."""
    return int(Fraction(rational(weight)) * (1 << shift))


def _shift(items: Items, points: Ints, rows: Rows, row_price: Floats, set_price: Floats) -> int:
    """Return log2 of Q, so that the costs of all starts and the prices of all runs fit 64 bits."""
    span = float(max(points[-1], items.low.max(initial=0)) - points[0] + items.duration.max(initial=0))
    span += float(np.maximum(0, items.low.max(initial=0) - items.free).max(initial=0))
    dearest = float((rows.a.T @ row_price).max(initial=0.0)) + float(set_price.max(initial=0.0))
    dearest = max(dearest, float((rows.b @ row_price).max(initial=0.0)), float(set_price.sum(axis=0).max(initial=0.0)))
    most = (2.0 + span) * (dearest + float(items.weight.max(initial=0.0)) + 1e-9) + 1.0
    return max(0, min(50, BITS - math.ceil(math.log2(most))))


def _least(items: Items, i: int, prices: WholePrices) -> int:
    """Return the least cost of an item with prices, in multiples of 1 / Q."""
    points = prices.points
    price = prices.price[i]
    weight = whole_weight(float(items.weight[i]), prices.shift)
    if not price.any():  # the earliest start is the cheapest
        over = int(items.low[items.first[i]] - items.free[i])
        if items.late:
            return (over > 0) << prices.shift
        return weight * max(0, over)
    starts = candidate_starts(items, i, points)
    paid = np.concatenate([[0], np.cumsum(price * np.diff(points))])

    def until(time: Ints) -> Ints:
        cell = np.clip(np.searchsorted(points, time, side="right") - 1, 0, price.size - 1)
        least: Ints = paid[cell] + price[cell] * np.minimum(time - points[cell], points[cell + 1] - points[cell])
        return least

    late = starts - items.free[i]
    if items.late:
        cost = (late > 0) * np.int64(1 << prices.shift)
    else:
        cost = weight * np.maximum(0, late)
    return int((cost + until(starts + items.duration[i]) - until(starts)).min())


def rounded_down(bound: Fraction) -> float:
    """Return the greatest float that is not above a fraction."""
    rounded = float(bound)
    if Fraction(rounded) <= bound:
        return rounded
    return math.nextafter(rounded, -math.inf)


CELLS = (200, 600, 1200, 2400)  # of the grids, one after another
TEMPERATURES = (2e-2, 5e-3, 1.5e-3, 5e-4)  # times objective / jobs
STEPS = 300  # of L-BFGS at each temperature
MOST_CANDIDATES = 8_000_000  # jobs x cells, for 40 bytes each
FEW = 60  # jobs up to which sets of jobs that fit together are enumerated
SET_CELLS = 1_500_000  # sets x cells at most
ALPHAS = (0.0, 0.25, 0.5, 1.0)  # shares of the duration in the key of the list order
EXACT_SHARE = 0.1  # of the time limit, kept for the exact bound
SETS_SHARE = 0.3  # of the remaining time, for the sets
NEAR = 0.02  # relative: from this gap on the exact bound is computed after each temperature


@compiled_first("lagrangian:warm_up")
def lagrangian(
    problem: Dispatch,
    *,
    time_limit: float | None = None,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> Result:
    """Compute a bound on the objective, and schedules from the relaxation that leads to it.

    Parameters
    ----------
    problem
        A dispatching problem whose objective is a sum over jobs.
    time_limit
        Seconds; None: until the last grid is done.
    warm_start
        A schedule that is returned if no better one is found; None: that of multi-search.
    on_incumbent
        Called with each Incumbent; return False to stop.

    Returns
    -------
    Result
        With a bound, also if the time limit ends the search. Its ``details``: ``rows``, ``sets`` and ``cells`` of the
        relaxation, ``evaluations`` of the dual.

    Raises
    ------
    NoSchedule
        If no order leads to a schedule, and there is no start.
    LimitsBroken
        If no schedule was found that keeps the limits on objectives.
    """
    seen = Incumbents(problem, "lagrangian", on_incumbent, warm_start, Deadline(time_limit))
    search = Relaxation(problem, seen, seen.deadline)
    with search.clock:
        if search.begin():
            search.improve()
        return search.result()


class Relaxation:
    """The best prices and the best schedule so far."""

    def __init__(self, problem: Dispatch, seen: Incumbents, deadline: Deadline) -> None:
        self.problem = problem
        self.seen = seen
        self.clock = Clock(deadline)
        self.reserved = 0.0
        self._reserve(EXACT_SHARE * (deadline.limit or 0.0))
        self.scheduler = ListScheduler(arrays(problem))
        self.items = items_of(problem)
        self.bound: Fraction | None = None
        self.prices: WholePrices | None = None
        self.details = {"rows": 0, "sets": 0, "cells": 0, "evaluations": 0}

    def begin(self) -> bool:
        """Make the first schedule; return whether the search should go on."""
        self.clock.reserve(AFTERWARDS * self.clock.elapsed)
        if self.seen.start is not None:
            self.schedule = self.seen.start
        else:
            best = place_all_orders(self.scheduler, self.clock, self.seen)
            assert best.placement is not None  # without a start, an ordering has led to a schedule
            self.schedule = self.scheduler.arrays.schedule(*best.placement)
        self.objective = float(self.problem.value(self.schedule))
        return not self.seen.stopped

    def _reserve(self, seconds: float) -> None:
        """Keep time for the exact bound; it takes about as long as the starts that are compared take to make."""
        self.clock.reserve(seconds - self.reserved)
        self.reserved = max(self.reserved, seconds)

    @property
    def over(self) -> bool:
        """Whether the search must end: the time limit, the caller, or a bound that proves the schedule."""
        return self.clock.over or self.seen.stopped

    def improve(self) -> None:
        """Maximize the dual, grid after grid."""
        items = self.items
        jobs = self.problem.jobs
        rows, sets = self._relaxation()
        self.details |= {"rows": int(rows.b.size), "sets": int(sets.first.size - 1)}
        if jobs:
            end = max(self.schedule.start[j.id] + self.problem.duration(j) for j in jobs)
        else:
            end = self.problem.now
        first = uniform(self.problem.now, end, 1)
        self._keep(Prices(first, np.zeros((rows.b.size, 1)), np.zeros((sets.items.size, 1))), rows, sets)
        prices = None
        scale = self._scale(end)
        for grid, points in enumerate(self._grids(end, sets)):
            if self.over or self.proven or scale == 0.0:
                return
            self.details["cells"] = int(points.size - 1)
            began = self.clock.elapsed
            try:
                dual = Dual(items, rows, sets, points, scale, lambda: self.over)
            except DualStopped:
                return
            self._reserve(self.clock.elapsed - began)
            if prices is None:
                prices = self._first_prices(points, rows, sets, scale)
            else:
                prices = prices.on(points)
            with contextlib.suppress(DualStopped):
                for tau in TEMPERATURES[1 if grid else 0 :]:
                    prices = dual.maximize(prices, tau * abs(self.objective) / max(1, items.jobs), STEPS)
                    self._place(dual.mean[: items.jobs])
                    if self._may_prove(dual) or points.size < 100:
                        self._keep(dual.prices, rows, sets)
                        if self.proven:
                            return
            self.details["evaluations"] += dual.evaluations
            self._keep(dual.prices, rows, sets)

    def take(self, schedule: Schedule) -> None:
        """Keep a schedule if it is feasible and better than the best one."""
        value = float(self.problem.value(schedule))
        if improves(self.problem, value, self.objective) and not self.problem.verify(schedule):
            self.schedule = schedule
            self.objective = value
            self.seen.report(value, lambda: schedule)

    def _may_prove(self, dual: Dual) -> bool:
        """Return whether the best bound of a dual is near the schedule: computed exactly it may prove it."""
        return dual.best > self.scheduler.arrays.sign * self.objective - NEAR * abs(self.objective)

    def _relaxation(self) -> tuple[Rows, Sets]:
        """Return the sets of jobs that fit together, of few jobs, and the rows, unless the sets are of all jobs."""
        items = self.items
        platform = self.problem.platform
        load = np.bincount(items.kind, items.duration, len(items.demands)).astype(np.float64)
        rows = chosen_rows(platform, items.demands, load, site=items.site)
        share = (rows.a / rows.b[:, None]).max(axis=0, initial=0.0)[items.kind] * items.duration
        order = np.argsort(-share, kind="stable")
        if items.duration.size > FEW:
            return rows, no_sets()
        end = self.clock.elapsed + SETS_SHARE * self.clock.left
        sets = maximal_sets(
            platform,
            items,
            base_rows(platform, items.demands, items.site),
            order,
            lambda: self.over or self.clock.elapsed > end,
        )
        return (rows.some(np.zeros(0, np.int64)) if sets.items.size == items.duration.size else rows), sets

    def _scale(self, end: int) -> float:
        """Return the greatest cost per second of delaying all waiting jobs of the first schedule."""
        items = self.items
        jobs = self.problem.jobs
        starts = np.array([self.schedule.start[j.id] for j in jobs], np.int64)
        waiting = starts > items.free[: items.jobs]
        if items.late:
            return float(waiting.sum()) / max(1, end - self.problem.now)
        times = np.concatenate([items.free[: items.jobs][waiting], starts[waiting]])
        change = np.concatenate([items.weight[: items.jobs][waiting], -items.weight[: items.jobs][waiting]])
        order = np.lexsort((change, times))
        return max(0.0, float(np.cumsum(change[order]).max(initial=0.0)))

    def _first_prices(self, points: Ints, rows: Rows, sets: Sets, scale: float) -> Prices:
        """Return prices of the row with the most load that fall to 0 at the end."""
        cells = points.size - 1
        fall = scale * (1 - (points[:-1] - points[0]) / (points[-1] - points[0]))
        row = np.zeros((rows.b.size, cells))
        if rows.b.size:
            row[0] = fall / rows.b[0] / 2
        return Prices(points, row, np.zeros((sets.items.size, cells)))

    def _grids(self, end: int, sets: Sets) -> Iterator[Ints]:
        """Yield grids of more and more cells."""
        now = self.problem.now
        items = self.items
        for cells in CELLS:
            if cells > CELLS[0] and (
                cells * items.jobs > MOST_CANDIDATES // 2
                or cells * sets.first.size > SET_CELLS
                or cells > 2 * (end - now)
            ):
                return
            points = uniform(now, end, cells)
            if items.jobs <= FEW:  # prices change where jobs are released, start or end
                events = [t for j in self.problem.jobs for t in self._events(j.id, self.problem.duration(j))]
                points = np.unique(np.concatenate([points, items.release[: items.jobs], np.array(events, np.int64)]))
                points = points[points >= now]
            yield points

    def _events(self, job: str, duration: int) -> tuple[int, int]:
        return self.schedule.start[job], self.schedule.start[job] + duration

    def _place(self, mean: Floats) -> None:
        """Place the jobs in the order of their expected starts plus alpha times their durations; keep the best schedule."""
        duration = self.items.duration[: mean.size]
        for alpha in ALPHAS:
            if self.over:
                return
            try:
                placement = self.scheduler.place(
                    np.argsort(mean + alpha * duration, kind="stable"), stop=self.clock.stop
                )
            except (KernelStopped, NoSchedule):
                continue
            schedule = self.scheduler.arrays.schedule(*placement)
            value = float(self.problem.value(schedule))
            if improves(self.problem, value, self.objective) and not self.problem.verify(schedule):
                self.schedule = schedule
                self.objective = value
                self.seen.report(value, placement=Placement(self.scheduler.arrays, *placement))

    def _keep(self, prices: Prices | None, rows: Rows, sets: Sets) -> None:
        """Compute the exact bound of prices and keep it if it is better."""
        if prices is None:
            return
        whole = whole_prices(self.items, prices.points, rows, sets, prices.rows, prices.sets)
        bound = exact_bound(self.items, whole)
        if self.bound is None or bound > self.bound:
            self.bound = bound
            self.prices = whole

    @property
    def cost_bound(self) -> float | None:
        """The bound on the cost as a float: rounded up to the next value that a cost can have, never above it."""
        if self.bound is None:
            return None
        constant = Fraction(rational(self.items.constant))
        return rounded_down(constant + math.ceil((self.bound - constant) / self.unit) * self.unit)

    @cached_property
    def unit(self) -> Fraction:
        """A number of which all costs are multiples, but for ``Items.constant``."""
        costs = self.problem.costs
        if isinstance(costs, Excess):
            whole = [Fraction(rational(w)) for w in costs.weight.tolist()]
        else:
            whole = [Fraction(1)]
        return Fraction(math.gcd(*(w.numerator for w in whole)) or 1, math.lcm(*(w.denominator for w in whole)))

    @property
    def proven(self) -> bool:
        """Whether the bound proves that the schedule is optimal."""
        bound = self.cost_bound
        return bound is not None and close(abs(self.objective), abs(bound), offset=abs(self.items.constant))

    def result(self) -> Result:
        """Return the result with the best schedule, verified, and the bound."""
        bound = self.cost_bound
        schedule = keeping_limits(self.problem, self.schedule)
        message = "no bound"
        if bound is not None:
            message = f"bound on {how_many(self.details['cells'], 'cell')}"
        result = self.seen.result(schedule, message=message, details=self.details)
        if bound is not None and result.status != "error":
            sign = self.scheduler.arrays.sign
            result.bound = sign * bound
            result.offset = sign * float(self.items.constant)
            if isinstance(result.objective, (int, float)) and close(
                result.objective, result.bound, offset=result.offset
            ):
                result.status = "optimal"
        return result


@cache
def warm_up() -> None:
    """Compile list scheduling and the kernels of the relaxation."""
    warm_up_lists()
    lagrangian(tiny())
