"""The output of ``bench show`` for a desired profile: its wishes as a table."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ...instances.files.profile_file import read_wishes
from ...instances.files.sheet import Sheet
from ...instances.workload import WorkloadError
from .grid import grid

SHOWN = 60  # rows


def is_profile(name: str) -> bool:
    """Return whether a file is a CSV file with the columns of a desired profile."""
    path = Path(name)
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    try:
        header = Sheet(path).header()
    except (WorkloadError, ValueError, OSError):
        return False
    return {"time_s", "resource"} <= set(header) and bool({"share", "amount"} & set(header))


def show_profile(console: Console, name: str, plot: Path | None = None) -> None:
    """Print a desired profile, and draw it on request.

    Raises
    ------
    InstanceError
        If the file has faults.
    WrongUse
        If the picture cannot be drawn or written.
    """
    wishes = read_wishes(name)
    clock = "without end" if wishes.end is None else f"up to {wishes.end:,} s"
    clock = f"repeated every {wishes.period:,} s" if wishes.period is not None else clock
    clock += f", times from second {wishes.origin:,} of the workload on" if wishes.origin else ""
    title = f"{Path(name).stem}: desired use, {len(wishes.wishes)} wish{'es' * (len(wishes.wishes) != 1)}, {clock}"
    console.print(title, style="bold", soft_wrap=True)
    table = grid("resource", "from s", "from h", "share", "amount", "nodes")
    for wish in sorted(wishes.wishes, key=lambda w: (w.resource, w.nodes, w.time))[:SHOWN]:
        share = "" if wish.share is None else f"{100 * wish.share:.4g}%"
        amount = "" if wish.amount is None else f"{wish.amount:,g}"
        table.add_row(wish.resource, f"{wish.time:,}", f"{wish.time / 3600:,.6g}", share, amount, wish.nodes)
    console.print(table)
    if len(wishes.wishes) > SHOWN:
        console.print(f"... and {len(wishes.wishes) - SHOWN:,} more")
    if plot is not None:
        from ..plots.desired.profile import plot_profile

        plot_profile(Path(name).stem, wishes, plot)
        console.print(f"{plot}: the desired use over time", soft_wrap=True)
