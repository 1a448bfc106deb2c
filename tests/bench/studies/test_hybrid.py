"""The study of the hybrid: known answers of its accounts and curves, resumed replays, its command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import schedlab as sl
from schedlab.bench.studies.hybrid.__main__ import main
from schedlab.bench.studies.hybrid.bound import bound_of, check_valid
from schedlab.bench.studies.hybrid.curves import curves, hourly
from schedlab.bench.studies.hybrid.replays import SCENARIOS, Variant, accounts, states_of
from schedlab.bench.studies.hybrid.tables import TABLE_7_1, best_rule, gain
from schedlab.errors import SchedlabError
from schedlab.instances.workload import Workload

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


def test_no_replay_earns_more_than_the_bound(tmp_path: Path) -> None:
    run = sl.simulate(Workload.of(SMALL.profit.dispatch), SMALL.platform, "rule:est")
    bound = bound_of(tmp_path, SMALL, AIR, int(run.end.max()))
    assert bound is not None
    assert accounts(SMALL, AIR, run)["end,0"]["profit"] <= bound + 1e-6
    assert bound_of(tmp_path, SMALL, AIR, int(run.end.max())) == bound  # read from its file


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


def test_what_the_command_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eurora_99"]) == 2
    assert "expected a profit instance" in capsys.readouterr().err
    assert main(["profit_small", "--scenarios", "air,spring,cheap"]) == 2
    assert main(["profit_small", "--variants", "hybird:70"]) == 2
