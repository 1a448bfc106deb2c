"""``bench plot`` of eviction problems: loss against deadline, what greedy loses beyond it, response times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..records.store import Record
from ..runs.view import View
from ..tables.eviction import HOUR, EvictionResults, EvictionRow, extract_evictions, hours, milliseconds, trade_off
from .charts import single

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d")
HEIGHT = 3.2  # inches
Needs = Mapping[int, EvictionResults]  # nodes needed -> runs


def sections(records: Iterable[Record]) -> tuple[list[str], int]:
    """A section of HTML per instance, and how many runs are drawn in all."""
    found: dict[tuple[str, str], dict[int, EvictionResults]] = {}
    count = 0
    for _, results in extract_evictions(records)[0]:
        first = results.records[0]
        nodes = nodes_needed(first)
        if nodes is not None and results.best:
            found.setdefault((first["instance"], first["content"]), {})[nodes] = results
            count += sum(bool(row.deadlines) for row in results.rows)
    return [_section(name, dict(sorted(needs.items()))) for (name, _), needs in found.items()], count


def nodes_needed(record: Mapping[str, Any]) -> int | None:
    """The nodes that a run was asked to free; None if the record does not tell."""
    asked = View(**record["view"]).nodes_needed
    known = record.get("nodes_needed") if asked is None else asked
    return None if known is None else int(known)


def _section(name: str, needs: Needs) -> str:
    names = dict.fromkeys(row.method for results in needs.values() for row in results.rows)
    colours = dict(zip(names, PALETTE, strict=False))  # a method has the same one in every chart
    charts = [
        ("Least loss", single(f"{name}: loss", lambda ax: _loss(ax, needs), HEIGHT)),
        ("Extra loss of greedy", single(f"{name}: greedy", lambda ax: _greedy(ax, needs), HEIGHT)),
    ]
    for nodes, results in needs.items():
        svg = single(f"{name}: time, {nodes} nodes", partial(_times, results=results, colours=colours), HEIGHT)
        charts.append((f"Response time, {nodes:,} nodes", svg))
    figures = "".join(f"<figure><figcaption><b>{escape(title)}</b></figcaption>{svg}</figure>" for title, svg in charts)
    notes = [f"{nodes:,} nodes: {trade_off(results.best)}" for nodes, results in needs.items()]
    notes.append(
        "Response times are sums over the deadlines up to there; the dynamic program answers all of them in one pass."
    )
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return "\n".join(
        [
            f"<section><h2>{escape(name)}: which jobs go</h2>",
            _table(needs),
            f'<div class="cards">{figures}</div><ul class="notes">{items}</ul></section>',
        ]
    )


def _table(needs: Needs) -> str:
    heads = ("nodes", "method", "loss node-h", "checkpoints s", "all deadlines ms")
    rows = ["<tr>" + "".join(f"<th>{h}</th>" for h in heads) + "</tr>"]
    for nodes, results in needs.items():
        for row in results.rows:
            taken = "-" if row.answer is None else f"{row.answer[1]:,}"
            cells = (row.method, hours(row.answer), taken, milliseconds(row.all_deadlines))
            rows.append(f"<tr><th>{nodes:,}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return f"<table>{''.join(rows)}</table>"


def _loss(ax: Axes, needs: Needs) -> None:
    """The least loss within each deadline: a step down where a checkpoint more fits."""
    for (nodes, results), colour in zip(needs.items(), PALETTE, strict=False):
        deadlines = sorted(results.best)
        _stairs(ax, deadlines, [results.best[d][0] / HOUR for d in deadlines], colour, f"{nodes:,} nodes")
    _finish(ax, "loss, node-hours")


def _greedy(ax: Axes, needs: Needs) -> None:
    for (nodes, results), colour in zip(needs.items(), PALETTE, strict=False):
        greedy = next((row for row in results.rows if row.method == "greedy"), None)
        if greedy is not None and greedy.deadlines:
            deadlines = sorted(greedy.deadlines)
            more = [(greedy.deadlines[d][0] - results.best[d][0]) / HOUR for d in deadlines]
            _stairs(ax, deadlines, more, colour, f"{nodes:,} nodes")
    _finish(ax, "loss beyond the least, node-hours")


def _stairs(ax: Axes, deadlines: Sequence[int], values: Sequence[float], colour: str, label: str) -> None:
    ax.step([d / 60 for d in deadlines], values, where="post", color=colour, label=label, linewidth=1.4)


def _times(ax: Axes, results: EvictionResults, colours: Mapping[str, str]) -> None:
    """Milliseconds until the deadlines up to there were answered, on a log scale."""
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
    _finish(ax, "all deadlines so far, ms", columns=3)
    ax.set_ylim(top=30 * ax.get_ylim()[1])  # the place of the legend


def response(row: EvictionRow) -> list[tuple[int, float]]:
    """(deadline, seconds until it and all before it were answered) of a method's first seed; of one pass the same for all."""
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
