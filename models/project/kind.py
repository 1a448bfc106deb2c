"""The registration of the kinds of problems "project" and "project-max"."""

from __future__ import annotations

from ..kind import ProblemKind
from .problem import Project
from .time_lags import ProjectMax

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
    columns=("job", "mode", "start", "end", "duration", "demands", "nodes"),
)

PROJECT_MAX = ProblemKind(
    "project-max",
    ProjectMax,
    bench="..bench.kinds.project:PROJECT_MAX",
    gantt=".project.display:gantt",
    rows=".project.display:rows",
    columns=("job", "mode", "start", "end", "duration", "demands", "nodes"),
)
