"""Readers of job shop and flexible job shop benchmarks; both give a project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...models.arguments import checked
from ...models.project.problem import Project
from ...models.project.tasks import Mode, Resource, Task
from .numbered_lines import NumberedLine, decimal_of, end_error, numbered_lines, wholes_of
from .projects import MOST, checked_project

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
        values = line.exactly(2 * machines, f"{machines} pairs of machine and duration")
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
        raise lines[0].error(f"a number of machines of at most the {words} numbers that the lines of the jobs have")
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
    if not 2 <= len(head) <= 3 or counts is None or None in map(decimal_of, head[2:]):
        raise line.error("the numbers of jobs and machines")
    jobs, machines = counts
    if not jobs or not 1 <= machines <= MOST:
        raise line.error(f"the numbers of jobs (at least 1) and machines (1 to {MOST:,})")
    return jobs, machines


def _rows(lines: Sequence[NumberedLine], jobs: int) -> Sequence[NumberedLine]:
    if len(lines) - 1 < jobs:
        raise end_error(lines, f"{jobs} lines, one per job", f"{len(lines) - 1} of them")
    if len(lines) - 1 > jobs:
        raise lines[jobs + 1].error(f"the end of the file after {jobs} jobs")
    return lines[1:]


def _flexible_steps(line: NumberedLine) -> Steps:
    values = line.numbers("steps, and per step machines with durations", least=1)
    steps: Steps = []
    at = 1
    for _ in range(values[0]):
        count = values[at] if at < len(values) else 0
        pairs = values[at + 1 : at + 1 + 2 * count]
        if not count or len(pairs) != 2 * count:
            raise line.error(
                f"{values[0]} steps, each with a number of machines and that number of pairs (step {len(steps) + 1})"
            )
        steps.append([(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2)])
        at += 1 + 2 * count
    if at != len(values):
        raise line.error(f"the end of the line after {values[0]} steps")
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
