"""Rules: at each event the waiting jobs start in the order of a key if they fit [Bridi2018, 6.3].

1. Sort the jobs by the key of the rule (``RULES``); ties by submit time, then in the problem's order.
2. Go to the next event: the end of a job, the arrival of a job, or the opening of a start window.
3. Go through the waiting jobs in the order of step 1. Start each job whose units all fit now (best fit) and whose
   calendar is open. If a job does not fit, a strict rule ends the step; other rules skip the job.
4. Repeat from step 2 until nothing can happen any more.

A rule goes through time, event by event; a first solution goes through the jobs, one by one. The kernels are those of
trace replays (``kernels.events``). Here jobs take the durations that the problem gives (walltimes or runtimes), and the
running jobs occupy their nodes from the beginning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ..models import Dispatch, Job, NodeGroup, Platform, Profit, Queue, Schedule
from ..models.array_types import Floats, Ints
from ..models.dispatch.arrays import JobArrays, column, refuse_places
from ..models.dispatch.jobs import Window
from ..models.words import hint, how_many
from .errors import NotForThisProblem, NothingFound, UnknownOrder
from .kernels.events.machine import by_name, counted, named_parts, ranges_of, start_on, trace_of
from .kernels.events.rules import ALL, Rules, Standstill, replay_by_rule
from .kernels.events.state import NEXT, NOW, State, TraceArrays, new_state
from .search_parts import keeping_limits

KEYS = ("est", "wt", "profit")
RULES: tuple[str, ...] = tuple(key + strictness for key in KEYS for strictness in ("", "-strict"))
"""``est``: earliest possible start first; ``wt``: shortest duration first; ``profit``: most core-hours per energy.
Ties: by submit time, then in the problem's order. A job that does not fit is skipped. With ``-strict`` all later jobs
wait for
it, except when only its calendar (start windows) prevents the start."""
BATCH = 20_000  # events between two checks for the standstill


class LeftWaiting(NothingFound):
    """A rule starts a job too late or never.

    Parameters
    ----------
    rule
        The name of the rule.
    job
        The job; its id is the attribute ``job``.
    why
        What happened, as a part of the message.
    """

    def __init__(self, rule: str, job: Job, why: str) -> None:
        super().__init__(f"rule:{rule} {why}; rules ignore deadlines and the ends of start windows: try first-solution")
        self.job = job.id


@dataclass(frozen=True, eq=False)
class _Rows:
    """The running jobs, then the other jobs by priority; a ``kernels.events.machine.JobTable``."""

    jobs: Sequence[Job]
    running: int
    job_arrays: JobArrays
    queue: Ints
    walltime: Ints
    queues: Sequence[Queue]
    windows: Mapping[int, tuple[Window, ...]]

    def __len__(self) -> int:
        return len(self.jobs)


def schedule_by_rule(problem: Dispatch | Profit, rule: str = "est") -> Schedule:
    """Return the schedule of a rule, from the problem's ``now`` on, including its running jobs.

    At each event, jobs end first, then jobs arrive, then waiting jobs start. Best fit: units go to the nodes with the
    smallest sum over resources of free amount / capacity. Start windows and daily calendars are respected.

    Parameters
    ----------
    problem
        A dispatching or profit problem. Jobs take the problem's durations.
    rule
        One of ``RULES``.

    Returns
    -------
    Schedule
        Starts in seconds and nodes of all jobs.

    Raises
    ------
    LeftWaiting
        If the start windows of a job end while it waits, or a job ends after its deadline.
    LimitsBroken
        If the schedule breaks a limit on an objective.
    UnknownOrder
        If the rule is unknown.
    NotForThisProblem
        If the problem has a hard desired profile.

    References
    ----------
    [Bridi2018, 6.3].

    Examples
    --------
    >>> jobs = [Job("long", 0, 60, 1, {"cores": 4}, "q"), Job("short", 0, 5, 1, {"cores": 2}, "q")]
    >>> machine = Platform([NodeGroup("n", 1, {"cores": 4})])
    >>> schedule_by_rule(Dispatch(machine, jobs, [Queue("q", 60)]), "wt").start
    {'long': 5, 'short': 0}
    """
    if rule not in RULES:
        raise UnknownOrder(f"there is no rule {rule!r}; {hint(rule, RULES, 'known rules:')}")
    if isinstance(problem, Profit):
        jobs = problem.dispatch
    else:
        jobs = problem
    refuse_places(jobs, "a rule")
    if jobs.desired is not None and jobs.over_cost is None:
        raise NotForThisProblem(
            "a rule looks at the present only and cannot keep to a desired profile that will fall; use another heuristic, such "
            "as first-solution or multi-search, or give the profile a cost (over_cost). A replay checks it at each start: "
            "rule:est-profile"
        )
    rows = _rows(jobs, _in_order(problem, jobs, rule))
    by_count = rows.running == 0 and len(rows) > 0 and counted(rows, jobs.platform)
    trace = trace_of(rows, jobs.platform, rows.job_arrays.duration, by_count)
    state = _with_running(jobs, rows, trace)
    rank = np.arange(len(rows), dtype=np.float64)
    order = Rules(rank, np.zeros(len(rows)), False, rule.endswith("-strict"), 0, ALL, True)
    standstill = Standstill(trace, state)
    while replay_by_rule(trace, state, order, 0, BATCH) and not standstill.reached():
        pass
    _check(jobs, rows, state, rule)
    ranges = ranges_of(trace, state, by_count)
    names = jobs.platform.nodes
    nodes = dict(zip((j.id for j in rows.jobs), by_name(ranges, names), strict=True))
    start = dict(zip(nodes, state.start.tolist(), strict=True))
    several = [(k, j.id, [c.units for c in j.chunks]) for k, j in enumerate(rows.jobs) if j.chunks]
    nodes.update(named_parts(ranges, several, names))
    schedule = Schedule({j.id: start[j.id] for j in jobs.jobs}, {p.id: nodes[p.id] for j in jobs.jobs for p in j.parts})
    return keeping_limits(jobs, schedule)


def most_profit_first(cores: Ints, duration: Ints, power: Floats) -> Floats:
    """Return a key per job: -(core-hours / energy), or -core-hours if no power is known [Bridi2018, 6.3].

    All core-hours earn the same and all kWh cost the same, so prices do not change the order. If some powers are
    unknown, these jobs get the median power per core of the others.

    Parameters
    ----------
    cores
        Cores of all units of each job, shape (jobs,).
    duration
        Seconds, shape (jobs,).
    power
        Watts of all units of each job, shape (jobs,); NaN: unknown.

    Returns
    -------
    numpy.ndarray
        The keys, shape (jobs,).

    Examples
    --------
    >>> most_profit_first(np.array([4, 4]), np.array([60, 60]), np.array([40.0, 20.0])).argsort().tolist()
    [1, 0]
    """
    earned = (cores * duration).astype(np.float64)
    known = (power > 0) & (cores > 0)
    if not known.any():
        return -earned
    median = float(np.median(power[known] / cores[known]))
    keys: Floats = -earned / (np.where(known, power, median * np.maximum(1, cores)) * np.maximum(1, duration))
    return keys


@cache
def warm_up() -> None:
    """Compile the kernels, or load them from numba's cache."""
    machine = Platform([NodeGroup("n", 2, {"cores": 2})])
    for cores in (1, 2):  # 1: a replay with single nodes; 2: a replay that counts free nodes
        jobs = [Job(name, 0, 10, 1, {"cores": cores}, "q") for name in "abc"]
        schedule_by_rule(Dispatch(machine, jobs, [Queue("q", 1)]))


def _in_order(problem: Dispatch | Profit, dispatch: Dispatch, rule: str) -> Ints:
    """Return the jobs by the rule's key, ties by submit time: the kernels read the queue in the order of the rows."""
    jobs = dispatch.job_arrays
    resources = dispatch.platform.resources
    key: Ints | Floats = np.maximum(1, jobs.duration)
    if rule.startswith("est"):
        key = jobs.release
    elif rule.startswith("profit"):
        resource = next((k for k, r in enumerate(resources) if r == "cores"), 0)
        if resources:
            cores = jobs.amounts[:, resource]
        else:
            cores = np.zeros(len(jobs), np.int64)
        key = most_profit_first(cores, np.maximum(1, jobs.duration), _power(problem))
    return np.lexsort((jobs.submit, key))


def _power(problem: Dispatch | Profit) -> Floats:
    """Return the watts of all units of each job; NaN: unknown."""
    if isinstance(problem, Profit):
        return problem.watts
    return np.array([np.nan if j.power is None else j.power for j in problem.jobs], np.float64)


def _rows(problem: Dispatch, order: Ints) -> _Rows:
    running = [r for r in problem.running if r.end > problem.now]
    before = len(running)
    listed = [problem.jobs[k] for k in order.tolist()]
    held = JobArrays.of([r.job for r in running], problem.platform.resources)
    held = replace(
        held,
        release=np.full(before, problem.now - 1),
        duration=column((r.end - problem.now for r in running), before),
        units=column((sum(r.nodes.values()) for r in running), before),
    )
    queues = {q.name: k for k, q in enumerate(problem.queues)}
    queue = column((queues[j.queue] for j in listed), len(listed))
    return _Rows(
        jobs=[*(r.job for r in running), *listed],
        running=before,
        job_arrays=held.joined(problem.job_arrays.some(order)),
        queue=np.concatenate([np.full(before, len(queues)), queue]),
        walltime=column((j.walltime for j in [*(r.job for r in running), *listed]), before + len(listed)),
        queues=[*problem.queues, Queue("of running jobs", 1)],
        windows={k: j.windows for k, j in enumerate(listed, before) if j.windows},
    )


def _with_running(problem: Dispatch, rows: _Rows, trace: TraceArrays) -> State:
    """Return the state at ``now`` with the running jobs on their nodes."""
    state = new_state(trace, np.maximum(1, rows.job_arrays.duration))
    state.clock[NOW], state.clock[NEXT] = problem.now, rows.running
    number = {name: n for n, name in enumerate(problem.platform.nodes)}
    for k, r in enumerate(r for r in problem.running if r.end > problem.now):
        held = [(number[name], units) for name, units in r.nodes.items() if units > 0]
        start_on(trace, state, k, held, problem.now)
    return state


def _check(problem: Dispatch, rows: _Rows, state: State, rule: str) -> None:
    """Raise LeftWaiting for the first job without a start, else for the first job that ends after its deadline."""
    for job, start in zip(rows.jobs[rows.running :], state.start[rows.running :].tolist(), strict=True):
        if start < 0:
            windows = problem.start_windows(job)
            where = "no time is left for its start"
            if windows:
                where = f"its start windows end at {windows[-1][1]}"
            raise LeftWaiting(
                rule,
                job,
                f"never starts job {job.id!r} ({how_many(job.units, 'unit')} of {dict(job.request)}): {where}",
            )
    for job, start in zip(rows.jobs[rows.running :], state.start[rows.running :].tolist(), strict=True):
        end = start + problem.duration(job)
        if job.deadline is not None and end > job.deadline:
            raise LeftWaiting(rule, job, f"ends job {job.id!r} at {end}, after its deadline {job.deadline}")
