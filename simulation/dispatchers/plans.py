"""Policies that plan the whole queue at each decision, and search for better plans; compiled.

The free amounts are kept by node, or in slices of time. In slices, a plan that a search has tried is taken back job by job,
instead of a copy of the free amounts for each. The starts and nodes are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...backends import UnknownName
from ...errors import WrongValue
from ...heuristics.kernels.earliest import Scratch, new_scratch
from ...heuristics.kernels.events.rules import Planning, Rules, rank, step
from ...heuristics.kernels.events.slices import (
    FULL,
    GOING,
    OVER,
    PENDING,
    Slices,
    choose,
    earliest_allowed,
    has_room,
    hold,
    let_go,
    set_running,
    slice_at,
)
from ...heuristics.kernels.events.state import (
    DECISIONS,
    NOW,
    RUNNING,
    SORTED,
    WAITING,
    State,
    TraceArrays,
    begin,
    compact,
    count_job,
    exceeds,
    has_chunks,
    held,
    keep_places,
    may_start,
)
from ...heuristics.kernels.profile import NEVER, Profile
from ...heuristics.kernels.sorting import sort_by
from ...models.array_types import Floats, Ints
from ...models.compiled import compiled, internal, internal_borrowing
from ...models.registry import Registry, Seconds, WrongOption
from .conservative import reserve, running_profile
from .policy import Key, Plan, Policy, by_duration, by_slowdown, by_submit

# --- Lower bounds of earliest starts within one plan; compiled.
#
# While a plan is built, jobs are only added to the profile of the free capacity. So if a job of ``u`` units and duration
# ``d`` has its earliest start at ``t``, no later job of the same request with at least ``u`` units and duration ``d``
# starts before ``t``. The last results of each distinct request are kept.

SLOTS = 24  # results kept for each distinct request


class Known(NamedTuple):
    """Earliest starts that are known, for each distinct request.

    Parameters
    ----------
    number
        Number of results so far, shape (kinds,).
    units, duration, start
        Units, duration in seconds and earliest start in seconds of each result, shape (kinds, SLOTS).
    """

    number: Ints
    units: Ints
    duration: Ints
    start: Ints


@internal
def new_known(kinds: int) -> Known:
    """Return no results for this number of distinct requests."""
    shape = (kinds, SLOTS)
    return Known(
        np.zeros(kinds, np.int64), np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape, np.int64)
    )


@internal
def not_before(known: Known, kind: int, units: int, duration: int, now: int) -> int:
    """Return a time in seconds, at least ``now``, before which such a job cannot start."""
    earliest = now
    for i in range(min(SLOTS, known.number[kind])):
        if known.start[kind, i] > earliest and known.units[kind, i] <= units and known.duration[kind, i] <= duration:
            earliest = known.start[kind, i]
    return int(earliest)


@internal
def remember(known: Known, kind: int, units: int, duration: int, start: int) -> None:
    """Keep the earliest start of a job; it replaces a result that it implies, else the oldest one."""
    n = known.number[kind]
    at = n % SLOTS
    for i in range(min(SLOTS, n)):
        implied = known.units[kind, i] >= units and known.duration[kind, i] >= duration
        if implied and known.start[kind, i] <= start:
            known.units[kind, i] = units
            known.duration[kind, i] = duration
            known.start[kind, i] = start
            return
    known.units[kind, at] = units
    known.duration[kind, at] = duration
    known.start[kind, at] = start
    known.number[kind] = n + 1


# --- Fair waits of jobs, keys that weigh their work, and overdue jobs; compiled.
#
# The *fair wait* of a job is the time that the whole machine needs for what runs and waits when the job arrives, and for
# the job itself, by expected durations: without idle capacity, first come, first served starts the job within it.


@internal_borrowing
def _amount(trace: TraceArrays, j: int, r: int) -> int:
    """Return what all units of job j request of resource r."""
    total = trace.units[j] * trace.request[j, r]
    for row in range(trace.first_further[j], trace.first_further[j + 1]):
        total += trace.further_units[row] * trace.further_request[row, r]
    return int(total)


@internal_borrowing
def _add(trace: TraceArrays, ahead: Floats, j: int, seconds: int) -> None:
    """Add the amounts of job j times seconds to the work ``ahead``, shape (resources + machine resources,)."""
    resources = trace.request.shape[1]
    for r in range(resources):
        ahead[r] += max(1, seconds) * _amount(trace, j, r)
    for r in range(resources, ahead.size):
        ahead[r] += max(1, seconds) * trace.machine_request[j, r - resources]


@internal_borrowing
def _machine_time(ahead: Floats, total: Floats) -> float:
    """Return the seconds that the whole machine needs for the work ``ahead``; ``total``: its capacity."""
    machine_seconds = 0.0
    for r in range(ahead.size):
        if total[r] > 0:
            machine_seconds = max(machine_seconds, ahead[r] / total[r])
    return machine_seconds


@internal_borrowing
def _own_work(state: State, planning: Planning, j: int) -> float:
    """Return the work of waiting job j, without the changes of a search; 0 if work is not weighed."""
    return float(max(1, state.expected[j]) * planning.worth[j]) if planning.work > 0 else 0.0


@internal
def observe(trace: TraceArrays, state: State, planning: Planning, base: Floats) -> float:
    """Set the fair waits of jobs that have arrived, and the keys in ``base`` of all waiting jobs if work is weighed.

    The key is ``arrival + work * T * own work / mean work of the waiting jobs``, where T is the time that the whole
    machine needs for all running and waiting jobs. Return ``work * T / mean work``, or 0 if work is not weighed.
    """
    clock, resources = state.clock, trace.request.shape[1]
    amounts = resources + trace.machine_capacity.size
    total = np.zeros(amounts)
    ahead = np.zeros(amounts)
    work = 0.0
    for r in range(resources, amounts):
        total[r] = trace.machine_capacity[r - resources]
    for p in range(trace.capacity.shape[0]):
        for r in range(resources):
            total[r] += trace.capacity[p, r]
    for i in range(clock[RUNNING]):
        _add(trace, ahead, state.running[i], state.running_end[i] - clock[NOW])
    for i in range(clock[WAITING]):
        j = state.waiting[i]
        if state.fair[j] >= 0:
            _add(trace, ahead, j, state.expected[j])
    for i in range(clock[WAITING]):
        j = state.waiting[i]
        if state.fair[j] < 0:
            _add(trace, ahead, j, state.expected[j])
            state.fair[j] = int(_machine_time(ahead, total))
            state.seen[j] = min(clock[NOW], trace.release[j])  # jobs that follow another one have no release
            state.work[j] = _own_work(state, planning, j)
        work += _own_work(state, planning, j)
    if planning.work == 0 or work <= 0:
        return 0.0
    scale = planning.work * _machine_time(ahead, total) * clock[WAITING] / work
    for i in range(clock[WAITING]):
        j = state.waiting[i]
        base[j] = state.seen[j] + scale * state.work[j]
    clock[SORTED] = 0
    return float(scale)


@internal_borrowing
def due(state: State, planning: Planning, j: int) -> float:
    """Return the time in seconds from which job j is overdue."""
    return float(state.seen[j] + max(float(planning.least), planning.guard * state.fair[j]))


@internal
def overdue_first(state: State, planning: Planning) -> tuple[Ints, int]:
    """Return the waiting jobs in the order in which they are planned, and the number of those that are overdue.

    These go first, in the order of the trace.
    """
    n, now = state.clock[WAITING], state.clock[NOW]
    order = np.empty(n, np.int64)
    late = 0
    for i in range(n):
        j = state.waiting[i]
        if now > due(state, planning, j):
            k = late
            while k > 0 and order[k - 1] > j:
                order[k] = order[k - 1]
                k -= 1
            order[k] = j
            late += 1
    first = late
    for i in range(n):
        j = state.waiting[i]
        if not now > due(state, planning, j):
            order[first] = j
            first += 1
    return order, late


# --- One job of a plan at its earliest start; compiled.

LAST = NEVER // 2  # the latest start that is looked for, in seconds


@internal
def place_one(
    profile: Profile, s: Scratch, known: Known, trace: TraceArrays, state: State, j: int, best: bool
) -> tuple[Profile, int]:
    """Place job j at its earliest start; return the profile or a larger copy, and the start in seconds (-1: none, or a limit holds it)."""
    if held(trace, state.limit_free, j):
        return profile, -1
    kind = trace.kind[j]
    units = trace.units[j]
    duration = state.expected[j]
    alike = not has_chunks(trace, j) and trace.machine_capacity.size == 0  # jobs of one kind take different power
    first = not_before(known, kind, units, duration, state.clock[NOW]) if alike else state.clock[NOW]
    profile = reserve(profile, s, trace, state, j, first, LAST, best)
    start = state.reserved[j]
    state.reserved[j] = -1
    if alike and trace.own[j] < 0 and trace.daily[j] < 0:  # else calendars may have delayed it
        remember(known, kind, units, duration, start if start >= 0 else LAST)
    return profile, start


# --- A search for better plans: changes of the order in which jobs are placed; compiled.
#
# The objective of a plan is the sum over the first ``depth`` jobs of its order of
#
#     delay / duration + delay / mean duration + LATE * max(0, start - due) / mean duration
#
# with the expected durations, the mean over these jobs, delay = start - now, and the time ``due`` from which a job is
# overdue: slowdown and wait count alike, and waits near the guard count more. Each round moves one job to another place of
# the order, places all of them, and keeps the order if the plan is better. Jobs that are overdue stay first. The keys of
# the jobs move with them, so that the next decision begins with the improved order.

LATE = 3.0  # weight of a second after ``due``

_new_scratch = internal(new_scratch)


@internal_borrowing
def _draw(random: Ints, size: int) -> int:
    """Return a number below ``size`` (a linear congruential generator modulo 2**48, its upper 31 bits)."""
    random[0] = (random[0] * 25214903917 + 11) & 281474976710655
    return int((random[0] >> 17) % size)


@internal
def _copy(profile: Profile) -> Profile:
    """Return a copy of the profile."""
    return Profile(profile.length.copy(), profile.time.copy(), profile.free.copy())


class Search(NamedTuple):
    """The jobs of a search, and its random numbers.

    Parameters
    ----------
    head
        The jobs in the best order so far, a part of the order of the decision: first those that are overdue.
    tried
        Scratch: the order that is tried.
    late, size
        Number of the jobs that are overdue, and of the others.
    mean
        Their mean expected duration in seconds.
    random
        State of the random numbers, shape (1,).
    """

    head: Ints
    tried: Ints
    late: int
    size: int
    mean: float
    random: Ints


@internal
def new_search(state: State, rules: Rules, order: Ints, late: int) -> Search:
    """Return the search for an order of the first jobs after the ``late`` ones that are overdue; it changes ``order``."""
    size = min(order.size - late, rules.planning.depth)
    head = order[: late + size]
    random = np.empty(1, np.int64)
    mean = 0.0
    random[0] = rules.planning.seed * 7919 + state.clock[DECISIONS] * 104729 + 12345
    for i in range(head.size):
        mean += max(1, state.expected[head[i]]) / head.size
    return Search(head, np.empty(head.size, np.int64), late, size, mean, random)


@internal_borrowing
def try_change(search: Search) -> bool:
    """Move a random job to another place in ``tried``; return False if it is the same place."""
    head, tried = search.head, search.tried
    a = search.late + _draw(search.random, search.size)
    b = search.late + _draw(search.random, search.size)
    if a == b:
        return False
    for i in range(head.size):
        tried[i] = head[i]
    step = 1 if b > a else -1
    for i in range(a, b, step):
        tried[i] = tried[i + step]
    tried[b] = head[a]
    return True


@internal_borrowing
def keep_order(search: Search) -> None:
    """Take the order that was tried as the best one."""
    for i in range(search.head.size):
        search.head[i] = search.tried[i]


@internal_borrowing
def with_start(state: State, rules: Rules, search: Search, cost: float, j: int, start: int) -> float:
    """Return the objective ``cost`` with job j, which starts at ``start``."""
    delay = start - state.clock[NOW]
    cost += delay / max(1, state.expected[j]) + delay / search.mean
    return float(cost + LATE * max(0.0, start - due(state, rules.planning, j)) / search.mean)


@internal
def cost_of(
    profile: Profile,
    s: Scratch,
    trace: TraceArrays,
    state: State,
    rules: Rules,
    search: Search,
    order: Ints,
    most: float,
) -> float:
    """Return the objective of the plan of these jobs, or a number of at least ``most`` if it is not below ``most``."""
    planned = _copy(profile)
    known = new_known(state.room.size)
    cost = 0.0
    steps = state.ahead_length[0]
    time = state.ahead_time[0, :steps].copy()
    free = state.ahead_free[0, :steps].copy()
    for i in range(order.size):
        planned, start = place_one(planned, s, known, trace, state, order[i], rules.best)
        if start >= 0:  # else it never starts, in every order
            cost = with_start(state, rules, search, cost, order[i], start)
            if cost >= most:
                break
    state.ahead_length[0] = steps
    for i in range(steps):
        state.ahead_time[0, i] = time[i]
        for r in range(free.shape[1]):
            state.ahead_free[0, i, r] = free[i, r]
    return cost


@internal
def improve(
    profile: Profile, trace: TraceArrays, state: State, rules: Rules, order: Ints, late: int, scale: float
) -> None:
    """Improve the order of the first jobs after the ``late`` ones that are overdue.

    ``order`` and the keys of the jobs are changed, also the work from which keys come (``scale``, see ``observe``); the
    profile is not.
    """
    search = new_search(state, rules, order, late)
    if search.size < 2:
        return
    s = _new_scratch(trace.capacity.shape[0])
    best = cost_of(profile, s, trace, state, rules, search, search.head, np.inf)
    better = False
    for _ in range(rules.planning.rounds):
        if try_change(search):
            cost = cost_of(profile, s, trace, state, rules, search, search.tried, best)
            if cost < best:
                best, better = cost, True
                keep_order(search)
    if better and not rules.dynamic:
        move_keys(state, rules.base, search.head, scale)


@internal
def move_keys(state: State, base: Floats, head: Ints, scale: float) -> None:
    """Give the smallest of the keys of these jobs to the first one, and so on, and sort the queue by the keys."""
    by_key = head.copy()
    sort_by(by_key, by_key.size, base)
    keys = np.empty(head.size, np.float64)
    for i in range(head.size):
        keys[i] = base[by_key[i]]
    for i in range(head.size):
        base[head[i]] = keys[i]
        if scale > 0:
            state.work[head[i]] = (keys[i] - state.seen[head[i]]) / scale
    sort_by(state.waiting, state.clock[WAITING], base)


# --- Plans of the whole queue, one decision; compiled.
#
# At each decision all waiting jobs are placed anew, in order of priority, each at its earliest start beside the running
# jobs and the jobs before it. Jobs whose start is now begin. No job delays the planned start of a job before it, and no
# plan is kept: this is conservative backfilling [Bridi2018, 2.2] with priorities that may change at each decision.
#
# A job that runs longer than expected is taken to end at now + 1 s. A job that is *overdue* goes
# before all that are not.
#
# Jobs after the last one that fits into what is free now cannot start now, wherever they are placed. They are not placed;
# what starts now is the same.


@internal_borrowing
def fits_now(trace: TraceArrays, state: State, j: int) -> bool:
    """Return whether job j (its first chunk) fits into what is free now, also of the machine, and its calendars are open."""
    room, kind = state.room, trace.kind[j]
    if trace.units[j] > room[kind] or not may_start(trace, j, state.clock[NOW]):
        return False
    if exceeds(trace.machine_request, j, state.machine_free) or held(trace, state.limit_free, j):
        return False
    fits = count_job(trace, state, state.free, j)
    if fits < trace.units[j]:
        room[kind] = fits
    return bool(fits >= trace.units[j])


@internal_borrowing
def last_that_fits(trace: TraceArrays, state: State, order: Ints, first: int, last: int) -> int:
    """Return the index of the last of the jobs ``order[first:last + 1]`` that fits now; ``first - 1``: none."""
    while last >= first and not fits_now(trace, state, order[last]):
        last -= 1
    return last


@internal
def place_next(profile: Profile, trace: TraceArrays, state: State, rules: Rules, order: Ints) -> Profile:
    """Place the jobs in this order; those whose start is now begin. Return the profile or a larger copy."""
    now = state.clock[NOW]
    s = _new_scratch(trace.capacity.shape[0])
    known = new_known(state.room.size)
    last = last_that_fits(trace, state, order, 0, min(order.size, rules.candidates) - 1)
    i = 0
    while i <= last:
        j = order[i]
        profile, start = place_one(profile, s, known, trace, state, j, rules.best)
        i += 1
        if start == now:
            begin(trace, state, j)
            last = last_that_fits(trace, state, order, i, last)
    return profile


@internal
def plan(trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision: place all waiting jobs anew, and start those whose start is now."""
    plan_on(running_profile(trace, state), trace, state, rules)


@internal
def plan_on(profile: Profile, trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision on the free capacity over time, a profile that is changed."""
    scale = observe(trace, state, rules.planning, rules.base)
    rank(state, rules.base, rules.slope, rules.dynamic)
    order, late = overdue_first(state, rules.planning)
    if last_that_fits(trace, state, order, 0, order.size - 1) < 0:
        return
    if rules.planning.rounds > 0:
        improve(profile, trace, state, rules, order, late, scale)
    place_next(profile, trace, state, rules, order)
    compact(state)


# --- The names of policies that plan: ``plan[:ORDER[:OPTION=VALUE]...][@lns[:OPTION=VALUE]...]``.

FAMILY, USUAL = "plan", "weighted"
ROUNDS = 20  # of the search, unless the name says otherwise
DAY = Plan.least


def _policy(order: str, key: Key, plan: Plan) -> Policy:
    return Policy(f"{FAMILY}:{order}", key, reservations=None, plan=plan)


def submit(guard: float = np.inf, least: Seconds | None = None) -> Policy:
    """Plan the jobs in the order of their submit times."""
    _check_effect("least", least is not None, "guard", guard, np.inf)
    return _policy("submit", by_submit, Plan(guard=guard, least=DAY if least is None else least))


def wt(guard: float = 1.0, least: Seconds | None = None) -> Policy:
    """Plan the jobs in the order of their expected durations."""
    _check_effect("least", least is not None, "guard", guard, np.inf)
    return _policy("wt", by_duration, Plan(guard=guard, least=DAY if least is None else least))


def slowdown(guard: float = 1.0, least: Seconds | None = None) -> Policy:
    """Plan the jobs in the order of their slowdowns."""
    _check_effect("least", least is not None, "guard", guard, np.inf)
    return _policy("slowdown", by_slowdown, Plan(guard=guard, least=DAY if least is None else least))


def weighted(work: float = 1.0, ewt: float | None = None, guard: float = 1.0, least: Seconds | None = None) -> Policy:
    """Plan the jobs in the order of their submit times and their work."""
    _check_effect("least", least is not None, "guard", guard, np.inf)
    _check_effect("ewt", ewt is not None, "work", work, 0)
    return _policy(
        USUAL,
        by_submit,
        Plan(work=work, ewt=1.0 if ewt is None else ewt, guard=guard, least=DAY if least is None else least),
    )


@dataclass(frozen=True)
class LnsSearch:
    """The search of a policy that plans: changes of the order at each decision; see ``Plan``."""

    rounds: int = ROUNDS
    depth: int | None = None

    def __post_init__(self) -> None:
        _check_effect("depth", self.depth is not None, "rounds", self.rounds, 0)


ORDERS: Registry[Policy] = Registry(
    "plan order", "", {"submit": submit, "wt": wt, "slowdown": slowdown, USUAL: weighted},
    finished=lambda made: isinstance(made, Policy),
)  # fmt: skip
"""The orders of policies that plan, by name."""
SEARCHES: Registry[LnsSearch] = Registry("plan search", "", {"lns": LnsSearch})
"""The searches of policies that plan, by name."""


def plan_named(name: str, search: str | None) -> Policy:
    """Return the policy of a name.

    Parameters
    ----------
    name : str
        ``plan[:ORDER][:OPTION=VALUE]...``. ``ORDER`` is a key of ``ORDERS``, by default ``weighted``; the options are
        ``work`` and ``ewt`` (of ``weighted``), ``guard`` and ``least``, see ``Plan``.
    search : str or None
        ``lns[:OPTION=VALUE]...`` with the options ``rounds`` and ``depth``; None: no search.

    Returns
    -------
    Policy
        The policy; its name is ``name``, and ``search`` after "@".

    Raises
    ------
    UnknownName
        If the order, the search or an option is unknown; the message lists similar names.
    WrongOption
        If a value is not valid.

    Examples
    --------
    >>> policy = plan_named("plan:weighted:work=2", "lns:rounds=50")
    >>> policy.name, policy.plan.work, policy.plan.rounds
    ('plan:weighted:work=2@lns:rounds=50', 2.0, 50)
    """
    if search is None:
        text = name
    else:
        text = f"{name}@{search}"
    order = name.partition(":")[2] or USUAL
    if "=" in order.partition(":")[0]:
        order = f"{USUAL}:{order}"
    policy = ORDERS.find(order).make()
    plan = policy.plan
    assert plan is not None
    if search is not None:
        if search.startswith("lns-"):  # the predictor stands before the search
            raise UnknownName("dispatcher", text, [f"{name}{search.removeprefix('lns')}@lns"])
        search_policy = SEARCHES.find(search).make()
        try:
            plan = replace(
                plan,
                rounds=search_policy.rounds,
                depth=plan.depth if search_policy.depth is None else search_policy.depth,
            )
        except WrongValue as e:
            raise WrongOption(str(e)) from e
    return replace(policy, name=text, plan=plan)


def _check_effect(option: str, is_given: bool, switch: str, value: float, off: float) -> None:
    """Raise WrongValue if an option is given that has no effect, because another one is off."""
    if is_given and value == off:
        raise WrongValue(f"plan: {option} has no effect, as {switch} is {value:g}; leave one of them out")


@compiled
def replay_in_slices(trace: TraceArrays, state: State, rules: Rules, s: Slices, period: int, events: int) -> int:
    """Replay at most ``events`` events; return as ``conservative.replay_in_slices``."""
    clock = state.clock
    for _ in range(events):
        if s.number[PENDING] == 0 and not step(trace, state, period):
            return OVER
        s.number[PENDING] = 0
        if clock[WAITING] > 0:
            if not has_room(s, state):
                s.number[PENDING] = 1
                return FULL
            clock[DECISIONS] += 1
            _plan(s, trace, state, rules)
    return GOING


@internal
def _plan(s: Slices, trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision: place all waiting jobs anew, and start those whose start is now."""
    scale = observe(trace, state, rules.planning, rules.base)
    rank(state, rules.base, rules.slope, rules.dynamic)
    order, late = overdue_first(state, rules.planning)
    if last_that_fits(trace, state, order, 0, order.size - 1) < 0:
        return
    set_running(s, trace, state)
    if rules.planning.rounds > 0:
        _improve(s, trace, state, rules, order, late, scale)
    _place_next(s, trace, state, rules, order)
    compact(state)


@internal
def _place(s: Slices, known: Known, trace: TraceArrays, state: State, j: int, best: bool) -> int:
    """Place job j at its earliest start; return it in seconds (-1: none)."""
    kind = trace.kind[j]
    units = trace.units[j]
    duration = state.expected[j]
    first = not_before(known, kind, units, duration, state.clock[NOW])
    start = earliest_allowed(s, trace, state, j, first, LAST, NEVER)
    if start >= 0:
        keep_places(trace, state, j, choose(s, trace, state, j, slice_at(s, start), best))
        hold(s, trace, state, j, start)
    if trace.own[j] < 0 and trace.daily[j] < 0:  # else calendars may have delayed it
        remember(known, kind, units, duration, start if start >= 0 else LAST)
    return start


@internal
def _place_next(s: Slices, trace: TraceArrays, state: State, rules: Rules, order: Ints) -> None:
    """Place the jobs in this order; those whose start is now begin."""
    now = state.clock[NOW]
    known = new_known(state.room.size)
    last = last_that_fits(trace, state, order, 0, min(order.size, rules.candidates) - 1)
    i = 0
    while i <= last:
        j = order[i]
        start = _place(s, known, trace, state, j, rules.best)
        i += 1
        if start == now:
            begin(trace, state, j)
            last = last_that_fits(trace, state, order, i, last)


@internal
def _cost_of(
    s: Slices, trace: TraceArrays, state: State, rules: Rules, search: Search, order: Ints, most: float
) -> float:
    """Return ``search.cost_of`` of the plan of these jobs."""
    known = new_known(state.room.size)
    cost = 0.0
    placed = 0
    starts = np.empty(order.size, np.int64)
    for i in range(order.size):
        starts[i] = _place(s, known, trace, state, order[i], rules.best)
        placed += 1
        if starts[i] >= 0:
            cost = with_start(state, rules, search, cost, order[i], starts[i])
            if cost >= most:
                break
    for i in range(placed):
        if starts[i] >= 0:
            let_go(s, trace, state, order[i], starts[i])
    return cost


@internal
def _improve(s: Slices, trace: TraceArrays, state: State, rules: Rules, order: Ints, late: int, scale: float) -> None:
    """Improve the order of the first jobs, as ``search.improve``."""
    search = new_search(state, rules, order, late)
    if search.size < 2:
        return
    best = _cost_of(s, trace, state, rules, search, search.head, np.inf)
    better = False
    for _ in range(rules.planning.rounds):
        if try_change(search):
            cost = _cost_of(s, trace, state, rules, search, search.tried, best)
            if cost < best:
                best, better = cost, True
                keep_order(search)
    if better and not rules.dynamic:
        move_keys(state, rules.base, search.head, scale)
