"""Models as MiniZinc: the text of each construct, names, what cannot be written, and optima where MiniZinc is installed."""

from __future__ import annotations

import operator
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
import schedlab as sl
from schedlab.backends.conformance import EnumerationError, Truth, brute_force, domain, random_model
from schedlab.backends.decompositions import Chain
from schedlab.backends.minizinc import SUPPORTS, to_minizinc

# The texts that ``to_minizinc`` writes, read again: their variables, and whether given values satisfy them.
#
# It knows the part of MiniZinc that the writer uses, and nothing of the writer. A division or an index without a value makes
# its constraint false, as in MiniZinc.

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


COMMAND = shutil.which("minizinc")


def constraints(model: sl.Model) -> list[str]:
    """Return the constraints of the text, without the names above them."""
    return [line[11:-1] for line in to_minizinc(model).splitlines() if line.startswith("constraint ")]


@pytest.fixture
def model() -> sl.Model:
    return sl.Model("m", horizon=20)


def test_intervals_and_integers_are_variables(model: sl.Model) -> None:
    model.interval("a", size=3, start=[(0, 2), (5, 9)])
    model.interval("b", size=(1, 4), optional=True)
    model.integer("x", -2, 3)
    text = to_minizinc(model)
    for line in (
        "var (0..2 union 5..9): a;",
        "var 0..20: b;",
        "var 1..4: b_size;",
        "var bool: b_present;",
        "var -2..3: x;",
    ):
        assert line in text.splitlines()
    assert constraints(model) == ["not b_present -> (b = 0 /\\ b_size = 1)"]
    assert "solve satisfy;" in text and 'output ["x = \\(x)\\n", "a = \\(a)\\n", "b = \\(b)\\n"' in text


def test_scheduling_constraints(model: sl.Model) -> None:
    a, b = model.interval("a", size=3), model.interval("b", size=2)
    o, p = (model.interval(name, size=3, optional=True) for name in "op")
    model.add(sl.no_overlap([a, b, o]))
    model.add(sl.cumulative([a, b, o], [1, 2, 3], capacity=2))
    model.add(sl.alternative(a, [o, p]))
    model.add(sl.end_before_start(a, o, delay=2, at_most=5))
    model.add(sl.forbid_extent(b, [(4, 6)]))
    assert constraints(model)[2:] == [
        "disjunctive([a, b, o], [3, 2, if o_present then 3 else 0 endif])",
        "if o_present then 3 else 0 endif = 0",
        "cumulative([a, b], [3, 2], [1, 2], 2)",
        "bool2int(o_present) + bool2int(p_present) = 1 * bool2int(true)",
        "(o_present) -> (a = o)",
        "(p_present) -> (a = p)",
        "(o_present) -> (a + 3 + 2 <= o)",
        "(o_present) -> (o + -5 <= a + 3)",
        "b + 2 <= 4 \\/ b >= 6",
    ]
    assert [line for line in to_minizinc(model).splitlines() if line.startswith("include")] == [
        'include "cumulative.mzn";',
        'include "disjunctive.mzn";',
    ]


def test_functions_are_variables_with_a_constraint(model: sl.Model) -> None:
    x, y = model.integer("x", -5, 5), model.integer("y", 1, 3)
    model.add(sl.element([4, 7, 9], y) + x // y + x % y + x * y <= 9)
    model.add(sl.all_different([x, y]))
    model.add(sl.table([x, y], [(1, 2), (2, 3)]))
    model.minimize(0.5 * sl.max([x, y]) + x / 4)
    text = to_minizinc(model)
    assert constraints(model) == [
        "element = array1d(0..2, [4, 7, 9])[y]",
        "quotient = ((x) - (((x) mod (y)) + (y)) mod (y)) div (y)",
        "y >= 1",
        "remainder = (((x) mod (y)) + (y)) mod (y)",
        "y >= 1",
        "product_2 = (x) * (y)",
        "max_2 = max([x, y])",
        "element + quotient + remainder + product_2 <= 9",
        "alldifferent([x, y])",
        "table([x, y], array2d(1..2, 1..2, [1, 2, 2, 3]))",
    ]
    assert "% The objective is 4 times that of the model.\nvar int: objective = 2*max_2 + x;" in text


def test_what_minizinc_has_no_constraint_for_is_decomposed(model: sl.Model) -> None:
    a, b = model.interval("a", size=3), model.interval("b", size=2)
    model.add(sl.no_overlap([a, b], [[0, 4], [1, 0]]))
    text = to_minizinc(model)
    assert "% Decomposed: transition times." in text and "<=" in text


def test_names_are_distinct_identifiers(model: sl.Model) -> None:
    for name in ("a on 1", "a-on-1", "max", "3", "ä", "objective"):
        model.integer(name, 0, 1)
    declared = re.findall(r"^var 0..1: (\w+);$", to_minizinc(model), re.M)
    assert declared == ["a_on_1", "a_on_1_2", "max_2", "v_3", "v", "objective_2"]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x: sl.piecewise(x, [(0, 0), (3, 9)]), r"piecewise\(x, 2 points\): .* whole numbers alone"),
        (lambda x: sl.element([0.5, 1.5], x), r"element\(array of 2, x\): .* this element can have other values"),
        (lambda x: 0.12345678912 * x, "no factor up to 10\\^9 makes these coefficients whole"),
    ],
)
def test_what_needs_real_numbers_is_refused_by_name(model: sl.Model, make, text: str) -> None:
    x = model.integer("x", 0, 1)
    model.minimize(make(x))
    with pytest.raises(sl.SolverUnavailable, match=text):
        to_minizinc(model)


def test_of_several_objectives_the_first_is_written(model: sl.Model) -> None:
    x = model.integer("x", 0, 9)
    model.minimize([x / 3600, -x])
    text = to_minizinc(model)
    assert "% Only the first of its 2 objectives is written." in text and "% The objective is 3600 times" in text


def test_a_constant_that_no_factor_makes_whole_is_left_out(model: sl.Model) -> None:
    x = model.integer("x", 0, 9)
    model.minimize(x / 4 + 0.123456789012)
    text = to_minizinc(model)
    assert "% The constant 0.493827156048 of the objective is left out.\nvar int: objective = x;" in text


def written_values(text: Text, model: sl.Model, assignment: sl.Assignment) -> dict[str, int]:
    """Return the values of the variables of a text, which come in the order of the model: integers, then intervals."""
    names = iter(text.declared)
    values = {next(names): assignment[x] for x in model.integers}
    for v in model.intervals:
        value = assignment[v]
        start, size = (value.start, value.end - value.start) if value.present else (v.start_lo, v.size_lo)
        values[next(names)] = start
        if v.size_lo < v.size_hi:
            values[next(names)] = size
        if v.optional:
            values[next(names)] = int(value.present)
    return values


def neighbours(model: sl.Model, best: sl.Assignment) -> Iterator[sl.Assignment]:
    """Yield an assignment and all that differ from it in one variable, within the domains."""
    variables = [*model.intervals, *model.integers]
    yield best
    for changed in variables:
        for value in domain(changed):
            made = {v: best[v] for v in variables if v is not changed}
            yield sl.Assignment(model, {**made, changed: value})


def small_model(seed: int) -> tuple[sl.Model, Truth, str] | None:
    """Return a random model, its optimum, and its text; None if it is too large, or MiniZinc cannot have it."""
    model = random_model(seed).model
    try:
        return model, brute_force(model), to_minizinc(model)
    except (EnumerationError, sl.SolverUnavailable):
        return None


def test_the_text_says_of_each_assignment_what_the_model_says() -> None:
    solutions, violations, decomposed = 0, 0, 0
    for seed in range(1, 60):
        made = small_model(seed)
        if made is None or made[1].best is None:
            continue
        model, truth, written = made
        chain = Chain(model, SUPPORTS)
        text = Text(written)
        factor = int((re.search(r"is (\d+) times", written) or [0, 1])[1])
        decomposed += bool(chain.steps)
        for assignment in neighbours(model, truth.best):
            wrong = model.check(assignment)
            if wrong and chain.steps:  # the auxiliary variables of a decomposition have values for solutions alone
                continue
            values = written_values(text, chain.model, chain.forward(assignment))
            assert text.holds(values) == (not wrong), (seed, assignment, wrong)
            solutions += not wrong
            violations += bool(wrong)
            if not wrong and model.objectives and "is left out" not in written:
                assert text.value(values) / factor == pytest.approx(model.value(model.objectives[0], assignment))
    assert solutions >= 200 and violations >= 200 and decomposed >= 5


@pytest.mark.skipif(COMMAND is None, reason="MiniZinc is not installed (make minizinc)")
def test_the_optimum_is_that_of_enumeration(tmp_path) -> None:
    compared = 0
    for seed in (*range(1, 60), 389, 404, 557):  # in the last ones, absent intervals start within others
        made = small_model(seed)
        if made is None or any(abs(int(word)) > 2**31 for word in re.findall(r"(?<!\w)\d{10,}", made[2])):
            continue  # its numbers are too large for the solver
        model, truth, text = made
        file = tmp_path / "m.mzn"
        file.write_text(text)
        out = subprocess.run([COMMAND, file], capture_output=True, text=True, check=True).stdout
        compared += 1
        if not truth.feasible:
            assert "UNSATISFIABLE" in out, seed
        elif not model.objectives:
            assert "----------" in out, seed
        else:
            factor = int((re.search(r"is (\d+) times", text) or [0, 1])[1])
            found = re.findall(r"^objective = (-?\d+)$", out, re.M)[-1]
            assert "==========" in out and int(found) / factor == pytest.approx(truth.objectives[0]), seed
    assert compared >= 40
