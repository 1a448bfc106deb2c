"""The free amount over time in blocks, against an amount for each second; bounds from reservations looked at before."""

import numpy as np
import pytest
from schedlab.heuristics.kernels.events import bound, new_bounds, note_freed, remember
from schedlab.heuristics.kernels.events import counted_free as blocks
from schedlab.models.compiled import compiled


@compiled
def _free(free, begin, end, amount, now, asked, duration, found):
    blocks.set_free(free, 0, 40)
    for k in range(begin.size):
        blocks.drop_past(free, now[k])
        blocks.add(free, begin[k], end[k], amount[k])
        found[k, 0] = blocks.earliest_with_room(free, asked[k], duration[k])
        found[k, 1] = blocks.earlier(free, asked[k], duration[k], end[k], begin[k])
        found[k, 2] = blocks.least_free(free, begin[k], end[k])
        found[k, 3] = blocks.begin_before(free, asked[k], end[k])
        found[k, 4] = free.blocks[0]


@compiled
def _bounds(bounds, found):
    remember(bounds, 2, 10, 100)
    found[0] = bound(bounds, 2, 10, 7)
    found[1] = bound(bounds, 1, 60, 7)
    found[2] = bound(bounds, 4, 9, 7)
    note_freed(bounds, 300)
    note_freed(bounds, 40)
    note_freed(bounds, 60)
    remember(bounds, 3, 10, 50)
    found[3] = bound(bounds, 2, 20, 7)
    found[4] = bound(bounds, 3, 10, 7)
    for k in range(200):
        remember(bounds, 3, 50, 500 - k)
    found[5] = bound(bounds, 3, 49, 7)
    found[6] = bound(bounds, 3, 50, 7)


def first_time(free, amount, duration):
    """The earliest time with the amount free for the duration or to the end; None if there is none."""
    began = None
    for t, there in enumerate(free):
        if there < amount:
            began = None
            continue
        began = t if began is None else began
        if t + 1 - began >= duration:
            return began
    return began


@pytest.mark.parametrize("span", [60, 3000])
def test_the_free_amount_is_that_of_each_second(span):
    rng = np.random.default_rng(span)
    steps = 900
    begin, now = rng.integers(0, span, steps), np.sort(rng.integers(0, span // 2, steps))
    begin = np.maximum(begin, now)
    end = begin + rng.integers(1, span // 3, steps)
    amount = rng.integers(-6, 6, steps)
    asked, duration = rng.integers(0, 60, steps), rng.integers(1, span // 2, steps)
    found = np.zeros((steps, 5), np.int64)
    _free(blocks.new_free(2 * steps), begin, end, amount, now, asked, duration, found)
    free = np.full(2 * span, 40)
    for k in range(steps):
        free[begin[k] : end[k]] += amount[k]
        here = free[now[k] :]
        one, other = first_time(here, asked[k], duration[k]), first_time(free[begin[k] : end[k]], asked[k], duration[k])
        assert found[k, 0] == (-1 if one is None else one + now[k])
        assert found[k, 1] == (end[k] if other is None else other + begin[k])
        assert found[k, 2] == free[begin[k] : end[k]].min()
        assert found[k, 3] == now[k] + 1 + max(np.flatnonzero(here[: end[k] - now[k]] < asked[k]), default=-1)
    assert found[:, 4].max() > (10 if span > 1000 else 1)


def test_bounds_are_those_of_smaller_and_shorter_jobs_up_to_the_first_freed_time():
    found = np.zeros(7, np.int64)
    _bounds(new_bounds(), found)
    assert found[:6].tolist() == [100, 7, 7, 40, 50, 7]
    assert found[6] == 500 - 200 + 32  # of the jobs that are still stored
