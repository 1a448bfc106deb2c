"""The table of the methods on an eviction problem: loss, checkpoint time, response time for all deadlines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.text import Text

from ...backends.gaps import refutes
from ...models.counts import how_many
from ..grid import BAD, DIM, GOOD, UNKNOWN, Column, Grid, count, fixed, number, percent
from ..records.store import Record
from ..runs.view import View
from .methods import by_method, reasons, trouble, verdict

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
        return None if not known or None in known else fmean(s for s in known if s is not None)


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
    share = f" ({percent(more / least)})" if more and least else ""
    return f"{more / HOUR:,.1f}{share}"


def milliseconds(value: float) -> str:
    """Return seconds as milliseconds with three significant digits."""
    return f"{1000 * value:,.0f}" if value >= 0.1 else f"{1000 * value:.3g}"


def _times(ratio: float) -> str:
    return f"{ratio:,.3g}x" if ratio < 1000 else f"{ratio:,.0f}x"


def summary(results: EvictionResults) -> list[Text]:
    """Return the lines below the table: the trade-off between deadline and loss, and the reasons of failures."""
    lines = [Text(f"loss within the deadline: {trade_off(results.best)}")] if results.best else []
    if results.contradiction:
        lines.append(Text(results.contradiction, style=BAD))
    for row in results.rows:
        lines += reasons(row.records)
        if not any(map(trouble, row.records)) and 0 < len(row.deadlines) < results.steps:
            lines.append(Text(f"{row.method}: the time limit was reached before the other deadlines", style=DIM))
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
    if len(steps) > 9:
        return ", ".join([*steps[:8], "...", steps[-1]])
    return ", ".join(steps)
