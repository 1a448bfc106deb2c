"""Overhead of DARDIS and of a rule-based cycle on the same machine: table 5.2 of [Bridi2018].

Run it as ``python -m benchmarks.overhead LOG``, with the first jobs of a window of a log. Three ways to compare:

- The rule as the thesis prints it (algorithm 4), in plain Python: for each waiting job, each unit and each node, all resources.
- The same rule in the compiled replay of this project, whose starts are the same.
- DARDIS with all node managers in one call, whose time is divided by their number, and with a call for each, as on a
  machine of its own. The second contains the cost of Python for one node.

All times are processor times, so that other processes do not change them much. Messages take no time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import NamedTuple

from rich import box
from rich.table import Table
from schedlab.bench.errors import WRONG
from schedlab.bench.terminal import console_for
from schedlab.errors import SchedlabError
from schedlab.instances import Workload, open_trace
from schedlab.models import Job, Platform, Queue
from schedlab.models.array_types import Ints
from schedlab.models.profiles import DesiredProfile, daily
from schedlab.simulation import Dardis, Decision, Moment, Simulation, Start, simulate
from schedlab.simulation.dispatchers.dardis.messages import Limits
from schedlab.simulation.dispatchers.dardis.nodes import NodeManagers
from schedlab.simulation.dispatchers.dardis.transport import InProcess, Transport

PAPER = {"node": 0.018, "selection": 0.006, "rule": 5.356}  # seconds [Bridi2018, table 5.2]


class Algorithm4:
    """The profile-aware rule as [Bridi2018, 5.2] prints it, in Python; jobs by arrival, each of them is tried.

    Two misprints are resolved: a unit fits only if all resources do, and counts before the next one is placed.

    Parameters
    ----------
    desired : DesiredProfile
        The desired use.
    """

    name = "algorithm-4"

    def __init__(self, desired: DesiredProfile) -> None:
        self._desired = desired
        self.seconds: list[float] = []
        """Processor time of each cycle."""

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay."""
        self._nodes, self._resources = platform.nodes, platform.resources
        self._capacity = [[platform.capacity[n][k] for k in range(len(self._resources))] for n in self._nodes]
        self._group = [g.name for g in platform.groups for _ in g.nodes]
        self.seconds.clear()

    def decide(self, moment: Moment) -> Decision:
        """Return the jobs that start now."""
        began = time.thread_time()
        wished = {g: [self._desired.amount(g, r, moment.now) for r in self._resources] for g in set(self._group)}
        most = [list(map(min, wished[g], own)) for g, own in zip(self._group, self._capacity, strict=True)]
        used = [
            [c - f for c, f in zip(*rows, strict=True)]
            for rows in zip(self._capacity, moment.free.tolist(), strict=True)
        ]
        placed = [(job, self._nodes_for(job, used, most)) for job in moment.waiting]
        starts = [Start(job.id, {self._nodes[n]: k for n, k in on.items()}) for job, on in placed if on]
        self.seconds.append(time.thread_time() - began)
        return Decision(starts, wake=self._desired.next_change(moment.now))

    def _nodes_for(self, job: Job, used: list[list[int]], most: list[list[float]]) -> dict[int, int]:
        """Put each unit on the first node with room; nothing, and nothing counted, if a unit finds none."""
        request = [job.request.get(r, 0) for r in self._resources]
        on: dict[int, int] = {}
        for _ in range(job.units):
            for n, here in enumerate(used):
                if all(u + q <= m for u, q, m in zip(here, request, most[n], strict=True)):
                    for k, q in enumerate(request):
                        here[k] += q
                    on[n] = on.get(n, 0) + 1
                    break
            else:
                for n, units in on.items():
                    for k, q in enumerate(request):
                        used[n][k] -= units * q
                return {}
        return on


def one_by_one(capacity: Ints, generator: str, limits: Limits | None) -> Transport:
    """Return a transport with a call for each node manager."""
    managers = []
    for n in range(len(capacity)):
        own = None if limits is None else limits._replace(curve=limits.curve[n : n + 1])
        managers.append(NodeManagers(capacity[n : n + 1], generator, own, n))
    return InProcess(managers)


class Cost(NamedTuple):
    """Seconds of a part of a scheduler: the mean and the standard deviation, None if only the sum is known."""

    name: str
    unit: str
    mean: float
    deviation: float | None = None


class Overhead(NamedTuple):
    """The costs on one workload: of the rules per cycle, and of DARDIS per run of the protocol and per job.

    Parameters
    ----------
    printed, compiled
        A cycle of algorithm 4 in Python, and of the compiled rule.
    costs
        All costs, these two included.
    one, alone
        A run of DARDIS as if the node managers were distributed: with the time of one of them in a common call, and alone.
    job
        A job, all its runs and its reservations included, node managers alone.
    cycles, runs
        Number of cycles of the rule, and runs of the protocol per job.
    queue
        Mean number of waiting jobs under the rule.
    """

    printed: float
    compiled: float
    costs: list[Cost]
    one: float
    alone: float
    job: float
    cycles: int
    runs: float
    queue: float | None


def measured(workload: Workload, platform: Platform, desired: DesiredProfile, setup: str = "throughput") -> Overhead:
    """Return the overhead of both schedulers on the same jobs.

    Raises
    ------
    AssertionError
        If the compiled rule does not give the starts of algorithm 4, or a replay breaks a rule of the simulator.
    """
    rule = Algorithm4(desired)
    printed = _checked(simulate(workload, platform, rule, desired=desired))
    compiled = [_compiled(workload, platform, desired) for _ in range(4)][1:]  # the first one may compile
    assert (compiled[0].start == printed.start).all(), "the compiled rule and algorithm 4 give different starts"
    calls = [run.decisions for run in compiled if run.decisions is not None]
    fast = min(made.total_seconds / made.made for made in calls)
    costs = [
        Cost("rule-based: algorithm 4 in Python", "cycle", fmean(rule.seconds), pstdev(rule.seconds)),
        Cost("rule-based: compiled, the same starts", "cycle", fast),
    ]
    shared = _dardis(workload, platform, desired, Dardis(setup, desired))
    alone = _dardis(workload, platform, desired, Dardis(setup, desired, connect=one_by_one))
    runs = shared["dardis_runs"] / shared["dardis_jobs"]
    selection = shared["node_selection_mean"]
    reserving = shared["reservation"] / shared["dardis_jobs"]
    for name, samples in (("in a common call", shared), ("in a call of its own", alone)):
        mean, deviation = samples["generation_one_mean"], samples["generation_one_sd"]
        costs.append(Cost(f"scheduling: one node manager, {name}", "run", mean, deviation))
    costs.append(Cost("dispatching: selection", "run", selection, shared["node_selection_sd"]))
    costs.append(Cost("reservation, all chosen nodes", "job", reserving))
    once = alone["generation_one_mean"] + selection
    return Overhead(
        printed=fmean(rule.seconds),
        compiled=fast,
        costs=costs,
        one=shared["generation_one_mean"] + selection,
        alone=once,
        job=runs * once + reserving,
        cycles=len(rule.seconds),
        runs=runs,
        queue=printed.metrics.queue_mean,
    )


def _compiled(workload: Workload, platform: Platform, desired: DesiredProfile) -> Simulation:
    return _checked(simulate(workload, platform, "rule:est-profile", desired=desired, allocator="first-fit"))


def _dardis(workload: Workload, platform: Platform, desired: DesiredProfile, dispatcher: Dardis) -> Mapping[str, float]:
    """Return the costs of a replay; a short one before it compiles."""
    _checked(simulate(workload.first(5), platform, dispatcher, desired=desired))
    _checked(simulate(workload, platform, dispatcher, desired=desired))
    return dispatcher.costs.as_dict()


def _checked(run: Simulation) -> Simulation:
    assert not run.violations, run.violations[0].message
    return run


def table(found: Overhead) -> Table:
    """Return the table of the costs."""
    shown = Table("part", "per", "mean, ms", "std. dev., ms", box=box.SIMPLE)
    for cost in found.costs:
        deviation = "-" if cost.deviation is None else f"{1e3 * cost.deviation:,.4f}"
        shown.add_row(cost.name, cost.unit, f"{1e3 * cost.mean:,.4f}", deviation)
    return shown


def ratios(found: Overhead) -> list[str]:
    """Return sentences with the ratios of the costs."""
    paper = PAPER["rule"] / (PAPER["node"] + PAPER["selection"])
    lines = [
        f"rule in Python / run of DARDIS, one node manager alone: {found.printed / found.alone:,.1f} (printed in the thesis: "
        f"214; of its table: {paper:.0f})",
        f"rule in Python / job of DARDIS with its {found.runs:.2f} runs: {found.printed / found.job:,.1f}",
        f"compiled rule / run of DARDIS, node managers in a common call: {found.compiled / found.one:,.2f}",
        f"rule in Python / compiled rule: {found.printed / found.compiled:,.0f}",
    ]
    return [f"{found.cycles:,} cycles, {found.queue or 0:,.1f} jobs wait in the mean", *lines]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the overhead on a window of a log; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.overhead",
        description="Overhead of DARDIS and of a rule-based cycle.",
    )
    parser.add_argument("log", help="a log, as bench simulate reads it")
    parser.add_argument("--nodes", type=int, default=300, help="number of nodes (default: 300)")
    parser.add_argument("--cores", type=int, default=32, help="cores of a node (default: 32)")
    parser.add_argument("--window", help="only the jobs submitted in this time, such as 2012-09-13:23d")
    parser.add_argument("--partition", help="only the jobs of these partitions, separated by commas")
    parser.add_argument("--first", type=int, default=1000, help="number of jobs (default: 1000)")
    parser.add_argument("--setup", default="throughput", help="setup of DARDIS (default: throughput)")
    options = parser.parse_args(arguments)
    console = console_for()
    try:
        workload, platform = open_trace(
            options.log,
            nodes=options.nodes,
            cores=options.cores,
            window=options.window,
            partitions=tuple(p.strip() for p in (options.partition or "").split(",") if p.strip()),
            latest_start="mean-wait",
            first=options.first,
        )
        desired = daily(platform, {"08:00": 0.6, "20:00": 1.0})
        overhead = measured(workload, platform, desired, options.setup)
    except (SchedlabError, OSError) as e:
        console_for(stderr=True).print(f"error: {e}", markup=False, highlight=False, soft_wrap=True)
        return WRONG
    console.print(f"{workload.name}: {len(workload):,} jobs on {len(platform.nodes):,} nodes, dardis:{options.setup}")
    console.print(table(overhead))
    for text in ratios(overhead):
        console.print(text, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
