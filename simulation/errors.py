"""The error of a replay that cannot continue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import SchedlabError


class SimulationError(SchedlabError, RuntimeError):
    """A replay that cannot continue.

    Reasons: the dispatcher raised an exception, its decision was not valid, it left jobs in the queue when no event was
    left, or a predictor returned something other than whole seconds.

    Parameters
    ----------
    message : str
        What is wrong, with the job, node and time.
    job, node : str, optional
        Id of the job and name of the node concerned.
    time : int, optional
        The simulated time in seconds.
    partial : Simulation, optional
        The replay so far; jobs that were not started have a start of -1.
    waiting : mapping of str to str
        Id of each job that waits although no event is left -> why it does not start.
    """

    def __init__(
        self,
        message: str,
        job: str | None = None,
        node: str | None = None,
        time: int | None = None,
        partial: Any = None,
        waiting: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.job = job
        self.node = node
        self.time = time
        self.partial = partial
        self.waiting = dict(waiting or {})
