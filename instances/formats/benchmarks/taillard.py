"""Readers of job shops and open shops in the format of Taillard: a block of times, then a block of machines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from ....models.project.problem import Project
from ....models.project.tasks import Resource, Task
from ..numbered_lines import NumberedLine, end_error, numbered_lines, wholes_of
from ..projects import MOST, checked_project

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
    return "open shop" if any(text.startswith("processing times") for text in words) else "job shop"


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
        raise end_error(listed, f"{jobs} rows of durations and {jobs} rows of machines", f"{len(rows)} rows")
    if len(rows) > 2 * jobs:
        raise rows[2 * jobs].error(f"the end of the file after {2 * jobs} rows; one shop per file")
    last = listed[-1]
    if last is not rows[-1]:
        raise last.error(f"the end of the file after {2 * jobs} rows")
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
