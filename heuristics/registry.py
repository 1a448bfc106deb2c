"""The heuristics that can be named as a method or as a warm start: those of schedlab and of third parties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..backends import UnknownName
from ..models import Dispatch, Eviction, Problem, Profit, Project, Schedule, kind
from ..models.compiled import progress_line
from ..models.excerpt import with_short_repr
from ..models.plugins import PluginError, Registry
from ..models.problem import Value
from . import eviction_search, evictions, rules
from .allocation import Allocator
from .arrays import Placement
from .delay_search import delay_search
from .delay_search import warm_up as warm_up_delays
from .errors import NotForThisProblem, NothingFound, UnknownOrder
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


@with_short_repr
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


@with_short_repr
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
    start: Schedule | None = None
    options: Mapping[str, Any] = {}


@with_short_repr
class Heuristic(NamedTuple):
    """A heuristic in the table ``HEURISTICS``.

    Parameters
    ----------
    run
        The function that runs the heuristic.
    arguments
        Values that may follow the colon of its name; empty: none.
    kinds
        The problems that the heuristic supports: the names of their kinds, or a function that returns whether it
        supports a problem.
    seeded
        Whether the result depends on the seed.
    backends
        Whether the name of a backend may follow the @ of its name.
    usual
        The backend that is used if none is named.
    warm_up
        Function that compiles the kernels of the heuristic.
    """

    run: Callable[[Any, HeuristicRequest], Found]
    arguments: tuple[str, ...] = ()
    kinds: tuple[str, ...] | Callable[[Problem], bool] = ("dispatch", "profit")
    seeded: bool = False
    backends: bool = False
    usual: str = ""
    warm_up: Callable[[], None] = warm_up
    starts: bool = False
    options: tuple[str, ...] = ()

    def takes(self, problem: Problem) -> bool:
        """Return whether the heuristic supports a problem."""
        return self.kinds(problem) if callable(self.kinds) else problem.kind in self.kinds

    def best(self, problem: Problem, request: HeuristicRequest) -> Found:
        """Run the heuristic; after Ctrl-C return the last incumbent with the message "interrupted".

        Raises
        ------
        NotForThisProblem
            If the heuristic does not support the problem.
        NothingFound
            With the message "interrupted", if Ctrl-C arrives before the first incumbent.

        Notes
        -----
        Errors of ``run`` are passed on.
        """
        from ..backends.interrupts import INTERRUPTED, catch_first

        if not self.takes(problem):
            raise NotForThisProblem(f"{self.name} does not support {problem.kind} problems")
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

    @property
    def name(self) -> str:
        """The name in the table ``HEURISTICS``."""
        return next((name for name, each in HEURISTICS.items() if each is self), "this heuristic")

    def check(self, argument: str) -> None:
        """Raise UnknownOrder if the argument is not one of ``arguments``."""
        if argument not in (self.arguments or ("",)):
            raise UnknownOrder(argument)


def allocator(problem: Problem, time_limit: float | None = None, began: float | None = None) -> Allocator:
    """Return an ``Allocator``, which converts the answers of a relaxation to schedules of this problem.

    Parameters
    ----------
    problem
        A problem of a kind that has an allocator, such as a dispatching or profit problem.
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
    known = kind.known(problem.kind)
    if known is None or known.allocator is None:
        raise NotForThisProblem(f"the answers of relaxations cannot be read as schedules of {problem.kind} problems")
    made: Allocator = kind.resolve(known.allocator)(problem, time_limit, began)
    return made


def usual_start(problem: Problem) -> str:
    """Return the heuristic that ``+warm`` stands for in a method's name: the ``start`` of its problem kind.

    Parameters
    ----------
    problem
        The problem to solve.

    Returns
    -------
    str
        The name of a heuristic, such as "greedy" for eviction problems.

    Raises
    ------
    UnknownName
        If the kind of the problem has no usual start. The message lists the heuristics that support it.
    """
    known = kind.known(problem.kind)
    if known is None or known.start is None:
        fitting = [name for name, heuristic in HEURISTICS.usable() if heuristic.takes(problem)]
        raise UnknownName(f"usual start of {problem.kind} problems", "+warm", fitting or ["none"])
    return known.start


def warm_up_for(problem: Problem, name: str | None = None) -> None:
    """Compile the kernels that this problem needs, so that time measured afterwards is search time.

    Parameters
    ----------
    problem
        The problem to solve.
    name
        The heuristic whose kernels are compiled; None: those that warm starts and the answers of solvers need.
    """
    known = kind.known(problem.kind)
    places = () if known is None else known.warm_up + (known.solver_warm_up if name is None else ())
    own = () if name is None else (HEURISTICS[name].warm_up,)
    with progress_line():
        for warm in (*map(kind.resolve, places), *own):
            warm()


def _without_seconds(request: HeuristicRequest) -> Callable[[float, float, Placement], bool] | None:
    """Return the callback for searches that report (seconds, objective, placement)."""
    on_incumbent = request.on_incumbent
    return None if on_incumbent is None else lambda _, objective, placement: on_incumbent(objective, placement)


def _report(problem: Problem, schedule: Schedule, request: HeuristicRequest) -> None:
    """Report the schedule of a heuristic that makes only one."""
    if request.on_incumbent is not None:
        request.on_incumbent(problem.objective(schedule), schedule)


def _multi_search(problem: Dispatch | Profit, request: HeuristicRequest) -> Found:
    on_incumbent = request.on_incumbent
    report = None if on_incumbent is None else lambda found, placement: on_incumbent(found.objective, placement)
    found = multi_search(problem, request.time_limit, report)
    skipped = f"; skipped: {', '.join(found.skipped)}" if found.skipped else ""
    return Found(found.schedule, f"best order: {found.order}{skipped}")


def _first_solution(problem: Dispatch | Profit, request: HeuristicRequest) -> Found:
    schedule = first_solution(problem, request.argument)
    _report(problem, schedule, request)
    return Found(schedule, f"order: {request.argument}")


def _rule(problem: Dispatch | Profit, request: HeuristicRequest) -> Found:
    schedule = rules.schedule_by_rule(problem, request.argument)
    _report(problem, schedule, request)
    return Found(schedule, f"rule: {request.argument}")


def _delay_search(problem: Dispatch | Profit, request: HeuristicRequest) -> Found:
    found = delay_search(problem, time_limit=request.time_limit, on_incumbent=_without_seconds(request))
    ended = "ended by itself" if found.complete else "stopped by its limit"
    return Found(found.schedule, f"order {found.order}, delays of {found.delay} s, {found.trials} schedules, {ended}")


def _relaxation_search(problem: Dispatch | Profit, request: HeuristicRequest) -> Found:
    report = _without_seconds(request)
    found = relaxation_search(problem, request.backend, request.time_limit, request.threads, request.seed, report)
    return Found(found.schedule, found.message)


def _lns(problem: Dispatch | Profit, request: HeuristicRequest) -> Found:
    found = lns(
        problem,
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


def _dp(p: Eviction, request: HeuristicRequest) -> Found:
    plan = evictions.trade_off(p).plan()
    _report(p, plan, request)
    return Found(plan, _one_after_another(p), optimal=not p.shared_bandwidth)


def _greedy(p: Eviction, request: HeuristicRequest) -> Found:
    plan = eviction_search.greedy(p)
    _report(p, plan, request)
    return Found(plan, _one_after_another(p))


def _backtracking(p: Eviction, request: HeuristicRequest) -> Found:
    found = eviction_search.backtracking(p, request.time_limit, request.on_incumbent)
    if found.plan is None:
        raise NothingFound(
            "stopped" if request.time_limit is None else f"no plan was found within {request.time_limit:g} s"
        )
    return Found(found.plan, _one_after_another(p), optimal=found.complete and not p.shared_bandwidth)


def _one_after_another(p: Eviction) -> str:
    return "checkpoints one after another" if p.shared_bandwidth else ""


def _serial_sgs(problem: Project, request: HeuristicRequest) -> Found:
    schedule = serial_sgs(problem, request.argument)
    _report(problem, schedule, request)
    return Found(schedule, f"priority rule: {request.argument}")


def _multi_sgs(problem: Project, request: HeuristicRequest) -> Found:
    found = multi_sgs(problem, request.time_limit, request.on_incumbent)
    skipped = f"; skipped at the time limit: {', '.join(found.skipped)}" if found.skipped else ""
    return Found(found.schedule, f"best priority rule: {found.rule}{skipped}", found.optimal)


OWN = {
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


def _check(label: str, found: object) -> None:
    if not isinstance(found, Heuristic):
        raise PluginError(f"{label} is not a schedlab.heuristics.Heuristic: {found!r:.100}")


HEURISTICS: Registry[Heuristic] = Registry("heuristic", "schedlab.heuristics", OWN, _check)
"""The heuristics by name; a third party adds one by an entry point, a script by ``HEURISTICS[name] = Heuristic(...)``."""
