"""The further chunks of heterogeneous jobs as flat arrays, beside the arrays of the jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ..jobs import Job

Ints = NDArray[np.int64]
T = TypeVar("T")


class FurtherChunks(NamedTuple):
    """All chunks but the first one of each job, in the order of the jobs; shape (chunks,) each.

    Parameters
    ----------
    job : array of int
        The index of the job, ascending.
    units : array of int
        The number of units.
    kind : array of int
        The row of ``JobArrays.requests`` that holds the request.
    """

    job: Ints
    units: Ints
    kind: Ints

    def some(self, index: Ints, jobs: int) -> FurtherChunks | None:
        """Return the chunks of some of the ``jobs`` jobs, in the order of the indices; None if there are none."""
        count, first = self.counts(jobs), np.searchsorted(self.job, index)
        each = count[index]
        at = np.repeat(first - np.cumsum(each) + each, each) + np.arange(int(each.sum()))
        if not at.size:
            return None
        return FurtherChunks(np.repeat(np.arange(index.size), each), self.units[at], self.kind[at])

    def counts(self, jobs: int) -> Ints:
        """Return the number of further chunks of each job, shape (jobs,)."""
        return np.bincount(self.job, minlength=jobs).astype(np.int64)


def further_chunks(jobs: Sequence[Job]) -> list[tuple[int, int, Job]]:
    """Return (index of the job, units, part) of all chunks of these jobs but the first ones."""
    return [(k, part.units, part) for k, job in enumerate(jobs) if job.chunks for part in job.parts[1:]]


def kept_rows(values: Mapping[int, T], kept: Sequence[int]) -> dict[int, T]:
    """Return the values of some rows by their new rows: the places of the old ones in ``kept``.

    Examples
    --------
    >>> kept_rows({3: "a", 5: "b"}, [5, 1])
    {0: 'b'}
    """
    return {new: values[old] for new, old in enumerate(kept) if old in values} if values else {}
