"""The dispatching problem: jobs of units that start together on the nodes of a platform."""

from .problem import Dispatch, Job, Queue, Running

__all__ = ["Dispatch", "Job", "Queue", "Running"]
