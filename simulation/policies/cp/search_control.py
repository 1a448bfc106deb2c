"""How long a solver works on one decision: limits that double, each step warm from the best so far."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

from ....backends import INTERRUPTED, Compiled, Interrupted, Limits
from ....backends.recorder import Recorder
from ....models.language import Assignment, Model
from ...engine.moment import Ended

LEAST = 0.01  # seconds; a step shorter than this is not begun


@dataclass(frozen=True)
class Control:
    """The limits of a decision. ``first``: of the first step, doubled from step to step; ``total``: of all of them.

    Both in seconds; with ``deterministic`` in the solver's own reproducible unit (CP-SAT: about a second of one core;
    HiGHS: nodes; CP Optimizer: branches), and no clock has a say. ``patience``: so many steps in a row without an
    improvement end it (k in the paper).
    """

    first: float
    total: float
    patience: int = 2
    deterministic: bool = False
    threads: int = 1

    def limits(self, length: float, seed: int) -> Limits:
        """Of one step."""
        if self.deterministic:
            return Limits(None, 1, seed, deterministic=length)
        return Limits(length, self.threads, seed)


class SearchResult(NamedTuple):
    """What came of a search: the best assignment (None: none), how it ended, the relative gain over the start (if any)."""

    best: Assignment | None
    ended: Ended
    gain: float | None


def search(
    compiled: Compiled, model: Model, warm: Assignment | None, control: Control, seed: int, deadline: float
) -> SearchResult:
    """Solve in steps. ``deadline``: of the clock ``time.perf_counter``, before which the last step ends (not if deterministic).

    Raises RuntimeError if the solver cannot take the model.
    """
    watch = Recorder(model, model, compiled.exactness, time.perf_counter(), None, None)
    if warm is not None:
        watch.solution(warm)
    start, spent, still, step = watch.objective, 0.0, 0, 0
    length, ended = control.first, "limit"
    while still < control.patience:
        left = control.total - spent if control.deterministic else min(control.total, deadline - time.perf_counter())
        if left <= 0 or (left < LEAST and not control.deterministic):
            break
        before = watch.objective
        outcome = compiled.run(watch, control.limits(min(length, left), seed + step), watch.best)
        if watch.failure is not None:
            raise watch.failure
        if outcome.message == INTERRUPTED:
            raise Interrupted
        if outcome.status in ("unavailable", "error", "unbounded"):
            raise RuntimeError(f"the solver ended with {outcome.status!r}: {outcome.message}")
        if outcome.status in ("optimal", "infeasible"):
            ended = outcome.status
            break
        if outcome.running:  # what was compiled cannot be solved again
            break
        improved = watch.objective is not None and (before is None or watch.objective < before)
        still, spent, length, step = 0 if improved else still + 1, spent + length, 2 * length, step + 1
    else:
        ended = "no-gain"
    if watch.best is None:
        return SearchResult(None, "infeasible" if ended == "infeasible" else "nothing", None)
    return SearchResult(watch.best, ended, _gain(start, watch.objective))  # type: ignore[arg-type]


def _gain(start: float | None, end: float | None) -> float | None:
    if start is None or end is None:
        return None
    return 0.0 if end >= start else (start - end) / abs(start)
