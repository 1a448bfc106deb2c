"""The CP dispatchers PCP and HCP, versions 0 to 3, on any backend [Galleguillos2019, 2.2, 3 and 4].

- PCP decides starts and nodes in one model (formulation ``counts`` or ``units``). With its usual formulation and objective
  it first solves the model of the pooled machine, and places the jobs on nodes in the order of its starts; the model of
  the nodes follows if it is small for the limit and the relaxation leaves a gap (``Solver.solve_relaxed_first``).
- HCP decides starts on the pooled resources of the machine (formulation ``pool``). It then allocates the jobs that
  start now in order of priority, best-fit.
- Version 0 has all waiting jobs in the model (the models of the thesis the first of a plan, see ``names``). Its objective is weighted tardiness (PCP) or the wait weighted by queue
  (HCP).
- Version 1 leaves out jobs that cannot start now, keeps the first ``m`` jobs by priority, and stops when the solver
  proves that there is no solution.
- Version 2 takes a job that runs longer than expected to end at now + 1 s.
- Version 3 uses the slowdown as objective and as priority.

Any other objective of dispatching problems can be given (see ``objective``). The priority, by which jobs are chosen for
the model, stays that of the version; the warm start is then that of multi-search.

Versions 2 and 3 can follow a desired profile (see ``desired``).

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

import time
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ....errors import WrongArgument, WrongValue
from ....models import Dispatch, Platform, Queue, Schedule
from ....models.arguments import is_whole
from ....models.array_types import Ints
from ....models.dispatch.composite import checked_slack
from ....models.dispatch.jobs import Window
from ....models.dispatch.objectives import find_objective
from ....models.excerpt import excerpt, with_short_repr
from ...dispatcher import Decision, Moment, Start
from .control import FIRST_SHARE, AdaptiveControl, Control, limit_of
from .desired import ProfileFollower, following_of, with_profile
from .model import (
    FOLLOWED,
    STRETCH,
    Family,
    Guard,
    Held,
    RunningUsage,
    by_walltime,
    moved_to_now,
    of_version,
    ordered,
    pooled_start,
    problem_of,
    running_usage,
    uncollected,
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
from .solving import RELAXATION, USED, FewJobs, Placed, Solver, warm_up

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
        Whether it follows the desired profile of the replay (see ``desired``); versions 2 and 3 can.
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
            max_stretch = STRETCH if version >= 3 else None
        self.max_stretch = max_stretch
        share = 1 if over_cost is not None else FIRST_SHARE  # each step of a model with a cost of a profile takes long
        made = {} if parameters is None else {"parameters": parameters}
        steps = Control.of(backend, length, deterministic is not None, first_limit, share, k, threads, **made)
        self.control = AdaptiveControl(length, steps.deterministic, threads) if adaptive else steps
        if adaptive and (first_limit is not None or k is not None or keep or parameters):
            raise WrongArgument("first_limit, k, keep and parameters are for searches in steps, not for adaptive=True")
        self.naive = version <= 1
        usual = usual_objective(family, version)
        self.objective = usual if objective is None else objective
        find_objective(self.objective)
        self.slack = checked_slack(self.objective, keep) if keep else {}
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
        self._guard = None if stretch is None else Guard(stretch, platform.resources, total)

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
        fixed = max(0, len(chosen) - self.m) if self.version == 0 else 0
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
        relaxed = placed if self.relaxes else None
        answer, number = self.solver.solve_few(problem, self.slack, start, self.seed, deadline, few, relaxed, pooled)
        allocating = time.perf_counter()
        seconds = {"start": answer.starting, "model": built + answer.modelling, "solve": answer.solving}
        asked = requested(chosen.joined(held.jobs), moment.platform.resources)
        size: dict[str, Any] = {"jobs": number, "urgent": urgent, "requested": asked}
        if answer.schedule is None:
            return Decision(first, answer.ended, None, seconds, **size)
        starts = self._read(answer.schedule, answer.relaxation, chosen, requests, windows, timeline, strict)
        seconds["allocate"] = time.perf_counter() - allocating
        return Decision([*first, *starts], answer.ended, answer.gain, seconds, **size)

    def _problem(
        self, moment: Moment, chosen: Waiting, windows: list[tuple[Window, ...]], runs: RunningUsage, held: Held
    ) -> tuple[Dispatch, Placed]:
        """Return the problem of the chosen and the urgent jobs, and the function that places the chosen ones."""
        jobs = chosen.joined(held.jobs)
        own = windows if self.naive or self.following is not None else without_horizon(windows, moment.now)
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
    ) -> list[Start]:
        """Return the chosen jobs that start now in the solution, with their nodes.

        The nodes are those of the solution if the model is exact. For a relaxation, a naive model, or beside urgent jobs
        or reservations (``strict``), they are allocated by priority, and jobs that do not fit stay in the queue.
        """
        starts = np.array([schedule.start[j.id] for j in chosen.jobs], np.int64)
        here = np.flatnonzero(starts == timeline.now)
        if relaxation or self.naive or strict:
            begun = timeline.copy().place(requests, here)
        else:
            nodes = {i: nodes_in(schedule, chosen.jobs[i]) for i in here.tolist()}
            begun = requests.on_nodes(nodes, timeline.now, self._nodes)
        started = self._starts(chosen, requests, begun)
        if (self.other_objective or chosen.placing is not None) and not self.is_soft:
            later = requests_of(by_walltime(chosen) if strict else chosen, windows, len(self._nodes))
            started += self._starts(chosen, later, moved_to_now(timeline.copy(), later, begun, starts))
        return started

    def _starts(self, jobs: Waiting, requests: Requests, allocation: Allocation) -> list[Start]:
        started = np.flatnonzero(allocation.start >= 0).tolist()
        return [start_of(jobs.jobs[i], allocation.nodes(requests, i, self._nodes)) for i in started]
