"""``bench guide``: known thresholds are learned again, accuracy on days left out, records of a small centre, bad input."""

import json
import sys
from pathlib import Path

import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.backends import Result
from schedlab.bench import Run, View, WrongUse
from schedlab.bench.cli.guide import DayOfScenario, confusion, errors_by_distance, learn, leave_out, usual
from schedlab.bench.kinds.profit import account_fields
from schedlab.bench.records import outcome
from schedlab.bench.records.record import record
from schedlab.heuristics import multi_search
from schedlab.instances import load
from schedlab.instances.files import content_of, write_whole
from schedlab.models.profit import MAXIMISE, OPTIMISE, Day, Leaf, Split

BUSY = (9, 9, 9, 8, 3, 2)  # nodes of 10 that are busy, day after day: 0.8 and less is followed by days below 700 W
UNTIL = len(BUSY) * 86400
SETTINGS = f"""\
kind = "profit"
scenario = "wet,summer,cheap"
[profit]
energy_price = 0.13
until_s = {UNTIL}
[profit.cooling.wet]
table = "wet.csv"
[profit.cooling.dry]
table = "dry.csv"
[profit.season.summer]
temperatures = "summer.csv"
[profit.season.winter]
temperatures = "winter.csv"
[profit.price.cheap]
core_hour = 0.013
[profit.price.expensive]
core_hour = 0.1
[[platform.groups]]
name = "n"
count = 10
capacity = {{ cores = 10 }}
[[queues]]
name = "q"
ewt_s = 60
"""
TABLES = {
    "wet": {0: 0, 400: 10, 700: 70, 1200: 320},
    "dry": {0: 0, 1000: 400, 1200: 500},
}  # slope changes at 700 and 1000 W
SCENARIOS = [f"{c},{s},{p}" for c in TABLES for s in ("summer", "winter") for p in ("cheap", "expensive")]


def day(utilisation: float, distance: float, cooling: str = "hybrid") -> Day:
    return Day(86400, cooling, utilisation, 1.1 + distance, 1.1)


def written(folder: Path, busy: tuple = BUSY) -> Path:
    """Write an instance of 10 nodes of 100 W, each job of which uses one node for one day."""
    folder.mkdir()
    rows = [f"j{d}_{n},q,{d * 86400},1,10,86400,86400,100" for d, count in enumerate(busy) for n in range(count)]
    files = {
        "instance.toml": SETTINGS,
        "jobs.csv": "id,queue,submit,units,cores,walltime,runtime,power\n" + "\n".join(rows) + "\n",
        "summer.csv": "time_s,temperature_c\n" + "".join(f"{h * 3600},25\n" for h in range(24 * len(busy))),
        "winter.csv": "time_s,temperature_c\n" + "".join(f"{h * 3600},5\n" for h in range(24 * len(busy))),
    }
    for name, points in TABLES.items():
        lines = [f"{t},{p},{w}\n" for t in (0, 40) for p, w in points.items()]
        files[f"{name}.csv"] = "temperature_c,it_power_w,cooling_power_w\n" + "".join(lines)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def file(instance: Path, scenario: str, out: Path, method: str = "multi-search", late: int = 0) -> Path:
    """Write the record of a run of multi-search under the name of a method, with its schedule delayed by ``late`` seconds."""
    loaded = load(instance)
    run = Run(loaded.name, str(instance), content_of(instance), method, view=View(scenario=scenario), kind="profit")
    problem = run.view.of(loaded)
    found = multi_search(problem).schedule
    schedule = sl.Schedule({job: start + late for job, start in found.start.items()}, found.nodes)
    result = Result("feasible", method, "1", problem=problem)
    result.schedule, result.objective = schedule, problem.value(schedule)
    whole = record(run, outcome(problem, result) | account_fields(problem, schedule), "2024-01-01T00:00:00")
    out.mkdir(exist_ok=True)
    path = out / f"{method.replace(':', '_')}.{scenario.replace(',', '_')}.json"
    write_whole(path, json.dumps(whole))
    return path


@pytest.fixture(scope="module")
def centre(tmp_path_factory) -> Path:
    return written(tmp_path_factory.mktemp("instances") / "centre")


@pytest.fixture(scope="module")
def results(centre, tmp_path_factory) -> Path:
    """Records of all eight scenarios."""
    out = tmp_path_factory.mktemp("results")
    for scenario in SCENARIOS:
        file(centre, scenario, out)
    return out


class TestLearning:
    @settings(max_examples=15, deadline=None)
    @given(
        hybrid=st.lists(st.integers(1, 99), min_size=2, max_size=60),
        air=st.lists(st.integers(1, 99), max_size=60),
        above=st.integers(1, 98),
    )
    def test_a_planted_threshold_is_found_again(self, hybrid, air, above):
        days = [day(u / 100, 0.01 if u > above else -0.01) for u in hybrid]
        days += [day(u / 100, -0.02, "air") for u in air]
        guide = learn(days)
        low, high = [u for u in hybrid if u <= above], [u for u in hybrid if u > above]
        if low and high:
            assert max(low) / 100 < guide.rules["hybrid"].above < min(high) / 100
        else:
            assert guide.rules["hybrid"] == Leaf(MAXIMISE if high else OPTIMISE, len(hybrid), len(hybrid))
        if air:
            assert guide.rules["air"] == Leaf(OPTIMISE, len(air), len(air))
        assert guide.accuracy == 1 and guide.days == len(days)

    def test_no_threshold_that_changes_no_advice(self):
        days = [day(0.1 * k, 0.01) for k in range(1, 9)] + [day(0.1, -0.01)]
        assert learn(days).rules["hybrid"] == Leaf(MAXIMISE, 9, 8)

    def test_as_many_of_both_at_the_same_utilisation(self):
        assert learn([day(0.5, 0.01), day(0.5, -0.01)]).rules["hybrid"] == Leaf(OPTIMISE, 2, 1)

    def test_more_depth_finds_a_range(self):
        days = [day(u / 100, 0.01 if 40 < u <= 60 else -0.01) for u in range(1, 100)]
        assert learn(days).accuracy < 1
        guide = learn(days, depth=2)
        assert guide.accuracy == 1 and isinstance(guide.rules["hybrid"], Split)
        assert [guide.advise("hybrid", u) for u in (0.4, 0.5, 0.7)] == [OPTIMISE, MAXIMISE, OPTIMISE]

    def test_the_same_days_give_the_same_guide(self):
        days = [day(u / 100, ((7 * u) % 13 - 6 + u / 20) / 1000) for u in range(1, 100)]
        assert learn(days, 3) == learn(days, 3)

    def test_nothing_to_learn_from(self):
        with pytest.raises(WrongUse, match="no days to learn from"):
            learn([])

    def test_errors_are_counted_by_their_distance(self):
        days = [day(0.9, 0.02), day(0.8, 0.02), day(0.3, -0.02), day(0.2, -0.02), day(0.1, 0.0005)]
        guide = learn(days)
        assert confusion(guide, days) == {(MAXIMISE, MAXIMISE): 2, (OPTIMISE, OPTIMISE): 2, (MAXIMISE, OPTIMISE): 1}
        assert usual(days) == (MAXIMISE, 3)
        table = [row for row in errors_by_distance(guide, days) if row.days]
        assert [(row.low, row.high, row.days, row.wrong) for row in table] == [(0.0001, 0.001, 1, 1), (0.01, 0.1, 4, 0)]


class TestLeavingOut:
    def test_days_of_a_group_are_predicted_from_the_others(self):
        one = [DayOfScenario(day(u, d), "a", "s1", 0) for u, d in ((0.9, 0.01), (0.2, -0.01))]
        two = [DayOfScenario(day(u, d), "b", "s2", 1) for u, d in ((0.8, 0.01), (0.7, 0.01), (0.6, -0.01))]
        found = leave_out([*one, *two], lambda s: s.instance)
        # of a: 0.65 from b is right twice; of b: 0.55 from a is wrong on 0.6 alone
        assert (found.folds, found.days, found.right, found.unanswered) == (2, 5, 4, 0)
        assert found.accuracy == pytest.approx(0.8)

    def test_a_cooling_that_only_one_group_has_is_not_guessed(self):
        samples = [DayOfScenario(day(0.9, 0.01), "a", "s1", 0), DayOfScenario(day(0.9, -0.01, "air"), "a", "s2", 1)]
        found = leave_out(samples, lambda s: s.twins)
        assert (found.days, found.unanswered, found.accuracy) == (0, 2, None)
        assert leave_out(samples, lambda s: s.instance).unanswered == 2


class TestCommand:
    def test_rule_accuracy_and_errors(self, bench, results, tmp_path):
        code, out, err = bench("guide", results, "--out", tmp_path / "guide.json")
        assert (code, err) == (0, "")
        assert "dry: optimise cooling, whatever the utilisation of the day before" in out
        assert "wet: maximise utilisation after a day with a utilisation above 85.00 %, else optimise cooling" in out
        assert "days: 40; always optimise cooling is right on 70.00 %" in out
        assert "accuracy on the days that it was learned from: 100.00 %" in out
        assert "accuracy on other jobs: unknown" in out
        assert "100.00 % of 40 days, 4 times" in out  # scenarios that differ in price alone go together
        rows = {line.split("  ")[0].strip(): line.split() for line in out.splitlines()}
        assert rows["maximise utilisation"][-2:] == ["12", "0"]
        assert rows["optimise cooling"][-2:] == ["0", "28"]
        guide = sl.Guide.load(tmp_path / "guide.json")
        assert guide.advise(cooling="wet", utilisation=0.86) == MAXIMISE
        assert guide.advise(cooling="wet", utilisation=0.84) == OPTIMISE
        assert [s["scenario"] for s in guide.about["scenarios"]].count("wet,summer,cheap") == 1

    def test_the_days_as_a_picture(self, bench, results, tmp_path):
        for name in ("a.svg", "b.svg"):
            assert bench("guide", results, "--plot", tmp_path / name)[0] == 0
        drawn = (tmp_path / "a.svg").read_text()
        assert drawn == (tmp_path / "b.svg").read_text()
        for text in (
            "wet: 20 days, threshold 85.00 %",
            "dry: 20 days",
            "utilisation of the day before",
            "right",
            "wrong",
        ):
            assert text in drawn

    def test_the_best_search_of_a_scenario_is_used(self, bench, centre, tmp_path):
        scenario = "wet,summer,cheap"
        file(centre, scenario, tmp_path, "lns")
        file(centre, scenario, tmp_path, "delay-search", late=86400)  # it earns less, and its days are others
        file(centre, scenario, tmp_path, "rule:est")
        code, out, _ = bench("guide", tmp_path)
        assert code == 0 and "lns" in out and "above 85.00 %" in out
        code, out, _ = bench("guide", tmp_path, "--method", "delay-search")
        assert code == 0 and "delay-search" in out and "wet: maximise utilisation, whatever" in out
        code, _, err = bench("guide", tmp_path, "--method", "highs:pool")
        assert code == 2 and "'highs:pool'" in err and "they are by delay-search, lns, rule:est" in err

    def test_rules_are_no_searches(self, bench, centre, tmp_path):
        file(centre, "wet,summer,cheap", tmp_path, "rule:est")
        code, _, err = bench("guide", tmp_path)
        assert code == 2 and "rules do not count" in err
        assert bench("guide", tmp_path, "--method", "rule:est")[0] == 0

    def test_days_of_one_kind_are_reported(self, bench, centre, tmp_path):
        file(centre, "dry,summer,cheap", tmp_path)
        code, out, _ = bench("guide", tmp_path)
        assert code == 0 and "dry: optimise cooling, whatever" in out
        assert "all days are of one kind: the guide is a constant" in out
        assert "unknown, there are no other days with that cooling" in out

    def test_several_instances_are_left_out_one_after_another(self, bench, results, tmp_path):
        other = written(tmp_path / "other", (9, 9, 4, 3, 9, 9))
        for scenario in ("wet,summer,cheap", "dry,summer,cheap"):
            file(other, scenario, tmp_path / "out")
        code, out, _ = bench("guide", results, tmp_path / "out")
        assert code == 0 and "accuracy on instances left out one at a time" in out and "2 times" in out

    def test_an_instance_that_was_moved(self, bench, centre, tmp_path):
        gone = tmp_path / "centre"
        written(gone)
        file(gone, "wet,summer,cheap", tmp_path / "out")
        for each in gone.iterdir():
            each.unlink()
        gone.rmdir()
        code, _, err = bench("guide", tmp_path / "out")
        assert code == 2 and "there is no instance" in err
        assert bench("guide", tmp_path / "out", "--instance", centre)[0] == 0


class TestBadInput:
    def test_no_folder(self, bench, tmp_path):
        code, _, err = bench("guide", tmp_path / "nowhere")
        assert code == 2 and "no such folder" in err

    def test_no_records_of_profit_problems(self, bench, tmp_path):
        day = load("eurora_99")
        run = Run(day.name, day.name, content_of(day.path), "multi-search", kind="dispatch")
        result = Result("feasible", "multi-search", "1", problem=day.problem)
        result.schedule = multi_search(day.problem).schedule
        result.objective = day.problem.value(result.schedule)
        whole = record(run, outcome(day.problem, result), "2024-01-01T00:00:00")
        (tmp_path / "a.json").write_text(json.dumps(whole))
        code, _, err = bench("guide", tmp_path)
        assert code == 2 and "1 record, none of them of a profit problem" in err

    @pytest.mark.parametrize(
        ("text", "expected"), [("{", "not JSON"), ("{}", "not a record"), (None, "the field content is missing")]
    )
    def test_a_file_that_cannot_be_used(self, bench, centre, tmp_path, text, expected):
        path = file(centre, "wet,summer,cheap", tmp_path)
        if text is None:
            r = json.loads(path.read_text())
            del r["content"]
            text = json.dumps(r)
        path.write_text(text)
        code, _, err = bench("guide", tmp_path)
        assert code == 2 and expected in err and path.name in err

    def test_two_versions_of_an_instance(self, bench, centre, tmp_path):
        file(centre, "wet,summer,cheap", tmp_path / "out")
        other = written(tmp_path / "centre", BUSY[::-1])
        file(other, "wet,summer,cheap", tmp_path / "others")
        code, _, err = bench("guide", tmp_path / "out", tmp_path / "others")
        assert code == 2 and "the records of centre are of several versions" in err

    def test_an_instance_that_has_changed_since(self, bench, tmp_path):
        mine = written(tmp_path / "centre")
        file(mine, "wet,summer,cheap", tmp_path / "out")
        (mine / "instance.toml").write_text(SETTINGS.replace("0.13", "0.14"))
        code, _, err = bench("guide", tmp_path / "out")
        assert code == 2 and "the files of the instance are different" in err

    def test_a_schedule_that_does_not_hold(self, bench, centre, tmp_path):
        path = file(centre, "wet,summer,cheap", tmp_path)
        r = json.loads(path.read_text())
        r["schedule"]["j3_0"]["start"] = 0
        path.write_text(json.dumps(r))
        code, _, err = bench("guide", tmp_path)
        assert code == 2 and path.name in err and "j3_0" in err and "bench verify" in err

    def test_a_picture_of_another_kind(self, bench, results, tmp_path):
        code, _, err = bench("guide", results, "--plot", tmp_path / "guide.docx")
        assert code == 2 and "ends in .svg" in err

    def test_no_scikit_learn(self, bench, results, monkeypatch):
        monkeypatch.setitem(sys.modules, "sklearn", None)
        monkeypatch.setitem(sys.modules, "sklearn.tree", None)
        code, _, err = bench("guide", results)
        assert code == 2 and "pip install 'schedlab[guide]'" in err
