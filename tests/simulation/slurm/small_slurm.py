"""Small sites and jobs for the tests of the replay by the rules of Slurm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedlab.instances import Workload
from schedlab.models import (
    Dispatch,
    Job,
    Partition,
    Queue,
    Recorded,
    RecordedAttempt,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteRequest,
)
from schedlab.simulation import SlurmAttempt, SlurmJob
from schedlab.simulation.slurm import SlurmState


def settings(**others: Any) -> SchedulerSettings:
    """Return settings with periods of a second, and CPUs as what is given to jobs."""
    basic = {
        "priority_type": "basic", "select_parameters": ("cr_cpu",), "bf_interval": 1, "bf_resolution": 1, "sched_interval": 1,
        "kill_wait": 2,
    }  # fmt: skip
    return SchedulerSettings(**{**basic, **others})


def site(nodes: int = 4, cores: int = 4, parts: Sequence[Partition] = (), scheduler: Any = None, **others: Any) -> Site:
    """Return a site of equal nodes n1, n2, ...; by default with one partition p of all nodes."""
    names = tuple(f"n{k}" for k in range(1, nodes + 1))
    partitions = parts or [Partition("p", names, default=True)]
    machine = others.pop("machine", [SiteNode(name, cores) for name in names])
    return Site("small", machine, partitions, scheduler=scheduler or settings(), **others)


def job(number: int, cpus: int = 1, limit: int = 60, submit: int = 0, **asked: Any) -> SlurmJob:
    """Return a job that asks for CPUs; ``user``, ``cancelled`` and ``array`` are the job's, all else is its request."""
    own = {key: asked.pop(key) for key in ("user", "cancelled", "array", "task", "attempts", "name") if key in asked}
    asked.setdefault("partitions", ("p",))
    request = SiteRequest(cpus=cpus, **asked)
    return SlurmJob(str(number), own.pop("user", "ana"), submit, limit, request, number=number, **own)


def ran(start: int, end: int, *nodes: str, state: str = "COMPLETED") -> tuple[SlurmAttempt, ...]:
    """Return one recorded run."""
    return (SlurmAttempt(start, end, nodes, state),)


def log_of(jobs: Sequence[SlurmJob], place: Site) -> Workload:
    """Return the log of a site in which these jobs are, with what was recorded of them; they ask for CPUs."""
    rows = []
    for each in jobs:
        *earlier, last = [*each.attempts] or [None]
        recorded = Recorded(
            start=None if last is None else last.start,
            cancelled=each.cancelled if last is None else None,
            nodes="" if last is None else ",".join(last.nodes),
            state="CANCELLED" if last is None else last.state,
            attempts=tuple(
                RecordedAttempt(each.submit, a.start, a.end, a.state, ",".join(a.nodes)) for a in earlier if a
            ),
        )
        limit = each.limit or 1
        runtime = limit if last is None else last.end - last.start
        cpus = each.request.cpus or 1
        submit = earlier[-1].end if earlier and earlier[-1] else each.submit
        rows.append(
            Job(
                each.id, submit, limit, cpus, {"cores": 1}, each.request.partitions[0], runtime=runtime, user=each.user,
                asked=each.request, recorded=recorded,
            )
        )  # fmt: skip
    return Workload.of(
        Dispatch(place.platform(), rows, [Queue(p.name, 60) for p in place.partitions], durations="runtime")
    )


def state_with(
    place: Site, waiting: Sequence[SlurmJob], running: Sequence[tuple[SlurmJob, int, Sequence[str]]] = ()
) -> SlurmState:
    """Return a state at time 0 with running jobs (job, start, nodes), which come first, and waiting jobs."""
    jobs = [each for each, _, _ in running] + list(waiting)
    state = SlurmState(place, jobs, -1000, 1000)
    for k, (_, start, nodes) in enumerate(running):
        state.submit(k, start)
        assert state.start(k, start, state.tables.job_parts[k][0], [state.tables.node_index[n] for n in nodes])
    for k in range(len(running), len(jobs)):
        state.submit(k, 0)
    return state


def started(state: SlurmState, backfill: bool = False) -> dict[str, tuple[str, ...]]:
    """Run one pass at time 0; return the nodes of each job that started."""
    starts = state.backfill(0) if backfill else state.main(0, whole_queue=True)
    return {state.jobs[s.job].id: tuple(state.tables.nodes[n].name for n in s.nodes) for s in starts}
