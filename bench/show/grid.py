"""The tables of ``bench list`` and ``bench show``."""

from __future__ import annotations

from rich import box
from rich.table import Table


def grid(*columns: str) -> Table:
    """Return an empty table with these columns; columns of text are aligned to the left."""
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for k, name in enumerate(columns):
        made.add_column(name, justify="left" if k == 0 or name in ("kind", "description", "starts") else "right")
    return made
