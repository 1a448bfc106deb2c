"""What objectives, limits and checks read of a dispatching problem: ``problem.Dispatch`` has all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from ..desired_profile import DesiredProfile
    from ..platform import Platform
    from .arrays import JobArrays
    from .jobs import Durations, Job, Queue, Running, Window


class DispatchData(Protocol):
    """The data of a dispatching problem; the fields are described in ``Dispatch``."""

    @property
    def platform(self) -> Platform:
        """The nodes."""

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs to start."""

    @property
    def queues(self) -> Sequence[Queue]:
        """The queues of the jobs."""

    @property
    def objective(self) -> str:
        """The name of the objective."""

    @property
    def sense(self) -> Literal["minimize", "maximize"]:
        """Whether the objective is minimized or maximized."""

    @property
    def now(self) -> int:
        """The time in seconds before which no job starts."""

    @property
    def running(self) -> Sequence[Running]:
        """The jobs that occupy nodes at ``now``."""

    @property
    def durations(self) -> Durations:
        """Whether a job takes its walltime or its runtime."""

    @property
    def limits(self) -> Mapping[str, float]:
        """The limits on other objectives, by their names."""

    @property
    def desired(self) -> DesiredProfile | None:
        """The desired use of the platform."""

    @property
    def over_cost(self) -> float | None:
        """The cost of an amount-hour above the desired use; None: it is a limit."""

    @property
    def ewt(self) -> dict[str, int]:
        """The expected waiting time in seconds of each queue, by its name."""

    @property
    def job_arrays(self) -> JobArrays:
        """The jobs as arrays."""

    @property
    def horizon(self) -> int:
        """A time in seconds by which some optimal schedule has started all jobs."""

    def earliest(self, job: Job) -> int:
        """Return the earliest start of the job in seconds, without regard to its windows."""

    def replace(self, **changes: Any) -> DispatchData:
        """Return a copy with other values of the named fields."""

    def duration(self, job: Job) -> int:
        """Return the duration of the job in seconds."""

    def calendar(self, job: Job) -> tuple[Window, ...]:
        """Return the daily windows in which the job may start; empty if it may start at any time."""
