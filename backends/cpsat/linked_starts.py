"""Whether CP-SAT may branch on the order of two intervals: ``use_dynamic_precedence_in_disjunctive`` for one model.

The makers of CP-SAT call this parameter experimental. It proves 10 x 10 job shops five to ten times faster, but with it
CP-SAT 9.15 calls some feasible models infeasible, or ends the process.

The cause. Within its search CP-SAT makes a literal "a before b" for two present intervals of a ``no_overlap``. If the
relations that it knows between their starts exclude both orders, it adds one of these orders at this point, under the
presences of a and b alone. These are decisions, but the contradiction counts as one without decisions.

What this module proves. In no ``no_overlap`` there are two members of which one may be absent and between whose starts
the model has relations in both directions. Without such relations, what excludes an order are bounds of single
variables, which CP-SAT propagates before it branches. Two members that are always present need no proof: if both orders
are excluded, the model is infeasible. A ``cumulative`` counts as well, as CP-SAT turns parts of it into disjunctions.

Two members with one presence end the process too, also without a relation between their starts: two optional intervals
with ``all_or_none`` and ``no_overlap``, the end of one of them maximized. So no two members that may be absent may have
presences that the model relates: by ``all_or_none``, the options of an ``alternative``, or an expression with both of
them, or with an integer variable that relates them. Not counted are sums with coefficients of the same sign in an
objective, and the max of such sums: they can forbid both presences, but one does not imply the other.

Relations, between the intervals, integers and functions x, y of the model::

    x and y in both directions    alternative, synchronize, an equation, holds, each comparison of another form
    from x to y                   a minimum time lag from x to y, x - y <= c, y = max(x, ...), x = min(y, ...)
    none                          a bound on x; a one-sided bound on a sum whose coefficients have the same sign, such
                                  as an objective

A cycle of directions is a relation in both directions as well.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from ...models.language import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Comparison,
    Cumulative,
    ForbidExtent,
    Integer,
    Interval,
    Level,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Stated,
    Synchronize,
    Table,
)
from ...models.language.constraints import Constraint, expressions_of, intervals_of
from ...models.language.expressions import Atom, Attribute, Function, Holds, Max, Min, atoms_below
from ...models.language.quantities import Number
from .lowering import Choices


def may_branch_on_order(model: Model, choices: Choices) -> bool:
    """Return whether the parameter is useful, because the model has a ``no_overlap``, and proved to be sound.

    Parameters
    ----------
    model : Model
    choices : Choices
        The options that the lowering replaces by one interval on each resource.

    Returns
    -------
    bool
    """
    constraints = [named.constraint for named in model.constraints]
    if not any(isinstance(c, NoOverlap) for c in constraints):
        return False
    if all(_always_runs(v) for c in constraints for v in _members(c)):
        return True
    relations = _Relations(model)
    return all(_apart(c, choices, relations) for c in constraints)


def _members(c: Constraint) -> tuple[Interval, ...]:
    """Return the intervals that a constraint puts into a disjunction of CP-SAT."""
    return intervals_of(c) if isinstance(c, (NoOverlap, Cumulative, ForbidExtent)) else ()


def _always_runs(v: Interval) -> bool:
    return not v.optional and v.size_lo > 0


def _apart(c: Constraint, choices: Choices, relations: _Relations) -> bool:
    """Return whether no two members of a resource, one of which may be absent, are related in both directions."""
    rows = _rows(c, choices)
    if any(absent and v.size_lo < v.size_hi for v, absent in rows):
        return False
    met: dict[Hashable, bool] = {}
    for v, absent in rows:
        known = relations.group(v)
        if known in met and (absent or met[known]):
            return False
        met[known] = absent or met.get(known, False)
    together = [relations.presences(v) for v, absent in rows if absent]
    return len(set(together)) == len(together)


def _rows(c: Constraint, choices: Choices) -> list[tuple[Interval, bool]]:
    """Return the native intervals on a resource: the interval of the model, and whether it may be absent."""
    members = _members(c)
    demands: Sequence[int | Linear] = c.demands if isinstance(c, Cumulative) else [1] * len(members)
    single = list(zip(members, demands, strict=True))
    grouped = []
    if not (isinstance(c, NoOverlap) and c.transitions) and choices.shared(members):
        several, single = choices.groups(single)
        for group in several:
            alternative = choices.alternative(group)
            whole = len(group) == len(alternative.options) and not alternative.interval.optional
            grouped.append((alternative.interval, not whole))
    needed = [(v, d) for v, d in single if isinstance(d, Linear) or d]
    return grouped + [(v, not _always_runs(v) or isinstance(d, Linear)) for v, d in needed]


class _Relations:
    """The intervals of a model in groups.

    Between starts of two groups there are relations in one direction at most. ``presences`` gives groups of another kind:
    between the presences of two of them there are no relations.
    """

    def __init__(self, model: Model) -> None:
        self._present: dict[Hashable, Hashable] = {}
        self._number: dict[Hashable, int] = {}
        self._from: list[int] = []
        self._to: list[int] = []
        for _, c in model.constraints:
            self._constraint(c)
        for aim in model.objectives:
            self._linear(aim, upper=True, lower=not _same_sign(aim))
            if len({k > 0 for a, k in aim.terms.items() if _decides(a)}) > 1:
                self._tie([a for a in aim.terms if _decides(a)])
        expressions = [e for _, c in model.constraints for e in expressions_of(c)]
        for atom in atoms_below([*expressions, *model.objectives]):
            if isinstance(atom, Function):
                self._function(atom)
        self._groups = self._cycles()

    def group(self, v: Interval) -> Hashable:
        """Return what stands for the group of an interval: a number, or the interval itself without relations."""
        k = self._number.get(v)
        return v if k is None else self._groups[k]

    def presences(self, v: Interval) -> Hashable:
        """Return what stands for the intervals and integers to which the presence of an interval is related."""
        return self._root(v)

    def _root(self, x: Hashable) -> Hashable:
        while (above := self._present.get(x, x)) is not x:
            self._present[x] = self._present.get(above, above)
            x = above
        return x

    def _tie(self, parts: Sequence[Hashable]) -> None:
        """Relate the presences of intervals that may be absent, and integers; attributes stand for their intervals."""
        nodes = [a.interval if isinstance(a, Attribute) else a for a in parts]
        for x in nodes[1:]:
            self._present[self._root(x)] = self._root(nodes[0])

    def _tie_all(self, expressions: Sequence[Linear]) -> None:
        """Relate the presences and integers anywhere in some expressions."""
        self._tie([a for a in atoms_below(expressions) if _decides(a)])

    def _cycles(self) -> list[int]:
        """Return the number of the strongly connected component of each node: Kosaraju's algorithm, without recursion."""
        after: list[list[int]] = [[] for _ in self._number]
        before: list[list[int]] = [[] for _ in self._number]
        for x, y in zip(self._from, self._to, strict=True):
            after[x].append(y)
            before[y].append(x)
        component = [-1] * len(after)
        for root in reversed(_postorder(after)):
            if component[root] < 0:
                reached = [root]
                component[root] = root
                for x in reached:  # which grows
                    new = [y for y in before[x] if component[y] < 0]
                    for y in new:
                        component[y] = root
                    reached += dict.fromkeys(new)
        return component

    def _before(self, x: Hashable, y: Hashable) -> None:
        """Add a relation from x to y."""
        self._from.append(self._number.setdefault(x, len(self._number)))
        self._to.append(self._number.setdefault(y, len(self._number)))

    def _join(self, nodes: Sequence[Hashable]) -> None:
        """Add relations in both directions between all nodes."""
        for x, y in zip(nodes, [*nodes[1:], *nodes[:1]], strict=True):
            self._before(x, y)

    def _constraint(self, c: Constraint) -> None:
        match c:
            case Comparison():
                self._linear(c.expr, upper=not math.isinf(c.hi), lower=not math.isinf(c.lo))
                self._tie_all([c.expr])
            case AllOrNone():
                self._tie(c.intervals)
            case Alternative():
                self._join(intervals_of(c))
                self._tie(intervals_of(c) if c.interval.optional else c.options)
            case Synchronize():
                self._join(intervals_of(c))
            case Precedence():
                for part in c.parts:
                    self._before(part.before, part.after)
            case Cumulative():
                self._join([x for d in expressions_of(c) for x, _ in _terms(d)])
            case AllDifferent() | Level() | Stated() | Table():
                self._join([*intervals_of(c), *(x for e in expressions_of(c) for x, _ in _terms(e))])
                self._tie([v for v in intervals_of(c) if v.optional])
                self._tie_all(expressions_of(c))

    def _linear(self, e: Linear, *, upper: bool, lower: bool) -> None:
        """Add the relations of an expression with a bound from above, from below, or both."""
        terms = _terms(e)
        nodes = [x for x, _ in terms]
        factors = [k for _, k in terms]
        if len(set(nodes)) < 2 or (_same_sign(e) and not (upper and lower)):
            return
        if len(terms) == 2 and factors[0] == -factors[1]:
            first, second = nodes if factors[0] > 0 else nodes[::-1]
            if upper:
                self._before(first, second)
            if lower:
                self._before(second, first)
        else:
            self._join(nodes)

    def _function(self, f: Function) -> None:
        operands = [_terms(e) for e in f.operands]
        nodes = [x for terms in operands for x, _ in terms]
        plain = all(len(terms) <= 1 and all(k == 1 for _, k in terms) for terms in operands)
        if isinstance(f, Max) and plain:
            for x in nodes:
                self._before(x, f)
        elif isinstance(f, Min) and plain:
            for x in nodes:
                self._before(f, x)
        else:  # the value of holds is a truth value, which is no node
            self._join(nodes if isinstance(f, Holds) else [f, *nodes])
            self._tie_all(f.operands)


def _postorder(after: Sequence[Sequence[int]]) -> list[int]:
    """Return the nodes of a graph in the order in which a search in depth leaves them."""
    order: list[int] = []
    entered = [False] * len(after)
    for root in range(len(after)):
        if entered[root]:
            continue
        entered[root] = True
        path = [(root, iter(after[root]))]
        while path:
            x, successors = path[-1]
            y = next((y for y in successors if not entered[y]), None)
            if y is None:
                order.append(x)
                path.pop()
            else:
                entered[y] = True
                path.append((y, iter(after[y])))
    return order


def _decides(a: Atom) -> bool:
    """Return whether an atom is an integer, or an attribute of an interval that may be absent."""
    return isinstance(a, Integer) or (isinstance(a, Attribute) and a.interval.optional)


def _same_sign(e: Linear) -> bool:
    """Return whether an expression is a sum of nodes with coefficients of the same sign."""
    return len({factor > 0 for _, factor in _terms(e)}) < 2


def _terms(e: Linear) -> list[tuple[Hashable, Number]]:
    """Return the (node, coefficient) pairs of an expression; presences and truth values are no nodes."""
    return [
        (atom.interval if isinstance(atom, Attribute) else atom, factor)
        for atom, factor in e.terms.items()
        if not isinstance(atom, Holds) and not (isinstance(atom, Attribute) and atom.field == "presence")
    ]
