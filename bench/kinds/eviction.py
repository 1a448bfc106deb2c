"""An eviction problem run by a method: the answer for its deadline, and one for every earlier deadline, each timed.

The dynamic program answers all deadlines in one pass; every other method is asked again for each of them, as in the
paper, and its response time for all is the sum.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from ...backends import Incumbent, Result, SolverUnavailable
from ...methods import Method
from ...models import Eviction, EvictionCandidate
from ...solve import solve
from ..records.record import outcome
from ..records.store import Record

Told = Callable[[Incumbent], Any]
REPEATS = 5  # of an answer that takes no longer than SHORT seconds: its time is the median
SHORT = 0.02
MOST_REPEATS = 31  # of the one pass, whose time is compared with all others


@dataclass
class Answers:
    """``deadlines``: (deadline, loss, checkpoint time); ``response_s``: of each deadline that was asked the seconds that its
    answer took (of one pass for all: each the whole pass) and its status; ``wrong``: a plan that does not hold.
    """

    deadlines: list[tuple[int, int, int]] = field(default_factory=list)
    response: list[tuple[int, float, str]] = field(default_factory=list)
    one_pass: bool = False
    wrong: str = ""

    def add(self, problem: Eviction, results: Sequence[Result]) -> None:
        """The answer of one deadline, asked for once or repeatedly; its seconds are those of the method, without our checks."""
        result = results[0]
        took = median(sum(r.seconds.get(part, 0.0) for part in ("build", "lower", "solve")) for r in results)
        self.response.append((problem.deadline_s // problem.step_s * problem.step_s, took, result.status))
        if result.schedule is not None:
            self.plan(problem, result.schedule)

    def plan(self, problem: Eviction, plan: Any) -> None:
        """A plan for one deadline, verified and valued on the data alone."""
        broken = problem.verify(plan)
        if broken:
            self.wrong = f"the plan for {problem.deadline_s} s violates the problem: {broken[0].message}"
            return
        self.deadlines.append((problem.deadline_s // problem.step_s * problem.step_s, *problem.objective(plan)))

    def record(self) -> Record:
        """The fields of the record, by growing deadline."""
        total = self.response[-1][1] if self.one_pass else sum(seconds for _, seconds, _ in self.response)
        return {
            "deadlines": sorted(self.deadlines),
            "response_s": sorted(self.response),
            "one_pass": self.one_pass,
            "all_deadlines_s": total if len(self.response) == len(self.deadlines) else None,
        }


def run_in_worker(problem: Eviction, method: Method, limits: dict[str, Any], told: Told) -> Record:
    """What a run found: the problem's own deadline first, then as many of the others as the time limit allows."""
    began = time.perf_counter()
    if method.backend:
        _rehearse(problem, method)
    result = solve(problem, method=method.text, on_incumbent=told, **limits)
    found = outcome(problem, result)
    if found["status"] in ("error", "unavailable"):
        return found
    answers = Answers()
    if method.heuristic == "dp":
        _one_pass(problem, answers)
    else:

        def left() -> float:
            return float(limits["time_limit"]) - (time.perf_counter() - began)

        for step in (problem.steps, *range(problem.steps)):
            known = [result] if step == problem.steps else []
            results = _asked(_at(problem, step), method, limits, known, left)
            if results:
                answers.add(_at(problem, step), results)
    if answers.wrong:
        return {**found, "status": "error", "verified": False, "message": answers.wrong}
    return {**found, "nodes_needed": problem.nodes_needed, **answers.record()}


def _asked(
    problem: Eviction, method: Method, limits: dict[str, Any], known: list[Result], left: Callable[[], float]
) -> list[Result]:
    """The answers to one deadline, several where they are quick; an answer that was cold does not count among these."""
    results: list[Result] = []
    while len(results) < REPEATS and left() > 0 and all(r.seconds["total"] < SHORT for r in (*known, *results)):
        results.append(solve(problem, method=method.text, **{**limits, "time_limit": left()}))
    return results or known


def _at(problem: Eviction, step: int) -> Eviction:
    """The problem of another deadline; the times of its checkpoints are at hand, whoever asks for them."""
    here = problem.replace(deadline_s=step * problem.step_s)
    _ = here.checkpoint_steps, here.writing_steps
    return here


def fields_of_one(problem: Eviction, plan: Any) -> Record:
    """The fields of a record with a plan for the problem's own deadline alone, which took an unknown time."""
    answers = Answers()
    answers.plan(problem, plan)
    return {"nodes_needed": problem.nodes_needed, **answers.record()}


def _one_pass(problem: Eviction, answers: Answers) -> None:
    """All deadlines by the dynamic program, their plans included."""
    from ...heuristics import trade_off

    fresh = _at(problem, problem.steps)
    took: list[float] = []
    while len(took) < REPEATS or (len(took) < MOST_REPEATS and sum(took) < 10 * SHORT):
        began = time.perf_counter()
        plans = trade_off(fresh).plans()
        took.append(time.perf_counter() - began)
    status = "feasible" if problem.shared_bandwidth else "optimal"
    answers.one_pass = True
    for step, plan in enumerate(plans):
        answers.plan(_at(problem, step), plan)
        answers.response.append((step * problem.step_s, median(took), status))


def _rehearse(problem: Eviction, method: Method) -> None:
    """What a solver does once per process is no part of any response time."""
    jobs = [EvictionCandidate("a", 1, 1, 1, None, mb_s=1), EvictionCandidate("b", 1, 2, 1, 1, mb_s=1)]
    shared = problem.shared_bandwidth
    tiny = Eviction(jobs, 1, 2, 1, file_system_mb_s=1, shared_bandwidth=shared)
    try:
        solve(tiny, method=method.text, threads=1, time_limit=5)
    except SolverUnavailable:
        return


def faults_of_deadlines(problem: Eviction, record: Mapping[str, Any]) -> list[str]:
    """What is wrong with the answers for all deadlines: each against the exact trade-off, the last against the objective."""
    from ...heuristics import trade_off

    rows = [tuple(row) for row in record.get("deadlines") or ()]
    if not rows or problem.shared_bandwidth:
        return []
    exact = {d.deadline_s: tuple(d) for d in trade_off(problem).deadlines()}
    optimal = {row[0] for row in record.get("response_s") or () if row[2] == "optimal"}
    found = []
    for row in rows:
        if row[0] not in exact or row[1:] < exact[row[0]][1:]:
            found.append(f"it says loss {row[1]} and checkpoints of {row[2]} s within {row[0]} s, better than the best")
        elif row[0] in optimal and row != exact[row[0]]:
            found.append(f"it says that {row[1:]} is optimal within {row[0]} s; {exact[row[0]][1:]} is")
    last = problem.steps * problem.step_s
    mine = {row[0]: list(row[1:]) for row in rows}
    if record["objective"] is not None and mine.get(last, record["objective"]) != record["objective"]:
        found.append(f"its answer for the deadline is {mine[last]}, its objective {record['objective']}")
    return found
