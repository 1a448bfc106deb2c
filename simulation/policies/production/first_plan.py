"""The plan from which a cycle starts: all waiting jobs, placed one after the other in several orders; the best is kept.

A list schedule of 250 jobs on 65 nodes takes about 1 ms, so that all eligible jobs are planned even if only some of them
fit into a model that the solver can handle. Most orders suit the weighted wait ``sum (start - submit) / ewt``: by the
rule of Smith, jobs whose work is small for their weight ``1 / ewt`` go first. Two suit the makespan: large jobs first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from ....heuristics.kernels.profile import Floats, Ints
from ....models import Dispatch, Schedule
from ....models.dispatch.objectives import find_objective
from ..cp.allocation import Allocation, NodeTimeline, Requests
from ..cp.chunks import nodes_of_parts
from ..cp.waiting import Waiting

AGED = (20_000, 40_000)  # seconds of an earlier submission that outweigh the mean key of units


def _by_units(jobs: Waiting) -> Floats:
    found: Floats = jobs.duration * jobs.all_units / jobs.weight
    return found


def _aged(jobs: Waiting, seconds: int) -> Floats:
    """Return the submit time plus the key of units, scaled to a mean of ``seconds``."""
    key = _by_units(jobs)
    found: Floats = jobs.submit + seconds * key / key.mean()
    return found


ORDERS: Mapping[str, Callable[[Waiting], Floats | Ints]] = {
    "submit": lambda jobs: jobs.submit,
    "duration": lambda jobs: jobs.duration / jobs.weight,
    "units": _by_units,
    "work": lambda jobs: jobs.demand / jobs.weight,
    "-duration": lambda jobs: -jobs.duration,
    "-work": lambda jobs: -jobs.demand,
    **{f"aged-{seconds}": partial(_aged, seconds=seconds) for seconds in AGED},
}
"""Name -> keys of the jobs, the smallest first; ties by arrival. The ewt of a job's queue is proportional to ``1 / weight``."""


class Plan(NamedTuple):
    """A start and nodes for each job, and the name of the order that led to them."""

    allocation: Allocation
    order: str

    def schedule(self, jobs: Waiting, requests: Requests, which: Ints, nodes: tuple[str, ...]) -> Schedule:
        """Return the plan of some of the jobs, given by indices, as a schedule."""
        starts = {jobs.jobs[i].id: int(self.allocation.start[i]) for i in which.tolist()}
        kept = {i: jobs.jobs[i] for i in which.tolist()}
        return Schedule(starts, nodes_of_parts(self.allocation, requests, kept, nodes))


def first_plan(
    problem: Dispatch, jobs: Waiting, requests: Requests, timeline: NodeTimeline, deadline: float | None = None
) -> Plan | None:
    """Return the plan with the best objective; None if in every order some job finds no start.

    Parameters
    ----------
    problem : Dispatch
        The problem of all these jobs, which has the objective.
    jobs : Waiting
        The jobs, at least one, in order of arrival.
    requests : Requests
        The same jobs with their start windows.
    timeline : NodeTimeline
        The free capacity beside the running jobs.
    deadline : float, optional
        Time on the clock ``time.perf_counter`` after which no further order is tried once there is a plan.
    """
    cost = find_objective(problem.objective).costs_of(problem)
    best: Plan | None = None
    least = np.inf
    for name, keys in ORDERS.items():
        if best is not None and deadline is not None and time.perf_counter() > deadline:
            break
        found = timeline.copy().place(requests, np.argsort(keys(jobs), kind="stable"))
        if (found.start < 0).any():
            continue
        value = cost.value(found.start - jobs.submit, found.start + jobs.duration)
        if problem.over is not None:
            value += problem.over.value(found.start, found.start + jobs.duration)
        if value < least:
            best, least = Plan(found, name), value
    return best
