"""The options of alternatives in CP-SAT: which share their master's start, and which are one interval of a resource.

Several options of one alternative in one ``cumulative`` (or ``no_overlap``): at most one of them is present, so that
they are the master's interval, with the demand of the chosen option:

    u = sum p_o over these options              the interval is present
    demand = sum d_o p_o + (1 - u) min d_o
    size = sum size_o p_o over all options      (redundant)

One interval that is certain to take at least ``min d_o`` for at least ``min size_o`` tells the propagation and the cuts
of a ``cumulative`` far more than several of which each may be absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...models.language import Alternative, Interval, Linear, Model
from ...models.language.constraints import Constraint
from .native import NativeModel, WholeForm

Row = tuple[Interval, int | Linear]
"""An interval and its demand."""


def masters(model: Model) -> dict[int, int]:
    """By option: the interval whose start it can share, itself without a master to share with."""
    found: dict[int, int | None] = {}
    for _, c in model.constraints:
        if isinstance(c, Alternative):
            master = c.interval
            for o in c.options:
                if o.index in found or o.size_lo != master.size_lo or o.size_hi != master.size_hi:
                    found[o.index] = None  # two masters, or not the same size
                else:
                    found[o.index] = master.index
    direct = {i: m for i, m in found.items() if m is not None}
    roots = {i: m if m not in direct else _root(i, direct) for i, m in direct.items()}
    return {i: root for i, root in roots.items() if root is not None}


def _root(i: int, direct: dict[int, int]) -> int | None:
    """The end of the chain of masters; None for an interval on (or before) a circle of them."""
    i = direct[i]
    seen = set()
    while i in direct:
        seen.add(i)
        i = direct[i]
        if i in seen:
            return None
    return i


class Choices:
    """The alternatives of a model that choose one option, and the literals made for parts of their options."""

    def __init__(self, constraints: Iterable[tuple[str, Constraint]], native: NativeModel, presence: list[int]) -> None:
        self.native = native
        self.presence = presence
        self.of_option = {
            o.index: c
            for _, c in constraints
            if isinstance(c, Alternative) and c.count == 1 and len(c.options) > 1
            for o in c.options
        }
        self._any: dict[tuple[int, ...], int] = {}
        self._sized: set[int] = set()

    def shared(self, intervals: Sequence[Interval]) -> bool:
        """Whether two of the intervals are options of one alternative."""
        known = [c for c in map(self.of_option.get, [v.index for v in intervals]) if c is not None]
        return len(set(map(id, known))) < len(known)

    def groups(self, rows: Iterable[Row]) -> tuple[list[list[Row]], list[Row]]:
        """Split the rows: groups of options of one alternative with constant demands, and all other rows.

        At most one option of a group takes part.
        """
        of: dict[int, list[Row]] = {}
        single = []
        for v, demand in rows:
            c = self.of_option.get(v.index)
            if c is not None and type(demand) is int and demand and v.size_lo:
                of.setdefault(id(c), []).append((v, demand))
            else:
                single.append((v, demand))
        several = [group for group in of.values() if len(group) > 1]
        single += [group[0] for group in of.values() if len(group) == 1]
        return several, single

    def alternative(self, group: Sequence[Row]) -> Alternative:
        """The alternative that the options of a group belong to."""
        return self.of_option[group[0][0].index]

    def any_of(self, group: Sequence[Row]) -> int:
        """A literal: one of these options of one alternative is present; -1 if one always is."""
        c = self.alternative(group)
        own = self.presence[c.interval.index]
        if len(group) == len(c.options):
            return own
        inside = tuple(self.presence[v.index] for v, _ in group)
        if inside not in self._any:
            one = self.native.boolean("", lambda values: int(any(values[i] for i in inside)))
            others = [p for o in c.options if (p := self.presence[o.index]) not in inside]
            self.native.exactly_one([one, *others, *(() if own < 0 else (~own,))])
            self._any[inside] = one
        return self._any[inside]

    def demand(self, group: Sequence[Row], present: int) -> Any:
        """The demand of these options of one alternative: a number, or a native variable."""
        amounts = {self.presence[v.index]: demand for v, demand in group if type(demand) is int}
        values = sorted(set(amounts.values()))
        if len(values) == 1:
            return values[0]
        least = values[0]
        w = WholeForm(amounts, 0) if present < 0 else WholeForm({**amounts, present: -least}, least)
        total = self.native.variable(tuple((value, value) for value in values), "", w.value)
        self.native.inside(WholeForm({**w.terms, total: -1}, w.constant), [(0, 0)], ())
        return self.native.vars[total]

    def add_size(self, c: Alternative, size: int) -> None:
        """The master's size variable as the sum of the chosen sizes, once each: without it proofs take four times as long.

        Not for a master that can be absent: its size is free then, and may be that of another interval.
        """
        own = self.presence[c.interval.index]
        if size >= 0 and own < 0 and id(c) not in self._sized and all(o.size_lo == o.size_hi for o in c.options):
            self._sized.add(id(c))
            terms = {self.presence[o.index]: o.size_lo for o in c.options}
            self.native.inside(WholeForm({**terms, size: -1}, 0), [(0, 0)], ())
