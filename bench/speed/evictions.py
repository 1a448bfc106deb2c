"""Speed of the eviction methods, as medians of one run: the trade-off for all deadlines and all numbers of nodes.

Run it as ``python -m schedlab.bench.speed.evictions``. Compiling the kernels is outside the seconds; the plans for all deadlines
are inside of those of the dynamic program. The other methods answer the same deadlines one by one, for one number of nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from ...backends import backend
from ...heuristics import backtracking, greedy, trade_off, warm_up_for
from ...instances import generators, load
from ...models import Eviction
from ...solve import solve

REPEATS = 31
PATIENCE = 60.0  # seconds that backtracking may take for all deadlines
SOLVERS = ("cpsat", "highs")


class SpeedCase(NamedTuple):
    """A problem, and how many milliseconds its trade-off may take."""

    what: str
    problem: Eviction
    most_ms: float


def cases() -> list[SpeedCase]:
    """What issue and paper ask for: minute steps, second steps, a larger machine."""
    theta = load("theta_24").eviction
    large = generators["theta"](100, 1, nodes=10_000).eviction
    return [
        SpeedCase("theta_24, minute steps", theta, 2.0),
        SpeedCase("theta_24, second steps", theta.replace(step_s=1), 80.0),
        SpeedCase("100 jobs, 10,000 nodes, minute steps", large, 20.0),
    ]


def main() -> None:
    """Print the medians and the ratios."""
    console = Console()
    known = cases()
    warm_up_for(known[0].problem)
    table = Table("evictions: all deadlines, all nodes, plans", "median ms", "worst ms", "at most", box=box.SIMPLE)
    for case in known:
        times = [1000 * s for s in repeated(lambda p=case.problem: trade_off(p).plans())]  # type: ignore[misc]
        table.add_row(case.what, f"{median(times):.3f}", f"{max(times):.3f}", f"{case.most_ms:g}")
    console.print(table)
    compared = Table("theta_24, 16 deadlines", "nodes", "ms", "ratio to dp", box=box.SIMPLE)
    for nodes in (512, 1024, 2048):
        for what, seconds, note in compare(known[0].problem.replace(nodes_needed=nodes)):
            compared.add_row(what, str(nodes), f"{1000 * seconds[0]:.3f}", note or f"{seconds[0] / seconds[1]:,.2f}")
    console.print(compared)


def repeated(call: Callable[[], object]) -> list[float]:
    """Seconds of each of many calls, after one that does not count."""
    call()
    found = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return found


def compare(problem: Eviction) -> list[tuple[str, tuple[float, float], str]]:
    """Of each method its seconds for all deadlines, and those of the dynamic program."""
    every = [problem.replace(deadline_s=t * problem.step_s) for t in range(problem.steps + 1)]
    for here in (problem, *every):
        _ = here.checkpoint_steps
    exact = median(repeated(lambda: trade_off(problem).plans()))
    found = [("dp", (exact, exact), "")]
    found.append(("greedy", (median(repeated(lambda: [greedy(p) for p in every])), exact), ""))
    began = time.perf_counter()
    complete = [backtracking(p, PATIENCE / len(every)).complete for p in every]
    searched = time.perf_counter() - began
    found.append(("backtracking", (searched, exact), "" if all(complete) else f"did not end in {PATIENCE:g} s"))
    for name in SOLVERS:
        if not backend(name).availability().ok:
            continue
        solve(problem, backend=name, threads=1)
        began = time.perf_counter()
        for p in every:
            solve(p, backend=name, threads=1)
        found.append((name, (time.perf_counter() - began, exact), ""))
    return found


if __name__ == "__main__":
    main()
