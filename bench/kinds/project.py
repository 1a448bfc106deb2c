"""What the bench needs to know about projects."""

from __future__ import annotations

from typing import cast

from ...models.problem import Problem
from ...models.project.problem import Project
from .plain import PlainKind


class ProjectKind(PlainKind):
    """Projects: resource-constrained project scheduling, job shops."""

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of tasks; a project has no nodes."""
        return str(len(cast(Project, problem).tasks)), "-"


PROJECT = ProjectKind()
