"""Native variables and intervals that are made many at once are those that single calls of ortools make."""

import pytest
import schedlab as sl
from ortools.sat.python import cp_model


def model(empty=True):
    """Four jobs on one resource: two have the same window, one has a calendar, one a fixed start; one more has size 0."""
    m = sl.Model("jobs")
    jobs = [
        m.interval("a", size=3, start=(2, 9)),
        m.interval("b", size=3, start=(2, 9)),
        m.interval("c", size=5, start=[(0, 1), (6, 8)]),
        m.interval("held", size=4, start=2),
    ]
    if empty:
        jobs.append(m.interval("empty", size=0, start=(0, 9)))
    m.add(sl.cumulative(jobs, demands=[1, 2, 2, 1, 3][: len(jobs)], capacity=3))
    m.minimize(sl.sum([v.start for v in jobs], weights=[1, 2, 0.5, 1, 1][: len(jobs)]))
    return m


def by_calls(empty=True):
    """Return the variables, intervals and the resource of the same jobs, made one by one."""
    made = cp_model.CpModel()
    domains = {"a": [[2, 9]], "b": [[2, 9]], "c": [[0, 1], [6, 8]], **({"empty": [[0, 9]]} if empty else {})}
    x = {n: made.new_int_var_from_domain(cp_model.Domain.from_intervals(d), n) for n, d in domains.items()}
    rows = [made.new_interval_var(x[name], size, x[name] + size, name) for name, size in (("a", 3), ("b", 3), ("c", 5))]
    held = made.new_int_var_from_domain(cp_model.Domain(2, 2), "")
    rows.append(made.new_interval_var(held, 4, 6, "held"))
    made.add_cumulative(rows, [1, 2, 2, 1], 3)
    return made.proto


@pytest.mark.parametrize("empty", [True, False])
def test_variables_intervals_and_resources_are_those_of_single_calls(empty):
    compiled = sl.compile(model(empty), "cpsat")
    proto, expected = compiled.native.proto, by_calls(empty)
    assert [str(v) for v in proto.variables] == [str(v) for v in expected.variables]
    same = [str(c) for c in expected.constraints]
    assert [str(c) for c in proto.constraints][: len(same) - empty] == same[: len(same) - empty]
    assert [x.index for x in compiled.lowering.native.vars] == list(range(len(proto.variables)))
    assert [compiled.var(v).interval.index for v in compiled.model.intervals[:4]] == [0, 1, 2, 3]
    assert compiled.native.validate() == ""


def test_kept_messages_are_not_changed_by_the_models_that_have_them():
    """The names of a model do not reach the next one."""
    first, second = (sl.compile(model(), "cpsat") for _ in range(2))
    first.native.proto.constraints[0].name = "changed"
    third = sl.compile(model(), "cpsat")
    for compiled in (second, third):
        assert [c.name for c in compiled.native.proto.constraints][:3] == ["a", "b", "c"]


def test_the_answer_is_that_of_enumeration():
    found = sl.solve(model(), backend="cpsat", threads=1)
    starts = [(a, b, c) for a in range(2, 10) for b in range(2, 10) for c in (0, 1, 6, 7, 8)]

    def fits(a, b, c):
        rows = [(a, 3, 1), (b, 3, 2), (c, 5, 2), (2, 4, 1)]
        return all(sum(d for s, p, d in rows if s <= t < s + p) <= 3 for t in range(20))

    assert found.objective == min(a + 2 * b + 0.5 * c + 2 for a, b, c in starts if fits(a, b, c))
