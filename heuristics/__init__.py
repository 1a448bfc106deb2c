"""Heuristics without a solver: list scheduling, local searches, rules, evictions; and their compiled kernels."""

from typing import TYPE_CHECKING

from ..later import names_later

if TYPE_CHECKING:
    from .allocation import Allocator, allocate
    from .arrays import Placement
    from .delays import delay_search
    from .errors import CriterionUnusable, NoSchedule, NotForThisProblem, NothingFound, UnknownOrder
    from .eviction.dynamic_program import TradeOff, trade_off
    from .eviction.search import backtracking, greedy
    from .incumbents import Incumbents, OnIncumbent, answer
    from .list_scheduling.first_solution import ListScheduler, first_solution
    from .list_scheduling.moves import move_jobs
    from .list_scheduling.multi_search import multi_search
    from .list_scheduling.orders import CRITERIA, ORDERINGS
    from .list_scheduling.warm_up import warm_up
    from .project.bounds import project_bounds
    from .project.lns.search import project_lns
    from .project.priorities import PRIORITY_RULES
    from .project.serial_sgs import multi_sgs, serial_sgs
    from .registry import HEURISTICS, Heuristic, HeuristicRequest, allocator, usual_start, warm_up_for
    from .relaxation import relaxation_search
    from .rules import RULES, LeftWaiting, schedule_by_rule

__all__ = [
    "Allocator",
    "HeuristicRequest",
    "LeftWaiting",
    "RULES",
    "CRITERIA",
    "ORDERINGS",
    "CriterionUnusable",
    "HEURISTICS",
    "Incumbents",
    "OnIncumbent",
    "Heuristic",
    "NotForThisProblem",
    "ListScheduler",
    "NoSchedule",
    "NothingFound",
    "PRIORITY_RULES",
    "Placement",
    "UnknownOrder",
    "TradeOff",
    "allocate",
    "answer",
    "allocator",
    "backtracking",
    "delay_search",
    "first_solution",
    "greedy",
    "move_jobs",
    "multi_search",
    "multi_sgs",
    "project_bounds",
    "project_lns",
    "relaxation_search",
    "schedule_by_rule",
    "serial_sgs",
    "trade_off",
    "usual_start",
    "warm_up",
    "warm_up_for",
]

LATER = {  # module: its names
    "allocation": ("Allocator", "allocate"),
    "arrays": ("Placement",),
    "delays": ("delay_search",),
    "errors": ("CriterionUnusable", "NoSchedule", "NotForThisProblem", "NothingFound", "UnknownOrder"),
    "eviction.dynamic_program": ("TradeOff", "trade_off"),
    "eviction.search": ("backtracking", "greedy"),
    "incumbents": ("Incumbents", "OnIncumbent", "answer"),
    "list_scheduling.first_solution": ("ListScheduler", "first_solution"),
    "list_scheduling.moves": ("move_jobs",),
    "list_scheduling.multi_search": ("multi_search",),
    "list_scheduling.orders": ("CRITERIA", "ORDERINGS"),
    "list_scheduling.warm_up": ("warm_up",),
    "project.bounds": ("project_bounds",),
    "project.lns.search": ("project_lns",),
    "project.priorities": ("PRIORITY_RULES",),
    "project.serial_sgs": ("multi_sgs", "serial_sgs"),
    "registry": ("HEURISTICS", "Heuristic", "HeuristicRequest", "allocator", "usual_start", "warm_up_for"),
    "relaxation": ("relaxation_search",),
    "rules": ("RULES", "LeftWaiting", "schedule_by_rule"),
}
__getattr__ = names_later(__name__, LATER)


def __dir__() -> list[str]:
    """Return the public names, those that are imported when they are first used included."""
    return sorted(__all__)
