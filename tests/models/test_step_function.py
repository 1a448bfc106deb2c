"""Step functions: values, pieces, extension, and the messages for wrong ones."""

import pytest
from schedlab.models import ProblemError, StepFunction

HOUR, DAY = 3600, 86400  # seconds


def test_a_value_holds_until_the_next_time() -> None:
    s = StepFunction([0, 100, 250], [5.0, 7.0, 6.0], 300)
    assert [s.at(t) for t in (0, 99, 100, 249, 250, 299)] == [5, 5, 7, 7, 6, 6]
    assert (s.begin, s.end) == (0, 300)


def test_hourly_and_constant_step_functions() -> None:
    assert StepFunction.hourly([1, 2], begin=HOUR) == StepFunction([HOUR, 2 * HOUR], [1, 2], 3 * HOUR)
    assert StepFunction.constant(4, 10, 20).at(19) == 4


def test_the_pieces_of_a_span_cover_it() -> None:
    s = StepFunction([0, 100, 250], [5, 7, 6], 300)
    assert list(s.pieces(50, 260)) == [(50, 100, 5), (100, 250, 7), (250, 260, 6)]
    assert list(s.pieces(120, 130)) == [(120, 130, 7)]
    assert list(s.pieces(0, 300)) == [(0, 100, 5), (100, 250, 7), (250, 300, 6)]
    assert list(s.pieces(100, 100)) == []


@pytest.mark.parametrize(("begin", "end"), [(-1, 10), (10, 301), (400, 500)])
def test_pieces_outside_of_a_step_function(begin: int, end: int) -> None:
    with pytest.raises(ProblemError, match="defined from 0 s to 300 s"):
        list(StepFunction([0], [5], 300).pieces(begin, end))


@pytest.mark.parametrize("t", [-1, 300])
def test_a_moment_outside_of_a_step_function(t: int) -> None:
    with pytest.raises(ProblemError, match=f"{t} s is outside of it"):
        StepFunction([0], [5], 300).at(t)


def test_a_step_function_lasts_longer_by_repeating_its_last_day() -> None:
    two_days = StepFunction.hourly([*[1.0] * 24, *range(24)])
    longer = two_days.lasting(4 * DAY - 30)
    assert [longer.at(t) for t in (2 * DAY, 2 * DAY + 5 * HOUR, 3 * DAY + 23 * HOUR)] == [0, 5, 23]
    assert longer.end == 4 * DAY - 30
    assert two_days.lasting(DAY) is two_days


def test_a_step_function_of_less_than_a_day_is_repeated_whole() -> None:
    longer = StepFunction([7, 10], [1, 2], 20).lasting(60)
    assert list(longer.pieces(7, 60)) == [
        (7, 10, 1), (10, 20, 2), (20, 23, 1), (23, 33, 2), (33, 36, 1), (36, 46, 2), (46, 49, 1), (49, 59, 2), (59, 60, 1),
    ]  # fmt: skip


def test_the_last_day_may_begin_within_a_value() -> None:
    s = StepFunction([0, 2 * DAY], [3, 4], 2 * DAY + HOUR).lasting(3 * DAY + 2 * HOUR)
    assert [s.at(t) for t in (2 * DAY, 2 * DAY + HOUR, 3 * DAY, 3 * DAY + HOUR)] == [4, 3, 4, 3]


@pytest.mark.parametrize(
    ("times", "values", "end", "message"),
    [
        ([], [], 0, "0 times and 0 values"),
        ([0, 1], [5], 2, "2 times and 1 value"),
        ([0, 5, 5], [1, 2, 3], 9, "must increase, but 5 s follows 5 s"),
        ([0, 5], [1, 2], 5, "must increase, but 5 s follows 5 s"),
        ([0], [float("nan")], 1, "nan at 0 s"),
        ([0], [float("inf")], 1, "inf at 0 s"),
    ],
)
def test_what_is_no_step_function(times: list[int], values: list[float], end: int, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        StepFunction(times, values, end)
