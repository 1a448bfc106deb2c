"""The registration of the kind of problem "project"."""

from __future__ import annotations

from ..kind import ProblemKind
from .problem import Project

PROJECT = ProblemKind(
    "project",
    Project,
    bench="..bench.kinds.project:PROJECT",
)
