"""Work of an interval in the cells of a grid, and bounds on it: data of the energy lowering (``energy``).

Cell t is ``[P[t], P[t+1])`` with length ``l[t] = P[t+1] - P[t]`` seconds. For an interval that runs in ``[s, e)``::

    y[t] = (1 / l[t]) * (integral of 1 over the times tau of cell t in [s, e))
    h[t] = (1 / l[t]^2) * (integral of P[t+1] - tau over the times tau of cell t in [s, e))

So y is the share of the cell in which the interval runs, and h the first moment of the time left until the end of the
cell; a full cell has y = 1 and h = 1/2. If the interval can run in cell t for a share of at most ``most[t]`` and not
before the time ``P[t+1] - room[t] l[t]``, then ``h[t] <= room[t] y[t]`` and
``h[t] <= most[t] (room[t] - most[t] / 2)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...models.language import Interval
from .form import INF, Floats, Ints


@dataclass(frozen=True, eq=False)
class Work:
    """The columns ``y + k`` and ``h + k`` of one interval in each cell ``cells[k]`` that it can reach.

    Attributes
    ----------
    cells : array of shape (n,)
        Index of each cell.
    y, h : int
        First column of the shares and of the moments.
    most : array of shape (n,)
        Greatest share of each cell.
    room : array of shape (n,)
        Longest time from a running instant to the end of each cell, divided by the cell's length.
    moment : array of shape (n,)
        Greatest h of each cell.
    """

    cells: Ints
    y: int
    h: int
    most: Floats
    room: Floats
    moment: Floats


def reach(v: Interval, points: Floats) -> tuple[Ints, Floats, Floats]:
    """Return the cells in which an interval can run, and ``most`` and ``room`` of each (see ``Work``)."""
    begin, end = points[:-1], points[1:]
    share, earliest = np.zeros(len(begin)), end.copy()
    covered = -INF  # the end of the time counted so far, so that windows whose runs meet are not counted twice
    for lo, hi in v.windows:
        a, covered = max(float(lo), covered), max(covered, float(hi + v.size_hi))
        share += cell_integrals(begin, end, a, covered)[0]
        touched = (end > a) & (begin < covered)
        earliest[touched] = np.minimum(earliest[touched], np.maximum(begin[touched], a))
    cells = np.flatnonzero(share > 0)
    length = (end - begin)[cells]
    return cells, np.minimum(share[cells], v.size_hi / length), (end - earliest)[cells] / length


def cell_integrals(begin: Floats, end: Floats, lo: float, hi: float) -> tuple[Floats, Floats]:
    """Return y and h of an interval that runs in [lo, hi) (see the module).

    Parameters
    ----------
    begin, end : arrays of shape (n,)
        The cells ``[begin[t], end[t])`` in seconds.
    lo, hi : float
        Start and end of the interval in seconds; infinite values are allowed.

    Returns
    -------
    y, h : arrays of shape (n,)
        Share and moment of each cell.

    Examples
    --------
    >>> y, h = cell_integrals(np.array([0.0, 4.0]), np.array([4.0, 8.0]), 0, 6)
    >>> y.tolist(), h.tolist()
    ([1.0, 0.5], [0.5, 0.375])
    """
    length = end - begin
    a, b = np.clip(lo, begin, end), np.clip(hi, begin, end)
    return (b - a) / length, ((end - a) ** 2 - (end - b) ** 2) / (2 * length**2)
