"""Number of responses, windows of the attempts, calendars."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.simulation.dispatchers.dardis.task_manager import Calendar, attempts, number_of_responses


def most_shared(offered):
    """The greatest number of nodes that offer the same start."""
    return max(sum(s in own for own in offered) for s in set().union(*offered))


@settings(max_examples=100, derandomize=True)
@given(st.integers(1, 12), st.integers(1, 20), st.data())
def test_enough_nodes_agree_on_a_start_whatever_they_offer(nodes, starts, data):
    units = data.draw(st.integers(1, nodes))
    responses = number_of_responses(units, starts, nodes)
    assert responses <= starts
    own = st.sets(st.integers(0, starts - 1), min_size=responses, max_size=responses)
    assert most_shared([data.draw(own) for _ in range(nodes)]) >= units


def test_one_response_less_is_not_enough():
    for nodes in range(1, 9):
        for starts in range(1, 25):
            for units in range(2, nodes + 1):
                fewer = number_of_responses(units, starts, nodes) - 1
                rounds = [{(n * fewer + k) % starts for k in range(fewer)} for n in range(nodes)]
                if fewer:
                    assert most_shared(rounds) < units, (nodes, starts, units)


def test_the_number_of_the_thesis_is_one_too_few_for_thirteen_nodes_and_the_starts_0_to_12():
    window = 12 - 0
    of_the_thesis = (2 - 1) * window // 13 + 1
    assert of_the_thesis == 1 and most_shared([{n} for n in range(13)]) == 1  # all nodes offer different starts
    assert number_of_responses(2, 13, 13) == 2


def listed(*of, **options):
    tries = attempts(*of, **{"calendar": Calendar(), "soft": False, **options})
    return [(a.name, *map(tuple, a.windows.tolist())) for a in tries]


def test_windows_double_from_the_latest_start_on_and_the_last_one_follows_all_jobs():
    assert listed(10, 30, 15, lambda: 500) == [
        ("window", (15, 30)),
        ("later 1", (30, 70)),
        ("later 2", (70, 150)),
        ("later 3", (150, 310)),
        ("last", (500, 520)),
    ]


def test_a_job_that_is_late_already_has_no_first_window_and_no_window_in_the_past():
    assert listed(10, 30, 100, lambda: 0, later=1) == [("later 1", (100, 140)), ("last", (100, 120))]


def test_a_window_of_one_second_is_a_reservation_whose_later_windows_are_not_empty():
    assert listed(10, 10, 10, lambda: 50, later=2)[:3] == [
        ("window", (10, 10)),
        ("later 1", (10, 12)),
        ("later 2", (12, 16)),
    ]


def test_with_a_profile_each_window_is_tried_within_it_first():
    tries = list(attempts(0, 9, 0, lambda: 40, Calendar(), True, later=1))
    assert [(a.name, a.profile, a.every) for a in tries] == [
        ("window", True, False),
        ("window, no profile", False, False),
        ("later 1", True, False),
        ("later 1, no profile", False, False),
        ("last", True, True),
        ("last, no profile", False, True),
    ]


def test_the_last_window_waits_for_the_calendar_and_closed_windows_are_left_out():
    night = Calendar(daily=((64800, 115200),))  # 18:00 to 08:00
    found = listed(36000, 39600, 36000, lambda: 40000, calendar=night, later=0)
    assert found == [("last", (64800, 68400))]
    assert listed(0, 10, 0, lambda: 40, calendar=Calendar(own=((5, 7), (9, 20))), later=0) == [
        ("window", (5, 7), (9, 10))
    ]
    assert listed(50, 60, 50, lambda: 50, calendar=Calendar(own=((5, 7),)), later=0) == []  # closed for ever


@settings(max_examples=40, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), min_size=1, max_size=4),
    st.integers(0, 50),
    st.integers(0, 60),
)
def test_a_calendar_allows_the_seconds_in_its_windows(windows, low, length):
    own = [(a, a + b) for a, b in windows]
    found = Calendar(own=tuple(own)).allowed(low, low + length)
    seconds = [s for a, b in found for s in range(a, b + 1)]
    assert seconds == [s for s in range(low, low + length + 1) if any(a <= s <= b for a, b in own)]
    assert np.array(found).size == 0 or all(a <= b for a, b in found)
