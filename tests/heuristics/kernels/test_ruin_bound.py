"""Ruin and recreate with the bound of the whole machine: the counts stay exact, and no step changes."""

import numpy as np
import pytest
from schedlab import load
from schedlab.heuristics.kernels import no_aggregate, objective, profit
from schedlab.heuristics.kernels.aggregate import count_all
from schedlab.heuristics.lns import AroundTime, LnsSearch, RuinAndRecreate, SimulatedAnnealing, Threshold
from schedlab.heuristics.lns.search import OwnSchedule
from schedlab.instances import generators
from schedlab.models import POSTPONED

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


def test_counts_after_steps_are_those_of_the_nodes():
    own = own_schedule(2)
    bound, profile = own.room.bound, own.profile
    count_all(bound, profile)
    levels = bound.level.size
    for b in bound.order[: bound.blocks[0]].tolist():
        for i in range(bound.size[b]):
            counts = np.zeros(bound.groups * levels, np.int64)
            for n, g in enumerate(bound.group.tolist()):
                times = profile.time[n, : profile.length[n]]
                free = profile.free[n, np.searchsorted(times, bound.time[b, i], side="right") - 1]
                for r in range(free.size):
                    at = slice(bound.first_level[r], bound.first_level[r + 1])
                    counts[g * levels : (g + 1) * levels][at] += np.maximum(0, free[r]) // bound.level[at]
            assert counts.tolist() == bound.units[b, i].tolist()
        part = bound.units[b, : bound.size[b]]
        assert part.min(axis=0).tolist() == bound.least[b].tolist()
        assert part.max(axis=0).tolist() == bound.most[b].tolist()


def profit_steps(destroy):
    """Return the operator's own schedule of a profit problem, and the jobs that moved in one batch of steps."""
    search = LnsSearch(load("profit_small").problem, seed=1)
    search.look_around()
    own = OwnSchedule(RuinAndRecreate([destroy], acceptance=SimulatedAnnealing(1e-3, 1e-3), restart=1.0), search)
    own.begin()
    before = own.places.starts.copy()
    own.make(own.draw(300))
    return own, np.flatnonzero(before != own.places.starts)


@pytest.mark.parametrize("reach", [0.0, 0.5, np.inf])
def test_the_profit_is_exact_after_steps_that_were_given_up(reach):
    own, moved = profit_steps(AroundTime(jobs=(2, 10), waiting=(1, 4), candidates=3, reach=reach))
    a = own.search.arrays
    exact = float(objective(a.costs, a.jobs, own.places.starts))
    assert moved.size
    assert abs(own.value - exact) <= 1e-9 * abs(exact)
    joules = np.zeros(own.places.joules.size)
    profit(a.costs.ledger, a.jobs.duration, own.places.starts, joules)
    assert np.allclose(joules, own.places.joules, rtol=1e-9, atol=1e-3)


def test_jobs_are_inserted_within_the_reach():
    search = LnsSearch(load("profit_small").problem, seed=1)
    search.look_around()
    anything = Threshold(1e9)
    own = OwnSchedule(RuinAndRecreate([AroundTime(reach=0.0)], acceptance=anything, restart=1e9), search)
    own.begin()
    steps, known, seen = own.draw(60), own._known(), 0
    for d in range(60):
        before, duration = own.places.starts.copy(), search.arrays.jobs.duration
        alone = own._alone(steps, d, own.repair[0], known)._replace(rows=steps.rows)
        jobs = alone.given[before[alone.given] != POSTPONED]
        if jobs.size == 0:
            continue
        own._run(alone._replace(destroy=np.zeros(1, np.int64), repair=np.zeros(1, np.int64)), known)
        known = own._known()
        moved = own.places.starts[(before != own.places.starts) & (own.places.starts != POSTPONED)]
        assert (moved >= before[jobs].min()).all() and (moved <= (before + duration)[jobs].max()).all()
        seen += moved.size
    assert seen
