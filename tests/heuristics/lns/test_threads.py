"""Searches in several threads that share their best order."""

import pytest
from schedlab import SchedlabError, lns
from schedlab.heuristics.lns import OrderMoves, RuinAndRecreate
from schedlab.instances import load


@pytest.fixture(scope="module")
def problem():
    return load("eurora_99").problem


def test_the_result_depends_on_the_seed_the_threads_and_the_rounds_only(problem):
    first, again = (lns(problem, rounds=8, seed=3, threads=2) for _ in range(2))
    assert first.schedule == again.schedule and not problem.verify(first.schedule)
    assert first.objective == problem.value(first.schedule)
    alone = lns(problem, rounds=8, seed=3, threads=1)
    assert alone.schedule == lns(problem, rounds=8, seed=3).schedule
    assert first.objective <= alone.objective  # the first search makes the same first epoch
    turns = first.details["operators"]
    assert sum(gain.turns for gain in turns.values()) == 2 * 8


def test_all_go_on_from_the_best_order(problem):
    """One search finds most; after the exchange no search has a worse order than the best one had."""
    values = []

    class Watching(OrderMoves):
        def start(self, search):
            turn = super().start(search)

            def watched(seconds):
                values.append((len(search.histories[0].turns), search.orders[0].value, search.best_value))
                turn(seconds)

            return watched

    lns(problem, rounds=12, seed=1, threads=3, operators=[Watching(moves=20)])
    for epoch in (4, 8):
        before = min(order for turns, order, _ in values if turns < epoch)
        assert all(order <= before and best <= before for turns, order, best in values if turns >= epoch)


def test_incumbents_of_all_threads_improve_and_the_callback_ends_them_all(problem):
    seen = []

    def until_four(news):
        seen.append(news.objective)
        return len(seen) < 4

    found = lns(problem, rounds=400, seed=2, threads=2, on_incumbent=until_four)
    assert seen == sorted(seen, reverse=True) and len(seen) == 4
    assert found.objective == pytest.approx(seen[-1])


class Broken(SchedlabError):
    """An error of an operator."""


class Breaks(RuinAndRecreate):
    """Fails in the third turn of each search."""

    def start(self, search):
        turns = []

        def turn(seconds):
            turns.append(seconds)
            if len(turns) == 3:
                raise Broken

        return turn


def test_an_error_in_any_thread_reaches_the_caller(problem):
    with pytest.raises(Broken):
        lns(problem, rounds=10, seed=2, threads=3, operators=[Breaks()])


def test_the_time_limit_ends_all(problem):
    found = lns(problem, time_limit=0.5, seed=2, threads=2)
    assert found.status == "feasible" and not problem.verify(found.schedule)
