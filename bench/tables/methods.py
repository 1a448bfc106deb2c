"""The tables of methods: one row per method on a view of an instance, one row per instance, composite objectives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from ...backends.gaps import close, refutes, relative_gap
from ...models.counts import how_many
from ..records.store import Record
from ..runs.view import View

if TYPE_CHECKING:
    from ..suites.best_known import BestKnown


# --- Format the numbers in tables as text.

NARROW = 110  # characters: on a narrower terminal a table leaves columns out


def number(value: Any) -> str:
    """Return an objective or a bound with five significant digits, an integer with all its digits, and None as "-".

    >>> number(19.5), number(2750.25), number(33), number(None)
    ('19.500', '2,750.2', '33', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, (list, tuple)):
        return " / ".join(map(number, value))
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:#.5g}" if abs(value) < 1000 else f"{value:,.1f}" if abs(value) < 1e5 else f"{value:,.0f}"


def percent(value: float | None) -> str:
    """Return a share between 0 and 1 as percent with one decimal, and None as "-"."""
    return "-" if value is None else f"{100 * value:.1f}%"


def seconds(value: float | None) -> str:
    """Return seconds with two decimals below 10 s and one decimal above, and None as "-"."""
    return "-" if value is None else f"{value:.2f}" if value < 9.995 else f"{value:.1f}"


# --- The text below a table that says how to read it.

HINT = "--explain says what each column means."


def legend(columns: str, explain: bool, always: str = "") -> Text:
    """Return the dim text below a table.

    Parameters
    ----------
    columns : str
        The full explanation of the columns, one sentence or clause each.
    explain : bool
        Whether the user gave ``--explain``. Without it, the text names that option instead of ``columns``.
    always : str
        A short remark that stands first in both forms.

    Examples
    --------
    >>> legend("wait: from submission to start.", explain=False, always="*: the best.").plain
    '*: the best. --explain says what each column means.'
    """
    return Text(" ".join(filter(None, (always, columns if explain else HINT))), style="dim")


# --- The lines about composite objectives below the table of methods.

INCOMPARABLE = (
    "theta: the best value of a kept objective alone, in the time given. Each run has the limits of its own theta: their "
    "objectives and bounds are not compared."
)


def have_other_limits(records: Sequence[Record]) -> bool:
    """Return whether two records have different limits on kept objectives."""
    found = [_part(r, "limits") for r in records if r.get("composite")]
    return any(limits != found[0] for limits in found[1:])


def kept_lines(method: str, records: Sequence[Record]) -> list[str]:
    """Return the line with value, limit and theta of each kept objective, as means over the seeds; none without them."""
    names = dict.fromkeys(name for r in records for name in _part(r, "theta"))
    figures = {name: [number(_mean(records, part, name)) for part in ("values", "limits", "theta")] for name in names}
    texts = [f"{name} {value} (limit {limit}, theta {theta})" for name, (value, limit, theta) in figures.items()]
    return [f"{method} keeps {' and '.join(texts)}"] if texts else []


def _mean(records: Sequence[Record], part: str, name: str) -> float | None:
    known = [v for r in records if (v := _part(r, part).get(name)) is not None]
    return known[0] if len(known) == 1 else fmean(known) if known else None


def _part(record: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    return (record.get("composite") or {}).get(part) or {}


# --- The table of the methods on one view of an instance: one row per method, the best row marked.

Cell = Callable[["MethodRow"], RenderableType]

METHOD_COLUMNS = (
    "status: how the run ended (bound only: it found a bound but no schedule); objective: of the verified schedule, with "
    "several seeds their mean and least..most; bound: the best bound that the method proved; best bound: the best true "
    "bound of all methods; gap to it: |objective - best bound| / max(|objective|, |best bound|); first, best at s: seconds "
    "until the first and the best schedule; build/lower/solve s: seconds for building the model, translating it for the "
    "solver and solving it; warm start: accepted, repaired or rejected by the solver, or returned (the run found nothing "
    "better than its warm start); verified: whether every schedule passed the check."
)


@dataclass(frozen=True)
class MethodRow:
    """The runs of one method, one per seed. Figures are means over the seeds that have them."""

    method: str
    records: Sequence[Record]

    @property
    def sound(self) -> list[Record]:
        """The records with a verified schedule."""
        return [r for r in self.records if r["verified"] and isinstance(r["objective"], (int, float))]

    @property
    def objectives(self) -> list[float]:
        """The objective of each record with a verified schedule."""
        return [r["objective"] for r in self.sound]

    @property
    def objective(self) -> float | None:
        """The mean objective if every seed has a verified schedule, else None."""
        return fmean(self.objectives) if len(self.sound) == len(self.records) else None

    def mean(self, value: Callable[[Record], float | None]) -> float | None:
        """Return the mean of a figure over the seeds that have it, None if no seed has it."""
        known = [v for v in map(value, self.records) if v is not None]
        return fmean(known) if known else None


@dataclass(frozen=True)
class ViewResults:
    """All runs on one view of one instance. Objectives are compared in the sense of the problem."""

    records: Sequence[Record]

    @property
    def rows(self) -> list[MethodRow]:
        """One row per method, in the order of the records."""
        found: dict[str, list[Record]] = {}
        for r in self.records:
            found.setdefault(r["method"], []).append(r)
        return [MethodRow(method, records) for method, records in found.items()]

    @property
    def sign(self) -> int:
        """1 if the objective is minimized, -1 if it is maximized."""
        return -1 if any(r["sense"] == "maximize" for r in self.records) else 1

    @property
    def best(self) -> MethodRow | None:
        """The method with the best mean objective."""
        known = [] if self.incomparable else [row for row in self.rows if row.objective is not None]
        return min(known, key=lambda row: self.sign * (row.objective or 0.0), default=None)

    @property
    def schedule(self) -> Record | None:
        """The record of the best verified schedule."""
        known = [r for row in self.rows for r in row.sound]
        return min(known, key=lambda r: self.sign * r["objective"], default=None)

    @property
    def incomparable(self) -> bool:
        """Whether the runs have solved different problems: composite objectives with different limits."""
        return have_other_limits(self.records)

    @property
    def bound(self) -> Record | None:
        """The record with the best bound of all methods that no verified schedule refutes; None if they are incomparable."""
        if self.incomparable:
            return None
        known = [r for r in self._bounds if not self._refuted(r)]
        return max(known, key=lambda r: self.sign * r["bound"], default=None)

    @property
    def _bounds(self) -> list[Record]:
        return [r for r in self.records if isinstance(r["bound"], (int, float)) and r["status"] != "error"]

    def _refuted(self, record: Record) -> bool:
        """Return whether the best verified schedule is better than the bound of a record allows."""
        best = None if self.incomparable else self.schedule
        return best is not None and refutes(
            best["objective"], record["bound"], "maximize" if self.sign < 0 else "minimize"
        )

    @property
    def contradiction(self) -> str | None:
        """The message about a bound that a verified schedule refutes (one of the two programs has a bug), else None."""
        wrong = next((r for r in self._bounds if self._refuted(r)), None)
        if wrong is None or self.schedule is None:
            return None
        return (
            f"the bound {number(wrong['bound'])} of {wrong['method']} is refuted by the verified schedule of "
            f"{self.schedule['method']} with {number(self.schedule['objective'])} and takes no part in gaps: please report this"
        )


def group_by_view(records: Iterable[Record]) -> list[tuple[str, ViewResults]]:
    """Return the records grouped by instance, view and number of threads: (title, results) of each group."""
    found: dict[str, list[Record]] = {}
    for r in records:
        threads = how_many(r["threads"], "thread")
        found.setdefault(f"{r['instance']}, {View(**r['view']).label}, {threads}", []).append(r)
    return [(title, ViewResults(members)) for title, members in found.items()]


def methods_table(title: str, results: ViewResults, width: int = 120) -> Table:
    """Return the table of one view. If ``width`` is below 110 characters, it leaves some columns out."""
    best = results.bound
    bound = None if best is None else best["bound"]
    seeds = max(len(row.records) for row in results.rows)
    wide = width >= NARROW
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    made.add_column(" ", width=1)
    made.add_column("method", overflow="fold", min_width=12)
    columns: list[tuple[str, str, bool, Cell]] = [
        ("status", "left", True, status),
        ("objec-\ntive" if seeds == 1 else "mean\nobjec-\ntive", "right", True, lambda row: number(row.objective)),
        ("least..most", "right", seeds > 1, spread),
        ("bound", "right", True, lambda row: number(_best_bound(row, results.sign))),
        ("best\nbound", "right", wide, lambda row: number(bound)),
        ("gap to\nit", "right", True, lambda row: percent(relative_gap(row.objective, bound))),
        ("first\nat s", "right", wide, lambda row: seconds(row.mean(lambda r: r["first_solution_s"]))),
        ("best\nat s", "right", True, lambda row: seconds(row.mean(lambda r: r["best_s"]))),
        ("build/lower/\nsolve s", "right", wide, spent),
        ("warm\nstart", "left", True, warm_start),
        ("veri-\nfied", "left", True, verified),
    ]
    shown = [(name, side, cell) for name, side, when, cell in columns if when]
    for name, side, _ in shown:
        made.add_column(name, justify="right" if side == "right" else "left", no_wrap=True)
    winner = results.best
    for row in results.rows:
        won = winner is not None and row.method == winner.method
        cells = [cell(row) for *_, cell in shown]
        made.add_row("*" if won else "", Text(row.method), *cells, style="bold green" if won else "")
    return made


def show_methods(console: Console, records: Iterable[Record], explain: bool = False) -> list[str]:
    """Print a table per view with its legend and summary; return the contradictions found."""
    wrong = []
    for title, results in group_by_view(records):
        console.print(methods_table(title, results, console.width))
        console.print(legend(METHOD_COLUMNS, explain, "" if results.incomparable else "*: the best objective."))
        for line in summary(results):
            console.print(line)
        console.print()
        wrong += [results.contradiction] if results.contradiction else []
    return wrong


def summary(results: ViewResults) -> list[Text]:
    """Return the lines below a table: the best schedule, the best true bound and its gap, and the reasons of failures."""
    lines: list[Text] = []
    schedule, bound = results.schedule, results.bound
    if schedule is not None:
        lines.append(Text(f"best schedule: {number(schedule['objective'])} by {schedule['method']}, verified"))
    if bound is not None:
        gap = "" if schedule is None else f", gap {percent(relative_gap(schedule['objective'], bound['bound']))}"
        lines.append(Text(f"best true bound: {number(bound['bound'])} by {bound['method']}{gap}"))
    lines += [Text(line) for row in results.rows for line in kept_lines(row.method, row.records)]
    if results.incomparable:
        lines.append(Text(INCOMPARABLE, style="dim"))
    if results.contradiction:
        lines.append(Text(results.contradiction, style="bold red"))
    for row in results.rows:
        reasons = dict.fromkeys(map(trouble, row.records))
        lines.extend(Text(f"{row.method}: {reason}", style="dim") for reason in reasons if reason)
    return lines


def trouble(record: Mapping[str, Any]) -> str:
    """Return one line that says why a run has no schedule or why its warm start was rejected; "" if neither happened."""
    if record["cause"] or record["status"] in ("error", "unknown"):
        text = record["message"] or ("no solution found within its limit" if record["bound"] is None else "")
        return " ".join(text.split())[:300]
    start = record["warm_start"] or {}
    return f"warm start rejected: {start['reason']}" if start.get("fate") == "rejected" else ""


def status(row: MethodRow) -> Text:
    """Return the status of a run, or the cause that ended it. If the seeds differ, each status has its count."""
    found = [r["cause"] or ("bound only" if _bound_only(r) else r["status"]) for r in row.records]
    kinds = list(dict.fromkeys(found))
    text = kinds[0] if len(kinds) == 1 else "\n".join(f"{found.count(k)} {k}" for k in kinds)
    bad = any(k in ("error", "crash", "timeout", "out of memory") for k in kinds)
    return Text(text, style="red" if bad else "")


def _bound_only(record: Mapping[str, Any]) -> bool:
    return record["status"] == "unknown" and record["schedule"] is None and record["bound"] is not None


def spread(row: MethodRow) -> str:
    """Return the least and the greatest objective over the seeds."""
    known = row.objectives
    return f"{number(min(known))}..{number(max(known))}" if known else "-"


def spent(row: MethodRow) -> str:
    """Return the mean seconds of building, lowering and solving."""
    parts = [row.mean(lambda r, part=part: r["seconds"][part]) for part in ("build", "lower", "solve")]  # type: ignore[misc]
    return "-" if all(p is None for p in parts) else "/".join(map(seconds, parts))


def warm_start(row: MethodRow) -> Text:
    """Return what became of the warm start; "returned" if the run found nothing better than it."""
    found = []
    for r in row.records:
        start = r["warm_start"] or {"fate": "none", "returned": False}
        found.append("returned" if start["returned"] else start["fate"])
    kinds = [k for k in dict.fromkeys(found) if k != "none"]
    text = kinds[0] if len(set(found)) == 1 and kinds else "\n".join(f"{found.count(k)} {k}" for k in kinds)
    return Text(text or "-", style="yellow" if {"returned", "rejected"} & set(kinds) else "")


def verified(row: MethodRow) -> Text:
    """Return "yes" if every schedule passed the check, "NO" if one did not, "-" if there is none."""
    marks = [r["verified"] for r in row.records if r["verified"] is not None]
    if not marks:
        return Text("-")
    return Text("yes") if all(marks) else Text("NO", style="bold red")


def _best_bound(row: MethodRow, sign: int) -> float | None:
    known = [r["bound"] for r in row.records if isinstance(r["bound"], (int, float))]
    return max(known, key=lambda b: sign * b, default=None)


# --- The table of instances: a row per instance with the best schedule and bound of all methods, and the best-known value.

INSTANCE_COLUMNS = (
    "best: the best verified objective of all methods and seeds; by: the method that found it first; proven: methods that "
    "proved an optimum, of all; bound: the best bound that no schedule refutes; gap: |best - bound| / max(|best|, |bound|); "
    "known: the best-known value; gap to it: (best - known) / |known|, positive if worse, new: better than it; failed: runs "
    "without a verified schedule, of all."
)
HEADS = ("instance", "best", "by", "proven", "bound", "gap", "known", "gap to it", "failed")


def show_instances(console: Console, records: Iterable[Record], known: Mapping[str, BestKnown]) -> list[str]:
    """Print the table, with the best-known values of ``known``; return the contradictions found."""
    groups = group_by_view(r for r in records if r["replay"] is None)
    if not groups:
        return []
    table = Table(title="instances", title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    for head in HEADS:
        left = head in ("instance", "by")
        table.add_column(head, justify="left" if left else "right", overflow="fold", no_wrap=not left)
    for title, results in groups:
        table.add_row(*_cells(title, results, known))
    console.print(table)
    console.print(legend(INSTANCE_COLUMNS, False))
    wrong = [results.contradiction for _, results in groups if results.contradiction]
    for text in wrong:
        console.print(Text(text, style="bold red"))
    return wrong


def _cells(title: str, results: ViewResults, known: Mapping[str, BestKnown]) -> list[str | Text]:
    from ..suites.best_known import known_of

    first, best, bound = results.records[0], results.schedule, results.bound
    value = None if best is None else best["objective"]
    limit = None if bound is None else bound["bound"]
    proven = sum(any(r["status"] == "optimal" for r in row.sound) for row in results.rows)
    lacking = sum(not r["verified"] for r in results.records)
    there = known_of(first, known)
    name = title.removesuffix(f", {'1 thread' if first['threads'] == 1 else str(first['threads']) + ' threads'}")
    return [
        name.removesuffix(", the whole instance"),
        number(value),
        "-" if best is None else Text(best["method"]),
        f"{proven}/{len(results.rows)}",
        number(limit),
        percent(relative_gap(value, limit)),
        "-" if there is None else number(there.value),
        _to_known(value, there, first["sense"] or "minimize"),
        f"{lacking}/{len(results.records)}",
    ]


def _to_known(value: float | None, known: BestKnown | None, sense: str) -> str | Text:
    """Return the signed gap to the best-known value; "new" if the value is better."""
    if value is None or known is None:
        return "-"
    if refutes(value, known.value, sense):
        return Text(f"new {percent(abs(value - known.value) / max(abs(known.value), 1e-9))}", style="bold green")
    if close(value, known.value):
        return "0.0%"
    return percent(abs(value - known.value) / abs(known.value)) if known.value else "-"
