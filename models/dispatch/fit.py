"""Whether the empty platform can hold a heterogeneous job: all its chunks at the same time.

1. If the chunks together need more of a resource than the platform has, it cannot.
2. If best fit, chunk after chunk, finds nodes, beginning with any of them, it can.
3. Else a search: node by node, each greatest set of units that fits the node. The search is exact up to ``STATES``
   states; beyond, the job counts as one that the platform may hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..counts import how_many
from ..platform import Platform

if TYPE_CHECKING:
    from .jobs import Job


STATES = 20_000
Vector = tuple[int, ...]


def lack(platform: Platform, chunks: Sequence[tuple[int, Vector]], states: int = STATES) -> str | None:
    """Return why the empty platform cannot hold the chunks together; None if it can, or if the search is too long.

    Parameters
    ----------
    platform : Platform
        The platform.
    chunks : sequence of (int, tuple of int)
        Units and request of each chunk, in the order of ``platform.resources``. Each chunk alone must fit.
    states : int
        The maximum number of states that the search examines.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> machine = Platform([NodeGroup("n", 2, {"cores": 4})])
    >>> lack(machine, [(2, (3,)), (1, (2,))])
    'its chunks do not fit the empty platform together'
    >>> lack(machine, [(1, (4,)), (2, (3,))])
    'its chunks need 10 cores together, the platform has 8'
    """
    for k, resource in enumerate(platform.resources):
        need, total = sum(units * request[k] for units, request in chunks), platform.total(resource)
        if need > total:
            return f"its chunks need {need} {resource} together, the platform has {total}"
    nodes = Counter({vector: len(names) for vector, names in platform.classes.items()})
    if any(_best_fit(nodes, [*chunks[k:], *chunks[:k]]) for k in range(len(chunks))):
        return None
    kept = [c for c in chunks if any(c[1])]  # units that request nothing fit anywhere
    searched = _Search([request for _, request in kept], list(nodes.items()), states)
    if searched.holds(0, 0, tuple(units for units, _ in kept)) is False:
        return "its chunks do not fit the empty platform together"
    return None


def _units_on(vector: Vector, request: Vector) -> int:
    return min((c // r for c, r in zip(vector, request, strict=True) if r > 0), default=2**31)


def _best_fit(nodes: Counter[Vector], chunks: Sequence[tuple[int, Vector]]) -> bool:
    """Return whether best fit finds nodes for all chunks; ``nodes``: number of nodes by free amounts."""
    free = Counter(nodes)
    for units, request in chunks:
        for vector in sorted(free, key=lambda v: (sum(v), v)):
            most = min(units, _units_on(vector, request))
            if most == 0:
                continue
            full = min(free[vector], units // most)
            rest = units - full * most if full < free[vector] else 0
            for count, on in ((full, most), (1 if rest else 0, rest)):
                free[vector] -= count
                free[tuple(c - on * r for c, r in zip(vector, request, strict=True))] += count
            units -= full * most + rest
            if units == 0:
                break
        if units > 0:
            return False
        free = +free
    return True


class _Search:
    """A depth-first search over the classes of equal nodes, which remembers the states that have failed."""

    def __init__(self, requests: Sequence[Vector], classes: Sequence[tuple[Vector, int]], states: int) -> None:
        self._requests, self._classes, self._states = requests, classes, states
        self._failed: set[tuple[int, int, Vector]] = set()

    def holds(self, c: int, used: int, left: Vector) -> bool | None:
        """Return whether the nodes of classes c, c + 1, ... hold the units that are left; None: too many states.

        ``used``: nodes of class c that are filled.
        """
        if not any(left):
            return True
        if c == len(self._classes):
            return False
        vector, count = self._classes[c]
        if used == min(count, sum(left) + used):
            return self.holds(c + 1, 0, left)
        if (c, used, left) in self._failed:
            return False
        if len(self._failed) > self._states:
            return None
        unknown = False
        for put in self._fillings(vector, left):
            found = self.holds(c, used + 1, tuple(a - b for a, b in zip(left, put, strict=True))) if any(put) else (
                self.holds(c + 1, 0, left)
            )  # fmt: skip
            if found:
                return True
            unknown = unknown or found is None
        if unknown:
            return None
        self._failed.add((c, used, left))
        return False

    def _fillings(self, vector: Vector, left: Vector, k: int = 0) -> Iterator[Vector]:
        """Yield numbers of units of the chunks k, k + 1, ... that fit a node; of the last one as many as possible."""
        most = min(left[k], _units_on(vector, self._requests[k]))
        if k == len(left) - 1:
            yield (most,)
            return
        for units in range(most, -1, -1):
            rest = tuple(c - units * r for c, r in zip(vector, self._requests[k], strict=True))
            for others in self._fillings(rest, left, k + 1):
                yield (units, *others)


def impossible(platform: Platform, jobs: Iterable[Job]) -> list[tuple[Job, str]]:
    """Return the jobs that do not fit the empty platform, each with a text that names the resource it exceeds."""
    found = []
    known: dict[tuple[int, ...], int] = {}
    together: dict[tuple[tuple[int, tuple[int, ...]], ...], str | None] = {}
    for job in jobs:
        shape = tuple((p.units, tuple(p.request.get(r, 0) for r in platform.resources)) for p in job.parts)
        for part, (units, request) in zip(job.parts, shape, strict=True):
            if request not in known:
                known[request] = sum(
                    len(nodes) * min(platform.units_on(vector, request), units if not any(request) else 2**31)
                    for vector, nodes in platform.classes.items()
                )
            if (known[request] if any(request) else units) < units:
                tight = _tightest(platform, part, request)
                found.append((job, f"asks for {how_many(units, 'unit')} of {dict(part.request)}, but {tight}"))
                break
        else:
            if len(shape) > 1:
                if shape not in together:
                    together[shape] = lack(platform, shape)
                if why := together[shape]:
                    found.append((job, why))
    return found


def _tightest(platform: Platform, job: Job, request: tuple[int, ...]) -> str:
    for k, resource in enumerate(platform.resources):
        most = max(vector[k] for vector in platform.classes)
        if request[k] > most:
            return f"no node has more than {most} {resource}"
        alone = sum(len(nodes) * (vector[k] // request[k]) for vector, nodes in platform.classes.items() if request[k])
        if request[k] and alone < job.units:
            return f"the {resource} of the empty platform hold only {alone} of them"
    return "too few nodes have all requested resources together"
