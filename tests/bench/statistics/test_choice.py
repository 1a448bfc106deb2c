"""Parts of a sample, what times count to, scores, charts, and the tables against best-known values."""

import math
from itertools import permutations

import pytest
from schedlab.bench import WrongUse
from schedlab.bench.statistics import borda, groups, matching, minizinc, sample_of, statistics_of
from schedlab.bench.statistics.measures import (
    PROOF,
    Goal,
    ProfileChart,
    by_problem,
    performance_profiles,
    profile_charts,
    subset,
)
from schedlab.bench.tables.methods import against, better_than_known
from synthetic_runs import made

PROVEN = {"status": "optimal"}


def proven(problem, method, seconds, objective=100.0, building=0.0):
    parts = {"build": building / 2, "lower": building / 2, "solve": seconds - building, "total": seconds}
    return made(problem, method, objective=objective, status="optimal", bound=objective, seconds=parts)


# seconds to the proof, of a limit of 10 s; None: a schedule without a proof
TIMES = {"la1": (0.5, 0.5), "la2": (0.2, 4.0), "ft1": (2.0, None), "ft2": (None, None)}
RECORDS = [
    made(p, m, objective=100.0) if t is None else proven(p, m, t)
    for p, pair in TIMES.items()
    for m, t in zip("ab", pair, strict=True)
]
SAMPLE = sample_of(RECORDS)


def names(sample):
    return [p.name for p in sample.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", ["la1", "la2"]),
        ("any", ["la1", "la2", "ft1"]),
        ("1..", ["la2", "ft1"]),
        ("1..10", ["la2", "ft1"]),
        ("0..0.4", ["la2"]),
        ("10..", ["ft1"]),
    ],
)
def test_a_subset_by_what_is_reached(text, expected):
    part = subset(SAMPLE, text, PROOF)
    assert names(part) == expected and f"{len(expected)} of 4 problems that" in part.notes[-1]


@pytest.mark.parametrize("text", ["most", "5..1", "", "11..20"])
def test_a_wrong_or_empty_subset_is_wrong_use(text):
    with pytest.raises(WrongUse, match=r"--subset|none of the 4 problems"):
        subset(SAMPLE, text, PROOF)


def test_problems_by_name_and_groups():
    assert names(matching(SAMPLE, ["la*"])) == ["la1", "la2"]
    assert names(matching(SAMPLE, ["la1,ft?"])) == ["la1", "ft1", "ft2"]
    with pytest.raises(WrongUse, match="match --instances ta"):
        matching(SAMPLE, ["ta*"])
    assert [(name, names(part)) for name, part in groups(SAMPLE, "letters")] == [
        ("la", ["la1", "la2"]),
        ("ft", ["ft1", "ft2"]),
    ]
    with pytest.raises(WrongUse, match="folder or letters"):
        groups(SAMPLE, "size")
    there = sample_of([{**r, "path": f"/data/{'x' if r['instance'] < 'g' else 'y'}/f.txt"} for r in RECORDS])
    assert [name for name, _ in groups(there, "folder")] == ["y", "x"]
    assert names(matching(there, ["x/*"])) == ["ft1", "ft2"]


def test_times_without_building_and_with_a_floor():
    sample = sample_of([proven("p", "a", 3.0, building=2.5), proven("p", "b", 0.1)])
    assert by_problem(sample, PROOF.measure).tolist() == [[3.0, 0.1]]
    assert by_problem(sample, Goal(solver_alone=True).measure).tolist() == [[0.5, 0.1]]
    floored = Goal(solver_alone=True, floor=0.4)
    assert by_problem(sample, floored.measure).tolist() == [[0.5, 0.4]]
    assert performance_profiles(sample, floored.measure)[0].x.tolist() == [pytest.approx(1.25)]
    assert math.isinf(Goal(floor=1.0).measure(SAMPLE.problems[3], SAMPLE.problems[3].runs["a"][0]))
    with pytest.raises(WrongUse, match="expected a gap from 0 to 1"):
        Goal(target=1.5)


def test_a_time_without_a_proof_is_the_limit_and_scaled_is_the_ratio_to_the_quickest():
    a, b = statistics_of(SAMPLE)
    mean = (1.5 * 1.2 * 3.0 * 11.0) ** 0.25 - 1
    assert a.time == pytest.approx(mean) and a.scaled == 1.0
    assert b.scaled == pytest.approx(b.time / mean)


def test_scores_by_hand():
    """la1: equal in all. la2: equal answers, 0.2 s and 4 s. ft1: a proves it. ft2: equal answers at the limit."""
    assert borda(SAMPLE).tolist() == [0.5 + 0.5 + 1 + 0.5, 0.5 + 0.5 + 0 + 0.5]
    expected = [0.5 + 4 / 4.2 + 1 + 0.5, 0.5 + 0.2 / 4.2 + 0 + 0.5]
    assert minizinc(SAMPLE, PROOF.measure).tolist() == pytest.approx(expected)


def test_scores_of_all_methods_add_up_and_do_not_depend_on_their_order():
    values = {"a": 100.0, "b": 100.0, "c": 120.0, "d": None}
    for order in permutations(values):
        sample = sample_of([made("p", m, objective=values[m]) for m in order])
        points = dict(zip(sample.methods, borda(sample).tolist(), strict=True))
        assert points == {"a": 2.5, "b": 2.5, "c": 1.0, "d": 0.0}
        score = dict(zip(sample.methods, minizinc(sample, PROOF.measure).tolist(), strict=True))
        assert score == points


def test_a_run_that_a_licence_refuses_is_no_failure():
    refused = made("p", "b", objective=None, status="unavailable", cause="unavailable", verified=None)
    sample = sample_of([made("p", "a"), refused, made("q", "a"), made("q", "b")])
    b = statistics_of(sample)[1]
    assert (b.states["refused"], b.states["failed"], b.gap) == (1, 0, 0.5)
    assert names(subset(sample, "admitted", PROOF)) == ["q"]


def test_curves_reach_from_the_axis_to_the_limit_and_labels_say_what_is_counted():
    performance, data, gaps = profile_charts(SAMPLE, PROOF)
    assert (performance.share, data.share, gaps.share) == ("problems, %", "runs, %", "runs, %")
    for chart in (performance, data, gaps):
        for line in chart.lines:
            assert (line.x[0], line.x[-1]) == (chart.begin, chart.end) and chart.begin > 0
            assert list(line.x) == sorted(line.x) and list(line.y) == sorted(line.y)
        assert ProfileChart.of_json(chart.as_json()) == chart
    assert (data.begin, data.end) == (0.1, 10.0)
    a, b = performance.lines
    assert (a.y[0], a.y[-1], b.y[0], b.y[-1]) == (0.75, 0.75, 0.25, 0.5)


def test_methods_against_the_list():
    records = [
        *(made("p", m, objective=v) for m, v in (("a", 99.0), ("b", 100.0))),
        *(made("q", m, objective=v) for m, v in (("a", 110.0), ("b", None))),
        *(made("r", m, objective=1.0) for m in "ab"),
    ]
    sample = sample_of(records, {"p": 100.0, "q": 100.0})
    a, b = against(sample)
    assert a[:6] == ("a", 2, 1, 0, 1, 0) and b[:6] == ("b", 2, 0, 1, 0, 1)
    assert a.gap == pytest.approx((-1 / 100 + 10 / 110) / 2) and b.gap == 0.0
    (better,) = better_than_known(sample)
    assert better[:4] == ("p", "a", 99.0, 100.0)
