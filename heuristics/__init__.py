"""Heuristics without a solver: list scheduling, local searches, rules, evictions; and their compiled kernels."""

from typing import TYPE_CHECKING

from ..later import names_later

if TYPE_CHECKING:
    from .arrays import Placement
    from .delays import delay_search
    from .errors import CriterionUnusable, NoSchedule, NotForThisProblem, NothingFound, UnknownOrder
    from .eviction import TradeOff, backtracking, greedy, trade_off
    from .list_scheduling import (
        CRITERIA,
        ORDERINGS,
        Allocator,
        ListScheduler,
        allocate,
        first_solution,
        move_jobs,
        multi_search,
        warm_up,
    )
    from .method import ARGUMENT, BACKEND, HEURISTICS, OPTION, START, Heuristic, allocator, usual_start, warm_up_for
    from .project.bounds import project_bounds
    from .project.lns import project_lns
    from .project.serial_sgs import PRIORITY_RULES, multi_sgs, serial_sgs
    from .relaxation import relaxation_search
    from .rules import RULES, LeftWaiting, schedule_by_rule
    from .search_parts import Incumbents, OnIncumbent, answer

__all__ = [
    "Allocator",
    "ARGUMENT",
    "BACKEND",
    "OPTION",
    "START",
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
    "arrays": ("Placement",),
    "delays": ("delay_search",),
    "errors": ("CriterionUnusable", "NoSchedule", "NotForThisProblem", "NothingFound", "UnknownOrder"),
    "eviction": ("TradeOff", "backtracking", "greedy", "trade_off"),
    "search_parts": ("Incumbents", "OnIncumbent", "answer"),
    "list_scheduling": (
        "Allocator",
        "CRITERIA",
        "ListScheduler",
        "ORDERINGS",
        "allocate",
        "first_solution",
        "move_jobs",
        "multi_search",
        "warm_up",
    ),
    "project.bounds": ("project_bounds",),
    "project.lns": ("project_lns",),
    "project.serial_sgs": ("PRIORITY_RULES", "multi_sgs", "serial_sgs"),
    "method": (
        "ARGUMENT",
        "BACKEND",
        "HEURISTICS",
        "Heuristic",
        "OPTION",
        "START",
        "allocator",
        "usual_start",
        "warm_up_for",
    ),
    "relaxation": ("relaxation_search",),
    "rules": ("LeftWaiting", "RULES", "schedule_by_rule"),
}
INNER = {  # the same for names that other files of schedlab read; they are not public
    "search_parts": ("Clock", "KernelStopped", "running"),
    "list_scheduling": ("Joins", "order_by", "tiny"),
    "method": ("fields_of", "from_text"),
    "relaxation": ("improve_placed",),
    "project.arrays": ("ProjectArrays",),
}
__getattr__ = names_later(__name__, LATER, inner=INNER)


def __dir__() -> list[str]:
    """Return the public names, those that are imported when they are first used included."""
    return sorted(__all__)
