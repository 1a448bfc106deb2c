"""Cooling tables as CSV files: reading, writing, and the shipped tables by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from os.path import isfile
from pathlib import Path

from ...errors import SchedlabError
from ...models.platform import ProblemError
from ...models.profit.problem import Cooling
from ...models.words import excerpt, hint, similar
from ..files.reading import COMMENT, SHOWN, Sheet, SheetRow, one_of
from ..files.writing import to_csv

SHIPPED = Path(__file__).parents[1] / "cooling"
TEMPERATURE = ("temperature_c", "ambient_c")
POWER = "it_power_w"
COOLING = "cooling_power_w"
PUE = "pue"
COLUMNS = ("temperature_c", POWER, COOLING, PUE)
AGREE = 1e-6  # tolerance of PUE where a row has both PUE and cooling power


class UnknownCooling(SchedlabError, LookupError):
    """The error for a name that is neither a file nor a shipped cooling table; the message lists similar names."""

    def __init__(self, name: str) -> None:
        known = cooling_names()
        self.near = similar(name, known)
        proposed = hint(name, known, "shipped are", "none is shipped")
        super().__init__(f"there is no cooling {excerpt(name)}: neither a file nor a shipped table; {proposed}")


def cooling_names() -> list[str]:
    """Return the names of the shipped cooling tables.

    >>> cooling_names()
    ['air', 'hybrid']
    """
    return sorted(p.stem for p in SHIPPED.glob("*.csv"))


def cooling(name: str | Path, folder: str | Path = "") -> Cooling:
    """Return a shipped cooling table by its name, or read one from a CSV file (a relative path starts in ``folder``).

    Raises UnknownCooling, with similar names, and InstanceError, with all faults of the file.

    >>> round(cooling("air").pue(55_000, 10), 10)
    1.1247272727
    """
    return read_cooling(_path(name, folder))


def about(name: str | Path, folder: str | Path = "") -> list[str]:
    """Return the comment lines of the file of a cooling table. Raises as ``cooling`` does.

    >>> about("air")[0]
    'Air cooling.'
    """
    lines = (line.strip() for line in Sheet(_path(name, folder)).lines)
    return [line.removeprefix(COMMENT).strip() for line in lines if line.startswith(COMMENT)]


def _path(name: str | Path, folder: str | Path) -> Path:
    if str(name) in cooling_names():
        return SHIPPED / f"{name}.csv"
    path = Path(folder, name)
    if not isfile(path):
        raise UnknownCooling(str(name))
    return path


def read_cooling(path: str | Path) -> Cooling:
    """Read a cooling table from a CSV file with one row per temperature and IT power, in any order.

    Columns: ``temperature_c`` (or ``ambient_c``), ``it_power_w``, and ``cooling_power_w`` or ``pue`` or both; if both,
    they must agree within 1e-6 of PUE. PUE = 1 + cooling power / IT power; it is undefined at 0 W, where the cell stays
    empty. A table without rows for 0 W needs no cooling there. Lines that begin with # are comments.

    Raises InstanceError with all faults (file, line, field, expected value, found value), WorkloadError if the file
    cannot be read.
    """
    sheet = Sheet(Path(path))
    header = sheet.header()
    listed = f"the file has {', '.join(header) or 'no columns'}"
    temperature = one_of(header, TEMPERATURE)
    for column, there in ((TEMPERATURE[0], temperature), (POWER, POWER in header)):
        if not there:
            sheet.add_fault(1, column, f"a column of this name; {listed}", None)
    if COOLING not in header and PUE not in header:
        sheet.add_fault(1, COOLING, f"a column {COOLING} or {PUE}; {listed}", None)
    sheet.raise_faults()
    cells: dict[tuple[float, float], float] = {}
    lines: dict[tuple[float, float], int] = {}
    for row in sheet.rows():
        t = row.number_in(str(temperature), "degrees C")
        p = row.number_in(POWER, "watts of at least 0")
        if p is not None and p < 0:
            row.add_fault(POWER, "watts of at least 0", p)
        elif t is not None and p is not None:
            if (t, p) in cells:
                row.add_fault("row", f"one row for {_pair(t, p)} (line {lines[t, p]} has it too)", "a second one")
            lines.setdefault((t, p), row.number)
            cells[t, p] = _watts(row, p)
    if not cells and not sheet.faults:
        sheet.add_fault(None, "rows", "a row per temperature and IT power", None)
    return _table(sheet, cells)


def _watts(row: SheetRow, power: float) -> float:
    """Return the cooling power of a row in W; 0 after a fault."""
    before = len(row.sheet.faults)
    watts = row.maybe(COOLING)
    pue = row.maybe(PUE)
    if watts is not None and watts < 0:
        row.add_fault(COOLING, "watts of at least 0, as a PUE is at least 1", watts)
    if pue is not None and power == 0:
        row.add_fault(PUE, "nothing, as PUE has no meaning at 0 W", pue)
    if pue is not None and pue < 1:
        row.add_fault(PUE, "at least 1", pue)
    if len(row.sheet.faults) > before:
        return 0.0
    if watts is None and pue is None:
        if power > 0:
            row.add_fault(
                COOLING if COOLING in row.cells else PUE,
                "a number here, or in the other one of the columns cooling_power_w and pue",
                None,
            )
        return 0.0
    if watts is None:
        return (float(pue or 1.0) - 1) * power
    if pue is not None and abs(1 + watts / power - pue) > AGREE:
        row.add_fault(PUE, f"{1 + watts / power:.10g}, as the cooling power says", pue)
    return watts


def _table(sheet: Sheet, cells: Mapping[tuple[float, float], float]) -> Cooling:
    """Make the table of all cells. Raises InstanceError for missing rows."""
    temperatures = sorted({t for t, _ in cells})
    powers = sorted({p for _, p in cells})
    missing = ((t, p) for t in temperatures for p in powers if (t, p) not in cells)
    for t, p in islice(missing, SHOWN + 1):  # one more than the message lists, so that it says that there are others
        sheet.add_fault(None, "rows", f"a row for {_pair(t, p)}, as other temperatures have one for {p:g} W", None)
    sheet.raise_faults()
    rows = [[cells[t, p] for p in powers] for t in temperatures]
    if powers[0] > 0:
        powers = [0.0, *powers]
        rows = [[0.0, *row] for row in rows]
    try:
        return Cooling(sheet.path.stem, temperatures, powers, rows)
    except ProblemError as e:
        sheet.add_fault(None, "table", "a table without contradictions", str(e))
        sheet.raise_faults()
        raise AssertionError("unreachable: a fault was recorded") from e


def _pair(temperature: float, power: float) -> str:
    return f"{temperature:g} degrees and {power:g} W"


def cooling_csv(table: Cooling, comment: Iterable[str] = ()) -> str:
    """Return the CSV text of a table, with cooling power and PUE, for ``read_cooling``.

    >>> print(cooling_csv(Cooling("flat", (20,), (0, 1000), ((0, 250),)), ["An example."]))
    # An example.
    temperature_c,it_power_w,cooling_power_w,pue
    20,0,0,
    20,1000,250,1.25
    <BLANKLINE>
    """
    rows = [
        (_plain(t), _plain(p), _plain(w), _plain(round(1 + w / p, 10)) if p > 0 else None)
        for t, row in zip(table.temperatures, table.watts, strict=True)
        for p, w in zip(table.powers, row, strict=True)
    ]
    return "".join(f"{COMMENT} {line}".rstrip() + "\n" for line in comment) + to_csv(COLUMNS, rows)


def _plain(value: float) -> str:
    if value == int(value):
        return str(int(value))
    return repr(value)
