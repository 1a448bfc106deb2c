"""The sizes of the models that a dispatcher solves: intervals, requested and available amounts [Galleguillos2019, table 2]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..models.comparing import hashable
from ..models.excerpt import with_short_repr
from .dispatcher import Decision

Ints = NDArray[np.int64]
MEMORY, GB = "memory", 1024  # memory is in MB


@with_short_repr
@hashable
@dataclass(frozen=True)
class ModelSizes:
    """Mean sizes of the models of a replay; None if the dispatcher built no model or does not report the sizes.

    Parameters
    ----------
    built : int or None
        Number of models with a known size.
    intervals : float or None
        Mean number of intervals: jobs in the model and running jobs.
    requested : mapping of str to float
        For each resource, the mean over the models of (sum over the waiting jobs in the model of units * request).
    available : mapping of str to float
        For each resource, the mean free amount on the machine at these decisions.
    requested_total, available_total : float or None
        Sums of ``requested`` and of ``available`` over the resources, memory counted in GB (1,024 MB).
    """

    built: int | None = None
    intervals: float | None = None
    requested: Mapping[str, float] = field(default_factory=dict)
    available: Mapping[str, float] = field(default_factory=dict)
    requested_total: float | None = None
    available_total: float | None = None


class SizeCount:
    """The sums of the sizes of models, for a machine with these resources."""

    def __init__(self, resources: Sequence[str]) -> None:
        self.resources = tuple(resources)
        self.built, self.intervals = 0, 0
        self.requested = dict.fromkeys(resources, 0)
        self.available = np.zeros(len(self.resources), np.int64)

    def add(self, decision: Decision, running: int, free: Ints) -> None:
        """Add the model of a decision, if its size is known; ``free``: free amounts, shape (nodes, resources)."""
        if not decision.requested:
            return
        self.built += 1
        self.intervals += decision.jobs + running
        self.available += free.sum(axis=0)
        for name in self.resources:
            self.requested[name] += int(decision.requested.get(name, 0))

    def means(self) -> ModelSizes:
        """Return the means over the models."""
        if not self.built:
            return ModelSizes()
        requested = {name: amount / self.built for name, amount in self.requested.items()}
        available = dict(zip(self.resources, (self.available / self.built).tolist(), strict=True))
        return ModelSizes(
            self.built, self.intervals / self.built, requested, available, _total(requested), _total(available)
        )


def _total(amounts: Mapping[str, float]) -> float:
    return sum(amount / (GB if name == MEMORY else 1) for name, amount in amounts.items())
