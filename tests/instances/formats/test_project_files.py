"""Readers of project and job shop benchmarks, on small texts and on files of ../shared/data; lines of faults."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz_seeds import FLEXIBLE, FLOW_SHOP, JOB_SHOP, KNAPSACK, PATTERSON, PSPLIB, TAILLARD, TIME_LAGS
from schedlab.instances import (
    FormatError,
    read_classic,
    read_fjsplib,
    read_jsplib,
    read_knapsack,
    read_mmlib,
    read_patterson,
    read_progen_max,
    read_psplib,
)
from schedlab.instances.formats.shops import read_flow_shop, read_taillard_job_shop, read_taillard_open_shop
from schedlab.models import Project
from shared_data import DATA

CASES = DATA.parent / "cases" / "projects"


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
    assert read_fjsplib(written(tmp_path, FLEXIBLE.replace("2 2 1.5", "2 2 1.50837988826816"))) == project  # mk11
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
        (read_psplib, PSPLIB, "    2    4\n****", "    2    4\n    2    4\n****", 27),
        (read_psplib, PSPLIB, "N 1\n    2    4\n", "N 1\n    2    4    9\n", 26),
        (read_psplib, PSPLIB, PSPLIB, PSPLIB + "UB 10\n", 28),
        (read_psplib, PSPLIB, PSPLIB, PSPLIB + PSPLIB, 35),
        (read_psplib, PSPLIB, "sink ):  4", "sink ):  5", 2),
        (read_psplib, PSPLIB, "   4        1          0\n", "   4        1          0\n   4        1          0\n", 14),
        (
            read_psplib,
            PSPLIB,
            "  4      1     0       0    0\n",
            "  4      1     0       0    0\n  5      1     0       0    0\n",
            23,
        ),
        (read_psplib, PSPLIB, "  3      1     4 ", "  3      1    -4 ", 21),
        (read_psplib, PSPLIB, "  3      1     4 ", "  3      1   4.5 ", 21),
        (read_patterson, PATTERSON, "0 0 0\n", "0 0 0\n\n1 2 2 3\n", 8),
        (read_patterson, PATTERSON, "0 0 0\n", "0 0 0\nUB 10\n", 7),
        (read_patterson, PATTERSON, "5 1 4", "-5 1 4", 5),
        (read_patterson, PATTERSON, "4 1", "4 2147483648", 6),
        (read_patterson, PATTERSON, "4 1", "2147483648 1", 6),
        (read_jsplib, JOB_SHOP, "1 4 0 1\n", "1 4 0 1\n\nbest 7\n", 6),
        (read_jsplib, JOB_SHOP, "2 2\n", "2 2 9\n", 2),
        (read_jsplib, JOB_SHOP, "2 2\n", "2 2147483648\n", 2),
        (read_jsplib, JOB_SHOP, "2 2\n", "2147483648 2\n", 4),
        (read_jsplib, JOB_SHOP, "2 2\n", "2 0\n", 2),
        (read_jsplib, JOB_SHOP, "0 3 1 2", "0 -3 1 2", 3),
        (read_fjsplib, FLEXIBLE, "2 2 1.5", "2 0 1.5", 1),
        (read_fjsplib, FLEXIBLE, "2 2 1.5", "0 2 1.5", 1),
        (read_fjsplib, FLEXIBLE, "2 2 1.5", "2 2 1.5 7", 1),
        (read_fjsplib, FLEXIBLE, "2 2 1.5", "2 2 nan", 1),
        (read_fjsplib, FLEXIBLE, "1 1 2 5", "1 0", 3),
        (read_fjsplib, FLEXIBLE, "1 1 2 5\n", "1 1 2 5\n1 1 2 5\n", 4),
        (read_fjsplib, FLEXIBLE, "1 1 2 5", "9999999999 1 2 5", 3),
        (read_progen_max, TIME_LAGS, "\n1\n", "\n1\n1\n", 9),
        (read_progen_max, TIME_LAGS, "\n1\n", "\n1 4\n", 8),
        (read_progen_max, TIME_LAGS, "1 1 3 1", "1 1 -3 1", 6),
        (read_progen_max, TIME_LAGS, "1 1 0 0", "99999999999 1 0 0", 1),
        (read_knapsack, KNAPSACK, "3.5 6.25\n", "3.5 6.25\n1 0\n1\n", 5),
        (read_knapsack, KNAPSACK, "3.5 6.25\n", "3.5 6.25\n1\n", 4),
        (read_knapsack, KNAPSACK, "3.5 6.25\n", "3.5 6.25\n7 4\n", 4),
        (read_knapsack, KNAPSACK, "3.5 6.25", "-3.5 6.25", 3),
        (read_knapsack, KNAPSACK, "2 10", "3 10", 3),
        (read_knapsack, KNAPSACK, "2 10", "0 10", 1),
        (read_flow_shop, FLOW_SHOP, "4 5 6\n", "4 5 6\n7 8 9\n", 5),
        (read_flow_shop, FLOW_SHOP, "4 5 6\n", "4 5 6\nend\n", 5),
        (read_flow_shop, FLOW_SHOP, "4 5 6", "4 5 -6", 4),
        (read_flow_shop, FLOW_SHOP, "4 5 6", "4 5", 4),
        (read_flow_shop, FLOW_SHOP, "3 2", "0 2", 1),
        (read_taillard_job_shop, TAILLARD, "2 1\n", "2 1\nend\n", 10),
        (read_taillard_job_shop, TAILLARD, "2 1\n", "2 1\n1 2\n", 10),
        (read_taillard_job_shop, TAILLARD, "2 1\n", "2 2\n", 9),
        (read_taillard_job_shop, TAILLARD, "2 1\n", "3 1\n", 9),
        (read_taillard_job_shop, TAILLARD, "\n2 1\n", "\n", 8),
        (read_taillard_job_shop, TAILLARD, "3 4\n", "3 4 5\n", 5),
        (read_taillard_job_shop, TAILLARD, "3 4\n", "3 -4\n", 5),
        (read_taillard_open_shop, TAILLARD, "Times\n1 2\n3 4\n", "1 2\nTimes\n3 4\n", 4),
        (read_taillard_open_shop, TAILLARD, "2 2 7", "2 2147483648 7", 2),
        (read_taillard_open_shop, TAILLARD, "2 2 7", "2147483648 2 7", 9),
    ],
)
def test_a_broken_file_is_told_by_its_line(
    tmp_path: Path, read: Callable[[Path], Project], text: str, old: str, new: str, line: int
) -> None:
    assert old in text
    with pytest.raises(FormatError, match=rf"file\.txt, line {line}: expected .*, found ") as caught:
        read(written(tmp_path, text.replace(old, new, 1)))
    assert caught.value.line == line


@pytest.mark.parametrize("jobs", [2, 3, 20])
def test_shops_of_taillard(tmp_path: Path, jobs: int) -> None:
    """Times and machines of ``jobs`` jobs on as many machines; the machines are numbered from 1."""
    times = [[1 + (3 * j + k) % 7 for k in range(jobs)] for j in range(jobs)]
    machines = [[1 + (j + k) % jobs for k in range(jobs)] for j in range(jobs)]
    blocks = ["\n".join(" ".join(map(str, row)) for row in block) for block in (times, machines)]
    head = f"{jobs} {jobs} 840612802 398197754 9999 1"
    job_shop = f"Nb of jobs, Nb of Machines, seeds, bounds\n{head}\nTimes\n{blocks[0]}\nMachines\n{blocks[1]}\n"
    expected = read_taillard_job_shop(written(tmp_path, job_shop))
    plain = f"{jobs} {jobs}\n" + "".join(
        " ".join(f"{m - 1} {t}" for m, t in zip(machines[j], times[j], strict=True)) + "\n" for j in range(jobs)
    )
    other = read_jsplib(written(tmp_path, plain))
    assert [t.shortest for t in expected.tasks] == [t.shortest for t in other.tasks]
    assert expected.precedences == other.precedences and len(expected.precedences) == jobs * (jobs - 1)
    used = [next(iter(t.modes[0].demands)) for t in expected.tasks]
    assert used == [f"machine {int(next(iter(t.modes[0].demands)).split()[1]) + 1}" for t in other.tasks]
    for text in (job_shop, f"{jobs} {jobs}\n{blocks[0]}\n{blocks[1]}\n"):
        found = read_classic(written(tmp_path, text))
        assert found.problem == expected and found.source.startswith("taillard-job-shop file")
    open_shop = job_shop.replace("Times", "processing times :").replace("Machines\n", "machines :\n")
    found = read_classic(written(tmp_path, open_shop))
    assert found.problem == read_taillard_open_shop(written(tmp_path, open_shop)) and not found.project.precedences
    assert found.source.startswith("taillard-open-shop file")
    assert {len(t.modes[0].demands) for t in found.project.tasks} == {2}


@pytest.mark.parametrize("count", [2_147_483_648, 9_999_999_999])
def test_a_head_allocates_nothing_before_the_data_are_there(tmp_path: Path, count: int) -> None:
    tracemalloc.start()
    try:
        for head in (f"3 {count}", f"{count} 3", f"{count} {count}"):
            with pytest.raises(FormatError, match=r"file\.txt, line "):
                read_classic(written(tmp_path, f"{head}\n60 10\nnan"))
        assert tracemalloc.get_traced_memory()[1] < 2**24  # a file is read in blocks of 1 MiB
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not CASES.exists(), reason="../shared/cases is missing")
@pytest.mark.parametrize(("name", "line"), [("trail.rcp", 8), ("trail_word.rcp", 7)])
def test_text_after_the_end_is_told_by_its_line(name: str, line: int) -> None:
    with pytest.raises(FormatError, match=rf"{name}, line {line}: .*the end of the file after 4 tasks"):
        read_classic(CASES / name)


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


def test_a_head_with_more_machines_than_the_file_has_numbers(tmp_path: Path) -> None:
    """Unused machines are resources too; a file of 16 bytes took 570 MB."""
    path = tmp_path / "shop.fjs"
    path.write_text("1 100000\n1 1 1 5\n")
    with pytest.raises(FormatError, match="line 1: expected a number of machines of at most the 4 numbers"):
        read_fjsplib(path)
    path.write_text("1 4\n1 1 1 5\n")
    assert len(read_fjsplib(path).resources) == 4
