"""Time to compile the kernels that each method needs, once after an installation.

Run it as ``python -m schedlab.bench.speed.compiling``. Each method runs on a small instance in a process of its own with an
empty cache. Printed are the wall time, and the processor time of the process and of the second one that helps it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

METHODS = {
    "rule:est": "eurora_99",
    "multi-search": "eurora_99",
    "delay-search": "eurora_99",
    "lns": "eurora_99",
    "cpsat:counts+warm": "eurora_99",
    "multi-search, profit": "profit_small",
}
DISPATCHERS = ("easy", "conservative")
SOLVE = "import schedlab as sl; sl.solve(sl.load({instance!r}).problem, method={method!r}, time_limit=1, threads=1)"
REPLAY = "import schedlab as sl; sl.simulate('eurora_99', dispatcher={dispatcher!r})"
TARGET, PATIENCE = 10, 120.0  # seconds


class Cold(NamedTuple):
    """Seconds of a process that begins with an empty cache: wall time, and processor time."""

    wall: float
    processor: float


def cold(code: str) -> Cold:
    """Return the seconds of a Python process that runs this code with an empty cache of compiled functions."""
    with tempfile.TemporaryDirectory() as folder:
        before, began = os.times(), time.perf_counter()
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=PATIENCE)
        after, wall = os.times(), time.perf_counter() - began
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Cold(wall, used)


def _line(label: str, code: str) -> None:
    found = cold(code)
    print(f"  {label:28} {found.wall:5.1f} s {found.processor:5.1f} s", flush=True)


def main() -> None:
    """Print the seconds of each method with their target."""
    print(f"first use of a method after an installation: wall time (target: at most {TARGET} s) and processor time")
    for name, instance in METHODS.items():
        _line(name, SOLVE.format(instance=instance, method=name.split(",")[0]))
    for name in DISPATCHERS:
        _line(f"replay, {name}", REPLAY.format(dispatcher=name))


if __name__ == "__main__":
    main()
