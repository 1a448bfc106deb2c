"""State functions: which times have segments, in ``check``, texts, JSON, and what refuses them."""

import itertools

import pytest
import schedlab as sl
from schedlab.models.language import segments

TIMES = [[0, 3], [5, 2]]


@pytest.fixture
def m():
    return sl.Model("m", horizon=40)


def by_definition(c, s):
    """Whether there are segments: all partitions of the present intervals into segments with values are tried."""
    present = [(s.start[v.index], s.end[v.index], *how) for v, *how in c.uses if s.present[v.index]]
    for labels in itertools.product(range(len(present)), repeat=len(present)):
        groups = [[u for u, label in zip(present, labels, strict=True) if label == k] for k in sorted(set(labels))]
        options = [_of_group(group, c.values) for group in groups]
        for chosen in itertools.product(*options):
            ordered = sorted(chosen)
            steps = itertools.pairwise(ordered)
            if all(a[1] + c.transition(a[2], b[2]) <= b[0] for a, b in steps):
                return True
    return not present


def _of_group(group, values):
    """The segments (start, end, value) that can hold the intervals of a group."""
    start, end = min(u[0] for u in group), max(u[1] for u in group)
    aligned = all((not u[3] or u[0] == start) and (not u[4] or u[1] == end) for u in group)
    wanted = {u[2] for u in group} - {None}
    return [(start, end, value) for value in values if aligned and wanted <= {value}]


USES = {
    "values": [(0, False, False), (1, False, False), (0, False, False)],
    "constant": [(0, False, False), (None, False, False), (1, False, False)],
    "starts": [(1, True, False), (1, True, False), (1, False, False)],
    "ends": [(1, False, True), (None, False, False), (1, True, False)],
    "both": [(1, True, True), (1, True, True), (None, True, False)],
}


@pytest.mark.parametrize("kind", USES)
@pytest.mark.parametrize("times", [None, TIMES])
def test_a_state_is_the_definition(m, kind, times):
    several = [m.interval(n, size=s, optional=n == "c") for n, s in zip("abc", (2, 3, 2), strict=True)]
    uses = [(v, *how) for v, how in zip(several, USES[kind], strict=True)]
    m.add(sl.state_function(uses, times), "state")
    kept = tried = 0
    for starts in itertools.product(range(0, 9, 2), (0, 1, 4, 6), (None, 0, 3, 9)):
        s = sl.Assignment(m, {v: t for v, t in zip(several, starts, strict=True) if t is not None})
        found = m.check(s)
        assert (not found) == by_definition(m.constraints[0].constraint, s), starts
        assert all(v.amount > 0 for v in found)
        kept += not found
        tried += 1
    assert 0 < kept < tried


def test_messages(m):
    a, b, c = (m.interval(n, size=3) for n in "abc")
    uses = [sl.always_equal(a, 0), sl.always_equal(b, 1, start_aligned=True), sl.always_constant(c)]
    m.add(sl.state_function(uses, TIMES), "oven")

    def said(*starts):
        return [(v.amount, v.message) for v in m.check(sl.Assignment(m, dict(zip((a, b, c), starts, strict=True))))]

    assert said(0, 6, 6) == []
    assert said(0, 4, 20) == [(2, "oven: from a to b, the state changes in 1, but needs 3")]
    assert said(2, 0, 20) == [(1, "oven: b requires 1, but a requires 0, between 0 and 5")]
    assert said(0, 11, 9) == [(2, "oven: b starts at 11, its segment at 9")]
    state = m.constraints[0].constraint
    assert segments(state, sl.Assignment(m, {a: 0, b: 20, c: 5})).values == [0, 1, 0]


@pytest.mark.parametrize(
    "mistake",
    [
        lambda a, b: sl.always_equal(a, -1),
        lambda a, b: sl.always_equal(a, 0.5),
        lambda a, b: sl.always_equal(a.start, 1),
        lambda a, b: sl.always_equal(a, 1, start_aligned=1),
        lambda a, b: sl.always_constant(a.model.interval("point", size=(0, 2))),
        lambda a, b: sl.state_function([a, b]),
        lambda a, b: sl.state_function([sl.always_equal(a, 1), sl.always_constant(a)]),
        lambda a, b: sl.state_function([sl.always_equal(a, 2)], TIMES),
        lambda a, b: sl.state_function([sl.always_equal(a, 1)], [[0, 1]]),
        lambda a, b: sl.state_function([sl.always_equal(a, 1)], [[0, -1], [0, 0]]),
        lambda a, b: sl.state_function([sl.always_equal(a, 1)], [[0, 1, 9], [1, 0, 1], [1, 1, 0]]),
        lambda a, b: sl.state_function(
            [sl.always_equal(sl.Model("other").interval("o", size=1), 1), sl.always_constant(a)]
        ),
        lambda a, b: bool(sl.state_function([sl.always_equal(a, 1)])),
        lambda a, b: a.model.add(sl.always_equal(a, 1)),
    ],
)
def test_mistakes_are_refused(m, mistake):
    with pytest.raises(sl.SchedlabError):
        mistake(m.interval("a", size=3), m.interval("b", size=2))


def test_json_listing_and_names(m):
    a, b = m.interval("a", size=3), m.interval("b", size=2)
    m.add(sl.state_function([sl.always_equal(a, 1, end_aligned=True), sl.always_constant(b)], TIMES))
    m.add(sl.state_function([sl.always_equal(b, 3)]), "tool")
    m.minimize(a.end)
    text = m.to_json()
    assert '"type": "state_function", "uses": [[0, 1, false, true], [1, null, false, false]]' in text
    assert sl.Model.from_json(text).to_json() == text
    assert [c.name for c in m.constraints] == ["state of a, b", "tool"]
    assert "  tool: state_function([(b, 3, False, False)])" in str(m).splitlines()


def test_the_horizon_is_derived_with_states():
    m = sl.Model("m")
    jobs = [m.interval(f"j{k}", size=3) for k in range(3)]
    m.add(sl.state_function([sl.always_equal(v, k % 2) for k, v in enumerate(jobs)], [[0, 30], [40, 0]]))
    m.minimize(sl.max([v.end for v in jobs]))
    assert m.derived_horizon.proved and m.horizon >= 3 + 3 + 30
