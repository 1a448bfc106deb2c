"""Each statistic equals an independent computation: by hand, by plain loops, by enumeration."""

import math
from itertools import product
from statistics import fmean, median

import numpy as np
import pytest
from schedlab.bench.statistics import STATES, sample_of, statistics_of, virtual_best
from schedlab.bench.statistics.comparison import holm, interval, wilcoxon
from schedlab.bench.statistics.measures import (
    below_one,
    by_problem,
    data_profiles,
    dual_integral,
    gap,
    gap_to_bound,
    gap_to_known,
    penalized,
    performance_profiles,
    primal_integral,
    runtime_distribution,
    seconds,
    seconds_to,
    shifted_geometric_mean,
)
from scipy import stats
from synthetic_runs import draw, made


def steps(*pairs):
    return [{"seconds": t, "objective": v, "bound": b} for t, v, b in pairs]


RECORDS = [
    made("p", "a", 1, 100.0, status="optimal", bound=100.0, seconds={"total": 4.0},
         incumbents=steps((1.0, 200.0, None), (2.0, 100.0, 50.0))),
    made("p", "a", 2, 125.0, bound=80.0, incumbents=steps((5.0, 125.0, 80.0)), best_s=5.0),
    made("p", "b", 1, None, cause="crash", status="error"),
    made("p", "b", 2, None),
    made("q", "a", 1, 40.0),
    made("q", "a", 2, 40.0, verified=False, status="error"),
    made("q", "b", 1, 50.0, status="optimal", seconds={"total": 3.0}, sense="minimize", bound=39.0),
]  # fmt: skip
SAMPLE = sample_of(RECORDS, {"p": 110.0})


def test_every_run_has_a_state_and_none_disappears():
    a, b = statistics_of(SAMPLE)
    assert dict(a.states) == dict(zip(STATES, (1, 2, 0, 0, 1, 0, 0), strict=True))
    assert dict(b.states) == dict(zip(STATES, (1, 0, 1, 1, 0, 1, 0), strict=True))
    assert a.runs == b.runs == 4


def test_gaps_by_hand():
    """Best: p 100, q 40. Runs of a: 0, 1 - 100/125, 0, 1 (not verified); of b: 1, 1, 1 - 40/50, 1 (missing)."""
    assert by_problem(SAMPLE, gap) == pytest.approx(np.array([[0.1, 1.0], [0.5, 0.6]]))
    # bounds: p 100 (of seed 1), q 39
    assert by_problem(SAMPLE, gap_to_bound) == pytest.approx(
        np.array([[0.1, 1.0], [(1 / 40 + 1) / 2, (11 / 50 + 1) / 2]])
    )
    known = by_problem(SAMPLE, gap_to_known)
    assert known[0] == pytest.approx([(-10 / 110 + 15 / 125) / 2, 1.0])
    assert np.isnan(known[1]).all()


def test_times_by_hand():
    assert by_problem(SAMPLE, penalized(2))[:, 0] == pytest.approx([(4 + 20) / 2, 20])
    a, b = statistics_of(SAMPLE)
    assert (a.par2, a.par10) == pytest.approx(((4 + 20 + 20 + 20) / 4, (4 + 100 + 100 + 100) / 4))
    assert (b.par2, b.par10) == pytest.approx(((20 + 20 + 3 + 20) / 4, (100 + 100 + 3 + 100) / 4))
    assert a.time == pytest.approx((5 * 11 * 11 * 11) ** 0.25 - 1)
    assert by_problem(SAMPLE, seconds_to(0.25)) == pytest.approx(np.array([[3.5, math.inf], [math.inf, math.inf]]))


def test_integrals_by_hand():
    """Gap 1 until 1 s, 0.5 until 2 s, then 0; the second seed: 1 until 5 s, then 0.2 until the limit of 10 s."""
    assert by_problem(SAMPLE, primal_integral)[0] == pytest.approx([((1 + 0.5) / 10 + (5 + 0.2 * 5) / 10) / 2, 1.0])
    # bounds against 100: 1 until 2 s, 0.5 until 4 s (proof), then 0; second seed: 1 until 5 s, 0.2 after it
    assert by_problem(SAMPLE, dual_integral)[0, 0] == pytest.approx(((2 + 0.5 * 2) / 10 + (5 + 0.2 * 5) / 10) / 2)


def test_wins_shares_and_the_virtual_best():
    a, b = statistics_of(SAMPLE)
    assert (a.wins, b.wins, a.share, b.share, a.only, b.only) == (2, 0, 1.0, 0.0, 1, 0)
    best = virtual_best(SAMPLE)
    assert (best.gap, best.solved, best.proven) == (pytest.approx((0.1 + 0.5) / 2), 2, 2)
    tied = sample_of([made("p", "a"), made("p", "b"), made("q", "a", objective=None), made("q", "b", objective=None)])
    assert [(s.wins, s.share) for s in statistics_of(tied)] == [(1, 0.25), (1, 0.25)]


def test_the_objective_may_be_maximized():
    sample = sample_of(
        [made("p", "a", objective=80.0, sense="maximize"), made("p", "b", objective=100.0, sense="maximize")]
    )
    assert by_problem(sample, gap).tolist() == [[pytest.approx(0.2), 0.0]]
    assert [s.wins for s in statistics_of(sample)] == [0, 1]


def test_a_proof_of_infeasibility_is_an_answer():
    sample = sample_of(
        [made("p", "a", objective=None, status="infeasible", seconds={"total": 1.0}), made("p", "b", objective=None)]
    )
    a, b = statistics_of(sample)
    assert (a.states["proven"], a.gap, a.primal, a.par2) == (1, 0.0, 0.0, 1.0)
    assert (b.states["unsolved"], b.gap, b.primal, b.par2) == (1, 1.0, 1.0, 20.0)


def test_proofs_that_a_verified_schedule_refutes_do_not_count():
    """b claims that there is no schedule, c that none is better than 9; a has one of 8."""
    records = [
        made("p", "a", 1, 8.0, status="feasible"),
        made("p", "b", 1, None, status="infeasible"),
        made("p", "c", 1, 9.0, status="optimal", bound=9.0),
    ]
    (problem,) = sample_of(records).problems
    assert [o.state for (o,) in problem.runs.values()] == ["solved", "failed", "solved"]
    assert problem.best == 8 and problem.bound is None and problem.runs["c"][0].bounds == ()
    (note,) = sample_of(records).notes
    assert (
        note
        == "p: bounds and proofs of 2 runs do not count, as a verified schedule of 8 refutes them: bench verify names them"
    )


def test_a_best_known_value_that_refutes_proofs_is_told():
    records = [made(f"p{k}", "a", 1, 8.0, status="optimal", bound=8.0) for k in range(7)]
    sample = sample_of(records, {f"p{k}": 6.0 for k in range(7)})
    assert [p.runs["a"][0].state for p in sample.problems] == ["solved"] * 7
    assert len(sample.notes) == 6 and sample.notes[-1] == "the same holds for runs on 2 more problems"
    assert sample.notes[0].startswith(
        "p0: bounds and proofs of 1 run do not count, as the best-known value 6 of the list"
    )
    assert sample_of(records, {"p0": 8.0}).notes == []


def test_what_a_method_reported_without_a_verified_schedule_does_not_count():
    lied = made("p", "a", 1, 100.0, incumbents=steps((1.0, 10.0, None), (2.0, 100.0, None)))
    assert by_problem(sample_of([lied]), primal_integral) == pytest.approx(0.2)  # 10 is better than what it returned


def test_shifted_geometric_mean():
    values = [0.5, 7.0, 33.0]
    assert shifted_geometric_mean(values, 10.0) == pytest.approx((10.5 * 17 * 43) ** (1 / 3) - 10)
    assert shifted_geometric_mean(values, 0.0) == pytest.approx(stats.gmean(values))


def test_profiles_equal_counts():
    sample = sample_of(
        [*draw(3, 1.3, instances=12, seeds=3, quantity="time"), made("i99", "a", 0, None), made("i99", "b", 0, None)]
    )
    curves = {c.method: c for c in performance_profiles(sample, seconds)}
    times = {m: [median([seconds(p, o) for o in p.runs[m]]) for p in sample.problems] for m in "ab"}
    for tau in (1.0, 1.1, 1.5, 4.0, 1e9):
        for m in "ab":
            hits = sum(
                t < math.inf and t <= tau * min(x, y) * (1 + 1e-12)
                for t, x, y in zip(times[m], *times.values(), strict=True)
            )
            assert curves[m].at(tau) == pytest.approx(hits / 13)
    assert curves["a"].at(0.5) == 0.0
    data = {c.method: c for c in data_profiles(sample, seconds)}
    for budget in (10.0, 60.0, 300.0):
        share = fmean([fmean([seconds(p, o) <= budget for o in p.runs["b"]]) for p in sample.problems])
        assert data["b"].at(budget) == pytest.approx(share)
    one = runtime_distribution(sample, seconds, "a", "i0")
    assert one.x.tolist() == sorted(seconds(sample.problems[0], o) for o in sample.problems[0].runs["a"])
    assert one.y == pytest.approx([1 / 3, 2 / 3, 1])


def test_a_run_without_a_schedule_never_reaches_a_gap():
    sample = sample_of([made("p", "a"), made("q", "a", objective=None)])
    (curve,) = below_one(data_profiles(sample, gap))
    assert (curve.at(0.0), curve.at(1.0)) == (0.5, 0.5)


def test_profiles_of_measures_that_are_zero():
    sample = sample_of([made("p", "a", objective=100.0), made("p", "b", objective=150.0)])
    a, b = performance_profiles(sample, gap)
    assert (a.at(1), b.at(1e9)) == (1.0, 0.0)


def enumerated(d):
    """The p-value of the signed-rank statistic by all signs of the ranks; zeros have ranks that do not count."""
    ranks = [fmean([k + 1 for k, v in enumerate(sorted(map(abs, d))) if v == abs(x)]) for x in d]
    own = [r for r, x in zip(ranks, d, strict=True) if x]
    positive = sum(r for r, x in zip(ranks, d, strict=True) if x > 0)
    sums = [sum(r for r, s in zip(own, signs, strict=True) if s) for signs in product((0, 1), repeat=len(own))]
    tails = sum(s <= positive for s in sums), sum(s >= positive for s in sums)
    return min(1.0, 2 * min(tails) / len(sums))


@pytest.mark.parametrize("d", [[1, 2, -3, 4], [1, 1, 1, -1, 2, 2], [0, 0, 3, -1, 5, 5, 8], [-1], [0, 2]])
def test_wilcoxon_equals_the_enumeration_of_all_signs(d):
    assert wilcoxon(d).p == pytest.approx(enumerated(d))
    assert wilcoxon([-x for x in d]).p == pytest.approx(enumerated(d))


@pytest.mark.parametrize("n", [20, 50, 80])
def test_wilcoxon_equals_scipy(n):
    d = np.random.default_rng(n).normal(0.2, 1, n)
    method = "exact" if n <= 50 else "asymptotic"
    assert wilcoxon(d).p == pytest.approx(stats.wilcoxon(d, method=method).pvalue)
    assert (wilcoxon(d).balance > 0) == (stats.wilcoxon(d, alternative="greater").pvalue < 0.5)


def test_holm_rejects_as_the_step_down_procedure_does():
    dice = np.random.default_rng(1)
    for _ in range(50):
        p = (dice.random(6) ** 3).tolist()
        adjusted = holm(p)
        for alpha in (0.01, 0.05, 0.3):
            rejected = set()
            for k, i in enumerate(sorted(range(6), key=p.__getitem__)):
                if p[i] > alpha / (6 - k):
                    break
                rejected.add(i)
            assert {i for i in range(6) if adjusted[i] <= alpha} == rejected


def test_the_bootstrap_interval_is_near_that_of_all_resamples():
    values = [1.0, 2.0, 4.0, 8.0, 16.0]
    every = [fmean(chosen) for chosen in product(values, repeat=5)]
    low, high = interval(values)
    assert low == pytest.approx(np.quantile(every, 0.025), abs=0.4)
    assert high == pytest.approx(np.quantile(every, 0.975), abs=0.6)
    assert interval(values) == (low, high)


def test_replays_and_ordered_objectives_are_named():
    sample = sample_of([made("p", "a"), made("p", "easy", replay={}), made("p", "a", 2, [1, 2])])
    assert sample.methods == ["a"]
    assert sample.notes == [
        "1 replay is no part of the statistics",
        "1 run with several ordered objectives is no part of the statistics",
    ]
