"""The bench on profit problems: scenarios as views, records with accounts, verification, tables."""

import io
import itertools
import json
from dataclasses import replace

import pytest
import schedlab as sl
from rich.console import Console
from schedlab.bench import Run, RunRequest, View, WrongUse, defaults, key_of, one_scenario, plan, scenarios_of
from schedlab.bench.kinds.base import show_results
from schedlab.bench.kinds.profit import ProfitResults, account_fields, scenario_results
from schedlab.bench.records import files, read, times
from schedlab.bench.runs.progress import worst_case
from schedlab.heuristics import first_solution
from schedlab.instances import load
from schedlab.models.profit import makespan

OWN = "air,summer,cheap"
pytestmark = pytest.mark.usefixtures("in_process")
METHODS = "rule:est,multi-search"


@pytest.fixture(scope="module")
def records(profit_results):
    return list(map(read, files(profit_results)))


@pytest.fixture(scope="module")
def of_summer(records):
    return {r["method"]: r for r in records if r["view"]["scenario"] == OWN}


def printed(records, width=120):
    console = Console(file=io.StringIO(), width=width)
    wrong = show_results(console, records)
    return console.file.getvalue(), wrong


def row(text, method):
    cells = next(line.split() for line in text.splitlines() if method in line.split())
    return [cell for cell in cells if cell != "*"]


class TestScenarios:
    def test_a_view_is_the_problem_of_its_scenario(self, centre):
        instance = load(centre)
        view = View(scenario="hybrid,winter,expensive")
        assert view.of(instance) == instance.scenario("hybrid,winter,expensive")
        assert view.of(instance).price == 0.10
        assert View().of(instance) == instance.problem == View(scenario=OWN).of(instance)
        assert view.label == "hybrid,winter,expensive"

    def test_the_first_jobs_by_submit_time_earn_up_to_the_same_horizon(self, centre):
        instance = load(centre)
        few = View(first=7, scenario=OWN).of(instance)
        assert [j.id for j in few.jobs] == [f"j{k}" for k in range(7)]
        assert few.horizon_end == instance.profit.horizon_end == 172800
        assert View(first=7, scenario=OWN).label == "air,summer,cheap, first 7"

    def test_words_choose_scenarios(self, centre):
        instance = load(centre)
        assert scenarios_of(instance, ["all"]) == list(instance.scenarios)
        assert scenarios_of(instance, ["expensive,winter"]) == ["air,winter,expensive", "hybrid,winter,expensive"]
        two = ["hybrid,winter,cheap", OWN]
        assert scenarios_of(instance, [*two, OWN]) == two
        assert one_scenario(View(first=3), instance, two[0]) == View(first=3, scenario=two[0])

    def test_words_that_are_none(self, bench, centre):
        instance = load(centre)
        with pytest.raises(sl.UnknownName, match="winter"):
            scenarios_of(instance, ["air,wintr,cheap"])
        with pytest.raises(WrongUse, match="no scenario has all of these"):
            scenarios_of(instance, ["air,hybrid"])
        with pytest.raises(WrongUse, match="has no scenarios"):
            scenarios_of(load("eurora_99"), ["all"])
        with pytest.raises(WrongUse, match="expected one scenario"):
            one_scenario(View(), instance, "winter")
        code, _, err = bench("run", centre, "--scenario", "air,sumer,cheap")
        assert code == 2 and "summer" in err and "Traceback" not in err

    @pytest.mark.parametrize(
        ("path", "options", "said"),
        [
            ("", ["--at", "12:00"], "--first and --scenario"),
            ("", ["--objective", "makespan"], "--first and --scenario"),
            ("", ["--nodes-needed", "3"], "--first and --scenario"),
            ("", ["--methods", "easy"], "easy is a dispatcher"),
            ("", ["--methods", "dp"], "of profit problems"),
            ("eurora_99", ["--scenario", "all"], "has no scenarios"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, bench, centre, path, options, said):
        code, _, err = bench("run", path or centre, "--dry-run", *options)
        assert code == 2 and said in err

    def test_records_of_other_kinds_keep_their_keys(self):
        run = Run("day", "instances/day", "c0ffee", "cpsat:pool", solver="cpsat", version="9.15", kind="profit")
        assert run.head["view"] == {"at": None, "first": None, "durations": "walltime", "objective": None}
        assert replace(run, view=View(scenario=OWN)).key != run.key


class TestPlans:
    def test_by_default_the_scenario_of_the_instance_is_run(self, centre):
        request = RunRequest(methods=["cpsat:counts"], time_limit=3)
        (run,) = plan(load(centre), str(centre), request)
        assert run.view == View(scenario=OWN)
        (same,) = plan(load(centre), str(centre), replace(request, scenarios=[OWN]))
        assert same.key == run.key

    def test_each_requested_scenario(self, centre):
        request = RunRequest(methods=["cpsat:counts"], scenarios=["all"], first=9)
        runs = plan(load(centre), str(centre), request)
        assert [r.view for r in runs] == [View(first=9, scenario=name) for name in load(centre).scenarios]
        assert len({r.key for r in runs}) == 8

    def test_seeds_are_for_what_goes_by_chance(self, centre):
        request = RunRequest(methods=["cpsat:counts", "rule:est"], seeds=(1, 2, 3))
        runs = plan(load(centre), str(centre), request)
        assert [(r.method, r.seed) for r in runs] == [
            ("cpsat:counts", 1),
            ("cpsat:counts", 2),
            ("cpsat:counts", 3),
            ("rule:est", 1),
        ]

    def test_rules_on_profit_problems_are_no_replays(self, centre):
        (run,) = plan(load(centre), str(centre), RunRequest(methods=["rule:profit-strict"]))
        assert run.replay is None and run.view == View(scenario=OWN)

    def test_defaults_by_size(self, centre):
        small, medium = load("profit_small"), load("profit_medium")
        assert list(defaults(medium)) == [View(scenario=medium.centre.default)]
        assert {r.method for r in plan(small, "profit_small", RunRequest())} > {
            r.method for r in plan(medium, "profit_medium", RunRequest())
        }
        assert worst_case(plan(medium, "profit_medium", RunRequest()), 1) <= 300

    def test_only_what_is_quick_is_run_on_many_jobs(self, centre, monkeypatch):
        monkeypatch.setattr("schedlab.bench.kinds.profit.LARGE", 29)
        methods = {r.method for r in plan(load(centre), str(centre), RunRequest())}
        assert "lns" in methods and "rule:est" in methods
        assert not any(m.startswith(("cpsat", "cpo", "relaxation")) for m in methods)


class TestRecords:
    def test_the_accounts_agree_with_each_other(self, centre, of_summer):
        problem = load(centre).profit
        for method in ("rule:est", "lns"):
            r = of_summer[method]
            at, end = r["account"]["horizon"], r["account"]["end"]
            assert r["objective"] == pytest.approx(at["profit"]) and at["end"] == problem.horizon_end
            assert at["profit"] == pytest.approx(at["gain"] - at["work_cost"] - at["cooling_cost"])
            assert end["core_hours"] == pytest.approx(problem.cores @ problem.durations / 3600)
            assert end["end"] - problem.begin == r["makespan"]
            assert at["pue"] == pytest.approx(1 + at["cooling_kwh"] / at["it_kwh"])
            days = r["daily"]
            assert [d["begin"] for d in days] == [0, 86400]
            for figure in ("profit", "it_kwh", "cooling_kwh", "core_hours"):
                assert sum(d[figure] for d in days) == pytest.approx(at[figure])
            assert [d["celsius"] for d in days] == pytest.approx([24, 24], abs=0.01)

    def test_the_curves_hold_all_the_work(self, centre, of_summer):
        problem, r = load(centre).profit, of_summer["lns"]
        curves, end = r["operation"], r["account"]["end"]
        assert curves["end"] == r["makespan"] and curves["until"] == problem.horizon_end
        edges = [curves["begin"], *curves["segments"]["end"]]
        lengths = [b - a for a, b in itertools.pairwise(edges)]
        work, cooling = (
            sum(w * s for w, s in zip(curves["segments"][name], lengths, strict=True)) / 3.6e6
            for name in ("watts", "cooling")
        )
        assert (work, cooling) == pytest.approx((end["it_kwh"], end["cooling_kwh"]), rel=1e-3)
        hours = [min(curves["step"], r["makespan"] - k * curves["step"]) for k in range(len(curves["steps"]["watts"]))]
        assert sum(w * s for w, s in zip(curves["steps"]["watts"], hours, strict=True)) / 3.6e6 == pytest.approx(
            work, rel=1e-3
        )
        used = sum(u * s for u, s in zip(curves["steps"]["utilisation"], hours, strict=True)) * 16 / 3600
        assert used == pytest.approx(end["core_hours"], rel=1e-3)

    def test_a_machine_that_stands_still_has_no_pue(self, centre):
        problem = load(centre).profit
        late = first_solution(problem)
        late.start = {job: problem.horizon_end + start for job, start in late.start.items()}
        found = account_fields(problem, late)
        assert found["account"]["horizon"]["pue"] is None
        assert [d["pue"] for d in found["daily"]] == [None, None]
        assert found["account"]["end"]["profit"] > found["account"]["horizon"]["profit"]

    def test_the_best_of_a_trace_is_the_greatest(self):
        trace = [{"seconds": s, "objective": v} for s, v in ((1, 5.0), (2, 7.0), (3, 6.0), (4, 9.0))]
        assert times(trace, "maximize") == (1, 4)
        assert times(trace, "minimize") == (1, 1)

    def test_as_a_table(self, profit_results):
        table = sl.read_results(profit_results)
        known = table[table["status"] == "feasible"]
        assert known["account.horizon.profit"].to_numpy() == pytest.approx(known["objective"].astype(float).to_numpy())
        assert set(table["view.scenario"]) == {OWN, "hybrid,winter,expensive"}


class TestVerification:
    def test_records_hold(self, bench, profit_results):
        code, out, _ = bench("verify", profit_results)
        assert code == 0 and "10 records, 10 valid" in out

    def test_a_changed_one_does_not(self, bench, of_summer, tmp_path):
        r = of_summer["lns"]
        account, days = r["account"], r["daily"]
        changes = {
            "has pue 1.0 up to the horizon": {"account": account | {"horizon": account["horizon"] | {"pue": 1.0}}},
            "has gain 0 up to the end": {"account": account | {"end": account["end"] | {"gain": 0}}},
            "has makespan 1 s": {"makespan": 1},
            "has accounts of 1 day, the horizon has 2": {"daily": days[:1]},
            "has celsius 0 of day 2": {"daily": [days[0], days[1] | {"celsius": 0}]},
            "its bound": {"bound": 0.9 * r["objective"]},
            "it has objective": {"objective": 2 * r["objective"]},
            "its key": {"view": r["view"] | {"scenario": "air,winter,cheap"}},
        }
        for said, change in changes.items():
            (tmp_path / "lns.json").write_text(json.dumps(r | change))
            code, out, _ = bench("verify", tmp_path)
            assert code == 1 and said in out, said

    def test_somebody_elses_schedule(self, bench, centre, of_summer, tmp_path):
        mine = tmp_path / "mine.json"
        mine.write_text(json.dumps(of_summer["rule:est"]["schedule"]))
        code, out, _ = bench("verify", mine, "--instance", centre, "--scenario", OWN)
        assert code == 0 and float(out.split()[-1]) == pytest.approx(of_summer["rule:est"]["objective"])
        code, out, _ = bench("verify", mine, "--instance", centre, "--scenario", "air,summer,expensive")
        assert code == 0 and float(out.split()[-1]) > 5 * of_summer["rule:est"]["objective"]
        assert bench("verify", mine, "--instance", centre, "--scenario", "winter")[0] == 2


class TestTables:
    def test_a_row_per_method(self, of_summer):
        text, wrong = printed(list(of_summer.values()))
        assert wrong == [] and f"centre, {OWN}, 1 thread" in text
        rule, lns, bound = (of_summer[m] for m in ("rule:est", "lns", "highs:fluid"))
        better = (lns["objective"] - rule["objective"]) / rule["objective"]
        closed = (lns["objective"] - rule["objective"]) / (bound["bound"] - rule["objective"])
        cells = row(text, "lns")
        assert f"{100 * better:+.2f}%" in cells and f"{100 * closed:.0f}%" in cells
        assert f"{lns['account']['horizon']['pue']:.4f}" in cells and cells[-1] == "yes"
        assert f"{lns['account']['horizon']['energy_kwh']:.1f}" in cells
        assert row(text, "highs:fluid")[1:3] == ["bound", "only"]

    def test_the_best_one_is_marked_and_the_best_rule_named(self, records, of_summer):
        text, _ = printed(list(of_summer.values()))
        best = max((r for r in of_summer.values() if r["objective"]), key=lambda r: r["objective"])
        assert [line.split()[1] for line in text.splitlines() if line.startswith("* ")] == [best["method"]]
        assert f"by {best['method']}" in text and "best true bound" in text

    def test_an_overview_over_the_scenarios(self, records):
        text, _ = printed(records)
        assert "all scenarios" in text
        line = row(text.partition("all scenarios")[2], "hybrid,winter,expensive")
        assert line[1] == "est" and line[3].startswith("-") and line[4].startswith("+")
        assert "all scenarios" not in printed([r for r in records if r["view"]["scenario"] == OWN])[0]

    def test_a_bound_that_a_schedule_refutes(self, of_summer):
        low = of_summer["highs:fluid"] | {"method": "highs:wrong", "bound": 0.5 * of_summer["lns"]["objective"]}
        text, wrong = printed([*of_summer.values(), low])
        assert len(wrong) == 1 and "highs:wrong is refuted" in wrong[0]
        assert "refuted" in text

    def test_without_rules_and_without_schedules(self, of_summer):
        text, _ = printed([of_summer["lns"]])
        assert row(text, "lns")[3:6] == ["-", "-", "-"]  # beside the rule, to the bound, of the gap
        text, wrong = printed([of_summer["highs:fluid"]])
        assert wrong == [] and row(text, "highs:fluid")[3] == "-"

    def test_seeds_are_one_row(self, of_summer):
        lns = of_summer["lns"]
        other = lns | {"seed": 2, "objective": lns["objective"] + 1}
        ((title, results),) = scenario_results([lns, other])
        assert title.startswith("centre, ") and isinstance(results, ProfitResults)
        assert results.best.objective == pytest.approx(lns["objective"] + 0.5)
        assert ".." in printed([lns, other])[0]

    def test_a_narrow_terminal_gets_fewer_columns(self, records):
        text, _ = printed(records, width=80)
        assert "energy" not in text.splitlines()[1] and all(len(line) <= 80 for line in text.splitlines())

    def test_records_of_other_kinds_are_in_other_tables(self, records):
        day = {**records[0], "kind": "dispatch", "view": View().fields, "content": "other"}
        text, _ = printed([day])
        assert "PUE" not in text and "build/lower/" in text


class TestCommands:
    def test_run_table_and_verify(self, bench, centre, tmp_path):
        out = tmp_path / "out"
        code, text, err = bench("run", centre, "--methods", METHODS, "--scenario", "hybrid,winter", "--out", out)
        assert code == 0, err
        assert "centre, hybrid,winter,cheap" in text and "centre, hybrid,winter,expensive" in text
        assert row(text, "rule:est")[-1] == "yes" and row(text, "multi-search")[-1] == "yes"
        assert bench("verify", out)[0] == 0
        code, text, err = bench(
            "run", centre, "--methods", METHODS, "--scenario", "hybrid,winter", "--out", out, "--json"
        )
        again = list(map(json.loads, text.splitlines()))
        assert code == 0 and err.count("(kept)") == 4
        for r in again:
            problem = View(**r["view"]).of(load(centre))
            assert r["objective"] == pytest.approx(problem.value(problem.read(r["schedule"])))
            assert r["sense"] == "maximize" and key_of(r) == r["key"]
            assert r["account"]["end"]["end"] == makespan(problem, problem.read(r["schedule"]))

    def test_show_and_list(self, bench, centre):
        code, out, _ = bench("show", centre)
        assert code == 0
        for said in (
            "profit in EUR from 0 s to 172800 s",
            "energy price: 0.13",
            "offered load",
            "(by default air,summer,cheap)",
        ):
            assert said in " ".join(out.split())
        line = row(out, "air,winter,expensive")
        assert line[1] == "0.1" and [float(x) for x in line[2:5]] == pytest.approx([-1, 4, 9], abs=0.1)
        code, out, _ = bench("list")
        assert code == 0 and row(out, "profit_medium")[1:4] == ["profit", "1000", "60"]

    def test_export_of_a_scenario(self, bench, centre, tmp_path):
        code, out, _ = bench("export", centre, "--formulation", "counts", "--format", "cpsat", "--first", 3, "--scenario", "air,winter,cheap", "--out", tmp_path / "m.cpsat")  # fmt: skip
        assert code == 0 and "variables" in out
