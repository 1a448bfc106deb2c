"""``bench import theta``: a moment of a log, whose job units are nodes, becomes an eviction instance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ...instances import Instance, write
from ...instances.generators.theta import DEADLINE, NEEDED, SOURCE, STEP
from ...instances.traces import open_trace
from ...instances.workload import Workload
from ...models import Checkpointing, Eviction
from ..errors import WrongUse
from ..terminal import say

EXPENDABLE = 1800  # seconds: jobs of a shorter runtime lose little [Maurya2020, IV.A]


def import_theta(
    file: Annotated[Path, typer.Argument(help="log whose job units are nodes (SWF, sacct, ...), plain or gz")],
    at: Annotated[int, typer.Option(help="the moment in seconds on the clock of the log")],
    out: Annotated[Path, typer.Option(help="folder of the instance to write")],
    nodes_needed: Annotated[int, typer.Option(min=0, help="nodes to be freed")] = 512,
    deadline: Annotated[int, typer.Option(min=0, help="seconds within which they are to be free")] = DEADLINE,
    seed: Annotated[int, typer.Option(help="seed of the memory and of the checkpoints, which logs lack")] = 1,
    plot: Annotated[Path | None, typer.Option(help="SVG picture of the jobs that run at the moment")] = None,
) -> None:
    """Convert the jobs that run at a moment of a log to an eviction instance, by their recorded starts.

    Memory and application-level checkpoints (every hour) are drawn as in [Maurya2020, IV.B].

    Example: bench import theta real_week_2.swf --at 1664163706 --out theta_12r --plot theta_12r.svg
    """
    log, _ = open_trace(str(file), nodes=None)
    instance = moment(log, at, nodes_needed, deadline, seed)
    try:
        write(instance, out)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    rows = running_rows(log, at)
    start, end = log.recorded_start[rows], (log.recorded_start + log.runtime)[rows]
    short = int((log.runtime[rows] < EXPENDABLE).sum())
    lasts = int(end.min() - start.max())
    say(f"{out}: {instance.description}; {short} of the jobs run for less than 30 min; all of them run for {lasts:,} s")
    if plot is not None:
        from ..plots.panels.running import plot_running

        plot_running(instance.description, start, end, log.units[rows], at, plot)
        say(f"drawn: {plot}")


def running_rows(log: Workload, at: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the rows of the jobs that run at a time, by the starts that the log records."""
    start = log.recorded_start
    found: np.ndarray[tuple[int], np.dtype[np.int64]] = np.flatnonzero(
        (start >= 0) & (start <= at) & (at < start + log.runtime)
    )
    return found


def moment(log: Workload, at: int, nodes_needed: int, deadline: int, seed: int) -> Instance:
    """Return the eviction instance of a moment of a log. Raises ProblemError."""
    problem = Eviction.from_trace(log, at, nodes_needed, deadline, STEP, Checkpointing(seed=seed))
    jobs, nodes = len(problem.jobs), problem.nodes_in_use
    return Instance(
        name=f"moment_{at}",
        kind="eviction",
        problem=problem,
        description=f"{log.name} at {at}: {jobs} jobs on {nodes:,} nodes, {nodes_needed:,} to be freed",
        source=SOURCE,
        nodes_compared=tuple(n for n in NEEDED if n != nodes_needed and n <= nodes),
    )
