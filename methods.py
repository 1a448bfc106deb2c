"""Methods as text: a heuristic, or a backend with a formulation, a lowering and a warm start.

A heuristic is written ``NAME[@BACKEND][:ARGUMENT]``, for example ``multi-search``, ``first-solution:ORDER`` or
``rule:est-strict``. A backend is written ``BACKEND:FORMULATION[@LOWERING][+warm]``:

======================================  ================================================================================
``cpsat:counts``, ``cpo:pool``          a formulation on CP-SAT, on CP Optimizer
``cpsat:classes+warm``                  with a warm start: the usual heuristic of this kind of problem
``highs:counts@pairwise``               pairwise lowering: 0-1 variables for the order of each pair of intervals
``highs:pool@time-indexed``             time-indexed lowering on a grid of 1 s
``highs:pool@900s``                     time-indexed lowering on a grid of 900 s; its schedules are feasible
``highs:classes@900s-relax``            a relaxed grid of 900 s; its optimum is a true bound
``highs:classes@60s..3600s-lp``         linear relaxation on a grid from 60 s (early) to 3600 s (late)
``highs:pool@60s..3600s-energy``        linear relaxation by the energy in each grid cell; the strongest bounds
``highs:fluid@lp``                      linear relaxation of the pairwise lowering, without a grid
======================================  ================================================================================
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import Any

from .backends import UnknownName, backend, names
from .backends.registry import BACKENDS
from .models import Problem

GRID = re.compile(r"(?P<fine>\d+)s(\.\.(?P<coarse>\d+)s)?(-(?P<side>relax|lp|energy))?")


@dataclass(frozen=True)
class Method:
    """A method, taken apart.

    Parameters
    ----------
    text : str
        The method as the user wrote it.
    heuristic : str or None
        Name of the heuristic; None if the method is a backend.
    argument : str
        Argument of the heuristic, after the colon.
    backend : str
        Name of the backend; for a heuristic the backend that it uses, "" if it uses none.
    formulation : str
        Name of the formulation, for a backend.
    options : dict
        Options of the backend's ``compile``, from the lowering after the ``@``.
    warm : bool
        Whether the backend gets the usual warm start of the problem (``+warm``).
    """

    text: str
    heuristic: str | None = None
    argument: str = ""
    backend: str = ""
    formulation: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    warm: bool = False

    @property
    def solver(self) -> str:
        """The program whose version decides the outcome: the backend, or "schedlab" if there is none."""
        return self.backend or "schedlab"

    @property
    def source(self) -> str | None:
        """A hash of the source of the third parties' heuristic and backend; None if both are of schedlab."""
        from . import heuristics

        found = (heuristics.HEURISTICS.source(self.heuristic or ""), BACKENDS.source(self.backend))
        return "-".join(filter(None, found)) or None


def parse_method(text: str, problem: Problem | None = None) -> Method:
    """Parse the text of a method.

    Parameters
    ----------
    text : str
        The method, such as "cpsat:counts+warm".
    problem : Problem or None
        The problem that it should solve. Its formulations and heuristics are the only ones accepted; None: all.

    Returns
    -------
    Method

    Raises
    ------
    UnknownName
        If a part of the text is not known. The message gives similar names.

    Examples
    --------
    >>> parse_method("highs:pool@900s+warm").options
    {'grid': 900, 'side': 'restrict'}
    """
    from . import heuristics  # here and below: numba is imported only where a problem is solved

    head, _, argument = text.partition(":")
    if head.partition("@")[0] in heuristics.HEURISTICS:
        return parse_heuristic(text, problem)
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
    if plus and problem is not None:
        heuristics.usual_start(problem)  # raises an error if there is none
    options = _lowering(lowering)
    taken = inspect.signature(backend(head).compile).parameters
    if not set(options) <= set(taken) and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        raise UnknownName(f"lowering of {head}", f"@{lowering}", ["none"])
    return Method(text, backend=head, formulation=formulation, options=options, warm=bool(plus))


def parse_heuristic(text: str, problem: Problem | None) -> Method:
    """Parse ``NAME[@BACKEND][:ARGUMENT]``."""
    from . import heuristics

    head, _, argument = text.partition(":")
    name, at, solver = head.partition("@")
    found = heuristics.HEURISTICS[name]
    if problem is not None and not found.takes(problem):
        fitting = [name for name, h in heuristics.HEURISTICS.usable() if h.takes(problem)]
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
    """Return the options of ``compile`` for the text after the ``@``."""
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
