"""Arrivals that a replay determines: of the jobs that wait for the end of another job and for a think time."""

from __future__ import annotations

from dataclasses import replace

from ...heuristics.kernels.events.state import State
from .progress import ReplayPlan


def with_own_arrivals(plan: ReplayPlan) -> ReplayPlan:
    """Return the plan with submit times and releases of its own, which ``set_arrivals`` changes."""
    if not plan.workload.after:
        return plan
    w = plan.workload
    return replace(plan, workload=replace(w, submit=w.submit.copy(), release=w.release.copy()))


def set_arrivals(plan: ReplayPlan, state: State, jobs: list[int]) -> bool:
    """Set the submit times of jobs that have arrived now; return whether one of them waited for another job."""
    w = plan.workload
    followers = [j for j in jobs if j in w.after]
    for j in followers:
        before, think = w.after[j]
        w.submit[j] = max(w.submit[j], state.start[before] + plan.trace.runtime[before] + think)
        w.release[j] = max(w.release[j], w.submit[j])
    return bool(followers)
