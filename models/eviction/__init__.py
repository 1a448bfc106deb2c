"""The eviction problem: running jobs to kill or checkpoint so that nodes are free in time [Maurya2020]."""

from .plan import EvictionPlan
from .problem import BatchJob, Checkpointing, Eviction

__all__ = ["BatchJob", "Checkpointing", "Eviction", "EvictionPlan"]
