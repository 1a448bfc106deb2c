"""The modelling language, the problems declared in it, and the checker."""

from .cooling import Cooling
from .dispatch import Dispatch, Job, Queue, Running
from .eviction import BatchJob, Candidate, Checkpointing, Eviction, EvictionPlan
from .platform import NodeGroup, Platform, ProblemError
from .problem import Encoding, Problem, Schedule
from .profit import Profit
from .project import Mode, Project, Resource, Task
from .series import Series

__all__ = [
    "BatchJob",
    "Candidate",
    "Checkpointing",
    "Cooling",
    "Dispatch",
    "Encoding",
    "Eviction",
    "EvictionPlan",
    "Job",
    "Mode",
    "NodeGroup",
    "Platform",
    "Problem",
    "ProblemError",
    "Profit",
    "Project",
    "Queue",
    "Resource",
    "Running",
    "Schedule",
    "Series",
    "Task",
]
