"""A chunk of a heterogeneous job, and the checks of the chunks of jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ...excerpt import with_short_repr
from ...problem import part_name
from ...whole_numbers import is_list, is_whole, shown, whole_amounts, wrong

if TYPE_CHECKING:
    from ..jobs import Job


@with_short_repr
class Chunk(NamedTuple):
    """A group of equal units of a heterogeneous job.

    Parameters
    ----------
    units : int
        The number of units, at least 1.
    request : mapping of str to int
        The amount of each resource that one unit needs.

    Examples
    --------
    >>> Chunk(2, {"cores": 16, "gpus": 2})
    Chunk(units=2, request={'cores': 16, 'gpus': 2})
    """

    units: int
    request: Mapping[str, int]


def whole_chunks(job: Job) -> tuple[Job, list[str]]:
    """Return a job whose chunks hold Python's integers, and a message for each value that is no whole number."""
    faults: list[str] = []
    made = []
    if not is_list(job.chunks):
        return job, [
            f"job {job.id!r}: chunks is {shown(job.chunks)}; a list of (units, {{resource: amount}}) is expected"
        ]
    for k, given in enumerate(job.chunks):
        where = f"job {job.id!r}: chunk {k}"
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            faults.append(f"{where} is {shown(given)}; (units, {{resource: amount}}) is expected")
            continue
        units, amounts = given
        request, found = whole_amounts(amounts, "request of")
        faults += [f"{where}: {why}" for why in found]
        if not is_whole(units):
            faults.append(f"{where}: units {wrong(units)}")
            continue
        made.append(Chunk(int(units), request))
    return (job, faults) if faults else (replace(job, chunks=tuple(made)), [])


def chunk_faults(jobs: Iterable[Job]) -> list[str]:
    """Return a message for each job whose chunks contradict its other data, or whose parts have names of other jobs."""
    jobs = list(jobs)
    with_chunks = [j for j in jobs if j.chunks]
    if not with_chunks:
        return []
    ids = {j.id for j in jobs}
    faults = []
    for job in with_chunks:
        first = job.chunks[0]
        if (job.units, dict(job.request)) != (first.units, dict(first.request)):
            faults.append(
                f"job {job.id!r}: units and request must be those of its first chunk, {first.units} units of "
                f"{dict(first.request)}; Job.of_chunks sets them"
            )
        taken = [name for k in range(1, len(job.chunks)) if (name := part_name(job.id, k)) in ids]
        faults.extend(
            f"job {name!r}: this is the name of a chunk of job {job.id!r}; rename one of them" for name in taken
        )
    return faults
