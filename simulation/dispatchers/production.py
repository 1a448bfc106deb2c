"""The dispatchers that [Bridi2018, 4] used in production: the scheduling cycle on a CP model, and the portfolio."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...errors import WrongArgument, WrongValue
from ...models import Dispatch, Platform, Queue
from ...models.array_types import Bools, Floats, Ints
from ...models.dispatch.arrays import NodeArrays, occupied
from ...models.dispatch.jobs import DAY, Window
from ...models.dispatch.objectives import find_objective
from ...models.long_calls import uncollected
from ...models.node_states import node_states
from ...models.problem import Encoding, Schedule
from ...models.words import with_short_repr
from ..dispatcher import Decision, Moment, Start
from .cp.control import AdaptiveControl, AdaptiveLimit, limit_of, modelled
from .cp.dispatcher import ProfileFollower, earlier, following_of, with_profile
from .cp.model import (
    FOLLOWED,
    RunningUsage,
    Usage,
    best_start,
    by_walltime,
    latest_start,
    moved_to_now,
    origin_of,
    problem_of,
    running_usage,
    whole_jobs,
    windows_of,
)
from .cp.placing import (
    Allocation,
    FixedJobs,
    NodeTimeline,
    Register,
    Requests,
    Waiting,
    can_start_now,
    fixed_jobs,
    nodes_in,
    nodes_of_parts,
    on_open_nodes,
    requested,
    requests_of,
    start_empty,
    start_of,
)
from .policy import POLICIES

# --- The end of the horizon of the main model [Bridi2018, (4.1)].


def end_of_schedule(moment: Moment, jobs: Waiting, usage: Usage) -> int:
    """Return ``Eoh = min start + sum of the durations`` of running and waiting jobs, in seconds.

    The printed sum is too short if jobs run longer than expected, or nodes take no starts. All jobs one after the other,
    behind every use of a node, always fit; the horizon does not end before that.

    Parameters
    ----------
    moment : Moment
        The current state.
    jobs : Waiting
        The jobs of the model.
    usage : tuple of ndarray
        The use of nodes by the running jobs, see ``cp.model.Usage``.
    """
    work = int(jobs.duration.sum())
    begin = min((r.start for r in moment.running), default=moment.now)
    printed = begin + work + sum(r.end - r.start for r in whole_jobs(moment))
    return int(max(printed, max([moment.now, *usage[1].tolist()]) + work))


# --- What the jobs of a cycle run beside: running jobs, and accepted reservations of the machine [Bridi2018, (4.1)].
#
# Without reservations, jobs take their expected durations. A reservation must find its nodes free, so beside reservations
# all jobs, waiting and running, take their walltimes.


class Surroundings(NamedTuple):
    """The surroundings of the jobs of a cycle.

    Parameters
    ----------
    usage : tuple of ndarray
        The use of nodes by the running jobs, see ``cp.model.Usage``.
    fixed : FixedJobs
        The reservations that the model has: those that start within the walltime of any waiting job, so that no start
        now runs into another one, and those of the next two days.
    timeline : NodeTimeline
        The free capacity beside the running jobs and all reservations.
    nodes : tuple of str
        The names of the nodes.
    """

    usage: Usage
    fixed: FixedJobs
    timeline: NodeTimeline
    nodes: tuple[str, ...]

    @property
    def windows(self) -> list[tuple[Window, ...]]:
        """The fixed start of each reservation, as its only window."""
        return [((start, start),) for start in self.fixed.starts]

    @property
    def end(self) -> int:
        """The end of the last reservation of the model in seconds; now if there is none."""
        ends = np.array(self.fixed.starts, np.int64) + self.fixed.jobs.duration
        return int(max([self.timeline.now, *ends.tolist()]))

    def completed(self, schedule: Schedule) -> Schedule:
        """Return a schedule of jobs with the reservations."""
        jobs = self.fixed.jobs.jobs
        starts = dict(zip([j.id for j in jobs], self.fixed.starts, strict=True))
        return Schedule({**schedule.start, **starts}, {**schedule.nodes, **self.fixed.nodes(self.nodes)})

    def fix_nodes(self, encoding: Encoding) -> None:
        """Fix the nodes of the reservations in a model (formulations ``counts`` and ``units``)."""
        names = [j.id for j in self.fixed.jobs.jobs]
        if not names:
            return
        known = self.completed(Schedule({v.name: v.windows[0][0] for v in encoding.model.intervals if not v.optional}))
        values = encoding.write(known)
        for x in encoding.model.integers:
            if x.name.startswith(tuple(f"{name} on " for name in names)):
                encoding.model.add(x == values.integer[x.index], f"reserved: {x.name}")
        for v in encoding.model.intervals:
            if v.optional and v.name.startswith(tuple(f"{name}." for name in names)):
                encoding.model.add(v.presence == int(values.present[v.index]), f"reserved: {v.name}")


def surroundings(
    moment: Moment,
    jobs: Waiting,
    usage: RunningUsage,
    nodes: NodeArrays,
    timeline_of: Callable[[Ints, int, Usage], NodeTimeline] = NodeTimeline,
) -> tuple[Waiting, Surroundings]:
    """Return the jobs with the durations that they take, and their surroundings; ``timeline_of`` makes a timeline."""
    fixed = fixed_jobs(moment, nodes)
    names = moment.platform.nodes
    if not moment.reserved:
        timeline = timeline_of(nodes.capacity, moment.now, usage.expected)
        return jobs, Surroundings(usage.expected, fixed, timeline, names)
    timeline = timeline_of(nodes.capacity, moment.now, usage.by_walltime)
    fixed.hold_on(timeline)
    jobs = by_walltime(jobs)
    near = moment.now + max(FOLLOWED, int(jobs.duration.max(initial=0)))
    return jobs, Surroundings(usage.by_walltime, fixed.before(near), timeline, names)


# --- The plan from which a cycle starts: all waiting jobs, placed one after the other in several orders; the best is kept.
#
# A list schedule of 250 jobs on 65 nodes takes about 1 ms, so that all eligible jobs are planned even if only some of them
# fit into a model that the solver can handle. Most orders suit the weighted wait ``sum (start - submit) / ewt``: by the
# rule of Smith, jobs whose work is small for their weight ``1 / ewt`` go first. Two suit the makespan: large jobs first.

AGED = (20_000, 40_000)  # seconds of an earlier submission that outweigh the mean key of units


def _by_units(jobs: Waiting) -> Floats:
    keys: Floats = jobs.duration * jobs.all_units / jobs.weight
    return keys


def _aged(jobs: Waiting, seconds: int) -> Floats:
    """Return the submit time plus the key of units, scaled to a mean of ``seconds``."""
    key = _by_units(jobs)
    keys: Floats = jobs.submit + seconds * key / key.mean()
    return keys


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
        plan = timeline.copy().place(requests, np.argsort(keys(jobs), kind="stable"))
        if (plan.start < 0).any():
            continue
        value = cost.value(plan.start - jobs.submit, plan.start + jobs.duration)
        if problem.over is not None:
            value += problem.over.value(plan.start, plan.start + jobs.duration)
        if value < least:
            best = Plan(plan, name)
            least = value
    return best


# --- The checks of a scheduling cycle [Bridi2018, figure 4.3]: eligible jobs, use of the nodes, starts.
#
# ``CHECKS`` are the rules by which waiting jobs take part in a cycle. Features that bar jobs for a time, such as stopped
# queues, are further functions in it.

Check = Callable[[Moment, Waiting, NodeArrays], Bools]
"""Function that returns the mask of the waiting jobs that may take part in the cycle."""


def fits_nodes_that_are_up(moment: Moment, jobs: Waiting, nodes: NodeArrays) -> Bools:
    """Return the mask of the jobs that fit, each alone, on the empty nodes that take starts [Bridi2018, (4.6)].

    The others could not start before the state of a node changes. Jobs that do not fit on the whole machine never reach
    a dispatcher: they are left out when the workload is read.
    """
    known = node_states()
    up = np.array([known[state].starts for state in moment.states], np.bool_)
    return can_start_now(nodes.capacity[up] if up.size else nodes.capacity, jobs)


CHECKS: tuple[Check, ...] = (fits_nodes_that_are_up,)


def eligible(moment: Moment, jobs: Waiting, nodes: NodeArrays) -> Bools:
    """Return the mask of the jobs that pass all checks."""
    mask = np.ones(len(jobs.jobs), np.bool_)
    for check in CHECKS:
        mask &= check(moment, jobs, nodes)
    return mask


def overused(moment: Moment, nodes: NodeArrays) -> list[str]:
    """Return the names of the nodes that hold more than they have, and of those with jobs that cannot run on them.

    Until the running jobs and the nodes are consistent again, no decision is made.
    """
    _, node, used = occupied(moment.running, nodes)
    free = nodes.capacity.copy()
    np.subtract.at(free, node, used)
    wrong: Bools = np.any(free < 0, axis=1)
    known = node_states()
    stopped = np.array([not known[state].runs for state in moment.states], np.bool_)
    if stopped.any():
        wrong[np.intersect1d(np.flatnonzero(stopped), node)] = True
    return [moment.platform.nodes[n] for n in np.flatnonzero(wrong).tolist()]


def without_overuse(starts: Sequence[Start], jobs: Waiting, free: Ints, names: Sequence[str]) -> list[Start]:
    """Return the starts that fit one after the other into what is free now; the other jobs wait for the next cycle.

    Parameters
    ----------
    starts : sequence of Start
        The starts of a solution.
    jobs : Waiting
        The jobs of the model.
    free : ndarray of int64, shape (nodes, resources)
        The free amounts.
    names : sequence of str
        The names of the nodes, in the order of ``free``.
    """
    row = {job.id: j for j, job in enumerate(jobs.jobs)}
    number = {name: n for n, name in enumerate(names)}
    rows = jobs.rows
    left = free.copy()
    kept = []
    for start in starts:
        need = np.zeros_like(free)
        j = row[start.job]
        chunks = [j, *range(rows.first[j], rows.first[j + 1])]
        for chunk, nodes in zip(chunks, (start.nodes, *start.further), strict=True):
            index = [number[name] for name in nodes]
            need[index] += np.array(list(nodes.values()), np.int64)[:, None] * jobs.requests[rows.kind[chunk]]
        used = need.any(axis=1)
        if (left[used] >= need[used]).all():
            left -= need
            kept.append(start)
    return kept


# --- The scheduling cycle of [Bridi2018, figure 4.3] on the main model (4.1), (4.2): the dispatcher ``cpmodel@BACKEND``.
#
# A cycle has these steps:
#
# 1. Update jobs. A running job past its walltime keeps its resources: it is taken to end one second from now.
# 2. Update nodes. If a node holds more than it has, the cycle ends without a decision.
# 3. Check jobs. Jobs that do not fit on the nodes that are up are left out.
# 4. Selection. If all eligible jobs can start now, they do, without a model; if none can, the cycle ends. Else all of them
#    are planned, and the overhead control keeps those that the plan starts first
#    (``cp.control.adaptive_limit``); without a warm start, those submitted first, as in the thesis.
# 5. Model: all these jobs, each with one interval and a number of units per node (formulation ``counts``; ``units`` has an
#    interval per unit); objective ``sum (start - submit) / ewt``. All starts lie before the end of the horizon, ``min start +
#    sum of the durations`` of running and waiting jobs.
# 6. Solve it under the overhead control.
# 7. Commit the jobs that start now, as far as they fit into what is free.
#
# Jobs that the solution starts later although they could start now beside it start now, as under other CP dispatchers
# (``cp.objective``). Jobs outside the model come after those of the model, in the order of the plan.
#
# An event starts a cycle only if the state (waiting jobs, running jobs and their walltimes, states of the nodes,
# reservations) differs from the one that the last cycle left, or a waiting job was changed. After a cycle in which the
# solver found nothing while no job runs, the dispatcher asks for another one by itself, ``RETRY`` seconds later.
#
# The thesis has no warm start and names it as an improvement. Here the first solution is the plan, and it is used if the
# solver finds nothing: a cycle then makes one attempt, where the thesis repeats it with a longer limit. It is also used if
# the model is not ready at the end of the limit; then, too, the next model has half of the jobs. With ``warm_start=False``
# there are five attempts, and no job starts if none finds a solution, as in the thesis. After a halving, the number of
# jobs in the model grows by ``GROWTH`` with each solution; with all jobs at once, every second cycle of a busy day would
# find nothing.
#
# Accepted reservations of the machine have their fixed starts and nodes in the model; beside them all jobs take their
# walltimes. The simulator itself checks new reservations, starts the jobs of private queues and keeps those of stopped queues away
# from dispatchers.

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
        Whether it follows the desired profile of the replay (see ``cp.dispatcher.following_of``).
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
        self.backend = backend
        self.formulation = formulation
        self.seed = seed
        self.warm_start = warm_start
        self.objective = objective or "weighted-wait"
        find_objective(self.objective)
        attempts = 5
        if warm_start:
            attempts = 1
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
            if self.following is None or not rest.waiting:
                wake = None
            else:
                wake = self.following.wake(moment.now)
            return Decision(empty, seconds=clock.seconds, wake=wake)
        decision = self._cycle(rest, waiting, clock)
        self._left = _after(state, decision.starts, rest)
        if decision.ended == "nothing" and not (moment.running or empty):
            decision.wake = self._retry = moment.now + RETRY
        decision.starts = [*empty, *on_open_nodes(list(decision.starts), rest)]
        decision.seconds = clock.seconds
        if self.following is not None and rest.waiting:
            decision.wake = earlier(decision.wake, self.following.wake(moment.now))
        return decision

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
            restricted = moment.reserved or jobs.placing is not None
            if restricted and not beside.timeline.fits_now(now).any():
                return Decision(())
            allocation = beside.timeline.copy().place(now, np.arange(len(jobs.jobs)))
            if (allocation.start >= 0).all() and self.is_free(moment, jobs, beside.usage):
                nodes = [allocation.nodes(now, i, self._nodes) for i in range(len(jobs.jobs))]
                return Decision([start_of(j, on) for j, on in zip(jobs.jobs, nodes, strict=True)])
        return self._planned(moment, jobs, beside, clock)

    def _planned(self, moment: Moment, jobs: Waiting, beside: Surroundings, clock: PhaseClock) -> Decision:
        """Plan the jobs, solve the model of some of them, and start what can start now."""
        requests = requests_of(jobs, windows := self._windows(moment, jobs, beside), len(self._nodes))
        deadline = None
        if not self.control.deterministic:
            deadline = time.perf_counter() + self.control.total
        plan, keys = None, jobs.submit
        if self.warm_start:
            with clock.phase("warm_start"):
                problem = problem_of(moment, jobs, windows, beside.usage, self.objective)
                problem = with_profile(problem, self.following, self.until)
                plan = first_plan(problem, jobs, requests, beside.timeline, deadline)
                if plan is None:
                    keys = jobs.submit
                else:
                    keys = plan.allocation.start
        which = self.control.first(keys)
        model = ModelJobs(jobs.some(which), [windows[i] for i in which.tolist()])
        start = None
        if plan is not None:
            start = beside.completed(plan.schedule(jobs, requests, which, self._nodes))
        solved, decision = self._solve(moment, model, beside, start, deadline, clock)
        if solved is None:
            return decision
        if plan is None:  # the jobs outside the model wait
            jobs = model.jobs
            which = np.arange(which.size)
            behind = np.empty(0, np.int64)
            requests = requests_of(jobs, model.windows, len(self._nodes))
        else:
            behind = plan.allocation.start
        with clock.phase("allocate"):
            decision.starts = self._starts_of(solved, which, jobs, requests, beside.timeline, behind)
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
        warm = None
        if start is not None:
            warm = encoding.write(start)
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
        if self.is_soft:
            moved = begun
        else:
            moved = moved_to_now(timeline.copy(), requests, begun, starts)
        return [
            start_of(jobs.jobs[i], allocation.nodes(now, i, self._nodes))
            for allocation in ((begun,) if moved is begun else (begun, moved))
            for i in np.flatnonzero(allocation.start >= 0).tolist()
        ]


def _state(moment: Moment, waiting: Waiting) -> State:
    """Return what starts a cycle if it changes."""
    running = frozenset((r.job.id, r.job.walltime) for r in moment.running)
    reserved = tuple(r.name for r in moment.reserved)
    on = None
    if moment.ready is not None:
        on = (moment.ready <= moment.now).tobytes()
    return frozenset(j.id for j in waiting.jobs), running, moment.states, reserved, on


def _after(state: State, starts: Iterable[Start], moment: Moment) -> State:
    """Return the state after some starts of a moment."""
    names = {start.job for start in starts}
    started = {(j.id, j.walltime) for j in moment.waiting if j.id in names}
    waiting, running, *others = state
    return waiting.difference(names), running.union(started), *others  # type: ignore[return-value]


# --- The portfolio of [Bridi2018, 4.5.2, figure 4.13]: the CP model, or PBS backfilling under a heavy load.
#
# At each event the load is ``(job units submitted in the last 24 h) * nodes``. Up to the threshold of the thesis, 270,000,
# ``cpmodel`` decides, above it the policy ``pbs-walltime``. ``Decision.used`` names the one that did.

THRESHOLD = 270_000  # job units in 24 h * nodes
HEAVY = "pbs-walltime"


@with_short_repr
class Portfolio:
    """The dispatcher ``portfolio@BACKEND``.

    Parameters
    ----------
    backend : str
        Name of the solver's backend.
    threshold : float
        Largest load, job units submitted in 24 h * nodes, that goes to ``cpmodel``; at least 0.
    **options
        Other arguments of ``CPModel``.

    Raises
    ------
    WrongValue
        If the threshold is negative or no number.

    Examples
    --------
    >>> Portfolio("cpsat", threshold=100_000).name
    'portfolio@cpsat'
    """

    needs = frozenset({"always"})  # the reservations of the policy follow every event

    def __init__(self, backend: str = "cpsat", threshold: float = THRESHOLD, **options: Any) -> None:
        if isinstance(threshold, bool) or not threshold >= 0:
            raise WrongValue(f"portfolio: threshold is {threshold!r}; expected a number of at least 0")
        self.model = CPModel(backend, **options)
        self.threshold = threshold
        self.name = self.model.name.replace("cpmodel", "portfolio", 1)

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay."""
        self.model.begin(platform, queues, seed)
        self._seen: set[str] = set()  # ids of the jobs that have arrived
        self._recent: list[tuple[int, int]] = []  # heap of (submit time, units), of the last 24 h
        self._units = 0

    def load(self, moment: Moment) -> int:
        """Return the job units that were submitted in the last 24 h, times the number of nodes."""
        for job in moment.waiting:
            if job.id not in self._seen:
                self._seen.add(job.id)
                units = sum(part.units for part in job.parts)
                heapq.heappush(self._recent, (job.submit, units))
                self._units += units
        while self._recent and self._recent[0][0] <= moment.now - DAY:
            self._units -= heapq.heappop(self._recent)[1]
        return self._units * len(moment.platform.nodes)

    def decide(self, moment: Moment) -> Decision:
        """Return the jobs that start now, or the policy that starts them."""
        if self.load(moment) > self.threshold:
            return Decision((), policy=POLICIES[HEAVY], used=HEAVY)
        decision = self.model.decide(moment)
        decision.used = "cpmodel"
        return decision


# --- The phases of a scheduling cycle [Bridi2018, figure 4.3 and table 4.16] and their wall times.


PHASES = {
    "update_jobs": "update jobs",
    "update_nodes": "update nodes",
    "check_jobs": "check jobs",
    "selection": "selection",
    "warm_start": "warm start",
    "model": "model creation",
    "solve": "model execution",
    "allocate": "commit",
}
"""Key in ``Decision.seconds`` -> name of the phase, in the order of the cycle.

The thesis has no warm start. Its other phases (update queues, check reservations, reservation check, reservation models)
are the work of the simulator, for all dispatchers alike.
"""


class PhaseClock:
    """The seconds of the phases of one cycle.

    Attributes
    ----------
    seconds : dict of str to float
        Key of ``PHASES`` -> wall time.

    Examples
    --------
    >>> clock = PhaseClock()
    >>> with clock.phase("selection"):
    ...     pass
    >>> list(clock.seconds)
    ['selection']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, key: str) -> Iterator[None]:
        """Add the wall time of the block to a phase."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[key] = self.seconds.get(key, 0.0) + time.perf_counter() - began
