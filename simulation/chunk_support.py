"""Which dispatchers take heterogeneous jobs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..instances.workload import Workload, WorkloadError

if TYPE_CHECKING:
    from .dispatcher import Dispatcher
    from .policies.policy import Policy


def check_takes_chunks(
    jobs: Workload, dispatcher: Policy | Dispatcher, name: str, private: Collection[str] = ()
) -> None:
    """Raise WorkloadError if a job has several chunks and the dispatcher, called ``name``, does not take such jobs.

    ``private``: queues whose jobs the dispatcher never sees.
    """
    if getattr(dispatcher, "takes_chunks", True):
        return
    seen = next((k for k in sorted(jobs.chunks) if jobs.queues[int(jobs.queue[k])].name not in private), None)
    if seen is not None:
        raise WorkloadError(
            f"{jobs.name}: job {jobs.ids[seen]!r} has several chunks, which dispatcher {name} does not take; the rules, "
            "easy, conservative and the CP dispatchers do, with all their variants"
        )
