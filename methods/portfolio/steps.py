"""The steps of ``auto`` for each kind of problem: what runs, and how much of the time limit it may take."""

from __future__ import annotations

from collections.abc import Sequence

from ...models import Dispatch, Eviction, Problem, Profit, Project, kind
from ...models.kind import Step
from ..method import Method
from ..text import parse_method

SMALL = 200  # jobs: CP-SAT is tried on problems with at most this many


def dispatch(problem: Dispatch) -> Sequence[Step]:
    """Return list schedules, LNS, and a relaxation for the bound; CP-SAT before and after if the problem is small.

    The relaxation is the linear one if the objective is no sum over jobs.
    """
    from ...heuristics import HEURISTICS

    small = len(problem.jobs) <= SMALL
    linear = "highs:pool@600s..36000s-energy" if small else "highs:pool@1800s..100000s-energy"
    bound = "lagrangian" if HEURISTICS["lagrangian"].takes(problem) else linear
    if not small:
        return [Step("multi-search"), Step("lns", 0.2), Step(bound, 0.25), Step("lns")]
    if bound != linear:  # proves many small problems at once
        return [
            Step("multi-search"),
            Step(bound, 0.2),
            Step("cpsat:counts", 0.1),
            Step("lns", 0.2),
            Step("cpsat:counts", 0.25),
            Step("lns"),
        ]
    return [
        Step("multi-search"),
        Step("cpsat:counts", 0.1),
        Step("lns", 0.2),
        Step(bound, 0.2),
        Step("cpsat:counts", 0.25),
        Step("lns"),
    ]


def profit(problem: Profit) -> Sequence[Step]:
    """Return list schedules, the fluid relaxation for the bound, CP-SAT if the problem is small, and LNS."""
    exact = [Step("cpsat:counts", 0.35)] if len(problem.jobs) <= SMALL else []
    return [Step("multi-search"), *exact, Step("highs:fluid@lp", 0.25), Step("lns")]


def eviction(problem: Eviction) -> Sequence[Step]:
    """Return the greedy method, the dynamic program, and CP-SAT where the program is not exact."""
    exact = [Step("cpsat:shared")] if problem.shared_bandwidth else []
    return [Step("greedy"), Step("dp"), *exact]


def project(problem: Project) -> Sequence[Step]:
    """Return serial schedule generation with all rules, then CP-SAT."""
    return [Step("multi-sgs"), Step("cpsat:modes")]


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
