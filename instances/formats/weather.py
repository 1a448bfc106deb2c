"""Readers of weather file formats (EPW, PVGIS, CSV) with their checks of times and values; used by ``read_weather``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from ...models.platform import LATEST
from ...models.step_function import DAY, HOUR
from ..files.sheet import Sheet, SheetRow, one_of

TEMPERATURE = (
    "temperature_c", "drybulb_c", "dry_bulb_c", "temp_air", "t2m", "temp_c", "temperature", "dry_bulb", "drybulb", "temp",
)  # fmt: skip
STAMPS = ("time", "timestamp", "datetime", "date_time", "date/time", "date", "time(utc)")
HOURS = ("hour_ending", "hour")
COLDEST, HOTTEST = -90, 65  # degrees C; values outside are probably in another unit
DEGREES = f"degrees C, {COLDEST} to {HOTTEST}"
# EPW: number of header lines; number of fields up to the temperature, and its index; value that means missing
EPW_HEADER, EPW_FIELDS, EPW_DRY_BULB, EPW_MISSING = 8, 7, 6, 99.9
TEMPLATE_YEARS = (2023, 2024)  # years assumed for typical years: one without, one with 29 February
FILL = "fill it in, for example from the neighbouring hours"


@dataclass
class Reading:
    """The content of a weather file: times in s, temperatures in degrees C, and (month, day) of each if known."""

    times: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    dates: list[tuple[int, int]] = field(default_factory=list)


def read_epw(sheet: Sheet) -> Reading:
    """Read EPW: eight header lines, then one record per hour; hour 1 is 00:00 to 01:00, 99.9 means missing."""
    periods = next((line for line in sheet.lines[:EPW_HEADER] if line.upper().startswith("DATA PERIODS,")), "")
    cells = [c.strip() for c in periods.split(",")]
    if len(cells) < 3 or cells[2] != "1":
        sheet.add_fault(EPW_HEADER, "DATA PERIODS", "DATA PERIODS,1,1,... with one record per hour", periods or None)
        return Reading()
    hours = Hours(sheet)
    for number, text in enumerate(sheet.lines[EPW_HEADER:], EPW_HEADER + 1):
        if not text.strip():
            continue
        row = sheet.cells(number, text)
        if len(row) < EPW_FIELDS:
            sheet.add_fault(number, "row", f"a record of EPW, with at least {EPW_FIELDS} fields", len(row))
            continue
        names = ("month", "day", "hour", "dry bulb")
        line = SheetRow(sheet, number, dict(zip(names, (*row[1:4], row[EPW_DRY_BULB].strip()), strict=True)))
        hours.add(line, _ending(line, "hour"), celsius(line, "dry bulb", EPW_MISSING))
    return hours.reading


def read_pvgis(sheet: Sheet, top: int) -> Reading:
    """Read a typical year of PVGIS: after ``top`` lines ``time(UTC),T2m,...``, as 20180101:0000, up to an empty line."""
    if "t2m" not in sheet.header(top):
        sheet.add_fault(top + 1, "T2m", "a column of this name, the air temperature", None)
        return Reading()
    hours = Hours(sheet)
    for line in sheet.rows(top, stop_at_empty=True):
        text = line.cells["time(utc)"]
        try:
            stamp = datetime.strptime(text, "%Y%m%d:%H%M")
        except ValueError:
            line.add_fault("time(UTC)", "a time such as 20180101:0000", text)
            continue
        hours.add(line, (stamp.month, stamp.day, stamp.hour), celsius(line, "t2m"))
    return hours.reading


def read_plain(sheet: Sheet) -> Reading:
    """Read a CSV with a column of temperatures; the columns of times decide which reader is used."""
    header = sheet.header()
    column = one_of(header, TEMPERATURE)
    if column is None:
        names = ", ".join(header) or "no columns"
        sheet.add_fault(None, "columns", f"a column of temperatures ({', '.join(TEMPERATURE)})", names)
        return Reading()
    if "time_s" in header:
        return _by_seconds(sheet, column)
    if "month" in header and "day" in header:
        hour = one_of(header, HOURS)
        if hour is None:
            sheet.add_fault(
                None, "columns", "a column hour_ending (1 to 24) or hour (0 to 23), as there are month and day", None
            )
            return Reading()
        return _by_hours(sheet, column, hour)
    stamp = one_of(header, STAMPS)
    return _by_rows(sheet, column) if stamp is None else _by_stamps(sheet, column, stamp)


def _by_seconds(sheet: Sheet, column: str) -> Reading:
    found = Reading()
    for line in sheet.rows():
        t, value = line.number_in("time_s", "a whole number of seconds"), celsius(line, column)
        if t is None or value is None:
            continue
        if t != int(t) or abs(t) > LATEST:
            line.add_fault("time_s", f"a whole number of seconds, at most {LATEST}", line.cells["time_s"])
        elif found.times and t <= found.times[-1]:
            line.add_fault("time_s", f"a later time than the {found.times[-1]} s of the row before", int(t))
        else:
            found.times.append(int(t))
            found.values.append(value)
    return found


def _by_hours(sheet: Sheet, column: str, hour: str) -> Reading:
    hours = Hours(sheet)
    place: Callable[[SheetRow, str], tuple[int, int, int] | None] = _ending if hour == "hour_ending" else _beginning
    for line in sheet.rows():
        hours.add(line, place(line, hour), celsius(line, column))
    return hours.reading


def _by_rows(sheet: Sheet, column: str) -> Reading:
    values = [(celsius(line, column) or 0.0) for line in sheet.rows()]
    return Reading([HOUR * k for k in range(len(values))], values)


def _by_stamps(sheet: Sheet, column: str, stamp: str) -> Reading:
    """Read rows with equidistant dates and times; second 0 is midnight of the first day."""
    found = Reading()
    moments: list[datetime] = []
    for line in sheet.rows():
        value, moment = celsius(line, column), _moment(line, stamp)
        if moment is None:
            continue
        if moments and (moment.tzinfo is None) != (moments[0].tzinfo is None):
            line.add_fault(stamp, "a time zone in all rows or in none", line.cells[stamp])
            continue
        if len(moments) > 1 and moment - moments[-1] != moments[1] - moments[0]:
            line.add_fault(
                stamp, f"{moments[-1] + (moments[1] - moments[0])}, the next time; {FILL}", line.cells[stamp]
            )
        if len(moments) == 1 and moment <= moments[0]:
            line.add_fault(stamp, f"a time later than {moments[0]}", line.cells[stamp])
            return found
        moments.append(moment)
        found.values.append(value or 0.0)
        since = moment - moments[0].replace(hour=0, minute=0, second=0, microsecond=0)
        found.times.append(round(since / timedelta(seconds=1)))
        found.dates.append((moment.month, moment.day))
    return found


def _moment(line: SheetRow, stamp: str) -> datetime | None:
    try:
        return datetime.fromisoformat(line.cells[stamp])
    except ValueError:
        line.add_fault(stamp, "a date with a time such as 2012-07-15T13:00", line.cells[stamp] or None)
        return None


def celsius(line: SheetRow, column: str, missing: float | None = None) -> float | None:
    """Return a temperature; None after a fault. ``missing``: the number that stands for a missing value."""
    if not line.cells.get(column, ""):
        line.add_fault(column, f"a temperature; {FILL}", None)
        return None
    value = line.maybe(column, DEGREES)
    if value is not None and missing is not None and value == missing:
        line.add_fault(column, f"a temperature ({missing} means that it is missing); {FILL}", value)
    elif value is not None and not COLDEST <= value <= HOTTEST:
        line.add_fault(column, DEGREES, value)
    else:
        return value
    return None


@dataclass
class Hours:
    """Collects hourly values; an hour that does not follow the hour before is a fault.

    Hours are (month, day, hour from 0). A typical year has no year number: 28 February may be followed by 29 February
    or 1 March, and 31 December is followed by 1 January.
    """

    sheet: Sheet
    reading: Reading = field(default_factory=Reading)
    last: tuple[int, int, int] | None = None

    def add(self, line: SheetRow, place: tuple[int, int, int] | None, value: float | None) -> None:
        """Add the value of an hour; None is a value or time with a fault."""
        if place is None:
            return
        if self.last is not None and place not in (following := _following(self.last)):
            month, day, hour = following[0]
            line.add_fault(
                "time",
                f"{month:02}-{day:02} {hour:02}:00, the next hour; {FILL}",
                "{:02}-{:02} {:02}:00".format(*place),
            )
        r = self.reading
        r.times.append(r.times[-1] + HOUR if r.times else place[2] * HOUR)
        r.values.append(value or 0.0)
        r.dates.append(place[:2])
        self.last = place


def _following(place: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """Return the hours that may follow an hour."""
    month, day, hour = place
    if hour < DAY // HOUR - 1:
        return [(month, day, hour + 1)]
    years = [y for y in TEMPLATE_YEARS if (month, day) != (2, 29) or y == TEMPLATE_YEARS[1]]
    nexts = [date(y, month, day) + timedelta(days=1) for y in years]
    return [(d.month, d.day, 0) for d in dict.fromkeys(nexts)]


def _ending(line: SheetRow, column: str) -> tuple[int, int, int] | None:
    return _place(line, column, 1)


def _beginning(line: SheetRow, column: str) -> tuple[int, int, int] | None:
    return _place(line, column, 0)


def _place(line: SheetRow, column: str, first: int) -> tuple[int, int, int] | None:
    """Return (month, day, hour from 0) of a row whose hours are counted from ``first``; None after a fault."""
    found: list[int] = []
    for name, low, high in (("month", 1, 12), ("day", 1, 31), (column, first, first + 23)):
        expected = f"a whole number, {low} to {high}"
        value = line.number_in(name, expected)
        if value is None:
            continue
        if value != int(value) or not low <= value <= high:
            line.add_fault(name, expected, line.cells[name])
            continue
        found.append(int(value))
    if len(found) < 3:
        return None
    try:
        date(TEMPLATE_YEARS[1], found[0], found[1])
    except ValueError:
        line.add_fault("day", f"a day of month {found[0]}", found[1])
        return None
    return found[0], found[1], found[2] - first
