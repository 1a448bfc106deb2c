"""The state of a machine in the forms that dispatchers take: arrays for the compiled policies, a moment for the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...errors import WrongValue
from ...heuristics.kernels.events.beginning import busy_state, busy_trace
from ...heuristics.kernels.events.entries import step
from ...heuristics.kernels.events.state import State, TraceArrays
from ...instances.states.machine_state import MachineState
from ...instances.workload import Ints, Workload
from ...models import Dispatch, Running
from ...models.excerpt import with_short_repr
from ...models.node_states import node_states
from ...models.production.placement import Usage
from ...models.production.reserved import Reserved
from .. import policy_kernels as kernels
from ..dispatcher import Moment
from ..policies.beside_reservations import Holds
from ..predictors import Predictor, TimedPredictor
from ..timeline import CLOSED
from .reservations import holding


@with_short_repr
@dataclass(frozen=True, eq=False)
class Situation:
    """The state of a machine with at least one waiting job, and the expected durations of the jobs.

    Parameters
    ----------
    state : MachineState
        The state.
    workload : Workload
        The waiting jobs by submit time, with their walltimes in place of the unknown runtimes, and the running jobs.
    expected : ndarray of int64, shape (jobs,)
        Expected durations of the waiting jobs in seconds.
    """

    state: MachineState
    workload: Workload
    expected: Ints

    @classmethod
    def of(cls, state: MachineState, predictor: Predictor) -> Situation:
        """Return the situation of a state; the predictor has seen no job end. Raises WrongValue for ``real``."""
        if predictor.name == "real":
            raise WrongValue("predictor real: the runtimes of waiting jobs are not known; expected another predictor")
        jobs = [replace(job, runtime=job.walltime) for job in state.waiting]
        running = [_still_running(r, state.now) for r in state.running]
        problem = Dispatch(state.platform, jobs, state.queues, "waiting", state.now, running)
        workload = Workload.of(problem, "state")
        checked = TimedPredictor(predictor)
        fixed = checked.begin(workload)
        expected = [checked.predict(j) for j in range(len(workload))] if fixed is None else fixed
        return cls(state, workload, np.array(expected, np.int64))

    @cached_property
    def blocked(self) -> Ints:
        """The indices of the nodes on which no job may start."""
        known = node_states()
        return np.array([n for n, name in enumerate(self.state.states) if not known[name].starts], np.int64)

    @cached_property
    def reserved(self) -> tuple[Reserved, ...]:
        """What the reservations of the machine hold from now on; see ``holding``."""
        return holding(self.state)

    @cached_property
    def _usage(self) -> Usage:
        """The same by nodes."""
        return Usage.of(self.state.platform, ((r.nodes, r.request, r.start, r.end) for r in self.reserved))

    @property
    def holds(self) -> Holds | None:
        """The same for the compiled policies; None without reservations."""
        return Holds(*self._usage) if self.reserved else None

    @cached_property
    def arrays(self) -> tuple[TraceArrays, State]:
        """The jobs and the machine as arrays, at the time of the state, with all jobs in the queue."""
        w, platform = self.workload, self.state.platform
        trace = busy_trace(w, w.running, platform, w.walltime, False)
        state = busy_state(trace, self.expected, w.begin, w.running, platform.nodes)
        state.free[self.blocked] -= CLOSED
        step(trace, state, 0)
        return trace, state

    def moment(self) -> Moment:
        """Return what a dispatcher in Python sees."""
        trace, arrays = self.arrays
        w, expected = self.workload, self.expected.tolist()
        rows = arrays.waiting[: len(w)].tolist()
        free = np.maximum(arrays.free, 0)
        if self.reserved:
            free = np.maximum(free - self._usage.at(self.state.now, len(free)), 0)
        running = tuple(replace(r, job=replace(r.job, runtime=None)) for r in w.running)
        lasting = {r.job.id: max(1, r.end - r.start) for r in running}
        return Moment(
            now=self.state.now,
            platform=self.state.platform,
            queues=w.queues,
            waiting=tuple(w.waiting_job(j) for j in rows),
            expected={w.ids[j]: expected[j] for j in rows} | lasting,
            may_start=kernels.allowed(trace, arrays),
            running=tuple(sorted(running, key=lambda r: r.start)),
            free=free,
            states=self.state.states,
            reserved=self.reserved,
        )


def _still_running(r: Running, now: int) -> Running:
    """Return a running job whose true end, which is unknown, is later than now; its expected end stays."""
    return replace(r, job=replace(r.job, runtime=max(r.end, now + 1) - r.start))
