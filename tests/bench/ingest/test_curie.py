"""``bench import curie`` and ``bench generate centre``: profit instances from the command line."""

from datetime import date, timedelta

import pytest
from schedlab.instances import load
from schedlab.instances.formats import cooling
from shared_data import DATA

CURIE = DATA / "cea_curie_2011"
HEADER = "; UnixStartTime: 1342130400\n; TimeZoneString: Europe/Paris\n; MaxProcs: 64\n"  # 13 July 2012, 00:00 in Paris
JOBS = [(600, 3600, 32), (7200, 60, 5), (90000, 7200, 64), (170000, 300, 4096)]  # submit, runtime, processors


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working folder, with a log of four jobs."""
    monkeypatch.chdir(tmp_path)
    lines = (f"{k} {q} 10 {d} -1 -1 -1 {p} 7200 -1 1 5 1 3 1 -1 -1 -1" for k, (q, d, p) in enumerate(JOBS, 1))
    (tmp_path / "log.swf").write_text(HEADER + "\n".join(lines) + "\n")
    return tmp_path


def year(path, column="temperature_c"):
    """Write the temperatures of a year in which the temperature is the number of the month."""
    days = (date(2019, 1, 1) + timedelta(n) for n in range(365))
    rows = (f"{d.month},{d.day},{h},{d.month}" for d in days for h in range(24))
    path.write_text(f"month,day,hour,{column}\n" + "\n".join(rows) + "\n")


def test_a_log_becomes_the_scenarios_of_the_thesis(bench, folder):
    code, out, _ = bench("import", "curie", "log.swf", "--out", "centre", "--scenario", "hybrid,winter,expensive")
    assert code == 0
    assert "left out" not in out and "synthetic" in out and "offered load" in out
    assert "4 jobs on 300 nodes, 8 scenarios" in out
    instance = load("centre")
    problem = instance.profit
    assert len(instance.jobs) == 4 and len(instance.scenarios) == 8
    assert (problem.price, problem.energy_price, problem.cooling.name) == (0.10, 0.13, "hybrid")
    assert problem.cooling == cooling("hybrid") and problem.horizon_end == 170000
    assert [(j.units, j.request["cores"]) for j in instance.jobs] == [(1, 32), (1, 5), (2, 32), (128, 32)]
    assert problem.durations.tolist() == [d for _, d, _ in JOBS]
    assert all(7.79 < p < 11.12 for p in problem.watts / problem.cores)
    assert instance.platform.total("memory") == 300 * 131072
    assert "seed 1" in instance.source and "2012-07-13" in instance.description


def test_jobs_that_the_machine_cannot_hold_are_left_out_and_counted(bench, folder):
    code, out, _ = bench("import", "curie", "log.swf", "--out", "centre", "--nodes", 10)
    assert code == 0 and "left out: 1 job" in out and "job 4" in out
    instance = load("centre")
    assert [j.id for j in instance.jobs] == ["1", "2", "3"] and instance.repairs["jobs_left_out"] == 1
    assert instance.profit.cooling.most == pytest.approx(cooling("air").most / 30)


def test_the_same_seed_gives_the_same_bytes(bench, folder):
    for out, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert bench("import", "curie", "log.swf", "--out", out, "--seed", seed)[0] == 0
    texts = {name: [p.read_bytes() for p in sorted((folder / name).iterdir())] for name in "abc"}
    assert texts["a"] == texts["b"] != texts["c"]


def test_a_window_begins_at_its_own_midnight(bench, folder):
    assert bench("import", "curie", "log.swf", "--out", "day2", "--window", "2012-07-14:1d")[0] == 0
    instance = load("day2")
    assert [(j.id, j.submit) for j in instance.jobs] == [("3", 90000 - 86400), ("4", 170000 - 86400)]


def test_a_sample_keeps_the_submit_times_and_powers_of_its_jobs(bench, folder):
    assert bench("import", "curie", "log.swf", "--out", "all")[0] == 0
    code, out, _ = bench("import", "curie", "log.swf", "--sample", 2, "--seed", 1, "--out", "two")
    assert code == 0 and "a random sample of 2 of 4 jobs, seed 1" in out
    jobs = {j.id: j for j in load("all").jobs}
    two = load("two").jobs
    assert len(two) == 2 and all(jobs[j.id] == j for j in two)
    chosen = set()
    for seed in range(8):
        assert bench("import", "curie", "log.swf", "--sample", 1, "--seed", seed, "--out", f"s{seed}")[0] == 0
        chosen |= {j.id for j in load(f"s{seed}").jobs}
    assert len(chosen) > 1
    code, _, err = bench("import", "curie", "log.swf", "--sample", 5, "--out", "five")
    assert code == 2 and "--sample 5: there are 4 jobs" in err


def test_only_the_jobs_of_a_partition(bench, folder):
    text = (folder / "log.swf").read_text().splitlines()
    moved = [line.replace(" 3 1 -1 -1 -1", " 3 1 4 -1 -1") if line.startswith("2 ") else line for line in text]
    (folder / "log.swf").write_text("\n".join(moved) + "\n")
    assert bench("import", "curie", "log.swf", "--partition", "4", "--out", "one")[0] == 0
    assert [j.id for j in load("one").jobs] == ["2"]


def test_seasons_are_july_and_january_of_a_weather_file(bench, folder):
    year(folder / "tmy.csv")
    code, out, _ = bench("import", "curie", "log.swf", "--out", "centre", "--weather", "tmy.csv")
    assert code == 0 and "synthetic" not in out and "tmy.csv" in out
    instance = load("centre")
    for season, celsius in (("summer", 7), ("winter", 1)):
        problem = instance.scenario(f"air,{season},cheap")
        assert {s.celsius for s in problem.segments} == {celsius}
        assert problem.temperature.end == 2 * 86400


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scenario", "air,sumer,cheap"], ["summer"]),
        (["--scenario", "air"], ["cooling,season,price"]),
        (["--weather", "week.csv"], ["--weather week.csv", "year"]),
        (["--weather", "nowhere.epw"], ["nowhere.epw", "no such file"]),
        (["--window", "2013-01-01:1d"], ["2012-07-13"]),
        (["--out", "log.swf/x"], ["--out"]),
    ],
)
def test_wrong_use_is_a_sentence(bench, folder, arguments, words):
    (folder / "week.csv").write_text("time_s,temperature_c\n0,20\n3600,21\n")
    code, _, err = bench("import", "curie", "log.swf", *([] if "--out" in arguments else ["--out", "x"]), *arguments)
    assert code == 2 and "Traceback" not in err and all(word in err for word in words), err
    assert not (folder / "x").exists()


@pytest.mark.parametrize(
    ("excerpt", "jobs", "left_out", "load_offered"),
    [
        pytest.param("curie_all_23d_2012-07-13", 31713, 1838, "4.281", marks=pytest.mark.slow),
        ("curie_part4_fat_30d_2012-04-20", 7641, 587, "0.850"),
    ],
)
def test_the_excerpts_of_the_log_can_be_imported(bench, folder, excerpt, jobs, left_out, load_offered):
    log = CURIE / f"{excerpt}.swf.gz"
    if not log.is_file():
        pytest.skip(f"{log} is not here")
    code, out, _ = bench("import", "curie", log, "--out", "centre")
    assert code == 0 and f"left out: {left_out} jobs" in out and f"offered load: {load_offered}" in out
    assert f"{jobs} jobs on 300 nodes, 8 scenarios" in out
    assert sum(1 for _ in (folder / "centre" / "jobs.csv").open()) == jobs + 1


def test_a_batch_is_generated_byte_for_byte(bench, folder):
    arguments = ["--jobs", 60, "--nodes", 8, "--days", 2, "--seed", 25, "--shortest", 600, "--step", 60]
    assert bench("generate", "centre", *arguments, "--out", "batch")[0] == 0
    shipped = load("profit_small").path
    assert {p.name: p.read_bytes() for p in (folder / "batch").iterdir()} == {
        p.name: p.read_bytes() for p in shipped.iterdir()
    }


def test_generators_tell_wrong_numbers_and_names(bench, folder):
    code, _, err = bench("generate", "centre", "--jobs", 5, "--load", 1000, "--out", "x")
    assert code == 2 and "cannot have this offered load" in err
    code, _, err = bench("generate", "center", "--out", "x")
    assert code == 2 and "centre" in err
