"""Failures of nodes: drawn from a rate, or read from a file. They are events of nodes: down, and up after the repair."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ...errors import WrongValue
from ...models import NodeEvent, Platform
from ...models.excerpt import excerpt, with_short_repr
from ...models.whole_numbers import is_number, shown
from .failure import REPAIR, YEAR, Failure
from .files import read_failures


@with_short_repr
@dataclass(frozen=True)
class FailureRate:
    """Independent failures of all nodes, with exponential times between them.

    Parameters
    ----------
    rate : float
        Failures of a node per year (365 days), at least 0.
    repair : float, default 3600
        Seconds until a node is up again.
    seed : float, default 1
        The seed.

    Examples
    --------
    >>> len(FailureRate(1.0).draw(0, 30 * 86400, [f"n-{k}" for k in range(1000)]))  # 82 are expected
    88
    """

    rate: float
    repair: float = REPAIR
    seed: float = 1

    def __post_init__(self) -> None:
        for name, least in (("rate", 0), ("repair", 1)):
            value = getattr(self, name)
            if not is_number(value) or value < least:
                raise WrongValue(f"failures: {name}: expected a number of at least {least}, found {shown(value)}")

    def draw(self, begin: int, end: int, nodes: Iterable[str]) -> list[Failure]:
        """Return the failures from ``begin`` to ``end`` (seconds); a node does not fail while it is down."""
        names, random, found = list(nodes), Random(int(self.seed)), list[Failure]()
        if not self.rate or not names:
            return found
        up: dict[str, int] = {}
        time = float(begin)
        while True:
            time -= math.log(1 - random.random()) * YEAR / (self.rate * len(names))
            node = names[int(random.random() * len(names))]
            if time > end:
                return found
            at = math.ceil(time)
            if up.get(node, at) <= at:
                found.append(Failure(at, node, int(self.repair)))
                up[node] = at + int(self.repair)


def events_of(failures: Iterable[Failure]) -> tuple[NodeEvent, ...]:
    """Return the events of nodes of some failures; those of a node that is down are left out.

    Examples
    --------
    >>> [(e.time, e.kind) for e in events_of([Failure(60, "n-1", 600), Failure(100, "n-1", 600)])]
    [(60, 'node-down'), (660, 'node-up')]
    """
    up: dict[str, int] = {}
    found = []
    for f in sorted(failures):
        if f.time < up.get(f.node, f.time):
            continue
        up[f.node] = f.time + f.repair
        found += [NodeEvent(f.time, "node-down", [f.node]), NodeEvent(f.time + f.repair, "node-up", [f.node])]
    return tuple(sorted(found, key=lambda e: (e.time, e.kind == "node-down")))


def failures_of(text: str, platform: Platform, begin: int, end: int) -> tuple[NodeEvent, ...]:
    """Return the failures that a text names: ``RATE``, ``RATE:repair=SECONDS:seed=N``, or a CSV file.

    Parameters
    ----------
    text : str
        Failures of a node per year, with options; or the path of a file with the columns time, node and repair.
    platform : Platform
        The machine.
    begin, end : int
        Seconds; failures are drawn in this time.

    Raises
    ------
    WrongValue
        If an option is not valid.
    InstanceError
        If the file has faults; the message lists them with their lines.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> machine = Platform([NodeGroup("n", 100, {"cores": 1})])
    >>> [e.kind for e in failures_of("10:repair=600", machine, 0, 86400)][:2]
    ['node-down', 'node-up']
    """
    rate = rate_of(text)
    if rate is not None:
        return events_of(rate.draw(begin, end, platform.nodes))
    return events_of(read_failures(Path(text), platform))


def rate_of(text: str) -> FailureRate | None:
    """Return the rate that a text names; None if it is the name of a file. Raises WrongValue."""
    first, *options = text.split(":")
    try:
        values = {"rate": float(first)}
    except ValueError:
        return None
    for option in options:
        name, _, value = option.partition("=")
        if name not in ("repair", "seed"):
            raise WrongValue(f"failures {excerpt(text)}: expected the options repair and seed, found {excerpt(option)}")
        try:
            values[name] = float(value)
        except ValueError:
            raise WrongValue(f"failures {excerpt(text)}: {name}: expected a number, found {excerpt(value)}") from None
    return FailureRate(**values)
