"""One decision of any dispatcher for the state of a machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ...errors import WrongValue
from ...instances.states.machine_state import MachineState
from ..allocators import ALLOCATORS
from ..chunk_support import check_takes_chunks
from ..decision_check import fault_of
from ..dispatcher import Decision, Moment, PlannedStart, Start
from ..policies.policy import Policy
from ..policies.registry import parse_dispatcher
from ..predictors import predictor as predictor_named
from ..result import SimulationError
from .answer import Answer
from .by_policy import decide_by_policy
from .check import faults
from .situation import Situation

SMALLEST_PART = 0.2  # of the decision time, for the decision of a CP dispatcher


def decide(
    state: MachineState,
    dispatcher: str = "easy",
    *,
    decision_time: float | None = None,
    allocator: str = "best-fit",
    seed: int = 0,
    threads: int = 1,
) -> Answer:
    """Return the starts and the planned starts of a dispatcher for the state of a machine, verified.

    Planned starts are the reservations of a policy (EASY: that of the first job that cannot start; conservative: those
    of all jobs) and ``Decision.plan`` of a dispatcher in Python. Policies without backfilling and the CP dispatchers
    decide about now only: they have none.

    Parameters
    ----------
    state : MachineState
        The state, see ``schedlab.instances.states.reader.read_state``.
    dispatcher : str
        The name of a dispatcher, as in ``schedlab.simulate``.
    decision_time : float, optional
        Seconds for this call with a CP dispatcher, loading of kernels and its model included; at least a fifth is left
        for its decision. Default: the limit of the dispatcher. Policies need less than a second, and other
        dispatchers in Python have no limit.
    allocator : str
        How policies choose nodes: ``"best-fit"`` or ``"first-fit"``.
    seed : int
        Passed to ``begin`` of dispatchers and rankers.
    threads : int
        Threads of the solver of a CP dispatcher.

    Returns
    -------
    Answer
        The starts. ``faults`` has found nothing wrong with them.

    Raises
    ------
    SimulationError
        If the dispatcher raises, or its answer is not possible on this machine.
    WorkloadError
        If a job has several chunks, and the dispatcher does not take such jobs.
    UnknownName, PluginError
        If the dispatcher is unknown, or cannot be made.
    ValueError
        If an argument is not valid, or a dispatcher needs what a state does not have (a desired use, a log).
    """
    if allocator not in ALLOCATORS:
        raise WrongValue(f"allocator is {allocator!r}; expected one of {', '.join(ALLOCATORS)}")
    if decision_time is not None and not decision_time > 0:
        raise WrongValue(f"decision_time is {decision_time:g} s; expected more than 0")
    named = parse_dispatcher(dispatcher)
    if named.needs_profile:
        raise WrongValue(
            f"{dispatcher}: keeps to a desired use, which a state does not have; expected another dispatcher"
        )
    predictor = predictor_named(named.predictor)
    options: dict[str, Any] = {} if named.backend is None else {"threads": threads}
    if not state.waiting:
        named.make(**options)
        return Answer(state.now, dispatcher, (), (), {}, state.left_out, shift=state.shift)
    began = time.perf_counter()
    situation = Situation.of(state, predictor)
    _ = situation.arrays  # loads the kernels
    if named.backend is not None and decision_time is not None:
        options["limit"] = max(SMALLEST_PART * decision_time, decision_time - (time.perf_counter() - began))
    chosen = named.make(**options)
    if getattr(chosen, "centre", state) is None:
        raise WrongValue(
            f"{dispatcher}: plans for profit with forecasts from a log, cooling, weather and prices, which a state does not "
            "have; expected another dispatcher"
        )
    check_takes_chunks(situation.workload, chosen, dispatcher)
    found = Decision((), policy=chosen)
    if not isinstance(chosen, Policy):
        found = _decision_of(chosen, dispatcher, situation.moment(), seed)
    if found.policy is None:
        starts, planned = list(found.starts), sorted(found.plan or (), key=lambda p: p.time)
    else:
        starts, planned = decide_by_policy(situation, found.policy, allocator == "best-fit", seed)
    expected = dict(zip(situation.workload.ids, situation.expected.tolist(), strict=True))
    answer = Answer(
        state.now,
        dispatcher,
        starts,
        planned,
        expected,
        state.left_out,
        found.ended,
        time.perf_counter() - began,
        state.shift,
    )
    wrong = faults(state, answer)
    if wrong:
        more = f" (and {len(wrong) - 1} more faults)" if len(wrong) > 1 else ""
        raise SimulationError(f"dispatcher {dispatcher}: its answer is not possible: {wrong[0]}{more}", time=state.now)
    return answer


def _decision_of(dispatcher: Any, name: str, moment: Moment, seed: int) -> Decision:
    """Call a dispatcher in Python; turn an exception and a wrong form of its answer into a SimulationError."""
    try:
        dispatcher.begin(moment.platform, moment.queues, seed)
        answer = dispatcher.decide(moment)
        if isinstance(answer, Decision):
            answer.starts = _listed(answer.starts)
            answer.plan = None if answer.plan is None else _listed(answer.plan)
    except SimulationError:
        raise
    except Exception as e:
        raise SimulationError(f"dispatcher {name} raised: {type(e).__name__}: {e}", time=moment.now) from e
    fault = fault_of(answer)
    if fault is not None:
        raise SimulationError(f"dispatcher {name}: {fault.why}", fault.job, fault.node, moment.now)
    found: Decision = answer
    return found


def _listed(what: Any) -> Any:
    """Return a generator as a list: it may raise, too."""
    return list(what) if isinstance(what, Iterator) else what


__all__ = ["Answer", "PlannedStart", "Start", "decide"]
