"""The check of schedules against a desired profile, and their over-utilisation, from the data alone.

It shares nothing with ``levels`` and ``over``, from which models and searches are made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...language import Violation
from ...problem import Schedule, part_name

if TYPE_CHECKING:
    from ..problem import Dispatch

NEAR = 1e-6  # desired amounts this much below a whole number are the whole number
Amounts = Mapping[str, int]
Numbers = NDArray[np.float64]


class Use(NamedTuple):
    """An amount in use in [begin, end), in seconds, by a job of the problem (``own``) or by a running job."""

    begin: int
    end: int
    amount: float
    own: bool


def excess_on_nodes(problem: Dispatch, schedule: Schedule) -> Iterator[Violation]:
    """Yield for each node and resource the first time at which jobs of the problem use more than a hard profile allows."""
    profile = problem.desired
    if profile is None or problem.over_cost is not None:
        return
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


def over_hours(problem: Dispatch, schedule: Schedule) -> float:
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


def _runs(problem: Dispatch, schedule: Schedule) -> Iterator[tuple[int, int, Amounts, Amounts, bool]]:
    """Yield (begin, end, units on nodes, request, whether of the problem) of all runs, chunk by chunk."""
    for job in problem.jobs:
        if job.id in schedule.start:
            begin = schedule.start[job.id]
            for k, part in enumerate(job.parts):
                nodes = schedule.nodes.get(part_name(job.id, k), {})
                yield begin, begin + problem.duration(job), nodes, part.request, True
    for r in problem.running:
        yield problem.now, r.end, r.nodes, r.job.request, False


def _of_machine(problem: Dispatch, schedule: Schedule, resource: str) -> Iterator[Use]:
    for job in problem.jobs:
        begin = schedule.start[job.id]
        amount = sum(part.units * part.request.get(resource, 0) for part in job.parts)
        yield Use(begin, begin + problem.duration(job), amount, True)
    for r in problem.running:
        yield Use(problem.now, r.end, sum(r.nodes.values()) * r.job.request.get(resource, 0), False)


def _powers(problem: Dispatch, schedule: Schedule) -> Iterator[Use]:
    for job in problem.jobs:
        if job.id in schedule.start:
            begin = schedule.start[job.id]
            yield Use(begin, begin + problem.duration(job), round(job.power or 0.0, 3), True)
    for r in problem.running:
        yield Use(problem.now, r.end, round(r.job.power or 0.0, 3), False)


def _in_use(uses: Iterable[Use], times: NDArray[np.int64]) -> Numbers:
    """Return the amount in use at each time."""
    found = np.zeros(times.size)
    for begin, end, amount, _ in uses:
        if begin < end:
            found[np.searchsorted(times, begin) : np.searchsorted(times, end)] += amount
    return found


def _first(uses: list[Use], pieces: object, resource: str, where: str, now: int) -> Iterator[Violation]:
    """Yield the first time at which own jobs and running jobs together use more than allowed."""
    own, others = [u for u in uses if u.own and u.begin < u.end], [u for u in uses if not u.own]
    if not own:
        return
    begin, last = min(now, *(u.begin for u in own)), max(u.end for u in own)
    steps = list(pieces(begin, last))  # type: ignore[operator]
    at = np.array([a for a, _, _ in steps])
    whole = 1000.0 if resource == "W" else 1.0
    wish = np.array([math.floor(v * whole + NEAR) / whole if math.isfinite(v) else v for _, _, v in steps])
    times = np.unique([*(t for u in uses for t in (u.begin, u.end) if begin <= t < last), *at.tolist()])
    mine, held = _in_use(own, times), _in_use(others, times)
    desired = wish[np.searchsorted(at, times, side="right") - 1]
    allowed = np.maximum(desired, held)
    over = np.flatnonzero((mine > 0) & (mine + held > allowed + NEAR))
    if over.size:
        k = int(over[0])
        used, most = mine[k] + held[k], allowed[k]
        beside = f", of which running jobs use {held[k]:g}" if held[k] > desired[k] else ""
        text = f"{where} at {times[k]}: {used:g} {resource} in use{beside}; the desired profile allows {desired[k]:g}"
        yield Violation(where.removeprefix("node ").strip("'"), float(used - most), text)
