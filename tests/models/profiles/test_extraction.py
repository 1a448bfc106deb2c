"""The profile extraction [Bridi2018, algorithm 8]: hand-computed hours, a naive recomputation, and which nodes stay on."""

import math

import pytest
import schedlab as sl
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from schedlab.models import ProblemError, StepFunction
from schedlab.models.profiles import extracted, flat, joined, nodes_on, use_of

HOUR, DAY = 3600, 86400
MACHINE = sl.Platform([sl.NodeGroup("n", 9, {"cores": 8}), sl.NodeGroup("fat", 2, {"cores": 32})])
CORES = 136


def shares(use: StepFunction, now: int, offset: float, hours: int = 24) -> list[float]:
    profile = extracted(MACHINE, use, now, offset, hours)
    return [profile.total("cores", now + HOUR * h) / CORES for h in range(hours)]


def test_the_example_of_a_use_of_60_percent() -> None:
    use = StepFunction.constant(0.6, 0, 2 * DAY)
    assert shares(use, DAY, 0.7) == pytest.approx([0.88] * 24)
    assert shares(use, DAY, 0.5) == pytest.approx([0.80] * 24)
    assert shares(use, DAY, 1.0) == pytest.approx([1.0] * 24)
    assert shares(use, DAY, 0.0) == pytest.approx([0.60] * 24)


def test_after_a_full_day_the_profile_is_full_whatever_is_planned() -> None:
    use = StepFunction([0, DAY], [0.85, 0.0], 2 * DAY)
    assert shares(use, DAY, 0.7) == [1.0] * 24
    at_the_threshold = StepFunction([0, DAY], [0.84, 0.0], 2 * DAY)
    assert shares(at_the_threshold, DAY, 0.5)[0] == pytest.approx(0.92)  # 84 % is not above 84 %


def test_the_window_of_24_hours_moves_from_the_real_use_to_the_plan() -> None:
    """Yesterday 48 %, the plan 100 %: after h hours the mean is 0.48 + 0.52 h / 24, above 84 % from hour 17 on."""
    found = shares(StepFunction([0, DAY], [0.48, 1.0], 2 * DAY), DAY, 0.5)
    means = [0.48 + 0.52 * h / 24 for h in range(24)]
    assert found == pytest.approx([m + (1 - m) / 2 if h < 17 else 1.0 for h, m in enumerate(means)])
    assert means[16] < 0.84 < means[17]


@examples(deadline=None, max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=48, max_size=48), st.floats(0, 1), st.integers(1, 24))
def test_profiles_are_those_of_a_recomputation_by_hours(values: list[float], offset: float, hours: int) -> None:
    found = shares(StepFunction.hourly(values), DAY, offset, hours)
    means = [math.fsum(values[h : h + 24]) / 24 for h in range(hours)]
    if any(abs(m - 0.84) < 1e-9 for m in means):
        return  # either side of the threshold is right
    expected = [1.0 if means[0] > 0.84 or m > 0.84 else m + (1 - m) * offset for m in means]
    assert found == pytest.approx(expected, abs=1e-7)  # amounts of a profile have nine digits


def test_the_use_of_a_schedule_with_running_jobs() -> None:
    jobs = [sl.Job("a", 0, 100, 2, {"cores": 8}, "q"), sl.Job("b", 0, 50, 1, {"cores": 4}, "q")]
    held = sl.Running(sl.Job("r", 0, 99, 1, {"cores": 32}, "q"), 0, {"fat-1": 1}, 60)
    problem = sl.Dispatch(MACHINE, jobs, [sl.Queue("q", 60)], now=20, running=[held])
    schedule = sl.Schedule({"a": 30, "b": 40}, {"a": {"n-1": 1, "n-2": 1}, "b": {"n-3": 1}})
    assert problem.verify(schedule) == []
    use = use_of(problem, schedule)
    assert (use.begin, use.end) == (20, 130)
    assert [use.at(t) * CORES for t in (20, 30, 40, 60, 90, 129)] == pytest.approx([32, 48, 52, 20, 16, 16])
    whole = joined(StepFunction.constant(0.5, 0, 25), use, end=200)
    assert [whole.at(t) * CORES for t in (0, 19, 20, 129, 130, 199)] == pytest.approx([68, 68, 32, 16, 0, 0])
    with pytest.raises(ProblemError, match="known up to 10 s and planned from 20 s on: there is a gap"):
        joined(StepFunction.constant(0.5, 0, 10), use)


def test_nodes_in_use_stay_on_and_the_latest_end_comes_first() -> None:
    half = flat(MACHINE, 0.5)
    assert nodes_on(half, 0, {}) == ("n-1", "n-2", "n-3", "n-4", "n-5", "fat-1")
    assert nodes_on(half, 0, {"n-9": 50, "n-7": 90, "fat-2": 10}) == ("n-7", "n-9", "n-1", "n-2", "n-3", "fat-2")
    assert nodes_on(half, 60, {"n-9": 50, "n-7": 90})[:2] == ("n-7", "n-1")  # n-9 has ended
    busy = {f"n-{k}": 100 + k for k in range(1, 9)}
    assert nodes_on(half, 0, busy) == (*(f"n-{k}" for k in range(8, 0, -1)), "fat-1")
    many = sl.Platform([sl.NodeGroup("n", 300, {"cores": 32})])
    assert len(nodes_on(flat(many, 0.88), 0, {})) == 264
    with pytest.raises(ProblemError, match="no node 'x'"):
        nodes_on(half, 0, {"x": 1})


@pytest.mark.parametrize(
    ("use", "options", "message"),
    [
        (StepFunction.constant(0.5, 1, 2 * DAY), {}, "needs the use from 0 s to 169200 s; it is known from 1 s"),
        (StepFunction.constant(0.5, 0, 2 * DAY - HOUR - 1), {}, "it is known from 0 s to 169199 s"),
        (StepFunction.constant(0.5, 0, 2 * DAY), {"offset": 70}, "offset is 70; a share from 0 to 1 is expected"),
        (StepFunction.constant(0.5, 0, 2 * DAY), {"hours": 0}, "hours is 0; at least 1"),
    ],
)
def test_what_does_not_cover_the_day_is_refused(use: StepFunction, options: dict[str, float], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        extracted(MACHINE, use, DAY, **{"offset": 0.7, **options})
