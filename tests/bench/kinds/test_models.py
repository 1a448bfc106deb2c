"""Files of models in the bench: run, verified, explained, exported."""

import json
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.bench.cli.app import app
from typer.testing import CliRunner

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> sl.Model:
    monkeypatch.chdir(tmp_path)
    m = sl.Model("two jobs")
    jobs = [m.interval(f"job {k}", size=2 + k, start=(0, 3)) for k in range(2)]
    m.add(sl.no_overlap(jobs), "machine")
    m.minimize(sl.sum([j.end for j in jobs]))
    Path("m.json").write_text(m.to_json())
    return m


def bench(*words: str) -> str:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_file_of_a_model_is_run_and_verified(model: sl.Model) -> None:
    bench("run", "m.json", "--methods", "cpsat:model,highs:model", "--time-limit", "20", "--out", "runs")
    table = sl.read_results("runs")
    assert table["objective"].tolist() == [7, 7] and set(table["status"]) == {"optimal"}
    assert "2 valid, 0 not valid" in bench("verify", "runs")
    (record, _) = sorted(Path("runs").rglob("*.json"))[:2]
    data = json.loads(record.read_text())
    data["schedule"]["job 1"]["start"] = data["schedule"]["job 0"]["start"]
    record.write_text(json.dumps(data))
    done = CliRunner().invoke(app, ["verify", "runs"])
    assert done.exit_code == 1 and "while job 0 runs" in done.output


def test_it_is_shown_explained_and_exported(model: sl.Model) -> None:
    assert "no_overlap([job 0, job 1])" in bench("show", "m.json")
    bench("export", "m.json", "--format", "lp", "--out", "m.lp")
    assert "job_0" in Path("m.lp").read_text()
    model.add(model.intervals[0].end + model.intervals[1].end <= 6, "early")
    Path("m.json").write_text(model.to_json())
    said = CliRunner().invoke(app, ["explain", "m.json"]).output
    assert "machine" in said and "early" in said
