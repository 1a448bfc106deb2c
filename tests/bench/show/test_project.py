"""``bench show`` and ``bench list`` of projects."""

from pathlib import Path

import pytest
from schedlab.instances import Instance, write
from schedlab.models import Mode, Project, Resource, Task


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_sizes_bounds_and_resources(bench, tmp_path: Path) -> None:
    paint = Task(
        "paint",
        (Mode("fast", 2, {"hands": 2, "paint": 5}), Mode("slow", 6, {"hands": 1}), Mode("best", 1, {"paint": 7})),
    )
    tasks = [Task.single("cut", 3, {"hands": 1}), paint, Task.single("pack", 4, {"hands": 1})]
    resources = [Resource("hands", 2), Resource("paint", 6, renewable=False), Resource("yard", 0)]
    project = Project(tasks, resources, [("cut", "paint", 1), ("cut", "pack")])
    write(Instance("workshop", "project", project, description="a workshop"), tmp_path / "workshop")
    code, out, err = bench("show", tmp_path / "workshop")
    assert (code, err) == (0, "")
    assert "objective: makespan (minimize)\n" in out
    assert "3 tasks with 1 to 3 modes, 5 in all, durations 1 to 6; 1 mode exceeds a capacity\n" in out
    assert "2 precedences, 1 of them with a delay\n" in out
    assert "makespan: at least 7 by the longest path, at most 14\n" in out
    assert ["hands", "2", "at", "every", "time", "3", "1", "to", "2", "11", "11", "6"] in words(out)
    assert ["paint", "6", "in", "total", "1", "5", "0", "5", "-"] in words(out)
    assert ["yard", "0", "at", "every", "time", "0", "-", "0", "0", "-"] in words(out)
    assert "formulations: modes\n" in out and "6 runs" in out


def test_a_project_without_resources_has_no_table(bench, tmp_path: Path) -> None:
    write(Instance("one", "project", Project([Task.single("a", 3)], [])), tmp_path / "one")
    out = bench("show", tmp_path / "one")[1]
    assert "1 task with 1 mode, 1 in all, durations 3\n" in out and "resource" not in out


def test_the_list_has_the_number_of_tasks(bench) -> None:
    assert ["project_small", "project", "16", "-"] in [line[:4] for line in words(bench("list")[1])]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello world\n", "line 1: expected one of the formats job shop"),
        ("4 1\n3\n0 0 2 2 3\n4 2 1 4\n6 2 1 4\n0 0 0\n\n1 2 2 3\n", "line 8: expected one of the formats"),
    ],
)
def test_a_file_of_no_format_is_told_what_can_be_read(bench, tmp_path, text, said):
    (tmp_path / "file.txt").write_text(text)
    code, _, err = bench("show", tmp_path / "file.txt")
    assert code == 2 and said in err
    assert "swf, sacct, pbs, eurora, table, batsim" in err and "cooling table" in err and "desired profile" in err
