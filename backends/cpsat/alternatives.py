"""The options of alternatives in CP-SAT: they share their master's start, and are one interval on each resource.

The *master* of an alternative is the interval that its options stand for.

Sharing of starts
-----------------
An option o of one alternative only, with the same least and greatest size as its master a, has no start variable::

    start[o] = start[a],  end[o] = end[a]
    p[o] = 1  =>  start[a] in windows[o]               if the start windows of o and a differ

One interval for several options on one resource
------------------------------------------------
Sets and data
    O         options of an alternative of master a that chooses one option
    G         those in O that are in one ``cumulative`` (or ``no_overlap``, with demands of 1); at least two
    d[o] > 0  constant demand of option o;  m = min of d[o] for o in G
    s[o] > 0  least size of option o
Variables of the model
    p[o]      1 if option o is present;  p[a] likewise (constant 1 if the master is not optional)
New variables
    u         1 if an option in G is present
    w         demand of the master's interval in this constraint
Constraints
    u + sum_{o in O, not in G} p[o] + (1 - p[a]) = 1   (if G = O: u = p[a], no new variable)
    w = sum_{o in G} d[o] p[o] + (1 - u) m             (if all d[o] are equal: w = m, no new variable)
    size[a] = sum_{o in O} s[o] p[o]                   (redundant; if a is not optional and all sizes are fixed)

In the constraint the options of G are replaced by one interval with the start and end of a, presence u and demand w. It
takes at least m for at least the least size of an option. This gives the propagation and the cuts of a ``cumulative``
much more information than several intervals that may all be absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...models.language import Alternative, Interval, Linear, Model
from ...models.language.constraints import Constraint
from .native import NativeModel, WholeForm

Row = tuple[Interval, int | Linear]
"""An interval and its demand of a resource."""


def masters(model: Model) -> dict[int, int]:
    """Return, for each option that shares a start variable, the index of the interval that has this variable."""
    found: dict[int, int | None] = {}
    for _, c in model.constraints:
        if isinstance(c, Alternative):
            master = c.interval
            for o in c.options:
                if o.index in found or o.size_lo != master.size_lo or o.size_hi != master.size_hi:
                    found[o.index] = None  # two masters, or another size
                else:
                    found[o.index] = master.index
    direct = {i: m for i, m in found.items() if m is not None}
    roots = {i: m if m not in direct else _root(i, direct) for i, m in direct.items()}
    return {i: root for i, root in roots.items() if root is not None}


def _root(i: int, direct: dict[int, int]) -> int | None:
    """Return the last interval in the chain of masters that begins at i; None if the chain ends in a cycle."""
    i = direct[i]
    seen = set()
    while i in direct:
        seen.add(i)
        i = direct[i]
        if i in seen:
            return None
    return i


class Choices:
    """The alternatives of a model that choose one option, and the literals for groups of their options.

    Parameters
    ----------
    constraints : iterable of (str, Constraint)
        The constraints of the model with their names.
    native : NativeModel
    presence : list of int
        The presence literal of each interval, by its index; -1 if it is not optional.
    """

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
        """Return whether two of the intervals are options of one alternative."""
        known = [c for c in map(self.of_option.get, [v.index for v in intervals]) if c is not None]
        return len(set(map(id, known))) < len(known)

    def groups(self, rows: Iterable[Row]) -> tuple[list[list[Row]], list[Row]]:
        """Split the rows into groups of options of one alternative (with constant demands), and all other rows.

        At most one option of a group is present.
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
        """Return the alternative that the options of a group belong to."""
        return self.of_option[group[0][0].index]

    def any_of(self, group: Sequence[Row]) -> int:
        """Return the literal u of the module's text: an option of the group is present; -1 if one always is."""
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
        """Return the demand w of the module's text: a number, or a native variable."""
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
        """Post ``size[a] = sum s[o] p[o]`` once per alternative: without it proofs take four times as long.

        It does not hold for a master that can be absent: its size is free then, and may be that of another interval.
        """
        own = self.presence[c.interval.index]
        if size >= 0 and own < 0 and id(c) not in self._sized and all(o.size_lo == o.size_hi for o in c.options):
            self._sized.add(id(c))
            terms = {self.presence[o.index]: o.size_lo for o in c.options}
            self.native.inside(WholeForm({**terms, size: -1}, 0), [(0, 0)], ())
