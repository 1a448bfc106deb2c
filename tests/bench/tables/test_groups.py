"""Tables and figures of groups of jobs: --by, --bsld-floor, records, bench verify, bench plot --figure, bench show LOG."""

import json
import re
from xml.etree import ElementTree

import pytest
from schedlab.backends import UnknownName
from schedlab.bench.records.store import first_fault
from schedlab.bench.tables import parse_by

pytestmark = pytest.mark.usefixtures("in_process")
LOG = "; UnixStartTime: 0\n" + "".join(
    f"{k} {10 * k} {5 * k} {60 + k} {k % 4 + 1} -1 -1 {k % 4 + 1} 200 -1 1 {k % 13 + 1} 1 1 {k % 2 + 1} -1 -1 -1\n"
    for k in range(1, 41)
)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    (folder / "log.swf").write_text(LOG)
    return folder


@pytest.fixture
def bench(bench, here, monkeypatch):
    monkeypatch.chdir(here)
    return bench


def simulate(bench, *more):
    return bench("simulate", "log.swf", "--dispatchers", "fcfs,easy", "--nodes", "4", "--cores", "1", *more)


def test_tables_of_the_largest_groups(bench, here):
    code, out, _ = simulate(bench, "--out", "runs", "--by", "user,class,partition", "--bsld-floor", "100")
    assert code == 0
    table = out[out.index("by user") : out.index("by units")]
    assert len(re.findall(r"^user \d+ +\d+ fcfs", table, re.MULTILINE)) == 10
    assert re.search(r"^others +9 fcfs", table, re.MULTILINE)  # 13 users; the three smallest have three jobs each
    assert table.index("user 2 ") < table.index("user 1 ") < table.index("others")  # user 2 has four jobs
    assert "bounded slowdown from 100 s" in out
    assert "by partition: the log does not record the partition" in out
    record = next(r for p in (here / "runs").glob("*.json") if (r := json.loads(p.read_text()))["method"] == "easy")
    assert first_fault(record) is None
    users = record["groups"]["user"]
    assert sum(users["columns"]["jobs"]) == 40
    assert users["others"]["jobs"] == 9
    assert record["metrics"]["bsld_floor"] == 100
    assert len(record["percentiles"]["ratio"]) == 101


def test_the_check_recomputes_the_figures_of_the_groups(bench, here):
    simulate(bench, "--out", "runs", "--bsld-floor", "100")
    assert bench("verify", "runs")[0] == 0
    path = next((here / "runs").glob("easy*.json"))
    honest = path.read_text()
    for field, change in (
        ("wait_p95 of user 'user 3'", lambda r: r["groups"]["user"]["columns"]["wait_p95"].__setitem__(
            r["groups"]["user"]["columns"]["name"].index("user 3"), 1e6)),
        ("bounded_slowdown_std", lambda r: r["metrics"].update(bounded_slowdown_std=77.0)),
        ("groups by units", lambda r: r["groups"].pop("units")),
    ):  # fmt: skip
        record = json.loads(honest)
        change(record)
        path.write_text(json.dumps(record))
        code, out, err = bench("verify", "runs")
        assert code == 1
        assert field in (out + err).replace("\n", " ").replace('"', "'")
    path.write_text(honest)


def test_columns_of_a_group_have_equal_length(bench, here):
    simulate(bench, "--out", "runs", "--bsld-floor", "100")
    record = json.loads(next((here / "runs").glob("easy*.json")).read_text())
    record["groups"]["user"]["columns"]["wait_mean"].pop()
    assert "groups.user.columns: expected columns of equal length" in str(first_fault(record))


@pytest.mark.parametrize("floor", ["0", "-5", "nan", "inf"])
def test_an_impossible_floor_is_refused(bench, floor):
    code, _, err = simulate(bench, "--bsld-floor", floor)
    assert code == 2
    assert "expected a number of seconds above 0" in " ".join(err.split())


def test_an_unknown_property_is_refused():
    with pytest.raises(UnknownName, match="no property of jobs 'usr'; did you mean user"):
        parse_by(["usr"])


def test_each_figure_is_an_svg_picture(bench, here):
    (here / "half.csv").write_text("time_s,resource,share\n0,cores,0.5\n")
    simulate(bench, "--out", "runs", "--bsld-floor", "100", "--desired", "half.csv")
    for name in (
        "ecdf", "bars", "bars-by-length", "waits", "ecdf-wait", "ecdf-slowdown", "running", "accuracy", "desired",
        "frontier", "nodes",
    ):  # fmt: skip
        code, _, err = bench("plot", "runs", "--figure", name, "--out", f"{name}.svg")
        if name == "nodes":  # of replays with a node policy only: tests/bench/runs/test_energy.py
            assert code == 2 and "bench simulate --node-policy" in " ".join(err.split())
            continue
        assert code == 0, err
        root = ElementTree.fromstring((here / f"{name}.svg").read_text())
        assert root.tag.endswith("svg")
    assert "easy" in (here / "bars.svg").read_text()
    code, _, err = bench("plot", "runs", "--figure", "bras", "--out", "x.svg")
    assert (code, "did you mean bars" in err) == (2, True)
    assert bench("plot", "runs", "--figure", "bars", "--out", "x.html")[0] == 2


def test_a_log_is_shown_with_its_hours(bench, here):
    code, out, err = bench("show", "log.swf", "--nodes", "4", "--cores", "1", "--plot", "hours.svg")
    assert code == 0, err
    assert "log: 40 jobs" in out
    assert re.search(r"00:00 +40\.0 ", out)  # all submissions are in the first hour
    assert "3 others" in out
    ElementTree.fromstring((here / "hours.svg").read_text())
    code, _, err = bench("show", "eurora_99", "--nodes", "4")
    assert (code, "for logs only" in err) == (2, True)
