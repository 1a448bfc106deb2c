"""The project of a benchmark file, in whatever format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...models.platform import ProblemError
from ...models.project.problem import Project
from ...models.project.tasks import Resource, Task

MOST = 100_000  # upper limit of the numbers of resources and machines


def checked_project(
    path: str | Path, tasks: Sequence[Task], resources: Sequence[Resource], links: Sequence[tuple[str, str]]
) -> Project:
    """Make the project of a file.

    Parameters
    ----------
    path
        The file, for the error message.
    tasks, resources
        The tasks and resources.
    links
        Precedence pairs (task, successor).

    Returns
    -------
    Project
        The project.

    Raises
    ------
    ProblemError
        The data contradict themselves; the message begins with the path.
    """
    try:
        return Project(tasks, resources, links)
    except ProblemError as e:
        raise ProblemError(f"{path}: {e}") from None
