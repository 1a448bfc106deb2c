"""``bench run --keep``: the records of composite objectives, their verification, the table, and errors."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from schedlab.bench import Run, RunRequest, View, plan
from schedlab.bench.cli.app import main
from schedlab.bench.kinds import run_composite
from schedlab.bench.records import files, read
from schedlab.bench.runs.executors import HandOver, with_best
from schedlab.instances import load, write
from schedlab.methods import parse_method

pytestmark = pytest.mark.usefixtures("in_process")
KEEP = "late-jobs=1.1,weighted-tardiness=1.2"
VIEW = ("--at", "12:00", "--first", "12", "--objective", "makespan")


RUN = [
    "run", "eurora_99", *VIEW, "--keep", "weighted-tardiness=1.2,late-jobs=1.1", "--time-limit", "2", "--threads", "1",
    "--methods", "multi-search,cpsat:counts",
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The records of two methods."""
    out = tmp_path_factory.mktemp("results")
    with pytest.raises(SystemExit) as ended:
        main([*RUN, "--out", str(out)])
    assert not ended.value.code
    return out


@pytest.fixture
def results(made, tmp_path) -> Path:
    """A copy of the records that a test may change."""
    return Path(shutil.copytree(made, tmp_path / "results"))


def test_records_have_theta_and_limits_are_found_again_and_verified(bench, results):
    problem = load("eurora_99").problem.at(12 * 3600, 12).replace(objective="makespan")
    found = [read(f) for f in files(results)]
    assert len(found) == 2
    for r in found:
        assert r["view"]["keep"] == KEEP
        part = r["composite"]
        assert set(part["theta"]) == {"late-jobs", "weighted-tardiness"} == set(part["limits"])
        assert part["limits"]["weighted-tardiness"] == pytest.approx(1.2 * part["theta"]["weighted-tardiness"])
        assert part["limits"]["late-jobs"] == int(1.1 * part["theta"]["late-jobs"] + 1e-9)
        if r["schedule"] is not None:
            bounded = problem.replace(limits=part["limits"])
            assert bounded.verify(bounded.read(r["schedule"])) == []
            assert all(part["values"][name] <= most * (1 + 1e-9) for name, most in part["limits"].items())
    before = {f.name: f.read_bytes() for f in files(results)}
    code, out, _ = bench(*RUN, "--out", results)
    assert code == 0 and {f.name: f.read_bytes() for f in files(results)} == before  # the records are used again
    assert "multi-search keeps late-jobs" in out and "theta" in out and "keeping late-jobs=1.1" in out
    assert bench("verify", results)[0] == 0


@pytest.mark.parametrize(
    ("part", "name", "value", "words"),
    [
        ("limits", "weighted-tardiness", 1e9, "theta and slack give"),
        ("theta", "late-jobs", 99, "theta and slack give"),
        ("values", "late-jobs", 77, "it has late-jobs 77, its schedule has"),
        ("limits", "late-jobs", -1, "the limit is at most -1"),
    ],
)
def test_a_changed_record_is_found(bench, results, part, name, value, words):
    path = next(f for f in files(results) if read(f)["schedule"] is not None)
    record = json.loads(path.read_text())
    record["composite"][part][name] = value
    path.write_text(json.dumps(record))
    code, out, err = bench("verify", results)
    assert code == 1 and words in out + err


def test_the_slack_is_part_of_the_key_and_its_order_is_not():
    instance = load("eurora_99")

    def keys(keep):
        return [r.key for r in plan(instance, "eurora_99", RunRequest(methods=["lns"], at=43200, keep=keep))]

    assert len({*keys(None), *keys("late-jobs=1.1"), *keys("late-jobs=1.2")}) == 3
    assert "keep" not in View().fields


def test_the_default_methods_of_a_composite_replay_nothing():
    runs = plan(load("eurora_99"), "eurora_99", RunRequest(keep="late-jobs=1.1", objective="makespan"))
    assert runs and all(r.replay is None and r.view.keep == "late-jobs=1.1" for r in runs)


def test_a_run_that_is_killed_keeps_its_best_schedule_within_the_limits(tmp_path):
    """Limits and schedule that the worker sent before its end are enough for the record."""
    problem = load("eurora_99").problem.at(12 * 3600, 12).replace(objective="makespan")
    best, sent = HandOver(tmp_path / ".x.best.tmp"), []
    view = View(at=43200, first=12, objective="makespan", keep=KEEP)
    run_composite(
        KEEP, sent.append, problem, parse_method("multi-search", problem), {"time_limit": 5, "threads": 1, "seed": 1}, best,
        lambda: None,
    )  # fmt: skip
    best.flush()
    killed = {"status": "unknown", "cause": "timeout", "message": "killed", "composite": sent[0], "incumbents": []}
    known = Run("eurora_99", "eurora_99", "", "multi-search", view=view, kind="dispatch")
    found = with_best(known, killed, best.path)
    assert found["status"] == "feasible" and found["composite"] == sent[0] and found["verified"]
    tight = {"theta": sent[0]["theta"], "limits": {**sent[0]["limits"], "makespan": 0}}
    assert "its saved schedule is not valid" in with_best(known, {**killed, "composite": tight}, best.path)["message"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--keep", "late-job=1.1"), "late-jobs"),
        (("--keep", "late-jobs"), "expected objectives, each once with a slack of at least 1"),
        (("--keep", "late-jobs=0.9"), "slack of at least 1"),
        (("--keep", "late-jobs=nan"), "slack of at least 1"),
        (("--keep", "late-jobs=1.1,late-jobs=1.2"), "each once"),
        (("--keep", "makespan=1.1"), "makespan is the main objective"),
        (("--keep", ""), "expected objectives"),
        (("--keep", "late-jobs=1.1", "--methods", "easy"), "--keep is for offline methods"),
    ],
)
def test_wrong_use_is_one_line_with_exit_code_2(bench, tmp_path, options, words):
    view = VIEW if "easy" not in options else ()
    code, _, err = bench("run", "eurora_99", *view, "--out", tmp_path / "none", *options)
    assert code == 2 and words in err and "Traceback" not in err


def test_other_kinds_of_problems_keep_nothing(bench, tmp_path):
    code, _, err = bench("run", "theta_12", "--keep", "late-jobs=1.1", "--methods", "dp", "--out", tmp_path / "none")
    assert code == 2 and "--keep is for dispatch problems" in err


def test_limits_of_an_instance_are_part_of_its_runs(bench, tmp_path):
    instance = load("eurora_99")
    small = instance.dispatch.replace(jobs=instance.dispatch.jobs[:6], limits={"late-jobs": 0, "weighted-wait": 0.5})
    write(replace(instance, problem=small), tmp_path / "limited")
    assert load(tmp_path / "limited").problem.limits == {"late-jobs": 0, "weighted-wait": 0.5}
    code, out, _ = bench(
        "run", tmp_path / "limited", "--methods", "multi-search", "--time-limit", 5, "--out", tmp_path / "out"
    )
    (record,) = map(read, files(tmp_path / "out"))
    if record["schedule"] is None:
        assert "breaks a limit" in record["message"] and "breaks a limit" in out
    else:
        assert small.verify(small.read(record["schedule"])) == []
    assert code == 0 and bench("verify", tmp_path / "out")[0] == 0
