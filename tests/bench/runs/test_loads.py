"""Several offered loads in one command: each is replayed, on all cores, and has tables of its own."""

import json
import os

import pytest

pytestmark = pytest.mark.usefixtures("in_process")
COMMAND = ("simulate", "eurora_99", "--first", "12", "--dispatchers", "fcfs,easy")


def test_each_load_is_replayed(bench, tmp_path):
    code, out, err = bench(*COMMAND, "--load", "0.8,1.2,0.8", "--out", tmp_path / "r")
    found = [json.loads(path.read_text()) for path in (tmp_path / "r").glob("*.json")]
    assert code == 0 and sorted((r["method"], r["replay"]["load"]) for r in found) == [
        ("easy", 0.8), ("easy", 1.2), ("fcfs", 0.8), ("fcfs", 1.2),
    ]  # fmt: skip
    assert "load 0.8" in out and "load 1.2" in out and "4 runs" in err


def test_wrong_loads_are_refused(bench, tmp_path):
    code, _, err = bench(*COMMAND, "--load", "0.8,0", "--out", tmp_path / "r")
    assert code == 2 and "expected offered loads above 0, such as 1.2 or 0.8,1,1.2" in err
    code, _, err = bench(*COMMAND, "--load", "0.8,1", "--starts", tmp_path / "s.csv", "--out", tmp_path / "r")
    assert code == 2 and "for one offered load; --load has 2" in err


@pytest.mark.parametrize(("options", "jobs"), [((), 6), (("--threads", "4"), 1), (("--jobs", "2"), 2)])
def test_replays_use_all_cores(bench, tmp_path, monkeypatch, options, jobs):
    seen = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(6), raising=False)
    monkeypatch.setattr("schedlab.bench.replays.carry_out.carry_out", lambda request, task, *c: seen.append(task) or 0)
    assert bench(*COMMAND, *options, "--out", tmp_path / "r")[0] == 0
    assert seen[0].request.jobs == jobs
