"""The default runs: the views of an instance, each with its methods and time limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...backends import names
from ...instances import Instance
from ...models.dispatch.jobs import DAY
from ...models.dispatch.problem import Dispatch
from ...models.eviction.problem import Eviction
from ...models.profit.problem import Profit
from ...models.project.problem import Project
from .view import View

SMALL = 8  # an instance with at most this many nodes gets the defaults for small instances
LARGE = 5000  # a profit problem with more jobs gets the defaults for large instances
SMALL_PROJECT = 20  # a project with at most this many tasks gets the defaults for small projects
USUAL_LIMIT = 10.0  # time limit in seconds of a method that is not among the defaults


class Default(NamedTuple):
    """A method and its time limit in seconds."""

    method: str
    time_limit: float = USUAL_LIMIT


NOON = View(at=DAY // 2, first=100)
WHOLE = View()
DAY_REPLAYED = View(durations="runtime")  # for dispatchers, and for the clairvoyant methods they are compared with
Defaults = Mapping[View, Sequence[Default]]

DISPATCHERS = (
    *(Default(name) for name in ("fcfs", "sjf", "rule:wt", "easy", "easy-r", "conservative")),
    *(Default(name) for name in ("pbs-fifo", "pbs-walltime")),
    *(Default(name, 120) for name in ("hcp3@cpsat", "hcp3-d@cpsat", "hcp3-r@cpsat", "pcp3@cpsat")),
)
CLAIRVOYANT = (Default("multi-search"), Default("highs:pool@1800s..100000s-energy", 50))

LARGE_DISPATCH: Defaults = {
    NOON: (
        Default("multi-search"),
        Default("cpsat:counts"),
        Default("cpsat:counts+warm"),
        Default("cpsat:classes+warm"),
        Default("cpsat:pool+warm"),
        Default("highs:pool@3600s"),
        Default("highs:pool@3600s+warm"),
        Default("cpo:pool"),
        Default("cpo:pool+warm"),
        Default("highs:pool@600s..36000s-energy", 20),
        Default("highs:classes@600s..36000s-energy", 40),
    ),
    WHOLE: (
        Default("multi-search"),
        Default("cpsat:pool"),
        Default("cpsat:pool+warm"),
        Default("highs:pool@1800s..100000s-energy", 50),
    ),
    DAY_REPLAYED: (*DISPATCHERS, *CLAIRVOYANT),
}
SMALL_DISPATCH: Defaults = {
    WHOLE: (
        Default("multi-search"),
        Default("cpsat:counts"),
        Default("cpsat:counts+warm"),
        Default("cpsat:classes+warm"),
        Default("highs:pool@3600s"),
        Default("highs:pool@3600s+warm"),
        Default("cpo:pool"),
        Default("cpo:pool+warm"),
        Default("highs:classes@600s..36000s-energy", 30),
    ),
    DAY_REPLAYED: (*DISPATCHERS, *CLAIRVOYANT),
}

BY_HEURISTIC = (Default("dp"), Default("greedy"), Default("backtracking", 30))
SERIAL_EVICTION = (*BY_HEURISTIC, *(Default(f"{name}:serial", 30) for name in ("cpsat", "highs", "cpo")))
SHARED_EVICTION = (*BY_HEURISTIC[:2], *(Default(f"{name}:shared+warm", 60) for name in ("cpsat", "cpo")))

RULES = tuple(f"rule:{key}{strict}" for key in ("est", "wt", "profit") for strict in ("", "-strict"))
SEARCHES = ("multi-search", "delay-search", "relaxation-search@cpsat", "lns", "lns@cpsat")
BOUND = "highs:fluid@lp"
COLD = (Default("cpsat:counts", 20), Default("cpsat:pool"), Default("cpo:pool"), Default(BOUND))
MEDIUM_PROFIT = (
    *(Default(name, 2) for name in RULES),
    *(Default(name, 20) for name in SEARCHES),
    *COLD,
)
SMALL_PROFIT = (*MEDIUM_PROFIT, Default("highs:counts@pairwise", 20), Default("cpo:counts"))
LARGE_PROFIT = (
    *(Default(name, 60) for name in RULES),
    *(Default(name, 180) for name in ("multi-search", "delay-search", "lns", BOUND)),
)

PROJECT_METHODS = tuple(Default(name, 20) for name in ("multi-sgs", "cpsat:modes", "cpsat:modes+warm", "cpo:modes"))
SMALL_PROJECT_METHODS = (*PROJECT_METHODS, Default("highs:modes@pairwise", 20))


def defaults(instance: Instance) -> Defaults:
    """Return the default views of an instance, each with its methods; views without jobs are left out."""
    return {v: methods for v, methods in views_known(instance).items() if not v.is_empty(instance.problem)}


def views_known(instance: Instance) -> Defaults:
    """Return the views for which there are default methods and time limits, by the kind and size of the instance."""
    problem = instance.problem
    if isinstance(problem, Dispatch):
        usual = SMALL_DISPATCH if len(problem.platform.nodes) <= SMALL else LARGE_DISPATCH
        replayed = all(j.runtime is not None for j in problem.jobs)
        return {view: methods for view, methods in usual.items() if view != DAY_REPLAYED or replayed}
    if isinstance(problem, Eviction):
        others = [View(nodes_needed=n) for n in instance.nodes_compared if not problem.shared_bandwidth]
        methods = SHARED_EVICTION if problem.shared_bandwidth else SERIAL_EVICTION
        return dict.fromkeys((WHOLE, *others), methods)
    if isinstance(problem, Profit):
        small, large = len(problem.platform.nodes) <= SMALL, len(problem.jobs) > LARGE
        own = None if instance.centre is None else instance.centre.default
        return {View(scenario=own): LARGE_PROFIT if large else SMALL_PROFIT if small else MEDIUM_PROFIT}
    if isinstance(problem, Project):
        return {WHOLE: SMALL_PROJECT_METHODS if len(problem.tasks) <= SMALL_PROJECT else PROJECT_METHODS}
    first = next(iter(problem.formulations))
    return {WHOLE: [Default(f"{name}:{first}", 60) for name in names()]}
