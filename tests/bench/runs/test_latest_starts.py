"""Latest starts on the command line: replays of logs, their records and tables, and instances made of logs."""

import json

import pytest
from fuzz_seeds import SWF_PARTITIONS
from schedlab.bench.records import read

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "log.swf").write_text(SWF_PARTITIONS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMAND = ("simulate", "log.swf", "--dispatchers", "fcfs", "--nodes", "4", "--cores", "1", "--out", "runs")


def test_late_starts_are_in_the_record_and_the_tables_and_are_checked(here, bench):
    """Four processors: job 2 (8 processors) is left out, the others run one after the other from 0, 60, 100 and 130 on.

    Their latest starts are 20 (submitted at 0), 40 (20), 35 (30) and 47 (40): the last three are late.
    """
    code, out, err = bench(*COMMAND, "--latest-start", "mean-wait", "--by", "user,partition")
    assert code == 0, err
    assert "late" in out and "75.0%" in out and "latest start mean-wait" in out
    (path,) = (here / "runs").glob("fcfs.*.json")
    record = read(path)
    assert {k: v for k, v in record["metrics"].items() if k.startswith("late_")} == {
        "late_starts_jobs": 4, "late_starts_count": 3, "late_starts_share": 0.75, "late_starts_tardiness": 168.0,
    }  # fmt: skip
    assert record["simulation"]["recorded"]["late_starts_count"] == 1  # job 3: wait 30, mean of its partition 20
    columns = record["groups"]["partition"]["columns"]
    found = dict(zip(columns["name"], zip(columns["late_starts"], columns["late_share"], strict=True), strict=True))
    assert found == {"batch": (1, 0.5), "none": (1, 1.0), "partition 9": (1, 1.0)}
    assert bench("verify", "runs")[0] == 0
    changed = json.loads(path.read_text())
    changed["metrics"]["late_starts_count"] = 2
    path.write_text(json.dumps(changed))
    code, out, err = bench("verify", "runs")
    assert code == 1 and "metrics.late_starts_count" in out + err


def test_without_the_option_nothing_is_recorded_or_shown(here, bench):
    code, out, _ = bench(*COMMAND, "--by", "user")
    assert code == 0 and "starts" not in out
    (path,) = (here / "runs").glob("fcfs.*.json")
    assert "late_s" not in path.read_text() and "latest_start" not in path.read_text()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            "soon",
            "the latest start 'soon' is unknown; expected mean-wait, or seconds after the submit time such as 3600",
        ),
        ("-5", "the latest start '-5' is unknown"),
        ("99999999999", "expected 0 to"),
    ],
)
def test_a_wrong_value_is_one_line_and_exit_code_2(here, bench, given, expected):
    code, out, err = bench(*COMMAND, "--latest-start", given)
    assert code == 2 and expected in " ".join((out + err).split()) and "Traceback" not in err


def test_the_option_is_for_logs(here, bench):
    code, _, err = bench("simulate", "eurora_99", "--dispatchers", "fcfs", "--latest-start", "60", "--out", "runs")
    assert code == 2 and "--latest-start: for logs only" in " ".join(err.split())


def test_an_imported_log_has_latest_starts_in_its_jobs_file_and_is_replayed_with_them(here, bench):
    command = ("import", "swf", "log.swf", "--nodes", "4", "--cores", "1", "--out", "day")
    assert bench(*command, "--latest-start", "mean-wait")[0] == 0
    header, *rows = (here / "day" / "jobs.csv").read_text().splitlines()
    column = header.split(",").index("latest_start")
    assert [row.split(",")[column] for row in rows] == ["20", "40", "35", "47"]
    code, _, err = bench("simulate", "day", "--dispatchers", "fcfs", "--out", "runs")
    assert code == 0, err
    (path,) = (here / "runs").glob("fcfs.*.json")
    assert read(path)["metrics"]["late_starts_count"] == 3
    assert bench("verify", "runs")[0] == 0
