"""The data-driven predictor: the duration of the last similar job of the same user.

[Galleguillos2019] uses such a predictor and cites an earlier paper for it, without the rules. The six rules here follow
the programs that its authors have published; ties and the distance of amounts of 0 are ours.
"""

from __future__ import annotations

import numpy as np

from ...instances.workload import Workload
from ...models.excerpt import with_short_repr
from .names import notes_on_programs, notes_on_users, prefix
from .predictor import Ints


@with_short_repr
class DataDriven:
    """A predictor from the last similar job of the same user that has ended; see the module for the source of its rules.

    It returns the runtime of that job, at most the walltime. The first of these rules that finds an ended job decides
    which jobs are similar:

    1. same name, queue, walltime and requests (units, and amount of each resource per unit);
    2. as rule 1, but with the same prefix of the name (see ``prefix``);
    3. same name, queue and walltime, with any requests;
    4. as rule 3, but with the same prefix of the name;
    5. same name;
    6. same prefix of the name.

    If no rule finds a job, the prediction is the walltime. If a rule finds several jobs, it takes the one that ended
    last (of those that ended at the same time, the one learned last). Rules 3 and 4 first keep the jobs with the
    smallest distance of requests. The distance of the requests a and b is ``sum_i |log(a[i] / b[i])|``, where i runs
    over the number of units and the amounts per unit; so it does not depend on units of measure. An amount of 0 counts
    as half of the smallest positive amount of that resource in the trace.
    """

    name = "data-driven"

    def __init__(self) -> None:
        self.notes: tuple[str, ...] = ()

    def begin(self, workload: Workload) -> None:
        """Start without any ended job."""
        self.notes = (*notes_on_users(workload), *notes_on_programs(workload))
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
        """Return the runtime that the first matching rule finds, at most the walltime; without one the walltime."""
        walltime = self._walltime[job]
        for rule in self._rules:
            took = rule.find(job)
            if took:
                return min(took, walltime)
        return walltime

    def rule(self, job: int) -> int:
        """Return the number of the rule that ``predict`` would use now, 1 to 6; 0 if none matches."""
        return next((number for number, rule in enumerate(self._rules, 1) if rule.find(job)), 0)

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Record the job as the last one of its groups; return its user."""
        took = max(1, took)
        for rule in self._rules:
            rule.learn(job, took)
        return (self._user[job],)


class _Latest:
    """The runtime of the last ended job of each group; ``group`` holds the group of each job."""

    def __init__(self, group: Ints) -> None:
        self._group: list[int] = group.tolist()
        self._took: dict[int, int] = {}

    def find(self, job: int) -> int:
        """Return the runtime of the last ended job of this job's group, in seconds; 0 if none has ended."""
        return self._took.get(self._group[job], 0)

    def learn(self, job: int, took: int) -> None:
        self._took[self._group[job]] = took


class _Similar:
    """The runtime of the last ended job with the most similar requests, in the group of a job.

    ``kind`` numbers the distinct requests. For each group, the kinds seen so far are kept in order of first appearance,
    each with its last job. For each (group, kind) looked up, the nearest kinds are kept, so that the next lookup
    compares only the kinds that are new.
    """

    def __init__(self, group: Ints, kind: Ints, logs: list[tuple[float, ...]]) -> None:
        self._group: list[int] = group.tolist()
        self._kind: list[int] = kind.tolist()
        self._logs = logs
        self._clock = 0
        self._seen: dict[int, dict[int, tuple[int, int]]] = {}  # group -> kind -> (time of learning, runtime)
        self._order: dict[int, list[int]] = {}  # group -> kinds in order of first appearance
        self._nearest: dict[tuple[int, int], tuple[int, float, list[int]]] = {}  # -> (kinds compared, distance, kinds)

    def find(self, job: int) -> int:
        """Return the runtime of the last of the most similar jobs, in seconds; 0 if none has ended."""
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
    """Return a number for each row; two rows have the same number if and only if they agree in all columns."""
    found = np.unique(columns[0], return_inverse=True)[1].reshape(-1)
    for column in columns[1:]:
        numbers = np.unique(column, return_inverse=True)[1].reshape(-1)
        found = np.unique(found * (int(numbers.max(initial=0)) + 1) + numbers, return_inverse=True)[1].reshape(-1)
    return found.astype(np.int64)


def _kinds(workload: Workload) -> tuple[Ints, list[tuple[float, ...]]]:
    """Return the kind of each job, and for each kind the logarithms of its units and amounts per unit."""
    kind = _group(workload.units, workload.request_kind)
    _, sample = np.unique(kind, return_index=True)
    amounts = np.column_stack([workload.units, workload.request])[sample].astype(np.float64)
    for column in amounts.T:
        positive = column[column > 0]
        column[column <= 0] = positive.min() / 2 if positive.size else 1.0
    return kind, [tuple(row) for row in np.log(amounts).tolist()]
