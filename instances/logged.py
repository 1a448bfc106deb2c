"""A job as a log records it, and columns of texts: the data that the readers of log formats fill in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..models.dispatch.chunks.chunk import Chunk
from .files.writing import SURROGATE
from .workload import Ints

Bools = NDArray[np.bool_]
MISSING = float("nan")
UNLIMITED = float("inf")
UNNAMED = "none"  # the partition of a job without a partition


@dataclass(frozen=True, eq=False)
class TextColumn:
    """One text per job, stored as indices into the distinct texts ``names``."""

    index: Ints
    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Iterable[str]) -> TextColumn:
        """Make a column of one text per job.

        >>> TextColumn.of(["b", "a", "b"])
        TextColumn(index=array([0, 1, 0]), names=('b', 'a'))
        """
        found: dict[str, int] = {}
        index = np.fromiter((found.setdefault(v, len(found)) for v in values), np.int64)
        return cls(index, tuple(found))

    def keep(self, rows: Ints) -> TextColumn:
        """Return the column of some jobs, without names that none of them uses."""
        used, index = np.unique(self.index[rows], return_inverse=True)
        return TextColumn(index.reshape(-1).astype(np.int64), tuple(self.names[k] for k in used.tolist()))


@dataclass(frozen=True)
class Logged:
    """A job as a log records it; the fields are those of ``Trace``, for one job.

    ``changed``: repairs that the reader made; ``unusable``: the reason why the job cannot be replayed, empty if it can.
    ``chunks``: all chunks of a heterogeneous job, of which ``units`` and ``request`` are the first; ``array``: the name
    of its job array.
    """

    id: str
    submit: float = MISSING
    start: float = MISSING
    runtime: float = MISSING
    walltime: float = MISSING
    units: int = 0
    request: Mapping[str, int] = field(default_factory=dict)
    queue: str = ""
    user: str = ""
    program: str = ""
    power: float = MISSING
    changed: tuple[str, ...] = ()
    unusable: str = ""
    chunks: tuple[Chunk, ...] = ()
    array: str = ""


def merged(chunks: Iterable[tuple[int, Mapping[str, int]]]) -> list[Chunk]:
    """Return chunks of which no two have the same request: those that have are joined; in the order of the first ones.

    >>> merged([(1, {"cores": 2}), (3, {"cores": 1}), (2, {"cores": 2})])
    [Chunk(units=3, request={'cores': 2}), Chunk(units=3, request={'cores': 1})]
    """
    found: dict[tuple[tuple[str, int], ...], Chunk] = {}
    for units, request in chunks:
        key = tuple(sorted(request.items()))
        found[key] = Chunk(units + (found[key].units if key in found else 0), request)
    return list(found.values())


class Preceding(NamedTuple):
    """The job that a job waits for.

    Parameters
    ----------
    job
        Id of the preceding job.
    think
        Seconds from the end of the preceding job to the arrival of the job.
    line
        Line of the job in the log, from 1.
    """

    job: str
    think: int
    line: int


def plain(name: str) -> str:
    """Return a name that a CSV file can hold: without surrounding spaces, and with U+FFFD for surrogates.

    >>> plain(" a b ")
    'a b'
    """
    return SURROGATE.sub("\ufffd", name).strip()
