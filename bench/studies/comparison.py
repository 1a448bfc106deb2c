"""Our replays beside a published study: its tables and figures, drawn and as grids, and the orders of dispatchers that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby, pairwise
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from ...instances.files.writing import write_whole
from ..errors import WrongUse
from ..grid import Grid, short
from ..plots.panels import Shape, draw_radar
from ..plots.statistics import PANEL, bars, ecdf, figure
from ..plots.svg import require_matplotlib, side_by_side
from ..records.record import platform_of
from ..records.store import Record
from ..tables.replays import RECORDED, DispatcherRow, extract_replays
from .study import Exhibit, Order, Quantity, Study

# --- Our replays beside a published study: its tables and figures as grids, and the orders of dispatchers that differ.

Rows = Mapping[str, DispatcherRow]
MISSING = "-"
ALL_SECONDS = "decisions_seconds_total"
HEADS = ("where", "better", "worse", "figure", "better:\nours", "worse:\nours", "less by:\nours", "less by:\nstudy")


class Comparison(NamedTuple):
    """The grids of a comparison, and a line for each order of dispatchers that differs from the study."""

    grids: list[Grid]
    differing: list[str]


def compare(study: Study, rows: Sequence[DispatcherRow]) -> Comparison:
    """Return the tables and figures of a study with our values, and which orders of dispatchers differ.

    The values of the study stand beside ours if the replays are on its machine. On another machine ours stand alone,
    and of the orders that the study states, those without the schedule of its log are checked.

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
    known = by_name(rows)
    same = on_its_machine(study, rows)
    grids = [
        _grid(e, known, same, study.reference) for e in study.exhibits if e.drawing != "radar"
    ]  # of a table's values
    grids += [_gains(exhibit, known) for exhibit in study.exhibits if exhibit.gain_over]
    orders = [order for order in study.orders if same or RECORDED not in order.chain]
    stated = [line for order in orders for line in _stated(order, known)]
    differing = [
        line
        for e in study.exhibits
        if same and e.drawing != "radar"
        for quantity in e.quantities
        for line in _other_order(e, quantity, known)
    ]
    meaning = (
        "better, worse: by the text of the study; less by: (worse - better) / worse; holds: the order is the same."
    )
    if stated:
        title = f"orders that [{study.reference}] states"
        grids.append(Grid.of_texts(title, [*HEADS, "holds"], [line.cells for line in stated], meaning))
    return Comparison(grids, [*differing, *(line.differs for line in stated if line.differs)])


def by_name(rows: Sequence[DispatcherRow]) -> Rows:
    """Return rows by the names of their dispatchers without backends."""
    return {row.name.partition("@")[0]: row for row in rows}


def on_its_machine(study: Study, rows: Sequence[DispatcherRow]) -> bool:
    """Return whether the replays are on the machine of the study."""
    if not study.machine:
        return True
    groups = next((r["simulation"]["platform"] for row in rows for r in row.records if r.get("simulation")), None)
    if groups is None:
        return False
    platform = platform_of(groups)
    here = {"nodes": len(platform.nodes), **{r: platform.total(r) for r in platform.resources}}
    return all(here.get(name) == amount for name, amount in study.machine.items())


def ours(row: DispatcherRow | None, figure: str) -> float | None:
    """Return a figure of a dispatcher, the mean over the seeds; None if it is unknown."""
    if row is None:
        return None
    if figure.startswith("share."):
        part = row.metric(figure.removeprefix("share."))
        whole = row.metric(ALL_SECONDS)
        return None if part is None or not whole else 100 * part / whole
    if not figure.startswith("seconds."):
        return row.metric(figure)
    values = [r["seconds"].get(figure.removeprefix("seconds.")) for r in row.records if row.whole]
    return fmean(values) if values and None not in values else None


def in_its_unit(row: DispatcherRow | None, quantity: Quantity) -> float | None:
    """Return our value of a quantity in the unit of the study; None if it is unknown."""
    value = ours(row, quantity.figure)
    if row is None or value is None:
        return None
    jobs = row.metric("started") if quantity.of_jobs else 1.0
    return None if jobs is None else value * quantity.scale * jobs


def _grid(exhibit: Exhibit, rows: Rows, same: bool, reference: str) -> Grid:
    """Return the grid of a table or figure: a row per dispatcher, ours and the study's value of each quantity."""
    heads = ["dispatcher"]
    for quantity in exhibit.quantities:
        heads += [quantity.heading, "study"] if same and quantity.values else [quantity.heading]
    lines = []
    for name in exhibit.dispatchers:
        cells = [name]
        for quantity in exhibit.quantities:
            cells.append(_cell(rows.get(name), quantity))
            if same and quantity.values:
                theirs = quantity.values.get(name)
                cells.append(MISSING if theirs is None else short(theirs))
        if any(cell != MISSING for cell in cells[1:]):
            lines.append(cells)
    meaning = f"study: the value in [{reference}]; " if "study" in heads else ""
    spread = "a ± b: mean and standard deviation; " if any(q.spread for q in exhibit.quantities) else ""
    return Grid.of_texts(
        f"{exhibit.name}: {exhibit.caption}", heads, lines, f"{spread}{meaning}-: none, or the replay did not end."
    )


def _gains(exhibit: Exhibit, rows: Rows) -> Grid:
    """Return the grid of the gains over one dispatcher in percent, ours and the study's."""
    over = exhibit.gain_over
    listed = [q for q in exhibit.quantities if q.values.get(over)]
    heads = ["dispatcher", *(head for q in listed for head in (q.heading, "study"))]
    lines = []
    for name in (n for n in exhibit.dispatchers if n != over):
        cells = [name]
        for q in listed:
            cells += [
                _gain(in_its_unit(rows.get(over), q), in_its_unit(rows.get(name), q)),
                _gain(q.values[over], q.values.get(name)),
            ]
        lines.append(cells)
    title = f"{exhibit.name}: gain over {over} in percent"
    return Grid.of_texts(title, heads, lines, f"gain: ({over} - dispatcher) / {over}; below 0: a loss.")


def _gain(base: float | None, value: float | None) -> str:
    return MISSING if not base or value is None else f"{100 * (base - value) / base:.1f}"


def _cell(row: DispatcherRow | None, quantity: Quantity) -> str:
    value = in_its_unit(row, quantity)
    if value is None:
        return MISSING
    spread = ours(row, quantity.spread) if quantity.spread else None
    text = short(value)
    return text if spread is None else f"{text} ± {short(spread * quantity.scale)}"


def _other_order(exhibit: Exhibit, quantity: Quantity, rows: Rows) -> Iterator[str]:
    """Yield a line with both orders if some two dispatchers are ordered otherwise than in the study; equal values order none."""
    ours_by_name = {name: ours(rows.get(name), quantity.figure) for name in quantity.values}
    mine = {name: value for name, value in ours_by_name.items() if value is not None}
    theirs = {name: quantity.values[name] for name in mine}
    if any((mine[a] - mine[b]) * (theirs[a] - theirs[b]) < 0 for a, b in combinations(mine, 2)):
        heading = quantity.heading.replace("-\n", "").replace("\n", " ")
        yield f"{exhibit.name}, {heading}: ours {_chain(mine)}; study {_chain(theirs)}"


def _chain(values: Mapping[str, float]) -> str:
    """Return names by ascending values.

    Examples
    --------
    >>> _chain({"a": 3.0, "b": 1.0, "c": 3.0})
    'b < a = c'
    """
    names = sorted(values, key=lambda name: values[name])
    return " < ".join(" = ".join(same) for _, same in groupby(names, key=lambda name: values[name]))


class _Line(NamedTuple):
    cells: list[str]
    differs: str


def _stated(order: Order, rows: Rows) -> Iterator[_Line]:
    """Yield a line for each two neighbours of a chain and each figure, if at least one of them has a value."""
    for better, worse in pairwise(order.chain):
        for name in order.figures:
            a = ours(rows.get(better), name)
            b = ours(rows.get(worse), name)
            if a is None and b is None:
                continue
            stated = order.reductions.get(name)
            theirs = MISSING if stated is None else f"{stated:g}%"
            written = [MISSING if value is None else short(value) for value in (a, b)]
            if a is None or b is None:
                yield _Line([order.where, better, worse, name, *written, MISSING, theirs, MISSING], "")
                continue
            less = f"{100 * (b - a) / b:.0f}%" if b else MISSING
            differs = f"{order.where}, {name}: {better} ({written[0]}) is not better than {worse} ({written[1]})"
            cells = [order.where, better, worse, name, *written, less, theirs, "yes" if a <= b else "NO"]
            yield _Line(cells, differs if a > b else "")


# --- The figures of a published study, drawn from our replays.


def draw_figures(study: Study, rows: Sequence[DispatcherRow], folder: Path) -> list[Path]:
    """Write the figures of a study as ``figure-1.svg``, ... into a folder.

    Parameters
    ----------
    study : Study
        The study.
    rows : sequence of DispatcherRow
        Our replays of one workload.
    folder : Path
        Where the pictures are written.

    Returns
    -------
    list of Path
        The pictures. A figure of whose dispatchers no replay ended is not drawn.

    Raises
    ------
    WrongUse
        If matplotlib is missing, or a file cannot be written.
    """
    require_matplotlib()
    written = []
    for exhibit in study.exhibits:
        svg = _drawn(exhibit, study, rows)
        if not svg:
            continue
        path = folder / f"{exhibit.name.lower().replace(' ', '-')}.svg"
        try:
            write_whole(path, side_by_side([(f"{exhibit.name}: {exhibit.caption}", svg)]))
        except OSError as e:
            raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e
        written.append(path)
    return written


def _drawn(exhibit: Exhibit, study: Study, rows: Sequence[DispatcherRow]) -> str:
    """Return a figure as an SVG element with the dispatchers in its order; "" if there is nothing to draw."""
    known = by_name(rows)
    if exhibit.drawing == "radar":
        return _radar(exhibit, study, rows)
    mine = [known[name] for name in exhibit.dispatchers if name in known]
    if exhibit.drawing == "ecdf":
        return ecdf(mine)
    return bars(mine, exhibit.classes) if exhibit.drawing == "bars" else ""


def _radar(exhibit: Exhibit, study: Study, rows: Sequence[DispatcherRow]) -> str:
    """Return our radar chart, beside that of the study if it is of the same machine; "" if a value is missing."""
    known = by_name(rows)
    names = [_without_unit(q.heading) for q in exhibit.quantities]
    values_by_name = {
        name: [in_its_unit(known.get(name), q) for q in exhibit.quantities] for name in exhibit.dispatchers
    }
    mine = {name: [v for v in values if v is not None] for name, values in values_by_name.items()}
    if not all(len(values) == len(names) for values in mine.values()):
        return ""
    charts: list[tuple[str, Shape]] = [("ours", mine)]
    if on_its_machine(study, rows) and all(set(exhibit.dispatchers) <= set(q.values) for q in exhibit.quantities):
        theirs = {name: [q.values[name] for q in exhibit.quantities] for name in exhibit.dispatchers}
        charts.append((f"[{study.reference}]", theirs))
    panels = [lambda ax, title=title, shapes=shapes: draw_radar(ax, shapes, names, title) for title, shapes in charts]
    return figure(f"{exhibit.name}: {exhibit.caption}", panels, len(panels), 1.55 * PANEL)


def _without_unit(heading: str) -> str:
    r"""Return a heading in one line, without its unit.

    Examples
    --------
    >>> _without_unit("tardi-\nness,\nyears")
    'tardiness'
    """
    return heading.replace("-\n", "").replace("\n", " ").partition(",")[0]


# --- What ``bench simulate --study`` prints and draws.


def print_study(
    study: Study, records: Sequence[Record], folder: Path, tables: Console, notes: Console, explain: bool
) -> None:
    """Print the tables and figures of a study with our values and the orders that differ, and draw its figures.

    Parameters
    ----------
    study : Study
        The study.
    records : sequence of Record
        Our replays of one workload.
    folder : Path
        Where the pictures are written.
    tables, notes : Console
        Where the tables and the notes are printed.
    explain : bool
        Whether the meaning of every column is printed.
    """
    rows = [row for _, results in extract_replays(records)[0] for row in results.rows]
    comparison = compare(study, rows)
    for grid in comparison.grids:
        tables.print()
        tables.print(grid)
        tables.print(grid.key(explain))
    tables.print()
    if study.conditions:
        tables.print(Text(f"[{study.reference}]: {' '.join(study.conditions)}"))
    head = f"orders that differ from [{study.reference}]: {len(comparison.differing)}"
    tables.print(Text("\n  ".join([head, *comparison.differing])))
    try:
        pictures = draw_figures(study, rows, folder)
    except WrongUse as e:
        notes.print(f"the figures are not drawn: {e}", soft_wrap=True)
    else:
        for path in pictures:
            notes.print(f"drawn: {path}", soft_wrap=True)
