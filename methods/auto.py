"""The method ``auto`` as an object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ..models import Problem, kind
from ..models.arguments import named
from .method import START, Method, Start

STEPS = "..methods.portfolio:parsed_steps"  # by name: the steps are methods as text, and reading one needs this class


@named
@dataclass(frozen=True)
class Auto(Method):
    """The portfolio of the problem's kind: heuristics, a relaxation for the bound, a solver on what is small enough.

    The steps run one after another, each with all threads and from the best schedule so far, until the gap is closed or
    the time is over. ``Result.details["steps"]`` has the outcome of each.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose schedule is the first one.

    Examples
    --------
    >>> import schedlab as sl
    >>> r = sl.solve(sl.load("eurora_99").problem.at(43200, first=5), "auto", time_limit=60)
    >>> r.status, r.gap
    ('optimal', 0.0)
    """

    name: ClassVar[str] = "auto"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)

    @classmethod
    def obeyed(cls) -> frozenset[str]:
        """Return the start and the gap."""
        return frozenset(("warm_start", "gap_limit"))

    def warm_up(self, problem: Problem, start: str | None = None) -> None:
        """Compile the kernels that the steps for this problem need."""
        for method, _ in kind.resolve(STEPS)(problem):
            method.warm_up(problem, start)
