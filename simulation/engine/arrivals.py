"""Arrivals that a replay determines: of the jobs that wait for the end of another job and for a think time."""

from __future__ import annotations

from dataclasses import replace

from ...heuristics.kernels.events.state import State
from ...instances.times import NEVER
from .progress import ReplayPlan


def with_own_arrivals(plan: ReplayPlan) -> ReplayPlan:
    """Return the plan with submit times, releases and latest starts of its own, which ``set_arrivals`` changes."""
    if not plan.workload.after:
        return plan
    w = plan.workload
    return replace(
        plan, workload=replace(w, submit=w.submit.copy(), release=w.release.copy(), latest_start=w.latest_start.copy())
    )


def set_arrivals(plan: ReplayPlan, state: State, jobs: list[int]) -> bool:
    """Set the submit times and latest starts of jobs that have arrived now; return whether one waited for another job."""
    w = plan.workload
    followers = [j for j in jobs if j in w.after]
    for j in followers:
        before, think = w.after[j]
        arrival = max(w.submit[j], state.start[before] + plan.trace.runtime[before] + think)
        if w.latest_start[j] != NEVER:
            w.latest_start[j] += arrival - w.submit[j]
        w.submit[j] = arrival
        w.release[j] = max(w.release[j], w.submit[j])
    return bool(followers)
