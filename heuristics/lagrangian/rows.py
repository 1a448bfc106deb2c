"""Rows: inequalities ``sum_j a[j] <= b`` over the jobs that run at the same instant (proofs: ``docs/bounds.md``).

For a set of node classes C let the *confined* units be those that fit only nodes of C. Rows of C:

``pool``      the requests of the confined units for a resource, at most the capacity of C
``share``     the confined units that request at least q of a resource: on a node with capacity c run at most c // q of them
``rounded``   a dual feasible function f of another row: f(a[j]), at most f(b)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...models.dispatch.job_arrays import Floats, Ints
from ...models.platform import Platform
from .items import Demand, Vector

SUBSETS = 16  # sets of node classes that are used at most
ROUNDINGS = (1, 2, 3, 4)


class Rows(NamedTuple):
    """Inequalities ``a @ running <= b``, where ``running`` counts the running jobs of each demand.

    Parameters
    ----------
    a : array of int, shape (rows, demands)
        Coefficients.
    b : array of int, shape (rows,)
        Limits, above 0.
    """

    a: Ints
    b: Ints

    def some(self, index: Ints) -> Rows:
        """Return some of the rows."""
        return Rows(self.a[index], self.b[index])


def base_rows(platform: Platform, demands: Sequence[Demand]) -> Rows:
    """Return the rows ``pool`` and ``share`` of all sets of classes."""
    classes = [(vector, len(nodes)) for vector, nodes in platform.classes.items()]
    fits = {q: frozenset(c for c, (v, _) in enumerate(classes) if _fits(q, v)) for d in demands for _, q in d}
    sets = list(dict.fromkeys([frozenset(range(len(classes))), *sorted(set(fits.values()), key=lambda s: sorted(s))]))
    found = [
        row
        for chosen in sets[:SUBSETS]
        for row in _rows_of(
            [classes[c] for c in sorted(chosen)],
            [[(units, q) for units, q in d if fits[q] <= chosen] for d in demands],
        )
    ]
    return _joined(found, len(demands))


def roundings(a: Ints, b: int) -> Iterator[tuple[Ints, int]]:
    """Yield the rows of dual feasible functions of a row.

    With x = a / b: ``u_k(x) = x`` if (k + 1) x is a whole number, else ``floor((k + 1) x) / k`` [Fekete2001]; and the
    function that is 1 for x > 1 - e, 0 for x < e, else x.

    Examples
    --------
    >>> [(a.tolist(), b) for a, b in roundings(np.array([3, 1]), 4)][0]
    ([4, 0], 4)
    """
    for k in ROUNDINGS:
        whole = (k + 1) * a // b
        yield np.where((k + 1) * a % b == 0, k * a, b * whole), k * b
    for part in (8, 4, 3):
        e = b // part
        if e > 0:
            yield np.where(a > b - e, b, np.where(a < e, 0, a)), b


def chosen_rows(platform: Platform, demands: Sequence[Demand], load: Floats, bases: int = 16) -> Rows:
    """Return the base rows with the greatest load, at most ``bases``, and the roundings of the first one.

    Parameters
    ----------
    platform : Platform
        The nodes.
    demands : sequence of Demand
        The demands of the jobs.
    load : array of float, shape (demands,)
        The seconds that the jobs of each demand run.
    bases : int
        The greatest number of base rows.
    """
    base = base_rows(platform, demands)
    share = (base.a / base.b[:, None]) @ load
    found = [(base.a[r], int(base.b[r])) for r in np.argsort(-share, kind="stable")[:bases]]
    return _joined([*found, *(row for a, b in found[:1] for row in roundings(a, b))], len(demands))


def _fits(request: Vector, capacity: Vector) -> bool:
    return all(r <= c for r, c in zip(request, capacity, strict=True))


def _rows_of(
    classes: Sequence[tuple[Vector, int]], demands: Sequence[Iterable[tuple[int, Vector]]]
) -> Iterator[tuple[Ints, int]]:
    """Yield the rows ``pool`` and ``share`` of some classes (capacity, number of nodes) and the units confined to them."""
    for r in range(len(classes[0][0]) if classes else 0):
        total = sum(n * v[r] for v, n in classes)
        if total == 0:
            continue
        yield np.array([sum(units * q[r] for units, q in d) for d in demands], np.int64), total
        requests = sorted({q[r] for d in demands for _, q in d if q[r] > 0})
        known: set[tuple[int, ...]] = set()
        for least in requests:
            most = tuple(v[r] // least for v, _ in classes)
            if most not in known:  # the smallest request with these numbers counts the most units
                known.add(most)
                count = [sum(units for units, q in d if q[r] >= least) for d in demands]
                yield np.array(count, np.int64), sum(n * m for (_, n), m in zip(classes, most, strict=True))


def _joined(found: Sequence[tuple[Ints, int]], demands: int) -> Rows:
    """Return the rows with coefficients, divided by their greatest common divisor, each once."""
    kept: dict[tuple[int, ...], None] = {}
    for a, b in found:
        if b > 0 and a.any():
            divisor = int(np.gcd.reduce(np.append(a, b)))
            kept[(*(a // divisor).tolist(), b // divisor)] = None
    table = np.array(list(kept), np.int64).reshape(-1, demands + 1)
    return Rows(np.ascontiguousarray(table[:, :-1]), np.ascontiguousarray(table[:, -1]))
