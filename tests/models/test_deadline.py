"""The deadline of a call, and the limits that have one."""

import time

import pytest
from schedlab.backends import Limits
from schedlab.models import Deadline


def test_a_deadline_counts_from_its_begin():
    late = Deadline(5, began=time.perf_counter() - 6)
    assert late.passed and late.remaining == 0.0 and late.at_most(3) == 0.0 and late.elapsed >= 6
    early = Deadline(1000)
    assert not early.passed and 900 < early.remaining <= 1000 and early.at_most(3) == 3
    assert early.end == early.began + 1000


def test_without_a_limit_nothing_ends():
    free = Deadline(None, began=0.0)
    assert (free.passed, free.remaining, free.end) == (False, None, None)
    assert free.at_most(7.5) == 7.5 and free.share(0.5) == free.earlier(3) == free


def test_parts_have_the_same_begin():
    whole = Deadline(100, began=20.0)
    assert whole.share(0.25) == Deadline(25, 20.0) and whole.earlier(30) == Deadline(70, 20.0)
    end = time.perf_counter() + 100
    assert Deadline.until(end).end == pytest.approx(end, abs=1e-6)
    assert Deadline.until(None).remaining is None


def test_limits_begin_when_they_are_used():
    """One object of limits serves several calls; each of them begins anew."""
    limits = Limits(5.0, threads=2)
    time.sleep(0.01)
    now = time.perf_counter()
    assert limits.deadline.began >= now
    begun = limits.begun()
    assert begun.begun() is begun and begun == limits
    part = begun.lasting(2.0)
    assert (part.time, part.threads) == (2.0, 2) and part.began > begun.began and limits.began is None
