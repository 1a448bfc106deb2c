"""The cost of the modelling language with HiGHS: a time-indexed model, written by hand and declared in schedlab.

100 jobs with start windows of 500 s on four resources, total weighted start minimized: 50,000 binary variables. Both
variants give HiGHS the model by one ``passModel``; ``main`` prints their numbers of columns, rows and non-zeros. Nothing is solved.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from schedlab import backends
from schedlab.models.language import Model, cumulative, sum

from .benchmark import without_arguments

JOBS = 100
STARTS = 500
RESOURCES = 4
CAPACITY = 50


def _data() -> tuple[Any, Any, Any]:
    """Return the durations and weights of the jobs, and their demands per resource."""
    rng = np.random.default_rng(7)
    return rng.integers(5, 40, JOBS), rng.integers(1, 9, JOBS), rng.integers(1, 10, (JOBS, RESOURCES))


def hand_written() -> float:
    """Return the seconds from the data to the model in HiGHS, written directly as arrays."""
    return _hand_written()[0]


def through_schedlab() -> float:
    """Return the seconds for the same model, declared in schedlab and lowered."""
    return _through_schedlab()[0]


def _hand_written() -> tuple[float, Any]:
    import highspy

    durations, weights, demands = _data()
    began = time.perf_counter()
    cells = STARTS + int(durations.max()) - 1
    n = JOBS * STARTS
    job = np.repeat(np.arange(JOBS), STARTS)
    start = np.tile(np.arange(STARTS), JOBS)
    lengths = durations[job]
    which = np.repeat(np.arange(n), lengths)
    cell = np.arange(len(which)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + start[which]
    late = start > 0
    rows = [job, JOBS + np.arange(JOBS), JOBS + job[late]]
    columns = [np.arange(n), n + np.arange(JOBS), np.flatnonzero(late)]
    values = [np.ones(n), np.ones(JOBS), -start[late].astype(float)]
    for r in range(RESOURCES):
        rows.append(2 * JOBS + r * cells + cell)
        columns.append(which)
        values.append(demands[job, r][which].astype(float))
    row = np.concatenate(rows)
    column = np.concatenate(columns)
    value = np.concatenate(values)
    order = np.argsort(row, kind="stable")
    m = 2 * JOBS + RESOURCES * cells
    begin = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m))])
    made: Any = highspy.Highs  # without types in some versions
    h = made()
    h.setOptionValue("output_flag", False)
    h.passModel(
        *(n + JOBS, m, len(value)),
        *(int(highspy.MatrixFormat.kRowwise), int(highspy.ObjSense.kMinimize), 0.0),
        np.concatenate([np.zeros(n), weights]),
        np.zeros(n + JOBS),
        np.concatenate([np.ones(n), np.full(JOBS, STARTS - 1.0)]),
        np.concatenate([np.ones(JOBS), np.zeros(JOBS), np.full(RESOURCES * cells, -np.inf)]),
        np.concatenate([np.ones(JOBS), np.zeros(JOBS), np.full(RESOURCES * cells, float(CAPACITY))]),
        *(begin.astype(np.int32), column[order].astype(np.int32), value[order]),
        np.concatenate([np.ones(n, dtype=np.int32), np.zeros(JOBS, dtype=np.int32)]),
    )
    return time.perf_counter() - began, h


def _through_schedlab() -> tuple[float, Any]:
    durations, weights, demands = _data()
    began = time.perf_counter()
    m = Model("50,000 binaries", horizon=STARTS - 1)
    jobs = [m.interval(f"job {j}", size=int(d)) for j, d in enumerate(durations)]
    for r in range(RESOURCES):
        m.add(cumulative(jobs, demands[:, r].tolist(), CAPACITY))
    m.minimize(sum([j.start for j in jobs], weights=weights.tolist()))
    compiled = backends.compile(m, "highs", lowering="time-indexed", grid=1)
    return time.perf_counter() - began, compiled.native


def main() -> None:
    """Print the least seconds of five runs of each variant, and their ratio."""
    hand = _hand_written()
    ours = _through_schedlab()
    sizes = [(h.getNumCol(), h.getNumRow(), h.getNumNz()) for _, h in (hand, ours)]
    print(f"columns, rows, non-zeros: by hand {sizes[0]}, through schedlab {sizes[1]}")
    times = [min(call() for _ in range(5)) for call in (hand_written, through_schedlab)]
    print(f"by hand {times[0]:.3f} s, through schedlab {times[1]:.3f} s: ratio {times[1] / times[0]:.2f}")


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
