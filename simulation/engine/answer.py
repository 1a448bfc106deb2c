"""Whether what a dispatcher answers is an answer at all; whether its starts are possible is for the replay to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple, get_args

from .moment import Decision, Ended, Start

ENDINGS = get_args(Ended)
LONGEST = 80  # letters of a foreign object that are shown


class DecisionFault(NamedTuple):
    """What is wrong with an answer, and with which job, if it names one."""

    why: str
    job: str | None = None


def fault_of(answer: object) -> DecisionFault | None:
    """What is wrong with an answer whose starts are a list already; None: nothing.

    >>> fault_of(Decision([Start("j1", {"n-1": 1})])) is None
    True
    >>> fault_of(Decision([Start("j1", {"n-1": 0.5})])).why
    "0.5 units of job 'j1' on node 'n-1', expected a whole number"
    """
    if not isinstance(answer, Decision):
        return DecisionFault(f"answered {shown(answer)}; expected a Decision (schedlab.simulation.engine.moment)")
    if isinstance(answer.starts, str | Mapping) or not isinstance(answer.starts, Iterable):
        return DecisionFault(
            f"its starts are {shown(answer.starts)}; expected a list of Start (schedlab.simulation.engine.moment)"
        )
    return _fault_of_books(answer) or next(filter(None, map(_fault_of_start, answer.starts)), None)


def _fault_of_books(answer: Decision) -> DecisionFault | None:
    """What is wrong with what the statistics are made of."""
    seconds: Any = answer.seconds
    if answer.ended not in ENDINGS:
        return DecisionFault(f"its ended is {shown(answer.ended)}; expected one of {', '.join(ENDINGS)}")
    if not isinstance(seconds, Mapping) or not all(isinstance(s, Real) for s in seconds.values()):
        return DecisionFault(f"its seconds are {shown(seconds)}; expected numbers by part: model, solve, allocate")
    if answer.gain is not None and not isinstance(answer.gain, Real):
        return DecisionFault(f"its gain is {shown(answer.gain)}; expected a number, or None if it is unknown")
    if not isinstance(answer.urgent, Integral):
        return DecisionFault(f"its urgent is {shown(answer.urgent)}; expected a whole number of jobs")
    return None


def _fault_of_start(start: object) -> DecisionFault | None:
    if not isinstance(start, Start):
        return DecisionFault(f"{shown(start)} among the starts; expected a Start(job id, {{node: units}})")
    job, nodes = start
    if not isinstance(job, str):
        return DecisionFault(f"the start of job {shown(job)}; expected its id, a text")
    if not isinstance(nodes, Mapping):
        return DecisionFault(f"the nodes of job {job!r} are {shown(nodes)}; expected {{node: units}}", job)
    for node, units in nodes.items():
        if not isinstance(units, Integral) or isinstance(units, bool):
            return DecisionFault(f"{shown(units)} units of job {job!r} on node {node!r}, expected a whole number", job)
    return None


def shown(what: object) -> str:
    """An object for a message, cut where it is long."""
    text = repr(what)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
