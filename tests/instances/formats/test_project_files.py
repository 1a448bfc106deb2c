"""Readers of project and job shop benchmarks, on small texts and on files of ../shared/data; lines of faults."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz_seeds import FLEXIBLE, JOB_SHOP, PATTERSON, PSPLIB
from schedlab.instances.formats.job_shop_files import read_fjsplib, read_jsplib
from schedlab.instances.formats.numbered_lines import FormatError
from schedlab.instances.formats.project_files import read_mmlib, read_patterson, read_psplib
from schedlab.models.project.problem import Project
from shared_data import DATA


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "file.txt"
    path.write_text(text)
    return path


def test_psplib_with_modes(tmp_path: Path) -> None:
    project = read_mmlib(written(tmp_path, PSPLIB))
    assert [(r.name, r.capacity, r.renewable) for r in project.resources] == [("R1", 2, True), ("N1", 4, False)]
    assert [(m.name, m.duration, dict(m.demands)) for m in project.tasks[1].modes] == [
        ("1", 3, {"R1": 2}),
        ("2", 2, {"R1": 2, "N1": 4}),
    ]
    assert project.precedences == (("1", "2", 0), ("1", "3", 0), ("2", "4", 0), ("3", "4", 0))


def test_patterson_in_any_breaking_of_lines(tmp_path: Path) -> None:
    project = read_patterson(written(tmp_path, PATTERSON))
    assert [t.modes[0].duration for t in project.tasks] == [0, 3, 2, 0]
    assert dict(project.tasks[2].modes[0].demands) == {"R1": 5}
    assert project.precedences == (("1", "2", 0), ("1", "3", 0), ("2", "4", 0), ("3", "4", 0))


def test_job_shops(tmp_path: Path) -> None:
    project = read_jsplib(written(tmp_path, JOB_SHOP))
    assert [t.name for t in project.tasks][:2] == ["job 1 step 1", "job 1 step 2"]
    assert dict(project.tasks[2].modes[0].demands) == {"machine 1": 1}
    assert project.horizon == 10


def test_flexible_job_shops(tmp_path: Path) -> None:
    project = read_fjsplib(written(tmp_path, FLEXIBLE))
    assert [(m.name, m.duration) for m in project.tasks[1].modes] == [("machine 1", 4), ("machine 2", 2)]
    assert project.precedences == (("job 1 step 1", "job 1 step 2", 0),)


@pytest.mark.parametrize(
    ("read", "text", "old", "new", "line"),
    [
        (read_psplib, PSPLIB, "2        2          1 ", "2        2          2 ", 11),
        (read_psplib, PSPLIB, "2     2       2    4", "2     2       2", 20),
        (read_psplib, PSPLIB, "         2     2       2    4\n", "", 11),
        (read_psplib, PSPLIB, "constrained        :  0", "constrained        :  1", 6),
        (read_psplib, PSPLIB, "N 1\n    2    4\n", "N 1\n    2\n", 26),
        (read_psplib, PSPLIB, "PRECEDENCE RELATIONS", "RELATIONS", 27),
        (read_patterson, PATTERSON, "5 1 4", "5 1 x", 5),
        (read_patterson, PATTERSON, "0 0 0\n", "0 0\n", 6),
        (read_jsplib, JOB_SHOP, "1 4 0 1", "1 4 0", 4),
        (read_jsplib, JOB_SHOP, "1 4 0 1", "1 4 2 1", 4),
        (read_jsplib, JOB_SHOP, "1 4 0 1\n", "", 3),
        (read_fjsplib, FLEXIBLE, "1 1 2 5", "1 2 2 5", 3),
        (read_fjsplib, FLEXIBLE, "1 1 2 5", "1 1 3 5", 3),
        (read_fjsplib, FLEXIBLE, "2 2 1.5", "two 2", 1),
        (read_fjsplib, FLEXIBLE, FLEXIBLE, "", 1),
    ],
)
def test_a_broken_file_is_told_by_its_line(
    tmp_path: Path, read: Callable[[Path], Project], text: str, old: str, new: str, line: int
) -> None:
    assert old in text
    with pytest.raises(FormatError, match=rf"file\.txt, line {line}: expected .*, found ") as caught:
        read(written(tmp_path, text.replace(old, new, 1)))
    assert caught.value.line == line


@pytest.mark.skipif(not DATA.exists(), reason="../shared/data is missing")
@pytest.mark.parametrize(
    ("read", "file", "tasks", "modes", "links", "capacities"),
    [
        (read_psplib, "rcpsp_psplib/j30/j3029_9.sm", 32, 32, 58, (14, 15, 15, 15)),
        (read_mmlib, "mmrcpsp_mmlib/J5011_5.txt", 52, 152, 241, (36, 37, 220, 187)),
        (read_patterson, "mmrcpsp_mmlib/RG300_1.txt", 302, 302, 5208, (10, 10, 10, 10)),
        (read_jsplib, "jsp/ft10.txt", 100, 100, 90, (1,) * 10),
        (read_fjsplib, "fjsp/mk01.txt", 55, 115, 45, (1,) * 6),
    ],
)
def test_files_of_the_literature(
    read: Callable[[Path], Project], file: str, tasks: int, modes: int, links: int, capacities: tuple[int, ...]
) -> None:
    project = read(DATA / file)
    assert (len(project.tasks), sum(len(t.modes) for t in project.tasks)) == (tasks, modes)
    assert len(project.precedences) == links
    assert tuple(r.capacity for r in project.resources) == capacities


@pytest.mark.skipif(not DATA.exists(), reason="../shared/data is missing")
@pytest.mark.parametrize(
    ("read", "file", "length"),
    [(read_psplib, "rcpsp_psplib/j30/j301_1.sm", 38), (read_jsplib, "jsp/ft10.txt", 655)],
)
def test_the_longest_path_is_that_of_the_literature(read: Callable[[Path], Project], file: str, length: int) -> None:
    project = read(DATA / file)
    assert max(project.heads[t.name] + t.shortest for t in project.tasks) == length
