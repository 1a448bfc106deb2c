"""``running.csv``: the jobs that run at the begin of an instance; reading and writing.

The columns are those of ``jobs.csv``, ``start`` and ``end`` (the expected end) in seconds, and ``nodes``: names with numbers
of units, such as ``gpu-01:2 gpu-02:1``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...models.counts import how_many
from ...models.dispatch.jobs import Job, Running
from ...models.platform import LATEST, MOST_CAPACITY, Platform
from .folder import Folder, TableRow
from .lines import whole_of
from .writing import to_csv

RUNNING = "running.csv"
TIMES = ("start", "end", "nodes")


def read_running(
    folder: Folder,
    platform: Platform,
    columns: Sequence[str],
    optional: Sequence[str],
    job_of: Callable[[TableRow], Job],
) -> list[Running]:
    """Return the running jobs of a folder that has the file; faults are recorded in the folder.

    Parameters
    ----------
    folder
        The instance folder.
    platform
        The machine.
    columns, optional
        The columns of ``jobs.csv``.
    job_of
        Reads the job of a row.
    """
    free = {node: list(vector) for node, vector in platform.capacity.items()}
    running = []
    for row in folder.rows(RUNNING, (*columns, *TIMES), optional):
        job = job_of(row)
        start = row.whole("start", -LATEST, LATEST)
        end = row.whole("end", -LATEST, LATEST)
        nodes = _nodes(row, job, free)
        for node, units in nodes.items():
            for k, resource in enumerate(platform.resources):
                free[node][k] -= units * job.request.get(resource, 0)
                if free[node][k] < 0:
                    row.add_fault(
                        "nodes", f"running jobs within the {resource} of {node}", f"{-free[node][k]} too many"
                    )
        running.append(Running(job, start, nodes, end))
    return running


def _nodes(row: TableRow, job: Job, known: dict[str, list[int]]) -> dict[str, int]:
    """Return node -> units of a cell such as "n-1:2 n-2:1"."""
    nodes: dict[str, int] = {}
    for word in row.text("nodes").split():
        node, _, units = word.rpartition(":")
        number = whole_of(units, 1, MOST_CAPACITY)
        if node not in known or node in nodes or number is None:
            row.add_fault("nodes", "nodes of the platform with numbers of units, such as n-1:2, each once", word)
            continue
        nodes[node] = number
    if nodes and sum(nodes.values()) != job.units:
        row.add_fault("nodes", f"the {how_many(job.units, 'unit')} of the job", sum(nodes.values()))
    return nodes


def running_csv(
    running: Sequence[Running],
    resources: Sequence[str],
    before: Sequence[str],
    after: Sequence[str],
    extra: Sequence[str],
) -> str:
    """Return running jobs as the text of a ``running.csv``; ``before``, ``after`` and ``extra`` are columns of jobs."""
    rows = [
        [
            *(getattr(r.job, column) for column in before),
            *(r.job.request.get(name, 0) for name in resources),
            *(getattr(r.job, column) for column in (*after, *extra)),
            *(r.start, r.end, " ".join(f"{node}:{units}" for node, units in r.nodes.items())),
        ]
        for r in running
    ]
    return to_csv([*before, *resources, *after, *extra, *TIMES], rows)
