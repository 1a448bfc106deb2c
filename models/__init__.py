"""The modelling language, the problems declared in it, and the checker of their schedules."""

from .desired_profile import DesiredProfile
from .dispatch.jobs import Chunk, Job, Queue, Running
from .dispatch.problem import Dispatch
from .dispatch.site_request import Dependency, Gres, Recorded, RecordedAttempt, SiteRequest
from .eviction.jobs import BatchJob, Checkpointing, EvictionCandidate, EvictionPlan
from .eviction.problem import Eviction
from .node_states import NodeEvent, NodeStates
from .platform import NodeGroup, Platform, ProblemError
from .problem import Encoding, Problem, Schedule
from .profit.cooling import Cooling
from .profit.problem import Profit
from .project.problem import Mode, Project, Resource, Task
from .site import (
    QOS,
    Association,
    Licence,
    Limits,
    Partition,
    PBSSettings,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteReservation,
)
from .step_function import StepFunction

__all__ = [
    "Association",
    "BatchJob",
    "EvictionCandidate",
    "Checkpointing",
    "Chunk",
    "Cooling",
    "Dependency",
    "DesiredProfile",
    "Dispatch",
    "Encoding",
    "Gres",
    "Eviction",
    "EvictionPlan",
    "Job",
    "Licence",
    "Limits",
    "Mode",
    "NodeEvent",
    "NodeGroup",
    "NodeStates",
    "PBSSettings",
    "Partition",
    "Platform",
    "Problem",
    "ProblemError",
    "Profit",
    "Project",
    "QOS",
    "Queue",
    "Recorded",
    "RecordedAttempt",
    "Resource",
    "Running",
    "Schedule",
    "SchedulerSettings",
    "Site",
    "SiteNode",
    "SiteReservation",
    "StepFunction",
    "Task",
    "SiteRequest",
]
