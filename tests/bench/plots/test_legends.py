"""Legends of panels: inside with few entries, beside the panel with many."""

import pytest
from schedlab.bench.pages import add_legend, draw_histogram
from schedlab.bench.pages.panels import FEW

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
