"""Evictors: which running jobs leave when an on-demand job needs more nodes than are free.

An evictor gets the eviction problem of the moment [Maurya2020], as the offline methods do, and returns a plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...backends.base import BACKENDS
from ...errors import WrongValue
from ...heuristics import HEURISTICS
from ...models import Eviction, EvictionCandidate, EvictionPlan
from ...models.arguments import is_number, is_whole, shown
from ...models.excerpt import with_short_repr
from ...models.plugins import PluginError
from ...models.registry import Registry

PARTS = ("name", "decide")
TIME_LIMIT = 10.0  # seconds of a solver for one eviction
KNEE = 0.1
MOST_NODES = 10**9
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

    name = "kill"

    def decide(self, problem: Eviction) -> EvictionPlan | None:
        """Return the plan."""
        strategy = dict.fromkeys((c.id for c in problem.candidates), "keep")
        freed = 0
        for c in sorted(problem.candidates, key=lambda c: c.loss):
            if freed >= problem.nodes_needed:
                break
            strategy[c.id], freed = "kill", freed + c.nodes
        return EvictionPlan(strategy)


@with_short_repr
@dataclass(frozen=True)
class GreedyEvictor:
    """The greedy method of [Maurya2020]: checkpoints by falling loss, then kills by growing loss."""

    name = "greedy"

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
        if self.excess is None:
            return "dp"
        return "dp-knee" if self.excess == KNEE else f"dp-knee:{self.excess:g}"

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

        result = solve(problem, self.method, time_limit=self.time_limit, threads=1, seed=0)
        if result.status in ("unavailable", "error"):
            raise PluginError(f"evictor {self.method}: {result.message}")
        return result.schedule if isinstance(result.schedule, EvictionPlan) else None


def none() -> NoEvictor:
    """No job leaves: on-demand jobs wait for nodes that become free."""
    return NoEvictor()


def reserve(nodes: int) -> NoEvictor:
    """No job leaves, and batch jobs may not use the last nodes of the machine."""
    if not 1 <= nodes <= MOST_NODES:
        raise WrongValue(f"evictor reserve: nodes is {shown(nodes)}; expected a number of nodes such as reserve:512")
    return NoEvictor(nodes)


def optimal() -> DynamicProgram:
    """Return the evictor of the plan of least loss, by the dynamic program of [Maurya2020]."""
    return DynamicProgram()


def knee(excess: float = KNEE) -> DynamicProgram:
    """Return the evictor of the plan at the knee of the trade-off between waiting and loss."""
    return DynamicProgram(excess)


def _suggested(text: str) -> list[str]:
    return [] if text.partition(":")[0] in EVICTORS else ["cpsat:serial", "cpsat:shared", "backtracking"]


EVICTORS: Registry[Evictor] = Registry(
    "evictor",
    "schedlab.evictors",
    {"none": none, "kill": Kill, "greedy": GreedyEvictor, "dp": optimal, "dp-knee": knee, "reserve": reserve},
    parts=PARTS,
    docs="docs/reference/on_demand.md",
    first_value=True,
    near=_suggested,
)
"""Evictors by name: an evictor, or a class or function that returns one."""


def evictor_of(what: str | Evictor) -> Evictor:
    """Return an evictor by its name; an object is checked and returned.

    Parameters
    ----------
    what : str or Evictor
        ``none``, ``kill``, ``greedy``, ``dp``, ``dp-knee``, ``dp-knee:EXCESS``, ``reserve:NODES``, the name of a third
        party's evictor with its options, ``module:attribute``, or a method of eviction problems such as ``cpsat:shared``.

    Returns
    -------
    Evictor
        The evictor.

    Raises
    ------
    UnknownName
        If there is no such evictor or method.
    WrongOption
        If its number is not valid.
    PluginError
        If the object lacks a method.

    Examples
    --------
    >>> evictor_of("reserve:512"), evictor_of("cpsat:shared").shared_bandwidth
    (NoEvictor(reserved=512), True)
    """
    if isinstance(what, str) and EVICTORS.name_in(what) is None:
        method = _method(what)
        if method is not None:
            return method
    return EVICTORS.make(what)


def evictor_source(text: str) -> str | None:
    """Return a hash of the source of a third party's evictor or method; None for those of schedlab."""
    from ...methods.text import method_source

    if EVICTORS.name_in(text) is None and (method := _method(text)) is not None:
        return method_source(method.method)
    return EVICTORS.find(text).source


def _method(text: str) -> MethodEvictor | None:
    """Return the evictor of a method; None if the text is that of no method. Raises UnknownName, WrongValue."""
    from ...methods.text import parse_method

    first = text.partition(":")[0].partition("@")[0]
    if first not in (*BACKENDS, *HEURISTICS):
        return None
    shared = getattr(parse_method(text), "formulation", None) == "shared"
    parse_method(text, Eviction([SAMPLE], 0, 0, file_system_mb_s=1, shared_bandwidth=shared))
    return MethodEvictor(text, shared)
