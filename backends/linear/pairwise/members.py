"""The intervals and fillers of one resource of the pairwise lowering, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....models.language import Interval
from ....models.language.bounds import attribute_bounds
from ..form import Affine, Ints, Point


@dataclass(frozen=True, eq=False)
class Members:
    """The n intervals of one resource followed by its m fillers, as arrays of length n + m unless noted.

    Attributes
    ----------
    index : array of shape (n,)
        Index of each interval in the model.
    filler : array of shape (m, 2)
        Start and end of each filler in seconds.
    start, size : arrays
        Columns of the start and of the size; size -1 if it is fixed.
    fixed : array
        The size in seconds if it is fixed, else 0.
    low, high : arrays
        Earliest and latest start in seconds if present.
    floor, ceiling : arrays
        Bounds of the start column in seconds, with the 0 of an absent interval included.
    size_lo, size_hi : arrays
        Least and greatest size in seconds.
    runs : list of Affine
        The flag r of each member.
    """

    index: Ints
    filler: Ints
    start: Ints
    size: Ints
    fixed: Ints
    low: Ints
    high: Ints
    floor: Ints
    ceiling: Ints
    size_lo: Ints
    size_hi: Ints
    runs: list[Affine]

    def times(self, p: Point) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Return start, end and whether it runs (present, positive size) of each member at a point."""
        s = np.concatenate([p.start[self.index], self.filler[:, 0]])
        e = np.concatenate([p.end[self.index], self.filler[:, 1]])
        present = np.concatenate([p.present[self.index], np.ones(len(self.filler), dtype=bool)])
        return s, e, present & (e > s)


def span(v: Interval) -> tuple[int, int, int, int]:
    """Return the bounds of the start of v if it is present, then the bounds of its start column."""
    return v.start_lo, v.start_hi, *attribute_bounds(v, "start")


def state(p: Point, m: Members, a: Ints, b: Ints, whole: bool, gap: int) -> NDArray[np.bool_]:
    """Return the values of the binaries B (``whole``) or A of the pairs (a, b) at a point."""
    s, e, runs = m.times(p)
    both = runs[a] & runs[b]
    if whole:
        return both & (e[a] <= s[b])
    return both & (s[a] + gap <= s[b]) & (s[b] < e[a])
