"""Project scheduling: tasks with modes, resources and precedences."""

from .problem import Project
from .tasks import Mode, Resource, Task

__all__ = ["Mode", "Project", "Resource", "Task"]
