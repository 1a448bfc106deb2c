"""``bench plot`` of eviction problems: least loss by deadline, extra loss of greedy, response times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ...models.counts import how_many
from ..grid import Column, Grid, count
from ..pages import Card, Section
from ..records.store import Record
from ..runs.view import View
from ..tables.eviction import (
    CHECKPOINTS,
    HOUR,
    LOSS,
    EvictionResults,
    EvictionRow,
    eviction_results,
    milliseconds,
    trade_off,
)
from .svg import single

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d")
HEIGHT = 3.2  # inches
Needs = Mapping[int, EvictionResults]  # number of nodes to free -> runs


def sections(records: Iterable[Record]) -> tuple[list[str], int]:
    """Return an HTML section per instance, and the number of runs that are drawn."""
    by_trace: dict[tuple[str, str], dict[int, EvictionResults]] = {}
    count = 0
    for _, results in eviction_results(records):
        first = results.records[0]
        nodes = nodes_needed(first)
        if nodes is not None and results.best:
            by_trace.setdefault((first["instance"], first["content"]), {})[nodes] = results
            count += sum(bool(row.deadlines) for row in results.rows)
    return [_section(name, dict(sorted(needs.items()))) for (name, _), needs in by_trace.items()], count


def nodes_needed(record: Mapping[str, Any]) -> int | None:
    """Return the number of nodes that a run had to free; None if the record does not have it."""
    chosen = View(**record["view"]).nodes_needed
    known = record.get("nodes_needed") if chosen is None else chosen
    return None if known is None else int(known)


def _section(name: str, needs: Needs) -> str:
    names = dict.fromkeys(row.method for results in needs.values() for row in results.rows)
    colours = dict(zip(names, PALETTE, strict=False))  # a method has the same colour in every chart
    cards = [
        Card("Least loss", "", single(f"{name}: loss", lambda ax: _loss(ax, needs), HEIGHT)),
        Card("Extra loss of greedy", "", single(f"{name}: greedy", lambda ax: _greedy(ax, needs), HEIGHT)),
    ]
    remarks = []
    for nodes, results in needs.items():
        draw = partial(_times, results=results, colours=colours)
        svg = single(f"{name}: time, {how_many(nodes, 'node')}", draw, HEIGHT)
        cards.append(Card(f"Response time, {how_many(nodes, 'node', ',')} to free", "", svg))
        remarks.append(f"{how_many(nodes, 'node', ',')} to free, least loss by deadline: {trade_off(results.best)}")
    remarks.append(
        "The response time at a deadline is the sum over all deadlines up to it; the dynamic program (dp) needs one pass for all."
    )
    return Section(f"{name}: jobs to evict", table=_table(needs), cards=cards, remarks=remarks).html()


def _table(needs: Needs) -> Grid:
    columns = [
        Column("nodes to free", lambda pair: pair[0], count),
        Column("method", lambda pair: pair[1].method, words=True),
        Column("loss node-h", lambda pair: LOSS.value(pair[1]), LOSS.form),
        Column("checkpoint time s", lambda pair: CHECKPOINTS.value(pair[1]), CHECKPOINTS.form),
        Column("response time for all deadlines ms", lambda pair: pair[1].all_deadlines, milliseconds),
    ]
    return Grid.of("", columns, [(nodes, row) for nodes, results in needs.items() for row in results.rows])


def _loss(ax: Axes, needs: Needs) -> None:
    """Draw the least loss within each deadline; it decreases where one more checkpoint fits."""
    for (nodes, results), colour in zip(needs.items(), PALETTE, strict=False):
        deadlines = sorted(results.best)
        _stairs(
            ax,
            deadlines,
            [results.best[d][0] / HOUR for d in deadlines],
            colour,
            f"{how_many(nodes, 'node', ',')} to free",
        )
    _finish(ax, "least loss, node-hours")


def _greedy(ax: Axes, needs: Needs) -> None:
    for (nodes, results), colour in zip(needs.items(), PALETTE, strict=False):
        greedy = next((row for row in results.rows if row.method == "greedy"), None)
        if greedy is not None and greedy.deadlines:
            deadlines = sorted(greedy.deadlines)
            more = [(greedy.deadlines[d][0] - results.best[d][0]) / HOUR for d in deadlines]
            _stairs(ax, deadlines, more, colour, f"{how_many(nodes, 'node', ',')} to free")
    _finish(ax, "loss of greedy minus least loss, node-hours")


def _stairs(ax: Axes, deadlines: Sequence[int], values: Sequence[float], colour: str, label: str) -> None:
    ax.step([d / 60 for d in deadlines], values, where="post", color=colour, label=label, linewidth=1.4)


def _times(ax: Axes, results: EvictionResults, colours: Mapping[str, str]) -> None:
    """Draw the response time for all deadlines up to each deadline, in milliseconds on a log scale."""
    from matplotlib.ticker import NullFormatter

    for row, colour in zip(results.rows, PALETTE, strict=False):
        pairs = response(row)
        if pairs:
            ax.plot(
                [d / 60 for d, _ in pairs], [1000 * s for _, s in pairs], color=colour, label=row.method, marker="."
            )
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    _finish(ax, "response time for all deadlines\nup to this one, ms", columns=3)
    ax.set_ylim(top=30 * ax.get_ylim()[1])  # room for the legend


def response(row: EvictionRow) -> list[tuple[int, float]]:
    """Return (deadline in s, response time in s for all deadlines up to it) of the first seed of a method.

    A method that needs one pass for all deadlines has the same response time for each.
    """
    rows = sorted((int(d), float(s)) for d, s, _ in row.records[0].get("response_s") or ())
    if row.records[0].get("one_pass"):
        return rows
    return list(zip((d for d, _ in rows), accumulate(s for _, s in rows), strict=True))


def _finish(ax: Axes, what: str, columns: int = 1) -> None:
    ax.set_xlabel("deadline, minutes")
    ax.set_ylabel(what)
    ax.set_xlim(left=0)
    if ax.get_yscale() != "log":
        ax.set_ylim(bottom=0)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, loc="upper right", ncols=columns)
