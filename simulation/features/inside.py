"""The inside of a started reservation: its nodes, what jobs leave of them, and places for the chunks of a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...heuristics.kernels.profile import Ints
from ...models import Platform
from ..records import Booking


class Places(NamedTuple):
    """The places of a job in a reservation, chunk after chunk.

    Parameters
    ----------
    nodes : ndarray of int64, shape (places,)
        Index of the node in the platform.
    units : ndarray of int64, shape (places,)
        The units there.
    chunk : ndarray of int64, shape (places,)
        The number of the chunk.
    used : ndarray of int64, shape (places, resources)
        What they use.
    """

    nodes: Ints
    units: Ints
    chunk: Ints
    used: Ints

    def by_name(self, names: Sequence[str], chunks: int) -> list[Mapping[str, int]]:
        """Return {node: units} of each chunk."""
        found: list[dict[str, int]] = [{} for _ in range(chunks)]
        for n, u, c in zip(self.nodes.tolist(), self.units.tolist(), self.chunk.tolist(), strict=True):
            found[c][names[n]] = u
        return list(found)


@dataclass(eq=False)
class Inside:
    """A started reservation: its nodes (numbers), what it holds of each, and what its jobs leave; (nodes, resources)."""

    nodes: Ints
    whole: Ints
    left: Ints

    @classmethod
    def of(cls, booking: Booking, platform: Platform) -> Inside:
        """Return the inside of an accepted reservation without jobs."""
        number = {name: n for n, name in enumerate(platform.nodes)}
        request = np.array([booking.reservation.request.get(r, 0) for r in platform.resources], np.int64)
        whole: Ints = np.array(list(booking.nodes.values()), np.int64)[:, None] * request
        return cls(np.array([number[n] for n in booking.nodes], np.int64), whole, whole.copy())

    def give_back(self, places: Places) -> None:
        """Give back what a job used."""
        row = {n: i for i, n in enumerate(self.nodes.tolist())}
        np.add.at(self.left, [row[n] for n in places.nodes.tolist()], places.used)

    def take(self, chunks: Sequence[tuple[int, Ints]], blocked: NDArray[np.bool_]) -> Places | None:
        """Take places for all chunks (units, request) of a job by best fit; None if they do not fit.

        The chunks are placed one after the other, beginning with each of them in turn until all fit. ``blocked``: the
        nodes of the platform that take no starts.
        """
        barred = blocked[self.nodes]
        for turn in range(len(chunks)):
            left, found = self.left.copy(), dict[int, list[tuple[int, int]]]()
            for c in [*range(turn, len(chunks)), *range(turn)]:
                put = self._put(left, barred, *chunks[c])
                if put is None:
                    break
                found[c] = put
            else:
                self.left = left
                rows = [(self.nodes[i], u, c, u * chunks[c][1]) for c in range(len(chunks)) for i, u in found[c]]
                node, units, chunk, used = (np.array(column, np.int64) for column in zip(*rows, strict=True))
                return Places(node, units, chunk, used)
        return None

    def _put(self, left: Ints, barred: NDArray[np.bool_], units: int, request: Ints) -> list[tuple[int, int]] | None:
        """Take the units of one chunk from ``left``; return (row of the node, units), or None if they do not fit."""
        used = request > 0
        fits = np.full(self.nodes.size, units)
        if used.any():
            fits = np.minimum((left[:, used] // request[used]).min(axis=1), units)
        fits[barred] = 0
        if fits.sum() < units:
            return None
        share = np.divide(left, self.whole, out=np.zeros(left.shape), where=self.whole > 0)
        found = []
        for i in np.argsort(share.sum(axis=1), kind="stable").tolist():
            put = min(units, int(fits[i]))
            if put:
                found.append((i, put))
                left[i] -= put * request
                units -= put
        return found
