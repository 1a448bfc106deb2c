"""``bench import weather``: the hourly temperatures of a weather file, or of some days of it, as a plain CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...instances.weather import read_weather, write_weather
from ..errors import WrongUse
from ..terminal import say

HOUR = 3600


def import_weather(
    file: Annotated[Path, typer.Argument(help="EPW, the typical year of PVGIS, or CSV")],
    out: Annotated[Path, typer.Option(help="the CSV file to write: time_s,temperature_c")],
    window: Annotated[
        str | None, typer.Option(help="only so many days, from the midnight of month-day on: 07-15:7d, 12-28:10d")
    ] = None,
) -> None:
    """Makes a plain CSV of the temperatures of a weather file.

    Reads EPW, the typical meteorological year of PVGIS (CSV), and CSV with a column such as temperature_c or drybulb_c and
    one of times: time_s, month,day,hour_ending, or dates with times; without any, a row is an hour. Times stay those of the
    file (PVGIS: UTC). Gaps and missing values are told with their lines.

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
