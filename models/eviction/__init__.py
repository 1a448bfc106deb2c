"""The eviction problem: running jobs to kill or checkpoint so that nodes are free in time [Maurya2020]."""

from .from_trace import Checkpointing
from .jobs import BatchJob, EvictionPlan
from .problem import Eviction

__all__ = ["BatchJob", "Checkpointing", "Eviction", "EvictionPlan"]
