"""What a record claims beyond its schedule: contradictions are faults, the rest is counted as claimed."""

import json

import pytest
import schedlab as sl
from schedlab.bench import RunRequest, plan
from schedlab.bench.records import Store, answer, plain
from schedlab.bench.records.record import record
from schedlab.bench.records.verify import faults_of
from schedlab.instances import load, write

METHODS = ["multi-search", "first-solution:est", "lagrangian"]
ASKED = RunRequest(METHODS, time_limit=3.0, threads=1, at=43200, first=12)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the records of three methods on one snapshot, by method, and the folder."""
    folder = tmp_path_factory.mktemp("results") / "out"
    with Store(folder) as store:
        for run in plan(load("eurora_99"), "eurora_99", ASKED):
            problem = run.view.of(load("eurora_99"))
            found = answer(problem, sl.solve(problem, method=run.method, time_limit=3))
            store.write(record(run, plain(found), "2026-01-01T00:00:00+00:00"))
    return {path.name: json.loads(path.read_text()) for path in folder.glob("*.json")}


@pytest.fixture
def results(written, tmp_path):
    """Return a function that writes the records, one of them edited, to a new folder."""

    def write(method="", edit=lambda r: None):
        folder = tmp_path / "out"
        folder.mkdir()
        for name, original in written.items():
            found = json.loads(json.dumps(original))
            if found["method"] == method:
                edit(found)
            (folder / name).write_text(json.dumps(found))
        return folder

    return write


def proven(r):
    r.update(status="optimal", bound=r["objective"], gap=0.0)


@pytest.mark.parametrize(
    ("method", "edit", "fault"),
    [
        ("multi-search", proven, "multi-search proves nothing"),
        ("first-solution:est", proven, "first-solution:est proves nothing"),
        ("multi-search", lambda r: r.update(bound=0.0, gap=1.0), "computes no bounds"),
        ("lagrangian", lambda r: r.update(status="optimal", bound=None, gap=None), "no bound that proves it"),
        ("lagrangian", lambda r: r.update(status="infeasible"), "infeasible, but it has a schedule"),
        (
            "lagrangian",
            lambda r: r.update(
                status="infeasible", schedule=None, objective=None, gap=None, bound=None, verified=None, incumbents=[],
                first_solution_s=None, best_s=None, violations=[],
            ),
            "has a schedule of the same problem",
        ),
        ("lagrangian", lambda r: r.update(exactness={"kind": "restriction", "notes": []}, status="optimal", bound=r["objective"],
                                          gap=0.0), "leaves out solutions"),
        ("multi-search", lambda r: r["seconds"].update(total=3600.0), "and it was not killed"),
        ("multi-search", lambda r: r["seconds"].update(solve=-1.0), "-1.0 seconds of solve"),
        ("multi-search", lambda r: r.update(best_s=0.5), "its incumbents give"),
        ("multi-search", lambda r: r.update(first_solution_s=0.0), "its incumbents give"),
        ("multi-search", lambda r: r["incumbents"][-1].update(objective=1.0), "its last incumbent has objective 1.0"),
        ("multi-search", lambda r: r["incumbents"].insert(0, {"seconds": 0.0, "objective": 0.5, "bound": None}), "become worse"),
        ("multi-search", lambda r: r["incumbents"].append({**r["incumbents"][-1], "seconds": 0.0}), "not in order"),
    ],
)  # fmt: skip
def test_a_claim_that_cannot_be_true_is_a_fault(bench, results, method, edit, fault):
    code, out, err = bench("verify", results(method, edit))
    assert code == 1 and fault in out, out + err


def test_a_bound_that_a_schedule_of_another_method_refutes_is_a_fault(bench, results, written):
    by_method = {r["method"]: r for r in written.values()}
    best = min(r["objective"] for r in by_method.values())
    worst = by_method["first-solution:est"]
    assert worst["objective"] > best * 1.01  # else this test shows nothing

    def edit(r):
        keep = ("objective", "schedule", "incumbents", "first_solution_s", "best_s")
        r.update({name: worst[name] for name in keep}, bound=worst["objective"], gap=0.0, status="optimal")

    code, out, _ = bench("verify", results("lagrangian", edit))
    assert code == 1 and "is refuted by" in out


def test_a_bound_that_the_best_known_value_refutes_is_a_fault(bench, results):
    folder = results()
    whole = {"at": None, "first": None, "durations": "walltime", "objective": None}
    from schedlab.bench.records.verify import contradictions

    found = {"replay": None, "view": whole, "content": "c", "kind": "project", "drop_impossible": False, "verified": None,
             "objective": None, "bound": 12.0, "status": "unknown", "sense": "minimize", "instance": "shop"}  # fmt: skip
    assert [fault for _, fault in contradictions([("a.json", found)], {"shop": 10.0})] == [
        "its bound 12.0 contradicts the best-known value 10 of best_known.csv"
    ]
    assert contradictions([("a.json", found)], {"shop": 12.0, "other": 1.0}) == []
    assert contradictions([("a.json", {**found, "view": {**whole, "first": 3}})], {"shop": 10.0}) == []
    assert bench("verify", folder)[0] == 0


def test_what_is_only_claimed_is_counted(bench, results):
    code, out, _ = bench("verify", results())
    claimed, last = out.splitlines()
    assert code == 0 and claimed.startswith("claimed, not checked: bounds of 1") and "times of 3" in claimed
    assert last.endswith("3 records, 3 valid, 0 not valid")


def test_a_damaged_table_of_best_known_values_is_named_and_the_records_are_checked(bench, results):
    folder = results()
    (folder / "best_known.csv").write_text("x\n")
    code, out, err = bench("verify", folder)
    assert "best_known.csv" in out and "3 records, 3 valid, 0 not valid; other files with faults: 1" in out
    assert code == 0 and "Traceback" not in out + err  # as for a damaged manifest: the records are valid


LACKING = """
from schedlab.models.project.formulations import modes


def lacking(problem):
    encoding = modes(problem)
    encoding.model.constraints = []
    return encoding
"""


@pytest.mark.usefixtures("in_process")
def test_a_run_whose_formulation_is_refused_leaves_a_valid_record_of_an_error(bench, tmp_path, monkeypatch):
    """The start is a schedule, the better answer is none: the record said that it was verified, and was faulty itself."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lacks.py").write_text(LACKING)
    tasks = [sl.Task.single(name, 3, {"r": 1}) for name in "ab"]
    write(sl.Instance("two", "project", sl.Project(tasks, [sl.Resource("r", 1)]), description="two tasks"), "two")
    run = ["run", "two", "--methods", "cpsat:lacks:lacking+warm", "--time-limit", 5, "--threads", 1, "--out", "out"]
    bench(*run)
    found = json.loads(next((tmp_path / "out").glob("*.json")).read_text())
    assert found["status"] == "error" and "the formulation's answer is no schedule" in found["message"]
    assert (found["objective"], found["schedule"], found["verified"]) == (None, None, None)
    code, out, err = bench("verify", "out")
    assert code == 0, out + err
    assert "kept" in "".join(bench(*run)[1:])


def test_a_record_of_a_refuted_bound_keeps_its_schedule_and_is_valid():
    """It has no objective, so that it has no fields of its tasks either."""
    problem = sl.Project([sl.Task.single(name, 3, {"r": 1}) for name in "ab"], [sl.Resource("r", 1)])
    result = sl.solve(problem, method="multi-sgs", time_limit=5)
    result.bound = 7.0
    claimed = plain(answer(problem, result))
    assert claimed["status"] == "error" and claimed["schedule"] is not None
    complete = {"kind": "project", "method": "cpsat:modes", "time_limit": 5.0, "first_solution_s": None, "best_s": None}
    assert faults_of({**complete, **claimed, "incumbents": []}, problem) == []
