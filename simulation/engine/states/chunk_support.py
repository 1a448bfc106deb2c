"""Which dispatchers take heterogeneous jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....instances.workload import Workload, WorkloadError

if TYPE_CHECKING:
    from ...policies.policy import Policy
    from ..moment import Dispatcher


def check_takes_chunks(jobs: Workload, dispatcher: Policy | Dispatcher, name: str) -> None:
    """Raise WorkloadError if a job has several chunks and the dispatcher, called ``name``, does not take such jobs."""
    if jobs.chunks and not getattr(dispatcher, "takes_chunks", True):
        raise WorkloadError(
            f"{jobs.name}: job {jobs.ids[min(jobs.chunks)]!r} has several chunks, which dispatcher {name} does not take; "
            "the rules, easy and conservative do, with all their variants"
        )
