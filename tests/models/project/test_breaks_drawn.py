"""The breaks of resources in the Gantt chart of a project."""

import pytest
import schedlab as sl
from schedlab.models.gantt import Closed, draw, gantt_of_schedule

BOOTH = sl.Resource("booth", 1, breaks=((6, 8), (8, 9), (15, 16)), suspends=True)
CREW = sl.Resource("crew", 3, breaks=((3, 5), (30, 40)))
PAINT = sl.Resource("paint", 9, renewable=False)
TASKS = [sl.Task.single("door", 6, {"booth": 1, "paint": 2}), sl.Task.single("hang", 3, {"crew": 2})]
PROBLEM = sl.Project(TASKS, [PAINT, BOOTH, CREW])
SCHEDULE = sl.models.Schedule({"door": 4, "hang": 0}, {})


def test_each_break_within_the_chart_is_closed_in_the_row_of_its_resource():
    assert PROBLEM.verify(SCHEDULE) == []
    chart = gantt_of_schedule(PROBLEM, SCHEDULE)
    assert [row.label for row in chart.rows] == ["booth (1)", "crew (3)"]
    assert chart.period == (0, 13)
    assert chart.closed == (Closed(6, 9, "break", 0), Closed(3, 5, "break", 1))


def test_they_are_drawn_in_their_rows_and_explained():
    pytest.importorskip("matplotlib").use("Agg")
    ax = draw(gantt_of_schedule(PROBLEM, SCHEDULE))
    hatched = [artist for artist in ax.patches if artist.get_hatch()]
    assert len(hatched) == 1  # one artist for all breaks
    spans = {tuple(sorted(set(ring[:, 0]))) for ring in (hatched[0].get_path().vertices[k : k + 5] for k in (0, 5))}
    assert spans == {(6, 9), (3, 5)}
    heights = [ring[:, 1].max() for ring in (hatched[0].get_path().vertices[k : k + 5] for k in (0, 5))]
    assert heights[0] <= 1 < heights[1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["break"]


def test_without_breaks_nothing_is_closed():
    plain = sl.Project(TASKS, [PAINT, sl.Resource("booth", 1), sl.Resource("crew", 3)])
    assert gantt_of_schedule(plain, SCHEDULE).closed == ()
