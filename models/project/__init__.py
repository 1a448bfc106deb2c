"""Project scheduling: tasks with modes, resources and precedences."""

from ...later import names_later
from .problem import Mode, Project, Resource, Task

__all__ = ["Mode", "Project", "Resource", "Task"]

INNER = {  # module: names that other packages of schedlab read; they are not public
    "display": ("TaskRow",),
    "formulations": ("exclusive_sets", "part_formulation"),
    "verification": ("OBJECTIVES",),
}
__getattr__ = names_later(__name__, inner=INNER)
