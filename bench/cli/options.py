"""The options that several commands share, how their values are read, and how options are grouped in the help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ...instances import Instance, load
from ...models.dispatch.objectives import objective_names
from ..errors import WrongUse
from ..executors.base import LOCAL, Where
from ..replays.settings import RESULTS
from ..runs.view import View, one_scenario, parse_clock, parse_durations
from ..terminal import say

# groups of options in the help
PROBLEM, RUNS = "Problem", "Runs"

InstanceName = Annotated[
    str, typer.Argument(help="name of a shipped instance, or path of a folder with an instance.toml")
]
At = Annotated[
    str | None,
    typer.Option(
        help="snapshot: only the jobs submitted by this time, none of them started; a time such as 12:00, or seconds",
        rich_help_panel=PROBLEM,
    ),
]
First = Annotated[int | None, typer.Option(min=1, help="only the first n jobs by submit time", rich_help_panel=PROBLEM)]
DurationsOption = Annotated[
    str, typer.Option(help="durations of the jobs: walltime or runtime", rich_help_panel=PROBLEM)
]
ObjectiveOption = Annotated[
    str | None,
    typer.Option(help=f"another objective: {', '.join(objective_names())}", rich_help_panel=PROBLEM),
]
Nodes = Annotated[
    int | None, typer.Option(min=0, help="eviction problems: number of nodes to free", rich_help_panel=PROBLEM)
]
Scenario = Annotated[
    str | None,
    typer.Option(
        help="profit problems: a scenario such as air,summer,cheap; default: that of the instance",
        rich_help_panel=PROBLEM,
    ),
]
Retry = Annotated[
    bool,
    typer.Option(
        "--retry", help="also repeat the runs that failed, crashed, were killed or ran out of memory",
        rich_help_panel=RESULTS,
    ),
]  # fmt: skip
Drop = Annotated[
    bool,
    typer.Option("--drop-impossible", help="leave out the jobs that can never fit", rich_help_panel=PROBLEM),
]
Explain = Annotated[
    bool,
    typer.Option("--explain", help="print below each table what its columns mean", rich_help_panel=RESULTS),
]

Seeds = Annotated[
    str, typer.Option(help="random seeds: a list such as 1,2,3 or a range such as 1-5", rich_help_panel=RUNS)
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="number of runs at the same time; default: 1, on a cluster as many as it has room for",
        rich_help_panel=RUNS,
    ),
]
ExecutorOption = Annotated[
    str,
    typer.Option(
        "--executor",
        help="where runs are performed: local, dask, slurm or one of another package (docs/reference/clusters.md)",
        rich_help_panel=RUNS,
    ),
]
DaskAddress = Annotated[
    str | None,
    typer.Option(
        "--dask",
        help="scheduler of a Dask cluster, such as tcp://host:8786; default: workers on this machine",
        rich_help_panel=RUNS,
    ),
]
SlurmOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--slurm",
        help="options of sbatch without dashes, and pack, the seconds of a job: partition=short,pack=600",
        rich_help_panel=RUNS,
    ),
]
Out = Annotated[
    Path | None, typer.Option(help="folder of the records; default: results/<name>", rich_help_panel=RESULTS)
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="only print the runs or replays and how long they take", rich_help_panel=RUNS),
]
AsJson = Annotated[bool, typer.Option("--json", help="print the records as JSON lines", rich_help_panel=RESULTS)]
Again = Annotated[
    bool, typer.Option("--again", help="repeat all of them, also those with a record", rich_help_panel=RESULTS)
]

AtOnce = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        min=1,
        help="number of replays at the same time; default: cores / threads, on a cluster as many as it has room for",
        rich_help_panel=RUNS,
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        help="also tables of the largest groups of jobs: queue, user, partition, units, unit-hours, class (units and "
        "unit-hours), accuracy (runtime / walltime of the job), user-accuracy (mean over the jobs of its user), "
        "separated by commas",
        rich_help_panel=RESULTS,
    ),
]
TimeLimit = Annotated[float, typer.Option(min=0.001, help="seconds for a whole replay", rich_help_panel=RUNS)]
Starts = Annotated[
    Path | None,
    typer.Option(help="CSV file for the start times: job_id,fcfs,easy,...", rich_help_panel=RESULTS),
]


class GroupedHelp(TyperCommand):
    """A command whose help lists its options in groups, by their ``rich_help_panel``.

    Typer itself shows these groups only with rich markup, in which brackets of a help text would be markup.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then each group of options in the order of its first option; options without a group last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(row)
        for title, rows in sorted(groups.items(), key=lambda group: group[0] == "Options"):
            with formatter.section(title):
                formatter.write_dl(rows)


def where_of(executor: str, dask: str | None, slurm: list[str] | None) -> Where:
    """Return where runs are performed; ``--dask`` and ``--slurm`` alone choose their executor. Raises WrongUse, UnknownName."""
    given = {"dask": dask is not None, "slurm": slurm is not None}
    chosen = [name for name, is_given in given.items() if is_given]
    if len(chosen) > 1 or (chosen and executor.partition(",")[0] not in (LOCAL, chosen[0])):
        raise WrongUse(f"--{chosen[-1]} is for --executor {chosen[-1]}; expected one executor")
    name, _, own = executor.partition(",")
    options = [f"address={dask}"] if dask is not None else slurm or []
    return Where.parse([chosen[0] if chosen else name, *([own] if own else []), *options])


def open_instance(path: str, drop_impossible: bool) -> Instance:
    """Load an instance and print each job that was left out, with the reason."""
    instance = load(path, drop_impossible=drop_impossible)
    for job, reason in instance.dropped:
        say(f"{instance.name}: job {job.id} is left out: {reason}", error=True)
    return instance


def view_of(
    instance: Instance,
    *,
    at: str | None,
    first: int | None,
    durations: str,
    objective: str | None,
    nodes_needed: int | None,
    scenario: str | None,
) -> View:
    """Return the view that the options select.

    Parameters
    ----------
    instance
        The instance, whose scenarios are known.
    at
        Time of the snapshot, such as ``12:00`` or ``43200`` (seconds).
    first
        Number of jobs to keep, the first by submit time.
    durations
        ``walltime`` or ``runtime``.
    objective
        Name of the objective; None for that of the instance.
    nodes_needed
        Nodes to free, of an eviction problem.
    scenario
        Words of one scenario of a profit problem.

    Raises
    ------
    UnknownName, WrongUse
        A value is unknown or does not have the expected form.
    """
    view = View(None if at is None else parse_clock(at), first, parse_durations(durations), objective, nodes_needed)
    return one_scenario(view, instance, scenario)
