"""The method ``auto`` as an object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ..heuristics.method import START, Method, Start
from ..models.arguments import named


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
