"""The tables of profit problems: the profit of each method compared with the best rule and the best bound, and the PUE."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...backends.gaps import relative_gap
from ...models.counts import how_many
from ...models.step_function import DAY, HOUR
from ..kinds.accounts import END, HORIZON
from ..records.store import Record
from ..runs.view import View
from .methods import (
    NARROW,
    MethodRow,
    ViewResults,
    group_by_view,
    legend,
    number,
    percent,
    seconds,
    spread,
    status,
    trouble,
    verified,
)

# --- The PUE of each method in each scenario, beside the PUE at the slope change of the cooling [Bridi2018, table 6.2].

EXPLAINED = (
    "PUE up to the horizon. best rule: of the rule with the highest profit; slope change: the PUE at which chillers start, as the mean "
    "over the horizon (a greater PUE: utilisation was maximised, a smaller one: the cooling was optimised)."
)
Find = Callable[[MethodRow], float | None]


def pue(row: MethodRow) -> float | None:
    """Return the mean over the seeds of the PUE up to the horizon; None if nothing ran."""
    return row.mean(lambda r: ((r.get("account") or {}).get(HORIZON) or {}).get("pue"))


def slope_change(results: ProfitResults) -> float | None:
    """Return the PUE at the slope change in a scenario; None if it has none, or the records are too old to have it."""
    return next((r["slope_change"] for r in results.records if r.get("slope_change") is not None), None)


def efficiency_table(name: str, group: Sequence[ProfitResults]) -> Table:
    """Return the table with a row per scenario: the PUE of each method but rules, of the best rule, and at the slope change.

    Parameters
    ----------
    name : str
        What the scenarios have in common: the instance and the number of threads.
    group : sequence of ProfitResults
        The results of each scenario.
    """
    rows = [row for results in group for row in results.rows]
    methods = dict.fromkeys(r.method for r in rows if not r.method.startswith("rule:") and pue(r) is not None)
    made = Table(title=f"{name}: PUE of all scenarios", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    made.show_edge = False
    made.add_column("scenario")
    for head in (*(m.replace("@", "\n@").replace(":", ":\n") for m in methods), "best rule", "slope\nchange"):
        made.add_column(head, justify="right")
    for results in group:
        known = {row.method: pue(row) for row in results.rows}
        rule = None if results.best_rule is None else pue(results.best_rule)
        cells = [*(known.get(m) for m in methods), rule, slope_change(results)]
        scenario = View(**results.records[0]["view"]).scenario or "its own"
        made.add_row(scenario, *("-" if v is None else f"{v:.5f}" for v in cells))
    return made


# --- The tables of profit problems: the profit of each method compared with the best rule and the best bound.

RULE = "rule:"
STRICT = "-strict"
COLUMNS = (
    "profit, PUE, energy and use (share of the cores in use) count up to the horizon; vs rule: profit above that of the best "
    "rule, relative to it; gap to bound: |profit - best bound| / max(|profit|, |best bound|); gap closed: share of the gap "
    "between the best rule and the best bound; makespan: time until the last job has ended; best at s: seconds until the best "
    "schedule was found; time s: seconds of the whole run."
)
Cell = Callable[[MethodRow], str | Text]


@dataclass(frozen=True)
class ProfitResults(ViewResults):
    """All runs on one scenario of an instance."""

    @cached_property
    def best_rule(self) -> MethodRow | None:
        """The rule with the highest profit."""
        return self._most(row for row in self.rows if row.method.startswith(RULE))

    @cached_property
    def best_strict(self) -> MethodRow | None:
        """The strict rule with the highest profit."""
        return self._most(row for row in self.rows if row.method.startswith(RULE) and row.method.endswith(STRICT))

    @cached_property
    def best_search(self) -> MethodRow | None:
        """The method other than a rule with the highest profit."""
        return self._most(row for row in self.rows if not row.method.startswith(RULE))

    @staticmethod
    def _most(rows: Iterable[MethodRow]) -> MethodRow | None:
        return max((r for r in rows if r.objective is not None), key=lambda r: r.objective or 0.0, default=None)

    def improvement(self, profit: float | None) -> float | None:
        """Return how much a profit is above that of the best rule, relative to the latter."""
        rule = None if self.best_rule is None else self.best_rule.objective
        return None if profit is None or not rule else (profit - rule) / abs(rule)

    def closed(self, profit: float | None) -> float | None:
        """Return which share of the gap between the best rule and the best bound a profit closes; None if there is no gap."""
        if profit is None or self.best_rule is None or self.bound is None:
            return None
        rule, bound = self.best_rule.objective or 0.0, float(self.bound["bound"])
        return (profit - rule) / (bound - rule) if bound - rule > 1e-6 * abs(bound) else None


def scenario_results(records: Iterable[Record]) -> list[tuple[str, ProfitResults]]:
    """Return the results of profit problems, each with its title: instance, view and number of threads."""
    return [(title, ProfitResults(results.records)) for title, results in group_by_view(records)]


def show(console: Console, found: Sequence[tuple[str, ProfitResults]], explain: bool = False) -> list[str]:
    """Print the table of each scenario, and an overview if there are several; return the contradictions found."""
    for title, results in found:
        console.print(profit_table(title, results, console.width))
        console.print(legend(COLUMNS, explain, "*: the highest profit."))
        for line in summary(results):
            console.print(line)
        console.print()
    for instance, group in by_instance(found).items():
        if len(group) > 1 and any(results.best_rule for results in group):
            console.print(overview(instance, group))
            console.print(legend(OVERVIEW, explain))
            console.print()
        if len(group) > 1:
            console.print(efficiency_table(instance, group))
            console.print(legend(EXPLAINED, explain))
            console.print()
    return [results.contradiction for _, results in found if results.contradiction]


def figure(row: MethodRow, name: str, when: str = HORIZON) -> float | None:
    """Return the mean over the seeds of a figure of the account, up to the horizon or to the end of the last job."""
    return row.mean(lambda r: ((r.get("account") or {}).get(when) or {}).get(name))


def profit_table(title: str, results: ProfitResults, width: int = 120) -> Table:
    """Return the table with a row per method. If ``width`` is below 110 characters, it leaves some columns out."""
    wide = width >= NARROW
    bound = None if results.bound is None else results.bound["bound"]
    columns: list[tuple[str, bool, Cell]] = [
        ("status", True, status),
        ("profit\nEUR", True, lambda row: number(row.objective)),
        ("least..most", wide and any(len(row.records) > 1 for row in results.rows), spread),
        ("vs\nrule", True, lambda row: signed(results.improvement(row.objective))),
        ("gap to\nbound", True, lambda row: precise(relative_gap(row.objective, bound))),
        ("gap\nclosed", wide, lambda row: share(results.closed(row.objective))),
        (f"make-\nspan {unit(results)[0]}", wide, lambda row: makespan(row, unit(results)[1])),
        ("PUE", True, lambda row: fixed(figure(row, "pue"), 4)),
        ("energy\nkWh", wide, lambda row: fixed(figure(row, "energy_kwh"), 1)),
        ("use", wide, lambda row: percent(figure(row, "utilisation"))),
        ("best\nat s", wide, lambda row: seconds(row.mean(lambda r: r["best_s"]))),
        ("time\ns", True, lambda row: seconds(row.mean(lambda r: r["seconds"]["total"]))),
        ("veri-\nfied", True, verified),
    ]
    shown = [(name, cell) for name, when, cell in columns if when]
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    made.add_column(" ", width=1)
    made.add_column("method", overflow="fold", min_width=12)
    for name, _ in shown:
        made.add_column(name, justify="left" if name in ("status", "veri-\nfied") else "right", no_wrap=True)
    winner = results.best
    for row in results.rows:
        won = winner is not None and row.method == winner.method
        cells = [cell(row) for _, cell in shown]
        made.add_row("*" if won else "", Text(row.method), *cells, style="bold green" if won else "")
    return made


def unit(results: ProfitResults) -> tuple[str, int]:
    """Return the unit of the makespans and its seconds: hours if all are at most two days, else days."""
    longest = max((r["makespan"] for r in results.records if r.get("makespan") is not None), default=0)
    return ("h", HOUR) if longest <= 2 * DAY else ("days", DAY)


def makespan(row: MethodRow, length: int) -> str:
    """Return the mean makespan in a unit of ``length`` seconds."""
    value = row.mean(lambda r: r.get("makespan"))
    return "-" if value is None else f"{value / length:,.2f}"


def signed(value: float | None) -> str:
    """Return a share as percent with its sign.

    >>> signed(0.0123), signed(-0.4), signed(None)
    ('+1.23%', '-40.00%', '-')
    """
    return "-" if value is None else f"{100 * value:+,.2f}%"


def precise(value: float | None) -> str:
    """Return a share as percent with two decimals, because these gaps are small."""
    return "-" if value is None else f"{100 * value:.2f}%"


def share(value: float | None) -> str:
    """Return a share as a whole number of percent."""
    return "-" if value is None else f"{100 * value:.0f}%"


def fixed(value: float | None, digits: int) -> str:
    """Return a number with a fixed number of decimals."""
    return "-" if value is None else f"{value:,.{digits}f}"


def summary(results: ProfitResults) -> list[Text]:
    """Return the lines below a table: best schedule and best rule with gain and costs, best bound, reasons of failures."""
    lines = [Text(f"best schedule: {money_of(results.schedule)}, verified")] if results.schedule is not None else []
    rule = results.best_rule
    if rule is not None and rule.sound and results.schedule is not None and rule.method != results.schedule["method"]:
        lines.append(Text(f"best rule: {money_of(max(rule.sound, key=lambda r: float(r['objective'])))}"))
    if results.bound is not None:
        bound = results.bound["bound"]
        gap = "" if results.schedule is None else f", gap {precise(relative_gap(results.schedule['objective'], bound))}"
        room = results.improvement(bound)
        beyond = "" if room is None else f"; no schedule is more than {precise(room)} better than the best rule"
        lines.append(Text(f"best true bound: {number(bound)} EUR by {results.bound['method']}{gap}{beyond}"))
    if results.contradiction:
        lines.append(Text(results.contradiction, style="bold red"))
    for row in results.rows:
        reasons = dict.fromkeys(map(trouble, row.records))
        lines.extend(Text(f"{row.method}: {reason}", style="dim") for reason in reasons if reason)
    return lines


def money_of(record: Mapping[str, Any]) -> str:
    """Return the profit of a record with its gain and costs up to the horizon, and its profit at the end, as text."""
    text = f"{number(record['objective'])} EUR by {record['method']}"
    account = record.get("account")
    if not account:
        return text
    at, end = account[HORIZON], account[END]
    return (
        f"{text} (gain {number(at['gain'])}, cost of energy for the jobs {number(at['work_cost'])}, for cooling "
        f"{number(at['cooling_cost'])}; {number(end['profit'])} EUR and PUE {fixed(end['pue'], 4)} when the last job ends)"
    )


OVERVIEW = (
    "best rule: the rule with the highest profit, and its profit in EUR. All other columns are relative to that profit. "
    "strict: the best strict rule; bound: the best bound; a method: its profit, and below it the share of the gap between "
    "the best rule and the bound that it closes."
)


def by_instance(found: Iterable[tuple[str, ProfitResults]]) -> dict[str, list[ProfitResults]]:
    """Group results that differ only in the scenario: title (instance, first jobs, threads) to results."""
    groups: dict[str, list[ProfitResults]] = {}
    for _, results in found:
        r = results.records[0]
        first = View(**r["view"]).first
        threads = how_many(r["threads"], "thread")
        name = f"{r['instance']}{'' if first is None else f', first {first}'}, {threads}"
        groups.setdefault(name, []).append(results)
    return groups


def overview(name: str, group: Sequence[ProfitResults]) -> Table:
    """Return the table with a row per scenario: the best rule, the best bound and the profit of each search."""
    methods = dict.fromkeys(
        row.method
        for results in group
        for row in results.rows
        if not row.method.startswith(RULE) and row.objective is not None
    )
    made = Table(title=f"{name}: all scenarios", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    made.show_edge = False
    made.add_column("scenario")
    for head in ("best rule", "EUR", "strict", "bound", *(m.replace("@", "\n@").replace(":", ":\n") for m in methods)):
        made.add_column(head, justify="left" if head == "best rule" else "right")
    for results in group:
        rule, strict = results.best_rule, results.best_strict
        known = {row.method: row.objective for row in results.rows}
        cells = [
            "-" if rule is None else rule.method.removeprefix(RULE),
            number(None if rule is None else rule.objective),
            signed(results.improvement(None if strict is None else strict.objective)),
            signed(results.improvement(None if results.bound is None else results.bound["bound"])),
        ]
        cells += [_beside(results, known.get(method)) for method in methods]
        made.add_row(View(**results.records[0]["view"]).scenario or "its own", *cells)
    return made


def _beside(results: ProfitResults, profit: float | None) -> str:
    closed = results.closed(profit)
    return signed(results.improvement(profit)) + ("" if closed is None else f"\n{share(closed)}")
