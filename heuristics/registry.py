"""The heuristics that can be named as a method or as a start; each is one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..models import Dispatch, Problem, Schedule
from .allocation import Allocator
from .first_solution import first_solution
from .multi_search import multi_search
from .orders import ORDERINGS, UnknownOrder

Told = Callable[[float], bool]  # called with each better objective; False stops


class Found(NamedTuple):
    """A heuristic's schedule, and a word on how it was found."""

    schedule: Schedule
    message: str


class NotForThisProblem(ValueError):
    """A heuristic was asked for a kind of problem that it does not know."""


class Heuristic(NamedTuple):
    """``run(problem, argument, time_limit, told)``; ``arguments``: what may follow the colon of its name (empty: nothing)."""

    run: Callable[[Problem, str, float | None, Told | None], Found]
    arguments: tuple[str, ...] = ()

    def check(self, argument: str) -> None:
        """Raise UnknownOrder, with the near names, for an argument that is not known."""
        if argument not in (self.arguments or ("",)):
            raise UnknownOrder(argument)


def allocator(problem: Problem) -> Allocator:
    """What reads a relaxation's answers back into schedules of this problem. Raises NotForThisProblem."""
    return Allocator(_dispatch(problem, "reading a relaxation back"))


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


HEURISTICS: dict[str, Heuristic] = {
    "multi-search": Heuristic(_multi_search),
    "first-solution": Heuristic(_first_solution, ORDERINGS),
}
