"""Replays on random sites under all dispatchers, checked second by second; ``tests/known/random_sites.py`` has 1,500 sites."""

import pytest
from simulation.random_sites import check, draw, names

POLICIES = [name for name in names() if "@cpsat" not in name]


def test_all_rules_are_drawn_and_a_seed_gives_the_same_site():
    drawn = [draw(seed) for seed in range(400)]
    assert draw(7).site == draw(7).site and draw(7).jobs == draw(7).jobs
    jobs = [job for d in drawn for job in d.jobs]
    for field in ("features", "nodes", "per_node", "whole_nodes", "licences"):
        assert any(getattr(job, field) for job in jobs), field
    assert any(job.asked.reservation for job in jobs) and any(len(d.reservations) > 1 for d in drawn)
    assert any(not is_for(job) for d in drawn for job in d.jobs for *_, held, is_for in d.limits if held(job))
    assert {len(d.limits) > 0 for d in drawn} == {len(d.partitions) > 1 for d in drawn} == {True, False}


@pytest.mark.parametrize("part", range(4))
def test_replays_have_no_fault(part):
    """Each site under one policy, in turns."""
    for seed in range(part, 60, 4):
        name = POLICIES[seed % len(POLICIES)]
        assert check(seed, name) == [], f"python -m simulation.random_sites --first {seed} --count 1 --only {name}"


@pytest.mark.parametrize("name", ["hcp3@cpsat", "pcp3@cpsat", "cpmodel@cpsat"])
def test_models_place_jobs_where_they_may_run(name):
    for seed in range(6):
        assert check(seed, name) == [], f"python -m simulation.random_sites --first {seed} --count 1 --only {name}"


FOUND = (  # sites that had a fault
    (184, "pcp2-profile@cpsat"),  # idle for ever, as later starts were as good
    (292, "dardis:exponential/min-start"),  # a start that a limit held was made by an older plan
    (366, "slurm"),  # a job with whole nodes that a limit never lets start
    (457, "dardis:throughput"),
)


@pytest.mark.parametrize(("seed", "name"), FOUND)
def test_sites_that_had_a_fault(seed, name):
    assert check(seed, name) == []
