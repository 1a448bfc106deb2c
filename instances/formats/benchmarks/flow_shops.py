"""Reader of flow shops in the format of Taillard: a row of durations per machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ....models.project.problem import Project
from ....models.project.tasks import Resource, Task
from ..numbered_lines import NumberedLine, end_error, numbered_lines, wholes_of
from ..projects import MOST, checked_project


def read_flow_shop(path: str | Path) -> Project:
    r"""Read a flow shop in the format of Taillard.

    A line has the numbers of jobs and machines, perhaps a seed and bounds; then follows a row per machine with the duration
    of each job. Lines of words between them are ignored. A file with several flow shops is refused.

    Every job visits the machines in their order. As in a job shop, the order of the jobs may differ from machine to
    machine; makespans of *permutation* flow shops in the literature are therefore upper bounds of the optimum.

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
        raise end_error(lines, f"{machines} rows of durations, one per machine", f"{len(lines) - 1} of them")
    if len(lines) - 1 > machines:
        raise lines[machines + 1].error(f"the end of the file after {machines} rows; one flow shop per file")
    if listed[-1] is not lines[-1]:
        raise listed[-1].error(f"the end of the file after {machines} rows")
    rows = [line.exactly(jobs, f"{jobs} durations") for line in lines[1:]]
    tasks = [
        Task.single(f"job {j + 1} step {m + 1}", rows[m][j], {f"machine {m}": 1})
        for j in range(jobs)
        for m in range(machines)
    ]
    links = [(f"job {j + 1} step {m}", f"job {j + 1} step {m + 1}") for j in range(jobs) for m in range(1, machines)]
    return checked_project(path, tasks, [Resource(f"machine {m}", 1) for m in range(machines)], links)


def is_flow_shop(lines: Sequence[NumberedLine]) -> bool:
    """Return whether the lines of numbers are a head and rows of as many durations as there are jobs, one per machine.

    A job shop has a row per job of twice as many numbers as there are machines.
    """
    rows = [line.text.split() for line in lines if line.begins_with_number()]
    sizes = wholes_of(rows[0][:2]) if len(rows) > 1 else None
    if sizes is None or len(sizes) < 2:
        return False
    jobs, machines = sizes
    titled = len(rows) < len(lines)  # then a second flow shop in the file is a fault of a flow shop
    rest = rows[1:] if not titled else rows[1 : machines + 1]
    return len(rest) == machines and all(len(row) == jobs for row in rest) and (titled or jobs != 2 * machines)
