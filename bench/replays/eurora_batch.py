"""The batches of [Bridi2018, 3.4] from the log of Eurora, with the recorded starts, for an instance or a replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...instances.eurora_batches import BATCHES, batch_of, on_recorded_nodes, recorded_nodes
from ...instances.formats.eurora_trace import eurora_platform
from ...instances.repair import Trace
from ...instances.workload import Workload
from ...models.platform import Platform


def eurora_batch(trace: Trace, file: str | Path, number: int) -> tuple[Workload, Platform]:
    """Return the jobs of a batch, with the running jobs on their recorded nodes, and the machine.

    Parameters
    ----------
    trace
        The log of Eurora.
    file
        Its file, which has the recorded nodes.
    number
        1, 2 or 3.

    Returns
    -------
    Workload
        The jobs, in s of the log.
    Platform
        Eurora.
    """
    from ...heuristics.kernels.events.machine import on_nodes  # numba: half of the start of the command line

    batch, platform = BATCHES[number], eurora_platform()
    workload = batch_of(trace, number).on(platform)
    recorded = on_recorded_nodes(workload.running, recorded_nodes(file), platform)
    kept, placed = sum(bool(r.nodes) for r in recorded), on_nodes(recorded, platform, best=True)
    lost = len(workload.running) - len(placed)
    workload = replace(workload, running=tuple(placed)).noted(
        f"near to BATCH{number} of T. Bridi's thesis (3.4), not equal; jobs that are {batch.which}, window {batch.window}",
        f"the running jobs end as recorded; {kept} are on their recorded nodes, {len(placed) - kept} on others by best "
        f"fit, {lost} without room are left out",
    )
    return workload, platform
