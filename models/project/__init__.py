"""Project scheduling: tasks with modes, resources and precedences."""

from .problem import Mode, Project, Resource, Task

__all__ = ["Mode", "Project", "Resource", "Task"]
