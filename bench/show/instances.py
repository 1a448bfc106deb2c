"""The output of ``bench list`` and ``bench show`` for instances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table

from ...instances import Instance
from ...models.dispatch.jobs import DAY
from ...models.dispatch.problem import Dispatch
from ...models.eviction.problem import Eviction
from ...models.profit.problem import Profit
from ...models.project.problem import Project
from ..runs.defaults import defaults
from ..runs.how_long import how_long
from ..runs.selection import RunRequest, cores, plan
from ..runs.view import clock
from .profit import show_profit
from .project import show_project


def list_instances(console: Console, instances: Iterable[Instance]) -> None:
    """Print a row per instance: name, kind, number of jobs (or tasks), number of nodes, description."""
    table = _table("instance", "kind", "jobs", "nodes", "description")
    for instance in instances:
        problem = instance.problem
        sizes = ("-", "-")
        if isinstance(problem, (Dispatch, Profit)):
            sizes = (str(len(problem.jobs)), str(len(problem.platform.nodes)))
        elif isinstance(problem, Eviction):
            sizes = (str(len(problem.jobs)), str(problem.nodes_in_use))
        elif isinstance(problem, Project):
            sizes = (str(len(problem.tasks)), "-")
        table.add_row(instance.name, instance.kind, *sizes, instance.description)
    console.print(table)


def show_instance(console: Console, instance: Instance, path: str) -> None:
    """Print the main facts about an instance: platform, queues, demand, objective, formulations, default runs."""
    console.print(f"{instance.name}: {instance.description or instance.kind}", style="bold")
    for name, text in (("kind", instance.kind), ("folder", instance.path), ("source", instance.source)):
        if text:
            console.print(f"{name}: {text}", soft_wrap=True)
    for name, values in (("generator", instance.generator), ("repairs", instance.repairs)):
        if values:
            console.print(f"{name}: " + ", ".join(f"{k} {v}" for k, v in values.items()))
    for job, why in instance.dropped:
        console.print(f"dropped: job {job.id} {why}")
    if isinstance(instance.problem, Dispatch):
        console.print(f"objective: {instance.problem.aim} ({instance.problem.sense})")
        _show_dispatch(console, instance.problem)
    elif isinstance(instance.problem, Profit):
        _show_dispatch(console, instance.problem.dispatch)
        show_profit(console, instance)
    elif isinstance(instance.problem, Eviction):
        _show_eviction(console, instance.problem)
    elif isinstance(instance.problem, Project):
        show_project(console, instance.problem)
    console.print(f"formulations: {', '.join(instance.problem.formulations)}")
    views = "; ".join(view.label for view in defaults(instance))
    console.print(f"bench run does by default: {views}")
    console.print(f"on {cores()} cores: {how_long(plan(instance, path, RunRequest()), 1)}")


def _show_dispatch(console: Console, problem: Dispatch) -> None:
    resources = problem.platform.resources
    nodes = _table("nodes", "count", *resources)
    for group in problem.platform.groups:
        nodes.add_row(group.name, str(group.count), *(str(group.capacity.get(r, 0)) for r in resources))
    console.print(nodes)
    queues = _table("queue", "ewt s", "starts", "jobs", "units", "median walltime s", "node-hours")
    members = Counter(j.queue for j in problem.jobs)
    for queue in problem.queues:
        jobs = [j for j in problem.jobs if j.queue == queue.name]
        starts = ", ".join(f"{clock(lo)}-{clock(hi % DAY)}" for lo, hi in queue.daily) or "any time"
        row = [queue.name, str(queue.ewt), starts, str(members[queue.name]), str(sum(j.units for j in jobs))]
        long = f"{median(j.walltime for j in jobs):,.0f}" if jobs else "-"
        queues.add_row(*row, long, f"{sum(j.units * j.walltime for j in jobs) / 3600:,.0f}")
    console.print(queues)
    table = _table("demand", *resources)
    for name, shares in _demand(problem):
        table.add_row(name, *shares)
    console.print(table)


def _show_eviction(console: Console, problem: Eviction) -> None:
    mode = "at the same time" if problem.shared_bandwidth else "one after another"
    console.print(
        f"to free: {problem.nodes_needed:,} of {problem.nodes_in_use:,} nodes within {problem.deadline_s} s, steps of "
        f"{problem.step_s} s, checkpoints {mode}",
    )
    table = _table("job", "nodes", "loss if killed node-h", "application checkpoint s", "system checkpoint s")
    for c in problem.candidates:
        times = ("-" if s is None else f"{float(s):,.0f}" for s in (c.application_s, c.system_s))
        table.add_row(c.id, str(c.nodes), f"{c.loss / 3600:,.1f}", *times)
    console.print(table)


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
        work = sum(j.units * j.request.get(resource, 0) * d for j, d in zip(problem.jobs, durations, strict=True))
        yield f"{100 * work / (span * max(1, problem.platform.total(resource))):.0f}%"


def _table(*columns: str) -> Table:
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for k, name in enumerate(columns):
        made.add_column(name, justify="left" if k == 0 or name in ("kind", "description", "starts") else "right")
    return made
