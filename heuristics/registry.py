"""The heuristics that can be named as a method or as a start; each is one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..models import Dispatch, Eviction, Problem, Profit, Schedule
from ..models.problem import Value
from . import evictions, rules
from .allocation import Allocator
from .arrays import Placement
from .delay_search import delay_search
from .delay_search import warm_up as warm_up_delays
from .errors import NothingFound, UnknownOrder
from .list_scheduling.first_solution import first_solution
from .list_scheduling.multi_search import multi_search
from .list_scheduling.orders import ORDERINGS
from .list_scheduling.warm_up import warm_up
from .lns.search import lns
from .lns.search import warm_up as warm_up_lns
from .relaxation_search import relaxation_search

# called with each better objective and its schedule, which a search has as flat arrays; False stops
OnIncumbent = Callable[[Value, Schedule | Placement], bool]


class Found(NamedTuple):
    """A heuristic's schedule, and a word on how it was found; ``optimal`` if it proves that there is no better one."""

    schedule: Schedule
    message: str
    optimal: bool = False


class NotForThisProblem(ValueError):
    """A heuristic was asked for a kind of problem that it does not know."""


class HeuristicRequest(NamedTuple):
    """What a heuristic is asked for: ``argument`` behind its name, ``time_limit`` in seconds, and ``on_incumbent``.

    ``backend``: behind the @ of its name, "" if there is none; ``threads`` are for it.
    """

    argument: str = ""
    time_limit: float | None = None
    on_incumbent: OnIncumbent | None = None
    seed: int = 0
    threads: int | None = None
    backend: str = ""


class Heuristic(NamedTuple):
    """``arguments``: what may follow the colon of its name (empty: nothing); ``kinds``: of the problems that it is for.

    ``seeded``: chance decides; ``backends``: a backend may follow the @ of its name; ``usual``: the one it takes if none does;
    ``warm_up``: compiles what is its own.
    """

    run: Callable[[Problem, HeuristicRequest], Found]
    arguments: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("dispatch", "profit")
    seeded: bool = False
    backends: bool = False
    usual: str = ""
    warm_up: Callable[[], None] = warm_up

    def best(self, problem: Problem, ask: HeuristicRequest) -> Found:
        """Run it; Ctrl-C ends it with the best that it has reported, and the message "interrupted".

        Raises what it raises, and NothingFound("interrupted") if it had nothing to report.
        """
        from ..backends.interrupts import INTERRUPTED, catch_first

        latest: Schedule | Placement | None = None

        def keep(objective: Value, found: Schedule | Placement) -> bool:
            nonlocal latest
            latest = found.kept() if isinstance(found, Placement) else found
            return ask.on_incumbent is None or ask.on_incumbent(objective, found)

        try:
            return self.run(problem, ask._replace(on_incumbent=keep))
        except KeyboardInterrupt as e:
            catch_first(e)
        if latest is None:
            raise NothingFound(INTERRUPTED)
        return Found(latest.schedule() if isinstance(latest, Placement) else latest, INTERRUPTED)

    def check(self, argument: str) -> None:
        """Raise UnknownOrder, with the near names, for an argument that is not known."""
        if argument not in (self.arguments or ("",)):
            raise UnknownOrder(argument)


def allocator(problem: Problem, time_limit: float | None = None, began: float | None = None) -> Allocator:
    """What reads a relaxation's answers back into schedules of this problem, within the limit. Raises NotForThisProblem."""
    return Allocator(_jobs_of(problem, "reading a relaxation back"), time_limit, began)


def usual_start(problem: Problem) -> str:
    """The heuristic that ``+warm`` means for this kind of problem."""
    return "greedy" if isinstance(problem, Eviction) else "multi-search"


def warm_up_for(problem: Problem, name: str | None = None) -> None:
    """Compile the kernels for this kind of problem, and those of a heuristic: time measured afterwards is of searching."""
    if isinstance(problem, Eviction):
        evictions.warm_up()
    else:
        warm_up()
        if isinstance(problem, Profit):
            rules.warm_up()  # of parked jobs
    if name is not None:
        HEURISTICS[name].warm_up()


def _jobs_of(problem: Problem, name: str) -> Dispatch | Profit:
    if not isinstance(problem, (Dispatch, Profit)):
        raise NotForThisProblem(f"{name} is for dispatch and profit problems; this is a {problem.kind} problem")
    return problem


def _of_moment(ask: HeuristicRequest) -> Callable[[float, float, Placement], bool] | None:
    """The callback of searches that report (seconds, objective, placement)."""
    call = ask.on_incumbent
    return None if call is None else lambda _, objective, placement: call(objective, placement)


def _report(problem: Problem, schedule: Schedule, ask: HeuristicRequest) -> None:
    """Report the schedule of a heuristic that makes one alone."""
    if ask.on_incumbent is not None:
        ask.on_incumbent(problem.objective(schedule), schedule)


def _multi_search(problem: Problem, ask: HeuristicRequest) -> Found:
    call = ask.on_incumbent
    each = None if call is None else lambda news, placement: call(news.objective, placement)
    found = multi_search(_jobs_of(problem, "multi-search"), ask.time_limit, each)
    skipped = f"; skipped: {', '.join(found.skipped)}" if found.skipped else ""
    return Found(found.schedule, f"best order: {found.order}{skipped}")


def _first_solution(problem: Problem, ask: HeuristicRequest) -> Found:
    schedule = first_solution(_jobs_of(problem, "first-solution"), ask.argument)
    _report(problem, schedule, ask)
    return Found(schedule, f"order: {ask.argument}")


def _rule(problem: Problem, ask: HeuristicRequest) -> Found:
    schedule = rules.schedule_by_rule(_jobs_of(problem, "rule"), ask.argument)
    _report(problem, schedule, ask)
    return Found(schedule, f"rule: {ask.argument}")


def _delay_search(problem: Problem, ask: HeuristicRequest) -> Found:
    found = delay_search(_jobs_of(problem, "delay-search"), time_limit=ask.time_limit, on_incumbent=_of_moment(ask))
    ended = "ended by itself" if found.complete else "stopped by its limit"
    return Found(found.schedule, f"order {found.order}, delays of {found.delay} s, {found.trials} schedules, {ended}")


def _relaxation_search(problem: Problem, ask: HeuristicRequest) -> Found:
    found = relaxation_search(
        _jobs_of(problem, "relaxation-search"), ask.backend, ask.time_limit, ask.threads, ask.seed, _of_moment(ask)
    )
    return Found(found.schedule, found.message)


def _lns(problem: Problem, ask: HeuristicRequest) -> Found:
    found = lns(
        _jobs_of(problem, "lns"),
        ask.time_limit,
        ask.seed,
        _of_moment(ask),
        backend=ask.backend or None,
        threads=ask.threads,
    )
    ways = (f"{name} {way.turns} turns, {way.seconds:.1f} s, {way.gain:.4g} better" for name, way in found.ways.items())
    return Found(found.schedule, "; ".join(ways))


def _eviction(problem: Problem, name: str) -> Eviction:
    if not isinstance(problem, Eviction):
        raise NotForThisProblem(f"{name} is for eviction problems; this is a {problem.kind} problem")
    return problem


def _dp(problem: Problem, ask: HeuristicRequest) -> Found:
    p = _eviction(problem, "dp")
    plan = evictions.trade_off(p).plan()
    _report(p, plan, ask)
    return Found(plan, _one_after_another(p), optimal=not p.shared_bandwidth)


def _greedy(problem: Problem, ask: HeuristicRequest) -> Found:
    p = _eviction(problem, "greedy")
    plan = evictions.greedy(p)
    _report(p, plan, ask)
    return Found(plan, _one_after_another(p))


def _backtracking(problem: Problem, ask: HeuristicRequest) -> Found:
    p = _eviction(problem, "backtracking")
    found = evictions.backtracking(p, ask.time_limit, ask.on_incumbent)
    if found.plan is None:
        raise NothingFound("stopped" if ask.time_limit is None else f"no plan was found within {ask.time_limit:g} s")
    return Found(found.plan, _one_after_another(p), optimal=found.complete and not p.shared_bandwidth)


def _one_after_another(p: Eviction) -> str:
    return "checkpoints one after another" if p.shared_bandwidth else ""


HEURISTICS: dict[str, Heuristic] = {
    "multi-search": Heuristic(_multi_search),
    "first-solution": Heuristic(_first_solution, ORDERINGS),
    "rule": Heuristic(_rule, rules.RULES, warm_up=rules.warm_up),
    "delay-search": Heuristic(_delay_search, warm_up=warm_up_delays),
    "relaxation-search": Heuristic(_relaxation_search, seeded=True, backends=True, usual="cpsat"),
    "lns": Heuristic(_lns, seeded=True, backends=True, warm_up=warm_up_lns),
    "dp": Heuristic(_dp, kinds=("eviction",), warm_up=evictions.warm_up),
    "greedy": Heuristic(_greedy, kinds=("eviction",), warm_up=evictions.warm_up),
    "backtracking": Heuristic(_backtracking, kinds=("eviction",), warm_up=evictions.warm_up),
}
