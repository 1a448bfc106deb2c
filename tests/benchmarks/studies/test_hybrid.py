"""The study of the hybrid: known answers of its accounts and curves, resumed replays, its command."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab import SchedlabError
from schedlab.benchmarks.studies.hybrid import replays
from schedlab.benchmarks.studies.hybrid.__main__ import main
from schedlab.benchmarks.studies.hybrid.bound import bound_of, bound_of_problem, check_valid, least_cost, least_curve
from schedlab.benchmarks.studies.hybrid.curves import curves, hourly
from schedlab.benchmarks.studies.hybrid.replays import SCENARIOS, Variant, accounts, states_of
from schedlab.benchmarks.studies.hybrid.tables import TABLE_7_1, best_rule, gain
from schedlab.instances import Workload

SMALL = sl.load("profit_small")
AIR = SCENARIOS[0]


def test_the_means_of_the_table_are_those_of_the_text() -> None:
    assert [round(float(np.mean(TABLE_7_1[t])), 1) for t in ("medium", "high")] == [8.6, 0.2]
    assert round(float(np.mean(TABLE_7_1["low"])), 0) == 17


def test_variants_are_a_dispatcher_and_a_node_policy() -> None:
    assert Variant.parse("dardis:throughput-r/idle:30min") == ("dardis:throughput-r", "idle:30min")
    assert Variant.parse("dardis:first/min-start") == ("dardis:first/min-start", None)
    assert Variant.parse("easy/always-on").text == "easy/always-on"


def test_hourly_means_of_intervals() -> None:
    """2 from 0 to 1.5 h and 4 from 1 h to 2 h."""
    begin, end, amount = np.array([0, 3600]), np.array([5400, 7200]), np.array([2.0, 4.0])
    assert hourly(begin, end, amount, np.array([0, 3600, 7200])).tolist() == [2.0, 5.0]


def test_idle_energy_of_a_machine_that_is_always_on() -> None:
    """All cores that run no job, from the first submission to the last end."""
    log = Workload.of(SMALL.profit.dispatch)
    run = sl.simulate(log, SMALL.platform, "rule:est")
    found = accounts(SMALL, AIR, run)
    cores = log.job_arrays.amounts[:, log.resources.index("cores")]
    length = int(run.end.max() - log.submit.min())
    unused = SMALL.platform.total("cores") * length - int((cores * (run.end - run.start)).sum())
    assert found["end,2"]["idle_kwh"] == pytest.approx(2.0 * unused / 3.6e6, rel=1e-9)
    assert found["end,0"]["profit"] > found["end,3.9"]["profit"] > found["end,6"]["profit"]
    used = curves(run, states_of(run), SMALL)
    assert set(used["on"]) == {len(SMALL.platform.nodes)}
    assert max(used["in_use"]) <= len(SMALL.platform.nodes)
    seconds = np.full(len(used["cores"]), 3600)
    seconds[-1] = int(run.end.max()) - (used["begin"] + 3600 * (len(seconds) - 1))
    assert float(np.dot(used["cores"], seconds)) == pytest.approx(
        float((cores * (run.end - run.start)).sum()), rel=1e-4
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_replay_earns_more_than_the_bound(scenario: str) -> None:
    """With any dispatcher and node policy; the account without idle energy, for the end of each replay and a later one."""
    log = Workload.of(SMALL.profit.dispatch)
    for dispatcher, policy in (("rule:est", None), ("rule:profit-strict", None), ("easy", "idle:300s")):
        run = sl.simulate(log, SMALL.platform, dispatcher, node_policy=policy)
        found, end = accounts(SMALL, scenario, run), int(run.end.max())
        bounds = [bound_of(SMALL, scenario, e) for e in (end, end + 1800, end + 86400)]
        assert found["end,0"]["profit"] <= bounds[0] * (1 + 1e-9)
        assert bounds == sorted(bounds)
        assert bounds[-1] < found["end,0"]["profit"] * 1.1


def test_the_bound_of_one_job_is_its_profit() -> None:
    """A job that fills an hour at 20 degrees; nothing is left to choose."""
    machine = sl.Platform([sl.NodeGroup("n", 1, {"cores": 4})])
    job = sl.Job("a", 0, 3600, 1, {"cores": 4}, "q", runtime=3600, power=1000.0)
    cooling = sl.Cooling("half", (0, 40), (0, 2000), ((0, 1000), (0, 1000)))
    dispatch = sl.Dispatch(machine, [job], [sl.Queue("q", 3600)])
    warm = sl.StepFunction.constant(20, 0, 3600)
    problem = sl.Profit(dispatch, warm, cooling, 0.5, 0.1, 3600)
    assert bound_of_problem(problem, 3600) == pytest.approx(4 * 0.5 - 1.5 * 0.1)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=3, max_size=3),
    st.lists(st.integers(0, 4), min_size=3, max_size=3),
    st.integers(1, 8),
)
def test_the_greedy_algorithm_finds_the_cheapest_energy(
    slopes: list[tuple[int, int]], released: list[int], total: int
) -> None:
    """Against all whole amounts: each segment has two joules at one price and two more at a higher one."""
    slices = [(p, k, 2.0) for k, (a, more) in enumerate(slopes) for p in (float(a), float(a + more))]
    possible = np.cumsum(released).astype(float)
    costs = []
    for amounts in product(range(5), repeat=3):
        if sum(amounts) == total and (np.cumsum(amounts) <= possible).all():
            pairs = zip(amounts, slopes, strict=True)
            costs.append(sum(min(x, 2) * a + max(0, x - 2) * (a + more) for x, (a, more) in pairs))
    assert least_cost(slices, possible, float(total)) == min(costs, default=None)


def test_the_least_curve_is_below_the_mean_of_any_part() -> None:
    temperature = sl.StepFunction.hourly([12.0, 14.0, 16.0, 13.0])
    cooling = SMALL.profit.cooling
    least = least_curve(cooling, temperature, 0, 4 * 3600)
    for celsius in (12.0, 13.0, 14.9, 15.0, 15.1, 16.0):
        for watts, value in least:
            assert value <= cooling.power(watts, celsius) + 1e-9


def test_a_bound_needs_time_for_all_jobs() -> None:
    with pytest.raises(SchedlabError, match="cannot be spent"):
        bound_of(SMALL, AIR, int(max(j.submit for j in SMALL.jobs)) + 1)


def test_the_bound_needs_prices_of_at_least_0() -> None:
    with pytest.raises(SchedlabError, match="prices of at least 0"):
        check_valid(SMALL.profit.replace(energy_price=-0.1))


def test_the_gain_is_relative_to_the_best_rule() -> None:
    def result(euro: float) -> dict[str, object]:
        return {"end,3.9": {"profit": euro}}

    found = {"rule:est": {AIR: result(80)}, "rule:wt-strict": {AIR: result(100)}, "hybrid:70": {AIR: result(110)}}
    assert best_rule(found, AIR) == "rule:wt-strict"
    assert gain(found, "hybrid:70", AIR) == pytest.approx(10.0)
    assert gain(found, "hybrid:50", AIR) is None


def test_the_command_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["profit_small", "--rules", "rule:est", "--variants", "hybrid:100,hybrid:50", "--scenarios", AIR]
    assert main([*words, "--out", str(tmp_path)]) == 0
    first = {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    printed = capsys.readouterr().out
    assert "hybrid:50: table 7.1" in printed and "figure 7.3" in printed and len(first) == 3
    assert main([*words, "--out", str(tmp_path)]) == 0
    assert {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()} == first
    assert capsys.readouterr().out == printed


def test_a_study_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["profit_small", "--rules", "rule:est", "--variants", "rule:wt", "--scenarios", AIR, "--out"]
    assert main([*words, str(tmp_path / "whole")]) == 0
    simulate = replays.simulate

    def stopped(*arguments: object, **options: object) -> object:
        if arguments[2].name == "rule:wt":  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        return simulate(*arguments, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(replays, "simulate", stopped)
        assert main([*words, str(tmp_path / "parts")]) == 130
    assert "stopped; the same command" in capsys.readouterr().err
    (done,) = (tmp_path / "parts").iterdir()
    before = done.read_bytes()
    assert main([*words, str(tmp_path / "parts")]) == 0
    assert done.read_bytes() == before and len(list((tmp_path / "parts").iterdir())) == 2
    for path in (tmp_path / "parts").iterdir():
        known = json.loads((tmp_path / "whole" / path.name).read_text())
        assert json.loads(path.read_text())["accounts"] == known["accounts"]


def test_what_the_command_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eurora_99"]) == 2
    assert "expected a profit instance" in capsys.readouterr().err
    assert main(["profit_small", "--scenarios", "air,spring,cheap"]) == 2
    assert main(["profit_small", "--variants", "hybird:70"]) == 2
