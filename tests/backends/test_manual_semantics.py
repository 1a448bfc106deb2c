"""Random models whose constraints mean what the manual says: the check of assignments, and the optima on all backends."""

import itertools
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schedlab as sl
from draws import some_now
from on_backends import LABELS, usable
from schedlab.backends import Limits, run
from schedlab.backends.conformance import Contender

# Random small models with the meaning of each constraint as the manual states it, for enumeration.
#
# Each constraint comes with a function of the values of the variables, written from ``docs`` alone; nothing of the package's own
# checks is used. Values are ``(present, start, end)`` of an interval, by name, and a number of an integer. Times are small, so
# that what must hold at all times is looked at time by time.

LAST = 4  # latest start
TIMES = range(-1, 14)  # all times at which something can change
Values = dict[str, Any]
Meaning = Callable[[Values], Any]
Term = tuple[Any, Meaning]  # an expression or a condition of the language, and what it means


class Undefined(Exception):
    """An expression has no value, so that its constraint does not hold."""


def always(number: int) -> Meaning:
    """Return the meaning of a number."""
    return lambda _: number


def step_value(steps: list[tuple[int, int]], time: int) -> int:
    """Return the value of steps (time, value) at a time, the first of which is at 0."""
    return [value for since, value in steps if since <= time][-1] if time >= 0 else steps[0][1]


class ModelOfTheManual:
    """A random model with its meaning.

    Attributes
    ----------
    model
        The model.
    domains
        The values of each variable, by name.
    meanings
        What each constraint requires.
    objective
        The value of the objective.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.model = sl.Model(f"manual {seed}")
        self.intervals: dict[str, Any] = {}
        self.integers: dict[str, Any] = {}
        self.domains: dict[str, list[Any]] = {}
        self.meanings: list[Meaning] = []
        self.groups: list[str] = []
        for k in range(self.rng.choice((2, 3, 3, 4))):
            self._interval(f"v{k}")
        for k in range(self.rng.choice((0, 1, 2))):
            low = self.rng.randint(-1, 1)
            high = low + self.rng.randint(1, 3)
            self.integers[f"x{k}"] = self.model.integer(f"x{k}", low, high)
            self.domains[f"x{k}"] = list(range(low, high + 1))
        makers = (
            *(self.cumulative, self.level, self.intensity, self.windows, self.domain, self.precedence),
            *(self.comparison, self.condition, self.choice, self.alternative, self.structure, self.sequence),
            *(self.neighbours, self.states, self.comparison, self.condition),
        )
        for _ in range(self.rng.choice((1, 2, 3, 3))):
            self.rng.choice(makers)()
        expression, self.objective = self.expression(2)
        self.minimizes = self.rng.random() < 0.5
        (self.model.minimize if self.minimizes else self.model.maximize)(expression)

    # --- Variables, and how they are drawn.

    def _interval(self, name: str) -> None:
        rng = self.rng
        least = rng.choice((0, 1, 1, 2, 3))
        most = least + rng.choice((0, 0, 1, 2))
        first = rng.randint(0, 2)
        last = rng.randint(first, LAST)
        optional = rng.random() < 0.4
        self.intervals[name] = self.model.interval(name, size=(least, most), start=(first, last), optional=optional)
        present = [(True, s, s + size) for s in range(first, last + 1) for size in range(least, most + 1)]
        self.domains[name] = present + ([(False, 0, 0)] if optional else [])

    def _optional(self, name: str) -> bool:
        return not self.domains[name][-1][0]

    def _lasting(self) -> list[str]:
        """Return the intervals that are never of size 0."""
        return [n for n in self.intervals if all(end > start for there, start, end in self.domains[n] if there)]

    def _some(self, least: int, among: list[str] | None = None) -> list[str]:
        """Return a random choice of intervals in random order; none if there are too few."""
        names = list(self.intervals) if among is None else among
        return self.rng.sample(names, self.rng.randint(least, len(names))) if len(names) >= least else []

    def _of(self, names: list[str]) -> list[Any]:
        return [self.intervals[n] for n in names]

    def _add(self, group: str, constraint: Any, meaning: Meaning) -> None:
        self.groups.append(group)
        self.meanings.append(meaning)
        self.model.add(constraint, f"{group} {len(self.groups)}")

    # --- Expressions and conditions.

    def atom(self) -> Term:
        """Return a part of an interval, which is 0 if it is absent, or an integer."""
        rng = self.rng
        if self.integers and rng.random() < 0.4:
            name = rng.choice(list(self.integers))
            return self.integers[name], lambda v: v[name]
        name = rng.choice(list(self.intervals))
        x = self.intervals[name]
        parts: list[Term] = [
            (x.start, lambda v: v[name][1]),
            (x.end, lambda v: v[name][2]),
            (x.size, lambda v: v[name][2] - v[name][1]),
            (x.presence, lambda v: int(v[name][0])),
        ]
        return rng.choice(parts)

    def expression(self, depth: int) -> Term:
        """Return a random expression."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            e, value = self.atom()
            factor = rng.choice((1, 1, 2, -1))
            more = rng.choice((0, 0, 1, -2))
            return factor * e + more, lambda v: factor * value(v) + more
        e, f = self.expression(depth - 1)
        d, g = self.expression(depth - 1)
        divisor = rng.choice((2, 3, 4, -2))
        makers: list[Callable[[], Term]] = [
            lambda: (e + d, lambda v: f(v) + g(v)),
            lambda: (e - d, lambda v: f(v) - g(v)),
            lambda: (e * d, lambda v: f(v) * g(v)),
            lambda: (abs(e), lambda v: abs(f(v))),
            lambda: (e // divisor, lambda v: f(v) // divisor),
            lambda: (e % divisor, lambda v: f(v) % divisor),
            lambda: (sl.max([e, d]), lambda v: max(f(v), g(v))),
            lambda: (sl.min([e, d, 2]), lambda v: min(f(v), g(v), 2)),
            lambda: self._element(e, f),
            lambda: self._truth(depth - 1),
            self._count,
        ]
        return rng.choice(makers)()

    def _element(self, index: Any, at: Meaning) -> Term:
        """Return an entry of an array, of which one is a variable; outside of the array it has no value."""
        entries: list[Term] = [(n, always(n)) for n in (self.rng.randint(-3, 5) for _ in range(self.rng.randint(2, 6)))]
        entries[0] = self.atom()

        def value(v: Values) -> Any:
            k = at(v)
            if not 0 <= k < len(entries):
                raise Undefined
            return entries[k][1](v)

        return sl.element([e for e, _ in entries], index), value

    def _truth(self, depth: int) -> Term:
        c, holds = self.truth(depth)
        return sl.holds(c), lambda v: int(holds(v))

    def _count(self) -> Term:
        atoms = [self.atom() for _ in range(3)]
        wanted = self.rng.randint(0, 2)
        return sl.count([e for e, _ in atoms], wanted), lambda v: sum(f(v) == wanted for _, f in atoms)

    def compared(self, depth: int) -> Term:
        """Return a comparison."""
        e, f = self.expression(depth)
        d, g = self.expression(max(0, depth - 1))
        comparisons: list[Term] = [
            (e <= d, lambda v: f(v) <= g(v)),
            (e >= d + 1, lambda v: f(v) >= g(v) + 1),
            (e == d, lambda v: f(v) == g(v)),
            (e != d, lambda v: f(v) != g(v)),
        ]
        return self.rng.choice(comparisons)

    def truth(self, depth: int) -> Term:
        """Return a condition: a comparison, a precedence, a presence, or several of them."""
        kind = self.rng.randrange(7 if depth > 0 else 4)
        if kind <= 1:
            return self.compared(max(0, depth))
        if kind == 2:
            return self.lag()
        if kind == 3:
            name = self.rng.choice(list(self.intervals))
            return self.intervals[name].presence == 1, lambda v: v[name][0]
        (c, p), (d, q) = self.truth(depth - 1), self.truth(depth - 1)
        if kind == 4:
            return sl.all_of([c, d]), lambda v: all([p(v), q(v)])
        if kind == 5:
            return sl.any_of([c, d]), lambda v: any([p(v), q(v)])
        return ~c, lambda v: not p(v)

    def lag(self) -> Term:
        """Return a precedence with a time lag, which holds if a side is absent."""
        rng = self.rng
        before, after = rng.sample(list(self.intervals), 2)
        make, one, other = rng.choice(
            (
                (sl.end_before_start, 2, 1),
                (sl.start_before_end, 1, 2),
                (sl.start_before_start, 1, 1),
                (sl.end_before_end, 2, 2),
            )
        )
        delay: Any = rng.randint(-2, 2)
        least = always(delay)
        most = None if rng.random() < 0.6 else delay + rng.randint(0, 2)
        if self.integers and rng.random() < 0.25:
            name = rng.choice(list(self.integers))
            delay = self.integers[name]
            least = lambda v: v[name]  # noqa: E731
            most = None

        def holds(v: Values) -> bool:
            if not (v[before][0] and v[after][0]):
                return True
            gap = v[after][other] - v[before][one]
            return bool(gap >= least(v) and (most is None or gap <= most))

        return make(self.intervals[before], self.intervals[after], delay, at_most=most), holds

    # --- Constraints.

    def precedence(self) -> None:
        """Add a precedence."""
        self._add("precedence", *self.lag())

    def comparison(self) -> None:
        """Add a comparison."""
        self._add("comparison", *self.compared(2))

    def condition(self) -> None:
        """Add a conclusion, or one of two conditions."""
        (c, p), (d, q) = self.truth(2), self.truth(1)
        if self.rng.random() < 0.5:
            self._add("implies", sl.implies(c, d), lambda v: [not p(v), q(v)] != [False, False])
        else:
            self._add("any of", sl.any_of([c, d]), lambda v: any([p(v), q(v)]))

    def choice(self) -> None:
        """Add a table, or that all values differ."""
        atoms = [self.atom() for _ in range(self.rng.randint(2, 3))]
        expressions = [e for e, _ in atoms]
        if self.rng.random() < 0.5:
            self._add(
                "all different", sl.all_different(expressions), lambda v: len({f(v) for _, f in atoms}) == len(atoms)
            )
            return
        rows = [tuple(self.rng.randint(0, 4) for _ in atoms) for _ in range(self.rng.randint(2, 8))]
        self._add("table", sl.table(expressions, rows), lambda v: tuple(f(v) for _, f in atoms) in rows)

    def cumulative(self) -> None:
        """Add a cumulative whose capacity is a number, changes in steps, or is an expression."""
        rng = self.rng
        names = self._some(1)
        demands: list[Term] = [(d, always(d)) for d in (rng.randint(0, 3) for _ in names)]
        if self.integers and rng.random() < 0.4:
            name = rng.choice(list(self.integers))
            demands[0] = sl.max([0, self.integers[name]]), lambda v: max(0, v[name])
        steps = [(0, rng.randint(1, 4)), (rng.randint(1, 3), rng.randint(0, 3)), (5, rng.randint(0, 4))]
        e, value = self.atom()
        capacities: list[tuple[Any, Callable[[Values, int], Any]]] = [
            (steps[0][1], lambda v, time: steps[0][1]),
            (steps, lambda v, time: step_value(steps, time)),
            (e + 1, lambda v, time: value(v) + 1),
        ]
        capacity, free = rng.choice(capacities)

        def holds(v: Values) -> bool:
            for time in TIMES:
                used = sum(
                    f(v) for n, (_, f) in zip(names, demands, strict=True) if v[n][0] and v[n][1] <= time < v[n][2]
                )
                if used > free(v, time) and (used > 0 or capacity is not steps):
                    return False
            return True

        self._add("cumulative", sl.cumulative(self._of(names), [d for d, _ in demands], capacity), holds)

    def level(self) -> None:
        """Add bounds of a level: always, in a window, or while an interval runs."""
        rng = self.rng
        changes = [self._change() for _ in range(rng.randint(1, 4))]
        total = changes[0][0]
        for change, _ in changes[1:]:
            total = total + change
        low, high = rng.choice(((0, None), (-1, 2), (None, 1), (-2, 3), (0, 1)))

        def within(v: Values, times: Any) -> bool:
            sums = [sum(amount(v, time) for _, amount in changes) for time in times]
            return all((low is None or s >= low) and (high is None or s <= high) for s in sums)

        kind = rng.randrange(3)
        if kind == 0:
            self._add("level", sl.always_in(total, low, high), lambda v: within(v, TIMES))
        elif kind == 1:
            begin = rng.randint(0, 4)
            over = begin + rng.randint(1, 3)
            limited = sl.always_in(total, low, high, window=(begin, over))
            self._add("level in a window", limited, lambda v: within(v, range(begin, over)))
        else:
            name = rng.choice(list(self.intervals))
            limited = sl.always_in(total, low, high, during=self.intervals[name])
            self._add("level during", limited, lambda v: not v[name][0] or within(v, range(v[name][1], v[name][2])))

    def _change(self) -> tuple[Any, Callable[[Values, int], Any]]:
        """Return a change of a level, and its amount at a time."""
        rng = self.rng
        name = rng.choice(list(self.intervals))
        x = self.intervals[name]
        number = rng.choice((1, 2, 3, -1, -2))
        height: Term = (number, always(number))
        if self.integers and rng.random() < 0.2:
            integer = rng.choice(list(self.integers))
            height = self.integers[integer], lambda v: v[integer]
        h, amount = height
        since = rng.randint(0, 4)
        changes: list[tuple[Any, Callable[[Values, int], Any]]] = [
            (sl.at_start(x, h), lambda v, t: amount(v) if v[name][0] and t >= v[name][1] else 0),
            (sl.at_end(x, h), lambda v, t: amount(v) if v[name][0] and t >= v[name][2] else 0),
            (sl.pulse(x, h), lambda v, t: amount(v) if v[name][0] and v[name][1] <= t < v[name][2] else 0),
            (sl.step_at(since, number), lambda v, t: number if t >= since else 0),
        ]
        return rng.choice(changes)

    def intensity(self) -> None:
        """Add that the work of an interval is a number, or lies in a range."""
        rng = self.rng
        name = rng.choice(list(self.intervals))
        times = sorted(rng.sample(range(1, 7), rng.randint(1, 3)))
        steps = [(0, rng.choice((100, 50, 0))), *((t, rng.choice((0, 25, 50, 75, 100))) for t in times)]
        least = rng.randint(0, 3)
        most = least + rng.choice((0, 0, 1))

        def holds(v: Values) -> bool:
            there, start, end = v[name]
            return not there or least <= sum(step_value(steps, t) for t in range(start, end)) // 100 <= most

        self._add("intensity", sl.intensity(self.intervals[name], (least, most), steps), holds)

    def windows(self) -> None:
        """Add windows in which an interval does not run, start or end."""
        rng = self.rng
        name = rng.choice(list(self.intervals))
        x = self.intervals[name]
        first = rng.randint(0, 3)
        closed = [(first, first + 1), (first + 2, first + 2 + rng.randint(1, 2))]

        def forbidden(hits: Callable[[int, int, int, int], bool]) -> Meaning:
            return lambda v: not v[name][0] or not any(hits(*v[name][1:], lo, hi) for lo, hi in closed)

        kind = rng.randrange(3)
        if kind == 0:
            runs = forbidden(lambda start, end, lo, hi: start < end and start < hi and end > lo)
            self._add("forbid extent", sl.forbid_extent(x, closed), runs)
        elif kind == 1:
            self._add("forbid start", sl.forbid_start(x, closed), forbidden(lambda s, e, lo, hi: lo <= s < hi))
        else:
            self._add("forbid end", sl.forbid_end(x, closed), forbidden(lambda s, e, lo, hi: lo < e <= hi))

    def domain(self) -> None:
        """Add that a value lies in some windows."""
        e, value = self.expression(1)
        windows = [self.rng.randint(-2, 0), (1, self.rng.randint(1, 3)), (self.rng.randint(4, 5), None)]

        def inside(v: Values) -> bool:
            n = value(v)
            return bool(n == windows[0] or windows[1][0] <= n <= windows[1][1] or n >= windows[2][0])

        self._add("in domain", sl.in_domain(e, windows), inside)

    def alternative(self) -> None:
        """Add an alternative, a synchronization, or that all or none are present."""
        names = self._some(2)
        one, others = names[0], names[1:]
        options = [n for n in others if self._optional(n)]
        kind = self.rng.randrange(3)
        if kind == 0 and options:
            count = self.rng.randint(1, len(options))

            def chosen(v: Values) -> bool:
                there = [n for n in options if v[n][0]]
                return len(there) == (count if v[one][0] else 0) and all(v[n][1:] == v[one][1:] for n in there)

            made = sl.alternative(self.intervals[one], self._of(options), count=count)
            self._add("alternative", made, chosen)
        elif kind == 1 and all(map(self._optional, names)):
            self._add("all or none", sl.all_or_none(self._of(names)), lambda v: len({v[n][0] for n in names}) == 1)
        else:
            made = sl.synchronize(self.intervals[one], self._of(others))
            alike = lambda v: all(not v[n][0] or v[n][1:] == v[one][1:] for n in others)  # noqa: E731
            self._add("synchronize", made, lambda v: not v[one][0] or alike(v))

    def structure(self) -> None:
        """Add a span or an isomorphism."""
        names = self._some(2)
        one, others = names[0], names[1:]
        if self.rng.random() < 0.5:

            def spanned(v: Values) -> bool:
                parts = [v[n][1:] for n in others if v[n][0]]
                if not parts:
                    return not v[one][0]
                return bool(v[one] == (True, min(s for s, _ in parts), max(e for _, e in parts)))

            self._add("span", sl.span(self.intervals[one], self._of(others)), spanned)
            return
        cut = self.rng.randint(1, len(names) - 1)
        left, right = names[:cut], names[cut:]

        def paired(v: Values) -> bool:
            return sorted(v[n][1:] for n in left if v[n][0]) == sorted(v[n][1:] for n in right if v[n][0])

        self._add("isomorphism", sl.isomorphism(self._of(left), self._of(right)), paired)

    # --- Sequences.

    def _ordered(self) -> tuple[list[str], dict[str, int], Any]:
        """Return some intervals, the type of each, and a sequence of them; none if there are too few."""
        names = self._some(2, self._lasting())
        kinds = {n: self.rng.randrange(3) for n in names}
        return names, kinds, sl.sequence(self._of(names), [kinds[n] for n in names]) if names else None

    def sequence(self) -> None:
        """Add a rule of the order of some intervals, which also do not overlap."""
        names, kinds, s = self._ordered()
        if not names:
            return
        rng = self.rng
        times = [[rng.randint(0, 2) for _ in range(3)] for _ in range(3)]
        a, b = rng.sample(names, 2)

        def apart(v: Values, pairs: Any) -> bool:
            return all(v[p][2] + times[kinds[p]][kinds[q]] <= v[q][1] for p, q in pairs)

        def directly(v: Values, order: list[str]) -> bool:
            return not (v[a][0] and v[b][0]) or order.index(a) + 1 == order.index(b)

        one, other = self._of([a, b])
        rules: list[tuple[str, Any, Callable[[Values, list[str]], bool]]] = [
            ("first", s.first(one), lambda v, order: not v[a][0] or order[0] == a),
            ("last", s.last(one), lambda v, order: not v[a][0] or order[-1] == a),
            ("before", s.before(one, other), lambda v, order: not (v[a][0] and v[b][0]) or v[a][1] < v[b][1]),
            ("previous", s.previous(one, other), directly),
            ("no idle", s.no_idle(), lambda v, order: all(v[p][2] == v[q][1] for p, q in itertools.pairwise(order))),
            ("direct times", s.no_overlap(times), lambda v, order: apart(v, itertools.pairwise(order))),
            (
                "times of all pairs",
                s.no_overlap(times, direct=False),
                lambda v, order: apart(v, itertools.combinations(order, 2)),
            ),
        ]
        name, rule, meaning = rng.choice(rules)

        def holds(v: Values) -> bool:
            order = in_order(v, names)
            return order is not None and meaning(v, order)

        self._add(name, rule, holds)

    def neighbours(self) -> None:
        """Add a bound of the cost of an order, or of the type of a neighbour."""
        names, kinds, s = self._ordered()
        if not names:
            return
        rng = self.rng
        costs = [[rng.randint(0, 3) for _ in range(3)] for _ in range(3)]
        first, last = [rng.randint(0, 2) for _ in range(3)], [rng.randint(0, 2) for _ in range(3)]
        name = rng.choice(names)
        end, absent = rng.randint(-1, 4), rng.randint(-1, 4)

        def cost(v: Values, order: list[str]) -> int:
            ends = first[kinds[order[0]]] + last[kinds[order[-1]]] if order else 0
            return ends + sum(costs[kinds[p]][kinds[q]] for p, q in itertools.pairwise(order))

        def next_to(step: int) -> Callable[[Values, list[str]], int]:
            def kind(v: Values, order: list[str]) -> int:
                if not v[name][0]:
                    return absent
                at = order.index(name) + step
                return kinds[order[at]] if 0 <= at < len(order) else end

            return kind

        x = self.intervals[name]
        terms = [
            (s.cost(costs, first, last), cost),
            (s.type_of_next(x, end, absent), next_to(1)),
            (s.type_of_previous(x, end, absent), next_to(-1)),
        ]
        e, meaning = rng.choice(terms)
        most = rng.randint(0, 5)

        def holds(v: Values) -> bool:
            order = in_order(v, names)
            return order is not None and meaning(v, order) <= most

        self._add("neighbours", e <= most, holds)

    # --- States.

    def states(self) -> None:
        """Add a state function."""
        names = self._some(1, self._lasting())
        if not names:
            return
        rng = self.rng
        times = rng.choice(([[0, 0], [0, 0]], [[0, 1], [2, 0]], [[1, 2], [1, 1]], [[0, 2], [2, 0]]))
        uses, required = [], {}
        for name in names:
            aligned = rng.random() < 0.4, rng.random() < 0.3
            value = rng.choice((0, 1, 0, 1, None))
            x = self.intervals[name]
            uses.append(sl.always_constant(x, *aligned) if value is None else sl.always_equal(x, value, *aligned))
            required[name] = (value, *aligned)

        def holds(v: Values) -> bool:
            there = [(*v[n][1:], *required[n]) for n in names if v[n][0]]
            open_ones = [k for k, use in enumerate(there) if use[2] is None]
            for values in itertools.product((0, 1), repeat=len(open_ones)):
                known = dict(zip(open_ones, values, strict=True))
                full = [(s, e, known.get(k, value), *rest) for k, (s, e, value, *rest) in enumerate(there)]
                if any(are_segments(groups, times) for groups in grouped(full)):
                    return True
            return False

        self._add("states", sl.state_function(uses, times), holds)

    # --- Enumeration.

    @property
    def size(self) -> int:
        """The number of combinations of values."""
        return math.prod(len(values) for values in self.domains.values())

    def assignments(self) -> Iterator[Values]:
        """Yield all combinations of values."""
        for values in itertools.product(*self.domains.values()):
            yield dict(zip(self.domains, values, strict=True))

    def value(self, v: Values) -> int | None:
        """Return the objective; None if a constraint does not hold, or an expression has no value."""
        try:
            return int(self.objective(v)) if all(holds(v) for holds in self.meanings) else None
        except Undefined:
            return None

    def optimum(self) -> int | None:
        """Return the best objective of all combinations; None if there is no solution."""
        values = [n for n in map(self.value, self.assignments()) if n is not None]
        return (min if self.minimizes else max)(values) if values else None

    def assignment(self, v: Values) -> sl.Assignment:
        """Return the values as an assignment of the model."""
        times = {x: v[n][1:] if v[n][0] else None for n, x in self.intervals.items()}
        return sl.Assignment(self.model, {**times, **{x: v[n] for n, x in self.integers.items()}})


def in_order(v: Values, names: list[str]) -> list[str] | None:
    """Return the present intervals by their starts; None if two of them overlap."""
    order = sorted((n for n in names if v[n][0]), key=lambda n: v[n][1])
    return order if all(v[p][2] <= v[q][1] for p, q in itertools.pairwise(order)) else None


def grouped(uses: list[Any]) -> Iterator[list[list[Any]]]:
    """Yield the divisions of uses of a state into segments, each with one value."""
    if not uses:
        yield []
        return
    use = uses[0]
    for groups in grouped(uses[1:]):
        yield [[use], *groups]
        for k, group in enumerate(groups):
            if group[0][2] == use[2]:
                yield [*groups[:k], [use, *group], *groups[k + 1 :]]


def are_segments(groups: list[list[Any]], times: list[list[int]]) -> bool:
    """Return whether groups of uses can be the segments of a state: aligned as required, the transition times apart."""
    segments = []
    for group in groups:
        start, end = min(use[0] for use in group), max(use[1] for use in group)
        if any((use[3] and use[0] != start) or (use[4] and use[1] != end) for use in group):
            return False
        segments.append((start, end, group[0][2]))
    return all(a[1] + times[a[2]][b[2]] <= b[0] for a, b in itertools.pairwise(sorted(segments)))


SMALL = 8_000  # combinations of values


def small_model(seed: int) -> ModelOfTheManual:
    """Return the model of the first seed from this one on, in steps of 1,000, that is small."""
    made = ModelOfTheManual(seed)
    return made if made.size <= SMALL else small_model(seed + 1_000)


@pytest.mark.parametrize("seed", some_now(range(100), 20))
def test_assignments_hold_where_the_manual_says_so(seed: int) -> None:
    made = small_model(seed)
    rng = random.Random(seed)
    for _ in range(40):
        values = {name: rng.choice(domain) for name, domain in made.domains.items()}
        expected = made.value(values)
        answer = made.assignment(values)
        broken = made.model.check(answer)
        assert (not broken) == (expected is not None), (made.groups, values, broken)
        if not broken:
            assert made.model.value(made.model.objectives[0], answer) == expected


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("seed", some_now(range(60), 10))
def test_optima_are_those_of_the_manual(seed: int, label: str) -> None:
    usable(label)
    made = small_model(seed)
    contender = Contender(label)
    result = run(made.model, contender.backend, Limits(time=120, threads=1), conflict=False, **contender.options)
    best = made.optimum()
    assert result.status == ("infeasible" if best is None else "optimal"), (made.groups, best, result.message)
    assert result.objective == best, made.groups


def test_the_models_have_all_groups_of_constraints_and_are_often_feasible() -> None:
    models = [ModelOfTheManual(seed) for seed in range(600)]
    assert len({group for made in models for group in made.groups}) == 29
    some = [small_model(seed) for seed in range(40)]
    assert sum(made.optimum() is not None for made in some) >= 15
    assert all(isinstance(made.model, sl.Model) for made in some)
