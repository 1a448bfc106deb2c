"""The benchmark libraries whose files are read: projects, shops, knapsacks; and the instance of such a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ...models.knapsack.problem import Knapsack
from ...models.project.problem import Project
from ..formats.benchmarks.flow_shops import read_flow_shop
from ..formats.benchmarks.knapsacks import read_knapsack
from ..formats.benchmarks.progen_max import read_progen_max
from ..formats.benchmarks.taillard import read_taillard_job_shop, read_taillard_open_shop
from ..formats.job_shop_files import read_fjsplib, read_jsplib
from ..formats.project_files import read_mmlib, read_patterson, read_psplib
from ..instance import Instance


class Library(NamedTuple):
    """A file format: its reader, what it is, for the help, and whether its problems can be instance folders."""

    read: Callable[[Path], Project | Knapsack]
    about: str
    folder: bool = True


LIBRARIES = {
    "psplib": Library(read_psplib, "project (RCPSP, MRCPSP): .sm, .mm of PSPLIB"),
    "mmlib": Library(read_mmlib, "project with modes (MRCPSP): MMLIB50, MMLIB100, MMLIB+"),
    "patterson": Library(read_patterson, "project (RCPSP): Patterson format, .rcp"),
    "jsplib": Library(read_jsplib, "job shop: standard text format"),
    "fjsplib": Library(read_fjsplib, "flexible job shop: .fjs"),
    "taillard": Library(read_flow_shop, "flow shop: Taillard's format, one per file"),
    "taillard-job-shop": Library(read_taillard_job_shop, "job shop: Taillard's format, times and machines"),
    "taillard-open-shop": Library(read_taillard_open_shop, "open shop: Taillard's format, times and machines"),
    "progen-max": Library(read_progen_max, "project with maximal time lags (RCPSP/max): .sch of ProGen/max", False),
    "knapsack": Library(read_knapsack, "0-1 knapsack: items and capacity, then value and weight of each", False),
}
ENDINGS = (".gz", ".sm", ".mm", ".rcp", ".fjs", ".sch", ".kp", ".txt", ".dat")


def library_name(path: str | Path) -> str:
    """Return the name of the instance of a file: its file name without the ending of its format.

    Examples
    --------
    >>> library_name("jsp/ft06.txt"), library_name("j301_1.sm.gz"), library_name("knapPI_1_100_1000_1")
    ('ft06', 'j301_1', 'knapPI_1_100_1000_1')
    """
    name = Path(path).name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name or Path(path).name


def library_instance(file: Path, form: str, name: str) -> Instance:
    """Read a file of a benchmark library.

    Parameters
    ----------
    file
        The file.
    form
        Its format, one of ``LIBRARIES``.
    name
        Name of the instance.

    Returns
    -------
    Instance
        The instance; its ``path`` is the file.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.
    ProblemError
        The data contradict themselves; the message begins with the file.
    """
    problem = LIBRARIES[form].read(file)
    if isinstance(problem, Knapsack):
        description = f"{name}: {_count(len(problem.items), 'item')}, capacity {float(problem.capacity):g}"
    else:
        tasks, modes = len(problem.tasks), sum(len(t.modes) for t in problem.tasks)
        with_modes = "" if modes == tasks else f" with {modes} modes"
        description = f"{name}: {_count(tasks, 'task')}{with_modes}, {_count(len(problem.resources), 'resource')}"
    return Instance(name, problem.kind, problem, file, description, f"{form} file {file.name}")


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
