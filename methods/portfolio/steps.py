"""The steps of ``auto`` for each kind of problem: what runs, and how much of the time limit it may take."""

from __future__ import annotations

from collections.abc import Sequence

from ...models import Dispatch, Eviction, Problem, Profit, Project, kind
from ...models.kind import Step
from ..method import Method
from ..text import parse_method

FEW = 40  # jobs: exact methods get most of the time
SMALL = 100  # jobs: CP-SAT repairs parts of the schedule in LNS
FINE = 200  # jobs: the linear relaxation has a fine grid


def dispatch(problem: Dispatch) -> Sequence[Step]:
    """Return list schedules, exact methods if the problem is small, LNS, and a relaxation for the bound.

    The relaxation is the linear one if the objective is no sum over jobs.
    """
    from ...heuristics import HEURISTICS

    jobs = len(problem.jobs)
    linear = "highs:pool@600s..36000s-energy" if jobs <= FINE else "highs:pool@1800s..100000s-energy"
    bound = "lagrangian" if HEURISTICS["lagrangian"].takes(problem) else linear
    if jobs > SMALL:
        return [Step("multi-search"), Step("lns", 0.9), Step(bound)]
    exact = "cpsat:counts"
    if jobs > FEW:
        return [Step("multi-search"), Step("lns", 0.55), Step("lns@cpsat", 0.35), Step(bound)]
    if HEURISTICS["branch-and-bound"].takes(problem):
        return [Step("multi-search"), Step("branch-and-bound", 0.6), Step(exact, 0.3), Step("lns@cpsat")]
    return [Step("multi-search"), Step(bound, 0.15), Step(exact, 0.3), Step("lns@cpsat", 0.3), Step(exact)]


def profit(problem: Profit) -> Sequence[Step]:
    """Return list schedules, LNS, and the fluid relaxation for the bound; CP-SAT before them if there are few jobs."""
    exact = [Step("cpsat:counts", 0.3)] if len(problem.jobs) <= FEW else []
    return [Step("multi-search"), *exact, Step("highs:fluid@lp", 0.15), Step("lns")]


def eviction(problem: Eviction) -> Sequence[Step]:
    """Return the greedy method, the dynamic program, and CP-SAT where the program is not exact."""
    exact = [Step("cpsat:shared")] if problem.shared_bandwidth else []
    return [Step("greedy"), Step("dp"), *exact]


def project(problem: Project) -> Sequence[Step]:
    """Return serial schedule generation, bounds, LNS, CP-SAT, and LNS with CP-SAT."""
    return [
        Step("multi-sgs"),
        Step("bounds", 0.05),
        Step("lns", 0.1),
        Step("cpsat:modes", 0.3),
        Step("lns@cpsat"),
    ]


def usual_steps(problem: Problem) -> Sequence[Step]:
    """Return the steps for a kind that declares none: its usual start, if it has one, and its first formulation."""
    known = kind.known(problem.kind)
    start = [] if known is None or known.start is None else [Step(known.start)]
    return [*start, *(Step(f"cpsat:{name}") for name in list(problem.formulations)[:1])]


def parsed_steps(problem: Problem) -> list[tuple[Method, float]]:
    """Return the method and the share of the time limit of each step for a problem."""
    known = kind.known(problem.kind)
    declared = usual_steps if known is None or known.portfolio is None else kind.resolve(known.portfolio)
    return [(parse_method(step.method, problem), step.share) for step in declared(problem)]
