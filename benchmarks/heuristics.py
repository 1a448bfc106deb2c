"""Speed of the heuristics on three workloads.

All orderings of a day of 700 jobs; one ordering of a log of 33,551 jobs; generated batches of up to 20,000 jobs on 512 nodes.
Run it as ``python -m benchmarks.heuristics``. The times do not contain the compilation of the kernels.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from schedlab.heuristics import ListScheduler, first_solution, multi_search, warm_up
from schedlab.instances import generators, load
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue

from .benchmark import without_arguments
from .cost import peak_mb

CURIE = Path("..", "shared", "data", "cea_curie_2011", "curie_all_23d_2012-07-13.swf.gz")
NODES, CORES = 300, 32
SIZES, MANY_NODES = (1_000, 5_000, 10_000, 20_000), 512
ALL_ORDERINGS_UP_TO = 5_000  # jobs: multi-search is not measured on larger batches


def all_orderings(instance: str = "eurora_700") -> dict[str, Any]:
    """Measure multi-search on a whole day, from the problem to the schedule; return its seconds and its result."""
    warm_up()
    problem = load(instance).dispatch
    began = time.perf_counter()
    result = multi_search(problem)
    seconds = time.perf_counter() - began
    return {
        "instance": instance,
        "seconds": seconds,
        "objective": result.objective,
        "order": result.details["order"],
        "skipped": sorted(cast(dict[str, str], result.details["skipped"])),
        "violations": len(result.violations),
    }


def read_curie(path: Path = CURIE) -> tuple[Dispatch, int]:
    """Return the log as a problem on 300 nodes of 32 cores, and the number of jobs dropped because they never fit.

    A job of p processors becomes u = ceil(p / 32) units of ceil(p / u) cores. Its walltime is the requested one, or its
    runtime if no walltime is given, and at least 1 s.
    """
    jobs, dropped = [], 0
    for number, submit, processors, walltime in _records(path):
        units = -(-processors // CORES)
        if not 1 <= units <= NODES:
            dropped += 1
            continue
        jobs.append(Job(number, submit, max(1, walltime), units, {"cores": -(-processors // units)}, "all"))
    platform = Platform([NodeGroup("node", NODES, {"cores": CORES})])
    return Dispatch(platform, jobs, [Queue("all", 3600)], "waiting"), dropped


def _records(path: Path) -> Iterator[tuple[str, int, int, int]]:
    """Yield number, submit time, processors and requested walltime of the jobs of a log in the Standard Workload Format."""
    with gzip.open(path, "rt") as lines:
        for line in lines:
            if line.strip() and not line.startswith(";"):
                f = [int(float(x)) for x in line.split()]
                yield str(f[0]), f[1], f[7] if f[7] > 0 else f[4], f[8] if f[8] > 0 else f[3]


def one_ordering(order: str = "est", path: Path = CURIE) -> dict[str, Any]:
    """Measure one ordering on the log; return its figures.

    ``seconds`` is the time from the problem to the schedule, ``placing_seconds`` that of the list scheduler alone, ``peak_mb``
    the peak memory of this process.
    """
    warm_up()
    problem, dropped = read_curie(path)
    began = time.perf_counter()
    schedule = first_solution(problem, order)
    seconds = time.perf_counter() - began
    scheduler = ListScheduler(problem)
    indices = scheduler.order(order)
    began = time.perf_counter()
    scheduler.place(indices)
    placing = time.perf_counter() - began
    return {
        "order": order,
        "jobs": len(problem.jobs),
        "dropped": dropped,
        "seconds": seconds,
        "placing_seconds": placing,
        "peak_mb": peak_mb(),
        "objective": problem.value(schedule),
        "violations": len(problem.verify(schedule)),
    }


def many_jobs(jobs: int) -> dict[str, Any]:
    """Measure the first solution of a generated batch on 512 nodes, and multi-search if it is small, in processor seconds."""
    warm_up()
    problem = generators["centre"](jobs, 7, nodes=MANY_NODES, days=max(2, jobs // 1000)).profit.dispatch
    began = time.process_time()
    schedule = first_solution(problem, "est")
    first = time.process_time() - began
    result = None
    if jobs <= ALL_ORDERINGS_UP_TO:
        began = time.process_time()
        multi_search(problem)
        result = time.process_time() - began
    return {"jobs": jobs, "first": first, "all": result, "violations": len(problem.verify(schedule))}


def main() -> None:
    """Print the measurements with their targets."""
    day = all_orderings()
    print(f"multi-search (all orderings) on {day['instance']}, whole day: {day['seconds']:.2f} s (target: at most 2 s)")
    print(f"  best ordering: {day['order']}, objective {day['objective']:.1f}; violations: {day['violations']}")
    print(f"  orderings left out: {', '.join(day['skipped'])}")
    for size in SIZES:
        many = many_jobs(size)
        every = "" if many["all"] is None else f", multi-search {many['all']:.2f} s"
        print(
            f"{size:,} jobs on {MANY_NODES} nodes, processor time: first solution {many['first']:.2f} s{every}; "
            f"violations: {many['violations']}"
        )
    if not CURIE.exists():
        print(
            f"one ordering of the Curie log: not measured, as {CURIE} is missing (run this at the root of the repository)"
        )
        return
    log = one_ordering()
    print(
        f"ordering {log['order']} of the Curie log: {log['seconds']:.2f} s (target: at most 10 s), "
        f"list scheduler alone {log['placing_seconds']:.2f} s"
    )
    print(
        f"  {log['jobs']} jobs, {log['dropped']} dropped; peak memory {log['peak_mb']:.0f} MB (target: at most 2048 MB); "
        f"violations: {log['violations']}"
    )


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
