"""Schedules of a project near given starts, such as those of a relaxation that leaves out resources or modes."""

from __future__ import annotations

from collections.abc import Mapping

from ...models import Project, Schedule
from ...models.deadline import Deadline
from ...models.excerpt import with_short_repr
from ..errors import NothingFound
from .serial_sgs import SerialScheme, takes


@with_short_repr
class ProjectAllocator:
    """Converts given starts to schedules by the serial schedule generation scheme, in the order of the starts.

    Each task starts as early as its predecessors and the resources allow, in the mode in which it ends first.

    Parameters
    ----------
    problem
        A project.
    deadline
        When all calls of ``allocate`` must have ended; None: no limit. The first schedule is always finished.

    Examples
    --------
    >>> from schedlab.models import Resource, Task
    >>> tasks = [Task.single(name, 3, {"saw": 1}) for name in "ab"]
    >>> ProjectAllocator(Project(tasks, [Resource("saw", 1)])).allocate({"a": 1, "b": 0}).start
    {'b': 0, 'a': 3}
    """

    def __init__(self, problem: Project, deadline: Deadline | None = None) -> None:
        self.problem = problem
        self._deadline = Deadline() if deadline is None else deadline
        self._scheme: SerialScheme | None = None
        self._made = False

    def allocate(self, starts: Mapping[str, int]) -> Schedule | None:
        """Return the schedule of the order of the starts (in the time unit of the project, by task).

        Tasks that may be left out are left out if they have no start. None if no choice of modes was found for which the
        non-renewable resources suffice, if a task misses its deadline, if the scheme does not support the project, or if the
        time is over. Raises KeyError if another task has no start.
        """
        absent = [t.name for t in self.problem.tasks if t.optional and t.name not in starts]
        keys = [0.0 if t.name in absent else float(starts[t.name]) for t in self.problem.tasks]
        if not takes(self.problem) or (self._made and self._deadline.passed):
            return None
        try:
            self._scheme = self._scheme or SerialScheme.of(self.problem)
            schedule = self._scheme.in_order(keys, "in the order of the starts", absent)
        except NothingFound:
            return None
        self._made = True
        return schedule

    def repair(self, seconds: float | None = None, seed: int = 0) -> Schedule | None:
        """Return None: the schedules are as they are; ``lns`` improves one that is given as its start."""
        return None
