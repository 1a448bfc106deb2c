"""Schedules of projects, task by task: priority rules, choice of modes, serial schedule generation [Kolisch1996b].

``serial_sgs`` and ``multi_sgs`` are the methods. ``ProjectAllocator`` makes schedules near given starts, such as those of
a relaxation that leaves out resources or modes. ``Availability`` says where the renewable resources are free: usage over
time, breaks, and sequences with setups.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from ...backends.result import Result
from ...models.long_calls import Deadline
from ...models.problem import Schedule
from ...models.project.data import Resource
from ...models.project.problem import Mode, Project, Task
from ...models.project.verification import MAKESPAN, Window, joined, suspended_end, suspending, terms
from ...models.words import with_short_repr
from ..errors import NothingFound, UnknownOrder
from ..search_parts import Incumbents, OnIncumbent

# --- The tasks of a project by number, with their precedences in both directions.


class ProjectNetwork(NamedTuple):
    """The tasks of a project as numbers from 0, in the order of the project.

    Parameters
    ----------
    names
        Name of each task.
    tasks
        The tasks.
    modes
        Modes of each task, without those that exceed a capacity.
    before
        For each task the pairs (predecessor, delay).
    after
        For each task the pairs (successor, delay).
    order
        The tasks so that each one follows its predecessors.
    """

    names: tuple[str, ...]
    tasks: tuple[Task, ...]
    modes: tuple[tuple[Mode, ...], ...]
    before: tuple[tuple[tuple[int, int], ...], ...]
    after: tuple[tuple[tuple[int, int], ...], ...]
    order: tuple[int, ...]


def network(project: Project) -> ProjectNetwork:
    """Return the network of a project."""
    names = tuple(t.name for t in project.tasks)
    at = {name: k for k, name in enumerate(names)}
    return ProjectNetwork(
        names,
        project.tasks,
        tuple(project.possible(t) for t in project.tasks),
        tuple(tuple((at[n], delay) for n, delay in project.before[name].items()) for name in names),
        tuple(tuple((at[n], delay) for n, delay in project.after[name].items()) for name in names),
        tuple(at[name] for name in project.order),
    )


def heads(net: ProjectNetwork, durations: list[int]) -> list[int]:
    """Return the earliest start of each task with these durations, without resources."""
    heads = [0] * len(net.names)
    for k in net.order:
        heads[k] = max([0, *(heads[i] + durations[i] + delay for i, delay in net.before[k])])
    return heads


def tails(net: ProjectNetwork, durations: list[int]) -> list[int]:
    """Return the least time from the end of each task to the end of the project, without resources."""
    tails = [0] * len(net.names)
    for k in reversed(net.order):
        tails[k] = max([0, *(delay + durations[j] + tails[j] for j, delay in net.after[k])])
    return tails


# --- Priority rules for the tasks of a project [Kolisch1996b].
#
# Task i has the duration d(i), the immediate successors S(i), all successors A(i), the demand q(i, r) of the renewable
# resource r with the capacity C(r), the earliest start ES(i), and the latest finish time LF(i); both by longest paths
# without resources. n(S) is the number of tasks in S. The task with the least value is first; ties are broken by the order
# of the project.
#
# ========  ===============================  =========================================
# rule      name                             value
# ========  ===============================  =========================================
# ``lft``   latest finish time               LF(i)
# ``lst``   latest start time                LF(i) - d(i)
# ``slack`` minimum slack                    LF(i) - d(i) - ES(i)
# ``est``   earliest start time              ES(i)
# ``mts``   most total successors            -n(A(i))
# ``mis``   most immediate successors        -n(S(i))
# ``grpw``  greatest rank positional weight  -(d(i) + sum of d(j) over j in S(i))
# ``grd``   greatest resource demand         -d(i) * (sum of q(i, r) / C(r) over all r)
# ``spt``   shortest processing time         d(i)
# ``edd``   earliest due date                due(i), or less if a successor is due by then
# ``wspt``  weighted shortest processing     d(i) / weight(i)
# ========  ===============================  =========================================
#
# The last two are for objectives beside the makespan.

Values = list[float]


def priorities(net: ProjectNetwork, rule: str, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    """Return the value of each task by a rule; the task with the least value is first.

    Parameters
    ----------
    net
        The tasks.
    rule
        Name of the rule, one of ``PRIORITY_RULES``.
    modes
        The mode of each task, which gives its duration and demands.
    capacity
        Capacity of each renewable resource.

    Returns
    -------
    list of float
        The value of each task.
    """
    return _RULES[rule](net, modes, capacity)


def _durations(modes: Sequence[Mode]) -> list[int]:
    return [m.duration for m in modes]


def _latest_finish(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [-tail for tail in tails(net, _durations(modes))]  # relative to the end of the project


def _latest_start(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [-tail - m.duration for tail, m in zip(tails(net, _durations(modes)), modes, strict=True)]


def _slack(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    earliest = heads(net, _durations(modes))
    return [latest - es for latest, es in zip(_latest_start(net, modes, capacity), earliest, strict=True)]


def _earliest_start(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [*heads(net, _durations(modes))]


def _total_successors(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    reached = [0] * len(net.names)  # the bits of a number are the successors of a task
    for k in reversed(net.order):
        for j, _ in net.after[k]:
            reached[k] |= reached[j] | 1 << j
    return [-bits.bit_count() for bits in reached]


def _immediate_successors(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [-len(after) for after in net.after]


def _rank_weight(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [-(m.duration + sum(modes[j].duration for j, _ in a)) for m, a in zip(modes, net.after, strict=True)]


def _resource_demand(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [-m.duration * sum(m.demands.get(r, 0) / c for r, c in capacity.items() if c) for m in modes]


def _shortest(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [*_durations(modes)]


def _due_date(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    latest = [float("inf") if t.due is None else float(t.due) for t in net.tasks]
    for k in reversed(net.order):
        latest[k] = min([latest[k], *(latest[j] - modes[j].duration - delay for j, delay in net.after[k])])
    return latest


def _weighted_shortest(net: ProjectNetwork, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [m.duration / t.weight if t.weight else float("inf") for m, t in zip(modes, net.tasks, strict=True)]


_RULES: dict[str, Callable[[ProjectNetwork, Sequence[Mode], Mapping[str, int]], Values]] = {
    "lft": _latest_finish,
    "lst": _latest_start,
    "slack": _slack,
    "est": _earliest_start,
    "mts": _total_successors,
    "mis": _immediate_successors,
    "grpw": _rank_weight,
    "grd": _resource_demand,
    "spt": _shortest,
    "edd": _due_date,
    "wspt": _weighted_shortest,
}
DATE_RULES = ("edd", "wspt")  # for objectives beside the makespan
PRIORITY_RULES = tuple(rule for rule in _RULES if rule not in DATE_RULES)


def rules_for(project: Project) -> tuple[str, ...]:
    """Return the priority rules for the objective of a project, the likeliest first."""
    if set(terms(project.objective)) == {MAKESPAN}:
        return PRIORITY_RULES
    return (*DATE_RULES, *PRIORITY_RULES)


# --- What the scheme supports.

CONDITION = "projects whose rules can be together (docs/reference/projects.md)"


def takes(project: Project) -> bool:
    """Return whether the scheme supports a project."""
    return not refused(project)


def refused(project: Project) -> tuple[str, ...]:
    """Return what of a project the scheme and the search ``lns`` do not support, in words.

    They place tasks that follow one another without a wait, or that block, together; keep the order in which the jobs of a
    permutation begin; and move tasks later to close idle times.

    Examples
    --------
    >>> refused(Project([Task.single("a", 3, release=2, penalty=4)], []))
    ()
    """
    words: list[str] = []
    if project.no_wait or project.blocking:
        words += _refused_of_chains(project)
    if any(r.no_idle for r in project.resources):
        words += [f"no-idle resources beside {name}" for name in _refused_beside_no_idle(project)]
    if project.permutation and _jobs_precede_others(project):
        words.append("a permutation of jobs with precedences between them")
    return tuple(words)


def _refused_of_chains(project: Project) -> Iterator[str]:
    """Yield which precedences without a wait and blocking are not supported: chains of tasks are placed, one after another."""
    delays = {link[:2]: link[2] for link in project.precedences}
    pairs = list(dict.fromkeys([*project.no_wait, *project.blocking]))
    given = (("precedences without a wait", project.no_wait), ("blocking", project.blocking))
    what = " and ".join(name for name, some in given if some)
    firsts = {before for before, _ in pairs}
    seconds = {after for _, after in pairs}
    optional = {t.name for t in project.tasks if t.optional}
    if len(firsts) < len(pairs) or len(seconds) < len(pairs):
        yield f"{what} of which one task has several"
        return
    if any(delays[pair] < 0 for pair in pairs):
        yield f"{what} with negative delays"
    if optional & (firsts | seconds):
        yield f"{what} of tasks that may be left out"
    if any(r.setups for r in project.resources):
        yield f"{what} beside setups"
    if any(r.suspends and r.breaks for r in project.resources):
        yield f"{what} beside breaks that suspend tasks"
    if not _is_acyclic(project, pairs):
        yield f"chains of {what} that precede each other"


def _jobs_precede_others(project: Project) -> bool:
    """Return whether precedences lead from a task in the permutation to one of another job."""
    of = {name: job for name, (job, _) in jobs_in_order(project).items()}
    reached: dict[str, frozenset[str]] = {}
    for name in project.order:
        jobs = frozenset[str]().union(*(reached[before] for before in project.before[name]))
        if name in of and jobs - {of[name]}:
            return True
        if name in of:
            reached[name] = jobs | {of[name]}
        else:
            reached[name] = jobs
    return False


def jobs_in_order(project: Project) -> dict[str, tuple[str, str]]:
    """Return the job and the resource of each task on a resource on which the jobs have the same order, by its name.

    A job with one such task need not be in this order.
    """
    on = {
        t.name: (t.job, name)
        for t in (project.tasks if project.permutation else ())
        for name in project.permutation
        if t.modes[0].demands.get(name)  # as in all its modes
    }
    tasks_of = Counter(job for job, _ in on.values())
    return {name: row for name, row in on.items() if tasks_of[row[0]] > 1}


def _is_acyclic(project: Project, pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether chains can be placed one after another, and have no other precedences of their tasks inside."""
    before = {after: first for first, after in pairs}
    head: dict[str, str] = {}
    for name in project.order:
        if name in before:
            head[name] = head[before[name]]
        else:
            head[name] = name
    links = {(head[a], head[b]) for a, b, _ in project.precedences if head[a] != head[b]}
    inside = sum(head[a] == head[b] for a, b, _ in project.precedences)
    missing = dict.fromkeys(head.values(), 0)
    for _, second in links:
        missing[second] += 1
    ready = [name for name, count in missing.items() if not count]
    after: dict[str, list[str]] = {}
    for first, second in links:
        after.setdefault(first, []).append(second)
    for name in ready:  # which grows
        for second in after.get(name, []):
            missing[second] -= 1
            if not missing[second]:
                ready.append(second)
    return len(ready) == len(missing) and inside == len(pairs)


def _refused_beside_no_idle(project: Project) -> Iterator[str]:
    """Yield what is not supported beside resources without idle time, for which tasks are moved later."""
    if project.no_wait:
        yield "precedences without a wait"
    if project.blocking:
        yield "blocking"
    if any(r.breaks for r in project.resources):
        yield "breaks"
    if any(r.setups for r in project.resources):
        yield "setups"
    if any(r.renewable and r.capacity > 1 for r in project.resources):
        yield "resources of capacity above 1"


# --- Chains of tasks that do not wait for one another, or block.


class Chains(NamedTuple):
    """The chains of the tasks of a project, whose tasks are numbers.

    Parameters
    ----------
    follower, leader
        The next and the previous task of each one in its chain; -1 for none.
    gap
        The least time from the end of each task to the start of its follower.
    exact, held
        1 if it is also the greatest; 1 if a task keeps its resources until its follower starts.
    head
        The first task of the chain of each one, itself if it is in none.
    """

    follower: list[int]
    leader: list[int]
    gap: list[int]
    exact: list[int]
    held: list[int]
    head: list[int]

    def of(self, head: int) -> list[int]:
        """Return the tasks of the chain that begins with a task."""
        row = [head]
        while self.follower[row[-1]] >= 0:
            row.append(self.follower[row[-1]])
        return row


def chains(project: Project) -> Chains:
    """Return the chains of a project."""
    at = {t.name: k for k, t in enumerate(project.tasks)}
    n = len(at)
    delays = {link[:2]: link[2] for link in project.precedences}
    made = Chains([-1] * n, [-1] * n, [0] * n, [0] * n, [0] * n, list(range(n)))
    for kind, pairs in ((made.exact, project.no_wait), (made.held, project.blocking)):
        for before, after in pairs:
            kind[at[before]] = 1
            made.follower[at[before]] = at[after]
            made.leader[at[after]] = at[before]
            made.gap[at[before]] = delays[before, after]
    for name in project.order:
        k = at[name]
        if made.leader[k] >= 0:
            made.head[k] = made.head[made.leader[k]]
    return made


def minimizes_makespan(project: Project) -> bool:
    """Return whether a project has dates at most beside modes, resources and precedences, and minimizes the makespan.

    Examples
    --------
    >>> minimizes_makespan(Project([Task.single("a", 3, release=2, deadline=9)], []))
    True
    """
    dates = ("release dates", "deadlines")
    return set(project.features).issubset(dates) and terms(project.objective) == {MAKESPAN: 1}


def plain(project: Project) -> bool:
    """Return whether a project minimizes the makespan, with modes, resources and precedences alone."""
    return not project.features and terms(project.objective) == {MAKESPAN: 1}


# --- A mode for each task so that the non-renewable resources suffice.
#
# 1. Each task gets its shortest mode (ties: the one that needs least of the non-renewable resources).
# 2. Repair: while a capacity is exceeded, one task changes its mode, so that the excess falls at the least additional
#    duration per unit of excess. The excess is the sum, over the resources, of the exceeding share of the capacity.
# 3. If no change lowers the excess, a depth-first search looks for any choice that suffices. It tries the modes with the
#    least demands first, and leaves a branch if the least demands of the tasks that are left exceed a capacity. With two or
#    more non-renewable resources the question is NP-complete; the search ends after ``MOST_TRIED`` choices.
# 4. Shortening: where the remaining capacity allows it, tasks go back to shorter modes, the largest gain first.

MOST_TRIED = 200_000
Amounts = tuple[int, ...]


@dataclass
class Budget:
    """The use of the non-renewable resources by the chosen modes.

    Parameters
    ----------
    names
        Names of the non-renewable resources.
    capacity
        Their capacities.
    used
        What the chosen modes use in total.
    """

    names: tuple[str, ...]
    capacity: Amounts
    used: Amounts

    def demands(self, mode: Mode) -> Amounts:
        """Return what a mode uses of each resource."""
        return tuple(mode.demands.get(name, 0) for name in self.names)

    def after(self, old: Mode, new: Mode) -> Amounts:
        """Return the use if a task changes from one mode to another."""
        return tuple(u - o + n for u, o, n in zip(self.used, self.demands(old), self.demands(new), strict=True))

    def excess(self, used: Amounts) -> float:
        """Return the sum over the resources of the share of the capacity that is exceeded."""
        return sum(max(0, u - c) / max(1, c) for u, c in zip(used, self.capacity, strict=True))

    def allows(self, old: Mode, new: Mode) -> bool:
        """Return whether a task may change from one mode to another within the capacities."""
        return new is old or all(u <= c for u, c in zip(self.after(old, new), self.capacity, strict=True))

    def need(self, mode: Mode) -> float:
        """Return the sum over the resources of the share of the capacity that a mode uses."""
        return sum(d / max(1, c) for d, c in zip(self.demands(mode), self.capacity, strict=True))


def feasible_modes(project: Project, net: ProjectNetwork) -> tuple[list[Mode], Budget]:
    """Return a mode for each task so that the non-renewable resources suffice, and what they use.

    Parameters
    ----------
    project
        The project.
    net
        Its tasks.

    Returns
    -------
    list of Mode
        The mode of each task.
    Budget
        What these modes use of the non-renewable resources.

    Raises
    ------
    NothingFound
        There is no such choice, or none was found; the message says which and names the resources.
    """
    limits = [r for r in project.resources if not r.renewable]
    budget = Budget(tuple(r.name for r in limits), tuple(r.capacity for r in limits), (0,) * len(limits))
    _check_least(net, budget)
    modes = [min(options, key=lambda m: (m.duration, budget.need(m))) for options in net.modes]
    budget.used = _total(budget, modes)
    if not _repair(net, budget, modes):
        modes = _search(net, budget)
        budget.used = _total(budget, modes)
    _shorten(net, budget, modes)
    return modes, budget


def _total(budget: Budget, modes: Sequence[Mode]) -> Amounts:
    return tuple(sum(m.demands.get(name, 0) for m in modes) for name in budget.names)


def _check_least(net: ProjectNetwork, budget: Budget) -> None:
    """Raise NothingFound if the least demands of all tasks exceed a capacity."""
    for name, capacity in zip(budget.names, budget.capacity, strict=True):
        least = sum(min(m.demands.get(name, 0) for m in options) for options in net.modes)
        if least > capacity:
            raise NothingFound(
                f"there is no schedule: the tasks use at least {least} of {name!r} in total, which has {capacity}"
            )


def _repair(net: ProjectNetwork, budget: Budget, modes: list[Mode]) -> bool:
    """Change modes until no capacity is exceeded; return False if no change lowers the excess any more."""
    while (excess := budget.excess(budget.used)) > 0:
        best: tuple[float, int, Mode] | None = None
        for k, options in enumerate(net.modes):
            for mode in options:
                gain = 0.0
                if mode is not modes[k]:
                    gain = excess - budget.excess(budget.after(modes[k], mode))
                if gain > 1e-12:
                    price = (mode.duration - modes[k].duration) / gain
                    if best is None or price < best[0]:
                        best = (price, k, mode)
        if best is None:
            return False
        _, k, mode = best
        budget.used = budget.after(modes[k], mode)
        modes[k] = mode
    return True


def _search(net: ProjectNetwork, budget: Budget) -> list[Mode]:
    """Search, depth first, for a choice of modes within the capacities. Raises NothingFound."""
    spread = [max(map(budget.need, options)) - min(map(budget.need, options)) for options in net.modes]
    order = sorted(range(len(net.modes)), key=lambda k: -spread[k])
    least = [tuple(min(col) for col in zip(*map(budget.demands, net.modes[k]), strict=True)) for k in order]
    room = [budget.capacity]  # after depth d: capacity minus the least demands of the tasks from depth d on
    for amounts in reversed(least):
        room.append(tuple(c - a for c, a in zip(room[-1], amounts, strict=True)))
    room.reverse()
    chosen: list[Mode] = []
    used = [(0,) * len(budget.names)]
    branches: list[Iterator[Mode]] = [iter(sorted(net.modes[order[0]], key=budget.need))]
    for _ in range(MOST_TRIED):
        mode = next(branches[-1], None)
        if mode is None:
            branches.pop()
            if not branches:
                raise NothingFound(
                    f"there is no schedule: no choice of modes keeps {_listed(budget)} within the capacity"
                )
            chosen.pop()
            used.pop()
            continue
        now = tuple(u + d for u, d in zip(used[-1], budget.demands(mode), strict=True))
        depth = len(chosen) + 1
        if any(u > r for u, r in zip(now, room[depth], strict=True)):
            continue
        chosen.append(mode)
        used.append(now)
        if depth == len(order):
            by_task = dict(zip(order, chosen, strict=True))
            return [by_task[k] for k in range(len(order))]
        branches.append(iter(sorted(net.modes[order[depth]], key=budget.need)))
    raise NothingFound(
        f"no choice of modes was found that keeps {_listed(budget)} within the capacity, among {MOST_TRIED:,} that were tried"
    )


def _listed(budget: Budget) -> str:
    return f"the total use of {', '.join(map(repr, budget.names))}"


def _shorten(net: ProjectNetwork, budget: Budget, modes: list[Mode]) -> None:
    """Give tasks shorter modes where the capacities allow it, the largest gain first."""
    gains = [
        (modes[k].duration - mode.duration, k, mode)
        for k, options in enumerate(net.modes)
        for mode in options
        if mode.duration < modes[k].duration
    ]
    for _, k, mode in sorted(gains, key=lambda gain: -gain[0]):
        if mode.duration < modes[k].duration and budget.allows(modes[k], mode):
            budget.used = budget.after(modes[k], mode)
            modes[k] = mode


# --- The serial schedule generation scheme for projects [Kolisch1996b].
#
# 1. Choose a mode for each task, so that the non-renewable resources suffice (``mode_choice``).
# 2. Of the tasks whose predecessors are scheduled, take the first one by a priority rule (``priorities``).
# 3. Schedule it at its earliest time: after its predecessors, and where the renewable resources are free. Of its modes that
#    the non-renewable resources allow, take the one with which it ends first (ties: the one that needs least of these).
# 4. Repeat 2 and 3 until all tasks are scheduled.
#
# Such a schedule is active: no task can start earlier in its mode without another one being moved.


def serial_sgs(project: Project, rule: str = "lft") -> Schedule:
    """Return the schedule that the serial schedule generation scheme makes with a priority rule.

    Parameters
    ----------
    project
        The project.
    rule
        Name of the priority rule, one of ``PRIORITY_RULES`` or ``DATE_RULES``: "lft" (latest finish time), "lst" (latest start time), "slack", "est"
        (earliest start time), "mts" (most total successors), "mis" (most immediate successors), "grpw" (greatest rank
        positional weight), "grd" (greatest resource demand), "spt" (shortest processing time), "edd" (earliest due date), "wspt" (weighted
        shortest processing time).

    Returns
    -------
    Schedule
        A feasible schedule.

    Raises
    ------
    UnknownOrder
        The rule is unknown.
    NothingFound
        No choice of modes was found for which the non-renewable resources suffice, a task misses its deadline, or a resource
        that must not be idle is.

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
    if rule not in _RULES:
        raise UnknownOrder(rule)
    return SerialScheme.of(project).schedule(rule)


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
        It is "optimal" if it is a makespan, and that of the longest path with the shortest modes. Its ``details``: ``rule``, the
        rule that made the schedule (None: it is the start); ``skipped``, the rules that were left out because of the
        time limit.

    Raises
    ------
    NothingFound
        No choice of modes was found for which the non-renewable resources suffice, or each rule misses a deadline or leaves a
        resource idle that must not be; and there is no start.

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
    seen = Incumbents(problem, "multi-sgs", on_incumbent, warm_start, Deadline(time_limit))
    least = longest_path(problem) if bounds_hold(problem) else None
    best = seen.start
    rule = None
    skipped = list[str]()
    lowest = None if best is None else problem.value(best)
    try:
        made = () if seen.stopped or lowest == least is not None else _by_rules(problem, seen, skipped)
        for name, schedule in made:
            value = problem.value(schedule)
            if lowest is None or value < lowest:
                best = schedule
                rule = name
                lowest = value
                if not seen.report(lowest, lambda shorter=schedule: shorter) or lowest == least:  # type: ignore[misc]
                    break
    except NothingFound:
        if best is None:
            raise
    assert best is not None  # the first rule is always finished, if there is no start
    left = f"; skipped at the time limit: {', '.join(skipped)}" if skipped else ""
    message = "no rule is better than the start" if rule is None else f"best priority rule: {rule}"
    details = {"rule": rule, "skipped": tuple(skipped)}
    return seen.result(best, message=message + left, optimal=lowest == least, details=details)


def _by_rules(problem: Project, seen: Incumbents, skipped: list[str]) -> Iterator[tuple[str, Schedule]]:
    """Yield the schedule of each rule; add the rules that the time limit leaves out to ``skipped``.

    Raises NothingFound if each rule misses a deadline.
    """
    generator = SerialScheme.of(problem)
    longest = 0.0  # s that a rule took, with the caller's work on its schedule: a rule cannot be stopped
    missed: NothingFound | None = None
    some = False
    rules = rules_for(problem)
    for k, rule in enumerate(rules):
        before = seen.elapsed
        if seen.trace and seen.deadline.earlier(longest).passed:
            skipped.extend(rules[k:])
            return
        try:
            schedule = generator.schedule(rule)
        except NothingFound as e:
            missed = e
            continue
        some = True
        yield rule, schedule
        longest = max(longest, seen.elapsed - before)
    if missed is not None and not some:
        raise missed


def bounds_hold(project: Project) -> bool:
    """Return whether lower bounds of the makespan are bounds of the objective, and all tasks are done."""
    return terms(project.objective) == {MAKESPAN: 1} and not any(t.optional for t in project.tasks)


def refused_by_bounds(project: Project) -> tuple[str, ...]:
    """Return what of a project makes a bound of the makespan none of the objective, in words.

    Examples
    --------
    >>> refused_by_bounds(Project([Task.single("a", 3, penalty=4)], [], objective="flow-time"))
    ('the objective flow-time', 'tasks that may be left out')
    """
    words = []
    if terms(project.objective) != {MAKESPAN: 1}:
        words = [f"the objective {project.objective}"]
    return (*words, *(["tasks that may be left out"] if any(t.optional for t in project.tasks) else []))


def longest_path(project: Project) -> int:
    """Return the length of the longest path with the shortest modes: no makespan is less."""
    shortest = ((t.name, min(m.duration for m in project.possible(t))) for t in project.tasks)
    return max((project.heads[name] + duration for name, duration in shortest), default=0)


@dataclass
class _Partial:
    """A schedule that is not complete: the modes, the ends of the tasks that are placed, and what they use."""

    modes: list[Mode]
    budget: Budget
    free: Availability
    ends: dict[int, int]
    schedule: Schedule


class SerialScheme:
    """The serial schedule generation scheme for one project, the tasks that it places, and one choice of modes to begin with.

    Parameters
    ----------
    project
        The project.
    placed
        The project of the tasks that are placed, which may be fewer.
    """

    def __init__(self, project: Project, placed: Project) -> None:
        self._project = project
        self._net = network(placed)
        self._modes, self._budget = feasible_modes(placed, self._net)
        self._capacity = {r.name: r.capacity for r in project.resources if r.renewable}
        self._chains = chains(placed)
        self._on = {self._net.names.index(name): on for name, on in jobs_in_order(placed).items()}

    @classmethod
    def of(cls, project: Project) -> SerialScheme:
        """Return the scheme for a project, or for its tasks that must be done if the other resources do not suffice for all.

        Raises NothingFound.
        """
        try:
            return cls(project, project)
        except NothingFound:
            if not any(t.optional for t in project.tasks):
                raise
        return cls(project, project.with_tasks([t.name for t in project.tasks if not t.optional]))

    def schedule(self, rule: str) -> Schedule:
        """Return the schedule of a rule, without the tasks that cost more than their penalties.

        Raises NothingFound if it misses a deadline, or a resource that must not be idle is.
        """
        value = priorities(self._net, rule, list(self._modes), self._capacity)
        order = f"by the priority rule {rule}"
        placed = self.in_order(value, order)
        fewer = self._without_losses(placed)
        left_out = placed.start.keys() - fewer.start.keys()
        if not left_out:
            return placed
        again = self._without_losses(self.in_order(value, order, left_out))  # the others may start earlier
        return min(again, fewer, key=self._project.value)

    def in_order(self, value: Values, order: str, left_out: Collection[str] = ()) -> Schedule:
        """Return the schedule in which, of the tasks whose predecessors are done, the one with the least value comes first.

        Raises NothingFound if it misses a deadline; ``order`` says in the message how the tasks are ordered.
        """
        net = self._net
        head = self._chains.head
        budget = Budget(self._budget.names, self._budget.capacity, self._budget.used)
        partial = _Partial(list(self._modes), budget, Availability(self._project.resources), {}, Schedule({}, {}))
        jobs = JobOrder(self._on)
        missing = [0] * len(net.names)
        for k, before in enumerate(net.before):
            missing[head[k]] += sum(head[i] != head[k] for i, _ in before)
        eligible = [(value[k], k) for k, count in enumerate(missing) if not count and head[k] == k]
        heapify(eligible)
        while eligible:
            first = heappop(eligible)[1]
            row = self._chains.of(first)
            ready = jobs.ready(row)
            if ready is None:
                continue
            if len(row) > 1:
                self._place_chain(partial, row, ready, order)
            elif net.tasks[first].name not in left_out:
                self._place(partial, first, ready.get(first, 0), order)
            for k in row:
                woken = jobs.left(k, partial.free.left.get(net.names[k], 0))
                if woken is not None:
                    heappush(eligible, (value[woken], woken))
                for j in (head[j] for j, _ in net.after[k] if head[j] != first):
                    missing[j] -= 1
                    if not missing[j]:
                        heappush(eligible, (value[j], j))
        return self._without_idle_time(partial, order)

    def _ready(self, partial: _Partial, k: int) -> int:
        """Return the earliest start of a task by its release date and its predecessors that are placed."""
        ends = partial.ends
        return max([self._net.tasks[k].release, *(ends[i] + delay for i, delay in self._net.before[k] if i in ends)])

    def _place(self, partial: _Partial, k: int, ready: int, order: str) -> None:
        """Place a task in the mode in which it ends first; leave it out if it may be and misses its deadline.

        Raises NothingFound.
        """
        task = self._net.tasks[k]
        budget = partial.budget
        first = max(ready, self._ready(partial, k))
        options = [m for m in self._net.modes[k] if budget.allows(partial.modes[k], m)]
        times = [partial.free.earliest(task, m, first) for m in options]
        best = min(range(len(options)), key=lambda n: (times[n][1], budget.need(options[n])))
        start, end = times[best]
        if task.deadline is None or end <= task.deadline:
            mode = options[best]
            budget.used = budget.after(partial.modes[k], mode)
            partial.modes[k] = mode
            self._put(partial, k, start, end, end)
        elif not task.optional:
            raise NothingFound(_misses(order, task, end))

    def _put(self, partial: _Partial, k: int, start: int, end: int, left: int) -> None:
        task = self._net.tasks[k]
        mode = partial.modes[k]
        partial.ends[k] = end
        partial.free.add(task, mode, start, left)
        partial.schedule.start[task.name] = start
        partial.schedule.nodes[task.name] = {mode.name: 1}

    def _place_chain(self, partial: _Partial, row: Sequence[int], ready: Mapping[int, int], order: str) -> None:
        """Place the tasks of a chain in their modes. Raises NothingFound if one misses its deadline."""
        net = self._net
        starts = self._chain_starts(partial, row, ready)
        for k, following in zip(row, [*row[1:], None], strict=True):
            task = net.tasks[k]
            end = starts[k] + partial.modes[k].duration
            if task.deadline is not None and end > task.deadline:
                raise NothingFound(_misses(order, task, end))
            if following is not None and self._chains.held[k]:
                left = max(end, starts[following])
            else:
                left = end
            self._put(partial, k, starts[k], end, left)

    def _chain_starts(self, partial: _Partial, row: Sequence[int], ready: Mapping[int, int]) -> dict[int, int]:
        """Return the first starts of the tasks of a chain: each is raised to what the others allow, until none changes."""
        chain = self._chains
        starts = {k: max(ready.get(k, 0), self._ready(partial, k)) for k in row}
        at = 0
        while at < len(row):
            k = row[at]
            mode = partial.modes[k]
            first = starts[k]
            before = row[at - 1]
            if at:
                first = max(first, starts[before] + partial.modes[before].duration + chain.gap[before])
            starts[k] = partial.free.earliest(self._net.tasks[k], mode, first)[0]
            at += 1
            if at == 1:
                continue
            end = starts[before] + partial.modes[before].duration
            needed = starts[before]
            if chain.exact[before]:
                needed += starts[k] - end - chain.gap[before]
            if chain.held[before]:
                taken = partial.free.last_taken(partial.modes[before], end, starts[k])
            else:
                taken = end
            if taken > end:
                needed = max(needed, taken)
            if needed > starts[before]:
                starts[before] = needed
                at -= 2
        return starts

    def _without_idle_time(self, partial: _Partial, order: str) -> Schedule:
        """Return the schedule without idle time on resources that must have none; tasks are moved later, in their order.

        Raises NothingFound if that is impossible, or a task then misses its deadline.
        """
        tight = {r.name for r in self._project.resources if r.no_idle}
        if not tight:
            return partial.schedule
        net = self._net
        rank = {k: n for n, k in enumerate(net.order)}
        start = {k: partial.schedule.start[net.names[k]] for k in partial.ends}
        rows = sorted(start, key=lambda k: (start[k], rank[k]))
        for _ in range(len(net.names) + 2):
            before = dict(start)
            self._move_after_others(partial.modes, rows, start)
            self._move_to_next(partial.modes, rows, start, tight)
            if start == before:
                break
        else:
            raise NothingFound(f"{order}, a resource without idle time has some")
        for k, time in start.items():
            task = net.tasks[k]
            end = time + partial.modes[k].duration
            if task.deadline is not None and end > task.deadline:
                raise NothingFound(_misses(order, task, end))
            partial.schedule.start[task.name] = time
        return partial.schedule

    def _machines(self, mode: Mode) -> list[str]:
        return [name for name, demand in mode.demands.items() if demand and mode.duration and name in self._capacity]

    def _move_after_others(self, modes: Sequence[Mode], rows: Sequence[int], start: dict[int, int]) -> None:
        """Move tasks, by their starts, after their predecessors and the tasks before them on their resources."""
        last: dict[str, int] = {}
        for k in rows:
            links = [(i, delay) for i, delay in self._net.before[k] if i in start]
            links += [(last[name], 0) for name in self._machines(modes[k]) if name in last]
            start[k] = max([start[k], *(start[i] + modes[i].duration + delay for i, delay in links)])
            last.update(dict.fromkeys(self._machines(modes[k]), k))

    def _move_to_next(self, modes: Sequence[Mode], rows: Sequence[int], start: dict[int, int], tight: set[str]) -> None:
        """Move tasks, the last one first, to the next one on their resources without idle time."""
        following: dict[str, int] = {}
        for k in reversed(rows):
            names = [name for name in self._machines(modes[k]) if name in tight]
            ends = [start[following[name]] - modes[k].duration for name in names if name in following]
            start[k] = max([start[k], *ends])
            following.update(dict.fromkeys(names, k))

    def _without_losses(self, schedule: Schedule) -> Schedule:
        """Return the schedule without the tasks whose penalty is less than what they cost, found one after another."""
        project = self._project
        in_sequence = any(r.setups or r.no_idle for r in project.resources)
        best = schedule
        value = 0
        if any(t.optional for t in project.tasks):
            value = project.value(schedule)
        for task in project.tasks:
            if not task.optional or task.name not in best.start:
                continue
            start = {name: time for name, time in best.start.items() if name != task.name}
            fewer = Schedule(start, {name: best.nodes[name] for name in start})
            less = project.value(fewer)
            if less < value and not (in_sequence and project.verify(fewer)):
                best = fewer
                value = less
        return best


def _misses(order: str, task: Task, end: int) -> str:
    return f"{order}, task {task.name!r} ends at {end}, after its deadline {task.deadline}"


class JobOrder:
    """The order of jobs that is the same on some resources: that in which their first tasks are tried.

    Parameters
    ----------
    on
        The job and the resource of each task on one of these resources.

    Examples
    --------
    >>> order = JobOrder({0: ("one", "saw"), 1: ("other", "saw")})
    >>> order.ready([1]), order.ready([0])  # the task of the second job must wait
    ({}, None)
    >>> order.left(1, 5), order.ready([0])
    (0, {0: 5})
    """

    def __init__(self, on: Mapping[int, tuple[str, str]]) -> None:
        self._on = on
        self._unordered: dict[str, list[int]] = {}
        for k, (job, _) in on.items():
            self._unordered.setdefault(job, []).append(k)
        self._last: dict[str, int] = {}
        self._before: dict[int, int] = {}
        self._left: dict[int, int] = {}
        self._asleep: dict[int, int] = {}  # by task: the first task of the chain that waits for it

    def ready(self, row: Sequence[int]) -> dict[int, int] | None:
        """Return when the earlier jobs have left the resources of the tasks of a chain; None if one has not been placed."""
        ready: dict[int, int] = {}
        for k in row:
            if k not in self._on:
                continue
            self._put_last(self._on[k][0])
            before = self._before.get(k)
            if before is None:
                continue
            if before not in self._left:
                self._asleep[before] = row[0]
                return None
            ready[k] = self._left[before]
        return ready

    def _put_last(self, job: str) -> None:
        """Put a job behind all others, if it has no place yet."""
        for k in self._unordered.pop(job, ()):
            name = self._on[k][1]
            if name in self._last:
                self._before[k] = self._last[name]
            self._last[name] = k

    def left(self, task: int, time: int) -> int | None:
        """Note when a task leaves its resource; return the first task of the chain that waits for it, if there is one."""
        if task not in self._on:
            return None
        self._left[task] = time
        return self._asleep.pop(task, None)


# --- The use of a renewable resource over time.


class ResourceUsage:
    """The use of a renewable resource as a step function of time.

    Parameters
    ----------
    capacity : int
        The amount that is available at every time.

    Examples
    --------
    >>> crew = ResourceUsage(3)
    >>> crew.add(start=0, end=4, demand=2)
    >>> crew.earliest(start=1, duration=5, demand=2), crew.earliest(start=1, duration=5, demand=1)
    (4, 1)
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._times = [0]
        self._used = [0]  # from each time to the next one; the last one is 0
        self._breaks: list[Window] = []

    def earliest(self, start: int, duration: int, demand: int) -> int:
        """Return the first time, not before ``start``, from which the demand is free for the whole duration."""
        times = self._times
        used = self._used
        most = self.capacity - demand
        k = bisect_right(times, start) - 1
        while True:
            end = start + duration
            while k < len(times) and times[k] < end:
                if used[k] > most:
                    break
                k += 1
            else:
                return start
            k += 1
            start = times[k]

    def first_end(self, start: int, end: int, demand: int) -> int:
        """Return the end of the first step from ``start`` to ``end`` in which the demand is not free; ``start`` if it is free."""
        k = bisect_right(self._times, start) - 1
        while k < len(self._times) and self._times[k] < end:
            if self._used[k] > self.capacity - demand:
                return self._times[k + 1]
            k += 1
        return start

    def last_taken(self, start: int, end: int, demand: int) -> int:
        """Return the end of the last step from ``start`` to ``end`` in which the demand is not free; ``start`` if it is free.

        A break takes nothing: a task may keep the resource in it.
        """
        k = bisect_left(self._times, end) - 1
        while k >= 0 and (k + 1 == len(self._times) or self._times[k + 1] > start):
            closed = any(begin <= self._times[k] < over for begin, over in self._breaks)
            if self._used[k] - closed * self.capacity > self.capacity - demand:
                return self._times[k + 1]
            k -= 1
        return start

    def close(self, begin: int, over: int) -> None:
        """Let no task run in a break."""
        self._breaks.append((begin, over))
        self.add(begin, over, self.capacity)

    def add(self, start: int, end: int, demand: int) -> None:
        """Occupy the demand from ``start`` to ``end``."""
        first = self._breakpoint(start)
        last = self._breakpoint(end)
        for k in range(first, last):
            self._used[k] += demand

    def _breakpoint(self, time: int) -> int:
        """Return the position of a breakpoint at this time, which is inserted if there is none."""
        k = bisect_left(self._times, time)
        if k == len(self._times) or self._times[k] != time:
            self._times.insert(k, time)
            self._used.insert(k, self._used[k - 1])
        return k


# --- The tasks on a resource with setups, one after another.


class Neighbour(NamedTuple):
    """A task in a sequence: its start, its end and its family."""

    start: int
    end: int
    kind: str


class SetupSequence:
    """The tasks on a resource of capacity 1 with setups.

    Parameters
    ----------
    resource : Resource
        The resource.

    Examples
    --------
    >>> oven = SetupSequence(Resource("oven", 1, setups={("a", "b"): 2, ("b", "a"): 1}))
    >>> oven.add(4, 6, "a")
    >>> oven.earliest(0, 3, "b"), oven.earliest(0, 4, "b"), oven.earliest(0, 4, "a")
    (0, 8, 0)
    """

    def __init__(self, resource: Resource) -> None:
        self._setups = resource.setups
        self.all_pairs = resource.all_pairs
        self._rows: list[Neighbour] = []

    def earliest(self, start: int, duration: int, kind: str) -> int:
        """Return the first time, not before ``start``, at which a task fits between two neighbours with their setups."""
        return self._place(start, duration, kind)[1]

    def add(self, start: int, end: int, kind: str) -> None:
        """Insert a task where it fits: at the same time as one of duration 0, setups can require either order."""
        position, _ = self._place(start, end - start, kind)
        self._rows.insert(position, Neighbour(start, end, kind))

    def _place(self, start: int, duration: int, kind: str) -> tuple[int, int]:
        """Return the first position at which a task fits, and its start there."""
        rows = self._rows
        for k in range(len(rows) + 1):
            if self.all_pairs:
                before = rows[:k]
                after = rows[k:]
            else:
                before = rows[max(0, k - 1) : k]
                after = rows[k : k + 1]
            first = max([start, *(r.end + self._setups.get((r.kind, kind), 0) for r in before)])
            if all(first + duration + self._setups.get((kind, r.kind), 0) <= r.start for r in after):
                return k, first
        return len(rows), start


class Availability:
    """The renewable resources of a project, with what is placed on them.

    Parameters
    ----------
    resources : iterable of Resource
        The resources; those that are not renewable are ignored.

    Examples
    --------
    >>> free = Availability([Resource("crew", 1, breaks=((2, 5),), suspends=True)])
    >>> task = Task.single("a", 3, {"crew": 1})
    >>> free.earliest(task, task.modes[0], 0), free.earliest(task, task.modes[0], 2)
    ((0, 6), (5, 8))
    """

    def __init__(self, resources: Iterable[Resource]) -> None:
        renewable = [r for r in resources if r.renewable]
        self._usages = {r.name: ResourceUsage(r.capacity) for r in renewable}
        self._sequences = {r.name: SetupSequence(r) for r in renewable if r.setups}
        self._suspending = [r for r in renewable if r.suspends and r.breaks]
        self.left: dict[str, int] = {}  # when each placed task gives up its resources
        for r in renewable:
            for begin, over in () if r.suspends else joined(r.breaks):
                self._usages[r.name].close(max(0, begin), max(0, over))

    def earliest(self, task: Task, mode: Mode, ready: int) -> tuple[int, int]:
        """Return the first start from ``ready`` on at which all renewable resources are free for a mode, and its end."""
        demands = self._running(mode)
        if self._suspending:
            breaks = suspending(self._suspending, mode)
        else:
            breaks = ()
        start = ready
        while True:
            before = start
            start = _after(start, breaks)
            end = suspended_end(start, mode.duration, breaks)
            for name, demand in demands:
                if breaks:
                    # a later start may take less time: the next one to try is the end of what is taken
                    start = self._usages[name].first_end(start, end, demand)
                    if start != before:
                        break
                elif mode.duration:  # what takes no time may be within a break; setups keep it out of other tasks
                    start = self._usages[name].earliest(start, end - start, demand)
                if name in self._sequences:
                    start = self._sequences[name].earliest(start, end - start, task.kind)
            if start == before:
                return start, end

    def last_taken(self, mode: Mode, start: int, end: int) -> int:
        """Return the last time from ``start`` to ``end`` from which on what a mode needs is free; ``start`` if it always is."""
        needed = [(name, demand) for name, demand in mode.demands.items() if demand and name in self._usages]
        if start == end:
            return start
        return max([start, *(self._usages[name].last_taken(start, end, demand) for name, demand in needed)])

    def add(self, task: Task, mode: Mode, start: int, end: int) -> None:
        """Place a task; ``end``: when it gives up its resources."""
        self.left[task.name] = end
        for name, demand in self._running(mode, held=start < end):
            self._usages[name].add(start, end, demand)
            if name in self._sequences:
                self._sequences[name].add(start, end, task.kind)

    def _running(self, mode: Mode, held: bool = False) -> list[tuple[str, int]]:
        """Return the demands of renewable resources; a mode of duration 0 needs those with setups of all pairs alone, or held ones."""
        points = {name for name, sequence in self._sequences.items() if sequence.all_pairs}
        return [
            (name, demand)
            for name, demand in mode.demands.items()
            if demand and name in self._usages and (mode.duration or held or name in points)
        ]


def _after(time: int, breaks: Iterable[Window]) -> int:
    """Return the end of the break that a time lies in; the time itself if it lies in none."""
    return next((over for begin, over in breaks if begin <= time < over), time)


# --- Schedules near given starts.


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
        if deadline is None:
            self._deadline = Deadline()
        else:
            self._deadline = deadline
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
