"""Desired profiles: amounts at all times, the flat arrays, builders, and wrong wishes."""

from bisect import bisect_right
from itertools import pairwise

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.models import (
    Cooling,
    DesiredProfile,
    Dispatch,
    Job,
    NodeGroup,
    Platform,
    ProblemError,
    Queue,
    Schedule,
    StepFunction,
)
from schedlab.models.profiles import (
    Steps,
    Wish,
    daily,
    flat,
    from_schedule,
    from_temperature,
    most_power,
    power_cap,
    profile_of,
)

HOUR, DAY = 3600, 86400  # seconds

MACHINE = Platform([NodeGroup("thin", 3, {"cores": 16}), NodeGroup("gpu", 2, {"cores": 8, "gpus": 2})])
TIMES = st.integers(-200, 200)


def test_a_day_and_night_profile_repeats_over_midnight():
    profile = daily(MACHINE, {"08:00": 0.5, "20:00": 1.0})
    for day in (-1, 0, 5):
        assert [profile.amount("thin", "cores", day * DAY + h * HOUR) for h in (0, 7, 8, 19, 20, 23)] == [
            16, 16, 8, 8, 16, 16
        ]  # fmt: skip
    times, amounts = profile.totals("cores", 19 * HOUR, DAY + 9 * HOUR)
    assert times.tolist() == [19 * HOUR, 20 * HOUR, DAY + 8 * HOUR]
    assert amounts.tolist() == [32.0, 64.0, 32.0]


def test_what_nobody_wishes_is_the_capacity():
    profile = flat(MACHINE, 0.5)
    assert profile.amount("gpu", "gpus", 12345) == 2
    assert profile.amount("thin", "gpus", 12345) == 0
    assert profile.wished == ("cores",)


def test_shares_times_capacities_have_no_rounding_noise():
    machine = Platform([NodeGroup("n", 1, {"cores": 10})])
    assert [flat(machine, k / 10).amount("n", "cores", 0) for k in range(11)] == [float(k) for k in range(11)]


def test_a_wish_of_a_group_replaces_that_of_all_nodes():
    profile = profile_of(MACHINE, [Wish(0, "cores", 0.5), Wish(0, "cores", amount=6, nodes="gpu")], period=DAY)
    assert (profile.amount("thin", "cores", 0), profile.amount("gpu", "cores", 0)) == (8, 6)


def test_without_period_there_is_no_wish_before_and_after():
    profile = profile_of(MACHINE, [Wish(10, "cores", 0.5), Wish(20, "cores", 0.25)], end=30)
    assert [profile.amount("thin", "cores", t) for t in (9, 10, 19, 20, 29, 30, 10**9)] == [16, 8, 8, 4, 4, 16, 16]


def test_power_is_of_the_whole_machine():
    profile = power_cap(MACHINE, 600_000)
    assert profile.totals("power", 5, 10**6)[1].tolist() == [600_000]
    assert flat(MACHINE, 0.5).totals("power", 0, 10)[1].tolist() == [np.inf]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    period=st.integers(5, 60) | st.none(),
    series=st.lists(st.tuples(st.integers(0, 80), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=1, max_size=6),
    begin=TIMES,
    length=st.integers(1, 150),
)
def test_pieces_arrays_and_totals_agree_with_the_amount_of_each_second(period, series, begin, length):
    wishes = {t % period if period else t: share for t, share in series}
    profile = profile_of(MACHINE, [Wish(t, "cores", share) for t, share in wishes.items()], period)
    ordered = sorted(wishes)

    def wished(t):
        t = t % period if period else t
        k = bisect_right(ordered, t) - 1
        return 1.0 if k < 0 and not period else wishes[ordered[k]]

    arrays, end = profile.arrays, begin + length
    for t in range(begin, end):
        assert profile.amount("thin", "cores", t) == 16 * wished(t)
        row, at = len(MACHINE.resources), t % arrays.period if arrays.period else t  # the cores of group gpu
        steps = slice(arrays.first[row], arrays.first[row + 1])
        k = np.searchsorted(arrays.time[steps], at, side="right") - 1
        assert arrays.amount[steps][k] == 8 * wished(t)
    pieces = list(profile.of("thin", "cores").pieces(begin, end))
    assert [a for a, _, _ in pieces] == [begin, *(b for _, b, _ in pieces[:-1])] and pieces[-1][1] == end
    assert all(profile.amount("thin", "cores", t) == amount for a, b, amount in pieces for t in range(a, b))
    assert all(a[2] != b[2] for a, b in pairwise(pieces))
    times, amounts = profile.totals("cores", begin, end)
    for t in range(begin, end):
        assert amounts[np.searchsorted(times, t, side="right") - 1] == 64 * wished(t)


@pytest.mark.parametrize(
    ("wishes", "settings", "words"),
    [
        ([], {}, "at least one wish"),
        ([Wish(0, "cores", -0.1)], {}, "share: expected a share of the capacity, 0 to 1, found -0.1"),
        ([Wish(0, "cores", 1.2)], {}, "0 to 1, found 1.2"),
        ([Wish(0, "cores", float("nan"))], {}, "found nan"),
        ([Wish(0, "cores")], {}, "either a share or an amount, found nothing"),
        ([Wish(0, "cores", 0.5, 3)], {}, "either a share or an amount"),
        ([Wish(0, "cores", amount=9)], {}, "at most 8, which each node of group gpu has, found 9"),
        ([Wish(0, "cores", amount=17, nodes="thin")], {}, "at most 16"),
        ([Wish(0, "licenses", 0.5)], {}, "resource: expected one of cores, gpus, power, found 'licenses'"),
        ([Wish(0, "gpus", 0.5, nodes="thin")], {}, "a resource that the nodes of group thin have"),
        ([Wish(0, "cores", 0.5, nodes="fat")], {}, r"nodes: expected a group \(thin, gpu\) or \*, found 'fat'"),
        ([Wish(0, "power", 0.5)], {}, "watts of the machine as amount"),
        ([Wish(0, "power", amount=5, nodes="gpu")], {}, "as power is of the machine"),
        ([Wish(0.5, "cores", 0.5)], {}, "time_s: expected whole seconds"),
        ([Wish(60, "cores", 0.5)], {"period": 60}, "a time of the period, 0 to 59, found 60"),
        ([Wish(0, "cores", 0.5), Wish(0, "cores", 0.6)], {}, "two wishes for cores"),
        ([Wish(0, "cores", 0.5)], {"period": 0}, "period_s: expected whole seconds above 0"),
        ([Wish(5, "cores", 0.5)], {"end": 5}, "end_s: expected whole seconds after the last time, 5"),
        ([Wish(5, "cores", 0.5)], {"end": 9, "period": 7}, "no end, as the profile has a period"),
    ],
)
def test_wrong_wishes_are_refused_with_their_field(wishes, settings, words):
    with pytest.raises(ProblemError, match=words):
        profile_of(MACHINE, wishes, **settings)


def test_a_profile_by_hand_is_checked():
    with pytest.raises(ProblemError, match="no group 'fat'"):
        DesiredProfile(MACHINE, {("fat", "cores"): Steps.constant(1)})
    with pytest.raises(ProblemError, match="they have 16"):
        DesiredProfile(MACHINE, {("thin", "cores"): Steps.constant(17)})
    with pytest.raises(ProblemError, match="different periods"):
        DesiredProfile(
            MACHINE, {("thin", "cores"): Steps((0, 5), (1, 2), 10), ("gpu", "cores"): Steps((0, 5), (1, 2), 20)}
        )
    with pytest.raises(ProblemError, match="must increase"):
        Steps((0, 5, 5), (1, 2, 3), 10)
    with pytest.raises(ProblemError, match="a number of at least 0 is expected"):
        Steps((0, 5), (1, -2), 10)


def test_a_profile_that_covers_nothing_of_a_replay_is_refused():
    profile = profile_of(MACHINE, [Wish(100, "cores", 0.5)], end=200)
    profile.check_covers(0, 100)
    profile.check_covers(199, 500)
    with pytest.raises(ProblemError, match="begins at 100 s, after the end of the replay at 99 s"):
        profile.check_covers(0, 99)
    with pytest.raises(ProblemError, match="ends at 200 s, before the begin of the replay at 200 s"):
        profile.check_covers(200, 500)
    daily(MACHINE, {"08:00": 0.5}).check_covers(10**9, 10**9 + 5)


@pytest.mark.parametrize("text", ["8", "24:00", "08:60", "noon"])
def test_a_wrong_time_of_the_day_is_refused(text):
    with pytest.raises(sl.WrongValue, match="no time of the day"):
        daily(MACHINE, {text: 0.5})


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 400), min_size=3, max_size=3), st.floats(1.01, 2.0))
def test_the_greatest_power_for_a_pue_is_that_of_a_search_over_all_powers(watts, pue):
    table = Cooling("table", (20,), (0, 300, 700, 1000), ((0, *watts),))
    found = most_power(table, 20, pue)
    grid = [p for p in range(1, 1001) if table.power(p, 20) <= (pue - 1) * p]
    assert table.power(found, 20) <= (pue - 1) * found + 1e-6
    assert found >= max(grid, default=0) - 1e-6 and found < max(grid, default=0) + 1 + 1e-6


def test_a_colder_hour_allows_more_power():
    table = Cooling("chillers", (10, 30), (0, 500, 1000), ((0, 20, 60), (0, 60, 300)))
    profile = from_temperature(MACHINE, table, StepFunction.hourly([10, 30], begin=7200), 1.12)
    assert profile.totals("power", 7200, 14400)[1].tolist() == pytest.approx([1000, 500])
    assert profile.totals("power", 0, 7200)[1].tolist() == [np.inf]
    with pytest.raises(ProblemError, match="target PUE"):
        from_temperature(MACHINE, table, StepFunction.hourly([10]), 1.0)


def _schedule():
    jobs = [
        Job("a", 0, 100, 2, {"cores": 8}, "q"),
        Job.of_chunks("h", 0, 50, [(1, {"cores": 4}), (2, {"cores": 2, "gpus": 1})], "q"),
    ]
    problem = Dispatch(MACHINE, jobs, [Queue("q", 60)])
    nodes = {"a": {"thin-1": 1, "thin-2": 1}, "h": {"thin-1": 1}, "h+1": {"gpu-1": 2}}
    return problem, Schedule({"a": 0, "h": 25}, nodes)


def test_the_profile_of_a_schedule_is_its_use_over_time():
    profile = from_schedule(*_schedule())
    use = {0: 16, 24: 16, 25: 24, 74: 24, 75: 16, 99: 16}
    for t, cores in use.items():
        assert profile.total("cores", t) == pytest.approx(cores)
    assert [profile.total("gpus", t) for t in (0, 25, 75)] == pytest.approx([0, 2, 0])
    assert profile.end == 100 and profile.total("cores", 100) == 64


def test_the_profile_of_a_schedule_in_cells_has_the_same_volume():
    problem, schedule = _schedule()
    exact, cells = from_schedule(problem, schedule), from_schedule(problem, schedule, ["cores"], step=30)
    for begin, end in ((0, 30), (30, 60), (60, 90), (90, 100)):
        mean = sum(exact.total("cores", t) for t in range(begin, end)) / (end - begin)
        assert cells.total("cores", begin) == pytest.approx(mean) == cells.total("cores", end - 1)
    assert cells.total("gpus", 25) == 4  # no wish


def test_the_schedule_of_a_profile_must_be_known():
    problem, _ = _schedule()
    with pytest.raises(ProblemError, match="'x' is no job"):
        from_schedule(problem, Schedule({"x": 0}, {"x": {"thin-1": 1}}))
    with pytest.raises(ProblemError, match="has no nodes"):
        from_schedule(problem, Schedule({"a": 0}))
    with pytest.raises(ProblemError, match="nothing runs"):
        from_schedule(problem, Schedule({}))
