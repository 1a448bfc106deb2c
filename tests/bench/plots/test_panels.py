"""Panels of pictures: legends, the frontier of two figures of dispatchers, and the size of the charts of a replay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from schedlab.bench.pages import Frame, FrontierPoint, add_legend, draw_histogram
from schedlab.bench.pages.panels import FEW, MOST_JOBS, chart, frontier
from schedlab.models import NodeGroup, Platform
from schedlab.simulation import JobsTable, Kind, NodeRanges

# The size of the charts of a replay: twelve replays of a machine of 65 nodes fit on a page of 1.5 MB with their tables.

DAY = 86_400
NODES = 65
MACHINE = Platform([NodeGroup("n", NODES, {"cores": 16, "gpus": 2, "memory": 16_384})])
KINDS = tuple(Kind(request={"cores": c, "gpus": c % 3, "memory": 1000 * c}) for c in range(1, 9))
LETTERS_PER_JOB, LETTERS_PER_CURVE, LETTERS_OF_AXES = 17, 6000, 12_000


def size(count: int) -> int:
    """Return the letters of the charts of jobs of one node each over ten days."""
    rng = default_rng(count)
    submit = np.sort(rng.integers(0, 9 * DAY, count))
    start = submit + rng.integers(0, 20_000, count)
    end, node = start + rng.integers(60, 40_000, count), rng.integers(0, NODES, count)
    none, one = np.zeros(count, np.int64), np.ones(count, np.int64)
    place = NodeRanges(np.arange(count + 1), node, node, one)
    names = [f"j{k}" for k in range(count)]
    jobs = JobsTable(names, submit, start, end, none - 1, one, none > 0, place, rng.integers(0, 8, count), KINDS)
    made = chart(Frame(MACHINE, 0, 10 * DAY, 40), jobs, none, ["#4c78a8"], "replay")
    assert "<image" not in made.svg
    return len(made.svg)


def test_axes_and_texts_of_a_replay_take_12_kb() -> None:
    assert size(1) < LETTERS_OF_AXES


def test_each_job_takes_17_letters_beside_the_four_curves() -> None:
    assert size(MOST_JOBS) < LETTERS_OF_AXES + 4 * LETTERS_PER_CURVE + MOST_JOBS * LETTERS_PER_JOB


# The frontier of two figures of dispatchers.

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


figures = pytest.importorskip("matplotlib.figure")


def panel(curves, height=2.7, down=1):
    figure = figures.Figure(figsize=(5.8, height * down), layout="constrained")
    ax = figure.subplots(down, squeeze=False)[0, 0]
    for k in range(curves):
        ax.plot([0, 1], [0, k], label=f"plan:weighted:guard={k}@lns")
    add_legend(ax)
    figure.draw_without_rendering()
    return figure, ax


def test_a_few_entries_are_inside():
    _, ax = panel(FEW)
    box = ax.get_legend().get_window_extent()
    assert ax.get_window_extent().containsx(box.x0) and ax.get_window_extent().containsx(box.x1)


@pytest.mark.parametrize(
    ("curves", "height", "down"), [(FEW + 1, 1.9, 1), (12, 1.9, 2), (21, 2.3, 1), (23, 2.7, 1), (30, 2.7, 1)]
)
def test_many_entries_cover_no_data_and_are_on_the_picture(curves, height, down):
    figure, ax = panel(curves, height, down)
    axes, box = ax.get_window_extent(), ax.get_legend().get_window_extent()
    assert box.x0 >= axes.x1 - 1
    assert box.x1 <= figure.bbox.x1 + 1 and box.y0 >= -1 and box.y1 <= figure.bbox.y1 + 1
    assert axes.width > 0.3 * figure.bbox.width


def test_without_entries_there_is_no_legend():
    assert panel(0)[1].get_legend() is None


def test_bars_of_equal_colour_differ_in_their_hatch():
    ax = figures.Figure().subplots()
    draw_histogram(ax, {f"d{k}": {"0": 1.0, "above 10": 2.0} for k in range(12)}, "wait")
    looks = {(bars[0].get_facecolor(), bars[0].get_hatch()) for bars in ax.containers}
    assert len(looks) == 12
