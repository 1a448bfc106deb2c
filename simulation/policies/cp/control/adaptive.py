"""The search of one decision under the adaptive limit of ``adaptive_limit``: it replaces ``steps.Control``."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from .....backends import Compiled
from .....backends.recorder import Recorder
from .....heuristics.kernels.profile import Ints
from .....models.language import Assignment, Model
from ....dispatcher import Ended
from ..waiting import Waiting
from .adaptive_limit import DOUBLINGS, AdaptiveLimit, Attempt, AttemptLimits
from .steps import SHORTEST, Control, SearchResult, check_outcome, relative_gain


class AdaptiveControl:
    """The overhead control of [Bridi2018, 4.4] for dispatchers with a solver.

    Parameters
    ----------
    length : float
        Limit of the last of the five attempts of a decision, 16 times ``k1``: seconds, or the unit of the solver.
    deterministic : bool
        Whether the limits are in the solver's own reproducible unit. All limits of the thesis are then scaled
        (``AdaptiveLimit.scaled``). The time to the first solution is not known in this unit; the limit of the attempt,
        divided by ``k2``, stands for it.
    threads : int
        Threads of the solver.
    limit : AdaptiveLimit, optional
        Another limit, which replaces the one of ``length``.
    attempts, growth
        As in ``AdaptiveLimit``, for the limit of ``length``.

    Examples
    --------
    >>> AdaptiveControl(16.0).limit.k1, AdaptiveControl(0.16, deterministic=True).limit.longest
    (1.0, 3.0)
    """

    def __init__(
        self,
        length: float,
        deterministic: bool = False,
        threads: int = 1,
        limit: AdaptiveLimit | None = None,
        attempts: int = 5,
        growth: float = math.inf,
    ) -> None:
        k1 = length / DOUBLINGS
        more: dict[str, Any] = {"attempts": attempts, "growth": growth}
        usual = AdaptiveLimit.scaled(k1, **more) if deterministic else AdaptiveLimit(k1, longest=max(k1, 300.0), **more)
        self.total = length
        self.deterministic = deterministic
        self.limit = usual if limit is None else limit
        self.solver = Control(k1, length, deterministic=deterministic, threads=threads)

    def reset(self) -> None:
        """Forget the decisions of an earlier replay."""
        self.limit.reset()

    def kept(self, jobs: Waiting) -> Waiting:
        """Return the jobs of the next model, in the given order: those submitted first."""
        return jobs.some(self.first(jobs.submit))

    def first(self, keys: Ints) -> Ints:
        """Return the indices of the jobs of the next model, ascending: those with the smallest keys."""
        return np.sort(np.argsort(keys, kind="stable")[: self.limit.kept(keys.size)])

    def too_large(self, jobs: int) -> None:
        """Note that the model of this number of jobs was not ready in time: the next model has half of them."""
        self.limit.halve(jobs)

    def search(
        self,
        compiled: Compiled,
        model: Model,
        warm: Assignment | None,
        seed: int,
        deadline: float,
        origin: float,
        jobs: int,
    ) -> SearchResult:
        """Solve a model in attempts; see ``steps.search``.

        A warm start is kept as a solution, but does not count as one that the solver found. ``deadline`` is that of
        other controls; the attempts have their own limits.
        """
        attempts = _Attempts(
            compiled, Recorder(model, model, compiled.exactness, time.perf_counter(), None, None), self, seed
        )
        if warm is not None:
            attempts.recorder.solution(warm)
        start = attempts.recorder.objective
        last = self.limit.search(attempts, jobs)
        recorder = attempts.recorder
        if recorder.best is None:
            return SearchResult(None, "infeasible" if attempts.ended == "infeasible" else "nothing", None)
        ended = attempts.ended if last.found or attempts.ended == "optimal" else "limit"
        return SearchResult(recorder.best, ended, relative_gain(start, recorder.objective, recorder.sign, origin))


class _Attempts:
    """The attempts of one decision on one compiled model, each from the best solution so far."""

    def __init__(self, compiled: Compiled, recorder: Recorder, control: AdaptiveControl, seed: int) -> None:
        self.compiled, self.recorder, self.control, self.seed = compiled, recorder, control, seed
        self.ended: Ended = "limit"

    def __call__(self, limits: AttemptLimits) -> Attempt:
        began, left = time.perf_counter(), limits.length
        stop = limits.first_only or left > limits.patience
        first, status, running = self._run(left, stop)
        if status in ("optimal", "infeasible"):
            self.ended = "optimal" if status == "optimal" else "infeasible"
            return Attempt(status == "optimal", self._known(first), True)
        found = first is not None or status == "feasible"
        if not found or limits.first_only or running:
            return Attempt(found, self._known(first), running)
        # of a run that stopped at its first solution, the spent units are not known: a slice stands for them
        spent = limits.patience if self.control.deterministic else time.perf_counter() - began
        self._improve(left - spent if stop else 0.0, limits.patience)
        return Attempt(True, self._known(first), self.ended == "optimal")

    def _improve(self, left: float, patience: float) -> None:
        """Run on in slices until one improves nothing (rule 3)."""
        shortest = 0.0 if self.control.deterministic else SHORTEST
        while left > shortest:
            before, began = self.recorder.objective, time.perf_counter()
            _, status, running = self._run(min(left, patience), False)
            if status == "optimal":
                self.ended = "optimal"
                return
            if self.recorder.objective == before:
                self.ended = "no-gain"
                return
            if running:
                return
            left -= min(left, patience) if self.control.deterministic else time.perf_counter() - began

    def _known(self, first: float | None) -> float | None:
        return None if self.control.deterministic else first

    def _run(self, length: float, stop: bool) -> tuple[float | None, str, bool]:
        """Run the solver once; return the seconds to its first solution, its status, and whether it is still running."""
        watch = _FirstSolution(self.recorder, stop)
        outcome = self.compiled.run(watch, self.control.solver.limits(length, self.seed), self.recorder.best)
        self.seed += 1
        check_outcome(self.recorder, outcome)
        if watch.first is None and outcome.status in ("optimal", "feasible") and not outcome.running:
            watch.first = time.perf_counter() - watch.began
        return watch.first, outcome.status, outcome.running


class _FirstSolution:
    """A Watch that records the time of the first solution of the solver, and may stop there."""

    def __init__(self, recorder: Recorder, stop: bool) -> None:
        self.recorder, self.stop = recorder, stop
        self.began = time.perf_counter()
        self.first: float | None = None

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        """Record a solution; return whether the solver should go on."""
        if self.first is None:
            self.first = time.perf_counter() - self.began
        return self.recorder.solution(assignment, bound) and not self.stop

    def bound(self, value: float) -> bool:
        """Record a bound; return whether the solver should go on."""
        return self.recorder.bound(value)
