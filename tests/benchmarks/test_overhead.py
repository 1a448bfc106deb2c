"""The overhead of DARDIS and of a rule-based cycle: the rule as printed, against the compiled one."""

import pytest
from schedlab.benchmarks.dardis import machine
from schedlab.benchmarks.overhead import Algorithm4, main, measured, ratios, table
from schedlab.instances import Workload
from schedlab.models import Job, NodeGroup, Platform, Queue
from schedlab.models.profiles import daily, flat
from schedlab.simulation import simulate


@pytest.mark.parametrize("shares", [{"08:00": 0.6, "20:00": 1.0}, {"00:00": 1.0}, {"06:00": 0.3, "12:00": 1.0}])
def test_algorithm_4_as_printed_gives_the_starts_of_the_compiled_rule(shares):
    problem = machine(12, 120)
    work, desired = Workload.of(problem), daily(problem.platform, shares)
    printed = simulate(work, problem.platform, Algorithm4(desired), desired=desired)
    compiled = simulate(work, problem.platform, "rule:est-profile", desired=desired, allocator="first-fit")
    assert printed.violations == []
    assert printed.start.tolist() == compiled.start.tolist()
    assert printed.wait.max() > 0


def test_a_job_whose_last_unit_finds_no_node_leaves_nothing_in_use():
    """Two nodes with 4 cores, half of them desired: a needs three units of 2, b, behind it, two; only b fits."""
    platform = Platform([NodeGroup("n", 2, {"cores": 4})])
    jobs = [Job(name, 0, 10, units, {"cores": 2}, "q", runtime=10) for name, units in (("a", 3), ("b", 2))]
    rule = Algorithm4(flat(platform, 0.5))
    rule.begin(platform, [Queue("q", 60)], 0)
    used, most = [[0], [0]], [[2.0], [2.0]]
    assert rule._nodes_for(jobs[0], used, most) == {} and used == [[0], [0]]
    assert rule._nodes_for(jobs[1], used, most) == {0: 1, 1: 1} and used == [[2], [2]]


def test_the_ratios_follow_from_the_measured_costs():
    problem = machine(10, 40)
    found = measured(Workload.of(problem), problem.platform, daily(problem.platform, {"08:00": 0.6, "20:00": 1.0}))
    by_name = {cost.name: cost.mean for cost in found.costs}
    assert (
        found.alone == by_name["scheduling: one node manager, in a call of its own"] + by_name["dispatching: selection"]
    )
    assert found.one < found.alone < found.job
    assert found.cycles >= 80 / 2 and found.runs >= 1
    assert f"run of DARDIS, one node manager alone: {found.printed / found.alone:,.1f} (" in ratios(found)[1]
    assert table(found).row_count == len(found.costs) == 6


def test_the_command_prints_the_table(tmp_path, capsys):
    lines = [
        f"{k} {30 * k} 5 {60 + k} {8 * (k % 3 + 1)} -1 -1 {8 * (k % 3 + 1)} 100 -1 1 1 1 1 1 1 -1 -1"
        for k in range(1, 9)
    ]
    log = tmp_path / "log.swf"
    log.write_text("; UnixStartTime: 0\n" + "\n".join(lines) + "\n")
    assert main([str(log), "--nodes", "4", "--cores", "8"]) == 0
    out = capsys.readouterr().out
    assert "8 jobs on 4 nodes" in out and "algorithm 4 in Python" in out and "rule in Python / compiled rule" in out
    assert main([str(tmp_path / "none.swf")]) == 2
