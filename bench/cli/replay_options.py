"""The options that ``bench simulate`` and ``bench dardis`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...models.excerpt import excerpt
from ..errors import WrongUse
from .options import LOG, RESULTS, RUNS, SIMULATION

AtOnce = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        min=1,
        help="number of replays at the same time; default: cores / threads, on a cluster as many as it has room for",
        rich_help_panel=RUNS,
    ),
]
Window = Annotated[
    str | None,
    typer.Option(
        help="only the jobs submitted in this time: 2012-07-13:23d or 2012-07-13T12:00:6h", rich_help_panel=LOG
    ),
]
QueueFrom = Annotated[
    str | None,
    typer.Option(help="take the queues from this column: queue (default) or partition", rich_help_panel=LOG),
]
Partition = Annotated[
    str | None,
    typer.Option(help="only the jobs of these partitions, names or SWF numbers: 3,4", rich_help_panel=LOG),
]
Dependencies = Annotated[
    bool,
    typer.Option(
        "--dependencies",
        help="jobs wait for the end of their preceding job and the think time (SWF, fields 17 and 18); "
        "default: they arrive as recorded",
        rich_help_panel=LOG,
    ),
]
LatestStart = Annotated[
    str | None,
    typer.Option(
        help="latest start of each job, of which the late starts are counted: mean-wait (submit time + mean recorded "
        "wait of its partition or queue in the log), or seconds after the submit time; default: none",
        rich_help_panel=LOG,
    ),
]
Load = Annotated[
    str | None,
    typer.Option(
        "--load",
        help="rescale the submit times to this offered load, such as 1.2; several, 0.8,1,1.2: each of them is replayed",
        rich_help_panel=SIMULATION,
    ),
]
Kill = Annotated[
    bool,
    typer.Option(
        "--kill", help="kill jobs at their walltime; default: they run to their end", rich_help_panel=SIMULATION
    ),
]
Events = Annotated[
    Path | None,
    typer.Option(
        help="CSV file time,kind,nodes,subject,value: node-down, node-up, node-drain, node-reserve, node-release, "
        "stop-queue, start-queue, walltime, move, delete, reserve, cancel-reservation; default: events.csv of the instance",
        rich_help_panel=SIMULATION,
    ),
]
Requeue = Annotated[
    str,
    typer.Option(
        help="jobs whose node goes down: restart (from zero), checkpoint:SECONDS (from the last one) or drop",
        rich_help_panel=SIMULATION,
    ),
]
Desired = Annotated[
    Path | None,
    typer.Option(
        help="CSV file of the desired use, time_s,resource,share[,nodes]: over-utilisation and dissimilarity of each "
        "replay; dispatchers X-profile keep to it (docs/profiles.md); default: desired.csv of an instance, if it has one",
        rich_help_panel=SIMULATION,
    ),
]
BsldFloor = Annotated[
    float,
    typer.Option(help="least duration in the bounded slowdown, in seconds, such as 10 or 60", rich_help_panel=RESULTS),
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


def parse_loads(text: str | None) -> tuple[float, ...]:
    """Return the offered loads of --load. Raises WrongUse.

    Examples
    --------
    >>> parse_loads("0.8,1.2"), parse_loads(None)
    ((0.8, 1.2), ())
    """
    if text is None:
        return ()
    try:
        found = tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        found = (0.0,)
    if not all(0 < load < float("inf") for load in found):
        raise WrongUse(f"--load {excerpt(text)}: expected offered loads above 0, such as 1.2 or 0.8,1,1.2")
    return found
