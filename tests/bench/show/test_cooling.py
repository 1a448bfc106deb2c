"""``bench show`` of cooling tables, and ``bench import weather``."""

import re
from pathlib import Path

import pytest
from schedlab.instances import read_weather
from schedlab.instances.formats import cooling

MINE = "temperature_c,it_power_w,pue\n10,1000,1.25\n20,1000,1.5\n10,400,1.1\n20,400,1.2\n"
HOURS = "# a station\nmonth,day,hour_ending,temp\n" + "".join(
    f"{m},{d},{h},{20 + h / 10 - d:.1f}\n" for m, d in ((7, 15), (7, 16)) for h in range(1, 25)
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_shipped_table_is_shown_with_what_it_assumes(bench) -> None:
    code, out, err = bench("show", "air")
    assert (code, err) == (0, "")
    assert "air: cooling from -20 to 45 degrees C, up to 110,000 W of IT power\n" in out
    assert "Given: 0.128 P - 180 W at 10 degrees" in out
    pues = re.search(r"PUE at IT kW +(.*)\n(?:.*\n)*? +15 degrees +(.*)\n", out)
    assert pues is not None
    expected = dict(zip(pues[1].split(), pues[2].split(), strict=True))
    assert expected["60"] == f"{cooling('air').pue(60_000, 15):.4f}" == "1.4154"
    assert "cooling kW at IT kW" in out


def test_a_table_of_ones_own_is_shown(bench) -> None:
    Path("mine.csv").write_text(MINE)
    code, out, _ = bench("show", "mine.csv")
    assert code == 0
    assert "mine: cooling from 10 to 20 degrees C, up to 1,000 W of IT power\n" in out
    assert re.search(r"20 degrees .* 1\.5000 *\n", out)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_table_is_drawn(bench, ending: str) -> None:
    Path("mine.csv").write_text(MINE)
    picture = Path(f"out.{ending}")
    code, out, err = bench("show", "mine.csv", "--plot", picture)
    assert (code, err) == (0, "")
    assert f"out.{ending}: cooling power and PUE over IT power\n" in out
    assert picture.read_bytes().startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[ending])


def test_the_picture_has_a_line_per_temperature_and_is_the_same_each_time(bench) -> None:
    for name in ("one.svg", "two.svg"):
        assert bench("show", "hybrid", "--plot", name)[0] == 0
    text = Path("one.svg").read_text()
    assert [f">{t} °C<" in text for t in range(-20, 50, 5)] == [True] * 14
    assert ">PUE<" in text
    assert Path("two.svg").read_text() == text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["hybird"], "there is no cooling 'hybird'"),
        (["none.csv"], "there is no cooling 'none.csv': neither a file"),
        (["bad.csv"], "bad.csv, line 2, pue: expected at least 1, found 0.5"),
        (["air", "--plot", "air.gif"], "--plot air.gif: expected a file name that ends in .svg, .png, .pdf"),
        (["air", "--plot", "none/air.svg"], "--plot none/air.svg: cannot be written"),
        (
            ["eurora_99", "--plot", "x.svg"],
            "eurora_99 is no desired profile and no site and no log and no cooling table",
        ),
        (["eurora_98"], "did you mean eurora_99"),
    ],
)
def test_a_wrong_use_of_show(bench, arguments: list[str], expected: str) -> None:
    Path("bad.csv").write_text("temperature_c,it_power_w,pue\n10,1000,0.5\n")
    code, _, err = bench("show", *arguments)
    assert code == 2
    assert err.startswith("error: ")
    assert expected in err


def test_without_matplotlib_the_picture_says_what_to_install(bench, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = bench("show", "air", "--plot", "air.svg")
    assert (code, "schedlab[plot]" in err, "PUE" in out) == (2, True, True)


def test_a_window_of_weather_becomes_a_plain_file(bench) -> None:
    Path("station.csv").write_text(HOURS)
    code, out, err = bench("import", "weather", "station.csv", "--window", "07-16:1d", "--out", "day.csv")
    assert (code, err) == (0, "")
    assert out == "mean 5.25 degrees C, least 4.1, greatest 6.4\nday.csv: 24 hours from 07-16 on, 24 values\n"
    assert read_weather("day.csv").series == read_weather("station.csv", "07-16:1d").series
    text = Path("day.csv").read_text()
    assert text.startswith("# station; source: station.csv, 07-16:1d\n")
    assert "\ntime_s,temperature_c\n0,4.1\n3600,4.2\n" in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["station.csv", "--window", "08-01:7d"], "08-01 is not in the file; it has the days from 07-15 to 07-16"),
        (["station.csv", "--window", "July"], "expected month-day:days, such as 07-15:7d"),
        (["none.epw"], "none.epw: there is no such file"),
        (["gap.csv"], "gap.csv, line 4, time: expected 07-15 01:00, the next hour; fill it"),
        (["station.csv", "--nodes", "3"], "No such option: --nodes"),
    ],
)
def test_a_wrong_use_of_import_weather_writes_nothing(bench, arguments: list[str], expected: str) -> None:
    Path("station.csv").write_text(HOURS)
    Path("gap.csv").write_text("\n".join(HOURS.splitlines()[:3]) + "\n7,15,3,20\n")
    code, out, err = bench("import", "weather", *arguments, "--out", "out.csv")
    assert (code, out) == (2, "")
    assert expected in err
    assert not Path("out.csv").exists()


def test_a_place_that_cannot_be_written(bench) -> None:
    Path("station.csv").write_text(HOURS)
    code, _, err = bench("import", "weather", "station.csv", "--out", "none/out.csv")
    assert code == 2
    assert err.startswith("error: --out none/out.csv: cannot be written (No such file")


def test_every_format_of_import_explains_itself(bench) -> None:
    code, out, _ = bench("import", "--help")
    assert code == 0
    for form in ("swf", "sacct", "pbs", "eurora", "batsim", "weather"):
        assert re.search(rf"^  {form} +\S", out, re.MULTILINE)
    assert bench("import", "weather", "--help")[0] == 0
    code, _, err = bench("import", "wether", "x", "--out", "y")
    assert (code, err) == (2, "error: there is no format 'wether'; did you mean weather or theta?\n")
