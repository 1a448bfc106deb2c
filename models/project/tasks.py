"""The data of a project: resources, and tasks with modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..whole_numbers import Fields

Link = tuple[str, str, int]


RESOURCE = Fields(one=("capacity",))


MODE = Fields(one=("duration",), amounts=("demands",))


@dataclass(frozen=True)
class Resource:
    """A resource: renewable (``capacity`` at every instant) or not (``capacity`` for the whole project)."""

    name: str
    capacity: int
    renewable: bool = True


@dataclass(frozen=True)
class Mode:
    """One way to do a task: it takes ``duration`` and asks ``demands`` {resource: amount} while it runs."""

    name: str
    duration: int
    demands: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """A task, done in exactly one of its modes, without interruption.

    >>> Task.single("weld", 3, {"robots": 1}).modes[0].duration
    3
    """

    name: str
    modes: tuple[Mode, ...]

    @classmethod
    def single(cls, name: str, duration: int, demands: Mapping[str, int] | None = None) -> Task:
        """A task with one mode, which is named "1"."""
        return cls(name, (Mode("1", duration, demands or {}),))

    @property
    def shortest(self) -> int:
        """The least duration of its modes."""
        return min(m.duration for m in self.modes)

    @property
    def longest(self) -> int:
        """The greatest duration of its modes."""
        return max(m.duration for m in self.modes)
