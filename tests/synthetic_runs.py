"""Synthetic records of runs, for tests of statistics."""

import numpy as np

VIEW = {"at": None, "first": None, "durations": "walltime", "objective": None}


def made(instance, method, seed=1, objective=100.0, **fields):
    """A record of a run: by default solved at 2 s of 10 s, its schedule verified."""
    solved = objective is not None
    return {
        "instance": instance,
        "path": instance,
        "kind": "dispatch",
        "method": method,
        "seed": seed,
        "threads": 1,
        "view": VIEW,
        "replay": None,
        "sense": "minimize",
        "time_limit": 10.0,
        "status": "feasible" if solved else "unknown",
        "cause": None,
        "verified": True if solved else None,
        "objective": objective,
        "bound": None,
        "best_s": 2.0 if solved else None,
        "seconds": {"total": 10.0},
        "incumbents": [{"seconds": 2.0, "objective": objective, "bound": None}] if solved else [],
        "started": "2026-01-01T00:00:00+00:00",
        **fields,
    }


def draw(seed, factor=1.0, instances=30, seeds=5, noise=0.15, quantity="objective"):
    """Records of two methods whose objectives (or times to the proof) differ by a factor; noise: of the logarithm."""
    dice = np.random.default_rng(seed)
    level = 100 * np.exp(dice.normal(0, 1, instances))
    found = []
    for k in range(instances):
        for method, by in (("a", 1.0), ("b", factor)):
            for s in range(seeds):
                value = float(level[k] * by * np.exp(dice.normal(0, noise)))
                if quantity == "objective":
                    found.append(made(f"i{k}", method, s, value, best_s=0.0, incumbents=[]))
                else:
                    ended = {"status": "optimal", "seconds": {"total": value}, "time_limit": 1e5, "best_s": value}
                    found.append(made(f"i{k}", method, s, 50.0, incumbents=[], **ended))
    return found
