"""Random small projects with dates, setups, breaks and shop rules, and their optima by enumeration.

``feasible`` and ``cost`` look at each unit of time; they share no code with the package.
"""

import itertools
import random
from collections.abc import Iterator

from schedlab.models import Mode, Project, Resource, Schedule, Task

Placed = dict[str, tuple[int, int, Mode]]  # start, end, mode of each task that is done


def placed(project: Project, schedule: Schedule) -> Placed:
    """Return the tasks of a schedule; the end is the first time at which all work is done."""
    made = {}
    for t in project.tasks:
        if t.name in schedule.start:
            name = next(iter(schedule.nodes[t.name]))
            mode = next(m for m in t.modes if m.name == name)
            start = end = schedule.start[t.name]
            left = mode.duration
            while left:
                left -= not suspended(project, mode, end)
                end += 1
            made[t.name] = (start, end, mode)
    return made


def suspended(project: Project, mode: Mode, time: int) -> bool:
    return any(
        r.suspends and mode.demands.get(r.name) and any(a <= time < b for a, b in r.breaks) for r in project.resources
    )


def feasible(project: Project, schedule: Schedule) -> bool:
    done = placed(project, schedule)
    for t in project.tasks:
        if t.name not in done:
            if t.penalty is None:
                return False
            continue
        start, end, mode = done[t.name]
        if start < t.release or (t.deadline is not None and end > t.deadline):
            return False
        if mode.duration and suspended(project, mode, start):
            return False
    for a, b, delay in project.precedences:
        if a in done and b in done:
            wait = done[b][0] - done[a][1] - delay
            if wait < 0 or (wait and (a, b) in project.no_wait):
                return False
    left = {name: row[1] for name, row in done.items()}
    left.update({a: max(left[a], done[b][0]) for a, b in project.blocking})
    return all(_resource(project, r, done, left) for r in project.resources) and _same_orders(project, done)


def _resource(project: Project, r: Resource, done: Placed, left: dict[str, int]) -> bool:
    need = {name: mode.demands.get(r.name, 0) for name, (_, _, mode) in done.items()}
    if not r.renewable:
        return sum(need.values()) <= r.capacity
    if any(n > r.capacity for n in need.values()):
        return False
    for time in range(max(left.values(), default=0)):
        if sum(need[name] for name, row in done.items() if row[0] <= time < left[name]) > r.capacity:
            return False
        running = [name for name, row in done.items() if need[name] and row[0] <= time < row[1]]
        if running and not r.suspends and any(a <= time < b for a, b in r.breaks):
            return False
    if not r.setups and not r.no_idle:
        return True
    if r.setups and r.all_pairs:
        return any(True for _ in _orders(project, r, done, left))
    order = sorted((row[0], name) for name, row in done.items() if need[name] and row[2].duration)
    family = {t.name: t.family or t.name for t in project.tasks}
    for (_, a), (start, b) in itertools.pairwise(order):
        gap = start - left[a]
        if gap < r.setups.get((family[a], family[b]), 0) or (r.no_idle and gap):
            return False
    return True


def _orders(project: Project, r: Resource, done: Placed, left: dict[str, int]) -> Iterator[tuple[str, ...]]:
    """Yield the orders of the tasks on a resource, those of no duration included, that keep the setups of all pairs."""
    used = [name for name, row in done.items() if row[2].demands.get(r.name)]
    family = {t.name: t.family or t.name for t in project.tasks}
    for order in itertools.permutations(used):
        pairs = itertools.combinations(order, 2)
        if all(left[a] + r.setups.get((family[a], family[b]), 0) <= done[b][0] for a, b in pairs):
            yield order


def _same_orders(project: Project, done: Placed) -> bool:
    job = {t.name: t.job for t in project.tasks}
    orders = [
        [job[name] for _, name in sorted((row[0], n) for n, row in done.items() if row[2].demands.get(machine))]
        for machine in project.permutation
    ]
    return all(
        [j for j in one if j in other] == [j for j in other if j in one]
        for one, other in itertools.combinations(orders, 2)
    )


def cost(project: Project, schedule: Schedule) -> int:
    """Return the objective, by the text of ``project.objective``."""
    done = placed(project, schedule)
    tasks = {t.name: t for t in project.tasks}
    total = sum(t.penalty for t in project.tasks if t.penalty and t.name not in done)
    for text in project.objective.split("+"):
        factor, _, name = text.strip().rpartition("*")
        value = 0
        if name == "makespan":
            value = max((row[1] for row in done.values()), default=0)
        if name == "total-setup":
            value = sum(_setups(project, r, done) for r in project.resources)
        for task, (_, end, _) in done.items():
            t = tasks[task]
            if name == "flow-time":
                value += t.weight * (end - t.release)
            if t.due is None:
                continue
            if name == "weighted-tardiness" and end > t.due:
                value += t.weight * (end - t.due)
            if name == "weighted-earliness" and end < t.due:
                value += (t.weight if t.earliness_weight is None else t.earliness_weight) * (t.due - end)
            if name == "late-jobs" and end > t.due:
                value += t.weight
        total += int(factor or 1) * value
    return total


def _setups(project: Project, r: Resource, done: Placed) -> int:
    family = {t.name: t.family or t.name for t in project.tasks}
    if r.all_pairs:
        left = {name: row[1] for name, row in done.items()}
        left.update({a: max(left[a], done[b][0]) for a, b in project.blocking})
        orders = list(_orders(project, r, done, left))
    else:
        used = [n for n, row in done.items() if row[2].demands.get(r.name) and row[2].duration]
        orders = [tuple(sorted(used, key=lambda name: done[name][0]))]
    return min(sum(r.setups.get((family[a], family[b]), 0) for a, b in itertools.pairwise(order)) for order in orders)


def schedules(project: Project, last: int) -> Iterator[Schedule]:
    """Yield the schedules whose starts are at most ``last`` and that keep release dates and precedences."""
    options = [
        [
            *((start, m.name, start + m.duration) for m in t.modes for start in range(t.release, last + 1)),
            *([(None, "", 0)] if t.penalty is not None else []),
        ]
        for t in project.tasks
    ]
    at = {t.name: k for k, t in enumerate(project.tasks)}
    links = [(at[a], at[b], delay) for a, b, delay in project.precedences]

    def extended(chosen: list[tuple[int | None, str, int]]) -> Iterator[Schedule]:
        k = len(chosen)
        if k == len(options):
            there = [(t.name, *row) for t, row in zip(project.tasks, chosen, strict=True)]
            yield Schedule({n: s for n, s, *_ in there if s is not None}, {n: {m: 1} for n, _, m, _ in there if m})
            return
        for option in options[k]:
            rows = [*chosen, option]
            pairs = [(rows[a], rows[b], d) for a, b, d in links if max(a, b) == k]
            if all(a[0] is None or b[0] is None or a[2] + d <= b[0] for a, b, d in pairs):
                yield from extended(rows)

    return extended([])


def optimum(project: Project, last: int) -> int | None:
    return min((cost(project, s) for s in schedules(project, last) if feasible(project, s)), default=None)


# --- Random projects, each with one group of features.


def dates(seed: int, objective: str = "makespan") -> Project:
    """Make a project with release dates, due dates, deadlines, weights, tasks that may be left out, several modes."""
    rng = random.Random(seed)
    tasks = [
        Task(
            name,
            tuple(Mode(str(k), rng.randint(0 if k else 1, 3), {"m": 1, "n": rng.randint(0, 2)}) for k in range(modes)),
            release=rng.choice((0, 0, 2)),
            due=rng.choice((None, 2, 3, 5)),
            deadline=rng.choice((None, None, 6, 8)),
            weight=rng.randint(0, 3),
            earliness_weight=rng.choice((None, 2)),
            penalty=rng.choice((None, None, 0, 3, 6)),
        )
        for name, modes in zip("abc", (1, 2, 1), strict=True)
    ]
    tasks[0] = Task("a", tasks[0].modes, due=3)
    links = [(a, b, rng.choice((0, 1, -1))) for a, b in itertools.combinations("abc", 2) if rng.random() < 0.4]
    return Project(tasks, [Resource("m", 1), Resource("n", 4, renewable=False)], links, objective)


def setups(seed: int, objective: str = "makespan") -> Project:
    """Make a project with setups of families and pairs on two machines, of which a task may choose one."""
    rng = random.Random(seed)
    families = [rng.choice(("", "red", "blue")) for _ in "abcd"]
    known = sorted({f or n for f, n in zip(families, "abcd", strict=True)})

    def times() -> dict[tuple[str, str], int]:
        return {(a, b): rng.randint(0, 4) for a in known for b in known if rng.random() < 0.6} or {(known[0],) * 2: 2}

    tasks = [
        Task(
            n,
            tuple(Mode(m, rng.randint(1, 3), {m: 1}) for m in ("m", "o")[: 2 if n == "a" else 1]),
            due=rng.choice((None, 4)),
            family=f,
            penalty=4 if n == "d" and rng.random() < 0.5 else None,
        )
        for n, f in zip("abcd", families, strict=True)
    ]
    tasks[1] = Task("b", tasks[1].modes, due=3, family=families[1])
    machines = [Resource("m", 1, setups=times(), all_pairs=seed % 2 == 1), Resource("o", 1, setups=times())]
    return Project(tasks, machines, [("a", "b")] if rng.random() < 0.5 else [], objective)


def points(seed: int, objective: str = "makespan") -> Project:
    """Make a project with setups between all pairs on two machines, on which some tasks take no time."""
    rng = random.Random(seed)
    setups = {(a, b): rng.choice((0, 0, 1, 2, 3)) for a, b in itertools.permutations("abcd", 2)}
    tasks = [
        Task(
            n,
            tuple(Mode(m, rng.choice((0, 0, 1, 2)), {m: 1}) for m in ("m", "o")[: 2 if n == "a" else 1]),
            release=rng.choice((0, 0, 1)),
            due=rng.choice((1, 2, 4)),
            penalty=4 if n == "d" and rng.random() < 0.5 else None,
        )
        for n in "abcd"
    ]
    machines = [Resource("m", 1, setups=setups, all_pairs=True), Resource("o", 1)]
    return Project(tasks, machines, [("a", "b")] if rng.random() < 0.5 else [], objective)


def breaks(seed: int, objective: str = "makespan") -> Project:
    """Make a project with breaks that suspend or forbid."""
    rng = random.Random(seed)

    def windows() -> tuple[tuple[int, int], ...]:
        first = rng.randint(0, 3)
        return ((first, first + rng.randint(1, 2)), (first + 3, first + 4)) if rng.random() < 0.8 else ()

    tasks = [
        Task(
            n,
            tuple(Mode(str(k), rng.randint(0, 3), {rng.choice("mno"): 1, "m": rng.randint(0, 1)}) for k in range(2)),
            due=rng.choice((3, 6)),
            penalty=5 if n == "c" and rng.random() < 0.3 else None,
        )
        for n in "abc"
    ]
    resources = [
        Resource("m", 2, breaks=windows(), suspends=True),
        Resource("n", 1, breaks=windows()),
        Resource("o", 1, breaks=windows(), suspends=True),
    ]
    return Project(tasks, resources, [("a", "b")] if rng.random() < 0.5 else [], objective)


def shop(seed: int, objective: str = "makespan", rules: tuple[str, ...] = ()) -> Project:
    """Make a shop of two jobs on two machines, or three on one and two, with rules such as "blocking"."""
    rng = random.Random(seed)
    steps = {"x": ("m", "n"), "y": rng.choice((("m", "n"), ("n", "m"))), "z": rng.choice((("m",), ("n",)))}
    tasks = [
        Task.single(f"{j}{k}", rng.randint(1, 3), {m: 1}, due=5 if k == len(used) - 1 else None, job=j)
        for j, used in steps.items()
        for k, m in enumerate(used)
    ]
    links = [(f"{j}0", f"{j}1", rng.choice((0, 0, 1))) for j in "xy"]
    pairs = [link[:2] for link in links]
    return Project(
        tasks,
        [Resource("m", 1, no_idle="no idle" in rules), Resource("n", 1)],
        links,
        objective,
        no_wait=pairs[: 1 if rng.random() < 0.5 else 2] if "no wait" in rules else (),
        blocking=pairs[: 1 if rng.random() < 0.3 else 2] if "blocking" in rules else (),
        permutation=("m", "n") if "permutation" in rules else (),
    )
