"""The eviction problem: running jobs to kill or checkpoint so that nodes are free in time [Maurya2020]."""

from .jobs import BatchJob, Checkpointing, EvictionPlan
from .problem import Eviction

__all__ = ["BatchJob", "Checkpointing", "Eviction", "EvictionPlan"]
