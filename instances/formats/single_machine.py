"""Readers of single-machine problems of the OR-Library: weighted tardiness, aircraft landing; each gives a project."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from ...models.arguments import Positive, checked
from ...models.project.problem import Mode, Project, Resource, Task
from .numbered_lines import FormatError, NumberedLine, decimal_of, end_error, numbered_lines, wholes_of
from .projects import MOST, checked_project

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


# --- Aircraft landing: airland1 to airland13.

LANDING = (
    "appearance",
    "earliest",
    "target",
    "latest",
)  # then the penalties of a unit of time before and after the target
NEVER = "99999"  # the separation of a plane from itself


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
        A task "plane 1" and so on has the duration 1 and starts at its landing; its due date is its target plus 1. The
        objective is "weighted-tardiness+weighted-earliness".

    Raises
    ------
    FormatError
        The file does not follow the format, a penalty is no whole number, or a separation is 0; the message has the line.

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
    (6, 10, 31, {('plane 1', 'plane 2'): 5, ('plane 2', 'plane 1'): 1})
    """
    lines = numbered_lines(path)
    words = [(line, word) for line in lines for word in line.text.split()]
    planes = _planes(lines, len(words))
    tasks = []
    setups: dict[tuple[str, str], int] = {}
    used = [f"runway {k}" for k in range(1, runways + 1)]
    for p in range(1, planes + 1):
        at = 2 + (p - 1) * (6 + planes)
        _, earliest, target, latest = (_whole(words[at + k], f"the {LANDING[k]} time of plane {p}") for k in range(4))
        before, after = (_whole(words[at + k], f"a whole penalty of plane {p}") for k in (4, 5))
        modes = tuple(Mode(name, 1, {name: 1}) for name in used)
        tasks.append(Task(f"plane {p}", modes, earliest, latest + 1, target + 1, after, before))
        for q in range(1, planes + 1):
            if q != p:
                place = words[at + 5 + q]
                time = _whole(place, f"the separation of planes {p} and {q}")
                if not time:
                    raise place[0].error(f"a separation of at least 1 of planes {p} and {q}")
                setups[f"plane {p}", f"plane {q}"] = time - 1
    resources = [Resource(name, 1, setups=setups, all_pairs=True) for name in used]
    return checked_project(path, tasks, resources, [], "weighted-tardiness+weighted-earliness")


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


def _whole(place: tuple[NumberedLine, str], expected: str) -> int:
    """Return a whole number, which may be written as 10.00. Raises FormatError for anything else."""
    value = decimal_of(place[1])
    if value is None or (isinstance(value, Fraction) and value.denominator != 1):
        raise place[0].error(f"{expected}, a whole number (there is {place[1]})")
    return int(value)
