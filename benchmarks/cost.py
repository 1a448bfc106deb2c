"""The cost of programs: processor time and peak memory, of this process and of commands."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import NamedTuple

from schedlab.bench.runs.process import tree_memory


class Cost(NamedTuple):
    """The cost of a command.

    Attributes
    ----------
    wall : float
        Wall-clock seconds.
    user, system : float
        Processor seconds in user and system mode, with those of its child processes.
    peak_mb : float
        Peak memory of all its processes together in MB; memory that they share is counted more than once.
    code : int
        The exit code.
    """

    wall: float
    user: float
    system: float
    peak_mb: float
    code: int


def cost_of(command: list[str]) -> Cost:
    """Run a command to its end, without its output, and return its cost."""
    before = os.times()
    began = time.perf_counter()
    peak = 0.0
    largest = peak_mb(children=True)  # of earlier commands
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None:
            peak = max(peak, tree_memory(child.pid) / 2**20)
            with suppress(subprocess.TimeoutExpired):
                child.wait(0.1)
    wall = time.perf_counter() - began
    after = os.times()
    user = after.children_user - before.children_user
    system = after.children_system - before.children_system
    own = peak_mb(children=True)
    return Cost(wall, user, system, max(peak, own) if own > largest else peak, child.returncode)


def peak_mb(children: bool = False) -> float:
    """Return the peak memory in MB of this process, or of the largest of its ended children; 0 if the system has no figure."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF).ru_maxrss
    return used / (1024 if sys.platform != "darwin" else 1024**2)
