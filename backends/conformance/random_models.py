"""Small random models for the conformance test; together they contain all constructs of the language.

The numbers are chosen so that no answer depends on a tolerance. Coefficients and slopes of piecewise functions are
short decimals, so a comparison of real numbers either holds exactly or is violated by much more than 1e-6.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable
from typing import NamedTuple

from ...models.language import (
    Assignment,
    Comparison,
    Constraint,
    Integer,
    Interval,
    Linear,
    Model,
    UndefinedValue,
    alternative,
    cumulative,
    implies,
    no_overlap,
    synchronize,
)
from ...models.language import max as latest
from ...models.language import sum as total
from .brute_force import EnumerationError, Value, Variable, brute_force, domain
from .random_expressions import RandomExpressions
from .random_patterns import PATTERNS, RandomPattern
from .random_transitions import PRECEDENCES, RandomTransitions

LARGE = (10**3, 10**6, 10**9, 2 * 10**9, 10**12)
PATTERN_PERIOD = 4  # each fourth seed gives a model of ``random_patterns``
OPEN = 20  # s: latest start with the default horizon; a model whose derived horizon is later gets another one
ROOM = 30_000  # most assignments of a model: the product of the sizes of its domains


class RandomModel(NamedTuple):
    """A random model and the constructs of the language that it contains."""

    model: Model
    constructs: frozenset[str]


def random_model(seed: int) -> RandomModel:
    """Return the random model of a seed; the same seed gives the same model. Each fourth one is of a pattern.

    Examples
    --------
    >>> random_model(7).model.name
    'random 7'
    """
    if seed % PATTERN_PERIOD == 0:
        made = RandomPattern(PATTERNS[seed // PATTERN_PERIOD % len(PATTERNS)], seed)
        return RandomModel(made.model, frozenset(made.used))
    return _Maker(seed).make()


def _declared(v: Interval) -> list[tuple[int, int]] | None:
    return None if v.declared_windows is None else list(v.declared_windows)


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.scaling = random.Random(
            f"{seed} scaling"
        )  # separate, so that the choice of large numbers changes nothing else
        self.used: set[str] = set()
        self.spread = self.rng.random() < 0.2  # most intervals have no windows, with the default or a given horizon
        horizon = self.rng.randint(3, 7) if self.spread and self.rng.random() < 0.5 else None
        self.open = horizon is None
        self.model = Model(f"random {seed}", horizon)
        self.origin = self.rng.choice([0] * 6 + [-4, -2, 3])
        self.room = float(ROOM)
        self.reference: dict[Variable, object] = {}
        self.expressions = RandomExpressions(self.rng, self.model, self.used)

    def make(self) -> RandomModel:
        """Add variables, constraints and objectives."""
        rng = self.rng
        for _ in range(rng.randint(2, 4)):
            self._interval()
        for _ in range(rng.choice([0, 1, 1, 2])):
            self._integer()
        kinds = self._kinds()
        for k in range(rng.randint(2, 5)):
            kind = rng.choices(list(kinds), [w for w, _ in kinds.values()])[0]
            for constraint in kinds[kind][1]():
                self.model.add(constraint, f"{kind} {k + 1}.{len(self.model.constraints) + 1}")
        extra = random.Random(f"{self.model.name} lags and transitions")  # separate, as above
        for constraint in RandomTransitions(extra, self.model, self.used).constraints():
            self.model.add(constraint, f"extra {len(self.model.constraints) + 1}")
        self._add_objectives()
        derived = self.model.derived_horizon
        if derived is not None and derived.value > OPEN:  # too many assignments to enumerate
            self.used.discard("default horizon")
            self.model = self.model.with_horizon(rng.randint(3, 7))
        self._move_to_zero()
        return RandomModel(self.model, frozenset(self.used))

    def _domain(self, variable: Variable) -> list[Value]:
        """Return the values of a variable; of an interval without windows, those up to ``OPEN``."""
        if isinstance(variable, Interval) and variable.declared_windows is None and self.open:
            sizes = range(variable.size_lo, variable.size_hi + 1)
            absent: list[Value] = [None] if variable.optional else []
            return absent + [(s, s + size) for s in range(OPEN + 1) for size in sizes]
        return domain(variable)

    def _kinds(self) -> dict[str, tuple[float, Callable[[], list[Constraint]]]]:
        """Return for each kind of constraint its weight and the method that makes it."""
        return {
            "alternative": (1.7, self._alternative),
            "cumulative": (3.2, self._cumulative),
            "no_overlap": (1.8, self._no_overlap),
            "synchronize": (0.8, self._synchronize),
            "precedence": (3.2, self._precedence),
            "implication": (0.8, self._implies),
            "comparison": (4.5, self._comparison),
        }

    # Variables

    def _interval(self, optional: bool | None = None, like: Interval | None = None) -> Interval | None:
        """Add an interval (often like ``like``); return None if the model would have too many assignments."""
        rng = self.rng
        optional = rng.random() < 0.4 if optional is None else optional
        size = self._size()
        start = None if self.spread and rng.random() < 0.7 else self._windows()
        if like is not None:
            size = (like.size_lo, like.size_hi) if rng.random() < 0.7 else size
            start = _declared(like) if rng.random() < 0.6 else start
        places = (OPEN if self.open else 8) if start is None else sum(b - a + 1 for a, b in start)
        count = places * (size[1] - size[0] + 1) + optional
        if count > self.room:
            return None
        self.room /= count
        made = self.model.interval(f"i{len(self.model.intervals)}", size, start, optional)
        self._note_interval(made, start is None)
        self.reference[made] = rng.choice(self._domain(made)) if rng.random() < 0.8 else self._domain(made)[0]
        return made

    def _size(self) -> tuple[int, int]:
        draw = self.rng.random()
        if draw < 0.1:
            return 0, 0
        lo = self.rng.choice([0, 1, 2, 3]) if draw < 0.4 else self.rng.randint(1, 4)
        return lo, lo + (self.rng.randint(1, 2) if draw < 0.4 else 0)

    def _windows(self) -> list[tuple[int, int]]:
        rng = self.rng
        lo = self.origin + rng.randint(0, 3)
        if rng.random() < 0.25:
            hi, gap = lo + rng.randint(0, 2), rng.randint(2, 3)
            return [(lo, hi), (hi + gap, hi + gap + rng.randint(0, 1))]
        return [(lo, lo + rng.randint(0, 4))]

    def _note_interval(self, v: Interval, default: bool) -> None:
        sizes = "fixed size" if v.size_lo == v.size_hi else "variable size"
        self.used.add("zero size" if v.size_hi == 0 else sizes)
        for occurs, construct in (
            (v.size_lo == 0 < v.size_hi, "size from zero"),
            (len(v.windows) > 1, "start windows"),
            (v.optional, "optional"),
            (default, "default horizon"),
            (v.start_lo < 0, "negative time"),
        ):
            if occurs:
                self.used.add(construct)

    def _integer(self, lo: int | None = None) -> Integer | None:
        rng = self.rng
        if lo is None and rng.random() < 0.4:
            self.used.add("boolean")
            lo, hi = 0, 1
        else:
            lo = rng.randint(-3, 2) if lo is None else lo
            hi = lo + rng.randint(0, 3)
            self.used.add("negative integer" if lo < 0 else "integer")
        if hi - lo + 1 > self.room:
            return None
        self.room /= hi - lo + 1
        name = f"x{len(self.model.integers)}"
        made = self.model.boolean(name) if (lo, hi) == (0, 1) else self.model.integer(name, lo, hi)
        self.reference[made] = rng.randint(lo, hi)
        return made

    def _some(self, least: int, most: int) -> list[Interval]:
        intervals = self.model.intervals
        return self.rng.sample(intervals, min(len(intervals), self.rng.randint(least, most)))

    # Constraints

    def _alternative(self) -> list[Constraint]:
        rng = self.rng
        master = rng.choice(self.model.intervals)
        options = [o for o in (self._interval(True, like=master) for _ in range(rng.randint(2, 3))) if o]
        if not options:
            return []
        count = 1 if rng.random() < 0.55 else rng.randint(2, 3)
        self.used.add("alternative of 1" if count == 1 else "alternative of several")
        if master.optional:
            self.used.add("optional alternative")
        return [alternative(master, options, count)]

    def _cumulative(self) -> list[Constraint]:
        chosen = self._some(2, 5)
        chosen += self._instant(chosen[0])
        demands = [self._demand() for _ in chosen]
        known = [d for d in demands if isinstance(d, int)]
        top = max([1, *known]) + self.rng.choice([0, 0, 1, 2])
        if self.rng.random() < 0.5:
            self.used.add("cumulative constant")
            return [cumulative(chosen, demands, top)]
        self.used.add("cumulative stepwise")
        times = sorted(self.rng.sample(range(self.origin, self.origin + 8), self.rng.randint(2, 3)))
        low = self.rng.randint(0, 1)
        capacities = [top if k % 2 == low else self.rng.randint(0, top - 1) for k in range(len(times))]
        return [cumulative(chosen, demands, list(zip(times, capacities, strict=True)))]

    def _demand(self) -> int | Integer | Linear:
        rng, draw = self.rng, self.rng.random()
        if draw < 0.65:
            return rng.randint(0, 3)
        known = [x for x in self.model.integers if x.lo >= 0]
        made = rng.choice(known) if known and rng.random() < 0.6 else self._integer(lo=rng.randint(0, 2))
        if made is None:
            return 1
        if draw < 0.85:
            self.used.add("variable demand")
            return made
        self.used.add("affine demand")
        if draw < 0.92:
            return 2 * made + rng.randint(0, 1)
        return made.hi + rng.randint(0, 1) - made

    def _no_overlap(self) -> list[Constraint]:
        self.used.add("no_overlap")
        chosen = self._some(2, 4)
        return [no_overlap(chosen + self._instant(chosen[0]))]

    def _instant(self, host: Interval) -> list[Interval]:
        """Return an interval that can have size 0 at a time at which ``host`` can be running, or nothing."""
        if self.rng.random() < 0.5 or host.size_hi < 2:
            return []
        at = host.start_lo + self.rng.randint(1, host.size_hi)
        made = self.model.interval(f"i{len(self.model.intervals)}", (0, self.rng.randint(0, 1)), at)
        self._note_interval(made, False)
        self.reference[made] = domain(made)[0]
        return [made]

    def _synchronize(self) -> list[Constraint]:
        self.used.add("synchronize")
        chosen = self._some(2, 3)
        fresh = self._interval(like=chosen[0])
        return [synchronize(chosen[0], [*chosen[2:], fresh] if fresh else chosen[1:])]

    def _precedence(self) -> list[Constraint]:
        kind = self.rng.choice(PRECEDENCES)
        before, after = self.rng.sample(self.model.intervals, 2)
        delay = self.rng.choice([0, 0, 0, 1, 2, -1, -2, -3])
        self.used.add(kind.__name__)
        if delay:
            self.used.add("delay" if delay > 0 else "negative delay")
        return [kind(before, after, delay)]

    def _implies(self) -> list[Constraint]:
        self.used.add("implies")
        return [implies(self._truth(), self._truth())]

    def _truth(self) -> Linear | Comparison:
        if self.rng.random() < 0.4:
            return self._compared(self.expressions.integral(1), real=False)
        return self.expressions.truth()

    def _comparison(self) -> list[Constraint]:
        rng = self.rng
        e = self.expressions.linear(rng.choice([0, 1, 1, 2]), rng.random() < 0.25)
        if e.integral and rng.random() < 0.25:
            middle = round(self._at_reference(e))
            self.used.add("range")
            return [e >= middle - rng.randint(0, 1), e <= middle + rng.randint(0, 1)]
        compared = self._compared(e, real=True)
        return [self._enlarged(compared) if compared.integral and self.scaling.random() < 0.25 else compared]

    def _enlarged(self, c: Comparison) -> Comparison:
        """Return an equivalent comparison: multiplied by a factor, bounds of an inequality loosened by less than it."""
        factor = self.scaling.choice(LARGE)
        rest = 0 if c.lo == c.hi else self.scaling.randrange(factor)
        lo, hi = (side if math.isinf(side) else factor * int(side) for side in (c.lo, c.hi))
        self.used.add("large coefficients")
        return Comparison(factor * c.expr, lo - rest, hi + rest)

    def _compared(self, e: Linear, real: bool) -> Comparison:
        """Return a comparison of the expression with a value near its value at the reference assignment."""
        rng = self.rng
        value = round(self._at_reference(e), 6)
        slack = rng.choice([0, 0, 0, 1, 1, 2, 3, -1])
        sign = rng.choice(["<=", "<=", ">=", ">=", "==", "<", "<"])
        integral = e.integral and isinstance(value, int)
        if not integral and (not real or sign == "<"):
            sign = "<="
        if real and rng.random() < 0.08:
            value += 0.5  # a fractional bound of an expression that is a whole number
        if not integral or not isinstance(value, int):
            self.used.add("real comparison")
            sign = "<=" if sign == "<" else sign
        self.used.add(sign)
        if sign == "==":
            return e == value if rng.random() < 0.85 else e == value + slack
        if sign == ">=":
            return e >= value - slack
        return e < value + slack + 1 if sign == "<" else e <= value + slack

    def _at_reference(self, e: Linear) -> int | float:
        """Return a value of the expression: at the reference assignment or, if undefined there, at a random one."""
        for _ in range(4):
            variables: list[Variable] = [*self.model.intervals, *self.model.integers]
            values = {v: self.reference[v] for v in variables}
            try:
                return self.model.value(e, Assignment(self.model, values))
            except UndefinedValue:
                self.reference.update({v: self.rng.choice(self._domain(v)) for v in self.model.intervals})
        return 0

    # Objectives

    def _add_objectives(self) -> None:
        rng, draw = self.rng, self.rng.random()
        if draw < 0.12:
            self.used.add("no objective")
            return
        count = rng.randint(2, 3) if draw < 0.3 else 1
        objectives = [self._objective() for _ in range(count)]
        if count > 1:
            self.used.add("lexicographic")
        if any(not e.integral for e in objectives):
            self.used.add("real objective")
        sense = "minimize" if rng.random() < 0.65 else "maximize"
        self.used.add(sense)
        getattr(self.model, sense)(objectives if count > 1 else objectives[0])

    def _move_to_zero(self) -> None:
        """Shift the first of several objectives so that its optimum is 0 and bounds on it can have both signs."""
        objectives = self.model.objectives
        if len(objectives) < 2:
            return
        with contextlib.suppress(EnumerationError):
            truth = brute_force(self.model)
            if truth.best is not None:
                self.model.objectives[0] = objectives[0] - truth.objectives[0]
                self.used.add("first optimum 0")

    def _objective(self) -> Linear:
        rng, draw = self.rng, self.rng.random()
        ends = [v.end for v in self.model.intervals]
        if draw < 0.4:
            weights = [rng.choice([1, 2, 0.5, 1 / 3600, 1 / 18000, 1 / 86400]) for _ in ends]
            self.used.add("sum")
            return total([v.start for v in self.model.intervals], weights) - rng.randint(0, 3)
        if draw < 0.55:
            self.used.add("max")
            return latest(ends) + rng.choice([0, 0.5]) * rng.choice(ends)
        return self.expressions.linear(rng.choice([1, 2, 2]), rng.random() < 0.4)
