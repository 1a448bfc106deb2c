"""The part of ``bench show`` for eviction problems: nodes to free, deadline, jobs."""

from __future__ import annotations

from rich.console import Console

from ...models.eviction.problem import Eviction
from .grid import grid


def show_eviction(console: Console, problem: Eviction) -> None:
    """Print the nodes to free, the deadline, and the losses and checkpoint times of the jobs."""
    mode = "at the same time" if problem.shared_bandwidth else "one after another"
    console.print(
        f"to free: {problem.nodes_needed:,} of {problem.nodes_in_use:,} nodes within {problem.deadline_s} s, steps of "
        f"{problem.step_s} s, checkpoints {mode}",
    )
    table = grid("job", "nodes", "loss if killed node-h", "application checkpoint s", "system checkpoint s")
    for c in problem.candidates:
        times = ("-" if s is None else f"{float(s):,.0f}" for s in (c.application_s, c.system_s))
        table.add_row(c.id, str(c.nodes), f"{c.loss / 3600:,.1f}", *times)
    console.print(table)
