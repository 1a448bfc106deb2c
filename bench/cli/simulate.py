"""``bench simulate``: a log or an instance is replayed under dispatchers."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from ...simulation.settings import settings_of_features
from ..errors import WrongUse
from ..executors.base import LOCAL
from ..processes import cores as number_of_cores
from ..replays.settings import DECISIONS, RESULTS, RUNS, SETTINGS
from ..runs.task import Recording, RunTask
from ..studies.study import find_study, study_names
from ..terminal import console_for
from .options import Place, Replaying, with_options

HELP = """Replay a log or an instance under dispatchers.

Every start is checked. The metrics are printed as a table and kept as records; the jobs of each replay are written to a
Batsim jobs.csv.

\b
A dispatcher is NAME[-w|-d|-r|-l][@BACKEND[:OBJECTIVE]], such as easy-d,
hcp3-r@cpsat or pcp3@cpsat:weighted-wait.
NAME     blocking:     fcfs, sjf
         rules:        rule:est (earliest start), rule:wt (shortest expected
                       duration), rule:lst (latest start), rule:profit,
                       rule:slowdown; strict variants: rule:wt-strict, ...
         backfilling:  easy, conservative, pbs-fifo, pbs-walltime,
                       easy++ (predicted durations, shortest first),
                       easy:lst, easy:wt (by latest start, by duration)
         by rank:      psp, psp-conservative (users with accurate walltimes
                       first); easy+RANKER, conservative+RANKER, ... with
                       fairshare, aging, job-size, multifactor, psp and
                       their options: easy+psp:aging=86400
         plans:        plan (all waiting jobs are planned anew at each
                       decision), plan@lns (with search);
                       plan:ORDER of submit, wt, slowdown, weighted, with
                       options as plan:weighted:work=2:guard=1@lns:rounds=50
                       (docs/reference/plans.md)
         ...-profile:  any policy above plans, within --desired at each start;
                       pcp2, pcp3, hcp2, hcp3, cpmodel: for the whole run,
                       or at a cost for each core-hour above it:
                       hcp3-profile@cpsat, hcp3-profile:0.5@cpsat
         with solver:  pcp, pcp1, pcp2, pcp3 (model of every node),
                       hcp, hcp1, hcp2, hcp3 (model of the whole machine),
                       mks, wt, nl (pcp: makespan, weighted tardiness,
                       late jobs of the waiting jobs), mks+wt+nl, nl+mks+wt,
                       wt+mks+nl (the first one, the others kept within
                       10 % of their optimum), such as mks+wt+nl@cpo
                       cpmodel (scheduling cycle with adaptive limits),
                       portfolio (cpmodel, or pbs-walltime under heavy load)
         distributed:  dardis:throughput, dardis:profile, dardis:balance;
                       dardis:GENERATOR/POLICY: first, uniform, exponential
                       with min-start, max-prob, min-prob, random
         hybrid:       hybrid:100, hybrid:70, hybrid:50 (daily offline plan,
                       profile, DARDIS), with options:
                       hybrid:70:forecast=weekly:hours=48;
                       planned (a plan every 6 hours, EASY in its order),
                       planned:every=24:method=lns:limit=10
         of the site:  slurm (main scheduler, backfill, priorities as --site
                       has them); settings can be overridden:
                       slurm:bf_interval=30:default_queue_depth=50
         your own:     my_module:MyDispatcher, a class or an object in
                       my_module.py in the current folder or installed;
                       a name that another installed package adds
expected duration of a job
         -w  its walltime (default; of easy++: -l)
         -d  runtimes of similar jobs of the user
         -l  mean runtime of the user's last two jobs
         -r  its real runtime
BACKEND  of dispatchers with a solver: cpsat (default), highs, cpo
OBJECTIVE of these dispatchers: makespan, waiting, weighted-wait,
         weighted-tardiness, late-jobs, queue-priority-wait, slowdown;
         default: that of the version, slowdown for pcp3 and hcp3,
         weighted-wait for cpmodel and portfolio

The same command again runs only what has no valid record; a dispatcher of
your own is run again if its source has changed. Records as pandas tables:
schedlab.read_results("results/log"), one row per replay with the columns metrics.wait_mean, ...; the jobs:
pandas.read_csv("results/log/easy.1.<key>.jobs.csv").

Exit code 1 if a replay failed: an error, a crash, or killed. A replay that stops at its time limit is no failure.

Example: bench simulate log.swf --dispatchers fcfs,easy,hcp3-d@cpsat --nodes 256 --cores 1 --starts starts.csv

Example: bench simulate eurora_700 --dispatchers easy-r,hcp3-r@cpsat --load 1.2 --decision-time 0.2

Example: bench simulate log.swf --study galleguillos2019 --deterministic 0.01 --out results/study

Example: bench simulate --study bridi2018-production --out results/production

Example: bench simulate eurora_99 --dispatchers pbs-fifo,pbs-walltime,cpmodel@cpsat,portfolio@cpsat --charge

Example: bench simulate log.swf --nodes 300 --latest-start mean-wait --dispatchers dardis:throughput,dardis:uniform/max-prob

Example: bench simulate log.swf --nodes 256 --events events.csv --requeue checkpoint:3600

Example: bench simulate log.swf --dispatchers psp,easy,easy+fairshare --users hdi --by user-accuracy,accuracy

Example: bench simulate eurora_99 --dispatchers easy,easy-profile --desired day-night.csv

Example: bench simulate profit_medium --dispatchers easy --node-policy idle:30min --scenario air,summer,cheap

Example: bench simulate theta.swf --nodes 4360 --dispatchers easy --on-demand stream:rate=4 --evictor dp,greedy,kill
"""


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
    from ..replays.carry_out import carry_out
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
    tables = console_for(stderr=recording.as_json)
    notes = console_for(stderr=True)
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
