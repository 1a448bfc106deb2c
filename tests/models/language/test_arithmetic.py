"""Products, quotients, conditions, tables and all_different: their values, their texts, and what refuses them."""

from itertools import product as pairs

import pytest
import schedlab as sl
from schedlab.models.language import Bounds, Evaluator


@pytest.fixture
def m():
    return sl.Model("m", horizon=20)


def value(m, expression, values):
    return m.value(expression, sl.Assignment(m, values))


@pytest.mark.parametrize("x", range(-7, 8))
@pytest.mark.parametrize("d", [-3, -1, 1, 2, 5])
def test_division_by_a_number_is_that_of_python(m, x, d):
    v = m.integer("v", -7, 7)
    values = {v: x}
    assert value(m, v // d, values) == x // d
    assert value(m, v % d, values) == x % d
    assert value(m, (v // d) * d + v % d, values) == x


def test_division_of_and_by_an_expression(m):
    x, y = m.integer("x", -7, 7), m.integer("y", 0, 3)
    for a, b in pairs(range(-7, 8), (1, 2, 3)):
        assert value(m, x // y, {x: a, y: b}) == a // b
        assert value(m, x % y, {x: a, y: b}) == a % b
        assert value(m, 7 // y + 7 % y, {x: a, y: b}) == 7 // b + 7 % b
    m.add(x // y >= -99, "quotient")
    (fault,) = m.check(sl.Assignment(m, {x: 3, y: 0}))
    assert fault.constraint == "quotient" and "the divisor is 0" in fault.message


def test_products_and_absolute_values(m):
    x, y = m.integer("x", -3, 2), m.integer("y", -2, 4)
    for a, b in pairs(range(-3, 3), range(-2, 5)):
        e = (x + 1) * (2 * y - x) + abs(x - y)
        assert value(m, e, {x: a, y: b}) == (a + 1) * (2 * b - a) + abs(a - b)
    assert str(x * 3) == str(3 * x) and not (x * 0).terms
    assert str(sl.product(2, 3)) == "6"


@pytest.mark.parametrize("make", [lambda x, y: x * y, lambda x, y: x // (y + 3), lambda x, y: x % (y + 3), abs])
def test_bounds_contain_every_value(m, make):
    x, y = m.integer("x", -5, 3), m.integer("y", -2, 2)
    e = make(x) if make is abs else make(x, y)
    low, high = Bounds().of(e)
    values = [value(m, e, {x: a, y: b}) for a, b in pairs(range(-5, 4), range(-2, 3))]
    assert low <= min(values) and max(values) <= high


def test_an_element_of_expressions(m):
    a = m.interval("a", size=3)
    i = m.integer("i", 0, 3)
    e = sl.element([a.start, 7, a.end], i)
    assert [value(m, e, {a: 4, i: k}) for k in range(3)] == [4, 7, 7]
    m.add(e >= 0, "element")
    (fault,) = m.check(sl.Assignment(m, {a: 4, i: 3}))
    assert "the index is 3, but the array has 3 entries" in fault.message
    assert str(sl.element([1, i - i + 2], i)) == "element(array of 2, i)"  # of numbers alone it is one of numbers


def truth(m, condition, values):
    return value(m, sl.holds(condition), values)


@pytest.mark.parametrize("x", range(4))
@pytest.mark.parametrize("y", range(4))
def test_and_or_not_of_comparisons(m, x, y):
    v, w = m.integer("v", 0, 3), m.integer("w", 0, 3)
    values = {v: x, w: y}
    c, d, e = v >= 2, v + w == 3, v != w
    assert truth(m, e, values) == (x != y)
    assert truth(m, ~e, values) == (x == y)
    assert truth(m, c & d, values) == (x >= 2 and x + y == 3)
    assert truth(m, c | d, values) == (x >= 2 or x + y == 3)
    assert truth(m, ~(c | d) | (c & ~e), values) == (not (x >= 2 or x + y == 3) or (x >= 2 and x == y))
    assert truth(m, sl.all_of([c, d, e]), values) == (x >= 2 and x + y == 3 and x != y)
    assert truth(m, sl.any_of([]), values) == 0 and truth(m, sl.all_of([]), values) == 1


def test_not_of_an_inequality_is_an_inequality(m):
    x = m.integer("x", 0, 9)
    assert str(~(x <= 3)) == "x >= 4"
    assert str(~(x >= 3)) == "x <= 2"
    assert str(sl.holds(~(x == 3))) == "-1*holds(x == 3) + 1"


KINDS = [sl.end_before_start, sl.start_before_start, sl.end_before_end, sl.start_before_end]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lags", [{"delay": 2}, {"delay": -1, "at_most": 1}])
@pytest.mark.parametrize("optional", [(False, False), (True, False), (True, True)])
def test_a_precedence_as_condition_holds_where_the_constraint_holds(m, kind, lags, optional):
    a, b = (m.interval(n, size=2, start=(-3, 4), optional=o) for n, o in zip("ab", optional, strict=True))
    m.add(kind(a, b, **lags))
    condition = sl.holds(kind(a, b, **lags))
    for s, t in pairs([*range(-3, 5), None], [*range(-3, 5), None]):
        if (s is not None or a.optional) and (t is not None or b.optional):
            x = sl.Assignment(m, {a: s, b: t})
            assert m.value(condition, x) == (not m.check(x)), (s, t)


def test_presences_are_conditions(m):
    a, b = (m.interval(n, size=2, optional=True) for n in "ab")
    m.add(a.presence | (b.presence & (b.start >= 3)), "one")
    assert m.check(sl.Assignment(m, {b: 2}))
    assert not m.check(sl.Assignment(m, {b: 3})) and not m.check(sl.Assignment(m, {a: 0}))
    assert sl.holds(a.presence).terms == {a.presence: 1}


def test_count(m):
    xs = [m.integer(f"x{k}", 0, 2) for k in range(3)]
    y = m.integer("y", 0, 2)
    x = sl.Assignment(m, {**dict(zip(xs, (2, 0, 2), strict=True)), y: 2})
    assert [m.value(sl.count(xs, v), x) for v in (0, 1, 2, y, y - 2)] == [1, 0, 2, 2, 1]
    assert m.value(sl.count([*xs, 2], 2), x) == 3


def test_all_different_and_table_in_check(m):
    a, b = (m.interval(n, size=2, optional=True) for n in "ab")
    x = m.integer("x", 0, 5)
    m.add(sl.all_different([a.start, b.start, x]), "different")
    m.add(sl.table([x, a.presence], [(3, 1), (5, 0), (3, 1)]), "allowed")
    assert not m.check(sl.Assignment(m, {a: 1, b: 4, x: 3}))
    faults = {v.constraint: (v.amount, v.message) for v in m.check(sl.Assignment(m, {x: 3}))}
    assert faults["different"] == (1, "different: a.start and b.start are both 0")  # both are absent
    assert faults["allowed"] == (1, "allowed: the values are (3, 0), which is no allowed tuple")
    assert m.constraints[1].constraint.tuples == ((3, 1), (5, 0))


def whole_model():
    m = sl.Model("all", horizon=9)
    a, b = m.interval("a", size=3), m.interval("b", size=(1, 2), optional=True)
    x = m.integer("x", 1, 4)
    m.add(x * a.start + abs(x - 3) <= 9, "product")
    m.add(a.end // x + 7 % x + b.end % 4 >= 1, "division")
    m.add(sl.element([x, 3, a.end], b.presence) != 2, "element")
    m.add((a.start >= 2) | ~sl.end_before_start(a, b, at_most=4), "condition")
    m.add(sl.all_different([a.start, x, 7]), "different")
    m.add(sl.table([x, b.presence], [(1, 0), (2, 1)]), "allowed")
    m.minimize(sl.count([x, a.start], 2) + a.end)
    return m


LISTING = """\
Model 'all': 1 objective, 2 intervals, 1 integer, 6 constraints; horizon 9
minimize:
  holds(x == 2) + holds(a.start == 2) + a.end
intervals:
  a: size 3, start 0 to 9
  b: optional, size 1 to 2, start 0 to 9
integers:
  x: 1 to 4
functions:
  f1 = element([x, 3, a.end], b.presence)
constraints:
  product: product(x, a.start) + max(x - 3, -x + 3) <= 9
  division: quotient(a.end, x) + remainder(7, x) + remainder(b.end, 4) >= 1
"""


def test_listing_and_json():
    m = whole_model()
    assert str(m).splitlines()[:8] == LISTING.splitlines()[:8]
    assert [line for line in LISTING.splitlines()[10:] if line not in str(m)] == []
    text = m.to_json()
    assert (
        '{"type": "quotient", "dividend": {"terms": [[1, "end", 0]]}, "divisor": {"terms": [[1, "integer", 0]]}}'
        in text
    )
    assert sl.Model.from_json(text).to_json() == text
    assert str(sl.Model.from_json(text)) == str(m)
    with pytest.raises(sl.ModelError, match=r"constraints\[5\]"):
        sl.Model.from_json(text.replace("[[1, 0], [2, 1]]", "[[1, 0], [2]]"))


def test_names_that_are_made():
    m = sl.Model("names")
    x, y = m.integer("x", 0, 3), m.integer("y", 0, 3)
    m.add(sl.all_different([x, y + 1]))
    m.add(sl.table([x, y], [(0, 1)]))
    m.add((x >= 1) | (y >= 2))
    assert [c.name for c in m.constraints] == [
        "all different: x, y + 1", "table of x, y with 1 tuple", "holds(x >= 1) + holds(y >= 2) >= 1"
    ]  # fmt: skip


def test_variables_of_two_models_are_refused():
    m, n = sl.Model("m"), sl.Model("n")
    x, y = m.integer("x", 0, 3), n.integer("y", 0, 3)
    for make in (lambda: x * y, lambda: x // (y + 1), lambda: sl.all_different([x, y]), lambda: (x >= 1) | (y >= 1)):
        with pytest.raises(sl.ModelError, match="'n'"):
            m.add(make())
    with pytest.raises(sl.ModelError, match="variables of model 'n'"):
        m.add(sl.all_different([y, 2]))


def test_the_horizon_of_a_model_with_functions_of_times():
    m = sl.Model("m")
    a, x = m.interval("a", size=3), m.integer("x", 1, 4)
    m.minimize(a.end)
    m.add(x * x + x // 2 + sl.element([x, 2], x - 1) >= 5)
    assert m.derived_horizon.proved and m.horizon <= 3
    m.add(a.start % 5 == 2, "every five seconds")
    assert not m.derived_horizon.proved and "every five seconds" in m.derived_horizon.reason
    b = sl.Model("b")
    jobs = [b.interval(f"j{k}", size=2) for k in range(3)]
    b.add(sl.all_different([v.start for v in jobs]))
    b.minimize(sl.max([v.end for v in jobs]))
    assert b.derived_horizon.proved and b.horizon >= 2
    assert sl.solve(b, backend="cpsat").objective == 4


def test_an_evaluator_shares_what_is_nested():
    m = sl.Model("m")
    e = m.integer("x", 0, 1) + 1
    for _ in range(60):
        e = e * e - e * e + e  # 2^60 terms if it were written out
    assert Evaluator(sl.Assignment(m, {m.integers[0]: 1})).value(e) == 2


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x, y: x // (y - 2), r"x // \(y \+ -2\): the divisor can be -2"),
        (lambda x, y: (x + y) % (y - 2), r"\(x \+ y\) % \(y \+ -2\): the divisor can be -2"),
        (lambda x, y: (x + 1) // 0, r"\(x \+ 1\) // 0: division by zero"),
        (lambda x, y: (x + 1) / 0, r"\(x \+ 1\) / 0: division by zero"),
        (lambda x, y: (x + 1) / (2 * y), r"\(x \+ 1\) / \(2\*y\): a quotient of two variables"),
    ],
)
def test_sums_have_parentheses_in_messages_about_divisors(make, text):
    model = sl.Model("m")
    with pytest.raises(sl.ModelError, match=text):
        make(model.integer("x", 0, 3), model.integer("y", 0, 3))
