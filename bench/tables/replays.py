"""The replays of one workload under several dispatchers, and the columns of their table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from rich.text import Text

from ...backends.gaps import relative_gap
from ..records.store import Record
from ..replays.settings import USUAL_FLOOR, ReplaySettings
from ..runs.view import View, replay_label
from .methods import ViewResults, number, percent

# --- The replays of one workload under several dispatchers, with the offline runs on the same jobs: data of the tables.

RECORDED = "as recorded"
VERDICTS = {  # short, because the column is narrow
    "timeout": "cut",
    "out of memory": "memory",
    "dispatcher": "error",
    "unavailable": "none",
}


@dataclass(frozen=True)
class DispatcherRow:
    """The replays of one dispatcher, one per seed, or the schedule that the trace itself recorded.

    Attributes
    ----------
    name : str
        The dispatcher, or "as recorded".
    records : sequence of Record
        One record per seed. Figures are means over the seeds, and None unless every seed has them.
    recorded : mapping
        The metrics of the recorded schedule, if this row is about it.
    """

    name: str
    records: Sequence[Record] = ()
    recorded: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the replay of every seed reached its end and passed the check."""
        return all(r["verified"] and r["status"] == "feasible" for r in self.records)

    def metric(self, name: str) -> float | None:
        """Return a figure of ``Metrics.as_dict``, the mean over the seeds."""
        if not self.whole:
            return None
        values = [m.get(name) for m in ([r["metrics"] for r in self.records] or [self.recorded])]
        return None if any(v is None for v in values) else fmean(values)

    @property
    def objective(self) -> float | None:
        """The mean objective over the seeds, None unless every seed has one."""
        values = [r["objective"] for r in self.records] if self.whole else []
        return fmean(values) if values and None not in values else None

    @property
    def verdict(self) -> Text:
        """Whether every schedule passed the check, or why there is none."""
        if not self.records:
            return Text("-")
        causes = [r["cause"] or ("NO" if r["verified"] is False else r["status"]) for r in self.records]
        why = next((c for c in causes if c != "feasible"), "yes")
        return Text("yes") if self.whole else Text(VERDICTS.get(why, why), style="bold red")


@dataclass(frozen=True)
class ReplayResults:
    """The replays of one workload, and the offline runs that knew all its jobs and their runtimes in advance."""

    records: Sequence[Record]
    offline: Sequence[Record] = ()

    @cached_property
    def rows(self) -> list[DispatcherRow]:
        """One row per dispatcher in the order of the records, then the recorded schedule if the trace has one."""
        found: dict[str, list[Record]] = {}
        for r in self.records:
            found.setdefault(r["method"], []).append(r)
        recorded = next((r["simulation"]["recorded"] for r in self.records if "simulation" in r), None)
        return [
            *(DispatcherRow(n, rs) for n, rs in found.items()),
            *([DispatcherRow(RECORDED, recorded=recorded)] if recorded else []),
        ]

    @cached_property
    def clairvoyant(self) -> ViewResults:
        """The results of the offline runs, with their best schedule and best bound."""
        return ViewResults(self.offline)

    @property
    def contradiction(self) -> str | None:
        """The message about a bound that a verified schedule refutes, else None."""
        same = [r for r in self.records if (r.get("simulation") or {}).get("offline")]
        return ViewResults([*self.offline, *same]).contradiction

    @property
    def best(self) -> float | None:
        """The objective of the best offline schedule, None if there is none."""
        schedule = self.clairvoyant.schedule
        return None if schedule is None else float(schedule["objective"])

    @property
    def bound(self) -> float | None:
        """The best bound that no verified schedule refutes, None if there is none."""
        record = self.clairvoyant.bound
        return None if record is None else float(record["bound"])

    @property
    def metrics(self) -> Sequence[str]:
        """The names of the figures in the records of the replays."""
        return next((list(r["metrics"]) for r in self.records if "metrics" in r), [])

    @property
    def bsld_floor(self) -> float:
        """The least duration in the bounded slowdown, in seconds."""
        return next((float(f) for r in self.records if (f := (r.get("metrics") or {}).get("bsld_floor"))), USUAL_FLOOR)

    @property
    def objective_name(self) -> str:
        """The name of the objective of these replays."""
        known = (r["simulation"]["objective"] for r in self.records if "simulation" in r)
        return str(next(known, "objective"))


def extract_replays(records: Iterable[Record]) -> tuple[list[tuple[str, ReplayResults]], list[Record]]:
    """Split records into the results of replays, each with its title, and all other records.

    An offline run on the same jobs with their true runtimes belongs to the results of the replays of these jobs.
    """
    left: list[Record] = []
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for r in records:
        if r.get("replay") is None:
            left.append(r)
            continue
        groups.setdefault((r["content"], View(**r["view"]), ReplaySettings(**r["replay"]).for_policies), []).append(r)
    found = []
    for (content, view, _), members in groups.items():
        offline: list[Record] = []
        if any((r.get("simulation") or {}).get("offline") for r in members):
            offline = [r for r in left if r["content"] == content and View(**r["view"]) == view]
            left = [r for r in left if not any(r is o for o in offline)]
        label = max((replay_label(view, ReplaySettings(**r["replay"])) for r in members), key=len)
        found.append((f"{members[0]['instance']}, {label}", ReplayResults(members, offline)))
    return found, left


# --- The columns of the table of the dispatchers: heading, value and unit, meaning.

BOUNDED = "bounded slowdown: max(1, (wait + duration) / max(duration, {:g} s))"
WQT = "WQT: sum over the jobs of wait / expected waiting time (ewt) of the queue"
USED = "used: mean share of the machine in use, from the first submission to the end of the last job"
LATE_STARTS = "late starts: share of the jobs with a latest start that started after it"
WISHED = "desired_dissimilarity_"
OVER = "over desired: use above the desired profile, summed over the nodes, in {}-hours"
DISSIMILAR = "dissimilarity: 0 if the {} in use are the desired ones times a constant, 1 if nothing is in use"
CALLS = "calls: decisions made / decisions that used the solver / of these proven optimal / stopped by the time limit"
PER_CALL = "ms a call: milliseconds of a decision (compiled policies are timed as a whole, so only the mean is known)"
REGRET = (
    "regret: objective above that of the best offline schedule, which knows all jobs in advance, relative to the latter"
)
GAP = "gap to bound: |objective - best bound| / max(|objective|, |best bound|); no schedule is better than the bound"


class Column(NamedTuple):
    """A column of the table of the dispatchers.

    Attributes
    ----------
    head : str
        The heading, with line breaks.
    cell : callable
        Returns the text of a row's cell.
    meaning : str
        What the column means; "" if the column beside it says so.
    figure : callable or None
        Returns the number by which the best row of the column is found and marked; None: no row is marked.
    greatest : bool
        Whether the greatest figure is the best one, instead of the least.
    spare : int
        0: the column is always shown. On a narrow terminal the columns with the greatest number are left out first.
    """

    head: str
    cell: Callable[[DispatcherRow], str]
    meaning: str
    figure: Callable[[DispatcherRow], float | None] | None = None
    greatest: bool = False
    spare: int = 0

    @property
    def name(self) -> str:
        r"""The heading in one line.

        Examples
        --------
        >>> Column("mean\nslow-\ndown", str, "").name
        'mean slowdown'
        """
        return self.head.replace("slow-\n", "slow").replace("-\n", "-").replace("/\n", "/").replace("\n", " ")


def best_of(column: Column, rows: Sequence[DispatcherRow]) -> float | None:
    """Return the best figure of a column over the dispatchers; None if fewer than two have one or all are equal."""
    if column.figure is None:
        return None
    known = [v for v in (column.figure(row) for row in rows if row.name != RECORDED) if v is not None]
    if len(known) < 2 or min(known) == max(known):
        return None
    return max(known) if column.greatest else min(known)


def columns_of(results: ReplayResults) -> list[Column]:
    """Return the columns for some results; regret needs an offline schedule, the gap a bound."""
    weighted = results.objective_name == "weighted-wait"
    head = "WQT" if weighted else results.objective_name.replace("-", "-\n")
    meaning = WQT if weighted else f"{results.objective_name}: the objective of the instance"
    used = next((n for n in results.metrics if n == "utilisation_cores"), None) or next(
        (n for n in results.metrics if n.startswith("utilisation_") and "submitting" not in n), "utilisation_cores"
    )
    resource = used.removeprefix("utilisation_")
    late = "late_starts_share" in results.metrics
    found = [
        figure("mean\nwait s", "wait_mean", count, "wait: time from submission to start"),
        figure("max\nwait s", "wait_max", count),
        figure("mean\nslow-\ndown", "slowdown_mean", short, "slowdown: (wait + duration) / duration"),
        figure("bounded\nslow-\ndown", "bounded_slowdown_mean", short, BOUNDED.format(results.bsld_floor), spare=4),
        Column(head, lambda row: number(_objective(row, results)), meaning, lambda row: _objective(row, results)),
        figure("late\njobs", "NL", count, "late: jobs that waited longer than the ewt of their queue", spare=2),
        figure(f"{resource}\nused", used, share, USED, greatest=True, spare=3),
        Column("calls: made/\nsolver/opt/cut", decisions, CALLS, spare=5),
        Column("ms a call:\nmean/p99/max", milliseconds, PER_CALL, spare=1),
    ]
    if late:
        found.append(figure("late\nstarts", "late_starts_share", share, LATE_STARTS))
    wished = [n.removeprefix(WISHED) for n in results.metrics if n.startswith(WISHED)]
    if wished:
        first = "cores" if "cores" in wished else wished[0]
        unit = first.removesuffix("s") if first != "power" else "watt"
        found.append(figure("over\ndesired", f"desired_over_{first}", count, OVER.format(unit)))
        found.append(figure("dissim-\nilarity", f"{WISHED}{first}", ratio, DISSIMILAR.format(first)))
    if results.best is not None:
        found.append(Column("regret", lambda row: percent(regret(row.objective, results.best)), REGRET))
    if results.bound is not None:
        found.append(Column("gap to\nbound", lambda row: percent(relative_gap(row.objective, results.bound)), GAP))
    return found


def key_of(columns: Iterable[Column]) -> str:
    """Return the meanings of the columns as one text."""
    return "; ".join(dict.fromkeys(c.meaning for c in columns if c.meaning)) + "."


def _objective(row: DispatcherRow, results: ReplayResults) -> float | None:
    """Return the objective; if it is not known (the recorded schedule, jobs that left), the metric that is the same."""
    return row.metric("WQT") if row.objective is None and results.objective_name == "weighted-wait" else row.objective


def figure(
    head: str,
    name: str,
    written: Callable[[float], str],
    meaning: str = "",
    greatest: bool = False,
    spare: int = 0,
) -> Column:
    """Return the column of a figure of ``Metrics.as_dict``. A cell without a value is "-".

    Parameters
    ----------
    head : str
        The heading, with line breaks.
    name : str
        The key of the figure.
    written : callable
        Returns the figure as text.
    meaning, greatest, spare
        See `Column`.
    """

    def cell(row: DispatcherRow) -> str:
        value = row.metric(name)
        return "-" if value is None else written(value)

    return Column(head, cell, meaning, lambda row: row.metric(name), greatest, spare)


def regret(value: float | None, best: float | None) -> float | None:
    """Return how much an objective is above that of the best offline schedule, relative to the latter.

    A negative value means that it is better. None: an objective is missing, or the division is by 0.

    Examples
    --------
    >>> regret(15.0, 10.0), regret(0.0, 0.0), regret(1.0, 0.0)
    (0.5, 0.0, None)
    """
    if value is None or best is None or (best == 0 and value != 0):
        return None
    return (value - best) / best if best else 0.0


def decisions(row: DispatcherRow) -> str:
    """Return the counts: decisions made / that used the solver / of these proven optimal / stopped by the limit."""
    names = ("decisions_made", "decisions_solver", "decisions_ended_optimal", "decisions_ended_limit")
    values = [row.metric(n) for n in names]
    if values[1] is None:
        values = values[:1]
    return "/".join("-" if v is None else compact(v) for v in values)


def milliseconds(row: DispatcherRow) -> str:
    """Return the milliseconds of a decision: mean / 99th percentile / maximum; compiled policies have only the mean."""
    values = [row.metric(f"decisions_seconds_{n}") for n in ("mean", "p99", "max")]
    if values[1] is None:
        values = values[:1]
    return "/".join("-" if v is None else short(1000 * v) for v in values)


def count(value: float) -> str:
    """Return a figure as a whole number.

    Examples
    --------
    >>> count(12345.6)
    '12,346'
    """
    return f"{value:,.0f}"


def share(value: float) -> str:
    """Return a share between 0 and 1 as percent with one decimal."""
    return f"{100 * value:.1f}%"


def ratio(value: float) -> str:
    """Return a figure with three decimals."""
    return f"{value:.3f}"


def compact(value: float) -> str:
    """Return a number without commas: an integer without decimals, any other number with one decimal."""
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def short(value: float) -> str:
    """Return a figure with about three significant digits.

    Examples
    --------
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
