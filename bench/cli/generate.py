"""``bench generate``: a command per generator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...instances import generators, write
from ...models.platform import LATEST, MOST_NODES
from ..errors import WrongUse
from ..terminal import say
from .importing import Formats

MOST_JOBS, MOST_DAYS = 1_000_000, 36_525
Out = Annotated[Path, typer.Option(help="the folder to write")]
Seed = Annotated[int, typer.Option(help="the same seed gives the same bytes")]


class Generators(Formats):
    """The generators as commands; for a name that there is not, the near ones are told."""

    what = "generator"


generate_app = typer.Typer(cls=Generators, no_args_is_help=True, subcommand_metavar="GENERATOR [OPTIONS]")


@generate_app.callback()
def generate() -> None:
    """Makes an instance of the statistics of a machine.

    Every generator explains itself: bench generate centre --help.

    Example: bench generate eurora --jobs 700 --seed 7 --out my_day
    """


def machine(
    context: typer.Context,
    out: Out,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="how many jobs")] = 700,
    seed: Seed = 7,
    nodes: Annotated[
        int | None, typer.Option(min=1, max=MOST_NODES, help="how many nodes; by default the generator's own")
    ] = None,
) -> None:
    """Makes a day of Eurora for dispatchers, or a moment of Theta for evictions.

    Example: bench generate eurora --jobs 700 --seed 7 --out my_day

    Example: bench generate theta --jobs 24 --seed 1 --out my_moment
    """
    sizes = {} if nodes is None else {"nodes": nodes}
    _generate(str(context.info_name), out, jobs, seed, sizes)


def centre(
    out: Out,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="how many jobs")] = 1000,
    nodes: Annotated[int, typer.Option(min=1, max=MOST_NODES, help="how many nodes, of 32 cores each")] = 60,
    days: Annotated[
        int, typer.Option(min=1, max=MOST_DAYS, help="over how many days they are submitted, from a Monday on")
    ] = 5,
    load: Annotated[
        float, typer.Option(help="offered load: their work over what the machine can do in that time")
    ] = 1.5,
    seed: Seed = 7,
    shortest: Annotated[int, typer.Option(min=1, max=LATEST, help="seconds that a job takes at least")] = 1,
    step: Annotated[int, typer.Option(min=1, max=LATEST, help="all times are multiples of so many seconds")] = 1,
) -> None:
    """Makes a batch of a computing centre for profit, with the eight scenarios of the thesis.

    Arrivals, sizes, runtimes and users follow the Curie log (instances/computing_centre.py tells what was measured).

    Example: bench generate centre --jobs 1000 --nodes 60 --days 5 --load 1.5 --seed 4 --out my_batch

    Example: bench generate centre --jobs 60 --nodes 8 --days 2 --seed 25 --shortest 600 --step 60 --out my_small_batch
    """
    _generate(
        "centre", out, jobs, seed, {"nodes": nodes, "days": days, "load": load, "shortest": shortest, "step": step}
    )


def _generate(name: str, out: Path, jobs: int, seed: int, sizes: dict[str, Any]) -> None:
    try:
        write(generators[name](jobs, seed, **sizes), out)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    except ValueError as e:
        raise WrongUse(f"{name}: {e}") from e
    say(f"{out}: {jobs} jobs, seed {seed}; bench show {out}")


ABOUT = {
    "eurora": "days of the Eurora supercomputer, for dispatchers",
    "theta": "moments of Theta, for evictions",
    "centre": "batches of a computing centre, for profit",
}
OWN = {"centre": centre}
for _name in generators:
    generate_app.command(_name, short_help=ABOUT.get(_name, _name))(OWN.get(_name, machine))
