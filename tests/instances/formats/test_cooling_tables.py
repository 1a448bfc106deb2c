"""Cooling tables: agreement with [Bridi2018], physical plausibility, and the place of every fault of a file."""

import csv
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest
from schedlab.instances import InstanceError, WorkloadError, read_weather
from schedlab.instances.formats import SHIPPED, UnknownCooling, about, cooling, cooling_csv, cooling_names, read_cooling
from schedlab.instances.generators import cooling_fit
from schedlab.instances.generators.cooling_fit import MOST, SUMMER, WINTER, ship, shipped
from shared_data import DATA

Writer = Callable[[str, str], Path]
FULL = 90_768.0  # W; 300 nodes x 32 cores x 9.455 W
TINY = 1e-7  # of a slope: the cells are rounded to a millionth of a watt

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the data of the thesis are not in {DATA}")


def test_the_shipped_files_are_what_their_generator_makes(tmp_path: Path) -> None:
    ship(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(shipped()) == ["air.csv", "hybrid.csv"]
    for name in shipped():
        assert (SHIPPED / name).read_bytes() == (tmp_path / name).read_bytes()


def test_the_shipped_files_say_what_is_given_and_what_is_assumed() -> None:
    for name in cooling_names():
        text = " ".join(about(name))
        assert "Given: " in text
        assert "Assumed: " in text
        assert "PhD thesis" in text


@pytest.mark.parametrize(
    ("celsius", "watts", "pue", "takes"),
    [
        (10, 55_000, 1.1247272727, 6860),
        (10, 55_500, 1.1247567568, 6924),
        (15, 55_000, 1.4153090909, 22842),
        (15, 55_500, 1.4153153153, 23050),
    ],
)
def test_the_rows_of_table_6_1_are_those_of_air(celsius: int, watts: int, pue: float, takes: float) -> None:
    assert cooling("air").power(watts, celsius) == pytest.approx(takes, abs=1e-6)
    assert cooling("air").pue(watts, celsius) == pytest.approx(pue, abs=1e-10)


@pytest.mark.parametrize("watts", [0, 50, 91.346, 1000, 1406.25, 2000, 30_000, 76_543, 90_000, 106_656, MOST])
def test_the_lines_of_table_6_1_hold_over_the_whole_table(watts: float) -> None:
    assert cooling("air").power(watts, 10) == pytest.approx(max(0, 0.128 * watts - 180), abs=1e-3)
    assert cooling("air").power(watts, 15) == pytest.approx(max(0, 0.416 * watts - 38), abs=1e-3)


@pytest.mark.parametrize(
    ("name", "celsius", "watts", "pue"),
    [
        ("air", SUMMER, 90_000, 1.43497),
        ("air", WINTER, 90_000, 1.11726),
        ("hybrid", SUMMER, 77_000, 1.08727),
        ("hybrid", WINTER, 77_000, 1.00302),
    ],
)
def test_the_slope_changes_where_table_6_2_has_its_point(name: str, celsius: int, watts: float, pue: float) -> None:
    table = cooling(name)
    assert table.pue(watts, celsius) == pytest.approx(pue, abs=1e-9)
    points = table.curve(celsius)
    slopes = [(v - y) / (u - x) for (x, y), (u, v) in pairwise(points)]
    factors = {p: b / a for (p, _), (a, b) in zip(points[1:-1], pairwise(slopes), strict=True) if a > TINY}
    assert max(factors, key=lambda p: factors[p]) == watts


@pytest.mark.parametrize("name", ["air", "hybrid"])
def test_cooling_is_convex_and_takes_no_less_for_more_work_or_warmer_air(name: str) -> None:
    table = cooling(name)
    for row in table.watts:
        slopes = [(b - a) / (q - p) for (p, q), (a, b) in zip(pairwise(table.powers), pairwise(row), strict=True)]
        assert slopes[0] >= 0
        assert all(b >= a - TINY for a, b in pairwise(slopes))
    for colder, warmer in pairwise(table.watts):
        assert all(a <= b for a, b in zip(colder, warmer, strict=True))


@pytest.mark.parametrize("name", ["air", "hybrid"])
def test_the_tables_reach_as_far_as_the_machine_of_the_thesis(name: str) -> None:
    table = cooling(name)
    assert table.most >= 300 * 32 * 11.11
    assert (table.temperatures[0], table.temperatures[-1]) == (-20, 45)
    assert {b - a for a, b in pairwise(table.temperatures)} == {5}


@needs_data
def test_the_pues_that_the_fit_claims_are_those_of_the_tables() -> None:
    """Recompute the figures of the docstring; each differs from [Bridi2018] by at most 0.01."""
    with (DATA / "pue_anchors" / "table_6_2.csv").open() as file:
        thesis = {(r["scenario"], r["workload"]): float(r["best_rule_based"]) for r in csv.DictReader(file)}
    folder = DATA / "weather_po_valley_pvgis"
    weeks = {
        "summer": read_weather(folder / "summer_week_jul15_21.csv").series.values,
        "winter": read_weather(folder / "winter_week_jan15_21.csv").series.values,
    }
    lines = []
    for name in ("air", "hybrid"):
        for season, celsius in weeks.items():
            for load, share in (("high", 0.97), ("low", 0.65)):
                ours = 1 + fmean(cooling(name).power(share * FULL, t) for t in celsius) / (share * FULL)
                theirs = thesis[f"{name}_{season}", load]
                assert ours == pytest.approx(theirs, abs=0.01)
                lines.append(f"    {f'{name} {season} {load}':<18}  {ours:.4f}  {theirs:.4f}")
    claimed = [line for line in str(cooling_fit.__doc__).splitlines() if line.startswith("    ")]
    assert lines == claimed


@needs_data
def test_the_anchors_of_the_thesis_load_as_a_table() -> None:
    table = cooling(DATA / "pue_anchors" / "table_6_1.csv")
    assert table.powers == (0, 55_000, 55_500)
    assert table.power(55_000, 10) == 6860


def test_a_table_of_ones_own_by_pue_alone_in_any_order(file: Writer) -> None:
    path = file(
        "mine.csv", "# ours\nit_power_w, pue ,temperature_c\n1000,1.5,20\n0,,20\n\n1000,1.25,10\n# half\n0,,10\n"
    )
    table = cooling("mine.csv", path.parent)
    assert (table.name, table.temperatures, table.powers) == ("mine", (10, 20), (0, 1000))
    assert table.watts == ((0, 250), (0, 500))
    assert about(path) == ["ours", "half"]


def test_a_table_by_cooling_power_alone_which_it_takes_even_when_nothing_runs(file: Writer) -> None:
    path = file("mine.csv", "temperature_c,it_power_w,cooling_power_w\n20,0,40\n20,1000,90\n")
    assert read_cooling(path).watts == ((40, 90),)


def test_a_table_that_says_nothing_of_0_w_needs_no_cooling_there(file: Writer) -> None:
    path = file("mine.csv", "temperature_c,it_power_w,pue\n20,1000,1.5\n")
    assert (read_cooling(path).powers, read_cooling(path).watts) == ((0, 1000), ((0, 500),))


def test_a_table_can_be_written_and_read_again(file: Writer) -> None:
    path = file("again.csv", cooling_csv(cooling("air"), ["from the shipped one"]))
    again = read_cooling(path)
    assert (again.temperatures, again.powers, again.watts) == (
        cooling("air").temperatures,
        cooling("air").powers,
        cooling("air").watts,
    )


HEAD = "temperature_c,it_power_w,cooling_power_w,pue\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + "10,0,0,\n10,500,50,\n20,0,0,\n", "rows: expected a row for 20 degrees and 500 W"),
        (HEAD + "10,0,0,\n20,0,0,\n20,500,9,\n", "rows: expected a row for 10 degrees and 500 W"),
        (HEAD + "10,0,0,\n10,500,,0.99\n", "t.csv, line 3, pue: expected at least 1, found 0.99"),
        (HEAD + "10,0,0,\n10,500,-5,\n", "t.csv, line 3, cooling_power_w: expected watts of at least 0"),
        (HEAD + "10,0,0,\n10,500,50,1.2\n", "t.csv, line 3, pue: expected 1.1, as the cooling power says, found 1.2"),
        (HEAD + "10,0,0,1\n10,500,50,\n", "t.csv, line 2, pue: expected nothing, as PUE has no meaning at 0 W"),
        (HEAD + "10,0,0,\n10,500,50,\n10,500,60,\n", "one row for 10 degrees and 500 W (line 3 has it too)"),
        (HEAD + "# of 10\n10,0,0,\n10,x,50,\n", "t.csv, line 4, it_power_w: expected watts of at least 0, found 'x'"),
        (HEAD + "10,-1,0,\n", "t.csv, line 2, it_power_w: expected watts of at least 0, found -1.0"),
        (HEAD + "nan,1,0,\n", "t.csv, line 2, temperature_c: expected degrees C, found 'nan'"),
        (HEAD + "10,500,,\n", "t.csv, line 2, cooling_power_w: expected a number here, or in the other one"),
        (HEAD + "10,500,50\n", "t.csv, line 2, row: expected 4 fields, as in the header, found 3"),
        (HEAD + "10,0,0,\n", "at least two are expected, the first one 0"),
        (HEAD, "rows: expected a row per temperature and IT power"),
        ("temperature_c,pue\n10,1.2\n", "it_power_w: expected a column of this name; the file has temperature_c, pue"),
        ("it_power_w,pue\n10,1.2\n", "temperature_c: expected a column of this name"),
        ("temperature_c,it_power_w\n10,12\n", "a column cooling_power_w or pue"),
        ("", "the file has no columns"),
    ],
)
def test_a_fault_of_a_table_is_told_with_its_place(file: Writer, text: str, expected: str) -> None:
    with pytest.raises(InstanceError) as fault:
        read_cooling(file("t.csv", text))
    assert expected in str(fault.value)


def test_of_many_faults_the_first_ten_are_told(file: Writer) -> None:
    path = file("t.csv", HEAD + "".join(f"10,{k},,0.5\n" for k in range(1, 31)))
    with pytest.raises(InstanceError) as fault:
        read_cooling(path)
    assert "t.csv, line 11, pue" in str(fault.value)
    assert "t.csv, line 12, pue" not in str(fault.value)
    assert "20 more faults" in str(fault.value)


def test_a_name_that_is_not_known_is_told_with_the_near_ones() -> None:
    with pytest.raises(UnknownCooling, match=r"there is no cooling 'hybird'.*did you mean hybrid\?"):
        cooling("hybird")
    with pytest.raises(UnknownCooling, match="shipped are air, hybrid"):
        cooling("none.csv")
    with pytest.raises(WorkloadError, match="there is no such file"):
        read_cooling("none.csv")
