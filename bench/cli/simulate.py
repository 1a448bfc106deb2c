"""``bench simulate``, ``bench dardis``: a log or an instance is replayed under dispatchers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import WrongValue
from ...simulation.settings import settings_of_features
from ..errors import WrongUse
from ..replays.request import find_study, study_names
from ..replays.settings import DECISIONS, RESULTS, RUNS, SETTINGS
from ..runs.executors import LOCAL, Recording, RunTask
from ..runs.process import cores as number_of_cores
from ..terminal import console_for
from .options import Jobs, Place, Replaying, with_options

if TYPE_CHECKING:
    from ...simulation.dispatchers.dardis.transport import Network


SIMULATE_HELP = """Replay a log or an instance under dispatchers.

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
                       slurm:bf_interval=30:default_queue_depth=50;
                       pbs (the order of a site of PBS: its formula, keys,
                       queues, strict order and depth of backfilling)
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
    """Replay a log or an instance under dispatchers: the command; its help text is ``SIMULATE_HELP``."""
    from ..replays.carry_out import carry_out, replay_days

    published = None
    if study is not None:
        published = find_study(study)
    own_days = published is not None and bool(published.cases)
    check_workload(workload, study, own_days)
    if published is not None:
        if settings["decision_time"] is None and settings["deterministic"] is None:
            settings["decision_time"] = published.decision_time
        settings["charge"] = settings["charge"] or published.charge
    if published is not None:
        usual = published.dispatchers
    else:
        usual = ["fcfs,easy"]
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


# --- ``bench dardis``: a log or an instance is replayed under DARDIS, with node managers in several processes.


NETWORK = "Network"
DARDIS_HELP = """Replay a log under DARDIS, over MPI, Dask or in simulation.

The workload is a log or an instance, and its clock is simulated. The node managers are spread over several processes; the
protocol between them and the task manager runs over the transport:

\b
simulate  processes within this one: the same packets, but no network
mpi       ranks of an MPI job; rank 0 is the task manager (schedlab[mpi])
dask      actors on worker processes of dask.distributed (schedlab[dask])

The starts are the same with every transport and number of processes, for the same seed. A process that does not answer
before the timer ends is not asked any more: its nodes are taken out, and the jobs planned on them are planned anew.

The records are those of bench simulate, with the packets, bytes and wall time of each phase. docs/reference/dardis.md explains them.

Exit code 1 if a replay failed: an error, a crash, jobs that no remaining node can host.

Example: bench dardis eurora_330 --setups uniform/max-prob --transport mpi --processes 4 --seeds 1-3

Example: bench dardis log.swf --nodes 256 --latest-start mean-wait --desired day-night.csv --lost 0.01 --late 0.02

Example: bench dardis eurora_99 --transport dask --processes 4 --fault 2@500 --timer 5
"""

OF_LOGS = ("format", "nodes", "cores", "memory", "per_node", "zone", "columns", "window", "queue_from", "partition")
OF_JOBS = ("dependencies", "latest_start", "load", "kill", "events", "requeue", "desired", "bsld_floor")


@dataclass(frozen=True)
class NetworkOptions:
    """The network between the processes of a replay."""

    transport: Annotated[str, typer.Option(help="simulate, mpi or dask", rich_help_panel=NETWORK)] = "simulate"
    processes: Annotated[
        int,
        typer.Option(help="processes: the task manager, and the nodes spread over the others", rich_help_panel=NETWORK),
    ] = 4
    timer: Annotated[
        float | None,
        typer.Option(help="mpi, dask: seconds in which a process must answer; default: 10", rich_help_panel=NETWORK),
    ] = None
    lost: Annotated[
        float,
        typer.Option(
            help="probability that a request, an offer, a confirmation or an acknowledgement of a node is lost",
            rich_help_panel=NETWORK,
        ),
    ] = 0.0
    late: Annotated[
        float,
        typer.Option(
            help="probability that an offer or acknowledgement is late for the timer", rich_help_panel=NETWORK
        ),
    ] = 0.0
    fault: Annotated[
        str | None,
        typer.Option(
            help="PROCESS@PACKET: this process of node managers, from 1 on, stops at this packet: it is silent (simulate, "
            "mpi) or killed (dask)",
            rich_help_panel=NETWORK,
        ),
    ] = None

    def network(self) -> Network:
        """Return the network. Raises WrongUse."""
        from ...simulation.dispatchers.dardis.transport import Network

        try:
            return Network(**asdict(self))
        except WrongValue as e:
            raise WrongUse(f"--{e}") from e


@with_options(SETTINGS, (*OF_LOGS, *OF_JOBS))
def dardis(
    workload: Annotated[
        str,
        typer.Argument(help="a log (SWF, sacct, ...), a folder with instance.toml, or the name of a shipped instance"),
    ],
    *,
    setups: Annotated[
        str,
        typer.Option(
            help="throughput, profile, balance or GENERATOR/POLICY: first, uniform, exponential with min-start, max-prob, "
            "min-prob, random; separated by commas",
            rich_help_panel=RUNS,
        ),
    ] = "throughput,profile,balance",
    network: NetworkOptions,
    replaying: Replaying,
    jobs: Jobs = None,
    recording: Recording,
    **settings: Any,
) -> None:
    """Replay a workload under DARDIS over a transport: the command; its help text is ``DARDIS_HELP``."""
    from ..replays.carry_out import carry_out
    from ..runs.process import worker_command

    made = network.network()
    request = replaying.request(workload, dispatchers_of(setups), settings | {"network": made.text})
    task = RunTask((), replaying.limits(1, jobs), replaying.out, recording, worker_command(made))
    raise typer.Exit(carry_out(request, task, console_for(stderr=recording.as_json), console_for(stderr=True)))


def dispatchers_of(setups: str) -> list[str]:
    """Return the names of the dispatchers; ``dardis:`` before a setup may be left out. Raises WrongUse.

    Examples
    --------
    >>> dispatchers_of("throughput, dardis:uniform/max-prob")
    ['dardis:throughput', 'dardis:uniform/max-prob']
    """
    from ...simulation.dispatchers.dardis.messages import SETUPS

    named = [part.strip().removeprefix("dardis:") for part in setups.split(",") if part.strip()]
    unknown = [name for name in named if name not in SETUPS]
    if unknown or not named:
        raise WrongUse(f"--setups {', '.join(unknown) or repr(setups)}: expected some of {', '.join(SETUPS)}")
    return [f"dardis:{name}" for name in named]
