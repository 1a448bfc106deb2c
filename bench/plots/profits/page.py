"""``bench plot`` of profit problems: schedules of two methods over time, profits of all methods, incumbents over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from ....backends import UnknownName
from ....backends.gaps import relative_gap
from ...errors import WrongUse
from ...kinds.accounts import END, HORIZON
from ...records.store import Record
from ...tables.methods import MethodRow
from ...tables.numbers import number, percent, seconds
from ...tables.profit import (
    RULE,
    ProfitResults,
    figure,
    fixed,
    makespan,
    precise,
    scenario_results,
    share,
    signed,
    summary,
    unit,
)
from ..svg import GREY, INK, single
from .curves import WORK, axis_of, daily_pue, known_pues, over_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6")


def sections(records: Iterable[Record], methods: Sequence[str] = ()) -> tuple[list[str], int]:
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
        _card("Profit", "compared with the best rule", earned(title, results)),
        _card("Profit over time", "", anytime(title, results)),
    ]
    axis = axis_of([r["operation"] for r in drawn]) if drawn else None
    cards += [
        _card(r["method"], caption(r), over_time(f"{title}: {r['method']}", r["operation"], axis))
        for r in drawn
        if axis
    ]
    if any(known_pues(r) for r in drawn):
        cards.append(_card("PUE of each day", "", daily_pue(title, drawn)))
    notes = [
        *(line.plain for line in summary(results)),
        "Power, temperature and PUE are means over each segment of the problem; the use of the cores is a mean over each hour. "
        "The dashed line is the horizon: profit counts up to it. The charts of the methods have the same axes. The trend of the PUE of "
        "the days is a linear regression.",
    ]
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return "\n".join(
        [
            f"<section><h2>{escape(title)}</h2>",
            _table(results),
            f'<ul class="notes">{items}</ul>',
            f'<div class="cards">{"".join(cards)}</div>',
            _days(drawn),
            "</section>",
        ]
    )


def _card(name: str, text: str, picture: str) -> str:
    return f"<figure><figcaption><b>{escape(name)}</b> {escape(text)}</figcaption>{picture}</figure>"


def caption(record: Record) -> str:
    """Return the caption above the curves of a run."""
    at = record["account"][HORIZON]
    return (
        f"{number(record['objective'])} EUR, PUE {fixed(at['pue'], 4)}, {fixed(at['energy_kwh'], 1)} kWh, "
        f"{percent(at['utilisation'])} of the cores in use"
    )


def _table(results: ProfitResults) -> str:
    """Return the table that the bench prints as HTML, with a row per method, and the costs."""
    bound = None if results.bound is None else results.bound["bound"]
    name, length = unit(results)
    columns: list[tuple[str, Callable[[MethodRow], str]]] = [
        ("profit EUR", lambda row: number(row.objective)),
        ("vs rule", lambda row: signed(results.improvement(row.objective))),
        ("gap to bound", lambda row: precise(relative_gap(row.objective, bound))),
        ("gap closed", lambda row: share(results.closed(row.objective))),
        ("gain EUR", lambda row: number(figure(row, "gain"))),
        ("energy cost of jobs EUR", lambda row: number(figure(row, "work_cost"))),
        ("energy cost of cooling EUR", lambda row: number(figure(row, "cooling_cost"))),
        ("PUE", lambda row: fixed(figure(row, "pue"), 4)),
        ("energy kWh", lambda row: fixed(figure(row, "energy_kwh"), 1)),
        ("cores in use", lambda row: percent(figure(row, "utilisation"))),
        (f"makespan {name}", lambda row: makespan(row, length)),
        ("profit at the end EUR", lambda row: number(figure(row, "profit", END))),
        ("PUE at the end", lambda row: fixed(figure(row, "pue", END), 4)),
        ("best schedule found at s", lambda row: seconds(row.mean(lambda r: r["best_s"]))),
    ]
    rows = ["<tr><th>method</th>" + "".join(f"<th>{escape(head)}</th>" for head, _ in columns) + "</tr>"]
    for row in results.rows:
        won = ' class="best"' if results.best is not None and row.method == results.best.method else ""
        cells = "".join(f"<td{won}>{escape(cell(row))}</td>" for _, cell in columns)
        rows.append(f"<tr><th>{escape(row.method)}</th>{cells}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _days(drawn: Sequence[Record]) -> str:
    """Return the table of the days up to the horizon: temperature, and use of the cores, PUE and profit of each method."""
    if not drawn:
        return ""
    names = "".join(
        f"<th>{escape(r['method'])}: {what}</th>" for r in drawn for what in ("cores in use", "PUE", "profit EUR")
    )
    rows = [f"<tr><th>day</th><th>mean °C</th>{names}</tr>"]
    for k, days in enumerate(zip(*(r.get("daily", ()) for r in drawn), strict=False), 1):
        cells = [fixed(days[0]["celsius"], 1)]
        for day in days:
            cells += [percent(day["utilisation"]), fixed(day["pue"], 4), number(day["profit"])]
        rows.append(f"<tr><th>{k}</th>" + "".join(f"<td>{escape(c)}</td>" for c in cells) + "</tr>")
    return f"<details><summary>Day by day</summary><table>{''.join(rows)}</table></details>"


def earned(title: str, results: ProfitResults) -> str:
    """Draw a bar per method as SVG: its profit compared with the best rule, or in EUR if there is no rule."""
    rows = [row for row in results.rows if row.objective is not None]
    return single(f"{title}: profit", partial(_bars, results=results, rows=rows[::-1]), 0.75 + 0.21 * len(rows))


def _bars(ax: Axes, results: ProfitResults, rows: Sequence[MethodRow]) -> None:
    known = [results.improvement(row.objective) for row in rows]
    beside = None not in known
    values = [100 * (v or 0.0) for v in known] if beside else [float(row.objective or 0.0) for row in rows]
    labels = [signed(v) if beside else number(row.objective) for v, row in zip(known, rows, strict=True)]
    bars = ax.barh([row.method for row in rows], values, color=[GREY if _rule(r) else WORK for r in rows], height=0.7)
    ax.bar_label(bars, labels, padding=3, fontsize=7)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.margins(x=0.18)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("profit above that of the best rule, %" if beside else "profit, EUR")


def _rule(row: MethodRow) -> bool:
    return row.method.startswith(RULE)


def anytime(title: str, results: ProfitResults) -> str:
    """Draw the profit of the incumbent of each method over time as SVG."""
    return single(f"{title}: anytime", partial(_anytime, results=results), 3.3)


def _anytime(ax: Axes, results: ProfitResults) -> None:
    """Draw a line per search or solver, and horizontal lines for the best rule and the best bound."""
    runs = [(row.method, r) for row in results.rows if not _rule(row) and (r := drawn_of(row)) is not None]
    across = (
        []
        if results.best_rule is None
        else [(results.best_rule.objective or 0.0, results.best_rule.method, GREY, (4, 2))]
    )
    across += [] if results.bound is None else [(float(results.bound["bound"]), "best bound", INK, (1, 2))]
    heights = [*(float(r["objective"]) for _, r in runs), *(height for height, *_ in across)]
    low, high = limits(heights, max((row.objective for row in results.rows if row.objective is not None), default=0.0))
    for (method, record), colour in zip(runs, PALETTE, strict=False):
        points = incumbents(record)
        end = max(points[-1][0], float(record["seconds"]["total"] or 0.0))
        at, profit = zip(*points, (end, points[-1][1]), strict=True)
        below = " (below the axis)" if points[-1][1] < low else ""
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
    found: list[tuple[float, float]] = []
    for event in record["incumbents"]:
        value = event["objective"]
        if isinstance(value, (int, float)) and (not found or value > found[-1][1]):
            found.append((float(event["seconds"]), float(value)))
    if not found and record["objective"] is not None:
        found.append((float(record["seconds"]["total"] or 0.0), float(record["objective"])))
    return found


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
    low, high = min(near), max(near)
    room = max(high - low, 1e-3 * abs(best), 1e-9)
    return round(low - 1.1 * room, 9), round(high + 0.1 * room, 9)
