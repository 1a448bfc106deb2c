"""The table of an eviction problem's methods: loss, checkpoint time, and how long all deadlines took to answer."""

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
from ..records.store import Record
from ..runs.view import View
from .methods import trouble
from .numbers import NARROW, number, percent

HOUR = 3600  # node-seconds of a node-hour
Answer = tuple[int, int]


@dataclass(frozen=True)
class EvictionRow:
    """The runs of one method, one per seed; the answers are those of the best seed, the times are means."""

    method: str
    records: Sequence[Record]

    @property
    def answer(self) -> Answer | None:
        """Loss in node-seconds and checkpoint time in seconds, for the problem's own deadline."""
        known = [tuple(r["objective"]) for r in self.records if r["verified"] and _is_pair(r["objective"])]
        return min(known, default=None)

    @cached_property
    def deadlines(self) -> dict[int, Answer]:
        """The same for every deadline that was answered."""
        found: dict[int, Answer] = {}
        for deadline, loss, taken in (row for r in self.records for row in r.get("deadlines") or ()):
            found[deadline] = min((loss, taken), found.get(deadline, (loss, taken)))
        return found

    @property
    def proven(self) -> int:
        """For how many deadlines its answer is proven to be the best one."""
        return max((sum(row[2] == "optimal" for row in r.get("response_s") or ()) for r in self.records), default=0)

    @property
    def all_deadlines(self) -> float | None:
        """Seconds until all deadlines were answered; None if they were not."""
        known = [r.get("all_deadlines_s") for r in self.records]
        return None if not known or None in known else fmean(s for s in known if s is not None)

    @property
    def verdict(self) -> Text:
        """Whether every plan holds."""
        marks = [r["verified"] for r in self.records if r["verified"] is not None]
        if not marks:
            return Text("-")
        return Text("yes") if all(marks) else Text("NO", style="bold red")


def _is_pair(value: object) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and None not in value


@dataclass(frozen=True)
class EvictionBoard:
    """The runs of one eviction problem: an instance and a number of nodes."""

    records: Sequence[Record]

    @cached_property
    def lines(self) -> list[EvictionRow]:
        """A line per method, in their order."""
        found: dict[str, list[Record]] = {}
        for r in self.records:
            found.setdefault(r["method"], []).append(r)
        return [EvictionRow(name, members) for name, members in found.items()]

    @cached_property
    def steps(self) -> int:
        """How many deadlines there are to answer: what any method answered at most."""
        return max((len(line.deadlines) for line in self.lines), default=0)

    @cached_property
    def best(self) -> dict[int, Answer]:
        """The best answer to each deadline, by any method."""
        found: dict[int, Answer] = {}
        for line in self.lines:
            for deadline, answer in line.deadlines.items():
                found[deadline] = min(answer, found.get(deadline, answer))
        return found

    @property
    def contradiction(self) -> str | None:
        """A proven optimum, or a bound, that another method's verified plan refutes."""
        answers = [(line.answer, line.method) for line in self.lines if line.answer is not None]
        if not answers:
            return None
        value, who = min(answers)
        for r in self.records:
            if _is_pair(r["bound"]) and r["status"] != "error" and refutes(value, r["bound"], "minimize"):
                return (
                    f"the bound {number(r['bound'])} of {r['method']} is refuted by the verified plan of {who} with "
                    f"{number(value)}: please report this"
                )
        return None


COLUMNS = (
    "loss, checkpoints: lost work and the checkpoint time at the deadline of the instance; worse by: loss beyond the best of all "
    "methods, summed over the deadlines; answered (proven): of the deadlines; all deadlines: response time for all of them; "
    "ratio: to that of dp"
)


def sorted_out(records: Iterable[Record]) -> tuple[list[tuple[str, EvictionBoard]], list[Record]]:
    """The boards of the eviction runs among some records, each with its title, and the records that belong to none."""
    all_of_them = list(records)
    mine = {(r["content"], View(**r["view"])) for r in all_of_them if r.get("deadlines")}
    groups: dict[tuple[Any, ...], list[Record]] = {}
    left = []
    for r in all_of_them:
        place = (r["content"], View(**r["view"]))
        if place in mine:
            threads = "1 thread" if r["threads"] == 1 else f"{r['threads']} threads"
            groups.setdefault((f"{r['instance']}, {place[1].label}, {threads}", *place), []).append(r)
        else:
            left.append(r)
    return [(title, EvictionBoard(members)) for (title, *_), members in groups.items()], left


def show(console: Console, title: str, board: EvictionBoard) -> list[str]:
    """Print a board's table and notes; returns the contradictions found."""
    console.print(table(title, board, console.width))
    for line in [*summary(board), Text(COLUMNS, style="dim")]:
        console.print(line)
    console.print()
    return [board.contradiction] if board.contradiction else []


def table(title: str, board: EvictionBoard, width: int = 120) -> Table:
    """A row per method. Losses are in node-hours; "worse by" is the loss beyond the best one, over all deadlines."""
    wide = width >= NARROW
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    made.add_column("method", overflow="fold", min_width=12)
    heads = ["status", "loss\nnode-h", "checkpoints\ns", "worse by, all\ndeadlines node-h", "answered\n(proven)"]
    for head in heads[:3] + (heads[3:4] if wide else []) + heads[4:]:
        made.add_column(head, justify="left" if head == "status" else "right", no_wrap=True)
    for head in ("all dead-\nlines ms", "ratio", "veri-\nfied"):
        made.add_column(head, justify="left" if head.startswith("veri") else "right", no_wrap=True)
    answers = [line.answer for line in board.lines if line.answer is not None]
    for line in board.lines:
        best = line.answer is not None and line.answer == min(answers)
        cells = [status(line), hours(line.answer), "-" if line.answer is None else f"{line.answer[1]:,}"]
        cells += [worse_by(line, board)] if wide else []
        cells += [
            f"{len(line.deadlines)}/{board.steps} ({line.proven})",
            milliseconds(line.all_deadlines),
            ratio(line, board),
        ]
        made.add_row(Text(line.method), *cells, line.verdict, style="bold green" if best else "")
    return made


def status(line: EvictionRow) -> str:
    """The status, or the cause; of several seeds the first."""
    return str(line.records[0]["cause"] or line.records[0]["status"])


def hours(answer: Answer | None) -> str:
    """The loss in node-hours."""
    return "-" if answer is None else f"{answer[0] / HOUR:,.1f}"


def worse_by(line: EvictionRow, board: EvictionBoard) -> str:
    """Loss beyond the best answers over the deadlines that the method answered, in node-hours, and relative to them."""
    if not line.deadlines:
        return "-"
    least = sum(board.best[d][0] for d in line.deadlines)
    more = sum(answer[0] for answer in line.deadlines.values()) - least
    share = "" if not more else f" ({percent(more / least)})" if least else ""
    return f"{more / HOUR:,.1f}{share}"


def milliseconds(value: float | None) -> str:
    """Seconds as milliseconds, to three digits."""
    if value is None:
        return "-"
    return f"{1000 * value:,.0f}" if value >= 0.1 else f"{1000 * value:.3g}"


def ratio(line: EvictionRow, board: EvictionBoard) -> str:
    """Response time for all deadlines over that of the dynamic program."""
    known = {each.method: each.all_deadlines for each in board.lines}
    mine, exact = known[line.method], known.get("dp")
    return (
        "-"
        if mine is None or not exact
        else f"{mine / exact:,.3g}x"
        if mine < 1000 * exact
        else f"{mine / exact:,.0f}x"
    )


def summary(board: EvictionBoard) -> list[Text]:
    """What stands below: the trade-off between deadline and loss, and what needs a word."""
    lines = [Text(f"loss within the deadline: {trade_off(board.best)}")] if board.best else []
    if board.contradiction:
        lines.append(Text(board.contradiction, style="bold red"))
    for line in board.lines:
        reasons = dict.fromkeys(map(trouble, line.records))
        lines += [Text(f"{line.method}: {reason}", style="dim") for reason in reasons if reason]
        if not any(reasons) and len(line.deadlines) < board.steps and line.deadlines:
            lines.append(Text(f"{line.method}: its time limit left no time for the other deadlines", style="dim"))
    return lines


def trade_off(best: Mapping[int, Answer]) -> str:
    """The deadlines at which less is lost, for people.

    >>> trade_off({0: (7200, 0), 60: (7200, 0), 120: (0, 90)})
    '2.0 node-h in 0 s, 0.0 node-h in 120 s'
    """
    said: list[str] = []
    last = None
    for deadline, (loss, _) in sorted(best.items()):
        if loss != last:
            said.append(f"{loss / HOUR:,.1f} node-h in {deadline:,} s")
        last = loss
    return ", ".join(said[:8] + (["..."] if len(said) > 9 else []) + (said[-1:] if len(said) > 8 else []))
