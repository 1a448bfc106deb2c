"""``bench simulate``: a log or an instance is replayed under dispatchers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..runs.replay_settings import parse_stretch
from ..runs.selection import RunRequest, parse_seeds
from ..runs.view import View
from ..terminal import console_for
from .options import Drop, Explain, First, Retry


def simulate(
    workload: Annotated[
        str, typer.Argument(help="a log (SWF, sacct, ...), a folder with an instance.toml, or its name")
    ],
    dispatchers: Annotated[
        list[str] | None, typer.Option(help="comma list, repeatable: fcfs,easy-d,hcp3-d@cpsat; by default fcfs,easy")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="of a log: swf, sacct, pbs, eurora, batsim; by default by its look")
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="of a log: how many nodes the machine has")] = None,
    cores: Annotated[int | None, typer.Option(min=1, help="of a log: per node")] = None,
    memory: Annotated[int | None, typer.Option(min=1, help="of a log: MB per node")] = None,
    first: First = None,
    window: Annotated[
        str | None, typer.Option(help="of a log: the jobs submitted then, 2012-07-13:23d or 2012-07-13T12:00:6h")
    ] = None,
    load_: Annotated[
        float | None, typer.Option("--load", help="arrivals rescaled to this offered load, such as 1.2")
    ] = None,
    decision_time: Annotated[float, typer.Option(min=0.001, help="by a solver: most seconds of a decision")] = 0.2,
    deterministic: Annotated[
        bool,
        typer.Option("--deterministic", help="by a solver: decisions limited by its own measure, not by the clock"),
    ] = False,
    max_stretch: Annotated[
        str | None,
        typer.Option(
            help="by a solver, against starvation: a slowdown beyond which a job goes first (as does one that waits longer than is fair), or off; by default 50 in version 3"
        ),
    ] = None,
    allocator: Annotated[str, typer.Option(help="best-fit or first-fit")] = "best-fit",
    kill: Annotated[
        bool, typer.Option("--kill", help="jobs are killed at their walltime; without it they run on")
    ] = False,
    charge: Annotated[
        bool, typer.Option("--charge", help="the time of a decision passes on the simulated clock")
    ] = False,
    period: Annotated[int | None, typer.Option(min=1, help="decide also every so many seconds")] = None,
    time_limit: Annotated[float, typer.Option(min=0.001, help="seconds of a whole replay")] = 3600.0,
    threads: Annotated[int, typer.Option(min=1, help="of the solver of a decision")] = 1,
    seeds: Annotated[str, typer.Option(help="a list such as 1,2,3 or a range such as 1-5")] = "1",
    jobs: Annotated[int, typer.Option(min=1, help="replays side by side")] = 1,
    out: Annotated[Path | None, typer.Option(help="folder of the records; by default results/<name>")] = None,
    starts: Annotated[Path | None, typer.Option(help="a CSV of the starts to write: job_id,fcfs,easy,...")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would run, and the worst case")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="records as JSON lines on the standard output")] = False,
    retry: Retry = False,
    again: Annotated[bool, typer.Option("--again", help="run everything again, whatever is there")] = False,
    drop_impossible: Drop = False,
    explain: Explain = False,
) -> None:
    """Replays a log or an instance under dispatchers.

    Every start is checked; the figures are printed and kept as records, the jobs of each replay as a Batsim jobs.csv.

    \b
    A dispatcher is NAME[-w|-d|-r|-l][@BACKEND]: easy, easy-d, hcp3-r@cpsat.
    NAME     blocking: fcfs, sjf
             by a rule: rule:est (earliest start), rule:wt (shortest expected),
               rule:profit, rule:slowdown; strict: rule:wt-strict, ...
             backfilling: easy, conservative, pbs-fifo, pbs-walltime
             by a solver: pcp, pcp1, pcp2, pcp3 (a model of every node),
               hcp, hcp1, hcp2, hcp3 (of the machine as a whole)
    expects  -w the walltime (the default), -d what similar jobs of the user
             took, -l the mean of the user's last two, -r what it will take
    BACKEND  of those by a solver: cpsat (the default), highs, cpo

    Records that are there are kept: run again, it resumes. As tables of pandas: schedlab.read_results("results/log"), a
    row per replay with metrics.wait_mean and all others; pandas.read_csv("results/log/easy.1.<key>.jobs.csv").

    Exit code 1 if a replay failed: an error, a crash, or killed. One that stops at its limit has not failed.

    Example: bench simulate log.swf --dispatchers fcfs,easy,hcp3-d@cpsat --nodes 256 --cores 1 --starts starts.csv

    Example: bench simulate eurora_700 --dispatchers easy-r,hcp3-r@cpsat --load 1.2 --decision-time 0.2
    """
    from ..runs import simulate as work
    from ..runs.run import RunTask

    asked = work.asked(
        workload,
        dispatchers or ["fcfs,easy"],
        View(first=first, durations="runtime"),
        starts,
        {
            "format": form,
            "nodes": nodes, "cores": cores, "memory": memory, "window": window, "load": load_,
            "decision_time": decision_time, "deterministic": deterministic,
            "max_stretch": parse_stretch(max_stretch), "allocator": allocator,
            "kill": kill, "charge": charge, "period": period,
        },
    )  # fmt: skip
    limits = RunRequest(
        time_limit=time_limit, threads=threads, seeds=parse_seeds(seeds), jobs=jobs, drop_impossible=drop_impossible
    )
    task = RunTask((), limits, out, dry_run, as_json, retry, again, explain=explain)
    raise typer.Exit(work.carry_out(asked, task, console_for(stderr=as_json), console_for(stderr=True)))
