"""The table of heuristics that can be named as a method or as a warm start."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..models import Dispatch, Eviction, Problem, Profit, Project, Schedule
from ..models.problem import Value
from . import eviction_search, evictions, rules
from .allocation import Allocator
from .arrays import Placement
from .delay_search import delay_search
from .delay_search import warm_up as warm_up_delays
from .errors import NothingFound, UnknownOrder
from .list_scheduling.first_solution import first_solution
from .list_scheduling.multi_search import multi_search
from .list_scheduling.orders import ORDERINGS
from .list_scheduling.warm_up import warm_up
from .lns.search import lns
from .lns.search import warm_up as warm_up_lns
from .project.priorities import RULES as PRIORITY_RULES
from .project.serial_sgs import multi_sgs, serial_sgs
from .relaxation_search import relaxation_search

# on_incumbent(objective, schedule) -> bool: called for each new incumbent; return False to stop the search
OnIncumbent = Callable[[Value, Schedule | Placement], bool]


class Found(NamedTuple):
    """The schedule that a heuristic found.

    Parameters
    ----------
    schedule
        The schedule, or the plan of an eviction problem.
    message
        How the schedule was found, for people.
    optimal
        True if the heuristic proves that no better schedule exists.
    """

    schedule: Schedule
    message: str
    optimal: bool = False


class NotForThisProblem(ValueError):
    """The heuristic does not support this kind of problem."""


class HeuristicRequest(NamedTuple):
    """The options of one call of a heuristic.

    Parameters
    ----------
    argument
        The text after the colon of the method's name (``rule:est``: "est"); "" if there is none.
    time_limit
        Seconds; None: no limit.
    on_incumbent
        Callback for each new incumbent: ``on_incumbent(objective, schedule)``; return False to stop the search.
    seed
        Seed of the random numbers.
    threads
        Threads of the backend; None: all cores.
    backend
        The text after the @ of the method's name; "" if there is none.
    """

    argument: str = ""
    time_limit: float | None = None
    on_incumbent: OnIncumbent | None = None
    seed: int = 0
    threads: int | None = None
    backend: str = ""


class Heuristic(NamedTuple):
    """A heuristic in the table ``HEURISTICS``.

    Parameters
    ----------
    run
        The function that runs the heuristic.
    arguments
        Values that may follow the colon of its name; empty: none.
    kinds
        Kinds of problems that the heuristic supports.
    seeded
        Whether the result depends on the seed.
    backends
        Whether the name of a backend may follow the @ of its name.
    usual
        The backend that is used if none is named.
    warm_up
        Function that compiles the kernels of the heuristic.
    """

    run: Callable[[Problem, HeuristicRequest], Found]
    arguments: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("dispatch", "profit")
    seeded: bool = False
    backends: bool = False
    usual: str = ""
    warm_up: Callable[[], None] = warm_up

    def best(self, problem: Problem, request: HeuristicRequest) -> Found:
        """Run the heuristic; after Ctrl-C return the last incumbent with the message "interrupted".

        Raises
        ------
        NothingFound
            With the message "interrupted", if Ctrl-C arrives before the first incumbent.

        Notes
        -----
        Errors of ``run`` are passed on.
        """
        from ..backends.interrupts import INTERRUPTED, catch_first

        latest: Schedule | Placement | None = None

        def keep(objective: Value, found: Schedule | Placement) -> bool:
            nonlocal latest
            latest = found.kept() if isinstance(found, Placement) else found
            return request.on_incumbent is None or request.on_incumbent(objective, found)

        try:
            return self.run(problem, request._replace(on_incumbent=keep))
        except KeyboardInterrupt as e:
            catch_first(e)
        if latest is None:
            raise NothingFound(INTERRUPTED)
        return Found(latest.schedule() if isinstance(latest, Placement) else latest, INTERRUPTED)

    def check(self, argument: str) -> None:
        """Raise UnknownOrder if the argument is not one of ``arguments``."""
        if argument not in (self.arguments or ("",)):
            raise UnknownOrder(argument)


def allocator(problem: Problem, time_limit: float | None = None, began: float | None = None) -> Allocator:
    """Return an ``Allocator``, which converts the answers of a relaxation to schedules of this problem.

    Parameters
    ----------
    problem
        A dispatching or profit problem.
    time_limit
        Seconds from ``began``; None: no limit.
    began
        Time at which the call began, by ``time.perf_counter``; None: now.

    Returns
    -------
    Allocator
        The allocator of the problem.

    Raises
    ------
    NotForThisProblem
        For other kinds of problems.
    """
    return Allocator(_jobs_of(problem, "reading a relaxation back"), time_limit, began)


def usual_start(problem: Problem) -> str:
    """Return the heuristic that ``+warm`` stands for in a method's name.

    Parameters
    ----------
    problem
        The problem to solve.

    Returns
    -------
    str
        "greedy" for eviction problems, "multi-sgs" for projects, else "multi-search".
    """
    if isinstance(problem, Project):
        return "multi-sgs"
    return "greedy" if isinstance(problem, Eviction) else "multi-search"


def warm_up_for(problem: Problem, name: str | None = None) -> None:
    """Compile the kernels for this kind of problem, so that time measured afterwards is search time.

    Parameters
    ----------
    problem
        The problem to solve.
    name
        A heuristic whose kernels are compiled as well; None: no heuristic.
    """
    if isinstance(problem, Eviction):
        eviction_search.warm_up()
    elif not isinstance(problem, Project):
        warm_up()
        if isinstance(problem, Profit):
            rules.warm_up()  # postponed jobs get their starts by a rule
    if name is not None:
        HEURISTICS[name].warm_up()


def _jobs_of(problem: Problem, name: str) -> Dispatch | Profit:
    if not isinstance(problem, (Dispatch, Profit)):
        raise NotForThisProblem(f"{name} supports dispatch and profit problems; this is a {problem.kind} problem")
    return problem


def _without_seconds(request: HeuristicRequest) -> Callable[[float, float, Placement], bool] | None:
    """Return the callback for searches that report (seconds, objective, placement)."""
    on_incumbent = request.on_incumbent
    return None if on_incumbent is None else lambda _, objective, placement: on_incumbent(objective, placement)


def _report(problem: Problem, schedule: Schedule, request: HeuristicRequest) -> None:
    """Report the schedule of a heuristic that makes only one."""
    if request.on_incumbent is not None:
        request.on_incumbent(problem.objective(schedule), schedule)


def _multi_search(problem: Problem, request: HeuristicRequest) -> Found:
    on_incumbent = request.on_incumbent
    report = (
        None if on_incumbent is None else lambda improvement, placement: on_incumbent(improvement.objective, placement)
    )
    found = multi_search(_jobs_of(problem, "multi-search"), request.time_limit, report)
    skipped = f"; skipped: {', '.join(found.skipped)}" if found.skipped else ""
    return Found(found.schedule, f"best order: {found.order}{skipped}")


def _first_solution(problem: Problem, request: HeuristicRequest) -> Found:
    schedule = first_solution(_jobs_of(problem, "first-solution"), request.argument)
    _report(problem, schedule, request)
    return Found(schedule, f"order: {request.argument}")


def _rule(problem: Problem, request: HeuristicRequest) -> Found:
    schedule = rules.schedule_by_rule(_jobs_of(problem, "rule"), request.argument)
    _report(problem, schedule, request)
    return Found(schedule, f"rule: {request.argument}")


def _delay_search(problem: Problem, request: HeuristicRequest) -> Found:
    found = delay_search(
        _jobs_of(problem, "delay-search"), time_limit=request.time_limit, on_incumbent=_without_seconds(request)
    )
    ended = "ended by itself" if found.complete else "stopped by its limit"
    return Found(found.schedule, f"order {found.order}, delays of {found.delay} s, {found.trials} schedules, {ended}")


def _relaxation_search(problem: Problem, request: HeuristicRequest) -> Found:
    found = relaxation_search(
        _jobs_of(problem, "relaxation-search"),
        request.backend,
        request.time_limit,
        request.threads,
        request.seed,
        _without_seconds(request),
    )
    return Found(found.schedule, found.message)


def _lns(problem: Problem, request: HeuristicRequest) -> Found:
    found = lns(
        _jobs_of(problem, "lns"),
        request.time_limit,
        request.seed,
        _without_seconds(request),
        backend=request.backend or None,
        threads=request.threads,
    )
    operators = (
        f"{name} {gain.turns} turns, {gain.seconds:.1f} s, {gain.gain:.4g} better"
        for name, gain in found.operators.items()
    )
    return Found(found.schedule, "; ".join(operators))


def _eviction(problem: Problem, name: str) -> Eviction:
    if not isinstance(problem, Eviction):
        raise NotForThisProblem(f"{name} supports eviction problems; this is a {problem.kind} problem")
    return problem


def _dp(problem: Problem, request: HeuristicRequest) -> Found:
    p = _eviction(problem, "dp")
    plan = evictions.trade_off(p).plan()
    _report(p, plan, request)
    return Found(plan, _one_after_another(p), optimal=not p.shared_bandwidth)


def _greedy(problem: Problem, request: HeuristicRequest) -> Found:
    p = _eviction(problem, "greedy")
    plan = eviction_search.greedy(p)
    _report(p, plan, request)
    return Found(plan, _one_after_another(p))


def _backtracking(problem: Problem, request: HeuristicRequest) -> Found:
    p = _eviction(problem, "backtracking")
    found = eviction_search.backtracking(p, request.time_limit, request.on_incumbent)
    if found.plan is None:
        raise NothingFound(
            "stopped" if request.time_limit is None else f"no plan was found within {request.time_limit:g} s"
        )
    return Found(found.plan, _one_after_another(p), optimal=found.complete and not p.shared_bandwidth)


def _one_after_another(p: Eviction) -> str:
    return "checkpoints one after another" if p.shared_bandwidth else ""


def _project(problem: Problem, name: str) -> Project:
    if not isinstance(problem, Project):
        raise NotForThisProblem(f"{name} supports projects; this is a {problem.kind} problem")
    return problem


def _serial_sgs(problem: Problem, request: HeuristicRequest) -> Found:
    schedule = serial_sgs(_project(problem, "serial-sgs"), request.argument)
    _report(problem, schedule, request)
    return Found(schedule, f"priority rule: {request.argument}")


def _multi_sgs(problem: Problem, request: HeuristicRequest) -> Found:
    found = multi_sgs(_project(problem, "multi-sgs"), request.time_limit, request.on_incumbent)
    skipped = f"; skipped at the time limit: {', '.join(found.skipped)}" if found.skipped else ""
    return Found(found.schedule, f"best priority rule: {found.rule}{skipped}", found.optimal)


HEURISTICS: dict[str, Heuristic] = {
    "multi-search": Heuristic(_multi_search),
    "first-solution": Heuristic(_first_solution, ORDERINGS),
    "rule": Heuristic(_rule, rules.RULES, warm_up=rules.warm_up),
    "delay-search": Heuristic(_delay_search, warm_up=warm_up_delays),
    "relaxation-search": Heuristic(_relaxation_search, seeded=True, backends=True, usual="cpsat"),
    "lns": Heuristic(_lns, seeded=True, backends=True, warm_up=warm_up_lns),
    "dp": Heuristic(_dp, kinds=("eviction",), warm_up=eviction_search.warm_up),
    "greedy": Heuristic(_greedy, kinds=("eviction",), warm_up=eviction_search.warm_up),
    "backtracking": Heuristic(_backtracking, kinds=("eviction",), warm_up=eviction_search.warm_up),
    "serial-sgs": Heuristic(_serial_sgs, PRIORITY_RULES, kinds=("project",), warm_up=lambda: None),
    "multi-sgs": Heuristic(_multi_sgs, kinds=("project",), warm_up=lambda: None),
}
