"""``bench simulate``: a log or an instance is replayed under dispatchers."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from ...simulation.features.named import settings_of_features
from ..errors import WrongUse
from ..executors.base import LOCAL
from ..processes import cores as number_of_cores
from ..replays.options import HELP as HELP
from ..replays.settings import DECISIONS, RESULTS, RUNS, SETTINGS
from ..runs.task import Recording, RunTask
from ..studies.study import find_study, study_names
from ..terminal import console_for
from .options import Place, Replaying, with_options


@with_options(SETTINGS | {name: described for name, (_, described) in settings_of_features().items()})
def simulate(
    *,
    workload: Annotated[
        str | None,
        typer.Argument(
            help="a log (SWF, sacct, ...), a folder with instance.toml, or the name of a shipped instance; none with a study "
            "that generates its days"
        ),
    ] = None,
    dispatchers: Annotated[
        list[str] | None,
        typer.Option(
            help="dispatchers, separated by commas: fcfs,hcp3-d@cpsat; default: fcfs,easy", rich_help_panel=RUNS
        ),
    ] = None,
    replaying: Replaying,
    threads: Annotated[
        int, typer.Option(min=1, help="threads of the solver for a decision", rich_help_panel=DECISIONS)
    ] = 1,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="number of replays at the same time; default: cores / threads, on a cluster as many as it has room for",
            rich_help_panel=RUNS,
        ),
    ] = None,
    place: Place,
    study: Annotated[
        str | None,
        typer.Option(
            help=f"a published study ({', '.join(study_names())}), or a TOML file. Some generate their days. Its "
            "dispatchers and limit of a decision are the default, its tables and figures are printed with our values, the "
            "orders that differ are named, and its figures are drawn in the folder of the records (figure-1.svg, ...)",
            rich_help_panel=RESULTS,
        ),
    ] = None,
    recording: Recording,
    **settings: Any,
) -> None:
    """Replay a log or an instance under dispatchers: the command; its help text is ``HELP``."""
    from ..replays.simulate import carry_out
    from ..studies.days import replay_days

    published = None if study is None else find_study(study)
    own_days = published is not None and bool(published.cases)
    check_workload(workload, study, own_days)
    if published is not None:
        if settings["decision_time"] is None and settings["deterministic"] is None:
            settings["decision_time"] = published.decision_time
        settings["charge"] = settings["charge"] or published.charge
    usual = ["fcfs,easy"] if published is None else published.dispatchers
    request = replaying.request(workload or "", dispatchers or usual, settings)
    request = replace(request, study=published)
    where = place.where()
    if jobs is None and where.name == LOCAL:
        jobs = max(1, number_of_cores() // threads)
    task = RunTask((), replaying.limits(threads, jobs), replaying.out, recording, where=where)
    tables, notes = console_for(stderr=recording.as_json), console_for(stderr=True)
    if published is not None and own_days:
        request = replace(request, dispatchers=request.dispatchers if dispatchers else ())
        raise typer.Exit(replay_days(published, request, task, tables, notes))
    raise typer.Exit(carry_out(request, task, tables, notes))


def check_workload(workload: str | None, study: str | None, own_days: bool) -> None:
    """Raise WrongUse if there is no workload, or one beside a study that generates its days."""
    if workload is None and not own_days:
        raise WrongUse("bench simulate: expected a log or an instance, such as bench simulate eurora_99")
    if workload is not None and own_days:
        raise WrongUse(f"{workload}: --study {study} generates its days; leave the workload out")
