"""Copies of models, and constraints that are removed and replaced."""

from __future__ import annotations

import pytest
import schedlab as sl
from schedlab.models.language import ModelError


def two_jobs() -> tuple[sl.Model, sl.models.language.Interval, sl.models.language.Interval]:
    m = sl.Model("two jobs")
    a, b = m.interval("a", size=3), m.interval("b", size=4)
    m.add(sl.no_overlap([a, b]), "one at a time")
    m.minimize(sl.max([a.end, b.end]))
    return m, a, b


def test_a_copy_is_equal_and_independent() -> None:
    m, a, _ = two_jobs()
    n = m.copy()
    assert n.to_json() == m.to_json() and n.intervals[a.index] is not a
    n.remove("one at a time")
    n.minimize(n.intervals[0].end, replace=True)
    n.interval("c", size=1)
    assert (len(m.constraints), len(m.intervals), str(m.objectives[0])) == (1, 2, "max(a.end, b.end)")
    assert m.copy("other").name == "other" and m.name == "two jobs"


def test_a_constraint_is_removed_by_itself_by_its_entry_and_by_its_name() -> None:
    m, a, b = two_jobs()
    late, later = a.start >= 2, b.start >= 3
    m.add(late)
    m.add(later, "later")
    m.add(sl.end_before_start(a, b), "order")
    m.remove(late)
    m.remove("order")
    m.remove(m.constraints[-1])
    assert [c.name for c in m.constraints] == ["one at a time"]
    m.add(late)
    assert [c.name for c in m.constraints] == ["one at a time", "a.start >= 2"]


def test_the_answer_and_the_derived_horizon_follow_the_changes() -> None:
    m, a, b = two_jobs()
    lag = sl.end_before_start(a, b, 10)
    m.add(lag, "lag")
    horizon = m.horizon
    assert sl.solve(m, backend="cpsat", threads=1).objective == 17
    m.replace("lag", sl.end_before_start(a, b, 100))
    assert m.horizon > horizon and sl.solve(m, backend="cpsat", threads=1).objective == 107
    m.remove("lag")
    assert m.horizon < horizon and sl.solve(m, backend="cpsat", threads=1).objective == 7
    m.minimize(a.end + b.end, replace=True)
    assert sl.solve(m, backend="cpsat", threads=1).objective == 10


def test_wrong_constraints_are_named() -> None:
    m, a, b = two_jobs()
    m.add(a.start >= 1, "late")
    m.add(b.start >= 1, "late")
    with pytest.raises(ModelError, match=r"remove.*2 constraints are named 'late'; give the constraint itself"):
        m.remove("late")
    with pytest.raises(ModelError, match=r"'one at a tim' is no constraint; .*'?one at a time"):
        m.remove("one at a tim")
    with pytest.raises(ModelError, match="has no such constraint; give the object"):
        m.remove(a.start >= 1)
    with pytest.raises(ModelError, match="has no such constraint"):
        m.remove(3)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="is not a constraint"):
        m.replace("one at a time", 3)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="contains variables of model"):
        m.replace("one at a time", two_jobs()[1].start >= 2)
    with pytest.raises(ModelError, match="name"):
        m.copy(3)  # type: ignore[arg-type]
