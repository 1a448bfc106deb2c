"""The three batches of two hours on Eurora of [Bridi2018, 3.4], as near as the public log of 2014 comes to them.

The traces of the thesis are not public. These windows of the 5,930 public jobs have nearly its compositions (table 3.6);
the first one lacks its ``np_longpar`` jobs, so that it is another batch of the same size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..models.dispatch.jobs import Running
from ..models.platform import Platform
from .files.lines import csv_rows, each_line
from .log_preparation import at_begin, window_of
from .repair import Trace
from .workload import Workload


class Batch(NamedTuple):
    """A batch: the begin of its two hours, which jobs belong to it, and its composition in the thesis.

    Parameters
    ----------
    begin : str
        Begin of the window, on the clock of the log.
    which : str
        Which jobs count: ``"queued"``: submitted before its end and started after its begin; ``"active"``: submitted
        before its end and ended after its begin; ``"started"``: those of them that started before its end.
    composition : mapping of str to int
        Row of table 3.6 -> number of jobs in the thesis.
    """

    begin: str
    which: str
    composition: Mapping[str, int]

    @property
    def window(self) -> str:
        """The window of the batch."""
        return f"{self.begin}:2h"


CORES = ("1 core", "2 cores", "4 cores", "5 cores", "6 cores", "8 cores", ">8 cores")
ROWS = ("all", "queue debug", "queue parallel", "queue np_longpar", "with gpus", "with mics", *CORES)


def _batch(begin: str, which: str, *numbers: int) -> Batch:
    return Batch(begin, which, dict(zip(ROWS, numbers, strict=True)))


BATCHES = {
    1: _batch("2014-04-02T15:26", "started", 437, 237, 130, 62, 85, 3, 298, 2, 1, 1, 6, 59, 70),
    2: _batch("2014-04-03T17:05", "queued", 434, 133, 240, 25, 203, 1, 197, 73, 4, 1, 2, 56, 101),
    3: _batch("2014-04-03T15:46", "active", 619, 127, 415, 12, 224, 1, 258, 38, 7, 0, 3, 187, 126),
}
"""The batches by their numbers."""


def batch_of(trace: Trace, number: int) -> Workload:
    """Return the jobs of a batch: those that wait at its begin, submitted then, later ones, and the running jobs.

    The running jobs, without nodes, end as recorded. They count in the composition of ``active`` and ``started``
    batches.

    Parameters
    ----------
    trace
        The log of Eurora.
    number
        1, 2 or 3.

    Returns
    -------
    Workload
        The jobs. Times are in s of the log.
    """
    batch = BATCHES[number]
    begin, end = window_of(batch.window, trace)
    kept = (trace.submit < end) & (trace.start + trace.runtime > begin)
    if batch.which == "started":
        kept &= trace.start < end
    return at_begin(trace.keep(kept).workload, begin, reset=True)


def recorded_nodes(path: str | Path) -> dict[str, dict[str, int]]:
    """Return id -> {node: units} as recorded; nodes 1 to 32 of the log have MICs, 33 to 64 GPUs.

    Nodes with other numbers are left out.
    """
    table = csv_rows(path, each_line(path))
    header = next(table)[1]
    job = header.index("job_id")
    used = header.index("nodes_used")
    names = {str(k): f"mic-{k:02d}" if k <= 32 else f"gpu-{k - 32:02d}" for k in range(1, 65)}
    rows = (cells for _, cells in table if len(cells) == len(header))
    return {cells[job]: dict(Counter(names[n] for n in cells[used].split() if n in names)) for cells in rows}


def on_recorded_nodes(
    running: Sequence[Running], recorded: Mapping[str, Mapping[str, int]], platform: Platform
) -> list[Running]:
    """Return running jobs on their recorded nodes, where these have room; the others are without nodes.

    The log has amounts for each node, schedlab one request per unit, the largest: rarely, a node is too full for it.
    """
    free = {node: list(vector) for node, vector in platform.capacity.items()}
    placed = []
    for r in sorted(running, key=lambda r: r.start):
        nodes = recorded.get(r.job.id, {})
        request = [r.job.request.get(name, 0) for name in platform.resources]
        left = {
            node: [f - units * q for f, q in zip(free[node], request, strict=True)] for node, units in nodes.items()
        }
        fits = sum(nodes.values()) == r.job.units and all(min(amounts) >= 0 for amounts in left.values())
        if fits:
            free |= left
        placed.append(replace(r, nodes=dict(nodes) if fits else {}))
    return placed
