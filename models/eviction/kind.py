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
    solver_warm_up=("..heuristics.eviction.search:warm_up",),
    bench="..bench.kinds.eviction:EVICTION",
)
