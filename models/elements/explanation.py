"""What ``schedlab.explain`` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ..excerpt import with_short_repr
from .element import Element, Elements

Answer = Literal["infeasible", "feasible", "unknown", "error"]


@with_short_repr
@dataclass(frozen=True)
class Progress:
    """The state of a call of ``explain``.

    Parameters
    ----------
    seconds : float
        Wall time since the call began.
    checks : int
        Number of parts of the problem that were checked.
    size : int or None
        Number of elements of the smallest infeasible set so far; None before the problem is proven infeasible.
    """

    seconds: float
    checks: int
    size: int | None


@dataclass(frozen=True)
class Explanation:
    """Why a problem is infeasible.

    Parameters
    ----------
    status : {"infeasible", "feasible", "unknown", "error"}
        "infeasible": proven, and ``elements`` cannot hold together. "feasible": a schedule was found and verified.
        "error": a verified solution contradicts the proof of the solver, so that nothing is known.
    elements : tuple of Element
        The elements of the problem that cannot hold together; empty if the status is not "infeasible".
    message : str
        The reason in one sentence.
    minimal : bool
        Whether it is proven that without any one of the elements the others can hold together.
    why : str
        Why the set is not proven minimal, or why the status is unknown or an error; else empty.
    seconds : float
        Wall time of the call.
    checks : int
        Number of parts of the problem that were checked.
    parts : Elements
        All elements of the problem; ``parts.part(elements)`` is the problem that has the given elements alone.
    """

    status: Answer
    elements: tuple[Element, ...]
    message: str
    minimal: bool
    why: str
    seconds: float
    checks: int
    parts: Elements = field(repr=False, compare=False)

    def __repr__(self) -> str:
        """Return one line with the status and the size of the set."""
        proof = ", minimal" if self.minimal else ""
        size = f", {len(self.elements)} elements{proof}" if self.status == "infeasible" else ""
        return f"Explanation({self.status}{size}, {self.seconds:.1f} s)"

    def __str__(self) -> str:
        """Return the message, and one line per element."""
        if self.status != "infeasible":
            return f"{self.status}: {self.message}"
        if not self.elements:
            return f"infeasible: {self.message}"
        one = len(self.elements) == 1
        few = "This cannot hold" if one else f"These {len(self.elements)} cannot hold together"
        rest = "without it there is a solution" if one else "without any one of them, the others can"
        rest = rest if self.minimal else f"not proven minimal: {self.why}"
        lines = [f"infeasible: {self.message}", f"{few}; {rest}:", *(f"  {e}" for e in self.elements)]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as plain data, in the form that ``bench explain --json`` prints."""
        return {
            "status": self.status,
            "message": self.message,
            "minimal": self.minimal,
            "why": self.why,
            "elements": [{"kind": e.kind, "name": e.name, "text": e.text} for e in self.elements],
            "seconds": self.seconds,
            "checks": self.checks,
        }
