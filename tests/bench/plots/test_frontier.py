"""The frontier of two figures of dispatchers."""

from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.bench.pages import FrontierPoint
from schedlab.bench.pages.panels import frontier

values = st.integers(1, 6)
points = st.lists(st.tuples(values, values), min_size=1, max_size=12).map(
    lambda pairs: [FrontierPoint(f"p{k}", x, y) for k, (x, y) in enumerate(pairs)]
)


def beats(a, b):
    return a.x <= b.x and a.y <= b.y and (a.x, a.y) != (b.x, b.y)


@settings(derandomize=True, deadline=None)
@given(points)
def test_the_frontier_has_the_points_that_no_other_one_beats(given_points):
    expected = [p for p in given_points if not any(beats(q, p) for q in given_points)]
    assert sorted(frontier(given_points)) == sorted(expected)


def test_a_family_is_the_dispatcher_without_order_and_options():
    names = ["easy", "easy:wt", "plan:weighted:guard=2", "plan:weighted:guard=2@lns:rounds=50", "hcp3@cpsat"]
    assert [FrontierPoint(name, 1, 1).family for name in names] == ["easy", "easy", "plan", "plan@lns", "hcp3@cpsat"]
