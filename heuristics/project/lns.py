"""A large-neighbourhood search for projects, of which a backend may solve parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.result import Result
from ...errors import WrongArgument
from ...models import Mode, Project, Resource, Schedule, Task
from ...models.excerpt import with_short_repr
from ...models.project.formulations import exclusive_sets, part_formulation
from ..clock import Clock, compiled_first
from ..incumbents import OnIncumbent
from ..kernels.projects.schedules import Tasks
from ..lns.control import Acceptance, Alternate, FirstOf, GainPerSecond, Seconds, Selection, Stopping, Turns
from ..lns.turns import as_text
from ..neighbourhood_solve import check_available, limits_of_turn
from .bounds import MOST_EXCLUSIVE, MakespanBounds
from .lns_state import Evolution, ProjectSearch
from .solver_bound import kept_for_bound, proved_bound
from .tabu import TabuSearch, machines

if TYPE_CHECKING:
    from ...backends import Limits
    from ...models.array_types import Ints


# --- Operator "solver": a backend solves a part of the best schedule of a project.

TRIES = 5  # parts in a turn of which the longest path shows that they cannot be improved
QUICK = 0.3  # share of the time limit of a part; after a quicker proof the next part is larger


@with_short_repr
@dataclass(frozen=True)
class SolverParts:
    """Operator "solver": a backend looks for a shorter schedule in which some tasks are free.

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
        self.exclusive = list(exclusive_sets(search.problem)) if few else []

    def turn(self, seconds: float | None) -> None:
        """Let the backend improve one part."""
        from ...backends import INTERRUPTED, Interrupted, LoweringTooLarge, SolverUnavailable

        s = self.search
        settings = self.settings
        s.check(0.2)
        seed = int(s.rng.integers(2**31))
        limits = limits_of_turn(seconds, s.clock, settings.seconds, settings.work, settings.threads, seed)
        try:
            status, shorter = self._solved(limits)
        except (SolverUnavailable, LoweringTooLarge):
            status = "unknown"
            shorter = None
        if status == INTERRUPTED:
            raise Interrupted
        grown = {"infeasible": 1.2, "slow": 1.0, "optimal": 1.0}.get(status, 0.85)
        self.size = int(np.clip(round(self.size * grown), 4, settings.most_tasks))
        if shorter is not None:
            starts, modes = s.arrays.placed(shorter)
            better = s.made(starts.astype(np.float64), modes, False, False)
            s.replace_worst(better)
            s.keep(*better)

    def _solved(self, limits: Limits) -> tuple[str, Schedule | None]:
        """Solve a part; return the status, "slow" for a proof that took long, and the schedule, if it is shorter."""
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


# --- A large-neighbourhood search for projects.
#
# 1. Make schedules with all priority rules, by the serial and the parallel scheme, and with rules plus random numbers; each is
#    justified twice (``kernels.projects.schedules``). Keep the best ones. A start is kept as well.
# 2. Select an operator, by default one that has had less than its share of the time, else the one with the best recent
#    gain per second (``lns.control``).
# 3. Let it take a turn:
#
#    - ``crossover``: join parts of two kept schedules (``evolution``, [Debels2007]).
#    - ``ruin``: change the order and modes of the tasks of a window of time, of a resource, or of a part of the network of
#      precedences; schedule all tasks anew (``evolution``).
#    - ``solver`` (if a backend is named): free some tasks; the backend looks for a shorter schedule in which the others keep
#      their modes and their order (``solver_parts``).
#    - ``tabu`` (for job shops and flexible job shops, ``tabu.shop``): tabu search on the disjunctive graph, and path relinking
#      between its best schedules (``tabu.operator``). With a time limit it has most of the time.
#
# 4. An acceptance criterion decides whether the new schedule replaces the one it was made from (``lns.control``).
# 5. Repeat from step 2 until a stopping criterion or the time limit ends the search (``lns.control``), or the makespan is
#    a lower bound (``project.bounds``).
#
# 6. With a time limit of 5 s or more that the search has not proved its schedule within, CP-SAT looks for a better bound in
#    the last tenth of it (``solver_bound``).
#
# With several threads, each thread has a search of its own from step 2 on; they share their best schedule
# (``lns.turns``).

TABU_SHARE = 0.75  # of the time of a search for a shop: for tabu search
OTHERS_SHARE = 0.05  # of that time: for each other operator; the rest is for what gains most


@compiled_first("project.lns:warm_up")
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
        A project.
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
        Its bound is that of the longest path and of the energy (``project.bounds``, steps 2 and 3). With a time limit of 5 s
        or more, the last tenth of it is for the other steps, and for a run of CP-SAT from the best schedule: the greatest
        bound is taken, and a better schedule. Its ``details``: ``operators``, the ``Gain`` of each operator (turns, seconds,
        improvement), by its name.

    Raises
    ------
    NothingFound
        No choice of modes was found for which the non-renewable resources suffice, and there is no start.
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
    kept = kept_for_bound(problem, time_limit)
    searching = None if time_limit is None else time_limit - kept
    search = ProjectSearch(
        problem,
        _least(problem),
        time_limit=searching,
        seed=seed,
        warm_start=warm_start,
        on_incumbent=on_incumbent,
        acceptance=acceptance,
        turn_seconds=turn_seconds,
    )
    limits: list[Stopping] = [] if searching is None else [Seconds(searching)]
    limits += [] if stopping is None else [stopping]
    limits += [] if rounds is None else [Turns(rounds)]
    if operators is None:
        operators = usual_operators(search.arrays.tasks, backend)
    if selection is None:
        selection = Alternate() if time_limit is None else usual_selection(operators)
    search.run(operators, selection, FirstOf(tuple(limits or [Turns()])), max(1, threads or 1))
    return _with_bound(search, kept, max(1, threads or 1), seed)


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
        message = INTERRUPTED if proved.interrupted else message
        if proved.schedule is not None:
            schedule = proved.schedule
            better = schedule
            search.seen.report(search.problem.value(schedule), lambda: better)
    result = search.seen.result(schedule, message=message, details={"operators": gains})
    if result.status != "error":
        result.bound = least
        result.status = "optimal" if result.objective == least else result.status
    return result


def _least(problem: Project) -> int:
    """Return a lower bound that is computed in a small part of a second."""
    return max(MakespanBounds(problem, Clock()).quick().values())


def usual_operators(tasks: Tasks, backend: str | None = None) -> tuple[Any, ...]:
    """Return the default operators: for a shop "tabu", then "crossover", "ruin", and with a backend "solver"."""
    operators: list[Any] = [] if machines(tasks) is None else [TabuSearch()]
    operators += [Evolution("crossover", ("crossover",)), Evolution("ruin", ("window", "resource", "network"))]
    return (*operators, SolverParts(backend)) if backend is not None else tuple(operators)


def usual_selection(operators: Sequence[Any]) -> Selection:
    """Return the default selection with a time limit: most of the time is for tabu search, if it is one of the operators."""
    tabu = [operator.name for operator in operators if isinstance(operator, TabuSearch)]
    return GainPerSecond(OTHERS_SHARE, dict.fromkeys(tabu, TABU_SHARE)) if tabu else GainPerSecond()


@cache
def warm_up() -> None:
    """Compile the kernels of this search, or load them from numba's cache."""
    crew = [Resource("crew", 2), Resource("money", 9, renewable=False)]
    modes = (Mode("fast", 1, {"crew": 2, "money": 3}), Mode("slow", 3, {"crew": 1, "money": 1}))
    project_lns(Project([Task(name, modes) for name in "abcde"], crew, [("a", "b")]), rounds=4)
    saws = [Resource("saw 1", 1), Resource("saw 2", 1)]
    cuts = [Task(name, (Mode("1", 2, {"saw 1": 1}), Mode("2", 3, {"saw 2": 1}))) for name in "abcde"]
    project_lns(Project(cuts, saws), rounds=2, operators=[TabuSearch()])
