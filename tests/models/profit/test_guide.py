"""The efficiency guide: slope changes of cooling curves, the days of a schedule, and the rule that gives advice."""

import json
import subprocess
import sys

import pytest
import schedlab as sl
from hypothesis import given
from hypothesis import strategies as st
from schedlab.instances.formats import cooling
from schedlab.models import Cooling, Profit, StepFunction
from schedlab.models.profit import MAXIMISE, OPTIMISE, Leaf, Split, days

DAY = 86400
FULL = Split(0.8482, Leaf(MAXIMISE, 40, 39), Leaf(OPTIMISE, 60, 60))
GUIDE = sl.Guide({"air": Leaf(OPTIMISE, 9, 9), "hybrid": FULL})


class TestSlopeChange:
    @given(
        kink=st.integers(50, 99),
        slope=st.floats(0, 0.5),
        rise=st.floats(0.001, 0.5),
        samples=st.sets(st.integers(1, 99)),
    )
    def test_a_kink_in_the_upper_half_is_found_however_the_table_is_sampled(self, kink, slope, rise, samples):
        powers = sorted({0, kink, 100} | samples)
        watts = [slope * p + rise * max(0, p - kink) for p in powers]
        assert Cooling("c", (20,), powers, (watts,)).slope_change(20) == kink

    def test_the_greatest_of_several_rises(self):
        c = Cooling("c", (20,), (0, 60, 80, 90, 100), ((0, 6, 10, 15, 21),))  # slopes 0.1, 0.2, 0.5, 0.6
        assert c.slope_change(20) == 80

    @pytest.mark.parametrize(
        "watts",
        [(0, 10, 20, 30), (0, 15, 25, 30), (0, 0, 0, 0), (0, 0, 30, 60)],
        ids=["straight", "falling slopes", "no cooling", "only the start of cooling"],
    )
    def test_a_curve_without_a_rise_has_none(self, watts):
        assert Cooling("c", (20,), (0, 40, 80, 120), (watts,)).slope_change(20) is None

    def test_the_plant_of_a_larger_machine_changes_at_as_much_more_power(self):
        c = Cooling("c", (0, 40), (0, 50, 100), ((0, 5, 20), (0, 10, 30)))
        assert [c.scaled(f).slope_change(10) for f in (1, 0.3, 7.7)] == pytest.approx([50, 15, 385])

    @pytest.mark.parametrize(
        ("name", "temperature", "pue"),
        [("air", 25, 1.43497), ("air", 5, 1.11726), ("hybrid", 25, 1.08727), ("hybrid", 5, 1.00302)],
    )
    def test_shipped_tables_have_the_points_of_the_thesis(self, name, temperature, pue):
        table = cooling(name)
        assert table.pue(table.slope_change(temperature), temperature) == pytest.approx(pue, abs=1e-6)


WET = Cooling("wet", (0, 40), (0, 400, 700, 1200), ((0, 10, 70, 320), (0, 10, 70, 320)))  # slope change at 700 W, 1.1


def centre(busy, temperature=None, table=WET, until=None):
    """Make a machine of 10 nodes of 100 W, ``busy[d]`` of them busy on the whole day d; and its schedule."""
    jobs = [
        sl.Job(f"{day}.{n}", submit=day * DAY, walltime=DAY, units=1, request={"cores": 10}, queue="q", power=100.0)
        for day, count in enumerate(busy)
        for n in range(count)
    ]
    machine = sl.Platform([sl.NodeGroup("n", 10, {"cores": 10})])
    until = len(busy) * DAY if until is None else until
    temperature = temperature or StepFunction.constant(20, 0, (len(busy) + 1) * DAY)
    problem = Profit(sl.Dispatch(machine, jobs, [sl.Queue("q", 60)]), temperature, table, 0.1, 0.13, horizon_end=until)
    names = machine.groups[0].nodes
    starts = {j.id: j.submit for j in jobs}
    return problem, sl.Schedule(starts, {j.id: {names[int(j.id.split(".")[1])]: 1} for j in jobs})


class TestDays:
    def test_each_day_has_the_utilisation_of_the_day_before_and_its_own_pue(self):
        problem, schedule = centre([9, 8, 3])
        assert problem.verify(schedule) == []
        first, second = days(problem, schedule).days
        assert (first.begin, first.cooling, first.utilisation) == (DAY, "wet", 0.9)
        assert (first.pue, first.slope_change) == pytest.approx((1 + 120 / 800, 1.1))
        assert first.aim == MAXIMISE and first.distance == pytest.approx(0.05)
        assert (second.utilisation, second.pue, second.aim) == (0.8, pytest.approx(1.025), OPTIMISE)

    def test_a_pue_on_the_point_does_not_lie_above_it(self):
        assert [d.aim for d in days(*centre([1, 7, 8])).days] == [OPTIMISE, MAXIMISE]

    def test_the_point_of_a_day_is_the_mean_over_its_hours(self):
        warm = Cooling("c", (0, 40), (0, 500, 1000), ((0, 50, 200), (0, 150, 400)))  # 1.1 and 1.3 at 500 W
        half = StepFunction([0, DAY, DAY + 6 * 3600], [0, 0, 40], 3 * DAY)  # 6 hours cold, 18 warm
        (day,) = days(*centre([5, 5], half, warm)).days
        assert day.slope_change == pytest.approx(0.25 * 1.1 + 0.75 * 1.3)

    def test_hours_without_a_slope_change_do_not_count_for_the_point(self):
        partly = Cooling("c", (0, 40), (0, 500, 1000), ((0, 50, 100), (0, 150, 400)))
        half = StepFunction([0, DAY, DAY + 6 * 3600], [0, 0, 40], 3 * DAY)
        (day,) = days(*centre([5, 5], half, partly)).days
        assert day.slope_change == pytest.approx(1.3)

    def test_days_that_tell_nothing_are_counted(self):
        idle = days(*centre([5, 0, 5]))
        assert [d.utilisation for d in idle.days] == [0] and idle.left_out["nothing runs"] == 1
        straight = Cooling("straight", (0, 40), (0, 1200), ((0, 120), (0, 120)))
        found = days(*centre([5, 5], table=straight))
        assert found.days == () and sum(found.left_out.values()) == 1
        assert "'straight' has no slope change" in next(iter(found.left_out))

    def test_days_are_whole_and_within_the_horizon_unless_the_end_is_asked_for(self):
        assert len(days(*centre([5, 5, 5], until=2 * DAY + 22 * 3600)).days) == 1
        problem, schedule = centre([5, 5, 5], until=2 * DAY + 23 * 3600)
        assert len(days(problem, schedule).days) == 2
        problem, schedule = centre([5, 5, 5], until=2 * DAY)
        assert len(days(problem, schedule).days) == 1
        assert [d.begin for d in days(problem, schedule, to_the_end=True).days] == [DAY, 2 * DAY]


class TestAdvice:
    @pytest.mark.parametrize(
        ("cooling", "utilisation", "advice"),
        [
            ("hybrid", 0.86, MAXIMISE),
            ("hybrid", 0.8482, OPTIMISE),
            ("hybrid", 0, OPTIMISE),
            ("hybrid", 1, MAXIMISE),
            ("hybrid", 1 + 1e-12, MAXIMISE),
            ("air", 0.99, OPTIMISE),
        ],
    )
    def test_what_it_advises(self, cooling, utilisation, advice):
        assert GUIDE.advise(cooling=cooling, utilisation=utilisation) == advice

    def test_why(self):
        assert GUIDE.reason("hybrid", 0.86).startswith(
            "maximise utilisation: with hybrid cooling it was right on 39 of 40"
        )
        assert "at most 84.82 %; it was 20.00 %" in GUIDE.reason("hybrid", 0.2)
        assert "right on 9 of 9 days after any utilisation" in GUIDE.reason("air", 0.2)

    def test_how_well_it_does(self):
        assert (GUIDE.days, GUIDE.accuracy) == (109, pytest.approx(108 / 109))

    def test_rules_of_several_thresholds_in_words(self):
        deep = sl.Guide({"x": Split(0.9, FULL.less, Split(0.5, FULL.more, FULL.less))})
        assert deep.sentences() == [
            "x: by the utilisation of the day before: optimise cooling up to 50.00 %, maximise utilisation up to 90.00 %, "
            "optimise cooling above"
        ]
        assert [deep.advise("x", u) for u in (0.5, 0.51, 0.9, 0.91)] == [OPTIMISE, MAXIMISE, MAXIMISE, OPTIMISE]

    @pytest.mark.parametrize("utilisation", [86, -0.1, float("nan"), 1.01])
    def test_a_utilisation_that_is_no_share(self, utilisation):
        with pytest.raises(sl.ProblemError, match="a share from 0 to 1 is expected"):
            GUIDE.advise("hybrid", utilisation)

    def test_percent_are_recognised(self):
        with pytest.raises(sl.ProblemError, match=r"for 86 % give 0\.86"):
            GUIDE.advise("hybrid", 86)

    def test_a_cooling_that_it_does_not_know(self):
        with pytest.raises(sl.ProblemError, match=r"does not know cooling 'hybird'.*air, hybrid"):
            GUIDE.advise("hybird", 0.5)


class TestFiles:
    def test_a_guide_survives_its_file(self, tmp_path):
        guide = sl.Guide(GUIDE.rules, {"scenarios": [{"instance": "x"}]})
        (tmp_path / "guide.json").write_text(json.dumps(guide.as_json()))
        assert sl.Guide.load(tmp_path / "guide.json") == guide

    def test_advice_needs_no_scikit_learn(self, tmp_path):
        (tmp_path / "guide.json").write_text(json.dumps(GUIDE.as_json()))
        code = (
            "import sys; sys.modules['sklearn'] = None; import schedlab as sl; "
            f"print(sl.Guide.load({str(tmp_path / 'guide.json')!r}).advise(cooling='hybrid', utilisation=0.86))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
        assert done.stdout.strip() == MAXIMISE

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{", "not JSON"),
            ("[]", "not a guide"),
            ('{"format": "schedlab guide 2"}', "'schedlab guide 1' is expected"),
            ('{"format": "schedlab guide 1", "rules": {}}', "a rule per cooling"),
            ('{"format": "schedlab guide 1", "rules": {"air": {}}}', "rules.air: expected"),
            (
                '{"format": "schedlab guide 1", "rules": {"air": {"advice": "hope", "days": 1, "right": 1}}}',
                "the advice is 'hope'",
            ),
            (
                '{"format": "schedlab guide 1", "rules": {"air": {"advice": "optimise cooling", "days": 1, "right": 2}}}',
                "right on 2 of 1 days",
            ),
            (
                '{"format": "schedlab guide 1", "rules": {"air": {"utilisation_above": 85, "then": {}, "else": {}}}}',
                "utilisation_above is 85",
            ),
            (
                '{"format": "schedlab guide 1", "rules": {"air": {"utilisation_above": 0.85, "then": 1, "else": {}}}}',
                "rules.air.then",
            ),
        ],
    )
    def test_a_broken_file_says_where(self, tmp_path, text, said):
        path = tmp_path / "guide.json"
        path.write_text(text)
        with pytest.raises(sl.ProblemError) as caught:
            sl.Guide.load(path)
        assert said in str(caught.value) and str(path) in str(caught.value)

    def test_no_file(self, tmp_path):
        with pytest.raises(sl.ProblemError, match="cannot be read"):
            sl.Guide.load(tmp_path / "nowhere.json")
