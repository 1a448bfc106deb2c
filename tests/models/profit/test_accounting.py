"""Accounts of profit problems: all of them end at ``horizon_end`` by default, and their parts add up."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import schedlab as sl
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from schedlab import account
from schedlab.models import ProblemError, Profit, Schedule
from schedlab.models.profit import Account, daily, makespan, operation
from small_profits import DAY, cut, half_a_day, tiny

TWO_DAYS = cut(10, until=2 * DAY - 7200)
PROBLEMS = [half_a_day(8), TWO_DAYS, tiny(3), tiny(8)]


@st.composite
def scheduled(draw: st.DrawFn) -> tuple[Profit, Schedule]:
    """A problem with any starts of its jobs; a postponed job starts at ``horizon_end`` or later."""
    p = draw(st.sampled_from(PROBLEMS))
    early = st.integers(p.begin, p.horizon_end)
    postponed = st.integers(p.horizon_end, 2 * p.horizon_end)
    return p, Schedule({j.id: draw(st.one_of(early, postponed)) for j in p.jobs})


def total(parts: list[Account], name: str) -> float:
    return math.fsum(getattr(a, name) for a in parts)


@examples(deadline=None, max_examples=50)
@given(scheduled())
def test_the_account_has_the_profit_of_the_objective(drawn: tuple[Profit, Schedule]) -> None:
    p, s = drawn
    assert sl.account(p, s).profit == p.value(s)
    assert (account(p, s).begin, account(p, s).end) == (p.begin, p.horizon_end)
    assert account(p, s) == account(p, s, p.horizon_end)


@examples(deadline=None, max_examples=50)
@given(scheduled(), st.data())
def test_days_and_segments_add_up_to_the_account(drawn: tuple[Profit, Schedule], data: st.DataObject) -> None:
    p, s = drawn
    end = data.draw(st.one_of(st.none(), st.integers(p.begin, 3 * p.horizon_end)))
    whole, days, ran = account(p, s, end), list(daily(p, s, end)), operation(p, s, end)
    for name in ("core_hours", "gain", "it_kwh", "cooling_kwh", "work_cost", "cooling_cost", "profit"):
        assert total(days, name) == pytest.approx(getattr(whole, name), rel=1e-9, abs=1e-9), name
    assert float(ran.core_seconds.sum()) / 3600 == pytest.approx(whole.core_hours)
    assert sum(x.end - x.begin for x in ran.segments) == whole.end - whole.begin
    assert all(a.end == b.begin for a, b in pairwise(days))
    assert [days[0].begin, days[-1].end] == [whole.begin, whole.end] if days else whole.begin == whole.end


@examples(deadline=None, max_examples=50)
@given(scheduled())
def test_up_to_the_last_end_all_work_is_counted(drawn: tuple[Profit, Schedule]) -> None:
    p, s = drawn
    work = sum(int(c) * int(d) for c, d in zip(p.cores, p.durations, strict=True)) / 3600
    assert account(p, s, max(makespan(p, s), p.begin)).core_hours == pytest.approx(work)


def test_a_postponed_job_earns_nothing() -> None:
    p = half_a_day(8)
    s = Schedule({j.id: p.horizon_end for j in p.jobs})
    assert account(p, s).profit == p.value(s) == 0
    assert account(p, s).pue is None
    assert account(p, s, makespan(p, s)).gain > 0


@pytest.mark.parametrize("function", [account, operation, lambda p, s, end: list(daily(p, s, end))])
def test_an_end_before_the_begin_is_refused(function) -> None:
    p = half_a_day(8)
    s = Schedule({j.id: 0 for j in p.jobs})
    with pytest.raises(ProblemError, match=r"an account cannot end at -5 s, before .* begins \(0 s\)"):
        function(p, s, -5)
