"""What every problem is: plain data with an objective, which can verify a schedule without any solver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, Protocol

from .language import Assignment, Model, Violation
from .platform import ProblemError
from .whole_numbers import all_whole, is_whole, shown, whole_amounts, wrong

Value = float | tuple[float, ...]


@dataclass
class Schedule:
    """The start of each job in seconds, and how many of its units run on which node.

    Of a ``Project``, jobs are tasks and "nodes" are modes: ``{task: {mode: 1}}``. Starts and units are whole numbers
    (``whole_numbers``): anything else raises ProblemError with the job's name.

    >>> Schedule(start={"j1": 0}, nodes={"j1": {"gpu-01": 2}}).as_json()
    {'j1': {'start': 0, 'nodes': {'gpu-01': 2}}}
    """

    start: dict[str, int]
    nodes: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self._all_whole():
            return
        for what, value in (("starts", self.start), ("nodes", self.nodes)):
            if not isinstance(value, Mapping):
                raise ProblemError(f"the {what} of a schedule are {shown(value)}; an object of jobs is expected")
        faults = [text for _, text in self.not_whole()]
        if faults:
            more = f"\n... and {len(faults) - 10} more" if len(faults) > 10 else ""
            raise ProblemError("\n".join(faults[:10]) + more)
        self.start = {job: int(start) for job, start in self.start.items()}
        self.nodes = {job: whole_amounts(on, "units on")[0] for job, on in self.nodes.items()}

    def _all_whole(self) -> bool:
        """Whether starts and units are of type ``int``."""
        if type(self.start) is not dict or type(self.nodes) is not dict or not all_whole(self.start.values()):
            return False
        on = self.nodes.values()
        return {dict}.issuperset(map(type, on)) and all_whole(chain.from_iterable(map(dict.values, on)))

    def not_whole(self) -> list[tuple[str, str]]:
        """The starts and units that are not whole numbers: (job, what is wrong); a schedule can be changed after it was made."""
        if self._all_whole():
            return []
        found = [(j, f"job {j!r}: its start {wrong(s)}") for j, s in self.start.items() if not is_whole(s)]
        for job, on in self.nodes.items():
            found += [(job, f"job {job!r}: {why}") for why in whole_amounts(on, "its number of units on")[1]]
        return found

    def as_json(self) -> dict[str, Any]:
        """``{job: {"start": s, "nodes": {node: units}}}``, as records hold it."""
        return {j: {"start": s, "nodes": self.nodes.get(j, {})} for j, s in self.start.items()}

    def rows(self) -> list[dict[str, Any]]:
        """A row per job, for tables: job, start, nodes."""
        return [{"job": j, "start": s, "nodes": self.nodes.get(j)} for j, s in self.start.items()]

    @classmethod
    def from_json(cls, data: Any) -> Schedule:
        """A schedule from ``as_json``'s form. Raises ValueError that names the job where the form is broken.

        >>> Schedule.from_json({"j1": {"start": 5, "nodes": {"gpu-01": 1}}}).start
        {'j1': 5}
        """
        if not isinstance(data, Mapping):
            raise ValueError(f"a schedule is an object of jobs, not {type(data).__name__}")
        start, nodes = {}, {}
        for job, entry in data.items():
            where = f"job {job!r} of the schedule"
            if not isinstance(entry, Mapping) or "start" not in entry:
                raise ValueError(f'{where}: expected {{"start": seconds, "nodes": {{node: units}}}}, found {entry!r}')
            placed = entry.get("nodes", {})
            if (
                not is_whole(entry["start"])
                or not isinstance(placed, Mapping)
                or not all(map(is_whole, placed.values()))
            ):
                raise ValueError(f"{where}: start and units must be whole numbers, found {entry!r}")
            start[str(job)] = int(entry["start"])
            nodes[str(job)] = {str(n): int(u) for n, u in placed.items()}
        return cls(start, nodes)


@dataclass
class Encoding:
    """A problem put into the language: the model, and the way from schedules to assignments and back.

    ``relaxation``: the model forgets something of the problem. Its bounds are true; ``read`` then gives starts alone
    (``Schedule.nodes`` empty), for an allocation step to make a schedule of.
    """

    model: Model
    read: Callable[[Assignment], Schedule]
    write: Callable[[Schedule], Assignment]
    relaxation: bool = False


class Problem(Protocol):
    """A problem kind. ``formulations``: by name, what puts the problem into the language; the first one is the default."""

    @property
    def kind(self) -> str:
        """The name of the kind, as instances give it."""

    @property
    def sense(self) -> Literal["minimize", "maximize"]:
        """Whether small or great objectives are wanted."""

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """Formulations of this problem by name."""

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Everything the schedule breaks, from the data alone."""

    def objective(self, schedule: Schedule) -> Value:
        """The objective's value, from the data alone; a tuple where objectives are ordered (the first counts most)."""

    def read(self, data: Any) -> Schedule:
        """A schedule from JSON's form, as ``as_json`` of this problem's schedules gives it. Raises ValueError."""
