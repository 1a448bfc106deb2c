"""Improvement of a neighbourhood by a backend: some jobs of a schedule may move, all others stay."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from ..models import Dispatch, Profit, Schedule
from ..models.dispatch.objectives import excess_of
from ..models.neighbourhood import Neighbourhoods, Some
from ..models.schedule_arrays import ScheduleArrays
from .arrays import arrays
from .clock import Clock

if TYPE_CHECKING:
    from ..backends import Limits, Result

BETTER = 1e-9  # relative: smaller improvements are rounding errors


def check_available(backend: str) -> None:
    """Raise SolverUnavailable if a backend cannot be used, UnknownName if there is none of this name."""
    from ..backends import SolverUnavailable
    from ..backends import backend as find

    here = find(backend).availability()
    if not here.ok:
        raise SolverUnavailable(f"backend {backend!r} is not available: {here.reason}")


def limits_of_turn(
    seconds: float | None, clock: Clock, most: float, work: float, threads: int | None, seed: int
) -> Limits:
    """Return the limits of the backend in one turn of a search.

    Parameters
    ----------
    seconds
        Seconds of the turn; None: a turn without a clock.
    clock
        The clock of the search.
    most
        Most seconds of a solution.
    work
        Limit without a clock, in the solver's own unit of work.
    threads
        Threads of the solver; None: all cores.
    seed
        Seed of the solver.
    """
    from ..backends import Limits

    if seconds is None:
        return Limits(None, threads, seed, log=False, deterministic=work)
    return Limits(clock.deadline.at_most(most), threads, seed, log=False)


class Better(NamedTuple):
    """A better schedule.

    Parameters
    ----------
    placement
        Starts and nodes as arrays.
    objective
        The objective by the model; it may differ from the problem's by rounding.
    """

    placement: ScheduleArrays
    objective: float


def improve_placed(
    around: Neighbourhoods,
    placement: ScheduleArrays,
    free: Some,
    backend: str = "cpsat",
    limits: Limits | None = None,
    keep_nodes: Some = (),
    nodes: Some | None = None,
    since: int | None = None,
    until: int | None = None,
    **options: Any,
) -> Better | None:
    """Return a better schedule in which only some jobs have moved; None if none was found.

    The answer is checked against the model, without the solver.

    Parameters
    ----------
    around
        The neighbourhoods of the problem.
    placement
        The schedule as arrays.
    free
        Indices of the jobs whose starts and nodes may change.
    backend
        Name of the backend.
    limits
        Time for the whole call, threads, seed.
    keep_nodes
        Indices of the jobs whose starts may change, but not their nodes.
    nodes
        Indices of the nodes that free jobs may use beside their own; None: all.
    since, until
        Range of the new starts in seconds; None: no bound. See ``Neighbourhoods.model``.
    **options
        Options of the backend.

    Returns
    -------
    Better or None
        The better schedule as arrays.

    Raises
    ------
    SolverUnavailable
        If the backend is missing or rejects the model.
    LoweringTooLarge
        If the model is too large for the lowering.
    ProblemError
        If the jobs that stay overfill a node.
    Interrupted
        After Ctrl-C.
    """
    from ..backends import INTERRUPTED, Interrupted, Limits, SolverUnavailable, run

    limits = (Limits() if limits is None else limits).begun()
    neighbourhood = around.model(placement, free, keep_nodes, nodes, since, until)
    if not neighbourhood.moving:
        return None
    start = neighbourhood.write(placement)
    result: Result = run(neighbourhood.model, backend, limits, warm_start=start, **options)
    if result.status == "unavailable":
        raise SolverUnavailable(result.message)
    if result.message == INTERRUPTED:
        raise Interrupted
    value = result.objective
    if result.assignment is None or result.violations or value is None or isinstance(value, tuple):
        return None
    before = float(neighbourhood.model.value(neighbourhood.model.objectives[0], start))
    sign = around.sign
    broken = excess_of(around.flat.dispatch, placement.starts) > 0  # then any schedule that keeps the limits is better
    if not broken and sign * (before - value) <= BETTER * abs(before):
        return None
    return Better(neighbourhood.read(result.assignment, placement), float(value))


def improve(
    problem: Dispatch | Profit,
    schedule: Schedule,
    free: Collection[str],
    backend: str = "cpsat",
    limits: Limits | None = None,
    keep_nodes: Collection[str] = (),
    nodes: Collection[str] | None = None,
    since: int | None = None,
    until: int | None = None,
    **options: Any,
) -> Schedule | None:
    """Return a verified better schedule in which only some jobs have moved; None if none was found.

    Parameters
    ----------
    problem
        A dispatching or profit problem.
    schedule
        The schedule to improve.
    free
        Ids of the jobs whose starts and nodes may change.
    backend
        Name of the backend.
    limits
        Time for the whole call, threads, seed.
    keep_nodes
        Ids of the jobs whose starts may change, but not their nodes.
    nodes
        Names of the nodes that free jobs may use beside their own; None: all.
    since, until
        Range of the new starts in seconds; None: no bound. See ``Neighbourhoods.model``.
    **options
        Options of the backend.

    Returns
    -------
    Schedule or None
        The better schedule.

    Raises
    ------
    KeyError
        If a job or node does not exist.
    SolverUnavailable, LoweringTooLarge, ProblemError, Interrupted
        As ``improve_placed``.

    Examples
    --------
    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, 10, 1, {"cores": 9}, "q") for n in "ab"]
    >>> p = Dispatch(Platform([NodeGroup("n", 2, {"cores": 16})]), jobs, [Queue("q", 60)], "waiting")
    >>> late = Schedule({"a": 0, "b": 10}, {"a": {"n-1": 1}, "b": {"n-1": 1}})
    >>> improve(p, late, free=["b"]).start
    {'a': 0, 'b': 0}
    """
    around = Neighbourhoods(problem)
    flat = around.flat
    some, keep = ([flat.index[i] for i in ids] for ids in (free, keep_nodes))
    where = None if nodes is None else [flat.nodes.index[n] for n in nodes]
    placement = flat.placed(schedule)
    better_one = improve_placed(around, placement, some, backend, limits, keep, where, since, until, **options)
    if better_one is None:
        return None
    better = arrays(problem).schedule(*better_one.placement)
    broken = excess_of(flat.dispatch, placement.starts) > 0
    gain = around.sign * (problem.value(schedule) - problem.value(better))
    return None if problem.verify(better) or (not broken and gain <= 0) else better
