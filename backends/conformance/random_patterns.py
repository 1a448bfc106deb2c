"""Random models of patterns that solvers or lowerings got wrong: crews, options on one machine, masters, points.

- ``crew``: a multi-skill project. Each task needs one or two workers of one or two skills; a worker does one thing at a time.
- ``shared machine``: tasks with options of different lengths on few machines, with or without transition times.
- ``master on the machine``: optional tasks of variable size, in a ``no_overlap`` with their own options.
- ``points in a sequence``: intervals of size 0 with transition times, some of which allow no order at the same time.
"""

from __future__ import annotations

import random

from ...models.language import (
    Interval,
    Model,
    alternative,
    end_before_start,
    no_overlap,
    start_before_start,
    synchronize,
)
from ...models.language import max as latest
from ...models.language import sum as total

PATTERNS = ("crew", "shared machine", "master on the machine", "points in a sequence")


class RandomPattern:
    """The random model of one pattern.

    Parameters
    ----------
    pattern : str
        One of ``PATTERNS``.
    seed : int

    Attributes
    ----------
    model : Model
    used : set of str
        The constructs that it contains.
    """

    def __init__(self, pattern: str, seed: int) -> None:
        self.rng = random.Random(f"{pattern} {seed}")
        self.model = Model(f"random {seed}")
        self.used = {pattern, "no_overlap", "optional", "minimize", "fixed size"}
        self.machines: list[list[Interval]] = []
        self.most = 4
        makers = (self._crew, self._shared_machine, self._master, self._points)
        dict(zip(PATTERNS, makers, strict=True))[pattern]()

    def _task(self, name: str, size: tuple[int, int], optional: bool = False) -> Interval:
        return self.model.interval(name, size, (0, self.most), optional)

    def _options(self, task: Interval, sizes: list[tuple[int, int]], count: int) -> list[Interval]:
        """Add an alternative of a task with one option for each size."""
        at = len(self.model.intervals)
        made = [self._task(f"{task} as {at + k}", size, True) for k, size in enumerate(sizes)]
        self.model.add(alternative(task, made, count), f"alternative {len(self.model.constraints) + 1}")
        self.used.add("alternative of 1" if count == 1 else "alternative of several")
        return made

    def _machines(self, transitions: bool) -> None:
        rng = self.rng
        for k, members in enumerate(self.machines):
            if len(members) > 1:
                rng.shuffle(members)
                times = [[rng.choice([0, 1, 1, 2]) for _ in members] for _ in members] if transitions else None
                made = no_overlap(members, times)
                if made.transitions:
                    self.used.add("transitions")
                self.model.add(made, f"machine {k + 1}")

    def _aim(self, tasks: list[Interval]) -> None:
        if self.rng.random() < 0.6:
            self.model.minimize(latest([v.end for v in tasks]))
            self.used.add("max")
        else:
            self.model.minimize(total([v.end for v in tasks], [self.rng.choice([1, 2, 3]) for _ in tasks]))
            self.used.add("sum")

    def _crew(self) -> None:
        rng = self.rng
        workers = rng.choice([2, 2, 3])
        self.machines = [[] for _ in range(workers)]
        tasks = [self._task(f"t{k}", (s := rng.randint(1, 3), s)) for k in range(2)]
        for v in tasks:
            skills = [workers, 1] if rng.random() < 0.5 else [rng.randint(2, workers)]
            for skilled in rng.sample(skills, len(skills)):
                who = rng.sample(range(workers), skilled)
                count = rng.randint(1, 2) if skilled > 1 else 1
                for worker, o in zip(who, self._options(v, [(v.size_lo, v.size_hi)] * skilled, count), strict=True):
                    self.machines[worker].append(o)
        if rng.random() < 0.3:
            self.model.add(start_before_start(tasks[0], tasks[1]), "precedence")
            self.used.add("start_before_start")
        self._machines(transitions=rng.random() < 0.2)
        self._aim(tasks)

    def _shared_machine(self) -> None:
        rng = self.rng
        self.machines = [[] for _ in range(rng.choice([1, 1, 2]))]
        tasks = []
        for k in range(rng.randint(2, 3) if len(self.machines) == 1 else 2):
            sizes = [(s := rng.randint(1, 3), s) for _ in range(rng.randint(2, 3))]
            v = self._task(f"t{k}", (min(sizes)[0], max(sizes)[1]))
            tasks.append(v)
            for o in self._options(v, sizes, 1):
                rng.choice(self.machines).append(o)
        if rng.random() < 0.3:
            self.model.add(end_before_start(tasks[0], tasks[1]), "precedence")
            self.used.add("end_before_start")
        self._machines(transitions=rng.random() < 0.7)
        self._aim(tasks)

    def _master(self) -> None:
        rng = self.rng
        self.used |= {"variable size", "optional alternative", "maximize"}
        self.used.discard("minimize")
        v = self._task("v", (3, 4), True)
        first, second = self._options(v, [(1, 3), (1, rng.choice([1, 4]))], rng.choice([1, 1, 2]))
        members = [v, first]
        if rng.random() < 0.5:
            w = self._task("w", (1, 2), rng.random() < 0.5)
            members.append(w)
            if rng.random() < 0.3:
                self.model.add(synchronize(w, [second]), "synchronize")
                self.used.add("synchronize")
        self.machines = [members]
        self._machines(transitions=rng.random() < 0.2)
        self.model.maximize(v.size - rng.randint(1, 3) * second.end + total([x.presence for x in members]))

    def _points(self) -> None:
        rng = self.rng
        self.used |= {"zero size", "transitions", "transitions of points", "no triangle inequality", "sum"}
        tasks = []
        for k in range(rng.choice([3, 3, 4])):
            first = rng.choice([0, 0, 0, 1])
            size = rng.choice([(0, 0), (0, 0), (0, 0), (0, 1), (0, 1), (1, 1)])
            tasks.append(self.model.interval(f"t{k}", size, (first, first + rng.randint(0, 3)), rng.random() < 0.2))
        n, late = len(tasks), rng.randint(1, 3)
        cycle = [[late if i == (j + 1) % n else 0 for j in range(n)] for i in range(n)]
        mixed = [[rng.choice([0, 0, 0, 1, 2]) for _ in tasks] for _ in tasks]
        self.model.add(no_overlap(tasks, cycle if rng.random() < 0.8 else mixed), "sequence")
        absent = total([1 - v.presence for v in tasks])
        self.model.minimize(total([v.end for v in tasks], [rng.choice([1, 1, 2]) for _ in tasks]) + 9 * absent)
