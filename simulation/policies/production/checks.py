"""The checks of a scheduling cycle [Bridi2018, figure 4.3]: eligible jobs, use of the nodes, starts.

``CHECKS`` are the rules by which waiting jobs take part in a cycle. Features that bar jobs for a time, such as stopped
queues, are further functions in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....models.dispatch.job_arrays import Bools, Ints, NodeArrays
from ....models.dispatch.running.amounts import occupied
from ....models.node_states import node_states
from ...dispatcher import Moment, Start
from ..cp.waiting import Waiting, can_start_now

Check = Callable[[Moment, Waiting, NodeArrays], Bools]
"""Function that returns the mask of the waiting jobs that may take part in the cycle."""


def fits_nodes_that_are_up(moment: Moment, jobs: Waiting, nodes: NodeArrays) -> Bools:
    """Return the mask of the jobs that fit, each alone, on the empty nodes that take starts [Bridi2018, (4.6)].

    The others could not start before the state of a node changes. Jobs that do not fit on the whole machine never reach
    a dispatcher: they are left out when the workload is read.
    """
    known = node_states()
    up = np.array([known[state].starts for state in moment.states], np.bool_)
    return can_start_now(nodes.capacity[up] if up.size else nodes.capacity, jobs)


CHECKS: tuple[Check, ...] = (fits_nodes_that_are_up,)


def eligible(moment: Moment, jobs: Waiting, nodes: NodeArrays) -> Bools:
    """Return the mask of the jobs that pass all checks."""
    found = np.ones(len(jobs.jobs), np.bool_)
    for check in CHECKS:
        found &= check(moment, jobs, nodes)
    return found


def overused(moment: Moment, nodes: NodeArrays) -> list[str]:
    """Return the names of the nodes that hold more than they have, and of those with jobs that cannot run on them.

    Until the running jobs and the nodes are consistent again, no decision is made.
    """
    _, node, used = occupied(moment.running, nodes)
    free = nodes.capacity.copy()
    np.subtract.at(free, node, used)
    wrong: Bools = np.any(free < 0, axis=1)
    known = node_states()
    stopped = np.array([not known[state].runs for state in moment.states], np.bool_)
    if stopped.any():
        wrong[np.intersect1d(np.flatnonzero(stopped), node)] = True
    return [moment.platform.nodes[n] for n in np.flatnonzero(wrong).tolist()]


def without_overuse(starts: Sequence[Start], jobs: Waiting, free: Ints, names: Sequence[str]) -> list[Start]:
    """Return the starts that fit one after the other into what is free now; the other jobs wait for the next cycle.

    Parameters
    ----------
    starts : sequence of Start
        The starts of a solution.
    jobs : Waiting
        The jobs of the model.
    free : ndarray of int64, shape (nodes, resources)
        The free amounts.
    names : sequence of str
        The names of the nodes, in the order of ``free``.
    """
    row = {job.id: j for j, job in enumerate(jobs.jobs)}
    number = {name: n for n, name in enumerate(names)}
    rows, left, kept = jobs.rows, free.copy(), []
    for start in starts:
        need, j = np.zeros_like(free), row[start.job]
        chunks = [j, *range(rows.first[j], rows.first[j + 1])]
        for chunk, nodes in zip(chunks, (start.nodes, *start.further), strict=True):
            index = [number[name] for name in nodes]
            need[index] += np.array(list(nodes.values()), np.int64)[:, None] * jobs.requests[rows.kind[chunk]]
        used = need.any(axis=1)
        if (left[used] >= need[used]).all():
            left -= need
            kept.append(start)
    return kept
