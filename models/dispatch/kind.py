"""The registration of the kind of problem "dispatch"."""

from __future__ import annotations

from ..kind import ProblemKind
from .problem import Dispatch

DISPATCH = ProblemKind(
    "dispatch",
    Dispatch,
    reader="..instances.kinds.dispatch:read",
    writer="..instances.kinds.dispatch:write",
    start="multi-search",
    portfolio="..methods.portfolio.steps:dispatch",
    solver_warm_up=("..heuristics.list_scheduling.warm_up:warm_up_moves",),
    solver_warm_up_late=(
        "..heuristics.list_scheduling.warm_up:warm_up_late",
        "..heuristics.list_scheduling.warm_up:warm_up_moves_late",
    ),
    allocator="..heuristics.allocation:Allocator",
    elements=".dispatch.explanation.elements:DispatchElements",
    bench="..bench.kinds.dispatch:DISPATCH",
    gantt=".dispatch.display:gantt",
    rows=".dispatch.display:rows",
    columns=("job", "queue", "user", "submit", "start", "end", "wait", "duration", "units", "nodes", "node_list"),
)
