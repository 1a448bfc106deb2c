"""Projects with maximal time lags (RCPSP/max): a task starts at most some time after the start of another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..excerpt import with_short_repr
from ..language import Violation
from ..platform import ProblemError
from ..problem import Encoding, Schedule
from ..unknown_names import ByName
from .problem import Project
from .tasks import Link, Resource, Task, name_of


@with_short_repr
@dataclass(frozen=True, init=False)
class ProjectMax(Project):
    """A project with maximal time lags; the least makespan [Bartusch1988].

    Minimal time lags are the delays of precedences. With maximal ones, even finding a feasible schedule is NP-complete: the
    heuristics for projects do not support it, solvers do.

    Parameters
    ----------
    tasks, resources, precedences
        As for ``Project``.
    lags : iterable of (str, str, int)
        (first, second, most): ``second`` starts at most ``most`` after the start of ``first``; ``most`` >= 0.

    Raises
    ------
    ProblemError
        If the data contradict each other.

    Examples
    --------
    >>> heat, roll = Task.single("heat", 4, {"oven": 1}), Task.single("roll", 2, {"mill": 1})
    >>> p = ProjectMax([heat, roll], [Resource("oven", 1), Resource("mill", 1)], [("heat", "roll")], [("heat", "roll", 5)])
    >>> [v.message for v in p.verify(Schedule({"heat": 0, "roll": 7}))]
    ["task 'roll' starts at 7, 2 too late: 'heat' starts at 0, the maximal lag is 5"]
    """

    lags: tuple[Link, ...]
    kind: str = field(default="project-max", init=False)

    def __init__(
        self,
        tasks: Iterable[Task],
        resources: Iterable[Resource],
        precedences: Iterable[tuple[str, str] | Link] = (),
        lags: Iterable[Link] = (),
    ) -> None:
        super().__init__(tasks, resources, precedences)
        object.__setattr__(self, "lags", tuple((name_of(a), name_of(b), most) for a, b, most in lags))
        known = {t.name for t in self.tasks}
        for first, second, most in self.lags:
            for name in (first, second):
                if name not in known:
                    raise ProblemError(f"maximal lag {first!r} -> {second!r}: there is no task {name!r}")
            if most < 0:
                raise ProblemError(f"maximal lag {first!r} -> {second!r}: it is {most}; at least 0 is expected")

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """``modes``: as for projects, with a linear constraint per maximal lag (exact)."""
        return ByName("formulation", {"modes": self._modes})

    def _modes(self) -> Encoding:
        from .formulation import intervals

        tasks = intervals(self)
        for first, second, most in self.lags:
            found = tasks.of_task[second].start <= tasks.of_task[first].start + most
            tasks.model.add(found, f"{first} -> {second} within {most}")
        return Encoding(tasks.model, tasks.read, tasks.write)

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of a schedule, from the data alone."""
        found = super().verify(schedule)
        for first, second, most in self.lags:
            if first in schedule.start and second in schedule.start:
                start, late = schedule.start[first], schedule.start[second] - schedule.start[first] - most
                if late > 0:
                    text = f"task {second!r} starts at {schedule.start[second]}, {late} too late: {first!r} starts at {start}"
                    found.append(Violation(f"{first} -> {second}", late, f"{text}, the maximal lag is {most}"))
        return found
