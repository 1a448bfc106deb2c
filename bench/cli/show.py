"""``bench list``, ``bench show``, ``bench explain``: the instances, what one contains, and why one is infeasible."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...instances import UnknownInstance, load, names
from ...instances.traces import open_trace, read_trace
from ..errors import WrongUse
from ..log_options import check_there, column_names, resources_per_node, time_zone
from ..replays.settings import PROBLEM, SETTINGS
from ..terminal import console_for
from .options import Drop, InstanceName, Part, open_instance, with_options


def list_instances() -> None:
    """List the shipped instances.

    Example: bench list
    """
    from ..show.instances import list_instances as print_list

    print_list(console_for(), [load(name) for name in names()])


@with_options(SETTINGS, ("format", "nodes", "cores", "memory", "per_node", "zone", "columns"))
def show(
    instance: InstanceName,
    drop_impossible: Drop = False,
    plot: Annotated[
        Path | None, typer.Option(help="cooling tables, profiles and logs: file of a picture to write, such as air.svg")
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

    Example: bench show eurora_700

    Example: bench show air --plot air.svg

    Example: bench show day-night.csv --plot profile.svg

    Example: bench show log.swf --nodes 256 --cores 16 --plot hours.svg

    Example: bench show jobs.txt --nodes 64 --cores 48 --per-node gpus=4 --zone Europe/Rome

    Example: bench show eurora_700 --composition

    Example: bench show log.swf --nodes 256 --cores 16 --forecasts persistence,weekly,learned
    """
    from ...instances.classic import is_classic
    from ..replays.simulate import is_trace
    from ..show.instances import Composition, show_composition, show_instance
    from ..show.logs import (
        is_cooling,
        is_log,
        is_profile,
        meant,
        not_recognised,
        show_cooling,
        show_forecasts,
        show_log,
        show_profile,
    )

    if forecasts is not None and (composition or plot is not None):
        raise WrongUse("--forecasts: a table of its own; leave out --composition and --plot")
    if composition and plot is not None:
        raise WrongUse("--composition: a table without a picture; leave out --plot")
    of_logs = [SETTINGS[name].flag for name, value in settings.items() if value is not None]
    if is_profile(instance):
        if composition or of_logs:
            raise WrongUse(
                f"--composition, {', '.join(of_logs) or '--nodes'}: for logs; {instance} is a desired profile"
            )
        show_profile(console_for(), instance, plot)
        return
    other_file = is_trace(instance) and not is_classic(instance)
    if (
        other_file
        and settings["format"] is None
        and settings["columns"] is None
        and not is_cooling(instance)
        and not is_log(instance)
    ):
        raise not_recognised(instance)
    if other_file and (not is_cooling(instance) or is_log(instance)):
        clock, names = time_zone(settings["zone"]), column_names(settings["columns"])
        own = {name: settings[name] for name in ("cores", "memory")}
        trace = read_trace(instance, settings["format"], zone=clock, columns=names, **own)
        log = open_trace(trace, nodes=settings["nodes"], others=resources_per_node(settings["per_node"]), **own)
        if forecasts is not None:
            show_forecasts(console_for(), log[0], forecasts)
        elif composition:
            show_composition(console_for(), {log[0].name: Composition.of_workload(log[0])})
        else:
            show_log(console_for(), *log, clock, plot)
        return
    if forecasts is not None:
        raise WrongUse(f"--forecasts: for logs only; {instance} has no history of submissions")
    if of_logs:
        check_there(instance)
        raise WrongUse(f"{', '.join(of_logs)}: for logs only; {instance} has its own machine")
    if is_cooling(instance) and not composition:
        show_cooling(console_for(), instance, plot)
        return
    try:
        found = open_instance(instance, drop_impossible)
    except UnknownInstance as e:
        raise meant(e, instance) from e
    if plot is not None:
        raise WrongUse(
            f"--plot {plot}: {instance} is neither a cooling table nor a log; only these are drawn by bench show. "
            "To draw results, use bench plot"
        )
    if composition:
        show_composition(console_for(), {found.name: Composition.of_instance(found)})
        return
    show_instance(console_for(), found, instance)


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
    from ..show.explanation import explain_problem

    found = explain_problem(part.problem(instance), objective_limit, backend, time_limit, threads, seed, as_json)
    raise typer.Exit(0 if found else 1)
