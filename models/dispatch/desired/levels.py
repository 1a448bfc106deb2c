"""What a hard desired profile leaves to the jobs of a problem on each node, as step functions of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...profiles.empty_machine import whole_amount
from ..job_arrays import Ints, NodeArrays, column
from ..running.amounts import occupied

if TYPE_CHECKING:
    from ...profiles.profile import DesiredProfile
    from ..jobs import Running
    from ..problem import Dispatch

Capacity = tuple[tuple[int, int], ...]
"""Steps (time in seconds, capacity) as a ``Cumulative`` takes them."""


class Blocks(NamedTuple):
    """What a hard profile takes from the free amounts of the nodes beside the running jobs, one entry per node and step.

    Parameters
    ----------
    node : array of int, shape (entries,)
        The index of the node.
    begin, end : array of int, shape (entries,)
        Seconds.
    amount : array of int, shape (entries, resources)
        The amounts that no job may use.
    """

    node: Ints
    begin: Ints
    end: Ints
    amount: Ints


@dataclass(frozen=True, eq=False)
class Levels:
    """The greatest use of each node over time: the desired amount, or what running jobs use if that is more.

    Parameters
    ----------
    nodes : NodeArrays
        The nodes.
    times : array of int, shape (steps,)
        Increasing times in seconds; each step holds up to the next one, the last one for ever.
    group : array of int, shape (steps, groups, resources)
        The level of a node without running jobs.
    own : dict of int to array of int, shape (steps, resources)
        The level of each node with running jobs.
    until : int
        The time in seconds up to which the profile is followed.
    """

    nodes: NodeArrays
    times: Ints
    group: Ints
    own: dict[int, Ints]
    until: int

    @classmethod
    def of(cls, problem: Dispatch, until: int) -> Levels | None:
        """Return the levels of a problem from now on; None without a hard profile."""
        if problem.desired is None or problem.over_cost is not None or not problem.desired.steps:
            return None
        nodes = NodeArrays(problem.platform)
        return cls.made(problem.desired, nodes, problem.running, problem.now, until)

    @classmethod
    def made(
        cls, profile: DesiredProfile, nodes: NodeArrays, running: Sequence[Running], now: int, until: int
    ) -> Levels:
        """Return the levels beside running jobs, which end at their expected ends."""
        entries = occupied(running, nodes)
        ends = column((r.end for r in running), len(running))[entries.job]
        return cls.beside(profile, nodes, (entries.node, ends, entries.amount), now, until)

    @classmethod
    def beside(
        cls, profile: DesiredProfile, nodes: NodeArrays, usage: tuple[Ints, Ints, Ints], now: int, until: int
    ) -> Levels:
        """Return the levels beside what is in use; ``usage``: node, end in seconds and amounts of each entry."""
        node, end, amount = usage
        platform = profile.platform
        pieces = {
            (g, r): list(profile.of(group.name, resource).pieces(now, max(until, now + 1)))
            for g, group in enumerate(platform.groups)
            for r, resource in enumerate(platform.resources)
        }
        changes = {
            now,
            *(a for rows in pieces.values() for a, _, _ in rows),
            *end[(end > now) & (end < until)].tolist(),
        }
        times = np.array(sorted(changes), np.int64)
        group = np.empty((times.size, len(platform.groups), len(platform.resources)), np.int64)
        for (g, r), rows in pieces.items():
            most = platform.groups[g].capacity.get(platform.resources[r], 0)
            values = np.array([whole_amount(v, most) for _, _, v in rows], np.int64)
            begins = np.array([a for a, _, _ in rows], np.int64)
            group[:, g, r] = values[np.searchsorted(begins, times, side="right") - 1]
        of_node = profile.arrays.group
        own: dict[int, Ints] = {}
        for n in np.unique(node[end > now]).tolist():
            here = node == n
            used = (amount[here][None] * (end[here][None, :, None] > times[:, None, None])).sum(axis=1)
            own[n] = np.maximum(group[:, of_node[n]], used)
        return cls(nodes, times, group, own, until)

    def capacity(self, places: Sequence[str], resource: int) -> Capacity:
        """Return the level of some nodes together, as the steps of a cumulative."""
        rows = np.array([self.nodes.index[name] for name in places], np.int64)
        groups = np.repeat(np.arange(self.group.shape[1]), [g.count for g in self.nodes.platform.groups])
        count = np.bincount(groups[rows], minlength=self.group.shape[1])
        total = self.group[:, :, resource] @ count
        for n in rows.tolist() if self.own else ():
            if n in self.own:
                total = total + self.own[n][:, resource] - self.group[:, groups[n], resource]
        at = np.flatnonzero(np.diff(total, prepend=-1))
        return tuple(zip(self.times[at].tolist(), total[at].tolist(), strict=True))

    @property
    def blocks(self) -> Blocks:
        """What is taken from the free amounts of the nodes, up to ``until``."""
        platform, capacity = self.nodes.platform, self.nodes.capacity
        parts: list[tuple[Ints, Ints, Ints, Ints]] = []
        first = 0
        for g, group in enumerate(platform.groups):
            rows = np.arange(first, first + group.count)
            plain = rows[[n not in self.own for n in rows.tolist()]] if self.own else rows
            parts.append(self._taken(plain, capacity[first] - self.group[:, g]))
            parts += [self._taken(np.array([n]), capacity[n] - self.own[n]) for n in rows.tolist() if n in self.own]
            first += group.count
        return Blocks(*(np.ascontiguousarray(np.concatenate(x)) for x in zip(*parts, strict=True)))

    def _taken(self, nodes: Ints, amount: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the entries of nodes from which ``amount``, shape (steps, resources), is taken."""
        at = np.flatnonzero((np.diff(amount, axis=0, prepend=-1) != 0).any(axis=1))
        begin, end, amount = self.times[at], np.append(self.times[at[1:]], self.until), np.maximum(0, amount[at])
        some = (amount > 0).any(axis=1) & (begin < end)
        begin, end, amount = begin[some], end[some], amount[some]
        n = nodes.size
        return np.repeat(nodes, begin.size), np.tile(begin, n), np.tile(end, n), np.tile(amount, (n, 1))
