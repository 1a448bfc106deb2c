"""What the bench needs to know about profit problems: tables, the section of ``bench plot``, scenarios, default runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import numpy as np
from annotated_types import MinLen, Predicate
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text
from typing_extensions import TypedDict

from ...backends import UnknownName
from ...backends.result import relative_gap
from ...instances import Instance
from ...models.problem import Problem, Schedule
from ...models.profit import problem as accounts
from ...models.profit.guide import slope_change_pue
from ...models.profit.problem import Profit, Segment
from ...models.step_function import DAY, HOUR
from ...models.words import how_many
from ..errors import WrongUse
from ..grid import BAD, GOOD, MARK, Column, Grid, fixed, number, percent, seconds, signed
from ..pages import Card, Section
from ..pages.panels import COLOURS, GREY, INK, as_svg, single, stacked, styled
from ..records.record import agree
from ..records.store import Number, Positive, Record, Whole, equal_lengths, table
from ..runs.view import SMALL, Default, Defaults, View
from ..tables.methods import (
    MethodRow,
    ViewResults,
    contradictions,
    group_by_view,
    named,
    reasons,
    spread,
    status,
    verified,
)
from .base import Drawing
from .dispatch import first_jobs
from .plain import PlainKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# --- The extra fields of the record of a profit problem.
#
# - ``account``: ``horizon`` (up to the end of the horizon) and ``end`` (up to the end of the last job), each with ``begin``,
#   ``end`` (s), ``core_hours``, ``gain``, ``work_cost``, ``cooling_cost``, ``cost``, ``profit`` (euro), ``it_kwh``,
#   ``cooling_kwh``, ``energy_kwh``, ``utilisation`` (0 to 1), ``pue``.
# - ``slope_change``: the PUE at the slope change of the cooling, as the mean over the segments of the horizon, weighted by
#   time; None if the slope changes in none.
# - ``makespan``: seconds from the begin of the problem to the end of the last job.
# - ``daily``: the account of each day of the horizon, with ``celsius`` (mean temperature).
# - ``operation``: curves over time: ``begin``, ``until`` (end of the horizon), ``end`` (s); ``segments`` with the lists ``end``
#   (s), ``celsius``, ``watts`` (IT power), ``cooling`` (W); for intervals of ``step`` seconds, ``steps`` with the lists
#   ``watts`` and ``utilisation``.

HORIZON = "horizon"  # the account up to the end of the horizon
END = "end"  # the account up to the end of the last job
STEPS = 2000  # most steps of a curve over time

MONEY = table(
    "Account",
    dict.fromkeys(("gain", "work_cost", "cooling_cost", "profit", "pue", "energy_kwh", "utilisation"), Number | None),
    others=Number | None,
)
DAY_FIELDS = table(
    "DailyAccount", dict.fromkeys(("celsius", "utilisation", "pue", "profit"), Number | None), others=Number | None
)


class SegmentFields(TypedDict, closed=True):
    """Lists with an entry for each segment."""

    end: Annotated[list[Whole], MinLen(1)]
    celsius: list[Number]
    watts: list[Number]
    cooling: list[Number]


class StepFields(TypedDict, closed=True):
    """Lists with an entry for each step."""

    watts: list[Number]
    utilisation: list[Number]


class OperationFields(TypedDict, closed=True):
    """The field ``operation``."""

    begin: Whole
    until: Whole
    end: Whole
    segments: Annotated[SegmentFields, Predicate(equal_lengths)]
    step: Positive
    steps: StepFields


FIELDS: Mapping[str, Any] = {
    "account": table("Accounts", {HORIZON: MONEY, END: MONEY}) | None,
    "slope_change": Number | None,
    "makespan": Number | None,
    "daily": list[DAY_FIELDS],  # type: ignore[valid-type]
    "operation": OperationFields,
}


def account_fields(problem: Profit, schedule: Schedule) -> Record:
    """Return the extra fields of a valid schedule."""
    end = accounts.makespan(problem, schedule)
    return {
        "account": {
            HORIZON: as_json(accounts.account(problem, schedule)),
            END: as_json(accounts.account(problem, schedule, end)),
        },
        "slope_change": slope_change_pue(problem, problem.segments),
        "makespan": end - problem.begin,
        "daily": list(days(problem, schedule)),
        "operation": operation(problem, schedule, max(end, problem.horizon_end)),
    }


def as_json(account: accounts.Account) -> dict[str, Any]:
    """Return all values of an account (euro, kWh, core-hours, seconds); ``pue`` is None if nothing ran."""
    derived = ("profit", "cost", "energy_kwh", "pue")
    return asdict(account) | {name: getattr(account, name) for name in derived}


def days(problem: Profit, schedule: Schedule) -> Iterator[dict[str, Any]]:
    """Yield the account of each day of the horizon, with its mean temperature (``celsius``)."""
    for day in accounts.daily(problem, schedule):
        of_it = [s for s in problem.segments if day.begin <= s.begin < day.end]
        yield as_json(day) | {"celsius": mean_celsius(of_it)}


def mean_celsius(segments: list[Segment] | tuple[Segment, ...]) -> float | None:
    """Return the mean temperature of segments, None if there are none."""
    length = sum(s.end - s.begin for s in segments)
    if length:
        return sum(s.celsius * (s.end - s.begin) for s in segments) / length
    return None


def operation(problem: Profit, schedule: Schedule, end: int) -> dict[str, Any]:
    """Return curves over time from the begin to ``end`` (seconds): means of each segment and of each hour.

    The steps are longer than an hour if there would be more than ``STEPS``.
    """
    ran = accounts.operation(problem, schedule, end)
    step = max(HOUR, HOUR * -(-(end - problem.begin) // (STEPS * HOUR)))
    bounds = np.append(np.arange(problem.begin, end, step), end)
    lengths = np.maximum(1, np.diff(bounds))
    seconds, joules = _done(problem, schedule, bounds)
    there = problem.platform.total("cores") * lengths
    return {
        "begin": problem.begin,
        "until": problem.horizon_end,
        "end": end,
        "segments": {
            "end": [s.end for s in ran.segments],
            "celsius": [round(s.celsius, 2) for s in ran.segments],
            "watts": ran.watts.round(1).tolist(),
            "cooling": ran.cooling.round(1).tolist(),
        },
        "step": step,
        "steps": {
            "watts": (np.diff(joules) / lengths).round(1).tolist(),
            "utilisation": (np.diff(seconds) / there).round(4).tolist(),
        },
    }


def _done(
    problem: Profit, schedule: Schedule, bounds: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the core-seconds and joules of work done before each moment of ``bounds`` (seconds)."""
    running = problem.running
    starts = np.array([schedule.start[j.id] for j in problem.jobs], np.int64) - problem.begin
    at = bounds - problem.begin
    rates = np.stack([problem.cores, problem.watts], axis=1).astype(np.float64)
    begins, ends = (
        np.concatenate([x, y - problem.begin])
        for x, y in ((starts, np.full(len(running.ends), problem.begin)), (starts + problem.durations, running.ends))
    )
    rates = np.concatenate([rates, np.stack([running.cores, running.watts], axis=1)])
    amounts = np.zeros((bounds.size, 2))
    for moments, sign in ((begins, 1.0), (ends, -1.0)):
        order = np.argsort(moments, kind="stable")
        rate = np.concatenate([np.zeros((1, 2)), np.cumsum(rates[order], axis=0)])
        past = np.concatenate([np.zeros((1, 2)), np.cumsum(rates[order] * moments[order, None], axis=0)])
        k = np.searchsorted(moments[order], at, side="right")
        amounts += sign * (rate[k] * at[:, None] - past[k])
    return amounts[:, 0], amounts[:, 1]


def faults_of_account(problem: Profit, record: Mapping[str, Any], schedule: Schedule) -> list[str]:
    """Return the faults of the extra fields of a record: each value is compared with that of the schedule."""
    faults = []
    true = account_fields(problem, schedule)
    for when in (HORIZON, END):
        recorded = (record.get("account") or {}).get(when) or {}
        expected = true["account"][when]
        faults += [
            f"it has {name} {recorded.get(name)} up to the {when}, its schedule has {value}"
            for name, value in expected.items()
            if value != recorded.get(name) and not agree(value, recorded.get(name))
        ]
    slope = record.get("slope_change", true["slope_change"])  # records of earlier versions lack it
    if slope != true["slope_change"] and not agree(true["slope_change"], slope):
        faults.append(f"it has slope_change {slope}, its scenario has {true['slope_change']}")
    if not agree(true["makespan"], record.get("makespan")):
        faults.append(f"it has makespan {record.get('makespan')} s, its schedule has {true['makespan']} s")
    daily = record.get("daily") or []
    if len(daily) != len(true["daily"]):
        faults.append(f"it has accounts of {how_many(len(daily), 'day')}, the horizon has {len(true['daily'])}")
    for k, (recorded, expected) in enumerate(zip(daily, true["daily"], strict=False), 1):
        faults += [
            f"it has {name} {recorded.get(name)} of day {k}, its schedule has {value}"
            for name, value in expected.items()
            if value != recorded.get(name) and not agree(value, recorded.get(name))
        ]
    return faults


# --- The tables: the profit of each method compared with the best rule and the best bound, and the PUE.

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
        if self.bound is None:
            return None
        return float(self.bound["bound"])

    def improvement(self, profit: float | None) -> float | None:
        """Return how much a profit is above that of the best rule, relative to the latter."""
        rule = profit_of(self.best_rule)
        if profit is None or not rule:
            return None
        return (profit - rule) / abs(rule)

    def closed(self, profit: float | None) -> float | None:
        """Return which share of the gap between the best rule and the best bound a profit closes; None if there is no gap."""
        bound = self.best_bound
        if profit is None or self.best_rule is None or bound is None:
            return None
        rule = self.best_rule.objective or 0.0
        if bound - rule > 1e-6 * abs(bound):
            return (profit - rule) / (bound - rule)
        return None

    @property
    def slope_change(self) -> float | None:
        """The PUE at the slope change; None if the scenario has none, or the records are too old to have it."""
        return next((r["slope_change"] for r in self.records if r.get("slope_change") is not None), None)

    @cached_property
    def unit(self) -> tuple[str, int]:
        """The unit of the makespans and its seconds: hours if all are at most two days, else days."""
        longest = max((r["makespan"] for r in self.records if r.get("makespan") is not None), default=0)
        if longest <= 2 * DAY:
            return ("h", HOUR)
        return ("days", DAY)


def profit_of(row: MethodRow | None) -> float | None:
    """Return the mean profit of a method."""
    if row is None:
        return None
    return row.objective


def account(name: str, when: str = HORIZON) -> Column:
    """Return the column of a figure of the account, up to the horizon or to the end of the last job: means over the seeds."""
    heads = {"pue": "PUE", "energy_kwh": "energy\nkWh", "utilisation": "use"}
    forms = {"pue": fixed(4), "energy_kwh": fixed(1), "utilisation": percent}
    return Column(heads.get(name, name), lambda row: figure(row, name, when), forms.get(name, number))


def figure(row: MethodRow | None, name: str, when: str = HORIZON) -> float | None:
    """Return the mean over the seeds of a figure of the account, up to the horizon or to the end of the last job."""
    if row is None:
        return None
    return row.mean(lambda r: ((r.get("account") or {}).get(when) or {}).get(name))


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
        profit_grid(title, results).show(console, explain)
        console.print(*summary(results), "", sep="\n")
    for name, group in by_instance(scenarios).items():
        overviews = []
        if any(results.best_rule for results in group):
            overviews = [overview(name, group)]
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
    return Grid.of(
        title,
        columns,
        results.rows,
        MEANING,
        style=lambda row: GOOD if results.is_best(row) else "",
        marked=f"{MARK}: the highest profit.",
    )


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
    if value is None:
        return None
    return value / by


def summary(results: ProfitResults) -> list[Text]:
    """Return the lines below a table: best schedule and best rule with gain and costs, best bound, reasons of failures."""
    best = results.schedule
    rule = results.best_rule
    bound = results.best_bound
    lines = []
    if best is not None:
        lines = [Text(f"best schedule: {money_of(best)}, verified")]
    if rule is not None and rule.sound and best is not None and rule.method != best["method"]:
        lines.append(Text(f"best rule: {money_of(max(rule.sound, key=lambda r: float(r['objective'])))}"))
    if results.bound is not None:
        gap = ""
        if best is not None:
            gap = f", gap {precise(relative_gap(best['objective'], bound))}"
        room = results.improvement(bound)
        beyond = ""
        if room is not None:
            beyond = f"; no schedule is more than {precise(room)} better than the best rule"
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
        part = ""
        if first is not None:
            part = f", first {first}"
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


# --- Charts of the schedule of a profit problem over time: power, temperature, PUE and use of the cores.

WORK = "#4c78a8"
COOLING = "#f58518"
WARM = "#e45756"
USE = "#54a24b"
POWER = 1.5  # inches: heights of the axes of power, of a low curve, of the PUE
LOW = 0.62
PUE = 0.85
LEFT = 0.62  # inches: the margin for the labels
KILO = 2000  # from this power in watts on, the axis is in kW
LEAST_PUE = 0.05  # the axis of the PUE spans at least this
Curves = Mapping[str, Any]  # the field "operation" of a record


class Axis(NamedTuple):
    """The ranges of the axes that the charts of all methods of a scenario have in common.

    Attributes
    ----------
    begin, end : int
        The time axis in seconds.
    watts : float
        The greatest power, cooling included.
    pue : (float, float)
        The least and the greatest PUE.
    celsius : (float, float)
        The least and the greatest temperature.
    """

    begin: int
    end: int
    watts: float
    pue: tuple[float, float]
    celsius: tuple[float, float]

    def days(self, at: Any) -> Any:
        """Return times in seconds as days since ``begin``."""
        return (np.asarray(at, np.float64) - self.begin) / DAY


def axis_of(several: Sequence[Curves]) -> Axis:
    """Return axes that show all curves of several runs; the range of the PUE counts only segments before the horizon."""
    celsius = [c for curves in several for c in curves["segments"]["celsius"]]
    known = [p for c in several for p, t in zip(pues(c), _edges(c), strict=False) if p is not None and t < c["until"]]
    known = known or [1.0]  # all segments before the horizon are idle
    return Axis(
        min(c["begin"] for c in several),
        max(c["end"] for c in several),
        max(w + c for curves in several for w, c in _powers(curves)),
        (max(1.0, min(min(known), max(known) - LEAST_PUE)), max(max(known), 1 + LEAST_PUE)),
        (min(celsius), max(celsius)),
    )


def _powers(curves: Curves) -> list[tuple[float, float]]:
    return list(zip(curves["segments"]["watts"], curves["segments"]["cooling"], strict=True))


def pues(curves: Curves) -> list[float | None]:
    """Return the PUE of each segment; None if nothing runs in it."""
    return [1 + cooling / watts if watts > 0 else None for watts, cooling in _powers(curves)]


def over_time(title: str, record: Record, axis: Axis) -> str:
    """Draw power, temperature, PUE and use of the cores of a run, one below the other on one time axis, as SVG."""
    curves: Curves = record["operation"]
    with styled(title):
        drawing, axes = stacked([POWER, LOW, PUE, LOW], LEFT)
        _power(axes[0], curves, axis)
        _steps(axes[1], axis.days(_edges(curves)), curves["segments"]["celsius"], WARM)
        low, high = axis.celsius
        axes[1].set_ylim(low - 0.1 * (high - low) - 0.5, high + 0.1 * (high - low) + 0.5)
        axes[1].set_title("temperature, °C", loc="left", fontsize=8)
        _pue(axes[2], curves, axis, record["account"][HORIZON]["pue"])
        _use(axes[3], curves, axis)
        for ax in axes:
            ax.axvline(axis.days(curves["until"]), color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        axes[-1].set_xlim(0, axis.days(axis.end))
        axes[-1].set_xlabel("time since the start of the problem, days")
        return as_svg(drawing, title)


def _edges(curves: Curves) -> list[int]:
    return [curves["begin"], *curves["segments"]["end"]]


def _steps(ax: Axes, edges: Any, values: Sequence[float | None], colour: str) -> None:
    """Draw a line that is constant in each segment and has a gap where there is no value."""
    from matplotlib.ticker import MaxNLocator

    known = np.array([np.nan if v is None else v for v in values], np.float64)
    ax.stairs(known, edges, baseline=None, color=colour, linewidth=1.3)
    ax.yaxis.set_major_locator(MaxNLocator(3))


def _power(ax: Axes, curves: Curves, axis: Axis) -> None:
    """Draw the power of the jobs (IT) and, stacked on it, the power of their cooling."""
    if axis.watts >= KILO:
        unit = "kW"
        kilo = 1000.0
    else:
        unit = "W"
        kilo = 1.0
    edges = axis.days(_edges(curves))
    work = np.array(curves["segments"]["watts"], np.float64) / kilo
    whole = work + np.array(curves["segments"]["cooling"], np.float64) / kilo
    ax.stairs(work, edges, fill=True, color=WORK, alpha=0.85, linewidth=0, label="jobs (IT)")
    ax.stairs(whole, edges, baseline=work, fill=True, color=COOLING, alpha=0.85, linewidth=0, label="cooling")
    ax.set_ylim(0, 1.08 * max(axis.watts, 1e-9) / kilo)
    ax.set_title(f"power, {unit}", loc="left", fontsize=8)
    ax.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 0.99), borderaxespad=0.1, fontsize=8)


def _pue(ax: Axes, curves: Curves, axis: Axis, total: float | None) -> None:
    """Draw the PUE of each segment, and that of the account up to the horizon, ``total``; None: nothing runs."""
    if total is not None:
        ax.plot([0, axis.days(curves["until"])], [total, total], color=COOLING, linewidth=1.0)
    _steps(ax, axis.days(_edges(curves)), pues(curves), INK)
    low, high = axis.pue
    ax.set_ylim(max(1.0, low - 0.1 * (high - low)), high + 0.1 * (high - low))
    ax.yaxis.set_major_formatter("{x:.2f}" if high - low > 2 * LEAST_PUE else "{x:.3f}")
    overall = ""
    if total is not None:
        overall = f" (overall up to the horizon: {account('pue').text(total)})"
    ax.set_title(f"PUE of each segment{overall}", loc="left", fontsize=8)


def known_pues(record: Mapping[str, Any]) -> list[tuple[int, float]]:
    """Return (number of the day from 1, PUE) of the days of the horizon on which something runs."""
    return [(k, float(d["pue"])) for k, d in enumerate(record.get("daily") or (), 1) if d.get("pue") is not None]


def trend(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return slope and intercept of the linear regression; a slope of 0 for a single day.

    Examples
    --------
    >>> slope, at_0 = trend([(1, 1.1), (2, 1.2), (3, 1.3)])
    >>> round(slope, 9), round(at_0, 9)
    (0.1, 1.0)
    """
    if len(points) < 2:
        return 0.0, points[0][1]
    slope, at_0 = np.polyfit([day for day, _ in points], [pue for _, pue in points], 1).tolist()
    return slope, at_0


def daily_pue(title: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Draw the PUE of each day of the horizon and its trend, for each run, as SVG [Bridi2018, figure 6.6]."""
    return single(f"{title}: PUE of each day", lambda ax: _daily_pue(ax, records), 2.6)


def _daily_pue(ax: Axes, records: Sequence[Mapping[str, Any]]) -> None:
    from matplotlib.ticker import MaxNLocator

    for record, colour in zip(records, COLOURS, strict=False):
        points = known_pues(record)
        if not points:
            continue
        days, values = zip(*points, strict=True)
        slope, at_0 = trend(points)
        ax.plot(days, values, color=colour, marker="o", markersize=3, linewidth=1.0, label=record["method"])
        ends = (days[0], days[-1])
        text = f"trend: {slope:+.2g} a day"
        ax.plot(ends, [at_0 + slope * d for d in ends], color=colour, linewidth=1.2, linestyle=(0, (4, 2)), label=text)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter("{x:.4f}")
    ax.set_xlabel("day")
    ax.set_ylabel("PUE of the day")
    ax.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.22), fontsize=7)


def _use(ax: Axes, curves: Curves, axis: Axis) -> None:
    used = 100 * np.array(curves["steps"]["utilisation"], np.float64)
    edges = np.minimum(curves["begin"] + curves["step"] * np.arange(used.size + 1), curves["end"])
    ax.stairs(used, axis.days(edges), fill=True, color=USE, alpha=0.75, linewidth=0)
    ax.set_ylim(0, 108)
    ax.set_yticks([0, 50, 100], ["0", "50", "100 %"])
    ax.set_title("cores in use", loc="left", fontsize=8)


# --- ``bench plot`` of profit problems: schedules of two methods over time, profits of all methods, incumbents over time.

PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6")


def drawn_sections(records: Iterable[Record], methods: Sequence[str] = ()) -> tuple[list[str], int]:
    """Return an HTML section per scenario, and the number of runs in them.

    Parameters
    ----------
    records : iterable of Record
        The records of profit problems.
    methods : sequence of str
        The methods whose schedules are drawn over time; by default the best search and the best rule.

    Raises
    ------
    UnknownName
        If a method has no schedule in any scenario.
    WrongUse
        If methods are given but no record has a schedule of a profit problem.
    """
    scenarios = [(title, results) for title, results in scenario_results(records) if results.schedule is not None]
    known = dict.fromkeys(row.method for _, results in scenarios for row in results.rows if drawn_of(row) is not None)
    for name in methods:
        if not known:
            raise WrongUse("--methods: only for profit problems, but no record has a schedule of a profit problem")
        if name not in known:
            raise UnknownName("method with a schedule among the records", name, list(known))
    return [_section(title, results, methods) for title, results in scenarios], sum(
        len(b.records) for _, b in scenarios
    )


def drawn_of(row: MethodRow) -> Record | None:
    """Return the run of the best seed of a method, which is the one that is drawn; None if it has no schedule."""
    known = [r for r in row.sound if r.get("operation")]
    return max(known, key=lambda r: float(r["objective"]), default=None)


def chosen(results: ProfitResults, methods: Sequence[str]) -> list[Record]:
    """Return the runs that are drawn over time: of the given methods, else of the best search and the best rule."""
    rows = {row.method: row for row in results.rows}
    if methods:
        wanted = [rows[name] for name in methods if name in rows]
    else:
        wanted = [row for row in (results.best_search, results.best_rule) if row is not None]
    return [r for r in map(drawn_of, wanted) if r is not None]


def _section(title: str, results: ProfitResults, methods: Sequence[str]) -> str:
    drawn = chosen(results, methods)
    cards = [
        Card("Profit", "compared with the best rule", earned(title, results)),
        Card("Profit over time", "", anytime(title, results)),
    ]
    if drawn:
        axis = axis_of([r["operation"] for r in drawn])
        curves = [over_time(f"{title}: {r['method']}", r, axis) for r in drawn]
        cards += [Card(r["method"], caption(r), svg) for r, svg in zip(drawn, curves, strict=True)]
    if any(known_pues(r) for r in drawn):
        cards.append(Card("PUE of each day", "", daily_pue(title, drawn)))
    notes = [
        *(line.plain for line in summary(results)),
        "Power, temperature and PUE are means over each segment of the problem; the use of the cores is a mean over each hour. "
        "The dashed line is the horizon: profit counts up to it. The charts of the methods have the same axes. The trend of the PUE of "
        "the days is a linear regression.",
    ]
    days = []
    if drawn:
        days = [_days(drawn)]
    return Section(title, table=_table(results), notes=notes, cards=cards, details="Day by day", folded=days).html()


def caption(record: Record) -> str:
    """Return the caption above the curves of a run."""
    at = record["account"][HORIZON]
    pue, energy = (account(name).text(at[name]) for name in ("pue", "energy_kwh"))
    return (
        f"{number(record['objective'])} EUR, PUE {pue}, {energy} kWh, {percent(at['utilisation'])} of the cores in use"
    )


def _table(results: ProfitResults) -> Grid:
    """Return the table that the bench prints, with a row per method, and the costs."""
    vs_rule, gap, closed, makespan, best_at = compared(results)
    columns = [
        Column("method", lambda row: row.method, words=True),
        Column("profit EUR", lambda row: row.objective, number),
        vs_rule,
        gap,
        closed,
        replace(account("gain"), head="gain EUR"),
        replace(account("work_cost"), head="energy cost of jobs EUR"),
        replace(account("cooling_cost"), head="energy cost of cooling EUR"),
        account("pue"),
        account("energy_kwh"),
        replace(account("utilisation"), head="cores in use"),
        makespan,
        replace(account("profit", END), head="profit at the end EUR"),
        replace(account("pue", END), head="PUE at the end"),
        replace(best_at, head="best schedule found at s"),
    ]
    return Grid.of("", columns, results.rows, style=lambda row: GOOD if results.is_best(row) else "")


def _days(drawn: Sequence[Record]) -> Grid:
    """Return the table of the days up to the horizon: temperature, and use of the cores, PUE and profit of each method."""
    figures = {"cores in use": ("utilisation", percent), "PUE": ("pue", fixed(4)), "profit EUR": ("profit", number)}
    columns = [
        Column("day", lambda day: day[0]),
        Column("mean °C", lambda day: day[1][0]["celsius"], fixed(1)),
        *(
            Column(f"{r['method']}: {head}", partial(_of_day, k=k, name=name), form)
            for k, r in enumerate(drawn)
            for head, (name, form) in figures.items()
        ),
    ]
    return Grid.of("", columns, enumerate(zip(*(r.get("daily", ()) for r in drawn), strict=False), 1))


def _of_day(day: tuple[int, Sequence[Mapping[str, float]]], k: int, name: str) -> float | None:
    return day[1][k][name]


def earned(title: str, results: ProfitResults) -> str:
    """Draw a bar per method as SVG: its profit compared with the best rule, or in EUR if there is no rule."""
    rows = [row for row in results.rows if row.objective is not None]
    return single(f"{title}: profit", partial(_bars, results=results, rows=rows[::-1]), 0.75 + 0.21 * len(rows))


def _bars(ax: Axes, results: ProfitResults, rows: Sequence[MethodRow]) -> None:
    known = [results.improvement(row.objective) for row in rows]
    beside = None not in known
    if beside:
        values = [100 * (v or 0.0) for v in known]
    else:
        values = [float(row.objective or 0.0) for row in rows]
    labels = [signed(v) if beside else number(row.objective) for v, row in zip(known, rows, strict=True)]
    bars = ax.barh([row.method for row in rows], values, color=[GREY if is_rule(r) else WORK for r in rows], height=0.7)
    ax.bar_label(bars, labels, padding=3, fontsize=7)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.margins(x=0.18)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("profit above that of the best rule, %" if beside else "profit, EUR")


def anytime(title: str, results: ProfitResults) -> str:
    """Draw the profit of the incumbent of each method over time as SVG."""
    return single(f"{title}: anytime", partial(_anytime, results=results), 3.3)


def _anytime(ax: Axes, results: ProfitResults) -> None:
    """Draw a line per search or solver, and horizontal lines for the best rule and the best bound."""
    runs = [(row.method, r) for row in results.rows if not is_rule(row) and (r := drawn_of(row)) is not None]
    across = []
    if results.best_rule is not None:
        across = [(results.best_rule.objective or 0.0, results.best_rule.method, GREY, (4, 2))]
    if results.bound is not None:
        across += [(float(results.bound["bound"]), "best bound", INK, (1, 2))]
    heights = [*(float(r["objective"]) for _, r in runs), *(height for height, *_ in across)]
    low, high = limits(heights, max((row.objective for row in results.rows if row.objective is not None), default=0.0))
    for (method, record), colour in zip(runs, PALETTE, strict=False):
        points = incumbents(record)
        end = max(points[-1][0], float(record["seconds"]["total"] or 0.0))
        at, profit = zip(*points, (end, points[-1][1]), strict=True)
        below = ""
        if points[-1][1] < low:
            below = " (below the axis)"
        ax.step([max(s, 1e-3) for s in at], profit, where="post", color=colour, linewidth=1.4, label=f"{method}{below}")
    for height, name, colour, dashes in across:
        ax.axhline(height, color=colour, linewidth=1.0, linestyle=(0, dashes), label=name)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_ylim(low, high)
    ax.set_xlabel("time since the start of the run, s")
    ax.set_ylabel("profit, EUR")
    ax.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=7)


def incumbents(record: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return (seconds, best profit so far) of a run; only its end and its objective if it reported no incumbents."""
    steps: list[tuple[float, float]] = []
    for event in record["incumbents"]:
        value = event["objective"]
        if isinstance(value, (int, float)) and (not steps or value > steps[-1][1]):
            steps.append((float(event["seconds"]), float(value)))
    if not steps and record["objective"] is not None:
        steps.append((float(record["seconds"]["total"] or 0.0), float(record["objective"])))
    return steps


def limits(heights: Sequence[float], best: float) -> tuple[float, float]:
    """Return the range of profits that is shown.

    It contains all heights that are at most 10 % below the best profit, with a margin of the same size below them. A method
    that is far below would make the differences between the others too small to see.

    Parameters
    ----------
    heights : sequence of float
        The profits and bounds that are drawn.
    best : float
        The best profit.

    Examples
    --------
    >>> limits([100.0, 98.0, 102.0, 20.0], 100.0)
    (93.6, 102.4)
    """
    near = [h for h in heights if h >= best - 0.1 * abs(best)]
    low = min(near)
    high = max(near)
    room = max(high - low, 1e-3 * abs(best), 1e-9)
    return round(low - 1.1 * room, 9), round(high + 0.1 * room, 9)


# --- The kind: scenarios, default methods by size, and all that the bench asks.

LARGE = 5000  # a problem with more jobs gets the defaults for large instances
RULES = tuple(f"rule:{key}{strict}" for key in ("est", "wt", "profit") for strict in ("", "-strict"))
SEARCHES = ("multi-search", "delay-search", "relaxation-search@cpsat", "lns", "lns@cpsat")
BOUND = "highs:fluid@lp"
COLD = (Default("cpsat:counts"), Default("cpsat:pool"), Default("cpo:pool"), Default(BOUND))
MEDIUM_PROFIT = (
    Default("auto", 20),
    *(Default(name, 2) for name in RULES),
    *(Default(name, 20) for name in SEARCHES),
    *COLD,
)
SMALL_PROFIT = (*MEDIUM_PROFIT, Default("highs:counts@pairwise", 20), Default("cpo:counts"))
LARGE_PROFIT = (
    Default("auto", 180),
    *(Default(name, 60) for name in RULES),
    *(Default(name, 180) for name in ("multi-search", "delay-search", "lns", BOUND)),
)


class ProfitKind(PlainKind):
    """Profit problems: scenarios, and records with the accounts of their schedules."""

    view_options = ("first", "scenario")
    compared_in_plots = guided = True
    nested_fields = ("account", "account.horizon", "account.end")

    @property
    def record_fields(self) -> Mapping[str, Any]:
        """The accounts, the makespan, the days and the curves over time."""
        return FIELDS

    def default_views(self, instance: Instance) -> Defaults:
        """Return the default scenario with rules, searches, solvers and a bound, by the size of the instance."""
        problem = instance.profit
        if len(problem.jobs) > LARGE:
            usual = LARGE_PROFIT
        elif len(problem.platform.nodes) <= SMALL:
            usual = SMALL_PROFIT
        else:
            usual = MEDIUM_PROFIT
        return {View(scenario=None if instance.centre is None else instance.centre.default): usual}

    def problem(self, instance: Instance, view: View) -> Profit:
        """Return the problem of the scenario, else of the default scenario; with ``first`` its horizon is unchanged."""
        if view.scenario is None:
            problem = instance.profit
        else:
            problem = instance.scenario(view.scenario)
        if view.first is None:
            return problem
        return problem.replace(dispatch=problem.dispatch.replace(jobs=first_jobs(problem.dispatch, view.first)))

    def extra_fields(self, problem: Problem, schedule: Schedule) -> Record:
        """Return the accounts of a schedule."""
        return account_fields(cast(Profit, problem), schedule)

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return the values of the accounts that are not those of the schedule."""
        if schedule is None:
            return []
        return faults_of_account(cast(Profit, problem), record, schedule)

    def show_results(self, console: Console, records: Iterable[Record], explain: bool) -> list[str]:
        """Print a table for each scenario, and an overview of several scenarios."""
        return show_profits(console, records, explain)

    def draw(self, records: Iterable[Record], methods: Sequence[str]) -> Drawing:
        """Draw schedules over time, the profit of each method, and when it was found."""
        return Drawing("profits of the schedules", *drawn_sections(records, methods))

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of jobs and of nodes."""
        of = cast(Profit, problem)
        return str(len(of.jobs)), str(len(of.platform.nodes))

    def describe(self, console: Console, instance: Instance) -> None:
        """Print the platform, the queues, the demand, the prices and the scenarios."""
        from ..tables.instances import show_dispatch, show_profit

        show_dispatch(console, instance.profit.dispatch)
        show_profit(console, instance)


PROFIT = ProfitKind()
