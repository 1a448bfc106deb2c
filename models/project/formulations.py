"""The formulation ``modes`` of a project, with its redundant constraints, and that of a part of a schedule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise, permutations

import numpy as np
from numpy.typing import NDArray

from .. import language as sl
from ..array_types import Bools
from ..language import Assignment, Interval, Model
from ..problem import Encoding, Schedule
from ..words import how_many
from .data import Mode, Resource, Task
from .problem import Project, ProjectMax
from .verification import MAKESPAN, Done, done_tasks, joined, setup_order, suspending, terms

# --- The formulation ``modes`` of a project (exact): intervals for tasks and modes.
#
# Data: task i has modes m with duration ``d[i,m]`` and demand ``q[i,m,r]`` of resource r, which has the capacity
# ``C[r]``. Modes whose demand exceeds a capacity are left out. ``H[i]`` is the earliest start of task i, ``T[i]`` the
# least time from its end to the end of the project (longest paths), and ``Z`` the horizon.
#
# Variables: an interval ``v[i]`` per task; if it has several modes, an optional interval ``o[i,m]`` of size ``d[i,m]``
# with start in [H[i], Z - T[i] - d[i,m]] per mode; with one mode, ``o[i,m]`` is ``v[i]`` itself::
#
#     minimize  max_i v[i].end
#     alternative(v[i], {o[i,m] for all m})                                  for each task i with several modes
#     cumulative(o[i,m], demand q[i,m,r]) <= C[r]                            for each renewable r
#     sum_i,m q[i,m,r] * presence(o[i,m]) <= C[r]                            for each other r
#     v[i].end + delay <= v[k].start                                         for each precedence i -> k
#
# For ``C[r] = 1`` the cumulative is a ``no_overlap``. Redundant constraints::
#
#     no_overlap(v[i], i in S)                                               for each set S of ``exclusive_sets``
#     sum_i,m q[i,m,r] * d[i,m] * presence(o[i,m])
#         <= C[r] * (makespan - min_i H[i] - min_i T[i])                     for each renewable r, over the tasks i that
#                                                                            use r, if one of them has several modes;
#                                                                            see ``_load_counts``


def modes(project: Project, horizon: int | None = None, exclusive: Iterable[Sequence[str]] | None = None) -> Encoding:
    """Make the formulation with an interval per task, and one per mode for tasks with several modes.

    Parameters
    ----------
    project : Project
        The project.
    horizon : int or None
        The greatest makespan, not less than the longest path with the shortest modes; None: ``project.horizon``.
    exclusive : iterable of sequences of str or None
        Names of tasks that exclude each other; None: ``exclusive_sets``.
    """
    tasks = intervals(project, horizon, exclusive)
    return Encoding(tasks.model, tasks.read, tasks.write)


def modes_with_lags(project: ProjectMax, horizon: int | None = None) -> Encoding:
    """Make the formulation ``modes`` with a linear constraint per maximal lag; the horizon is that of ``modes``."""
    tasks = intervals(project, horizon)
    for first, second, most in project.lags:
        constraint = tasks.of_task[second].start <= tasks.of_task[first].start + most
        tasks.model.add(constraint, f"{first} -> {second} within {most}")
    return Encoding(tasks.model, tasks.read, tasks.write)


def intervals(project: Project, horizon: int | None = None, exclusive: Iterable[Sequence[str]] | None = None) -> Tasks:
    """Return the intervals and the model of the formulation ``modes``, with the arguments of ``modes``."""
    if horizon is None:
        most = project.horizon
    else:
        most = horizon
    tasks = Tasks(project, Model(f"project of {how_many(len(project.tasks), 'task')}", horizon=most), most)
    for task in project.tasks:
        tasks.add(task)
    tasks.add_holds()
    makespan = _makespan(tasks)
    shortens = MAKESPAN in terms(project.objective) and not any(t.optional for t in project.tasks)
    loads = shortens and _load_counts(project)
    for resource in project.resources:
        _limit(tasks, resource)
        if loads and resource.renewable and resource.capacity:
            _load(tasks, resource, makespan)
    for k, names in enumerate(exclusive_sets(project) if exclusive is None else exclusive, 1):
        tasks.model.add(sl.no_overlap([tasks.of_task[name] for name in names]), f"exclusive tasks {k}")
    for before, links in project.after.items():
        for after, delay in links.items():
            link = sl.end_before_start(tasks.of_task[before], tasks.of_task[after], delay)
            tasks.model.add(link, f"{before} -> {after}")
    add_rules(tasks)
    tasks.model.minimize(objective(tasks, makespan))
    return tasks


def _makespan(tasks: Tasks) -> sl.Linear:
    """Return the greatest end. Tasks that another task must follow with a delay >= 0 are left out."""
    left_out = {t.name for t in tasks.project.tasks if t.optional}
    last = [
        v.end
        for name, v in tasks.of_task.items()
        if all(delay < 0 or after in left_out for after, delay in tasks.project.after[name].items())
    ]
    if last:
        return sl.max(last)
    return sl.sum([])


def _load_counts(project: Project) -> bool:
    """Return whether the work on the resources may bound the makespan; in a shop, only where it exceeds the longest path.

    Where it does not, the loads delay CP-SAT: it proves mt10c1 in 1 s without them, and not in 3 s with them; mk07, whose
    work exceeds its path threefold, in 3 s with them, and not in 9 s without.
    """
    capacity = {r.name: r.capacity for r in project.resources if r.renewable and r.capacity}
    if any(amount > 1 for amount in capacity.values()):
        return True
    path = max((project.heads[t.name] + t.shortest + project.tails[t.name] for t in project.tasks), default=0)
    work = sum(min(m.duration * any(m.demands.get(name) for name in capacity) for m in t.modes) for t in project.tasks)
    return work > path * len(capacity)


def _load(tasks: Tasks, resource: Resource, makespan: sl.Linear) -> None:
    """Add the redundant constraint: the work on a resource fits between the least head and tail of its tasks."""
    project = tasks.project
    used = {n: [(o, m) for m, o in options if m.demands.get(resource.name)] for n, options in tasks.of_mode.items()}
    users = [name for name, options in used.items() if options]
    if all(len(tasks.of_mode[name]) == 1 for name in users):
        return
    rows = [(o, m.demands[resource.name] * m.duration) for name in users for o, m in used[name]]
    work = sl.sum([o.presence for o, _ in rows], weights=[amount for _, amount in rows])
    idle = min(project.heads[n] for n in users) + min(project.tails[n] for n in users)
    tasks.model.add(work + resource.capacity * idle <= resource.capacity * makespan, f"load of {resource.name}")


def _limit(tasks: Tasks, resource: Resource) -> None:
    """Add the constraint of one resource, unless its capacity cannot be exceeded."""
    amounts = {name: tasks.on(resource, name) for name in tasks.of_task}
    if sum(max((d for _, d in options), default=0) for options in amounts.values()) <= resource.capacity:
        return
    rows = [row for options in amounts.values() for row in options]
    if not resource.renewable:
        used = sl.sum([o.presence for o, _ in rows], weights=[d for _, d in rows])
        tasks.model.add(used <= resource.capacity, resource.name)
    elif resource.capacity == 1:
        tasks.model.add(sl.no_overlap([o for o, _ in rows]), resource.name)
    else:
        tasks.model.add(sl.cumulative([o for o, _ in rows], [d for _, d in rows], resource.capacity), resource.name)


# --- The intervals of the formulation: one per task, per mode, and per task that keeps its resources while it waits.


@dataclass
class Tasks:
    """The intervals of a project.

    Parameters
    ----------
    project : Project
        The project.
    model : Model
        The model.
    horizon : int
        The greatest makespan. Modes with which it would be exceeded are left out.
    of_task : dict
        The interval of each task, by name.
    of_mode : dict
        The (mode, interval) pairs of each task; for a task with one mode, the interval of the task itself.
    holds : dict
        For the tasks that block their resources, an interval per mode from its start to the start of the next task.
    places : dict
        For each resource whose setups count between tasks of duration 0, an interval of size 1 per task and mode: its place
        in the order.
    """

    project: Project
    model: Model
    horizon: int
    of_task: dict[str, Interval] = field(default_factory=dict)
    of_mode: dict[str, list[tuple[Mode, Interval]]] = field(default_factory=dict)
    holds: dict[str, list[Interval]] = field(default_factory=dict)
    places: dict[str, dict[tuple[str, str], Interval]] = field(default_factory=dict)

    def add(self, task: Task) -> None:
        """Declare the intervals of one task, without the modes that exceed a capacity or cannot end in time."""
        fitting = self.project.possible(task)
        possible = [m for m in fitting if self._lasts(task, m)] or list(fitting)
        sizes = [self._sizes(m) for m in possible]
        least = min(low for low, _ in sizes)
        window = self._window(task, least)
        size = (least, max(high for _, high in sizes))
        whole = self.model.interval(task.name, size=size, start=window, optional=task.optional)
        self.of_task[task.name] = whole
        if task.deadline is not None and (size[0] < size[1] or window[1] + least > task.deadline):
            self.model.add(whole.end <= task.deadline, f"deadline of {task.name}")
        if len(possible) == 1:
            self.of_mode[task.name] = [(possible[0], whole)]
            return
        options = []
        for mode, length in zip(possible, sizes, strict=True):
            window = self._window(task, mode.duration)
            name = f"{task.name} in mode {mode.name}"
            options.append((mode, self.model.interval(name, length, window, optional=True)))
        self.of_mode[task.name] = options
        self.model.add(sl.alternative(whole, [o for _, o in options]), f"mode of {task.name}")

    def _sizes(self, mode: Mode) -> tuple[int, int]:
        """Return the least and the greatest time from start to end in a mode, which breaks may suspend."""
        breaks = suspending(self.project.resources, mode)
        return mode.duration, mode.duration + sum(over - begin for begin, over in breaks)

    def _window(self, task: Task, duration: int) -> tuple[int, int]:
        """Return the earliest and the latest start; it is not empty unless the horizon is too short."""
        first, last = self.project.start_window(task, duration, self.horizon)
        if task.deadline is not None and task.deadline - duration >= first:
            last = min(last, task.deadline - duration)
        return first, last

    def _lasts(self, task: Task, mode: Mode) -> bool:
        """Return whether a mode can end by the horizon and by the deadline."""
        first, last = self.project.start_window(task, mode.duration, self.horizon)
        return first <= last and (task.deadline is None or first + mode.duration <= task.deadline)

    def add_holds(self) -> None:
        """Declare the intervals in which tasks keep their resources until the next task starts."""
        for before, after in self.project.blocking:
            following = self.of_task[after]
            self.holds[before] = []
            for mode, option in self.of_mode[before]:
                name = f"{option.name} until {after}"
                size = (mode.duration, self.horizon)
                start = (option.start_lo, option.start_hi)
                hold = self.model.interval(name, size, start, optional=option.optional)
                if option.optional:
                    self.model.add(hold.presence == option.presence, f"{name} is there")
                self.model.add(hold.start == option.start, f"{name} starts")
                self.model.add(sl.end_before_start(hold, following), f"{name} ends by then")
                self.model.add(sl.start_before_end(following, hold), f"{name} ends not earlier")
                self.holds[before].append(hold)

    def on(self, resource: Resource, task: str, lasting: bool = False) -> list[tuple[Interval, int]]:
        """Return the intervals in which a task occupies a resource, with its demands; ``lasting``: of modes that take time."""
        held = None
        if resource.renewable:
            held = self.holds.get(task)
        rows = []
        for k, (mode, option) in enumerate(self.of_mode[task]):
            amount = mode.demands.get(resource.name, 0)
            if amount and (mode.duration or not lasting):
                rows.append((option if held is None else held[k], amount))
        return rows

    def read(self, assignment: Assignment) -> Schedule:
        """Return the starts and modes of an assignment."""
        schedule = Schedule({}, {})
        for name, options in self.of_mode.items():
            whole = self.of_task[name].index
            if assignment.present[whole]:
                schedule.start[name] = assignment.start[whole]
                schedule.nodes[name] = {m.name: 1 for m, o in options if assignment.present[o.index]}
        return schedule

    def write(self, schedule: Schedule) -> Assignment:
        """Return the assignment of a schedule; the mode of a task with one mode may be omitted."""
        a = Assignment(self.model)
        done = done_tasks(self.project, schedule)
        for name, options in self.of_mode.items():
            if self.of_task[name].optional and name not in schedule.start:
                continue
            row = done.get(name)
            if row is None:  # it has no mode; without a start it is a KeyError
                a.set(self.of_task[name], schedule.start[name], schedule.start[name])
                continue
            a.set(self.of_task[name], row.start, row.end)
            for k, (mode, option) in enumerate(options):
                if mode == row.mode:
                    a.set(option, row.start, row.end)
                    if name in self.holds:
                        a.set(self.holds[name][k], row.start, row.left)
        for resource in self.project.resources if self.places else ():
            places = self.places.get(resource.name, {})
            for k, row in enumerate(setup_order(resource, done.values()) if places else ()):
                a.set(places[row.task.name, row.mode.name], k, k + 1)
        return a


# --- What a project adds to modes, resources and precedences, in its formulation: breaks, setups, blocking, objectives.
#
# With the intervals of ``Tasks``, where ``o`` is an interval in which a task occupies a resource::
#
#     end_before_start and start(after) - delay <= end(before)          for each precedence without a wait
#     forbid_extent(o, breaks)                                          for each resource whose breaks do not suspend
#     intensity(o, duration, breaks(...)), forbid_start, forbid_end     for each mode that breaks suspend
#     sequence(o, families).no_overlap(setups)                          for each resource with setups between neighbours
#     no_overlap(o, setups)                                             for each resource with setups between all pairs
#     sequence(o).no_idle()                                             for each resource without idle time
#     same_sequence(tasks on one, tasks on the other)                   for each two resources of the permutation
#
# The objective is the sum of the terms of its text and of the penalties of absent tasks.


def add_rules(tasks: Tasks) -> None:
    """Add the constraints of a project beside those of modes, resources and precedences."""
    project = tasks.project
    delays = {link[:2]: link[2] for link in project.precedences}
    for before, after in project.no_wait:
        link = sl.start_before_end(tasks.of_task[after], tasks.of_task[before], -delays[before, after])
        tasks.model.add(link, f"{before} -> {after} without a wait")
    for resource in project.resources:
        if resource.breaks and not resource.suspends:
            _add_breaks(tasks, resource)
        if resource.setups:
            _add_setups(tasks, resource)
        if resource.no_idle:
            lasting = _lasting(tasks, resource)
            if len(lasting) > 1:
                tasks.model.add(sl.sequence([o for _, o in lasting]).no_idle(), f"{resource.name} without idle time")
    if any(r.suspends for r in project.resources):
        _add_suspensions(tasks)
    _add_permutation(tasks)


def _add_breaks(tasks: Tasks, resource: Resource) -> None:
    """Forbid that tasks on a resource run in its breaks."""
    for name, options in tasks.of_mode.items():
        for mode, option in options:
            if mode.duration and mode.demands.get(resource.name):
                forbidden = sl.forbid_extent(option, joined(resource.breaks))
                tasks.model.add(forbidden, f"{name} in the breaks of {resource.name}, mode {mode.name}")


def _add_suspensions(tasks: Tasks) -> None:
    """Let breaks suspend the tasks; a task neither starts in a break nor ends later than its work is done."""
    for name, options in tasks.of_mode.items():
        for mode, option in options:
            breaks = suspending(tasks.project.resources, mode)
            if breaks:
                where = f"{name} in mode {mode.name}"
                tasks.model.add(sl.intensity(option, mode.duration, sl.breaks(breaks)), f"work of {where}")
                tasks.model.add(sl.forbid_start(option, breaks), f"start of {where}")
                tasks.model.add(sl.forbid_end(option, breaks), f"end of {where}")


def _lasting(tasks: Tasks, resource: Resource) -> list[tuple[str, Interval]]:
    """Return the tasks and intervals that occupy a resource for a time."""
    return [(name, o) for name in tasks.of_mode for o, _ in tasks.on(resource, name, lasting=True)]


def _setup_sequence(tasks: Tasks, resource: Resource) -> tuple[sl.IntervalSequence, list[list[int]]] | None:
    """Return the sequence of a resource with its families as types, and the setups between them; None if it is short."""
    rows = _lasting(tasks, resource)
    if len(rows) < 2:
        return None
    family = {t.name: t.kind for t in tasks.project.tasks}
    known = list(dict.fromkeys(family[name] for name, _ in rows))
    at = {kind: k for k, kind in enumerate(known)}
    matrix = [[resource.setups.get((a, b), 0) for b in known] for a in known]
    return sl.sequence([o for _, o in rows], [at[family[name]] for name, _ in rows]), matrix


def _add_setups(tasks: Tasks, resource: Resource) -> None:
    name = f"setups of {resource.name}"
    if resource.all_pairs:
        rows = [(task, o) for task in tasks.of_mode for o, _ in tasks.on(resource, task)]
        family = {t.name: t.kind for t in tasks.project.tasks}
        times = [[resource.setups.get((family[a], family[b]), 0) for b, _ in rows] for a, _ in rows]
        if len(rows) > 1:
            tasks.model.add(sl.no_overlap([o for _, o in rows], times), name)
        return
    made = _setup_sequence(tasks, resource)
    if made is not None:
        tasks.model.add(made[0].no_overlap(made[1]), name)


def _add_permutation(tasks: Tasks) -> None:
    """Add that jobs have the same order on the resources of the permutation."""
    project = tasks.project
    machines = [r for r in project.resources if r.name in project.permutation]
    job = {t.name: t.job for t in project.tasks}
    on = {
        r.name: {job[name]: tasks.of_task[name] for name in tasks.of_mode if tasks.on(r, name, lasting=True)}
        for r in machines
    }
    everywhere = len({frozenset(jobs) for jobs in on.values()}) <= 1
    for one, other in pairwise(machines) if everywhere else combinations(machines, 2):
        common = [j for j in on[one.name] if j in on[other.name]]
        if len(common) > 1:
            first = sl.sequence([on[one.name][j] for j in common])
            second = sl.sequence([on[other.name][j] for j in common])
            tasks.model.add(sl.same_sequence(first, second), f"order of jobs on {one.name} and {other.name}")


def objective(tasks: Tasks, makespan: sl.Linear) -> sl.Linear:
    """Return the objective of a project."""
    factors = terms(tasks.project.objective)
    parts = [
        (makespan if name == MAKESPAN else sl.sum(_terms(tasks, name))) * factor for name, factor in factors.items()
    ]
    absent = [(t.penalty, 1 - tasks.of_task[t.name].presence) for t in tasks.project.tasks if t.penalty]
    parts += [penalty * left_out for penalty, left_out in absent]
    if len(parts) == 1:
        return parts[0]
    return sl.sum(parts)


def _terms(tasks: Tasks, name: str) -> Iterator[sl.Linear]:
    """Yield the terms of an objective; those of an absent task are 0, as its end is 0 in an expression."""
    if name == "total-setup":
        for resource in tasks.project.resources:
            if resource.setups and resource.all_pairs and _has_points(tasks, resource):
                yield _setups_of_places(tasks, resource)
                continue
            made = None
            if resource.setups:
                made = _setup_sequence(tasks, resource)
            if made is not None:
                yield made[0].cost(made[1])
        return
    for task in tasks.project.tasks:
        v = tasks.of_task[task.name]
        if name == "flow-time" and task.weight:
            yield task.weight * (v.end - task.release * v.presence)
        elif name == "weighted-tardiness" and task.due is not None and task.weight:
            yield task.weight * sl.positive_part(v.end - task.due)
        elif name == "weighted-earliness" and task.due is not None and task.early_weight:
            yield task.early_weight * sl.positive_part(task.due * v.presence - v.end)
        elif name == "late-jobs" and task.due is not None and task.weight:
            yield task.weight * sl.holds(v.end >= task.due + 1)


def _has_points(tasks: Tasks, resource: Resource) -> bool:
    """Return whether a task on a resource can take no time."""
    return any(not m.duration and m.demands.get(resource.name) for o in tasks.of_mode.values() for m, _ in o)


def _setups_of_places(tasks: Tasks, resource: Resource) -> sl.Linear:
    """Return the sum of the setups between neighbours, of which some take no time and may be at one time.

    As their times give no order, each has a place w in it, an interval of size 1::

        end(o) + setup(o, q) <= start(q)  or  end(w of q) <= start(w of o)        for each two tasks
    """
    project, model = tasks.project, tasks.model
    family = {t.name: t.kind for t in project.tasks}
    rows = [
        (name, mode, tasks.holds[name][k] if name in tasks.holds else option)
        for name, options in tasks.of_mode.items()
        for k, (mode, option) in enumerate(options)
        if mode.demands.get(resource.name)
    ]
    places = tasks.places[resource.name] = {}
    for name, mode, option in rows:
        title = f"{option.name} in the order of {resource.name}"
        place = model.interval(title, 1, (0, len(rows) - 1), optional=option.optional)
        places[name, mode.name] = place
        if option.optional:
            model.add(place.presence == option.presence, f"{title} is there")
    for (name, mode, one), (following, its_mode, other) in permutations(rows, 2):
        setup = resource.setups.get((family[name], family[following]), 0)
        after = sl.end_before_start(places[following, its_mode.name], places[name, mode.name])
        either = sl.any_of([sl.end_before_start(one, other, setup), after])
        model.add(either, f"order of {one.name} and {other.name} on {resource.name}")
    known = list(dict.fromkeys(family[name] for name, _, _ in rows))
    matrix = [[resource.setups.get((a, b), 0) for b in known] for a in known]
    kinds = [known.index(family[name]) for name, _, _ in rows]
    return sl.sequence([places[name, mode.name] for name, mode, _ in rows], kinds).cost(matrix)


# --- Sets of tasks of a project of which no two can run at the same time.
#
# Two tasks exclude each other if together they exceed a resource in every pair of their modes, or if one precedes the
# other. A set of tasks that all exclude each other, also because of different resources, may be declared as
# ``no_overlap``. The constraint is redundant, but solvers derive bounds from it that no single ``cumulative`` gives
# (disjunctive sets: Brucker et al., European Journal of Operational Research 107 (1998), section 4).

PLAIN = 200  # tasks up to which numba, whose import takes half a second, is not needed
MOST_MEMBERS = 100_000  # of all sets together


def exclusive_sets(project: Project) -> Iterator[list[str]]:
    """Yield sets of tasks that exclude each other, until every pair that a resource excludes is in one of them.

    The sets are made by a greedy algorithm. Pairs that share a resource of capacity 1 need no set. No further set is made once all
    sets together have 100,000 tasks or more (``MOST_MEMBERS``): the first sets cover most pairs.

    Examples
    --------
    >>> from schedlab.models.project.problem import Project, Resource, Task
    >>> tasks = [Task.single(n, 2, {"crew": 3}) for n in "abc"]
    >>> [sorted(found) for found in exclusive_sets(Project(tasks, [Resource("crew", 5)], []))]
    [['a', 'b', 'c']]
    """
    names = [t.name for t in project.tasks]
    lasting = np.array([min(m.duration for m in project.possible(t)) > 0 for t in project.tasks], dtype=bool)
    pairs = lasting[:, None] & lasting[None, :] & ~np.eye(len(names), dtype=bool)
    apart, machine = _kept_apart(project)
    left = apart & pairs & ~machine
    if not left.any():
        return
    ordered = _ordered(project)
    exclusive = (apart | ordered) & pairs
    left &= ~ordered
    if not left.any():
        return
    for members in (_cover if len(names) <= PLAIN else _cover_many)(exclusive, left):
        yield [names[k] for k in members]


def _cover(exclusive: Bools, left: Bools) -> Iterator[list[int]]:
    """Yield sets of tasks that cover all pairs of ``left``, which are deleted."""
    missing = left.sum(axis=1)  # pairs of each task that are in no set
    while missing.any():
        members = _grow(exclusive, left, int(missing.argmax()))
        inside = np.ix_(members, members)
        missing[members] -= left[inside].sum(axis=1)
        left[inside] = False
        yield members.tolist()


def _cover_many(exclusive: Bools, left: Bools) -> Iterator[list[int]]:
    """Yield the same sets as ``_cover``, up to the limit of members."""
    from .exclusive_kernels import cover, rows_of_bits  # imports numba

    members, first = cover(rows_of_bits(exclusive), rows_of_bits(left), MOST_MEMBERS)
    return (some.tolist() for some in np.split(members, first[1:-1]))


def _kept_apart(project: Project) -> tuple[Bools, Bools]:
    """Return the pairs of tasks that together exceed a resource, and those that exceed a resource of capacity 1."""
    n = len(project.tasks)
    apart = np.zeros((n, n), dtype=bool)
    machine = np.zeros((n, n), dtype=bool)
    for r in project.resources:
        if r.renewable:
            demands = [min(m.demands.get(r.name, 0) for m in project.possible(t)) for t in project.tasks]
            least = np.array(demands, dtype=np.int64)
            exceeding = least[:, None] + least[None, :] > r.capacity
            apart |= exceeding
            if r.capacity == 1:
                machine |= exceeding
    return apart, machine


def _ordered(project: Project) -> Bools:
    """Return the pairs of tasks that precedences without negative delays put in order."""
    at = {t.name: k for k, t in enumerate(project.tasks)}
    left_out = {t.name for t in project.tasks if t.optional}
    after = np.zeros((len(at), len(at)), dtype=bool)
    for name in reversed(project.order):
        for successor, delay in project.after[name].items():
            if delay >= 0:
                if successor not in left_out:
                    after[at[name]] |= after[at[successor]]
                after[at[name], at[successor]] = True
    return after | after.T


def _grow(exclusive: Bools, left: Bools, first: int) -> NDArray[np.intp]:
    """Return a maximal set that covers many pairs of ``left``, starting from a task.

    The next task is the one that brings most of these pairs; of several ones, the one that excludes most of the tasks that
    can still be added.
    """
    members = [first]
    candidates = np.flatnonzero(exclusive[first])
    brings = left[first, candidates].astype(np.int64)
    while candidates.size:
        best = np.flatnonzero(brings == brings.max())
        if best.size > 1:
            room = exclusive[np.ix_(candidates[best], candidates)].sum(axis=1)
            best = best[[room.argmax()]]
        chosen = candidates[best[0]]
        members.append(int(chosen))
        kept = exclusive[chosen, candidates]
        candidates, brings = candidates[kept], brings[kept]
        brings += left[chosen, candidates]
    return np.array(sorted(members), dtype=np.intp)


# --- The formulation of a part of a schedule: some tasks are free, all others keep their modes and their order.
#
# The order of the tasks that are not free is a partial one [Godard2005]: on each renewable resource, what a task takes was
# free from the beginning or is given by tasks that have ended before, and these stay before it. Any starts that keep the
# precedences and this order keep the resources, as far as these tasks alone use them.


def part_formulation(
    project: Project,
    schedule: Schedule,
    free: Collection[str],
    most: int,
    exclusive: Sequence[Sequence[str]] | None = None,
) -> Encoding | None:
    """Return the formulation of a part of a schedule; None if the longest path shows that it has no solution.

    Parameters
    ----------
    project : Project
        The project.
    schedule : Schedule
        A feasible schedule. Of the tasks that are not free, those that are left out stay so.
    free : collection of str
        The tasks whose modes and order may change.
    most : int
        The greatest value of the objective.
    exclusive : sequence of sequences of str or None
        As for ``modes``: those of the project, to save their computation.

    Returns
    -------
    Encoding or None

    Examples
    --------
    >>> from schedlab.models import Project, Resource, Task
    >>> p = Project([Task.single(n, 2, {"saw": 1}) for n in "abc"], [Resource("saw", 1)])
    >>> part = part_formulation(p, Schedule({"a": 0, "b": 2, "c": 4}, {}), free=["c"], most=6)
    >>> len(part.model.intervals), [c.name for c in part.model.constraints]
    (3, ['saw', 'a -> b'])
    """
    done = done_tasks(project, schedule)
    left_out = [t.name for t in project.tasks if t.name not in free and t.name not in done]
    tasks = [
        t if t.name in free or t.name not in done else replace(t, modes=(done[t.name].mode,), penalty=None)
        for t in project.tasks
    ]
    fixed = sorted((row for name, row in done.items() if name not in free), key=lambda row: (row.start, row.task.name))
    order = dict.fromkeys(link for r in project.resources if r.renewable for link in _order(r, fixed))
    exact = {*project.no_wait, *project.blocking}  # pairs with one precedence, which keeps the order
    part = Project(
        tasks,
        project.resources,
        [*project.precedences, *(link for link in order if link not in exact)],
        project.objective,
        project.no_wait,
        project.blocking,
        project.permutation,
    )
    if terms(project.objective) == {MAKESPAN: 1} and not any(t.optional for t in project.tasks):
        shortest = {t.name: min(m.duration for m in part.possible(t)) for t in part.tasks}
        if any(part.heads[name] + duration + part.tails[name] > most for name, duration in shortest.items()):
            return None
        return modes(part, most, exclusive)
    made = intervals(part, project.horizon, exclusive)
    for name in left_out:
        made.model.add(made.of_task[name].presence == 0, f"{name} is left out")
    made.model.add(made.model.objectives[0] <= most, "better")
    return Encoding(made.model, made.read, made.write)


def _order(resource: Resource, fixed: Sequence[Done]) -> Iterator[tuple[str, str]]:
    """Yield (before, after): which tasks give a resource to which ones; ``fixed`` is sorted by start."""
    given: list[tuple[int, int, str]] = []  # end, amount, task
    untouched = resource.capacity
    for row in fixed:
        name = row.task.name
        missing = 0
        if row.mode.duration:
            missing = row.mode.demands.get(resource.name, 0)
        if not missing:
            continue
        given.append((row.end, missing, name))
        kept: list[tuple[int, int, str]] = []
        # the task that ended last first: links to it make other links redundant
        for end, amount, before in sorted(given[:-1], reverse=True):
            taken = 0
            if end <= row.start:
                taken = min(missing, amount)
            if taken:
                missing -= taken
                yield before, name
            if taken < amount:
                kept.append((end, amount - taken, before))
        untouched -= missing
        given[:] = [*kept, given[-1]]


FORMULATIONS: dict[str, Callable[..., Encoding]] = {"modes": modes}
WITH_LAGS: dict[str, Callable[..., Encoding]] = {"modes": modes_with_lags}
