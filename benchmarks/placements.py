"""Speed of the list scheduler's kernels: placements of whole orders, with and without skipping, and of changed orders.

Run it as ``python -m benchmarks.placements``. The kernels skip times at which a job cannot start: the ranges
known for its kind (``Hopeless``) and what the bound of the whole machine excludes (``Aggregate``). Without both each
time is examined, as in the first version of the kernels; the schedules are equal. A changed order is placed anew from a
checkpoint before the change, and given up as soon as it cannot be better. All times are processor times without compilation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from schedlab.heuristics import ListScheduler, warm_up
from schedlab.heuristics.kernels import placement as kernels
from schedlab.heuristics.kernels.aggregate import levels
from schedlab.heuristics.kernels.orders import OrderResult
from schedlab.heuristics.kernels.placement import new_hopeless
from schedlab.heuristics.kernels.profile import NEVER
from schedlab.heuristics.search_parts import running
from schedlab.instances import load
from schedlab.models import Dispatch
from schedlab.models.array_types import Ints

from .benchmark import without_arguments
from .heuristics import CURIE, read_curie

ORDER = "submit-weighted-area"
REPEATS = 9
CHANGES = 300
MOST_JOBS = 3
PLACES = 50
SEED = 1
TARGET_DAY, TARGET_CURIE = (
    0.010,
    1.0,
)  # seconds of one placement: eurora_700, 33,278 jobs of the Curie log, cancelled ones too


class PlacementTime(NamedTuple):
    """Seconds of one placement of all jobs, with skipping, and without it."""

    jobs: int
    seconds: float
    plain: float


def seconds_of(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median of the processor seconds of a call."""
    samples = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        samples.append(time.process_time() - began)
    return median(samples)


def placed_plainly(scheduler: ListScheduler, order: Ints) -> tuple[Ints, Ints]:
    """Return starts and nodes as ``scheduler.place(order)``, found without skipping."""
    a = scheduler.arrays
    starts = np.empty(order.size, np.int64)
    nodes = np.empty(int(a.jobs.first_unit[-1]), np.int64)
    same = kernels.Same(new_hopeless(a.jobs, 0), levels(a.machine, a.jobs)._replace(groups=0))
    anytime = np.full(order.size, -NEVER, np.int64)
    placed = kernels.build(a.machine, a.jobs, same, a.costs, order, anytime, starts, nodes, running())
    assert placed == order.size
    return starts, nodes


def placement_time(problem: Dispatch, order: str = ORDER, repeats: int = REPEATS) -> PlacementTime:
    """Measure one placement of all jobs with and without skipping; both must give the same schedule."""
    scheduler = ListScheduler(problem)
    indices = scheduler.order(order)
    first = scheduler.place(indices)
    second = placed_plainly(scheduler, indices)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True)), "the schedules differ"
    return PlacementTime(
        indices.size,
        seconds_of(lambda: scheduler.place(indices), repeats),
        seconds_of(lambda: placed_plainly(scheduler, indices), repeats),
    )


def change_times(problem: Dispatch, order: str = ORDER, changes: int = CHANGES) -> tuple[float, float]:
    """Return the seconds of one random change of an order, placed from a checkpoint, and by placing all jobs.

    Each change moves 1 to ``MOST_JOBS`` jobs within ``PLACES`` places of the order. It is kept if it makes the schedule no
    worse. Both ways give the same order.
    """
    scheduler = ListScheduler(problem)
    rng = np.random.default_rng(SEED)
    start = scheduler.order(order)
    first = np.concatenate([[0], np.cumsum(rng.integers(1, MOST_JOBS + 1, changes))])
    moves = rng.integers(0, PLACES, (int(first[-1]), 2))
    moves += np.repeat(rng.integers(0, start.size - PLACES, changes), np.diff(first))[:, None]
    answer = OrderResult(start.copy(), *scheduler.place(start))
    value = scheduler.objective(answer.starts)
    none = np.zeros(changes)
    free = np.full(changes, np.inf)
    mover = scheduler.mover()
    began = time.process_time()
    mover.improve(answer, moves, first, value, value, none, free, running())
    from_checkpoints = time.process_time() - began

    current = start.tolist()
    began = time.process_time()
    for m in range(changes):
        trial = list(current)
        for i, to in moves[first[m] : first[m + 1]]:
            trial.insert(int(to), trial.pop(int(i)))
        change_value = scheduler.evaluate(np.array(trial))[0]
        if change_value <= value * (1 + 1e-12):
            value, current = change_value, trial
    anew = time.process_time() - began
    assert current == answer.order.tolist(), "the orders differ"
    return from_checkpoints / changes, anew / changes


def main() -> None:
    """Print the measurements with their targets."""
    warm_up()
    table = Table("placement", "jobs", "ms", "target", "without\nskipping, ms", "ratio", box=box.SIMPLE)

    def add(name: str, found: PlacementTime, target: float) -> None:
        times = f"{1e3 * found.seconds:.1f}", f"{1e3 * target:.0f}", f"{1e3 * found.plain:.1f}"
        table.add_row(name, f"{found.jobs:,}", *times, f"{found.plain / found.seconds:.1f}")

    day = load("eurora_700").dispatch
    add("whole day of eurora_700", placement_time(day), TARGET_DAY)
    if CURIE.exists():
        add("Curie log, 300 nodes", placement_time(read_curie()[0], "est", 1), TARGET_CURIE)
    console = Console()
    console.print(table)
    change_times(day, changes=2)  # compiles
    changed, anew = change_times(day)
    console.print(
        f"A changed order of eurora_700 from a checkpoint: {1e3 * changed:.2f} ms; all jobs anew: {1e3 * anew:.2f} ms; "
        f"ratio {anew / changed:.1f}"
    )


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
