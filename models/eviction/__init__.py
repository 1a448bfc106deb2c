"""The eviction problem: running jobs to kill or checkpoint so that nodes are free in time."""

from .problem import BatchJob, Checkpointing, Eviction, EvictionPlan

__all__ = ["BatchJob", "Checkpointing", "Eviction", "EvictionPlan"]
