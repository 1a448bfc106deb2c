"""CSV files of a quantity over time: ``time_s,euro_per_kwh`` (energy prices), ``time_s,g_co2_per_kwh`` (carbon intensity).

A value holds until the next time; the last one as long as the one before it, or an hour if it is the only one.
"""

from __future__ import annotations

from pathlib import Path

from ...models.energy import Tariff
from ...models.platform import LATEST
from ...models.step_function import HOUR, StepFunction
from .sheet import Sheet

TIME, EURO, CARBON = "time_s", "euro_per_kwh", "g_co2_per_kwh"
UNITS = {EURO: "euro per kWh", CARBON: "grams of CO2 per kWh"}


def read_series(path: str | Path, column: str = EURO) -> StepFunction:
    """Read a quantity over time from a CSV file, plain or compressed; lines that begin with # are comments.

    Parameters
    ----------
    path
        The file. Other columns are ignored.
    column
        The column of the values: ``"euro_per_kwh"`` or ``"g_co2_per_kwh"``. The latter may not be negative.

    Returns
    -------
    StepFunction
        The quantity, by times in seconds.

    Raises
    ------
    InstanceError
        If the file has faults; all of them are listed.
    WorkloadError
        If the file cannot be read.
    """
    sheet = Sheet(Path(path))
    header = sheet.header()
    for name in (TIME, column):
        if name not in header:
            sheet.add_fault(1, name, f"a column of this name; the file has {', '.join(header) or 'no columns'}", None)
    sheet.raise_faults()
    times: list[int] = []
    values: list[float] = []
    for row in sheet.rows():
        time, value = row.number_in(TIME, "whole seconds"), row.number_in(column, UNITS[column])
        if time is None or value is None:
            continue
        if time != int(time) or abs(time) > LATEST or (times and time <= times[-1]):
            row.add_fault(
                TIME, f"whole seconds{f' after {times[-1]}' if times else ''}, at most {LATEST}", row.cells[TIME]
            )
            continue
        if column == CARBON and value < 0:
            row.add_fault(column, f"{UNITS[column]}, at least 0", row.cells[column])
            continue
        times.append(int(time))
        values.append(value)
    if not times and not sheet.faults:
        sheet.add_fault(None, "rows", f"at least one value of {column}", None)
    sheet.raise_faults()
    return StepFunction(times, values, times[-1] + (times[-1] - times[-2] if len(times) > 1 else HOUR))


def read_tariff(path: str | Path) -> Tariff:
    """Read prices, and carbon intensities if the file has a column ``g_co2_per_kwh``, from a CSV file.

    Parameters
    ----------
    path
        The file, with the columns ``time_s`` and ``euro_per_kwh``.

    Returns
    -------
    Tariff
        The tariff. ``Tariff.check_covers`` says whether it covers a period.

    Raises
    ------
    InstanceError
        If the file has faults; all of them are listed.
    WorkloadError
        If the file cannot be read.
    """
    prices = read_series(path, EURO)
    has_carbon = CARBON in Sheet(Path(path)).header()
    return Tariff(prices, read_series(path, CARBON) if has_carbon else None)
