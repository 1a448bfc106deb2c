"""The heuristics of schedlab as entries of the table ``HEURISTICS``: their functions, called with a request."""

from __future__ import annotations

from collections.abc import Callable

from ..backends.result import Result
from ..models import Dispatch, Eviction, Problem, Profit, Project, Schedule
from . import rules
from .branch_and_bound import JOBS, branch_and_bound
from .branch_and_bound import supported as branches
from .branch_and_bound import warm_up as warm_up_branching
from .delays import delay_search
from .delays import warm_up as warm_up_delays
from .eviction import backtracking, greedy, one_after_another, trade_off
from .eviction import warm_up as warm_up_evictions
from .incumbents import Incumbents
from .lagrangian import lagrangian
from .lagrangian import warm_up as warm_up_bound
from .lagrangian_relaxation import supported
from .list_scheduling import ORDERINGS, first_solution, multi_search
from .lns.search import lns
from .lns.search import warm_up as warm_up_lns
from .project.bounds import project_bounds
from .project.bounds import warm_up as warm_up_project_bounds
from .project.lns import project_lns
from .project.lns import warm_up as warm_up_projects
from .project.serial_sgs import PRIORITY_RULES, multi_sgs, serial_sgs
from .registry import Heuristic, HeuristicRequest
from .relaxation import relaxation_search


def _constructed(
    problem: Problem, request: HeuristicRequest, make: Callable[[], Schedule], message: str, optimal: bool = False
) -> Result:
    """Return the result of a heuristic that makes one schedule, and report it."""
    seen = Incumbents(problem, "", request.on_incumbent)
    schedule = make()
    seen.report(problem.value(schedule), lambda: schedule)
    return seen.result(schedule, message=message, optimal=optimal)


def _multi_search(problem: Dispatch | Profit, request: HeuristicRequest) -> Result:
    return multi_search(
        problem, time_limit=request.time_limit, warm_start=request.start, on_incumbent=request.on_incumbent
    )


def _first_solution(problem: Dispatch | Profit, request: HeuristicRequest) -> Result:
    order = request.argument
    return _constructed(problem, request, lambda: first_solution(problem, order), f"order: {order}")


def _rule(problem: Dispatch | Profit, request: HeuristicRequest) -> Result:
    rule = request.argument
    return _constructed(problem, request, lambda: rules.schedule_by_rule(problem, rule), f"rule: {rule}")


def _delay_search(problem: Dispatch | Profit, request: HeuristicRequest) -> Result:
    return delay_search(
        problem,
        time_limit=request.time_limit,
        warm_start=request.start,
        on_incumbent=request.on_incumbent,
        **request.options,
    )


def _relaxation_search(problem: Dispatch | Profit, request: HeuristicRequest) -> Result:
    return relaxation_search(
        problem,
        time_limit=request.time_limit,
        threads=request.threads,
        seed=request.seed,
        warm_start=request.start,
        on_incumbent=request.on_incumbent,
        backend=request.backend or "cpsat",
        **request.options,
    )


def _lns(problem: Dispatch | Profit | Project, request: HeuristicRequest) -> Result:
    search: Callable[..., Result] = project_lns if isinstance(problem, Project) else lns
    return search(
        problem,
        time_limit=request.time_limit,
        threads=request.threads,
        seed=request.seed,
        warm_start=request.start,
        on_incumbent=request.on_incumbent,
        backend=request.backend or None,
        **request.options,
    )


def _lagrangian(problem: Dispatch, request: HeuristicRequest) -> Result:
    return lagrangian(
        problem, time_limit=request.time_limit, warm_start=request.start, on_incumbent=request.on_incumbent
    )


def _branch_and_bound(problem: Dispatch, request: HeuristicRequest) -> Result:
    return branch_and_bound(
        problem,
        time_limit=request.time_limit,
        warm_start=request.start,
        on_incumbent=request.on_incumbent,
        seed=request.seed,
    )


def _branched(problem: Problem) -> bool:
    """Return whether ``branch-and-bound`` supports a problem."""
    return isinstance(problem, Dispatch) and branches(problem)


def _bounded(problem: Problem) -> bool:
    """Return whether ``lagrangian`` supports a problem."""
    return isinstance(problem, Dispatch) and supported(problem)


def _dp(problem: Eviction, request: HeuristicRequest) -> Result:
    optimal = not problem.shared_bandwidth
    return _constructed(problem, request, lambda: trade_off(problem).best_plan(), one_after_another(problem), optimal)


def _greedy(problem: Eviction, request: HeuristicRequest) -> Result:
    return _constructed(problem, request, lambda: greedy(problem), one_after_another(problem))


def _backtracking(problem: Eviction, request: HeuristicRequest) -> Result:
    return backtracking(
        problem, time_limit=request.time_limit, warm_start=request.start, on_incumbent=request.on_incumbent
    )


def _serial_sgs(problem: Project, request: HeuristicRequest) -> Result:
    rule = request.argument
    return _constructed(problem, request, lambda: serial_sgs(problem, rule), f"priority rule: {rule}")


def _multi_sgs(problem: Project, request: HeuristicRequest) -> Result:
    return multi_sgs(
        problem, time_limit=request.time_limit, warm_start=request.start, on_incumbent=request.on_incumbent
    )


def _project_bounds(problem: Project, request: HeuristicRequest) -> Result:
    return project_bounds(
        problem, time_limit=request.time_limit, warm_start=request.start, on_incumbent=request.on_incumbent
    )


def _nothing_to_compile() -> None:
    pass


LNS_OPTIONS = ("rounds", "operators", "selection", "acceptance", "stopping", "population", "turn_seconds")
LISTS_LATE = (f"{__package__}.list_scheduling:warm_up_late",)
DELAYS_LATE = (*LISTS_LATE, f"{__package__}.delays:warm_up_late")
LNS_LATE = (*LISTS_LATE, f"{__package__}.lns.search:warm_up_late")
MULTI_SEARCH = Heuristic(_multi_search, warm_up_late=LISTS_LATE, starts=True, proves=False)
FIRST_SOLUTION = Heuristic(_first_solution, ORDERINGS, warm_up_late=LISTS_LATE, proves=False)
RULE = Heuristic(_rule, rules.RULES, warm_up=rules.warm_up, proves=False)
DELAY_SEARCH = Heuristic(
    _delay_search, warm_up=warm_up_delays, warm_up_late=DELAYS_LATE, starts=True, options=("delay",), proves=False
)
RELAXATION_SEARCH = Heuristic(
    _relaxation_search,
    seeded=True,
    backends=True,
    usual="cpsat",
    warm_up_late=LISTS_LATE,
    starts=True,
    options=("largest",),
    proves=False,
)
PROJECT_LNS = Heuristic(
    _lns,
    kinds=("project",),
    seeded=True,
    backends=True,
    warm_up=warm_up_projects,
    starts=True,
    options=tuple(name for name in LNS_OPTIONS if name != "population"),
)
LNS = Heuristic(
    _lns,
    seeded=True,
    backends=True,
    warm_up=warm_up_lns,
    warm_up_late=LNS_LATE,
    starts=True,
    options=LNS_OPTIONS,
    proves=False,
    variants=(PROJECT_LNS,),
)
LAGRANGIAN = Heuristic(
    _lagrangian,
    kinds=_bounded,
    warm_up=warm_up_bound,
    warm_up_late=LISTS_LATE,
    starts=True,
    condition="dispatching problems whose objective is a sum over jobs",
)
BRANCH_AND_BOUND = Heuristic(
    _branch_and_bound,
    kinds=_branched,
    condition=f"dispatching problems with at most {JOBS} jobs, an objective that is a sum over jobs, and no chunks, limits, "
    "desired use, or jobs of 0 s",
    seeded=True,
    warm_up=warm_up_branching,
    warm_up_late=LNS_LATE,
    starts=True,
)
DP = Heuristic(_dp, kinds=("eviction",), warm_up=warm_up_evictions)
GREEDY = Heuristic(_greedy, kinds=("eviction",), warm_up=warm_up_evictions, proves=False)
BACKTRACKING = Heuristic(_backtracking, kinds=("eviction",), warm_up=warm_up_evictions, starts=True)
SERIAL_SGS = Heuristic(_serial_sgs, PRIORITY_RULES, kinds=("project",), warm_up=_nothing_to_compile, proves=False)
MULTI_SGS = Heuristic(_multi_sgs, kinds=("project",), warm_up=_nothing_to_compile, starts=True)
BOUNDS = Heuristic(_project_bounds, kinds=("project",), warm_up=warm_up_project_bounds, starts=True)
