"""``bench plot`` of profit problems: two methods side by side over time, what each method earns, and how soon."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...backends import UnknownName
from ...backends.gaps import relative_gap
from ...models.step_function import DAY
from ..errors import WrongUse
from ..kinds.profit import END, HORIZON
from ..records.store import Record
from ..tables.methods import MethodRow
from ..tables.numbers import number, percent, seconds
from ..tables.profit import (
    RULE,
    ProfitResults,
    extract_profits,
    figure,
    fixed,
    makespan,
    precise,
    share,
    signed,
    summary,
    unit,
)
from .charts import GREY, INK, as_svg, single, stacked, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORK, COOLING, WARM, USE = "#4c78a8", "#f58518", "#e45756", "#54a24b"
PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6")
POWER, LOW, PUE = 1.5, 0.62, 0.85  # inches: the heights of the axes
LEFT = 0.62  # inches: the room for labels
KILO = 2000  # watts from which powers are told in kW
LEAST_PUE = 0.05  # that the axis of the PUE spans
Curves = Mapping[str, Any]  # the field "operation" of a record


class Axis(NamedTuple):
    """What the charts of all methods of a scenario share."""

    begin: int
    end: int
    watts: float
    pue: tuple[float, float]
    celsius: tuple[float, float]

    def days(self, at: Any) -> Any:
        """Seconds as days since the begin."""
        return (np.asarray(at, np.float64) - self.begin) / DAY


def sections(records: Iterable[Record], methods: Sequence[str] = ()) -> tuple[list[str], int]:
    """A section of HTML per scenario, and how many runs are in them. ``methods``: to draw over time; by default the best two.

    Raises UnknownName for a method without a schedule in any scenario.
    """
    boards = [(title, results) for title, results in extract_profits(records)[0] if results.schedule is not None]
    known = dict.fromkeys(row.method for _, results in boards for row in results.rows if drawn_of(row) is not None)
    for name in methods:
        if not known:
            raise WrongUse("--methods: for profit problems, of which there are no schedules among the records")
        if name not in known:
            raise UnknownName("method with a schedule among the records", name, list(known))
    return [_section(title, results, methods) for title, results in boards], sum(len(b.records) for _, b in boards)


def drawn_of(row: MethodRow) -> Record | None:
    """The run of a method that is drawn: that of its best seed."""
    known = [r for r in row.sound if r.get("operation")]
    return max(known, key=lambda r: float(r["objective"]), default=None)


def chosen(results: ProfitResults, methods: Sequence[str]) -> list[Record]:
    """The runs that are drawn over time: of the methods that are asked for, else of the best search and the best rule."""
    rows = {row.method: row for row in results.rows}
    if methods:
        asked = [rows[name] for name in methods if name in rows]
    else:
        asked = [row for row in (results.best_search, results.best_rule) if row is not None]
    return [r for r in map(drawn_of, asked) if r is not None]


def _section(title: str, results: ProfitResults, methods: Sequence[str]) -> str:
    drawn = chosen(results, methods)
    cards = [
        _card("Profit", "beside the best rule", earned(title, results)),
        _card("Profit over time", "", anytime(title, results)),
    ]
    axis = axis_of([r["operation"] for r in drawn]) if drawn else None
    cards += [
        _card(r["method"], told(r), over_time(f"{title}: {r['method']}", r["operation"], axis)) for r in drawn if axis
    ]
    notes = [
        *(line.plain for line in summary(results)),
        "Power, temperature and PUE are means of each segment of the problem, the use of the cores is that of each hour; the "
        "dashed line is the horizon, up to which profit counts. The charts of the methods have the same axes.",
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


def _card(name: str, said: str, picture: str) -> str:
    return f"<figure><figcaption><b>{escape(name)}</b> {escape(said)}</figcaption>{picture}</figure>"


def told(record: Record) -> str:
    """What stands above the curves of a run."""
    at = record["account"][HORIZON]
    return (
        f"{number(record['objective'])} EUR, PUE {fixed(at['pue'], 4)}, {fixed(at['energy_kwh'], 1)} kWh, "
        f"{percent(at['utilisation'])} of the cores in use"
    )


def _table(results: ProfitResults) -> str:
    """A row per method: the table that the bench prints, and the costs."""
    bound = None if results.bound is None else results.bound["bound"]
    name, length = unit(results)
    columns: list[tuple[str, Callable[[MethodRow], str]]] = [
        ("profit EUR", lambda row: number(row.objective)),
        ("vs rule", lambda row: signed(results.improvement(row.objective))),
        ("gap to bound", lambda row: precise(relative_gap(row.objective, bound))),
        ("gap closed", lambda row: share(results.closed(row.objective))),
        ("gain EUR", lambda row: number(figure(row, "gain"))),
        ("work EUR", lambda row: number(figure(row, "work_cost"))),
        ("cooling EUR", lambda row: number(figure(row, "cooling_cost"))),
        ("PUE", lambda row: fixed(figure(row, "pue"), 4)),
        ("energy kWh", lambda row: fixed(figure(row, "energy_kwh"), 1)),
        ("use", lambda row: percent(figure(row, "utilisation"))),
        (f"makespan {name}", lambda row: makespan(row, length)),
        ("profit at the end EUR", lambda row: number(figure(row, "profit", END))),
        ("PUE at the end", lambda row: fixed(figure(row, "pue", END), 4)),
        ("best at s", lambda row: seconds(row.mean(lambda r: r["best_s"]))),
    ]
    rows = ["<tr><th>method</th>" + "".join(f"<th>{escape(head)}</th>" for head, _ in columns) + "</tr>"]
    for row in results.rows:
        won = ' class="best"' if results.best is not None and row.method == results.best.method else ""
        cells = "".join(f"<td{won}>{escape(cell(row))}</td>" for _, cell in columns)
        rows.append(f"<tr><th>{escape(row.method)}</th>{cells}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _days(drawn: Sequence[Record]) -> str:
    """The days up to the horizon: temperature, and of each method use, PUE and profit."""
    if not drawn:
        return ""
    names = "".join(f"<th>{escape(r['method'])}: {what}</th>" for r in drawn for what in ("use", "PUE", "profit EUR"))
    rows = [f"<tr><th>day</th><th>mean °C</th>{names}</tr>"]
    for k, days in enumerate(zip(*(r.get("daily", ()) for r in drawn), strict=False), 1):
        cells = [fixed(days[0]["celsius"], 1)]
        for day in days:
            cells += [percent(day["utilisation"]), fixed(day["pue"], 4), number(day["profit"])]
        rows.append(f"<tr><th>{k}</th>" + "".join(f"<td>{escape(c)}</td>" for c in cells) + "</tr>")
    return f"<details><summary>Day by day</summary><table>{''.join(rows)}</table></details>"


def axis_of(several: Sequence[Curves]) -> Axis:
    """The axes that show all curves of several runs; of the PUE, those up to the horizon."""
    celsius = [c for curves in several for c in curves["segments"]["celsius"]]
    known = [p for c in several for p, t in zip(pues(c), _edges(c), strict=False) if p is not None and t < c["until"]]
    known = known or [1.0]  # what runs on after the horizon may have any
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
    """The PUE of each segment; None where nothing runs."""
    return [1 + cooling / watts if watts > 0 else None for watts, cooling in _powers(curves)]


def over_time(title: str, curves: Curves, axis: Axis) -> str:
    """Power of work and cooling, temperature, PUE and use of the cores, one below the other on one time axis, as SVG."""
    with styled(title):
        drawing, axes = stacked([POWER, LOW, PUE, LOW], LEFT)
        _power(axes[0], curves, axis)
        _steps(axes[1], axis.days(_edges(curves)), curves["segments"]["celsius"], WARM)
        low, high = axis.celsius
        axes[1].set_ylim(low - 0.1 * (high - low) - 0.5, high + 0.1 * (high - low) + 0.5)
        axes[1].set_title("temperature, °C", loc="left", fontsize=8)
        _pue(axes[2], curves, axis)
        _use(axes[3], curves, axis)
        for ax in axes:
            ax.axvline(axis.days(curves["until"]), color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        axes[-1].set_xlim(0, axis.days(axis.end))
        axes[-1].set_xlabel("days")
        return as_svg(drawing, title)


def _edges(curves: Curves) -> list[int]:
    return [curves["begin"], *curves["segments"]["end"]]


def _steps(ax: Axes, edges: Any, values: Sequence[float | None], colour: str) -> None:
    """A line that is constant in each segment, with gaps where there is no value."""
    from matplotlib.ticker import MaxNLocator

    known = np.array([np.nan if v is None else v for v in values], np.float64)
    ax.stairs(known, edges, baseline=None, color=colour, linewidth=1.3)
    ax.yaxis.set_major_locator(MaxNLocator(3))


def _power(ax: Axes, curves: Curves, axis: Axis) -> None:
    """What the work takes, and on it what its cooling takes."""
    unit, kilo = ("kW", 1000.0) if axis.watts >= KILO else ("W", 1.0)
    edges = axis.days(_edges(curves))
    work = np.array(curves["segments"]["watts"], np.float64) / kilo
    whole = work + np.array(curves["segments"]["cooling"], np.float64) / kilo
    ax.stairs(work, edges, fill=True, color=WORK, alpha=0.85, linewidth=0, label="work")
    ax.stairs(whole, edges, baseline=work, fill=True, color=COOLING, alpha=0.85, linewidth=0, label="cooling")
    ax.set_ylim(0, 1.08 * max(axis.watts, 1e-9) / kilo)
    ax.set_title(f"power, {unit}", loc="left", fontsize=8)
    ax.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 0.99), borderaxespad=0.1, fontsize=8)


def _pue(ax: Axes, curves: Curves, axis: Axis) -> None:
    """The PUE of each segment, and that of all up to the horizon."""
    total = total_pue(curves)
    if total is not None:
        ax.plot([0, axis.days(curves["until"])], [total, total], color=COOLING, linewidth=1.0)
    _steps(ax, axis.days(_edges(curves)), pues(curves), INK)
    low, high = axis.pue
    ax.set_ylim(max(1.0, low - 0.1 * (high - low)), high + 0.1 * (high - low))
    ax.yaxis.set_major_formatter("{x:.2f}" if high - low > 2 * LEAST_PUE else "{x:.3f}")
    said = "" if total is None else f"; all up to the horizon: {total:.4f}"
    ax.set_title(f"PUE of each segment{said}", loc="left", fontsize=8)


def total_pue(curves: Curves) -> float | None:
    """The PUE of all segments up to the horizon."""
    edges = np.minimum(np.array(_edges(curves), np.float64), curves["until"])
    work, cooling = np.diff(edges) @ np.array(_powers(curves), np.float64).reshape(-1, 2)
    return 1 + float(cooling / work) if work > 0 else None


def _use(ax: Axes, curves: Curves, axis: Axis) -> None:
    used = 100 * np.array(curves["steps"]["utilisation"], np.float64)
    edges = np.minimum(curves["begin"] + curves["step"] * np.arange(used.size + 1), curves["end"])
    ax.stairs(used, axis.days(edges), fill=True, color=USE, alpha=0.75, linewidth=0)
    ax.set_ylim(0, 108)
    ax.set_yticks([0, 50, 100], ["0", "50", "100 %"])
    ax.set_title("cores in use", loc="left", fontsize=8)


def earned(title: str, results: ProfitResults) -> str:
    """What each method earns beside the best rule, or in euro without one: a bar each, as SVG."""
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
    ax.set_xlabel("better than the best rule by, %" if beside else "profit, EUR")


def _rule(row: MethodRow) -> bool:
    return row.method.startswith(RULE)


def anytime(title: str, results: ProfitResults) -> str:
    """The profit of the best schedule so far over the seconds of each method, as SVG."""
    return single(f"{title}: anytime", partial(_anytime, results=results), 3.3)


def _anytime(ax: Axes, results: ProfitResults) -> None:
    """Lines of the searches and solvers; the best rule and the bound lie across."""
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
        below = " (below)" if points[-1][1] < low else ""
        ax.step([max(s, 1e-3) for s in at], profit, where="post", color=colour, linewidth=1.4, label=f"{method}{below}")
    for height, name, colour, dashes in across:
        ax.axhline(height, color=colour, linewidth=1.0, linestyle=(0, dashes), label=name)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_ylim(low, high)
    ax.set_xlabel("seconds")
    ax.set_ylabel("profit, EUR")
    ax.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=7)


def incumbents(record: Mapping[str, Any]) -> list[tuple[float, float]]:
    """(seconds, best profit so far) of a run; what its schedule is worth at last, where it told of nothing."""
    found: list[tuple[float, float]] = []
    for event in record["incumbents"]:
        value = event["objective"]
        if isinstance(value, (int, float)) and (not found or value > found[-1][1]):
            found.append((float(event["seconds"]), float(value)))
    if not found and record["objective"] is not None:
        found.append((float(record["seconds"]["total"] or 0.0), float(record["objective"])))
    return found


def limits(heights: Sequence[float], best: float) -> tuple[float, float]:
    """The range of profits that is shown: up to the bound, and down as far again below the best and the rule.

    A method that never comes there would make the differences between the others too small to see.

    >>> limits([100.0, 98.0, 102.0, 20.0], 100.0)
    (93.6, 102.4)
    """
    near = [h for h in heights if h >= best - 0.1 * abs(best)]
    low, high = min(near), max(near)
    room = max(high - low, 1e-3 * abs(best), 1e-9)
    return round(low - 1.1 * room, 9), round(high + 0.1 * room, 9)
