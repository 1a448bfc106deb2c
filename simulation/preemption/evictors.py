"""Evictors: which running jobs leave when an on-demand job needs more nodes than are free.

An evictor gets the eviction problem of the moment [Maurya2020], as the offline methods do, and returns a plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ...backends import UnknownName
from ...backends.registry import BACKENDS
from ...errors import WrongValue
from ...heuristics import HEURISTICS
from ...models import Eviction, EvictionCandidate, EvictionPlan
from ...models.excerpt import excerpt, with_short_repr
from ...models.plugins import REFERENCE, PluginError, Registry, check_parts, is_module
from ...models.whole_numbers import is_number, is_whole, shown
from ..references import named_part, referred

PARTS = ("name", "decide")
TIME_LIMIT = 10.0  # seconds of a solver for one eviction
KNEE = 0.1
SAMPLE = EvictionCandidate("a", 1, 0, 1, None, 0, 1)  # of a problem to check the name of a method


class Evictor(Protocol):
    """Who leaves for an on-demand job.

    Attributes
    ----------
    name : str
        The evictor as a text.

    Notes
    -----
    An attribute ``reserved`` is the number of nodes that batch jobs may not use (without it: 0). An attribute
    ``shared_bandwidth`` that is true asks for problems in which checkpoints are written in parallel. A method ``warm_up()`` is called before the replay.
    """

    @property
    def name(self) -> str:
        """The evictor as a text."""

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return a feasible plan of the eviction problem of the moment; None: no job leaves."""


@with_short_repr
@dataclass(frozen=True)
class NoEvictor:
    """No job leaves: on-demand jobs wait for nodes that become free.

    Parameters
    ----------
    reserved : int, default 0
        Nodes that batch jobs may not use, the last ones of the machine.
    """

    reserved: int = 0

    def __post_init__(self) -> None:
        if not is_whole(self.reserved) or self.reserved < 0:
            raise WrongValue(f"evictor reserve: expected a whole number of nodes, found {shown(self.reserved)}")

    @property
    def name(self) -> str:
        """The evictor as a text."""
        return f"reserve:{self.reserved}" if self.reserved else "none"

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return None."""
        return None


@with_short_repr
@dataclass(frozen=True)
class Kill:
    """Jobs are killed by growing loss (ties: in the problem's order), until enough nodes are free."""

    name: str = "kill"

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return the plan."""
        strategy, freed = dict.fromkeys((c.id for c in problem.candidates), "keep"), 0
        for c in sorted(problem.candidates, key=lambda c: c.loss):
            if freed >= problem.nodes_needed:
                break
            strategy[c.id], freed = "kill", freed + c.nodes
        return EvictionPlan(strategy)


@with_short_repr
@dataclass(frozen=True)
class GreedyEvictor:
    """The greedy method of [Maurya2020]: checkpoints by falling loss, then kills by growing loss."""

    name: str = "greedy"

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return the plan."""
        from ...heuristics.eviction import greedy  # compiled code is loaded when it is first needed

        return greedy(problem)

    def warm_up(self) -> None:
        """Load the compiled code."""
        from ...heuristics.eviction import warm_up

        warm_up()


@with_short_repr
@dataclass(frozen=True)
class DynamicProgram:
    """An optimal plan, by the dynamic program of [Maurya2020].

    Parameters
    ----------
    excess : float, optional
        None: the plan of the whole deadline (least loss). Else the plan of the shortest deadline whose loss is at most
        1 + ``excess`` times the least loss, the knee of the trade-off between waiting and loss.
    """

    excess: float | None = None

    def __post_init__(self) -> None:
        if self.excess is not None and (not is_number(self.excess) or self.excess < 0):
            raise WrongValue(f"evictor dp-knee: expected a number of at least 0, found {shown(self.excess)}")

    @property
    def name(self) -> str:
        """The evictor as a text."""
        return "dp" if self.excess is None else "dp-knee" if self.excess == KNEE else f"dp-knee:{self.excess:g}"

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return the plan."""
        from ...heuristics.eviction import trade_off

        table = trade_off(problem)
        if self.excess is None:
            return table.best_plan()
        optima = table.deadlines()
        within = next(d.deadline_s for d in optima if d.loss <= (1 + self.excess) * optima[-1].loss)
        return table.best_plan(deadline_s=within)

    def warm_up(self) -> None:
        """Load the compiled code."""
        from ...heuristics.eviction import warm_up

        warm_up()


@with_short_repr
@dataclass(frozen=True)
class MethodEvictor:
    """Any method for eviction problems, such as ``cpsat:serial`` or ``backtracking``.

    Parameters
    ----------
    method : str
        The method as ``schedlab.solve`` takes it.
    shared_bandwidth : bool
        Whether checkpoints are written in parallel; the formulation ``shared`` needs it.
    time_limit : float
        Seconds for one eviction. Without a plan in this time no job leaves.
    """

    method: str
    shared_bandwidth: bool = False
    time_limit: float = TIME_LIMIT

    @property
    def name(self) -> str:
        """The evictor as a text."""
        return self.method

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return the plan; None if none was found."""
        from ...solve import solve

        found = solve(problem, self.method, time_limit=self.time_limit, threads=1, seed=0)
        if found.status in ("unavailable", "error"):
            raise PluginError(f"evictor {self.method}: {found.message}")
        return found.schedule if isinstance(found.schedule, EvictionPlan) else None


def _plain(made: Callable[[], Evictor]) -> Callable[[str], Evictor]:
    def of(text: str) -> Evictor:
        if text:
            raise WrongValue(f"evictor: expected nothing after {made().name}, found {excerpt(text)}")
        return made()

    return of


def _reserve(text: str) -> NoEvictor:
    if not text.isdecimal() or len(text) > 9 or int(text) < 1:
        raise WrongValue(f"evictor reserve: expected a number of nodes such as reserve:512, found {excerpt(text)}")
    return NoEvictor(int(text))


def _knee(text: str) -> DynamicProgram:
    try:
        return DynamicProgram(float(text) if text else KNEE)
    except ValueError:
        raise WrongValue(f"evictor dp-knee: expected a number such as dp-knee:0.1, found {excerpt(text)}") from None


EVICTORS: Registry[Any] = Registry(
    "evictor",
    "schedlab.evictors",
    {
        "none": _plain(NoEvictor),
        "kill": _plain(Kill),
        "greedy": _plain(GreedyEvictor),
        "dp": _plain(DynamicProgram),
        "dp-knee": _knee,
        "reserve": _reserve,
    },
)
"""Evictors by name: functions of the text after the colon, "" if there is none."""


def evictor_of(what: str | Evictor) -> Evictor:
    """Return an evictor by its name; an object is checked and returned.

    Parameters
    ----------
    what : str or Evictor
        ``none``, ``kill``, ``greedy``, ``dp``, ``dp-knee``, ``dp-knee:EXCESS``, ``reserve:NODES``, the name of a third
        party's evictor, ``module:attribute``, or a method of eviction problems such as ``cpsat:shared``.

    Returns
    -------
    Evictor
        The evictor.

    Raises
    ------
    UnknownName
        If there is no such evictor or method.
    WrongValue
        If its number is not valid.
    PluginError
        If the object lacks a method.

    Examples
    --------
    >>> evictor_of("reserve:512"), evictor_of("cpsat:shared").shared_bandwidth
    (NoEvictor(reserved=512), True)
    """
    found: Any = what
    if isinstance(what, str):
        name, colon, text = what.partition(":")
        if colon and not text:
            raise WrongValue(f"evictor {what}: nothing stands after the colon; expected {name}, or a value after it")
        if name in EVICTORS:
            found = named_part(EVICTORS, name, text)
        else:
            found = _method(what)
    if isinstance(found, type):
        found = found()
    if missing := [part for part in PARTS if not hasattr(found, part)]:
        raise PluginError(f"evictor ({found!r:.100}) has no {' and no '.join(missing)}; see Evictor")
    check_parts("evictor", found, ("decide",))
    made: Evictor = found
    return made


def _method(text: str) -> Any:
    """Return the evictor of a method, or a third party's ``module:attribute``. Raises UnknownName, WrongValue."""
    from ...methods.text import parse_method

    try:
        shared = getattr(parse_method(text), "formulation", None) == "shared"
        parse_method(text, Eviction([SAMPLE], 0, 0, file_system_mb_s=1, shared_bandwidth=shared))
    except UnknownName:
        if REFERENCE.fullmatch(text) and is_module(text.partition(":")[0]):
            return referred("evictor", text, list(EVICTORS))
        known = [*EVICTORS, "cpsat:serial", "cpsat:shared", "backtracking"]
        module = text.partition(":")[0]
        no_module = REFERENCE.fullmatch(text) and module not in (*BACKENDS, *HEURISTICS)
        note = f", and no module {module} in the current folder or installed" if no_module else ""
        raise UnknownName("evictor", text, known, note) from None
    return MethodEvictor(text, shared)
