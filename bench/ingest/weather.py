"""``bench import weather``: the hourly temperatures of a weather file, or of some days of it, are written as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...instances.weather import read_weather, write_weather
from ..errors import WrongUse
from ..terminal import say

HOUR = 3600  # seconds


def import_weather(
    file: Annotated[Path, typer.Argument(help="weather file: EPW, typical year of PVGIS, or CSV")],
    out: Annotated[Path, typer.Option(help="CSV file to write, with the columns time_s,temperature_c")],
    window: Annotated[
        str | None,
        typer.Option(help="only some days: 07-15:7d (7 days from July 15, 0:00), 12-28:10d"),
    ] = None,
) -> None:
    """Convert a weather file to a CSV table of temperatures.

    A CSV file needs a column of temperatures, such as temperature_c or drybulb_c. Times are in a column time_s, in the
    columns month,day,hour_ending, or given as dates with times; a file without times has one row per hour. The time zone
    of the file is kept (PVGIS: UTC). Gaps and missing values are reported with their lines.

    Example: bench import weather tmy.epw --window 07-15:7d --out july.csv
    """
    weather = read_weather(file, window)
    try:
        write_weather(weather, out)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    s = weather.series
    since = " from {:02}-{:02} on".format(*weather.first_day) if weather.first_day else ""
    say(f"mean {weather.mean:.2f} degrees C, least {min(s.values):g}, greatest {max(s.values):g}")
    say(f"{out}: {(s.end - s.begin) / HOUR:,g} hours{since}, {len(s.values):,} values")
