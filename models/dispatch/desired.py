"""A desired profile of use in a dispatching problem: contradictions, the check of schedules, over-utilisation as a cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import language as sl
from ..arguments import is_real, shown
from ..array_types import Floats, Ints
from ..language import Expression, Interval, Violation
from ..platform import ProblemError
from ..problem import Schedule, part_name
from ..words import how_many
from .jobs import DAY, Job

if TYPE_CHECKING:
    from ..desired_profile import DesiredProfile
    from .arrays import DispatchData
    from .jobs import Running


# --- Contradictions between a desired profile and a dispatching problem.

Shape = tuple[tuple[int, tuple[int, ...]], ...]
MOST = 3  # jobs that are named
POWER_OF_MACHINE = ""


def desired_faults(p: DispatchData) -> list[str]:
    """Return a message for each contradiction between the profile of a problem and its other data."""
    from ..desired_profile import DesiredProfile  # profiles are made from problems, too

    if p.desired is None:
        if p.over_cost is None:
            return []
        return ["over_cost is given without a desired profile; give both (desired=...)"]
    if not isinstance(p.desired, DesiredProfile):
        return [f"desired is {shown(p.desired)}; expected a DesiredProfile"]
    if p.desired.platform != p.platform:
        return [f"desired: a profile of {p.desired.platform!r}; expected one of {p.platform!r}"]
    if p.over_cost is not None and (not is_real(p.over_cost) or not 0 <= p.over_cost < math.inf):
        return [f"over_cost is {shown(p.over_cost)}; expected the cost of an amount-hour, a number of at least 0"]
    if p.desired.power is not None:
        without = [j.id for j in (*p.jobs, *(r.job for r in p.running)) if j.power is None]
        if without:
            return [
                f"the desired profile has a wish for power, but job {without[0]!r} has no power ({how_many(len(without), 'such job')})"
            ]
    if p.over_cost is None:
        never = list(_never(p))
        if never:
            return never
    try:
        last = p.replace(desired=None, over_cost=None).horizon  # that of the profile waits for its last step
        p.desired.check_covers(p.now, last, "problem")
    except ProblemError as e:
        return [str(e)]
    return []


def shape_of(job: Job, resources: tuple[str, ...]) -> Shape:
    """Return units and request of each chunk of a job."""
    return tuple((part.units, tuple(part.request.get(r, 0) for r in resources)) for part in job.parts)


def _never(p: DispatchData) -> list[str]:
    """Return a message for the jobs that the empty machine can hold at no time within the hard profile."""
    assert p.desired is not None
    empty, resources = p.desired.empty_machine, p.platform.resources
    known: dict[Any, bool] = {}
    jobs: list[Job] = []
    for job in p.jobs:
        shape = shape_of(job, resources)
        duration = p.duration(job)
        begin = 0
        if not p.desired.period:
            begin = p.earliest(job)
        key = (shape, duration, begin)
        if key not in known:
            known[key] = empty.first_start(shape, duration, begin) is None
        if known[key]:
            jobs.append(job)
    if p.desired.power is not None:
        most = max(p.desired.power.amounts)
        jobs += [j for j in p.jobs if (j.power or 0.0) > most and j not in jobs]
    texts = [
        f"job {j.id!r}: {how_many(j.units, 'unit')} of {dict(j.request)} for {p.duration(j)} s fit at no time within the desired profile, "
        "even on the empty machine"
        for j in jobs[:MOST]
    ]
    if jobs:
        texts.append(
            f"({how_many(len(jobs), 'such job')}) shares are of each node: raise them, wish for some node groups only, or give the "
            "profile a cost (over_cost)"
        )
    return texts


def waits(p: DispatchData, profile: DesiredProfile) -> tuple[int, int]:
    """Return how long a profile may delay the jobs although the machine is otherwise empty.

    A hard profile delays a job that the empty machine cannot hold at all times; an optimal schedule with a soft one also a
    job that alone uses more than is desired at some time. With a period, a job waits less than one period on an empty
    machine: else all later jobs could start a period earlier at the same cost.

    Returns
    -------
    tuple of int
        The time in seconds from which on a profile without period has no more steps (``now`` if there are none), and the
        sum of the greatest delays of the jobs in seconds.
    """
    period = profile.period
    least = _least_totals(p, profile)
    resources = p.platform.resources
    known: dict[Shape, bool] = {}
    total, held = 0, False
    for job in p.jobs:
        shape = shape_of(job, resources)
        if shape not in known:
            known[shape] = profile.empty_machine.always(shape) and all(
                sum(units * request[k] for units, request in shape) <= least[r] for k, r in enumerate(resources)
            )
        if known[shape] and (job.power or 0.0) <= least[POWER_OF_MACHINE]:
            continue
        held = True
        if period is not None:
            if p.calendar(job):
                total += math.lcm(period, DAY)
            else:
                total += period
    return (profile.last_change if held and period is None else p.now), total


def _least_totals(p: DispatchData, profile: DesiredProfile) -> dict[str, float]:
    """Return for each resource the least desired amount of the machine; infinite for a power that is not wished."""
    totals = {
        r: sum(g.count * min(profile.of(g.name, r).amounts) for g in p.platform.groups) for r in p.platform.resources
    }
    if profile.power is None:
        power = math.inf
    else:
        power = min(profile.power.amounts)
    return {**totals, POWER_OF_MACHINE: power}


# --- The check of schedules against a desired profile, and their over-utilisation, from the data alone.
#
# It shares nothing with ``levels`` and ``over``, from which models and searches are made.

NEAR = 1e-6  # desired amounts this much below a whole number are the whole number
Amounts = Mapping[str, int]
Numbers = NDArray[np.float64]


class Use(NamedTuple):
    """An amount in use in [begin, end), in seconds, by a job of the problem (``own``) or by a running job."""

    begin: int
    end: int
    amount: float
    own: bool


def excess_on_nodes(problem: DispatchData, profile: DesiredProfile, schedule: Schedule) -> Iterator[Violation]:
    """Yield for each node and resource the first time at which jobs of the problem use more than a hard profile allows."""
    group = {node: g for g in problem.platform.groups for node in g.nodes}
    on_nodes: dict[tuple[str, str], list[Use]] = {}
    for begin, end, nodes, request, own in _runs(problem, schedule):
        for node, units in nodes.items():
            for resource, amount in request.items():
                if amount * units and node in group and (group[node].name, resource) in profile.steps:
                    on_nodes.setdefault((node, resource), []).append(Use(begin, end, amount * units, own))
    for (node, resource), uses in on_nodes.items():
        steps = profile.of(group[node].name, resource)
        yield from _first(uses, steps.pieces, resource, f"node {node!r}", problem.now)
    if profile.power is not None:
        yield from _first(list(_powers(problem, schedule)), profile.power.pieces, "W", "the machine", problem.now)


def over_hours(problem: DispatchData, schedule: Schedule) -> float:
    """Return the over-utilisation of the machine by a schedule of all jobs, in amount-hours; 0 without a profile.

    The desired amounts of the machine are rounded down to thousandths.
    """
    profile = problem.desired
    if profile is None:
        return 0.0
    total = 0.0
    for resource in profile.wished:
        power = resource == "power" and "power" not in problem.platform.resources
        uses = list(_powers(problem, schedule) if power else _of_machine(problem, schedule, resource))
        last = max((u.end for u in uses), default=problem.now)
        if last <= problem.now:
            continue
        at, wish = profile.totals(resource, problem.now, last)
        times = np.unique([t for u in uses for t in (u.begin, u.end)] + at.tolist())
        times = times[(times >= problem.now) & (times <= last)]
        allowed = wish[np.searchsorted(at, times, side="right") - 1]
        allowed = np.where(np.isfinite(allowed), np.floor(allowed * 1000 + NEAR) / 1000, allowed)
        above = np.maximum(0, _in_use(uses, times) - allowed)
        total += math.fsum((above[:-1] * np.diff(times)).tolist())
    return total / 3600


def _runs(problem: DispatchData, schedule: Schedule) -> Iterator[tuple[int, int, Amounts, Amounts, bool]]:
    """Yield (begin, end, units on nodes, request, whether of the problem) of all runs, chunk by chunk."""
    for job in problem.jobs:
        if job.id in schedule.start:
            begin = schedule.start[job.id]
            for k, part in enumerate(job.parts):
                nodes = schedule.nodes.get(part_name(job.id, k), {})
                yield begin, begin + problem.duration(job), nodes, part.request, True
    for r in problem.running:
        yield problem.now, r.end, r.nodes, r.job.request, False


def _of_machine(problem: DispatchData, schedule: Schedule, resource: str) -> Iterator[Use]:
    for job in problem.jobs:
        begin = schedule.start[job.id]
        amount = sum(part.units * part.request.get(resource, 0) for part in job.parts)
        yield Use(begin, begin + problem.duration(job), amount, True)
    for r in problem.running:
        yield Use(problem.now, r.end, sum(r.nodes.values()) * r.job.request.get(resource, 0), False)


def _powers(problem: DispatchData, schedule: Schedule) -> Iterator[Use]:
    for job in problem.jobs:
        if job.id in schedule.start:
            begin = schedule.start[job.id]
            yield Use(begin, begin + problem.duration(job), round(job.power or 0.0, 3), True)
    for r in problem.running:
        yield Use(problem.now, r.end, round(r.job.power or 0.0, 3), False)


def _in_use(uses: Iterable[Use], times: NDArray[np.int64]) -> Numbers:
    """Return the amount in use at each time."""
    amounts = np.zeros(times.size)
    for begin, end, amount, _ in uses:
        if begin < end:
            amounts[np.searchsorted(times, begin) : np.searchsorted(times, end)] += amount
    return amounts


def _first(uses: list[Use], pieces: object, resource: str, where: str, now: int) -> Iterator[Violation]:
    """Yield the first time at which own jobs and running jobs together use more than allowed."""
    own = [u for u in uses if u.own and u.begin < u.end]
    others = [u for u in uses if not u.own]
    if not own:
        return
    begin = min(now, *(u.begin for u in own))
    last = max(u.end for u in own)
    steps = list(pieces(begin, last))  # type: ignore[operator]
    at = np.array([a for a, _, _ in steps])
    whole = 1.0
    if resource == "W":
        whole = 1000.0
    wish = np.array([math.floor(v * whole + NEAR) / whole if math.isfinite(v) else v for _, _, v in steps])
    times = np.unique([*(t for u in uses for t in (u.begin, u.end) if begin <= t < last), *at.tolist()])
    mine = _in_use(own, times)
    held = _in_use(others, times)
    desired = wish[np.searchsorted(at, times, side="right") - 1]
    allowed = np.maximum(desired, held)
    over = np.flatnonzero((mine > 0) & (mine + held > allowed + NEAR))
    if over.size:
        k = int(over[0])
        used = mine[k] + held[k]
        most = allowed[k]
        beside = ""
        if held[k] > desired[k]:
            beside = f", of which running jobs use {held[k]:g}"
        text = f"{where} at {times[k]}: {used:g} {resource} in use{beside}; the desired profile allows {desired[k]:g}"
        yield Violation(where.removeprefix("node ").strip("'"), float(used - most), text)


# --- The over-utilisation of the machine as a cost of the starts of jobs: data for kernels, expressions for models.

MILLI = 1000  # amounts are counted in thousandths: desired amounts are shares of capacities
HOUR = 3600
OVERLAPS = 1_000  # of a model: CP-SAT has about five variables for each of them
FEWEST = 12  # cells of a model
GROWTH = 8.0  # the last cell is about exp(GROWTH) times as long as the first one: the near future counts most
ROUNDING = 1e-6
POWER = "power"


class Row(NamedTuple):
    """One resource: what the jobs may use without cost, and what they use; in thousandths.

    Parameters
    ----------
    times : array of int, shape (steps,)
        Increasing times in seconds, the first one is now.
    level : array of int, shape (steps,)
        The desired amount of the machine less what the running jobs use, from each time on; negative if these use more.
    demand : array of int, shape (jobs,)
        What each job uses.
    most : int
        The greatest use of the jobs together.
    """

    times: Ints
    level: Ints
    demand: Ints
    most: int

    def beside(self, begin: Ints, end: Ints, demand: Ints) -> Row:
        """Return the row of some jobs beside others that run in [begin, end) (seconds); ``demand``: of the others."""
        times = np.unique(np.concatenate([self.times, begin, end]))
        level = self.level[np.maximum(0, np.searchsorted(self.times, times, side="right") - 1)]
        for at, sign in ((begin, 1), (end, -1)):
            order = np.argsort(at, kind="stable")
            total = np.concatenate([[0], np.cumsum(demand[order])])
            level = level - sign * total[np.searchsorted(at[order], times, side="right")]
        return self._replace(times=times, level=level)

    def volume(self) -> float:
        """Return the volume above the level without any of the jobs, in thousandths of an amount times seconds."""
        return float((np.maximum(0, -self.level)[:-1] * np.diff(self.times)).sum())


@dataclass(frozen=True, eq=False)
class OverCost:
    """The cost of the over-utilisation of a problem.

    Parameters
    ----------
    price : float
        The cost of a thousandth of an amount above the profile for one second.
    rows : tuple of Row
        The resources with a wish.
    """

    price: float
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, problem: DispatchData, profile: DesiredProfile, until: int) -> OverCost | None:
        """Return the cost of a problem with a profile up to a time in seconds; None if the profile is a hard one."""
        if problem.over_cost is None:
            return None
        rows = []
        for resource in profile.wished:
            times, wish = profile.totals(resource, problem.now, max(until, problem.now + 1))
            own = resource == POWER and POWER not in problem.platform.resources
            if own:
                capacity = math.inf
            else:
                capacity = problem.platform.total(resource)
            level = np.floor(np.minimum(wish, 2.0**40) * MILLI + ROUNDING).astype(np.int64)
            use = [(r.end, _use(r, resource, own)) for r in problem.running if r.end > problem.now]
            demand = np.array(
                [_watts(j.power) if own else MILLI * sum(p.units * p.request.get(resource, 0) for p in j.parts) for j in problem.jobs],
                np.int64,
            )  # fmt: skip
            row = Row(times, level, demand, int(min(MILLI * capacity, demand.sum())))
            ends = np.array([end for end, _ in use], np.int64)
            rows.append(row.beside(np.full(ends.size, problem.now), ends, np.array([a for _, a in use], np.int64)))
        return cls(problem.over_cost / (MILLI * HOUR), tuple(rows))

    def terms(self, intervals: Sequence[Interval]) -> tuple[list[Expression], list[float]]:
        """Return expressions of the intervals of the jobs, and their weights: the weighted sum is the cost in a model."""
        made: list[Expression] = []
        weights: list[float] = []
        for row in self.rows:
            end = max((v.start_hi + v.size_hi for v in intervals), default=0)
            for begin, stop, room in _cells(row, int(row.demand.sum()), end, len(intervals) * len(self.rows)):
                inside = [
                    (v, a)
                    for v, a in zip(intervals, row.demand.tolist(), strict=True)
                    if a and v.start_lo < stop and v.start_hi + v.size_hi > begin
                ]
                divisor = math.gcd(room, *(a for _, a in inside)) or 1
                overlaps = [sl.overlap(v, begin, stop) for v, _ in inside]
                use = sl.sum(overlaps, weights=[a // divisor for _, a in inside])
                made.append(sl.positive_part(use - room // divisor))
                weights.append(self.price * divisor)
        return made, weights

    def value(self, begin: Ints, end: Ints) -> float:
        """Return the cost if the jobs run in [begin, end), in seconds, shape (jobs,)."""
        return self.price * sum(row.beside(begin, end, row.demand).volume() for row in self.rows)

    def beside(self, begin: Ints, end: Ints, jobs: Ints, others: Ints) -> OverCost:
        """Return the cost of other jobs while some jobs (indices) run in [begin, end), in seconds; it includes theirs."""
        rows = (row.beside(begin, end, row.demand[jobs]) for row in self.rows)
        return OverCost(self.price, tuple(row._replace(demand=row.demand[others]) for row in rows))

    @property
    def flat(self) -> tuple[float, Ints, Ints, Ints, Ints]:
        """Price, first step of each row, times, levels and demands (rows, jobs), for kernels."""
        first = np.concatenate([[0], np.cumsum([row.times.size for row in self.rows])]).astype(np.int64)
        return (
            self.price,
            first,
            np.concatenate([row.times for row in self.rows]),
            np.concatenate([row.level for row in self.rows]),
            np.stack([row.demand for row in self.rows]),
        )

    def greatest(self, duration: Ints) -> float:
        """Return an upper bound of the cost, for jobs with these durations in seconds."""
        own: Floats = np.array([float(row.demand @ duration) for row in self.rows])
        return self.price * float(own.sum() + sum(row.volume() for row in self.rows))


def _use(r: Running, resource: str, power: bool) -> int:
    if power:
        return _watts(r.job.power)
    return MILLI * sum(r.nodes.values()) * r.job.request.get(resource, 0)


def _watts(power: float | None) -> int:
    """Return a power in thousandths of a watt."""
    return round(MILLI * (power or 0.0))


def _cells(row: Row, demand: int, end: int, jobs: int) -> list[tuple[int, int, int]]:
    """Return (begin, end, room): the cells in which the use can exceed the level, and the integral of the level there."""
    stops = [*row.times[1:].tolist(), max(end, int(row.times[-1]))]
    most = min(row.most, demand)
    steps = [
        (a, b, g)
        for a, b, g in zip(row.times.tolist(), stops, row.level.tolist(), strict=True)
        if a < b and (most > g or g < 0)
    ]
    number = max(FEWEST, OVERLAPS // max(1, jobs))
    bounds = _bounds(sum(b - a for a, b, _ in steps), number)
    cells, passed = [], 0
    for a, b, g in steps:
        inner = bounds[np.searchsorted(bounds, passed, side="right") : np.searchsorted(bounds, passed + b - a)]
        cuts = [a, *(a + inner - passed).tolist(), b]
        cells += [(lo, hi, g * (hi - lo)) for lo, hi in pairwise(cuts)]
        passed += b - a
    return cells


def _bounds(length: int, number: int) -> Ints:
    """Return the bounds of about ``number`` cells of 0 to ``length`` seconds: of one second, or shorter ones first."""
    if length <= number:
        return np.arange(length + 1)
    growing = np.expm1(GROWTH * np.arange(number + 1) / number) / math.expm1(GROWTH)
    return np.unique(np.round(length * growing).astype(np.int64))
