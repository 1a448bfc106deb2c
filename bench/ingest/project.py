"""``bench import`` of a project: a file of a benchmark library is converted to an instance folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...instances import FormatError, Instance, write
from ...instances.classic.libraries import LIBRARIES, library_instance
from ..errors import WrongUse
from ..terminal import say

__all__ = ["LIBRARIES", "as_instance", "import_project"]


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
    """Read a file of a benchmark library, one of ``LIBRARIES``. Raises WrongUse with the line of a fault, ProblemError."""
    try:
        return library_instance(file, form, name)
    except FormatError as e:
        raise WrongUse(str(e)) from e
