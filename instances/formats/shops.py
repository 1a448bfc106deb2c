"""Readers of machine shops: job shops, flexible job shops, flow shops, open shops and single machines; each gives a project."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from ...models.arguments import Positive, checked
from ...models.project.problem import Mode, Project, Resource, Task
from ...models.words import how_many
from ..files.reading import FormatError, NumberedLine, decimal_of, end_error, numbered_lines, wholes_of
from .projects import MOST, checked_project

# --- Job shops and flexible job shops.

UNUSED = re.compile(r"\d{1,20}(\.\d{0,40})?", re.ASCII)  # a mean of machines per step: "1.50837988826816"
Steps = list[list[tuple[int, int]]]  # per step of a job the (machine, duration) pairs of the eligible machines


@checked
def read_jsplib(path: str | Path) -> Project:
    r"""Read a job shop in the standard text format, as JSPLIB has it.

    The first line has the numbers of jobs and machines. Then follows one line per job with its (machine, duration)
    pairs. Machines are numbered from 0.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Project
        Tasks are named "job 1 step 1" and so on; each machine is a resource of capacity 1.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.
    ProblemError
        The data contradict themselves, for example a cycle of precedences.

    References
    ----------
    .. [1] E. Taillard, "Benchmarks for basic scheduling problems", European Journal of Operational Research 64 (1993),
       278-285.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "small.txt")
    ...     _ = file.write_text("2 2\n0 3 1 2\n1 4 0 1\n")
    ...     project = read_jsplib(file)
    >>> [task.name for task in project.tasks][:2], project.horizon
    (['job 1 step 1', 'job 1 step 2'], 10)
    """
    lines = numbered_lines(path)
    lines[0].exactly(2, "the numbers of jobs and machines")
    jobs, machines = _size(lines[0])
    steps_of = []
    for line in _rows(lines, jobs):
        values = line.exactly(2 * machines, f"{how_many(machines, 'pair')} of machine and duration")
        steps = [[(values[i], values[i + 1])] for i in range(0, len(values), 2)]
        _check_machines(line, steps, range(machines))
        steps_of.append(steps)
    return _shop(path, steps_of, range(machines))


@checked
def read_fjsplib(path: str | Path) -> Project:
    r"""Read a flexible job shop (``.fjs``).

    The first line has the numbers of jobs and machines, perhaps a mean number of machines per step. Then follows one line per job:
    its number of steps, and for each step the number of eligible machines and their (machine, duration) pairs. Machines
    are numbered from 1.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Project
        Tasks are named "job 1 step 1" and so on; a task has one mode per eligible machine, named by it.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.
    ProblemError
        The data contradict themselves, for example a cycle of precedences.

    References
    ----------
    .. [1] P. Brandimarte, "Routing and scheduling in a flexible job shop by tabu search", Annals of Operations Research
       41 (1993), 157-183.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "small.fjs")
    ...     _ = file.write_text("1 2 1.5\n2 1 1 3 2 1 4 2 2\n")
    ...     project = read_fjsplib(file)
    >>> [mode.name for mode in project.tasks[1].modes]
    ['machine 1', 'machine 2']
    """
    lines = numbered_lines(path)
    jobs, machines = _size(lines[0])
    rows = _rows(lines, jobs)
    words = sum(len(line.text.split()) for line in rows)
    if machines > words:  # each machine becomes a resource, and the head alone must not take memory
        raise lines[0].error(
            f"a number of machines of at most the {how_many(words, 'number')} that the lines of the jobs have"
        )
    steps_of = []
    for line in rows:
        steps = _flexible_steps(line)
        _check_machines(line, steps, range(1, machines + 1))
        steps_of.append(steps)
    return _shop(path, steps_of, range(1, machines + 1))


def _size(line: NumberedLine) -> tuple[int, int]:
    """Return the numbers of jobs and of machines; a third number, of machines per step, is not used."""
    head = line.text.split()
    counts = wholes_of(head[:2])
    if not 2 <= len(head) <= 3 or counts is None or not all(map(UNUSED.fullmatch, head[2:])):
        raise line.error("the numbers of jobs and machines")
    jobs, machines = counts
    if not jobs or not 1 <= machines <= MOST:
        raise line.error(f"the numbers of jobs (at least 1) and machines (1 to {MOST:,})")
    return jobs, machines


def _rows(lines: Sequence[NumberedLine], jobs: int) -> Sequence[NumberedLine]:
    if len(lines) - 1 < jobs:
        raise end_error(lines, f"{how_many(jobs, 'line')}, one per job", f"{len(lines) - 1} of them")
    if len(lines) - 1 > jobs:
        raise lines[jobs + 1].error(f"the end of the file after {how_many(jobs, 'job')}")
    return lines[1:]


def _flexible_steps(line: NumberedLine) -> Steps:
    values = line.numbers("steps, and per step machines with durations", least=1)
    steps: Steps = []
    at = 1
    for _ in range(values[0]):
        count = 0
        if at < len(values):
            count = values[at]
        pairs = values[at + 1 : at + 1 + 2 * count]
        if not count or len(pairs) != 2 * count:
            raise line.error(
                f"{how_many(values[0], 'step')}, each with a number of machines and that number of pairs (step {len(steps) + 1})"
            )
        steps.append([(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2)])
        at += 1 + 2 * count
    if at != len(values):
        raise line.error(f"the end of the line after {how_many(values[0], 'step')}")
    return steps


def _check_machines(line: NumberedLine, steps: Steps, machines: range) -> None:
    for k, options in enumerate(steps, 1):
        for machine, _ in options:
            if machine not in machines:
                raise line.error(f"machines from {machines[0]} to {machines[-1]} (step {k} has machine {machine})")


def _shop(path: str | Path, steps_of: Sequence[Steps], machines: range) -> Project:
    """Make a project with a resource of capacity 1 per machine, and a chain of precedences per job."""
    tasks, links = [], []
    for j, steps in enumerate(steps_of, 1):
        for k, options in enumerate(steps, 1):
            modes = tuple(Mode(f"machine {m}", d, {f"machine {m}": 1}) for m, d in options)
            tasks.append(Task(f"job {j} step {k}", modes))
            if k > 1:
                links.append((f"job {j} step {k - 1}", f"job {j} step {k}"))
    return checked_project(path, tasks, [Resource(f"machine {m}", 1) for m in machines], links)


# --- Reader of flow shops in the format of Taillard: a row of durations per machine.


@checked
def read_flow_shop(path: str | Path, permutation: bool = False) -> Project:
    r"""Read a flow shop in the format of Taillard.

    A line has the numbers of jobs and machines, perhaps a seed and bounds; then follows a row per machine with the duration
    of each job. Lines of words between them are ignored. A file with several flow shops is refused.

    Every job visits the machines in their order. Without ``permutation``, the order of the jobs may differ from machine to
    machine, as in a job shop; makespans of *permutation* flow shops in the literature are then upper bounds of the optimum.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).
    permutation
        Whether the jobs have the same order on all machines. Durations of 0 are then refused.

    Returns
    -------
    Project
        Tasks are named "job 1 step 1" and so on; each machine is a resource of capacity 1.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.
    ProblemError
        With ``permutation``, a duration is 0.

    References
    ----------
    .. [1] E. Taillard, "Benchmarks for basic scheduling problems", European Journal of Operational Research 64 (1993),
       278-285.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "shop.txt")
    ...     _ = file.write_text("3 2 873654221 9 8\nprocessing times :\n1 2 3\n4 5 6\n")
    ...     project = read_flow_shop(file)
    >>> [task.shortest for task in project.tasks], project.precedences[0]
    ([1, 4, 2, 5, 3, 6], ('job 1 step 1', 'job 1 step 2', 0))
    """
    listed = numbered_lines(path)
    lines = [line for line in listed if line.begins_with_number()] or listed
    head = lines[0].numbers("the numbers of jobs and machines", least=2)
    jobs, machines = head[0], head[1]
    if not jobs or not 0 < machines <= MOST:
        raise lines[0].error(f"the numbers of jobs (at least 1) and machines (1 to {MOST:,})")
    if len(lines) - 1 < machines:
        raise end_error(
            lines, f"{how_many(machines, 'row')} of durations, one per machine", f"{len(lines) - 1} of them"
        )
    if len(lines) - 1 > machines:
        raise lines[machines + 1].error(
            f"the end of the file after {how_many(machines, 'row')}; one flow shop per file"
        )
    if listed[-1] is not lines[-1]:
        raise listed[-1].error(f"the end of the file after {how_many(machines, 'row')}")
    rows = [line.exactly(jobs, f"{jobs} durations") for line in lines[1:]]
    tasks = [
        Task.single(
            f"job {j + 1} step {m + 1}",
            rows[m][j],
            {f"machine {m}": 1},
            job=f"job {j + 1}" if permutation else "",
        )
        for j in range(jobs)
        for m in range(machines)
    ]
    links = [(f"job {j + 1} step {m}", f"job {j + 1} step {m + 1}") for j in range(jobs) for m in range(1, machines)]
    names = [f"machine {m}" for m in range(machines)]
    resources = [Resource(name, 1) for name in names]
    return checked_project(path, tasks, resources, links, permutation=names if permutation else ())


def is_flow_shop(lines: Sequence[NumberedLine]) -> bool:
    """Return whether the lines of numbers are a head and rows of as many durations as there are jobs, one per machine.

    A job shop has a row per job of twice as many numbers as there are machines.
    """
    rows = [line.text.split() for line in lines if line.begins_with_number()]
    sizes = None
    if len(rows) > 1:
        sizes = wholes_of(rows[0][:2])
    if sizes is None or len(sizes) < 2:
        return False
    jobs, machines = sizes
    titled = len(rows) < len(lines)  # then a second flow shop in the file is a fault of a flow shop
    if not titled:
        rest = rows[1:]
    else:
        rest = rows[1 : machines + 1]
    return len(rest) == machines and all(len(row) == jobs for row in rest) and (titled or jobs != 2 * machines)


# --- Readers of job shops and open shops in the format of Taillard: a block of times, then a block of machines.

Rows = list[list[int]]  # a row per job


def read_taillard_job_shop(path: str | Path) -> Project:
    r"""Read a job shop in the format of Taillard.

    A line has the numbers of jobs and machines, perhaps seeds and bounds. Then follow the durations, a row per job with
    its steps in their order, and the machines of the steps, numbered from 1 (or from 0), a row per job. Lines of words,
    such as ``Times`` and ``Machines``, stand between them or are missing. A file with several shops is refused.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Project
        Tasks are named "job 1 step 1" and so on; each machine is a resource of capacity 1.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.

    References
    ----------
    .. [1] E. Taillard, "Benchmarks for basic scheduling problems", European Journal of Operational Research 64 (1993),
       278-285.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "shop.txt")
    ...     _ = file.write_text("2 2 7 9 8 8\nTimes\n3 2\n4 1\nMachines\n1 2\n2 1\n")
    ...     project = read_taillard_job_shop(file)
    >>> [task.shortest for task in project.tasks], dict(project.tasks[2].modes[0].demands)
    ([3, 2, 4, 1], {'machine 2': 1})
    """
    times, machines, names = _blocks(path)
    tasks = [
        Task.single(_step(j, k), times[j][k], {names[machine]: 1})
        for j, row in enumerate(machines)
        for k, machine in enumerate(row)
    ]
    links = [(_step(j, k - 1), _step(j, k)) for j, row in enumerate(machines) for k in range(1, len(row))]
    return checked_project(path, tasks, [Resource(name, 1) for name in names], links)


def read_taillard_open_shop(path: str | Path) -> Project:
    r"""Read an open shop in the format of Taillard.

    The file is that of a job shop (``read_taillard_job_shop``), but a job may have its steps in any order, one at a time.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Project
        Tasks are named "job 1 step 1" and so on, without precedences. Each machine and each job is a resource of
        capacity 1.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.

    References
    ----------
    .. [1] E. Taillard, "Benchmarks for basic scheduling problems", European Journal of Operational Research 64 (1993),
       278-285.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "shop.txt")
    ...     _ = file.write_text("2 2 7 9 8 8\nprocessing times :\n3 2\n4 1\nmachines :\n1 2\n2 1\n")
    ...     project = read_taillard_open_shop(file)
    >>> dict(project.tasks[2].modes[0].demands), project.precedences
    ({'machine 2': 1, 'job 2': 1}, ())
    """
    times, machines, names = _blocks(path)
    tasks = [
        Task.single(_step(j, k), times[j][k], {names[machine]: 1, f"job {j + 1}": 1})
        for j, row in enumerate(machines)
        for k, machine in enumerate(row)
    ]
    resources = [*names, *(f"job {j + 1}" for j in range(len(times)))]
    return checked_project(path, tasks, [Resource(name, 1) for name in resources], [])


def shop_of_taillard(lines: Sequence[NumberedLine]) -> str | None:
    """Return "job shop" or "open shop" if a file has a block of times and one of machines; else None.

    The lines of words tell it: "open shop" or "job shop", else "processing times", which Taillard has in open shops, and
    "times" in job shops. Without any such words it is a job shop.
    """
    words = [line.text.strip(" \t:").lower() for line in lines if not line.begins_with_number()]
    if words and not any(text.startswith("machines") for text in words):
        return None
    if not words and not _has_both_blocks(lines):
        return None
    for shop in ("open shop", "job shop"):
        if any(shop in text.replace("-", " ") for text in words):
            return shop
    if any(text.startswith("processing times") for text in words):
        return "open shop"
    return "job shop"


def _step(job: int, step: int) -> str:
    return f"job {job + 1} step {step + 1}"


def _has_both_blocks(lines: Sequence[NumberedLine]) -> bool:
    """Return whether lines of numbers are a head, a row of durations per job, and a row of all machines per job."""
    head, *rows = [line.text.split() for line in lines]
    sizes = wholes_of(head[:2])
    if sizes is None or len(sizes) < 2 or not rows or len(rows) != 2 * sizes[0]:
        return False
    values = [wholes_of(row) for row in rows if len(row) == sizes[1]]
    known = [row for row in values if row is not None]
    return len(known) == len(rows) and _first_machine(known[len(rows) // 2 :]) is not None


def _first_machine(machines: Rows) -> int | None:
    """Return the number of the first machine, 1 or 0; None if a row has not every machine once."""
    for first in (1, 0):
        if all(sorted(row) == list(range(first, first + len(row))) for row in machines):
            return first
    return None


def _blocks(path: str | Path) -> tuple[Rows, Rows, list[str]]:
    """Return the durations and the machines (from 0) of the steps of each job, and the names of the machines."""
    listed = numbered_lines(path)
    lines = [line for line in listed if line.begins_with_number()] or listed
    head = lines[0].numbers("the numbers of jobs and machines, perhaps seeds and bounds", least=2)
    jobs, machines = head[0], head[1]
    if not jobs or not 1 <= machines <= MOST:
        raise lines[0].error(f"the numbers of jobs (at least 1) and machines (1 to {MOST:,})")
    rows = lines[1:]
    if len(rows) < 2 * jobs:
        raise end_error(
            listed,
            f"{how_many(jobs, 'row')} of durations and {how_many(jobs, 'row')} of machines",
            how_many(len(rows), "row"),
        )
    if len(rows) > 2 * jobs:
        raise rows[2 * jobs].error(f"the end of the file after {how_many(2 * jobs, 'row')}; one shop per file")
    last = listed[-1]
    if last is not rows[-1]:
        raise last.error(f"the end of the file after {how_many(2 * jobs, 'row')}")
    _check_titles(listed, rows[0], rows[jobs])
    times = [line.exactly(machines, f"{machines} durations, one per step of the job") for line in rows[:jobs]]
    orders = [line.exactly(machines, f"{machines} machines, one per step of the job") for line in rows[jobs:]]
    first = _first_machine(orders[:1])
    for line, order in zip(rows[jobs:], orders, strict=True):
        if first is None or sorted(order) != list(range(first, first + machines)):
            raise line.error(f"the machines from 1 to {machines}, each once")
    names = [f"machine {m}" for m in range(first or 0, machines + (first or 0))]
    return times, [[machine - (first or 0) for machine in order] for order in orders], names


def _check_titles(lines: Sequence[NumberedLine], times: NumberedLine, machines: NumberedLine) -> None:
    """Check that lines of words stand before the head and before the two blocks only."""
    for before, line in pairwise(lines):
        if before is lines[0] or before.begins_with_number() or not line.begins_with_number():
            continue
        if line not in (times, machines) and before.number > times.number:
            raise before.error("words only before the durations and before the machines")


# --- Weighted tardiness: wt40, wt50, wt100.

PROBLEMS = 125  # in each file
HEAVIEST = 10  # of the weights


@checked
def read_weighted_tardiness(path: str | Path, number: Positive | None = None) -> Project:
    r"""Read a problem of total weighted tardiness on one machine (``wt40``, ``wt50``, ``wt100`` of the OR-Library).

    A file has 125 problems. Of each it has the n durations, the n weights and the n due dates of the jobs.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).
    number
        Which of the problems, from 1 to 125. None: the file has one problem, in three lines.

    Returns
    -------
    Project
        Tasks are named "job 1" and so on. The objective is "weighted-tardiness".

    Raises
    ------
    FormatError
        The file does not follow the format, or has not this number of problems; the message has the line.

    References
    ----------
    .. [1] H. A. J. Crauwels, C. N. Potts and L. N. Van Wassenhove, "Local search heuristics for the single machine total
       weighted tardiness scheduling problem", INFORMS Journal on Computing 10 (1998), 341-350.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "three.txt")
    ...     _ = file.write_text("2 3 1\n5 1 2\n4 4 1\n")
    ...     project = read_weighted_tardiness(file)
    >>> [(t.shortest, t.weight, t.due) for t in project.tasks]
    [(2, 5, 4), (3, 1, 4), (1, 2, 1)]
    """
    lines = numbered_lines(path)
    rows = [line.numbers("durations, weights or due dates") for line in lines]
    values = [value for row in rows for value in row]
    if number is None:
        if len(rows) != 3 or len({len(row) for row in rows}) > 1:
            wanted = (
                f"the number of one of its {PROBLEMS} problems, such as bench import weighted-tardiness FILE --number 1, or three "
                "lines: durations, weights and due dates"
            )
            raise FormatError(Path(path), 1, wanted, f"{len(values):,} numbers")
        number = 1
        jobs = len(rows[0])
    else:
        jobs = len(values) // (3 * PROBLEMS)
        if not jobs or len(values) % (3 * PROBLEMS):
            raise end_error(lines, f"{PROBLEMS} problems, with as many numbers each", f"{len(values):,} numbers in all")
        if number > PROBLEMS:
            raise FormatError(Path(path), 1, f"a number of a problem up to {PROBLEMS}", str(number))
    first = 3 * jobs * (number - 1)
    durations, weights, due = (values[first + k * jobs : first + (k + 1) * jobs] for k in range(3))
    tasks = [
        Task.single(f"job {j}", duration, {"machine": 1}, due=date, weight=weight)
        for j, (duration, weight, date) in enumerate(zip(durations, weights, due, strict=True), 1)
    ]
    return checked_project(path, tasks, [Resource("machine", 1)], [], "weighted-tardiness")


def is_weighted_tardiness(lines: Sequence[NumberedLine]) -> bool:
    """Return whether a file has 125 problems of 40, 50 or 100 jobs, whose weights are 1 to 10."""
    if len(lines) < PROBLEMS:
        return False
    words = [word for line in lines for word in line.text.split()]
    jobs = len(words) // (3 * PROBLEMS)
    if jobs not in (40, 50, 100) or len(words) % (3 * PROBLEMS):
        return False
    weights = [word for k in range(PROBLEMS) for word in words[(3 * k + 1) * jobs : (3 * k + 2) * jobs]]
    known = wholes_of(weights)
    return known is not None and all(1 <= weight <= HEAVIEST for weight in known)


def is_one_weighted_tardiness(lines: Sequence[NumberedLine]) -> bool:
    """Return whether a file has three lines with as many whole numbers each: durations, weights and due dates.

    Files with two numbers in each line are left to other formats: job shops with one machine, knapsacks of two items.
    """
    rows = [wholes_of(line.text.split()) for line in lines]
    known = [row for row in rows if row is not None]
    sizes = {len(row) for row in known}
    return len(rows) == len(known) == 3 and len(sizes) == 1 and sizes != {2}


# --- Aircraft landing: airland1 to airland13.

LANDING = (
    "appearance",
    "earliest",
    "target",
    "latest",
)  # then the penalties of a unit of time before and after the target
NEVER = "99999"  # the separation of a plane from itself
SCALES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)  # by which penalties may be multiplied
Word = tuple[NumberedLine, str]


@checked
def read_aircraft_landing(path: str | Path, runways: Positive = 1) -> Project:
    r"""Read an aircraft landing problem (``airland1``, ... of the OR-Library).

    The file has the numbers of planes and the freeze time; then for each plane its times of appearance, earliest, target and
    latest landing, its penalties for each unit of time before and after the target, and its separations: the least time from
    its landing to that of each plane, on the same runway. Times of appearance and the freeze time are not used.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).
    runways
        Number of runways, >= 1. Planes on different runways keep no separation.

    Returns
    -------
    Project
        A task "plane 1" and so on has the duration 0 and starts at its landing; its due date is its target. The
        objective is "weighted-tardiness+weighted-earliness". Weights are whole numbers: where penalties have decimals, the
        objective is that of the file times ``penalty_scale``.

    Raises
    ------
    FormatError
        The file does not follow the format, or a penalty has more than 6 decimals; the message has the line.

    References
    ----------
    .. [1] J. E. Beasley, M. Krishnamoorthy, Y. M. Sharaiha and D. Abramson, "Scheduling aircraft landings - the static case",
       Transportation Science 34 (2000), 180-197.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.txt")
    ...     _ = file.write_text("2 10\n0 5 8 20 3 4\n99999 6\n0 6 9 30 1.0 2.0\n2 99999\n")
    ...     project = read_aircraft_landing(file)
    >>> project.tasks[1].release, project.tasks[1].due, project.tasks[1].deadline, project.resources[0].setups
    (6, 9, 30, {('plane 1', 'plane 2'): 6, ('plane 2', 'plane 1'): 2})
    """
    lines = numbered_lines(path)
    words = [(line, word) for line in lines for word in line.text.split()]
    planes = _planes(lines, len(words))
    tasks = []
    setups: dict[tuple[str, str], int] = {}
    used = [f"runway {k}" for k in range(1, runways + 1)]
    scale = _penalty_scale(words, planes)
    for p in range(1, planes + 1):
        at = 2 + (p - 1) * (6 + planes)
        _, earliest, target, latest = (_whole(words[at + k], f"the {LANDING[k]} time of plane {p}") for k in range(4))
        before, after = (int(scale * _penalty(words[at + k], p)) for k in (4, 5))
        modes = tuple(Mode(name, 0, {name: 1}) for name in used)
        tasks.append(Task(f"plane {p}", modes, earliest, latest, target, after, before))
        for q in range(1, planes + 1):
            if q != p:
                place = words[at + 5 + q]
                setups[f"plane {p}", f"plane {q}"] = _whole(place, f"the separation of planes {p} and {q}")
    resources = [Resource(name, 1, setups=setups, all_pairs=True) for name in used]
    return checked_project(path, tasks, resources, [], "weighted-tardiness+weighted-earliness")


def penalty_scale(path: str | Path) -> int:
    r"""Return the number by which the penalties of an aircraft landing problem are multiplied to be whole: 1, 10, 100, ...

    Raises FormatError if the file does not follow the format.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "one.txt")
    ...     _ = file.write_text("1 10\n0 5 8 20 3.25 4.5\n99999\n")
    ...     penalty_scale(file), read_aircraft_landing(file).tasks[0].weight
    (100, 450)
    """
    lines = numbered_lines(path)
    words = [(line, word) for line in lines for word in line.text.split()]
    return _penalty_scale(words, _planes(lines, len(words)))


def _penalty_scale(words: Sequence[Word], planes: int) -> int:
    places = [2 + p * (6 + planes) + k for p in range(planes) for k in (4, 5)]
    penalties = [_penalty(words[place], k // 2 + 1) for k, place in enumerate(places)]
    return next(scale for scale in SCALES if all((scale * penalty).denominator == 1 for penalty in penalties))


def _penalty(place: Word, plane: int) -> Fraction:
    """Return a penalty, exactly. Raises FormatError."""
    value = decimal_of(place[1])
    if value is None or (SCALES[-1] * Fraction(value)).denominator != 1:
        raise place[0].error(
            f"a penalty of plane {plane} with at most {len(SCALES) - 1} decimals (there is {place[1]})"
        )
    return Fraction(value)


def is_aircraft_landing(lines: Sequence[NumberedLine]) -> bool:
    """Return whether a file has as many numbers as planes need, and the separation of the first plane from itself."""
    head = wholes_of(lines[0].text.split())
    if head is None or len(head) != 2 or not head[0] or len(lines) < 3 or len(lines[1].text.split()) != 6:
        return False
    words = sum(len(line.text.split()) for line in lines)
    return words == 2 + head[0] * (6 + head[0]) and lines[2].text.split()[0] == NEVER


def _planes(lines: Sequence[NumberedLine], words: int) -> int:
    """Return the number of planes. Raises FormatError if the file has not as many numbers as they need."""
    head = lines[0].numbers("the number of planes and the freeze time", least=2)
    planes = head[0]
    if not 1 <= planes <= MOST:
        raise lines[0].error(f"the number of planes (1 to {MOST:,}) and the freeze time")
    needed = 2 + planes * (6 + planes)
    if words != needed:
        raise end_error(lines, f"{needed:,} numbers: 6 and {planes} separations for each plane", f"{words:,} numbers")
    return planes


def _whole(place: Word, expected: str) -> int:
    """Return a whole number, which may be written as 10.00. Raises FormatError for anything else."""
    value = decimal_of(place[1])
    if value is None or (isinstance(value, Fraction) and value.denominator != 1):
        raise place[0].error(f"{expected}, a whole number (there is {place[1]})")
    return int(value)
