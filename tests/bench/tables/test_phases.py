"""The seconds of all decisions by phase, on hand-made records and on a replay."""

from schedlab.bench.tables.replays.figures import phases
from schedlab.bench.tables.replays.results import ReplayResults
from schedlab.simulation.engine.simulator import simulate
from schedlab.simulation.policies.cp.dispatcher import CPDispatcher


def record(method, **seconds):
    return {
        "method": method,
        "verified": True,
        "status": "feasible",
        "metrics": {f"decisions_{name}seconds_total": value for name, value in seconds.items()},
    }


def test_the_phases_and_the_rest_add_up():
    """10 s of which 1 s model, 6 s solver and 0.5 s nodes leave 2.5 s; a compiled policy has no phases and no row."""
    hcp = record("hcp3", **{"": 10.0, "model_": 1.0, "solve_": 6.0, "allocate_": 0.5})
    hcp["metrics"]["prediction_seconds"] = 0.25
    easy = record("easy", **{"": 1.0, "model_": None, "solve_": None, "allocate_": None})
    assert phases(ReplayResults([hcp, easy])).rows == [
        ["hcp3", "10.0", "1.00 10%", "6.00 60%", "0.50 5%", "2.50 25%", "0.25"]
    ]


def test_the_phases_of_a_replay_are_within_its_decisions():
    run = simulate("eurora_99", dispatcher=CPDispatcher("hcp", 3, deterministic=0.001), predictor="real")
    found = run.metrics.as_dict()
    parts = [found[f"decisions_{name}seconds_total"] for name in ("model_", "solve_", "allocate_")]
    assert 0 < sum(parts) <= found["decisions_seconds_total"]
