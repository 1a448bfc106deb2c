"""Jobs as they come into a replay: those that run when it begins, and what is determined of others when they arrive.

Jobs that run at the begin hold nodes from their starts on, as rows of the ledger.

A job whose node stops, or that leaves for an on-demand job, comes back as the same row. The chunks of a heterogeneous job
are running jobs of their own in the input; in the ledger they are one row.

What is determined at the arrival: the submit time after another job, and the walltime that the user chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...heuristics.kernels.events.machine import counted, crowded, on_nodes
from ...instances.files.reading import WorkloadError
from ...instances.site_columns import SiteColumns
from ...instances.workload import NEVER, UNKNOWN, Workload, ending_at_walltime, node_terms_of
from ...models import NodeStates, Platform, Queue, Running
from ...models.array_types import Ints
from ...models.dispatch.arrays import column
from ...models.dispatch.jobs import Chunk, Job
from ...models.problem import part_name
from ..users import Requests, Users
from .feature import Feature, Replay


class RunningAtBegin(Feature):
    """The jobs that run at the begin of a replay.

    Parameters
    ----------
    kill : bool
        Whether jobs end at their walltimes.
    known : bool
        Whether their true ends are expected.
    by_policy : bool
        Whether nodes may only be counted, so that jobs without nodes need none.
    best : bool
        Whether jobs without nodes get them by best fit, else by first fit.
    up : sequence of bool, optional
        Whether jobs run on each node at the begin; None: on all.
    rank : ndarray of int64, shape (nodes,), optional
        The order of the nodes of an allocator; None: ``best``.
    """

    def __init__(
        self, kill: bool, known: bool, by_policy: bool, best: bool, up: Sequence[bool] | None, rank: Ints | None = None
    ) -> None:
        self._kill = kill
        self._known = known
        self._by_policy = by_policy
        self._best = best
        self._up = up
        self._rank = rank
        self.rows_at_begin: dict[int, tuple[Running, ...]] = {}

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs with a row for each running job that has room; the others are listed in ``report.dropped``."""
        whole = {r.job.id: r.job for r in workload.running}
        ending = truly_ending(workload, self._kill, self._known)
        placed = with_places(ending, platform, self._by_policy, self._best, self._up, self._rank)
        together = chunks_together(placed.running)
        as_rows = [tuple(replace(r, job=whole[r.job.id]) for r in parts) for parts in together]
        return with_rows(placed, as_rows)

    def absent(self, workload: Workload) -> Collection[int]:
        """Return the rows of the running jobs."""
        row = {name: j for j, name in enumerate(workload.ids)}
        self.rows_at_begin = {row[parts[0].job.id]: parts for parts in chunks_together(workload.running)}
        return self.rows_at_begin


def is_counted(jobs: Workload, machine: Platform) -> bool:
    """Return whether it is enough to count the free nodes, see ``counted``: no running job is on given nodes."""
    return not any(r.nodes for r in jobs.running) and counted(jobs, machine)


def chunks_together(running: Iterable[Running]) -> list[tuple[Running, ...]]:
    """Return the running jobs, the chunks of a heterogeneous job together (``Job.parts``).

    A job is the next chunk of another one if it has the name, the start and the ends of it.
    """
    by_id = {r.job.id: r for r in running}
    groups = []
    further = set[str]()
    for r in by_id.values():
        parts = [r]
        while (part := by_id.get(part_name(r.job.id, len(parts)))) is not None and _times(part) == _times(r):
            parts.append(part)
        groups.append(tuple(parts))
        further.update(part.job.id for part in parts[1:])
    return [parts for parts in groups if parts[0].job.id not in further]


def _times(r: Running) -> tuple[int, ...]:
    return r.job.submit, r.start, r.end, r.true_end


def ending_at(running: Iterable[Running], until: Mapping[str, int]) -> tuple[Running, ...]:
    """Return running jobs of which some (id -> seconds) end at a given time; their expected ends stay."""
    return tuple(
        replace(r, job=replace(r.job, runtime=until[r.job.id] - r.start)) if r.job.id in until else r for r in running
    )


def with_rows(workload: Workload, listed: Sequence[tuple[Running, ...]]) -> Workload:
    """Return the workload with a row for each of these running jobs (chunks together), by submit time.

    ``running`` is unchanged.
    """
    if not listed:
        return workload
    back = [parts[0] for parts in listed]
    w = workload
    jobs = [r.job for r in back]
    queues = {q.name: k for k, q in enumerate(w.queues)}
    new = [Queue(name, 1) for name in dict.fromkeys(j.queue for j in jobs) if name not in queues]
    queues |= {q.name: k for k, q in enumerate(new, len(w.queues))}
    users = _numbered(w.users, [j.user for j in jobs])
    programs = _numbered(w.programs, [j.name for j in jobs])
    node_terms, node_term = node_terms_of(jobs, w.node_terms)
    partitions = _numbered(w.partitions, ["unknown"] if w.partitions else [])  # running jobs have no partition
    runtime = [r.end - r.start if r.job.runtime is None else r.job.runtime for r in back]
    # a job without a runtime ends as expected, and not at its walltime
    walltime = [
        max(r.job.walltime, took) if r.job.runtime is None else r.job.walltime
        for r, took in zip(back, runtime, strict=True)
    ]
    submit = np.concatenate([column(j.submit for j in jobs), w.submit])
    order = np.argsort(submit, kind="stable")
    place = np.argsort(order)[len(back) :].tolist()  # old row -> new row
    at = np.argsort(order)[: len(back)].tolist()
    windows = {k: j.windows for k, j in zip(at, jobs, strict=True) if j.windows}
    arrays = {k: j.array for k, j in zip(at, jobs, strict=True) if j.array}
    chunks = {
        k: tuple(Chunk(part.job.units, part.job.request) for part in parts)
        for k, parts in zip(at, listed, strict=True)
        if len(parts) > 1
    }

    def merged(values: Iterable[int], old: Ints) -> Ints:
        return np.concatenate([column(values), old])[order]

    request = np.array([[j.request.get(name, 0) for name in w.resources] for j in jobs], np.int64)
    ids = [*(j.id for j in jobs), *w.ids]
    power = [np.nan if j.power is None else j.power for j in jobs]
    return replace(
        w,
        ids=tuple(ids[k] for k in order.tolist()),
        submit=submit[order],
        runtime=merged(runtime, w.runtime),
        walltime=merged(walltime, w.walltime),
        units=merged((j.units for j in jobs), w.units),
        request=np.concatenate([request, w.request])[order],
        queue=merged((queues[j.queue] for j in jobs), w.queue),
        queues=(*w.queues, *new),
        user=merged((users[j.user] for j in jobs), w.user),
        users=tuple(users),
        program=merged((programs[j.name] for j in jobs), w.program),
        programs=tuple(programs),
        release=merged((max(j.release, w.begin or 0) for j in jobs), w.release),
        recorded_start=merged([UNKNOWN] * len(jobs), w.recorded_start),
        latest_start=merged((NEVER if j.latest_start is None else j.latest_start for j in jobs), w.latest_start),
        partition=merged((partitions.get("unknown", 0) for _ in jobs), w.partition),
        partitions=tuple(partitions),
        node_term=merged(node_term, w.node_term),
        node_terms=node_terms,
        power=np.concatenate([np.array(power, np.float64), w.power])[order],
        windows=windows | {place[k]: own for k, own in w.windows.items()},
        chunks=chunks | {place[k]: own for k, own in w.chunks.items()},
        arrays=arrays | {place[k]: own for k, own in w.arrays.items()},
        after={place[k]: (place[before], think) for k, (before, think) in w.after.items()},
        site=_site_of(w, jobs, order),
    )


def _site_of(w: Workload, jobs: Sequence[Job], order: Ints) -> SiteColumns | None:
    more = SiteColumns.of((j.asked, j.recorded) for j in jobs)
    if more is None and w.site is None:
        return None
    own = w.site or SiteColumns.unknown(len(w))
    return own.after(more or SiteColumns.unknown(len(jobs))).keep(order)


def _numbered(known: Sequence[str], more: Iterable[str]) -> dict[str, int]:
    """Return name -> number; new names get the next numbers."""
    return {name: k for k, name in enumerate(dict.fromkeys([*known, *more]))}


def nodes_that_run(states: NodeStates | None, begin: int | None) -> list[bool] | None:
    """Return for each node whether jobs run on it at the begin; None without states."""
    if states is not None:
        changes = states.changes_from(begin)
    else:
        changes = ()
    if not changes or changes[0].time > (begin or 0):
        return None
    return list(changes[0].runs.tolist())


def truly_ending(jobs: Workload, killed: bool, known: bool) -> Workload:
    """Return the workload whose running jobs end at their walltimes (``killed``), and as expected (``known``)."""
    if killed:
        running = ending_at_walltime(jobs.running)
    else:
        running = jobs.running
    at = jobs.begin or 0
    running = tuple(replace(r, end=r.true_end) if known else r for r in running if r.true_end > at)
    return replace(jobs, running=running)


def with_places(
    jobs: Workload, machine: Platform, by_policy: bool, best: bool, up: Sequence[bool] | None, rank: Ints | None = None
) -> Workload:
    """Return the workload with nodes for its running jobs, unless the replay only counts them; check their nodes.

    ``up``: whether each node runs jobs at the begin; None: all do.
    """
    running = jobs.running
    full = crowded(running, machine)
    if full is not None:
        job, node, resource = full
        why = "but the platform has no such node"
        if resource:
            why = f"more {resource} than it has"
        raise WorkloadError(f"{jobs.name}: job {job!r} runs at the begin on node {node!r}, {why}")
    foreign = [r for r in running if any(n > 0 and name not in machine.resources for name, n in r.job.request.items())]
    kept = [r for r in running if r not in foreign]
    if by_policy and is_counted(with_rows(replace(jobs, running=tuple(kept)), [(r,) for r in kept]), machine):
        free = len(machine.nodes)
        order = sorted(range(len(kept)), key=lambda k: kept[k].start)
        fits = set[int]()
        for k in order:
            if kept[k].job.units <= free:
                fits.add(k)
                free -= kept[k].job.units
        kept = [r for k, r in enumerate(kept) if k in fits]
    elif kept:
        kept = on_nodes(kept, machine, best, up, rank)
    placed = {r.job.id for r in kept}  # of the chunks of a job, all or none stay
    left = {r.job.id for c in chunks_together(running) if placed.issuperset(p.job.id for p in c) for r in c}
    kept = [r for r in kept if r.job.id in left]
    gone = [(r.job.id, "runs at the begin, but there is no room for it") for r in running if r.job.id not in left]
    if gone:
        report = jobs.report.and_also({"running at the begin without room, left out": len(gone)}, gone)
    else:
        report = jobs.report
    return replace(jobs, running=tuple(kept), report=report)


class Dependencies(Feature):
    """The arrivals of jobs with a preceding job (``Workload.after``); the kernels release them at its end."""

    watches = True
    counts_kinds = True

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs with submit times, releases and latest starts of their own, which the replay changes."""
        w = workload
        return replace(w, submit=w.submit.copy(), release=w.release.copy(), latest_start=w.latest_start.copy())

    def begin(self, engine: Replay) -> None:
        """Keep the engine."""
        self._engine = engine

    def arriving(self, rows: Sequence[int]) -> None:
        """Set the submit times and latest starts of jobs that arrive now."""
        engine, w = self._engine, self._engine.workload
        for j in rows:
            if j not in w.after:
                continue
            before, think = w.after[j]
            arrival = max(w.submit[j], engine.state.start[before] + engine.trace.runtime[before] + think)
            if w.latest_start[j] != NEVER:
                w.latest_start[j] += arrival - w.submit[j]
            w.submit[j] = arrival
            w.release[j] = max(w.release[j], w.submit[j])
            engine.rules = None  # the order of a policy may depend on submit times


class UserRequests(Feature):
    """The walltimes of a replay.

    Parameters
    ----------
    users : Users
        The users.
    hidden : callable
        Returns the rows of a workload that no user submits: on-demand jobs, and jobs that run at the begin.
    """

    watches = True
    counts_kinds = True

    def __init__(self, users: Users, hidden: Callable[[Workload], Collection[int]]) -> None:
        self._users, self._hidden = users, hidden

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs with walltimes of their own, which the users choose."""
        self._requests = Requests(self._users, workload, sorted(self._hidden(workload)))
        return self._requests.workload

    def begin(self, engine: Replay) -> None:
        """Keep the engine."""
        self._engine = engine

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks of the users."""
        return self._requests.notes

    def arriving(self, rows: Sequence[int]) -> None:
        """Let the users choose the walltimes of jobs that are submitted now; those that come back keep theirs."""
        engine, ledger = self._engine, self._engine.ledger
        start = np.where(engine.state.start < 0, -1, engine.state.start)
        new = self._requests.submit(engine.now, np.array(rows, np.int64), start)
        for j in new.tolist() if engine.options.kill else ():
            limit = int(engine.workload.walltime[j])
            runtime = int(engine.workload.runtime[j])
            engine.trace.runtime[j] = min(limit, runtime)
            ledger.killed[j] = limit < runtime
