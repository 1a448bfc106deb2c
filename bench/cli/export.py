"""``bench export``: a formulation of an instance is written in the file format of a solver, or as the model's JSON."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ...backends import UnknownName
from ...backends import compile as lower
from ...backends.minizinc import to_minizinc
from ...instances.files.writing import move_whole, write_whole
from ...methods import SolverMethod, parse_method
from ...models.formulations import encoding_of
from ...models.language import Model
from ...models.problem import Problem
from ...models.words import how_many_of
from ..errors import WrongUse, writing
from ..terminal import say
from .options import InstanceName, Part, with_options

Write = Callable[[Any, Path], None]


def _cpsat(compiled: Any, path: Path) -> None:
    if not compiled.native.export_to_file(str(path)):
        raise WrongUse(f"{path}: OR-Tools could not write the model")


def _highs(compiled: Any, path: Path) -> None:
    import highspy

    native = compiled.named()
    native.setOptionValue("output_flag", False)
    if native.writeModel(str(path)) == highspy.HighsStatus.kError:
        raise WrongUse(f"{path}: HiGHS could not write the model")


def _cpo(compiled: Any, path: Path) -> None:
    compiled.native.export_model(str(path))


def _json(model: Model, path: Path) -> None:
    write_whole(path, model.to_json())


def _minizinc(model: Model, path: Path) -> None:
    write_whole(path, to_minizinc(model))


def _pyomo(compiled: Any, path: Path) -> None:
    compiled.named().write(str(path), format="nl", io_options={"symbolic_solver_labels": True})


# format: backend, function that writes the file, file name suffix which that function requires
FORMATS: dict[str, tuple[str, Write, str]] = {
    "mps": ("highs", _highs, ".mps"),
    "lp": ("highs", _highs, ".lp"),
    "cpo": ("cpo", _cpo, ".cpo"),
    "cpsat": ("cpsat", _cpsat, ".pb.txt"),
    "pyomo": ("pyomo", _pyomo, ".nl"),
    "json": ("cpsat", _json, ".json"),  # the model itself; a backend without lowerings
    "mzn": ("cpsat", _minizinc, ".mzn"),
}
OF_MODEL = ("json", "mzn")  # formats that are written from the model, without a backend


@with_options()
def export(
    instance: InstanceName,
    *,
    out: Annotated[Path, typer.Option(help="file to write")],
    formulation: Annotated[
        str, typer.Option(help="formulation and lowering, as in a method: counts, classes, pool@900s")
    ] = "",
    form: Annotated[
        str,
        typer.Option(
            "--format",
            "--to",
            help="mps, lp, cpo, cpsat (text; binary for a .pb file), pyomo (nl), mzn (MiniZinc) or json (the model)",
        ),
    ] = "mps",
    part: Part,
) -> None:
    """Write a formulation as a solver's file.

    Example: bench export eurora_99 --formulation pool@900s --format mps --out pool.mps

    Example: bench export model.json --to mzn --out model.mzn
    """
    if form not in FORMATS:
        raise UnknownName("format", form, list(FORMATS))
    size = write_model(part.problem(instance), formulation, form, out)
    say(f"{out}: " + ", ".join(how_many_of(n, what, ",") for what, n in size.items()))


def write_model(problem: Problem, formulation: str, form: str, out: Path) -> Mapping[str, int]:
    """Write a formulation of a problem to a file, completely or not at all.

    Parameters
    ----------
    problem
        The problem.
    formulation
        The formulation and lowering as in a method: ``counts``, ``pool@900s``.
    form
        A key of ``FORMATS``: ``mps`` and ``lp`` (the linear form, by HiGHS), ``cpo`` (CP Optimizer), ``cpsat`` (the
        CpModelProto of OR-Tools: binary if the file name ends with .pb, else text), ``pyomo`` (AMPL's nl, by Pyomo),
        ``json`` (the model itself, for ``sl.Model.from_json``), ``mzn`` (MiniZinc).
    out
        The file.

    Returns
    -------
    dict
        The size of the native model, or of the model itself: number of variables, constraints, ...

    Raises
    ------
    WrongUse
        The file cannot be written.
    """
    backend, write, suffix = FORMATS[form]
    method = parse_method(f"{backend}:{formulation}", problem)
    assert isinstance(method, SolverMethod)  # each format has a backend
    model = encoding_of(problem, method.formulation).model
    made, size = _compiled(model, backend, method.compile_options) if form not in OF_MODEL else (model, _size(model))
    if form == "cpsat" and out.suffix == ".pb":
        suffix = ".pb"
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".export-") as temporary:
            path = Path(temporary) / f"model{suffix}"
            write(made, path)
            move_whole(path, out)
            for names in path.parent.glob(f"{path.stem}.*"):  # of the variables and constraints of a .nl file
                move_whole(names, out.with_suffix(names.suffix))
    return size


def _compiled(model: Model, backend: str, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, int]]:
    compiled = lower(model, backend, **options)
    return compiled, compiled.size


def _size(model: Model) -> dict[str, int]:
    return {what: len(getattr(model, what)) for what in ("intervals", "integers", "constraints")}
