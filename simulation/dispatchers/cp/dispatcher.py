"""The CP dispatchers PCP and HCP, versions 0 to 3, on any backend [Galleguillos2019, 2.2, 3 and 4].

- PCP decides starts and nodes in one model (formulation ``counts`` or ``units``). With its usual formulation and objective
  it first solves the model of the pooled machine, and places the jobs on nodes in the order of its starts; the model of
  the nodes follows if it is small for the limit and the relaxation leaves a gap (``Solver.solve_relaxed_first``).
- HCP decides starts on the pooled resources of the machine (formulation ``pool``). It then allocates the jobs that
  start now in order of priority, best-fit.
- Version 0 has all waiting jobs in the model (the models of the thesis [Bridi2018, tables 3.4 and 3.5] the
  first of a plan). Its objective is weighted tardiness (PCP) or the wait weighted by queue (HCP).
- Version 1 leaves out jobs that cannot start now, keeps the first ``m`` jobs by priority, and stops when the solver
  proves that there is no solution.
- Version 2 takes a job that runs longer than expected to end at now + 1 s.
- Version 3 uses the slowdown as objective and as priority.

Any other objective of dispatching problems can be given (see ``objective``). The priority, by which jobs are chosen for
the model, stays that of the version; the warm start is then that of multi-search.

Versions 2 and 3 can follow a desired profile: the profile of the moment is a limit (hard), or more use has a cost (soft).

The search of the paper schedules or postpones jobs in order of priority. Here its first solution is the warm start, and
the solver improves it within its limit.

The published programs have faults that this code does not repeat:

- They compute the priority of a job once, when it is first seen. Here it is computed at every decision.
- They take the largest expected waiting time with a wrong key. Here it is the maximum over all queues.
- They restart the solver without the best solution. Here each step starts from the best solution so far.
- Their test for infeasibility is never true. Here the proof of the solver is used.
- A job that needs the whole machine may wait forever. Here ``max_stretch`` prevents this.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ....errors import WrongArgument, WrongValue
from ....models import DesiredProfile, Dispatch, Platform, Queue, Schedule
from ....models.arguments import is_real, is_whole, shown
from ....models.array_types import Ints
from ....models.desired_profile import ALWAYS, Steps
from ....models.dispatch.arrays import NodeArrays
from ....models.dispatch.composite import SLACK, checked_slack
from ....models.dispatch.desired import Shape, shape_of
from ....models.dispatch.formulations import Blocks, Levels
from ....models.dispatch.jobs import Window
from ....models.dispatch.objectives import find_objective
from ....models.long_calls import uncollected
from ....models.words import excerpt, with_short_repr
from ...dispatcher import Decision, Moment, Start
from ...errors import NO_ROOM
from .control import FIRST_SHARE, RELAXATION, USED, AdaptiveControl, Control, FewJobs, Placed, Solver, limit_of, warm_up
from .model import (
    FOLLOWED,
    STRETCH,
    Family,
    Guard,
    Held,
    RunningUsage,
    Usage,
    by_walltime,
    moved_to_now,
    of_version,
    ordered,
    pooled_start,
    problem_of,
    running_usage,
    usual_objective,
    windows_of_model,
    without_horizon,
)
from .placing import (
    Allocation,
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

# --- The names of CP dispatchers that follow a desired profile: ``hcp3-profile``, or with a cost ``hcp3-profile:0.5``.

PROFILE = "-profile"
FOLLOWING = tuple(f"{name}{PROFILE}" for name in ("pcp2", "pcp3", "hcp2", "hcp3", "cpmodel"))
"""The names without a cost."""


def split_cost(name: str) -> tuple[str, float | None]:
    """Return the name and the cost of an amount-hour above the profile; None: no cost.

    Raises
    ------
    ValueError
        If the cost is no number of at least 0.

    Examples
    --------
    >>> split_cost("hcp3-profile:0.5"), split_cost("hcp3-profile"), split_cost("easy:lst")
    (('hcp3-profile', 0.5), ('hcp3-profile', None), ('easy:lst', None))
    """
    base, colon, text = name.partition(":")
    if not colon or base not in FOLLOWING:
        return name, None
    cost = float(text)
    if not 0 <= cost < math.inf:
        raise WrongValue(text)
    return base, cost


FOREVER = -ALWAYS  # after all times of a workload


class Following:
    """The desired profile of a dispatcher in one replay.

    Parameters
    ----------
    profile : DesiredProfile
        The profile.
    over_cost : float, optional
        The cost of an amount-hour above the profile; None: the profile is a limit.
    """

    def __init__(self, profile: DesiredProfile, over_cost: float | None) -> None:
        self.profile, self.over_cost = profile, over_cost
        self.hard = over_cost is None
        self.nodes = NodeArrays(profile.platform)
        self._known: dict[tuple[Shape, int, int], bool] = {}
        self._next = ALWAYS

    def until(self, now: int, jobs: Waiting) -> int:
        """Return the time in seconds up to which starts now keep to a hard profile."""
        return now + max(FOLLOWED, int(jobs.walltime.max(initial=0)))

    def cut(self, jobs: Waiting, now: int) -> Waiting:
        """Return the jobs; those that fit at no time within a hard profile are shorter."""
        if not self.hard or not self.profile.steps:
            return jobs
        duration = jobs.duration.copy()
        walltime = jobs.walltime.copy()
        for k, job in enumerate(jobs.jobs):
            shape = shape_of(job, self.profile.platform.resources)
            for lengths in (duration, walltime):
                if not self._fits(shape, int(lengths[k]), now):
                    lengths[k] = self._length(shape, now) or lengths[k]
        return replace(jobs, duration=duration, walltime=walltime)

    def _fits(self, shape: Shape, duration: int, now: int) -> bool:
        begin = 0
        if self.profile.period is None:
            begin = now
        key = (shape, duration, begin)
        if key not in self._known:
            self._known[key] = self.profile.empty_machine.first_start(shape, duration, begin) is not None
        return self._known[key]

    def _length(self, shape: Shape, now: int) -> int | None:
        empty = self.profile.empty_machine
        return empty.room(shape, now) or empty.longest(shape)

    def blocks(self, now: int, usage: Usage, until: int) -> Blocks | None:
        """Return what a hard profile takes from the nodes beside what is in use; None if it takes nothing."""
        if not self.hard or not self.profile.steps:
            return None
        return Levels.beside(self.profile, self.nodes, usage, now, until).blocks

    def held(self, now: int, usage: Usage) -> Ints:
        """Return what a hard profile keeps from starts now beside what is in use, shape (nodes, resources)."""
        held = np.zeros_like(self.nodes.capacity)
        blocks = self.blocks(now, usage, now + 1)
        if blocks is not None:
            here = (blocks.begin <= now) & (now < blocks.end)
            np.add.at(held, blocks.node[here], blocks.amount[here])
        return held

    def terms(self, now: int, until: int) -> Mapping[str, Any]:
        """Return the profile and its cost as arguments of ``Dispatch``, as seen from now on."""
        if self.hard:
            limits = _clipped(self.profile, now, until, least=False)
            return {"desired": replace(limits, power=None)}  # which the simulator limits
        return {"desired": _clipped(self.profile, now, now + FOLLOWED, least=True), "over_cost": self.over_cost}

    def changed(self, now: int) -> bool:
        """Return whether the profile has changed since the last call."""
        changed = now >= self._next
        later = self.profile.next_change(now)
        if later is None:
            self._next = FOREVER
        else:
            self._next = later
        return changed

    def wake(self, now: int) -> int | None:
        """Return when a dispatcher with a soft profile asks to be called; the simulator itself follows a hard one."""
        if self.hard:
            return None
        return self.profile.next_change(now)


def _clipped(profile: DesiredProfile, now: int, until: int, least: bool) -> DesiredProfile:
    """Return the profile without a period, with a step at ``now``; from ``until`` on without wishes, or the least amounts."""
    capacity = {g.name: g.capacity for g in profile.platform.groups}
    made = {
        (group, resource): _steps(steps, now, until, capacity[group][resource], least)
        for (group, resource), steps in profile.steps.items()
    }
    power = None
    if profile.power is not None:
        power = _steps(profile.power, now, until, math.inf, least)
    return DesiredProfile(profile.platform, made, power)


def _steps(steps: Steps, now: int, until: int, capacity: float, least: bool) -> Steps:
    pieces = list(steps.pieces(now, until))
    if steps.period is not None:
        later = steps.amounts
    else:
        later = [steps.at(until)]
    amounts = [capacity, *(amount for _, _, amount in pieces), min(later) if least else capacity]
    return Steps([ALWAYS, *(a for a, _, _ in pieces), until], amounts)


def with_profile(problem: Dispatch, following: Following | None, until: int) -> Dispatch:
    """Return the problem of a moment with the profile; ``until``: how long a hard one is followed, in seconds."""
    if following is None:
        return problem
    return problem.replace(**following.terms(problem.now, until))


class ProfileFollower:
    """What all CP dispatchers share that can follow a desired profile.

    Attributes
    ----------
    desired : DesiredProfile or None
        The profile of the replay, which the simulator sets.
    within_profile : bool
        Whether it is a limit.
    following : Following or None
        The profile in the replay that has begun; None: the dispatcher follows none.
    until : int
        The time in seconds up to which a hard profile is followed at the current moment; 0 without one.
    """

    desired: DesiredProfile | None
    following: Following | None
    until: int

    def follows(self, profile: bool, over_cost: float | None, can: bool) -> None:
        """Set whether the dispatcher follows a profile, and the cost of an amount-hour above it.

        Raises
        ------
        WrongValue
            If the cost is negative or given without ``profile``, or the dispatcher ``can`` follow none.
        """
        if over_cost is not None and not profile:
            raise WrongValue(
                f"over_cost is {shown(over_cost)}, but the dispatcher follows no profile; expected profile=True"
            )
        if over_cost is not None and (not is_real(over_cost) or not 0 <= over_cost < np.inf):
            raise WrongValue(f"over_cost is {shown(over_cost)}; expected the cost of an amount-hour, at least 0")
        if profile and not can:
            raise WrongValue(f"versions 0 and 1 follow no desired profile: {NO_ROOM}; versions 2 and 3 do")
        self.follows_profile, self.over_cost = profile, over_cost
        self.within_profile = profile and over_cost is None
        self.following, self.until = None, 0
        self.needs = frozenset[str]()
        if profile:
            self.desired = None  # up to the replay, which sets it
            self.needs = frozenset({"profile", "given-profile"})
        if self.within_profile:
            self.needs |= {"profile-limits"}

    @property
    def suffix(self) -> str:
        """The part of the name that tells about the profile."""
        if not self.follows_profile:
            return ""
        if self.over_cost is None:
            return PROFILE
        return f"{PROFILE}:{self.over_cost:.15g}"

    @property
    def is_soft(self) -> bool:
        """Whether it follows a profile with a cost."""
        return self.follows_profile and not self.within_profile

    def prepared(self, jobs: Waiting, now: int) -> Waiting:
        """Return the waiting jobs of a moment as the profile lets them be planned."""
        if self.following is None:
            return jobs
        if self.following.hard:
            self.until = self.following.until(now, jobs)
        else:
            self.until = 0
        return self.following.cut(jobs, now)

    def is_free(self, moment: Moment, jobs: Waiting, usage: Usage) -> bool:
        """Return whether all these jobs can start now without a cost: always, if the profile has none."""
        if self.following is None or self.following.hard:
            return True
        anytime = [((moment.now, FOREVER),)] * len(jobs.jobs)
        over = with_profile(problem_of(moment, jobs, anytime, usage, "waiting"), self.following, self.until).over
        now = np.full(len(jobs.jobs), moment.now)
        return over is None or over.value(now, now + jobs.duration) <= over.value(now, now)

    def held_by_profile(self, now: int, usage: Usage) -> Ints:
        """Return what the profile keeps from starts now beside what is in use, shape (nodes, resources); 0 if nothing."""
        if self.following is None:
            return np.zeros(1, np.int64)
        return self.following.held(now, usage)

    def timeline(self, capacity: Ints, now: int, usage: Usage) -> NodeTimeline:
        """Return the free capacity over time beside what is in use, within a hard profile."""
        blocks = None
        if self.following is not None:
            blocks = self.following.blocks(now, usage, self.until)
        return NodeTimeline(capacity, now, usage, blocks)


def following_of(dispatcher: Any) -> Following | None:
    """Return the profile that a dispatcher follows in the replay that begins.

    Raises
    ------
    WrongValue
        If it follows one and there is none.
    """
    if not dispatcher.follows_profile:
        return None
    if dispatcher.desired is None:
        raise WrongValue(
            f"dispatcher {dispatcher.name} follows a desired profile; give one (desired=..., --desired FILE)"
        )
    return Following(dispatcher.desired, dispatcher.over_cost)


def earlier(one: int | None, other: int | None) -> int | None:
    """Return the earlier one of two times; None: no time."""
    return min((t for t in (one, other) if t is not None), default=None)


FORMULATIONS = {"pcp": "counts", "hcp": "pool"}


@with_short_repr
class CPDispatcher(ProfileFollower):
    """A dispatcher that solves a CP model at each decision.

    Parameters
    ----------
    family : {"hcp", "pcp"}
        HCP decides the starts on the pooled machine, then the nodes; PCP decides starts and nodes in one model. Default:
        HCP, whose models are smaller.
    version : int
        0 to 3, see the module docstring.
    backend : str
        Name of the solver's backend.
    formulation : str, optional
        Formulation of the dispatch problem. Default: ``"counts"`` for PCP, ``"pool"`` for HCP.
    m : int
        Largest number of jobs in a model.
    first_limit : float, optional
        Limit of the first step of the solver (see ``control.steps.Control``), in seconds or, with ``deterministic``,
        in the solver's own unit. Default: a 64th of the limit; with ``over_cost`` the whole limit.
    limit : float, optional
        Limit of one decision in seconds, above 0; the time for the model counts. Default: 16 s without
        ``deterministic``.
    k : int, optional
        Number of successive steps without improvement that end a decision. Default: 1.
    max_stretch : float or None
        A job whose slowdown would be above this value, and a job that has waited longer than its fair wait, goes before
        all others and, if it cannot start, holds a reservation (see ``urgency``). None: off. Default: 50 in version 3,
        None in the other versions.
    deterministic : float, optional
        Limit of one decision in the solver's own reproducible unit, above 0, instead of ``limit`` (CP-SAT: about one
        second of one core; HiGHS: nodes of the search tree; CP Optimizer: branches). Equal replays then give equal
        results, on every machine.
    threads : int
        Threads of the solver.
    seed : int
        Seed of the solver; ``begin`` replaces it by the seed of the replay.
    objective : str, optional
        Name of an objective of ``Dispatch``: one of ``sl.models.dispatch.objectives.objective_names()``. Default: that of
        the version.
    keep : mapping of str to float, optional
        The slack of objectives that are kept within it of their own optimum, at each decision (``sl.composite``); empty:
        none. If it is given, decisions start from multi-search, whatever the objective.
    adaptive : bool
        Whether the limit of a decision adapts to the solver, and the number of jobs in the model with it (see
        ``control.adaptive_limit``). ``limit`` or ``deterministic`` is then the limit of the fifth attempt.
    profile : bool
        Whether it follows the desired profile of the replay (see ``Following``); versions 2 and 3 can.
    over_cost : float, optional
        The cost of an amount-hour above the profile in the objective; None: the profile is a limit.
    planned : int, optional
        Largest number of jobs in a model if another objective is given: the jobs that multi-search starts first (see
        ``objective``). Default: no such limit.
    parameters : mapping, optional
        Parameters of the solver by its own names, such as ``{"cp_model_presolve": False}``. Default: those of
        ``control.steps.QUICK_SEARCH``.

    Raises
    ------
    ValueError
        If ``limit`` or ``deterministic`` is not a number above 0, ``over_cost`` is negative or without ``profile``, or the
        version cannot follow a profile.
    TypeError
        If both are given, or ``adaptive`` with ``first_limit``, ``k`` or ``keep``.
    ProblemError
        If an objective is unknown, a slack is below 1, or the objective itself is kept.

    Examples
    --------
    >>> CPDispatcher(limit=0.2).name
    'hcp3@cpsat'
    >>> CPDispatcher("pcp", 3, objective="makespan", deterministic=0.1).name
    'pcp3@cpsat:makespan'
    """

    def __init__(
        self,
        family: Family = "hcp",
        version: int = 3,
        backend: str = "cpsat",
        formulation: str | None = None,
        m: int = 100,
        first_limit: float | None = None,
        limit: float | None = None,
        k: int | None = None,
        max_stretch: float | Literal["default"] | None = "default",
        deterministic: float | None = None,
        threads: int = 1,
        seed: int = 0,
        objective: str | None = None,
        keep: Mapping[str, float] | None = None,
        adaptive: bool = False,
        profile: bool = False,
        over_cost: float | None = None,
        planned: int | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        if family not in FORMULATIONS:
            raise WrongValue(f"CPDispatcher: family is {excerpt(family)}; expected one of {', '.join(FORMULATIONS)}")
        if not is_whole(version) or not 0 <= version <= 3:
            raise WrongValue(f"CPDispatcher: version is {excerpt(version)}; expected a whole number from 0 to 3")
        length = limit_of(limit, deterministic)
        self.family = family
        self.version = version
        self.backend = backend
        self.m = m
        self.seed = seed
        self.follows(profile, over_cost, version >= 2)
        self.name = f"{family}{version or ''}{self.suffix}@{backend}{f':{objective}' if objective else ''}"
        self.formulation = formulation or FORMULATIONS[family]
        if max_stretch == "default":
            max_stretch = None
            if version >= 3:
                max_stretch = STRETCH
        self.max_stretch = max_stretch
        # each step of a model with a cost of a profile takes long
        if over_cost is None:
            share = FIRST_SHARE
        else:
            share = 1
        made = {}
        if parameters is not None:
            made = {"parameters": parameters}
        steps = Control.of(backend, length, deterministic is not None, first_limit, share, k, threads, **made)
        self.control = AdaptiveControl(length, steps.deterministic, threads) if adaptive else steps
        if adaptive and (first_limit is not None or k is not None or keep or parameters):
            raise WrongArgument("first_limit, k, keep and parameters are for searches in steps, not for adaptive=True")
        self.naive = version <= 1
        usual = usual_objective(family, version)
        if objective is None:
            self.objective = usual
        else:
            self.objective = objective
        find_objective(self.objective)
        if keep:
            self.slack = checked_slack(self.objective, keep)
        else:
            self.slack = {}
        self.other_objective = self.objective != usual or keep is not None
        self.planned = planned
        if planned is not None and not (planned > 0 and self.other_objective):
            raise WrongArgument(
                f"planned is {planned!r}; it is a number above 0, for another objective than the usual one"
            )
        self.solver = Solver(backend, self.formulation, self.control, self.other_objective or over_cost is not None)
        # the start of a model with nodes: see ``Solver.solve_relaxed_first``
        self.relaxes = family == "pcp" and formulation is None and not (adaptive or self.other_objective or profile)
        self.starts_pooled = (self.relaxes or self.formulation == RELAXATION) and not (self.other_objective or profile)

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay; raise UnknownName or ValueError for a wrong parameter."""
        self.seed = seed
        if isinstance(self.control, Control):
            self.control.check(self.backend)
        self.control.reset()
        warm_up(self.backend, self.formulation)
        self._register = Register(platform, queues)
        self._capacity, self._nodes = self._register.nodes.capacity, platform.nodes
        self.following = following_of(self)
        total, stretch = self._register.nodes.total, self.max_stretch
        if stretch is None:
            self._guard = None
        else:
            self._guard = Guard(stretch, platform.resources, total)

    def decide(self, moment: Moment) -> Decision:
        """Return the jobs that start now."""
        empty, rest = start_empty(moment)
        with uncollected():
            decision = self._decide(rest)
        decision.starts = [*empty, *on_open_nodes(list(decision.starts), rest)]
        if self.following is not None and rest.waiting:
            decision.wake = self.following.wake(moment.now)
        return decision

    def _decide(self, moment: Moment) -> Decision:
        began = time.perf_counter()
        waiting = self.prepared(self._register.allowed(moment), moment.now)
        if self._guard is not None:
            self._guard.observe(moment, waiting)
        if not (startable := can_start_now(moment.free, waiting)).any():
            return Decision(())
        runs = running_usage(moment, self.naive, self.held_by_profile)
        timeline, held = self._timeline(moment, waiting, runs)
        startable &= held.rest
        if held.allocations or moment.reserved or waiting.placing is not None:
            strict = bool(held.allocations or moment.reserved)
            startable = self._startable_beside(moment.now, waiting, startable, timeline, strict)
        if not startable.any():
            return Decision(held.starts(self._nodes), urgent=held.urgent)
        chosen = self._selected(moment.now, waiting, startable, held.rest)
        return self._decide_chosen(moment, chosen, runs, timeline, held, began)

    def _timeline(self, moment: Moment, waiting: Waiting, runs: RunningUsage) -> tuple[NodeTimeline, Held]:
        """Return the free capacity over time, and the urgent jobs.

        With urgent jobs or reservations of the machine, running jobs end at their walltimes and both are subtracted;
        else running jobs end at their expected ends. Models have the reservations of the next days.
        """
        none = waiting.some(np.array([], np.int64))
        held = Held(none, [], np.ones(len(waiting.jobs), np.bool_), moment.now)
        if self._guard is not None or moment.reserved:
            timeline = self.timeline(self._capacity, moment.now, runs.by_walltime)
            fixed = fixed_jobs(moment, self._register.nodes)
            fixed.hold_on(timeline)
            if self._guard is not None:
                held = self._guard.hold(moment, waiting, timeline)
            if held.allocations or moment.reserved:
                return timeline, held.beside(fixed.before(moment.now + FOLLOWED)) if moment.reserved else held
        return self.timeline(self._capacity, moment.now, runs.expected), held

    def _selected(self, now: int, waiting: Waiting, startable: NDArray[np.bool_], rest: NDArray[np.bool_]) -> Waiting:
        """Return the jobs of the model by priority: all in version 0, else the first ``m`` that can start now."""
        jobs = waiting.some(rest if self.version == 0 else startable)
        order = ordered(of_version(self.version, now, jobs), jobs)
        return jobs.some(order if self.version == 0 else order[: self.m])

    def _requests_now(self, jobs: Waiting, now: int, held: bool) -> Requests:
        """Return the jobs with a start now as the only window; if ``held``, each lasts its walltime."""
        return requests_of(by_walltime(jobs) if held else jobs, [((now, now),)] * len(jobs.jobs), len(self._nodes))

    def _startable_beside(
        self, now: int, waiting: Waiting, startable: NDArray[np.bool_], timeline: NodeTimeline, strict: bool
    ) -> NDArray[np.bool_]:
        """Return the mask of the jobs that can start now, each alone, beside the reservations (``strict``)."""
        index = np.flatnonzero(startable)
        allowed = np.zeros_like(startable)
        allowed[index] = timeline.fits_now(self._requests_now(waiting.some(index), now, strict)) > 0
        return allowed

    def _decide_chosen(
        self, moment: Moment, chosen: Waiting, runs: RunningUsage, timeline: NodeTimeline, held: Held, began: float
    ) -> Decision:
        """Decide about the chosen jobs; if all of them can start now, without the solver."""
        first = held.starts(self._nodes)
        urgent = held.urgent
        strict = bool(held.allocations or moment.reserved)
        restricted = chosen.placing is not None
        requests = self._requests_now(chosen, moment.now, strict)
        allocation = timeline.copy().place(requests, np.arange(len(chosen.jobs)))
        if (allocation.start >= 0).all() and self.is_free(moment, chosen, runs.expected):
            return Decision([*first, *self._starts(chosen, requests, allocation)], urgent=urgent)
        chosen = self.control.kept(chosen)
        requests = self._requests_now(chosen, moment.now, strict)
        fixed = 0
        if self.version == 0:
            fixed = max(0, len(chosen) - self.m)
        modelling = time.perf_counter()
        windows = windows_of_model(moment, chosen, runs.expected, max(held.end(), self.until), self.naive, fixed)
        if windows is None:
            return Decision(first, "infeasible", urgent=urgent)
        problem, placed = self._problem(moment, chosen, windows, runs, held)
        start = cache(partial(placed, np.arange(len(chosen))))
        pooled = None
        if self.starts_pooled and not restricted:  # the pooled machine knows no sets of nodes
            pooled = partial(pooled_start, self._capacity, moment.now, problem.returns, held, chosen, windows)
        built = time.perf_counter() - modelling
        deadline = began + USED * self.control.total
        few = FewJobs(self.planned, len(chosen))
        relaxed = None
        if self.relaxes:
            relaxed = placed
        answer, number = self.solver.solve_few(problem, self.slack, start, self.seed, deadline, few, relaxed, pooled)
        allocating = time.perf_counter()
        seconds = {"start": answer.starting, "model": built + answer.modelling, "solve": answer.solving}
        asked = requested(chosen.joined(held.jobs), moment.platform.resources)
        size: dict[str, Any] = {"jobs": number, "urgent": urgent, "requested": asked}
        if answer.schedule is None:
            return Decision(first, answer.ended, None, seconds, **size)
        idle = not (moment.running or first)
        starts = self._read(answer.schedule, answer.relaxation, chosen, requests, windows, timeline, strict, idle)
        seconds["allocate"] = time.perf_counter() - allocating
        return Decision([*first, *starts], answer.ended, answer.gain, seconds, **size)

    def _problem(
        self, moment: Moment, chosen: Waiting, windows: list[tuple[Window, ...]], runs: RunningUsage, held: Held
    ) -> tuple[Dispatch, Placed]:
        """Return the problem of the chosen and the urgent jobs, and the function that places the chosen ones."""
        jobs = chosen.joined(held.jobs)
        if self.naive or self.following is not None:
            own = windows
        else:
            own = without_horizon(windows, moment.now)
        problem = problem_of(moment, jobs, [*own, *held.windows], runs.modelled, self.objective)
        names = [j.id for j in jobs.jobs]
        fixed = [w[0][0] for w in held.windows]

        requests = cache(partial(requests_of, chosen, windows, len(self._nodes)))
        timeline = cache(lambda: held.reserve_on(self.timeline(self._capacity, moment.now, runs.modelled)))

        def placed(order: Ints) -> Schedule | None:
            allocation = timeline().copy().place(requests(), order)
            if not (allocation.start >= 0).all():
                return None
            nodes = nodes_of_parts(allocation, requests(), dict(enumerate(chosen.jobs)), self._nodes)
            starts = dict(zip(names, [*allocation.start.tolist(), *fixed], strict=True))
            return Schedule(starts, nodes | held.nodes(self._nodes))

        return with_profile(problem, self.following, self.until), placed

    def _read(
        self,
        schedule: Schedule,
        relaxation: bool,
        chosen: Waiting,
        requests: Requests,
        windows: list[tuple[Window, ...]],
        timeline: NodeTimeline,
        strict: bool,
        idle: bool,
    ) -> list[Start]:
        """Return the chosen jobs that start now in the solution, with their nodes.

        The nodes are those of the solution if the model is exact. For a relaxation, a naive model, or beside urgent jobs
        or reservations (``strict``), they are allocated by priority, and jobs that do not fit stay in the queue. Where no job
        starts and the machine is ``idle``, jobs move to now: a later schedule may be as good, but nothing would happen before.
        """
        starts = np.array([schedule.start[j.id] for j in chosen.jobs], np.int64)
        here = np.flatnonzero(starts == timeline.now)
        if relaxation or self.naive or strict:
            begun = timeline.copy().place(requests, here)
        else:
            nodes = {i: nodes_in(schedule, chosen.jobs[i]) for i in here.tolist()}
            begun = requests.on_nodes(nodes, timeline.now, self._nodes)
        started = self._starts(chosen, requests, begun)
        moves = self.other_objective or chosen.placing is not None or (idle and not started)
        if moves and not self.is_soft:
            later = requests_of(by_walltime(chosen) if strict else chosen, windows, len(self._nodes))
            started += self._starts(chosen, later, moved_to_now(timeline.copy(), later, begun, starts))
        return started

    def _starts(self, jobs: Waiting, requests: Requests, allocation: Allocation) -> list[Start]:
        started = np.flatnonzero(allocation.start >= 0).tolist()
        return [start_of(jobs.jobs[i], allocation.nodes(requests, i, self._nodes)) for i in started]


# --- The six models of [Bridi2018, tables 3.4 and 3.5] as names of dispatchers: the objective, then what is kept.

FUNCTIONS = {"mks": "makespan", "wt": "weighted-tardiness", "nl": "late-jobs"}
MODELS = {
    name: tuple(FUNCTIONS[part] for part in name.split("+"))
    for name in ("mks", "wt", "nl", "mks+wt+nl", "nl+mks+wt", "wt+mks+nl")
}
"""For each dispatcher its objective, and the objectives that are kept within a slack of their own optimum."""


ALL_JOBS = 1_000_000  # more than ever wait
PLANNED = 40  # jobs in a model of the thesis
SOFT = 30  # jobs in a model with a cost of the desired use, which grows with jobs times steps of the use
QUICK = {"cpsat": {"cp_model_presolve": False, "linearization_level": 0, "symmetry_level": 0}}
"""Backend -> parameters with which it begins to search at once: the presolve of a node model takes 0.01 of CP-SAT's units."""


NO_PRESOLVE = {"cpsat": {"cp_model_presolve": False}}


def make(name: str, backend: str | None = None, **options: Any) -> CPDispatcher:
    """Return a CP dispatcher by its name.

    Parameters
    ----------
    name : str
        ``"pcp"``, ``"hcp"``, or one of them with the version: ``"pcp1"`` to ``"hcp3"``, and with ``-profile``; or one of the six models of the
        thesis, see the module.
    backend : str, optional
        Name of the solver's backend, by default ``"cpsat"``.
    **options
        Other arguments of ``CPDispatcher``. Composite models of the thesis take ``slack``, by default 1.1, for both kept
        objectives.

    Returns
    -------
    CPDispatcher
        A new dispatcher.

    Raises
    ------
    TypeError
        If a model of the thesis gets another objective.

    Examples
    --------
    >>> make("pcp1", "highs").name
    'pcp1@highs'
    >>> make("mks+wt+nl", "cpo").slack
    {'weighted-tardiness': 1.1, 'late-jobs': 1.1}
    """
    if name in MODELS:
        return _of_thesis(name, backend or "cpsat", **options)
    if name in FOLLOWING:
        name = name.removesuffix(PROFILE)
        options = {**options, "profile": True}
    family: Family = "hcp"
    if name.startswith("pcp"):
        family = "pcp"
    version = int(name.removeprefix(family) or 0)
    backend = backend or "cpsat"
    soft = options.get("over_cost") is not None
    if soft and not options.get("adaptive"):  # the presolve of such a model ignores the deterministic limit
        options = {"m": SOFT, "parameters": NO_PRESOLVE.get(backend), **options}
    return CPDispatcher(family, version, backend, **options)


def _of_thesis(name: str, backend: str, slack: float | None = None, **options: Any) -> CPDispatcher:
    """Return the dispatcher of one of the six models."""
    main, *kept = MODELS[name]
    if options.pop("objective", main) not in (main, None):
        raise WrongArgument(f"{name} has the objective {main}; pcp@{backend}:OBJECTIVE takes another one")
    if slack is not None and not kept:
        raise WrongArgument(f"{name} keeps no objectives, so that it takes no slack; mks+wt+nl does")
    keep = dict.fromkeys(kept, SLACK if slack is None else slack)
    usual = {"m": ALL_JOBS, "planned": PLANNED, "parameters": QUICK.get(backend)}
    dispatcher = CPDispatcher("pcp", 0, backend, objective=main, keep=keep, **{**usual, **options})
    dispatcher.name = f"{name}@{backend}"
    return dispatcher
