"""Ruin and recreate with the bound of the whole machine: the counts stay exact, and no step changes."""

import numpy as np
import pytest
from schedlab.heuristics.kernels.aggregate import count_all, no_aggregate
from schedlab.heuristics.lns.acceptance import SimulatedAnnealing
from schedlab.heuristics.lns.ruin import OwnSchedule, RuinAndRecreate
from schedlab.heuristics.lns.state import LnsSearch
from schedlab.instances import generators

TURNS = 4


def own_schedule(seed, bound=True):
    """Return the schedule of the operator after some turns that accept worse schedules, too."""
    search = LnsSearch(generators["eurora"](60, seed=seed).problem, seed=seed)
    search.look_around()
    own = OwnSchedule(RuinAndRecreate(acceptance=SimulatedAnnealing(1e-2, 1e-2), restart=1.0), search)
    if not bound:
        own.room = own.room._replace(bound=no_aggregate())
    for _ in range(TURNS):
        own.turn(None)
    return own


def counts(bound, profile):
    """Return the times of a bound, and the counts at the breakpoints of the profile."""
    blocks = bound.order[: bound.blocks[0]]
    times = np.concatenate([bound.time[b, : bound.size[b]] for b in blocks])
    units = np.concatenate([bound.units[b, : bound.size[b]] for b in blocks])
    assert (np.diff(times) > 0).all()
    wanted = np.unique(np.concatenate([profile.time[n, :length] for n, length in enumerate(profile.length)]))
    at = np.searchsorted(times, wanted, side="right") - 1
    least = np.array([units[times >= t].min(axis=0) for t in wanted])
    return wanted, units[at], least, times.size


@pytest.mark.parametrize("seed", [1, 2])
def test_removed_jobs_are_added_to_the_counts(seed):
    own = own_schedule(seed)
    bound, profile = own.room.bound, own.profile
    times, units, least, points = counts(bound, profile)
    count_all(bound, profile)
    exact_times, exact, exact_least, fewest = counts(bound, profile)
    assert times.tolist() == exact_times.tolist()
    assert units.tolist() == exact.tolist()
    assert least.tolist() == exact_least.tolist()  # also at the breakpoints that removed jobs left behind
    assert points > fewest == times.size


@pytest.mark.parametrize("seed", [1, 2])
def test_the_bound_changes_no_step(seed):
    one, other = own_schedule(seed), own_schedule(seed, bound=False)
    assert one.value == other.value
    assert one.places.starts.tolist() == other.places.starts.tolist()
    assert one.places.nodes.tolist() == other.places.nodes.tolist()


def test_the_bound_is_counted_anew_before_it_is_full():
    own = own_schedule(3)
    room = own.room
    assert 0 < room.blocks[0] <= room.bound.order.size - 4 * own.settings.most_jobs
