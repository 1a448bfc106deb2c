"""Checkpoints of a placement: the profile, and the bound of the whole machine, before some places of an order.

Jobs can be added to the bound, but not removed. To place an order from some place on anew, the state is restored from
the last checkpoint before that place, and the jobs between them are put where they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....models.compiled import internal_borrowing
from ..aggregate import Aggregate
from ..by_address import by_address
from ..profile import Ints, Profile

MOST_BYTES = 64_000_000  # of all checkpoints of a search
LEAST_JOBS = 16  # jobs between two checkpoints: a copy takes as long as the placement of some 8 jobs


@by_address
class Checkpoints(NamedTuple):
    """States before the places 0, every, 2 * every, ... of an order; the first index of all tables is the checkpoint.

    Parameters
    ----------
    every
        Number of jobs between two checkpoints.
    valid
        Number of checkpoints that are valid for the present order, shape (1,).
    length, time, free
        The fields of ``Profile``.
    blocks, order, size, bound_time, units, least, most
        The fields of ``Aggregate``.
    """

    every: int
    valid: Ints
    length: Ints
    time: Ints
    free: Ints
    blocks: Ints
    order: Ints
    size: Ints
    bound_time: Ints
    units: Ints
    least: Ints
    most: Ints


def new_checkpoints(jobs: int, profile: Profile, a: Aggregate) -> Checkpoints:
    """Return room for checkpoints of such a profile and bound: at least one, before the first place.

    Parameters
    ----------
    jobs
        Number of jobs.
    profile
        A profile with the room that those in the checkpoints will have.
    a
        The bound.
    """
    tables = (*profile, a.blocks, a.order, a.size, a.time, a.units, a.least, a.most)
    number = max(1, min(MOST_BYTES // sum(table.nbytes for table in tables), -(-jobs // LEAST_JOBS)))
    return Checkpoints(
        max(1, -(-jobs // number)),
        np.zeros(1, np.int64),
        *(np.empty((number, *table.shape), np.int64) for table in tables),
    )


@internal_borrowing
def save(store: Checkpoints, c: int, profile: Profile, a: Aggregate) -> None:
    """Copy the state to checkpoint c."""
    for n in range(profile.length.size):
        length = profile.length[n]
        store.length[c, n] = length
        for i in range(length):
            store.time[c, n, i] = profile.time[n, i]
            for r in range(profile.free.shape[2]):
                store.free[c, n, i, r] = profile.free[n, i, r]
    store.blocks[c, 0] = a.blocks[0]
    for k in range(a.blocks[0]):  # the blocks in use are the first ones
        store.order[c, k], store.size[c, k] = a.order[k], a.size[k]
        for i in range(a.size[k]):
            store.bound_time[c, k, i] = a.time[k, i]
            for x in range(a.units.shape[2]):
                store.units[c, k, i, x] = a.units[k, i, x]
        for x in range(a.units.shape[2]):
            store.least[c, k, x], store.most[c, k, x] = a.least[k, x], a.most[k, x]


@internal_borrowing
def restore(store: Checkpoints, c: int, profile: Profile, a: Aggregate) -> None:
    """Copy checkpoint c to the state; the profile has at least the room of the checkpoints."""
    for n in range(profile.length.size):
        length = store.length[c, n]
        profile.length[n] = length
        for i in range(length):
            profile.time[n, i] = store.time[c, n, i]
            for r in range(profile.free.shape[2]):
                profile.free[n, i, r] = store.free[c, n, i, r]
    a.blocks[0] = store.blocks[c, 0]
    for k in range(a.blocks[0]):
        a.order[k], a.size[k] = store.order[c, k], store.size[c, k]
        for i in range(a.size[k]):
            a.time[k, i] = store.bound_time[c, k, i]
            for x in range(a.units.shape[2]):
                a.units[k, i, x] = store.units[c, k, i, x]
        for x in range(a.units.shape[2]):
            a.least[k, x], a.most[k, x] = store.least[c, k, x], store.most[c, k, x]
