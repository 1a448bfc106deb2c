"""A large-neighbourhood search for dispatching and profit problems (no published source).

1. Place the jobs by weighted area (``list_scheduling``; last in profit problems, whose objective has no waits) and in
   the orders of the presets (weights of job features, ``state.PRESETS``), in as many threads as there are searches. In profit
   problems also try joins: one order until a time, another one after it (``list_scheduling``). Keep the best
   orders (``state.Population``). A start is kept as well, as it is, and as the list schedule of the order of its starts.
2. Select an operator, by default one that has had less than its share of the time, else the one with the best recent
   gain per second (``control.Selection``).
3. Let it take a turn:

   - ``keys``: change the random keys of a kept order (the later, the more often the best one): other weights of the
     features, noise on single jobs. Place all jobs anew (``operators.KeyChanges``).
   - ``moves``: move one to three jobs of the best order by short or long distances, place the jobs after the first
     change anew (``operators.OrderMoves``).
   - ``ruin``: remove jobs around an idle time of some nodes, or with consecutive starts, together with some waiting
     jobs; insert them again in one of several orders; all other jobs stay (``operators.RuinAndRecreate``).
   - ``solver`` (if a backend is named): free some jobs of a window in the same way; the backend inserts them
     (``operators.SolverWindows``).

4. An acceptance criterion decides whether the search goes on from the new order or schedule (``control.Acceptance``). The best
   schedule is kept.
5. Repeat from step 2 until a stopping criterion or the time limit ends the search (``control.Stopping``).

With several threads, each thread has a search of its own from step 2 on; they share their best order (``control.Team``).

In a profit problem, jobs that find no start before ``horizon_end`` are postponed: they start after it, at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ...backends.base import MOST_THREADS
from ...backends.result import Result
from ...errors import WrongArgument, WrongValue
from ...models import Cooling, Dispatch, Profit, Schedule, StepFunction
from ...models.arguments import Natural, NonNegative, Positive, checked
from ...models.kind import WithProblem, given_problem
from ..arrays import Arrays
from ..clock import compiled_first
from ..errors import NothingFound, keeping_limits
from ..incumbents import OnIncumbent
from ..kernels.costs import EARNINGS, LAST_END, objective
from ..list_scheduling import tiny
from .control import Acceptance, Alternate, FirstOf, GainPerSecond, Seconds, Selection, Stopping, Turns, as_text
from .operators import KeyChanges, Operator, OrderMoves, RuinAndRecreate, SolverWindows
from .state import LnsSearch, Population

ORDERS_SHARE = 0.7  # profit problems: share of the time for orders; then "ruin" and "solver" improve the best schedule
ORDER_SHARES = {"keys": 0.02, "moves": 0.03}  # sums of costs of the jobs: least shares of the time


@checked(skip=("problem", "warm_start"))
@compiled_first("lns.search:warm_up")
def lns(
    problem: Dispatch | Profit | WithProblem | str,
    *,
    time_limit: NonNegative | None = None,
    threads: Positive | None = None,
    seed: Natural = 0,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
    rounds: Positive | None = None,
    backend: str | None = None,
    operators: Sequence[Operator] | None = None,
    selection: Selection | None = None,
    acceptance: Acceptance | None = None,
    stopping: Stopping | None = None,
    population: Population | None = None,
    turn_seconds: NonNegative = 0.15,
) -> Result:
    """Return the best schedule of a large-neighbourhood search over orders and over parts of the schedule.

    Without a time limit the result depends on the seed and the threads only, if the given objects look at no clock.

    Parameters
    ----------
    problem
        A dispatching or profit problem, an Instance, or the name of one.
    time_limit
        Seconds; None: no limit. The first schedule is always finished.
    threads
        Most threads: that many searches share their best order, or with a backend, which has one search, threads of the
        solver. None: one search, and all cores for the solver.
    seed
        Seed of the random numbers.
    warm_start
        A schedule that the operators improve, beside the presets; None: no start.
    on_incumbent
        Called with each Incumbent; return False to stop.
    rounds
        Number of turns of each search; None: 60 without a time limit and a stopping criterion, else no limit.
    backend
        A solver that takes turns as well; None: no solver.
    operators
        The operators, with different names; None: ``usual_operators``. Not together with ``backend``.
    selection
        Selects the operator of the next turn; None: ``usual_selection``.
    acceptance
        Acceptance criterion of all operators; None: each operator has its own.
    stopping
        Ends the search if ``time_limit`` and ``rounds`` do not end it before; None: only these two.
    population
        The orders that are kept; None: ``Population()``.
    turn_seconds
        Seconds of a turn if there is a time limit; a turn is longer if one trial is longer.

    Returns
    -------
    Result
        Its ``details``: ``operators``, the ``Gain`` of each operator (turns, seconds, improvement), by its name.

    Raises
    ------
    NothingFound
        If no order leads to a schedule, or to none that keeps the limits on objectives, and there is no start.
    SolverUnavailable
        If the backend is not installed.
    UnknownName
        If the name of the backend is unknown.
    TypeError
        If both operators and a backend are given: the operator ``SolverWindows`` names its backend.
    ValueError
        If there is no operator, if two have the same name, or if one does not support the problem.

    Examples
    --------
    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, d, 1, {"cores": c}, "q") for n, d, c in (("a", 9, 2), ("b", 2, 1), ("c", 3, 1))]
    >>> p = Dispatch(Platform([NodeGroup("n", 1, {"cores": 2})]), jobs, [Queue("q", 60)], "waiting")
    >>> lns(p, rounds=3).objective
    3
    """
    p: Dispatch | Profit = given_problem(problem, ("dispatch", "profit"), "lns")
    if operators is not None and backend is not None:
        raise WrongArgument("lns takes operators or a backend; with operators, SolverWindows names the backend")
    time_limit = None if time_limit == np.inf else time_limit
    if threads is not None and threads > MOST_THREADS:
        raise WrongValue(f"threads of lns is {threads}; expected at most {MOST_THREADS:,}")
    search = LnsSearch(
        p,
        time_limit=time_limit,
        seed=seed,
        warm_start=warm_start,
        on_incumbent=on_incumbent,
        acceptance=acceptance,
        population=population,
        turn_seconds=turn_seconds,
    )
    limits: list[Stopping] = [] if time_limit is None else [Seconds(time_limit)]
    limits += [] if stopping is None else [stopping]
    limits += [] if rounds is None else [Turns(rounds)]
    if operators is None:
        operators = usual_operators(search.arrays, backend, threads)
    if selection is None:
        selection = usual_selection(search.arrays, operators, time_limit is not None)
    searches = 1 if any(isinstance(one, SolverWindows) for one in operators) else max(1, threads or 1)
    search.run(operators, selection, FirstOf(tuple(limits or [Turns()])), searches)
    start = search.seen.start
    if not np.isfinite(search.best_value) and start is None:
        raise NothingFound("no order of the jobs that was tried leads to a schedule")
    best = start if start is not None and not np.isfinite(search.best_value) else search.schedule()
    keeping_limits(search.arrays.dispatch, best)
    gains = search.gains
    return search.seen.result(best, message=as_text(gains), details={"operators": gains})


def usual_operators(a: Arrays, backend: str | None = None, threads: int | None = None) -> tuple[Operator, ...]:
    """Return the default operators of a problem.

    Parameters
    ----------
    a
        The arrays of the problem.
    backend
        A solver that takes turns as well; None: no solver.
    threads
        Threads of the solver; None: all cores.

    Returns
    -------
    tuple
        ``KeyChanges``, ``OrderMoves``, ``RuinAndRecreate`` (not for makespan), ``SolverWindows`` (with a backend).
    """
    operators: list[Operator] = [KeyChanges(), OrderMoves()]
    operators += [] if a.costs.mode == LAST_END else [RuinAndRecreate()]
    operators += [] if backend is None else [SolverWindows(backend, threads)]
    return tuple(operators)


def usual_selection(a: Arrays, operators: Sequence[Operator], timed: bool) -> Selection:
    """Return the default selection; for profits, "ruin" and "solver" come late, as other orders gain more.

    Parameters
    ----------
    a
        The arrays of the problem.
    operators
        The operators.
    timed
        Whether there is a time limit. Without one, the selection must not depend on the clock.

    Returns
    -------
    Selection
        ``GainPerSecond`` with a time limit, else ``Alternate``.
    """
    polish = [o.name for o in operators if o.name in ("ruin", "solver")] if a.costs.mode == EARNINGS else []
    since = dict.fromkeys(polish, ORDERS_SHARE)
    if not timed:
        return Alternate(since)
    shares = {name: (1 - ORDERS_SHARE) / len(polish) for name in polish}
    if a.costs.mode == EARNINGS:
        shares["keys"] = ORDERS_SHARE
    elif a.costs.mode != LAST_END:
        shares |= ORDER_SHARES
    return GainPerSecond(shares=shares, since=since)


def _tiny() -> Profit:
    flat = Cooling("flat", (0, 40), (0, 10), ((0, 1), (0, 1)))
    return Profit(tiny(), StepFunction.constant(20.0, 0, 120), flat, 1.0, 0.1, horizon_end=60)


@cache
def warm_up() -> None:
    """Compile the kernels of this search, or load them from numba's cache."""
    lns(_tiny(), rounds=4)


def warm_up_late() -> None:
    """Compile what this search needs late, for a second process: the objective, and the operator "ruin"."""
    search = LnsSearch(_tiny())
    starts = np.arange(3) * 10
    value = float(objective(search.arrays.costs, search.arrays.jobs, starts))
    search.keep(value, starts, np.zeros(3, np.int64))
    RuinAndRecreate().start(search)(None)
