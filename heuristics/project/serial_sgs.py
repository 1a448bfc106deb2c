"""The serial schedule generation scheme for projects [Kolisch1996b].

1. Choose a mode for each task, so that the non-renewable resources suffice (``mode_choice``).
2. Of the tasks whose predecessors are scheduled, take the first one by a priority rule (``priorities``).
3. Schedule it at its earliest time: after its predecessors, and where the renewable resources are free. Of its modes that
   the non-renewable resources allow, take the one with which it ends first (ties: the one that needs least of these).
4. Repeat 2 and 3 until all tasks are scheduled.

Such a schedule is active: no task can start earlier in its mode without another one being moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from ...backends.result import Result
from ...models.problem import Schedule
from ...models.project.problem import Project
from ...models.project.tasks import Mode
from ..errors import NothingFound, UnknownOrder
from ..incumbents import Incumbents, OnIncumbent
from .mode_choice import Budget, feasible_modes
from .network import Network, network
from .priorities import PRIORITY_RULES, priorities
from .usage import Usage


def serial_sgs(project: Project, rule: str = "lft") -> Schedule:
    """Return the schedule that the serial schedule generation scheme makes with a priority rule.

    Parameters
    ----------
    project
        The project.
    rule
        Name of the priority rule, one of ``PRIORITY_RULES``: "lft" (latest finish time), "lst" (latest start time), "slack", "est"
        (earliest start time), "mts" (most total successors), "mis" (most immediate successors), "grpw" (greatest rank
        positional weight), "grd" (greatest resource demand), "spt" (shortest processing time).

    Returns
    -------
    Schedule
        A feasible schedule.

    Raises
    ------
    UnknownOrder
        The rule is unknown.
    NothingFound
        No choice of modes was found for which the non-renewable resources suffice.

    References
    ----------
    [Kolisch1996b].

    Examples
    --------
    >>> from schedlab.models import Project, Resource, Task
    >>> crew = [Task.single(n, d, {"crew": 1}) for n, d in (("a", 2), ("b", 3), ("c", 4))]
    >>> serial_sgs(Project(crew, [Resource("crew", 2)], [("a", "c")]), "lft").start
    {'a': 0, 'b': 0, 'c': 2}
    """
    if rule not in PRIORITY_RULES:
        raise UnknownOrder(rule)
    net = network(project)
    modes, budget = feasible_modes(project, net)
    return _Generator(project, net, modes, budget).schedule(rule)


def multi_sgs(
    problem: Project,
    *,
    time_limit: float | None = None,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> Result:
    """Return the best schedule of the serial schedule generation scheme over all priority rules.

    Parameters
    ----------
    problem
        The project.
    time_limit
        Seconds; None: no limit. The first schedule is always finished.
    warm_start
        A schedule that is returned if no rule leads to a better one; None: no start.
    on_incumbent
        Called with each Incumbent; return False to stop.

    Returns
    -------
    Result
        It is "optimal" if the makespan is that of the longest path with the shortest modes. Its ``details``: ``rule``, the
        rule that made the schedule (None: it is the start); ``skipped``, the rules that were left out because of the
        time limit.

    Raises
    ------
    NothingFound
        No choice of modes was found for which the non-renewable resources suffice, and there is no start.

    References
    ----------
    [Kolisch1996b].

    Examples
    --------
    >>> from schedlab.models import Project, Resource, Task
    >>> tasks = [Task.single(n, d, {"crew": 1}) for n, d in (("a", 2), ("b", 2), ("c", 4))]
    >>> multi_sgs(Project(tasks, [Resource("crew", 2)])).objective
    4
    """
    seen = Incumbents(problem, "multi-sgs", on_incumbent, warm_start)
    least, best, rule, skipped = longest_path(problem), seen.start, None, list[str]()
    makespan = None if best is None else problem.value(best)
    try:
        made = () if seen.stopped or makespan == least else _by_rules(problem, seen, time_limit, skipped)
        for name, schedule in made:
            value = problem.value(schedule)
            if makespan is None or value < makespan:
                best, rule, makespan = schedule, name, value
                if not seen.report(makespan, lambda found=schedule: found) or makespan == least:  # type: ignore[misc]
                    break
    except NothingFound:
        if best is None:
            raise
    assert best is not None  # the first rule is always finished, if there is no start
    left = f"; skipped at the time limit: {', '.join(skipped)}" if skipped else ""
    message = "no rule is better than the start" if rule is None else f"best priority rule: {rule}"
    details = {"rule": rule, "skipped": tuple(skipped)}
    return seen.result(best, message=message + left, optimal=makespan == least, details=details)


def _by_rules(
    problem: Project, seen: Incumbents, time_limit: float | None, skipped: list[str]
) -> Iterator[tuple[str, Schedule]]:
    """Yield the schedule of each rule; add the rules that the time limit leaves out to ``skipped``."""
    net = network(problem)
    generator = _Generator(problem, net, *feasible_modes(problem, net))
    longest = 0.0  # s that a rule took, with the caller's work on its schedule: a rule cannot be stopped
    for k, rule in enumerate(PRIORITY_RULES):
        began = seen.elapsed
        if seen.trace and time_limit is not None and began + longest > time_limit:
            skipped.extend(PRIORITY_RULES[k:])
            return
        yield rule, generator.schedule(rule)
        longest = max(longest, seen.elapsed - began)


def longest_path(project: Project) -> int:
    """Return the length of the longest path with the shortest modes: no makespan is less."""
    shortest = ((t.name, min(m.duration for m in project.possible(t))) for t in project.tasks)
    return max((project.heads[name] + duration for name, duration in shortest), default=0)


class _Generator:
    """The serial schedule generation scheme for one project and one choice of modes."""

    def __init__(self, project: Project, net: Network, modes: list[Mode], budget: Budget) -> None:
        self._net, self._modes, self._budget = net, modes, budget
        self._capacity = {r.name: r.capacity for r in project.resources if r.renewable}

    def schedule(self, rule: str) -> Schedule:
        """Return the schedule of a rule."""
        net, modes = self._net, list(self._modes)
        budget = Budget(self._budget.names, self._budget.capacity, self._budget.used)
        usages = {name: Usage(capacity) for name, capacity in self._capacity.items()}
        value = priorities(net, rule, modes, self._capacity)
        missing = [len(before) for before in net.before]
        eligible = [(value[k], k) for k, count in enumerate(missing) if not count]
        heapify(eligible)
        ends = [0] * len(net.names)
        found = Schedule({}, {})
        while eligible:
            k = heappop(eligible)[1]
            ready = max([0, *(ends[i] + delay for i, delay in net.before[k])])
            options = [m for m in net.modes[k] if budget.allows(modes[k], m)]
            starts = [_earliest(usages, m, ready) for m in options]
            best = min(range(len(options)), key=lambda n: (starts[n] + options[n].duration, budget.need(options[n])))
            start, mode = starts[best], options[best]
            budget.used, modes[k], ends[k] = budget.after(modes[k], mode), mode, start + mode.duration
            for name, demand in _running(usages, mode):
                usages[name].add(start, ends[k], demand)
            found.start[net.names[k]], found.nodes[net.names[k]] = start, {mode.name: 1}
            for j, _ in net.after[k]:
                missing[j] -= 1
                if not missing[j]:
                    heappush(eligible, (value[j], j))
        return found


def _running(usages: dict[str, Usage], mode: Mode) -> list[tuple[str, int]]:
    """Return the demands of a mode of renewable resources; a mode of duration 0 occupies nothing."""
    return [(name, demand) for name, demand in mode.demands.items() if demand and mode.duration and name in usages]


def _earliest(usages: dict[str, Usage], mode: Mode, ready: int) -> int:
    """Return the first time from ``ready`` on at which all renewable resources are free for a mode."""
    start, demands = ready, _running(usages, mode)
    while True:
        before = start
        for name, demand in demands:
            start = usages[name].earliest(start, mode.duration, demand)
        if start == before:
            return start


__all__ = ["multi_sgs", "serial_sgs"]
