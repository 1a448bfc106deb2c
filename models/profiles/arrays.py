"""A desired profile as flat arrays, for compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..excerpt import with_short_repr
from .steps import Steps

if TYPE_CHECKING:
    from .profile import DesiredProfile

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@with_short_repr
class ProfileArrays(NamedTuple):
    """The steps of a desired profile as flat arrays: one row for each node group and resource.

    Row ``g * resources + r`` is group g (in the order of ``platform.groups``) and resource r (in the order of
    ``platform.resources``). Its steps are ``first[row] .. first[row + 1] - 1``. A time t is looked up at
    ``t % period`` if ``period`` is above 0, else at t; the first time of a row is at most that.

    Parameters
    ----------
    first : ndarray of int64, shape (groups * resources + 1,)
        Index of the first step of each row; the last entry is the number of steps.
    time : ndarray of int64, shape (steps,)
        The time in seconds from which the step holds, increasing in a row.
    amount : ndarray of float64, shape (steps,)
        The desired amount on one node, at most its capacity.
    period : int
        Length of the period in seconds; 0: none.
    group : ndarray of int64, shape (nodes,)
        The group of each node, in the order of ``platform.nodes``.
    """

    first: Ints
    time: Ints
    amount: Floats
    period: int
    group: Ints


def arrays_of(profile: DesiredProfile) -> ProfileArrays:
    """Return the profile as flat arrays; resources without a wish have one step with the capacity.

    Examples
    --------
    >>> from schedlab.models import NodeGroup, Platform
    >>> from schedlab.models.profiles import daily
    >>> platform = Platform([NodeGroup("n", 2, {"cores": 10, "gpus": 2})])
    >>> arrays = arrays_of(daily(platform, {"08:00": 0.6, "20:00": 1.0}))
    >>> arrays.first.tolist(), arrays.time.tolist(), arrays.amount.tolist()
    ([0, 3, 4], [0, 28800, 72000, 0], [10.0, 6.0, 10.0, 2.0])
    """
    platform = profile.platform
    rows = [_row(profile, g.name, r) for g in platform.groups for r in platform.resources]
    sizes = [len(row.times) for row in rows]
    return ProfileArrays(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([t for row in rows for t in row.times], np.int64),
        np.array([a for row in rows for a in row.amounts], np.float64),
        profile.period or 0,
        np.repeat(np.arange(len(platform.groups)), [g.count for g in platform.groups]).astype(np.int64),
    )


def _row(profile: DesiredProfile, group: str, resource: str) -> Steps:
    steps = profile.of(group, resource)
    if steps.period is None and profile.period is not None:  # a constant: all rows have one clock
        return Steps((0,), steps.amounts, profile.period)
    return steps
