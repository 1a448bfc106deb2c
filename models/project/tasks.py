"""The data of a project: resources, and tasks with modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..arguments import named
from ..comparing import hashable
from ..excerpt import with_short_repr
from ..whole_numbers import Fields, text_of

Link = tuple[str, str, int]  # before, after, delay
RESOURCE = Fields(one=("capacity",), names=("name",))
TASK = Fields(names=("name",))
MODE = Fields(one=("duration",), amounts=("demands",), names=("name",))


def name_of(task: object) -> Any:
    """Return the name of a task in a precedence: an integer as a text; anything else as it is, and no task has it."""
    text = text_of(task)
    return task if text is None else text


@named
@with_short_repr
@dataclass(frozen=True)
class Resource:
    """A resource of a project.

    Parameters
    ----------
    name : str
        The name of the resource.
    capacity : int
        The amount that is available, >= 0.
    renewable : bool, default True
        Whether the capacity limits the use at every time (True) or the total use over the whole project (False).

    Examples
    --------
    >>> Resource("paint", 4, renewable=False).capacity
    4
    """

    name: str
    capacity: int
    renewable: bool = True


@named
@with_short_repr
@hashable
@dataclass(frozen=True)
class Mode:
    """One of the modes in which a task can be processed.

    Parameters
    ----------
    name : str
        The name of the mode.
    duration : int
        The duration, >= 0, in the time unit of the project.
    demands : mapping of str to int
        The amount of each resource that the task needs in this mode.

    Examples
    --------
    >>> Mode("fast", duration=2, demands={"hands": 2}).demands["hands"]
    2
    """

    name: str
    duration: int
    demands: Mapping[str, int] = field(default_factory=dict)


@named
@with_short_repr
@dataclass(frozen=True)
class Task:
    """A task that is processed in exactly one of its modes, without interruption.

    Parameters
    ----------
    name : str
        The name of the task.
    modes : tuple of Mode
        The modes, at least one.

    Examples
    --------
    >>> Task.single("weld", 3, {"robots": 1}).modes[0].duration
    3
    """

    name: str
    modes: tuple[Mode, ...]

    @classmethod
    def single(cls, name: str, duration: int, demands: Mapping[str, int] | None = None) -> Task:
        """Return a task with one mode, which is named "1"."""
        return cls(name, (Mode("1", duration, {} if demands is None else demands),))

    @property
    def shortest(self) -> int:
        """The least duration of its modes."""
        return min(m.duration for m in self.modes)

    @property
    def longest(self) -> int:
        """The greatest duration of its modes."""
        return max(m.duration for m in self.modes)
