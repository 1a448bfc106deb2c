"""``bench simulate``: a log or an instance is replayed under dispatchers."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ..errors import WrongUse
from ..executors.base import LOCAL
from ..processes import cores as number_of_cores
from ..replays.case import Checkpoints, Evictors, Failures, OnDemand, Restart, Shared, preemption_settings
from ..replays.energy import (
    Boot,
    BootWatts,
    Carbon,
    IdleWatts,
    MinOff,
    NodePolicy,
    Prices,
    Scenario,
    ShutDown,
    energy_settings,
)
from ..replays.options import HELP as HELP
from ..replays.settings import RESTART, decision_limit, parse_floor, parse_stretch
from ..runs.selection import RunRequest, parse_seeds
from ..runs.view import View
from ..studies.study import study_names
from ..terminal import console_for
from .options import (
    DECISIONS,
    LOG,
    RESULTS,
    RUNS,
    SIMULATION,
    Again,
    AsJson,
    Columns,
    Cores,
    DaskAddress,
    Drop,
    DryRun,
    ExecutorOption,
    Explain,
    First,
    Format,
    LogNodes,
    Memory,
    Out,
    PerNode,
    Retry,
    Seeds,
    SlurmOptions,
    Zone,
    where_of,
)
from .replay_options import (
    AtOnce,
    BsldFloor,
    By,
    Dependencies,
    Desired,
    Events,
    Kill,
    LatestStart,
    Load,
    Partition,
    QueueFrom,
    Requeue,
    Starts,
    TimeLimit,
    Window,
    parse_loads,
)


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
    form: Format = None,
    nodes: LogNodes = None,
    cores: Cores = None,
    memory: Memory = None,
    per_node: PerNode = None,
    zone: Zone = None,
    columns: Columns = None,
    first: First = None,
    window: Window = None,
    batch: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=3,
            help="log of Eurora only: the window nearest to this batch of Bridi's thesis, 3.4, with its running jobs",
            rich_help_panel=LOG,
        ),
    ] = None,
    busy: Annotated[
        str | None,
        typer.Option(
            help="the machine is in use at the begin of the window, as recorded in the log: running jobs hold nodes, "
            "others wait with submit times reset to the begin (reset) or those of the log (kept)",
            rich_help_panel=LOG,
        ),
    ] = None,
    queue_from: QueueFrom = None,
    partition: Partition = None,
    dependencies: Dependencies = False,
    latest_start: LatestStart = None,
    load_: Load = None,
    decision_time: Annotated[
        float | None,
        typer.Option(
            help="limit of a decision in seconds (cpmodel, portfolio: 16 times the first limit of their solver); default: 0.2",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    deterministic: Annotated[
        float | None,
        typer.Option(
            help="limit of a decision in units of the solver instead, the same starts in every run: cpsat: its "
            "deterministic time (about 1 s of a core), highs: nodes, cpo: branches",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            help="objective of those that do not name one; default: that of their version", rich_help_panel=DECISIONS
        ),
    ] = None,
    max_stretch: Annotated[
        str | None,
        typer.Option(
            help="against starvation: a job with a greater slowdown, or an unfairly long wait, goes first; a number or off; "
            "default: 50 for pcp3 and hcp3, off for the others",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    allocator: Annotated[
        str, typer.Option(help="choice of nodes: best-fit or first-fit", rich_help_panel=SIMULATION)
    ] = "best-fit",
    kill: Kill = False,
    charge: Annotated[
        bool, typer.Option("--charge", help="decisions take time on the simulated clock", rich_help_panel=SIMULATION)
    ] = False,
    period: Annotated[
        int | None, typer.Option(min=1, help="also call the dispatcher every n seconds", rich_help_panel=SIMULATION)
    ] = None,
    events: Events = None,
    requeue: Requeue = RESTART,
    users: Annotated[
        str | None,
        typer.Option(
            help="users who choose the walltimes of their jobs: be, ge, cf, cfg (static accuracy), di, hdi (all or half of "
            "them improve with every 5 jobs), impatient (if they wait long), with options such as di:seed=2, or "
            "my_module:MyUsers; default: the walltimes of the log",
            rich_help_panel=SIMULATION,
        ),
    ] = None,
    desired: Desired = None,
    power_cap: Annotated[
        str | None,
        typer.Option(
            help="no job starts if the jobs then take more: 600kW; several caps, 700kW,650kW: slowdown and wait against "
            "the cap, also drawn; for policies, where each unit takes more than half of a node",
            rich_help_panel=SIMULATION,
        ),
    ] = None,
    watts_per_core: Annotated[
        float | None,
        typer.Option(help="power of a core of jobs whose power is not recorded", rich_help_panel=SIMULATION),
    ] = None,
    on_demand: OnDemand = None,
    evictors: Evictors = None,
    checkpoints: Checkpoints = None,
    failures: Failures = None,
    restart: Restart = None,
    shared_bandwidth: Shared = False,
    node_policy: NodePolicy = None,
    boot: Boot = None,
    shut_down: ShutDown = None,
    min_off: MinOff = None,
    idle_watts: IdleWatts = None,
    boot_watts: BootWatts = None,
    prices: Prices = None,
    carbon: Carbon = None,
    scenario: Scenario = None,
    bsld_floor: BsldFloor = 10.0,
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
            "dispatchers and limit of a decision are the default, its tables and figures are printed with our values, the orders that differ are named, and its "
            "figures are drawn in the folder of the records (figure-1.svg, ...)",
            rich_help_panel=RESULTS,
        ),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    retry: Retry = False,
    again: Again = False,
    drop_impossible: Drop = False,
    explain: Explain = False,
) -> None:
    """Replay a log or an instance under dispatchers: the command; its help text is ``HELP``."""
    from ..replays import simulate as replays
    from ..replays.case import parse_caps
    from ..runs.run import RunTask
    from ..studies.study import find_study
    from ..tables.replay_groups import parse_by

    published = None if study is None else find_study(study)
    own_days = published is not None and bool(published.cases)
    check_workload(workload, study, own_days)
    if published is not None and decision_time is None and deterministic is None:
        decision_time = published.decision_time
    preempting, evictor_names = preemption_settings(
        on_demand, evictors, checkpoints, failures, restart, shared_bandwidth
    )
    usual = ["fcfs,easy"] if published is None else published.dispatchers
    request = replays.replay_request(
        workload or "",
        dispatchers or usual,
        View(first=first, durations="runtime"),
        starts,
        {
            "format": form,
            "nodes": nodes, "cores": cores, "memory": memory, "window": window,
            "per_node": per_node or None, "zone": zone, "columns": columns,
            **decision_limit(decision_time, deterministic), "objective": objective,
            "max_stretch": parse_stretch(max_stretch), "allocator": allocator,
            "kill": kill, "charge": charge or (published is not None and published.charge), "period": period, "busy": busy,
            "bsld_floor": parse_floor(bsld_floor),
            "queue_from": queue_from, "partition": partition, "dependencies": dependencies or None,
            "latest_start": latest_start, "batch": batch,
            "events": None if events is None else str(events), "requeue": requeue, "users": users,
            "desired": None if desired is None else str(desired), "watts_per_core": watts_per_core,
            **preempting,
            **energy_settings(
                node_policy, {"boot": boot, "shut_down": shut_down, "min_off": min_off}, idle_watts, boot_watts, prices, carbon,
                scenario,
            ),
        },
        parse_by(by or ()),
        parse_caps(power_cap),
        evictor_names,
        parse_loads(load_),
    )  # fmt: skip
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
