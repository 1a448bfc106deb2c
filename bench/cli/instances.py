"""The commands about one instance: ``bench list``, ``show``, ``explain``, ``export``.

- ``list``, ``show``: the instances, and what one contains.
- ``explain``: why a problem is infeasible, as text or JSON; its progress on the standard error.
- ``export``: a formulation of an instance is written in the file format of a solver, or as the model's JSON.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ...backends import UnknownName
from ...backends import compile as lower
from ...backends.minizinc import to_minizinc
from ...backends.solver_thread import INTERRUPTED
from ...explain import explain as explain_infeasible
from ...instances import load, names
from ...instances.files.writing import move_whole, write_whole
from ...methods import SolverMethod, parse_method
from ...models.elements import Progress
from ...models.kind import encoding_of
from ...models.language import Model
from ...models.problem import Problem
from ...models.words import how_many, how_many_of
from ..errors import WrongUse, writing
from ..replays.settings import OF_LOGS, PROBLEM, SETTINGS
from ..terminal import console_for, say
from .options import Drop, InstanceName, Part, with_options


def list_instances() -> None:
    """List the shipped instances.

    Example: bench list
    """
    from ..tables.instances import list_instances as print_list

    print_list(console_for(), [load(name) for name in names()])


@with_options(SETTINGS, ("site", "on_unknown", "format", *OF_LOGS))
def show(
    instance: InstanceName,
    *,
    drop_impossible: Drop = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="cooling tables, profiles, logs, sites: file of a picture to write, such as air.svg"),
    ] = None,
    composition: Annotated[
        bool, typer.Option("--composition", help="only the numbers of jobs per queue, accelerator and number of cores")
    ] = False,
    forecasts: Annotated[
        str | None,
        typer.Option(
            help="logs: the scores of these forecasts of the next day's jobs, such as persistence,weekly; or all"
        ),
    ] = None,
    **settings: Any,
) -> None:
    """Show an instance: platform, queues, jobs, objective.

    INSTANCE may be a log (SWF, sacct, ...): what was repaired and left out when it was read, its largest queues, users and
    classes of jobs, and the jobs and nodes per hour.

    INSTANCE may also be a cooling table: air, hybrid, or a CSV file. Its PUE and its cooling power are shown for several
    temperatures and IT powers.

    INSTANCE may also be a desired profile, a CSV file time_s,resource,share[,nodes].

    INSTANCE may also be a site: a site.toml, slurm.conf, pbsnodes -av, or a folder of such files. Its classes of nodes,
    partitions, QOS and limits of accounts are shown, and what of it no replay obeys.

    Example: bench show eurora_700

    Example: bench show air --plot air.svg

    Example: bench show day-night.csv --plot profile.svg

    Example: bench show log.swf --nodes 256 --cores 16 --plot hours.svg

    Example: bench show jobs.txt --nodes 64 --cores 48 --per-node gpus=4 --zone Europe/Rome

    Example: bench show jobs.txt --site site.toml

    Example: bench show site.toml --plot site.svg

    Example: bench show eurora_700 --composition

    Example: bench show log.swf --nodes 256 --cores 16 --forecasts persistence,weekly,learned
    """
    from ..tables.inputs import Shown, show_file

    show_file(Shown(instance, settings, plot, composition, forecasts, drop_impossible), console_for())


SECONDS = 1.0  # least time between two lines of progress


@with_options()
def explain(
    instance: InstanceName,
    *,
    part: Part,
    objective_limit: Annotated[
        str | None,
        typer.Option(
            help="why is no objective at least as good as this? several objectives: 3600,120", rich_help_panel=PROBLEM
        ),
    ] = None,
    backend: Annotated[str, typer.Option(help="the backend that checks parts of the problem")] = "cpsat",
    time_limit: Annotated[float, typer.Option(min=0.001, help="seconds")] = 60.0,
    threads: Annotated[int | None, typer.Option(min=1, help="threads of the solver; default: its own")] = None,
    seed: Annotated[int, typer.Option(min=0, help="random seed of the solver")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="print the answer as JSON")] = False,
) -> None:
    """Explain why an instance is infeasible.

    The answer is a minimal set of jobs, resources, windows and limits that cannot hold together. Exit code 0 if it was found,
    or if the instance is feasible; 1 if that was not decided in the time given, or if the
    solver was found to be wrong.

    Example: bench explain my_day --at 12:00

    Example: bench explain project_small --objective-limit 20
    """
    is_decided = explain_problem(part.problem(instance), objective_limit, backend, time_limit, threads, seed, as_json)
    raise typer.Exit(0 if is_decided else 1)


def explain_problem(
    problem: Problem,
    objective_limit: str | None,
    backend: str,
    time_limit: float,
    threads: int | None,
    seed: int,
    as_json: bool,
) -> bool:
    """Print why a problem is infeasible; return whether it was decided.

    Raises
    ------
    WrongUse
        The limit of the objective has not the expected form, or the objective cannot be limited.
    KeyboardInterrupt
        Ctrl-C, before the problem was proven infeasible.
    """
    try:
        explanation = explain_infeasible(
            problem,
            objective_limit=None if objective_limit is None else parse_limits(objective_limit),
            backend=backend,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            on_progress=_Lines(),
        )
    except TypeError as e:
        raise WrongUse(str(e)) from e
    if explanation.status == "unknown" and explanation.why == INTERRUPTED:
        raise KeyboardInterrupt
    say(json.dumps(explanation.as_json(), indent=2) if as_json else str(explanation))
    return explanation.status in ("feasible", "infeasible")


def parse_limits(text: str) -> list[float | None]:
    """Return the limits of the objectives of "3600,120"; an empty part is no limit. Raises WrongUse.

    Examples
    --------
    >>> parse_limits("3600"), parse_limits(",120")
    ([3600.0], [None, 120.0])
    """
    try:
        return [float(part) if part.strip() else None for part in text.split(",")]
    except ValueError as e:
        raise WrongUse(
            f"--objective-limit {text}: expected a number, or one for each objective, such as 3600,120"
        ) from e


class _Lines:
    """Print a line of progress at most once per second, when the infeasible set has become smaller."""

    def __init__(self) -> None:
        self.size: int | None = None
        self.at = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        if progress.size != self.size and time.monotonic() - self.at > SECONDS:
            self.size = progress.size
            self.at = time.monotonic()
            say(f"{progress.seconds:.0f} s: {how_many(progress.size or 0, 'element')} cannot hold together", error=True)


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
    if form not in OF_MODEL:
        made, size = _compiled(model, backend, method.compile_options)
    else:
        made = model
        size = _size(model)
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
