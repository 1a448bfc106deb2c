"""What ``bench simulate --study`` prints and draws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ..errors import WrongUse
from ..records.store import Record
from ..tables.legend import legend
from ..tables.replays.report import drawn
from ..tables.replays.results import extract_replays
from .comparison import compare
from .drawing import draw_figures
from .study import Study


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
    found = compare(study, rows)
    for grid in found.grids:
        tables.print()
        tables.print(drawn(grid))
        tables.print(legend(grid.meaning, explain))
    tables.print()
    if study.conditions:
        tables.print(Text(f"[{study.reference}]: {' '.join(study.conditions)}"))
    head = f"orders that differ from [{study.reference}]: {len(found.differing)}"
    tables.print(Text("\n  ".join([head, *found.differing])))
    try:
        pictures = draw_figures(study, rows, folder)
    except WrongUse as e:
        notes.print(f"the figures are not drawn: {e}", soft_wrap=True)
    else:
        for path in pictures:
            notes.print(f"drawn: {path}", soft_wrap=True)
