"""The part of ``bench show`` for jobs on a platform: nodes, queues, demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from rich.console import Console

from ...models.dispatch.jobs import DAY
from ...models.dispatch.problem import Dispatch
from ...models.elements.words import clock
from ...models.node_states.events import NodeEvent
from ...models.production import Reservation, ServerEvent
from .grid import grid

Event = NodeEvent | ServerEvent


def show_dispatch(console: Console, problem: Dispatch) -> None:
    """Print the nodes, the queues and the demand of a dispatching problem."""
    resources = problem.platform.resources
    nodes = grid("nodes", "count", *resources)
    for group in problem.platform.groups:
        nodes.add_row(group.name, str(group.count), *(str(group.capacity.get(r, 0)) for r in resources))
    console.print(nodes)
    queues = grid("queue", "ewt s", "starts", "jobs", "units", "median walltime s", "node-hours")
    members = Counter(j.queue for j in problem.jobs)
    for queue in problem.queues:
        jobs = [j for j in problem.jobs if j.queue == queue.name]
        starts = ", ".join(f"{clock(lo)}-{clock(hi % DAY)}" for lo, hi in queue.daily) or "any time"
        starts += " (whole runs)" if queue.whole_run else ""
        row = [
            queue.name,
            str(queue.ewt),
            starts,
            str(members[queue.name]),
            str(sum(p.units for j in jobs for p in j.parts)),
        ]
        long = f"{median(j.walltime for j in jobs):,.0f}" if jobs else "-"
        queues.add_row(*row, long, f"{sum(p.units * p.walltime for j in jobs for p in j.parts) / 3600:,.0f}")
    console.print(queues)
    several, arrays = sum(bool(j.chunks) for j in problem.jobs), {j.array for j in problem.jobs if j.array}
    if several or arrays:
        console.print(f"{several:,} heterogeneous jobs, {len(arrays):,} job arrays")
    table = grid("demand", *resources)
    for name, shares in _demand(problem):
        table.add_row(name, *shares)
    console.print(table)


def show_production(console: Console, reservations: Sequence[Reservation], events: Sequence[Event]) -> None:
    """Print the reservations, the times in which queues are stopped, and the numbers of the other events."""
    if reservations:
        table = grid(
            "reservation", "queue", "users", "submitted s", "start s", "duration s", "times", "units", "request"
        )
        for r in reservations:
            times = "1" if r.repeat is None else f"{r.repeat.count}, each {r.repeat.every}"
            times += f" ({', '.join(r.repeat.days)})" if r.repeat is not None and r.repeat.days else ""
            request = ", ".join(f"{amount} {resource}" for resource, amount in r.request.items())
            seconds = (f"{t:,}" for t in (r.submitted, r.start, r.duration))
            table.add_row(r.name, r.queue, ", ".join(r.users) or "all", *seconds, times, str(r.units), request)
        console.print(table)
    stops = list(_stops([e for e in events if isinstance(e, ServerEvent)]))
    if stops:
        table = grid("stopped queue", "from s", "to s")
        for queue, start, end in stops:
            table.add_row(queue, f"{start:,}", "-" if end is None else f"{end:,}")
        console.print(table)
    others = Counter(e.kind for e in events if e.kind not in ("stop-queue", "start-queue"))
    if others:
        console.print(f"events: {', '.join(f'{n} {kind}' for kind, n in others.items())}")


def _stops(events: Sequence[ServerEvent]) -> Iterator[tuple[str, int, int | None]]:
    """Yield (queue, start, end) of the times in which queues are stopped; the end is None if there is none."""
    since: dict[str, int] = {}
    for e in sorted(events, key=lambda e: e.time):
        if e.kind == "stop-queue":
            since.setdefault(e.subject, e.time)
        elif e.kind == "start-queue" and e.subject in since:
            yield e.subject, since.pop(e.subject), e.time
    yield from ((queue, start, None) for queue, start in since.items())


def _demand(problem: Dispatch) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the demand for each resource: for a day as a share of the machine's day, for a longer log the offered load."""
    submits = [j.submit for j in problem.jobs]
    span = max(submits, default=0) - min(submits, default=0)
    if span <= DAY:
        yield "share of the machine over a day", _shares(problem, DAY, [j.walltime for j in problem.jobs])
        return
    over = f"offered load over {span / DAY:,.1f} days"
    yield f"{over}, by walltime", _shares(problem, span, [j.walltime for j in problem.jobs])
    runtimes = [j.runtime for j in problem.jobs if j.runtime is not None]
    if len(runtimes) == len(problem.jobs):
        yield f"{over}, by runtime", _shares(problem, span, runtimes)


def _shares(problem: Dispatch, span: int, durations: Sequence[int]) -> Iterator[str]:
    """Yield the demand for each resource with these durations in s, as a share of the capacity over ``span`` seconds."""
    for resource in problem.platform.resources:
        of_jobs = zip(problem.jobs, durations, strict=True)
        work = sum(p.units * p.request.get(resource, 0) * d for j, d in of_jobs for p in j.parts)
        yield f"{100 * work / (span * max(1, problem.platform.total(resource))):.0f}%"
