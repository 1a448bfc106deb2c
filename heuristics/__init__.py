"""Methods without a solver: first solution, multi-search, allocation of starts, moves in an order, evictions; compiled kernels."""

from .allocation import Allocator, allocate
from .evictions import TradeOff, backtracking, greedy, trade_off
from .first_solution import ListScheduler, NoSchedule, NothingFound, first_solution, warm_up
from .moves import Moved, move_jobs
from .multi_search import Improvement, MultiSearch, multi_search
from .orders import CRITERIA, ORDERINGS, CriterionUnusable, UnknownOrder
from .registry import HEURISTICS, Found, Heuristic, NotForThisProblem, allocator, usual_start, warm_up_for

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
    "NothingFound",
    "UnknownOrder",
    "TradeOff",
    "allocate",
    "allocator",
    "backtracking",
    "first_solution",
    "greedy",
    "move_jobs",
    "multi_search",
    "trade_off",
    "usual_start",
    "warm_up",
    "warm_up_for",
]
