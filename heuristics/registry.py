"""The heuristics that can be named as a method or as a start; each is one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..models import Dispatch, Eviction, Problem, Schedule
from ..models.problem import Value
from . import evictions, rules
from .allocation import Allocator
from .first_solution import NothingFound, first_solution, warm_up
from .multi_search import multi_search
from .orders import ORDERINGS, UnknownOrder

Told = Callable[[Value], bool]  # called with each better objective; False stops


class Found(NamedTuple):
    """A heuristic's schedule, and a word on how it was found; ``optimal`` if it proves that there is no better one."""

    schedule: Schedule
    message: str
    optimal: bool = False


class NotForThisProblem(ValueError):
    """A heuristic was asked for a kind of problem that it does not know."""


class Heuristic(NamedTuple):
    """``run(problem, argument, time_limit, told)``; ``arguments``: what may follow the colon of its name (empty: nothing).

    ``kinds``: of the problems that it is for.
    """

    run: Callable[[Problem, str, float | None, Told | None], Found]
    arguments: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("dispatch",)

    def check(self, argument: str) -> None:
        """Raise UnknownOrder, with the near names, for an argument that is not known."""
        if argument not in (self.arguments or ("",)):
            raise UnknownOrder(argument)


def allocator(problem: Problem) -> Allocator:
    """What reads a relaxation's answers back into schedules of this problem. Raises NotForThisProblem."""
    return Allocator(_dispatch(problem, "reading a relaxation back"))


def usual_start(problem: Problem) -> str:
    """The heuristic that ``+warm`` means for this kind of problem."""
    return "greedy" if isinstance(problem, Eviction) else "multi-search"


def warm_up_for(problem: Problem) -> None:
    """Compile the kernels for this kind of problem, so that time measured afterwards is time of searching."""
    if isinstance(problem, Eviction):
        evictions.warm_up()
    else:
        warm_up()
        rules.warm_up()


def _dispatch(problem: Problem, name: str) -> Dispatch:
    if not isinstance(problem, Dispatch):
        raise NotForThisProblem(f"{name} is for dispatch problems; this is a {problem.kind} problem")
    return problem


def _multi_search(problem: Problem, argument: str, time_limit: float | None, told: Told | None) -> Found:
    call = None if told is None else lambda news: told(news.objective)
    found = multi_search(_dispatch(problem, "multi-search"), time_limit, call)
    skipped = f"; skipped: {', '.join(found.skipped)}" if found.skipped else ""
    return Found(found.schedule, f"best order: {found.order}{skipped}")


def _first_solution(problem: Problem, argument: str, time_limit: float | None, told: Told | None) -> Found:
    schedule = first_solution(_dispatch(problem, "first-solution"), argument)
    if told is not None:
        told(problem.objective(schedule))
    return Found(schedule, f"order: {argument}")


def _rule(problem: Problem, argument: str, time_limit: float | None, told: Told | None) -> Found:
    schedule = rules.schedule_by_rule(_dispatch(problem, "rule"), argument)
    if told is not None:
        told(problem.objective(schedule))
    return Found(schedule, f"rule: {argument}")


def _eviction(problem: Problem, name: str) -> Eviction:
    if not isinstance(problem, Eviction):
        raise NotForThisProblem(f"{name} is for eviction problems; this is a {problem.kind} problem")
    return problem


def _dp(problem: Problem, argument: str, time_limit: float | None, told: Told | None) -> Found:
    p = _eviction(problem, "dp")
    plan = evictions.trade_off(p).plan()
    if told is not None:
        told(p.objective(plan))
    return Found(plan, _one_after_another(p), optimal=not p.shared_bandwidth)


def _greedy(problem: Problem, argument: str, time_limit: float | None, told: Told | None) -> Found:
    p = _eviction(problem, "greedy")
    plan = evictions.greedy(p)
    if told is not None:
        told(p.objective(plan))
    return Found(plan, _one_after_another(p))


def _backtracking(problem: Problem, argument: str, time_limit: float | None, told: Told | None) -> Found:
    p = _eviction(problem, "backtracking")
    found = evictions.backtracking(p, time_limit, told)
    if found.plan is None:
        raise NothingFound(f"no plan was found within {time_limit:g} s" if time_limit is not None else "stopped")
    return Found(found.plan, _one_after_another(p), optimal=found.complete and not p.shared_bandwidth)


def _one_after_another(p: Eviction) -> str:
    return "checkpoints one after another" if p.shared_bandwidth else ""


HEURISTICS: dict[str, Heuristic] = {
    "multi-search": Heuristic(_multi_search),
    "first-solution": Heuristic(_first_solution, ORDERINGS),
    "rule": Heuristic(_rule, rules.RULES),
    "dp": Heuristic(_dp, kinds=("eviction",)),
    "greedy": Heuristic(_greedy, kinds=("eviction",)),
    "backtracking": Heuristic(_backtracking, kinds=("eviction",)),
}
