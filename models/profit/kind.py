"""The registration of the kind of problem "profit"."""

from __future__ import annotations

from ..kind import ProblemKind
from .problem import Profit

PROFIT = ProblemKind(
    "profit",
    Profit,
    reader="..instances.kinds.profit:read",
    writer="..instances.kinds.profit:write",
    start="multi-search",
    portfolio="..methods.portfolio.steps:profit",
    warm_up=(".profit.left_out:warm_up",),
    solver_warm_up=("..heuristics.list_scheduling.warm_up:warm_up_moves",),
    solver_warm_up_late=(
        "..heuristics.list_scheduling.warm_up:warm_up_late",
        "..heuristics.list_scheduling.warm_up:warm_up_moves_late",
    ),
    allocator="..heuristics.allocation:Allocator",
    elements=".profit.inherited:ProfitElements",
    bench="..bench.kinds.profit:PROFIT",
    gantt=".profit.inherited:gantt",
    rows=".profit.inherited:rows",
    columns=(
        "job",
        "queue",
        "user",
        "submit",
        "start",
        "end",
        "wait",
        "duration",
        "units",
        "nodes",
        "node_list",
        "watts",
    ),
)
