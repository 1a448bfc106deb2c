"""Heuristics without a solver: list scheduling, local searches, rules, evictions; and their compiled kernels."""

from .allocation import Allocator, allocate
from .arrays import Placement
from .delay_search import Delayed, delay_search
from .errors import CriterionUnusable, NoSchedule, NotForThisProblem, NothingFound, UnknownOrder
from .eviction_search import backtracking, greedy
from .evictions import TradeOff, trade_off
from .list_scheduling.first_solution import ListScheduler, first_solution
from .list_scheduling.moves import Moved, move_jobs
from .list_scheduling.multi_search import Improvement, MultiSearch, multi_search
from .list_scheduling.orders import CRITERIA, ORDERINGS
from .list_scheduling.warm_up import warm_up
from .lns.search import Improved, lns
from .project.priorities import RULES as PRIORITY_RULES
from .project.serial_sgs import MultiSgs, multi_sgs, serial_sgs
from .registry import (
    HEURISTICS,
    Found,
    Heuristic,
    HeuristicRequest,
    allocator,
    usual_start,
    warm_up_for,
)
from .relaxation_search import Relaxed, relaxation_search
from .rules import RULES, LeftWaiting, schedule_by_rule

__all__ = [
    "Allocator",
    "HeuristicRequest",
    "Delayed",
    "Improved",
    "LeftWaiting",
    "RULES",
    "Relaxed",
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
    "MultiSgs",
    "NoSchedule",
    "NothingFound",
    "PRIORITY_RULES",
    "Placement",
    "UnknownOrder",
    "TradeOff",
    "allocate",
    "allocator",
    "backtracking",
    "delay_search",
    "first_solution",
    "greedy",
    "lns",
    "move_jobs",
    "multi_search",
    "multi_sgs",
    "relaxation_search",
    "schedule_by_rule",
    "serial_sgs",
    "trade_off",
    "usual_start",
    "warm_up",
    "warm_up_for",
]
