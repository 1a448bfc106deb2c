"""The modelling language, the problems declared in it, and the checker."""

from .dispatch import Dispatch, Job, Queue, Running
from .eviction import BatchJob, Candidate, Checkpointing, Eviction, EvictionPlan
from .platform import NodeGroup, Platform, ProblemError
from .problem import Encoding, Problem, Schedule
from .project import Mode, Project, Resource, Task

__all__ = [
    "BatchJob",
    "Candidate",
    "Checkpointing",
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
    "Project",
    "Queue",
    "Resource",
    "Running",
    "Schedule",
    "Task",
]
