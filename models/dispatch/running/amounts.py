"""What running jobs occupy on each node, and what they give back to the machine at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..job_arrays import Ints, NodeArrays, distinct_requests
from ..jobs import Running


class Occupied(NamedTuple):
    """What running jobs occupy, one entry per running job and node.

    Parameters
    ----------
    job : array of int, shape (entries,)
        The index of the running job.
    node : array of int, shape (entries,)
        The index of the node.
    amount : array of int, shape (entries, resources)
        The amounts of all units of the job on the node.
    """

    job: Ints
    node: Ints
    amount: Ints


def occupied(running: Sequence[Running], nodes: NodeArrays) -> Occupied:
    """Return what the running jobs occupy on the nodes."""
    rows = [(k, nodes.index[name], units) for k, r in enumerate(running) for name, units in r.nodes.items()]
    # contiguous: kernels are compiled once more for arrays with gaps
    job, node, units = np.ascontiguousarray(np.array(rows, np.int64).reshape(-1, 3).T)
    requests, kind = distinct_requests([r.job for r in running], nodes.platform.resources)
    return Occupied(job, node, units[:, None] * requests[kind[job]])


class Returns(NamedTuple):
    """What running jobs give back to the machine at each of their ends.

    Parameters
    ----------
    end : array of int, shape (ends,)
        Distinct ends in seconds, in increasing order.
    amount : array of int, shape (ends, resources)
        The amounts of all nodes together.
    """

    end: Ints
    amount: Ints

    @classmethod
    def of(cls, end: Ints, amount: Ints, now: int) -> Returns:
        """Make it of an end and amounts per entry; entries that end by ``now`` (seconds) are left out."""
        later = end > now
        ends, which = np.unique(end[later], return_inverse=True)
        total = np.zeros((ends.size, amount.shape[1]), np.int64)
        np.add.at(total, which, amount[later])
        return cls(ends, total)
