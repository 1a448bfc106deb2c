"""The output of ``bench show`` for a cooling table: PUE and cooling power by temperature and IT power."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from ...instances import UnknownInstance
from ...instances.files.folder import SETTINGS
from ...instances.formats.cooling_tables import UnknownCooling, about, cooling, cooling_names
from ...models.profit.cooling import Cooling

STEPS = (1, 2, 2.5, 5, 10)  # steps of a scale, times a power of ten
COLUMNS = 8  # greatest number of columns of IT power


def is_cooling(name: str) -> bool:
    """Return whether a name means a cooling table (a shipped one or a CSV file) and not an instance.

    Examples
    --------
    >>> is_cooling("air"), is_cooling("eurora_700")
    (True, False)
    """
    path = Path(name)
    if (path / SETTINGS).is_file():
        return False
    return name in cooling_names() or (path.suffix.lower() == ".csv" and not path.is_dir())


def meant(fault: UnknownInstance, name: str) -> UnknownInstance | UnknownCooling:
    """Return the error for an unknown name: that of a cooling table if only the name of a cooling table is similar."""
    other = UnknownCooling(name)
    return other if other.near and not fault.near else fault


def show_cooling(console: Console, name: str, plot: Path | None = None) -> None:
    """Print a cooling table with the comments of its file.

    Parameters
    ----------
    console : rich.console.Console
        Where it is printed.
    name : str
        The name of a shipped table, or a CSV file.
    plot : Path, optional
        A file to draw the table to.

    Raises
    ------
    UnknownCooling
        If there is no such table.
    InstanceError
        If the file has errors.
    WrongUse
        If the picture cannot be drawn or written.
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
        from ..plots.profits.cooling import plot_cooling

        plot_cooling(table, plot)
        console.print(f"{plot}: cooling power and PUE over IT power", soft_wrap=True)


def scale(most: float) -> list[float]:
    """Return at most eight round numbers up to ``most``, and ``most`` itself.

    Examples
    --------
    >>> scale(110_000)
    [20000.0, 40000.0, 60000.0, 80000.0, 100000.0, 110000]
    """
    decade = 10.0 ** len(str(int(most))) / 100
    step = next(s * decade for s in STEPS if s * decade * COLUMNS > most)
    count = int(most / step)
    return [step * k for k in range(1, count + 1)] + ([most] if step * count < most else [])


def _grid(table: Cooling, what: str) -> Table:
    """Return a table with a row per temperature and a column per IT power; ``what``: "PUE" or "cooling kW"."""
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
