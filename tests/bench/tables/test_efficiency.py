"""The table of the PUE in each scenario: values of the accounts, and the PUE at the slope change."""

import io

import pytest
from rich.console import Console
from schedlab.bench import View
from schedlab.bench.kinds import profit as tables
from schedlab.bench.kinds.profit import efficiency_grid, faults_of_account
from schedlab.bench.records import files, read
from schedlab.instances import load


@pytest.fixture(scope="module")
def records(profit_results):
    return [r for r in map(read, files(profit_results)) if r.get("account")]


def problem_of(record):
    return View(**record["view"]).of(load(record["path"]))


def test_the_slope_change_is_the_mean_over_the_horizon_weighted_by_time(records):
    for record in records:
        p = problem_of(record)
        seconds, total = 0, 0.0
        for begin, end, celsius in p.temperature.pieces(p.begin, p.horizon_end):
            watts = p.cooling.slope_change(celsius)
            seconds, total = seconds + end - begin, total + (end - begin) * p.cooling.pue(watts, celsius)
        assert record["slope_change"] == pytest.approx(total / seconds, abs=0.01)  # segments have mean temperatures
        assert 1 < record["slope_change"] < 2


def test_a_wrong_slope_change_is_found_and_records_without_one_are_not_at_fault(records):
    record = records[0]
    p = problem_of(record)
    schedule = p.read(record["schedule"])
    assert faults_of_account(p, record, schedule) == []
    old = {name: value for name, value in record.items() if name != "slope_change"}
    assert faults_of_account(p, old, schedule) == []
    (fault,) = faults_of_account(p, record | {"slope_change": 1.5}, schedule)
    assert fault.startswith("it has slope_change 1.5, its scenario has 1.")


def test_each_scenario_has_a_row_with_the_pue_of_its_methods(records):
    ((name, group),) = tables.by_instance(tables.scenario_results(records)).items()
    made = efficiency_grid(name, group)
    console = Console(file=io.StringIO(), width=150)
    console.print(made)
    lines = console.file.getvalue().splitlines()
    assert "PUE of all scenarios" in lines[0]
    for results in group:
        scenario = results.records[0]["view"]["scenario"]
        cells = next(line.split() for line in lines if line.split()[:1] == [scenario])
        lns = next(r for r in results.records if r["method"] == "lns")
        assert f"{lns['account']['horizon']['pue']:.5f}" in cells
        assert cells[-1] == f"{results.slope_change:.5f}"
        rule = max((r for r in results.records if r["method"].startswith("rule:")), key=lambda r: r["objective"])
        assert cells[-2] == f"{rule['account']['horizon']['pue']:.5f}"
