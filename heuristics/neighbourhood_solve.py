"""A neighbourhood of a schedule, improved by a backend: some jobs move, all others stay where they are."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from ..models import Dispatch, Profit, Schedule
from ..models.neighbourhood import Neighbourhoods, Some
from ..models.schedule_arrays import ScheduleArrays
from .arrays import arrays

if TYPE_CHECKING:
    from ..backends import Limits, Result

BETTER = 1e-9  # relative: what is no better than that is rounding


class Better(NamedTuple):
    """A better schedule, and its objective by the model; the problem's own has the last word."""

    placed: ScheduleArrays
    objective: float


def improve_placed(
    around: Neighbourhoods,
    placed: ScheduleArrays,
    free: Some,
    backend: str = "cpsat",
    limits: Limits | None = None,
    keep_nodes: Some = (),
    nodes: Some | None = None,
    since: int | None = None,
    until: int | None = None,
    **options: Any,
) -> Better | None:
    """A better schedule in which the jobs of ``free`` and ``keep_nodes`` (indices) have moved; None if none was found.

    ``limits``: time (of the whole call), threads, seed; ``nodes``, ``since``, ``until``: see ``Neighbourhoods.model``;
    ``options``: of the backend. The answer was checked against the model, without the solver. Raises SolverUnavailable
    for a backend that is missing or does not take the model, LoweringTooLarge for a model too large for its lowering,
    ProblemError where what stays overfills a node, Interrupted at Ctrl-C.
    """
    from ..backends import INTERRUPTED, Interrupted, Limits, SolverUnavailable, run

    began = time.perf_counter()
    found = around.model(placed, free, keep_nodes, nodes, since, until)
    if not found.moving:
        return None
    start = found.write(placed)
    limits = Limits() if limits is None else limits
    result: Result = run(found.model, backend, limits, warm_start=start, began=began, **options)
    if result.status == "unavailable":
        raise SolverUnavailable(result.message)
    if result.message == INTERRUPTED:
        raise Interrupted
    if result.assignment is None or result.violations or result.objective is None:
        return None
    before, sign = float(found.model.value(found.model.objectives[0], start)), around.sign
    if sign * (before - result.objective) <= BETTER * abs(before):
        return None
    return Better(found.read(result.assignment, placed), float(result.objective))


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
    """A verified better schedule in which the jobs of ``free`` and ``keep_nodes`` (ids) have moved; None if none was found.

    As ``improve_placed``, for one neighbourhood of a ``Schedule``. Raises also KeyError for a job or node that does not
    exist.

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
    where = None if nodes is None else [flat.node_index[n] for n in nodes]
    placed = flat.placed(schedule)
    found = improve_placed(around, placed, some, backend, limits, keep, where, since, until, **options)
    if found is None:
        return None
    better = arrays(problem).schedule(*found.placed)
    if problem.verify(better) or around.sign * (problem.objective(schedule) - problem.objective(better)) <= 0:
        return None
    return better
