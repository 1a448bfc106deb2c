"""The Gantt chart of a project: breaks, resources that are kept, tasks that last no time."""

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


# --- Tasks that keep a resource after their ends, and tasks that last no time.

SAW, OVEN = sl.Resource("saw", 1), sl.Resource("oven", 1)
TWO = sl.Project(
    [
        sl.Task.single("cut", 2, {"saw": 1}),
        sl.Task.single("bake", 3, {"oven": 1}),
        sl.Task.single("heat", 5, {"oven": 1}),
    ],
    [SAW, OVEN],
    [("cut", "bake")],
    blocking=[("cut", "bake")],
)


def bars_of(problem, start):
    """The bars of a chart: (row, label, start, end, whether it is hatched)."""
    schedule = sl.models.Schedule(start, {})
    assert problem.verify(schedule) == []
    chart = gantt_of_schedule(problem, schedule)
    return sorted((chart.rows[b.row].label, b.label, b.start, b.end, b.hatched) for b in chart.bars), chart


def test_a_task_that_blocks_is_hatched_from_its_end_to_the_start_of_the_next_one():
    bars, chart = bars_of(TWO, {"heat": 0, "cut": 1, "bake": 5})
    assert bars == [
        ("oven (1)", "bake", 5, 8, False),
        ("oven (1)", "heat", 0, 5, False),
        ("saw (1)", "cut", 1, 3, False),
        ("saw (1)", "cut blocks", 3, 5, True),
    ]
    assert "hatched: a task keeps its resource" in chart.title
    bars, chart = bars_of(TWO, {"heat": 0, "cut": 3, "bake": 5})
    assert not any(hatched for *_, hatched in bars) and "hatched" not in chart.title


def test_no_two_tasks_share_a_unit_while_one_of_them_keeps_it():
    cut = [sl.Task.single(f"cut {k}", 1, {"saws": 1}) for k in range(3)]
    bake = [sl.Task.single(f"bake {k}", 4, {"oven": 1}) for k in range(3)]
    pairs = [(f"cut {k}", f"bake {k}") for k in range(3)]
    problem = sl.Project([*cut, *bake], [sl.Resource("saws", 2), OVEN], pairs, blocking=pairs)
    starts = {"cut 0": 0, "bake 0": 1, "cut 1": 0, "bake 1": 5, "cut 2": 1, "bake 2": 9}
    _, chart = bars_of(problem, starts)
    cells = [
        (bar.row, time, part)
        for bar in chart.bars
        for time in range(bar.start, bar.end)
        for part in (0.25, 0.75)
        if bar.low < part < bar.high
    ]
    saws, ovens = 1 + 5 + 8, 2 * 3 * 4  # from the starts of cuts to those of bakes; both halves of the oven
    assert len(cells) == len(set(cells)) == saws + ovens


def test_tasks_that_last_no_time_are_marks_on_each_of_their_resources():
    single = sl.Task.single
    tasks = [single("land", 0, {"runway": 1, "crew": 2}), single("taxi", 0, {"crew": 1}), single("done", 0, {})]
    problem = sl.Project([*tasks, single("roll", 3, {"runway": 1})], [sl.Resource("runway", 1), sl.Resource("crew", 2)])
    bars, chart = bars_of(problem, {"land": 3, "taxi": 3, "done": 4, "roll": 0})
    assert bars == [
        ("crew (2)", "land", 3, 3, False),
        ("crew (2)", "taxi", 3, 3, False),
        ("no resource", "done", 4, 4, False),
        ("runway (1)", "land", 3, 3, False),
        ("runway (1)", "roll", 0, 3, False),
    ]
    crew = sorted((bar.low, bar.high) for bar in chart.bars if chart.rows[bar.row].label == "crew (2)")
    assert crew == [(0, 0.5), (0.5, 1)]  # beside each other


def test_the_name_of_a_mark_is_written_where_there_is_room():
    pytest.importorskip("matplotlib").use("Agg")
    single = sl.Task.single
    tasks = [single(f"plane {k}", 0, {"runway": 1}) for k in range(4)]
    problem = sl.Project([*tasks, single("sweep", 20, {"runway": 1})], [sl.Resource("runway", 1)])
    start = {"plane 0": 0, "plane 1": 1, "plane 2": 30, "plane 3": 50, "sweep": 1}
    ax = draw(gantt_of_schedule(problem, sl.models.Schedule(start, {})))
    assert {text.get_text() for text in ax.texts} == {"sweep", "plane 2", "plane 3"}
    assert len([line for line in ax.lines if line.get_marker() == "D"]) == 4
    assert all(tick == int(tick) for tick in ax.get_xticks())
