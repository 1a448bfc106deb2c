"""Tables of on-demand jobs, failures and checkpoints as CSV files; lines that begin with # are comments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...instances.files.sheet import Sheet, SheetRow
from ...models.platform import LATEST, Platform
from .failure import REPAIR, Failure
from .jobs import LEAST, OnDemandJob

LONGEST = 12  # digits of a number
JOB_COLUMNS = ("id", "submit", "nodes", "start_within", "duration")


def read_on_demand(path: str | Path, platform: Platform | None = None) -> tuple[OnDemandJob, ...]:
    """Read on-demand jobs: the columns id, submit, nodes, start_within, duration and, if wished, notice and power.

    Times are whole seconds; ``submit`` is on the clock of the workload, ``start_within`` and ``notice`` are seconds after
    and before it. ``power`` is in watts.

    Parameters
    ----------
    path : str or Path
        The file.
    platform : Platform, optional
        The machine, to check the numbers of nodes.

    Raises
    ------
    InstanceError
        If the file has faults; the message lists them with their lines.
    WorkloadError
        If the file cannot be read.
    """
    sheet = _sheet(path, JOB_COLUMNS, ("notice", "power"))
    found, lines = list[OnDemandJob](), dict[str, int]()
    for row in sheet.rows():
        before, name = len(sheet.faults), row.cells["id"]
        if not name or name in lines:
            expected = "a text" if not name else f"another id than that of line {lines[name]}"
            row.add_fault("id", expected, name or None)
        values = {column: _whole(row, column, least) for column, least in LEAST.items() if column in row.cells}
        power = _watts(row) if row.cells.get("power") else None
        if platform is not None and values["nodes"] > len(platform.nodes):
            row.add_fault("nodes", f"at most {len(platform.nodes)}, the nodes of the machine", row.cells["nodes"])
        if len(sheet.faults) == before:
            lines[name] = row.number
            found.append(OnDemandJob(name, **values, power=power))
    sheet.raise_faults()
    return tuple(found)


def _watts(row: SheetRow) -> float | None:
    """Return the power of a row in watts; a fault is noted."""
    try:
        found = float(row.cells["power"])
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        row.add_fault("power", "watts above 0", row.cells["power"])
        return None
    return found


def read_failures(path: str | Path, platform: Platform) -> list[Failure]:
    """Read failures: the columns time (s), node, and, if wished, repair (s, default 3600). Raises InstanceError."""
    sheet, known = _sheet(path, ("time", "node"), ("repair",)), set(platform.nodes)
    found = []
    for row in sheet.rows():
        time, node = _whole(row, "time", -LATEST), row.cells["node"]
        repair = _whole(row, "repair", 1) if row.cells.get("repair") else REPAIR
        if node not in known:
            row.add_fault("node", f"a node of the machine, {platform.nodes[0]} ... {platform.nodes[-1]}", node or None)
        found.append(Failure(time, node, repair))
    sheet.raise_faults()
    return found


def read_checkpoints(path: str | Path) -> dict[str, int]:
    """Read the checkpoint intervals of jobs: the columns id and interval (s of work). Raises InstanceError."""
    sheet = _sheet(path, ("id", "interval"), ())
    found: dict[str, int] = {}
    for row in sheet.rows():
        if row.cells["id"] in found or not row.cells["id"]:
            row.add_fault("id", "an id that is not listed before", row.cells["id"] or None)
        found[row.cells["id"]] = _whole(row, "interval", 1)
    sheet.raise_faults()
    return found


def _sheet(path: str | Path, columns: Sequence[str], more: Sequence[str]) -> Sheet:
    """Return the file, of which the header has these columns, perhaps those of ``more``, and no others."""
    sheet = Sheet(Path(path))
    header = sheet.header()
    for column in columns:
        if column not in header:
            sheet.add_fault(1, column, f"a column of this name; the columns are {','.join([*columns, *more])}", None)
    for column in header:
        if column not in (*columns, *more):
            sheet.add_fault(1, column, f"one of the columns {', '.join([*columns, *more])}", column)
    sheet.raise_faults()
    return sheet


def _whole(row: SheetRow, column: str, least: int) -> int:
    """Return the whole number in a column; a fault is recorded and a valid number returned if there is none."""
    text = row.cells.get(column, "")
    if not text.removeprefix("-").isdecimal() or len(text) > LONGEST or not least <= int(text) <= LATEST:
        what = "a whole number" if column == "nodes" else "whole seconds"
        row.add_fault(column, what + (f" of at least {least}" if least > -LATEST else ""), text or None)
        return max(least, 0)
    return int(text)
