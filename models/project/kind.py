"""The registration of the kind of problem "project"."""

from __future__ import annotations

from ..kind import ProblemKind
from .problem import Project

PROJECT = ProblemKind(
    "project",
    Project,
    reader="..instances.kinds.project:read",
    writer="..instances.kinds.project:write",
    start="multi-sgs",
    portfolio="..methods.portfolio.steps:project",
    elements=".project.elements:ProjectElements",
    bench="..bench.kinds.project:PROJECT",
    gantt=".project.display:gantt",
    rows=".project.display:rows",
)
