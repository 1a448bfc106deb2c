"""The bench on projects: default methods, records, table, verification, page with Gantt charts."""

import json
import re
from pathlib import Path

import pytest
from schedlab.bench import RunRequest, defaults, plan
from schedlab.bench.cli.app import main
from schedlab.bench.kinds.project import drawn_sections
from schedlab.bench.records import files, read
from schedlab.instances import Instance, generators, load, write
from schedlab.models import Mode, Project, Resource, Task
from schedlab.models.gantt import pack
from schedlab.models.project import TaskRow
from schedlab.models.project.display import bands

pytestmark = pytest.mark.usefixtures("in_process")
METHODS = "multi-sgs,serial-sgs:spt,cpsat:modes,cpsat:modes+warm"


@pytest.fixture(scope="module")
def workshop(tmp_path_factory) -> Path:
    """Return the folder of a project: cut, then paint quickly or slowly, pack at the bench of cut; 9 units of time."""
    folder = tmp_path_factory.mktemp("instances") / "workshop"
    paint = Task("paint", (Mode("fast", 2, {"paint": 5, "hands": 2}), Mode("slow", 6, {"paint": 1, "hands": 1})))
    tasks = [
        Task.single("cut", 3, {"bench": 1, "hands": 1}),
        paint,
        Task.single("pack", 4, {"bench": 1, "hands": 1}),
        Task.single("call", 1),
    ]
    resources = [Resource("bench", 1), Resource("hands", 2), Resource("paint", 6, renewable=False)]
    write(Instance("workshop", "project", Project(tasks, resources, [("cut", "paint", 1)])), folder)
    return folder


@pytest.fixture(scope="module")
def results(workshop, tmp_path_factory) -> Path:
    """Return the folder with the records of four methods."""
    out = tmp_path_factory.mktemp("results")
    with pytest.raises(SystemExit) as ended:
        main(["run", str(workshop), "--methods", METHODS, "--time-limit", "20", "--out", str(out)])
    assert not ended.value.code
    return out


@pytest.fixture(scope="module")
def records(results) -> dict[str, dict]:
    return {r["method"]: r for r in map(read, files(results))}


class TestRuns:
    def test_small_projects_are_also_run_with_highs(self) -> None:
        small = [r.method for r in plan(load("project_small"), "project_small", RunRequest())]
        assert small == ["auto", "multi-sgs", "cpsat:modes", "cpsat:modes+warm", "cpo:modes", "highs:modes@pairwise"]
        (large,) = defaults(generators["project"](40, 1)).values()
        assert [method for method, _ in large] == small[:-1]

    def test_the_record_of_each_method(self, records: dict[str, dict], workshop: Path) -> None:
        project = load(workshop).project
        for method in METHODS.split(","):
            r = records[method]
            assert (r["kind"], r["verified"], r["sense"]) == ("project", True, "minimize")
            schedule = project.read(r["schedule"])
            assert project.verify(schedule) == [] and project.value(schedule) == r["objective"]
            assert r["resources"] == {"bench": 1, "hands": 2}
            assert [row[0] for row in r["tasks"]] == ["cut", "paint", "pack", "call"]
            assert {name: start for name, _, start, _, _ in r["tasks"]} == schedule.start
            assert max(end for *_, end, _ in r["tasks"]) == r["objective"]
        assert records["cpsat:modes"]["status"] == records["cpsat:modes+warm"]["status"] == "optimal"
        assert records["cpsat:modes+warm"]["warm_start"]["fate"] == "accepted"
        best = records["multi-sgs"]
        assert best["objective"] == records["cpsat:modes"]["objective"] == 9 < records["serial-sgs:spt"]["objective"]
        assert best["message"].startswith("best priority rule: ")

    def test_a_second_call_resumes(self, bench, results: Path, workshop: Path) -> None:
        before = {p.name: p.stat().st_mtime_ns for p in files(results)}
        code, _, err = bench("run", workshop, "--methods", METHODS, "--time-limit", 20, "--out", results)
        assert code == 0 and {p.name: p.stat().st_mtime_ns for p in files(results)} == before
        assert err.count("(kept)") == 4

    def test_the_table_has_a_row_per_method(self, bench, results: Path, workshop: Path) -> None:
        out = bench("run", workshop, "--methods", METHODS, "--time-limit", 20, "--out", results)[1]
        for method in METHODS.split(","):
            assert re.search(rf"^\*? *{re.escape(method)} .* yes *$", out, flags=re.M), method
        assert "best schedule: 9 by multi-sgs, verified" in out

    def test_records_hold_and_a_changed_one_does_not(self, bench, results: Path, records, tmp_path: Path) -> None:
        assert bench("verify", results)[0] == 0
        r = records["cpsat:modes"]
        row = r["tasks"][0]
        changes = {
            "it has resources {'bench': 2": {"resources": {"bench": 2, "hands": 2}},
            "it has 3 tasks, its project has 4": {"tasks": r["tasks"][:3]},
            "it has task ['cut', '1', 0, 4": {"tasks": [[*row[:3], 4, row[4]], *r["tasks"][1:]]},
            "its schedule has 9": {"objective": 8, "bound": 8},
            "starts at 0, 4 too early": {"schedule": {**r["schedule"], "paint": {"start": 0, "nodes": {"fast": 1}}}},
        }
        for said, change in changes.items():
            (tmp_path / "one.json").write_text(json.dumps(r | change))
            code, out, _ = bench("verify", tmp_path)
            assert code == 1 and said in out, said

    def test_a_schedule_made_elsewhere_is_checked(self, bench, workshop: Path, tmp_path: Path) -> None:
        made = {"cut": 0, "pack": 3, "paint": 7, "call": 0}
        nodes = {"paint": {"fast": 1}}
        mine = tmp_path / "mine.json"
        mine.write_text(json.dumps({t: {"start": s, "nodes": nodes.get(t, {})} for t, s in made.items()}))
        assert bench("verify", mine, "--instance", workshop)[:2] == (0, "verified, objective 9\n")
        mine.write_text(mine.read_text().replace('"start": 7', '"start": 6'))
        code, out, _ = bench("verify", mine, "--instance", workshop)
        assert code == 1 and "resource 'hands' at 6: 3 in use, it has 2" in out

    def test_options_and_methods_of_other_kinds_are_refused(self, bench, workshop: Path) -> None:
        for options, said in {
            ("--at", "12:00"): "for dispatch problems",
            ("--nodes-needed", "3"): "for eviction problems",
            ("--scenario", "air"): "has no scenarios",
            ("--methods", "easy"): "needs a dispatch problem",
            ("--methods", "multi-search"): "no method of project problems",
            ("--methods", "serial-sgs:lfd"): "lft",
        }.items():
            code, _, err = bench("run", workshop, *options)
            assert code == 2 and said in err, options

    def test_a_project_without_a_schedule_is_no_failure_and_says_why(self, bench, tmp_path: Path) -> None:
        tasks = [Task(n, (Mode("x", 1, {"fuel": 2}), Mode("y", 2, {"ore": 2}))) for n in "abc"]
        project = Project(tasks, [Resource("fuel", 2, renewable=False), Resource("ore", 2, renewable=False)])
        write(Instance("stuck", "project", project), tmp_path / "stuck")
        out = tmp_path / "out"
        code, printed, _ = bench("run", tmp_path / "stuck", "--methods", "multi-sgs,cpsat:modes+warm", "--out", out)
        assert code == 0 and "no choice of modes keeps the total use" in printed and "infeasible" in printed
        code, _, err = bench("plot", out)
        assert code == 2 and "nothing to draw" in err


class TestPage:
    def test_the_page_has_the_best_schedule_and_the_best_one_without_a_solver(self, bench, tmp_path: Path) -> None:
        out, page = tmp_path / "out", tmp_path / "page.html"
        bench("run", "project_small", "--methods", "multi-sgs,serial-sgs:spt,cpsat:modes", "--out", out)
        code, printed, _ = bench("plot", out, "--out", page)
        assert (code, printed) == (0, f"{page}: 3 runs\n")
        text = page.read_text()
        assert "<title>out: schedules of projects</title>" in text
        assert "<b>cpsat:modes</b> makespan 41" in text and "<b>multi-sgs</b> makespan 46" in text
        assert "<b>serial-sgs:spt</b>" not in text and text.count("<svg") == 2
        for label in ("R1 (13)", "R2 (12)", "no resource", ">t12<", ">time<"):
            assert label in text
        assert "<th>serial-sgs:spt</th>" in text and "best true bound: 41" in text
        first = page.read_bytes()
        bench("plot", out, "--out", page)
        assert page.read_bytes() == first

    def test_one_chart_if_the_start_is_as_good(self, bench, results: Path, tmp_path: Path) -> None:
        page = tmp_path / "page.html"
        assert bench("plot", results, "--out", page)[0] == 0
        assert page.read_text().count("<svg") == 1

    def test_a_record_whose_tasks_have_another_form_is_refused(self, bench, records, tmp_path: Path) -> None:
        for change in ({"tasks": [["cut", "1", 0]]}, {"resources": {"bench": "one"}}):
            (tmp_path / "one.json").write_text(json.dumps(records["cpsat:modes"] | change))
            code, _, err = bench("plot", tmp_path, "--out", tmp_path / "page.html")
            assert code == 2 and next(iter(change)) in err


class TestRectangles:
    @pytest.mark.parametrize("seed", range(5))
    def test_every_task_has_its_demand_and_no_two_overlap(self, seed: int) -> None:
        from schedlab.bench.kinds.project import fields
        from schedlab.heuristics import multi_sgs

        project = generators["project"](40, seed).project
        record = fields(project, multi_sgs(project).schedule)
        for band in bands([TaskRow(*row) for row in record["tasks"]], record["resources"]):
            held: dict[int, int] = {}
            taken = set()
            for piece in band.pieces:
                start, end = record["tasks"][piece.task][2:4]
                assert (piece.start, piece.end) == (start, end)
                assert 0 <= piece.low < piece.high <= band.capacity
                held[piece.task] = held.get(piece.task, 0) + piece.high - piece.low
                cells = {(t, u) for t in range(start, end) for u in range(piece.low, piece.high)}
                assert not cells & taken
                taken |= cells
            if band.name in record["resources"]:
                expected = {k: row[4].get(band.name, 0) for k, row in enumerate(record["tasks"])}
                assert held == {k: amount for k, amount in expected.items() if amount}

    def test_units_in_a_row_where_possible(self) -> None:
        use = [(0, 0, 3, 1), (1, 1, 9, 1), (2, 2, 3, 2), (3, 3, 6, 2), (4, 3, 7, 1)]
        assert [(p.task, p.low, p.high) for p in pack(use, 5)][3:] == [(3, 2, 4), (4, 0, 1)]

    def test_units_apart_where_they_must_be(self) -> None:
        use = [(0, 0, 3, 1), (1, 1, 9, 1), (2, 2, 3, 1), (3, 3, 5, 2)]
        assert [(p.low, p.high) for p in pack(use, 3) if p.task == 3] == [(0, 1), (2, 3)]

    def test_a_record_that_uses_too_much_does_not_stop_the_drawing(self) -> None:
        assert [(p.low, p.high) for p in pack([(0, 0, 2, 3), (1, 0, 2, 3)], 4)] == [(0, 3), (3, 4)]


# --- Other objectives and rules.


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return the folder of a project with due dates, setups and blocking: b keeps the saw until c starts."""
    tasks = [
        Task.single("a", 2, {"saw": 1}, due=2, weight=3),
        Task.single("b", 1, {"saw": 1}, due=1),
        Task.single("c", 4, {"oven": 1}),
        Task.single("d", 3, {"oven": 1}, due=3),
    ]
    oven = Resource("oven", 1, setups={("d", "d"): 1})  # which multi-sgs does not take beside blocking
    made = Project(tasks, [Resource("saw", 1), oven], [("b", "c")], blocking=[("b", "c")])
    write(Instance("shop", "project", made), tmp_path / "shop")
    return tmp_path / "shop"


def test_another_objective_is_run_reported_and_verified(bench, shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    chosen = ("--objective", "weighted-tardiness", "--methods", "cpsat:modes", "--threads", 1, "--time-limit", 60)
    code, printed, _ = bench("run", shop, *chosen, "--out", out)
    assert code == 0 and "the whole instance, objective weighted-tardiness" in printed
    (record,) = map(read, files(out))
    assert (record["status"], record["objective"], record["view"]["objective"]) == ("optimal", 2, "weighted-tardiness")
    assert bench("verify", out)[0] == 0
    drawn = drawn_sections([record])[0][0]
    assert "objective 2" in drawn and "makespan" not in drawn


def test_the_default_methods_take_the_project(shop: Path) -> None:
    ((_, methods),) = defaults(load(shop)).items()
    assert [d.method for d in methods] == ["auto", "cpsat:modes", "cpo:modes", "highs:modes@pairwise"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--objective", "tardiness"), "did you mean weighted-tardiness"),
        (("--objective", "tardines"), "weighted-tardiness"),
        (("--methods", "multi-sgs"), "supports only projects whose rules can be together"),
        (("--first", 2), "--first is for"),
    ],
)
def test_what_does_not_suit_the_project_is_refused(
    bench, shop: Path, tmp_path: Path, options: tuple[object, ...], message: str
) -> None:
    code, _, err = bench("run", shop, *options, "--out", tmp_path / "results")
    assert code == 2 and message in err


def test_show_names_the_objective_and_the_rules(bench, shop: Path) -> None:
    printed = bench("show", shop)[1]
    assert "objective: makespan (minimize)" in printed and "with setups and blocking" in printed


def test_the_page_shows_breaks_and_what_is_kept_after_its_end(bench, tmp_path: Path) -> None:
    tasks = [
        Task.single("a", 1, {"saw": 1}),
        Task.single("b", 4, {"oven": 1}),
        Task.single("c", 2, {"oven": 1}, deadline=2),
    ]
    resources = [Resource("saw", 1), Resource("oven", 1, breaks=((3, 5), (5, 6)), suspends=True)]
    made = Project([*tasks, Task.single("end", 0, {})], resources, [("a", "b"), ("b", "end")], blocking=[("a", "b")])
    starts = {"c": 0, "a": 0, "b": 2, "end": 9}
    write(Instance("kept", "project", made), tmp_path / "kept")
    out, page = tmp_path / "out", tmp_path / "page.html"
    assert bench("run", tmp_path / "kept", "--methods", "cpsat:modes", "--time-limit", 60, "--out", out)[0] == 0
    (record,) = map(read, files(out))
    assert record["objective"] == 9 and record["schedule"]["b"]["start"] == starts["b"]
    assert record["breaks"] == {"oven": [[3, 6]]}
    assert record["held"] == {"a": 2 - record["schedule"]["a"]["start"] - 1}
    assert bench("verify", out)[0] == 0
    assert bench("plot", out, "--out", page)[0] == 0
    text = page.read_text()
    assert ">break<" in text and ">end<" in text and "Hatched: a task keeps its resource" in text
    for change in ({"held": {"a": 5}}, {"breaks": {"oven": [[3, 5]]}}):
        (next(iter(files(out)))).write_text(json.dumps(record | change))
        code, printed, err = bench("verify", out)
        assert code == 1 and f"it has {next(iter(change))}" in printed + err
