"""Speed of replays with long queues: conservative backfilling and plans on a random log at an offered load of 1.2.

Conservative backfilling keeps the free capacity over time from one decision to the next on machines whose nodes are
counted. It is compared with the same decisions, each of which builds it anew. All times are processor seconds of one
thread, without the compilation of the kernels.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from schedlab.heuristics.kernels.events.entries import step
from schedlab.heuristics.kernels.events.machine import trace_of
from schedlab.heuristics.kernels.events.state import WAITING, new_state
from schedlab.instances.formats.swf import read_swf
from schedlab.instances.workload import Workload
from schedlab.models import NodeGroup, Platform
from schedlab.models.array_types import Ints
from schedlab.simulation.dispatchers.policy import POLICIES
from schedlab.simulation.dispatchers.policy_kernels import BACKFILLING, rules_of
from schedlab.simulation.simulator import simulate

from .replay import write_trace

JOBS, PROCESSORS, LOAD = 5000, 256, 1.2


def from_scratch(workload: Workload, platform: Platform) -> tuple[Ints, float]:
    """Return the starts under ``conservative`` where each decision builds the profile anew, and processor seconds."""
    trace = trace_of(workload, platform, workload.runtime, True)
    rules, state = (
        rules_of(POLICIES["conservative"], workload, workload.walltime, True),
        new_state(trace, workload.walltime),
    )
    began = time.process_time()
    while step(trace, state, 0):
        if state.clock[WAITING]:
            BACKFILLING.decide(trace, state, rules)
    return state.start, time.process_time() - began


def main() -> None:
    """Print the times."""
    platform = Platform([NodeGroup("n", PROCESSORS, {"cores": 1})])
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.swf"
        write_trace(log, JOBS, PROCESSORS, LOAD)
        workload = read_swf(log)
    from_scratch(workload.first(50), platform)  # compiles
    starts, slow = from_scratch(workload, platform)
    print(f"\nLong queues: {JOBS:,} jobs on {PROCESSORS} processors, offered load {LOAD}")
    print(f"conservative, profile built at each decision: {slow:.2f} s")
    for name in ("conservative", "plan", "plan@lns"):
        simulate(workload.first(50), platform, name)
        began = time.process_time()
        run = simulate(workload, platform, name)
        took = time.process_time() - began
        ratio = f", {slow / took:.1f} times as fast" if name == "conservative" else ""
        print(f"{name}: {took:.2f} s, {1000 * took / (run.metrics.decisions.made or 1):.3f} ms a decision{ratio}")
        if name == "conservative" and not np.array_equal(run.start, starts):
            sys.exit("the starts of conservative differ from those with a profile that is built anew")


if __name__ == "__main__":
    main()
