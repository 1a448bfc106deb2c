"""What the bench needs to know about eviction problems: runs over all deadlines, each answer timed; tables, plots."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, cast

from rich.console import Console

from ...backends import Incumbent, Result, SolverUnavailable
from ...instances import Instance
from ...methods import Method
from ...models import EvictionCandidate
from ...models.eviction.problem import Eviction
from ...models.json_values import Count, Number
from ...models.problem import Problem, Schedule
from ...solve import solve
from ..records.record import outcome
from ..records.store import Record
from ..runs.view import WHOLE, Default, Defaults, View
from .base import Drawing
from .plain import PlainKind

# --- The run of an eviction problem: a method answers its deadline and every earlier deadline, and each answer is timed.
#
# The dynamic program answers all deadlines in one pass. Every other method is called once for each deadline, as in
# [Maurya2020]; its response time for all deadlines is the sum.
#
# Extra fields of the record:
#
# - ``nodes_needed``: number of nodes to free.
# - ``deadlines``: rows [deadline in s, loss in node-seconds, checkpoint time in s].
# - ``response_s``: rows [deadline in s, seconds to answer it, status].
# - ``one_pass``, ``all_deadlines_s``: whether one pass answered all deadlines; seconds to answer all deadlines.

OnIncumbent = Callable[[Incumbent], Any]
REPEATS = 5  # answers that take at most SHORT seconds are repeated; their time is the median
SHORT = 0.02  # seconds
MOST_REPEATS = 31  # of the single pass, because its time is compared with those of all other methods
FIELDS: Mapping[str, Any] = {
    "nodes_needed": Count | None,
    "deadlines": list[tuple[Count, Count, Count]],
    "response_s": list[tuple[Count, Number, str]],
    "one_pass": bool,
    "all_deadlines_s": Number | None,
}


@dataclass
class Answers:
    """The answers for several deadlines.

    Attributes
    ----------
    deadlines
        Tuples (deadline in s, loss in node-seconds, checkpoint time in s).
    response
        Tuples (deadline in s, seconds of its answer, status); in one pass, each has the seconds of the whole pass.
    one_pass
        Whether all deadlines were answered in one pass.
    wrong
        Message about a plan that is not valid, "" if there is none.
    """

    deadlines: list[tuple[int, int, int]] = field(default_factory=list)
    response: list[tuple[int, float, str]] = field(default_factory=list)
    one_pass: bool = False
    wrong: str = ""

    def add(self, problem: Eviction, results: Sequence[Result]) -> None:
        """Add the answer for one deadline, computed once or several times; the time excludes the checks of the bench."""
        result = results[0]
        took = median(sum(r.phases.get(part, 0.0) for part in ("build", "lower", "solve")) for r in results)
        self.response.append((problem.deadline_s // problem.step_s * problem.step_s, took, result.status))
        if result.schedule is not None:
            self.plan(problem, result.schedule)

    def plan(self, problem: Eviction, plan: Any) -> None:
        """Verify a plan for one deadline and add its objective, both from the data alone."""
        broken = problem.verify(plan)
        if broken:
            self.wrong = f"the plan for {problem.deadline_s} s violates the problem: {broken[0].message}"
            return
        self.deadlines.append((problem.deadline_s // problem.step_s * problem.step_s, *problem.value(plan)))

    def record(self) -> Record:
        """Return the fields of the record, sorted by deadline."""
        total = self.response[-1][1] if self.one_pass else sum(seconds for _, seconds, _ in self.response)
        return {
            "deadlines": sorted(self.deadlines),
            "response_s": sorted(self.response),
            "one_pass": self.one_pass,
            "all_deadlines_s": total if len(self.response) == len(self.deadlines) else None,
        }


def run_in_worker(problem: Eviction, method: Method, limits: Mapping[str, Any], on_incumbent: OnIncumbent) -> Record:
    """Answer the deadline of a problem first, then as many earlier ones as the time limit allows.

    Parameters
    ----------
    problem
        The problem.
    method
        The method.
    limits
        Arguments of ``solve``: ``time_limit`` (seconds), ``threads``, ``seed``.
    on_incumbent
        Callback for the incumbents of the first answer.

    Returns
    -------
    Record
        Fields of the record.
    """
    began = time.perf_counter()
    if method.backend_name:
        _initialise(problem, method)
    result = solve(problem, method=method.text, on_incumbent=on_incumbent, **limits)
    answer = outcome(problem, result)
    if answer["status"] in ("error", "unavailable"):
        return answer
    answers = Answers()
    if method.heuristic == "dp":
        _one_pass(problem, answers)
    else:

        def seconds_left() -> float:
            return float(limits["time_limit"]) - (time.perf_counter() - began)

        for step in (problem.steps, *range(problem.steps)):
            known = [result] if step == problem.steps else []
            results = _solve_at(_at(problem, step), method, limits, known, seconds_left)
            if results:
                answers.add(_at(problem, step), results)
    if answers.wrong:
        return {**answer, "status": "error", "verified": False, "message": answers.wrong}
    return {**answer, "nodes_needed": problem.nodes_needed, **answers.record()}


def _solve_at(
    problem: Eviction, method: Method, limits: Mapping[str, Any], known: list[Result], seconds_left: Callable[[], float]
) -> list[Result]:
    """Answer one deadline, several times if that is fast; ``known``, the first answer of the process, is then not used."""
    results: list[Result] = []
    while len(results) < REPEATS and seconds_left() > 0 and all(r.seconds < SHORT for r in (*known, *results)):
        results.append(solve(problem, method=method.text, **{**limits, "time_limit": seconds_left()}))
    return results or known


def _at(problem: Eviction, step: int) -> Eviction:
    """Return the problem of another deadline, with its checkpoint times computed, which the timing excludes."""
    here = problem.replace(deadline_s=step * problem.step_s)
    _ = here.checkpoint_steps, here.writing_steps
    return here


def fields_of_one(problem: Eviction, plan: Any) -> Record:
    """Return the fields of a record with a plan for the deadline of the problem only; its time is unknown."""
    answers = Answers()
    answers.plan(problem, plan)
    return {"nodes_needed": problem.nodes_needed, **answers.record()}


def _one_pass(problem: Eviction, answers: Answers) -> None:
    """Answer all deadlines by the dynamic program, with their plans."""
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


def _initialise(problem: Eviction, method: Method) -> None:
    """Solve a tiny problem, so that the response times exclude what a solver does once in a process."""
    jobs = [EvictionCandidate("a", 1, 1, 1, None, mb_s=1), EvictionCandidate("b", 1, 2, 1, 1, mb_s=1)]
    shared = problem.shared_bandwidth
    tiny = Eviction(jobs, 1, 2, 1, file_system_mb_s=1, shared_bandwidth=shared)
    try:
        solve(tiny, method=method.text, threads=1, time_limit=5)
    except SolverUnavailable:
        return


def faults_of_deadlines(problem: Eviction, record: Mapping[str, Any]) -> list[str]:
    """Return the faults of the answers for all deadlines: each is compared with the exact optimum, the last with the objective."""
    from ...heuristics import trade_off

    rows = [tuple(row) for row in record.get("deadlines") or ()]
    if not rows or problem.shared_bandwidth:
        return []
    exact = {d.deadline_s: tuple(d) for d in trade_off(problem).deadlines()}
    optimal = {row[0] for row in record.get("response_s") or () if row[2] == "optimal"}
    faults = []
    for row in rows:
        if row[0] not in exact or row[1:] < exact[row[0]][1:]:
            faults.append(
                f"it has loss {row[1]} and checkpoint time {row[2]} s for the deadline {row[0]} s, better than the optimum"
            )
        elif row[0] in optimal and row != exact[row[0]]:
            faults.append(
                f"it has {row[1:]} as the optimum for the deadline {row[0]} s, the optimum is {exact[row[0]][1:]}"
            )
    last = problem.steps * problem.step_s
    mine = {row[0]: list(row[1:]) for row in rows}
    if record["objective"] is not None and mine.get(last, record["objective"]) != record["objective"]:
        faults.append(f"its answer for the deadline is {mine[last]}, its objective {record['objective']}")
    return faults


# --- What the bench needs to know about eviction problems: numbers of nodes, runs over all deadlines, tables, plots.

BY_HEURISTIC = (Default("auto", 30), Default("dp"), Default("greedy"), Default("backtracking", 30))
SERIAL_EVICTION = (*BY_HEURISTIC, *(Default(f"{name}:serial", 30) for name in ("cpsat", "highs", "cpo")))
SHARED_EVICTION = (*BY_HEURISTIC[:3], *(Default(f"{name}:shared+warm", 60) for name in ("cpsat", "cpo")))


class EvictionKind(PlainKind):
    """Eviction problems: a run answers the deadline of the problem and every earlier one."""

    view_options = ("nodes_needed",)

    @property
    def record_fields(self) -> Mapping[str, Any]:
        """The answers for all deadlines and their response times."""
        return FIELDS

    def default_views(self, instance: Instance) -> Defaults:
        """Return the instance with its own number of nodes to free, then with the numbers it is compared with."""
        shared = instance.eviction.shared_bandwidth
        others = [View(nodes_needed=n) for n in instance.nodes_compared if not shared]
        return dict.fromkeys((WHOLE, *others), SHARED_EVICTION if shared else SERIAL_EVICTION)

    def problem(self, instance: Instance, view: View) -> Eviction:
        """Return the problem with another number of nodes to free."""
        problem = instance.eviction
        return problem if view.nodes_needed is None else problem.replace(nodes_needed=view.nodes_needed)

    def run(
        self,
        problem: Problem,
        method: Method,
        limits: Mapping[str, Any],
        on_incumbent: Callable[[Incumbent], Any],
        on_solved: Callable[[], None],
    ) -> Record:
        """Answer the deadline of the problem and the earlier ones.

        ``on_solved`` is not called: answers and their checks alternate, and the time limit counts for both.
        """
        return run_in_worker(cast(Eviction, problem), method, limits, on_incumbent)

    def extra_fields(self, problem: Problem, schedule: Schedule) -> Record:
        """Return the fields of an answer for the deadline of the problem only."""
        return fields_of_one(cast(Eviction, problem), schedule)

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return the answers that contradict the exact optimum of their deadline."""
        return faults_of_deadlines(cast(Eviction, problem), record)

    def show_results(self, console: Console, records: Iterable[Record], explain: bool) -> list[str]:
        """Print a table for each instance and number of nodes to free."""
        from ..tables.eviction import show_evictions

        return show_evictions(console, records, explain)

    def draw(self, records: Iterable[Record], methods: Sequence[str]) -> Drawing:
        """Draw the least loss by deadline, the extra loss of greedy, and response times."""
        from ..plots.eviction_section import sections

        return Drawing("jobs to evict", *sections(records))

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of batch jobs and of the nodes they use."""
        of = cast(Eviction, problem)
        return str(len(of.jobs)), str(of.nodes_in_use)

    def describe(self, console: Console, instance: Instance) -> None:
        """Print the nodes to free, the deadline and the jobs."""
        from ..show.instances import show_eviction

        show_eviction(console, instance.eviction)


EVICTION = EvictionKind()
