"""Instances of kind "eviction": settings in ``instance.toml``, one row per running job in ``jobs.csv``.

There are two forms of rows. The direct form has the numbers that the problem uses (``id,nodes,loss,system_s,
application_s``). The physical form has the data from which they are computed (``id,nodes,start,last_checkpoint,
next_checkpoint,memory_mb,application_share``); it is used if ``instance.toml`` has ``now_s``, and then needs both
bandwidths.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import WrongValue
from ...models.eviction.jobs import BatchJob, EvictionCandidate, job_faults
from ...models.eviction.problem import Eviction
from ...models.platform import LATEST, MOST_NODES, ProblemError
from ...models.words import how_many
from ..instance import Instance
from .reading import SETTINGS, Folder, Table, TableRow
from .writing import to_csv, to_toml, write_files

JOBS = "jobs.csv"
DIRECT = ("id", "nodes", "loss", "system_s", "application_s")
MORE = ("wait_s", "mb_s")
PHYSICAL = ("id", "nodes", "start", "last_checkpoint", "next_checkpoint", "memory_mb", "application_share")
KEYS = (
    "kind", "description", "source", "nodes_needed", "nodes_compared", "deadline_s", "step_s", "now_s",
    "file_system_mb_s", "node_mb_s", "shared_bandwidth", "generator",
)  # fmt: skip
HEADING = """\
An instance of schedlab: running jobs of which some must go, so that nodes_needed nodes are free within deadline_s.
Times are in seconds, memory in MB per node, bandwidths in MB per second. The jobs are in jobs.csv."""


def read(folder: Folder, drop_impossible: bool = False) -> Instance:
    """Read an instance folder. Raises InstanceError with all faults."""
    s = folder.settings
    s.only(*KEYS)
    nodes_needed = s.whole("nodes_needed", 0)
    deadline = s.whole("deadline_s", 0, most=LATEST)
    step = s.whole("step_s", 1, 60, LATEST)
    compared = _wholes(s, "nodes_compared")
    shared = s.values.get("shared_bandwidth", False)
    if not isinstance(shared, bool):
        s.add_fault("shared_bandwidth", "true or false", shared)
    physical = "now_s" in s.values
    now = 0
    if physical:
        now = s.whole("now_s", 0, most=LATEST)
    file_system = _number(s, "file_system_mb_s", needed=physical)
    node = _number(s, "node_mb_s", needed=physical)
    description = s.text("description", "")
    source = s.text("source", "")
    generator = s.table("generator").values
    jobs = _jobs(folder, physical, now)
    folder.raise_faults()
    in_use = sum(j.nodes for j in jobs)
    for key, values in (("nodes_needed", [nodes_needed]), ("nodes_compared", compared)):
        if any(n > in_use for n in values):
            s.add_fault(
                key, f"at most {how_many(in_use, 'node')}, the total number that the running jobs use", max(values)
            )
    folder.raise_faults()
    try:
        problem = Eviction(jobs, nodes_needed, deadline, step, now, file_system, node, bool(shared))
    except ProblemError as e:
        folder.add_fault(SETTINGS, None, "problem", "a problem without contradictions", str(e))
        folder.raise_faults()
        raise AssertionError("unreachable: a fault was recorded") from e
    name = folder.path.resolve().name
    return Instance(
        name, "eviction", problem, folder.path, description, source, generator, nodes_compared=tuple(compared)
    )


def _wholes(s: Table, key: str) -> list[int]:
    """Return a list of whole numbers of at least 0; an empty one if the key is missing."""
    value = s.values.get(key, [])
    if isinstance(value, list) and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in value):
        return value
    s.add_fault(key, "a list of whole numbers of at least 0", value)
    return []


def _number(s: Table, key: str, needed: bool) -> float | None:
    """Return a number above 0; None if the key is missing and not needed."""
    value = s.values.get(key)
    if value is None and not needed:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf"):
        return value
    s.add_fault(key, "a number above 0", value)
    return 1.0


def _jobs(folder: Folder, physical: bool, now: int) -> list[BatchJob | EvictionCandidate]:
    jobs: list[BatchJob | EvictionCandidate] = []
    seen: dict[str, int] = {}
    if physical:
        rows = folder.rows(JOBS, PHYSICAL)
    else:
        rows = folder.rows(JOBS, DIRECT, MORE)
    for row in rows:
        before = len(folder.faults)
        job = _physical(row) if physical else _direct(row)
        if len(folder.faults) == before:
            for wrong in job_faults(job, now):
                row.add_fault("memory_mb" if wrong.field == "memory" else wrong.field, wrong.expected, wrong.found)
        if job.id in seen:
            row.add_fault("id", f"a unique id (line {seen[job.id]} has it too)", job.id)
        seen.setdefault(job.id, row.line)
        jobs.append(job)
    return jobs


def _physical(row: TableRow) -> BatchJob:
    return BatchJob(
        id=row.text("id"),
        nodes=row.whole("nodes", 1, MOST_NODES),
        start=row.whole("start", 0, LATEST),
        last_checkpoint=row.maybe_whole("last_checkpoint", 0, LATEST),
        next_checkpoint=row.maybe_whole("next_checkpoint", 0, LATEST),
        memory=row.whole("memory_mb", 0),
        application_share=_needed(row, "application_share"),
    )


def _direct(row: TableRow) -> EvictionCandidate:
    return EvictionCandidate(
        id=row.text("id"),
        nodes=row.whole("nodes", 1, MOST_NODES),
        loss=row.whole("loss", 0),
        system_s=_seconds(row, "system_s"),
        application_s=_seconds(row, "application_s"),
        wait_s=_seconds(row, "wait_s") or 0,
        mb_s=_seconds(row, "mb_s"),
    )


def _needed(row: TableRow, column: str) -> float:
    value = row.maybe_number(column)
    if value is None:
        row.add_fault(column, "a number", None)
    return value or 0.0


def _seconds(row: TableRow, column: str) -> float | None:
    """Return a number; an int if it is whole, so that it is written without a decimal point."""
    value = row.maybe_number(column)
    if value is not None and value.is_integer():
        return int(value)
    return value


def write(instance: Instance, folder: str | Path) -> None:
    """Write an eviction instance as a folder; the same instance gives the same bytes.

    Parameters
    ----------
    instance
        The instance.
    folder
        The folder to write to; created if it does not exist.

    Raises
    ------
    ValueError
        The instance mixes jobs of the direct and of the physical form, which the files cannot represent.
    """
    p = instance.eviction
    physical = [j for j in p.jobs if isinstance(j, BatchJob)]
    direct = [j for j in p.jobs if isinstance(j, EvictionCandidate)]
    if physical and direct:
        raise WrongValue(
            f"instance {instance.name!r} has jobs of both forms (BatchJob, EvictionCandidate), but jobs.csv has one form"
        )
    if physical:
        table = to_csv(PHYSICAL, map(_physical_cells, physical))
    else:
        table = _direct_table(direct)
    files = {JOBS: table, SETTINGS: to_toml(_settings(instance, bool(physical)), HEADING)}
    write_files(Path(folder), files, lambda path: read(Folder(path)))


def _physical_cells(j: BatchJob) -> Sequence[object]:
    return j.id, j.nodes, j.start, j.last_checkpoint, j.next_checkpoint, j.memory, j.application_share


def _direct_table(jobs: Sequence[EvictionCandidate]) -> str:
    more = MORE if any(j.wait_s or j.mb_s is not None for j in jobs) else ()
    rows = [[getattr(j, column) for column in (*DIRECT, *more)] for j in jobs]
    return to_csv((*DIRECT, *more), rows)


def _settings(instance: Instance, physical: bool) -> dict[str, Any]:
    p = instance.eviction
    head: dict[str, Any] = {"kind": "eviction", "description": instance.description, "source": instance.source}
    values: dict[str, Any] = {name: v for name, v in head.items() if v} | {"nodes_needed": p.nodes_needed}
    if instance.nodes_compared:
        values |= {"nodes_compared": list(instance.nodes_compared)}
    else:
        values |= {}
    values |= {"deadline_s": p.deadline_s, "step_s": p.step_s}
    if physical:
        values |= {"now_s": p.now}
    else:
        values |= {}
    for name in ("file_system_mb_s", "node_mb_s"):
        if getattr(p, name) is not None:
            values |= {name: getattr(p, name)}
        else:
            values |= {}
    if p.shared_bandwidth:
        values |= {"shared_bandwidth": True}
    else:
        values |= {}
    return values | ({"generator": dict(instance.generator)} if instance.generator else {})
