"""``bench import`` of a project: a file of a benchmark library is converted to an instance folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from ...instances import (
    FormatError,
    Instance,
    read_fjsplib,
    read_jsplib,
    read_mmlib,
    read_patterson,
    read_psplib,
    write,
)
from ...models.project.problem import Project
from ..errors import WrongUse
from ..terminal import say


class Library(NamedTuple):
    """A file format of projects: its reader, and what it is, for the help."""

    read: Callable[[Path], Project]
    about: str


LIBRARIES = {
    "psplib": Library(read_psplib, "project (RCPSP, MRCPSP): .sm, .mm of PSPLIB"),
    "mmlib": Library(read_mmlib, "project with modes (MRCPSP): MMLIB50, MMLIB100, MMLIB+"),
    "patterson": Library(read_patterson, "project (RCPSP): Patterson format, .rcp"),
    "jsplib": Library(read_jsplib, "job shop: standard text format"),
    "fjsplib": Library(read_fjsplib, "flexible job shop: .fjs"),
}


def import_project(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="file of the benchmark library, plain or gz")],
    out: Annotated[Path, typer.Option(help="folder of the instance to write")],
    name: Annotated[str | None, typer.Option(help="name in the description; default: name of the file")] = None,
) -> None:
    """Convert a project of a benchmark library to an instance.

    The instance can be used with bench show, run, verify and plot.

    Example: bench import psplib j301_1.sm --out j301_1

    Example: bench import jsplib ft10.txt --out ft10
    """
    form = str(context.info_name)
    instance = as_instance(file, form, name or file.name.removesuffix(".gz").partition(".")[0])
    try:
        write(instance, out)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    say(f"{out}: {instance.description}; to see it: bench show {out}")


def as_instance(file: Path, form: str, name: str) -> Instance:
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
        The instance.

    Raises
    ------
    WrongUse
        The file does not follow the format; the message has the line.
    ProblemError
        The data contradict themselves; the message begins with the file.
    """
    try:
        project = LIBRARIES[form].read(file)
    except FormatError as e:
        raise WrongUse(str(e)) from e
    tasks, modes = len(project.tasks), sum(len(t.modes) for t in project.tasks)
    with_modes = "" if modes == tasks else f" with {modes} modes"
    description = f"{name}: {_count(tasks, 'task')}{with_modes}, {_count(len(project.resources), 'resource')}"
    return Instance(name, "project", project, description=description, source=f"{form} file {file.name}")


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
