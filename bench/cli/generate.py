"""``bench generate``: one sub-command for each generator of instances."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ...instances import generators, write
from ...instances.formats.swf import write_swf
from ...instances.generators.eurora import KINDS
from ...instances.generators.eurora_production import LEAST
from ...instances.generators.lublin import lublin_workload
from ...instances.generators.projects import MOST_MODES, MOST_RESOURCES, MOST_TASKS, NEAR
from ...models.platform import LATEST, MOST_NODES
from ...models.words import how_many, how_many_of
from ..errors import WrongUse, writing
from ..terminal import say
from .options import NamedCommands

MOST_JOBS = 1_000_000
MOST_LOGGED = 5_000_000
MOST_DAYS = 36_525
Out = Annotated[Path, typer.Option(help="folder of the instance to write")]
Seed = Annotated[int, typer.Option(help="random seed; the same seed gives the same files")]


class Generators(NamedCommands):
    """The generators as sub-commands; an unknown name is an error that lists similar names."""

    what = "generator"


generate_app = typer.Typer(cls=Generators, no_args_is_help=True, subcommand_metavar="GENERATOR [OPTIONS]")


@generate_app.callback()
def generate() -> None:
    """Generate an instance from the statistics of a machine.

    Help for one generator: bench generate centre --help

    Example: bench generate eurora --jobs 700 --seed 7 --out my_day
    """


def machine(
    context: typer.Context,
    out: Out,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of jobs")] = 700,
    seed: Seed = 7,
    nodes: Annotated[
        int | None, typer.Option(min=1, max=MOST_NODES, help="number of nodes; default: that of the real machine")
    ] = None,
) -> None:
    """Generate a moment of Theta (eviction problem).

    Example: bench generate theta --jobs 24 --seed 1 --out my_moment
    """
    sizes = {} if nodes is None else {"nodes": nodes}
    _generate(str(context.info_name), out, jobs, seed, sizes)


def eurora(
    out: Out,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of jobs")] = 700,
    seed: Seed = 7,
    nodes: Annotated[int | None, typer.Option(min=1, max=MOST_NODES, help="number of nodes: 65 (default) or 4")] = None,
    kinds: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=len(KINDS),
            help=f"number of kinds of resources, the first of {', '.join(KINDS)}; each but cores is on half of the nodes "
            "and requested by 30 % of the jobs; default: cores, GPUs, MICs and memory as on Eurora",
        ),
    ] = None,
    units_factor: Annotated[
        float | None,
        typer.Option(
            help="factor of the number of units of each job; walltimes stay, so that the workload grows with it"
        ),
    ] = None,
) -> None:
    """Generate a day of Eurora (dispatch problem).

    Example: bench generate eurora --jobs 700 --seed 7 --out my_day

    Example: bench generate eurora --jobs 100 --nodes 4 --kinds 3 --out my_small_day

    Example: bench generate eurora --jobs 700 --units-factor 1.5 --out my_heavy_day
    """
    given = {"nodes": nodes, "kinds": kinds, "units_factor": units_factor}
    _generate("eurora", out, jobs, seed, {name: value for name, value in given.items() if value is not None})


def production(
    out: Out,
    jobs: Annotated[
        int, typer.Option(min=LEAST, max=MOST_JOBS, help="number of jobs, arrays counted once, without the course")
    ] = 400,
    seed: Seed = 7,
) -> None:
    """Generate a week of Eurora in production (dispatch problem): reservations, outages, job arrays, heterogeneous jobs.

    What is added to the days of Eurora is described in schedlab/instances/generators.

    Example: bench generate eurora-production --jobs 400 --seed 7 --out my_week
    """
    _generate("eurora-production", out, jobs, seed, {})


def centre(
    out: Out,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of jobs")] = 1000,
    nodes: Annotated[int, typer.Option(min=1, max=MOST_NODES, help="number of nodes, each with 32 cores")] = 60,
    days: Annotated[
        int,
        typer.Option(min=1, max=MOST_DAYS, help="number of days on which jobs are submitted; the first is a Monday"),
    ] = 5,
    load: Annotated[float, typer.Option(help="offered load: work of the jobs / capacity of the machine")] = 1.5,
    seed: Seed = 7,
    shortest: Annotated[int, typer.Option(min=1, max=LATEST, help="least runtime of a job in seconds")] = 1,
    step: Annotated[int, typer.Option(min=1, max=LATEST, help="all times are multiples of this, in seconds")] = 1,
) -> None:
    """Generate jobs of a computing centre: a profit problem with the eight scenarios of Bridi's thesis.

    Submit times, sizes, runtimes and users follow the Curie log; the measured statistics are in
    schedlab/instances/generators.

    Example: bench generate centre --jobs 1000 --nodes 60 --days 5 --load 1.5 --seed 4 --out my_batch

    Example: bench generate centre --jobs 60 --nodes 8 --days 2 --seed 25 --shortest 600 --step 60 --out my_small_batch
    """
    _generate(
        "centre", out, jobs, seed, {"nodes": nodes, "days": days, "load": load, "shortest": shortest, "step": step}
    )


def project(
    out: Out,
    tasks: Annotated[int, typer.Option(min=1, max=MOST_TASKS, help="number of tasks")] = 30,
    modes: Annotated[int, typer.Option(min=1, max=MOST_MODES, help="number of modes of a task")] = 3,
    renewable: Annotated[int, typer.Option(min=0, max=MOST_RESOURCES, help="number of renewable resources")] = 2,
    nonrenewable: Annotated[int, typer.Option(min=0, max=MOST_RESOURCES, help="number of non-renewable resources")] = 2,
    complexity: Annotated[float, typer.Option(min=0, max=NEAR, help="precedences per task")] = 1.5,
    factor: Annotated[float, typer.Option(min=0, max=1, help="probability that a task uses a resource")] = 0.75,
    strength: Annotated[
        float,
        typer.Option(min=0, max=1, help="capacities: 0 for the least possible ones, 1 for the greatest useful ones"),
    ] = 0.25,
    seed: Seed = 1,
) -> None:
    """Generate a project with modes and resources (RCPSP, MRCPSP), after ProGen.

    Example: bench generate project --tasks 30 --modes 1 --nonrenewable 0 --out my_project

    Example: bench generate project --tasks 16 --modes 2 --seed 3 --out my_small_project
    """
    sizes = {"modes": modes, "renewable": renewable, "nonrenewable": nonrenewable}
    ratios = {"complexity": complexity, "factor": factor, "strength": strength}
    _generate("project", out, tasks, seed, sizes | ratios, "tasks")


def fing(
    out: Out,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of jobs")] = 1000,
    nodes: Annotated[int, typer.Option(min=2, max=MOST_NODES, help="number of nodes, each with 12 cores")] = 37,
    users: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of users, with uneven shares")] = 20,
    load: Annotated[
        float, typer.Option(help="offered load: work of the jobs / capacity of the machine; the jobs are few and long")
    ] = 4.0,
    estimates: Annotated[
        str,
        typer.Option(
            help="how users estimate walltimes: cf (as on Cluster FING), cfg (half of the users well), be (all badly), "
            "ge (all well)"
        ),
    ] = "cf",
    seed: Seed = 1,
) -> None:
    """Generate a workload of Cluster FING (dispatch problem), for the penalty scheduling policy.

    bench simulate --users replaces its walltimes by those of users who learn.

    Example: bench generate fing --load 6 --seed 1 --out my_fing

    Example: bench simulate my_fing --dispatchers psp,easy --users di --by user-accuracy
    """
    _generate("fing", out, jobs, seed, {"nodes": nodes, "users": users, "load": load, "estimates": estimates})


def lublin(
    out: Annotated[Path, typer.Option(help="folder of the instance to write, or a log: a file that ends in .swf")],
    jobs: Annotated[int, typer.Option(min=1, max=MOST_LOGGED, help="number of jobs")] = 10_000,
    nodes: Annotated[int, typer.Option(min=2, max=MOST_NODES, help="number of identical nodes")] = 512,
    load: Annotated[float, typer.Option(help="offered load: work of the jobs / capacity of the machine")] = 0.8,
    largest: Annotated[int | None, typer.Option(min=2, help="nodes of the largest job; default: all nodes")] = None,
    longest: Annotated[int, typer.Option(min=300, help="longest runtime and walltime in s")] = 86_400,
    users: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of users, with uneven shares")] = 100,
    cores: Annotated[int, typer.Option(min=1, help="cores of a node; each job takes whole nodes")] = 1,
    seed: Seed = 1,
) -> None:
    """Generate rigid jobs on identical nodes after Lublin and Feitelson: an instance (dispatch problem), or a log.

    Example: bench generate lublin --jobs 10000 --nodes 512 --load 0.9 --out my_jobs

    Example: bench generate lublin --jobs 1300000 --nodes 158976 --largest 256 --out month.swf
    """
    sizes: dict[str, Any] = {
        "nodes": nodes,
        "load": load,
        "largest": largest,
        "longest": longest,
        "users": users,
        "cores": cores,
    }
    if out.suffix != ".swf":
        if jobs > MOST_JOBS:
            raise WrongUse(
                f"--jobs {jobs}: expected at most {MOST_JOBS} for an instance; more fit in a log (--out {out}.swf)"
            )
        _generate("lublin", out, jobs, seed, sizes)
        return
    try:
        with writing(out):
            write_swf(lublin_workload(jobs, seed, **sizes), nodes, out, cores)
    except ValueError as e:
        raise WrongUse(f"lublin: {e}") from e
    say(f"{out}: {how_many(jobs, 'job')}, seed {seed}; to replay it: bench simulate {out}")


def _generate(name: str, out: Path, jobs: int, seed: int, sizes: dict[str, Any], what: str = "jobs") -> None:
    try:
        with writing(out):
            write(generators[name](jobs, seed, **sizes), out)
    except ValueError as e:
        raise WrongUse(f"{name}: {e}") from e
    say(f"{out}: {how_many_of(jobs, what)}, seed {seed}; to see it: bench show {out}")


ABOUT = {
    "eurora": "days of the Eurora supercomputer (dispatch problems)",
    "eurora-production": "a week of Eurora with reservations, outages and server events (dispatch problem)",
    "theta": "moments of the Theta supercomputer (eviction problems)",
    "centre": "jobs of a computing centre (profit problems)",
    "fing": "workloads of Cluster FING (dispatch problems)",
    "lublin": "rigid jobs on identical nodes: dispatch problems, or logs of millions of jobs",
    "project": "projects with modes and resources (RCPSP, MRCPSP)",
}
OWN: dict[str, Callable[..., None]] = {
    "eurora": eurora,
    "eurora-production": production,
    "centre": centre,
    "project": project,
    "fing": fing,
    "lublin": lublin,
}
for _name in generators:
    generate_app.command(_name, short_help=ABOUT.get(_name, _name))(OWN.get(_name, machine))
