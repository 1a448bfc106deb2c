"""The Gantt charts of a report: the best run of each problem, the times of its schedule, and what is left out with its reason."""

import json

import numpy as np
import pytest
from report_records import made
from schedlab.bench.kinds.project import fields
from schedlab.bench.pages import content_of
from schedlab.bench.pages.report import LEVELS, TALL, TOO_LARGE, best_runs, charts_of, packed, tikz
from schedlab.bench.records import Instances
from schedlab.bench.statistics import sample_of
from schedlab.heuristics import first_solution
from schedlab.instances import load
from schedlab.instances.files import content_of as content_of_files
from schedlab.models import Project, Resource, Schedule, Task
from schedlab.models.gantt import Bar, Cells, Closed, Gantt, Row


def project_record(name, tasks=3, seed=1, objective=4.0, **fields_of_record):
    """The record of a project in which tasks of length 1, 2, ... run one after the other; its instance does not exist."""
    project = Project([Task.single(f"t{k}", k, {"crane": 1}) for k in range(1, tasks + 1)], [Resource("crane", 1)])
    starts = dict(zip([f"t{k}" for k in range(1, tasks + 1)], np.cumsum([0, *range(1, tasks)]).tolist(), strict=True))
    schedule = Schedule(starts, {})
    found = {**made(name, "a", seed, objective), "schedule": schedule.as_json(), "kind": "project"}
    return {**found, **fields(project, schedule), **fields_of_record}


def boxes_of(chart):
    """The bars of a chart: (label, start, end, top, bottom, opacity)."""
    return [
        (chart["labels"][n[k + 4]] if n[k + 4] >= 0 else "", n[k], n[k] + n[k + 1], n[k + 2], n[k + 2] + n[k + 3], o)
        for _, o, n in chart["boxes"]
        for k in range(0, len(n), 5)
    ]


def charts(records, **how):
    return charts_of(records, sample_of(records).problems, Instances(load), **how)


def test_a_project_is_drawn_from_its_record_alone():
    (found,) = charts([project_record("p")])
    assert (found["method"], found["seed"], found["objective"]) == ("a", 1, 4.0)
    bars = boxes_of(found["chart"])
    assert sorted(b[:3] for b in bars) == [("t1", 0, 1), ("t2", 1, 3), ("t3", 3, 6)]
    assert all(bar[3] == 0 and bar[4] == 880 for bar in bars)  # the gap between rows is 12 %
    assert found["chart"]["length"] == 6


def test_jobs_on_nodes_have_the_times_of_their_schedule():
    instance = load("eurora_99")
    problem = instance.problem
    schedule = first_solution(problem, "est")
    record = made("eurora_99", "a", 1, 5.0)
    record |= {"content": content_of_files(instance.path), "schedule": schedule.as_json()}
    (found,) = charts([record])
    jobs = {j.id: j for j in problem.jobs}
    bars = boxes_of(found["chart"])
    begin = found["chart"]["start"]
    assert {b[0] for b in bars} == set(jobs)
    for label, start, end, top, bottom, _ in bars:
        assert (start + begin, end - start) == (schedule.start[label], problem.duration(jobs[label]))
        assert 0 <= top < bottom <= TALL
    (changed,) = charts([record | {"content": "0" * 20}])
    assert changed == {"why": "the files of its instance are not those that were run"}


def test_the_best_run_has_the_best_objective_and_found_it_first():
    records = [
        project_record("p", seed=1, objective=5.0, best_s=0.1),
        project_record("p", seed=2, objective=4.0, best_s=3.0),
        project_record("p", seed=3, objective=4.0, best_s=2.0),
        project_record("p", seed=4, objective=3.0, best_s=1.0, verified=False),
        project_record("p", seed=5, objective=None, schedule=None, verified=None),
    ]
    problems = sample_of(records).problems
    assert best_runs(records, problems)[0]["seed"] == 3
    most = [r | {"sense": "maximize"} for r in records]
    assert best_runs(most, sample_of(most).problems)[0]["seed"] == 1


def test_the_largest_charts_are_left_out_and_the_page_says_so(monkeypatch):
    records = [project_record(f"p{n}", tasks=n) for n in (40, 2, 20, 3)]
    sizes = [len(json.dumps(c["chart"], separators=(",", ":"))) for c in charts(records)]
    found = charts(records, budget=sizes[1] + sizes[3] + 10)
    assert [c.get("why") for c in found] == [TOO_LARGE, None, TOO_LARGE, None]
    assert all("chart" in c for c in charts(records, budget=sum(sizes)))
    monkeypatch.setattr("schedlab.bench.pages.report.MOST", sizes[1] + sizes[3])
    notes = content_of(records, {}, "mine")["notes"]
    assert notes == [
        "Gantt charts of the best runs: 2 of 4 problems",
        f"2 without a Gantt chart (p40, ...): {TOO_LARGE}",
    ]


def test_what_cannot_be_drawn_has_a_reason():
    lost = made("no such instance", "a", 1, 5.0)
    unknown_job = made("eurora_99", "a", 1, 5.0) | {"schedule": {"x": {"start": 0, "nodes": {}}}}
    knapsack = made("sack", "a", 1, 5.0) | {"kind": "knapsack"}
    failed = made("p", "a", 1, None)
    whys = [c["why"] for c in charts([lost, unknown_job, knapsack, failed])]
    assert "no such instance" in whys[0] and "files" in whys[1]
    assert whys[2:] == ["problems of kind knapsack have no Gantt chart", "no run has a verified schedule"]


@pytest.mark.parametrize("nodes, columns", [(60, 160), (130, 480), (61, 7)])
def test_a_grid_uses_as_much_as_its_cells(nodes, columns):
    share = np.zeros((2, nodes, columns))
    share[0, : nodes // 2, : columns // 2] = 1.0
    share[1, nodes // 2 :, :] = 0.4
    rows = tuple(Row("") for _ in range(nodes))
    chart = packed(Gantt(rows, (), ("a", "b"), cells=Cells(share, 100, 100 + 10 * columns)))
    used = sum((end - start) * (bottom - top) * opacity for _, start, end, top, bottom, opacity in boxes_of(chart))
    assert used == pytest.approx(share.sum() * 10 * TALL / nodes, rel=0.05)
    assert {opacity for *_, opacity in boxes_of(chart)} <= {k / LEVELS for k in range(1, LEVELS + 1)}
    assert len(boxes_of(chart)) < 200  # equal cells of a row are one box


def test_what_runs_already_and_shades_of_neighbours():
    bars = (Bar(0, 0, 5, "old", "q", hatched=True), Bar(0, 5, 9, "x", "q"), Bar(0, 9, 9, "y", "q"))
    chart = packed(Gantt((Row("n"),), bars, ("q",), start=0, distinct=True))
    assert [(b[0], b[5]) for b in boxes_of(chart)] == [("old", -1.0), ("x", 0.78), ("y", 0.58)]


def test_closed_periods_of_a_row_cover_that_row_alone():
    rests = (Closed(2, 4, "break", 1), Closed(-5, 1, "night"), Closed(8, 99, "break", 0), Closed(50, 60, "break", 0))
    chart = packed(Gantt((Row("a"), Row("b")), (Bar(0, 0, 10, "x"),), ("",), closed=rests, seconds=False))
    assert chart["closed"] == [[2, 2, "break", 500, 440], [0, 1, "night", 0, TALL], [8, 2, "break", 0, 440]]
    picture = tikz(chart)
    assert picture.count("opacity=0.25") == 2 and picture.count("black!8") == 1
