"""Jobs of a dispatching problem from a table of pandas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from ..tables import table_rows, whole_cell
from .jobs import Job, Queue

NEEDED = ("id", "submit", "walltime")
OWN = tuple(f.name for f in fields(Job) if f.name not in ("request", "chunks"))
FRACTIONS = ("power",)  # columns whose numbers need not be whole


def jobs_of_table(table: Any, resources: Sequence[str], queues: Sequence[Queue]) -> list[Job]:
    """Return the jobs of a table; see ``Dispatch.from_pandas``."""
    function = "Dispatch.from_pandas"
    needed = NEEDED if len(queues) == 1 else (*NEEDED, "queue")
    names, rows = table_rows(table, function, needed, OWN, resources, {"job": "id"})
    usual = queues[0].name if len(queues) == 1 else ""
    amounts = [name for name in names if name in resources and name not in OWN]
    own = [name for name in names if name not in amounts]
    jobs = []
    for row in rows:
        given = {name: value if name in FRACTIONS else whole_cell(value) for name, value in row.items()}
        values = {name: given[name] for name in own if given[name] is not None}
        request = {name: given[name] for name in amounts if given[name] is not None}
        without = {"id": None, "submit": None, "walltime": None, "units": 1, "queue": usual}
        jobs.append(Job(**{**without, **values}, request=request))  # Dispatch checks them
    return jobs
