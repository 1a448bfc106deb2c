"""What a backend is: the contracts between the modelling language and a solver, and the result of a solve.

A backend is one file with a class that satisfies ``Backend``; ``compile`` lowers a model with at most one objective into
a ``Compiled``, whose ``run`` tells a ``Watch`` of every incumbent and bound. Times, verification, several objectives and
the ``Result`` are the driver's work (``driver.py``), the same for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from ..models.language import Assignment, Integer, Interval, IntervalValue, Model, Violation

if TYPE_CHECKING:
    import pandas

Status = Literal["optimal", "feasible", "infeasible", "unbounded", "unknown", "unavailable", "error"]
OPTIMALITY_GAP = 1e-6


class _Moment(NamedTuple):
    seconds: float
    objective: Any
    bound: Any


class Incumbent(_Moment):
    """A better solution, or a better bound: seconds since the call began, and what is known then (None: nothing).

    With several objectives both are tuples, of the bound as far as it is known. What a callback gets can give the answer,
    too; the trace of a result does not keep the answers.
    """

    _answer: Callable[[], Any] | None = None
    placement: Any = None  # the answer as flat arrays, of searches that have it so: made in no time

    def giving(self, make: Callable[[], Any], placement: Any = None) -> Incumbent:
        """Return the same incumbent, whose answer ``make`` makes on demand."""
        found = Incumbent(*self)
        found._answer, found.placement = make, placement
        return found

    def answer(self) -> Any:
        """Return the Schedule (of a problem) or Assignment (of a model) with this objective; None if there is none.

        It is made on demand, from what the search has at that moment: call it within the callback.

        >>> Incumbent(0.5, 7, None).giving(lambda: "schedule").answer(), Incumbent(0.5, 7, None).answer()
        ('schedule', None)
        """
        return None if self._answer is None else self._answer()


@dataclass(frozen=True)
class Exactness:
    """How a lowering relates to its model; a restriction proves no bound, a relaxation's answer may violate the model."""

    kind: Literal["exact", "restriction", "relaxation"] = "exact"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class WarmStart:
    """What became of a warm start. ``returned``: nothing better was found, the result is the start itself."""

    fate: Literal["none", "accepted", "repaired", "rejected"] = "none"
    reason: str = ""
    returned: bool = False


@dataclass(frozen=True)
class Availability:
    """A backend on this machine: its solver's version, or the reason why it cannot be used."""

    name: str
    version: str | None
    reason: str = ""

    @property
    def ok(self) -> bool:
        return self.version is not None


@dataclass(frozen=True)
class Limits:
    """When a run ends. ``time``: seconds left for the solver; ``deterministic``: in the solver's own reproducible unit."""

    time: float | None = None
    threads: int | None = None
    seed: int = 0
    gap: float | None = None
    deterministic: float | None = None


@dataclass
class Outcome:
    """What a backend says at the end of a run; the incumbents went to the Watch. ``bound`` is in the model's sense.

    ``running``: the solver has not stopped yet, so that what was compiled cannot be solved again.
    """

    status: Status
    bound: float | None = None
    log: str = ""
    message: str = ""
    warm: WarmStart = field(default_factory=WarmStart)
    running: bool = False


class Conflict(NamedTuple):
    """Names of constraints (and variables' domains) that cannot hold together, or None with the reason why not known."""

    names: tuple[str, ...] | None
    reason: str


class Watch(Protocol):
    """Whom a running solver tells; both answer whether to go on. Safe to call from a solver's thread."""

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        """A solution was found (with the bound known at that moment); its objective is recomputed, not believed."""

    def bound(self, value: float) -> bool:
        """The bound is now ``value``."""


class Compiled(Protocol):
    """A lowered model: the native object and the way there and back.

    ``size``: of the native model, at least "variables", "constraints", "nonzeros".
    """

    native: Any
    size: dict[str, int]
    exactness: Exactness

    def var(self, x: Interval | Integer) -> Any:
        """The native variable(s) of one of ours."""

    def assignment(self, answer: Any) -> Assignment:
        """Our assignment from the solver's native answer."""

    def hint(self, assignment: Assignment) -> Any:
        """Values of all native variables, auxiliary ones too, as a warm start takes them."""

    def fix(self, assignment: Assignment) -> None:
        """Fix every native variable to its hinted value (a test of the hint: it must stay feasible)."""

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Solve, telling the watch."""

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """For a model without solution: which constraints cannot hold together."""


class Backend(Protocol):
    """One solver. ``options`` of ``compile`` are keyword arguments of its own, with defaults."""

    name: str

    def availability(self) -> Availability:
        """Version, or the reason why it is missing; imports the solver, catches ImportError."""

    def compile(self, model: Model, **options: Any) -> Compiled:
        """Lower a model (its first objective). Raises LoweringTooLarge before building what is too large."""


class LoweringTooLarge(ValueError):
    """A lowering whose predicted size is beyond the limit that the caller set; nothing was built."""

    def __init__(self, rows: int, columns: int, nonzeros: int, limit: int, advice: str) -> None:
        self.rows, self.columns, self.nonzeros, self.limit = rows, columns, nonzeros, limit
        super().__init__(
            f"the lowering would have {rows:,} rows, {columns:,} columns and {nonzeros:,} non-zeros, "
            f"more than the {limit:,} non-zeros allowed; {advice}"
        )


class SolverUnavailable(RuntimeError):
    """A solver that is not installed, or an edition that does not take the model; the reason is the message."""


@dataclass
class Result:
    """The result of a solve. Unknown values are None; with several objectives ``objective``, ``bound``, ``gap`` are tuples.

    ``incumbents``: the trace; ``seconds``: of "build", "lower", "solve", "total"; ``size``: of the native model;
    ``violations``: what the independent check says of the answer (empty for every answer that is reported as feasible);
    ``relaxed``: the best answer of a relaxation that does not satisfy the model; ``conflict``: for an infeasible model;
    ``problem``, ``schedule``: where a problem was solved; ``model``: what was solved.

    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); m.minimize(a.end)
    >>> r = sl.solve(m)
    >>> r.status, r.objective, r[a].start
    ('optimal', 5, 2)
    """

    status: Status
    solver: str
    version: str | None
    objective: Any = None
    bound: Any = None
    incumbents: list[Incumbent] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    warm_start: WarmStart = field(default_factory=WarmStart)
    exactness: Exactness = field(default_factory=Exactness)
    size: dict[str, int] = field(default_factory=dict)
    log: str = ""
    message: str = ""
    assignment: Assignment | None = None
    relaxed: Assignment | None = None
    violations: list[Violation] = field(default_factory=list)
    conflict: Conflict | None = None
    model: Model | None = None
    problem: Any = None
    schedule: Any = None

    @property
    def gap(self) -> Any:
        """Relative gap between objective and bound, None where one of them is unknown."""
        if isinstance(self.objective, tuple):
            bounds = self.bound if isinstance(self.bound, tuple) else (None,) * len(self.objective)
            return tuple(relative_gap(o, b) for o, b in zip(self.objective, bounds, strict=True))
        return relative_gap(self.objective, self.bound)

    def __getitem__(self, variable: Any) -> Any:
        """The value of an interval (``.start .end .present``) or of an integer variable."""
        if self.assignment is None:
            raise LookupError(f"there is no solution: the status is {self.status!r}. {self.message}".strip())
        return self.assignment[variable]

    def to_pandas(self) -> pandas.DataFrame:
        """The intervals of the answer, one row each: name, present, start, end; of a schedule: job, start, nodes."""
        import pandas

        if self.schedule is not None:
            jobs = self.schedule.rows()
            return pandas.DataFrame(jobs, columns=list(jobs[0]) if jobs else ["job", "start", "nodes"])
        rows = []
        for v in self.assignment.model.intervals if self.assignment is not None else []:
            value: IntervalValue = self[v]
            rows.append({"name": v.name, "present": value.present, "start": value.start, "end": value.end})
        table = pandas.DataFrame(rows, columns=["name", "present", "start", "end"])
        return table.astype({"start": "Int64", "end": "Int64"})

    def __repr__(self) -> str:
        return f"Result({self.status}, objective={self.objective}, bound={self.bound}, solver={self.solver!r})"


def relative_gap(objective: float | None, bound: float | None) -> float | None:
    """``|objective - bound| / max(|objective|, |bound|)``; 0 below an absolute 1e-9, None if one is unknown.

    >>> relative_gap(20.0, 18.0)
    0.1
    """
    if objective is None or bound is None or math.isinf(bound):
        return None
    difference = abs(objective - bound)
    return 0.0 if difference < 1e-9 else difference / max(abs(objective), abs(bound))
