"""The dispatching problem: jobs of units that start together on the nodes of a platform."""

from .jobs import Job, Queue, Running
from .problem import Dispatch

__all__ = ["Dispatch", "Job", "Queue", "Running"]
