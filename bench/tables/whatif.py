"""What a change of a site would have done to a log: differences per group of jobs, job by job, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...models.array_types import Bools, Floats, Ints
from ...models.counts import how_many
from ..grid import Column, Grid, short, signed
from ..statistics.blocks import Blocks

HOUR = 3600.0
LARGEST = 10  # groups of one kind that have a row
ALL = "all jobs"
P95 = 0.95
FLOOR = 10.0  # s, the least duration in the bounded slowdown


@dataclass(frozen=True, eq=False)
class Answer:
    """The replay of a log on a site under a dispatcher.

    Parameters
    ----------
    change : str
        The change of the site; "" for the site as it is.
    dispatcher : str
        Its name.
    ids : sequence of str
        The jobs.
    submit, start, end : ndarray of int64, shape (jobs,)
        Seconds; a job that never started has a start of -1.
    """

    change: str
    dispatcher: str
    ids: Sequence[str]
    submit: Ints
    start: Ints
    end: Ints


@dataclass(frozen=True, eq=False)
class Comparison:
    """The replays of the same jobs, those that started in all of them.

    Parameters
    ----------
    answers : sequence of Answer
        The replays; the first one is what the others are compared with.
    groups : mapping of str to mapping of str to str
        Kind of group, such as ``partition`` -> job -> name of its group; a job that is missing has none.
    """

    answers: Sequence[Answer]
    groups: Mapping[str, Mapping[str, str]]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The jobs that started in all replays, in the order of the first one."""
        started = [{a.ids[k] for k in np.flatnonzero(a.start >= 0).tolist()} for a in self.answers]
        common = set.intersection(*started)
        return tuple(job for job in self.answers[0].ids if job in common)

    @property
    def left_out(self) -> dict[str, int]:
        """Of each replay, by its title: how many of its jobs that started did not start in another one."""
        counts = {self.title(a): int((a.start >= 0).sum()) - len(self.ids) for a in self.answers}
        return {title: count for title, count in counts.items() if count}

    def title(self, answer: Answer) -> str:
        """Return the name of a replay in tables; the dispatcher is told if there are several."""
        change = answer.change or "as it is"
        several = len({a.dispatcher for a in self.answers}) > 1
        return f"{change}, {answer.dispatcher}" if several else change

    @cached_property
    def submit(self) -> Ints:
        """The submit times of the jobs in s."""
        return self._column(self.answers[0], self.answers[0].submit)

    @cached_property
    def blocks(self) -> Blocks:
        """The resamples of the log, the same for all replays."""
        return Blocks.of(self.submit)

    def _column(self, answer: Answer, values: Ints) -> Ints:
        row = {job: k for k, job in enumerate(answer.ids)}
        return values[np.array([row[job] for job in self.ids], np.int64)]

    def wait(self, answer: Answer) -> Floats:
        """Return the waits of the jobs in hours."""
        return (self._column(answer, answer.start) - self.submit) / HOUR

    def slowdown(self, answer: Answer) -> Floats:
        """Return the bounded slowdowns of the jobs."""
        took = self._column(answer, answer.end - answer.start)
        waited = self._column(answer, answer.start) - self.submit
        return np.maximum(1.0, (waited + took) / np.maximum(took, FLOOR))

    def masks(self, kind: str) -> dict[str, Bools]:
        """Return the largest groups of a kind: name -> mask of its jobs."""
        names = np.array([self.groups[kind].get(job, "") for job in self.ids])
        known, counts = np.unique(names[names != ""], return_counts=True)
        order = np.lexsort((known, -counts))[:LARGEST]
        return {str(known[k]): names == known[k] for k in order.tolist()}


@dataclass(frozen=True)
class Effect:
    """What a change does to the waits of a group of jobs.

    Parameters
    ----------
    title : str
        The replay.
    group : str
        The group.
    jobs : int
        Their number.
    before, after : float
        Mean wait in hours, in the first replay and in this one.
    p95_before, p95_after : float
        95th percentiles of the wait in hours.
    slowdown : float
        Mean bounded slowdown in this one.
    difference : float
        ``after - before``.
    low, high : float
        Its 95 % interval, from resamples of blocks of days.
    """

    title: str
    group: str
    jobs: int
    before: float
    after: float
    p95_before: float
    p95_after: float
    slowdown: float
    difference: float
    low: float
    high: float

    @property
    def relative(self) -> float | None:
        """The difference as a share of the wait before; None if nothing waited."""
        return self.difference / self.before if self.before else None

    @property
    def verdict(self) -> str:
        """``shorter``, ``longer``, ``equal``, or ``open`` if the interval contains 0."""
        if self.difference == 0 and not (self.low < 0 or self.high > 0):
            return "equal"
        if self.high < 0:
            return "shorter"
        return "longer" if self.low > 0 else "open"


def effects(comparison: Comparison, answer: Answer, kind: str = "") -> list[Effect]:
    """Return the effects on the groups of a kind, the largest first; without a kind, on all jobs.

    Examples
    --------
    >>> submit = np.arange(0, 40 * 86_400, 7_200)
    >>> ids = [str(k) for k in range(submit.size)]
    >>> one, other = (Answer(name, "easy", ids, submit, submit + wait, submit + wait + 60) for name, wait in (("", 7200), ("x", 3600)))
    >>> [effect] = effects(Comparison([one, other], {}), other)
    >>> effect.before, effect.after, effect.low, effect.verdict
    (2.0, 1.0, -1.0, 'shorter')
    """
    first = comparison.answers[0]
    before = comparison.wait(first)
    after = comparison.wait(answer)
    slowdown = comparison.slowdown(answer)
    masks = comparison.masks(kind) if kind else {ALL: np.ones(before.size, np.bool_)}
    listed = []
    for group, mask in masks.items():
        if not mask.any():
            continue
        difference = (after - before)[mask]
        low, high = Blocks.interval(comparison.blocks.means(comparison.submit[mask], difference))
        listed.append(
            Effect(
                title=comparison.title(answer),
                group=group,
                jobs=int(mask.sum()),
                before=float(before[mask].mean()),
                after=float(after[mask].mean()),
                p95_before=float(np.quantile(before[mask], P95)),
                p95_after=float(np.quantile(after[mask], P95)),
                slowdown=float(slowdown[mask].mean()),
                difference=float(difference.mean()),
                low=low,
                high=high,
            )
        )
    return listed


def changes_grid(comparison: Comparison) -> Grid:
    """Return the table of the replays: a row for each, compared with the first one over all jobs."""
    rows = [effect for answer in comparison.answers for effect in effects(comparison, answer)]
    title = f"{how_many(len(comparison.ids), 'job', ',')}, compared with: {comparison.title(comparison.answers[0])}"
    first = Column("change", lambda e: e.title, words=True, least=24)
    return Grid.of(title, [first, *_columns(rows)], rows)


def groups_grid(comparison: Comparison, answer: Answer, kind: str) -> Grid:
    """Return the table of the effects of a change on the groups of a kind."""
    rows = effects(comparison, answer, kind)
    columns = [Column(kind, lambda e: e.group, words=True), Column("jobs", lambda e: e.jobs, lambda n: f"{n:,}")]
    return Grid.of(f"{comparison.title(answer)}: by {kind}", [*columns, *_columns(rows)], rows)


def _columns(rows: Sequence[Effect]) -> list[Column]:
    digits = 4 if all(abs(e.difference) < 0.01 for e in rows) else 3

    def plus(hours: float) -> str:
        return f"{hours:+.{digits}f}"

    return [
        Column("wait\nbefore, h", lambda e: e.before, short, "wait: mean time from submission to start"),
        Column("wait\nafter, h", lambda e: e.after, short),
        Column("differ\xad\nence, h", lambda e: e.difference, plus, "difference: after - before, of the same jobs"),
        Column("", lambda e: e.relative, signed),
        Column(
            "95 %\ninterval, h",
            lambda e: None if np.isnan(e.low) else f"{plus(e.low)}..{plus(e.high)}",
            meaning="interval: of the difference, from 1,000 resamples of blocks of days [Kunsch1989]",
            words=True,
        ),
        Column("verdict", lambda e: e.verdict, meaning="open: the interval contains 0", words=True),
        Column("p95\nbefore, h", lambda e: e.p95_before, short, "p95: 95th percentile of the wait", spare=2),
        Column("p95\nafter, h", lambda e: e.p95_after, short, spare=2),
        Column("slow\xad\ndown", lambda e: e.slowdown, short, "slowdown: mean bounded slowdown after", spare=3),
    ]
