"""The decision of a policy for the state of a machine, with its reservations as planned starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np

from ...heuristics.kernels.events.rules import Rules
from ...heuristics.kernels.events.state import NOW, SORTED, WAITING, State, TraceArrays
from ...heuristics.kernels.profile import NEVER
from ..engine import compiled_replay as kernels
from ..engine.moment import PlannedStart, Start
from ..engine.progress import rules_of
from ..engine.simulation import SimulationError
from ..policies.easy_plus_plus import correct
from ..policies.policy import Policy
from ..rankers.ranking import Ranking
from .head import place_head
from .situation import Situation


def decide_by_policy(
    situation: Situation, policy: Policy, best: bool, seed: int
) -> tuple[list[Start], list[PlannedStart]]:
    """Return the starts of a policy, and its reservations as planned starts.

    ``best``: best-fit allocation, else first-fit. Policies without backfilling have no reservations.
    """
    w, (trace, state) = situation.workload, situation.arrays
    rules = rules_of(policy, w, situation.expected, best)
    state.clock[SORTED] = 0
    if policy.corrections:
        walltimes = np.concatenate([w.walltime, np.array([r.job.walltime for r in w.running], np.int64)])
        correct(state, walltimes, np.array(policy.corrections, np.int64))
    if policy.ranker is not None:
        ranking = Ranking(policy.ranker, w, state, trace.runtime, False, _refuse(policy, situation))
        ranking.begin(situation.state.platform, w, seed)
        ranking.arrive(state.waiting[: state.clock[WAITING]].copy())
        rules = ranking.sort(rules)
    decide = kernels.decide_shortest_first if policy.shortest_first else kernels.kernel(rules).decide
    decide(trace, state, rules)
    rows = range(len(w))
    starts = [Start(w.ids[j], _nodes(situation, trace, state, j)) for j in rows if state.start[j] >= 0]
    if policy.reservations == 1:
        planned = list(_of_head(situation, trace, state, rules))
    else:
        later = [j for j in rows if state.start[j] < 0 and state.reserved[j] > state.clock[NOW]]
        planned = [PlannedStart(w.ids[j], _nodes(situation, trace, state, j), int(state.reserved[j])) for j in later]
    return starts, sorted(planned, key=lambda p: p.time)


def _refuse(policy: Policy, situation: Situation) -> Callable[[str], NoReturn]:
    def refuse(why: str) -> NoReturn:
        raise SimulationError(f"dispatcher {policy.name} at {situation.state.now}: {why}", time=situation.state.now)

    return refuse


def _nodes(situation: Situation, trace: TraceArrays, state: State, j: int) -> dict[str, int]:
    """Return node -> units of a job that has started or has a reservation."""
    slots = slice(trace.first[j], trace.first[j] + state.pieces[j])
    names = situation.state.platform.nodes
    return {names[p]: n for p, n in zip(state.place[slots].tolist(), state.share[slots].tolist(), strict=True)}


def _of_head(situation: Situation, trace: TraceArrays, state: State, rules: Rules) -> Iterator[PlannedStart]:
    """Yield the reservation of EASY: the first waiting job for which there is one."""
    w, names = situation.workload, situation.state.platform.nodes
    for j in state.waiting[: state.clock[WAITING]].tolist():
        shadow, entries = place_head(trace, state, j, rules.best)
        if shadow < NEVER:
            chosen, put = state.chosen[:entries].tolist(), state.put[:entries].tolist()
            yield PlannedStart(w.ids[j], {names[p]: n for p, n in zip(chosen, put, strict=True)}, int(shadow))
            return
