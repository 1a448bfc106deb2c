"""The compiled functions of a policy: one decision, and the replay of a whole stretch up to the next action.

There is one loop per kind of policy. A single loop with all kinds would pass the arguments of the largest kernel in every
decision and would be slower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import SchedlabError
from ...heuristics.kernels.events import counted_replay as counting
from ...heuristics.kernels.events import slices
from ...heuristics.kernels.events.rules import ALL, NO_PLANNING, Rules, by_rule, replay_by_rule, step
from ...heuristics.kernels.events.slices import Slices
from ...heuristics.kernels.events.state import (
    DECISIONS,
    NOW,
    RUNNING,
    UNSTARTED,
    WAITING,
    State,
    TraceArrays,
    each_fits,
    exceeds,
    held,
    may_start,
)
from ...instances.workload import Workload
from ...models.array_types import Floats, Ints
from ...models.compiled import compiled
from ...models.plugins import WrongAnswer, only_read, returned_numbers, seen_by
from ...models.words import excerpt, how_many
from ..errors import SimulationError
from ..features.feature import Replay
from ..predictors import Users, learn_and_predict, users_of
from . import conservative, plans
from .conservative import backfill, backfill_on, follows, hold_all, running_profile
from .easy import Holds, Returned, correct_ends, decide_beside, easy, easy_shortest_first, reserve_first, reserve_now
from .plans import plan
from .policy import Policy


@compiled
def _easy(trace: TraceArrays, state: State, rules: Rules, period: int, events: int) -> bool:
    for _ in range(events):
        if not step(trace, state, period):
            return False
        if state.clock[WAITING] > 0:
            state.clock[DECISIONS] += 1
            easy(trace, state, rules)
    return True


@compiled
def _easy_corrected(
    trace: TraceArrays,
    state: State,
    rules: Rules,
    users: Users,
    increments: Ints,
    shortest_first: bool,
    period: int,
    events: int,
) -> bool:
    for _ in range(events):
        before = state.clock[WAITING]
        if not step(trace, state, period):
            return False
        learn_and_predict(users, trace, state, before)
        if state.clock[WAITING] > 0:
            state.clock[DECISIONS] += 1
            if increments.size > 0:
                correct_ends(state, users.walltime, increments)
            if shortest_first:
                easy_shortest_first(trace, state, rules)
            else:
                easy(trace, state, rules)
    return True


@compiled
def _backfill(trace: TraceArrays, state: State, rules: Rules, period: int, events: int) -> bool:
    profile = running_profile(trace, state)
    known = False  # whether the profile is that of the last event
    for _ in range(events):
        if not step(trace, state, period):
            return False
        kept = False
        if known:
            profile, kept = follows(profile, trace, state)
        known = state.clock[WAITING] > 0
        if known:
            state.clock[DECISIONS] += 1
            if not kept:
                profile, kept = hold_all(running_profile(trace, state), trace, state)
            profile = backfill_on(profile, kept, trace, state, rules)
    return True


@compiled
def _plan(trace: TraceArrays, state: State, rules: Rules, period: int, events: int) -> bool:
    for _ in range(events):
        if not step(trace, state, period):
            return False
        if state.clock[WAITING] > 0:
            state.clock[DECISIONS] += 1
            plan(trace, state, rules)
    return True


@compiled
def _decide_by_rule(trace: TraceArrays, state: State, rules: Rules) -> None:
    by_rule(trace, state, rules)


@compiled
def _decide_easy(trace: TraceArrays, state: State, rules: Rules) -> None:
    easy(trace, state, rules)


@compiled
def _decide_shortest_first(trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision of EASY with the shortest job first in backfilling."""
    easy_shortest_first(trace, state, rules)


@compiled
def _decide_backfill(trace: TraceArrays, state: State, rules: Rules) -> None:
    backfill(trace, state, rules)


@compiled
def allowed(trace: TraceArrays, state: State) -> NDArray[np.bool_]:
    """Return the mask of the waiting jobs that calendars, limits and what is free of the whole machine allow to start now."""
    mask = np.empty(state.clock[WAITING], np.bool_)
    for i in range(mask.size):
        j = state.waiting[i]
        hindered = exceeds(trace.machine_request, j, state.machine_free) or held(trace, state.limit_free, j)
        mask[i] = not hindered and may_start(trace, j, state.clock[NOW])
    return mask


@compiled
def any_fits(trace: TraceArrays, state: State) -> bool:
    """Return whether at least one waiting job could start now, alone on what is free (each chunk for itself)."""
    for i in range(state.clock[WAITING]):
        j = state.waiting[i]
        hindered = exceeds(trace.machine_request, j, state.machine_free) or not may_start(trace, j, state.clock[NOW])
        hindered = hindered or held(trace, state.limit_free, j)
        if not hindered and each_fits(trace, state, j):
            return True
    return False


@compiled
def _decide_plan(trace: TraceArrays, state: State, rules: Rules) -> None:
    plan(trace, state, rules)


class Kernel(NamedTuple):
    """The compiled functions of a policy.

    ``decide(trace, state, rules)`` makes one decision. ``replay(trace, state, rules, period, events)`` replays at most
    ``events`` events, and returns False if there are no more events.
    """

    decide: Callable[[TraceArrays, State, Rules], None]
    replay: Callable[[TraceArrays, State, Rules, int, int], bool]


BACKFILLING = Kernel(_decide_backfill, _backfill)  # any number of reservations
PLANNING = Kernel(_decide_plan, _plan)


def kernel(rules: Rules, shortest_first: bool = False) -> Kernel:
    """Return the compiled functions for the number of reservations: none, one (EASY), or several; or for plans."""
    if rules.planning.on:
        return PLANNING
    if rules.reservations == 0:
        return Kernel(_decide_by_rule, replay_by_rule)
    if shortest_first:
        return Kernel(_decide_shortest_first, _easy)
    if rules.reservations == 1:
        return Kernel(_decide_easy, _easy)
    return BACKFILLING


def corrects_alone(engine: Replay) -> bool:
    """Return whether EASY with corrected predictions is replayed in compiled code, with the predictor in it."""
    policy, durations = engine.policy, engine.ledger.durations
    if policy is None or not policy.corrects or policy.ranker is not None or engine.features:
        return False
    return durations is not None or (engine.predictor.last_two is not None and policy.keeps_order)


def kernel_of_decisions(engine: Replay, rules: Rules, shortest_first: bool) -> Kernel:
    """Return the compiled functions for the single decisions of a replay."""
    usual = kernel(rules, shortest_first)
    if usual in (BACKFILLING, PLANNING) and _sliced(engine):
        return _in_slices(usual)
    return usual


def kernel_of_replay(engine: Replay, rules: Rules) -> Kernel:
    """Return the compiled functions of a replay: where nodes are counted, the faster ones of ``counting`` and ``conservative``."""
    usual = kernel(rules)
    trace = engine.trace
    state = engine.state
    if corrects_alone(engine):
        return usual._replace(replay=_corrected(engine))
    if usual is BACKFILLING and conservative.suits(trace, state, rules):
        arrays = conservative.new_arrays(trace)
        return usual._replace(
            replay=lambda trace, state, rules, period, events: conservative.replay(
                trace, state, rules, *arrays, period, events
            )
        )
    if usual in (BACKFILLING, PLANNING) and _sliced(engine):
        return _in_slices(usual)
    plain = not engine.features and engine.options.by_count
    if not (plain and counting.suits(trace, state, rules, engine.options.period)):
        return usual
    counts = counting.new_counts(trace, rules)
    return usual._replace(
        replay=lambda trace, state, rules, period, events: counting.replay(trace, state, *counts, events)
    )


def _sliced(engine: Replay) -> bool:
    """Return whether the free amounts can be kept in slices of time: slices know no closed nodes and no amounts of the machine."""
    if engine.trace.machine_request.shape[1] > 0 or any(feature.follows_nodes for feature in engine.features):
        return False
    return slices.suits(engine.trace, engine.state)


def _in_slices(usual: Kernel) -> Kernel:
    made = _InSlices(usual)
    return Kernel(made.decide, made.replay)


def _corrected(engine: Replay) -> Callable[[TraceArrays, State, Rules, int, int], bool]:
    """Return the function that replays EASY with corrected predictions."""
    policy = engine.policy
    assert policy is not None
    predictor = None
    if engine.ledger.durations is None:
        predictor = engine.predictor.last_two
    users = users_of(predictor, engine.workload.walltime)
    increments = np.array(policy.corrections, np.int64)
    return lambda trace, state, rules, period, events: _easy_corrected(
        trace, state, rules, users, increments, policy.shortest_first, period, events
    )


class _InSlices:
    """Decisions and replays with the free amounts in slices of time, in arrays that grow; as usual where they are too large."""

    def __init__(self, usual: Kernel) -> None:
        self._usual = usual
        if usual is PLANNING:
            self._replay = plans.replay_in_slices
        else:
            self._replay = conservative.replay_in_slices
        self._slices: Slices | None = None

    def decide(self, trace: TraceArrays, state: State, rules: Rules) -> None:
        """Make one decision: the replay up to the next event, which begins with a decision that is pending."""
        if state.clock[WAITING] == 0:
            return
        state.clock[DECISIONS] -= 1  # the caller counts decisions, and so does the replay
        if self._slices is None:
            self._slices = slices.new_slices(trace, state)
        self._slices.number[slices.PENDING] = 1
        if self._in_slices(trace, state, rules, 0, 1) is None:
            self._decide_pending(trace, state, rules)

    def replay(self, trace: TraceArrays, state: State, rules: Rules, period: int, events: int) -> bool:
        """Replay at most ``events`` events; return False if nothing happens any more."""
        if self._slices is None:
            self._slices = slices.new_slices(trace, state)
        returned = self._in_slices(trace, state, rules, period, events)
        if returned is not None:
            return returned == slices.GOING
        if self._slices.number[slices.PENDING]:
            self._decide_pending(trace, state, rules)
        return self._usual.replay(trace, state, rules, period, events)

    def _in_slices(self, trace: TraceArrays, state: State, rules: Rules, period: int, events: int) -> int | None:
        """Replay in slices; return as ``conservative.replay_in_slices``, but None where the arrays would be too large."""
        assert self._slices is not None
        while slices.in_memory(self._slices):
            returned = self._replay(trace, state, rules, self._slices, period, events)
            if returned != slices.FULL:
                return returned
            self._slices = slices.new_slices(trace, state, pending=True)
        return None

    def _decide_pending(self, trace: TraceArrays, state: State, rules: Rules) -> None:
        """Make the decision that is pending as usual."""
        assert self._slices is not None
        self._slices.number[slices.PENDING] = 0
        state.clock[DECISIONS] += 1
        self._usual.decide(trace, state, rules)


def decide_beside_holds(engine: Replay, rules: Rules, holds: Holds, shortest_first: bool) -> None:
    """Make one decision beside what the timeline keeps over time.

    Beside reservations each job is taken to last as long as its walltime allows: it must not run into one.
    """
    state = engine.state
    rows = state.waiting[: state.clock[WAITING]].copy()
    predicted = state.expected[rows]
    if engine.timeline.holds:
        state.expected[rows] = np.maximum(predicted, engine.ledger.limits(rows))
        holds = _with_running(engine, holds)
    decide_beside(engine.trace, state, rules, holds, _returned(engine), shortest_first)
    left = state.start[rows] == UNSTARTED
    state.expected[rows[left]] = predicted[left]
    if rules.reservations < 2:  # the only reservation is computed anew at each decision
        state.reserved[rows[left]] = -1


def reserve_for_first(engine: Replay) -> None:
    """Reserve the earliest start of the first waiting job that has one, as EASY does in each of its decisions."""
    state = engine.state
    rows = state.waiting[: state.clock[WAITING]].copy()
    predicted = state.expected[rows]
    kept = engine.timeline.kept()
    if kept is None:
        holds = engine.timeline.holds_of(())
    else:
        holds = kept
    if engine.timeline.holds:
        state.expected[rows] = np.maximum(predicted, engine.ledger.limits(rows))
        holds = _with_running(engine, holds)
    reserve_first(engine.trace, state, holds, _returned(engine), engine.options.best)
    state.expected[rows] = predicted


def find_places(engine: Replay, j: int, holds: Holds) -> bool:
    """Find places for a job from now on up to its time limit, beside what runs and what is kept; return whether there are some."""
    state = engine.state
    predicted = int(state.expected[j])
    state.expected[j] = max(predicted, engine.ledger.limit(j))
    found = reserve_now(engine.trace, state, _with_running(engine, holds), _returned(engine), j, engine.options.best)
    state.expected[j] = predicted
    return found


NO_ENDS = np.zeros(0, np.int64)


def _returned(engine: Replay) -> Returned:
    """Return what jobs inside of reservations give back of the whole machine, by their walltimes."""
    if not engine.timeline.inside:
        return Returned(NO_ENDS, engine.trace.machine_request[:0])
    rows = np.array(list(engine.timeline.inside), np.int64)
    return Returned(engine.ledger.walltime_ends(rows), engine.trace.machine_request[rows])


def _with_running(engine: Replay, holds: Holds) -> Holds:
    """Return the holds, and what running jobs may use after their expected ends, up to their walltimes."""
    state = engine.state
    rows = state.running[: state.clock[RUNNING]]
    rows = rows[engine.ledger.limits(rows) > state.expected[rows]]
    if not rows.size:
        return holds
    since = np.maximum(state.start[rows] + state.expected[rows], engine.now + 1)
    until = engine.ledger.walltime_ends(rows)
    uses = []
    for k in np.flatnonzero(since < until).tolist():
        uses += engine.ledger.uses_of(int(rows[k]), int(since[k]), int(until[k]))
    if not uses:
        return holds
    more = engine.timeline.holds_of(uses)
    return Holds(*(np.concatenate(columns) for columns in zip(holds, more, strict=True)))


def rules_of(policy: Policy, workload: Workload, expected: Ints, best: bool, seed: int = 0) -> Rules:
    """Return a policy in the form that the compiled kernels take.

    Parameters
    ----------
    policy : Policy
        The policy.
    workload : Workload
        The jobs.
    expected : ndarray of int64, shape (jobs,)
        Expected durations in seconds.
    best : bool
        Whether the allocator is best-fit (else first-fit).
    seed : int
        Seed of a search for better plans.

    Returns
    -------
    Rules
        Priority of each job, and the options of the policy.

    Raises
    ------
    SimulationError
        If the key of the policy raises, or returns something else than one number per job, or a pair of such arrays.
    """
    base, slope = _key_of(policy, workload, expected)
    return Rules(
        base,
        np.zeros(len(workload)) if slope is None else slope,
        slope is not None,
        policy.strict,
        ALL if policy.reservations is None else policy.reservations,
        ALL if policy.candidates is None else policy.candidates,
        best,
        NO_PLANNING if policy.plan is None else policy.plan.planning(workload, seed),
    )


def _key_of(policy: Policy, workload: Workload, expected: Ints) -> tuple[Floats, Floats | None]:
    """Return the key of a policy, checked: base and slope, shape (jobs,), no slope if it does not change with time."""
    who = f"policy {policy.name!r}: its key"
    try:
        key = policy.key(seen_by(policy.key, workload), only_read(policy.key, expected))
    except SchedlabError:
        raise
    except Exception as e:
        raise SimulationError(f"{who} raised {type(e).__name__}: {e}") from e
    try:
        if not isinstance(key, tuple):
            return returned_numbers(who, key, len(workload), "jobs"), None
        if len(key) != 2:
            what = f"a tuple of {how_many(len(key), 'value')}, {excerpt(key)}"
            raise WrongAnswer(f"{who} returned {what}; expected an array, or a pair (base, slope) of arrays")
        base, slope = (
            returned_numbers(f"{who}, a pair (base, slope),", part, len(workload), "jobs", finite=True) for part in key
        )
    except WrongAnswer as e:
        raise SimulationError(str(e)) from e
    return base, slope
