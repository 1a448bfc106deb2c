"""What a job is expected to take: walltime, data-driven (rules over a user's earlier jobs), last two, real."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..backends import UnknownName
from ..instances.workload import Workload

Ints = NDArray[np.int64]


class Predictor(Protocol):
    """Expected durations of the jobs of one workload, by row; at least 1 s and at most the walltime (``real``: what it will take).

    ``fixed``: the expectations of all jobs never change during a replay (None: they do, ask ``predict``).
    """

    name: str
    notes: tuple[str, ...]  # what the trace lacks and what stands for it

    def begin(self, workload: Workload) -> Ints | None:
        """A replay begins: all expectations, if they never change; else None."""

    def predict(self, job: int) -> int:
        """The duration to expect of a job (row of the workload), by what has ended so far."""

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """A job ended after so many seconds; the users (``workload.user``) whose expectations may have changed."""


def prefix(program: str) -> str:
    """The name without the digits at its end. A name of digits alone stays whole: it is the number of one program.

    >>> prefix("run_017"), prefix("lammps"), prefix("4711")
    ('run_', 'lammps', '4711')
    """
    return re.sub(r"\d+$", "", program) or program


class Walltime:
    """Every job takes what its user asked for."""

    name = "walltime"
    notes: tuple[str, ...] = ()

    def begin(self, workload: Workload) -> Ints:
        """The walltimes, at least 1 s."""
        self._expected = np.maximum(workload.walltime, 1)
        return self._expected

    def predict(self, job: int) -> int:
        """The job's walltime, at least 1 s."""
        return int(self._expected[job])

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Nothing is learnt: no user's expectations change."""
        return ()


class Real:
    """The clairvoyant: every job takes its runtime, at least 1 s, also beyond its walltime.

    ``kill_at_walltime``: jobs are ended at their walltime, so none takes longer than that.
    """

    name = "real"
    notes: tuple[str, ...] = ()

    def __init__(self, kill_at_walltime: bool = False) -> None:
        self._kill = kill_at_walltime

    def begin(self, workload: Workload) -> Ints:
        """What the jobs will take, at least 1 s."""
        took = np.minimum(workload.runtime, workload.walltime) if self._kill else workload.runtime
        self._expected = np.maximum(took, 1)
        return self._expected

    def predict(self, job: int) -> int:
        """What the job will take, at least 1 s."""
        return int(self._expected[job])

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Nothing is learnt: no user's expectations change."""
        return ()


class LastTwo:
    """The mean, rounded up, of what the last two ended jobs of the same user took, capped by the walltime.

    One ended job: what that one took; none: the walltime.
    """

    name = "last-two"

    def __init__(self) -> None:
        self.notes: tuple[str, ...] = ()

    def begin(self, workload: Workload) -> None:
        """Nothing is known of any user."""
        self.notes = _notes_on_users(workload)
        self._user: list[int] = workload.user.tolist()
        self._walltime: list[int] = np.maximum(workload.walltime, 1).tolist()
        self._took: dict[int, tuple[int, int]] = {}  # of a user: the last and the one before

    def predict(self, job: int) -> int:
        """The mean of the user's last two, or the walltime."""
        walltime = self._walltime[job]
        took = self._took.get(self._user[job])
        return walltime if took is None else min(walltime, (took[0] + took[1] + 1) // 2)

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """The job is now the last of its user; that user."""
        user, took = self._user[job], max(1, took)
        before = self._took.get(user)
        self._took[user] = (took, took if before is None else before[0])
        return (user,)


class DataDriven:
    """What the latest ended job of the same user that looks the same took, capped by the walltime.

    Which jobs look the same is decided by the first of these rules that finds an ended job:

    1. same name, queue, walltime and requests (units, and amount of each resource per unit);
    2. as 1, but a name with the same prefix (see ``prefix``);
    3. same name, queue and walltime, whatever the requests;
    4. as 3, but a name with the same prefix;
    5. same name;
    6. a name with the same prefix.

    No rule finds one: the walltime. Among several, the job that ended last (at one moment: the one learnt last); rules 3
    and 4 first take those with the most similar requests. The distance of two requests is the sum, over the units and
    the amounts per unit, of the absolute logarithm of their ratio, so that it depends on no unit of measure; an amount of 0
    counts as half of the least amount of that resource that any job of the trace asks for.
    """

    name = "data-driven"

    def __init__(self) -> None:
        self.notes: tuple[str, ...] = ()

    def begin(self, workload: Workload) -> None:
        """Nothing is known of any user."""
        self.notes = (*_notes_on_users(workload), *_notes_on_names(workload))
        stems: dict[str, int] = {}
        stem_of = np.array([stems.setdefault(prefix(p), len(stems)) for p in workload.programs], np.int64)
        kind, logs = _kinds(workload)
        rest = _group(workload.queue, workload.walltime)
        groups = []
        for name in (workload.program, stem_of[workload.program]):
            loose = _group(workload.user, name)
            profile = _group(loose, rest)
            groups.append((_group(profile, kind), profile, loose))
        (one, three, five), (two, four, six) = groups
        self._rules: tuple[_Latest | _Similar, ...] = (
            _Latest(one),
            _Latest(two),
            _Similar(three, kind, logs),
            _Similar(four, kind, logs),
            _Latest(five),
            _Latest(six),
        )
        self._user: list[int] = workload.user.tolist()
        self._walltime: list[int] = np.maximum(workload.walltime, 1).tolist()

    def predict(self, job: int) -> int:
        """What the job found by the first rule took, or the walltime."""
        walltime = self._walltime[job]
        for rule in self._rules:
            took = rule.find(job)
            if took:
                return min(took, walltime)
        return walltime

    def rule(self, job: int) -> int:
        """The number of the rule that ``predict`` goes by now, 1 to 6; 0: none, the walltime."""
        return next((number for number, rule in enumerate(self._rules, 1) if rule.find(job)), 0)

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """The job is now the latest of all that looks like it; its user."""
        took = max(1, took)
        for rule in self._rules:
            rule.learn(job, took)
        return (self._user[job],)


class _Latest:
    """What the latest ended job of each group took; a job's group is a number."""

    def __init__(self, group: Ints) -> None:
        self._group: list[int] = group.tolist()
        self._took: dict[int, int] = {}

    def find(self, job: int) -> int:
        """What the latest took, in seconds; 0: none has ended."""
        return self._took.get(self._group[job], 0)

    def learn(self, job: int, took: int) -> None:
        self._took[self._group[job]] = took


class _Similar:
    """What the latest ended job with the most similar requests took, in the group of a job.

    Per group the requests seen, in order of first appearance, each with the latest job that had it; and per request asked
    for, which of the requests seen are nearest, so that only those new since the last question are compared.
    """

    def __init__(self, group: Ints, kind: Ints, logs: list[tuple[float, ...]]) -> None:
        self._group: list[int] = group.tolist()
        self._kind: list[int] = kind.tolist()
        self._logs = logs
        self._clock = 0
        self._seen: dict[int, dict[int, tuple[int, int]]] = {}  # group -> kind -> (when learnt, what it took)
        self._order: dict[int, list[int]] = {}  # group -> kinds
        self._nearest: dict[tuple[int, int], tuple[int, float, list[int]]] = {}  # (kinds compared, distance, kinds)

    def find(self, job: int) -> int:
        """What the latest of the most similar took, in seconds; 0: none has ended."""
        group = self._group[job]
        seen = self._seen.get(group)
        return max(seen[k] for k in self._near(group, self._kind[job]))[1] if seen else 0

    def _near(self, group: int, kind: int) -> list[int]:
        order = self._order[group]
        done, least, nearest = self._nearest.get((group, kind), (0, float("inf"), []))
        if done == len(order):
            return nearest
        here = self._logs[kind]
        for other in order[done:]:
            # rounded, so that 2 : 4 and 4 : 8 are equally far apart
            distance = round(sum(abs(a - b) for a, b in zip(here, self._logs[other], strict=True)), 9)
            if distance < least:
                least, nearest = distance, [other]
            elif distance == least:
                nearest.append(other)
        self._nearest[group, kind] = len(order), least, nearest
        return nearest

    def learn(self, job: int, took: int) -> None:
        group, kind = self._group[job], self._kind[job]
        seen = self._seen.setdefault(group, {})
        if kind not in seen:
            self._order.setdefault(group, []).append(kind)
        self._clock += 1
        seen[kind] = self._clock, took


def _group(*columns: Ints) -> Ints:
    """Rows numbered so that two have the same number if and only if they agree in all columns."""
    found = np.unique(columns[0], return_inverse=True)[1].reshape(-1)
    for column in columns[1:]:
        numbers = np.unique(column, return_inverse=True)[1].reshape(-1)
        found = np.unique(found * (int(numbers.max(initial=0)) + 1) + numbers, return_inverse=True)[1].reshape(-1)
    return found.astype(np.int64)


def _kinds(workload: Workload) -> tuple[Ints, list[tuple[float, ...]]]:
    """Of each job the number of its requests (units and amounts per unit); of each number their logarithms."""
    kind = _group(workload.units, workload.request_kind)
    _, sample = np.unique(kind, return_index=True)
    amounts = np.column_stack([workload.units, workload.request])[sample].astype(np.float64)
    for column in amounts.T:
        asked = column[column > 0]
        column[column <= 0] = asked.min() / 2 if asked.size else 1.0
    return kind, [tuple(row) for row in np.log(amounts).tolist()]


def _notes_on_users(workload: Workload) -> tuple[str, ...]:
    nameless = _nameless(workload.users, workload.user)
    if nameless == len(workload):
        return ("the trace has no users: all jobs are taken as those of one user",)
    return (f"{nameless} jobs have no user: they are taken as those of one user",) if nameless else ()


def _notes_on_names(workload: Workload) -> tuple[str, ...]:
    nameless = _nameless(workload.programs, workload.program)
    if nameless == len(workload):
        return (
            "the trace has no program names: similar jobs are those of the user with the same queue, walltime and requests, "
            "then with the same queue and walltime, then any",
        )
    return (f"{nameless} jobs have no program name: they are taken as runs of one program",) if nameless else ()


def _nameless(names: tuple[str, ...], column: Ints) -> int:
    """How many jobs have an empty name."""
    return int(np.isin(column, [k for k, name in enumerate(names) if not name.strip()]).sum())


PREDICTORS: dict[str, Callable[[], Predictor]] = {
    "walltime": Walltime,
    "data-driven": DataDriven,
    "last-two": LastTwo,
    "real": Real,
}


def predictor(name: str, kill_at_walltime: bool = False) -> Predictor:
    """A new predictor by its name; ``kill_at_walltime``: jobs are ended at their walltime, which ``real`` foresees.

    The others never expect more than the walltime. Raises UnknownName with the near names.

    >>> predictor("last-two").name
    'last-two'
    """
    if name not in PREDICTORS:
        raise UnknownName("predictor", name, list(PREDICTORS))
    return Real(kill_at_walltime) if name == Real.name else PREDICTORS[name]()
