"""Reader of projects with minimal and maximal time lags (RCPSP/max) in the format of ProGen/max."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ....models.platform import LATEST, ProblemError
from ....models.project.tasks import Resource, Task
from ....models.project.time_lags import ProjectMax
from ...files.numbers import whole_of
from ..numbered_lines import NumberedLine, end_error, numbered_lines, wholes_of
from ..projects import MOST

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
    count, resources = head[0] + 2, head[1]
    if count > MOST or resources > MOST:
        raise lines[0].error(f"the numbers of activities and resources (at most {MOST:,})")
    if len(lines) > 2 * count + 2:
        raise lines[2 * count + 2].error("the end of the file after the capacities")
    if len(lines) < 2 * count + 2:
        raise end_error(lines, f"{2 * count + 2} lines: two for each of {count} activities, and the capacities")
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
    expected = f"activity {k}, mode 1, its duration and {len(names)} demands"
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
    found = [(other, lag) for other, lag in zip(others, lags, strict=True) if lag is not None]
    if len(found) < len(lags):
        raise line.error(f"lags from {-LATEST} to {LATEST}")
    return found


def is_progen_max(lines: Sequence[NumberedLine]) -> bool:
    """Return whether a file begins with four numbers and then has an activity 0 with lags in brackets."""
    first = lines[0].text.split()
    return len(first) >= 2 and wholes_of(first) is not None and len(lines) > 1 and bool(LAG.search(lines[1].text))
