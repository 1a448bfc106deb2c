"""Ruin and recreate: remove some jobs from a schedule, insert them again, keep the result if it is accepted.

The caller chooses the operators of all steps and draws their random numbers; ``lns.ruin`` has the search around it.

1. The destroy operator of the step chooses jobs to remove (``destroy``).
2. The repair operator of the step gives each removed job a key.
3. Remove the jobs from the profile and place them again by key, each at its earliest start within the reach of the
   operator.
4. Accept if all jobs are placed and the objective is at most ``over_current`` worse than before the step and at most
   ``over_best`` worse than the best one; else restore the old schedule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....models.compiled import compiled, internal, internal_borrowing
from ..aggregate import Aggregate, recount
from ..by_address import by_address
from ..costs import EARNINGS, Costs, Jobs, cost, penalized, penalty
from ..earnings import book, cooling_cost
from ..events.sorting import sort_places
from ..placement import POSTPONED, place, put_all, put_counted, take_counted
from ..profile import NEVER, Floats, Ints, Machine, Profile, new_profile
from .arrays import Known, Places, Room
from .destroy import NOISE, REACH, ROOM, choose

# repair operators; BY_GIVEN: keys by the caller
RANDOM, AREA, WIDTH, DURATION, START, RELEASE, NEAR_START, POWER_PER_PROFIT, WEIGHT_PER_AREA, BY_GIVEN = range(10)

ROUNDING = 1e-9  # relative: errors of sums of costs


@by_address
class Steps(NamedTuple):
    """The operators, random numbers and limits of some steps.

    Parameters
    ----------
    rows
        Parameters of the destroy operators, a ``DestroyRow`` each, shape (operators, fields).
    destroy
        Index of the destroy operator of each step, shape (steps,).
    repair
        Kind of the repair operator of each step, shape (steps,).
    spread
        Spread of the keys of each step, shape (steps,).
    draws
        Random numbers in [0, 1), shape (steps, NOISE + most removed jobs).
    over_current, over_best
        What the objective of an accepted step may be worse than the one before the step, and than the best one, shape
        (steps,).
    given
        Jobs that a step with ``GIVEN`` removes, shape (jobs,).
    given_keys
        Keys of these jobs for ``BY_GIVEN``, shape (jobs,).
    """

    rows: Floats
    destroy: Ints
    repair: Ints
    spread: Floats
    draws: Floats
    over_current: Floats
    over_best: Floats
    given: Ints
    given_keys: Floats


def profile_of(machine: Machine, jobs: Jobs, places: Places) -> Profile:
    """Return the profile of the nodes with all scheduled jobs."""
    every = np.arange(places.starts.size)
    return put_all(new_profile(machine, 64), jobs, every, places.starts, places.nodes, 1)


@internal
def _put(profile: Profile, jobs: Jobs, places: Places, bound: Aggregate, j: int, sign: int) -> Profile:
    """Subtract job j from the profile and the bound where it is scheduled (sign 1) or add it again (sign -1)."""
    if places.starts[j] == POSTPONED:
        return profile
    chosen = places.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
    if sign > 0:
        return put_counted(profile, jobs, bound, j, places.starts[j], chosen)
    return take_counted(profile, jobs, bound, j, places.starts[j], chosen)


@internal
def _book(costs: Costs, jobs: Jobs, places: Places, j: int, sign: float) -> float:
    """Return what job j adds to (sign 1) or takes from (-1) the objective at its start, without its cooling."""
    start = places.starts[j]
    if start == POSTPONED:
        return 0.0
    if costs.mode == EARNINGS:
        return -book(costs.ledger, j, start, start + jobs.duration[j], sign, places.joules)
    return sign * cost(costs, jobs, j, start)


@internal
def _keys(
    jobs: Jobs, costs: Costs, places: Places, known: Known, room: Room, size: int, steps: Steps, step: int
) -> None:
    """Set the keys by which the removed jobs are placed again."""
    kind, spread = steps.repair[step], steps.spread[step]
    for k in range(size):
        j, noise = room.free[k], steps.draws[step, NOISE + k]
        work = known.share[j] * jobs.units[j]
        factor = (1.0 - spread) + 2.0 * spread * noise
        key = noise
        if kind == AREA:
            key = -work * max(1, jobs.duration[j]) * factor
        elif kind == WIDTH:
            key = -work * factor
        elif kind == DURATION:
            key = -jobs.duration[j] * factor
        elif kind == START:
            key = float(known.end if places.starts[j] == POSTPONED else places.starts[j])
        elif kind == RELEASE:
            key = float(jobs.release[j])
        elif kind == NEAR_START:
            key = places.starts[j] + (noise - 0.5) * 2.0 * spread * (known.end - known.begin)
        elif kind == POWER_PER_PROFIT:
            key = costs.ledger.watts[j] / max(1e-12, costs.ledger.gain[j]) * factor
        elif kind == WEIGHT_PER_AREA:
            key = -costs.weight[j] / max(1e-12, work * max(1, jobs.duration[j])) * factor
        elif kind == BY_GIVEN:
            key = steps.given_keys[k]
        room.key[k] = key


@internal
def _take_out(
    profile: Profile, jobs: Jobs, costs: Costs, places: Places, room: Room, size: int
) -> tuple[Profile, float]:
    """Remove the chosen jobs and save their places; return the profile and the change of the objective."""
    change, at = 0.0, 0
    for s in range(places.joules.size):
        room.joules[s] = places.joules[s]
    for k in range(size):
        j = room.free[k]
        first, last = jobs.first_unit[j], jobs.first_unit[j + 1]
        room.starts[k] = places.starts[j]
        for u in range(first, last):
            room.nodes[at + u - first] = places.nodes[u]
        at += last - first
        change += _book(costs, jobs, places, j, -1.0)
        profile = _put(profile, jobs, places, room.bound, j, -1)
        places.starts[j] = POSTPONED
    return profile, change


@internal
def _put_back(profile: Profile, jobs: Jobs, places: Places, room: Room, size: int) -> Profile:
    """Restore the saved places of the removed jobs; return the profile."""
    for k in range(size):
        profile = _put(profile, jobs, places, room.bound, room.free[k], -1)
    at = 0
    for k in range(size):
        j = room.free[k]
        first, last = jobs.first_unit[j], jobs.first_unit[j + 1]
        places.starts[j] = room.starts[k]
        for u in range(first, last):
            places.nodes[u] = room.nodes[at + u - first]
        at += last - first
        profile = _put(profile, jobs, places, room.bound, j, 1)
    for s in range(places.joules.size):
        places.joules[s] = room.joules[s]
    return profile


@internal_borrowing
def _save(jobs: Jobs, places: Places, room: Room, size: int, record: Places) -> None:
    """Write the schedule before this step to ``record``."""
    for j in range(places.starts.size):
        record.starts[j] = places.starts[j]
    for u in range(places.nodes.size):
        record.nodes[u] = places.nodes[u]
    at = 0
    for k in range(size):
        j = room.free[k]
        first, last = jobs.first_unit[j], jobs.first_unit[j + 1]
        record.starts[j] = room.starts[k]
        for u in range(first, last):
            record.nodes[u] = room.nodes[at + u - first]
        at += last - first


@internal
def _cooling_change(costs: Costs, places: Places, room: Room) -> float:
    """Return the change of the cooling cost in euro against the saved energy."""
    change = 0.0
    if costs.mode == EARNINGS:
        for s in range(places.joules.size):
            if places.joules[s] != room.joules[s]:
                change += cooling_cost(costs.ledger, s, places.joules[s]) - cooling_cost(
                    costs.ledger, s, room.joules[s]
                )
    return change


@internal
def _within(jobs: Jobs, room: Room, size: int, reach: float) -> tuple[int, int]:
    """Return the first and the last start of the jobs that are placed again, by ``DestroyRow.reach``."""
    first, last = NEVER, -NEVER
    for k in range(size):
        if room.starts[k] != POSTPONED:
            first = min(first, room.starts[k])
            last = max(last, room.starts[k] + jobs.duration[room.free[k]])
    if last < first or reach == np.inf:
        return -NEVER, NEVER
    return first - int(reach * (last - first)), last


@internal
def _cheapest(costs: Costs) -> float:
    """Return the least energy price in euro per joule; -inf if more energy can cost less, or without a ledger."""
    if costs.mode != EARNINGS:
        return -np.inf
    least, book = np.inf, costs.ledger
    for s in range(book.euro_per_joule.size):
        least = min(least, book.euro_per_joule[s])
        for k in range(book.point[s] + 1, book.point[s + 1]):
            if book.cooling[k] < book.cooling[k - 1]:
                return -np.inf
    return float(least) if least >= 0.0 else -np.inf


@internal
def _at_least(jobs: Jobs, costs: Costs, j: int, cheapest: float) -> float:
    """Return a lower bound of what job j adds to the objective; ``cheapest``: see ``_cheapest``."""
    if costs.mode != EARNINGS:
        return cost(costs, jobs, j, jobs.release[j])
    return float(-max(0.0, jobs.duration[j] * (costs.ledger.gain[j] - costs.ledger.watts[j] * cheapest)))


@internal
def _put_in(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    costs: Costs,
    places: Places,
    room: Room,
    size: int,
    reach: float,
    most: float,
    cheapest: float,
) -> tuple[Profile, float, bool]:
    """Place the removed jobs by key; return the profile, the change of the objective, and if all are placed.

    Give up when the change is certain to exceed ``most``.
    """
    change, complete, rest = 0.0, True, 0.0  # rest: least cost of the jobs that are not placed yet
    for k in range(size):
        rest += _at_least(jobs, costs, room.free[k], cheapest)
    first, last = _within(jobs, room, size, reach)
    for k in range(room.hopeless.end.size):
        room.hopeless.end[k] = 0
    sort_places(room.key, size, room.sorted)
    for k in range(size):
        j = room.free[room.sorted[k]]
        chosen = places.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        places.starts[j], profile = place(
            profile, machine, jobs, room.fit, room.hopeless, room.bound, j, first, last, chosen
        )
        if places.starts[j] == POSTPONED and not costs.may_postpone[j]:
            complete = False
        change += _book(costs, jobs, places, j, 1.0)
        rest -= _at_least(jobs, costs, j, cheapest)
        if not complete or change + _cooling_change(costs, places, room) + rest > most:
            return profile, change, False
    return profile, change, complete


@compiled
def ruin_and_recreate(
    machine: Machine,
    jobs: Jobs,
    costs: Costs,
    places: Places,
    profile: Profile,
    known: Known,
    room: Room,
    steps: Steps,
    current: float,
    best: float,
    record: Places,
    stop: Ints,
) -> tuple[Profile, float, float]:
    """Make the steps.

    Parameters
    ----------
    machine, jobs, costs
        The problem, see ``Arrays``.
    places, profile
        The schedule and its profile; both are changed in place.
    known, room
        Data that the steps read, and scratch arrays.
    steps
        Operators, random numbers and limits of the steps.
    current, best
        Objective of the schedule, and of the best schedule of the search; to be minimized.
    record
        Output: the best schedule that the steps found and left for a worse one, if it is better than ``best``.
    stop
        ``stop`` of a ``Clock``; no further step if it is set.

    Returns
    -------
    tuple
        The profile, the change of the objective, and the objective of ``record`` (``best`` if none was written).
    """
    total, limited, cheapest = 0.0, penalized(costs), _cheapest(costs)
    fine = penalty(costs, jobs, places.starts)
    for d in range(steps.destroy.size):
        if stop[0] != 0:
            break
        if room.bound.groups > 0 and room.bound.blocks[0] >= room.blocks[0]:
            recount(room.bound, profile)
            room.blocks[0] = room.bound.blocks[0] * 3 // 2 + 2  # the step may add spare blocks, see new_room
        row = steps.rows[steps.destroy[d]]
        size = choose(profile, machine, jobs, places, known, room, row, steps.given, steps.draws[d])
        _keys(jobs, costs, places, known, room, size, steps, d)
        if row[0] == ROOM and size > 0:  # the waiting job comes first
            room.key[0] = -np.inf
        profile, less = _take_out(profile, jobs, costs, places, room, size)
        now = current + total
        most = min(steps.over_current[d], steps.over_best[d] + min(best, now) - now) - less
        if limited:  # a step that mends a broken limit may cost more
            most = np.inf
        profile, more, complete = _put_in(
            profile, machine, jobs, costs, places, room, size, row[REACH], most + ROUNDING * (1 + abs(now)), cheapest
        )
        after = penalty(costs, jobs, places.starts) if limited and complete else fine
        change = less + more + _cooling_change(costs, places, room) + (after - fine)
        worse = current + total + change - min(best, current + total)
        if complete and change <= steps.over_current[d] and worse <= steps.over_best[d]:
            if change > 0 and current + total < best:
                best = current + total
                _save(jobs, places, room, size, record)
            total += change
            fine = after
        else:
            profile = _put_back(profile, jobs, places, room, size)
        for k in range(size):
            room.is_free[room.free[k]] = False
    return profile, total, best
