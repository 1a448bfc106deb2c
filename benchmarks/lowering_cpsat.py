"""The cost of the modelling language with CP-SAT: one model, written by hand with ortools and declared in schedlab.

The model has 700 jobs, each on exactly one of 8 nodes: 5,600 optional intervals and 8 cumulatives. Both functions build
the model of CP-SAT from the start and return the processor seconds they used. Both use one thread, so that other work on
the machine does not change the ratio.
"""

from __future__ import annotations

import time

JOBS = 700
NODES = 8
HORIZON = 86_400
CAPACITY = 16


def _size(job: int) -> int:
    return 600 + 37 * (job % 53)


def _demand(job: int) -> int:
    return 1 + job % 4


def hand_written() -> float:
    """Build the model with ortools: per job a start, 8 Booleans and 8 optional intervals; return the processor seconds."""
    from ortools.sat.python import cp_model

    began = time.process_time()
    m = cp_model.CpModel()
    on_node: list[list[cp_model.IntervalVar]] = [[] for _ in range(NODES)]
    makespan = m.new_int_var(0, 2 * HORIZON, "makespan")
    for j in range(JOBS):
        start = m.new_int_var(0, HORIZON, f"job {j}")
        size = _size(j)
        chosen = []
        for n in range(NODES):
            name = f"job {j} on node {n}"
            here = m.new_bool_var(name)
            on_node[n].append(m.new_optional_fixed_size_interval_var(start, size, here, name))
            chosen.append(here)
        m.add_exactly_one(chosen)
        m.add(start + size <= makespan)
    demands = [_demand(j) for j in range(JOBS)]
    for intervals in on_node:
        m.add_cumulative(intervals, demands, CAPACITY)
    m.minimize(makespan)
    return time.process_time() - began


def through_schedlab() -> float:
    """Declare the same model in schedlab and lower it to CP-SAT; return the processor seconds."""
    from schedlab.backends.driver import compile as lower
    from schedlab.models.language import Interval, Model, alternative, cumulative
    from schedlab.models.language import max as latest

    began = time.process_time()
    m = Model("700 jobs on 8 nodes")
    window = (0, HORIZON)
    on_node: list[list[Interval]] = [[] for _ in range(NODES)]
    ends = []
    for j in range(JOBS):
        size = _size(j)
        job = m.interval(f"job {j}", size, start=window)
        options = [m.interval(f"job {j} on node {n}", size, start=window, optional=True) for n in range(NODES)]
        m.add(alternative(job, options))
        ends.append(job.end)
        for n in range(NODES):
            on_node[n].append(options[n])
    demands = [_demand(j) for j in range(JOBS)]
    for intervals in on_node:
        m.add(cumulative(intervals, demands, CAPACITY))
    m.minimize(latest(ends))
    lower(m, "cpsat")
    return time.process_time() - began
