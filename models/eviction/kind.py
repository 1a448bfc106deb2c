"""The registration of the kind of problem "eviction"."""

from __future__ import annotations

from ..kind import ProblemKind
from .problem import Eviction

EVICTION = ProblemKind(
    "eviction",
    Eviction,
    reader="..instances.kinds.eviction:read",
    writer="..instances.kinds.eviction:write",
    start="greedy",
    portfolio="..methods.portfolio.steps:eviction",
    solver_warm_up=("..heuristics.eviction.search:warm_up",),
    elements=".eviction.elements:EvictionElements",
    bench="..bench.kinds.eviction:EVICTION",
    gantt=".eviction.display:gantt",
    rows=".eviction.display:rows",
    columns=("job", "strategy", "start", "nodes", "writes", "end", "loss"),
)
