"""The dispatching problem: jobs of units that start together on the nodes of a platform."""

from ...later import names_later
from .jobs import Job, Queue, Running
from .problem import Dispatch

__all__ = ["Dispatch", "Job", "Queue", "Running"]

INNER = {  # module: names that other packages of schedlab read; they are not public
    "arrays": (
        "JobArrays",
        "NodeArrays",
        "NodeSets",
        "NotPlaced",
        "Returns",
        "alternative_features",
        "distinct",
        "eligible_nodes",
        "least_amounts",
        "occupied",
        "offsets",
        "read_features",
    ),
    "check": ("excesses",),
    "composite": ("limit_of", "nearest", "overrun"),
    "jobs": ("impossible", "whole_jobs"),
}
__getattr__ = names_later(__name__, inner=INNER)
