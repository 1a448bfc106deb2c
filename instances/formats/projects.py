"""Readers of project scheduling benchmarks: PSPLIB, MMLIB, Patterson, ProGen/max, iMOPSE, MSLIB."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

from ...models.arguments import checked
from ...models.platform import LATEST, ProblemError
from ...models.project.problem import Mode, Project, ProjectMax, Resource, Task
from ...models.project.verification import MAKESPAN
from ...models.words import how_many
from ..files.reading import SHOWN_CHARACTERS, FormatError, NumberedLine, end_error, numbered_lines, whole_of, wholes_of

# --- The project of a benchmark file, in whatever format.

MOST = 100_000  # upper limit of the numbers of resources and machines


def checked_project(
    path: str | Path,
    tasks: Sequence[Task],
    resources: Sequence[Resource],
    links: Sequence[tuple[str, str]],
    objective: str = MAKESPAN,
    permutation: Sequence[str] = (),
) -> Project:
    """Make the project of a file.

    Parameters
    ----------
    path
        The file, for the error message.
    tasks, resources
        The tasks and resources.
    links
        Precedence pairs (task, successor).
    objective
        The objective.
    permutation
        The resources on which the order of the jobs is the same.

    Returns
    -------
    Project
        The project.

    Raises
    ------
    ProblemError
        The data contradict themselves; the message begins with the path.
    """
    try:
        return Project(tasks, resources, links, objective, permutation=permutation)
    except ProblemError as e:
        raise ProblemError(f"{path}: {e}") from None


# --- Readers of project scheduling benchmarks: PSPLIB, MMLIB and the Patterson format.


@checked
def read_psplib(path: str | Path) -> Project:
    """Read an RCPSP or MRCPSP instance of PSPLIB (``.sm``, ``.mm``).

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Project
        Tasks are named by their numbers, from "1"; the dummy source and sink are included.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.
    ProblemError
        The data contradict themselves, for example a cycle of precedences.

    References
    ----------
    .. [1] R. Kolisch and A. Sprecher, "PSPLIB - A project scheduling problem library", European Journal of Operational
       Research 96 (1996), 205-216.

    Examples
    --------
    >>> project = read_psplib("j301_1.sm")  # doctest: +SKIP
    >>> len(project.tasks), [resource.capacity for resource in project.resources]  # doctest: +SKIP
    (32, [12, 13, 4, 12])
    """
    lines = numbered_lines(path)
    renewable, non_renewable = _resource_counts(lines)
    names = [f"R{k + 1}" for k in range(renewable)] + [f"N{k + 1}" for k in range(non_renewable)]
    links, modes_of = _psplib_precedences(lines)
    modes = _psplib_modes(lines, names, modes_of)
    for task, (count, line) in modes_of.items():
        if len(modes.get(task, ())) != count:
            raise line.error(
                f"{how_many(count, 'mode')} of job {task} under REQUESTS/DURATIONS (there are {len(modes.get(task, ()))})"
            )
    limits = _section(lines, r"RESOURCE ?AVAILABILITIES")
    if len(limits) < 2:
        raise lines[-1].error("the capacities under RESOURCEAVAILABILITIES")
    capacities = limits[1].exactly(len(names), f"{len(names)} capacities")
    for line in lines[lines.index(limits[1]) + 1 :]:
        if line.text.strip(" \t*"):
            raise line.error("the end of the file after the capacities")
    resources = [Resource(n, c, n[0] == "R") for n, c in zip(names, capacities, strict=True)]
    return checked_project(path, [Task(name, tuple(modes.get(name, ()))) for name in modes_of], resources, links)


@checked
def read_mmlib(path: str | Path) -> Project:
    """Read an MRCPSP instance of MMLIB50, MMLIB100 or MMLIB+. The format is that of the ``.mm`` files of PSPLIB.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Project
        Tasks are named by their numbers, from "1"; the dummy source and sink are included.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.
    ProblemError
        The data contradict themselves, for example a cycle of precedences.

    References
    ----------
    .. [1] V. Van Peteghem and M. Vanhoucke, "An experimental investigation of metaheuristics for the multi-mode
       resource-constrained project scheduling problem on new dataset instances", European Journal of Operational
       Research 235 (2014), 62-72.

    Examples
    --------
    >>> project = read_mmlib("J5011_5.txt")  # doctest: +SKIP
    >>> len(project.tasks), sum(len(task.modes) for task in project.tasks)  # doctest: +SKIP
    (52, 152)
    """
    return read_psplib(path)


def _section(lines: Sequence[NumberedLine], title: str) -> list[NumberedLine]:
    """Return the lines after a title, up to the next line of asterisks, without lines of dashes."""
    begins = [k for k, line in enumerate(lines) if re.match(rf"\s*{title}", line.text, re.IGNORECASE)]
    if not begins:
        raise end_error(lines, f"a section {title.replace(' ?', ' ')} before the end")
    if len(begins) > 1:
        raise lines[begins[1]].error("each section once, one project per file")
    section_lines = []
    for line in lines[begins[0] + 1 :]:
        if line.text.lstrip().startswith("*"):
            break
        if not line.text.lstrip().startswith("-" * 5):
            section_lines.append(line)
    return section_lines


def _resource_counts(lines: Sequence[NumberedLine]) -> tuple[int, int]:
    """Return the numbers of renewable and non-renewable resources. Raises FormatError for doubly constrained ones."""
    counts = []
    for kind in ("renewable", "nonrenewable", "doubly constrained"):
        line = next((x for x in lines if re.match(rf"\s*-\s*{kind}", x.text)), lines[0])
        match = re.search(r":\s*(\w+)", line.text)
        count = None
        if match:
            count = whole_of(match[1], most=MOST)
        if count is None:
            raise line.error(f"a line '- {kind} : number', at most {MOST:,}")
        counts.append(count)
        if kind == "doubly constrained" and counts[-1]:
            raise line.error("no doubly constrained resources (give each as a renewable and a non-renewable one)")
    return counts[0], counts[1]


def _psplib_precedences(
    lines: Sequence[NumberedLine],
) -> tuple[list[tuple[str, str]], dict[str, tuple[int, NumberedLine]]]:
    """Return the precedence pairs, and task -> (number of modes, line)."""
    links = list[tuple[str, str]]()
    modes = dict[str, tuple[int, NumberedLine]]()
    for line in _section(lines, "PRECEDENCE RELATIONS")[1:]:
        task, count, successors, *after = line.numbers("job, number of modes, number of successors, successors", 3)
        if len(after) != successors:
            raise line.error(f"{successors} successors")
        if str(task) in modes:
            raise line.error(
                f"each job once under PRECEDENCE RELATIONS (job {task} is in line {modes[str(task)][1].number})"
            )
        modes[str(task)] = (count, line)
        links += [(str(task), str(other)) for other in after]
    stated = next((x for x in lines if re.match(r"\s*jobs\b.*:", x.text, re.IGNORECASE)), None)
    if stated is not None and stated.text.rpartition(":")[2].strip() != str(len(modes)):
        raise stated.error(f"the number of jobs under PRECEDENCE RELATIONS, {len(modes)}")
    return links, modes


def _psplib_modes(
    lines: Sequence[NumberedLine], resources: Sequence[str], jobs: Container[str]
) -> dict[str, list[Mode]]:
    """Return task -> modes. Only the line of the first mode of a task begins with the number of the task."""
    modes: dict[str, list[Mode]] = {}
    task = ""
    wanted = f"[job] mode duration and {how_many(len(resources), 'demand')}"
    for line in _section(lines, "REQUESTS/DURATIONS")[1:]:
        values = line.numbers(wanted)
        if len(values) == len(resources) + 3:
            task = str(values.pop(0))
            if task not in jobs or task in modes:
                raise line.error(f"each job of PRECEDENCE RELATIONS once (this is a line of job {task})")
        if len(values) != len(resources) + 2 or not task:
            raise line.error(wanted)
        demands = {r: d for r, d in zip(resources, values[2:], strict=True) if d}
        modes.setdefault(task, []).append(Mode(str(values[0]), values[1], demands))
    return modes


@checked
def read_patterson(path: str | Path) -> Project:
    r"""Read an RCPSP instance in the Patterson format (such as RG30, RG300).

    The file has whole numbers separated by spaces or line breaks: numbers of tasks and of resources, capacities, then
    for each task its duration, demands, number of successors and successors.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Project
        Tasks are named by their numbers, from "1".

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.
    ProblemError
        The data contradict themselves, for example a cycle of precedences.

    References
    ----------
    .. [1] J. H. Patterson, "A comparison of exact approaches for solving the multiple constrained resource, project
       scheduling problem", Management Science 30 (1984), 854-867.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.rcp")
    ...     _ = file.write_text("2 1\n4\n3 2 1 2\n5 4 0\n")
    ...     project = read_patterson(file)
    >>> [task.shortest for task in project.tasks], project.precedences
    ([3, 5], (('1', '2', 0),))
    """
    take = _Numbers(numbered_lines(path))
    n = take.next("the number of tasks")
    k = take.next("the number of resources")
    resources = [Resource(f"R{r + 1}", take.next(f"the capacity of resource {r + 1}")) for r in range(k)]
    tasks = []
    links = list[tuple[str, str]]()
    for t in range(1, n + 1):
        duration = take.next(f"the duration of task {t}")
        demands = {r.name: take.next(f"the demand of task {t} for {r.name}") for r in resources}
        tasks.append(Task.single(str(t), duration, {r: d for r, d in demands.items() if d}))
        successors = take.next(f"the number of successors of task {t}")
        links.extend((str(t), str(take.next(f"a successor of task {t}"))) for _ in range(successors))
    take.end(f"the end of the file after {how_many(n, 'task')}")
    return checked_project(path, tasks, resources, links)


class _Numbers:
    """The whole numbers of a file in order, each with its line."""

    def __init__(self, lines: Sequence[NumberedLine]) -> None:
        self._last = lines[-1]
        self._words: Iterator[tuple[NumberedLine, str]] = ((line, w) for line in lines for w in line.text.split())

    def next(self, expected: str) -> int:
        """Return the next number. Raises FormatError for another word or the end of the file."""
        line, word = next(self._words, (self._last, ""))
        values = wholes_of([word])
        if values is None:
            raise FormatError(line.path, line.number, expected, word[:SHOWN_CHARACTERS] or "the end of the file")
        return values[0]

    def end(self, expected: str) -> None:
        """Check that no word is left. Raises FormatError."""
        line, word = next(self._words, (self._last, ""))
        if word:
            raise FormatError(line.path, line.number, expected, word[:SHOWN_CHARACTERS])


# --- Reader of projects with minimal and maximal time lags (RCPSP/max) in the format of ProGen/max.

LAG = re.compile(r"\[\s*(-?\d{1,12})\s*\]", re.ASCII)


def read_progen_max(path: str | Path) -> ProjectMax:
    r"""Read a project with time lags (``.sch`` of PSPLIB: RCPSP/max).

    The first line has the numbers of activities (without the dummy source and sink) and of renewable resources. Then follows
    for each activity, from 0: its number, 1 (mode), the number of successors, the successors, the lag to each of them in
    brackets; then for each: its number, 1, its duration and demands; then the capacities.

    A lag l of an arc from i to j means: start of j >= start of i + l. A negative one says that i starts at most -l after j.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    ProjectMax
        Tasks are named by their numbers, from "0"; the dummy source and sink are included.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.
    ProblemError
        The data contradict themselves.

    References
    ----------
    .. [1] C. Schwindt, "Generation of resource-constrained project scheduling problems subject to temporal constraints",
       report WIOR-543, University of Karlsruhe, 1998.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "one.sch")
    ...     _ = file.write_text("1 1 0 0\n0 1 1 1 [2]\n1 1 2 2 0 [3] [-5]\n2 1 0\n0 1 0 0\n1 1 3 1\n2 1 0 0\n1\n")
    ...     project = read_progen_max(file)
    >>> project.precedences, project.lags
    ((('0', '1', 2), ('1', '2', 0)), (('0', '1', 5),))
    """
    lines = numbered_lines(path)
    head = lines[0].numbers("the numbers of activities and resources", least=2)
    count = head[0] + 2
    resources = head[1]
    if count > MOST or resources > MOST:
        raise lines[0].error(f"the numbers of activities and resources (at most {MOST:,})")
    if len(lines) > 2 * count + 2:
        raise lines[2 * count + 2].error("the end of the file after the capacities")
    if len(lines) < 2 * count + 2:
        raise end_error(
            lines, f"{how_many(2 * count + 2, 'line')}: two for each of {count} activities, and the capacities"
        )
    names = [f"R{k + 1}" for k in range(resources)]
    tasks = [_task(line, k, names) for k, line in enumerate(lines[count + 1 : 2 * count + 1])]
    capacities = lines[2 * count + 1].exactly(resources, f"{resources} capacities")
    links: list[tuple[str, str, int]] = []
    lags: list[tuple[str, str, int]] = []
    for k, line in enumerate(lines[1 : count + 1]):
        for other, lag in _arcs(line, k, count):
            if lag < 0:
                lags.append((str(other), str(k), -lag))
            else:
                links.append((str(k), str(other), lag - tasks[k].shortest))
    try:
        return ProjectMax(tasks, [Resource(n, c) for n, c in zip(names, capacities, strict=True)], links, lags)
    except ProblemError as e:
        raise ProblemError(f"{path}: {e}") from None


def _task(line: NumberedLine, k: int, names: Sequence[str]) -> Task:
    expected = f"activity {k}, mode 1, its duration and {how_many(len(names), 'demand')}"
    values = line.numbers(expected)
    if len(values) != 3 + len(names) or values[:2] != [k, 1]:
        raise line.error(expected)
    return Task.single(str(k), values[2], {n: d for n, d in zip(names, values[3:], strict=True) if d})


def _arcs(line: NumberedLine, k: int, count: int) -> list[tuple[int, int]]:
    """Return the successors of an activity, each with its lag."""
    expected = f"activity {k}, mode 1, the number of successors, the successors, and a lag in brackets for each"
    lags = [whole_of(lag, -LATEST) for lag in LAG.findall(line.text)]
    values = wholes_of(LAG.sub(" ", line.text).split())
    if values is None or len(values) < 3 or values[:2] != [k, 1]:
        raise line.error(expected)
    others = values[3:]
    if not values[2] == len(others) == len(lags) or any(other >= count for other in others):
        raise line.error(expected)
    known = [(other, lag) for other, lag in zip(others, lags, strict=True) if lag is not None]
    if len(known) < len(lags):
        raise line.error(f"lags from {-LATEST} to {LATEST}")
    return known


def is_progen_max(lines: Sequence[NumberedLine]) -> bool:
    """Return whether a file begins with four numbers and then has an activity 0 with lags in brackets."""
    first = lines[0].text.split()
    return len(first) >= 2 and wholes_of(first) is not None and len(lines) > 1 and bool(LAG.search(lines[1].text))


# --- Formats of projects with alternative subgraphs, which are refused by their names.


def subgraphs_fault(lines: Sequence[NumberedLine]) -> FormatError | None:
    """Return the error of a file whose project chooses among subgraphs: RCPSP-PS [1]_ and ASLIB [2]_; None for others.

    References
    ----------
    .. [1] T. van der Beek, J. T. van Essen, J. Pruyn and K. Aardal, "Exact solution methods for the resource constrained project
       scheduling problem with a flexible project structure" (2024).
    .. [2] T. Servranckx and M. Vanhoucke, "A tabu search procedure for the resource-constrained project scheduling problem with
       alternative subgraphs", European Journal of Operational Research 273 (2019), 841-860.
    """
    for name, line in (("RCPSP-PS", _selection_groups(lines)), ("ASLIB", _subgraphs(lines))):
        if line is not None:
            expected = (
                f"a project without alternative subgraphs; files of {name}, which choose among them, are not supported"
            )
            return FormatError(line.path, line.number, expected, line.text.strip()[:SHOWN_CHARACTERS])
    return None


def _selection_groups(lines: Sequence[NumberedLine]) -> NumberedLine | None:
    """Return the first line of selection groups: an RCPSP-PS file has three lines per activity after two of the head."""
    if len(lines) < 5:
        return None
    head, capacities = (wholes_of(line.text.split()) for line in lines[:2])
    if head is None or capacities is None or len(head) != 3 or len(lines) != 2 + 3 * head[0]:
        return None
    if len(capacities) != head[1] + head[2]:
        return None
    for k in range(head[0]):
        work, groups, after = (wholes_of(line.text.split()) for line in lines[2 + 3 * k : 5 + 3 * k])
        if work is None or groups is None or after is None or len(work) != 1 + len(capacities):
            return None
        if len(after) != 1 + after[0] or not _are_groups(groups):
            return None
    return lines[3]


def _are_groups(values: Sequence[int]) -> bool:
    """Return whether numbers are a number of groups, then for each a number of activities and these."""
    at = 1
    for _ in range(values[0]):
        if at >= len(values):
            return False
        at += 1 + values[at]
    return at == len(values)


def _subgraphs(lines: Sequence[NumberedLine]) -> NumberedLine | None:
    """Return the line with the three shares at which the subgraphs of an ASLIB file begin."""
    for k, line in enumerate(lines[:-1]):
        words = line.text.split()
        if len(words) == 3 and all(re.fullmatch(r"[01]\.\d{1,12}", word, re.ASCII) for word in words):
            count = wholes_of(lines[k + 1].text.split())
            graphs = [wholes_of(each.text.split()) for each in lines[k + 2 : k + 2 + (count or [0])[0]]]
            known = [graph for graph in graphs if graph is not None and len(graph) == 1 + graph[0]]
            if count is not None and len(count) == 1 and count[0] and len(known) == count[0]:
                return line
    return None


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
        skill = SKILL.search(line.text)
        head = None
        if skill:
            head = wholes_of(line.text[: skill.start()].split())
        before = None
        if skill:
            before = wholes_of(line.text[skill.end() :].split())
        if skill is None or head is None or before is None or len(head) != 2:
            raise line.error("the number of a task, its duration, its skill with a level, and its predecessors")
        able = [person for person, known in skills.items() if known.get(skill[1], -1) >= int(skill[2])]
        if not able:
            raise line.error(f"a skill {skill[1]} of level {skill[2]} that a resource has")
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
    head = []
    if project:
        head = project[0].numbers("the numbers of activities, resources, skills and skill levels", least=4)
    if not head:
        raise end_error(lines, "the numbers of activities, resources, skills and skill levels")
    activities, persons, skills = head[:3]
    if max(activities, persons, skills) > MOST:
        raise project[0].error(f"numbers up to {MOST:,}")
    rows = []
    if activities:
        rows = project[-activities:]
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
    if text.startswith("\\*"):
        return text.strip("\\* ").lower()
    return ""


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
