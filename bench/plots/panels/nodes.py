"""The nodes that are on and those that run jobs over time, of replays with a node policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ....instances.files.lines import csv_rows, read_text, split_lines
from ...records.store import Record, jobs_file

Curve = tuple[Any, Any]


def node_curves(record: Record, folder: Path) -> tuple[Curve, Curve] | None:
    """Return the curves of the nodes that are on, and of those that run jobs; None without a node policy.

    Parameters
    ----------
    record : Record
        The record of a replay.
    folder : Path
        Its folder.

    Returns
    -------
    tuple of (ndarray, ndarray)
        Times in seconds, number of nodes.

    Raises
    ------
    JobsError
        If the file of the jobs is not valid.
    """
    from ....simulation.curves import busy_nodes, in_use
    from ....simulation.outputs.reading import read_jobs

    name = (record.get("simulation") or {}).get("node_states_csv")
    if name is None or not record.get("jobs_csv"):
        return None
    jobs = read_jobs(jobs_file(folder, record))
    p, count = jobs.placement, sum(g["count"] for g in record["simulation"]["platform"])
    begin, end = int(jobs.submit.min()), int(jobs.end.max())
    busy = in_use(*(ends := busy_nodes(jobs.start, jobs.end, p.first, p.low, p.high)), np.ones_like(ends[0]))
    rows = list(csv_rows(folder / name, split_lines(read_text(folder / name))))[1:]
    changes = {begin: count, end: 0}
    for _, (_, time, state) in rows:
        changes[int(time)] = changes.get(int(time), 0) + {"on": 1, "shutting down": -1}.get(state, 0)
    times = np.array(sorted(t for t in changes if t <= end))
    return (times, np.cumsum([changes[t] for t in times.tolist()])), busy
