"""What ``bench compare`` reports: true differences are found, and none is reported between equal methods."""

import pytest
from schedlab.backends import UnknownName
from schedlab.bench import WrongUse
from schedlab.bench.statistics import compare, least_problems, sample_of, two_folders
from synthetic_runs import draw, made

DRAWS = 100


def reported(seed, factor, quantity):
    """The real differences that a comparison of two methods finds."""
    return [d for d in compare(sample_of(draw(seed, factor, quantity=quantity))) if d.real]


@pytest.mark.parametrize(("quantity", "name"), [("objective", "gap"), ("time", "time")])
def test_a_true_difference_of_ten_percent_is_found_in_95_of_100_draws(quantity, name):
    found = [reported(seed, 1.1, quantity) for seed in range(DRAWS)]
    assert sum(any(d.quantity == name and d.better == "a" for d in each) for each in found) >= 95
    assert not any(d.better == "b" for each in found for d in each)


@pytest.mark.parametrize("quantity", ["objective", "time"])
def test_without_a_difference_at_most_5_of_100_draws_report_one(quantity):
    assert sum(bool(reported(seed, 1.0, quantity)) for seed in range(DRAWS)) <= 5


def test_the_effect_is_the_ratio_of_the_shifted_geometric_means():
    records = [
        made(f"p{k}", m, status="optimal", seconds={"total": t}, time_limit=99.0)
        for k in range(9)
        for m, t in (("a", 3.0), ("b", 7.0))
    ]
    time = next(d for d in compare(sample_of(records)) if d.quantity == "time")
    assert (time.values, time.effect) == (pytest.approx((3, 7)), pytest.approx(2))
    assert (time.less, time.equal, time.more, time.better) == (0, 0, 9, "a")
    assert time.p == pytest.approx(2 / 2**9)


def test_failures_count_against_a_method():
    records = [made(f"p{k}", m, objective=None if m == "b" and k % 2 else 100.0) for k in range(24) for m in "ab"]
    found = {d.quantity: d for d in compare(sample_of(records))}
    assert found["gap"].real and found["gap"].better == "a" and found["gap"].effect == pytest.approx(0.5)
    missing = [r for r in records if r["objective"] is not None]
    again = {d.quantity: d for d in compare(sample_of(missing))}
    assert again["gap"].real and again["gap"].effect == pytest.approx(0.5)


def test_equal_methods_are_called_equal_and_not_tested():
    found = compare(sample_of([made(f"p{k}", m) for k in range(20) for m in "ab"]))
    assert {d.verdict for d in found} == {"equal"}
    assert {d.adjusted for d in found} == {1.0}


def test_few_problems_cannot_show_anything():
    records = [made(f"p{k}", m, objective=100.0 * by) for k in range(5) for m, by in (("a", 1), ("b", 2))]
    assert [d.verdict for d in compare(sample_of(records)) if d.quantity == "gap"] == ["not shown"]
    assert least_problems(3, 0.01) > 5


def test_the_methods_of_two_folders_are_paired_by_name():
    first = [made("p", "a"), made("p", "b")]
    second = [made("p", "b"), made("q", "b")]
    sample, pairs = two_folders(first, second, ("old", "new"))
    assert pairs == [("b in old", "b in new")]
    assert [p.name for p in sample.problems] == ["p", "q"]
    assert [o.state for o in sample.problems[1].runs["b in old"]] == ["missing"]
    with pytest.raises(WrongUse, match="no method in common"):
        two_folders(first, [made("p", "c")], ("old", "new"))
    with pytest.raises(UnknownName, match="in both folders"):
        two_folders(first, second, ("old", "new"), ["a"])
