"""The methods of schedlab that need no solver, or use one for parts of a problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ..backends import UnknownName, names
from ..models import Problem
from ..models.arguments import Positive, named
from .method import ARGUMENT, BACKEND, OPTION, START, Method, Start


@named
@dataclass(frozen=True)
class Search(Method):
    """The base class of methods that are heuristics."""

    @property
    def heuristic(self) -> str:
        """Name of the heuristic."""
        return self.name

    @property
    def argument(self) -> str:
        """What stands after the colon: an order or a rule; "" for none."""
        return next((getattr(self, f.name) or "" for f in self._with("argument")), "")

    @property
    def seeded(self) -> bool:
        """Whether the result depends on the seed."""
        from ..heuristics import HEURISTICS

        return HEURISTICS[self.name].seeded

    @classmethod
    def obeyed(cls) -> frozenset[str]:
        """Return the start, if the heuristic takes one."""
        from ..heuristics import HEURISTICS

        return frozenset(("warm_start",) if HEURISTICS[cls.name].starts else ())

    def check(self, problem: Problem) -> None:
        """Raise UnknownName if the heuristic does not take this kind of problem, or for an unknown argument."""
        from ..heuristics import HEURISTICS

        if not HEURISTICS[self.name].takes(problem):
            fitting = [name for name, h in HEURISTICS.usable() if h.takes(problem)]
            condition = HEURISTICS[self.name].condition
            note = f", which supports only {condition}" if condition else ""
            raise UnknownName(f"method of {problem.kind} problems", self.name, [*fitting, *names()], note)

    def check_parts(self) -> None:
        """Raise UnknownName for an unknown argument or backend."""
        from ..heuristics import HEURISTICS, UnknownOrder

        found = HEURISTICS[self.name]
        try:
            found.check(self.argument)
        except UnknownOrder as e:
            known = list(found.arguments) or ["none"]
            raise UnknownName(f"argument of {self.name}", self.argument, known, f" in {self.text!r}") from e
        if self.backend_name and self.backend_name not in names():
            known = [f"@{n}" for n in names()]
            raise UnknownName(f"backend of {self.name}", f"@{self.backend_name}", known, f" in {self.text!r}")


@named
@dataclass(frozen=True)
class FirstSolution(Search):
    """List scheduling: the jobs in an order, each at its earliest feasible start.

    Parameters
    ----------
    order : str
        One of ``schedlab.heuristics.ORDERINGS``; a minus sign reverses it: "-area".

    Examples
    --------
    >>> FirstSolution("-area").text
    'first-solution:-area'
    """

    name: ClassVar[str] = "first-solution"
    order: str = field(metadata=ARGUMENT)


@named
@dataclass(frozen=True)
class MultiSearch(Search):
    """List scheduling in all orders; the best schedule is kept.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose schedule is returned if no order gives a better one.
    """

    name: ClassVar[str] = "multi-search"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)


@named
@dataclass(frozen=True)
class Rule(Search):
    """What the rule of a batch system does: at each event, waiting jobs start in the order of a key.

    Parameters
    ----------
    rule : str
        A key of ``schedlab.heuristics.RULES``, such as "est"; "est-strict" stops at the first job that does not fit.

    Examples
    --------
    >>> Rule("wt-strict").text
    'rule:wt-strict'
    """

    name: ClassVar[str] = "rule"
    rule: str = field(metadata=ARGUMENT)


@named
@dataclass(frozen=True)
class DelaySearch(Search):
    """Delay jobs of a list schedule, one after another, while the objective improves.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        The heuristic to start from; None: the best order of ``multi-search``.
    delay : int or None
        Seconds; None: 1/50 of the time up to the horizon.
    """

    name: ClassVar[str] = "delay-search"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)
    delay: Positive | None = field(default=None, metadata=OPTION)


@named
@dataclass(frozen=True)
class RelaxationSearch(Search):
    """Jobs of several units keep their nodes; a solver decides the rest, in windows of time.

    Parameters
    ----------
    backend : str
        Name of the backend.
    warm_start : str, Method, Start or None
        The heuristic to start from; None: ``multi-search``.
    largest : int or None
        Largest model of the whole problem, in units x nodes; None: the default.

    Examples
    --------
    >>> RelaxationSearch("highs").text
    'relaxation-search@highs'
    """

    name: ClassVar[str] = "relaxation-search"
    backend: str = field(default="cpsat", metadata=BACKEND)
    warm_start: Start | Method | str | None = field(default=None, metadata=START)
    largest: Positive | None = field(default=None, metadata=OPTION)


@named
@dataclass(frozen=True)
class Lns(Search):
    """A large-neighbourhood search over orders, moves of single jobs and parts of the schedule.

    Parameters
    ----------
    backend : str or None
        A solver that repairs parts of the schedule as well; None: no solver.
    warm_start : str, Method, Start or None
        The heuristic to start from; None: list schedules.
    rounds : int or None
        Number of turns, after which the search ends; None: the time limit ends it, or 60 turns without one.

    Examples
    --------
    >>> Lns("cpsat", rounds=30).text
    'lns@cpsat:rounds=30'
    """

    name: ClassVar[str] = "lns"
    backend: str | None = field(default=None, metadata=BACKEND)
    warm_start: Start | Method | str | None = field(default=None, metadata=START)
    rounds: Positive | None = field(default=None, metadata=OPTION)


@named
@dataclass(frozen=True)
class Lagrangian(Search):
    """A bound from a Lagrangian relaxation with prices per cell of time, and list schedules in the order of its starts.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        The heuristic to start from; None: ``multi-search``.
    """

    name: ClassVar[str] = "lagrangian"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)


@named
@dataclass(frozen=True)
class BranchAndBound(Search):
    """Branch and bound in the order of time, pruned by the prices of ``lagrangian``; for at most 64 jobs.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        The heuristic to start from; None: ``multi-search`` and ``lns``.
    """

    name: ClassVar[str] = "branch-and-bound"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)


@named
@dataclass(frozen=True)
class DynamicProgram(Search):
    """The dynamic program of [Maurya2020] for eviction problems, which is exact."""

    name: ClassVar[str] = "dp"


@named
@dataclass(frozen=True)
class Greedy(Search):
    """The greedy method of [Maurya2020] for eviction problems."""

    name: ClassVar[str] = "greedy"


@named
@dataclass(frozen=True)
class Backtracking(Search):
    """The backtracking of [Maurya2020] for eviction problems, which is exact if it ends.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose plan bounds the search.
    """

    name: ClassVar[str] = "backtracking"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)


@named
@dataclass(frozen=True)
class SerialSgs(Search):
    """Serial schedule generation for projects: the tasks by a priority rule, each as early as possible [Kolisch1996b].

    Parameters
    ----------
    rule : str
        One of ``schedlab.heuristics.PRIORITY_RULES``.
    """

    name: ClassVar[str] = "serial-sgs"
    rule: str = field(metadata=ARGUMENT)


@named
@dataclass(frozen=True)
class MultiSgs(Search):
    """Serial schedule generation with all priority rules; the best schedule is kept.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose schedule is returned if no rule gives a better one.
    """

    name: ClassVar[str] = "multi-sgs"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)


@named
@dataclass(frozen=True)
class Bounds(Search):
    """Lower bounds of the makespan of a project: critical path, energy, one machine, energetic reasoning; no search.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose schedule is returned with the bound; None: ``multi-sgs``.
    """

    name: ClassVar[str] = "bounds"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)
