"""Studies that generate their days: cases, paired differences, gains, and the shipped ones of [Bridi2018]."""

import json
from statistics import NormalDist

import pytest
from schedlab.bench.replays import Exhibit, Quantity, Study, find_study, paired, student
from schedlab.bench.replays.carry_out import compare
from schedlab.bench.tables import RECORDED, DispatcherRow
from schedlab.simulation import check_dispatcher

pytestmark = pytest.mark.usefixtures("in_process")
STUDY = """\
reference = "Made2020"
dispatchers = ["fcfs", "sjf"]
decision_time = 0.1
conditions = ["Its days are small."]

[[cases]]
name = "small"
generator = "eurora"
jobs = 30
seeds = [1, 2, 3]
options = { nodes = 4 }

[[exhibits]]
name = "Table 1"
caption = "waits"
case = "small"
gain_over = "fcfs"
dispatchers = ["fcfs", "sjf"]
quantities = [{ figure = "AQ", heading = "AQ", values = { fcfs = 200, sjf = 150 } }]

[[orders]]
where = "text"
chain = ["sjf", "fcfs"]
figures = ["AQ", "WQT"]
case = "small"
"""


def test_student_quantiles_are_those_of_the_tables():
    """Of any table of t: 95 %, two-sided; the normal distribution for many degrees."""
    known = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 5: 2.5706, 9: 2.2622, 10: 2.2281, 30: 2.0423}
    for degrees, value in known.items():
        assert student(degrees) == pytest.approx(value, abs=1e-4)
    assert student(100_000) == pytest.approx(NormalDist().inv_cdf(0.975), abs=1e-3)


def test_the_difference_is_taken_day_by_day():
    """Differences 1, 2, 3: mean 2, standard error 1 / sqrt(3), t = 4.3027."""
    found = paired([10.0, 200.0, 3000.0], [11.0, 202.0, 3003.0])
    assert (found.mean, found.days, found.verdict) == (2.0, 3, "open")
    assert found.half == pytest.approx(4.30265 / 3**0.5, rel=1e-4)
    assert paired([1.0, 1.0], [2.0, 2.0]).verdict == "yes"
    assert paired([2.0, 2.1, 2.0], [1.0, 1.0, 1.0]).verdict == "NO"
    assert paired([1.0], [2.0]) == (1.0, None, 1) and paired([1.0], [2.0]).verdict == "open"


def test_gains_are_relative_to_one_dispatcher_ours_and_the_studys():
    exhibit = Exhibit("T", "", ["a", "b", "c"], [Quantity("AQ", "AQ", {"a": 100, "b": 80})], gain_over="a")
    rows = [
        DispatcherRow(name, [{"verified": True, "status": "feasible", "method": name, "metrics": {"AQ": value}}])
        for name, value in (("a", 50.0), ("b@cpsat", 60.0))
    ]
    gains = compare(Study("Made2020", [], 0.1, [exhibit]), rows).grids[1]
    assert gains.heads == ["dispatcher", "AQ", "study"]
    assert gains.rows == [["b", "-20.0", "20.0"], ["c", "-", "-"]]


def test_a_share_is_a_part_of_the_time_of_all_decisions():
    metrics = {"decisions_seconds_total": 8.0, "decisions_phases_selection": 2.0}
    row = DispatcherRow("a", [{"verified": True, "status": "feasible", "method": "a", "metrics": metrics}])
    exhibit = Exhibit("T", "", ["a"], [Quantity("share.decisions_phases_selection", "selection")])
    assert compare(Study("Made2020", [], 0.1, [exhibit]), [row]).grids[0].rows == [["a", "25.0"]]


def test_days_are_generated_replayed_and_compared_by_one_command(bench, tmp_path):
    (tmp_path / "made.toml").write_text(STUDY)
    command = ("simulate", "--study", tmp_path / "made.toml", "--out", tmp_path / "out")
    code, out, err = bench(*command)
    assert code == 0, err
    lines = [line.split() for line in out.splitlines()]
    records = [json.loads(f.read_text(encoding="utf-8")) for f in (tmp_path / "out").glob("*.json")]
    assert {(r["instance"], r["method"]) for r in records} == {
        (f"small-{seed}", name) for seed in (1, 2, 3) for name in ("fcfs", "sjf")
    }
    means = {name: sum(r["metrics"]["AQ"] for r in records if r["method"] == name) / 3 for name in ("fcfs", "sjf")}
    [waits] = [line for line in lines if line[:1] == ["fcfs"] and line[-1] == "200"]
    assert float(waits[1].replace(",", "")) == pytest.approx(means["fcfs"], rel=0.01)
    [gains] = [line for line in lines if line[:1] == ["sjf"] and line[-1] == "25.0"]
    assert float(gains[1]) == pytest.approx(100 * (1 - means["sjf"] / means["fcfs"]), abs=0.06)
    [difference] = [line for line in lines if line[:4] == ["text", "sjf", "fcfs", "AQ"]]
    assert float(difference[6].replace(",", "")) == pytest.approx(means["fcfs"] - means["sjf"], rel=0.01)
    assert difference[7] == "±" and difference[-1] in ("yes", "NO", "open") and difference[-3:-1] == ["of", "3"]
    assert "[Made2020]: Its days are small." in out
    written = {f: f.stat().st_mtime_ns for f in (tmp_path / "out").glob("*.json")}
    code, again, _ = bench(*command)
    assert code == 0 and again == out
    assert {f: f.stat().st_mtime_ns for f in (tmp_path / "out").glob("*.json")} == written  # nothing is replayed twice


@pytest.mark.parametrize(
    ("change", "workload", "words"),
    [
        (("", ""), ["eurora_99"], "generates its days; leave the workload out"),
        (("eurora", "euroro"), [], "eurora"),
        (("nodes = 4", "knots = 4"), [], "knots"),
        (("jobs = 30", ""), [], "incomplete"),
    ],
)
def test_wrong_cases_are_told_in_one_line(bench, tmp_path, change, workload, words):
    (tmp_path / "made.toml").write_text(STUDY.replace(*change))
    code, out, err = bench("simulate", *workload, "--study", tmp_path / "made.toml", "--out", tmp_path / "out")
    assert code == 2 and words in err and "Traceback" not in err + out


def test_without_a_workload_a_log_is_expected(bench):
    code, _, err = bench("simulate", "--dispatchers", "fcfs")
    assert code == 2 and "expected a log or an instance" in err


@pytest.mark.parametrize("name", ["bridi2018-models", "bridi2018-production"])
def test_the_shipped_studies_of_the_thesis_are_consistent(name):
    found = find_study(name)
    replayed = {d.partition("@")[0] for case in found.cases for d in case.dispatchers} | {
        d.partition("@")[0] for d in found.dispatchers
    }
    for dispatcher in found.dispatchers:
        check_dispatcher(dispatcher)
    cases = {case.name for case in found.cases}
    for part in (*found.exhibits, *found.orders):
        assert part.case in (cases or {""})
    for exhibit in found.exhibits:
        assert set(exhibit.dispatchers) <= replayed | {RECORDED}
        assert all(set(quantity.values) <= set(exhibit.dispatchers) for quantity in exhibit.quantities)
    assert {d for order in found.orders for d in order.chain} <= replayed | {RECORDED}
