"""The metrics of a replay in which not all jobs start are computed again by ``bench verify``."""

import json

import pytest

HEAD = "JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|NNodes|ReqCPUS|AllocCPUS|NodeList"
DAY = "1970-01-02T00"
RAN = f"{DAY}:00:10|{DAY}:00:10|{DAY}:00:10|{DAY}:01:10|60|00:01:00|COMPLETED|1|4|4|n1"
WAITED = f"{DAY}:00:20|{DAY}:00:20|{DAY}:01:10|{DAY}:02:00|50|00:01:00|COMPLETED|1|4|4|n1"
LEFT = f"{DAY}:00:15|{DAY}:00:15|Unknown|{DAY}:00:40|0|00:01:00|CANCELLED by 1|1|4|0|None assigned"


@pytest.fixture
def record(tmp_path, monkeypatch, bench, in_process):
    """Replay a log with a job that was cancelled while it waited; return the path of the record."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{k}|ana|a|p|{row}" for k, row in enumerate((RAN, LEFT, WAITED), 1)]
    (tmp_path / "jobs.txt").write_text("\n".join([HEAD, *rows]) + "\n")
    words = ["jobs.txt", "--nodes", "1", "--cores", "4", "--cancelled", "--dispatchers", "easy", "--out", "runs"]
    code, _, err = bench("simulate", *words)
    assert code == 0, err
    return next((tmp_path / "runs").glob("*.json"))


def test_a_replay_with_a_cancelled_job_is_valid(record, bench):
    found = json.loads(record.read_text())
    assert found["metrics"]["not_started"] == 1 and found["metrics"]["wait_mean"] == 25 and found["objective"] is None
    code, out, err = bench("verify", "runs")
    assert code == 0 and "1 valid, 0 not valid" in out, out + err


@pytest.mark.parametrize(
    ("part", "change", "fault"),
    [
        ("metrics", {"wait_mean": 5.0}, "metrics.wait_mean 5.0, the check gives 25.0"),
        ("metrics", {"bounded_slowdown_max": 77.0}, "bounded_slowdown_max 77.0"),
        ("groups", {"user": None}, "groups by user"),
    ],
)
def test_metrics_that_the_starts_do_not_give_are_found(record, bench, part, change, fault):
    found = json.loads(record.read_text())
    for name, value in change.items():
        if value is None:
            del found[part][name]
        else:
            found[part][name] = value
    record.write_text(json.dumps(found))
    code, out, err = bench("verify", "runs")
    assert code == 1 and "0 valid, 1 not valid" in out and fault in " ".join((out + err).split()), out + err
