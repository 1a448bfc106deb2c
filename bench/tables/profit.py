"""The tables of profit problems: the profit of each method compared with the best rule and the best bound, and the PUE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from rich.console import Console
from rich.text import Text

from ...backends.gaps import relative_gap
from ...models.counts import how_many
from ...models.step_function import DAY, HOUR
from ..grid import BAD, GOOD, MARK, Column, Grid, fixed, number, percent, seconds, signed
from ..kinds.accounts import END, HORIZON
from ..records.store import Record
from ..runs.view import View
from .methods import MethodRow, ViewResults, contradictions, group_by_view, named, reasons, spread, status, verified

RULE = "rule:"
STRICT = "-strict"
MEANING = (
    "profit, PUE, energy and use (share of the cores in use) count up to the horizon; vs rule: profit above that of the best "
    "rule, relative to it; gap to bound: |profit - best bound| / max(|profit|, |best bound|); gap closed: share of the gap "
    "between the best rule and the best bound; makespan: time until the last job has ended; best at s: seconds until the best "
    "schedule was found; time s: seconds of the whole run."
)
OVERVIEW = (
    "best rule: the rule with the highest profit, and its profit in EUR. All other columns are relative to that profit. "
    "strict: the best strict rule; bound: the best bound; a method: its profit, and below it the share of the gap between "
    "the best rule and the bound that it closes."
)
EFFICIENCY = (
    "PUE up to the horizon. best rule: of the rule with the highest profit; slope change: the PUE at which chillers start, as the mean "
    "over the horizon (a greater PUE: utilisation was maximised, a smaller one: the cooling was optimised)."
)


def is_rule(row: MethodRow) -> bool:
    """Return whether a method is a rule."""
    return row.method.startswith(RULE)


@dataclass(frozen=True)
class ProfitResults(ViewResults):
    """All runs on one scenario of an instance."""

    @property
    def scenario(self) -> str:
        """The name of the scenario."""
        return View(**self.records[0]["view"]).scenario or "its own"

    @cached_property
    def best_rule(self) -> MethodRow | None:
        """The rule with the highest profit."""
        return self._most(filter(is_rule, self.rows))

    @cached_property
    def best_strict(self) -> MethodRow | None:
        """The strict rule with the highest profit."""
        return self._most(row for row in self.rows if is_rule(row) and row.method.endswith(STRICT))

    @cached_property
    def best_search(self) -> MethodRow | None:
        """The method other than a rule with the highest profit."""
        return self._most(row for row in self.rows if not is_rule(row))

    @staticmethod
    def _most(rows: Iterable[MethodRow]) -> MethodRow | None:
        return max((r for r in rows if r.objective is not None), key=lambda r: r.objective or 0.0, default=None)

    @property
    def best_bound(self) -> float | None:
        """The best bound that no verified schedule refutes."""
        return None if self.bound is None else float(self.bound["bound"])

    def improvement(self, profit: float | None) -> float | None:
        """Return how much a profit is above that of the best rule, relative to the latter."""
        rule = profit_of(self.best_rule)
        return None if profit is None or not rule else (profit - rule) / abs(rule)

    def closed(self, profit: float | None) -> float | None:
        """Return which share of the gap between the best rule and the best bound a profit closes; None if there is no gap."""
        bound = self.best_bound
        if profit is None or self.best_rule is None or bound is None:
            return None
        rule = self.best_rule.objective or 0.0
        return (profit - rule) / (bound - rule) if bound - rule > 1e-6 * abs(bound) else None

    @property
    def slope_change(self) -> float | None:
        """The PUE at the slope change; None if the scenario has none, or the records are too old to have it."""
        return next((r["slope_change"] for r in self.records if r.get("slope_change") is not None), None)

    @cached_property
    def unit(self) -> tuple[str, int]:
        """The unit of the makespans and its seconds: hours if all are at most two days, else days."""
        longest = max((r["makespan"] for r in self.records if r.get("makespan") is not None), default=0)
        return ("h", HOUR) if longest <= 2 * DAY else ("days", DAY)


def profit_of(row: MethodRow | None) -> float | None:
    """Return the mean profit of a method."""
    return None if row is None else row.objective


def account(name: str, when: str = HORIZON) -> Column:
    """Return the column of a figure of the account, up to the horizon or to the end of the last job: means over the seeds."""
    heads = {"pue": "PUE", "energy_kwh": "energy\nkWh", "utilisation": "use"}
    forms = {"pue": fixed(4), "energy_kwh": fixed(1), "utilisation": percent}
    return Column(heads.get(name, name), lambda row: figure(row, name, when), forms.get(name, number))


def figure(row: MethodRow | None, name: str, when: str = HORIZON) -> float | None:
    """Return the mean over the seeds of a figure of the account, up to the horizon or to the end of the last job."""
    return None if row is None else row.mean(lambda r: ((r.get("account") or {}).get(when) or {}).get(name))


def precise(value: float | None) -> str:
    """Return a share as percent with two decimals, because these gaps are small."""
    return percent(value, 2)


def share(value: float | None) -> str:
    """Return a share as a whole number of percent."""
    return percent(value, 0)


def scenario_results(records: Iterable[Record]) -> list[tuple[str, ProfitResults]]:
    """Return the results of profit problems, each with its title: instance, view and number of threads."""
    return [(title, ProfitResults(results.records)) for title, results in group_by_view(records)]


def show_profits(console: Console, records: Iterable[Record], explain: bool = False) -> list[str]:
    """Print the table of each scenario, and an overview if there are several; return the contradictions found."""
    scenarios = scenario_results(records)
    for title, results in scenarios:
        profit_grid(title, results).show(console, explain, f"{MARK}: the highest profit.")
        console.print(*summary(results), "", sep="\n")
    for name, group in by_instance(scenarios).items():
        overviews = [overview(name, group)] if any(results.best_rule for results in group) else []
        for grid in (*overviews, efficiency_grid(name, group)) if len(group) > 1 else ():
            grid.show(console, explain)
            console.print()
    return contradictions(results for _, results in scenarios)


def profit_grid(title: str, results: ProfitResults) -> Grid:
    """Return the table with a row per method."""
    vs_rule, gap, closed, makespan, best_at = compared(results)
    several = any(len(row.records) > 1 for row in results.rows)
    columns = [
        *named(results),
        Column("status", status, words=True),
        Column("profit\nEUR", profit_of, number),
        Column("least..most", spread, spare=6) if several else None,
        vs_rule,
        gap,
        replace(closed, spare=3),
        replace(makespan, spare=5),
        account("pue"),
        replace(account("energy_kwh"), spare=4),
        replace(account("utilisation"), spare=1),
        replace(best_at, spare=2),
        Column("time\ns", lambda row: row.mean(lambda r: r["seconds"]["total"]), seconds),
        Column("veri\xad\nfied", verified, words=True),
    ]
    return Grid.of(title, columns, results.rows, MEANING, style=lambda row: GOOD if results.is_best(row) else "")


def compared(results: ProfitResults) -> list[Column]:
    """Return the columns vs rule, gap to bound, gap closed, makespan, best at s."""
    unit, length = results.unit
    return [
        Column("vs\nrule", lambda row: results.improvement(row.objective), signed),
        Column("gap to\nbound", results.gap, precise),
        Column("gap\nclosed", lambda row: results.closed(row.objective), share),
        Column(f"make\xad\nspan {unit}", lambda row: _divided(row.mean(lambda r: r.get("makespan")), length), fixed(2)),
        Column("best\nat s", lambda row: row.mean(lambda r: r["best_s"]), seconds),
    ]


def _divided(value: float | None, by: float) -> float | None:
    return None if value is None else value / by


def summary(results: ProfitResults) -> list[Text]:
    """Return the lines below a table: best schedule and best rule with gain and costs, best bound, reasons of failures."""
    best = results.schedule
    rule = results.best_rule
    bound = results.best_bound
    lines = [Text(f"best schedule: {money_of(best)}, verified")] if best is not None else []
    if rule is not None and rule.sound and best is not None and rule.method != best["method"]:
        lines.append(Text(f"best rule: {money_of(max(rule.sound, key=lambda r: float(r['objective'])))}"))
    if results.bound is not None:
        gap = "" if best is None else f", gap {precise(relative_gap(best['objective'], bound))}"
        room = results.improvement(bound)
        beyond = "" if room is None else f"; no schedule is more than {precise(room)} better than the best rule"
        lines.append(
            Text(f"best true bound: {number(results.bound['bound'])} EUR by {results.bound['method']}{gap}{beyond}")
        )
    if results.contradiction:
        lines.append(Text(results.contradiction, style=BAD))
    return lines + reasons(results.records)


def money_of(record: Mapping[str, Any]) -> str:
    """Return the profit of a record with its gain and costs up to the horizon, and its profit at the end, as text."""
    text = f"{number(record['objective'])} EUR by {record['method']}"
    if not record.get("account"):
        return text
    at, end = (record["account"][when] for when in (HORIZON, END))
    return (
        f"{text} (gain {number(at['gain'])}, cost of energy for the jobs {number(at['work_cost'])}, for cooling "
        f"{number(at['cooling_cost'])}; {number(end['profit'])} EUR and PUE {account('pue').text(end['pue'])} when the last job ends)"
    )


def by_instance(scenarios: Iterable[tuple[str, ProfitResults]]) -> dict[str, list[ProfitResults]]:
    """Group results that differ only in the scenario: title (instance, first jobs, threads) to results."""
    groups: dict[str, list[ProfitResults]] = {}
    for _, results in scenarios:
        r = results.records[0]
        first = View(**r["view"]).first
        part = "" if first is None else f", first {first}"
        groups.setdefault(f"{r['instance']}{part}, {how_many(r['threads'], 'thread')}", []).append(results)
    return groups


SCENARIO = Column("scenario", lambda results: results.scenario, words=True)


def _searches(group: Sequence[ProfitResults]) -> dict[str, str]:
    """Return method -> heading of its column, of all methods but rules."""
    names = [row.method for results in group for row in results.rows if not is_rule(row)]
    return {name: name.replace("@", "\n@").replace(":", ":\n") for name in names}


def overview(name: str, group: Sequence[ProfitResults]) -> Grid:
    """Return the table with a row per scenario: the best rule, the best bound and the profit of each search."""

    def beside(results: ProfitResults, method: str) -> str:
        profit = next((row.objective for row in results.rows if row.method == method), None)
        closed = results.closed(profit)
        return signed(results.improvement(profit)) + ("" if closed is None else f"\n{share(closed)}")

    known = {row.method for results in group for row in results.rows if row.objective is not None}
    columns = [
        SCENARIO,
        Column(
            "best rule", lambda r: None if r.best_rule is None else r.best_rule.method.removeprefix(RULE), words=True
        ),
        Column("EUR", lambda r: profit_of(r.best_rule), number),
        Column("strict", lambda r: r.improvement(profit_of(r.best_strict)), signed),
        Column("bound", lambda r: r.improvement(r.best_bound), signed),
        *(Column(head, partial(beside, method=m)) for m, head in _searches(group).items() if m in known),
    ]
    return Grid.of(f"{name}: all scenarios", columns, group, OVERVIEW)


def efficiency_grid(name: str, group: Sequence[ProfitResults]) -> Grid:
    """Return the table with a row per scenario: the PUE of each method but rules, of the best rule, and at the slope change.

    The slope change is that of the cooling [Bridi2018, table 6.2]. ``name``: what the scenarios have in common.
    """

    def pue(results: ProfitResults, method: str) -> float | None:
        return figure(next((row for row in results.rows if row.method == method), None), "pue")

    columns = [
        SCENARIO,
        *(
            Column(head, partial(pue, method=m), fixed(5))
            for m, head in _searches(group).items()
            if any(pue(results, m) is not None for results in group)
        ),
        Column("best rule", lambda results: figure(results.best_rule, "pue"), fixed(5)),
        Column("slope\nchange", lambda results: results.slope_change, fixed(5)),
    ]
    return Grid.of(f"{name}: PUE of all scenarios", columns, group, EFFICIENCY)
