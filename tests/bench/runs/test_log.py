"""``bench run --log``: the log of a solver is kept beside its record, and shown line by line."""

import json

import pytest
from schedlab.backends.solver_thread import SolverLog, live_log
from schedlab.bench.runs.worker import KeptLog


def test_a_log_is_written_as_it_comes_and_reported_by_lines(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("of an earlier run")
    events = []
    with KeptLog(path, events.append) as kept, live_log(kept):
        assert not path.exists()
        log = SolverLog()
        log.write("first li")
        assert path.read_text() == "first li" and events == []
        log.line("ne")
        log.line("second")
    SolverLog().line("of another solver, later")
    assert path.read_text() == "first line\nsecond\n" and log.text() == path.read_text()
    assert events == [{"event": "log", "line": "first line"}, {"event": "log", "line": "second"}]


@pytest.mark.slow
def test_the_command_shows_and_keeps_it(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--at", "12:00", "--first", 3, "--methods", "cpsat:pool,multi-search", "--time-limit", 2, "--out", "out"]
    code, _, err = bench("run", "eurora_99", *options, "--log")
    assert code == 0 and "cpsat:pool, seed 1 | Starting CP-SAT solver" in err
    (log,) = (tmp_path / "out").glob("*.log")
    assert "Starting CP-SAT solver" in log.read_text()
    record = json.loads(log.with_suffix(".json").read_text())
    assert record["method"] == "cpsat:pool" and record["verified"]
    assert "(kept)" in bench("run", "eurora_99", *options)[2]  # a log is no part of what was run
    assert bench("verify", "out")[0] == 0
