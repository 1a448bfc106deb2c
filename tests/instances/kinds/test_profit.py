"""Folders of profit instances: scenarios, reading, writing, and the place of every fault."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from schedlab.heuristics import first_solution
from schedlab.instances import Instance, InstanceError, UnknownScenario, load, write
from schedlab.instances.formats import cooling
from schedlab.models import Profit

SETTINGS = """\
kind = "profit"
scenario = "air,summer,cheap"

[profit]
energy_price = 0.13

[profit.cooling.air]
table = "air"
scale = 0.01

[profit.cooling.cellar]
table = "cellar.csv"

[profit.season.summer]
temperatures = "summer.csv"

[profit.price.cheap]
core_hour = 0.013

[profit.price.dear]
core_hour = 0.1

[[platform.groups]]
name = "n"
count = 2
capacity = { cores = 32 }

[[queues]]
name = "q"
ewt_s = 3600
"""
JOBS = """\
id,queue,submit,units,cores,walltime,runtime,power
a,q,0,1,32,7200,3600,300.5
b,q,60,2,16,7200,,280.5
c,q,7200,1,8,7200,1800,70.5
"""
SUMMER = "# July of somewhere\ntime_s,temperature_c\n0,20\n3600,22\n"
CELLAR = "# a cellar\ntemperature_c,it_power_w,cooling_power_w\n20,0,0\n20,1000,50\n30,0,0\n30,1000,100\n"
FILES = {"instance.toml": SETTINGS, "jobs.csv": JOBS, "summer.csv": SUMMER, "cellar.csv": CELLAR}
Centre = Callable[..., Path]


@pytest.fixture
def centre(tmp_path: Path) -> Centre:
    """Write a folder; arguments: (old, new) replacements in the settings, and texts of files."""

    def of(*changes: tuple[str, str], **files: str) -> Path:
        folder = tmp_path / "centre"
        folder.mkdir()
        texts = FILES | {name.replace("_csv", ".csv"): text for name, text in files.items()}
        for old, new in changes:
            assert old in texts["instance.toml"]
            texts["instance.toml"] = texts["instance.toml"].replace(old, new)
        for name, text in texts.items():
            (folder / name).write_text(text)
        return folder

    return of


def profit(instance: Instance, scenario: str) -> Profit:
    problem = instance.scenario(scenario)
    assert isinstance(problem, Profit)
    return problem


class TestScenarios:
    def test_all_combinations_of_cooling_season_and_price(self, centre: Centre) -> None:
        instance = load(centre())
        assert instance.scenarios == (
            "air,summer,cheap", "air,summer,dear", "cellar,summer,cheap", "cellar,summer,dear",
        )  # fmt: skip
        assert instance.problem is instance.profit is instance.scenario("air,summer,cheap")
        dear = profit(instance, "cellar, summer, dear")
        assert dear is instance.scenario("cellar,summer,dear")
        assert (dear.price, dear.energy_price, dear.cooling.name) == (0.1, 0.13, "cellar")
        assert dear.dispatch is instance.profit.dispatch

    def test_a_scaled_plant_serves_a_machine_of_another_size(self, centre: Centre) -> None:
        plant = load(centre()).profit.cooling
        assert plant.most == pytest.approx(cooling("air").most / 100)
        assert plant.pue(550, 10) == pytest.approx(1.1247272727)

    @pytest.mark.parametrize(
        ("name", "expected"),
        [("air,sumer,cheap", "summer"), ("aire,summer,cheap", "air"), ("air,summer", "cooling,season,price"),
         ("air,summer,free", "cheap, dear")],
    )  # fmt: skip
    def test_unknown_words_are_told_with_the_near_ones(self, centre: Centre, name: str, expected: str) -> None:
        with pytest.raises(UnknownScenario) as e:
            load(centre()).scenario(name)
        assert name in str(e.value) and expected in str(e.value)

    def test_an_instance_of_another_kind_has_none(self) -> None:
        day = load("eurora_99")
        assert day.scenarios == ()
        with pytest.raises(UnknownScenario, match="eurora_99"):
            day.scenario("air,summer,cheap")
        with pytest.raises(TypeError, match="not a profit problem"):
            _ = day.profit


class TestReading:
    def test_jobs_take_their_runtime_or_their_walltime_where_there_is_none(self, centre: Centre) -> None:
        instance = load(centre())
        assert instance.profit.durations.tolist() == [3600, 7200, 1800]
        assert instance.profit.watts.tolist() == [300.5, 280.5, 70.5]
        assert [j.id for j in instance.jobs] == ["a", "b", "c"] and len(instance.platform.nodes) == 2
        with pytest.raises(TypeError, match="not a dispatching problem"):
            _ = instance.dispatch

    def test_profit_counts_up_to_the_last_submission_or_the_moment_given(self, centre: Centre, tmp_path: Path) -> None:
        assert load(centre()).profit.horizon_end == 7200
        (tmp_path / "centre/summer.csv").write_text("time_s,temperature_c\n0,20\n5000,22\n")
        text = SETTINGS.replace("[profit]", "[profit]\nuntil_s = 9000")
        (tmp_path / "centre/instance.toml").write_text(text)
        assert load(tmp_path / "centre").profit.horizon_end == 9000

    def test_watts_per_core_stand_in_for_a_power_that_is_not_known(self, centre: Centre) -> None:
        folder = centre(("[profit]", "[profit]\nwatts_per_core = 9.0"), jobs_csv=JOBS.replace(",280.5", ","))
        assert load(folder).profit.watts.tolist() == [300.5, 2 * 16 * 9, 70.5]

    def test_energy_prices_may_change_and_be_negative(self, centre: Centre) -> None:
        folder = centre(("energy_price = 0.13", 'energy_price = "energy.csv"'))
        (folder / "energy.csv").write_text("time_s,euro_per_kwh\n0,0.2\n3600,-0.05\n")
        problem = load(folder).profit
        assert [(s.begin, s.end, s.energy_price) for s in problem.segments] == [(0, 3600, 0.2), (3600, 7200, -0.05)]

    def test_jobs_that_never_fit_can_be_left_out(self, centre: Centre) -> None:
        folder = centre(jobs_csv=JOBS + "d,q,7300,3,32,60,60,900\n")
        with pytest.raises(InstanceError, match="line 5, units"):
            load(folder)
        instance = load(folder, drop_impossible=True)
        assert [j.id for j, _ in instance.dropped] == ["d"] and instance.profit.horizon_end == 7200


class TestWriting:
    def test_what_was_read_is_written_again_with_its_comments(self, centre: Centre, tmp_path: Path) -> None:
        instance = load(centre())
        write(instance, tmp_path / "copy")
        for name in ("jobs.csv", "summer.csv", "cellar.csv"):
            assert (tmp_path / "copy" / name).read_text() == FILES[name]
        again = load(tmp_path / "copy")
        schedule = first_solution(instance.profit, "est")
        for name in instance.scenarios:
            assert profit(again, name).value(schedule) == profit(instance, name).value(schedule)
        write(again, tmp_path / "third")
        assert {p.name: p.read_bytes() for p in (tmp_path / "copy").iterdir()} == {
            p.name: p.read_bytes() for p in (tmp_path / "third").iterdir()
        }

    def test_prices_over_time_and_other_settings_come_back(self, centre: Centre, tmp_path: Path) -> None:
        folder = centre(("energy_price = 0.13", 'energy_price = "e.csv"\nuntil_s = 7000\nwatts_per_core = 8.5'))
        (folder / "e.csv").write_text("time_s,euro_per_kwh\n0,0.2\n3600,-0.05\n")
        write(load(folder), tmp_path / "copy")
        problem = load(tmp_path / "copy").profit
        assert problem.energy_price == load(folder).profit.energy_price
        assert (problem.horizon_end, problem.watts_per_core) == (7000, 8.5)

    def test_a_problem_without_scenarios_cannot_be_written(self, centre: Centre, tmp_path: Path) -> None:
        instance = replace(load(centre()), centre=None)
        with pytest.raises(ValueError, match="no scenarios"):
            write(instance, tmp_path / "copy")
        with pytest.raises(ValueError, match="kind 'harvest'"):
            write(replace(instance, kind="harvest"), tmp_path / "copy")


FAULTS: dict[str, tuple[tuple[str, str], dict[str, str], list[str]]] = {
    "a job without power": (("", ""), {"jobs_csv": JOBS.replace(",280.5", ",")}, ["jobs.csv, line 3, power", "watts_per_core"]),
    "no column of powers": (
        ("", ""),
        {"jobs_csv": "id,queue,submit,units,cores,walltime,runtime\na,q,0,1,1,60,60\nb,q,9,1,1,60,60\n"},
        ["jobs.csv, line 2, power", "jobs.csv, line 3, power"],
    ),
    "power without cores": (
        ("", ""), {"jobs_csv": JOBS.replace("1,8,7200", "1,0,7200")}, ["jobs.csv, line 4, cores", "70.5 W"],
    ),
    "temperatures that end too early": (
        ("", ""), {"summer_csv": "time_s,temperature_c\n0,20\n1800,22\n"}, ["summer.csv", "0 s to 7200 s", "0 s to 3600 s"],
    ),
    "temperatures that begin too late": (
        ("", ""), {"summer_csv": "time_s,temperature_c\n60,20\n3660,22\n7260,20\n"}, ["summer.csv", "60 s"],
    ),
    "a temperature that is none": (
        ("", ""), {"summer_csv": "time_s,temperature_c\n0,20\n3600,warm\n"}, ["summer.csv, line 3", "'warm'"],
    ),
    "heat beyond the cooling table": (
        ("", ""), {"summer_csv": "time_s,temperature_c\n0,20\n3600,31\n"}, ["cellar", "31 degrees", "from 20 to 30"],
    ),
    "no file of temperatures": (('"summer.csv"', '"july.csv"'), {}, ["temperatures", "july.csv", "no such file"]),
    "a PUE below 1": (
        ("", ""), {"cellar_csv": "temperature_c,it_power_w,pue\n20,1000,1.1\n30,1000,0.9\n"}, ["cellar.csv, line 3, pue"],
    ),
    "a cooling table with gaps": (
        ("", ""),
        {"cellar_csv": "temperature_c,it_power_w,pue\n20,500,1.1\n20,1000,1.1\n30,1000,1.2\n"},
        ["cellar.csv", "30 degrees and 500 W"],
    ),
    "a plant that is too small": (("scale = 0.01", "scale = 0.001"), {}, ["profit.cooling.air", "110 W", "scale it"]),
    "a scale of nothing": (("scale = 0.01", "scale = 0"), {}, ["line 9, profit.cooling.air.scale", "above 0"]),
    "an unknown cooling": (('table = "air"', 'table = "airy"'), {}, ["profit.cooling.air.table", "air perhaps"]),
    "a negative price": (("core_hour = 0.013", "core_hour = -1"), {}, ["profit.price.cheap.core_hour", "at least 0", "-1"]),
    "no price": (("core_hour = 0.013\n", ""), {}, ["profit.price.cheap.core_hour", "nothing"]),
    "no energy price": (("energy_price = 0.13\n", ""), {}, ["profit.energy_price", "euro per kWh"]),
    "no season": (('[profit.season.summer]\ntemperatures = "summer.csv"\n', ""), {}, ["profit.season", "at least one"]),
    "an unknown scenario": (('"air,summer,cheap"', '"air,summer,chep"'), {}, ["line 2, scenario", "did you mean cheap"]),
    "a word with a comma": (("[profit.price.dear]", '[profit.price."a,b"]'), {}, ["profit.price.a,b", "letters"]),
    "an unknown setting": (("energy_price", "energy_cost"), {}, ["energy_cost", "energy_price"]),
    "no time to earn": (("", ""), {"jobs_csv": JOBS.replace(",60,", ",0,").replace("q,7200", "q,0")}, ["profit.until_s"]),
    "nodes without cores": (
        ("{ cores = 32 }", "{ gpus = 32 }"), {"jobs_csv": JOBS.replace("cores", "gpus").replace("300.5", "").replace("280.5", "").replace("70.5", "")},
        ["nodes with cores"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_told_with_their_place(centre: Centre, name: str) -> None:
    change, files, words = FAULTS[name]
    changes = [change] if change[0] else []
    if name == "nodes without cores":
        changes.append(("[profit]", "[profit]\nwatts_per_core = 9"))
    with pytest.raises(InstanceError) as e:
        load(centre(*changes, **files))
    assert all(word in str(e.value) for word in words), str(e.value)


def test_all_faults_are_told_at_once(centre: Centre) -> None:
    folder = centre(
        ("core_hour = 0.013", "core_hour = -1"), ('table = "air"', 'table = "airy"'), summer_csv="time_s\n0\n"
    )
    with pytest.raises(InstanceError) as e:
        load(folder)
    assert len(e.value.faults) == 3


def test_faults_of_a_file_of_energy_prices(centre: Centre) -> None:
    folder = centre(("energy_price = 0.13", 'energy_price = "e.csv"'))
    (folder / "e.csv").write_text("time_s,euro_per_kwh\n0,0.2\n3600,much\n1800.5,1\n0,1\n")
    with pytest.raises(InstanceError) as e:
        load(folder)
    assert [(f.line, f.field) for f in e.value.faults] == [(3, "euro_per_kwh"), (4, "time_s"), (5, "time_s")]
    (folder / "e.csv").write_text("time_s,euro_per_kwh\n0,0.2\n60,0.1\n")
    with pytest.raises(InstanceError, match=r"e\.csv, time_s: expected values from 0 s to 7200 s"):
        load(folder)


RUNNING = """\
id,queue,submit,units,cores,walltime,runtime,power,start,end,nodes
r1,q,0,2,8,7200,5000,160.5,600,7800,n-1:1 n-2:1
r2,q,0,1,4,7200,,40,0,7200,n-2:1
"""


def test_running_jobs_end_by_their_runtimes_and_are_written(centre: Centre, tmp_path: Path) -> None:
    folder = centre(("kind =", "begin_s = 3600\nkind ="), running_csv=RUNNING)
    instance = load(folder)
    p = instance.profit
    assert (p.begin, p.horizon_end) == (3600, 7200)
    assert [(r.job.id, r.end, r.job.power) for r in p.dispatch.running] == [("r1", 5600, 160.5), ("r2", 7200, 40.0)]
    alone = first_solution(p, "est")
    assert p.verify(alone) == []
    write(instance, tmp_path / "copy")
    again = load(tmp_path / "copy")
    assert again.profit == p
    assert again.profit.value(alone) == p.value(alone)
    write(again, tmp_path / "second")
    for name in ("running.csv", "jobs.csv", "instance.toml"):
        assert (tmp_path / "second" / name).read_bytes() == (tmp_path / "copy" / name).read_bytes()


@pytest.mark.parametrize(
    ("running", "places"),
    [
        (RUNNING.replace("160.5", ""), ["running.csv, power", "job r1 without one"]),
        (RUNNING.replace("n-1:1 n-2:1", ""), ["running.csv, line 2, nodes: expected a text, found nothing"]),
        (RUNNING.replace("600,7800", "3601,7800"), ["running.csv, line 2, start", "at most the begin, begin_s = 3600"]),
    ],
)
def test_faults_of_running_jobs_have_their_place(centre: Centre, running: str, places: list[str]) -> None:
    folder = centre(("kind =", "begin_s = 3600\nkind ="), running_csv=running)
    with pytest.raises(InstanceError) as caught:
        load(folder)
    for place in places:
        assert place in str(caught.value)
