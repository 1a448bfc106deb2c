"""Jobs that wait for the end of another job and for a think time: the replay determines when they arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...instances.workload import NEVER, Workload
from ...models import Platform
from .feature import Feature, Replay


class Dependencies(Feature):
    """The arrivals of jobs with a preceding job (``Workload.after``); the kernels release them at its end."""

    watches = True
    counts_kinds = True

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs with submit times, releases and latest starts of their own, which the replay changes."""
        w = workload
        return replace(w, submit=w.submit.copy(), release=w.release.copy(), latest_start=w.latest_start.copy())

    def begin(self, engine: Replay) -> None:
        """Keep the engine."""
        self._engine = engine

    def arriving(self, rows: Sequence[int]) -> None:
        """Set the submit times and latest starts of jobs that arrive now."""
        engine, w = self._engine, self._engine.workload
        for j in rows:
            if j not in w.after:
                continue
            before, think = w.after[j]
            arrival = max(w.submit[j], engine.state.start[before] + engine.trace.runtime[before] + think)
            if w.latest_start[j] != NEVER:
                w.latest_start[j] += arrival - w.submit[j]
            w.submit[j] = arrival
            w.release[j] = max(w.release[j], w.submit[j])
            engine.rules = None  # the order of a policy may depend on submit times
