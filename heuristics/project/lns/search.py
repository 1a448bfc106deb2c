"""A large-neighbourhood search for projects.

1. Make schedules with all priority rules, by the serial and the parallel scheme, and with rules plus random numbers; each is
   justified twice (``kernels.projects.generation``). Keep the best ones. A start is kept as well.
2. Select an operator, by default one that has had less than its share of the time, else the one with the best recent
   gain per second (``lns.selection``).
3. Let it take a turn:

   - ``crossover``: join parts of two kept schedules (``evolution``, [Debels2007]).
   - ``ruin``: change the order and modes of the tasks of a window of time, of a resource, or of a part of the network of
     precedences; schedule all tasks anew (``evolution``).
   - ``solver`` (if a backend is named): free some tasks; the backend looks for a shorter schedule in which the others keep
     their modes and their order (``solver_parts``).
   - ``tabu`` (for job shops and flexible job shops, ``tabu.shop``): tabu search on the disjunctive graph, and path relinking
     between its best schedules (``tabu.operator``). With a time limit it has most of the time.

4. An acceptance criterion decides whether the new schedule replaces the one it was made from (``lns.acceptance``).
5. Repeat from step 2 until a stopping criterion or the time limit ends the search (``lns.stopping``), or the makespan is
   a lower bound (``project.bounds``).

With several threads, each thread has a search of its own from step 2 on; they share their best schedule
(``lns.threads.team``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ....backends.result import Result
from ....errors import WrongArgument
from ....models import Mode, Project, Resource, Schedule, Task
from ...clock import Clock
from ...compiled_first import compiled_first
from ...incumbents import OnIncumbent
from ...kernels.projects.tasks import Tasks
from ...lns.acceptance import Acceptance
from ...lns.selection import Alternate, GainPerSecond, Selection
from ...lns.stopping import FirstOf, Seconds, Stopping, Turns
from ...lns.threads.turns import as_text
from ..bounds import Bounds
from .evolution import Evolution
from .solver_parts import SolverParts
from .state import ProjectSearch
from .tabu.operator import TabuSearch
from .tabu.shop import machines

TABU_SHARE, OTHERS_SHARE = 0.75, 0.05  # of the time of a search for a shop; the rest is for what gains most


@compiled_first("project.lns.search:warm_up")
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
        Its bound is that of the longest path and of the energy (``project.bounds``, steps 2 and 3). Its ``details``: ``operators``,
        the ``Gain`` of each operator (turns, seconds, improvement), by its name.

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
    search = ProjectSearch(
        problem,
        _least(problem),
        time_limit=time_limit,
        seed=seed,
        warm_start=warm_start,
        on_incumbent=on_incumbent,
        acceptance=acceptance,
        turn_seconds=turn_seconds,
    )
    limits: list[Stopping] = [] if time_limit is None else [Seconds(time_limit)]
    limits += [] if stopping is None else [stopping]
    limits += [] if rounds is None else [Turns(rounds)]
    if operators is None:
        operators = usual_operators(search.arrays.tasks, backend)
    if selection is None:
        selection = Alternate() if time_limit is None else usual_selection(operators)
    search.run(operators, selection, FirstOf(tuple(limits or [Turns()])), max(1, threads or 1))
    gains = search.gains
    found = search.seen.result(search.schedule(), message=as_text(gains), details={"operators": gains})
    if found.status != "error":
        found.bound = search.least
        found.status = "optimal" if found.objective == found.bound else found.status
    return found


def _least(problem: Project) -> int:
    """Return a lower bound that is computed in a small part of a second."""
    return max(Bounds(problem, Clock(None)).quick().values())


def usual_operators(tasks: Tasks, backend: str | None = None) -> tuple[Any, ...]:
    """Return the default operators: for a shop "tabu", then "crossover", "ruin", and with a backend "solver"."""
    found: list[Any] = [] if machines(tasks) is None else [TabuSearch()]
    found += [Evolution("crossover", ("crossover",)), Evolution("ruin", ("window", "resource", "network"))]
    return (*found, SolverParts(backend)) if backend is not None else tuple(found)


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
