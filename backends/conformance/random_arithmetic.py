"""Random models of arithmetic, conditions and relations: products, quotients, ``!=``, ``&``, tables, all_different, ..."""

from __future__ import annotations

import random
from collections.abc import Callable

from ...models.language import (
    Comparison,
    Constraint,
    Linear,
    Model,
    Precedence,
    VariableDelay,
    all_different,
    all_of,
    any_of,
    count,
    element,
    end_before_end,
    end_before_start,
    holds,
    implies,
    start_before_end,
    start_before_start,
    table,
)
from ...models.language import sum as total
from ...models.language.bounds import Bounds
from ...models.language.linear_expressions import linear

PATTERNS = ("arithmetic", "conditions", "relations")
PRECEDENCES = (end_before_start, start_before_start, end_before_end, start_before_end)


class RandomArithmetic:
    """The random model of one pattern.

    - ``arithmetic``: products, absolute values, quotients and remainders by constants and by expressions, elements of
      expressions, nested in each other, in comparisons and objectives.
    - ``conditions``: ``!=``, and, or, not of comparisons, precedences with lags, presences; as constraints, in ``implies``
      and as numbers.
    - ``relations``: all_different, table and count of expressions.

    Parameters
    ----------
    pattern : str
        One of ``PATTERNS``.
    seed : int

    Attributes
    ----------
    model : Model
    used : set of str
        The constructs that it contains.
    """

    def __init__(self, pattern: str, seed: int) -> None:
        rng = self.rng = random.Random(f"{pattern} {seed}")
        self.model = Model(f"random {seed}")
        self.used = {pattern}
        first = rng.choice([0, 0, 0, -2, 3])
        for k in range(rng.randint(2, 3)):
            size = rng.choice([0, 1, 2, 3])
            self.model.interval(
                f"i{k}",
                (size, size + rng.choice([0, 0, 1])),
                (first, first + rng.randint(1, 4)),
                optional=rng.random() < 0.4,
            )
        for k in range(rng.randint(1, 2)):
            low = rng.choice([-3, -1, 0, 0, 1])
            self.model.integer(f"x{k}", low, low + rng.randint(1, 4))
        makers: dict[str, Callable[[], Constraint]] = {
            "arithmetic": self._arithmetic,
            "conditions": self._conditions,
            "relations": self._relations,
        }
        for _ in range(rng.randint(2, 3) if pattern == "relations" else rng.randint(1, 3)):
            made = makers[pattern]()
            self.model.add(made, f"{pattern} {len(self.model.constraints) + 1}")
        self._aim()

    def _aim(self) -> None:
        rng = self.rng
        draw = rng.random()
        if draw < 0.15:
            return
        sense = self.model.minimize if draw < 0.6 else self.model.maximize
        self.used.add("minimize" if draw < 0.6 else "maximize")
        parts = [v.end for v in self.model.intervals] + list(self.model.integers)
        weights = [rng.choice([1, 1, 2, -1]) for _ in parts]
        plain = total(parts, weights)
        sense(plain if rng.random() < 0.5 else plain + self._function(1))

    # Expressions

    def _leaf(self) -> Linear:
        rng = self.rng
        if rng.random() < 0.4:
            return linear(rng.choice(self.model.integers))
        v = rng.choice(self.model.intervals)
        return linear(rng.choice([v.start, v.end, v.size, v.presence]))

    def _sum(self, depth: int) -> Linear:
        rng = self.rng
        made = self._leaf() if depth == 0 or rng.random() < 0.4 else self._function(depth - 1)
        if rng.random() < 0.4:
            made = made + rng.choice([1, -1, 2]) * self._leaf()
        return made + rng.choice([0, 0, 1, -2]) if rng.random() < 0.4 else made

    def _function(self, depth: int) -> Linear:
        makers: dict[str, Callable[[int], Linear]] = {
            "product": lambda d: self._sum(d) * self._sum(d),
            "abs": lambda d: abs(self._sum(d)),
            "//": lambda d: self._sum(d) // self._divisor(),
            "%": lambda d: self._sum(d) % self._divisor(),
            "element of expressions": self._element,
        }
        name = self.rng.choice(list(makers))
        self.used.add(name)
        return makers[name](depth)

    def _divisor(self) -> Linear | int:
        rng = self.rng
        if rng.random() < 0.5:
            return rng.choice([2, 3, 3, 5, -2, 1])
        self.used.add("variable divisor")
        e = self._leaf()
        low = int(Bounds().of(e)[0])
        return e - low + rng.choice([0, 1, 1, 2])

    def _element(self, depth: int) -> Linear:
        rng = self.rng
        index = self._leaf()
        low, high = (int(b) for b in Bounds().of(index))
        shift = low + rng.choice([0, 0, 0, -1, 1])
        entries = [self._sum(depth) if rng.random() < 0.7 else rng.randint(-3, 5) for _ in range(high - low + 1)]
        return element(entries, index - shift)

    def _compared(self, e: Linear) -> Comparison:
        """Return a comparison of an expression of whole numbers with a value within its bounds."""
        low, high = (int(b) for b in Bounds().of(e))
        edge = self.rng.randint(low, high) if self.rng.random() < 0.5 else (low + high) // 2
        sign = self.rng.choice(["<=", ">=", "==", "!="])
        self.used.add(sign)
        if sign == "<=":
            return e <= edge
        if sign == ">=":
            return e >= edge
        return e == edge if sign == "==" else e != edge

    # Constraints

    def _arithmetic(self) -> Comparison:
        return self._compared(self._function(self.rng.choice([0, 0, 1])) + self.rng.choice([0, 1]) * self._leaf())

    def _condition(self, depth: int) -> Comparison | Precedence | VariableDelay | Linear:
        rng = self.rng
        draw = rng.random()
        if depth == 0 or draw < 0.3:
            if draw < 0.12:
                v = rng.choice(self.model.intervals)
                self.used.add("presence as condition")
                return linear(v.presence)
            if draw < 0.5:
                return self._precedence()
            return self._compared(self._sum(0))
        if draw < 0.55:
            self.used.add("not")
            return ~self._condition(depth - 1)
        both = [self._condition(depth - 1) for _ in range(rng.randint(2, 3))]
        self.used.add("or" if draw < 0.8 else "and")
        return any_of(both) if draw < 0.8 else all_of(both)

    def _precedence(self) -> Precedence | VariableDelay:
        rng = self.rng
        before, after = rng.sample(self.model.intervals, 2)
        delay = rng.choice([0, 0, 1, -2])
        self.used.add("precedence as condition")
        at_most = delay + rng.randint(0, 3) if rng.random() < 0.3 else None
        return rng.choice(PRECEDENCES)(before, after, delay, at_most=at_most)

    def _conditions(self) -> Comparison:
        rng = self.rng
        draw = rng.random()
        if draw < 0.3:
            self.used.add("implies")
            return implies(self._condition(1), self._condition(1))
        if draw < 0.6:
            self.used.add("holds")
            truths = [holds(self._condition(1)) for _ in range(rng.randint(2, 3))]
            return self._compared(total(truths, [rng.choice([1, 1, -2]) for _ in truths]))
        return any_of([self._condition(2), self._condition(1)])

    def _relations(self) -> Constraint:
        rng = self.rng
        draw = rng.random()
        several = [self._sum(rng.choice([0, 0, 1])) for _ in range(rng.randint(2, 3))]
        if rng.random() < 0.3:
            several.append(linear(rng.randint(0, 2)))
        if draw < 0.33:
            self.used.add("all_different")
            return all_different(several)
        if draw < 0.67:
            self.used.add("table")
            return table(several, [self._row(several) for _ in range(rng.randint(2, 8))])
        self.used.add("count")
        value = rng.randint(0, 3) if rng.random() < 0.6 else self._leaf()
        return self._compared(count(several, value))

    def _row(self, several: list[Linear]) -> tuple[int, ...]:
        row = []
        for e in several:
            low, high = (int(b) for b in Bounds().of(e))
            row.append(self.rng.randint(low, high))
        return tuple(row)


def random_arithmetic(seed: int) -> tuple[Model, set[str]]:
    """Return the random model of a seed, of one of the patterns in turn, and the constructs that it contains.

    Examples
    --------
    >>> random_arithmetic(1)[0].name
    'random 1'
    """
    made = RandomArithmetic(PATTERNS[seed % len(PATTERNS)], seed)
    return made.model, made.used
