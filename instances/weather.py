"""Temperatures: of weather files (EPW, typical year of PVGIS, plain CSV), time windows of them, writing as CSV; and synthetic ones."""

from __future__ import annotations

import math
import random
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path

from ..errors import WrongValue
from ..models.comparing import hashable
from ..models.platform import LATEST
from ..models.step_function import DAY, HOUR, StepFunction
from ..models.words import hint, how_many
from .files.reading import COMMENT, Fault, InstanceError, Sheet, SheetRow, one_of
from .files.writing import comment_line, to_csv, write_files

# --- Readers of weather file formats (EPW, PVGIS, CSV) with their checks of times and values; used by ``read_weather``.

TEMPERATURE = (
    "temperature_c", "drybulb_c", "dry_bulb_c", "temp_air", "t2m", "temp_c", "temperature", "dry_bulb", "drybulb", "temp",
)  # fmt: skip
STAMPS = ("time", "timestamp", "datetime", "date_time", "date/time", "date", "time(utc)")
HOURS = ("hour_ending", "hour")
COLDEST = -90  # degrees C; values outside are probably in another unit
HOTTEST = 65
DEGREES = f"degrees C, {COLDEST} to {HOTTEST}"
# EPW: number of header lines; number of fields up to the temperature, and its index; value that means missing
EPW_HEADER = 8
EPW_FIELDS = 7
EPW_DRY_BULB = 6
EPW_MISSING = 99.9
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
    if stamp is None:
        return _by_rows(sheet, column)
    return _by_stamps(sheet, column, stamp)


def _by_seconds(sheet: Sheet, column: str) -> Reading:
    reading = Reading()
    for line in sheet.rows():
        t = line.number_in("time_s", "a whole number of seconds")
        value = celsius(line, column)
        if t is None or value is None:
            continue
        if t != int(t) or abs(t) > LATEST:
            line.add_fault("time_s", f"a whole number of seconds, at most {LATEST}", line.cells["time_s"])
        elif reading.times and t <= reading.times[-1]:
            line.add_fault("time_s", f"a later time than the {reading.times[-1]} s of the row before", int(t))
        else:
            reading.times.append(int(t))
            reading.values.append(value)
    return reading


def _by_hours(sheet: Sheet, column: str, hour: str) -> Reading:
    hours = Hours(sheet)
    place: Callable[[SheetRow, str], tuple[int, int, int] | None]
    if hour == "hour_ending":
        place = _ending
    else:
        place = _beginning
    for line in sheet.rows():
        hours.add(line, place(line, hour), celsius(line, column))
    return hours.reading


def _by_rows(sheet: Sheet, column: str) -> Reading:
    values = [(celsius(line, column) or 0.0) for line in sheet.rows()]
    return Reading([HOUR * k for k in range(len(values))], values)


def _by_stamps(sheet: Sheet, column: str, stamp: str) -> Reading:
    """Read rows with equidistant dates and times; second 0 is midnight of the first day."""
    reading = Reading()
    moments: list[datetime] = []
    for line in sheet.rows():
        value = celsius(line, column)
        moment = _moment(line, stamp)
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
            return reading
        moments.append(moment)
        reading.values.append(value or 0.0)
        since = moment - moments[0].replace(hour=0, minute=0, second=0, microsecond=0)
        reading.times.append(round(since / timedelta(seconds=1)))
        reading.dates.append((moment.month, moment.day))
    return reading


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
    columns: list[int] = []
    for name, low, high in (("month", 1, 12), ("day", 1, 31), (column, first, first + 23)):
        expected = f"a whole number, {low} to {high}"
        value = line.number_in(name, expected)
        if value is None:
            continue
        if value != int(value) or not low <= value <= high:
            line.add_fault(name, expected, line.cells[name])
            continue
        columns.append(int(value))
    if len(columns) < 3:
        return None
    try:
        date(TEMPLATE_YEARS[1], columns[0], columns[1])
    except ValueError:
        line.add_fault("day", f"a day of month {columns[0]}", columns[1])
        return None
    return columns[0], columns[1], columns[2] - first


WINDOW = re.compile(r"(\d{1,2})-(\d{1,2}):(\d{1,4})([dh])", re.ASCII)


@hashable
@dataclass(frozen=True)
class Weather:
    """Temperatures in degrees C over time. If the dates are known, second 0 is midnight of the first day.

    ``dates``: (month, day) of each value, empty if the file has no dates. The year is left out: a typical year has
    none.
    """

    name: str
    source: str
    series: StepFunction
    dates: Sequence[tuple[int, int]] = field(default=(), repr=False)

    @property
    def first_day(self) -> tuple[int, int] | None:
        """(month, day) of the first value; None if unknown."""
        if self.dates:
            return self.dates[0]
        return None

    @property
    def mean(self) -> float:
        """The mean temperature over time, in degrees C."""
        s = self.series
        return sum((b - a) * v for a, b, v in s.pieces(s.begin, s.end)) / (s.end - s.begin)

    def during(self, window: str) -> Weather:
        """Return the temperatures of a window such as "07-15:7d" or "07-15:36h" (month-day:length).

        The window begins at midnight of its first day, which becomes second 0. After the last day of a file of a whole
        year, the first day of the file follows. Raises ValueError for a malformed window, or one outside of the file.
        """
        day, seconds = _parse_window(window)
        first = self._index(day)
        times = self.series.times
        values = self.series.values
        origin = times[first]
        length = self.series.end - self.series.begin
        order = range(first, len(times))
        later = range(first if _is_year(length) else 0)
        shifted = [*(times[k] - origin for k in order), *(times[k] - origin + length for k in later)]
        if later:
            end = length
        else:
            end = self.series.end - origin
        if seconds > end:
            raise WrongValue(
                f"the window {window!r} is too long: from {_name(day)} on there are only {end / DAY:.4g} days"
            )
        kept = [*order, *later][: bisect_left(shifted, seconds)]
        cut = StepFunction(shifted[: len(kept)], [values[k] for k in kept], seconds)
        return Weather(self.name, f"{self.source}, {window.strip()}", cut, tuple(self.dates[k] for k in kept))

    def _index(self, day: tuple[int, int]) -> int:
        """Return the index of the value at midnight of a day. Raises ValueError."""
        if not self.dates:
            raise WrongValue("the file has no dates: leave the window out, or add columns month, day, hour")
        if day not in self.dates:
            span = f"it has the days from {_name(self.dates[0])} to {_name(self.dates[-1])}"
            raise WrongValue(f"{_name(day)} is not in the file; {span}")
        first = self.dates.index(day)
        if self.series.times[first] % DAY:
            raise WrongValue(f"the file has no value at midnight of {_name(day)}; begin with the day after")
        return first


def _parse_window(window: str) -> tuple[tuple[int, int], int]:
    """Return (month, day) and the length in seconds of a window. Raises ValueError."""
    parts = WINDOW.fullmatch(window.strip())
    if not parts or int(parts[3]) < 1:
        raise WrongValue(f"{window!r} is not a window; expected month-day:days, such as 07-15:7d")
    return (int(parts[1]), int(parts[2])), int(parts[3]) * (DAY if parts[4] == "d" else HOUR)


def read_weather(path: str | Path, window: str | None = None) -> Weather:
    """Read the dry-bulb temperatures of a weather file, plain or compressed (``.gz``).

    Three formats are recognised:

    - EPW (EnergyPlus weather), in which hour 1 is 00:00 to 01:00;
    - the typical year of PVGIS (``time(UTC),T2m,...``);
    - CSV with a column of temperatures in degrees C (``temperature_c``, ``drybulb_c``, ``temp``, ...) and columns of
      times: ``time_s`` (seconds), or ``month,day,hour_ending`` (1 to 24), or ``month,day,hour`` (0 to 23), or dates
      such as 2012-07-15T13:00. Without columns of times each row is one hour. Lines that begin with # are comments.

    Times stay as in the file: no time zone is applied.

    Parameters
    ----------
    path
        The weather file.
    window
        Only this part, such as "07-15:7d" (see ``Weather.during``); None: the whole file.

    Returns
    -------
    Weather
        The temperatures.

    Raises
    ------
    InstanceError
        The file has faults, or does not contain the window. All faults are listed: file, line, expected value, found
        value.
    WorkloadError
        There is no such file, or it cannot be read.
    """
    sheet = Sheet(Path(path))
    reading = _read(sheet)
    sheet.raise_faults()
    if not reading.values:
        sheet.add_fault(None, "rows", "a temperature for each hour", None)
        sheet.raise_faults()
    end = reading.times[-1] + _step(reading.times)
    weather = Weather(
        sheet.path.stem, sheet.path.name, StepFunction(reading.times, reading.values, end), tuple(reading.dates)
    )
    if window is None:
        return weather
    try:
        return weather.during(window)
    except ValueError as e:
        raise InstanceError(
            sheet.path, [Fault(sheet.path.name, None, "window", "days that are in the file", str(e))]
        ) from e


def _read(sheet: Sheet) -> Reading:
    if sheet.lines and sheet.lines[0].upper().startswith("LOCATION,"):
        return read_epw(sheet)
    top = next((k for k, line in enumerate(sheet.lines) if line.lower().startswith("time(utc),")), None)
    if top is None:
        return read_plain(sheet)
    return read_pvgis(sheet, top)


def _step(times: Sequence[int]) -> int:
    """Return how long the last value holds, in s: as long as the one before it; an hour if it is the only one."""
    if len(times) > 1:
        return times[-1] - times[-2]
    return HOUR


def _is_year(seconds: int) -> bool:
    return seconds in (365 * DAY, 366 * DAY)


def _name(day: tuple[int, int]) -> str:
    return f"{day[0]:02}-{day[1]:02}"


def write_weather(weather: Weather, path: str | Path) -> None:
    """Write temperatures as a CSV file that ``read_weather`` reads.

    The file is read once before it is renamed to its final name. Raises NotReadable if it could not be read again,
    OSError.
    """
    file = Path(path)
    file.parent.stat()  # raises if the folder is missing: write_files would create it
    write_files(file.parent, {file.name: weather_csv(weather)}, lambda folder: read_weather(folder / file.name))


def weather_csv(weather: Weather) -> str:
    """Return the CSV text ``time_s,temperature_c``, with comments on source and first day, for ``read_weather``.

    >>> print(weather_csv(Weather("two hours", "an example", StepFunction.hourly([20.5, 21.0]), ((7, 15), (7, 15)))))
    # two hours; source: an example
    # degrees C; each value holds up to the next time, the last one up to 7200 s; second 0 is 07-15 00:00
    time_s,temperature_c
    0,20.5
    3600,21.0
    <BLANKLINE>
    """
    s = weather.series
    day = ""
    if weather.first_day:
        day = f"; second 0 is {_name(weather.first_day)} 00:00"
    rows: Iterator[tuple[object, object]] = zip(s.times, s.values, strict=True)
    return (
        f"{COMMENT} {comment_line(f'{weather.name}; source: {weather.source}')}\n"
        f"{COMMENT} degrees C; each value holds up to the next time, the last one up to {s.end} s{day}\n"
        + to_csv(("time_s", "temperature_c"), rows)
    )


WARMEST = 15  # warmest hour of the day
KEPT = 0.7  # share of the drift of a day that remains on the next day


@dataclass(frozen=True)
class SyntheticSeason:
    """Mean temperature, daily range, and largest new drift per day, all in degrees C."""

    mean: float
    swing: float
    drift: float


SEASONS: Mapping[str, SyntheticSeason] = {
    "summer": SyntheticSeason(23.0, 8.0, 1.5),
    "winter": SyntheticSeason(3.5, 5.0, 1.0),
}


def synthetic(season: str, days: int, seed: int) -> StepFunction:
    """Return hourly temperatures of a season, "summer" or "winter", from midnight on, rounded to 0.01 degrees C.

    The temperature is a cosine over the day plus a drift. The cosine has its maximum at 15:00 and the mean of the
    season (summer: 23 degrees, difference of warmest and coldest hour 8; winter: 3.5 and 5; close to weeks of July and
    January in the Po valley). The drift at midnight is 0.7 times that of the midnight before plus a new part, uniform
    within 1.5 degrees (winter: 1); it is linear from midnight to midnight. So summer stays within 14 and 32 degrees,
    winter within -2.4 and 9.4. The same seed gives the same temperatures on every machine.

    Raises ValueError for another season, or less than one day.

    >>> synthetic("summer", 1, 7).at(15 * 3600) > synthetic("winter", 1, 7).at(15 * 3600)
    True
    """
    if season not in SEASONS:
        raise WrongValue(f"there is no season {season!r}; {hint(season, SEASONS)}")
    if days < 1:
        raise WrongValue(f"temperatures of {how_many(days, 'day')}; at least 1 is expected")
    kind = SEASONS[season]
    draw = random.Random(seed)
    drift = [kind.drift * (2 * draw.random() - 1)]
    for _ in range(days):
        drift.append(KEPT * drift[-1] + kind.drift * (2 * draw.random() - 1))
    values = []
    for hour in range(24 * days):
        day = hour // 24
        share = (hour % 24) / 24
        daily = kind.swing / 2 * math.cos(2 * math.pi * (hour % 24 - WARMEST) / 24)
        values.append(round(kind.mean + daily + (1 - share) * drift[day] + share * drift[day + 1], 2))
    return StepFunction.hourly(values)
