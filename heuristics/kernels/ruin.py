"""Ruin and recreate: remove some jobs from a schedule, insert them again, keep the result if it is accepted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.array_types import Bools, Floats, Ints
from ...models.compiled import by_address, compiled, internal, internal_borrowing
from ...models.schedule_arrays import POSTPONED
from .aggregate import BLOCK, Aggregate, levels, new_aggregate, no_aggregate, recount
from .costs import EARNINGS, Costs, Jobs, book, cooling_cost, cost, penalized, penalty
from .earliest import Scratch, confine, fill_most, new_scratch
from .placement import Hopeless, new_hopeless, place, put_all, put_counted, take_counted
from .profile import NEVER, Machine, Profile, new_profile, segment
from .sorting import sort_places

# --- Arrays of ruin and recreate: the schedule, what a step reads, scratch arrays.

COLUMNS = 48  # about the most columns of the bound: more exclude more starts, but take longer to change


@by_address
class Places(NamedTuple):
    """A schedule that the steps change in place.

    Parameters
    ----------
    starts, nodes
        Start of each job in seconds (``POSTPONED``: none), shape (jobs,); node of each unit, shape (units of all
        jobs,).
    joules
        Energy of the jobs per segment of the ledger in joules, shape (segments,); empty without a ledger.
    """

    starts: Ints
    nodes: Ints
    joules: Floats


@by_address
class Known(NamedTuple):
    """Data that a step reads beside the schedule.

    Parameters
    ----------
    by_start, by_release
        Indices of the scheduled jobs by start, shape (scheduled jobs,); of all jobs by release, shape (jobs,).
    rank
        Waiting jobs with less rank are chosen first, shape (jobs,): power per profit in profit problems, else 0.
    longest
        The longest duration of a job in seconds.
    share
        Share of the platform of one unit of each job, shape (jobs,).
    begin, end
        Time range in seconds in which idle times are searched.
    """

    by_start: Ints
    by_release: Ints
    rank: Floats
    longest: int
    share: Floats
    begin: int
    end: int


@by_address
class Room(NamedTuple):
    """Scratch arrays of a step.

    Parameters
    ----------
    free, key, starts
        Index, key and old start in seconds of each removed job, shape (most removed jobs,).
    is_free
        Whether a job is removed, shape (jobs,).
    nodes, joules
        Old nodes of the removed jobs' units, one job after another; old energy per segment; shapes as in ``Places``.
    target
        1 for each node that the step chose, else 0, shape (nodes,).
    sorted
        Places of the sorted keys or nodes, shape (at least removed jobs, nodes).
    fit, hopeless
        Scratch arrays over nodes; hopeless times of the kinds of jobs.
    bound
        Bound of the whole machine; ``no_aggregate`` if there are heterogeneous jobs.
    blocks
        The bound is counted anew when it has this number of blocks, shape (1,); 0: before the next step.
    """

    free: Ints
    is_free: Bools
    key: Floats
    starts: Ints
    nodes: Ints
    joules: Floats
    target: Ints
    sorted: Ints
    fit: Scratch
    hopeless: Hopeless
    bound: Aggregate
    blocks: Ints


def new_room(machine: Machine, jobs: Jobs, places: Places, most: int) -> Room:
    """Return scratch arrays for this problem and at most ``most`` removed jobs."""
    nodes = machine.capacity.shape[0]
    bound = no_aggregate()
    if jobs.further_units.size == 0:
        spare = jobs.release.size * 2 // BLOCK + machine.taken_node.size * 2 // BLOCK + 4 * most + 4
        bound = new_aggregate(machine, jobs, new_profile(machine, 64), levels(machine, jobs, COLUMNS), spare)
    return Room(
        np.empty(most, np.int64),
        np.zeros(places.starts.size, np.bool_),
        np.empty(most, np.float64),
        np.empty(most, np.int64),
        np.empty(places.nodes.size, np.int64),
        places.joules.copy(),
        np.zeros(nodes, np.int64),
        np.empty(max(most, nodes), np.int64),
        new_scratch(nodes),
        new_hopeless(jobs, 64),
        bound,
        np.zeros(1, np.int64),
    )


# --- Destroy operators: the jobs that a step of ruin and recreate removes from a schedule.
#
# ``AROUND``, ``CONSECUTIVE`` and ``ROOM`` look for an idle time first: the idlest of some random (node, time) pairs.
# ``GIVEN`` removes the jobs that the caller names. ``lns.search`` describes the operators and their parameters.

AROUND, CONSECUTIVE, ROOM, GIVEN = range(4)
MOST_PAIRS = 32  # most (node, time) pairs of which the idlest is chosen
MOST_NODES = 32  # most nodes around which jobs are removed

# columns of the random numbers of a step; each choice has its own
PAIR_NODE = 0
PAIR_TIME = PAIR_NODE + MOST_PAIRS
NODE = PAIR_TIME + MOST_PAIRS
NODES, WINDOW, JOBS, JOBS_FROM, WAITING, WAITING_FROM = range(NODE + MOST_NODES, NODE + MOST_NODES + 6)
NOISE = WAITING_FROM + 1  # and one number more for each removed job


class DestroyRow(NamedTuple):
    """Parameters of one destroy operator; ``lns.search`` describes them.

    Parameters
    ----------
    kind
        AROUND, CONSECUTIVE, ROOM or GIVEN.
    pairs
        Number of random (node, time) pairs.
    nodes
        Number of further nodes: below this number.
    least_window
        Least half width of the time window in seconds.
    window_share
        Greatest half width as a share of the time range.
    jobs_from, jobs_below
        Range of the number of jobs.
    waiting_from, waiting_below
        Range of the number of waiting jobs.
    candidates
        Number of waiting jobs of which one is chosen: by ROOM the largest, else one with the least ``Known.rank``.
    reach
        The jobs are inserted not after the last end of the removed jobs, and not earlier than ``reach`` times the time from
        their first start to their last end before that start; infinite: at any time.
    """

    kind: int
    pairs: int = 1
    nodes: int = 0
    least_window: float = 0.0
    window_share: float = 0.0
    jobs_from: int = 0
    jobs_below: int = 0
    waiting_from: int = 0
    waiting_below: int = 0
    candidates: int = 1
    reach: float = np.inf


REACH = DestroyRow._fields.index("reach")


@internal
def _row_of(values: Floats) -> DestroyRow:
    """Return the parameters in a row of ``Steps.rows``."""
    return DestroyRow(
        int(values[0]),
        int(values[1]),
        int(values[2]),
        values[3],
        values[4],
        int(values[5]),
        int(values[6]),
        int(values[7]),
        int(values[8]),
        int(values[9]),
        values[10],
    )


@internal
def _between(first: int, below: int, draw: float) -> int:
    """Return a whole number in [first, below), by a random number in [0, 1)."""
    return first + int(draw * (below - first))


@internal
def _free(room: Room, size: int, j: int) -> int:
    """Add job j to the removed jobs if it is not among them and there is room; return their number."""
    if room.is_free[j] or size == room.free.size:
        return size
    room.is_free[j] = True
    room.free[size] = j
    return size + 1


@internal
def _shift(draw: float, jobs: Jobs, n: int) -> int:
    """Return where a search through the first n jobs begins: at a random job, or with the first one if that is not among them.

    The jobs that were released first are so preferred: they wait longest.
    """
    shift = int(draw * jobs.release.size)
    return shift if shift < n else 0


@internal
def _insert(room: Room, size: int, most: int, number: int) -> int:
    """Insert a number into ``room.free[:size]``, which is sorted and keeps the ``most`` least ones; return the new size."""
    if size == most:
        if most == 0 or number >= room.free[most - 1]:
            return size
        size -= 1
    k = size
    while k > 0 and room.free[k - 1] > number:
        room.free[k] = room.free[k - 1]
        k -= 1
    room.free[k] = number
    return size + 1


@internal
def _first_from(known: Known, places: Places, t: int) -> int:
    """Return the index in ``by_start`` of the first job that starts at t or later."""
    low, high = 0, known.by_start.size
    while low < high:
        middle = (low + high) // 2
        if places.starts[known.by_start[middle]] < t:
            low = middle + 1
        else:
            high = middle
    return low


@internal
def _released_by(jobs: Jobs, known: Known, t: int) -> int:
    """Return the number of jobs that are released by t; they are the first ones of ``by_release``."""
    low, high = 0, known.by_release.size
    while low < high:
        middle = (low + high) // 2
        if jobs.release[known.by_release[middle]] <= t:
            low = middle + 1
        else:
            high = middle
    return low


@internal
def _idle_moment(profile: Profile, known: Known, room: Room, pairs: int, draw: Floats) -> tuple[int, int]:
    """Return a node and a time: the pair with the most free amounts of some random ones."""
    node = 0
    moment = known.begin
    most = -1.0
    for k in range(pairs):
        n = int(draw[PAIR_NODE + k] * room.target.size)
        t = known.begin + int(draw[PAIR_TIME + k] * (known.end - known.begin))
        i = segment(profile, n, t)
        free = 0.0
        for r in range(profile.free.shape[2]):
            free += profile.free[n, i, r]
        if free > most:
            node = n
            moment = t
            most = free
    return node, moment


@internal
def _mark_nodes(room: Room, node: int, more: int, draw: Floats) -> None:
    """Mark this node and some random ones as the nodes of the step: fewer than ``more``, small numbers more often."""
    for n in range(room.target.size):
        room.target[n] = 0
    room.target[node] = 1
    for k in range(int(draw[NODES] * draw[NODES] * min(room.target.size, more))):
        room.target[int(draw[NODE + k] * room.target.size)] = 1


@internal
def _uses_target(jobs: Jobs, places: Places, room: Room, j: int) -> bool:
    """Return whether a unit of job j is on a marked node."""
    for u in range(jobs.first_unit[j], jobs.first_unit[j + 1]):
        if room.target[places.nodes[u]] == 1:
            return True
    return False


@internal
def _free_around(
    profile: Profile, jobs: Jobs, places: Places, known: Known, room: Room, row: DestroyRow, draw: Floats
) -> int:
    """Choose jobs on some nodes around a time, and some waiting jobs; return their number.

    If there are too many, those count that follow a random job in the order of indices. As the jobs around a time have
    near indices, these are mostly the first submitted ones; any random ones gain less.
    """
    node, t = _idle_moment(profile, known, room, row.pairs, draw)
    _mark_nodes(room, node, row.nodes, draw)
    longest = max(row.least_window, (known.end - known.begin) * row.window_share)
    width = int(row.least_window * (longest / row.least_window) ** draw[WINDOW])
    most = min(room.free.size, _between(row.jobs_from, row.jobs_below, draw[JOBS]))
    size = 0
    n = jobs.release.size
    shift = int(draw[JOBS_FROM] * n)
    for k in range(_first_from(known, places, t - width - known.longest), _first_from(known, places, t + width)):
        j = known.by_start[k]
        start = places.starts[j]  # an earlier step may have changed it
        if start == POSTPONED or start >= t + width or start + jobs.duration[j] <= t - width:
            continue
        if _uses_target(jobs, places, room, j):
            size = _insert(room, size, most, (j - shift) % n)
    for k in range(size):
        j = (room.free[k] + shift) % n
        room.free[k], room.is_free[j] = j, True
    return _add_waiting(jobs, places, known, room, size, row, t + width, draw)


@internal
def _free_consecutive(
    profile: Profile, jobs: Jobs, places: Places, known: Known, room: Room, row: DestroyRow, draw: Floats
) -> int:
    """Choose jobs with consecutive starts around an idle time, and some waiting jobs; return their number."""
    n = known.by_start.size
    _, t = _idle_moment(profile, known, room, row.pairs, draw)
    size = min(n, room.free.size, _between(row.jobs_from, row.jobs_below, draw[JOBS]))
    first = min(max(0, _first_from(known, places, t) - int(draw[JOBS_FROM] * size)), n - size)
    for k in range(size):
        _free(room, k, known.by_start[first + k])
    return _add_waiting(jobs, places, known, room, size, row, t, draw)


@internal
def _waiting_job(jobs: Jobs, places: Places, known: Known, t: int, candidates: int, draw: float) -> int:
    """Return the largest of some jobs released by t that start later or are postponed; -1 if there is none."""
    n = _released_by(jobs, known, t)
    chosen = -1
    most = -1.0
    seen = 0
    shift = _shift(draw, jobs, n)
    for i in range(n):
        j = known.by_release[(i + shift) % n]
        if places.starts[j] == POSTPONED or places.starts[j] > t:
            area = known.share[j] * jobs.units[j] * jobs.duration[j]
            if area > most:
                chosen, most = j, area
            seen += 1
            if seen == candidates:
                break
    return chosen


@internal
def _used(profile: Profile, machine: Machine, n: int, begin: int, end: int) -> float:
    """Return how much of the first resource of node n is in use in [begin, end), in amount-seconds."""
    total = 0.0
    i = segment(profile, n, begin)
    while i < profile.length[n] and profile.time[n, i] < end:
        following = profile.time[n, i + 1] if i + 1 < profile.length[n] else NEVER
        total += (min(end, following) - max(begin, profile.time[n, i])) * (
            machine.capacity[n, 0] - profile.free[n, i, 0]
        )
        i += 1
    return total


@internal
def _free_room(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    places: Places,
    known: Known,
    room: Room,
    row: DestroyRow,
    draw: Floats,
) -> int:
    """Choose a job that waits at an idle time, then the jobs on nodes it could use; return their number."""
    _, t = _idle_moment(profile, known, room, row.pairs, draw)
    chosen = _waiting_job(jobs, places, known, t, row.candidates, draw[WAITING_FROM])
    if chosen < 0:
        return 0
    end = min(known.end, t + jobs.duration[chosen])
    fill_most(machine, room.fit, jobs.request[chosen], jobs.units[chosen])
    confine(machine, room.fit, jobs, chosen)
    for n in range(room.target.size):
        room.fit.score[n] = _used(profile, machine, n, t, end) if room.fit.most[n] > 0 else np.inf
    for n in range(room.target.size):
        room.target[n] = 0
    left = jobs.units[chosen]
    sort_places(room.fit.score, room.target.size, room.sorted)
    for k in range(room.target.size):
        n = room.sorted[k]
        if left > 0:
            room.target[n] = 1
            left -= room.fit.most[n]
    size = _free(room, 0, chosen)
    for k in range(_first_from(known, places, t - known.longest), known.by_start.size):
        j = known.by_start[k]
        if places.starts[j] >= end:
            break
        if j != chosen and places.starts[j] + jobs.duration[j] > t and _uses_target(jobs, places, room, j):
            if size == room.free.size:
                break
            size = _free(room, size, j)
    return size


@internal
def _add_waiting(
    jobs: Jobs, places: Places, known: Known, room: Room, size: int, row: DestroyRow, t: int, draw: Floats
) -> int:
    """Choose more jobs released before t that start at t or later or are postponed; return the new number."""
    wanted = min(room.free.size, size + _between(row.waiting_from, row.waiting_below, draw[WAITING]))
    n = _released_by(jobs, known, t - 1)
    best = -1
    seen = 0
    shift = _shift(draw[WAITING_FROM], jobs, n)
    for i in range(n):
        if size >= wanted:
            break
        j = known.by_release[(i + shift) % n]
        if room.is_free[j] or (places.starts[j] != POSTPONED and places.starts[j] < t):
            continue
        if best < 0 or known.rank[j] < known.rank[best]:
            best = j
        seen += 1
        if seen == row.candidates:
            size = _free(room, size, best)
            best, seen = -1, 0
    if best >= 0 and size < wanted:  # fewer candidates than wanted
        size = _free(room, size, best)
    return size


@internal
def choose(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    places: Places,
    known: Known,
    room: Room,
    values: Floats,
    given: Ints,
    draw: Floats,
) -> int:
    """Write the jobs that a destroy operator removes to ``room.free`` and mark them; return their number.

    Parameters
    ----------
    profile, machine, jobs, places, known
        The schedule, the problem, and the data that a step reads.
    room
        Output: ``free`` and ``is_free``.
    values
        A ``DestroyRow``, shape (fields,).
    given
        The jobs for ``GIVEN``.
    draw
        Random numbers of the step.
    """
    row = _row_of(values)
    if row.kind == AROUND:
        return _free_around(profile, jobs, places, known, room, row, draw)
    if row.kind == CONSECUTIVE:
        return _free_consecutive(profile, jobs, places, known, room, row, draw)
    if row.kind == ROOM:
        return _free_room(profile, machine, jobs, places, known, room, row, draw)
    size = 0
    for k in range(given.size):
        size = _free(room, size, given[k])
    return size


@compiled
def chosen_alone(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    places: Places,
    known: Known,
    room: Room,
    values: Floats,
    draw: Floats,
) -> int:
    """Return ``choose`` for calls from Python, which are needed only beside repair operators in Python."""
    return choose(profile, machine, jobs, places, known, room, values, room.free[:0], draw)


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
        j = room.free[k]
        noise = steps.draws[step, NOISE + k]
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
        first = jobs.first_unit[j]
        last = jobs.first_unit[j + 1]
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
        first = jobs.first_unit[j]
        last = jobs.first_unit[j + 1]
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
        first = jobs.first_unit[j]
        last = jobs.first_unit[j + 1]
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
    change = 0.0
    complete = True
    rest = 0.0  # least cost of the jobs that are not placed yet
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
    total = 0.0
    limited = penalized(costs)
    cheapest = _cheapest(costs)
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
