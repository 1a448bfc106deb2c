"""The executors by name: those of schedlab and of third parties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...backends import UnknownName
from ...models.excerpt import excerpt
from ...models.plugins import PluginError, Registry, explained
from ..errors import WrongUse
from .base import Executor, Setting

PARTS = ("open", "has_room", "submit", "events", "close")
OWN: dict[str, Any] = {
    "local": "schedlab.bench.executors.local:LocalExecutor",
    "dask": "schedlab.bench.executors.dask:DaskExecutor",
    "slurm": "schedlab.bench.executors.slurm.executor:SlurmExecutor",
}
LOCAL = "local"


def _check(label: str, found: Any) -> None:
    lacking = [part for part in PARTS if not hasattr(found, part)]
    if not isinstance(found, type) or lacking:
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
        if name not in EXECUTORS:
            raise UnknownName("executor", name, list(EXECUTORS))
        options: dict[str, str] = {}
        for part in (part.strip() for text in texts for part in text.split(",")):
            key, equals, value = part.partition("=")
            if part and (not equals or not key):
                raise WrongUse(f"--executor {name}: {excerpt(part)}: expected OPTION=VALUE")
            if part:
                options[key.strip()] = value.strip()
        known = list(getattr(EXECUTORS[name], "options", ()))
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
            made: Executor = EXECUTORS[self.name](setting)
        return made
