"""Speed of DARDIS on machines of 10 to 10,000 nodes, with a fitted line to the 158,976 nodes of Fugaku.

Run it as ``python -m benchmarks.dardis [SETUP]``. Each machine replays the same number of random jobs, whose
units grow with the machine, so that the load stays the same. All node managers work in this process. The time of one
of them is that of all, divided by their number; on small machines it contains the cost of a call, which is the same for
any number of nodes. EASY on the same jobs is timed as a whole: it is compiled from the first to the last event.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.simulation import Dardis, simulate
from schedlab.simulation.dispatchers.dardis.messages import SETUPS

NODES = (10, 100, 1_000, 10_000)
JOBS = 300
CORES = 32
FUGAKU = 158_976
REPEATS = 5
GAP, LONGEST = 600, 14_400  # seconds between two arrivals, and of the longest walltime


class Row(NamedTuple):
    """Means on one machine, times in seconds: per run of the protocol, and of a decision of EASY."""

    nodes: int
    runs: float
    messages: float
    generation: float
    selection: float
    reservation: float
    easy: float

    @property
    def job(self) -> float:
        """The time of a job as if each node manager had a processor of its own."""
        return self.runs * (self.generation + self.selection) + self.reservation


def machine(nodes: int, jobs: int = JOBS, seed: int = 1) -> Dispatch:
    """Return random jobs on equal nodes; most take up to a third of the machine, in units of 1 to 32 cores."""
    rng = random.Random(seed)
    listed = []
    now = 0
    for k in range(jobs):
        now += int(rng.expovariate(1 / GAP))
        walltime = rng.randint(600, LONGEST)
        units = max(1, int(nodes * rng.random() ** 3 / 2))
        request = {"cores": rng.choice([1, 8, 16, 32])}
        runtime = rng.randint(walltime // 4, walltime)
        listed.append(Job(f"j{k}", now, walltime, units, request, "q", runtime=runtime))
    return Dispatch(Platform([NodeGroup("n", nodes, {"cores": CORES})]), listed, (Queue("q", 7200),), "waiting")


def measured(nodes: int, setup: str, jobs: int = JOBS) -> Row:
    """Return the means on a machine; the first replay, of a few jobs, is not measured."""
    problem = machine(nodes, jobs)
    few = problem.replace(jobs=problem.jobs[:5])
    simulate(few, dispatcher=Dardis(setup)), simulate(few, dispatcher="easy")
    dispatcher = Dardis(setup)
    run = simulate(problem, dispatcher=dispatcher)
    assert not run.violations, run.violations[0].message
    costs = dispatcher.costs.as_dict()
    count, runs = costs["dardis_jobs"], costs["dardis_runs"]
    easy = [simulate(problem, dispatcher="easy").metrics.decisions for _ in range(REPEATS)]
    return Row(
        nodes,
        runs / count,
        costs["messages"] / count,
        costs["generation_one_mean"],
        costs["node_selection_mean"],
        costs["reservation"] / count,
        min(measured.seconds.total or 0.0 for measured in easy)
        / max(1, easy[0].made or 0),  # wall time: the least counts
    )


def line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Return intercept and slope of the line with the least squared relative errors.

    Examples
    --------
    >>> [round(float(v), 6) for v in line([1, 2, 4], [3, 5, 9])]
    [1.0, 2.0]
    """
    values = np.asarray(y, np.float64)
    rows = np.stack([np.ones(len(x)), np.asarray(x, np.float64)], axis=1) / values[:, None]
    slopes, *_ = np.linalg.lstsq(rows, np.ones(len(x)), rcond=None)
    return float(slopes[0]), float(slopes[1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dardis", description="Speed of DARDIS.")
    parser.add_argument("setup", nargs="?", default="throughput", choices=list(SETUPS), help="default: throughput")
    setup = parser.parse_args(arguments).setup
    console = Console()
    heads = (
        "nodes",
        "runs\na job",
        "messages\na job",
        "generation\nus a node",
        "selection\nus a run",
        "reserve\nus a job",
        "in sum\nus a job",
        "EASY\nus a call",
    )
    table = Table(*heads, box=box.SIMPLE)
    rows = list[Row]()
    for nodes in NODES:
        with console.status(f"dardis:{setup} on {nodes:,} nodes"):
            row = measured(nodes, setup)
        rows.append(row)
        micro = [f"{1e6 * s:,.2f}" for s in (row.generation, row.selection, row.reservation, row.job, row.easy)]
        table.add_row(f"{nodes:,}", f"{row.runs:.2f}", f"{row.messages:,.0f}", *micro)
    console.print(f"dardis:{setup}: {JOBS} jobs on each machine")
    console.print(table)
    counts = [float(row.nodes) for row in rows]
    for name, values in (
        ("selection of a run", [row.selection for row in rows]),
        ("reservation of a job", [row.reservation for row in rows]),
        ("EASY, a decision", [row.easy for row in rows]),
    ):
        base, slope = line(counts, values)
        console.print(
            f"{name}: {1e6 * base:,.2f} us + {1e9 * slope:,.2f} ns a node; on {FUGAKU:,} nodes {1e3 * (base + slope * FUGAKU):,.2f} ms",
            highlight=False,
        )


if __name__ == "__main__":
    main()
