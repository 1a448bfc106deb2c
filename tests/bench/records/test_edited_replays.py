"""Every value of the record of a replay, changed alone, is found by ``bench verify``, or counted as claimed."""

import csv
import json
import shutil
from collections.abc import Iterator

import pytest
from schedlab.bench.cli.app import main
from schedlab.bench.records import Checker
from schedlab.instances import load, write

pytestmark = pytest.mark.usefixtures("in_process")
LOG = "\n".join(
    f"{k} {60 * k} {30 * k} {600 + 60 * k} {1 + k % 4} -1 100 {1 + k % 4} 3600 200 1 {k % 3 + 1} 1 1 {k % 2 + 1} 1 -1 -1"
    for k in range(1, 31)
)
REPLAYS = {
    "instance": ["eurora_99", "--dispatchers", "easy", "--first", "40"],
    "log": ["log.swf", "--nodes", "4", "--cores", "1", "--dispatchers", "easy", "--desired", "half.csv", "--watts-per-core", "10",
            "--node-policy", "idle:10min"],
    "outages": ["log.swf", "--nodes", "4", "--cores", "1", "--dispatchers", "easy-d", "--events", "events.csv"],
}  # fmt: skip
TABLES = "schedlab.bench.records.verify._faults_of_tables"
OF_THE_MACHINE = (
    "metrics.decisions_", "metrics.prediction_seconds", "simulation.notes", "simulation.report.notes", "simulation.report.first_bad_lines",
    "simulation.predictor",
)  # fmt: skip
OF_PREDICTIONS = ("metrics.accuracy_", "expected_ratio", "percentiles.ratio")


@pytest.fixture(scope="module")
def folders(tmp_path_factory, in_process):
    """Return the folder of the genuine record of each replay; the logs are in the folder above."""
    here = tmp_path_factory.mktemp("replays")
    (here / "log.swf").write_text(f"; UnixStartTime: 0\n{LOG}\n")
    (here / "half.csv").write_text("time_s,resource,share\n0,cores,0.5\n")
    (here / "events.csv").write_text("time,kind,nodes\n1200,node-down,node-1\n4000,node-up,node-1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        for name, words in REPLAYS.items():
            with pytest.raises(SystemExit) as ended:
                main(["simulate", *words, "--out", name])
            assert not ended.value.code
    return {name: here / name for name in REPLAYS}


def record_in(folder):
    return json.loads(next(folder.glob("*.json")).read_text())


def leaves(value, path=()) -> Iterator[tuple]:
    """Yield the path of each text, number, null, flag, list and object below a value of JSON; of many alike, of some."""
    if path:
        yield path
    if isinstance(value, dict):
        for name, inner in list(value.items())[:: 5 if len(path) > 2 else 1]:  # such as the columns of a group
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list) and value:  # the last of many is enough
        yield from leaves(value[-1], (*path, len(value) - 1))


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.001 + 1e-6
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list):
        return value[:-1] if value else [1]
    return {} if value else 1.0  # an object that is emptied; a value where none is known


def edited(record, path):
    """Return a copy of a record in which the value of a path is another one."""
    found = json.loads(json.dumps(record))
    at = found
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = changed(at[path[-1]])
    return found


def undetected(folder, monkeypatch, fields):
    """Return the paths of the values of some fields whose change is not found."""
    monkeypatch.chdir(folder.parent)
    record = record_in(folder)
    checker = Checker(folder, lambda path, drop: load(path))
    assert checker.faults(record) == []
    paths = [path for name in fields for path in leaves(record[name], (name,))]
    assert len(paths) > 30
    silent = [path for path in paths if edited(record, path) != record and not checker.faults(edited(record, path))]
    return [".".join(map(str, path)) for path in silent]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("instance", ("metrics", "groups", "percentiles", "simulation", "schedule")),
        ("log", ("metrics", "simulation", "energy")),
        ("outages", ("metrics", "groups", "percentiles", "outages")),
    ],
)
def test_a_changed_value_is_found_or_is_one_that_the_machine_alone_knows(folders, monkeypatch, name, fields):
    monkeypatch.setattr(TABLES, lambda jobs, replayed: [])  # they stay as they are
    found = undetected(folders[name], monkeypatch, fields)
    claimed = OF_THE_MACHINE
    if name == "outages":  # the predictor learns, and jobs come back
        claimed += OF_PREDICTIONS
    assert [path for path in found if not any(part in path for part in claimed)] == []


@pytest.mark.parametrize("name", REPLAYS)
def test_a_missing_metric_is_found(folders, monkeypatch, name):
    monkeypatch.setattr(TABLES, lambda jobs, replayed: [])  # they stay as they are
    monkeypatch.chdir(folders[name].parent)
    record = record_in(folders[name])
    checker = Checker(folders[name], lambda path, drop: load(path))
    silent = []
    for part in ("metrics", "groups", "percentiles"):
        for key in record[part]:
            fewer = {**record, part: {other: value for other, value in record[part].items() if other != key}}
            if not checker.faults(fewer):
                silent.append(f"{part}.{key}")
        assert checker.faults({**record, part: {}}) != []
        assert checker.faults({**record, part: None}) != []
    claimed = OF_THE_MACHINE + (OF_PREDICTIONS if name == "outages" else ())
    assert [key for key in silent if not any(part in key for part in claimed)] == []
    assert checker.faults({**record, "metrics": {**record["metrics"], "wait_least": 3.0}}) != []


def test_a_fault_names_the_field_and_both_values(folders, bench, tmp_path):
    out = shutil.copytree(folders["instance"], tmp_path / "out")
    record = record_in(out)
    true = record["metrics"]["makespan"]
    record["metrics"]["makespan"] = 1000
    record["groups"] = {}
    next(out.glob("*.json")).write_text(json.dumps(record))
    code, text, _ = bench("verify", out)
    assert code == 1
    assert f"it has metrics.makespan 1000, the check gives {true}" in text
    assert "it has no groups by queue; the check has" in text


def test_what_the_machine_alone_knows_is_counted_as_claimed(folders, bench, monkeypatch):
    monkeypatch.chdir(folders["log"].parent)
    for name, predicted in (("log", False), ("outages", True)):
        code, text, _ = bench("verify", name)
        assert code == 0 and "claimed, not checked: times of 1 record" in text
        assert "decisions of 1 record" in text and "machines of 1 record" in text
        assert ("expected durations of 1 record" in text) is predicted


COLUMNS = [
    "submission_time", "requested_number_of_resources", "requested_time", "success", "final_state", "starting_time",
    "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch", "allocated_resources", "consumed_energy", "profile",
]  # fmt: skip


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", ["instance", "log"])
def test_a_changed_cell_of_the_jobs_is_found(folders, bench, tmp_path, monkeypatch, name, column):
    monkeypatch.chdir(folders[name].parent)
    out = shutil.copytree(folders[name], tmp_path / "out")
    path = next(out.glob("*.jobs.csv"))
    with path.open(newline="") as f:
        header, *rows = csv.reader(f)
    at = header.index(column)
    rows[7][at] = {"allocated_resources": "0-3", "final_state": "COMPLETED_FAILED"}.get(column) or str(
        float(rows[7][at] or 0) + 1
    )
    with path.open("w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([header, *rows])
    code, text, _ = bench("verify", out)
    assert code == 1 and "0 valid, 1 not valid" in text


@pytest.mark.parametrize("name", REPLAYS)
def test_another_name_of_the_instance_is_found(folders, bench, tmp_path, monkeypatch, name):
    monkeypatch.chdir(folders[name].parent)
    out = shutil.copytree(folders[name], tmp_path / "out")
    record = record_in(out)
    true = record["instance"]
    next(out.glob("*.json")).write_text(json.dumps({**record, "instance": "eurora_700"}))
    code, text, _ = bench("verify", out)
    assert code == 1 and f"it has instance eurora_700, the name of {record['path']} is {true}" in text


def test_a_folder_with_another_name_keeps_its_records(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(load("eurora_99"), "day")
    words = ["--dispatchers", "fcfs", "--first", "8", "--out", "out"]
    assert bench("simulate", "day", *words)[0] == 0
    (tmp_path / "day").rename("night")
    code, text, _ = bench("verify", "out", "--instance", "night")
    assert code == 0 and "1 valid" in text
    code, _, err = bench("simulate", "night", *words)
    assert code == 0 and "(kept)" in err
