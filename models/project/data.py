"""The data of a project: resources, and tasks with modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ..arguments import Fields, named
from ..comparing import hashable
from ..words import with_short_repr

Link = tuple[str, str, int]  # before, after, delay
Pair = tuple[str, str]  # before, after
RESOURCE = Fields(
    one=("capacity",), pairs=("breaks",), names=("name",), flags=("renewable", "all_pairs", "suspends", "no_idle")
)
TASK = Fields(
    one=("release", "weight"), maybe=("deadline", "due", "earliness_weight", "penalty"), names=("name", "family", "job")
)
MODE = Fields(one=("duration",), amounts=("demands",), names=("name",))


@named
@with_short_repr
@hashable
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
    setups : mapping of (str, str) to int, optional
        The least time from the end of a task to the start of the next one on this resource, by the families of the two
        tasks; 0 for a pair that is not in it. The family of a task that has none is its own name. Only of a renewable resource
        of capacity 1.
    all_pairs : bool, default False
        Whether setups hold between any two tasks, also with others between them, as the separations of landing aircraft do;
        tasks of duration 0 keep them, too. False: between direct neighbours alone, which take time.
    breaks : tuple of (int, int), optional
        Windows [begin, end) in which no task that uses the resource runs.
    suspends : bool, default False
        What a break does to a task: True: the task is suspended, keeps its resources, and ends later; it starts in no break.
        False: the task must end before the break or start after it.
    no_idle : bool, default False
        Whether each task on the resource starts exactly when the one before it ends. Only of a renewable resource of
        capacity 1, without setups.

    Examples
    --------
    >>> Resource("paint", 4, renewable=False).capacity
    4
    >>> booth = Resource("booth", 1, setups={("white", "black"): 1, ("black", "white"): 3}, breaks=((12, 13),))
    >>> booth.setups["black", "white"]
    3
    """

    name: str
    capacity: int
    renewable: bool = True
    setups: Mapping[Pair, int] = field(default_factory=dict)
    all_pairs: bool = False
    breaks: tuple[tuple[int, int], ...] = ()
    suspends: bool = False
    no_idle: bool = False


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
    release : int, default 0
        The earliest start, >= 0.
    deadline : int or None
        The latest end; None: none.
    due : int or None
        The due date, for the objectives of tardiness, earliness and late tasks; None: the task never counts in them.
    weight : int, default 1
        The weight in tardiness, flow time and late tasks, >= 0.
    earliness_weight : int or None
        The weight in earliness, >= 0; None: ``weight``.
    penalty : int or None
        What is added to the objective if the task is left out, >= 0; None: it must not be left out.
    family : str, default ""
        The family, for the setups of resources; "": the task is a family of its own, with its name.
    job : str, default ""
        The job that the task is a step of, for ``permutation``; "": none.

    Examples
    --------
    >>> Task.single("weld", 3, {"robots": 1}, due=9, weight=2).modes[0].duration
    3
    """

    name: str
    modes: tuple[Mode, ...]
    release: int = 0
    deadline: int | None = None
    due: int | None = None
    weight: int = 1
    earliness_weight: int | None = None
    penalty: int | None = None
    family: str = ""
    job: str = ""

    @classmethod
    def single(
        cls,
        name: str,
        duration: int,
        demands: Mapping[str, int] | None = None,
        *,
        release: int = 0,
        deadline: int | None = None,
        due: int | None = None,
        weight: int = 1,
        earliness_weight: int | None = None,
        penalty: int | None = None,
        family: str = "",
        job: str = "",
    ) -> Task:
        """Return a task with one mode, which is named "1"; the other arguments are fields of the task."""
        mode = Mode("1", duration, {} if demands is None else demands)
        return cls(name, (mode,), release, deadline, due, weight, earliness_weight, penalty, family, job)

    @property
    def shortest(self) -> int:
        """The least duration of its modes."""
        return min(m.duration for m in self.modes)

    @property
    def longest(self) -> int:
        """The greatest duration of its modes."""
        return max(m.duration for m in self.modes)

    @property
    def optional(self) -> bool:
        """Whether it may be left out."""
        return self.penalty is not None

    @property
    def kind(self) -> str:
        """Its family; its name if it has none."""
        return self.family or self.name

    @property
    def early_weight(self) -> int:
        """The weight in earliness."""
        if self.earliness_weight is None:
            return self.weight
        return self.earliness_weight


class ProjectData(Protocol):
    """The data of a project, as its verification reads them; ``Project`` says what they mean."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks."""

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The resources."""

    @property
    def precedences(self) -> tuple[Link, ...]:
        """The precedences."""

    @property
    def objective(self) -> str:
        """The objective."""

    @property
    def no_wait(self) -> tuple[Pair, ...]:
        """The precedences without a wait."""

    @property
    def blocking(self) -> tuple[Pair, ...]:
        """The precedences whose first task keeps its resources."""

    @property
    def permutation(self) -> tuple[str, ...]:
        """The resources with the same order of jobs."""
