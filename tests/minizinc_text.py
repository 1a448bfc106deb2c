"""The texts that ``to_minizinc`` writes, read again: their variables, and whether given values satisfy them.

It knows the part of MiniZinc that the writer uses, and nothing of the writer. A division or an index without a value makes
its constraint false, as in MiniZinc.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*|<->|->|/\\|\\/|<=|>=|\.\.|[-+*=()\[\],])")
LEVELS: tuple[dict[str, Callable[[Any, Any], Any]], ...] = (  # the binary operators, the weakest ones first
    {"<->": operator.eq},
    {"->": lambda a, b: not a or b},
    {"\\/": lambda a, b: a or b},
    {"/\\": lambda a, b: a and b},
    {"=": operator.eq, "<=": operator.le, ">=": operator.ge},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "div": lambda a, b: _divided(a, b)[0], "mod": lambda a, b: _divided(a, b)[1]},
)


class NoValueError(Exception):
    """An expression has no value: an index outside of an array, a division by 0."""


class Text:
    """A text of MiniZinc.

    Attributes
    ----------
    declared : dict of str to set of int
        The domain of each variable, in the order of the text; of a ``var bool`` 0 and 1, of a ``var int`` None.
    """

    def __init__(self, text: str) -> None:
        lines = [line for line in text.splitlines() if not line.startswith(("%", "include", "output", "solve"))]
        variables = [re.fullmatch(r"var (.*): (\w+)( = .*)?;", line) for line in lines]
        self.declared = {m[2]: _domain(m[1]) for m in variables if m}
        self.objective = next((m[3][3:] for m in variables if m and m[2] == "objective"), None)
        self.constraints = [line.removeprefix("constraint ")[:-1] for line in lines if line.startswith("constraint ")]

    def complete(self, values: Mapping[str, int]) -> dict[str, int]:
        """Return the values of all variables: those that are not given have a constraint ``name = value``."""
        known = dict(values)
        for constraint in self.constraints:
            name, equals, value = constraint.partition(" = ")
            if equals and name in self.declared and name not in known:
                known[name] = int(evaluate(value, known))
        return known

    def holds(self, values: Mapping[str, int]) -> bool:
        """Return whether the text has a solution with these values of its variables, functions left out."""
        try:
            known = self.complete(values)
            inside = all(known[name] in domain for name, domain in self.declared.items() if domain is not None)
            return inside and all(evaluate(constraint, known) for constraint in self.constraints)
        except NoValueError:
            return False

    def value(self, values: Mapping[str, int]) -> int:
        """Return the value of the objective."""
        assert self.objective is not None
        return int(evaluate(self.objective, self.complete(values)))


def evaluate(text: str, values: Mapping[str, int]) -> Any:
    """Return the value of an expression for values of its variables.

    >>> evaluate("max([x, 3]) + (0 - 7) mod 2", {"x": 5}), evaluate("not true -> x = 4", {"x": 5})
    (4, True)
    """
    tokens = TOKEN.findall(text)
    assert "".join(tokens) == text.replace(" ", ""), text
    parser = _Parser(tokens, values)
    value = parser.expression(0)
    assert not parser.tokens, f"{text}: {parser.tokens} is left"
    return value


class _Parser:
    """The value of an expression by recursive descent."""

    def __init__(self, tokens: list[str], values: Mapping[str, int]) -> None:
        self.tokens = tokens
        self.values = values

    def take(self, expected: str = "") -> str:
        token = self.tokens.pop(0)
        assert expected in ("", token), f"{token} in place of {expected}"
        return token

    def next_is(self, *tokens: str) -> bool:
        return bool(self.tokens) and self.tokens[0] in tokens

    def expression(self, level: int) -> Any:
        if level == len(LEVELS):
            return self.single()
        value = self.expression(level + 1)
        while self.next_is(*LEVELS[level]):
            apply = LEVELS[level][self.take()]
            value = apply(value, self.expression(level + 1))
        return value

    def single(self) -> Any:
        token = self.take()
        if token == "-":
            return -self.single()
        if token == "not":
            return not self.single()
        if token == "if":
            return self.conditional()
        if token == "(":
            value = self.expression(0)
            self.take(")")
        elif token == "[":
            value = self.several("]")
        elif token.isdigit():
            value = int(token)
            if self.next_is(".."):
                self.take()
                value = range(value, int(self.take()) + 1)
        elif token in ("true", "false"):
            value = token == "true"
        elif self.next_is("("):
            self.take()
            value = FUNCTIONS[token](*self.several(")"))
        else:
            value = self.values[token]
        return self.indexed(value)

    def conditional(self) -> Any:
        condition = self.expression(0)
        self.take("then")
        first = self.expression(0)
        self.take("else")
        second = self.expression(0)
        self.take("endif")
        return first if condition else second

    def several(self, end: str) -> list[Any]:
        values = []
        while not self.next_is(end):
            values.append(self.expression(0))
            if self.next_is(","):
                self.take()
        self.take(end)
        return values

    def indexed(self, value: Any) -> Any:
        if not (isinstance(value, dict) and self.next_is("[")):
            return value
        self.take()
        (index,) = self.several("]")
        if index not in value:
            raise NoValueError
        return value[index]


def _divided(a: int, b: int) -> tuple[int, int]:
    """Return quotient and remainder, which are rounded towards 0."""
    if b == 0:
        raise NoValueError
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def _domain(text: str) -> set[int] | None:
    if text in ("bool", "int"):
        return {0, 1} if text == "bool" else None
    parts = [part.split("..") for part in text.strip("()").split(" union ")]
    return {value for low, high in parts for value in range(int(low), int(high) + 1)}


def _cumulative(starts: Sequence[int], sizes: Sequence[int], demands: Sequence[int], capacity: int) -> bool:
    tasks = [(s, s + d, r) for s, d, r in zip(starts, sizes, demands, strict=True) if d > 0]
    return all(sum(r for s, e, r in tasks if s <= at < e) <= capacity for at, _, _ in tasks)


def _disjunctive(starts: Sequence[int], sizes: Sequence[int]) -> bool:
    spans = sorted((s, s + d) for s, d in zip(starts, sizes, strict=True) if d > 0)
    return all(before[1] <= after[0] for before, after in pairwise(spans))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "max": lambda *values: max(values[0] if isinstance(values[0], list) else values),
    "min": lambda *values: min(values[0] if isinstance(values[0], list) else values),
    "bool2int": int,
    "array1d": lambda indices, values: dict(zip(indices, values, strict=True)),
    "array2d": lambda rows, columns, values: [
        values[k * len(columns) : (k + 1) * len(columns)] for k in range(len(rows))
    ],
    "alldifferent": lambda values: len(set(values)) == len(values),
    "table": lambda values, rows: values in rows,
    "cumulative": _cumulative,
    "disjunctive": _disjunctive,
}
