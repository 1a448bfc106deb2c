"""The time to build and lower a model, as a multiple of that of code written by hand for one solver.

Run it as ``python -m benchmarks.lowering``.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table

from . import lowering_cpsat, lowering_highs, lowering_rcpsp
from .benchmark import without_arguments

REPEATS = 7
CASES = (
    ("CP-SAT: 700 intervals, 8 options each, 8 cumulatives, the makespan", lowering_cpsat, 1.5),
    ("CP-SAT: a project of 500 tasks, 1,494 precedences, 4 cumulatives", lowering_rcpsp, 2.0),
    ("HiGHS: time-indexed, 50,000 binary variables", lowering_highs, 1.1),
)


def ratio(by_hand: Callable[[], float], through: Callable[[], float]) -> tuple[float, float]:
    """Return the median seconds of both calls, measured alternately so that a disturbance affects both."""
    by_hand(), through()  # not measured: imports, caches
    gc.collect()  # else the first call that fills the collector's young generations pays for all that was imported
    pairs = [(by_hand(), through()) for _ in range(REPEATS)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def main() -> None:
    """Print the seconds of both and their ratio with its target."""
    table = Table("model building and lowering", "by hand s", "schedlab s", "ratio", "target: at most", box=box.SIMPLE)
    for what, module, most in CASES:
        hand, ours = ratio(module.hand_written, module.through_schedlab)
        table.add_row(what, f"{hand:.4f}", f"{ours:.4f}", f"{ours / hand:.2f}", f"{most:g}")
    Console().print(table)


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
