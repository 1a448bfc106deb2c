"""Temperatures: formats of weather files, time windows, synthetic seasons, and the place of every fault."""

import csv
import gzip
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
from schedlab.instances import SEASONS, InstanceError, Weather, WorkloadError, read_weather, synthetic, weather_csv
from schedlab.models import StepFunction
from shared_data import DATA as SHARED

HOUR, DAY = 3600, 86400  # seconds

Writer = Callable[[str, str], Path]
DATA = SHARED / "weather_po_valley_pvgis"
TMY = "tmy_45.000_8.000_2005_2023"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the weather of the Po valley is not in {DATA}")


def epw(*rows: tuple[int, int, int, object], periods: str = "DATA PERIODS,1,1,Data,Sunday, 1/ 1,12/31") -> str:
    """Return an EPW text with the given records (month, day, hour, dry bulb)."""
    head = ["LOCATION,Nowhere,-,-,-,0,45,8,1,250", *["COMMENTS 1,none"] * 6, periods]
    return "\n".join([*head, *(f"2018,{m},{d},{h},0,?,{t},1.2,94,99870" for m, d, h, t in rows)]) + "\n"


def day(month: int, day: int, warm: float = 20.0) -> list[tuple[int, int, int, object]]:
    return [(month, day, h, warm + h / 10) for h in range(1, 25)]


@needs_data
@pytest.mark.parametrize("name", ["hourly.csv", f"{TMY}.csv", f"{TMY}.epw"])
def test_the_same_year_in_three_formats(name: str) -> None:
    with (DATA / "hourly.csv").open() as file:
        rows = list(csv.DictReader(file))
    year = read_weather(DATA / name)
    assert year.series == StepFunction.hourly([float(r["drybulb_c"]) for r in rows])
    assert year.series.end == 365 * DAY
    assert year.dates == tuple((int(r["month"]), int(r["day"])) for r in rows)
    assert year.mean == pytest.approx(fmean(year.series.values))


@needs_data
@pytest.mark.parametrize(
    ("week", "window"), [("summer_week_jul15_21", "07-15:7d"), ("winter_week_jan15_21", "01-15:7d")]
)
def test_a_window_of_a_year_is_the_week(week: str, window: str) -> None:
    cut = read_weather(DATA / f"{TMY}.epw", window)
    whole = read_weather(DATA / f"{week}.csv")
    assert cut.series == whole.series
    assert cut.dates == whole.dates
    assert cut.series.end == 7 * DAY


@needs_data
def test_a_window_over_the_end_of_the_year_goes_on_with_its_first_day() -> None:
    cut = read_weather(DATA / f"{TMY}.csv", "12-30:4d")
    assert cut.dates[::24] == ((12, 30), (12, 31), (1, 1), (1, 2))
    assert cut.series.at(2 * DAY) == 2.04


def test_hour_1_of_epw_is_the_hour_after_midnight(file: Writer) -> None:
    weather = read_weather(file("w.epw", epw(*day(7, 15), *day(7, 16, 10.0))))
    assert weather.series.at(0) == 20.1
    assert weather.series.at(DAY - 1) == 22.4
    assert (weather.series.at(DAY), weather.series.end) == (10.1, 2 * DAY)
    assert weather.first_day == (7, 15)


def test_a_typical_year_has_no_leap_day_and_no_year(file: Writer) -> None:
    """28 February may be followed by 1 March or 29 February, and December by January."""
    for days in ([(2, 28), (3, 1)], [(2, 28), (2, 29), (3, 1)], [(12, 31), (1, 1)]):
        weather = read_weather(file("w.epw", epw(*(row for m, d in days for row in day(m, d)))))
        assert weather.series.end == len(days) * DAY


def test_the_table_of_pvgis_ends_at_an_empty_line(file: Writer) -> None:
    text = (
        "Latitude: 45\nmonth,year\n1,2018\ntime(UTC),T2m,RH\n20180101:0000,2.04,94\n20180101:0100,1.98,95\n\nT2m: air\n"
    )
    assert read_weather(file("w.csv", text)).series == StepFunction.hourly([2.04, 1.98])


@pytest.mark.parametrize(
    ("text", "first", "begin"),
    [
        ("temp\n20.5\n21\n", None, 0),
        ("# one a row\n\nhour,drybulb_c\n0,20.5\n1,21\n", None, 0),
        ("time_s,temperature_c\n0,20.5\n3600,21\n", None, 0),
        ("time_s,temperature_c\n7200,20.5\n10800,21\n", None, 7200),
        ("month,day,hour_ending,drybulb_c\n7,15,1,20.5\n7,15,2,21\n", (7, 15), 0),
        ("Month, Day, Hour, Temp\n7,15,1,20.5\n7,15,2,21\n", (7, 15), HOUR),
        ("timestamp,temp_air\n2012-07-15T00:00,20.5\n2012-07-15T01:00,21\n", (7, 15), 0),
        ("time,t2m\n2012-07-15 05:00+00:00,20.5\n2012-07-15 06:00+00:00,21\n", (7, 15), 5 * HOUR),
    ],
)
def test_plain_files(file: Writer, text: str, first: tuple[int, int] | None, begin: int) -> None:
    weather = read_weather(file("w.csv", text))
    assert weather.series == StepFunction.hourly([20.5, 21.0], begin)
    assert weather.first_day == first


def test_other_steps_than_hours(file: Writer) -> None:
    by_stamp = read_weather(file("a.csv", "time,temp\n2012-07-15 00:00,20\n2012-07-15 00:15,21\n2012-07-15 00:30,22\n"))
    assert by_stamp.series == StepFunction([0, 900, 1800], [20, 21, 22], 2700)
    by_seconds = read_weather(file("b.csv", "time_s,temp\n0,20\n60,21\n7260,22\n"))
    assert by_seconds.series == StepFunction([0, 60, 7260], [20, 21, 22], 14460)


def test_packed_files_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "w.csv.gz"
    path.write_bytes(gzip.compress(b"temp\n20\n"))
    assert read_weather(path).series == StepFunction.hourly([20.0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (epw((7, 15, 1, 20), (7, 15, 2, 99.9)), "w, line 10, dry bulb: expected a temperature (99.9 means that it is"),
        (epw((7, 15, 1, 20), (7, 15, 3, 20)), "w, line 10, time: expected 07-15 01:00, the next hour; fill it"),
        (epw((7, 15, 24, 20), (7, 17, 1, 20)), "line 10, time: expected 07-16 00:00"),
        (epw((7, 15, 0, 20)), "line 9, hour: expected a whole number, 1 to 24, found '0'"),
        (epw((2, 30, 1, 20)), "line 9, day: expected a day of month 2, found 30"),
        (epw((7, 15, 1, "warm")), "line 9, dry bulb: expected degrees C, -90 to 65, found 'warm'"),
        (epw((7, 15, 1, 293.15)), "line 9, dry bulb: expected degrees C, -90 to 65, found 293.15"),
        (epw((7, 15, 1, "")), "line 9, dry bulb: expected a temperature"),
        (epw((7, 15, 1, 20)) + "2018,7\n", "line 10, row: expected a record of EPW"),
        (epw((7, 15, 1, 20), periods="DATA PERIODS,1,4,Data"), "with one record per hour"),
        (epw(), "rows: expected a temperature for each hour"),
        ("time(UTC),RH\n20180101:0000,94\n", "line 1, T2m: expected a column of this name"),
        ("time(UTC),T2m\n2018-01-01,9\n", "line 2, time(UTC): expected a time such as 20180101:0000"),
        ("time(UTC),T2m\n20180101:0000,9\n20180101:0200,9\n", "line 3, time: expected 01-01 01:00, the next hour"),
        ("hour,degrees\n1,20\n", "columns: expected a column of temperatures (temperature_c, drybulb_c,"),
        (
            "month,day,temp\n1,1,20\n",
            "expected a column hour_ending (1 to 24) or hour (0 to 23), as there are month and day",
        ),
        ("time_s,temp\n0,20\n0,21\n", "line 3, time_s: expected a later time than the 0 s of the row before"),
        ("time_s,temp\n0.5,20\n", "line 2, time_s: expected a whole number of seconds"),
        ("time,temp\n2012-07-15 00:00,20\n15.7.2012,21\n", "line 3, time: expected a date with a time such as"),
        ("time,temp\n2012-07-15 01:00,20\n2012-07-15 00:00,21\n", "line 3, time: expected a time later than"),
        (
            "time,temp\n2012-07-15 00:00,20\n2012-07-15 01:00,21\n2012-07-15 03:00,21\n",
            "line 4, time: expected 2012-07-15 02:00:00, the next time",
        ),
        ("time,temp\n2012-07-15 00:00,20\n2012-07-15 01:00Z,21\n", "a time zone in all rows or in none"),
        ("temp\n20\n21,22\n", "line 3, row: expected 1 field"),
        ("temp\n20\nnan\n", "line 3, temp: expected degrees C"),
        ("", "columns: expected a column of temperatures"),
    ],
)
def test_a_fault_is_told_with_its_place(file: Writer, text: str, expected: str) -> None:
    with pytest.raises(InstanceError) as fault:
        read_weather(file("w", text))
    assert expected in str(fault.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(WorkloadError, match=r"none\.epw: there is no such file"):
        read_weather("none.epw")


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("July", "'July' is not a window; expected month-day:days, such as 07-15:7d"),
        ("07-15:0d", "not a window"),
        ("08-15:1d", "08-15 is not in the file; it has the days from 07-15 to 07-16"),
        ("07-15:3d", "from 07-15 on there are only 2 days"),
    ],
)
def test_a_window_that_cannot_be_had(file: Writer, window: str, expected: str) -> None:
    path = file("w.epw", epw(*day(7, 15), *day(7, 16)))
    with pytest.raises(InstanceError) as fault:
        read_weather(path, window)
    assert "w.epw, window: expected days that are in the file, found " in str(fault.value)
    assert expected in str(fault.value)


def test_a_window_needs_dates_and_a_midnight(file: Writer) -> None:
    with pytest.raises(InstanceError, match="the file has no dates"):
        read_weather(file("w.csv", "temp\n20\n"), "07-15:1d")
    with pytest.raises(InstanceError, match="the file has no value at midnight of 07-15"):
        read_weather(file("w.epw", epw(*day(7, 15)[5:], *day(7, 16))), "07-15:1d")


def test_some_hours_of_a_day(file: Writer) -> None:
    path = file("w.epw", epw(*day(7, 15), *day(7, 16)))
    assert read_weather(path, "07-16:6h").series == StepFunction.hourly([20.1, 20.2, 20.3, 20.4, 20.5, 20.6])


def test_the_plain_form_is_read_as_it_was_written(file: Writer) -> None:
    weather = Weather("week", "made up", synthetic("winter", 7, 3), ((1, 15),) * 168)
    again = read_weather(file("plain.csv", weather_csv(weather)))
    assert again.series == weather.series
    assert "second 0 is 01-15 00:00" in weather_csv(weather)


@pytest.mark.parametrize(("season", "mean", "swing"), [("summer", 23, 8), ("winter", 3.5, 5)])
def test_synthetic_seasons(season: str, mean: float, swing: float) -> None:
    values = synthetic(season, 200, 1).values
    days = [values[k : k + 24] for k in range(0, len(values), 24)]
    assert len(days) == 200
    assert fmean(values) == pytest.approx(mean, abs=0.5)
    assert fmean(max(d) - min(d) for d in days) == pytest.approx(swing, abs=0.6)
    assert fmean(range(24)[d.index(max(d))] for d in days) == pytest.approx(15, abs=0.7)
    reach = swing / 2 + SEASONS[season].drift / 0.3
    assert mean - reach <= min(values) <= max(values) <= mean + reach
    assert all(round(v, 2) == v for v in values)


def test_the_same_seed_gives_the_same_temperatures() -> None:
    assert synthetic("summer", 3, 7) == synthetic("summer", 3, 7)
    assert synthetic("summer", 3, 7).values != synthetic("summer", 3, 8).values
    assert synthetic("summer", 5, 7).values[:72] == synthetic("summer", 3, 7).values
    assert synthetic("summer", 1, 1).values[:4] == (19.07, 18.5, 18.15, 18.07)


def test_a_season_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="there is no season 'sumer'; did you mean summer"):
        synthetic("sumer", 1, 1)
    with pytest.raises(ValueError, match="at least 1 is expected"):
        synthetic("summer", 0, 1)
