"""The scheduling cycle of [Bridi2018, figure 4.3] on the main model (4.1), (4.2): the dispatcher ``cpmodel@BACKEND``.

A cycle has these steps:

1. Update jobs. A running job past its walltime keeps its resources: it is taken to end one second from now.
2. Update nodes. If a node holds more than it has, the cycle ends without a decision.
3. Check jobs. Jobs that do not fit on the nodes that are up are left out (``checks``).
4. Selection. If all eligible jobs can start now, they do, without a model; if none can, the cycle ends. Else all of them
   are planned (``first_plan``), and the overhead control keeps those that the plan starts first
   (``cp.control.adaptive_limit``); without a warm start, those submitted first, as in the thesis.
5. Model: all these jobs, each with one interval and a number of units per node (formulation ``counts``; ``units`` has an
   interval per unit); objective ``sum (start - submit) / ewt``. All starts lie before the end of the horizon, ``min start +
   sum of the durations`` of running and waiting jobs.
6. Solve it under the overhead control.
7. Commit the jobs that start now, as far as they fit into what is free.

Jobs that the solution starts later although they could start now beside it start now, as under other CP dispatchers
(``cp.objective``). Jobs outside the model come after those of the model, in the order of the plan.

An event starts a cycle only if the state (waiting jobs, running jobs and their walltimes, states of the nodes,
reservations) differs from the one that the last cycle left, or a waiting job was changed. After a cycle in which the
solver found nothing while no job runs, the dispatcher asks for another one by itself, ``RETRY`` seconds later.

The thesis has no warm start and names it as an improvement. Here the first solution is the plan, and it is used if the
solver finds nothing: a cycle then makes one attempt, where the thesis repeats it with a longer limit. It is also used if
the model is not ready at the end of the limit; then, too, the next model has half of the jobs. With ``warm_start=False``
there are five attempts, and no job starts if none finds a solution, as in the thesis. After a halving, the number of
jobs in the model grows by ``GROWTH`` with each solution; with all jobs at once, every second cycle of a busy day would
find nothing.

Accepted reservations of the machine have their fixed starts and nodes in the model; beside them all jobs take their
walltimes (``surroundings``). The simulator itself checks new reservations, starts the jobs of private queues and keeps those of stopped queues away
from dispatchers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....errors import WrongArgument, WrongValue
from ....heuristics.kernels.profile import Ints
from ....models import Platform, Queue, Schedule
from ....models.dispatch.jobs import Window
from ....models.dispatch.objectives import find_objective
from ....models.excerpt import with_short_repr
from ...dispatcher import Decision, Moment, Start
from ..cp.allocation import NodeTimeline, Requests, requests_of
from ..cp.chunks import nodes_in, start_of
from ..cp.control.adaptive import AdaptiveControl
from ..cp.control.adaptive_limit import AdaptiveLimit
from ..cp.control.steps import limit_of
from ..cp.desired.following import ProfileFollower, earlier, following_of, with_profile
from ..cp.model import latest_start, problem_of, running_usage, uncollected, windows_of
from ..cp.objective import best_start, moved_to_now, origin_of
from ..cp.solving import modelled
from ..cp.waiting import Register, Waiting, can_start_now, on_open_nodes, requested, start_empty
from .checks import eligible, overused, without_overuse
from .first_plan import first_plan
from .horizon import end_of_schedule
from .phases import PhaseClock
from .surroundings import Surroundings, surroundings

EXACT = ("counts", "units")  # formulations whose solutions have nodes
RETRY = 60  # seconds
GROWTH = 1.25  # of the number of jobs in a model, after a decision with a solution
Runs = tuple[str, int]  # id and walltime of a job
State = tuple[frozenset[str], frozenset[Runs], tuple[str, ...], tuple[str, ...], bytes | None]


class ModelJobs(NamedTuple):
    """The jobs of a model with their start windows."""

    jobs: Waiting
    windows: list[tuple[Window, ...]]


@with_short_repr
class CPModel(ProfileFollower):
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
        Whether the jobs are planned first and the solver starts from the plan.
    control : AdaptiveLimit, optional
        Another overhead control, instead of that of ``limit``. Its times are in the unit of the limit.
    max_stretch : None
        Not supported: the weighted wait of a job grows until it starts.
    profile : bool
        Whether it follows the desired profile of the replay (see ``cp.desired.following``).
    over_cost : float, optional
        The cost of an amount-hour above the profile in the objective; None: the profile is a limit.

    Raises
    ------
    WrongValue
        If ``limit``, ``deterministic``, ``over_cost`` or the formulation is not valid.
    WrongArgument
        If ``limit`` and ``deterministic`` are given, or ``max_stretch``.
    ProblemError
        If the objective is unknown.

    Examples
    --------
    >>> CPModel("highs").name
    'cpmodel@highs'
    """

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
        profile: bool = False,
        over_cost: float | None = None,
    ) -> None:
        if formulation not in EXACT:
            raise WrongValue(f"cpmodel: formulation is {formulation!r}; expected {' or '.join(EXACT)}")
        if max_stretch is not None:
            raise WrongArgument(f"cpmodel: max_stretch is {max_stretch!r}; it is for pcp and hcp only")
        length = limit_of(limit, deterministic)
        self.follows(profile, over_cost, True)
        self.name = f"cpmodel{self.suffix}@{backend}{f':{objective}' if objective else ''}"
        self.backend, self.formulation, self.seed, self.warm_start = backend, formulation, seed, warm_start
        self.objective = find_objective(objective or "weighted-wait").name
        attempts = 1 if warm_start else 5
        self.control = AdaptiveControl(length, deterministic is not None, threads, control, attempts, GROWTH)

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay."""
        self.seed = seed
        self.control.reset()
        self._register = Register(platform, queues)
        self._nodes = platform.nodes
        self.following = following_of(self)
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
            if self.following is not None:
                unchanged = not self.following.changed(moment.now) and unchanged
        if unchanged:
            wake = None if self.following is None or not rest.waiting else self.following.wake(moment.now)
            return Decision(empty, seconds=clock.seconds, wake=wake)
        found = self._cycle(rest, waiting, clock)
        self._left = _after(state, found.starts, rest)
        if found.ended == "nothing" and not (moment.running or empty):
            found.wake = self._retry = moment.now + RETRY
        found.starts = [*empty, *on_open_nodes(list(found.starts), rest)]
        found.seconds = clock.seconds
        if self.following is not None and rest.waiting:
            found.wake = earlier(found.wake, self.following.wake(moment.now))
        return found

    def _cycle(self, moment: Moment, waiting: Waiting, clock: PhaseClock) -> Decision:
        """Perform steps 2 to 7 of a cycle."""
        with clock.phase("update_nodes"):
            usage = running_usage(moment, False, self.held_by_profile)
            if overused(moment, self._register.nodes):
                return Decision(())
        with clock.phase("check_jobs"):
            jobs = waiting.some(eligible(moment, waiting, self._register.nodes))
            jobs = self.prepared(jobs, moment.now)
        with clock.phase("selection"):
            if not can_start_now(moment.free, jobs).any():
                return Decision(())
            jobs, beside = surroundings(moment, jobs, usage, self._register.nodes, self.timeline)
            now = self._now_only(jobs, moment.now)
            if moment.reserved and not beside.timeline.fits_now(now).any():
                return Decision(())
            allocation = beside.timeline.copy().place(now, np.arange(len(jobs.jobs)))
            if (allocation.start >= 0).all() and self.is_free(moment, jobs, beside.usage):
                nodes = [allocation.nodes(now, i, self._nodes) for i in range(len(jobs.jobs))]
                return Decision([start_of(j, on) for j, on in zip(jobs.jobs, nodes, strict=True)])
        return self._planned(moment, jobs, beside, clock)

    def _planned(self, moment: Moment, jobs: Waiting, beside: Surroundings, clock: PhaseClock) -> Decision:
        """Plan the jobs, solve the model of some of them, and start what can start now."""
        requests = requests_of(jobs, windows := self._windows(moment, jobs, beside), len(self._nodes))
        deadline = None if self.control.deterministic else time.perf_counter() + self.control.total
        plan, keys = None, jobs.submit
        if self.warm_start:
            with clock.phase("warm_start"):
                problem = problem_of(moment, jobs, windows, beside.usage, self.objective)
                problem = with_profile(problem, self.following, self.until)
                plan = first_plan(problem, jobs, requests, beside.timeline, deadline)
                keys = jobs.submit if plan is None else plan.allocation.start
        which = self.control.first(keys)
        model = ModelJobs(jobs.some(which), [windows[i] for i in which.tolist()])
        start = None if plan is None else beside.completed(plan.schedule(jobs, requests, which, self._nodes))
        found, decision = self._solve(moment, model, beside, start, deadline, clock)
        if found is None:
            return decision
        if plan is None:  # the jobs outside the model wait
            jobs, which, behind = model.jobs, np.arange(which.size), np.empty(0, np.int64)
            requests = requests_of(jobs, model.windows, len(self._nodes))
        else:
            behind = plan.allocation.start
        with clock.phase("allocate"):
            decision.starts = self._starts_of(found, which, jobs, requests, beside.timeline, behind)
            decision.starts = without_overuse(decision.starts, jobs, moment.free, self._nodes)
        return decision

    def _solve(
        self,
        moment: Moment,
        jobs: ModelJobs,
        beside: Surroundings,
        start: Schedule | None,
        deadline: float | None,
        clock: PhaseClock,
    ) -> tuple[Schedule | None, Decision]:
        """Make and solve the model of some jobs; ``start``: a schedule of them and the reservations."""
        number = len(jobs.jobs.jobs)
        size: dict[str, Any] = {"jobs": number, "requested": requested(jobs.jobs, moment.platform.resources)}
        problem = problem_of(
            moment, jobs.jobs.joined(beside.fixed.jobs), [*jobs.windows, *beside.windows], beside.usage, self.objective
        )
        problem = with_profile(problem, self.following, self.until)
        if self.warm_start and start is None and not beside.fixed.starts:  # a calendar left no room in any order
            with clock.phase("warm_start"):
                start = best_start(problem, None, deadline)
        with clock.phase("model"), uncollected():
            made = modelled(problem, self.formulation, self.backend, deadline, beside.fix_nodes)
        if made is None:
            self.control.too_large(number)
            return start, Decision((), "limit", **size)
        encoding, compiled = made
        warm = None if start is None else encoding.write(start)
        with clock.phase("solve"):
            answer = self.control.search(compiled, encoding.model, warm, self.seed, 0.0, origin_of(problem), number)
        if answer.best is None:
            return None, Decision((), answer.ended, **size)
        return encoding.read(answer.best), Decision((), answer.ended, answer.gain, **size)

    def _windows(self, moment: Moment, jobs: Waiting, beside: Surroundings) -> list[tuple[Window, ...]]:
        """Return the start windows of the jobs, which all end by the end of the horizon."""
        calendars = any(q.daily for q in moment.queues) or any(j.windows for j in jobs.jobs)
        if calendars or moment.reserved or self.following:  # a job may wait for them longer than for all other jobs
            end = max(beside.end, self.until)
            return windows_of(moment, jobs, latest_start(moment, jobs, beside.usage, end))
        end = end_of_schedule(moment, jobs, beside.usage)
        return [((moment.now, end - duration),) for duration in jobs.duration.tolist()]

    def _now_only(self, jobs: Waiting, now: int) -> Requests:
        return requests_of(jobs, [((now, now),)] * len(jobs.jobs), len(self._nodes))

    def _starts_of(
        self,
        schedule: Schedule,
        which: Ints,
        jobs: Waiting,
        requests: Requests,
        timeline: NodeTimeline,
        behind: Ints,
    ) -> list[Start]:
        """Return the jobs that start now in the solution, and those that can start now beside it.

        ``which``: the jobs of the model. The others come after them, in order of ``behind``, their starts in the plan.
        """
        starts = np.full(len(jobs.jobs), -1, np.int64)
        starts[which] = [schedule.start[jobs.jobs[i].id] for i in which.tolist()]
        here = np.flatnonzero(starts == timeline.now).tolist()
        now = self._now_only(jobs, timeline.now)
        begun = now.on_nodes({i: nodes_in(schedule, jobs.jobs[i]) for i in here}, timeline.now, self._nodes)
        others = np.flatnonzero(starts < 0)
        if others.size:
            starts[others] = starts.max() + behind[others]
        moved = begun if self.is_soft else moved_to_now(timeline.copy(), requests, begun, starts)
        return [
            start_of(jobs.jobs[i], allocation.nodes(now, i, self._nodes))
            for allocation in ((begun,) if moved is begun else (begun, moved))
            for i in np.flatnonzero(allocation.start >= 0).tolist()
        ]


def _state(moment: Moment, waiting: Waiting) -> State:
    """Return what starts a cycle if it changes."""
    running = frozenset((r.job.id, r.job.walltime) for r in moment.running)
    reserved = tuple(r.name for r in moment.reserved)
    on = None if moment.ready is None else (moment.ready <= moment.now).tobytes()
    return frozenset(j.id for j in waiting.jobs), running, moment.states, reserved, on


def _after(state: State, starts: Iterable[Start], moment: Moment) -> State:
    """Return the state after some starts of a moment."""
    names = {start.job for start in starts}
    started = {(j.id, j.walltime) for j in moment.waiting if j.id in names}
    waiting, running, *others = state
    return waiting.difference(names), running.union(started), *others  # type: ignore[return-value]
