"""The protocol of executors, which decide where the processes of runs start, and executors by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ...backends import UnknownName
from ...models.excerpt import excerpt
from ...models.plugins import PluginError, explained
from ...models.registry import Registry
from ..errors import WrongUse
from .selection import Run

# --- The protocol of executors, which decide where the processes of runs start.

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


# --- The executors by name: those of schedlab and of third parties.

PARTS = ("open", "has_room", "submit", "events", "close")
OWN: dict[str, Any] = {
    "local": "schedlab.bench.runs.local_executor:LocalExecutor",
    "dask": "schedlab.bench.runs.dask_executor:DaskExecutor",
    "slurm": "schedlab.bench.runs.slurm_executor:SlurmExecutor",
}
LOCAL = "local"


def _check(label: str, kind: Any) -> None:
    lacking = [part for part in PARTS if not hasattr(kind, part)]
    if not isinstance(kind, type) or lacking:
        raise PluginError(f"{label} is not a class of executors: it has no {' and no '.join(lacking or ['methods'])}")


EXECUTORS: Registry[Any] = Registry("executor", "schedlab.executors", OWN, _check)
"""Classes that are called with a ``Setting``. Their attribute ``options`` has the names of the options that they take."""


@dataclass(frozen=True)
class Where:
    """Where runs are performed: the name of an executor, and its options as the user gave them.

    Examples
    --------
    >>> Where.parse(["slurm", "partition=short,pack=600"])
    Where(name='slurm', options={'partition': 'short', 'pack': '600'})
    """

    name: str = LOCAL
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, words: Sequence[str]) -> Where:
        """Return the executor of the texts NAME and OPTION=VALUE,... Raises UnknownName, WrongUse, PluginError."""
        name, *texts = words
        executor = EXECUTORS.get_named(name)
        options: dict[str, str] = {}
        for part in (part.strip() for text in texts for part in text.split(",")):
            key, equals, value = part.partition("=")
            if part and (not equals or not key):
                raise WrongUse(f"--executor {name}: {excerpt(part)}: expected OPTION=VALUE")
            if part:
                options[key.strip()] = value.strip()
        known = list(getattr(executor, "options", ()))
        for key in options:
            if key not in known:
                raise (
                    UnknownName(f"option of the executor {name}", key, known)
                    if known
                    else WrongUse(f"--executor {name}: it takes no option, {excerpt(key)} was given")
                )
        return cls(name, options)

    def make(self, jobs: int | None, command: Sequence[str], say: Callable[[str], None]) -> Executor:
        """Return the executor; ``jobs``: number of runs at the same time. Raises WrongUse, PluginError."""
        setting = Setting(jobs, command, self.options, say)
        if self.name in OWN:
            own: Executor = EXECUTORS[self.name](setting)
            return own
        with explained(f"{EXECUTORS.label(self.name)} cannot be created"):
            made: Executor = EXECUTORS.get_named(self.name)(setting)
        return made
