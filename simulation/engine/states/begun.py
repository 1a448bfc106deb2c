"""Jobs that run at the begin of a replay and whose node stops: their first attempts, and rows for the later ones.

When such a job fails is known before the replay: its nodes and its true end are given. It is followed as a running job up
to that time; then it arrives as a row of the workload, with what is left of its work. The chunks of a heterogeneous job
are running jobs of their own; they fail together, and come back as one job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....instances.busy import ending_at_walltime
from ....instances.times import NEVER, UNKNOWN
from ....instances.workload import Workload
from ....models import Job, NodeStates, Queue, Running
from ....models.dispatch.chunks.chunk import Chunk
from ....models.dispatch.job_arrays import column
from ....models.problem import part_name
from .attempts import Attempt, AttemptLog
from .requeue import Requeue, kept_by

Ints = NDArray[np.int64]


class FailedAtBegin(NamedTuple):
    """The jobs that run at the begin and fail.

    Parameters
    ----------
    workload : Workload
        The jobs, with rows for those that come back; ``running`` has all running jobs, which end when they fail.
    log : AttemptLog
        Their attempts.
    arrival : ndarray of int64, shape (jobs,)
        Arrival of each job in the replay in seconds: its release, or the time at which it failed.
    """

    workload: Workload
    log: AttemptLog
    arrival: Ints


def fail_at_begin(
    workload: Workload, states: NodeStates | None, requeue: Requeue, jobs: Mapping[str, Job]
) -> FailedAtBegin:
    """Return the workload and the attempts of its running jobs that fail in a replay.

    Parameters
    ----------
    workload : Workload
        The jobs; the running ones have nodes, and end as they do without failures.
    states : NodeStates, optional
        The states of the nodes.
    requeue : Requeue
        The rule for jobs that fail.
    jobs : mapping of str to Job
        Id of a running job -> the job with its whole runtime, also if it ends at its walltime.

    Raises
    ------
    WrongValue
        If the rule returns a wrong value.
    """
    nothing = FailedAtBegin(workload, AttemptLog(len(workload)), workload.release)
    if states is None or not workload.running:
        return nothing
    together = chunks_together(workload.running)
    failed = _failures(together, states, workload.begin or 0)
    attempts = {}
    for parts in together:
        r = parts[0]
        if r.job.id in failed:
            time, why = failed[r.job.id]
            kept = kept_by(requeue, time - r.start, r.job.id)
            further = tuple(part.nodes for part in parts[1:])
            attempts[r.job.id] = (
                kept is not None,
                Attempt(r.job.id, 1, r.start, time, r.nodes, why, kept or 0, further),
            )
    if not attempts:
        return nothing
    back = [
        tuple(replace(part, job=jobs[part.job.id]) for part in parts)
        for parts in together
        if parts[0].job.id in attempts and attempts[parts[0].job.id][0]
    ]
    found = with_rows(workload, back)
    log, arrival = AttemptLog(len(found)), found.release.copy()
    row = {name: k for k, name in enumerate(found.ids)}
    for parts in back:
        attempt = attempts[parts[0].job.id][1]
        k = row[attempt.job]
        log.add(k, attempt)
        log.begun[k], arrival[k] = parts, attempt.end
    log.gone += [attempt for comes_back, attempt in attempts.values() if not comes_back]
    until = {r.job.id: failed[parts[0].job.id][0] for parts in together if parts[0].job.id in failed for r in parts}
    return FailedAtBegin(replace(found, running=ending_at(found.running, until)), log, arrival)


def chunks_together(running: Iterable[Running]) -> list[tuple[Running, ...]]:
    """Return the running jobs, the chunks of a heterogeneous job together (``Job.parts``).

    A job is the next chunk of another one if it has the name, the start and the ends of it.
    """
    by_id = {r.job.id: r for r in running}
    found, further = [], set[str]()
    for r in by_id.values():
        parts = [r]
        while (part := by_id.get(part_name(r.job.id, len(parts)))) is not None and _times(part) == _times(r):
            parts.append(part)
        found.append(tuple(parts))
        further.update(part.job.id for part in parts[1:])
    return [parts for parts in found if parts[0].job.id not in further]


def _times(r: Running) -> tuple[int, ...]:
    return r.job.submit, r.start, r.end, r.true_end


def _failures(running: Iterable[tuple[Running, ...]], states: NodeStates, begin: int) -> dict[str, tuple[int, str]]:
    """Return id -> (time, reason) of each running job one of whose nodes stops before its true end."""
    left, found = {parts[0].job.id: parts for parts in running}, dict[str, tuple[int, str]]()
    for change in states.changes_from(begin):
        stopped = {name: change.names[n] for n, name in enumerate(states.platform.nodes) if not change.runs[n]}
        if not stopped:
            continue
        for name, parts in list(left.items()):
            node = next((node for part in parts for node in part.nodes if node in stopped), None)
            if node is not None and change.time < parts[0].true_end:
                found[name] = change.time, f"{stopped[node]}: {node}"
                del left[name]
    return found


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
    w, jobs = workload, [r.job for r in back]
    queues = {q.name: k for k, q in enumerate(w.queues)}
    new = [Queue(name, 1) for name in dict.fromkeys(j.queue for j in jobs) if name not in queues]
    queues |= {q.name: k for k, q in enumerate(new, len(w.queues))}
    users = _numbered(w.users, [j.user for j in jobs])
    programs = _numbered(w.programs, [j.name for j in jobs])
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
        power=np.concatenate([np.array(power, np.float64), w.power])[order],
        windows=windows | {place[k]: own for k, own in w.windows.items()},
        chunks=chunks | {place[k]: own for k, own in w.chunks.items()},
        arrays=arrays | {place[k]: own for k, own in w.arrays.items()},
        after={place[k]: (place[before], think) for k, (before, think) in w.after.items()},
    )


def _numbered(known: Sequence[str], more: Iterable[str]) -> dict[str, int]:
    """Return name -> number; new names get the next numbers."""
    return {name: k for k, name in enumerate(dict.fromkeys([*known, *more]))}


def nodes_that_run(states: NodeStates | None, begin: int | None) -> list[bool] | None:
    """Return for each node whether jobs run on it at the begin; None without states."""
    changes = states.changes_from(begin) if states is not None else ()
    if not changes or changes[0].time > (begin or 0):
        return None
    return list(changes[0].runs.tolist())


def truly_ending(jobs: Workload, killed: bool, known: bool) -> Workload:
    """Return the workload whose running jobs end at their walltimes (``killed``), and as expected (``known``)."""
    running = ending_at_walltime(jobs.running) if killed else jobs.running
    at = jobs.begin or 0
    running = tuple(replace(r, end=r.true_end) if known else r for r in running if r.true_end > at)
    return replace(jobs, running=running)
