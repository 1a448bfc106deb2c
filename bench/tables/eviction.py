"""The table of the methods on an eviction problem: loss, checkpoint time, response time for all deadlines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...backends.gaps import refutes
from ...models.counts import how_many
from ..records.store import Record
from ..runs.view import View
from .methods import NARROW, legend, number, percent, trouble

HOUR = 3600  # node-seconds of a node-hour
Answer = tuple[int, int]  # loss in node-seconds, checkpoint time in seconds

COLUMNS = (
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
        found: dict[int, Answer] = {}
        for deadline, loss, checkpoints in (row for r in self.records for row in r.get("deadlines") or ()):
            found[deadline] = min((loss, checkpoints), found.get(deadline, (loss, checkpoints)))
        return found

    @property
    def proven(self) -> int:
        """The number of deadlines for which its plan is proven optimal."""
        return max((sum(row[2] == "optimal" for row in r.get("response_s") or ()) for r in self.records), default=0)

    @property
    def all_deadlines(self) -> float | None:
        """Response time for all deadlines in seconds; None if some deadline has no plan."""
        known = [r.get("all_deadlines_s") for r in self.records]
        return None if not known or None in known else fmean(s for s in known if s is not None)

    @property
    def verdict(self) -> Text:
        """Whether every plan passed the check: "yes", "NO", or "-" if there is no plan."""
        marks = [r["verified"] for r in self.records if r["verified"] is not None]
        if not marks:
            return Text("-")
        return Text("yes") if all(marks) else Text("NO", style="bold red")


def _is_pair(value: object) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and None not in value


@dataclass(frozen=True)
class EvictionResults:
    """The runs of one eviction problem: an instance and a number of nodes."""

    records: Sequence[Record]

    @cached_property
    def rows(self) -> list[EvictionRow]:
        """One row per method, in the order of the records."""
        found: dict[str, list[Record]] = {}
        for r in self.records:
            found.setdefault(r["method"], []).append(r)
        return [EvictionRow(name, members) for name, members in found.items()]

    @cached_property
    def steps(self) -> int:
        """The number of deadlines: the most that any method has plans for."""
        return max((len(row.deadlines) for row in self.rows), default=0)

    @cached_property
    def best(self) -> dict[int, Answer]:
        """The best answer of all methods for each deadline (in seconds)."""
        found: dict[int, Answer] = {}
        for row in self.rows:
            for deadline, answer in row.deadlines.items():
                found[deadline] = min(answer, found.get(deadline, answer))
        return found

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
                    f"{number(value)}: please report this"
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


def show(console: Console, title: str, results: EvictionResults, explain: bool = False) -> list[str]:
    """Print the table of an eviction problem with its legend and summary.

    Parameters
    ----------
    console : rich.console.Console
        Where the table is printed; its width decides how many columns it has.
    title : str
        The title of the table.
    results : EvictionResults
        The runs on the problem.
    explain : bool
        Whether the meaning of every column is printed below the table.

    Returns
    -------
    list of str
        A message for each bound that a verified plan refutes.
    """
    console.print(eviction_table(title, results, console.width))
    console.print(legend(COLUMNS, explain))
    for line in summary(results):
        console.print(line)
    console.print()
    return [results.contradiction] if results.contradiction else []


def eviction_table(title: str, results: EvictionResults, width: int = 120) -> Table:
    """Return the table with a row per method. If ``width`` is below 110 characters, it leaves a column out."""
    wide = width >= NARROW
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    made.add_column("method", overflow="fold", min_width=12)
    heads = ["status", "loss\nnode-h", "checkpoints\ns", "worse by, all\ndeadlines node-h", "answered\n(proven)"]
    for head in heads[:3] + (heads[3:4] if wide else []) + heads[4:]:
        made.add_column(head, justify="left" if head == "status" else "right", no_wrap=True)
    for head in ("all dead-\nlines ms", "ratio", "veri-\nfied"):
        made.add_column(head, justify="left" if head.startswith("veri") else "right", no_wrap=True)
    answers = [row.answer for row in results.rows if row.answer is not None]
    for row in results.rows:
        best = row.answer is not None and row.answer == min(answers)
        cells = [status(row), hours(row.answer), "-" if row.answer is None else f"{row.answer[1]:,}"]
        cells += [worse_by(row, results)] if wide else []
        cells += [
            f"{len(row.deadlines)}/{results.steps} ({row.proven})",
            milliseconds(row.all_deadlines),
            ratio(row, results),
        ]
        made.add_row(Text(row.method), *cells, row.verdict, style="bold green" if best else "")
    return made


def status(row: EvictionRow) -> str:
    """Return the status of the first seed, or the cause that ended its run."""
    return str(row.records[0]["cause"] or row.records[0]["status"])


def hours(answer: Answer | None) -> str:
    """Return the loss in node-hours as text."""
    return "-" if answer is None else f"{answer[0] / HOUR:,.1f}"


def worse_by(row: EvictionRow, results: EvictionResults) -> str:
    """Return the loss above the best answers, summed over the deadlines that the method has plans for.

    The text has node-hours and, in brackets, percent of the best loss.
    """
    if not row.deadlines:
        return "-"
    least = sum(results.best[d][0] for d in row.deadlines)
    more = sum(answer[0] for answer in row.deadlines.values()) - least
    share = "" if not more else f" ({percent(more / least)})" if least else ""
    return f"{more / HOUR:,.1f}{share}"


def milliseconds(value: float | None) -> str:
    """Return seconds as milliseconds with three significant digits."""
    if value is None:
        return "-"
    return f"{1000 * value:,.0f}" if value >= 0.1 else f"{1000 * value:.3g}"


def ratio(row: EvictionRow, results: EvictionResults) -> str:
    """Return the response time for all deadlines, divided by that of the dynamic program."""
    known = {each.method: each.all_deadlines for each in results.rows}
    mine, exact = known[row.method], known.get("dp")
    return (
        "-"
        if mine is None or not exact
        else f"{mine / exact:,.3g}x"
        if mine < 1000 * exact
        else f"{mine / exact:,.0f}x"
    )


def summary(results: EvictionResults) -> list[Text]:
    """Return the lines below the table: the trade-off between deadline and loss, and the reasons of failures."""
    lines = [Text(f"loss within the deadline: {trade_off(results.best)}")] if results.best else []
    if results.contradiction:
        lines.append(Text(results.contradiction, style="bold red"))
    for row in results.rows:
        reasons = dict.fromkeys(map(trouble, row.records))
        lines += [Text(f"{row.method}: {reason}", style="dim") for reason in reasons if reason]
        if not any(reasons) and len(row.deadlines) < results.steps and row.deadlines:
            lines.append(Text(f"{row.method}: the time limit was reached before the other deadlines", style="dim"))
    return lines


def trade_off(best: Mapping[int, Answer]) -> str:
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
    >>> trade_off({0: (7200, 0), 60: (7200, 0), 120: (0, 90)})
    '2.0 node-h in 0 s, 0.0 node-h in 120 s'
    """
    steps: list[str] = []
    last = None
    for deadline, (loss, _) in sorted(best.items()):
        if loss != last:
            steps.append(f"{loss / HOUR:,.1f} node-h in {deadline:,} s")
        last = loss
    return ", ".join(steps[:8] + (["..."] if len(steps) > 9 else []) + (steps[-1:] if len(steps) > 8 else []))
