"""The study of evictors: results are kept and read again, and dp loses least on each problem."""

from schedlab.benchmarks.studies.evictions.replays import result_of
from schedlab.benchmarks.studies.evictions.tables import differences, methods_table, totals
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue


def test_results_are_resumed_and_dp_loses_least(tmp_path):
    machine = Platform([NodeGroup("n", 256, {"cores": 1})])
    jobs = [
        Job(f"b{k}", 1800 * k, 40000, 16 * (1 + 5 * k % 8), {"cores": 1}, "q", runtime=20000 + 977 * k)
        for k in range(40)
    ]
    log = Workload.of(Dispatch(machine, jobs, [Queue("q", 3600)]), "log")
    made = [
        result_of(tmp_path, log, machine, seed, evictor, ("dp", "greedy", "kill", "backtracking"), 40)
        for seed in (1, 2)
        for evictor in ("dp", "kill")
    ]
    again = result_of(tmp_path, log, machine, 1, "dp", (), 40)
    assert again == made[0] and len(list(tmp_path.iterdir())) == 4
    compared = [c for r in made for c in r["compared"]]
    assert len(compared) >= 5 and all(not r["violations"] for r in made)
    for c in compared:
        assert c["dp"]["loss"] == c["backtracking"]["loss"]
        assert c["dp"]["loss"] <= min(c["greedy"]["loss"], c["kill"]["loss"])
    assert [row[0] for row in totals(made, ("dp", "kill")).rows] == ["dp", "kill"]
    assert differences(made, ("dp", "kill")).rows[0][3] == "2"
    assert methods_table(made).rows[0][2] == "0"
