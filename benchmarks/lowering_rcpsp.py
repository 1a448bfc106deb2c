"""The cost of the modelling language with CP-SAT: a project, written by hand with ortools and declared in schedlab.

The project has 500 tasks, three predecessors each and four resources; the makespan is minimized. Both functions build
the model of CP-SAT from the start and return the processor seconds they used.
"""

from __future__ import annotations

import random
import time

TASKS = 500
CAPACITY = 20

_rng = random.Random(1)
SIZES = [_rng.randint(1, 20) for _ in range(TASKS)]
DEMANDS = [[_rng.randint(1, 10) if _rng.random() < 0.75 else 0 for _ in range(TASKS)] for _ in range(4)]
PRECEDENCES = [(i, j) for j in range(TASKS) for i in _rng.sample(range(j), min(j, 3))]
HORIZON = sum(SIZES)


def hand_written() -> float:
    """Build the model with ortools: a start and an interval a task; return the processor seconds."""
    from ortools.sat.python import cp_model

    began = time.process_time()
    m = cp_model.CpModel()
    starts = [m.new_int_var(0, HORIZON, f"start {k}") for k in range(TASKS)]
    tasks = [m.new_fixed_size_interval_var(starts[k], SIZES[k], f"task {k}") for k in range(TASKS)]
    for i, j in PRECEDENCES:
        m.add(starts[i] + SIZES[i] <= starts[j])
    for demands in DEMANDS:
        used = [k for k in range(TASKS) if demands[k]]
        m.add_cumulative([tasks[k] for k in used], [demands[k] for k in used], CAPACITY)
    makespan = m.new_int_var(0, HORIZON, "makespan")
    for k in range(TASKS):
        m.add(starts[k] + SIZES[k] <= makespan)
    m.minimize(makespan)
    return time.process_time() - began


def through_schedlab() -> float:
    """Declare the same model in schedlab and lower it to CP-SAT; return the processor seconds."""
    from schedlab.backends.driver import compile as lower
    from schedlab.models.language import Model, cumulative, end_before_start
    from schedlab.models.language import max as latest

    began = time.process_time()
    m = Model("500 tasks", horizon=HORIZON)
    tasks = [m.interval(f"task {k}", SIZES[k]) for k in range(TASKS)]
    for i, j in PRECEDENCES:
        m.add(end_before_start(tasks[i], tasks[j]))
    for demands in DEMANDS:
        used = [k for k in range(TASKS) if demands[k]]
        m.add(cumulative([tasks[k] for k in used], [demands[k] for k in used], CAPACITY))
    m.minimize(latest([task.end for task in tasks]))
    lower(m, "cpsat")
    return time.process_time() - began
