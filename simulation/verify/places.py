"""Verification of where jobs ran, and of what they held together: nodes that they may use, whole nodes, licences, limits.

It reads the runs alone, and shares no code with the simulator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from ...models.array_types import Bools, Floats, Ints
from ...models.dispatch.check import excesses
from ...models.dispatch.eligible import read_features
from ...models.language import Violation
from .runs import Runs

MOST_PARTS = 2**40  # of a node: a job with whole nodes takes all of them, any other job one


class LimitInMinutes(Protocol):
    """How a limit in minutes changes with time."""

    @property
    def rates(self) -> Floats:
        """What each job takes per second of its time limit, shape (entries,)."""
        ...

    @property
    def used(self) -> Floats:
        """What each job adds to the usage per second that it runs, shape (entries,)."""
        ...

    @property
    def plans(self) -> bool:
        """Whether a start needs room for the whole time limit."""
        ...

    @property
    def half_life(self) -> int:
        """Half-life of usage in s; 0: it does not decay."""
        ...


class NamedLimit(Protocol):
    """A limit on what some jobs hold together while they run."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def most(self) -> int:
        """The greatest sum of the amounts."""
        ...

    @property
    def rows(self) -> Ints:
        """The rows of the jobs that it is for, shape (entries,)."""
        ...

    @property
    def amounts(self) -> Ints:
        """What each of them holds, shape (entries,)."""
        ...

    @property
    def minutes(self) -> LimitInMinutes | None:
        """Of a limit in minutes, how it changes with time."""
        ...


def node_faults(runs: Runs) -> Iterator[Violation]:
    """Yield the runs on nodes that the job may not use, with too many units on one, or beside a job with whole nodes."""
    w = runs.workload
    if len(w.node_terms) == 1 and not any(q.nodes for q in w.queues):
        return
    p = runs.placement
    run = np.repeat(np.arange(len(w)), np.diff(p.first))
    yield from _wrong_nodes(runs, run)
    most = np.array([t.per_node or np.iinfo(np.int64).max for t in w.node_terms], np.int64)[w.node_term[run]]
    for k in np.flatnonzero(runs.started[run] & (p.units > most)).tolist():
        text = f"has {p.units[k]} units on node {runs.platform.nodes[p.low[k]]!r}; at most {most[k]} may be on one"
        yield _fault(runs, int(run[k]), int(p.units[k] - most[k]), text)
    yield from _beside_whole_nodes(runs)


def _wrong_nodes(runs: Runs, run: Ints) -> Iterator[Violation]:
    """Yield the ranges with a node that the job may not use; ``run``: the run of each range."""
    w = runs.workload
    p = runs.placement
    nodes = runs.platform.nodes
    pairs, which = np.unique(np.column_stack([w.queue, w.node_term]), axis=0, return_inverse=True)
    for pair, (queue, term) in enumerate(pairs.tolist()):
        barred = ~_may_use(runs, queue, term)
        if not barred.any():
            continue
        before = np.concatenate([[0], np.cumsum(barred)])
        low, high = np.clip(p.low, 0, len(nodes) - 1), np.clip(p.high, 0, len(nodes) - 1)
        wrong = (which.ravel()[run] == pair) & runs.started[run] & (before[high + 1] > before[low])
        for k in np.flatnonzero(wrong).tolist():
            node = next(n for n in range(low[k], high[k] + 1) if barred[n])
            terms = w.node_terms[term]
            asked = [f"queue {w.queues[queue].name!r}", *(f"{n}={v!r}" for n, v in terms._asdict().items() if v)]
            yield _fault(runs, int(run[k]), 1, f"is on node {nodes[node]!r}, which it may not use ({', '.join(asked)})")


def _may_use(runs: Runs, queue: int, term: int) -> Bools:
    """Return whether jobs of a queue with these terms may use each node, shape (nodes,)."""
    w, platform = runs.workload, runs.platform
    terms = w.node_terms[term]
    expression = read_features(terms.features) if terms.features else None
    features = {name: group.features for group in platform.groups for name in group.nodes}
    own = [set(names) for names in (w.queues[queue].nodes, terms.nodes) if names]
    return np.array(
        [
            all(name in names for names in own) and (expression is None or expression.holds(features[name]))
            for name in platform.nodes
        ],
        np.bool_,
    )


def _beside_whole_nodes(runs: Runs) -> Iterator[Violation]:
    """Yield the nodes on which a job with whole nodes is not alone."""
    w, p = runs.workload, runs.placement
    whole = np.array([t.whole_nodes for t in w.node_terms], np.bool_)[w.node_term]
    beside = [r.job.whole_nodes for r in w.running]
    if not whole.any() and not any(beside):
        return
    names = runs.platform.nodes
    number = {name: n for n, name in enumerate(names)}
    held = [[number[name] for name in r.nodes if name in number] for r in w.running]
    flat = np.array([n for listed in held for n in listed], np.int64)
    first = np.append(p.first, p.first[-1] + np.cumsum([len(listed) for listed in held], dtype=np.int64))
    excess = excesses(
        np.append(runs.start, np.array([r.start for r in w.running], np.int64)),
        np.append(np.where(runs.started, runs.end, runs.start), np.array([r.true_end for r in w.running], np.int64)),
        first,
        np.append(p.low, flat),
        np.append(p.high, flat),
        np.ones(p.low.size + flat.size, np.int64),
        np.where(np.append(whole, np.array(beside, np.bool_)), MOST_PARTS, 1)[:, None],
        np.full((len(names), 1), MOST_PARTS),
    )
    ids = [*w.ids, *(r.job.id for r in w.running)]
    for node, time, job in zip(excess.node.tolist(), excess.time.tolist(), excess.job.tolist(), strict=True):
        text = f"node {names[node]!r} at {time}: a job that has whole nodes is not alone (job {ids[job]!r} starts)"
        yield Violation(names[node], 1, text)


def licence_faults(runs: Runs) -> Iterator[Violation]:
    """Yield the starts at which more licences are in use than the platform has."""
    w = runs.workload
    for name, most in runs.platform.licences.items():
        amounts = np.array([dict(t.licences).get(name, 0) for t in w.node_terms], np.int64)[w.node_term]
        rows = np.flatnonzero(amounts)
        begun = [r for r in w.running if r.job.licences.get(name, 0)]
        yield from _beyond(
            runs,
            f"licences of {name!r}",
            most,
            [*(w.ids[k] for k in rows.tolist()), *(r.job.id for r in begun)],
            np.append(np.where(runs.started, runs.start, 0)[rows], np.array([r.start for r in begun], np.int64)),
            np.append(np.where(runs.started, runs.end, 0)[rows], np.array([r.true_end for r in begun], np.int64)),
            np.append(amounts[rows], np.array([r.job.licences[name] for r in begun], np.int64)),
        )


def running_limit_faults(runs: Runs, limits: Sequence[NamedLimit]) -> Iterator[Violation]:
    """Yield the starts at which the running jobs of a limit hold more than it allows; its rows are those of the runs."""
    ids = runs.workload.ids
    start = np.where(runs.started, runs.start, 0)
    end = np.where(runs.started, runs.end, 0)
    for limit in limits:
        names = [ids[k] for k in limit.rows.tolist()]
        if limit.minutes is not None:
            yield from _beyond_minutes(runs, limit, limit.minutes)
            continue
        yield from _beyond(runs, limit.name, limit.most, names, start[limit.rows], end[limit.rows], limit.amounts)


def _beyond_minutes(runs: Runs, limit: NamedLimit, minutes: LimitInMinutes) -> Iterator[Violation]:
    """Yield the starts that a limit in minutes forbids; of equal times, ends come first."""
    begin = -np.inf if runs.workload.begin is None else runs.workload.begin
    ran = np.flatnonzero(runs.started[limit.rows])
    rows = limit.rows[ran]
    base = int(runs.start[rows].min()) if rows.size else 0  # times are small numbers: rates * times lose no digits
    start, end = (runs.start[rows] - base).tolist(), (runs.end[rows] - base).tolist()
    walltime = runs.workload.walltime[rows].tolist()
    rates, used = minutes.rates[ran].tolist(), minutes.used[ran].tolist()
    events = sorted([(end[k], 0, k) for k in range(len(rows))] + [(start[k], 1, k) for k in range(len(rows))])
    usage = rate = 0.0
    last = 0
    planned_rate = planned_ends = 0.0  # of running jobs within their time limits: sums of rates, and of rates * ends
    ending = [(start[k] + walltime[k], k) for k in range(len(rows)) if start[k] + walltime[k] < end[k]]
    late = sorted(ending, reverse=True)
    overrun = set[int]()
    begin -= base
    for time, is_start, k in events:
        usage = _usage(usage, rate, time - last, minutes.half_life)
        last = time
        while late and late[-1][0] <= time:  # nothing is left of their limits, although they run
            due, j = late.pop()
            planned_rate, planned_ends = planned_rate - rates[j], planned_ends - rates[j] * due
            overrun.add(j)
        sign = 1 if is_start else -1
        if start[k] == end[k]:
            sign = 0
        rate += sign * used[k]
        if k not in overrun:
            planned_rate += sign * rates[k]
            planned_ends += sign * rates[k] * (start[k] + walltime[k])
        if not is_start or time < begin:
            continue
        alone = rates[k] * walltime[k] if sign == 0 else 0.0
        planned = planned_ends - planned_rate * time + alone
        slack = 1e-6 * max(1.0, limit.most)
        if minutes.plans and usage + planned > limit.most + slack:
            told = f"{usage:,.1f} are used and {planned:,.1f} planned"
            yield _of_minutes(runs, limit, int(rows[k]), time + base, told)
        elif not minutes.plans and usage >= limit.most + slack:
            yield _of_minutes(runs, limit, int(rows[k]), time + base, f"{usage:,.1f} are used")


def _usage(usage: float, rate: float, seconds: int, half_life: int) -> float:
    """Return the usage after some seconds: what was there decays, and what comes in decays from then on."""
    if not half_life:
        return usage + rate * seconds
    left = np.exp2(-seconds / half_life)
    return float(usage * left + rate * (1 - left) * half_life / np.log(2))


def _of_minutes(runs: Runs, limit: NamedLimit, row: int, time: int, what: str) -> Violation:
    job = runs.workload.ids[row]
    text = f"{limit.name} at {time}: {what}, {limit.most:,} is the limit (job {job!r} starts)"
    return Violation(job, 1, text)


def _beyond(
    runs: Runs, name: str, most: int, ids: Sequence[str], start: Ints, end: Ints, amounts: Ints
) -> Iterator[Violation]:
    """Yield the starts after which jobs hold more than a limit; of equal times, ends come first, and 0 s hold nothing."""
    lasts = np.flatnonzero(end > start)
    time = np.concatenate([end[lasts], start[lasts]])
    change = np.concatenate([-amounts[lasts], amounts[lasts]])
    order = np.argsort(time, kind="stable")  # the ends stand first
    held = np.cumsum(change[order])
    begin = -np.inf if runs.workload.begin is None else runs.workload.begin
    wrong = (held > most) & (change[order] > 0) & (time[order] >= begin)
    for k in np.flatnonzero(wrong).tolist():
        job = ids[int(lasts[order[k] - lasts.size])]
        text = f"{name} at {time[order[k]]}: {held[k]:,} are held, {most:,} is the limit (job {job!r} starts)"
        yield Violation(job, int(held[k] - most), text)


def _fault(runs: Runs, run: int, amount: int, text: str) -> Violation:
    name = runs.workload.ids[run]
    return Violation(name, amount, f"job {name!r}, started at {runs.start[run]}, {text}")
