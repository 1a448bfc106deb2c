"""The times at which an empty machine can hold a job within a desired profile."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..dispatch.chunks.fit import lack
from ..platform import NodeGroup, Platform
from .steps import ALWAYS

if TYPE_CHECKING:
    from .profile import DesiredProfile

Ints = NDArray[np.int64]
Chunk = tuple[int, tuple[int, ...]]
"""The number of units of a chunk, and the request of one of them in the order of ``platform.resources``."""
ROUNDING = 1e-6  # an amount less below a whole number is this number


def whole_amount(amount: float, most: int) -> int:
    """Return an amount rounded down, and at most ``most``.

    Examples
    --------
    >>> whole_amount(9.6, 16), whole_amount(0.7 * 10, 10), whole_amount(float("inf"), 4)
    (9, 7, 4)
    """
    return most if amount >= most else floor(amount + ROUNDING)


class EmptyMachine:
    """The empty machine within the amounts of a profile on each node, rounded down; power is not considered.

    Parameters
    ----------
    profile : DesiredProfile
        The profile.

    Examples
    --------
    >>> from schedlab.models.profiles import daily
    >>> machine = Platform([NodeGroup("n", 1, {"cores": 16})])
    >>> empty = daily(machine, {"08:00": 0.5, "20:00": 1.0}).empty_machine
    >>> job = ((1, (10,)),)
    >>> empty.first_start(job, 7200, 7 * 3600), empty.first_start(job, 13 * 3600, 0), empty.longest(job)
    (72000, None, 43200)
    >>> empty.room(job, 7 * 3600), empty.room(job, 9 * 3600)
    (3600, 0)
    """

    def __init__(self, profile: DesiredProfile) -> None:
        self.profile = profile
        self._held: dict[tuple[tuple[Chunk, ...], bytes], bool] = {}

    @cached_property
    def times(self) -> Ints:
        """The times at which amounts may change in seconds: those of two periods, or all after ``ALWAYS``."""
        begin, end = (0, 2 * self.profile.period) if self.profile.period else (ALWAYS, self.profile.last_change + 1)
        found = {begin}
        for steps in self.profile.steps.values():
            found.update(a for a, _, _ in steps.pieces(begin, end))
        return np.array(sorted(found), np.int64)

    @cached_property
    def amounts(self) -> Ints:
        """The whole amounts on each node of each group from each time on, shape (times, groups, resources)."""
        p = self.profile.platform
        rows = [
            [
                [whole_amount(self.profile.amount(g.name, r, t), g.capacity.get(r, 0)) for r in p.resources]
                for g in p.groups
            ]
            for t in self.times.tolist()
        ]
        return np.array(rows, np.int64).reshape(len(self.times), len(p.groups), len(p.resources))

    def always(self, chunks: Sequence[Chunk]) -> bool:
        """Return whether the machine can hold the chunks at any time and for any duration."""
        return self._holds(tuple(chunks), self.amounts.min(axis=0))

    def room(self, chunks: Sequence[Chunk], start: int) -> int | None:
        """Return for how many seconds from ``start`` on the machine can hold the chunks; None: for ever."""
        chunks = tuple(chunks)
        if self.always(chunks):
            return None
        period = self.profile.period
        at = start if period is None else start % period
        k = first = int(np.searchsorted(self.times, at, side="right")) - 1
        while k < len(self.times):
            if not self._holds(chunks, self.amounts[first : k + 1].min(axis=0)):
                return max(0, int(self.times[k]) - at)
            k += 1
        return None  # without a period the last amounts hold for ever

    def first_start(self, chunks: Sequence[Chunk], duration: int, begin: int) -> int | None:
        """Return the first start from ``begin`` on at which the machine can hold the chunks for the duration.

        Parameters
        ----------
        chunks : sequence of (int, tuple of int)
            Units and request of each chunk.
        duration, begin : int
            Seconds.

        Returns
        -------
        int or None
            Seconds; None: there is no such start.
        """
        for start in self._starts(begin):
            room = self.room(chunks, start)
            if room is None or room >= duration:
                return start
        return None

    def longest(self, chunks: Sequence[Chunk]) -> int | None:
        """Return the longest duration in seconds for which the machine can hold the chunks; None: for ever."""
        rooms = [self.room(chunks, start) for start in self._starts(int(self.times[0]))]
        return None if None in rooms else max(r for r in rooms if r is not None)

    def _starts(self, begin: int) -> list[int]:
        """Return ``begin``, and the later times at which amounts change, in a period one period of them."""
        period = self.profile.period
        if period is None:
            return [begin, *self.times[self.times > begin].tolist()]
        shift = begin // period * period
        return [begin, *(shift + t for t in self.times.tolist() if begin < shift + t <= begin + period)]

    def _holds(self, chunks: tuple[Chunk, ...], amounts: Ints) -> bool:
        """Return whether nodes with these amounts, shape (groups, resources), can hold the chunks."""
        key = (chunks, amounts.tobytes())
        if key not in self._held:
            self._held[key] = self._fits(chunks, amounts)
        return self._held[key]

    def _fits(self, chunks: tuple[Chunk, ...], amounts: Ints) -> bool:
        platform = self.profile.platform
        nodes = [(g.count, tuple(row)) for g, row in zip(platform.groups, amounts.tolist(), strict=True)]
        for units, request in chunks:
            if any(request) and sum(count * platform.units_on(row, request) for count, row in nodes) < units:
                return False
        if len(chunks) == 1:
            return True
        groups = [
            NodeGroup(g.name, g.count, dict(zip(platform.resources, row, strict=True)))
            for g, (_, row) in zip(platform.groups, nodes, strict=True)
        ]
        return lack(Platform(groups), chunks) is None
