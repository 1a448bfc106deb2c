"""Readers of multi-skill projects (MSRCPSP): iMOPSE, and MSLIB of Snauwaert and Vanhoucke; each gives a project with modes.

A mode of a task is a set of persons who can do it: each person is a resource of capacity 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

from ...models.arguments import checked
from ...models.project.problem import Mode, Project, Resource, Task
from ...models.words import how_many
from ..files.lines import whole_of
from .numbered_lines import NumberedLine, end_error, numbered_lines, wholes_of
from .projects import MOST, checked_project

MOST_MODES = 2_000  # of a task

# --- iMOPSE: a task needs one person with one skill at a level.

SKILL = re.compile(r"(\w+)\s*:\s*(\d{1,9})", re.ASCII)


@checked
def read_imopse(path: str | Path) -> Project:
    r"""Read a multi-skill project of iMOPSE (``.def``).

    A task is done by one person who has its skill at its level or a higher one. Salaries are not used: the makespan is the
    objective.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Project
        Tasks are named by their numbers; a task has a mode per person who can do it, named "person 1" and so on.

    Raises
    ------
    FormatError
        The file does not follow the format, or nobody can do a task; the message has the line.
    ProblemError
        The data contradict themselves, for example a cycle of precedences.

    References
    ----------
    .. [1] P. B. Myszkowski, M. E. Skowronski, L. P. Olech and K. Oslizlo, "Hybrid ant colony optimization in solving
       multi-skill resource-constrained project scheduling problem", Soft Computing 19 (2015), 3599-3619.

    Examples
    --------
    >>> import tempfile
    >>> text = "ResourceID Salary Skills\n1 9.5 Q0: 2 Q1: 1\n2 8.0 Q1: 3\nTaskID Duration Skill Predecessor IDs\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.def")
    ...     _ = file.write_text(text + "1 4 Q0: 1\n2 3 Q1: 1 1\n")
    ...     project = read_imopse(file)
    >>> [[m.name for m in task.modes] for task in project.tasks], project.precedences
    ([['person 1'], ['person 1', 'person 2']], (('1', '2', 0),))
    """
    lines = numbered_lines(path)
    skills: dict[str, dict[str, int]] = {}
    for line in _table(lines, "ResourceID"):
        number = line.text.split()[0]
        if whole_of(number, most=MOST) is None or f"person {number}" in skills:
            raise line.error("the number of a resource, each once, its salary and its skills")
        skills[f"person {number}"] = {name: int(level) for name, level in SKILL.findall(line.text)}
    tasks: list[Task] = []
    links: list[tuple[str, str]] = []
    for line in _table(lines, "TaskID"):
        found = SKILL.search(line.text)
        head = wholes_of(line.text[: found.start()].split()) if found else None
        before = wholes_of(line.text[found.end() :].split()) if found else None
        if found is None or head is None or before is None or len(head) != 2:
            raise line.error("the number of a task, its duration, its skill with a level, and its predecessors")
        able = [person for person, known in skills.items() if known.get(found[1], -1) >= int(found[2])]
        if not able:
            raise line.error(f"a skill {found[1]} of level {found[2]} that a resource has")
        tasks.append(Task(str(head[0]), tuple(Mode(person, head[1], {person: 1}) for person in able)))
        links += [(str(other), str(head[0])) for other in dict.fromkeys(before)]
    return checked_project(path, tasks, [Resource(person, 1) for person in skills], links)


def is_imopse(lines: Sequence[NumberedLine]) -> bool:
    """Return whether a file has the heads of the tables of resources with skills and of tasks."""
    heads = [line.text.split()[0] for line in lines]
    return "ResourceID" in heads and "TaskID" in heads


def _table(lines: Sequence[NumberedLine], head: str) -> Iterator[NumberedLine]:
    """Yield the lines below a head, up to a line of ``=`` or the next head."""
    begins = next((k for k, line in enumerate(lines) if line.text.split()[0] == head), None)
    if begins is None:
        raise end_error(lines, f"a table that begins with {head} before the end")
    for line in lines[begins + 1 :]:
        if not line.text.split()[0][0].isdigit():
            return
        yield line


# --- MSLIB: a task needs a number of persons for each of its skills.


@checked
def read_mslib(path: str | Path) -> Project:
    r"""Read a multi-skill project of MSLIB (``.msrcp``).

    A task needs a number of persons for each skill; a person uses one skill at a time. A task has a mode for each set of persons
    who can do it. The modules of skill levels, costs and rework are for other problems and are not used.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Project
        Tasks are named by their numbers, from "1"; modes are named by the numbers of the persons, such as "1 3 4".

    Raises
    ------
    FormatError
        The file does not follow the format, no set of persons can do a task, or more than 2,000 can; the message has the line.
    ProblemError
        The data contradict themselves, for example a cycle of precedences.

    References
    ----------
    .. [1] J. Snauwaert and M. Vanhoucke, "A classification and new benchmark instances for the multi-skilled
       resource-constrained project scheduling problem", European Journal of Operational Research 307 (2023), 1-19.
    """
    lines = numbered_lines(path)
    project = _module(lines, "project module")
    head = (
        project[0].numbers("the numbers of activities, resources, skills and skill levels", least=4) if project else []
    )
    if not head:
        raise end_error(lines, "the numbers of activities, resources, skills and skill levels")
    activities, persons, skills = head[:3]
    if max(activities, persons, skills) > MOST:
        raise project[0].error(f"numbers up to {MOST:,}")
    rows = project[-activities:] if activities else []
    if len(project) < activities + 1:
        raise end_error(project, f"{how_many(activities, 'line')}, one per activity")
    has = _matrix(lines, "workforce module", persons, skills)
    needs = _matrix(lines, "skill requirements module", activities, skills)
    tasks, links = [], []
    for k, line in enumerate(rows):
        duration, count, *after = line.numbers("duration, number of successors, successors", least=2)
        if len(after) != count:
            raise line.error(f"{how_many(count, 'successor')}")
        links += [(str(k + 1), str(other)) for other in after]
        tasks.append(Task(str(k + 1), tuple(_modes(line, duration, needs[k], has))))
    return checked_project(path, tasks, [Resource(f"person {p}", 1) for p in range(1, persons + 1)], links)


def is_mslib(lines: Sequence[NumberedLine]) -> bool:
    """Return whether a file begins with the title of the project module."""
    return lines[0].text.lstrip().startswith("\\*") and "project module" in lines[0].text.lower()


def _module(lines: Sequence[NumberedLine], title: str) -> list[NumberedLine]:
    """Return the lines of a module, up to the next title."""
    begins = next((k for k, line in enumerate(lines) if _title(line) == title), None)
    if begins is None:
        raise end_error(lines, f"a line \\* {title.title()} *\\ before the end")
    rows = []
    for line in lines[begins + 1 :]:
        if _title(line):
            break
        rows.append(line)
    return rows


def _title(line: NumberedLine) -> str:
    """Return the title of a module in a line, without its backslashes and asterisks; "" for other lines."""
    text = line.text.strip()
    return text.strip("\\* ").lower() if text.startswith("\\*") else ""


def _matrix(lines: Sequence[NumberedLine], title: str, count: int, columns: int) -> list[list[int]]:
    rows = _module(lines, title)
    if len(rows) != count:
        raise (rows[-1] if rows else lines[-1]).error(f"{how_many(count, 'line')} in the {title}, not {len(rows)}")
    return [line.exactly(columns, f"{columns} numbers, one per skill") for line in rows]


def _modes(line: NumberedLine, duration: int, needs: Sequence[int], has: Sequence[Sequence[int]]) -> Iterator[Mode]:
    """Yield a mode for each set of persons who can do a task."""
    size = sum(needs)
    useful = [
        p for p, skills in enumerate(has) if any(need and skill for need, skill in zip(needs, skills, strict=True))
    ]
    made = 0
    for tried, persons in enumerate(combinations(useful, size)):
        if tried >= 50 * MOST_MODES or made >= MOST_MODES:
            raise line.error(f"at most {MOST_MODES:,} sets of persons who can do the task")
        if _can_do(needs, [has[p] for p in persons]):
            made += 1
            names = [f"person {p + 1}" for p in persons]
            yield Mode(" ".join(str(p + 1) for p in persons) or "nobody", duration, dict.fromkeys(names, 1))
    if not made:
        raise line.error("a task that some persons can do; its skills are " + " ".join(map(str, needs)))


def _can_do(needs: Sequence[int], persons: Iterable[Sequence[int]]) -> bool:
    """Return whether persons can share the skills that a task needs, one each: a matching by augmenting paths."""
    places = [skill for skill, count in enumerate(needs) for _ in range(count)]
    skills = list(persons)
    taken: dict[int, int] = {}  # the person at each place

    def placed(person: int, tried: set[int]) -> bool:
        for place, skill in enumerate(places):
            if skills[person][skill] and place not in tried:
                tried.add(place)
                if place not in taken or placed(taken[place], tried):
                    taken[place] = person
                    return True
        return False

    return all(placed(person, set()) for person in range(len(skills)))
