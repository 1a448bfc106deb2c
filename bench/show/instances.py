"""The output of ``bench list`` and ``bench show`` for instances."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from ...instances import Instance
from ..kinds.base import bench_kind
from ..processes import cores
from ..runs.defaults import defaults
from ..runs.how_long import how_long
from ..runs.selection import RunRequest, plan
from .grid import grid


def list_instances(console: Console, instances: Iterable[Instance]) -> None:
    """Print a row per instance: name, kind, number of jobs, number of nodes, description."""
    table = grid("instance", "kind", "jobs", "nodes", "description")
    for instance in instances:
        sizes = bench_kind(instance.kind).sizes(instance.problem)
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
    bench_kind(instance.kind).describe(console, instance)
    console.print(f"formulations: {', '.join(instance.problem.formulations)}")
    views = "; ".join(view.label for view in defaults(instance))
    console.print(f"bench run does by default: {views}")
    console.print(f"on {cores()} cores: {how_long(plan(instance, path, RunRequest()), 1)}")
