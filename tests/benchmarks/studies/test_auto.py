"""``auto`` beside the single methods: the instances that are written, and the comparison of records."""

import pytest
from schedlab.bench import read_suite
from schedlab.benchmarks.studies.auto import GENERATED, SINGLE, main, prepared, rows, table
from schedlab.instances import load
from schedlab.methods import parse_method


def record(instance, method, objective, seed=1, kind="dispatch", sense="minimize", verified=True):
    return {
        "instance": instance,
        "method": method,
        "objective": objective,
        "seed": seed,
        "kind": kind,
        "sense": sense,
        "verified": verified,
    }


def test_the_folder_has_twenty_instances_and_a_suite_that_reads_them(tmp_path):
    suite = read_suite(str(prepared(tmp_path, 2.5, 1, "1-3")))
    assert (suite.threads, suite.seeds) == (1, "1-3")
    assert len(GENERATED) == sum("/" in p for group in suite.groups for p in group.patterns) == 20
    for group in suite.groups:
        assert group.options["time_limit"] == 2.5 and group.options["methods"][0] == "auto"
        for pattern in group.patterns:
            problem = load(tmp_path / pattern if "/" in pattern else pattern).problem
            for method in group.options["methods"]:
                parse_method(method, problem)  # raises for methods that do not take the problem
            single = group.options["methods"][1:]
            assert len(single) >= 4 and set(single) < set(SINGLE)


def test_the_instances_are_written_once(tmp_path):
    prepared(tmp_path, 1, 1, "1")
    times = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("jobs.csv")}
    prepared(tmp_path, 1, 1, "1")
    assert times and times == {p: p.stat().st_mtime_ns for p in tmp_path.rglob("jobs.csv")}


def test_auto_is_compared_with_the_best_single_method():
    day = [record("day", "auto", 102.0), record("day", "lns", 100.0), record("day", "multi-search", 120.0)]
    batch = [record("batch", m, v, kind="profit", sense="maximize") for m, v in (("auto", 210.0), ("lns", 200.0))]
    found = {row.instance: row for row in rows([*day, *batch])}
    assert (found["day"].method, found["day"].auto, found["day"].single) == ("lns", (102.0,), (100.0,))
    assert found["day"].worse == pytest.approx(2.0)
    assert found["batch"].worse == pytest.approx(-5.0)  # profits: more is better
    assert (found["batch"].auto, found["batch"].single) == ((210.0,), (200.0,))
    assert [cells[-1] for cells in table(list(found.values())).rows] == ["+2.00", "-5.00"]


def test_a_loss_is_shown_as_a_loss():
    runs = [record("batch", m, v, kind="profit", sense="maximize") for m, v in (("auto", -11.0), ("lns", -10.0))]
    (row,) = rows(runs)
    assert (row.auto, row.single) == ((-11.0,), (-10.0,)) and row.worse == pytest.approx(10.0)


def test_medians_over_seeds_count_a_run_without_a_verified_schedule_as_infinitely_bad():
    runs = [record("day", "auto", v, seed=s) for s, v in enumerate((110.0, 101.0, 99.0))]
    runs += [record("day", "lns", v, seed=s) for s, v in enumerate((100.0, 100.0, None))]
    runs += [record("day", "wrong", 1.0, seed=s, verified=False) for s in range(3)]
    (row,) = rows(runs)
    assert (row.auto, row.single, row.method) == ((101.0,), (100.0,), "lns")
    assert row.worse == pytest.approx(1.0)


def test_ordered_objectives_are_compared_by_the_first_one_that_differs():
    found = {"auto": [80, 990], "dp": [80, 900], "greedy": [90, 100]}
    (row,) = rows([record("theta", m, v, kind="eviction") for m, v in found.items()])
    assert (row.method, row.auto, row.single, row.worse) == ("dp", (80, 990), (80, 900), pytest.approx(10.0))
    assert table([row]).rows[0][2:4] == ["80, 990", "80, 900"]
    runs = [record("theta", "auto", v, seed=s, kind="eviction") for s, v in enumerate(([0, 9], [5, 1]))]
    (row,) = rows([*runs, record("theta", "dp", [0, 9], kind="eviction")])
    assert (row.auto, row.worse) == ((0, 9), 0.0)  # the lower one of the two in the middle


def test_without_any_schedule_no_method_is_better():
    (row,) = rows([record("day", "auto", None, verified=None), record("day", "lns", None, verified=None)])
    assert (row.auto, row.single, row.worse) == (None, None, 0.0)


@pytest.mark.parametrize("wrong", [["--seconds", "0"], ["--threads", "0"]])
def test_numbers_are_checked(wrong, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(wrong)
    assert "must be above 0" in capsys.readouterr().err
