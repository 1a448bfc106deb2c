"""``bench run``: instances are solved by methods, with several seeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..replays.settings import PROBLEM, RESULTS, RUNS
from ..runs.executors import Recording, RunTask
from ..runs.process import WORKER
from ..runs.selection import RunRequest, parse_methods, parse_seeds
from ..runs.view import open_instance, parse_clock, parse_durations, parse_keep, parse_profile
from ..runs.worker import LOG
from ..terminal import console_for
from .options import (
    At,
    Drop,
    DurationsOption,
    First,
    Jobs,
    NodesNeeded,
    ObjectiveOption,
    Out,
    Place,
    with_options,
)


@dataclass(frozen=True)
class Solving:
    """Which methods are run, for how long and how often."""

    methods: Annotated[
        list[str] | None,
        typer.Option(help="methods, separated by commas: cpsat:counts+warm,highs:pool@900s", rich_help_panel=RUNS),
    ] = None
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, help="seconds for each run, same for all methods", rich_help_panel=RUNS)
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="threads of a run; default: number of cores (at most 8) / jobs", rich_help_panel=RUNS),
    ] = None
    seeds: Annotated[
        str | None,
        typer.Option(
            help="random seeds: a list such as 1,2,3 or a range such as 1-5; default: 1, or those of the suite",
            rich_help_panel=RUNS,
        ),
    ] = None
    jobs: Jobs = None
    log: Annotated[
        bool,
        typer.Option(
            "--log",
            help="show the logs of the solvers while they run, and keep each beside its record (METHOD.SEED.KEY.log)",
            rich_help_panel=RESULTS,
        ),
    ] = False


@dataclass(frozen=True)
class Problems:
    """Which part of the instances is run, and with which objective."""

    at: At = None
    first: First = None
    durations: DurationsOption = "walltime"
    objective: ObjectiveOption = None
    keep: Annotated[
        str | None,
        typer.Option(
            help="composite objective: other objectives stay within a slack of their own optimum, such as "
            "weighted-tardiness=1.1,late-jobs=1.1",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    desired: Annotated[
        str | None,
        typer.Option(
            help="CSV file of the desired use, time_s,resource,share[,nodes]: a limit on each node, or see --profile",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(
            help="how the desired use counts: hard (default), or soft:COST with the cost of a core-hour above it",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    nodes_needed: NodesNeeded = None
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            help="profit problems: a scenario such as air,summer,cheap, or all; repeatable", rich_help_panel=PROBLEM
        ),
    ] = None
    drop_impossible: Drop = False
    known: Annotated[
        list[str] | None,
        typer.Option(
            help="best-known values: literature, or a CSV file with the columns instance, value and, if known, bound, source, "
            "date; repeatable",
            rich_help_panel=RESULTS,
        ),
    ] = None


@with_options()
def run(
    instances: Annotated[
        list[str],
        typer.Argument(
            help="shipped instances or suites by name; instance folders, files of benchmark libraries, folders of these; suites "
            "(TOML); my_module:build, a function of your own that returns a model or a problem"
        ),
    ],
    *,
    solving: Solving,
    data: Annotated[
        Path | None,
        typer.Option(help="suites: folder of their files that are not shipped", rich_help_panel=PROBLEM),
    ] = None,
    place: Place,
    problems: Problems,
    memory: Annotated[
        float | None,
        typer.Option(min=0.01, help="GB of memory of a run; default: 0.9 of the machine / jobs", rich_help_panel=RUNS),
    ] = None,
    out: Out = None,
    recording: Recording,
) -> None:
    """Run methods on instances and print tables.

    A method is BACKEND:FORMULATION or a heuristic. A warm start follows after +, options and parameters of the solver as
    NAME=VALUE after colons: cpsat:counts+warm=lns/5s:num_workers=1, lns:rounds=30, highs:pool@900s.

    Without options, each instance is run with the methods, views and time limits that suit it. With --at or --first, only
    that part of the instance is run. With --methods alone, the whole instance is run.

    Each run has its own process. A run that is killed (5 s after its time limit, or out of memory) or crashes keeps its
    best schedule, if that passes the check; the table shows the cause.

    Each run writes one record. The same command again runs only what has no valid record. Records as a pandas table:
    schedlab.read_results("results/eurora_700").

    Exit code 1 if a run failed: an error, a crash, a wrong schedule, or killed without a schedule or bound. A solver that
    ends without a solution (unknown) or is not installed (unavailable) is no failure.

    With --keep, each run first optimizes each kept objective alone (half of its time limit), then the objective, with the
    kept ones limited to their slack times the value reached: bench run eurora_99 --at 12:00 --first 40 --objective makespan
    --keep weighted-tardiness=1.1,late-jobs=1.1

    INSTANCES may be a suite: smoke (two minutes), eurora, profit, theta, classic (small examples of the formats of benchmark
    libraries; with --data DIR their files), or a TOML file of your own. Shops, projects (PSPLIB,
    MMLIB, Patterson, RCPSP/max) and knapsacks are read directly; their format is recognised by the content. Best-known
    values of a suite are compared with the results, and a better schedule is kept in the folder new_best beside the records.

    Example: bench run smoke

    Example: bench run ft06.txt j30/*.sm --methods cpsat:modes --known literature

    Example: bench run my_module:build --methods cpsat,highs --time-limit 60

    Example: bench run eurora_99 --at 12:00 --first 20 --desired day-night.csv --profile soft:0.5

    Example: bench run eurora_700 --at 12:00 --first 100 --methods cpsat:counts,cpsat:counts+warm --seeds 1-5
    """
    from ..runs.chosen import carry_out_chosen, choose
    from ..runs.suites import given

    where = place.where()
    request = RunRequest(
        methods=None if solving.methods is None else parse_methods(solving.methods),
        time_limit=solving.time_limit,
        threads=solving.threads,
        seeds=parse_seeds(solving.seeds or "1"),
        jobs=solving.jobs,
        memory_gb=memory,
        at=None if problems.at is None else parse_clock(problems.at),
        first=problems.first,
        durations=parse_durations(problems.durations),
        objective=problems.objective,
        nodes_needed=problems.nodes_needed,
        scenarios=problems.scenario or (),
        drop_impossible=problems.drop_impossible,
        keep=None if problems.keep is None else parse_keep(problems.keep),
        profile=parse_profile(problems.desired, problems.profile),
    )
    has_seeds = solving.seeds is not None
    chosen = choose(instances, request, has_seeds, data, lambda path: open_instance(path, problems.drop_impossible))
    worker = (*WORKER, LOG) if solving.log else WORKER
    task = RunTask(chosen.instances, request, out, recording, worker, where, given(problems.known or ()))
    tables = console_for(stderr=recording.as_json)
    notes = console_for(stderr=True)
    raise typer.Exit(carry_out_chosen(chosen, task, tables, notes))
