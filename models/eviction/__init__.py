"""The eviction problem: running jobs to kill or checkpoint so that nodes are free in time [Maurya2020]."""

from ...later import names_later
from .jobs import BatchJob, Checkpointing, EvictionPlan
from .problem import Eviction

__all__ = ["BatchJob", "Checkpointing", "Eviction", "EvictionPlan"]

INNER = {  # module: names that other packages of schedlab read; they are not public
    "jobs": ("checkpoint_seconds", "exact"),
}
__getattr__ = names_later(__name__, inner=INNER)
