"""Speed of the eviction methods: the trade-off for all deadlines and all numbers of nodes, and other methods.

Run it as ``python -m benchmarks.evictions``. The times are medians and do not contain the compilation of the
kernels. The time of the dynamic program (dp) contains the plans for all deadlines. The other methods solve the same
deadlines one by one, for one number of nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from schedlab.backends import backend
from schedlab.heuristics import NothingFound, backtracking, greedy, trade_off, warm_up_for
from schedlab.instances import generators, load
from schedlab.models import Eviction
from schedlab.solve import solve

from .benchmark import without_arguments

REPEATS = 31
PATIENCE = 60.0  # seconds: the time limit of backtracking for all deadlines
SOLVERS = ("cpsat", "highs")


class SpeedCase(NamedTuple):
    """A problem, and the target for its trade-off: the greatest median in milliseconds."""

    what: str
    problem: Eviction
    most_ms: float


def cases() -> list[SpeedCase]:
    """Return the problems with targets: time steps of a minute, time steps of a second, a larger machine."""
    theta = load("theta_24").eviction
    large = generators["theta"](100, 1, nodes=10_000).eviction
    return [
        SpeedCase("theta_24, time step 60 s", theta, 2.0),
        SpeedCase("theta_24, time step 1 s", theta.replace(step_s=1), 80.0),
        SpeedCase("100 jobs, 10,000 nodes, time step 60 s", large, 20.0),
    ]


def main() -> None:
    """Print the medians with their targets, and the ratios to the dynamic program."""
    console = Console()
    known = cases()
    warm_up_for(known[0].problem)
    table = Table(
        "evictions: plans for all deadlines and nodes",
        "median ms",
        "worst ms",
        "target: median at most ms",
        box=box.SIMPLE,
    )
    for case in known:
        times = [1000 * s for s in repeated(lambda p=case.problem: trade_off(p).plans())]  # type: ignore[misc]
        table.add_row(case.what, f"{median(times):.3f}", f"{max(times):.3f}", f"{case.most_ms:g}")
    console.print(table)
    compared = Table("theta_24, 16 deadlines", "nodes to free", "ms", "time / time of dp", box=box.SIMPLE)
    for nodes in (512, 1024, 2048):
        for what, seconds, note in compare(known[0].problem.replace(nodes_needed=nodes)):
            compared.add_row(what, str(nodes), f"{1000 * seconds[0]:.3f}", note or f"{seconds[0] / seconds[1]:,.2f}")
    console.print(compared)


def repeated(call: Callable[[], object]) -> list[float]:
    """Return the seconds of each of REPEATS calls, after one call that is not measured."""
    call()
    values = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        values.append(time.perf_counter() - began)
    return values


def compare(problem: Eviction) -> list[tuple[str, tuple[float, float], str]]:
    """Return for each method: its name, (its seconds for all deadlines, seconds of dp), and a remark or ""."""
    every = [problem.replace(deadline_s=t * problem.step_s) for t in range(problem.steps + 1)]
    for here in (problem, *every):
        _ = here.checkpoint_steps
    exact = median(repeated(lambda: trade_off(problem).plans()))
    compared = [("dp", (exact, exact), "")]
    compared.append(("greedy", (median(repeated(lambda: [greedy(p) for p in every])), exact), ""))
    began = time.perf_counter()
    complete = [_is_complete(p, PATIENCE / len(every)) for p in every]
    searched = time.perf_counter() - began
    compared.append(("backtracking", (searched, exact), "" if all(complete) else f"stopped at {PATIENCE:g} s"))
    for name in SOLVERS:
        if not backend(name).availability().ok:
            continue
        solve(problem, backend=name, threads=1)
        began = time.perf_counter()
        for p in every:
            solve(p, backend=name, threads=1)
        compared.append((name, (time.perf_counter() - began, exact), ""))
    return compared


def _is_complete(problem: Eviction, seconds: float) -> bool:
    """Return whether backtracking ends within a time limit."""
    try:
        return bool(backtracking(problem, time_limit=seconds).details["complete"])
    except NothingFound:
        return False


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
