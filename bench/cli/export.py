"""Writes a formulation of an instance in a solver's own file format."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...backends import compile as lower
from ...methods import parse_method
from ...models.problem import Problem
from ..errors import WrongUse

Write = Callable[[Any, Path], None]


def _cpsat(native: Any, path: Path) -> None:
    if not native.export_to_file(str(path)):
        raise WrongUse(f"{path}: OR-Tools could not write the model")


def _highs(native: Any, path: Path) -> None:
    import highspy

    native.setOptionValue("output_flag", False)
    if native.writeModel(str(path)) == highspy.HighsStatus.kError:
        raise WrongUse(f"{path}: HiGHS could not write the model")


def _cpo(native: Any, path: Path) -> None:
    native.export_model(str(path))


def _pyomo(native: Any, path: Path) -> None:
    native.write(str(path), format="nl")


# format -> backend, how it is written, suffix that the writer needs
FORMATS: dict[str, tuple[str, Write, str]] = {
    "mps": ("highs", _highs, ".mps"),
    "lp": ("highs", _highs, ".lp"),
    "cpo": ("cpo", _cpo, ".cpo"),
    "cpsat": ("cpsat", _cpsat, ".pb.txt"),
    "pyomo": ("pyomo", _pyomo, ".nl"),
}


def export(problem: Problem, formulation: str, form: str, out: Path) -> dict[str, int]:
    """Write the formulation (as in a method, "counts" or "pool@900s") to a file, whole or not at all.

    Formats: mps, lp (the linear form, by HiGHS), cpo (CP Optimizer), cpsat (OR-Tools' CpModelProto; binary if the file's
    name ends with .pb, else text), pyomo (AMPL's nl, by Pyomo). Returns the size of the native model.
    """
    backend, write, suffix = FORMATS[form]
    method = parse_method(f"{backend}:{formulation}", problem)
    compiled = lower(problem.formulations[method.formulation]().model, backend, **method.options)
    if form == "cpsat" and out.suffix == ".pb":
        suffix = ".pb"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".export-") as beside:
            made = Path(beside) / f"model{suffix}"
            write(compiled.native, made)
            os.replace(made, out)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    return compiled.size
