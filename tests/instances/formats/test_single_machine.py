"""Readers of weighted tardiness, aircraft landing and multi-skill projects: small files, optima, faults, refused formats."""

import itertools
import random
from fractions import Fraction
from pathlib import Path

import pytest
import schedlab as sl
from fuzz_seeds import IMOPSE, LANDING, MSLIB, PATTERSON
from schedlab.instances import FormatError, load, read_imopse, read_mslib
from schedlab.instances.formats.shops import penalty_scale, read_aircraft_landing, read_weighted_tardiness


def written(folder: Path, text: str, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


# --- Weighted tardiness.


def or_library(jobs: int = 40) -> list[list[list[int]]]:
    """Return 125 problems with the ranges of the OR-Library, made at random: durations, weights, due dates."""
    rng = random.Random(1)
    ranges = ((1, 100), (1, 10), (0, 50 * jobs))
    return [[[rng.randint(*limits) for _ in range(jobs)] for limits in ranges] for _ in range(125)]


def text_of(problems: list[list[list[int]]]) -> str:
    values = [str(v) for problem in problems for block in problem for v in block]
    return "\n".join(" ".join(values[k : k + 20]) for k in range(0, len(values), 20)) + "\n"


@pytest.mark.parametrize("number", [1, 77, 125])
def test_each_of_the_125_problems_is_read(number: int, tmp_path: Path) -> None:
    problems = or_library()
    project = read_weighted_tardiness(written(tmp_path, text_of(problems)), number)
    rows = [(t.shortest, t.weight, t.due) for t in project.tasks]
    assert rows == list(zip(*problems[number - 1], strict=True))
    assert project.objective == "weighted-tardiness"


def test_a_file_of_125_problems_says_how_to_choose_one(tmp_path: Path) -> None:
    file = written(tmp_path, text_of(or_library()), "wt40.txt")
    with pytest.raises(FormatError, match="bench import weighted-tardiness FILE --number 1"):
        load(file)
    with pytest.raises(FormatError, match="expected a number of a problem up to 125"):
        read_weighted_tardiness(file, 126)


def test_the_least_weighted_tardiness_is_that_of_all_orders(tmp_path: Path) -> None:
    rows = [(4, 3, 5), (2, 1, 6), (5, 4, 7), (1, 2, 1), (3, 5, 9)]
    text = "\n".join(" ".join(map(str, block)) for block in zip(*rows, strict=True))
    project = read_weighted_tardiness(written(tmp_path, text))
    best = min(
        sum(
            w * max(0, end - due)
            for (_, w, due), end in zip(order, itertools.accumulate(p for p, *_ in order), strict=True)
        )
        for order in itertools.permutations(rows)
    )
    assert sl.solve(project, "cpsat:modes", threads=1, time_limit=60).objective == best


@pytest.mark.parametrize("jobs", [1, 3, 4, 5])
def test_one_problem_in_three_lines_is_recognised(jobs: int, tmp_path: Path) -> None:
    rng = random.Random(jobs)
    blocks = [[rng.randint(1, 9) for _ in range(jobs)] for _ in range(3)]
    file = written(tmp_path, "\n".join(" ".join(map(str, block)) for block in blocks) + "\n")
    instance = load(file)
    assert instance.project == read_weighted_tardiness(file)
    assert (instance.source, instance.project.objective) == ("weighted-tardiness file file.txt", "weighted-tardiness")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2 1\n0 5\n0 7\n", "jsplib"),
        ("2 10\n7 4\n3 6\n", "knapsack"),
        ("5 2 7 99 98\n1 2 3 4 5\n5 4 3 2 1\n", "taillard"),
    ],
)
def test_other_files_of_three_lines_stay_what_they_are(text: str, form: str, tmp_path: Path) -> None:
    assert load(written(tmp_path, text)).source == f"{form} file file.txt"


# --- Aircraft landing.


@pytest.mark.parametrize(("runways", "nearest"), [(1, 3), (1, 0), (2, 3)])
def test_the_least_penalty_is_that_of_all_landings(runways: int, nearest: int, tmp_path: Path) -> None:
    assert "99999 6 3" in LANDING
    project = read_aircraft_landing(written(tmp_path, LANDING.replace("99999 6 3", f"99999 6 {nearest}", 1)), runways)
    earliest, target, early, late = (5, 6, 4), (8, 9, 9), (3, 1, 5), (4, 2, 1)
    apart = [[0, 6, nearest], [2, 0, 5], [3, 4, 0]]
    best = min(
        sum(early[p] * max(0, target[p] - t[p]) + late[p] * max(0, t[p] - target[p]) for p in range(3))
        for t in itertools.product(*(range(e, 21) for e in earliest))
        for on in itertools.product(range(runways), repeat=3)
        if all(
            on[p] != on[q] or t[q] - t[p] >= apart[p][q] or t[p] - t[q] >= apart[q][p]
            for p, q in itertools.combinations(range(3), 2)
        )
    )
    assert sl.solve(project, "cpsat:modes", threads=1, time_limit=60).objective == best


@pytest.mark.parametrize(("early", "late", "scale"), [("1.0", "2.00", 1), ("1.5", "2.00", 10), ("0.25", "2.125", 1000)])
def test_penalties_with_decimals_are_multiplied_to_be_whole(early: str, late: str, scale: int, tmp_path: Path) -> None:
    assert "1.0 2.00" in LANDING
    file = written(tmp_path, LANDING.replace("1.0 2.00", f"{early} {late}", 1))
    project = read_aircraft_landing(file)
    plain = read_aircraft_landing(written(tmp_path, LANDING, "plain.txt"))
    assert penalty_scale(file) == scale
    assert [(t.earliness_weight, t.weight) for t in project.tasks] == [
        (scale * Fraction(early), scale * Fraction(late))
        if "1.0 2.00" in row
        else (scale * t.earliness_weight, scale * t.weight)
        for t, row in zip(
            plain.tasks, [line for line in LANDING.splitlines()[1:] if len(line.split()) == 6], strict=True
        )
    ]
    assert load(file).description == "file: 3 tasks, 1 resource" + (f", penalties times {scale:,}" if scale > 1 else "")


def test_what_a_penalty_must_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="line 4: expected a penalty of plane 2 with at most 6 decimals"):
        read_aircraft_landing(written(tmp_path, LANDING.replace("1.0 2.00", "1.0000001 2.00", 1)))


def test_planes_without_a_separation_land_together(tmp_path: Path) -> None:
    project = read_aircraft_landing(written(tmp_path, "2 9\n0 2 5 9 3 4\n99999 0\n0 2 5 9 1 2\n7 99999\n"))
    found = sl.solve(project, "cpsat:modes", threads=1, time_limit=60)
    assert found.objective == 0 and found.schedule is not None
    assert found.schedule.start == {"plane 1": 5, "plane 2": 5}


def test_landings_are_recognised(tmp_path: Path) -> None:
    assert load(written(tmp_path, LANDING)).project == read_aircraft_landing(tmp_path / "file.txt")


# --- Multi-skill projects.


def test_a_person_does_the_tasks_of_their_skills(tmp_path: Path) -> None:
    project = load(written(tmp_path, IMOPSE)).project
    assert project == read_imopse(tmp_path / "file.txt")
    assert [[m.name for m in t.modes] for t in project.tasks] == [["person 1"], ["person 1", "person 2"]]


def test_a_team_has_one_person_for_each_place(tmp_path: Path) -> None:
    project = load(written(tmp_path, MSLIB)).project
    assert project == read_mslib(tmp_path / "file.txt")
    assert [[m.name for m in t.modes] for t in project.tasks] == [["1 2", "1 3", "2 3"], ["2", "3"], ["nobody"]]
    assert sl.solve(project, "cpsat:modes", threads=1, time_limit=60).objective == 6


@pytest.mark.parametrize("seed", range(5))
def test_the_teams_are_those_of_all_assignments(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    has = [[rng.randint(0, 1) for _ in range(3)] for _ in range(5)]
    needs = [rng.randint(0, 2) for _ in range(3)]
    places = [skill for skill, count in enumerate(needs) for _ in range(count)]
    teams = {
        frozenset(people)
        for people in itertools.permutations(range(5), len(places))
        if all(has[p][skill] for p, skill in zip(people, places, strict=True))
    }
    blocks = [
        "\\* Project Module *\\\n1 5 3 1\n9\n9\n4 0",
        "\\* Workforce Module *\\\n" + "\n".join(" ".join(map(str, row)) for row in has),
        "\\* Skill Requirements Module *\\\n" + " ".join(map(str, needs)),
    ]
    file = written(tmp_path, "\n\n".join(blocks) + "\n")
    if not teams:
        with pytest.raises(FormatError, match="a task that some persons can do"):
            read_mslib(file)
        return
    modes = read_mslib(file).tasks[0].modes
    assert {frozenset(int(p) - 1 for p in m.name.split() if p != "nobody") for m in modes} == teams
    assert len(modes) == len(teams)


# --- Faults and refused formats.


@pytest.mark.parametrize(
    ("read", "text", "old", "new", "line"),
    [
        (read_weighted_tardiness, "1 2\n3 4\n5 6\n", "3 4", "3 x", 2),
        (read_weighted_tardiness, "1 2\n3 4\n5 6\n", "3 4", "3", 1),
        (read_aircraft_landing, LANDING, "3 10", "4 10", 7),
        (read_aircraft_landing, LANDING, "1.0 2.00", "1.5 2.x0", 4),
        (read_aircraft_landing, LANDING, "99999 6 3", "99999 x 3", 3),
        (read_imopse, IMOPSE, "1 4 Q0: 1", "1 4 Q0: 3", 13),
        (read_imopse, IMOPSE, "1 4 Q0: 1", "1 Q0: 1", 13),
        (read_imopse, IMOPSE, "TaskID", "Task", 15),
        (read_mslib, MSLIB, "2 1 2", "2 2 2", 8),
        (read_mslib, MSLIB, "1 1\n0 1\n0 0", "4 4\n0 1\n0 0", 8),
        (read_mslib, MSLIB, "\\* Workforce Module *\\", "\\* Staff Module *\\", 28),
    ],
)
def test_the_line_of_a_fault_is_named(read, text: str, old: str, new: str, line: int, tmp_path: Path) -> None:
    assert old in text
    with pytest.raises(FormatError) as caught:
        read(written(tmp_path, text.replace(old, new, 1)))
    assert caught.value.line == line


RCPSP_PS = "4 1 0\n10\n\n0 0\n1 2 1 2\n2 1 2\n\n2 5\n1 1 3\n1 3\n\n2 6\n1 1 3\n1 3\n\n4 0\n0\n0\n"
ASLIB = PATTERSON + "0.250000 0.000000 0.000000\n1\n2 2 3\n1 1\n1 2\n1 3\n1 1\n"


@pytest.mark.parametrize(("name", "text", "line"), [("RCPSP-PS", RCPSP_PS, 5), ("ASLIB", ASLIB, 7)])
def test_projects_with_alternative_subgraphs_are_refused_by_name(
    name: str, text: str, line: int, tmp_path: Path
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(FormatError, match=f"files of {name}, which choose among them, are not supported") as caught:
        load(file)
    assert caught.value.line == line
