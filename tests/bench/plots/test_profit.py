"""The page of profit problems: which runs are drawn, and the ranges of the axes."""

import re

import numpy as np
import pytest
from schedlab.bench.kinds.profit import (
    Axis,
    axis_of,
    caption,
    chosen,
    drawn_of,
    incumbents,
    known_pues,
    limits,
    over_time,
    pues,
    scenario_results,
    trend,
)
from schedlab.bench.records import files, read

OWN = "air,summer,cheap"


@pytest.fixture(scope="module")
def scenarios(profit_results):
    """The results by scenario."""
    found = scenario_results(map(read, files(profit_results)))
    return {results.records[0]["view"]["scenario"]: results for _, results in found}


@pytest.fixture(scope="module")
def page(profit_results, tmp_path_factory):
    from schedlab.bench.pages.plot import plot

    path, count = plot(profit_results, tmp_path_factory.mktemp("page") / "a.html")
    assert count == 10
    return path.read_text(encoding="utf-8")


class TestChoice:
    def test_by_default_the_best_search_beside_the_best_rule(self, scenarios):
        assert [r["method"] for r in chosen(scenarios[OWN], [])] == ["lns", "rule:est"]

    def test_the_methods_that_are_given(self, scenarios):
        assert [r["method"] for r in chosen(scenarios[OWN], ["rule:wt", "lns"])] == ["rule:wt", "lns"]

    def test_a_bound_is_not_drawn_and_of_seeds_the_best_is(self, scenarios):
        rows = {row.method: row for row in scenarios[OWN].rows}
        assert drawn_of(rows["highs:fluid"]) is None
        lns = rows["lns"].records[0]
        better = lns | {"seed": 2, "objective": lns["objective"] + 1}
        rows["lns"].records.append(better)
        assert drawn_of(rows["lns"]) is better
        rows["lns"].records.remove(better)


class TestCurves:
    def test_the_pue_of_segments_is_that_of_the_account(self, scenarios):
        for r in (r for results in scenarios.values() for r in results.records if r.get("operation")):
            curves = r["operation"]
            watts, cooling = (np.array(curves["segments"][name]) for name in ("watts", "cooling"))
            edges = np.minimum([curves["begin"], *curves["segments"]["end"]], curves["until"])
            total = 1 + np.diff(edges) @ cooling / (np.diff(edges) @ watts)
            assert total == pytest.approx(r["account"]["horizon"]["pue"], rel=1e-4)
            assert all(p is None or p >= 1 for p in pues(curves))

    def test_the_pue_of_a_picture_is_that_of_the_account_to_the_last_digit(self, scenarios):
        results = scenarios[OWN]
        [record] = [r for r in results.records if r["method"] == "lns"]
        axis = axis_of([record["operation"]])
        for pue in (record["account"]["horizon"]["pue"], 1.43636):
            account = {**record["account"], "horizon": {**record["account"]["horizon"], "pue": pue}}
            text = f"overall up to the horizon: {pue:.4f}"
            assert text in over_time("a", {**record, "account": account}, axis)
            assert f"PUE {pue:.4f}," in caption({**record, "account": account})

    def test_where_nothing_runs_there_is_no_pue(self):
        idle = {"begin": 0, "until": 20, "segments": {"end": [10, 20], "watts": [0.0, 50.0], "cooling": [0.0, 5.0]}}
        assert pues(idle) == [None, 1.1]

    def test_the_trend_is_the_linear_regression_of_the_days_on_which_something_runs(self):
        days = [{"pue": p} for p in (1.1, None, 1.3, 1.2)]
        points = known_pues({"daily": days})
        assert points == [(1, 1.1), (3, 1.3), (4, 1.2)]
        slope, at_0 = trend(points)  # by hand: the means are 8/3 and 1.2, the sums of products 0.2 and 14/3
        assert slope == pytest.approx(0.2 / (14 / 3))
        assert at_0 == pytest.approx(1.2 - slope * 8 / 3)
        assert trend(points[:1]) == (0, 1.1)
        assert known_pues({}) == []

    def test_the_axes_hold_all_curves(self, scenarios):
        several = [r["operation"] for r in chosen(scenarios[OWN], ["lns", "rule:wt"])]
        axis = axis_of(several)
        assert axis.end == max(c["end"] for c in several) and axis.begin == 0
        for c in several:
            assert all(
                w + k <= axis.watts for w, k in zip(c["segments"]["watts"], c["segments"]["cooling"], strict=True)
            )
            before = [p for p, t in zip(pues(c), [0, *c["segments"]["end"]], strict=False) if t < c["until"]]
            assert before and all(axis.pue[0] <= p <= axis.pue[1] for p in before)
        assert Axis(86400, 0, 0, (1, 1), (0, 0)).days([86400, 2 * 86400]).tolist() == [0, 1]

    def test_incumbents_of_a_maximisation_grow(self):
        trace = [{"seconds": s, "objective": v} for s, v in ((1, 5.0), (2, None), (3, 4.0), (4, 9.0))]
        record = {"incumbents": trace, "objective": 9.0, "seconds": {"total": 5.0}}
        assert incumbents(record) == [(1, 5.0), (4, 9.0)]
        assert incumbents(record | {"incumbents": []}) == [(5.0, 9.0)]

    def test_a_method_far_below_does_not_stretch_the_axis(self):
        low, high = limits([100.0, 98.0, 102.0, 20.0], 100.0)
        assert 90 < low < 98 and 102 < high < 103
        assert limits([7.0], 7.0)[0] < 7.0 < limits([7.0], 7.0)[1]
        assert limits([0.0], 0.0)[0] < limits([0.0], 0.0)[1]


class TestPage:
    def test_a_section_per_scenario_with_five_charts(self, page):
        assert re.findall(r"<h2>(.*?)</h2>", page) == [
            "centre, air,summer,cheap, 1 thread",
            "centre, hybrid,winter,expensive, 1 thread",
        ]
        assert page.count("<svg ") == 10
        for text in (
            "power, W",
            "temperature, °C",
            "PUE of each segment",
            "PUE of each day",
            "cores in use",
            "days",
            "jobs (IT)",
            "cooling",
        ):
            assert text in page
        for text in (
            "Profit over time",
            "profit above that of the best rule, %",
            "best bound",
            "Day by day",
            "profits of the schedules",
        ):
            assert text in page
        assert len(re.findall(r"<tr><th>2</th>", page)) == 2  # the second day of each scenario

    @pytest.mark.slow
    def test_the_same_records_give_the_same_page(self, bench, profit_results, page, tmp_path):
        code, out, _ = bench("plot", profit_results, "--out", tmp_path / "b.html")
        assert code == 0 and "10 runs" in out
        assert (tmp_path / "b.html").read_text(encoding="utf-8") == page

    def test_methods_by_name(self, bench, profit_results, tmp_path):
        code, _, _ = bench(
            "plot", profit_results, "--methods", "rule:wt,rule:est-strict,lns", "--out", tmp_path / "b.html"
        )
        page = (tmp_path / "b.html").read_text(encoding="utf-8")
        assert code == 0 and page.count("<svg ") == 12
        for name in ("rule:wt", "rule:est-strict", "lns"):
            assert f"<figcaption><b>{name}</b>" in page

    def test_methods_that_were_not_run(self, bench, profit_results, tmp_path):
        code, _, err = bench("plot", profit_results, "--methods", "lms", "--out", tmp_path / "b.html")
        assert code == 2 and "lns" in err
        assert bench("plot", profit_results, "--methods", "highs:fluid", "--out", tmp_path / "b.html")[0] == 2
        assert not (tmp_path / "b.html").exists()
