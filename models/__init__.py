"""The modelling language, the problems declared in it, and the checker of their schedules."""

from typing import TYPE_CHECKING

from ..later import names_later

if TYPE_CHECKING:
    from .desired_profile import DesiredProfile
    from .dispatch.jobs import Chunk, Dependency, Gres, Job, Queue, Recorded, RecordedAttempt, Running, SiteRequest
    from .dispatch.problem import Dispatch
    from .eviction.jobs import BatchJob, Checkpointing, EvictionCandidate, EvictionPlan
    from .eviction.problem import Eviction
    from .knapsack import Item, Knapsack
    from .model_problem import ModelProblem
    from .node_states import NodeEvent, NodeStates
    from .platform import NamedNodes, NodeGroup, Platform, ProblemError
    from .plugins import NoSuchModule, PluginError, UnnamedReference, WrongAnswer
    from .problem import Encoding, Problem, Schedule
    from .profit.problem import Cooling, Profit
    from .project.problem import Mode, Project, ProjectMax, Resource, Task
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
    "WrongAnswer",
    "UnnamedReference",
    "NoSuchModule",
    "ModelProblem",
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
    "Item",
    "Job",
    "Knapsack",
    "Licence",
    "Limits",
    "Mode",
    "NamedNodes",
    "NodeEvent",
    "NodeGroup",
    "NodeStates",
    "PBSSettings",
    "Partition",
    "Platform",
    "PluginError",
    "Problem",
    "ProblemError",
    "Profit",
    "Project",
    "ProjectMax",
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

LATER = {  # module: its names
    "model_problem": ("ModelProblem",),
    "desired_profile": ("DesiredProfile",),
    "dispatch.jobs": (
        "Chunk",
        "Dependency",
        "Gres",
        "Job",
        "Queue",
        "Recorded",
        "RecordedAttempt",
        "Running",
        "SiteRequest",
    ),
    "dispatch.problem": ("Dispatch",),
    "eviction.jobs": ("BatchJob", "Checkpointing", "EvictionCandidate", "EvictionPlan"),
    "eviction.problem": ("Eviction",),
    "knapsack": ("Item", "Knapsack"),
    "node_states": ("NodeEvent", "NodeStates"),
    "platform": ("NamedNodes", "NodeGroup", "Platform", "ProblemError"),
    "plugins": ("NoSuchModule", "PluginError", "UnnamedReference", "WrongAnswer"),
    "problem": ("Encoding", "Problem", "Schedule"),
    "profit.problem": ("Cooling", "Profit"),
    "project.problem": ("Mode", "Project", "ProjectMax", "Resource", "Task"),
    "site": (
        "QOS",
        "Association",
        "Licence",
        "Limits",
        "Partition",
        "PBSSettings",
        "SchedulerSettings",
        "Site",
        "SiteNode",
        "SiteReservation",
    ),
    "step_function": ("StepFunction",),
}
INNER = {  # the same for names that other packages of schedlab read; they are not public
    "arguments": ("rational",),
    "comparing": ("hashable",),
    "long_calls": ("Deadline", "OutOfTime", "within"),
    "words": ("hint", "similar"),
    "neighbourhood": ("Neighbourhoods",),
    "plugins": ("is_module", "load_reference", "only_named"),
    "schedule_arrays": ("Flat", "POSTPONED"),
    "site": ("NamedLimit", "in_ranges"),
}
__getattr__ = names_later(__name__, LATER, inner=INNER)


def __dir__() -> list[str]:
    """Return the public names, those that are imported when they are first used included."""
    return sorted(__all__)
