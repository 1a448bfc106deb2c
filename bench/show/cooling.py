"""What ``bench show`` prints of a cooling table: PUE and cooling power over temperature and IT power."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from ...instances import UnknownInstance
from ...instances.files.folder import SETTINGS
from ...instances.formats.cooling_tables import UnknownCooling, about, cooling, cooling_names
from ...models.profit.cooling import Cooling

STEPS = (1, 2, 2.5, 5, 10)  # of a scale
COLUMNS = 8  # at most


def is_cooling(name: str) -> bool:
    """Whether it is a cooling table rather than an instance: a shipped name, or a CSV file.

    >>> is_cooling("air"), is_cooling("eurora_700")
    (True, False)
    """
    path = Path(name)
    if (path / SETTINGS).is_file():
        return False
    return name in cooling_names() or (path.suffix.lower() == ".csv" and not path.is_dir())


def meant(fault: UnknownInstance, name: str) -> UnknownInstance | UnknownCooling:
    """The error of a name that is neither: that of a cooling table if only such a one is near."""
    other = UnknownCooling(name)
    return other if other.near and not fault.near else fault


def show_cooling(console: Console, name: str, plot: Path | None = None) -> None:
    """Print the table of that name or file, with what its file says of it; ``plot``: draw it to this file too.

    Raises UnknownCooling, InstanceError (faults of the file), WrongUse (the picture).
    """
    table = cooling(name)
    low, high = table.temperatures[0], table.temperatures[-1]
    console.print(
        f"{table.name}: cooling from {low:g} to {high:g} degrees C, up to {table.most:,g} W of IT power",
        style="bold",
    )
    for line in about(name):
        console.print(line, soft_wrap=True)
    console.print(_grid(table, "PUE"), _grid(table, "cooling kW"))
    if plot is not None:
        from ..plots.cooling import plot_cooling

        plot_cooling(table, plot)
        console.print(f"{plot}: cooling power and PUE over IT power", soft_wrap=True)


def scale(most: float) -> list[float]:
    """Round numbers up to ``most``, at most eight, and ``most``.

    >>> scale(110_000)
    [20000.0, 40000.0, 60000.0, 80000.0, 100000.0, 110000]
    """
    decade = 10.0 ** len(str(int(most))) / 100
    step = next(s * decade for s in STEPS if s * decade * COLUMNS > most)
    count = int(most / step)
    return [step * k for k in range(1, count + 1)] + ([most] if step * count < most else [])


def _grid(table: Cooling, what: str) -> Table:
    """A row per temperature, a column per IT power; by ``what``, PUE or the cooling power in kW."""
    powers = scale(table.most)
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in (f"{what} at IT kW", *(f"{p / 1000:,.4g}" for p in powers)):
        made.add_column(name, justify="right")
    for t in table.temperatures:
        if what == "PUE":
            cells = [f"{table.pue(p, t):.4f}" for p in powers]
        else:
            cells = [f"{table.power(p, t) / 1000:,.3f}" for p in powers]
        made.add_row(f"{t:g} degrees", *cells)
    return made
