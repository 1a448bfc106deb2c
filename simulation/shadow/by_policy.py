"""The decision of a policy for the state of a machine, with its reservations as planned starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np

from ...heuristics.kernels.events.nodes import of_chunks
from ...heuristics.kernels.events.rules import Rules
from ...heuristics.kernels.events.state import NOW, SORTED, UNSTARTED, WAITING, State, TraceArrays
from ...heuristics.kernels.profile import NEVER, Ints
from .. import policy_kernels as kernels
from ..dispatcher import PlannedStart, Start
from ..policies.beside_reservations import decide_beside
from ..policies.easy_plus_plus import correct
from ..policies.policy import Policy
from ..policy_kernels import rules_of
from ..rankers.ranking import Ranking
from ..result import SimulationError
from .head import place_head
from .situation import Situation


def decide_by_policy(
    situation: Situation, policy: Policy, best: bool, seed: int
) -> tuple[list[Start], list[PlannedStart]]:
    """Return the starts of a policy, and its reservations as planned starts.

    ``best``: best-fit allocation, else first-fit. Policies without backfilling have no reservations.
    """
    w, (trace, state) = situation.workload, situation.arrays
    rules = rules_of(policy, w, situation.expected, best, seed)
    state.clock[SORTED] = 0
    if policy.corrections:
        walltimes = np.concatenate([w.walltime, np.array([r.job.walltime for r in w.running], np.int64)])
        correct(state, walltimes, np.array(policy.corrections, np.int64))
    if policy.ranker is not None:
        ranking = Ranking(policy.ranker, w, state, trace.runtime, False, _refuse(policy, situation))
        ranking.begin(situation.state.platform, w, seed)
        ranking.learn(state.waiting[: state.clock[WAITING]].copy(), np.zeros(0, np.int64))
        rules = ranking.sort(rules)
    if situation.holds is not None:
        # beside reservations each job is taken to last as long as its walltime allows
        state.expected[: len(w)] = np.maximum(state.expected[: len(w)], w.walltime)
        decide_beside(trace, state, rules, situation.holds, policy.shortest_first)
    else:
        kernels.kernel(rules, policy.shortest_first).decide(trace, state, rules)
    rows = range(len(w))
    starts = []
    for j in rows:
        if state.start[j] != UNSTARTED:
            nodes, *further = _nodes(situation, trace, state, j)
            starts.append(Start(w.ids[j], nodes, tuple(further)))
    if policy.reservations == 1 and situation.holds is None:  # EASY keeps its reservation to itself
        planned = list(_of_head(situation, trace, state, rules))
    else:
        later = [j for j in rows if state.start[j] == UNSTARTED and state.reserved[j] > state.clock[NOW]]
        planned = [_planned(situation, j, _nodes(situation, trace, state, j), int(state.reserved[j])) for j in later]
    return starts, sorted(planned, key=lambda p: p.time)


def _planned(situation: Situation, j: int, chunks: list[dict[str, int]], time: int) -> PlannedStart:
    nodes, *further = chunks
    return PlannedStart(situation.workload.ids[j], nodes, time, tuple(further))


def _refuse(policy: Policy, situation: Situation) -> Callable[[str], NoReturn]:
    def refuse(why: str) -> NoReturn:
        raise SimulationError(f"dispatcher {policy.name} at {situation.state.now}: {why}", time=situation.state.now)

    return refuse


def _nodes(situation: Situation, trace: TraceArrays, state: State, j: int) -> list[dict[str, int]]:
    """Return node -> units of each chunk of a job that has started or has a reservation."""
    slots = slice(trace.first[j], trace.first[j] + state.pieces[j])
    return _chunks(situation, j, state.place[slots].astype(np.int64), state.share[slots].astype(np.int64))


def _chunks(situation: Situation, j: int, places: Ints, units: Ints) -> list[dict[str, int]]:
    """Return node -> units of each chunk of a job; its places are listed chunk after chunk."""
    each = [c.units for c in situation.workload.chunks.get(j, ())] or [int(units.sum())]
    return of_chunks((np.array([0, places.size]), places, places, units), 0, each, situation.state.platform.nodes)


def _of_head(situation: Situation, trace: TraceArrays, state: State, rules: Rules) -> Iterator[PlannedStart]:
    """Yield the reservation of EASY: the first waiting job for which there is one."""
    for j in state.waiting[: state.clock[WAITING]].tolist():
        shadow, entries = place_head(trace, state, j, rules.best)
        if shadow < NEVER:
            yield _planned(
                situation, j, _chunks(situation, j, state.chosen[:entries], state.put[:entries]), int(shadow)
            )
            return
