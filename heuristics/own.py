"""The heuristics of schedlab: each is a dataclass with its options, which runs itself.

What a heuristic needs is imported when it runs: a method can be read and written without compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeGuard

from ..backends.base import Limits
from ..backends.result import Result
from ..models.arguments import Positive, named
from .method import ARGUMENT, BACKEND, OPTION, PLACED, START, Begin, Callback, Heuristic, Method, Start
from .search_parts import Incumbents

if TYPE_CHECKING:
    from ..models import Dispatch, Eviction, Problem, Profit, Project, Schedule


def _is_project(problem: Problem) -> TypeGuard[Project]:
    from ..models import Project

    return isinstance(problem, Project)


def _is_dispatch(problem: Problem) -> TypeGuard[Dispatch]:
    from ..models import Dispatch

    return isinstance(problem, Dispatch)


def _constructed(
    problem: Problem,
    on_incumbent: Callback,
    make: Callable[[], Schedule],
    message: str,
    optimal: bool = False,
) -> Result:
    """Return the result of a heuristic that makes one schedule, and report it."""
    seen = Incumbents(problem, "", on_incumbent)
    schedule = make()
    seen.report(problem.value(schedule), lambda: schedule)
    return seen.result(schedule, message=message, optimal=optimal)


LNS_LATE = f"{__package__}.lns.search:warm_up_late"
PLACED_TASKS = "projects whose rules can be together"

# --- Dispatching and profit problems.


@named
@dataclass(frozen=True)
class FirstSolution(Heuristic):
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
    unproved: ClassVar[tuple[str, ...]] = PLACED
    order: str = field(metadata=ARGUMENT)

    @classmethod
    def arguments(cls) -> tuple[str, ...]:
        """Return the orders."""
        from .list_scheduling import ORDERINGS

        return ORDERINGS

    def run(self, problem: Dispatch | Profit, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Place the jobs once."""
        from .list_scheduling import first_solution

        return _constructed(problem, on_incumbent, lambda: first_solution(problem, self.order), f"order: {self.order}")


@named
@dataclass(frozen=True)
class MultiSearch(Heuristic):
    """List scheduling in all orders; the best schedule is kept.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose schedule is returned if no order gives a better one.
    """

    name: ClassVar[str] = "multi-search"
    unproved: ClassVar[tuple[str, ...]] = PLACED
    warm_start: Start | Method | str | None = field(default=None, metadata=START)

    def run(self, problem: Dispatch | Profit, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Place the jobs in each order."""
        from .list_scheduling import multi_search

        return multi_search(problem, time_limit=limits.time, warm_start=start, on_incumbent=on_incumbent)


@named
@dataclass(frozen=True)
class Rule(Heuristic):
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
    unproved: ClassVar[tuple[str, ...]] = PLACED
    rule: str = field(metadata=ARGUMENT)

    @classmethod
    def arguments(cls) -> tuple[str, ...]:
        """Return the rules."""
        from .rules import RULES

        return RULES

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile its kernels."""
        from .rules import warm_up

        warm_up()

    @classmethod
    def warm_up_late(cls, problem: Problem) -> tuple[str, ...]:
        """Return what a second process compiles."""
        return ()

    def run(self, problem: Dispatch | Profit, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Replay the rule."""
        from .rules import schedule_by_rule

        return _constructed(problem, on_incumbent, lambda: schedule_by_rule(problem, self.rule), f"rule: {self.rule}")


@named
@dataclass(frozen=True)
class DelaySearch(Heuristic):
    """Delay jobs of a list schedule, one after another, while the objective improves.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        The heuristic to start from; None: the best order of ``multi-search``.
    delay : int or None
        Seconds; None: 1/50 of the time up to the horizon.
    """

    name: ClassVar[str] = "delay-search"
    unproved: ClassVar[tuple[str, ...]] = PLACED
    warm_start: Start | Method | str | None = field(default=None, metadata=START)
    delay: Positive | None = field(default=None, metadata=OPTION)

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile its kernels."""
        from .delays import warm_up

        warm_up()

    @classmethod
    def warm_up_late(cls, problem: Problem) -> tuple[str, ...]:
        """Return what a second process compiles."""
        return (*super().warm_up_late(problem), f"{__package__}.delays:warm_up_late")

    def run(self, problem: Dispatch | Profit, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Delay jobs."""
        from .delays import delay_search

        return delay_search(
            problem, time_limit=limits.time, warm_start=start, on_incumbent=on_incumbent, delay=self.delay
        )


@named
@dataclass(frozen=True)
class RelaxationSearch(Heuristic):
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
    seeded: ClassVar[bool] = True
    unproved: ClassVar[tuple[str, ...]] = PLACED
    backend: str = field(default="cpsat", metadata=BACKEND)
    warm_start: Start | Method | str | None = field(default=None, metadata=START)
    largest: Positive | None = field(default=None, metadata=OPTION)

    def run(self, problem: Dispatch | Profit, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Solve a relaxation, then windows."""
        from .relaxation import relaxation_search

        given = {}
        if self.largest is not None:
            given = {"largest": self.largest}
        return relaxation_search(
            problem,
            time_limit=limits.time,
            threads=limits.threads,
            seed=limits.seed,
            warm_start=start,
            on_incumbent=on_incumbent,
            backend=self.backend or "cpsat",
            **given,
        )


@named
@dataclass(frozen=True)
class Lns(Heuristic):
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
    kinds: ClassVar[tuple[str, ...]] = (*PLACED, "project")
    condition: ClassVar[str] = f"dispatching and profit problems, and {PLACED_TASKS}"
    seeded: ClassVar[bool] = True
    unproved: ClassVar[tuple[str, ...]] = PLACED
    backend: str | None = field(default=None, metadata=BACKEND)
    warm_start: Start | Method | str | None = field(default=None, metadata=START)
    rounds: Positive | None = field(default=None, metadata=OPTION)

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Return whether it supports a problem; see ``condition``."""
        if not _is_project(problem):
            return super().takes(problem)
        return problem.kind in cls.kinds and not cls.refused(problem)

    @classmethod
    def _condition_for(cls, problem: Problem) -> str:
        """Return what it supports of projects, for a project; else its whole ``condition``."""
        if _is_project(problem) and problem.kind in cls.kinds:
            return PLACED_TASKS
        return cls.condition

    @classmethod
    def refused(cls, problem: Problem) -> tuple[str, ...]:
        """Return the rules of a project that it does not support."""
        from .project.serial_sgs import refused

        if _is_project(problem):
            return refused(problem)
        return ()

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile the kernels for a project, or for jobs."""
        from .lns.search import warm_up as warm_up_jobs
        from .project.lns import warm_up as warm_up_project

        if _is_project(problem):
            warm_up_project(problem)
        else:
            warm_up_jobs()

    @classmethod
    def warm_up_late(cls, problem: Problem) -> tuple[str, ...]:
        """Return what a second process compiles for jobs."""
        lists = super().warm_up_late(problem)
        if lists:
            return (*lists, LNS_LATE)
        return ()

    def run(self, problem: Dispatch | Profit | Project, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Destroy and repair parts of a schedule."""
        from .lns.search import lns
        from .project.lns import project_lns

        search: Callable[..., Result] = project_lns if _is_project(problem) else lns
        return search(
            problem,
            time_limit=limits.time,
            threads=limits.threads,
            seed=limits.seed,
            warm_start=start,
            on_incumbent=on_incumbent,
            rounds=self.rounds,
            backend=self.backend,
        )


@named
@dataclass(frozen=True)
class Lagrangian(Heuristic):
    """A bound from a Lagrangian relaxation with prices per cell of time, and list schedules in the order of its starts.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        The heuristic to start from; None: ``multi-search``.
    """

    name: ClassVar[str] = "lagrangian"
    condition: ClassVar[str] = "dispatching problems whose objective is a sum over jobs"
    kinds: ClassVar[tuple[str, ...]] = ("dispatch",)
    warm_start: Start | Method | str | None = field(default=None, metadata=START)

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Return whether the objective of a dispatching problem is a sum over jobs."""
        from .lagrangian import is_sum_over_jobs

        return _is_dispatch(problem) and is_sum_over_jobs(problem)

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile its kernels."""
        from .lagrangian import warm_up

        warm_up()

    def run(self, problem: Dispatch, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Raise the bound by prices."""
        from .lagrangian import lagrangian

        return lagrangian(problem, time_limit=limits.time, warm_start=start, on_incumbent=on_incumbent)


@named
@dataclass(frozen=True)
class BranchAndBound(Heuristic):
    """Branch and bound in the order of time, pruned by the prices of ``lagrangian``; for at most 64 jobs.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        The heuristic to start from; None: ``multi-search`` and ``lns``.
    """

    name: ClassVar[str] = "branch-and-bound"
    kinds: ClassVar[tuple[str, ...]] = ("dispatch",)
    condition: ClassVar[str] = (
        "dispatching problems with at most 64 jobs, an objective that is a sum over jobs, and no chunks, limits, desired use, "
        "whole-node jobs, licences, or jobs of 0 s"
    )
    seeded: ClassVar[bool] = True
    warm_start: Start | Method | str | None = field(default=None, metadata=START)

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Return whether it supports a problem; see ``condition``."""
        from .branch_and_bound import can_branch

        return _is_dispatch(problem) and can_branch(problem)

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile its kernels."""
        from .branch_and_bound import warm_up

        warm_up()

    @classmethod
    def warm_up_late(cls, problem: Problem) -> tuple[str, ...]:
        """Return what a second process compiles."""
        return (*super().warm_up_late(problem), LNS_LATE)

    def run(self, problem: Dispatch, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Search the tree."""
        from .branch_and_bound import branch_and_bound

        return branch_and_bound(
            problem, time_limit=limits.time, warm_start=start, on_incumbent=on_incumbent, seed=limits.seed
        )


# --- Evictions.


@named
@dataclass(frozen=True)
class DynamicProgram(Heuristic):
    """The dynamic program of [Maurya2020] for eviction problems, which is exact."""

    name: ClassVar[str] = "dp"
    kinds: ClassVar[tuple[str, ...]] = ("eviction",)

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile its kernels."""
        from .eviction import warm_up

        warm_up()

    def run(self, problem: Eviction, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Fill the table of the program."""
        from .eviction import one_after_another, trade_off

        optimal = not problem.shared_bandwidth
        message = one_after_another(problem)
        return _constructed(problem, on_incumbent, lambda: trade_off(problem).best_plan(), message, optimal)


@named
@dataclass(frozen=True)
class Greedy(Heuristic):
    """The greedy method of [Maurya2020] for eviction problems."""

    name: ClassVar[str] = "greedy"
    kinds: ClassVar[tuple[str, ...]] = ("eviction",)
    unproved: ClassVar[tuple[str, ...]] = ("eviction",)

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile its kernels."""
        from .eviction import warm_up

        warm_up()

    def run(self, problem: Eviction, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Choose a strategy for each job."""
        from .eviction import greedy, one_after_another

        return _constructed(problem, on_incumbent, lambda: greedy(problem), one_after_another(problem))


@named
@dataclass(frozen=True)
class Backtracking(Heuristic):
    """The backtracking of [Maurya2020] for eviction problems, which is exact if it ends.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose plan bounds the search.
    """

    name: ClassVar[str] = "backtracking"
    kinds: ClassVar[tuple[str, ...]] = ("eviction",)
    warm_start: Start | Method | str | None = field(default=None, metadata=START)

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile its kernels."""
        from .eviction import warm_up

        warm_up()

    def run(self, problem: Eviction, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Try combinations of strategies."""
        from .eviction import backtracking

        return backtracking(problem, time_limit=limits.time, warm_start=start, on_incumbent=on_incumbent)


# --- Projects.


def _placed_tasks(problem: Problem) -> bool:
    """Return whether the serial scheme supports a problem."""
    return _is_project(problem) and problem.kind == "project" and not _never_placed(problem)


def _never_placed(problem: Problem) -> tuple[str, ...]:
    """Return the rules of a project that the serial scheme does not support."""
    from .project.serial_sgs import refused

    if _is_project(problem):
        return refused(problem)
    return ()


@named
@dataclass(frozen=True)
class SerialSgs(Heuristic):
    """Serial schedule generation for projects: the tasks by a priority rule, each as early as possible [Kolisch1996b].

    Parameters
    ----------
    rule : str
        One of ``schedlab.heuristics.PRIORITY_RULES``, "edd" (earliest due date) or "wspt" (duration / weight).
    """

    name: ClassVar[str] = "serial-sgs"
    kinds: ClassVar[tuple[str, ...]] = ("project",)
    condition: ClassVar[str] = PLACED_TASKS
    unproved: ClassVar[tuple[str, ...]] = ("project",)
    rule: str = field(metadata=ARGUMENT)

    @classmethod
    def arguments(cls) -> tuple[str, ...]:
        """Return the priority rules."""
        from .project.serial_sgs import DATE_RULES, PRIORITY_RULES

        return (*PRIORITY_RULES, *DATE_RULES)

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Return whether it supports a problem; see ``condition``."""
        return _placed_tasks(problem)

    @classmethod
    def refused(cls, problem: Problem) -> tuple[str, ...]:
        """Return the rules of a project that it does not support."""
        return _never_placed(problem)

    def run(self, problem: Project, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Place the tasks once."""
        from .project.serial_sgs import serial_sgs

        return _constructed(
            problem, on_incumbent, lambda: serial_sgs(problem, self.rule), f"priority rule: {self.rule}"
        )


@named
@dataclass(frozen=True)
class MultiSgs(Heuristic):
    """Serial schedule generation with all priority rules; the best schedule is kept.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose schedule is returned if no rule gives a better one.
    """

    name: ClassVar[str] = "multi-sgs"
    kinds: ClassVar[tuple[str, ...]] = ("project",)
    condition: ClassVar[str] = PLACED_TASKS
    warm_start: Start | Method | str | None = field(default=None, metadata=START)

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Return whether it supports a problem; see ``condition``."""
        return _placed_tasks(problem)

    @classmethod
    def refused(cls, problem: Problem) -> tuple[str, ...]:
        """Return the rules of a project that it does not support."""
        return _never_placed(problem)

    def run(self, problem: Project, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Place the tasks by each rule."""
        from .project.serial_sgs import multi_sgs

        return multi_sgs(problem, time_limit=limits.time, warm_start=start, on_incumbent=on_incumbent)


@named
@dataclass(frozen=True)
class Bounds(Heuristic):
    """Lower bounds of the makespan of a project: critical path, energy, one machine, energetic reasoning; no search.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose schedule is returned with the bound; None: ``multi-sgs``.
    """

    name: ClassVar[str] = "bounds"
    kinds: ClassVar[tuple[str, ...]] = ("project",)
    condition: ClassVar[str] = "projects that minimize the makespan and whose tasks must all be done"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Return whether a bound of the makespan is one of the objective; see ``condition``."""
        from .project.serial_sgs import bounds_hold

        return _is_project(problem) and problem.kind in cls.kinds and bounds_hold(problem)

    @classmethod
    def refused(cls, problem: Problem) -> tuple[str, ...]:
        """Return the objective and the tasks that may be left out; see ``Heuristic.refused``."""
        from .project.serial_sgs import refused_by_bounds

        if _is_project(problem):
            return refused_by_bounds(problem)
        return ()

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile its kernels."""
        from .project.bounds import warm_up

        warm_up()

    def run(self, problem: Project, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Compute the bounds."""
        from .project.bounds import project_bounds

        return project_bounds(problem, time_limit=limits.time, warm_start=start, on_incumbent=on_incumbent)
