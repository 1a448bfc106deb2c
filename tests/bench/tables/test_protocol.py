"""The table of the cost of distributed dispatching."""

import schedlab as sl
from schedlab.bench.tables import ReplayResults, network, protocol


def row(name, metrics):
    return {"method": name, "verified": True, "status": "feasible", "metrics": metrics}


def test_costs_are_means_over_runs_and_jobs():
    counts = {"dardis_jobs": 4, "dardis_runs": 8, "messages": 2400, "timeouts": 1, "restarts": 0}
    seconds = {"generation_one": 8e-6, "node_selection": 16e-6, "reservation": 40e-6, "generation_all": 8e-4}
    found = {f"decisions_counts_{k}": v for k, v in counts.items()}
    found |= {f"decisions_phases_{k}": v for k, v in seconds.items()}
    table = protocol(ReplayResults([row("dardis:profile", found), row("easy", {"decisions_made": 3})]))
    assert [cells[0] for cells in table.rows] == ["dardis:profile"]
    assert [cells[:4] for cells in table.rows] == [["dardis:profile", "4", "2.00", "600"]]
    assert [float(c) for c in table.rows[0][4:9]] == [1, 2, 10, 16, 100]  # microseconds; 8 + 16 + 40 = 64 for 4 jobs


def test_measured_times_are_means_over_runs_and_jobs():
    counts = {"dardis_jobs": 4, "dardis_runs": 8, "packets": 60, "packet_bytes": 12000, "silent_nodes": 2}
    seconds = {"generation_one": 8e-3, "wall_offers": 0.024, "wall_selection": 0.016}
    seconds |= {"wall_reservation": 0.02, "wall_events": 0.004}
    found = {f"decisions_counts_{k}": v for k, v in counts.items()}
    found |= {f"decisions_phases_{k}": v for k, v in seconds.items()}
    one_process = {"decisions_counts_dardis_jobs": 4, "decisions_counts_dardis_runs": 8}
    table = network(ReplayResults([row("dardis:profile", found), row("dardis:balance", one_process)]))
    assert [cells[0] for cells in table.rows] == ["dardis:profile"]
    assert [float(cell) for cell in table.rows[0][1:]] == [15, 3, 1, 3, 2, 5, 1, 16, 2]  # 64 ms for 4 jobs


def test_a_replay_counts_three_messages_a_node_and_run():
    found = sl.simulate("eurora_99", dispatcher="dardis:balance").metrics.as_dict()
    nodes = 4
    assert found["decisions_counts_messages"] == 3 * nodes * found["decisions_counts_dardis_runs"]
    assert found["decisions_counts_dardis_jobs"] == 99 and found["decisions_counts_timeouts"] == 0
    assert found["decisions_phases_generation_one"] * nodes >= 0.99 * found["decisions_phases_generation_all"]
