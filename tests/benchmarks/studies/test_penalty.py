"""The study of the penalty scheduling policy: figures of the paper, classes, tables, its command."""

import numpy as np
import pytest
from schedlab import WrongValue
from schedlab.bench.pages import grouped_bars
from schedlab.benchmarks.studies.penalty.__main__ import main
from schedlab.benchmarks.studies.penalty.replays import (
    SCENARIOS,
    Waits,
    final_accuracy,
    found_load,
    mean_by_user,
    replay,
    workload,
)
from schedlab.benchmarks.studies.penalty.tables import TABLE_3, is_ordered, of_jobs, of_users, ratio, tables
from schedlab.simulation import simulate


def test_the_ratios_of_the_paper_follow_from_its_table():
    assert {s: round(ratio(TABLE_3[s]), 2) for s in ("cf", "cfg", "di", "hdi")} == {
        "cf": 2.43,
        "cfg": 2.88,
        "di": 2.43,
        "hdi": 2.25,
    }
    means = {s: np.mean([v for v in TABLE_3[s] if v is not None]) for s in ("di", "hdi")}
    assert round(means["di"], 2) == 698.44 and round(means["hdi"], 2) == 740.87
    assert all(is_ordered(row) for row in TABLE_3.values())
    assert not is_ordered([3.0, None, 4.0])


def test_means_over_the_users_and_jobs_of_all_workloads():
    a = Waits(np.array([60.0, 180.0]), np.array([1, 5]), np.array([60, 120]), np.array([2, 2]), 1.0, 0.5)
    b = Waits(np.array([300.0]), np.array([5]), np.array([600]), np.array([1]), 1.0, 0.5)
    assert of_users([a, b]) == [1.0, None, None, None, 4.0]
    assert of_jobs([a, b]) == [10.0, 1.5, None, None, None]


def test_accuracy_over_the_last_jobs_that_have_ended():
    instance = workload(1, 4.0, jobs=60)
    run = simulate(instance, dispatcher="easy", users="ge")
    w = run.workload
    for user in range(len(w.users)):
        mine = sorted(np.flatnonzero(w.user == user), key=lambda j: (run.end[j], j))
        expected = np.mean([w.runtime[j] / w.walltime[j] for j in mine[-2:]])
        assert final_accuracy(run, 2)[user] == pytest.approx(expected)


def test_accurate_users_wait_less_under_psp_than_under_easy():
    found = {
        s: dict(zip(("psp", "easy"), replay(workload(1, 6.0), 1, s, ["psp", "easy"]), strict=True))
        for s in ("cf", "cfg")
    }
    for rows in found.values():
        psp, easy = of_users([rows["psp"]]), of_users([rows["easy"]])
        assert ratio(psp) > 2 * ratio(easy)
    results = {s: {name: [w] for name, w in rows.items()} for s, rows in found.items()}
    ratios, users, jobs, whole = tables(results, ["psp", "easy"])
    assert [row[:2] for row in ratios.rows] == [["cf", "psp"], ["cf", "easy"], ["cfg", "psp"], ["cfg", "easy"]]
    assert [row[1] for row in users.rows] == ["users", "psp", "easy", "paper"] * 2
    assert len(jobs.rows) == len(whole.rows) == 4


def test_the_load_is_that_of_the_wait():
    load = found_load(1, 30 * 60, jobs=400)
    below, above = (mean_by_user(simulate(workload(1, x * load, 400), users="ge:seed=1")).mean() for x in (0.6, 1.6))
    assert below < 30 * 60 < above
    with pytest.raises(WrongValue, match="no load up to 256 gives a mean wait per user of 800 min with 30 jobs"):
        found_load(1, jobs=30)


def test_the_command(tmp_path, capsys):
    figure = tmp_path / "figure.svg"
    assert main(["--seeds", "1", "--load", "4", "--jobs", "60", "--figure", str(figure)]) == 0
    printed = capsys.readouterr().out
    assert "seed 1: offered load 4" in printed and "ratios of waits" in printed
    assert all(s in printed for s in SCENARIOS)
    assert figure.read_text().count("<svg") == 3  # the picture and its two panels


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "x"], "--seeds x: expected a list"),
        (["--seeds", "1", "--load", "-1"], "load is -1; expected a number above 0"),
        (["--seeds", "1", "--dispatchers", "pssp"], "there is no dispatcher 'pssp'"),
        (["--seeds", "1", "--jobs", "5"], "users is 20; expected at most the number of jobs, 5"),
    ],
)
def test_wrong_options(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_empty_classes_are_not_drawn():
    svg = grouped_bars({"cf": [3.0, None], "di": [None, 2.0]}, ["a1", "a2"], "wait")
    assert svg.startswith("<svg") and "a2" in svg
