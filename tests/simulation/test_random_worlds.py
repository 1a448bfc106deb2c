"""Replays of random worlds with two or three features under all dispatchers; ``tests/known/random_worlds.py`` has 2,000 worlds."""

import pytest
from simulation.random_worlds import FEATURES, check, draw_of, excluded, names

FOUND = [  # seeds with which faults were found
    (4, "hcp3@cpsat"),  # a node that a third party's feature closes
    (30, "hcp3@cpsat"),  # a job without requests, while nodes boot
    (113, "easy"),  # an on-demand job that gets no node in time, as a third party's feature closes one
    (318, "easy"),  # a node that is repaired during an outage stays down
    (1038, "dardis:throughput"),
    (1052, "dardis:throughput"),
    (5075, "easy"),  # reservations that were over before the begin
    (5220, "dardis:profile"),  # an on-demand job that goes on on another node
    (5458, "easy"),  # the energy of a replay in which no time passes
    (6138, "hybrid:50"),  # calls every hour for a job whose windows have closed, in a queue that opens every day
    (6356, "easy"),  # a node that failed before the begin
    (7048, "hybrid:50"),  # calls every hour after the last of some jobs that wait for others
    (7538, "cpmodel-profile@cpsat"),  # a job without requests on a node of which more is in use than desired
    (7990, "easy"),  # a job that ran at the begin and ends for a reservation
]
POLICIES = [name for name in names() if "@cpsat" not in name]


def test_a_draw_is_the_same_for_the_same_seed_and_all_features_are_drawn():
    first, again = draw_of(7), draw_of(7)
    assert (first.features, first.world, str(first.options)) == (again.features, again.world, str(again.options))
    assert {name for seed in range(200) for name in draw_of(seed).features} == set(FEATURES)


@pytest.mark.parametrize(("seed", "name"), FOUND)
def test_what_was_mended_stays_so(seed, name):
    assert check(draw_of(seed), name) == []


@pytest.mark.parametrize("part", range(4))
def test_replays_have_no_fault(part):
    """Each world under one policy or DARDIS, in turns."""
    for seed in range(part, 100, 4):
        name, draw = POLICIES[seed % len(POLICIES)], draw_of(seed)
        if not excluded(name, draw):
            assert check(draw, name) == [], f"python -m simulation.random_worlds --first {seed} --count 1 --only {name}"
