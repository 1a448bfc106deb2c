"""Improvement of a neighbourhood by a backend: some jobs of a schedule may move, all others stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..models.dispatch.objectives import excess_of
from ..models.neighbourhood import Neighbourhoods, Some
from ..models.schedule_arrays import ScheduleArrays
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
