"""``make speed``: the cost of the modelling layer as ratios, the times of the compiled kernels, and the speed of replays."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table

from . import compiling as speed_compiling
from . import cpsat as speed_cpsat
from . import evictions as speed_evictions
from . import groups as speed_groups
from . import heuristics as speed_heuristics
from . import highs as speed_highs
from . import profit as speed_profit
from . import replay as speed_replay
from . import store as speed_store

REPEATS = 7


def ratio(by_hand: Callable[[], float], through: Callable[[], float]) -> tuple[float, float]:
    """Return the median seconds of both calls, measured alternately so that a disturbance affects both."""
    by_hand(), through()  # not measured: imports, caches
    pairs = [(by_hand(), through()) for _ in range(REPEATS)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def main() -> None:
    """Print all measurements with their targets."""
    console = Console()
    table = Table("model building and lowering", "by hand s", "schedlab s", "ratio", "target: at most", box=box.SIMPLE)
    cases = (
        ("CP-SAT: 700 intervals, 8 options each, 8 cumulatives", speed_cpsat, 2.0),
        ("HiGHS: time-indexed, 50,000 binary variables", speed_highs, 3.0),
    )
    for what, module, most in cases:
        hand, ours = ratio(module.hand_written, module.through_schedlab)
        table.add_row(what, f"{hand:.4f}", f"{ours:.4f}", f"{ours / hand:.2f}", f"{most:g}")
    console.print(table)
    speed_heuristics.main()
    speed_profit.main()
    speed_replay.main()
    speed_groups.main()
    speed_evictions.main()
    speed_store.main()
    speed_compiling.main()


if __name__ == "__main__":
    main()
