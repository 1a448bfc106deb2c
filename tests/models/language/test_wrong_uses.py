"""Wrong uses of the modelling language, and arrays where lists and pairs are expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
import schedlab as sl

M = sl.Model("m", horizon=100)
A, B = M.interval("a", size=3), M.interval("b", size=4, optional=True)
X: Any = M.integer("x", 0, 9)
VALUES = sl.Assignment(M, {A: 1, X: 2})

WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "name of a model": (lambda: sl.Model(None), "the name of a model is None; expected a text"),  # type: ignore[arg-type]
    "two constraints": (lambda: M.add(X >= 1, X >= 2), "the name of a constraint is x >= 2; expected a text"),
    "a list of constraints": (lambda: M.add([X >= 1]), r"\[x >= 1\] is not a constraint; add each constraint by itself"),  # type: ignore[arg-type]
    "a truth value": (lambda: M.add(X == None), "False is not a constraint: it compares numbers or texts"),  # noqa: E711
    "a level with ==": (lambda: M.add(sl.pulse(A, 1) == 1), "a level has <=, >= and sl.always_in"),
    "a state alone": (lambda: M.add(sl.always_equal(A, 1)), r"is not a constraint; sl.state_function\(\[...\]\) takes what a state must be"),
    "an interval as a number": (lambda: A.end <= B, r"not b; write one of its numbers: b.start, .end, .size or .presence"),
    "an interval as an objective": (lambda: M.minimize(A), "not a; write one of its numbers: a.start"),  # type: ignore[arg-type]
    "a maximum of intervals": (lambda: sl.max(A, B), "not a; write one of its numbers"),  # type: ignore[arg-type]
    "a constraint as a number": (lambda: X + (X >= 1), r"not x >= 1; write holds\(c\)"),
    "max of Python": (lambda: max(X, X + 1), r"is a constraint, not True or False .*the maximum of expressions is sl.max"),
    "floor": (lambda: math.floor(X), r"floor\(x\): the modelling language"),
    "text as an objective": (lambda: M.minimize(b"3", replace=True), "must be a finite number, not b'3'"),  # type: ignore[arg-type]
    "no list": (lambda: sl.no_overlap(np.array(3)), r"no_overlap\(\): the intervals must be a list, not array\(3\)"),  # type: ignore[arg-type]
    "a set of intervals": (lambda: sl.cumulative({A, B}, [2, 1], 2), r"the intervals must be a list.*: a set has no order"),  # type: ignore[arg-type]
    "a set of demands": (lambda: sl.cumulative([A, B], {2, 1}, 2), "the demands must be a list.*: a set has no order"),  # type: ignore[arg-type]
    "a mapping of capacities": (lambda: sl.cumulative([A], [1], {0: 1}), "expected a number or a list of .time, capacity"),  # type: ignore[arg-type]
    "a truth value as a size": (lambda: M.interval("c", size=True), "the size of c must be a finite number, not True"),
    "a truth value in a size": (lambda: M.interval("c", size=(0, True)), "the size of c must be .*, not .0, True."),
    "a table on one line": (lambda: M.interval("c", size=pd.Series([1, 2])), "the size of c must be .*, not 0 1 1 2 dtype"),  # type: ignore[arg-type]
    "a model in a message": (lambda: sl.alternative(M, [B]), r"alternative\(Model\('m'.*is not an interval"),  # type: ignore[arg-type]
    "value of a text": (lambda: M.value("x", VALUES), "the expression of value.. must be a finite number, not 'x'"),  # type: ignore[arg-type]
    "value of an interval": (lambda: M.value(A, VALUES), "not a; write one of its numbers"),  # type: ignore[arg-type]
    "value of nothing": (lambda: M.value(X, None), "the assignment is None; expected an Assignment of Model"),  # type: ignore[arg-type]
    "check of a mapping": (lambda: M.check({A: 1}), "the assignment is {a: 1}; expected an Assignment of Model"),  # type: ignore[arg-type]
    "limit of the listing": (lambda: M.listing("x"), "limit of listing is 'x'; expected a whole number of at least 0"),  # type: ignore[arg-type]
    "limit below 0": (lambda: M.listing(-1), "limit of listing is -1; expected a whole number of at least 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_wrong_uses_are_told(case: tuple[Callable[[], object], str]) -> None:
    call, words = case
    with pytest.raises(sl.SchedlabError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_arrays_are_pairs_windows_and_steps() -> None:
    m = sl.Model("arrays")
    a = m.interval("a", size=np.array([3, 5]), start=np.array([[0, 5], [9, 20]]))
    b = m.interval("b", size=2, start=np.array([0, 5]))
    assert (a.size_lo, a.size_hi) == (3, 5) and a.windows == ((0, 5), (9, 20)) and b.windows == ((0, 5),)
    m.add(sl.cumulative(np.array([a, b], dtype=object), np.array([1, 1]), np.array([(0, 1), (9, 2)])))
    m.add(sl.forbid_extent(b, np.array([[1, 2]])))
    m.add(sl.forbid_extent(b, np.array([3, 4])))
    x = m.integer("x", 0, 9)
    m.minimize(e for e in [a.end, sl.piecewise(x, np.array([[0, 0], [9, 9]]))])
    assert len(m.objectives) == 2
    assert sl.Assignment(m, {a: np.array([0, 3]), b: 5, x: 0})[a].end == 3


def test_decimals_are_numbers_and_plus_changes_nothing() -> None:
    assert str(+X) == "x" and str(Decimal(2) * X) == "2*x" and str(X * Decimal("0.5")) == "0.5*x"
    assert sl.Model("m").interval("a", size=Decimal(3)).size_lo == 3  # type: ignore[arg-type]
    with pytest.raises(sl.ModelError, match="finite"):
        X + Decimal("NaN")


@pytest.mark.parametrize("name", ["intervals", "name", "x"])
def test_a_constraint_is_not_changed(name):
    m = sl.Model("m")
    constraint = sl.no_overlap([m.interval("a", size=1)])
    with pytest.raises(AttributeError, match=name):
        setattr(constraint, name, "b")
