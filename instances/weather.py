"""Hourly temperatures from weather files: EPW, the typical year of PVGIS, plain CSV; windows of them; the plain form."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..models.step_function import DAY, HOUR, StepFunction
from .files.faults import Fault, InstanceError
from .files.sheet import COMMENT, Sheet
from .files.writing import comment_line, to_csv, write_files
from .formats.weather import Reading, read_epw, read_plain, read_pvgis

WINDOW = re.compile(r"(\d{1,2})-(\d{1,2}):(\d{1,4})([dh])")


@dataclass(frozen=True)
class Weather:
    """Temperatures in degrees C over time; second 0 is midnight of the first day where the file tells dates.

    ``dates``: (month, day) of every value, empty where the file tells none; a typical year has no year.
    """

    name: str
    source: str
    series: StepFunction
    dates: Sequence[tuple[int, int]] = field(default=(), repr=False)

    @property
    def first_day(self) -> tuple[int, int] | None:
        """(month, day) of the first value, if it is known."""
        return self.dates[0] if self.dates else None

    @property
    def mean(self) -> float:
        """The mean over time, in degrees C."""
        s = self.series
        return sum((b - a) * v for a, b, v in s.pieces(s.begin, s.end)) / (s.end - s.begin)

    def during(self, window: str) -> Weather:
        """The days of a window such as "07-15:7d" (or "07-15:36h"), from its midnight on, which becomes second 0.

        A file of a whole year goes on with its first day after its last. Raises ValueError for a window that is not
        understood, or not in the file.
        """
        day, seconds = _asked(window)
        first = self._index(day)
        times, values = self.series.times, self.series.values
        origin, length = times[first], self.series.end - self.series.begin
        order, later = range(first, len(times)), range(first if _is_year(length) else 0)
        shifted = [*(times[k] - origin for k in order), *(times[k] - origin + length for k in later)]
        end = length if later else self.series.end - origin
        if seconds > end:
            raise ValueError(f"from {_name(day)} on there are only {end / DAY:.4g} days, not those of {window!r}")
        kept = [*order, *later][: bisect_left(shifted, seconds)]
        cut = StepFunction(shifted[: len(kept)], [values[k] for k in kept], seconds)
        return Weather(self.name, f"{self.source}, {window.strip()}", cut, tuple(self.dates[k] for k in kept))

    def _index(self, day: tuple[int, int]) -> int:
        """The first value of a day, at its midnight. Raises ValueError."""
        if not self.dates:
            raise ValueError("the file tells no dates: leave the window out, or add columns month, day, hour")
        if day not in self.dates:
            span = f"it goes from {_name(self.dates[0])} to {_name(self.dates[-1])}"
            raise ValueError(f"{_name(day)} is not in it; {span}")
        first = self.dates.index(day)
        if self.series.times[first] % DAY:
            raise ValueError(f"{_name(day)} is not there from its midnight on; begin with the day after")
        return first


def _asked(window: str) -> tuple[tuple[int, int], int]:
    """(month, day) and seconds of a window. Raises ValueError."""
    asked = WINDOW.fullmatch(window.strip())
    if not asked or int(asked[3]) < 1:
        raise ValueError(f"{window!r} is not understood; expected month-day:days, such as 07-15:7d")
    return (int(asked[1]), int(asked[2])), int(asked[3]) * (DAY if asked[4] == "d" else HOUR)


def read_weather(path: str | Path, window: str | None = None) -> Weather:
    """The dry-bulb temperatures of a weather file, .gz too; ``window``: only such days, as in ``Weather.during``.

    Reads EPW; the typical year of PVGIS (``time(UTC),T2m,...``); and plain CSV with a column of temperatures
    (``temperature_c``, ``drybulb_c``, ``temp``, ...) and of times: ``time_s`` (seconds), ``month,day,hour_ending`` (1 to
    24) or ``month,day,hour`` (0 to 23), or dates such as 2012-07-15T13:00; without any, a row is an hour. Lines that begin
    with # are comments. EPW's hour 1 is 00:00 to 01:00. Times stay those of the file: no time zone is applied.

    Raises InstanceError with all faults (file, line, what was expected and found), WorkloadError if there is no such file.
    """
    sheet = Sheet(Path(path))
    reading = _read(sheet)
    sheet.raise_faults()
    if not reading.values:
        sheet.add_fault(None, "rows", "a temperature per hour", None)
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
        raise InstanceError(sheet.path, [Fault(sheet.path.name, None, "window", "days that it holds", str(e))]) from e


def _read(sheet: Sheet) -> Reading:
    if sheet.lines and sheet.lines[0].upper().startswith("LOCATION,"):
        return read_epw(sheet)
    top = next((k for k, line in enumerate(sheet.lines) if line.lower().startswith("time(utc),")), None)
    return read_plain(sheet) if top is None else read_pvgis(sheet, top)


def _step(times: Sequence[int]) -> int:
    """How long the last value lasts: as long as the one before it, an hour if it is the only one."""
    return times[-1] - times[-2] if len(times) > 1 else HOUR


def _is_year(seconds: int) -> bool:
    return seconds in (365 * DAY, 366 * DAY)


def _name(day: tuple[int, int]) -> str:
    return f"{day[0]:02}-{day[1]:02}"


def write_weather(weather: Weather, path: str | Path) -> None:
    """Write the plain form as a file, read once before it is renamed into place.

    Raises NotReadable for what could not be read again, OSError.
    """
    file = Path(path)
    file.parent.stat()  # the folder of an instance is made where it is missing, that of a single file is not
    write_files(file.parent, {file.name: weather_csv(weather)}, lambda folder: read_weather(folder / file.name))


def weather_csv(weather: Weather) -> str:
    """The plain form, which ``read_weather`` reads: ``time_s,temperature_c``, with comments on source and first day.

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
