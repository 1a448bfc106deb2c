"""Time to compile the kernels that each method needs, once after an installation.

Run it as ``python -m benchmarks.compiling``. Each use of ``benchmarks.uses`` runs in a process of its own with an
empty cache. Printed are the wall time, and the processor time of the process and of the second one that helps it.
With ``--wheel FILE`` a wheel of ``make wheel`` is installed into a temporary folder, and measured beside.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .uses import USES

TARGET, PATIENCE = 10, 300.0  # seconds


class Cold(NamedTuple):
    """Seconds of a process that begins with an empty cache: wall time, and processor time."""

    wall: float
    processor: float


def cold(code: str, environment: Mapping[str, str] | None = None) -> Cold:
    """Return the seconds of a Python process that runs this code with an empty cache of compiled functions."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        began = time.perf_counter()
        env = {**os.environ, **(environment or {}), "NUMBA_CACHE_DIR": folder}
        subprocess.run([sys.executable, "-P", "-c", code], env=env, check=True, timeout=PATIENCE)
        after = os.times()
        wall = time.perf_counter() - began
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Cold(wall, used)


def _installed(wheel: Path, folder: str) -> dict[str, str]:
    """Install a wheel into a folder, without its dependencies; return the environment of processes that use it."""
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, str(wheel)]
    subprocess.run(install, check=True, timeout=PATIENCE)
    return {"PYTHONPATH": folder}


def main(wheel: Path | None = None) -> None:
    """Print the seconds of each use with their target; with a wheel, also those of the package in it."""
    print(f"first use after an installation: wall time (target: at most {TARGET} s) and processor time")
    with tempfile.TemporaryDirectory() as folder:
        columns: dict[str, Mapping[str, str]] = {"compiled at first use": {}}
        if wheel is not None:
            columns["with the wheel"] = _installed(wheel, folder)
        print(f"  {'':28} {'   '.join(f'{name:>21}' for name in columns)}")
        for label, code in USES.items():
            print(f"  {label:28}", end="", flush=True)
            for environment in columns.values():
                seconds = cold(code, environment)
                print(f" {seconds.wall:9.1f} s {seconds.processor:9.1f} s  ", end="", flush=True)
            print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the first use of methods and dispatchers.")
    parser.add_argument("--wheel", type=Path, help="a wheel of make wheel, measured beside")
    main(parser.parse_args().wheel)
