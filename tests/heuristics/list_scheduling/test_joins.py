"""Joins of orders: the profit of each segment, the estimate of a join, and its order."""

import numpy as np
from schedlab import load
from schedlab.heuristics import Joins, ListScheduler
from schedlab.heuristics.kernels import profit, profits
from schedlab.heuristics.list_scheduling import Tried, joined
from schedlab.heuristics.lns import LnsSearch


def test_the_profits_of_the_segments_sum_up_to_the_profit():
    for scenario in ("air,summer,cheap", "hybrid,winter,expensive"):
        scheduler = ListScheduler(load("profit_medium").scenario(scenario))
        book, duration = scheduler.arrays.costs.ledger, scheduler.arrays.jobs.duration
        for name in ("est", "-area", "power"):
            starts, _ = scheduler.place(scheduler.order(name))
            joules, found = (np.zeros(book.euro_per_joule.size) for _ in range(2))
            profits(book, duration, starts, joules, found)
            whole = profit(book, duration, starts, joules)
            assert abs(found.sum() + book.running_euro - whole) <= 1e-9 * abs(whole)


def test_a_join_has_the_first_order_until_the_time_and_then_the_second_one():
    first = Tried(np.array([3.0, 1.0, 2.0, 0.0]), np.array([50, 0, 90, 10]))
    second = Tried(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 50, 90, -1]))
    assert np.argsort(joined(first, second, 60)).tolist() == [3, 1, 0, 2]  # job 2 starts at 90 in the first order
    assert np.argsort(joined(first, second, 0)).tolist() == [0, 1, 2, 3]
    assert np.argsort(joined(first, second, 100)).tolist() == [0, 1, 2, 3]  # all are early: nothing is left to join


def test_each_join_is_named_once_and_promises_more_than_the_orders():
    search = LnsSearch(load("profit_medium").scenario("air,summer,cheap"))
    joins, best = Joins(search.arrays), np.inf
    assert joins.best() is None
    for keys in search.features.presets(profits=True)[:6]:
        order = search.place(keys)
        joins.add(keys, order.answer.starts)
        joins.add(keys, order.answer.starts)  # the same schedule is no other order
        best = min(best, order.value)
    assert 2 <= len(joins.orders) <= 6
    seen = []
    while (keys := joins.best()) is not None and len(seen) < 20:
        seen.append(keys.tobytes())
        best = min(best, search.place(keys).value)
    assert seen and len(set(seen)) == len(seen)
    assert (
        best < -joins.earned[:, -1].max() - search.arrays.costs.ledger.running_euro
    )  # a join is better than each order


def test_the_first_orders_are_the_same_in_threads():
    found = []
    for threads in (1, 2):
        search = LnsSearch(load("profit_small").problem, seed=1)
        search.threads = threads
        orders = search.place_all(search.features.presets(profits=True)[:3])
        found.append([(order.value, order.answer.order.tolist()) for order in orders])
    assert found[0] == found[1]
