"""The modelling language, the problems declared in it, and the checker."""

from .dispatch import Dispatch, Job, Queue, Running
from .platform import NodeGroup, Platform, ProblemError
from .problem import Encoding, Problem, Schedule

__all__ = [
    "Dispatch",
    "Encoding",
    "Job",
    "NodeGroup",
    "Platform",
    "Problem",
    "ProblemError",
    "Queue",
    "Running",
    "Schedule",
]
