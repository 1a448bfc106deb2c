"""Check of the form of a dispatcher's answer: its types and values.

Whether the starts are possible (waiting job, free nodes) is checked by the replay in ``live``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple, get_args

from .moment import Decision, Ended, Start

ENDINGS = get_args(Ended)
LONGEST = 80  # characters of a foreign object in a message


class DecisionFault(NamedTuple):
    """The first fault of an answer, and the id of the job concerned, if the answer names one."""

    why: str
    job: str | None = None


def fault_of(answer: object) -> DecisionFault | None:
    """Return the first fault of the form of an answer, or None if there is none.

    ``answer.starts`` must not be a generator: this function iterates over it.

    Examples
    --------
    >>> fault_of(Decision([Start("j1", {"n-1": 1})])) is None
    True
    >>> fault_of(Decision([Start("j1", {"n-1": 0.5})])).why
    "0.5 units of job 'j1' on node 'n-1'; expected a whole number"
    """
    if not isinstance(answer, Decision):
        return DecisionFault(
            f"decide returned {shown(answer)}; expected a Decision (schedlab.simulation.engine.moment)"
        )
    if isinstance(answer.starts, str | Mapping) or not isinstance(answer.starts, Iterable):
        return DecisionFault(
            f"Decision.starts is {shown(answer.starts)}; expected a list of Start (schedlab.simulation.engine.moment)"
        )
    return _fault_of_statistics(answer) or next(filter(None, map(_fault_of_start, answer.starts)), None)


def _fault_of_statistics(answer: Decision) -> DecisionFault | None:
    """Return the first fault of the fields that the statistics use."""
    seconds: Any = answer.seconds
    if answer.ended not in ENDINGS:
        return DecisionFault(f"Decision.ended is {shown(answer.ended)}; expected one of {', '.join(ENDINGS)}")
    if not isinstance(seconds, Mapping) or not all(isinstance(s, Real) for s in seconds.values()):
        return DecisionFault(
            f"Decision.seconds is {shown(seconds)}; expected {{part: number}} with the parts model, solve, allocate"
        )
    if answer.gain is not None and not isinstance(answer.gain, Real):
        return DecisionFault(f"Decision.gain is {shown(answer.gain)}; expected a number, or None if it is unknown")
    if not isinstance(answer.urgent, Integral):
        return DecisionFault(f"Decision.urgent is {shown(answer.urgent)}; expected a whole number of jobs")
    if not isinstance(answer.jobs, Integral):
        return DecisionFault(f"Decision.jobs is {shown(answer.jobs)}; expected a whole number of jobs")
    requested: Any = answer.requested
    if not isinstance(requested, Mapping) or not all(isinstance(n, Integral) for n in requested.values()):
        return DecisionFault(f"Decision.requested is {shown(requested)}; expected {{resource: whole number}}")
    return None


def _fault_of_start(start: object) -> DecisionFault | None:
    if not isinstance(start, Start):
        return DecisionFault(f"Decision.starts contains {shown(start)}; expected Start(job id, {{node: units}})")
    job, nodes = start
    if not isinstance(job, str):
        return DecisionFault(f"Start.job is {shown(job)}; expected the id of a job, a string")
    if not isinstance(nodes, Mapping):
        return DecisionFault(f"Start.nodes of job {job!r} is {shown(nodes)}; expected {{node: units}}", job)
    for node, units in nodes.items():
        if not isinstance(units, Integral) or isinstance(units, bool):
            return DecisionFault(f"{shown(units)} units of job {job!r} on node {node!r}; expected a whole number", job)
    return None


def shown(what: object) -> str:
    """Return the ``repr`` of an object for a message, cut after 80 characters."""
    text = repr(what)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
