"""The attempts of jobs that ended early, in Gantt charts: their runs, checkpoints, and where jobs left their nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....instances.files.lines import csv_rows, read_text, split_lines
from ....models.dispatch.job_arrays import offsets
from ....models.platform import Platform
from ...records.description import CHECKPOINT, EVICTED, Area, areas_of
from ...records.store import jobs_file

if TYPE_CHECKING:
    from ....simulation.outputs.reading import JobsTable

MARK = 300  # a mark where a job left has this part of the width of the chart


def with_attempts(
    jobs: JobsTable, record: Mapping[str, Any], folder: Path, platform: Platform
) -> tuple[JobsTable, list[Area]]:
    """Return the jobs of a replay with a row for each attempt, and its areas with checkpoints and departures.

    The submit time of a later attempt is the end of the one before it. Without attempts that ended early the jobs are
    returned as they are.

    Parameters
    ----------
    jobs : JobsTable
        The jobs of the replay.
    record : mapping
        Its record.
    folder : Path
        The folder of the record.
    platform : Platform
        The machine.
    """
    from ....simulation.outputs.attempts import attempts_file

    if (record.get("simulation") or {}).get("attempts_csv") is None:
        return jobs, list(areas_of(record))
    path = attempts_file(jobs_file(folder, record))
    rows = [cells for _, cells in csv_rows(path, split_lines(read_text(path)))][1:]
    row = {name: k for k, name in enumerate(jobs.ids)}
    early = [
        (row[job], int(number), int(start), int(end), _nodes(nodes))
        for job, number, start, end, nodes, _, _, back in rows
        if back == "1"
    ]
    early.sort(key=lambda a: (a[0], a[1]))
    submit, last = jobs.submit.copy(), dict[int, int]()
    begins = []
    for k, _, _, end, _ in early:
        begins.append(last.get(k, int(jobs.submit[k])))
        last[k] = submit[k] = end
    at = np.concatenate([np.arange(len(jobs)), np.array([a[0] for a in early], np.int64)])
    p, listed = jobs.placement, [pair for a in early for pair in a[4]]
    node, units = np.array(listed, np.int64).reshape(-1, 2).T
    first = np.concatenate([p.first, p.first[-1] + offsets([len(a[4]) for a in early])[1:]])
    placement = p._replace(
        first=first,
        low=np.concatenate([p.low, node]),
        high=np.concatenate([p.high, node]),
        units=np.concatenate([p.units, units]),
    )
    made = replace(
        jobs,
        ids=[jobs.ids[k] for k in at.tolist()],
        submit=np.concatenate([submit, np.array(begins, np.int64)]),
        start=np.concatenate([jobs.start, np.array([a[2] for a in early], np.int64)]),
        end=np.concatenate([jobs.end, np.array([a[3] for a in early], np.int64)]),
        walltime=jobs.walltime[at],
        units=jobs.units[at],
        killed=np.concatenate([jobs.killed, np.zeros(len(early), np.bool_)]),
        placement=placement,
        kind=jobs.kind[at],
    )
    width = max(1, (int(jobs.end.max()) - int(jobs.submit.min())) // MARK)
    on = {(jobs.ids[k], number): nodes for k, number, _, _, nodes in early}
    areas = list(areas_of(record))
    for d in (record.get("preemption") or {}).get("departures", ()):
        for n, _ in on.get((d["job"], d["attempt"]), ()):
            areas.append(Area(platform.nodes[n], d["end"] - width, d["end"], EVICTED))
            if d["end"] > d["write"]:
                areas.append(Area(platform.nodes[n], d["write"], d["end"], CHECKPOINT))
    return made, areas


def _nodes(text: str) -> list[tuple[int, int]]:
    """Return pairs of a node number and units, of all chunks."""
    pairs = (piece.partition(":") for piece in text.replace("+", " ").split())
    return [(int(n), int(units)) for n, _, units in pairs]
