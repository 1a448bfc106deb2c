"""Project scheduling: tasks with modes, resources and precedences; the makespan is minimized."""

from .problem import Mode, Project, Resource, Task

__all__ = ["Mode", "Project", "Resource", "Task"]
