"""Sets of jobs that fit the nodes together: the configurations of an instant (proofs: ``docs/bounds.md``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...models.dispatch.chunks.fit import lack
from ...models.dispatch.job_arrays import Ints, offsets
from ...models.platform import Platform
from .items import Demand, Items
from .rows import Rows

MOST = 4_000  # sets that fit together, at most
STATES = 50  # of the search for nodes for one set


class Sets(NamedTuple):
    """The maximal sets of some items that fit together.

    Parameters
    ----------
    items : array of int, shape (members,)
        The items that the sets are about; other items never count.
    first : array of int, shape (sets + 1,)
        The entries of set s are ``first[s]`` to ``first[s + 1] - 1``.
    member : array of int, shape (entries,)
        Positions in ``items``.
    """

    items: Ints
    first: Ints
    member: Ints


def no_sets() -> Sets:
    """Return sets of no items."""
    return Sets(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64))


def maximal_sets(
    platform: Platform, items: Items, rows: Rows, order: Ints, over: Callable[[], bool], most: int = MOST
) -> Sets:
    """Return the maximal sets that fit together, of as many items as lead to at most ``most`` sets that fit.

    Parameters
    ----------
    platform : Platform
        The nodes.
    items : Items
        The jobs and running jobs.
    rows : Rows
        Rows that all jobs which run together satisfy; they reject most sets at once.
    order : array of int
        The items, the most important ones first.
    over : callable
        Returns whether the time is over; then the sets are of fewer items.
    most : int
        The greatest number of sets that fit, also those that are not maximal.

    Notes
    -----
    If the search for nodes for a set is too long, the set counts as one that fits.
    """
    fits = _Fits(platform, items.demands, rows)
    family: dict[frozenset[int], tuple[int, ...]] = {frozenset(): ()}  # set of items -> its sorted demands
    used: list[int] = []
    for i in order.tolist():
        kind = int(items.kind[i])
        room = most - len(family)
        more: dict[frozenset[int], tuple[int, ...]] = {}
        for members, kinds in family.items():
            together = tuple(sorted((*kinds, kind)))
            if fits(together):
                more[members | {i}] = together
                if len(more) > room or over():
                    break
        if len(more) > room or over():
            break
        family.update(more)
        used.append(i)
    inner = {members - {i} for members in family for i in members}
    found = [sorted(members) for members in family if members not in inner and members]
    position = {i: k for k, i in enumerate(sorted(used))}
    return Sets(
        np.array(sorted(used), np.int64),
        offsets([len(s) for s in found]),
        np.array([position[i] for s in found for i in s], np.int64),
    )


class _Fits:
    """Whether jobs of some demands fit the empty platform together; remembers the answers."""

    def __init__(self, platform: Platform, demands: Sequence[Demand], rows: Rows) -> None:
        self.platform, self.demands, self.rows = platform, demands, rows
        self.known: dict[tuple[int, ...], bool] = {}

    def __call__(self, kinds: tuple[int, ...]) -> bool:
        if kinds not in self.known:
            self.known[kinds] = self._test(kinds)
        return self.known[kinds]

    def _test(self, kinds: tuple[int, ...]) -> bool:
        if (self.rows.a[:, list(kinds)].sum(axis=1) > self.rows.b).any():
            return False
        return lack(self.platform, [chunk for k in kinds for chunk in self.demands[k]], STATES) is None
