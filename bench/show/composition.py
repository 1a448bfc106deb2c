"""The composition of a set of jobs as in [Bridi2018, table 3.6]: jobs per queue, with accelerators, and by cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rich.console import Console

from ...instances import Instance
from ...instances.workload import Workload
from ...models.excerpt import with_short_repr
from ..errors import WrongUse
from .grid import grid

CLASSES = (1, 2, 4, 5, 6, 8)
"""Numbers of cores of a job that are counted one by one; then those above 8, and the other ones."""
COUNTED = ("cores", "memory")  # resources that are no accelerators


@with_short_repr
@dataclass(frozen=True)
class Composition:
    """The composition of a set of jobs.

    Parameters
    ----------
    jobs : int
        Number of jobs.
    queues : mapping of str to int
        Queue -> number of its jobs.
    resources : mapping of str to int
        Resource other than cores and memory -> number of jobs that request it.
    cores : mapping of str to int
        Class of cores ("1", ..., ">8", "other") -> number of jobs whose units request so many cores together; empty if
        the jobs request no cores.
    """

    jobs: int
    queues: Mapping[str, int]
    resources: Mapping[str, int]
    cores: Mapping[str, int]

    @classmethod
    def of(cls, jobs: Iterable[tuple[str, int, Mapping[str, int]]]) -> Composition:
        """Return the composition of jobs, given as queue, units, and request per unit."""
        listed = list(jobs)
        names = dict.fromkeys(name for _, _, request in listed for name in request)
        cores = Counter(core_class(units * request.get("cores", 0)) for _, units, request in listed)
        labels = [*map(str, CLASSES), f">{CLASSES[-1]}", "other"]
        return cls(
            len(listed),
            dict(Counter(queue for queue, _, _ in listed).most_common()),
            {name: sum(request.get(name, 0) > 0 for *_, request in listed) for name in names if name not in COUNTED},
            {label: cores[label] for label in labels} if "cores" in names else {},
        )

    @classmethod
    def of_workload(cls, workload: Workload) -> Composition:
        """Return the composition of the jobs of a workload, those that run at its begin included."""
        requests, kinds = workload.requests, workload.request_kind.tolist()
        columns = zip(workload.queue.tolist(), workload.units.tolist(), (requests[k] for k in kinds), strict=True)
        running = ((r.job.queue, r.job.units, r.job.request) for r in workload.running)
        return cls.of([*((workload.queues[q].name, units, request) for q, units, request in columns), *running])

    @classmethod
    def of_instance(cls, instance: Instance) -> Composition:
        """Return the composition of the jobs of an instance, running ones included. Raises WrongUse without jobs."""
        try:
            jobs = [*instance.jobs, *(r.job for r in getattr(instance.problem, "running", ()))]
        except TypeError as e:
            raise WrongUse(
                f"--composition: {instance.name} is of kind {instance.kind}; expected jobs on a platform, such as "
                "eurora_700, or a log"
            ) from e
        return cls.of((j.queue, j.units, j.request) for j in jobs)


def core_class(cores: int) -> str:
    """Return the class of a number of cores.

    Examples
    --------
    >>> core_class(4), core_class(7), core_class(9)
    ('4', 'other', '>8')
    """
    if cores in CLASSES:
        return str(cores)
    return f">{CLASSES[-1]}" if cores > CLASSES[-1] else "other"


def rows_of(found: Composition) -> dict[str, int]:
    """Return the rows of the table: label -> number of jobs."""
    parts = [("queue {}", found.queues), ("with {}", found.resources), ("{} cores", found.cores)]
    return {"all": found.jobs} | {text.format(name): n for text, numbers in parts for name, n in numbers.items()}


def show_composition(
    console: Console, found: Mapping[str, Composition], others: Mapping[str, Mapping[str, int]] | None = None
) -> None:
    """Print compositions as a table with a column for each; ``others``: columns of published numbers by row."""
    columns = {name: rows_of(each) for name, each in found.items()} | dict(others or {})
    table = grid("jobs", *columns)
    for label in dict.fromkeys(label for rows in columns.values() for label in rows):
        table.add_row(label, *(f"{rows[label]:,}" if label in rows else "-" for rows in columns.values()))
    console.print(table)
