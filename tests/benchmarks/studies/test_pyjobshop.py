"""PyJobShop beside the records: the data it gets, the check of its schedules, the table."""

import importlib.util
import sys
from pathlib import Path

import pytest
from schedlab.benchmarks.studies.pyjobshop.__main__ import NAME, Value, main, projects_of, results_of, table, tasks_of
from schedlab.benchmarks.studies.pyjobshop.runs import Answer, checked, data_of, kept, known, solve
from schedlab.models import Mode, Project, Resource, Task


def project():
    saw = Task(
        "saw",
        (Mode("by hand", 5, {"saw": 1}), Mode("impossible", 1, {"hands": 9}), Mode("fast", 2, {"saw": 1, "hands": 2})),
    )
    glue = Task.single("glue", 3, {"hands": 1, "pots": 2})
    return Project(
        [saw, glue], [Resource("saw", 1), Resource("hands", 2), Resource("pots", 2, False)], [("saw", "glue", 1)]
    )


def record(instance, method, objective, seed=1, status="feasible", verified=True):
    return {
        "instance": instance, "path": f"{instance}.txt", "method": method, "seed": seed, "time_limit": 5.0, "threads": 2,
        "kind": "project", "status": status, "objective": objective, "verified": verified, "seconds": {"total": 1.5},
    }  # fmt: skip


def test_machines_have_no_demands_and_impossible_modes_are_left_out():
    data = data_of(project(), 5.0, 2, 1)
    assert data["machines"] == [True, False, False]
    assert data["renewable"] == [True, True, False] and data["capacities"] == [1, 2, 2]
    assert data["tasks"][0] == [
        {"duration": 5, "resources": [0], "demands": [0]},
        {"duration": 2, "resources": [0, 1], "demands": [0, 2]},
    ]
    assert data["links"] == [[0, 1, 1]]
    assert (data["seconds"], data["threads"], data["seed"]) == (5.0, 2, 1)


def test_a_resource_that_a_mode_without_a_duration_needs_is_no_machine():
    p = Project([Task.single("a", 0, {"r": 1}), Task.single("b", 2, {"r": 1})], [Resource("r", 1)])
    assert data_of(p, 1.0, 1, 1)["machines"] == [False]


@pytest.mark.parametrize(
    ("starts", "status", "objective", "expected"),
    [
        ([0, 3], "Optimal", 6, (6.0, True)),  # mode "fast", the second of the possible ones
        ([0, 4], "Optimal", 6, (7.0, False)),  # its makespan is not the one that is said to be optimal
        ([0, 3], "Feasible", 6, (6.0, False)),
    ],
)
def test_a_schedule_counts_with_the_makespan_of_the_package(starts, status, objective, expected):
    found = {"starts": starts, "modes": [1, 0], "status": status, "objective": objective, "bound": 6, "seconds": 0.5}
    answer = checked("p", 1, project(), found)
    assert (answer.objective, answer.proven) == expected and not answer.fault


def test_a_wrong_schedule_is_no_result():
    found = {"starts": [0, 1], "modes": [1, 0], "status": "Optimal", "objective": 4, "bound": 4, "seconds": 0.5}
    answer = checked("p", 1, project(), found)
    assert answer.objective is None and not answer.proven and "glue" in answer.fault


@pytest.mark.skipif(importlib.util.find_spec("pyjobshop") is not None, reason="PyJobShop is installed here")
def test_a_failure_of_the_other_program_is_kept_with_its_reason(tmp_path):
    answer = solve(Path(sys.executable), "p", project(), 5.0, 1, 1)
    assert "pyjobshop" in answer.fault and answer.objective is None
    kept(tmp_path, answer, 5.0, 1)
    assert known(tmp_path, "p", 1, 5.0, 1) == answer
    assert known(tmp_path, "p", 2, 5.0, 1) is None


def test_each_file_and_seed_is_solved_once_with_the_limits_of_the_records():
    records = [record(i, m, 9, s) for i in ("la01", "ft06") for m in ("lns", "cpsat:modes") for s in (1, 2)]
    tasks = tasks_of([*records, record("day", "lns", 9)], {"la01", "ft06"})
    assert [(t.instance, t.seed) for t in tasks] == [("ft06", 1), ("ft06", 2), ("la01", 1), ("la01", 2)]
    assert {(t.seconds, t.threads) for t in tasks} == {(5.0, 2)}


def test_projects_are_found_by_their_formulation():
    records = [{"instance": name, "path": name} for name in ("project_small", "theta_12")]
    assert list(projects_of(records)) == ["project_small"]


def test_the_table_has_each_method_beside_pyjobshop_on_the_runs_of_both():
    records = [record("a", "lns", 110.0), record("b", "lns", 50.0, verified=False), record("c", "lns", 1.0)]
    answers = [Answer("a", 1, 100.0, 100.0, True, 0.4, ""), Answer("b", 1, 60.0, None, False, 5.0, "")]
    found = results_of([*records, record("day", "lns", 5.0)], {"a", "b", "c"}, answers)
    assert found["lns"]["b", 1] == Value(None, False, 1.5)
    assert table(found, {"b": 50.0}).rows == [
        ["lns", "2", "1", "0", "1.5", "10.00"],
        [NAME, "2", "0", "1", "2.7", "10.00"],  # 0 % and 20 % above the best known
    ]


def test_a_method_with_fewer_runs_does_not_shorten_the_rows_of_the_others():
    records = [record("a", "cpsat", 100.0), record("b", "cpsat", 66.0), record("b", "lns", 60.0)]
    records += [record("a", "mip", 100.0), record("b", "mip", 60.0)]
    answers = [Answer("a", 1, 100.0, 100.0, True, 0.5, ""), Answer("b", 1, 72.0, None, False, 5.0, "")]
    rows = table(results_of(records, {"a", "b"}, answers), {}).rows
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("cpsat", "2", "5.00"), ("mip", "2", "0.00"), (NAME, "2", "10.00"), ("lns", "1", "0.00"), (NAME, "1", "20.00"),
    ]  # fmt: skip


def test_a_folder_without_projects_is_wrong_use(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert "there are no records of projects" in capsys.readouterr().err
