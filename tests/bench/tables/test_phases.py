"""The seconds of all decisions by phase, on hand-made records and on a replay."""

from schedlab.bench.tables import ReplayResults, cycles, phases
from schedlab.simulation import CPDispatcher, simulate


def record(method, **seconds):
    return {
        "method": method,
        "verified": True,
        "status": "feasible",
        "metrics": {f"decisions_{name}seconds_total": value for name, value in seconds.items()},
    }


def test_the_phases_and_the_rest_add_up():
    """10 s of which 0.2 s start, 0.8 s model, 6 s solver and 0.5 s nodes leave 2.5 s; a compiled policy has no row."""
    hcp = record("hcp3", **{"": 10.0, "start_": 0.2, "model_": 0.8, "solve_": 6.0, "allocate_": 0.5})
    hcp["metrics"]["prediction_seconds"] = 0.25
    easy = record("easy", **{"": 1.0, "model_": None, "solve_": None, "allocate_": None})
    assert phases(ReplayResults([hcp, easy])).texts == [
        ["hcp3", "10.0", "0.20 2%", "0.80 8%", "6.00 60%", "0.50 5%", "2.50 25%", "0.25"]
    ]


def test_records_without_the_time_of_warm_starts_have_a_row():
    older = record("hcp3", **{"": 10.0, "model_": 1.0, "solve_": 6.0, "allocate_": 0.5})
    assert phases(ReplayResults([older])).texts[0][1:7] == ["10.0", "-", "1.00 10%", "6.00 60%", "0.50 5%", "2.50 25%"]


def test_the_phases_of_a_replay_are_within_its_decisions():
    run = simulate("eurora_99", dispatcher=CPDispatcher("hcp", 3, deterministic=0.001), predictor="real")
    found = run.metrics.as_dict()
    parts = [found[f"decisions_{name}seconds_total"] for name in ("start_", "model_", "solve_", "allocate_")]
    assert min(parts[:3]) > 0 and sum(parts) <= found["decisions_seconds_total"]


def test_the_phases_of_a_cycle_are_means_over_the_calls():
    """4 calls; dispatchers that name no phase of the cycle have no row; missing phases have a dash."""
    seconds = {"": 2.0, "model_": 0.4, "solve_": 0.8, "allocate_": 0.04}
    model, hcp = record("portfolio@cpsat", **seconds), record("hcp3", **seconds)
    hcp["metrics"]["decisions_made"] = 4
    model["metrics"] |= {
        "decisions_made": 4,
        "decisions_phases_update_jobs": 0.004,
        "decisions_phases_selection": 0.2,
        "decisions_used_cpmodel": 3,
        "decisions_used_pbs-walltime": 1,
    }
    assert cycles(ReplayResults([model, hcp])).texts == [
        ["portfolio@cpsat", "500", "1.00", "-", "-", "50.0", "-", "100", "200", "10.0", "cpmodel 3, pbs-walltime 1"]
    ]
