"""Methods as text: heuristics, and backends with a formulation, a lowering and a start."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import Any

from .backends import UnknownName, backend, names
from .models import Problem

GRID = re.compile(r"(?P<fine>\d+)s(\.\.(?P<coarse>\d+)s)?(-(?P<side>relax|lp|energy))?")


@dataclass(frozen=True)
class Method:
    """A method, taken apart. ``heuristic`` and ``argument`` for a heuristic; else backend, formulation, options, warm."""

    text: str
    heuristic: str | None = None
    argument: str = ""
    backend: str = ""
    formulation: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    warm: bool = False

    @property
    def solver(self) -> str:
        """Whose version decides the outcome."""
        return self.backend or "schedlab"


def parse_method(text: str, problem: Problem | None = None) -> Method:
    """A method from its name. Raises UnknownName, with the near names, for a part that is not known.

    >>> parse_method("highs:pool@900s+warm").options
    {'grid': 900, 'side': 'restrict'}
    """
    from . import heuristics  # here and below: numba is imported only where a problem is solved

    head, _, argument = text.partition(":")
    if head.partition("@")[0] in heuristics.HEURISTICS:
        return _parse_heuristic(text, problem)
    if head not in names():
        raise UnknownName("method or backend", head, [*heuristics.HEURISTICS, *names()])
    argument, plus, start = argument.partition("+")
    if plus and start != "warm":
        raise UnknownName("start", f"+{start}", ["+warm"])
    formulation, _, lowering = argument.partition("@")
    known = list(problem.formulations) if problem is not None else []
    formulation = formulation or (known[0] if known else "")
    if problem is not None and formulation not in known:
        raise UnknownName(f"formulation of {problem.kind} problems", formulation, known)
    options = _lowering(lowering)
    taken = inspect.signature(backend(head).compile).parameters
    if not set(options) <= set(taken) and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        raise UnknownName(f"lowering of {head}", f"@{lowering}", ["none"])
    return Method(text, backend=head, formulation=formulation, options=options, warm=bool(plus))


def _parse_heuristic(text: str, problem: Problem | None) -> Method:
    """NAME[@BACKEND][:ARGUMENT]"""
    from . import heuristics

    head, _, argument = text.partition(":")
    name, at, solver = head.partition("@")
    found = heuristics.HEURISTICS[name]
    if problem is not None and problem.kind not in found.kinds:
        fitting = [name for name, h in heuristics.HEURISTICS.items() if problem.kind in h.kinds]
        raise UnknownName(f"method of {problem.kind} problems", name, [*fitting, *names()])
    if at and (not found.backends or solver not in names()):
        raise UnknownName(
            f"backend of {name}", f"@{solver}", [f"@{n}" for n in names()] if found.backends else ["none"]
        )
    try:
        found.check(argument)
    except heuristics.UnknownOrder as e:
        raise UnknownName(f"argument of {name}", argument, list(found.arguments) or ["none"]) from e
    return Method(text, heuristic=name, argument=argument, backend=solver or found.usual)


def _lowering(text: str) -> dict[str, Any]:
    if not text:
        return {}
    if text in ("pairwise", "time-indexed"):
        return {"lowering": text}
    if text == "lp":
        return {"lowering": "pairwise", "integral": False}
    found = GRID.fullmatch(text)
    if found is None:
        known = ["@pairwise", "@lp", "@time-indexed", "@900s", "@900s-relax", "@900s-lp", "@600s..36000s-energy"]
        raise UnknownName("lowering", f"@{text}", known)
    fine = int(found["fine"])
    options: dict[str, Any] = {"grid": (fine, int(found["coarse"])) if found["coarse"] else fine}
    if found["side"] == "energy":
        return {**options, "lowering": "energy", "integral": False}
    options["side"] = "relax" if found["side"] else "restrict"
    if found["side"] == "lp":
        options["integral"] = False
    return options
