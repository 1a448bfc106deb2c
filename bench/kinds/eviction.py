"""What the bench needs to know about eviction problems: runs over all deadlines, each answer timed; tables, plots."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, cast

from rich.console import Console
from rich.text import Text

from ...backends import Incumbent, Result, SolverUnavailable
from ...backends.result import refutes
from ...instances import Instance
from ...methods import Method
from ...models import EvictionCandidate
from ...models.eviction.problem import Eviction
from ...models.problem import Problem, Schedule
from ...models.words import how_many
from ...solve import solve
from ..grid import BAD, DIM, GOOD, UNKNOWN, Column, Grid, count, fixed, number, percent
from ..pages import Card, Section
from ..pages.panels import single
from ..records.record import outcome
from ..records.store import Count, Number, Record
from ..runs.view import WHOLE, Default, Defaults, View
from ..tables.methods import by_method, reasons, trouble, verdict, who_mends
from .base import Drawing
from .plain import PlainKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        if self.one_pass:
            total = self.response[-1][1]
        else:
            total = sum(seconds for _, seconds, _ in self.response)
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
            known = []
            if step == problem.steps:
                known = [result]
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
    status = "optimal"
    if problem.shared_bandwidth:
        status = "feasible"
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


# --- The table of the methods on an eviction problem: loss, checkpoint time, response time for all deadlines.

HOUR = 3600  # node-seconds of a node-hour
Answer = tuple[int, int]  # loss in node-seconds, checkpoint time in seconds

MEANING = (
    "loss: lost work within the deadline of the instance; checkpoints: seconds that the checkpoints take; worse by: loss above "
    "that of the best method, summed over all deadlines; answered (proven): number of deadlines with a plan, and of those "
    "proven optimal; all deadlines: response time for all of them; ratio: that time divided by the time of dp."
)


@dataclass(frozen=True)
class EvictionRow:
    """The runs of one method, one per seed. Answers are those of the best seed, times are means."""

    method: str
    records: Sequence[Record]

    @property
    def answer(self) -> Answer | None:
        """Loss in node-seconds and checkpoint time in seconds for the deadline of the instance."""
        known = [tuple(r["objective"]) for r in self.records if r["verified"] and _is_pair(r["objective"])]
        return min(known, default=None)

    @cached_property
    def deadlines(self) -> dict[int, Answer]:
        """Loss in node-seconds and checkpoint time in seconds for each deadline (in seconds) that has a plan."""
        rows = [row for r in self.records for row in r.get("deadlines") or ()]
        return _least((deadline, (loss, checkpoints)) for deadline, loss, checkpoints in rows)

    @property
    def proven(self) -> int:
        """The number of deadlines for which its plan is proven optimal."""
        return max((sum(row[2] == "optimal" for row in r.get("response_s") or ()) for r in self.records), default=0)

    @property
    def all_deadlines(self) -> float | None:
        """Response time for all deadlines in seconds; None if some deadline has no plan."""
        known = [r.get("all_deadlines_s") for r in self.records]
        if not known or None in known:
            return None
        return fmean(s for s in known if s is not None)


def _is_pair(value: object) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and None not in value


def _least(answers: Iterable[tuple[int, Answer]]) -> dict[int, Answer]:
    """Return the least answer for each deadline."""
    least: dict[int, Answer] = {}
    for deadline, answer in answers:
        least[deadline] = min(answer, least.get(deadline, answer))
    return least


@dataclass(frozen=True)
class EvictionResults:
    """The runs of one eviction problem: an instance and a number of nodes."""

    records: Sequence[Record]

    @cached_property
    def rows(self) -> list[EvictionRow]:
        """One row per method, in the order of the records."""
        return [EvictionRow(name, members) for name, members in by_method(self.records).items()]

    @cached_property
    def steps(self) -> int:
        """The number of deadlines: the most that any method has plans for."""
        return max((len(row.deadlines) for row in self.rows), default=0)

    @cached_property
    def best(self) -> dict[int, Answer]:
        """The best answer of all methods for each deadline (in seconds)."""
        return _least(answer for row in self.rows for answer in row.deadlines.items())

    @property
    def best_answer(self) -> Answer | None:
        """The best answer of all methods for the deadline of the instance."""
        return min((row.answer for row in self.rows if row.answer is not None), default=None)

    @property
    def contradiction(self) -> str | None:
        """The message about a bound that a verified plan of another method refutes, else None."""
        answers = [(row.answer, row.method) for row in self.rows if row.answer is not None]
        if not answers:
            return None
        value, method = min(answers)
        for r in self.records:
            if _is_pair(r["bound"]) and r["status"] != "error" and refutes(value, r["bound"], "minimize"):
                return (
                    f"the bound {number(r['bound'])} of {r['method']} is refuted by the verified plan of {method} with "
                    f"{number(value)}: {who_mends(r)}"
                )
        return None


def eviction_results(records: Iterable[Record]) -> list[tuple[str, EvictionResults]]:
    """Return the results of eviction problems, each with its title: instance, view and number of threads."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for r in records:
        view = View(**r["view"])
        threads = how_many(r["threads"], "thread")
        groups.setdefault((f"{r['instance']}, {view.label}, {threads}", r["content"], view), []).append(r)
    return [(title, EvictionResults(members)) for (title, *_), members in groups.items()]


def show_evictions(console: Console, records: Iterable[Record], explain: bool = False) -> list[str]:
    """Print the table of each eviction problem with its legend and summary; return a message for each bound that is refuted."""
    groups = eviction_results(records)
    for title, results in groups:
        eviction_grid(title, results).show(console, explain)
        console.print(*summary(results), "", sep="\n")
    return [results.contradiction for _, results in groups if results.contradiction]


def eviction_grid(title: str, results: EvictionResults) -> Grid:
    """Return the table with a row per method."""
    dp = next((row.all_deadlines for row in results.rows if row.method == "dp"), None)
    columns = [
        Column("method", lambda row: row.method, words=True, least=12),
        Column("status", lambda row: row.records[0]["cause"] or row.records[0]["status"], words=True),
        LOSS,
        CHECKPOINTS,
        Column("worse by, all\ndeadlines node-h", lambda row: worse_by(row, results), spare=1),
        Column("answered\n(proven)", lambda row: f"{len(row.deadlines)}/{results.steps} ({row.proven})"),
        Column("all dead\xad\nlines ms", lambda row: row.all_deadlines, milliseconds),
        Column("ratio", lambda row: row.all_deadlines / dp if dp and row.all_deadlines is not None else None, _times),
        Column("veri\xad\nfied", lambda row: verdict(r["verified"] for r in row.records), words=True),
    ]
    best = results.best_answer
    return Grid.of(
        title, columns, results.rows, MEANING, style=lambda row: GOOD if best is not None and row.answer == best else ""
    )


LOSS = Column("loss\nnode-h", lambda row: row.answer and row.answer[0] / HOUR, fixed(1))
CHECKPOINTS = Column("checkpoints\ns", lambda row: row.answer and row.answer[1], count)


def worse_by(row: EvictionRow, results: EvictionResults) -> str:
    """Return the loss above the best answers, summed over the deadlines that the method has plans for.

    The text has node-hours and, in brackets, percent of the best loss.
    """
    if not row.deadlines:
        return UNKNOWN
    least = sum(results.best[d][0] for d in row.deadlines)
    more = sum(answer[0] for answer in row.deadlines.values()) - least
    share = ""
    if more and least:
        share = f" ({percent(more / least)})"
    return f"{more / HOUR:,.1f}{share}"


def milliseconds(value: float) -> str:
    """Return seconds as milliseconds with three significant digits."""
    if value >= 0.1:
        return f"{1000 * value:,.0f}"
    return f"{1000 * value:.3g}"


def _times(ratio: float) -> str:
    if ratio < 1000:
        return f"{ratio:,.3g}x"
    return f"{ratio:,.0f}x"


def summary(results: EvictionResults) -> list[Text]:
    """Return the lines below the table: the trade-off between deadline and loss, and the reasons of failures."""
    lines = []
    if results.best:
        lines = [Text(f"loss within the deadline: {trade_off_text(results.best)}")]
    if results.contradiction:
        lines.append(Text(results.contradiction, style=BAD))
    for row in results.rows:
        lines += reasons(row.records)
        if not any(map(trouble, row.records)) and 0 < len(row.deadlines) < results.steps:
            lines.append(Text(f"{row.method}: the time limit was reached before the other deadlines", style=DIM))
    return lines


def trade_off_text(best: Mapping[int, Answer]) -> str:
    """Return the deadlines at which the least loss decreases, as text.

    Parameters
    ----------
    best : mapping of int to (int, int)
        For each deadline in seconds the least loss in node-seconds and the checkpoint time in seconds.

    Returns
    -------
    str
        At most nine pairs of loss in node-hours and deadline in seconds.

    Examples
    --------
    >>> trade_off_text({0: (7200, 0), 60: (7200, 0), 120: (0, 90)})
    '2.0 node-h in 0 s, 0.0 node-h in 120 s'
    """
    steps: list[str] = []
    last = None
    for deadline, (loss, _) in sorted(best.items()):
        if loss != last:
            steps.append(f"{loss / HOUR:,.1f} node-h in {deadline:,} s")
        last = loss
    if len(steps) > 9:
        return ", ".join([*steps[:8], "...", steps[-1]])
    return ", ".join(steps)


# --- ``bench plot`` of eviction problems: least loss by deadline, extra loss of greedy, response times.

PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d")
HEIGHT = 3.2  # inches
Needs = Mapping[int, EvictionResults]  # number of nodes to free -> runs


def drawn_sections(records: Iterable[Record]) -> tuple[list[str], int]:
    """Return an HTML section per instance, and the number of runs that are drawn."""
    by_trace: dict[tuple[str, str], dict[int, EvictionResults]] = {}
    count = 0
    for _, results in eviction_results(records):
        first = results.records[0]
        nodes = nodes_needed(first)
        if nodes is not None and results.best:
            by_trace.setdefault((first["instance"], first["content"]), {})[nodes] = results
            count += sum(bool(row.deadlines) for row in results.rows)
    return [_section(name, dict(sorted(needs.items()))) for (name, _), needs in by_trace.items()], count


def nodes_needed(record: Mapping[str, Any]) -> int | None:
    """Return the number of nodes that a run had to free; None if the record does not have it."""
    chosen = View(**record["view"]).nodes_needed
    if chosen is None:
        known = record.get("nodes_needed")
    else:
        known = chosen
    if known is None:
        return None
    return int(known)


def _section(name: str, needs: Needs) -> str:
    names = dict.fromkeys(row.method for results in needs.values() for row in results.rows)
    colours = dict(zip(names, PALETTE, strict=False))  # a method has the same colour in every chart
    cards = [
        Card("Least loss", "", single(f"{name}: loss", lambda ax: _loss(ax, needs), HEIGHT)),
        Card("Extra loss of greedy", "", single(f"{name}: greedy", lambda ax: _greedy(ax, needs), HEIGHT)),
    ]
    remarks = []
    for nodes, results in needs.items():
        draw = partial(_draw_times, results=results, colours=colours)
        svg = single(f"{name}: time, {how_many(nodes, 'node')}", draw, HEIGHT)
        cards.append(Card(f"Response time, {how_many(nodes, 'node', ',')} to free", "", svg))
        remarks.append(
            f"{how_many(nodes, 'node', ',')} to free, least loss by deadline: {trade_off_text(results.best)}"
        )
    remarks.append(
        "The response time at a deadline is the sum over all deadlines up to it; the dynamic program (dp) needs one pass for all."
    )
    return Section(f"{name}: jobs to evict", table=_table(needs), cards=cards, remarks=remarks).html()


def _table(needs: Needs) -> Grid:
    columns = [
        Column("nodes to free", lambda pair: pair[0], count),
        Column("method", lambda pair: pair[1].method, words=True),
        Column("loss node-h", lambda pair: LOSS.value(pair[1]), LOSS.form),
        Column("checkpoint time s", lambda pair: CHECKPOINTS.value(pair[1]), CHECKPOINTS.form),
        Column("response time for all deadlines ms", lambda pair: pair[1].all_deadlines, milliseconds),
    ]
    return Grid.of("", columns, [(nodes, row) for nodes, results in needs.items() for row in results.rows])


def _loss(ax: Axes, needs: Needs) -> None:
    """Draw the least loss within each deadline; it decreases where one more checkpoint fits."""
    for (nodes, results), colour in zip(needs.items(), PALETTE, strict=False):
        deadlines = sorted(results.best)
        _stairs(
            ax,
            deadlines,
            [results.best[d][0] / HOUR for d in deadlines],
            colour,
            f"{how_many(nodes, 'node', ',')} to free",
        )
    _finish(ax, "least loss, node-hours")


def _greedy(ax: Axes, needs: Needs) -> None:
    for (nodes, results), colour in zip(needs.items(), PALETTE, strict=False):
        greedy = next((row for row in results.rows if row.method == "greedy"), None)
        if greedy is not None and greedy.deadlines:
            deadlines = sorted(greedy.deadlines)
            more = [(greedy.deadlines[d][0] - results.best[d][0]) / HOUR for d in deadlines]
            _stairs(ax, deadlines, more, colour, f"{how_many(nodes, 'node', ',')} to free")
    _finish(ax, "loss of greedy minus least loss, node-hours")


def _stairs(ax: Axes, deadlines: Sequence[int], values: Sequence[float], colour: str, label: str) -> None:
    ax.step([d / 60 for d in deadlines], values, where="post", color=colour, label=label, linewidth=1.4)


def _draw_times(ax: Axes, results: EvictionResults, colours: Mapping[str, str]) -> None:
    """Draw the response time for all deadlines up to each deadline, in milliseconds on a log scale."""
    from matplotlib.ticker import NullFormatter

    for row, colour in zip(results.rows, PALETTE, strict=False):
        pairs = response(row)
        if pairs:
            ax.plot(
                [d / 60 for d, _ in pairs], [1000 * s for _, s in pairs], color=colour, label=row.method, marker="."
            )
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    _finish(ax, "response time for all deadlines\nup to this one, ms", columns=3)
    ax.set_ylim(top=30 * ax.get_ylim()[1])  # room for the legend


def response(row: EvictionRow) -> list[tuple[int, float]]:
    """Return (deadline in s, response time in s for all deadlines up to it) of the first seed of a method.

    A method that needs one pass for all deadlines has the same response time for each.
    """
    rows = sorted((int(d), float(s)) for d, s, _ in row.records[0].get("response_s") or ())
    if row.records[0].get("one_pass"):
        return rows
    return list(zip((d for d, _ in rows), accumulate(s for _, s in rows), strict=True))


def _finish(ax: Axes, what: str, columns: int = 1) -> None:
    ax.set_xlabel("deadline, minutes")
    ax.set_ylabel(what)
    ax.set_xlim(left=0)
    if ax.get_yscale() != "log":
        ax.set_ylim(bottom=0)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, loc="upper right", ncols=columns)


# --- The kind: numbers of nodes, default methods, and all that the bench asks.

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
        if view.nodes_needed is None:
            return problem
        return problem.replace(nodes_needed=view.nodes_needed)

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
        return show_evictions(console, records, explain)

    def draw(self, records: Iterable[Record], methods: Sequence[str]) -> Drawing:
        """Draw the least loss by deadline, the extra loss of greedy, and response times."""
        return Drawing("jobs to evict", *drawn_sections(records))

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of batch jobs and of the nodes they use."""
        of = cast(Eviction, problem)
        return str(len(of.jobs)), str(of.nodes_in_use)

    def describe(self, console: Console, instance: Instance) -> None:
        """Print the nodes to free, the deadline and the jobs."""
        from ..tables.instances import show_eviction

        show_eviction(console, instance.eviction)


EVICTION = EvictionKind()
