"""Our replays beside a published study: figures with their differences, and the orders of dispatchers that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from statistics import fmean
from typing import NamedTuple

from ...studies.study import Order, Quantity, Study
from .columns import short
from .figures import TextGrid
from .results import DispatcherRow

Rows = Mapping[str, DispatcherRow]
MISSING = "-"


class Comparison(NamedTuple):
    """The grids of a comparison, and a line for each order of dispatchers that differs from the study."""

    grids: list[TextGrid]
    differing: list[str]


def compare(study: Study, rows: Sequence[DispatcherRow]) -> Comparison:
    """Return the figures of a study beside those of our replays, and what the orders are in both.

    Parameters
    ----------
    study : Study
        The study.
    rows : sequence of DispatcherRow
        Our replays, by names of dispatchers as in the study; a backend in a name is ignored.

    Returns
    -------
    Comparison
        The grids and the orders that differ.
    """
    known = {row.name.partition("@")[0]: row for row in rows}
    lines = [line for quantity in study.quantities for line in _lines(quantity, known)]
    stated = [line for order in study.orders for line in _stated(order, known)]
    differing = [text for quantity in study.quantities for text in _other_orders(quantity, known)]
    differing += [line.differs for line in stated if line.differs]
    heads = ["figure", "dispatcher", "ours", "study", "differ-\nence", "rank:\nours", "rank:\nstudy"]
    orders = [
        "where",
        "better",
        "worse",
        "figure",
        "better:\nours",
        "worse:\nours",
        "less by:\nours",
        "less by:\nstudy",
        "holds",
    ]
    return Comparison(
        [
            TextGrid(
                f"figures of [{study.reference}] beside ours",
                heads,
                lines,
                "difference: (ours - study) / study; rank: 1 is the least value among the dispatchers that have both values.",
            ),
            TextGrid(
                f"orders that [{study.reference}] states",
                orders,
                [line.cells for line in stated],
                "better, worse: by the text of the study; less by: (worse - better) / worse; holds: whether the order is the same here.",
            ),
        ],
        differing,
    )  # fmt: skip


def _ours(row: DispatcherRow | None, figure: str) -> float | None:
    """Return a figure of a dispatcher, the mean over the seeds; None if it is unknown."""
    if row is None or not figure.startswith("seconds."):
        return None if row is None else row.metric(figure)
    values = [r["seconds"].get(figure.removeprefix("seconds.")) for r in row.records if row.whole]
    return fmean(values) if values and None not in values else None


def _both(quantity: Quantity, rows: Rows) -> dict[str, tuple[float, float]]:
    """Return (ours, study) of each dispatcher that has both values."""
    found = {name: _ours(rows.get(name), quantity.figure) for name in quantity.values}
    return {n: (v * quantity.scale, quantity.values[n]) for n, v in found.items() if v is not None}


def _lines(quantity: Quantity, rows: Rows) -> Iterator[list[str]]:
    both = _both(quantity, rows)
    ranks = [{n: 1 + sum(w[k] < both[n][k] for w in both.values()) for n in both} for k in (0, 1)]
    heading = quantity.heading
    for name, theirs in quantity.values.items():
        if name in both:
            ours = both[name][0]
            difference = f"{100 * (ours - theirs) / theirs:+,.0f}%" if theirs else MISSING
            yield [heading, name, short(ours), short(theirs), difference, *(str(rank[name]) for rank in ranks)]
        else:
            yield [heading, name, MISSING, short(theirs), MISSING, MISSING, MISSING]
        heading = ""


def _other_orders(quantity: Quantity, rows: Rows) -> Iterator[str]:
    """Yield a line with the pairs of dispatchers that a figure orders otherwise than the study; equal values order none."""
    both = _both(quantity, rows)
    pairs = [
        f"{a} and {b}" for a, b in combinations(both, 2) if (both[a][0] - both[b][0]) * (both[a][1] - both[b][1]) < 0
    ]
    if pairs:
        yield f"{quantity.heading}: {', '.join(pairs)}"


class _Line(NamedTuple):
    cells: list[str]
    differs: str


def _stated(order: Order, rows: Rows) -> Iterator[_Line]:
    """Yield a line for each two neighbours of a chain and each figure."""
    for better, worse in pairwise(order.chain):
        for figure in order.figures:
            a, b = _ours(rows.get(better), figure), _ours(rows.get(worse), figure)
            stated = order.reductions.get(figure)
            theirs = MISSING if stated is None else f"{stated:g}%"
            if a is None or b is None:
                cells = [
                    MISSING if a is None else short(a),
                    MISSING if b is None else short(b),
                    MISSING,
                    theirs,
                    MISSING,
                ]
                yield _Line([order.where, better, worse, figure, *cells], "")
                continue
            less = f"{100 * (b - a) / b:.0f}%" if b else MISSING
            differs = f"{order.where}, {figure}: {better} ({short(a)}) is not better than {worse} ({short(b)})"
            cells = [short(a), short(b), less, theirs, "yes" if a <= b else "NO"]
            yield _Line([order.where, better, worse, figure, *cells], differs if a > b else "")


__all__ = ["Comparison", "compare"]
