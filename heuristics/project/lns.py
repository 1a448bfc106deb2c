"""A large-neighbourhood search for projects: parts that a backend solves, and tabu search for shops.

``TabuSearch`` is tabu search and path relinking between the best schedules [Peng2015].
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...backends.result import Result
from ...errors import WrongArgument, WrongValue
from ...models import Mode, Project, Resource, Schedule, Task
from ...models.array_types import Floats, Ints
from ...models.project.formulations import exclusive_sets, part_formulation
from ...models.project.verification import MAKESPAN, suspended_end, suspending, terms
from ...models.words import listed, with_short_repr
from ..errors import NotForThisProblem, NothingFound
from ..kernels.project_schedules import (
    CROSSOVER,
    MISSED,
    NETWORK,
    RESOURCE,
    WINDOW,
    Child,
    Kept,
    Tasks,
    evolve,
    generate,
)
from ..kernels.project_schedules import new_room as new_schedule_room
from ..kernels.shops import BEST, NONE, begin, new_memory, new_paths, new_plan, new_room, semi_active, tabu_search
from ..lns.control import (
    Acceptance,
    Alternate,
    FirstOf,
    GainPerSecond,
    HillClimbing,
    Seconds,
    Selection,
    Stopped,
    Stopping,
    Turns,
    TurnSearch,
    as_text,
)
from ..relaxation import check_available, limits_of_turn
from ..search_parts import Clock, OnIncumbent, compiled_first
from .arrays import LEFT_OUT, ProjectArrays, is_simple
from .bounds import MOST_EXCLUSIVE, MakespanBounds, kept_for_bound, proved_bound
from .serial_sgs import (
    SerialScheme,
    feasible_modes,
    minimizes_makespan,
    network,
    plain,
    refused,
    rules_for,
    takes,
)

if TYPE_CHECKING:
    from ...backends import Limits


# --- A large-neighbourhood search for projects.
#
# 1. Make schedules with all priority rules, by the serial and the parallel scheme, and with rules plus random numbers; for the
#    makespan, each is justified twice (``kernels.project_schedules``). Keep the best ones. A start is kept as well.
# 2. Select an operator, by default one that has had less than its share of the time, else the one with the best recent
#    gain per second (``lns.control``).
# 3. Let it take a turn:
#
#    - ``crossover``: join parts of two kept schedules (``project_schedules.evolve``, [Debels2007]).
#    - ``ruin``: change the order and modes of the tasks of a window of time, of a resource, or of a part of the network of
#      precedences; schedule all tasks anew (``project_schedules.evolve``).
#    - ``solver`` (if a backend is named): free some tasks; the backend looks for a shorter schedule in which the others keep
#      their modes and their order (``solver_parts``).
#    - ``tabu`` (for job shops and flexible job shops, ``tabu.shop``): tabu search on the disjunctive graph, and path relinking
#      between its best schedules (``tabu.operator``). With a time limit it has most of the time.
#
# 4. An acceptance criterion decides whether the new schedule replaces the one it was made from (``lns.control``).
# 5. Repeat from step 2 until a stopping criterion or the time limit ends the search (``lns.control``), or the objective is
#    a lower bound (``project.bounds``, ``_least``).
#
# 6. With a time limit of 5 s or more a tenth of it is for a better bound by CP-SAT (``proved_bound``): of a small project a
#    part of that after step 1, so that the search ends early if the proof is easy, and the rest after step 5.
#
# With several threads, each thread has a search of its own from step 2 on; they share their best schedule
# (``lns.control``).

# Dates, setups, breaks, tasks that may be left out (a mode more), chains of tasks without a wait or that block, permutations
# and resources without idle time are kept by the schemes and by the parts of the solver; tabu search keeps release dates, and takes no schedule that
# misses a deadline (``minimizes_makespan``).

EARLY_SHARE = 0.25  # of the time for a proof: after the first schedules
EARLY_TASKS = 150  # tasks up to which there is an early proof: the model of more takes too long to build
TABU_SHARE = 0.75  # of the time of a search for a shop: for tabu search
OTHERS_SHARE = 0.05  # of that time: for each other operator; the rest is for what gains most


@compiled_first("project.lns:warm_up", for_problem=True)
def project_lns(
    problem: Project,
    *,
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
    rounds: int | None = None,
    backend: str | None = None,
    operators: Sequence[Any] | None = None,
    selection: Selection | None = None,
    acceptance: Acceptance | None = None,
    stopping: Stopping | None = None,
    turn_seconds: float = 0.15,
) -> Result:
    """Return the best schedule of a large-neighbourhood search for a project.

    Without a time limit the result depends on the seed and the threads only, if the given objects look at no clock.

    Parameters
    ----------
    problem
        A project without what ``serial_sgs.refused`` names.
    time_limit
        Seconds; None: no limit. The first schedule is always finished.
    threads
        Number of searches, which share their best schedule; None: one. A solver has one thread for each search.
    seed
        Seed of the random numbers.
    warm_start
        A schedule that the operators improve, beside those of the priority rules; None: no start.
    on_incumbent
        Called with each Incumbent; return False to stop.
    rounds
        Number of turns of each search; None: 60 without a time limit and a stopping criterion, else no limit.
    backend
        A solver that takes turns as well; None: no solver.
    operators
        The operators, with different names; None: ``usual_operators``. Not together with ``backend``.
    selection
        Selects the operator of the next turn; None: ``usual_selection`` with a time limit, else ``Alternate``.
    acceptance
        Acceptance criterion of all operators; None: each operator has its own.
    stopping
        Ends the search if ``time_limit`` and ``rounds`` do not end it before; None: only these two.
    turn_seconds
        Seconds of a turn if there is a time limit; a turn is longer if one trial is longer.

    Returns
    -------
    Result
        Its bound is that of the longest path and of the energy (``project.bounds``, steps 2 and 3); where not the makespan
        alone counts, that of the earliest ends with them. With a time limit of 5 s
        or more, a tenth of it is for the other steps, and for runs of CP-SAT from the best schedule, after the first schedules
        and at the end: the greatest bound is taken, and a better schedule. Its ``details``: ``operators``, the ``Gain`` of each operator (turns, seconds,
        improvement), by its name.

    Raises
    ------
    NotForThisProblem
        The project has what the search does not support.
    NothingFound
        No choice of modes was found for which the non-renewable resources suffice, or each first schedule misses a deadline,
        and there is no start.
    SolverUnavailable
        If the backend is not installed.
    UnknownName
        If the name of the backend is unknown.
    TypeError
        If both operators and a backend are given.
    ValueError
        If there is no operator, or if two have the same name.

    Examples
    --------
    >>> tasks = [Task.single(n, d, {"crew": 1}) for n, d in (("a", 2), ("b", 2), ("c", 3), ("d", 3), ("e", 2))]
    >>> project_lns(Project(tasks, [Resource("crew", 2)]), rounds=4).objective
    6
    """
    if operators is not None and backend is not None:
        raise WrongArgument("lns takes operators or a backend; with operators, SolverParts names the backend")
    _check(problem)
    kept = kept_for_bound(problem, time_limit)
    early = EARLY_SHARE * kept if len(problem.tasks) <= EARLY_TASKS else 0.0
    searching = None if time_limit is None else time_limit - kept + early
    search = ProjectSearch(
        problem,
        _least(problem),
        time_limit=searching,
        seed=seed,
        warm_start=warm_start,
        on_incumbent=on_incumbent,
        acceptance=acceptance,
        turn_seconds=turn_seconds,
        proof_seconds=early,
    )
    limits: list[Stopping] = [] if searching is None else [Seconds(searching)]
    limits += [] if stopping is None else [stopping]
    limits += [] if rounds is None else [Turns(rounds)]
    if operators is None:
        operators = usual_operators(search.arrays.tasks if minimizes_makespan(problem) else None, backend)
    if selection is None:
        selection = Alternate() if time_limit is None else usual_selection(operators)
    search.run(operators, selection, FirstOf(tuple(limits or [Turns()])), max(1, threads or 1))
    return _with_bound(search, kept - early, max(1, threads or 1), seed)


def _with_bound(search: ProjectSearch, seconds: float, threads: int, seed: int) -> Result:
    """Return the result of a search, with the bound that is proved in the seconds that are left for it."""
    from ...backends import INTERRUPTED

    gains = search.gains
    schedule = search.schedule()
    least = search.least
    message = as_text(gains)
    if seconds > 0 and search.best_value > least and not search.seen.stopped:
        proved = proved_bound(search.problem, schedule, least, seconds, threads, seed)
        least = proved.bound
        if proved.interrupted:
            message = INTERRUPTED
        if proved.schedule is not None:
            schedule = proved.schedule
            better = schedule
            search.seen.report(search.problem.value(schedule), lambda: better)
    result = search.seen.result(schedule, message=message, details={"operators": gains})
    if result.status != "error":
        result.bound = least
        if result.objective == least:
            result.status = "optimal"
    return result


def _check(problem: Project) -> None:
    """Raise NotForThisProblem if a project has what the search does not support."""
    words = refused(problem)
    if words:
        raise NotForThisProblem(f"lns supports no {', no '.join(words)}")
    costs = sum(t.weight + t.early_weight + (t.penalty or 0) for t in problem.tasks) + 1
    if not plain(problem) and problem.horizon * costs * sum(terms(problem.objective).values()) >= MISSED:
        raise NotForThisProblem(
            f"lns supports objectives below {MISSED:,}; weights, durations or factors are too large"
        )


def _least(problem: Project) -> int:
    """Return a lower bound that is computed in a small part of a second."""
    factors = terms(problem.objective)
    bound = 0
    must = problem
    if any(t.optional for t in problem.tasks):
        must = problem.with_tasks([t.name for t in problem.tasks if not t.optional])
    if MAKESPAN in factors and must.tasks:
        bound = factors[MAKESPAN] * max(MakespanBounds(must, Clock()).quick().values())
    for task in problem.tasks:
        end = problem.heads[task.name] + min(m.duration for m in problem.possible(task))
        cost = factors.get("flow-time", 0) * task.weight * (end - task.release)
        if task.due is not None and end > task.due:
            cost += factors.get("weighted-tardiness", 0) * task.weight * (end - task.due)
            cost += factors.get("late-jobs", 0) * task.weight
        if task.penalty is None:
            bound += cost
        else:
            bound += min(cost, task.penalty)
    return bound


def usual_operators(tasks: Tasks | None, backend: str | None = None) -> tuple[Any, ...]:
    """Return the default operators: for a shop "tabu", then "crossover", "ruin", and with a backend "solver".

    ``tasks``: those of a project of which ``minimizes_makespan`` holds, which may be a shop; None: another project.
    """
    operators: list[Any]
    if tasks is None or machines(tasks) is None:
        operators = []
    else:
        operators = [TabuSearch()]
    operators += [Evolution("crossover", ("crossover",)), Evolution("ruin", ("window", "resource", "network"))]
    if backend is not None:
        return (*operators, SolverParts(backend))
    return tuple(operators)


def usual_selection(operators: Sequence[Any]) -> Selection:
    """Return the default selection with a time limit: most of the time is for tabu search, if it is one of the operators."""
    tabu = [operator.name for operator in operators if isinstance(operator, TabuSearch)]
    if tabu:
        return GainPerSecond(OTHERS_SHARE, dict.fromkeys(tabu, TABU_SHARE))
    return GainPerSecond()


def warm_up(problem: Project | None = None) -> None:
    """Compile the kernels of this search for a project, or load them from numba's cache; None: for a simple one."""
    simple = problem is None or is_simple(problem)
    _warm_up_schemes(simple)
    if not simple:
        return
    _warm_up_shop(False)
    if (
        problem is not None
        and any(t.release for t in problem.tasks)
        and all(r.capacity == 1 for r in problem.resources)
    ):
        _warm_up_shop(True)


@cache
def _warm_up_schemes(simple: bool) -> None:
    crew = [Resource("crew", 2), Resource("money", 9, renewable=False)]
    modes = (Mode("fast", 1, {"crew": 2, "money": 3}), Mode("slow", 3, {"crew": 1, "money": 1}))
    tasks = [Task(name, modes, penalty=None if simple else 9) for name in "abcde"]
    project_lns(Project(tasks, crew, [("a", "b")]), rounds=4)


@cache
def _warm_up_shop(released: bool) -> None:
    saws = [Resource("saw 1", 1), Resource("saw 2", 1)]
    modes = (Mode("1", 2, {"saw 1": 1}), Mode("2", 3, {"saw 2": 1}))
    cuts = [Task(name, modes, release=int(released)) for name in "abcde"]
    project_lns(Project(cuts, saws), rounds=2, operators=[TabuSearch()])


# --- The state of the search: the kept schedules and the best one.

FIRST_SHARE = 0.1  # of the time limit: the first schedules
REPAIRS = 20  # of the schedule of a rule: how often more tasks that miss their deadlines are left out
NOISE = 0.6  # of the values of the rules, from 0 to 1: what random numbers add at most


class Found(NamedTuple):
    """A schedule as arrays: value of the objective; start and mode of each task, shape (tasks,)."""

    value: int
    starts: Ints
    modes: Ints


class ProjectSearch(TurnSearch):
    """The state of a search, which the operators read and change.

    Parameters
    ----------
    problem
        The project, with tasks.
    least
        A lower bound of the objective: the search ends when it is reached.
    size
        Number of kept schedules.
    time_limit, seed, warm_start, on_incumbent, acceptance, turn_seconds
        As for ``project_lns``.
    proof_seconds
        Seconds for a proof by CP-SAT after the first schedules; 0: none.

    Attributes
    ----------
    arrays
        The project as flat arrays.
    room, child
        Arrays that kernels overwrite.
    rules
        Values of the priority rules from 0 to 1, shape (rules, tasks).
    kept
        The kept schedules.
    best
        The best schedule; operators must not change it.
    random
        State of the random numbers of kernels, uint64, shape (1,).
    """

    def __init__(
        self,
        problem: Project,
        least: int,
        *,
        size: int = 40,
        time_limit: float | None = None,
        seed: int = 0,
        warm_start: Schedule | None = None,
        on_incumbent: OnIncumbent | None = None,
        acceptance: Acceptance | None = None,
        turn_seconds: float = 0.15,
        proof_seconds: float = 0.0,
    ) -> None:
        super().__init__(problem, time_limit, seed, warm_start, on_incumbent, acceptance, turn_seconds)
        self.proof_seconds = proof_seconds
        self.problem = problem
        self.least = least
        self.size = size
        self.arrays = ProjectArrays(problem)
        self.random = self._state()
        self.best: Found | None = None
        self._make_room()

    def _make_room(self) -> None:
        n = len(self.arrays.net.names)
        self.room = new_schedule_room(self.arrays.tasks)
        self.child = Child(np.zeros(n), *(np.zeros(n, np.int64) for _ in range(5)))

    def _state(self) -> Ints:
        return self.rng.integers(1, 2**63, 1).astype(np.uint64)

    @property
    def order_value(self) -> float:
        """The least value of the kept schedules."""
        return float(self.kept.value.min())

    @property
    def ready(self) -> bool:
        """Whether there is a schedule."""
        return self.best is not None

    def companion(self, rng: np.random.Generator) -> ProjectSearch:
        """Return a search from the same schedules with random numbers and kept schedules of its own."""
        other = super().companion(rng)
        other.random = other._state()
        other.kept = Kept(*(part.copy() for part in self.kept))
        other._make_room()
        return other

    def adopt(self, schedule: ProjectSearch, order: ProjectSearch) -> None:
        """Take over the best schedule of another search, if it is better than the best one here."""
        if schedule.best is not None and schedule.best_value < self.best_value:
            self.best_value = schedule.best_value
            self.best = schedule.best
            self.replace_worst(schedule.best)

    def replace_worst(self, other: Found) -> None:
        """Replace the worst kept schedule."""
        at = int(self.kept.value.argmax())
        self.kept.value[at], self.kept.starts[at], self.kept.modes[at] = other

    def keep(self, value: int, starts: Ints, modes: Ints) -> None:
        """Keep a schedule if it is the best and keeps the deadlines; report it. Raises Stopped, also if it cannot be improved."""
        if value >= min(self.best_value, MISSED):
            return
        with self.lock:
            if self.seen.stopped:  # by another search of the team
                raise Stopped
            kept = Found(int(value), starts.copy(), modes.copy())
            self.best_value = float(value)
            self.best = kept
            go_on = self.seen.report(kept.value, lambda: self.arrays.schedule(kept.starts, kept.modes))
        if not go_on or value <= self.least:
            self.ended = True
            raise Stopped

    def made(self, keys: Floats, modes: Ints, free: bool, in_parallel: bool) -> Found:
        """Return the schedule of keys and modes, justified twice for the makespan; modes may change if they are free."""
        began = time.perf_counter()
        child = self.child
        child.keys[:] = keys
        child.modes[:] = modes
        child.free[:] = int(free)
        a = self.arrays
        value = generate(
            a.tasks, a.back, a.aim, self.room, child.keys, child.modes, child.free, child.starts, in_parallel
        )
        self.trial_seconds = max(0.5 * self.trial_seconds, time.perf_counter() - began)
        return Found(int(value), child.starts.copy(), child.modes.copy())

    def look_around(self) -> None:
        """Make the first schedules: the start, those of the priority rules, and those of rules with noise."""
        schedules: list[Found] = []
        start = self.seen.start
        if start is not None:
            schedules.append(Found(int(self.seen.trace[0].objective), *self.arrays.placed(start)))  # type: ignore[arg-type]
            self.best_value = float(schedules[0].value)
            self.best = schedules[0]
            if schedules[0].value <= self.least:
                raise Stopped
        if self.limit is None:
            most_seconds = np.inf
        else:
            most_seconds = FIRST_SHARE * self.limit
        for each in self._first(schedules):
            schedules.append(each)
            self.keep(*each)
            if self.elapsed + self.trial_seconds > most_seconds:
                break
        for each in self._without_optional_tasks() if self.best is None else ():
            schedules.append(each)
            self.keep(*each)
        if self.best is None:
            raise NothingFound(_why_nothing(self.problem))
        schedules.sort(key=lambda each: each.value)
        chosen = [schedules[k % len(schedules)] for k in range(self.size)]
        self.kept = Kept(
            np.array([each.starts for each in chosen]),
            np.array([each.modes for each in chosen]),
            np.array([each.value for each in chosen], np.int64),
        )
        if self.proof_seconds > 0:
            self._prove_early()

    def _prove_early(self) -> None:
        """Look for a better bound and schedule by CP-SAT. Raises Stopped if the best schedule is proved to be optimal."""
        from ...backends import Interrupted

        best = self.schedule()
        proved = proved_bound(self.problem, best, self.least, self.proof_seconds, self.threads, self.seed)
        self.least = max(self.least, proved.bound)
        if proved.schedule is not None:
            better = Found(int(self.problem.value(proved.schedule)), *self.arrays.placed(proved.schedule))
            self.replace_worst(better)
            self.keep(*better)
        if proved.interrupted:
            raise Interrupted
        if self.best_value <= self.least:
            raise Stopped

    def _first(self, schedules: list[Found]) -> Iterator[Found]:
        """Yield schedules of the priority rules, of both schemes, then of rules with noise."""
        modes, chosen = self._first_modes(schedules)
        self.rules = self.arrays.rules(modes)
        several = bool((np.diff(self.arrays.first_modes) > 1).any())
        listed = self._with_tasks_left_out()
        for values in self.rules:
            yield self.made(values, chosen, several, False)
            yield self.made(values, chosen, False, True)
            yield from islice(listed, 1)
        for k in range(self.size):
            noise = NOISE * self.rng.random(chosen.size)
            yield self.made(self.rules[k % len(self.rules)] + noise, chosen, several and k % 2 == 0, k % 4 == 3)

    def _first_modes(self, schedules: Sequence[Found]) -> tuple[list[Mode], Ints]:
        """Return a mode of each task for the priority rules, and the first modes, within the budget; tasks may be left out."""
        a = self.arrays
        problem = self.problem
        try:
            modes, _ = feasible_modes(problem, a.net)
            return modes, a.mode_indices(modes)
        except NothingFound:
            if not schedules and not any(t.optional for t in problem.tasks):
                raise
        first = [options[0] for options in a.net.modes]
        if schedules:
            chosen = schedules[0].modes.copy()
            real = [mode if a.modes[m] is LEFT_OUT else a.modes[m] for m, mode in zip(chosen, first, strict=True)]
            return real, chosen
        must = problem.with_tasks([t.name for t in problem.tasks if not t.optional])
        found, _ = feasible_modes(must, network(must))
        of_task = {t.name: mode for t, mode in zip(must.tasks, found, strict=True)}
        modes = [of_task.get(t.name, mode) for t, mode in zip(problem.tasks, first, strict=True)]
        chosen = a.mode_indices(modes)
        for k, t in enumerate(problem.tasks):
            if t.optional:
                chosen[k] = a.left_out(k)
        return modes, chosen

    def _without_optional_tasks(self) -> Iterator[Found]:
        """Yield the schedules of the priority rules without the tasks that miss their deadlines, then without all that may be left out.

        Of the tasks that must be done, some may miss their deadlines.
        """
        a = self.arrays
        optional = [k for k, t in enumerate(self.problem.tasks) if t.optional]
        if not optional:
            return
        _, first = self._first_modes([])
        for values in self.rules:
            chosen = first.copy()
            for _ in range(REPAIRS):  # each time, at least one more is left out
                made = self.made(values, chosen, False, False)
                late = [k for k in optional if made.modes[k] != a.left_out(k) and self._is_late(made, k)]
                if made.value < MISSED or not late:
                    break
                chosen[late] = [a.left_out(k) for k in late]
            yield self.made(values, chosen, False, False)
            chosen[optional] = [a.left_out(k) for k in optional]
            yield self.made(values, chosen, False, False)

    def _is_late(self, made: Found, task: int) -> bool:
        """Return whether a task misses its deadline."""
        deadline = self.problem.tasks[task].deadline
        mode = self.arrays.modes[made.modes[task]]
        breaks = suspending(self.problem.resources, mode)
        return deadline is not None and suspended_end(int(made.starts[task]), mode.duration, breaks) > deadline

    def _with_tasks_left_out(self) -> Iterator[Found]:
        """Yield the schedules of the priority rules that leave out tasks that cost more than their penalties."""
        if not any(t.optional for t in self.problem.tasks) or not takes(self.problem):
            return
        scheme = SerialScheme.of(self.problem)
        for rule in rules_for(self.problem):
            try:
                schedule = scheme.schedule(rule)
            except NothingFound:
                continue
            yield Found(int(self.problem.value(schedule)), *self.arrays.placed(schedule))

    def schedule(self) -> Schedule:
        """Return the best schedule."""
        assert self.best is not None
        return self.arrays.schedule(self.best.starts, self.best.modes)


def _why_nothing(problem: Project) -> str:
    """Return why there is no first schedule: what no priority rule keeps."""
    given = {
        "deadlines": any(t.deadline is not None for t in problem.tasks),
        "resources without idle time": any(r.no_idle for r in problem.resources),
        "precedences without a wait": bool(problem.no_wait),
        "blocking": bool(problem.blocking),
    }
    words = [word for word, there in given.items() if there]
    if words == ["deadlines"]:
        return "each schedule of a priority rule misses a deadline"
    kept = "all constraints"
    if words:
        kept = f"the {listed(words)}"
    return f"no priority rule led to a schedule that keeps {kept}"


# --- Operators on the kept schedules of a project: crossover; destroy and repair by list scheduling.

KINDS = {"crossover": CROSSOVER, "window": WINDOW, "resource": RESOURCE, "network": NETWORK}


@with_short_repr
@dataclass(frozen=True)
class Evolution:
    """Operator that makes new schedules from kept ones.

    Parameters
    ----------
    name
        Its name in the results.
    kinds
        What its steps do, one of them at random: "crossover", or destroy operators: "window" (of time), "resource" (tasks
        that use one, in a window of time), "network" (tasks that precedences connect).
    steps
        Steps in a turn without a clock.
    most_steps
        Most steps in a turn with a clock.
    acceptance
        When a new schedule replaces the one it was made from, if the search has no acceptance criterion for all operators.
    """

    name: str
    kinds: tuple[str, ...]
    steps: int = 60
    most_steps: int = 5000
    acceptance: Acceptance = field(default_factory=HillClimbing)

    def start(self, search: ProjectSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns."""
        each = 0.0  # seconds of one step, measured
        kinds = np.array([KINDS[kind] for kind in self.kinds], np.int64)

        def turn(seconds: float | None) -> None:
            nonlocal each
            number = self.steps
            if seconds is not None:
                number = int(np.clip(seconds / max(1e-6, each or search.trial_seconds), 1, self.most_steps))
            search.check()
            allowed = search.tolerances(self.acceptance, number)
            done = 0
            began = time.perf_counter()
            a = search.arrays
            s = search
            while done < number and s.clock.stop[0] == 0:
                steps, at = evolve(
                    a.tasks,
                    a.back,
                    a.aim,
                    s.room,
                    s.kept,
                    s.child,
                    s.rules,
                    kinds,
                    s.over,
                    allowed.over_current[done:],
                    allowed.over_best[done:],
                    int(s.best_value),
                    s.random,
                    s.clock.stop,
                )
                done += steps
                if at >= 0:
                    s.keep(int(s.kept.value[at]), s.kept.starts[at], s.kept.modes[at])
            each = (time.perf_counter() - began) / max(1, done)

        return turn


# --- Operator "solver": a backend solves a part of the best schedule of a project.

TRIES = 5  # parts in a turn of which the longest path shows that they cannot be improved
QUICK = 0.3  # share of the time limit of a part; after a quicker proof the next part is larger


@with_short_repr
@dataclass(frozen=True)
class SolverParts:
    """Operator "solver": a backend looks for a better schedule in which some tasks are free.

    The others keep their modes and, in the partial order in which they give each other resources, their order
    (``models.project.formulations``, [Godard2005]). The free tasks are those that run around a time, those of them that use one of
    some resources, or those that precedences connect with a task.

    Parameters
    ----------
    backend
        Name of the backend.
    threads
        Threads of the solver; None: all cores.
    tasks
        Free tasks in the first part. The next part is larger after a quick proof that there is nothing better, and smaller if
        the time is over.
    most_tasks
        Most free tasks.
    seconds
        Time limit of one part.
    work
        Limit of one part without a clock, in the solver's own unit of work.
    name
        Its name in the results.
    """

    backend: str
    threads: int | None = 1
    tasks: int = 30
    most_tasks: int = 150
    seconds: float = 1.0
    work: float = 0.2
    name: str = "solver"

    def start(self, search: ProjectSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns. Raises SolverUnavailable and UnknownName."""
        check_available(self.backend)
        return _Parts(self, search).turn


class _Parts:
    """The parts of one search."""

    def __init__(self, settings: SolverParts, search: ProjectSearch) -> None:
        self.settings = settings
        self.search = search
        self.size = settings.tasks
        few = len(search.problem.tasks) <= MOST_EXCLUSIVE  # the sets are redundant
        if few:
            self.exclusive = list(exclusive_sets(search.problem))
        else:
            self.exclusive = []

    def turn(self, seconds: float | None) -> None:
        """Let the backend improve one part."""
        from ...backends import INTERRUPTED, Interrupted, LoweringTooLarge, SolverUnavailable

        s = self.search
        settings = self.settings
        s.check(0.2)
        seed = int(s.rng.integers(2**31))
        limits = limits_of_turn(seconds, s.clock, settings.seconds, settings.work, settings.threads, seed)
        try:
            status, better = self._solved(limits)
        except (SolverUnavailable, LoweringTooLarge):
            status = "unknown"
            better = None
        if status == INTERRUPTED:
            raise Interrupted
        grown = {"infeasible": 1.2, "slow": 1.0, "optimal": 1.0}.get(status, 0.85)
        self.size = int(np.clip(round(self.size * grown), 4, settings.most_tasks))
        if better is not None:
            starts, modes = s.arrays.placed(better)
            again = s.made(starts.astype(np.float64), modes, False, False)
            value = int(s.problem.value(better))
            # the scheme lets no task wait
            if again.value <= value:
                improved = again
            else:
                improved = Found(value, starts, modes)
            s.replace_worst(improved)
            s.keep(*improved)

    def _solved(self, limits: Limits) -> tuple[str, Schedule | None]:
        """Solve a part; return the status, "slow" for a proof that took long, and the schedule, if it is better."""
        from ...backends import run

        s = self.search
        limits = limits.begun()
        schedule = s.schedule()
        for _ in range(TRIES):
            free = [s.arrays.net.names[k] for k in self._free().tolist()]
            part = part_formulation(s.problem, schedule, frozenset(free), int(s.best_value) - 1, self.exclusive)
            if part is not None:
                break
            self.size = min(self.settings.most_tasks, self.size + 1)
        else:
            return "infeasible", None
        result = run(part.model, self.settings.backend, limits, conflict=False)
        if result.assignment is None or result.violations:
            slow = result.status == "infeasible" and result.phases["solve"] > QUICK * self.settings.seconds
            return ("slow" if slow else result.message or result.status), None
        return result.status, part.read(result.assignment)

    def _free(self) -> Ints:
        """Choose the tasks of a part."""
        s = self.search
        assert s.best is not None
        t = s.arrays.tasks
        n = s.best.starts.size
        middle = s.best.starts + t.duration[s.best.modes] / 2
        at = int(s.rng.integers(n))
        kind = int(s.rng.integers(3))
        among = np.arange(n)
        if kind == 0 and t.capacity.size > 1:
            among = self._users(s.rng.permutation(t.capacity.size)[: int(s.rng.integers(1, t.capacity.size + 1))])
        if kind == 1:
            return self._connected(at)
        distance = np.abs(middle[among] - middle[at])
        return among[np.argsort(distance, kind="stable")[: self.size]]

    def _users(self, resources: Ints) -> Ints:
        """Return the tasks of which a mode uses one of some resources."""
        t = self.search.arrays.tasks
        rows = np.isin(t.resource, resources)
        modes = np.repeat(np.arange(t.duration.size), np.diff(t.demand_first))[rows]
        return np.unique(np.searchsorted(t.mode_first, modes, side="right") - 1)

    def _connected(self, task: int) -> Ints:
        """Return a task and the ones nearest to it in the network of precedences."""
        net = self.search.arrays.net
        connected = {task: None}
        queue = [task]
        for k in queue:
            near = [j for j, _ in (*net.before[k], *net.after[k]) if j not in connected]
            for j in self.search.rng.permutation(near).tolist() if near else ():
                if len(connected) < self.size and j not in connected:
                    connected[j] = None
                    queue.append(j)
        return np.array(list(connected), np.int64)


# --- Which projects are shops, and their machines.


def machines(t: Tasks) -> Ints | None:
    """Return the machine of each mode of a shop, shape (modes,); None for another project.

    In a shop each mode occupies at most one resource, of capacity 1; no other resource is limited, and no precedence has
    a negative delay. Job shops, flow shops, open chains of machines and flexible job shops are shops, with any precedences
    between tasks. The machine is the index of the resource, ``NONE`` for a mode that occupies none.

    Examples
    --------
    >>> from schedlab.heuristics.project.arrays import ProjectArrays
    >>> from schedlab.models import Project, Resource, Task
    >>> tasks = [Task.single("saw", 3, {"saw": 1}), Task.single("dry", 8)]
    >>> machines(ProjectArrays(Project(tasks, [Resource("saw", 1)])).tasks).tolist()
    [0, -1]
    >>> machines(ProjectArrays(Project(tasks, [Resource("saw", 2)])).tasks)
    """
    used = np.diff(t.demand_first)
    alone = bool((used <= 1).all() and (t.capacity[t.resource] == 1).all())
    if not alone or t.budget.size or (t.before_delay < 0).any():
        return None
    machine = np.full(t.duration.size, NONE, np.int64)
    machine[used == 1] = t.resource
    return machine


# --- Elite schedules of a shop, their distance, and schedules between two of them.

UNEVEN = 3.0  # exponent of the random steps of ``between``: a few large ones


class Elite(NamedTuple):
    """A schedule of a shop.

    Parameters
    ----------
    value
        Makespan.
    order
        The tasks in an order in which each one follows its predecessors and the tasks before it on its machine, shape (tasks,).
    mode
        Mode of each task, shape (tasks,).
    before
        The task before each one on its machine, shape (tasks,).
    """

    value: int
    order: Ints
    mode: Ints
    before: Ints


def distance(one: Elite, other: Elite) -> int:
    """Return the number of tasks that have another mode, or another task before them on their machine."""
    return int(((one.mode != other.mode) | (one.before != other.before)).sum())


def between(one: Elite, other: Elite, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the order and the modes of a schedule between two.

    A task has the key ``(1 - share) * f(its position in one order) + share * g(its position in the other)`` with random
    increasing functions f and g. Tasks that are in the same order in both stay in this order, so that no cycle arises:
    it is a schedule on a path from one to the other that exchanges neighbours.

    Parameters
    ----------
    one, other
        The schedules.
    share
        How near it is to the other one, from 0 to 1: also the share of tasks that take their mode from it.
    rng
        Random numbers.

    Examples
    --------
    >>> a, b = (Elite(0, np.array(order), np.zeros(3, int), np.zeros(3, int)) for order in ([0, 1, 2], [1, 0, 2]))
    >>> [between(a, b, share, np.random.default_rng(1))[0].tolist() for share in (0.0, 1.0)]
    [[0, 1, 2], [1, 0, 2]]
    """
    keys = (1.0 - share) * _positions(one.order, rng) + share * _positions(other.order, rng)
    order: Ints = np.argsort(keys, kind="stable").astype(np.int64)
    return order, np.where(rng.random(order.size) < share, other.mode, one.mode)


def _positions(order: Ints, rng: np.random.Generator) -> Floats:
    """Return increasing numbers from 0 to 1 of the tasks in an order, with random distances."""
    steps = np.cumsum(rng.random(order.size) ** UNEVEN + 1e-6)
    positions = np.zeros(order.size)
    positions[order] = steps / steps[-1]
    return positions


# --- Operator "tabu": tabu search and path relinking between the best schedules of a shop [Peng2015].
#
# 1. Make tabu searches from the best schedule and from schedules of priority rules with noise: their results are the elite.
# 2. Take two elite schedules. Make some schedules between them (``elite.between``), a short tabu search from each, and a
#    long one from the best of these.
# 3. The result replaces the worst elite schedule, or the nearest one if that is similar, if it is better.
# 4. Repeat steps 2 and 3. If several results in a row were not taken, keep the best elite schedule and repeat from step 1.

SIMILAR = 0.05  # share of the tasks: schedules are similar if fewer have another mode or another task before them
FIRST_STEPS = 100  # iterations of the first turn with a clock: their speed is not known
NEAREST = 0.2  # least share of the way from one schedule to another at which one between them is made
FARTHEST = 0.8  # greatest share of that way

Steps = Generator[None, None, Elite]  # yields at the end of a turn


@with_short_repr
@dataclass(frozen=True)
class TabuSearch:
    """Operator for shops: tabu search on the disjunctive graph, and path relinking between its best schedules.

    Parameters
    ----------
    name
        Its name in the results.
    elite
        Number of elite schedules, at least 2.
    patience
        A long tabu search ends after this number of iterations without a better schedule.
    between
        Number of schedules between two elite ones from which short tabu searches are made.
    short
        Patience of the short searches.
    rejected
        Results in a row that are not taken, after which the elite is made anew.
    steps
        Iterations in a turn without a clock.
    most_steps
        Most iterations in a turn with a clock.
    """

    name: str = "tabu"
    elite: int = 8
    patience: int = 3_000
    between: int = 3
    short: int = 400
    rejected: int = 10
    steps: int = 2_000
    most_steps: int = 1_000_000

    def __post_init__(self) -> None:
        if self.elite < 2:
            raise WrongValue(f"operator {self.name}: elite is {self.elite}; path relinking needs at least 2 schedules")

    def start(self, search: ProjectSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns. Raises TypeError if the project is not a shop, or has more than dates."""
        project = search.problem
        if not minimizes_makespan(project):
            others = [name for name in project.features if name not in ("release dates", "deadlines")]
            words = ", ".join(others or [f"the objective {project.objective}"])
            raise WrongArgument(f"operator {self.name} does not support {words}; use other operators")
        return _Tabu(self, search).turn


class _Tabu:
    """The elite and the current run of one search."""

    def __init__(self, settings: TabuSearch, search: ProjectSearch) -> None:
        self.settings = settings
        self.search = search
        self.tasks = search.arrays.tasks
        machine = machines(self.tasks)
        if machine is None:
            raise WrongArgument(
                f"operator {settings.name}: the project is not a shop, in which each mode needs at most one resource, of "
                "capacity 1, and delays are not negative; use other operators"
            )
        self.machine = machine
        count = self.tasks.capacity.size
        self.plan, self.paths = new_plan(self.tasks, count), new_paths(self.tasks)
        self.best_plan, self.best_paths = new_plan(self.tasks, count), new_paths(self.tasks)
        self.room, self.memory = new_room(self.tasks), new_memory(self.tasks)
        self.elite: list[Elite] = []
        self.left = 0  # iterations until the end of the turn
        self.each = 0.0  # seconds of an iteration
        self.work = self._work()

    def turn(self, seconds: float | None) -> None:
        """Go on with the search for one turn."""
        number = self.settings.steps
        if seconds is not None:
            if self.each:
                number = int(np.clip(seconds / self.each, 1, self.settings.most_steps))
            else:
                number = FIRST_STEPS
        self.search.check()
        self.left = number
        began = time.perf_counter()
        next(self.work)
        self.each = (time.perf_counter() - began) / max(1, number - self.left)

    def _work(self) -> Generator[None, None, None]:
        """Search without an end; yield at the end of each turn."""
        settings = self.settings
        while True:
            while len(self.elite) < settings.elite:
                reached = yield from self._run(*self._first(), settings.patience)
                self.elite.append(reached)
            in_vain = 0
            while in_vain < settings.rejected:
                self._take_best()
                reached = yield from self._relinked()
                if self._taken(reached):
                    in_vain = 0
                else:
                    in_vain = in_vain + 1
            self.elite = [min(self.elite, key=lambda each: each.value)]

    def _first(self) -> tuple[Ints, Ints]:
        """Return the order and the modes of the best schedule; if the elite has one, of a priority rule with noise."""
        s = self.search
        assert s.best is not None
        if not self.elite:
            return self._order(s.best.starts), s.best.modes
        keys = s.rules[s.rng.integers(len(s.rules))] + NOISE * s.rng.random(len(s.best.starts))
        first = s.made(keys, s.best.modes, True, False)
        return self._order(first.starts), first.modes

    def _order(self, starts: Ints) -> Ints:
        """Return the tasks by their starts, equal ones in topological order."""
        return np.lexsort((self.tasks.rank, starts)).astype(np.int64)

    def _take_best(self) -> None:
        """Replace the worst elite schedule by the best schedule of the search, if another operator or thread has found it."""
        s = self.search
        if s.best is not None and s.best_value < min(each.value for each in self.elite):
            self._replace_worst(self._made(self._order(s.best.starts), s.best.modes))

    def _replace_worst(self, other: Elite) -> None:
        worst = max(range(len(self.elite)), key=lambda k: self.elite[k].value)
        self.elite[worst] = other

    def _taken(self, reached: Elite) -> bool:
        """Put a schedule into the elite; return whether it was.

        It replaces the nearest elite schedule if that is similar and worse, the worst one if none is similar.
        """
        distances = [distance(each, reached) for each in self.elite]
        at = int(np.argmin(distances))
        if distances[at] >= SIMILAR * reached.mode.size:
            at = max(range(len(self.elite)), key=lambda k: self.elite[k].value)
        if reached.value >= self.elite[at].value:
            return False
        self.elite[at] = reached
        return True

    def _relinked(self) -> Steps:
        """Return the result of a tabu search from the best schedule between two elite ones."""
        rng = self.search.rng
        settings = self.settings
        one, other = (self.elite[int(k)] for k in rng.permutation(len(self.elite))[:2])
        best: Elite | None = None
        for share in rng.uniform(NEAREST, FARTHEST, settings.between):
            reached = yield from self._run(*between(one, other, float(share), rng), settings.short)
            if best is None or reached.value < best.value:
                best = reached
        assert best is not None
        return (yield from self._run(best.order, best.mode, settings.patience))

    def _run(self, order: Ints, mode: Ints, patience: int) -> Steps:
        """Return the best schedule of a tabu search; report it if it is the best one of the search."""
        s = self.search
        memory = self.memory
        over = False
        begin(self.tasks, self.machine, self.plan, self.paths, memory, order, mode)
        while not over:
            steps = 0
            most = self.left
            if most > 0:
                steps = tabu_search(
                    self.tasks,
                    self.machine,
                    self.plan,
                    self.paths,
                    self.room,
                    memory,
                    s.least,
                    patience,
                    most,
                    s.random,
                    s.clock.stop,
                )
            self.left -= max(1, steps)  # a run without a move counts, too: the turn has an end
            over = steps < most and s.clock.stop[0] == 0
            if memory.numbers[BEST] < s.best_value:
                self._report()
            if not over:
                yield
        return self._made(memory.order, memory.mode)

    def _report(self) -> None:
        """Report the best schedule of the run."""
        memory = self.memory
        value = self._arrange(memory.order, memory.mode)
        ends = self.best_paths.head + self.tasks.duration[memory.mode]
        if (ends <= self.search.arrays.aim.deadline).all():
            self.search.keep(value, self.best_paths.head, memory.mode)

    def _made(self, order: Ints, mode: Ints) -> Elite:
        """Return the schedule of an order and modes."""
        value = self._arrange(order, mode)
        return Elite(value, order.copy(), mode.copy(), self.best_plan.before.copy())

    def _arrange(self, order: Ints, mode: Ints) -> int:
        """Schedule the tasks in an order, each as early as possible, apart from the current run; return the makespan."""
        return int(semi_active(self.tasks, self.machine, self.best_plan, self.best_paths, order, mode))
