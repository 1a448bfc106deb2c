"""The jobs of a replay that follows the rules of Slurm: what was asked, and what happened to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...models.dispatch.site_request import NOTHING, SiteRequest

ENDED_WELL = "COMPLETED"


@dataclass(frozen=True)
class SlurmAttempt:
    """One recorded run of a job.

    Parameters
    ----------
    start, end : int
        Unix times in s.
    nodes : tuple of str
        The names of its nodes.
    state : str
        The state in which it ended, with Slurm's name.
    """

    start: int
    end: int
    nodes: tuple[str, ...] = ()
    state: str = ENDED_WELL


@dataclass(frozen=True)
class SlurmJob:
    """A job, or a task of a job array.

    Parameters
    ----------
    id : str
        Its name: ``"12"``, ``"12_3"``.
    user : str
        The user.
    submit : int
        Unix time in s at which it was submitted.
    limit : int, optional
        Time limit in s. None: the default of its partition.
    request : SiteRequest, optional
        What it asked for.
    name : str, optional
        The job's name, for ``singleton``.
    array : str, optional
        The job array that it is a task of. Empty: none.
    number : int, optional
        The number of the job, or of its array, by which equal jobs are ordered; the task.
    task : int, optional
        Its index in the array.
    attempts : sequence of SlurmAttempt, optional
        Its recorded runs, in order. A job without one never ran.
    cancelled : int, optional
        Unix time in s at which it was cancelled, waiting or running. None: it was not.
    """

    id: str
    user: str
    submit: int
    limit: int | None = None
    request: SiteRequest = NOTHING
    name: str = ""
    array: str = ""
    number: int = 0
    task: int = 0
    attempts: tuple[SlurmAttempt, ...] = field(default=())
    cancelled: int | None = None
    group: str = ""

    @property
    def start(self) -> int | None:
        """The start of its first run; None if it never ran."""
        return self.attempts[0].start if self.attempts else None
