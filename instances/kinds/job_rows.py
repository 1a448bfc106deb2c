"""The rows of ``jobs.csv``: jobs, heterogeneous jobs, job arrays.

The columns ``units`` and those of the resources are the first chunk of a job. ``further_chunks`` has the others, as PBS
writes them: ``2:cores=16:gpus=1+1:cores=4`` are two units with 16 cores and a GPU each, and one with 4 cores. A row with
``count`` n > 1 is an array of n equal jobs ``id[0]``, ..., ``id[n-1]``. ``array`` is the name of the array of a job that
has a row of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...models.dispatch.jobs import Job
from ...models.platform import LATEST, MOST_CAPACITY
from ..files.folder import TableRow
from ..files.numbers import whole_of

BEFORE = ("id", "queue", "submit", "units")
AFTER = ("walltime", "runtime")
OPTIONAL_OF_ONE = ("earliest_start", "deadline", "user", "name", "power", "latest_start", "array")  # job of equal units
OPTIONAL = (*OPTIONAL_OF_ONE[:-1], "further_chunks", "count", "array")
MOST_OF_ARRAY = 1_000_000
CHUNKS = "chunks such as 2:cores=16+1:cores=4 (units, then amounts per unit)"


def jobs_of(row: TableRow, resources: Sequence[str]) -> list[Job]:
    """Return the job of a row, or the jobs of its array; faults are recorded in the folder."""
    job = job_of_row(row, resources)
    count = row.maybe_whole("count", 1, MOST_OF_ARRAY) or 1
    if count == 1:
        return [job]
    return [replace(job, id=f"{job.id}[{k}]", array=job.id) for k in range(count)]


def job_of_row(row: TableRow, resources: Sequence[str]) -> Job:
    """Return the job of a row, without regard to ``count``; faults are recorded in the folder."""
    units, request = row.whole("units", 1, MOST_CAPACITY), {r: row.whole(r, 0, MOST_CAPACITY) for r in resources}
    return Job.of_chunks(
        id=row.text("id"),
        submit=row.whole("submit", 0, LATEST),
        walltime=row.whole("walltime", 1, LATEST),
        chunks=[(units, request), *_further_chunks(row, resources)],
        queue=row.text("queue"),
        earliest_start=row.maybe_whole("earliest_start", 0, LATEST),
        deadline=row.maybe_whole("deadline", 0, LATEST),
        runtime=row.maybe_whole("runtime", 0, LATEST),
        user=row.cells.get("user", ""),
        name=row.cells.get("name", ""),
        power=None if "power" in resources else row.maybe_number("power"),
        latest_start=row.maybe_whole("latest_start", 0, LATEST),
        array=row.cells.get("array", ""),
    )


def _further_chunks(row: TableRow, resources: Sequence[str]) -> list[tuple[int, dict[str, int]]]:
    text = row.cells.get("further_chunks", "")
    found = []
    for part in text.split("+") if text else ():
        units, *amounts = part.strip().split(":")
        request = dict.fromkeys(resources, 0)
        given = {name: whole_of(amount, most=MOST_CAPACITY) for name, _, amount in (a.rpartition("=") for a in amounts)}
        named = {name: amount for name, amount in given.items() if name and amount is not None}
        count = whole_of(units, most=10**13)
        if count is None or len(named) < len(amounts):
            row.add_fault("further_chunks", CHUNKS, text)
        elif not 1 <= count <= MOST_CAPACITY:
            row.add_fault("further_chunks", f"{CHUNKS}, with at least 1 unit in each chunk", text)
        elif not set(named) <= set(resources):
            row.add_fault("further_chunks", f"{CHUNKS}, with the resources {', '.join(resources)}", text)
        else:
            found.append((count, {**request, **named}))
    return found


def csv_rows(jobs: Sequence[Job], resources: Sequence[str]) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and the rows of ``jobs.csv``; equal jobs of a whole array share a row."""
    listed = [(job, _cells(job, count)) for job, count in _arrays(jobs)]
    extra = [c for c in OPTIONAL if any(cells[c] not in (None, "") for _, cells in listed)]
    rows = [
        [
            *(cells["id"], j.queue, j.submit, j.units, *(j.request.get(r, 0) for r in resources)),
            *(j.walltime, j.runtime),
            *(cells[column] for column in extra),
        ]
        for j, cells in listed
    ]
    return [*BEFORE, *resources, *AFTER, *extra], rows


def _cells(job: Job, count: int) -> dict[str, Any]:
    """Return the id, and the cells of the columns that not every file has; ``count``: equal jobs of an array."""
    further = "+".join(
        ":".join([str(part.units), *(f"{r}={n}" for r, n in part.request.items() if n)]) for part in job.parts[1:]
    )
    found = {c: getattr(job, c, None) for c in OPTIONAL} | {"id": job.id, "further_chunks": further, "count": None}
    return found | {"id": job.array, "count": count, "array": ""} if count > 1 else found


def _arrays(jobs: Sequence[Job]) -> Iterator[tuple[Job, int]]:
    """Yield (job, 1), or (first job, number of jobs) for a whole array of equal jobs in order."""
    last: dict[str, int] = {}
    for k, job in enumerate(jobs):
        if job.array:
            last[job.array] = k
    k = 0
    while k < len(jobs):
        job = jobs[k]
        n = last[job.array] - k + 1 if job.array else 1
        whole = n > 1 and job.id == f"{job.array}[0]" and all(
            replace(other, id=job.id) == job and other.id == f"{job.array}[{i}]"
            for i, other in enumerate(jobs[k : k + n])
        )  # fmt: skip
        n = n if whole else 1
        yield job, n
        k += n
