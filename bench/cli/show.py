"""``bench list``, ``bench show``: the instances, and what one contains."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...instances import load, names
from ..replays.settings import OF_LOGS, SETTINGS
from ..terminal import console_for
from .options import Drop, InstanceName, with_options


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
