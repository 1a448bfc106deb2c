"""Heterogeneous waiting jobs in a state file: their chunks."""

from __future__ import annotations

from collections.abc import Container, Iterable

from ...models.dispatch.chunks.chunk import Chunk
from ...models.dispatch.jobs import Job
from ...models.platform import MOST_CAPACITY
from ...models.problem import part_name
from .entries import Entry


def chunks_of(entry: Entry) -> list[Chunk]:
    """Return the chunks of a waiting job, at least one; record the faults."""
    if "chunks" not in entry.values:
        return [_chunk(entry)]
    for key in ("units", "request"):
        if key in entry.values:
            entry.add_fault(key, "either chunks, or units and request", entry.values[key])
    found = []
    for each in entry.entries("chunks"):
        each.only("units", "request")
        found.append(_chunk(each))
    if entry.values["chunks"] == []:
        entry.add_fault("chunks", "at least one chunk", [])
    return found or [Chunk(1, {})]


def _chunk(entry: Entry) -> Chunk:
    return Chunk(entry.whole("units", 1, MOST_CAPACITY), entry.amounts("request"))


def check_part_names(jobs: Iterable[tuple[Job, Entry]], ids: Container[str]) -> None:
    """Record a fault for each job of which a further chunk has the name of another job."""
    for job, entry in jobs:
        for k in range(1, len(job.chunks)):
            name = part_name(job.id, k)
            if name in ids:
                entry.add_fault("chunks", f"no other job {name}, which is the name of chunk {k + 1}", job.id)
