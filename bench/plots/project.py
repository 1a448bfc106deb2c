"""``bench plot`` of projects: a Gantt chart with a band per renewable resource, and a table of the methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from ...backends.gaps import relative_gap
from ..records.store import Record
from ..tables.methods import ViewResults, group_by_view, status, summary
from ..tables.numbers import number, percent, seconds
from .svg import single

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KIND = "project"
PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6")
MACHINE, CREW, MOST_HEIGHT = 0.3, 0.9, 40.0  # inches: a band of a resource of capacity 1, another one, all bands
AROUND = 0.5  # inches above and below the bands
GAP = 0.12  # between two bands, as a share of a band
LETTER = 0.055  # inches: width of a letter of a name
OTHERS = "no resource"
Span = tuple[int, int]


class Piece(NamedTuple):
    """A rectangle of a task (given by its index): from ``start`` to ``end``, from unit ``low`` to unit ``high``."""

    task: int
    start: int
    end: int
    low: int
    high: int


class Band(NamedTuple):
    """A resource with the rectangles of the tasks that use it."""

    name: str
    capacity: int
    pieces: list[Piece]


def sections(records: Iterable[Record]) -> tuple[list[str], int]:
    """Return an HTML section per project with a schedule, and the number of runs in them."""
    groups = group_by_view(r for r in records if r.get("kind") == KIND)
    kept = [(title, results) for title, results in groups if chosen(results)]
    return [_section(title, results) for title, results in kept], sum(len(results.records) for _, results in kept)


def chosen(results: ViewResults) -> list[Record]:
    """Return the runs that are drawn: the best one, and the best one without a solver if it has another makespan."""
    known = [r for row in results.rows for r in row.sound if r.get("tasks")]
    best = min(known, key=lambda r: float(r["objective"]), default=None)
    start = min((r for r in known if r["solver"] == "schedlab"), key=lambda r: float(r["objective"]), default=None)
    found = [] if best is None else [best]
    return found + ([start] if best and start and start["objective"] != best["objective"] else [])


def bands(record: Mapping[str, Any]) -> list[Band]:
    """Return a band per renewable resource of a record, and one for the tasks that use none of them.

    A task occupies as many units of the resource as it demands, next to each other where that is possible.
    """
    tasks = [(int(start), int(end), demands) for _, _, start, end, demands in record["tasks"]]
    found = []
    for name, capacity in record["resources"].items():
        use = [(k, start, end, demands.get(name, 0)) for k, (start, end, demands) in enumerate(tasks)]
        pieces = list(pack([row for row in use if row[3] and row[2] > row[1]], capacity))
        found.append(Band(name, capacity, pieces))
    alone = [
        (k, start, end, 1) for k, (start, end, demands) in enumerate(tasks) if end > start and not any(demands.values())
    ]
    if alone:
        pieces = list(pack(alone, len(alone)))
        found.append(Band(OTHERS, max(p.high for p in pieces), pieces))
    return found


def pack(use: Iterable[tuple[int, int, int, int]], capacity: int) -> Iterator[Piece]:
    """Yield the rectangles of tasks (index, start, end, demand) on the units of a resource; none of them overlap.

    A task gets the lowest free units in a row; if none are enough, the lowest free units.

    Examples
    --------
    >>> list(pack([(0, 0, 4, 2), (1, 0, 2, 1), (2, 2, 5, 1)], 3))[2]
    Piece(task=2, start=2, end=5, low=0, high=1)
    """
    free: list[Span] = [(0, capacity)]
    active: list[tuple[int, list[Span]]] = []  # (end, units) of the tasks that run
    for task, start, end, demand in sorted(use, key=lambda row: (row[1], row[2], row[0])):
        over = [spans for until, spans in active if until <= start]
        active = [entry for entry in active if entry[0] > start]
        free = _merged([*free, *(span for spans in over for span in spans)])
        taken, free = _take(free, demand)
        active.append((end, taken))
        for low, high in taken:
            yield Piece(task, start, end, low, high)


def _merged(spans: Sequence[Span]) -> list[Span]:
    found: list[Span] = []
    for low, high in sorted(spans):
        if found and found[-1][1] == low:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return found


def _take(free: Sequence[Span], demand: int) -> tuple[list[Span], list[Span]]:
    """Return the units that a task gets, and the units that are still free."""
    whole = next(((low, high) for low, high in free if high - low >= demand), None)
    taken: list[Span] = []
    left: list[Span] = []
    for low, high in free:
        wanted = demand if whole is None or whole == (low, high) else 0
        cut = min(high, low + wanted)
        demand -= cut - low
        taken += [(low, cut)] if cut > low else []
        left += [(cut, high)] if high > cut else []
    return taken, left


def _section(title: str, results: ViewResults) -> str:
    drawn = chosen(results)
    end = max(int(row[3]) for r in drawn for row in r["tasks"])
    cards = "".join(_card(title, r, end) for r in drawn)
    notes = [
        *(line.plain for line in summary(results)),
        "A band is a resource with its capacity; the height of a task is its demand. A task that uses several resources has "
        "the same colour in each; in a job shop the steps of a job have the same colour. Times are in the time unit of the project.",
    ]
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return "\n".join(
        [
            f"<section><h2>{escape(title)}</h2>",
            _table(results),
            f'<ul class="notes">{items}</ul>',
            f'<div class="cards">{cards}</div></section>',
        ]
    )


def _card(title: str, record: Record, end: int) -> str:
    shown = bands(record)
    sizes = [MACHINE if band.capacity <= 1 else CREW for band in shown]
    scale = min(1.0, MOST_HEIGHT / max(1.0, sum(sizes)))
    names = [str(row[0]) for row in record["tasks"]]
    draw = partial(_gantt, shown=shown, sizes=[scale * size for size in sizes], names=names, end=end)
    picture = single(f"{title}: {record['method']}", draw, AROUND + scale * sum(sizes))
    text = f"makespan {number(record['objective'])}"
    return f"<figure><figcaption><b>{escape(record['method'])}</b> {escape(text)}</figcaption>{picture}</figure>"


def _gantt(ax: Axes, shown: Sequence[Band], sizes: Sequence[float], names: Sequence[str], end: int) -> None:
    """Draw the bands from top to bottom; ``sizes``: their heights in inches."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    jobs = list(dict.fromkeys(map(_job, names)))
    patches, colours, centres = [], [], []
    top = 0.0
    inches = 4.8 / max(end, 1)  # of a unit of time, about
    for band, size in zip(shown, sizes, strict=True):
        unit = (1 - GAP) * size / max(band.capacity, 1)
        ax.axhspan(top, top + (1 - GAP) * size, color="#f2f2f2", linewidth=0)
        centres.append(top + (1 - GAP) * size / 2)
        for piece in band.pieces:
            low, height = top + piece.low * unit, (piece.high - piece.low) * unit
            patches.append(Rectangle((piece.start, low), piece.end - piece.start, height))
            colours.append(PALETTE[jobs.index(_job(names[piece.task])) % len(PALETTE)])
            if LETTER * len(names[piece.task]) <= inches * (piece.end - piece.start) and height >= 2 * LETTER:
                middle = (piece.start + piece.end) / 2
                ax.text(
                    middle, low + height / 2, names[piece.task], ha="center", va="center", fontsize=6, color="white"
                )
        top += size
    ax.add_collection(PatchCollection(patches, facecolor=colours, edgecolor="white", linewidth=0.4))
    ax.set_yticks(centres, [b.name if b.name == OTHERS else f"{b.name} ({b.capacity:,})" for b in shown])
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, max(end, 1))
    ax.set_ylim(max(top, MACHINE), 0)
    ax.set_xlabel("time")


def _job(name: str) -> str:
    """Return the job of a task of a job shop ("job 1 step 2": "job 1"); other tasks are jobs of their own."""
    return name.partition(" step ")[0]


def _table(results: ViewResults) -> str:
    """Return the table of the methods as HTML; the best method is bold."""
    bound = None if results.bound is None else results.bound["bound"]
    rows = [
        "<tr>"
        + "".join(f"<th>{head}</th>" for head in ("method", "status", "makespan", "bound", "gap", "best at s"))
        + "</tr>"
    ]
    for row in results.rows:
        own = [r["bound"] for r in row.records if isinstance(r["bound"], (int, float))]
        cells = (
            status(row).plain,
            number(row.objective),
            number(max(own, default=None)),
            percent(relative_gap(row.objective, bound)),
            seconds(row.mean(lambda r: r["best_s"])),
        )
        won = ' class="best"' if results.best is not None and row.method == results.best.method else ""
        written = "".join(f"<td{won}>{escape(cell)}</td>" for cell in cells)
        rows.append(f"<tr><th>{escape(row.method)}</th>{written}</tr>")
    return f"<table>{''.join(rows)}</table>"
