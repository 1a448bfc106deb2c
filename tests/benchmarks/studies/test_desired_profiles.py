"""The desired profiles of the study of DARDIS: files that replays read, on the clock of the log of Curie."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from schedlab.benchmarks.studies.desired_profiles import CLOCK, main
from schedlab.instances.files.profile_file import read_profile
from schedlab.models import NodeGroup, Platform

MACHINE = Platform([NodeGroup("node", 300, {"cores": 32})])


def second(*time, zone="Europe/Paris"):
    """The second of the log at a time."""
    return int(datetime(2012, *time, tzinfo=ZoneInfo(zone)).timestamp()) - CLOCK


def test_the_day_begins_at_eight_in_paris_in_winter(tmp_path):
    """The log begins in winter, and so do the periods: in summer, the same second of the day is an hour later."""
    assert main([str(tmp_path)]) == 0
    found = read_profile(tmp_path / "day-night.csv", MACHINE)
    for day in ((2, 1), (12, 24)):
        amounts = [
            found.amount("node", "cores", second(*day, hour, minute))
            for hour, minute in ((7, 59), (8, 0), (19, 59), (20, 0))
        ]
        assert amounts == pytest.approx([32, 19.2, 19.2, 32])
    assert found.amount("node", "cores", second(9, 13, 8, 30)) == 32
    flat = read_profile(tmp_path / "flat-80.csv", MACHINE)
    assert flat.amount("node", "cores", 0) == pytest.approx(25.6) == flat.amount("node", "cores", second(9, 13, 8))


def test_the_wish_falls_to_nothing_at_a_temperature_without_a_power_of_the_target(tmp_path):
    """10 degrees on all days but September 14, 45 degrees: the PUE of air cooling is then above 1.47 at all powers."""
    rows = ["month,day,hour_ending,drybulb_c"]
    days = [(9, d) for d in range(12, 31)] + [(10, d) for d in range(1, 15)]
    rows += [f"{m},{d},{h},{45 if (m, d) == (9, 14) else 10}" for m, d in days for h in range(1, 25)]
    (tmp_path / "weather.csv").write_text("\n".join(rows) + "\n")
    assert main([str(tmp_path), "--weather", str(tmp_path / "weather.csv")]) == 0
    found = read_profile(tmp_path / "pue-09-12.csv", MACHINE)
    at = [found.amount("node", "cores", second(9, day, 12, zone="UTC")) for day in (12, 13, 14, 15)]
    assert at == pytest.approx([32, 32, 0, 32])


def test_a_missing_weather_file_is_reported(tmp_path, capsys):
    assert main([str(tmp_path), "--weather", str(tmp_path / "none.epw")]) == 2
    assert "none.epw" in capsys.readouterr().err
