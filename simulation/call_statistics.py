"""The statistics of the calls of a dispatcher during one replay."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..heuristics.kernels.profile import Ints
from ..models.excerpt import with_short_repr
from .dispatcher import Decision
from .model_sizes import SizeCount
from .result import Decisions

PARTS = ("start", "model", "solve", "allocate")  # of a call, recorded one by one; other parts are summed


@with_short_repr
class CallStatistics:
    """The calls so far: their number, times, ends, and what the dispatcher reports about them."""

    def __init__(self, resources: Sequence[str]) -> None:
        self.made, self.skipped, self.urgent = 0, 0, 0
        self.ended: Counter[str] = Counter()
        self.used: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.phases: dict[str, float] = {}
        self.seconds: dict[str, list[float]] = {part: [] for part in ("total", *PARTS)}
        self.gains: list[float] = []
        self.sizes = SizeCount(resources)

    def add_timed(self, took: float) -> None:
        """Add a call of ``took`` seconds of which nothing else is known."""
        self.made += 1
        self.seconds["total"].append(took)

    def add(self, decision: Decision, took: float, running: int, free: Ints) -> None:
        """Add a call of ``took`` seconds.

        Parameters
        ----------
        decision : Decision
            Its result.
        took : float
            Wall time in seconds.
        running : int
            Number of running jobs.
        free : ndarray of int64, shape (nodes, resources)
            Free amounts.
        """
        self.add_timed(took)
        self.ended[decision.ended] += 1
        self.urgent += decision.urgent
        self.counts.update(decision.counts)
        if decision.used:
            self.used[decision.used] += 1
        if decision.requested:
            self.sizes.add(decision, running, np.maximum(free, 0))
        for part in PARTS:
            self.seconds[part].append(decision.seconds.get(part, 0.0))
        for name, value in decision.seconds.items():
            if name not in PARTS:
                self.phases[name] = self.phases.get(name, 0.0) + value
        if decision.gain is not None:
            self.gains.append(decision.gain)

    def result(self) -> Decisions:
        """Return the statistics as part of the result of a replay."""
        return Decisions(
            made=self.made,
            skipped=self.skipped,
            ended=dict(self.ended),
            seconds={part: np.array(values) for part, values in self.seconds.items()},
            total_seconds=math.fsum(self.seconds["total"]),
            gains=np.array(self.gains),
            urgent=self.urgent,
            models=self.sizes.means(),
            phases=dict(self.phases),
            used=dict(self.used),
            counts=dict(self.counts),
        )
