"""Heuristics without a solver: first solution, multi-search, allocation of starts, moves in an order; compiled kernels."""

from .allocation import Allocator, allocate
from .first_solution import ListScheduler, NoSchedule, first_solution, warm_up
from .moves import Moved, move_jobs
from .multi_search import Improvement, MultiSearch, multi_search
from .orders import CRITERIA, ORDERINGS, CriterionUnusable, UnknownOrder
from .registry import HEURISTICS, Found, Heuristic, NotForThisProblem, allocator

__all__ = [
    "Allocator",
    "CRITERIA",
    "ORDERINGS",
    "CriterionUnusable",
    "Found",
    "HEURISTICS",
    "Heuristic",
    "NotForThisProblem",
    "Improvement",
    "ListScheduler",
    "Moved",
    "MultiSearch",
    "NoSchedule",
    "UnknownOrder",
    "allocate",
    "allocator",
    "first_solution",
    "move_jobs",
    "multi_search",
    "warm_up",
]
