"""Temperatures from weather files (EPW, typical year of PVGIS, plain CSV), time windows of them, and writing as CSV."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import WrongValue
from ..models.comparing import hashable
from ..models.step_function import DAY, HOUR, StepFunction
from .files.faults import Fault, InstanceError
from .files.sheet import COMMENT, Sheet
from .files.writing import comment_line, to_csv, write_files
from .formats.weather import Reading, read_epw, read_plain, read_pvgis

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
        return self.dates[0] if self.dates else None

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
        times, values = self.series.times, self.series.values
        origin, length = times[first], self.series.end - self.series.begin
        order, later = range(first, len(times)), range(first if _is_year(length) else 0)
        shifted = [*(times[k] - origin for k in order), *(times[k] - origin + length for k in later)]
        end = length if later else self.series.end - origin
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
    return read_plain(sheet) if top is None else read_pvgis(sheet, top)


def _step(times: Sequence[int]) -> int:
    """Return how long the last value holds, in s: as long as the one before it; an hour if it is the only one."""
    return times[-1] - times[-2] if len(times) > 1 else HOUR


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
    day = f"; second 0 is {_name(weather.first_day)} 00:00" if weather.first_day else ""
    rows: Iterator[tuple[object, object]] = zip(s.times, s.values, strict=True)
    return (
        f"{COMMENT} {comment_line(f'{weather.name}; source: {weather.source}')}\n"
        f"{COMMENT} degrees C; each value holds up to the next time, the last one up to {s.end} s{day}\n"
        + to_csv(("time_s", "temperature_c"), rows)
    )
