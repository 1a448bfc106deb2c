"""The dispatching problem: jobs of units that start together on the nodes of a platform."""

from ...later import names_later
from .jobs import Job, Queue, Running
from .problem import Dispatch

__all__ = ["Dispatch", "Job", "Queue", "Running"]

INNER = {  # module: names that other packages of schedlab read; they are not public
    "arrays": ("JobArrays", "NodeArrays", "Returns", "distinct", "occupied", "offsets"),
    "check": ("excesses",),
    "composite": ("limit_of", "nearest", "overrun"),
    "eligible": ("NodeSets", "NotPlaced", "alternative_features", "eligible_nodes", "least_amounts", "read_features"),
    "jobs": ("impossible", "whole_jobs"),
}
__getattr__ = names_later(__name__, inner=INNER)
