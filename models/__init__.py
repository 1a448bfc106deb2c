"""The modelling language, the problems declared in it, and the checker of their schedules."""

from .dispatch.chunks.chunk import Chunk
from .dispatch.jobs import Job, Queue, Running
from .dispatch.problem import Dispatch
from .eviction.plan import EvictionPlan
from .eviction.problem import BatchJob, Checkpointing, Eviction, EvictionCandidate
from .node_states.events import NodeEvent
from .node_states.timeline import NodeStates
from .platform import NodeGroup, Platform, ProblemError
from .problem import Encoding, Problem, Schedule
from .profiles import DesiredProfile
from .profit.cooling import Cooling
from .profit.problem import Profit
from .project.problem import Project
from .project.tasks import Mode, Resource, Task
from .step_function import StepFunction

__all__ = [
    "BatchJob",
    "EvictionCandidate",
    "Checkpointing",
    "Chunk",
    "Cooling",
    "DesiredProfile",
    "Dispatch",
    "Encoding",
    "Eviction",
    "EvictionPlan",
    "Job",
    "Mode",
    "NodeEvent",
    "NodeGroup",
    "NodeStates",
    "Platform",
    "Problem",
    "ProblemError",
    "Profit",
    "Project",
    "Queue",
    "Resource",
    "Running",
    "Schedule",
    "StepFunction",
    "Task",
]
