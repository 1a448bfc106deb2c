"""The columns of the table of the dispatchers: what stands in each, its unit, what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ....backends.gaps import relative_gap
from ..numbers import number, percent
from .board import RECORDED, DispatcherRow, ReplayResults

BOUNDED = "bounded slowdown: at least 1, with durations of at least 10 s"
WQT = "WQT: sum over the jobs of wait / expected waiting time (ewt) of the queue"
USED = "used: share of what the machine has from the first submission to the last end"
CALLS = "calls: decisions made / that reached the solver / proven optimal / cut by the limit"
PER_CALL = "ms a call: time of a decision (a compiled policy is timed as a whole: the mean alone)"
REGRET = "regret: by how much worse than the best offline schedule, which knows every job in advance"
GAP = "gap: to the best true bound of any schedule"


class Column(NamedTuple):
    """A column: its head, what stands in it, what it means, and the figure whose best one is marked (None: no best one).

    ``spare``: 0: always there; where the room is short, the columns with the greatest one are left out first.
    """

    head: str
    cell: Callable[[DispatcherRow], str]
    meaning: str
    figure: Callable[[DispatcherRow], float | None] | None = None
    greatest: bool = False
    spare: int = 0

    @property
    def name(self) -> str:
        """The head in one line.

        >>> Column("mean\\nslow-\\ndown", str, "").name
        'mean slowdown'
        """
        return self.head.replace("slow-\n", "slow").replace("-\n", "-").replace("/\n", "/").replace("\n", " ")


def best_of(column: Column, lines: Sequence[DispatcherRow]) -> float | None:
    """The best figure of a column among the dispatchers, if there are several and they differ."""
    if column.figure is None:
        return None
    known = [v for v in (column.figure(line) for line in lines if line.name != RECORDED) if v is not None]
    if len(known) < 2 or min(known) == max(known):
        return None
    return max(known) if column.greatest else min(known)


def columns_of(board: ReplayResults) -> list[Column]:
    """The columns of a board; regret and gap where there is an offline schedule, or a bound."""
    weighted = board.aim == "weighted-wait"
    aim = "WQT" if weighted else board.aim.replace("-", "-\n")
    meaning = WQT if weighted else f"{board.aim}: the objective of the instance"
    used = next((n for n in board.metrics if n == "utilisation_cores"), None) or next(
        (n for n in board.metrics if n.startswith("utilisation_") and "submitting" not in n), "utilisation_cores"
    )
    resource = used.removeprefix("utilisation_")
    found = [
        figure("mean\nwait s", "wait_mean", count, "wait: from submission to start"),
        figure("max\nwait s", "wait_max", count),
        figure("mean\nslow-\ndown", "slowdown_mean", short, "slowdown: (wait + duration) / duration"),
        figure("bounded\nslow-\ndown", "bounded_slowdown_mean", short, BOUNDED, spare=4),
        Column(aim, lambda line: number(_objective(line, board)), meaning, lambda line: _objective(line, board)),
        figure("late\njobs", "NL", count, "late: waited longer than the ewt of their queue", spare=2),
        figure(f"{resource}\nused", used, share, USED, greatest=True, spare=3),
        Column("calls: made/\nsolver/opt/cut", decisions, CALLS, spare=5),
        Column("ms a call:\nmean/p99/max", milliseconds, PER_CALL, spare=1),
    ]
    if board.best is not None:
        found.append(Column("regret", lambda line: percent(regret(line.objective, board.best)), REGRET))
    if board.bound is not None:
        found.append(Column("gap to\nbound", lambda line: percent(relative_gap(line.objective, board.bound)), GAP))
    return found


def key_of(columns: Iterable[Column]) -> str:
    """What the columns mean, in a sentence each."""
    return "; ".join(dict.fromkeys(c.meaning for c in columns if c.meaning)) + "."


def _objective(line: DispatcherRow, board: ReplayResults) -> float | None:
    """The objective; of what the real machine did, where a metric says it."""
    return line.objective if line.records or board.aim != "weighted-wait" else line.metric("WQT")


def figure(
    head: str,
    name: str,
    written: Callable[[float], str],
    meaning: str = "",
    greatest: bool = False,
    spare: int = 0,
) -> Column:
    """The column of a figure of ``Metrics.as_dict``; "-" where it is not known."""

    def cell(line: DispatcherRow) -> str:
        value = line.metric(name)
        return "-" if value is None else written(value)

    return Column(head, cell, meaning, lambda line: line.metric(name), greatest, spare)


def regret(value: float | None, best: float | None) -> float | None:
    """By how much an objective is worse than the best offline schedule's, relative to that one; below 0: better.

    >>> regret(15.0, 10.0), regret(0.0, 0.0), regret(1.0, 0.0)
    (0.5, 0.0, None)
    """
    if value is None or best is None or (best == 0 and value != 0):
        return None
    return (value - best) / best if best else 0.0


def decisions(line: DispatcherRow) -> str:
    """Decisions made / that reached the solver / of these proven optimal / cut by the limit."""
    names = ("decisions_made", "decisions_solver", "decisions_ended_optimal", "decisions_ended_limit")
    values = [line.metric(n) for n in names]
    if values[1] is None:
        values = values[:1]
    return "/".join("-" if v is None else compact(v) for v in values)


def milliseconds(line: DispatcherRow) -> str:
    """Milliseconds of a decision: mean / 99th percentile / greatest; a compiled policy knows the mean alone."""
    values = [line.metric(f"decisions_seconds_{n}") for n in ("mean", "p99", "max")]
    if values[1] is None:
        values = values[:1]
    return "/".join("-" if v is None else short(1000 * v) for v in values)


def count(value: float) -> str:
    """A figure as a whole number.

    >>> count(12345.6)
    '12,346'
    """
    return f"{value:,.0f}"


def share(value: float) -> str:
    """A share as percent, with one decimal."""
    return f"{100 * value:.1f}%"


def compact(value: float) -> str:
    """A whole number without commas; a mean over seeds with one decimal."""
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def short(value: float) -> str:
    """A figure to three digits.

    >>> short(0.01234), short(3.14159), short(1234.5)
    ('0.012', '3.14', '1,234')
    """
    return (
        f"{value:,.0f}"
        if value >= 100
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.2f}"
        if value >= 0.1
        else f"{value:.3f}"
    )
