"""Time to compile the kernels that each method needs, once after an installation.

Run it as ``python -m schedlab.bench.speed.compiling``. Each method runs on a small instance in a process of its own with an
empty cache. The time is processor time of the whole process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

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


def cold_seconds(code: str) -> float:
    """Return the processor seconds of a Python process that runs this code with an empty cache of compiled functions."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=PATIENCE)
        after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Print the seconds of each method with their target."""
    print(f"first use of a method after an installation, processor time (target: at most {TARGET} s)")
    for name, instance in METHODS.items():
        print(
            f"  {name:28} {cold_seconds(SOLVE.format(instance=instance, method=name.split(',')[0])):5.1f} s", flush=True
        )
    for name in DISPATCHERS:
        print(f"  {'replay, ' + name:28} {cold_seconds(REPLAY.format(dispatcher=name)):5.1f} s", flush=True)


if __name__ == "__main__":
    main()
