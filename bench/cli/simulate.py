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
from ..replays.settings import DECISIONS, RESULTS, SETTINGS
from ..runs.selection import RunRequest, parse_seeds
from ..runs.view import View
from ..studies.study import study_names
from ..terminal import console_for
from .options import (
    RUNS,
    Again,
    AsJson,
    AtOnce,
    By,
    DaskAddress,
    Drop,
    DryRun,
    ExecutorOption,
    Explain,
    First,
    Out,
    Retry,
    Seeds,
    SlurmOptions,
    Starts,
    TimeLimit,
    where_of,
)
from .settings import with_settings


@with_settings(SETTINGS | {name: described for name, (_, described) in settings_of_features().items()})
def simulate(
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
    first: First = None,
    by: By = None,
    time_limit: TimeLimit = 3600.0,
    threads: Annotated[
        int, typer.Option(min=1, help="threads of the solver for a decision", rich_help_panel=DECISIONS)
    ] = 1,
    seeds: Seeds = "1",
    jobs: AtOnce = None,
    executor: ExecutorOption = LOCAL,
    dask: DaskAddress = None,
    slurm: SlurmOptions = None,
    out: Out = None,
    starts: Starts = None,
    study: Annotated[
        str | None,
        typer.Option(
            help=f"a published study ({', '.join(study_names())}), or a TOML file. Some generate their days. Its "
            "dispatchers and limit of a decision are the default, its tables and figures are printed with our values, the "
            "orders that differ are named, and its figures are drawn in the folder of the records (figure-1.svg, ...)",
            rich_help_panel=RESULTS,
        ),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    retry: Retry = False,
    again: Again = False,
    drop_impossible: Drop = False,
    explain: Explain = False,
    **settings: Any,
) -> None:
    """Replay a log or an instance under dispatchers: the command; its help text is ``HELP``."""
    from ..replays import simulate as replays
    from ..runs.run import RunTask
    from ..studies.study import find_study
    from ..tables.replay_groups import parse_by

    published = None if study is None else find_study(study)
    own_days = published is not None and bool(published.cases)
    check_workload(workload, study, own_days)
    if published is not None:
        if settings["decision_time"] is None and settings["deterministic"] is None:
            settings["decision_time"] = published.decision_time
        settings["charge"] = settings["charge"] or published.charge
    usual = ["fcfs,easy"] if published is None else published.dispatchers
    view = View(first=first, durations="runtime")
    request = replays.replay_request(workload or "", dispatchers or usual, view, settings, starts, parse_by(by or ()))
    where = where_of(executor, dask, slurm)
    at_once = jobs or (max(1, number_of_cores() // threads) if where.name == LOCAL else None)
    limits = RunRequest(
        time_limit=time_limit, threads=threads, seeds=parse_seeds(seeds), jobs=at_once, drop_impossible=drop_impossible
    )
    task = RunTask((), limits, out, dry_run, as_json, retry, again, explain=explain, where=where)
    request = replace(request, study=published)
    if published is not None and own_days:
        from ..studies.days import replay_days

        request = replace(request, dispatchers=request.dispatchers if dispatchers else ())
        raise typer.Exit(replay_days(published, request, task, console_for(stderr=as_json), console_for(stderr=True)))
    raise typer.Exit(replays.carry_out(request, task, console_for(stderr=as_json), console_for(stderr=True)))


def check_workload(workload: str | None, study: str | None, own_days: bool) -> None:
    """Raise WrongUse if there is no workload, or one beside a study that generates its days."""
    if workload is None and not own_days:
        raise WrongUse("bench simulate: expected a log or an instance, such as bench simulate eurora_99")
    if workload is not None and own_days:
        raise WrongUse(f"{workload}: --study {study} generates its days; leave the workload out")
