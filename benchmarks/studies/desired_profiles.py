"""Write the desired profiles of the study of DARDIS: ``python -m benchmarks.studies.desired_profiles FOLDER``.

The thesis does not give its profile [Bridi2018, 5.5]. Ours, for a machine of one kind of nodes, on the clock of the log of CEA Curie:

- ``day-night.csv``: all cores of each node at night, 60 % from 8:00 to 20:00 CET, all year.
- ``flat-80.csv``: 80 % of the cores of each node.
- ``pue-MM-DD.csv``, with a weather file: the share of the cores of each node at which the PUE of air cooling is at most 1.435, at the
  temperature of each hour of 30 days. The cooling table is that of 300 nodes of 32 cores with 9.455 W a core.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from schedlab.bench.errors import WRONG
from schedlab.bench.terminal import console_for
from schedlab.errors import SchedlabError
from schedlab.instances.files.profile_file import WishList, wishes_of, write_profile
from schedlab.instances.formats.cooling_tables import cooling
from schedlab.instances.weather import read_weather
from schedlab.models import NodeGroup, Platform
from schedlab.models.profiles import Wish, from_temperature
from schedlab.models.step_function import DAY, HOUR

CLOCK = 1_296_571_124  # Unix time of second 0 of the log of CEA Curie
MIDNIGHT = 30_076  # its first midnight in Paris
YEAR = 2012
TARGET_PUE, WATTS = 1.435, 9.455  # watts of a core
FLAT, BY_DAY = 0.8, 0.6
LASTING = 30  # days


def profiles(weather: Path | None = None, day: str = "09-12") -> dict[str, WishList]:
    """Return file name -> wishes.

    Parameters
    ----------
    weather : Path, optional
        A weather file of a typical year in UTC; None: without the profile of the temperature.
    day : str
        Month and day from which the temperatures are taken.

    Examples
    --------
    >>> [wish.share for wish in profiles()["day-night.csv"].wishes]
    [1.0, 0.6, 1.0]
    """
    hours = {0: 1.0, 8: BY_DAY, 20: 1.0}
    daily = tuple(Wish(HOUR * hour, "cores", share) for hour, share in hours.items())
    lists = {
        "day-night.csv": WishList(daily, DAY, None, MIDNIGHT),
        "flat-80.csv": WishList((Wish(0, "cores", FLAT),), DAY),
    }
    if weather is not None:
        machine = Platform([NodeGroup("node", 300, {"cores": 32})])
        celsius = read_weather(weather, f"{day}:{LASTING}d").series
        wishes = wishes_of(from_temperature(machine, cooling("air"), celsius, TARGET_PUE, WATTS))
        month, number = map(int, day.split("-"))
        origin = int(datetime(YEAR, month, number, tzinfo=UTC).timestamp()) - CLOCK
        lists[f"pue-{day}.csv"] = replace(wishes, origin=origin)
    return lists


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.desired_profiles", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files are written")
    parser.add_argument("--weather", type=Path, help="weather file of a typical year: EPW, PVGIS or CSV")
    parser.add_argument(
        "--day", default="09-12", help="month and day from which the temperatures are taken (default: 09-12)"
    )
    options = parser.parse_args(arguments)
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
        for name, wishes in profiles(options.weather, options.day).items():
            write_profile(wishes, options.folder / name, ["Desired use of the study bridi2018-dardis."])
            console_for().print(f"written: {options.folder / name}", soft_wrap=True)
    except (SchedlabError, ValueError, OSError) as e:
        console_for(stderr=True).print(f"error: {e}", markup=False, highlight=False, soft_wrap=True)
        return WRONG
    return 0


if __name__ == "__main__":
    sys.exit(main())
