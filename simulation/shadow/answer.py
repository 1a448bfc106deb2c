"""The answer of a dispatcher to the state of a machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...models.comparing import hashable
from ...models.excerpt import with_short_repr
from ..dispatcher import PlannedStart, Start

SCHEMA, VERSION = "schedlab-decision", 1


@with_short_repr
@hashable
@dataclass(frozen=True)
class Answer:
    """The answer of a dispatcher to the state of a machine.

    Parameters
    ----------
    now : int
        The time of the state in seconds.
    dispatcher : str
        The name of the dispatcher.
    starts : sequence of Start
        The jobs that start now.
    planned : sequence of PlannedStart
        The starts that the dispatcher plans for later times, by time; see ``schedlab.simulation.shadow.decide.decide``.
    expected : mapping of str to int
        Id of a waiting job -> the duration in seconds that the dispatcher expects.
    left_out : mapping of str to str
        Id -> reason, for the jobs that the dispatcher did not see.
    ended : str
        How the decision ended, one of ``schedlab.simulation.dispatcher.Ended``.
    seconds : float
        Wall time of the decision.
    shift : int
        Seconds by which the times are later than those of the state file.
    """

    now: int
    dispatcher: str
    starts: Sequence[Start]
    planned: Sequence[PlannedStart]
    expected: Mapping[str, int]
    left_out: Mapping[str, str] = field(default_factory=dict)
    ended: str = "trivial"
    seconds: float = 0.0
    shift: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the answer as an object of the schema ``schedlab-decision`` (docs/decide.md)."""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "now": self.now - self.shift,
            "dispatcher": self.dispatcher,
            "ended": self.ended,
            "seconds": round(self.seconds, 3),
            "waiting": len(self.expected),
            "starts": [{"id": s.job} | _places(s) for s in self.starts],
            "planned": [{"id": p.job, "time": int(p.time) - self.shift} | _places(p) for p in self.planned],
            "left_out": [{"id": job, "reason": why} for job, why in self.left_out.items()],
        }


def _places(start: Start | PlannedStart) -> dict[str, Any]:
    """Return the units on each node; for a heterogeneous job those of all chunks together, and of each chunk."""
    if not start.further:
        return {"nodes": _whole(start.nodes)}
    chunks = [_whole(nodes) for nodes in (start.nodes, *start.further)]
    together: Counter[str] = Counter()
    for nodes in chunks:
        together.update(nodes)
    return {"nodes": dict(together), "chunks": chunks}


def _whole(nodes: Mapping[str, int]) -> dict[str, int]:
    return {node: int(units) for node, units in nodes.items()}
