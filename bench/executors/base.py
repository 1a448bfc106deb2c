"""The protocol of executors, which decide where the processes of runs start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ..runs.selection import Run

MOST_LOST = 3  # processes of a run that are lost; it is given up after that
POLL = 0.2  # most seconds between two checks of the limits of a run


@dataclass(frozen=True, eq=False)
class Task:
    """A run and the folder of its record, an absolute path."""

    run: Run
    folder: Path


@dataclass(frozen=True)
class Setting:
    """What an executor is made from.

    Parameters
    ----------
    jobs
        Number of runs at the same time; None: the default of the executor.
    command
        Command of a worker, which gets the run as JSON in an additional last argument.
    options
        Options of the executor by name, as the user gave them.
    say
        Prints a line for the user.
    """

    jobs: int | None = None
    command: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    say: Callable[[str], None] = print


class Executor(Protocol):
    """Starts the processes of runs somewhere and hands back what they report.

    ``submit`` and ``events`` are called in turn by one thread. Each submitted task is reported by exactly one event
    ``ended``, however often its process was lost and started again.
    """

    def open(self, tasks: Sequence[Task]) -> None:
        """Check that the runs can be performed and connect, before any run begins. Raises WrongUse.

        Parameters
        ----------
        tasks
            All runs. Those with a valid record are not submitted later.
        """

    def has_room(self) -> bool:
        """Return whether a task that is submitted now would begin soon."""

    def submit(self, task: Task) -> None:
        """Take a task; its process may start later."""

    def events(self, seconds: float) -> Iterable[tuple[Task, Mapping[str, Any]]]:
        """Wait at most about ``seconds`` for news and return them.

        An event is a dictionary. ``event`` is "begun", one of those of the worker (``runs.process.Child``) that has been
        passed on, or "ended", with the ``record``, and ``stored`` if the record is in its folder already. With ``seconds``
        0, further tasks follow at once.
        """

    def close(self) -> None:
        """End what still runs. Called once, also after an error in ``open`` or an exception between the calls."""
