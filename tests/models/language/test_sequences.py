"""Sequences: the order of intervals in ``check`` and ``value``, texts, JSON, and what refuses them."""

import itertools
import random

import pytest
import schedlab as sl


@pytest.fixture
def m():
    return sl.Model("m", horizon=40)


def jobs_of(m, optional=()):
    return [m.interval(n, size=s, optional=n in optional) for n, s in zip("abc", (3, 4, 2), strict=True)]


def answers(m, jobs, gap=1):
    """Assignments of the jobs in each order, with a gap between them, and with each subset of the optional ones absent."""
    optional = [v for v in jobs if v.optional]
    for absent in itertools.chain.from_iterable(itertools.combinations(optional, k) for k in range(len(optional) + 1)):
        for order in itertools.permutations([v for v in jobs if v not in absent]):
            end = 0
            s = sl.Assignment(m)
            for v in order:
                s.set(v, end, end + v.size_lo)
                end += v.size_lo + gap
            yield [v.name for v in order], s


def test_places_in_the_order(m):
    a, b, c = jobs = jobs_of(m, "bc")
    machine = sl.sequence(jobs)
    m.add(machine.first(b), "first")
    m.add(machine.last(a), "last")
    m.add(machine.before(b, c), "before")
    m.add(machine.previous(c, a), "previous")
    for order, s in answers(m, jobs):
        place = {name: k for k, name in enumerate(order)}
        held = {
            "first": "b" not in place or place["b"] == 0,
            "last": place["a"] == len(order) - 1,
            "before": "b" not in place or "c" not in place or place["b"] < place["c"],
            "previous": "c" not in place or place["a"] == place["c"] + 1,
        }
        assert {v.constraint for v in m.check(s)} == {name for name, true in held.items() if not true}, order


def test_whatever_is_said_of_an_order_requires_that_nothing_overlaps(m):
    a, b, c = jobs = jobs_of(m)
    machine = sl.sequence(jobs, types=[0, 0, 1])
    others = sl.sequence([m.interval(n, size=1) for n in "xyz"])
    several = [
        machine.no_overlap(),
        machine.no_overlap([[0, 0], [0, 0]]),
        machine.first(a),
        machine.last(c),
        machine.before(a, b),
        machine.previous(a, b),
        machine.no_idle(),
        sl.same_sequence(machine, others),
    ]
    for k, constraint in enumerate(several):
        m.add(constraint, f"c{k}")
    m.minimize(machine.cost([[1, 1], [1, 1]]))
    apart = dict(zip(others.intervals, (0, 1, 2), strict=True))
    overlapping = sl.Assignment(m, {a: 0, b: 2, c: 6, **apart})
    found = m.check(overlapping)
    assert [v.constraint for v in found] == [*(f"c{k}" for k in range(len(several))), "objective 1"]
    assert found[2].message == "c2: b starts at 2 while a runs until 3"
    assert m.check(sl.Assignment(m, {a: 0, b: 3, c: 7, **apart})) == []


def test_times_between_direct_neighbours(m):
    a, b, c = jobs_of(m, "b")
    m.add(sl.sequence([a, b, c], types=[0, 1, 0]).no_overlap([[8, 1], [2, 8]]), "setup")
    assert m.check(sl.Assignment(m, {a: 0, b: 4, c: 10})) == []  # 3 + 1, 8 + 2; the 8 from a to c does not count
    assert m.check(sl.Assignment(m, {a: 0, c: 11})) == []
    (fault,) = m.check(sl.Assignment(m, {a: 0, c: 10}))
    assert fault == ("setup", 1, "setup: c starts at 10, a ends at 3, the transition takes 8")
    m.add(sl.sequence([a, b, c], types=[0, 1, 0]).no_overlap([[8, 1], [2, 8]], direct=False), "all pairs")
    (fault,) = m.check(sl.Assignment(m, {a: 0, b: 4, c: 10}))
    assert fault.constraint == "all pairs" and fault.amount == 1


def test_no_idle_time(m):
    a, b, c = jobs_of(m, "abc")
    m.add(sl.sequence([a, b, c]).no_idle(), "busy")
    assert m.check(sl.Assignment(m, {a: 5, b: 8, c: 3})) == []
    assert m.check(sl.Assignment(m)) == []
    (fault,) = m.check(sl.Assignment(m, {a: 0, b: 10, c: 4}))
    assert fault == ("busy", 5, "busy: nothing runs from 6 to 10")


def test_the_same_sequence(m):
    left = [m.interval(f"a{k}", size=2, optional=True) for k in range(3)]
    right = [m.interval(f"b{k}", size=1, optional=True) for k in range(3)]
    m.add(sl.same_sequence(sl.sequence(left), sl.sequence(right)), "same")
    starts = dict(zip(left, (0, 4, 2), strict=True))
    assert m.check(sl.Assignment(m, {**starts, **dict(zip(right, (5, 9, 7), strict=True))})) == []
    (fault,) = m.check(sl.Assignment(m, {**starts, **dict(zip(right, (5, 7, 9), strict=True))}))
    assert fault == ("same", 2, "same: a2 comes where b1 does")
    (fault,) = m.check(sl.Assignment(m, {left[0]: 0, right[1]: 3}))
    assert fault == ("same", 2, "same: a0 is present, but b0 is absent")


def test_costs_and_types_of_neighbours(m):
    jobs = jobs_of(m, "abc")
    types = dict(zip("abc", (1, 0, 1), strict=True))
    machine = sl.sequence(jobs, list(types.values()))
    costs, first, last = [[5, 7], [-2, 3]], [1, 10], [100, 200]
    total = machine.cost(costs, first, last)
    after = machine.type_of_next(jobs[0], last=8, absent=9)
    before = machine.type_of_previous(jobs[0], first=-8)
    for order, s in answers(m, jobs):
        kinds = [types[n] for n in order]
        expected = sum(costs[i][j] for i, j in itertools.pairwise(kinds))
        expected += first[kinds[0]] + last[kinds[-1]] if kinds else 0
        assert m.value(total, s) == expected
        k = order.index("a") if "a" in order else None
        following = 9 if k is None else (kinds[k + 1] if k + 1 < len(kinds) else 8)
        preceding = 0 if k is None else (kinds[k - 1] if k else -8)
        assert (m.value(after, s), m.value(before, s)) == (following, preceding)
        for e in (total, after, before):
            lo, hi = sl.models.language.Bounds().of(e)
            assert lo <= m.value(e, s) <= hi


@pytest.mark.parametrize(
    "mistake",
    [
        lambda a, b: sl.sequence([a, a]),
        lambda a, b: sl.sequence([a, b.start]),
        lambda a, b: sl.sequence([a, b], types=[0]),
        lambda a, b: sl.sequence([a, b], types=[0, -1]),
        lambda a, b: sl.sequence([a, b], types=[0, 0.5]),
        lambda a, b: sl.sequence([a, a.model.interval("point", size=(0, 3))]),
        lambda a, b: sl.sequence([a, sl.Model("other").interval("o", size=3)]),
        lambda a, b: sl.sequence([a, b]).no_overlap([[0, 0]]),
        lambda a, b: sl.sequence([a, b]).no_overlap([[0, 0], [0]]),
        lambda a, b: sl.sequence([a, b]).no_overlap([[0, -1], [0, 0]]),
        lambda a, b: sl.sequence([a, b], types=[0, 2]).no_overlap([[0, 1], [0, 0]]),
        lambda a, b: sl.sequence([a, b]).cost([[0, 0.5], [0, 0]]),
        lambda a, b: sl.sequence([a, b]).cost([[0, 1], [0, 0]], first=[1]),
        lambda a, b: sl.sequence([a]).first(b),
        lambda a, b: sl.sequence([a, b]).last(a.end),
        lambda a, b: sl.sequence([a, b]).before(a, a),
        lambda a, b: sl.sequence([a, b]).type_of_next(a, last=0.5),
        lambda a, b: sl.same_sequence(sl.sequence([a, b]), sl.sequence([a])),
        lambda a, b: sl.same_sequence(sl.sequence([a, b]), [a, b]),
        lambda a, b: sl.holds(sl.sequence([a, b]).first(a)),
        lambda a, b: bool(sl.sequence([a, b]).no_idle()),
    ],
)
def test_mistakes_are_refused(m, mistake):
    with pytest.raises(sl.ModelError):
        mistake(m.interval("a", size=3), m.interval("b", size=2))


def test_json_listing_and_names(m):
    a, b, c = jobs = jobs_of(m, "c")
    machine = sl.sequence(jobs, types=[0, 1, 0])
    for constraint in (
        machine.no_overlap([[0, 2], [5, 0]]),
        machine.first(b),
        machine.last(c),
        machine.before(a, c),
        machine.previous(b, a),
        machine.no_idle(),
        sl.same_sequence(machine, sl.sequence([a, c, b])),
    ):
        m.add(constraint)
    m.minimize(machine.cost([[0, 7], [9, 1]], first=[1, 2]))
    text = m.to_json()
    assert '"type": "direct_transitions", "intervals": [0, 1, 2], "types": [0, 1, 0], "times": [[0, 2], [5, 0]]' in text
    assert '"type": "previous", "intervals": [0, 1, 2], "one": 1, "other": 0' in text
    assert sl.Model.from_json(text).to_json() == text
    assert [named.name for named in m.constraints] == [
        "direct transitions of a, b, c",
        "first of a, b, c: b",
        "last of a, b, c: c",
        "before of a, b, c: a, c",
        "previous of a, b, c: b, a",
        "no idle time of a, b, c",
        "same sequence of a, b, c and a, c, b",
    ]
    for line in (
        "  neighbours([a, b, c], [0, 1, 0], [(0, 7), (9, 1)], [1, 2], [0, 0])",
        "  direct_transitions([a, b, c], [0, 1, 0], [(0, 2), (5, 0)])",
        "  first([a, b, c], b)",
        "  previous([a, b, c], b, other=a)",
        "  no_idle([a, b, c])",
        "  same_sequence([a, b, c], [a, c, b])",
    ):
        assert line in str(m).splitlines()
    with pytest.raises(sl.ModelError, match=r"constraints\[1\].*none of the intervals"):
        sl.Model.from_json(text.replace('"first", "intervals": [0, 1, 2]', '"first", "intervals": [0, 2]'))


def test_the_horizon_is_derived_with_sequences():
    m = sl.Model("m")
    jobs = [m.interval(f"j{k}", size=3) for k in range(3)]
    machine = sl.sequence(jobs)
    m.add(machine.no_overlap([[0, 50, 1], [1, 0, 60], [70, 1, 0]]))
    m.add(machine.first(jobs[2]))
    m.minimize(sl.max([v.end for v in jobs]) + machine.cost([[0, 9, 0], [0, 0, 9], [9, 0, 0]]))
    assert m.derived_horizon.proved and m.horizon >= 3 + 1 + 3 + 1 + 3


def test_times_between_neighbours_are_those_of_all_pairs_where_no_way_over_a_third_one_is_shorter():
    """All starts of 3 intervals of 2 types, with random times: the constraint that is said to be equivalent accepts the same."""
    rng = random.Random(4)
    equal = {True: 0, False: 0}
    for _ in range(40):
        m = sl.Model("m", horizon=9)
        jobs = [m.interval(f"j{k}", size=rng.choice([1, 2]), optional=k == 2) for k in range(3)]
        times = [[rng.randrange(5) for _ in range(3)] for _ in range(3)]
        direct = sl.sequence(jobs, types=[0, 1, rng.choice([0, 1, 2])]).no_overlap(times)
        pairs = direct.of_all_pairs()
        equal[pairs is not None] += 1
        if pairs is None:
            continue
        m.add(direct, "neighbours")
        m.add(pairs, "all pairs")
        for starts in itertools.product(range(7), range(7), [None, *range(7)]):
            broken = m.check(sl.Assignment(m, dict(zip(jobs, starts, strict=True))))
            assert len({v.constraint for v in broken}) in (0, 2), (times, starts)
    assert min(equal.values()) >= 5


@pytest.mark.parametrize("direct", [True, False])
def test_times_of_0_are_the_same_after_json(m, direct):
    jobs = jobs_of(m)
    m.add(sl.sequence(jobs, types=[0, 1, 2]).no_overlap([[0] * 3] * 3, direct=direct))
    m.add(sl.no_overlap(jobs, [[0] * 3] * 3))
    assert m.to_json().count("[[0, 0, 0], [0, 0, 0], [0, 0, 0]]") == 2
    again = sl.Model.from_json(m.to_json())
    assert again.to_json() == m.to_json()
    assert all(
        bool(m.check(s)) == bool(again.check(sl.Assignment(again, dict(zip(again.intervals, s.start, strict=True)))))
        for gap in (-1, 0, 1)
        for _, s in answers(m, m.intervals, gap)
    )


def test_types_as_texts_are_explained(m):
    with pytest.raises(
        sl.ModelError, match=r"type of b is 'red'; expected a whole number >= 0, .* kinds.index\(name\)"
    ):
        sl.sequence(jobs_of(m), types=[0, "red", 1])
