"""The scheduling cycle of [Bridi2018, figure 4.3] on the main model (4.1), (4.2): the dispatcher ``cpmodel@BACKEND``.

A cycle has these steps:

1. Update jobs. A running job past its walltime keeps its resources: it is taken to end one second from now.
2. Update nodes. If a node holds more than it has, the cycle ends without a decision.
3. Check jobs. Jobs that do not fit on the nodes that are up are left out (``checks``).
4. Selection. If all eligible jobs can start now, they do, without a model; if none can, the cycle ends. Else the overhead
   control keeps the first of them, in order of submission (``cp.control.adaptive_limit``).
5. Model: all these jobs, each with one interval and a number of units per node (formulation ``counts``; ``units`` has an
   interval per unit); objective ``sum (start - submit) / ewt``. All starts lie before the end of the horizon, ``min start +
   sum of the durations`` of running and waiting jobs.
6. Solve it under the overhead control.
7. Commit the jobs that start now, as far as they fit into what is free.

Jobs that the solution starts later although they could start now beside it start now, as under other CP dispatchers
(``cp.objective``).

An event starts a cycle only if the state (waiting jobs, running jobs and their walltimes, states of the nodes,
reservations) differs from the one that the last cycle left, or a waiting job was changed. After a cycle in which the solver found nothing while no job runs, the dispatcher asks for another
one by itself, ``RETRY`` seconds later.

The thesis has no warm start and names it as an improvement. Here the first solution is the best one of multi-search,
and it is used if the solver finds nothing, or if the model is not ready at the end of the limit (then, too, the next
model has half of the jobs); with ``warm_start=False`` no job starts then, as in the thesis.

Accepted reservations of the machine have their fixed starts and nodes in the model; beside them all jobs take their
walltimes (``surroundings``), and the warm start is the best of three orders of the jobs on the nodes that they leave.
The simulator itself checks new reservations, starts the jobs of private queues and keeps those of stopped queues away
from dispatchers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ....errors import WrongArgument, WrongValue
from ....heuristics.kernels.profile import Ints
from ....models import Dispatch, Platform, Queue, Schedule
from ....models.dispatch.jobs import Window
from ....models.dispatch.objectives import find_objective
from ...engine.moment import Decision, Moment, Start
from ..cp.allocation import NodeTimeline, Requests, requests_of
from ..cp.control.adaptive import AdaptiveControl
from ..cp.control.adaptive_limit import AdaptiveLimit
from ..cp.control.steps import limit_of
from ..cp.model import latest_start, problem_of, running_usage, uncollected, windows_of
from ..cp.objective import best_start, moved_to_now, origin_of
from ..cp.solving import modelled
from ..cp.waiting import Register, Waiting, can_start_now, requested, start_empty
from .checks import eligible, overused, without_overuse
from .horizon import end_of_schedule
from .phases import PhaseClock
from .surroundings import Surroundings, surroundings

EXACT = ("counts", "units")  # formulations whose solutions have nodes
RETRY = 60  # seconds
Runs = tuple[str, int]  # id and walltime of a job
State = tuple[frozenset[str], frozenset[Runs], tuple[str, ...], tuple[str, ...]]


class CPModel:
    """The dispatcher of the production scheduler of [Bridi2018, 4]; see the module docstring.

    Parameters
    ----------
    backend : str
        Name of the solver's backend.
    formulation : {"counts", "units"}
        Formulation of the model.
    limit : float, optional
        Limit in seconds of the fifth attempt of a decision, 16 times ``k1`` of the overhead control. Default: 16 s
        without ``deterministic``.
    deterministic : float, optional
        The same in the solver's own reproducible unit (see ``CPDispatcher``), instead of ``limit``. Equal replays then
        give equal results.
    threads : int
        Threads of the solver.
    seed : int
        Seed of the solver; ``begin`` replaces it by the seed of the replay.
    objective : str, optional
        Name of another objective of ``Dispatch``. Default: ``"weighted-wait"``.
    warm_start : bool
        Whether the solver starts from the best schedule of multi-search.
    control : AdaptiveLimit, optional
        Another overhead control, instead of that of ``limit``. Its times are in the unit of the limit.
    max_stretch : None
        Not supported: the weighted wait of a job grows until it starts.

    Raises
    ------
    WrongValue
        If ``limit``, ``deterministic`` or the formulation is not valid.
    WrongArgument
        If ``limit`` and ``deterministic`` are given, or ``max_stretch``.
    ProblemError
        If the objective is unknown.

    Examples
    --------
    >>> CPModel("highs").name
    'cpmodel@highs'
    """

    takes_chunks = False  # its models have one request per job

    def __init__(
        self,
        backend: str = "cpsat",
        formulation: str = "counts",
        limit: float | None = None,
        deterministic: float | None = None,
        threads: int = 1,
        seed: int = 0,
        objective: str | None = None,
        warm_start: bool = True,
        control: AdaptiveLimit | None = None,
        max_stretch: float | None = None,
    ) -> None:
        if formulation not in EXACT:
            raise WrongValue(f"cpmodel: formulation is {formulation!r}; expected {' or '.join(EXACT)}")
        if max_stretch is not None:
            raise WrongArgument(f"cpmodel: max_stretch is {max_stretch!r}; it is for pcp and hcp only")
        length = limit_of(limit, deterministic)
        self.name = f"cpmodel@{backend}{f':{objective}' if objective else ''}"
        self.backend, self.formulation, self.seed, self.warm_start = backend, formulation, seed, warm_start
        self.aim = find_objective(objective or "weighted-wait").name
        self.control = AdaptiveControl(length, deterministic is not None, threads, control)

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay."""
        self.seed = seed
        self.control.reset()
        self._register = Register(platform, queues)
        self._nodes = platform.nodes
        self._left: State | None = None  # the state after the last cycle
        self._retry: int | None = None  # the time of a cycle that the dispatcher asked for

    def decide(self, moment: Moment) -> Decision:
        """Return the jobs that start now."""
        clock = PhaseClock()
        with clock.phase("update_jobs"):
            empty, rest = start_empty(moment)
            waiting = self._register.allowed(rest)
            state = _state(moment, waiting)
            unchanged = state == self._left and moment.now != self._retry and not moment.changed
        if unchanged:
            return Decision(empty, seconds=clock.seconds)
        found = self._cycle(rest, waiting, clock)
        self._left = _after(state, found.starts, rest)
        if found.ended == "nothing" and not (moment.running or empty):
            found.wake = self._retry = moment.now + RETRY
        found.starts = [*empty, *found.starts]
        found.seconds = clock.seconds
        return found

    def _cycle(self, moment: Moment, waiting: Waiting, clock: PhaseClock) -> Decision:
        """Perform steps 2 to 7 of a cycle."""
        with clock.phase("update_nodes"):
            usage = running_usage(moment, naive=False)
            if overused(moment, self._register.nodes):
                return Decision(())
        with clock.phase("check_jobs"):
            jobs = waiting.some(eligible(moment, waiting, self._register.nodes))
        with clock.phase("selection"):
            if not can_start_now(moment.free, jobs).any():
                return Decision(())
            jobs, beside = surroundings(moment, jobs, usage, self._register.nodes)
            now = self._now_only(jobs, moment.now)
            if moment.reserved and not beside.timeline.fits_now(now).any():
                return Decision(())
            allocation = beside.timeline.copy().place(now, np.arange(len(jobs.jobs)))
            if (allocation.start >= 0).all():
                return Decision([Start(j.id, allocation.nodes(now, i, self._nodes)) for i, j in enumerate(jobs.jobs)])
            jobs = self.control.kept(jobs)
        return self._solve(moment, jobs, beside, clock)

    def _solve(self, moment: Moment, jobs: Waiting, beside: Surroundings, clock: PhaseClock) -> Decision:
        """Make and solve the model of some jobs."""
        windows = self._windows(moment, jobs, beside)
        requests = requests_of(jobs, windows, len(self._nodes))
        problem = problem_of(
            moment, jobs.joined(beside.fixed.jobs), [*windows, *beside.windows], beside.usage, self.aim
        )
        size: dict[str, Any] = {"jobs": len(jobs.jobs), "requested": requested(jobs, moment.platform.resources)}
        deadline = None if self.control.deterministic else time.perf_counter() + self.control.total
        start = None
        if self.warm_start:
            with clock.phase("warm_start"):
                start = self._first_solution(problem, jobs, requests, beside, deadline)
        with clock.phase("model"), uncollected():
            made = modelled(problem, self.formulation, self.backend, deadline, beside.fix_nodes)
        if made is None:
            self.control.too_large(len(jobs.jobs))
            return Decision(self._starts_of(start, moment, jobs, requests, beside.timeline, clock), "limit", **size)
        encoding, compiled = made
        warm = None if start is None else encoding.write(start)
        with clock.phase("solve"):
            answer = self.control.search(
                compiled, encoding.model, warm, self.seed, 0.0, origin_of(problem), len(jobs.jobs)
            )
        found = None if answer.best is None else encoding.read(answer.best)
        starts = self._starts_of(found, moment, jobs, requests, beside.timeline, clock)
        return Decision(starts, answer.ended, answer.gain, **size)

    def _windows(self, moment: Moment, jobs: Waiting, beside: Surroundings) -> list[tuple[Window, ...]]:
        """Return the start windows of the jobs, which all end by the end of the horizon."""
        calendars = any(q.daily for q in moment.queues) or any(j.windows for j in jobs.jobs)
        if calendars or moment.reserved:  # a job may have to wait for them longer than for all other jobs
            return windows_of(moment, jobs, latest_start(moment, jobs, beside.usage, beside.end))
        end = end_of_schedule(moment, jobs, beside.usage)
        return [((moment.now, end - duration),) for duration in jobs.duration.tolist()]

    def _first_solution(
        self, problem: Dispatch, jobs: Waiting, requests: Requests, beside: Surroundings, deadline: float | None
    ) -> Schedule | None:
        """Return the best schedule of multi-search, or that in order of submission if it is better.

        Beside reservations, whose nodes multi-search would choose, the best of three orders: by submission, by weight
        over walltime, by weight over demand.
        """
        if not beside.fixed.starts:
            return best_start(problem, self._placed(jobs, requests, beside, np.arange(len(jobs.jobs))), deadline)
        shortest, smallest = jobs.duration / jobs.weight, jobs.demand / jobs.weight
        orders = [np.arange(len(jobs.jobs)), *(np.argsort(key, kind="stable") for key in (shortest, smallest))]
        found = [self._placed(jobs, requests, beside, order) for order in orders]
        sign = 1 if problem.sense == "minimize" else -1
        return min((s for s in found if s is not None), key=lambda s: sign * problem.objective(s), default=None)

    def _placed(self, jobs: Waiting, requests: Requests, beside: Surroundings, order: Ints) -> Schedule | None:
        """Return the schedule of the jobs, each at its earliest start in this order; None if one does not fit."""
        placed = beside.timeline.copy().place(requests, order)
        if not (placed.start >= 0).all():
            return None
        starts = dict(zip([j.id for j in jobs.jobs], placed.start.tolist(), strict=True))
        nodes = {j.id: dict(placed.nodes(requests, i, self._nodes)) for i, j in enumerate(jobs.jobs)}
        return beside.completed(Schedule(starts, nodes))

    def _now_only(self, jobs: Waiting, now: int) -> Requests:
        return requests_of(jobs, [((now, now),)] * len(jobs.jobs), len(self._nodes))

    def _starts_of(
        self,
        schedule: Schedule | None,
        moment: Moment,
        jobs: Waiting,
        requests: Requests,
        timeline: NodeTimeline,
        clock: PhaseClock,
    ) -> list[Start]:
        """Return the jobs that start now in a schedule, and those that can start now beside it, as far as they fit."""
        if schedule is None:
            return []
        with clock.phase("allocate"):
            starts = np.array([schedule.start[j.id] for j in jobs.jobs], np.int64)
            here = np.flatnonzero(starts == timeline.now)
            now = self._now_only(jobs, timeline.now)
            begun = now.on_nodes([schedule.nodes[j.id] for j in jobs.jobs], here, timeline.now, self._nodes)
            moved = moved_to_now(timeline.copy(), requests, begun, starts)
            found = [
                Start(jobs.jobs[i].id, allocation.nodes(now, i, self._nodes))
                for allocation in (begun, moved)
                for i in np.flatnonzero(allocation.start >= 0).tolist()
            ]
            return without_overuse(found, jobs, moment.free, self._nodes)


def _state(moment: Moment, waiting: Waiting) -> State:
    """Return what starts a cycle if it changes."""
    running = frozenset((r.job.id, r.job.walltime) for r in moment.running)
    reserved = tuple(r.name for r in moment.reserved)
    return frozenset(j.id for j in waiting.jobs), running, moment.states, reserved


def _after(state: State, starts: Iterable[Start], moment: Moment) -> State:
    """Return the state after some starts of a moment."""
    names = {start.job for start in starts}
    started = {(j.id, j.walltime) for j in moment.waiting if j.id in names}
    waiting, running, *others = state
    return waiting.difference(names), running.union(started), *others  # type: ignore[return-value]
