"""Records of runs as the bench writes them, for tests of reports."""

from schedlab.bench import Run
from schedlab.bench.records.record import record


def made(instance, method, seed, objective, steps=3, **fields):
    """A record of a run of 10 s with a trace; objective None: the run crashed."""
    trace = (
        [{"seconds": 1.0 + k, "objective": objective + steps - 1 - k, "bound": None} for k in range(steps)]
        if objective
        else []
    )
    found = {
        "status": "error" if objective is None else "feasible",
        "cause": "crash" if objective is None else None,
        "objective": objective,
        "verified": None if objective is None else True,
        "sense": "minimize",
        "schedule": None if objective is None else {},
        "incumbents": trace,
        "seconds": {"build": 0.0, "lower": 0.0, "solve": 10.0, "total": 10.0},
    }
    run = Run(instance, instance, instance, method, seed, kind="dispatch", **fields)
    return record(run, found, "2026-01-01T00:00:00+00:00")
