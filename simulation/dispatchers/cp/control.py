"""The search of one decision: its model and warm start; steps with doubled limits, or limits that adapt to the solver."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ....backends import INTERRUPTED, Compiled, Interrupted, Limits, Outcome, SolverUnavailable, backend
from ....backends import compile as compile_model
from ....backends.base import Value, checked_limits, require_obeyed
from ....backends.result import Recorder
from ....errors import SolverFailed, WrongArgument, WrongValue
from ....heuristics.list_scheduling import tiny
from ....models import Dispatch, Schedule
from ....models.array_types import Ints
from ....models.comparing import hashable
from ....models.dispatch.arrays import column
from ....models.dispatch.composite import limits_of, nearest
from ....models.language import Assignment, Model
from ....models.long_calls import Deadline, OutOfTime, within
from ....models.problem import Encoding
from ...dispatcher import Ended
from ...errors import ONE_LIMIT
from .model import best_kept, best_start, cost_of, followed_by, is_best, origin_of, planned_first
from .placing import Waiting, warm_up_kernels

# --- The overhead control of [Bridi2018, 4.4]: a limit of the solver that follows the time to its first solution.
#
# The state is the limit ``delta``, at first ``k1``, and the number ``first_n`` of jobs in a model, at first all of them.
# A decision with n jobs takes the first ``first_n`` of them and makes up to ``attempts`` attempts, each with limit
# ``delta``:
#
# - An attempt without a solution is repeated with ``delta = min(longest, k2 * delta)``.
# - After an attempt with a solution, ``delta = min(longest, t + k1)``, where t is its time to the first solution, and
#   ``first_n`` grows by the factor ``growth``; by default it is all jobs again.
# - If no attempt finds a solution, ``first_n = ceil(n / 2)``, and the next decision begins with the ``delta`` reached.
#
# There are three stop rules:
#
# 1. ``delta`` saturates at ``longest``.
# 2. With ``delta > long``, an attempt stops at its first solution.
# 3. After the first solution an attempt runs on in slices of ``patience``; it ends with the first slice that improves
#    nothing.
#
# The thesis gives 300 s, 60 s and 10 s for ``longest``, ``long`` and ``patience``. It does not give ``k1``, ``k2`` and
# ``attempts``; the defaults are those of the same scheme in [Galleguillos2019, 5]: limits of 1, 2, 4, 8 and 16 s. Nor does
# it say when ``first_n`` grows again.

DOUBLINGS = 16  # the limit of the last of five attempts, in units of k1


class AttemptLimits(NamedTuple):
    """The limits of one attempt, in seconds or in units of the solver.

    Parameters
    ----------
    length : float
        Limit of the whole attempt.
    patience : float
        Length of a slice after the first solution (rule 3).
    first_only : bool
        Whether the attempt stops at its first solution (rule 2).
    """

    length: float
    patience: float
    first_only: bool


class Attempt(NamedTuple):
    """The end of one attempt.

    Parameters
    ----------
    found : bool
        Whether the solver found a solution.
    first : float, optional
        Time to its first solution, in the unit of the limits. None: no solution, or not known in this unit.
    final : bool
        Whether another attempt would find no more: the solver has proven its result, or cannot run again.
    """

    found: bool
    first: float | None = None
    final: bool = False


class AdaptiveLimit:
    """The limit of a solver and the number of jobs in its models, adapted from decision to decision.

    Parameters
    ----------
    k1 : float
        First limit, and what is added to the time to the first solution; above 0. This and the other times are seconds
        or units of the solver, as the attempts understand them.
    k2 : float
        Factor of the limit after an attempt without a solution, above 1.
    attempts : int
        Largest number of attempts in one decision; ``M`` in the thesis.
    longest : float
        Largest limit, at least ``k1``.
    long : float
        Limit above which an attempt stops at its first solution.
    patience : float
        Length of a slice after the first solution, above 0.
    growth : float
        Factor of ``first_n`` after a decision with a solution, above 1; infinity: all jobs again.

    Attributes
    ----------
    delta : float
        The limit of the next attempt.
    first_n : int or None
        Largest number of jobs in the next model; None: all.

    Raises
    ------
    WrongValue
        If a value is out of range.

    Examples
    --------
    A solver that needs 5 s for its first solution: attempts of 1, 2 and 4 s find nothing, the one of 8 s does.

    >>> limit, lengths = AdaptiveLimit(), []
    >>> def attempt(limits):
    ...     lengths.append(limits.length)
    ...     return Attempt(True, 5.0) if limits.length >= 5 else Attempt(False)
    >>> limit.search(attempt, jobs=100).found, lengths, limit.delta
    (True, [1.0, 2.0, 4.0, 8.0], 6.0)
    """

    def __init__(
        self,
        k1: float = 1.0,
        k2: float = 2.0,
        attempts: int = 5,
        longest: float = 300.0,
        long: float = 60.0,
        patience: float = 10.0,
        growth: float = math.inf,
    ) -> None:
        for name, value, least in (("k1", k1, 0.0), ("k2", k2, 1.0), ("long", long, 0.0), ("patience", patience, 0.0)):
            if not least < value < math.inf:
                raise WrongValue(f"adaptive limit: {name} is {value!r}; expected a number above {least:g}")
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise WrongValue(f"adaptive limit: attempts is {attempts!r}; expected a whole number of at least 1")
        if not k1 <= longest < math.inf:
            raise WrongValue(f"adaptive limit: longest is {longest!r}; expected a number of at least k1 = {k1:g}")
        if not growth > 1.0:
            raise WrongValue(f"adaptive limit: growth is {growth!r}; expected a number above 1")
        self.k1 = k1
        self.k2 = k2
        self.attempts = attempts
        self.growth = growth
        self.longest = longest
        self.long = long
        self.patience = patience
        self.reset()

    @classmethod
    def scaled(cls, unit: float, attempts: int = 5, growth: float = math.inf) -> AdaptiveLimit:
        """Return a limit with ``k1 = unit`` whose other times have the same ratio to ``k1`` as in the thesis.

        For limits in units of a solver, which are no seconds.

        Examples
        --------
        >>> limit = AdaptiveLimit.scaled(0.01)
        >>> limit.k1, limit.longest, limit.long, limit.patience
        (0.01, 3.0, 0.6, 0.1)
        """
        return cls(unit, 2.0, attempts, 300 * unit, 60 * unit, 10 * unit, growth)

    def reset(self) -> None:
        """Return to the state before the first decision."""
        self.delta: float = self.k1
        self.first_n: int | None = None

    def kept(self, jobs: int) -> int:
        """Return how many of this number of jobs go into the model."""
        if self.first_n is None:
            return jobs
        return min(jobs, self.first_n)

    def halve(self, jobs: int) -> None:
        """Note that a decision on this number of jobs found nothing: the next model has at most half of them."""
        self.first_n = max(1, math.ceil(jobs / 2))

    def search(self, attempt: Callable[[AttemptLimits], Attempt], jobs: int) -> Attempt:
        """Make the attempts of one decision, and adapt the limit and the number of jobs.

        Parameters
        ----------
        attempt : callable
            Runs the solver within the limits. It may go on from the attempts before.
        jobs : int
            Number of jobs in the model, at least 1.

        Returns
        -------
        Attempt
            The last attempt.
        """
        last = Attempt(False)
        for _ in range(self.attempts):
            used = self.delta
            last = attempt(AttemptLimits(used, self.patience, used > self.long))
            if last.found:
                # not known: the attempt before, of used / k2, found none, or would have been long enough
                if last.first is None:
                    first = used / self.k2
                else:
                    first = last.first
                self.delta = min(self.longest, first + self.k1)
                self.first_n = self._grown(jobs)
                return last
            if last.final:
                break
            self.delta = min(self.longest, self.k2 * used)
        self.halve(jobs)
        return last

    def _grown(self, jobs: int) -> int | None:
        """Return the number of jobs in the next model, after a decision with a solution on this number of jobs."""
        if self.first_n is None or not math.isfinite(self.growth):
            return None
        return max(self.first_n, math.ceil(jobs * self.growth))


# --- The search of one decision: the solver runs in steps with doubled limits, each from the best solution so far.

SECONDS = 16.0  # limit of one decision, ``delta_max`` in [Galleguillos2019, 5]
SHORTEST = 0.01  # seconds; a step with less time left is not begun
FIRST_SHARE = 1 / 64  # of the limit of a decision: the usual first step
LEAST_GAIN = 0.0002  # relative; a step that gains no more counts as one without improvement
PATIENCE = 1  # usual number of successive steps without improvement that end a search; [Galleguillos2019, 5] has 2
QUICK_SEARCH: dict[str, dict[str, Value]] = {
    "cpsat": {
        "cp_model_presolve": False,
        "linearization_level": 0,
        "symmetry_level": 0,
        "search_branching": "PORTFOLIO_WITH_QUICK_RESTART_SEARCH",
    }
}
"""Backend -> parameters for searches of some milliseconds from a good start.

Measured on 40 decisions of ``hcp3`` on eurora_700: with them CP-SAT improves its start by 2.0 % within 5 ms, without them
by 0.8 % within 12 ms and by 1.7 % within a second: it spends the first milliseconds on presolve, and its default search on
one thread stays near its start.
"""


@hashable
@dataclass(frozen=True)
class Control:
    """The limits of the search of one decision.

    Parameters
    ----------
    first : float
        Limit of the first step in seconds; each further step has twice the limit of the step before.
    total : float
        Limit of all steps together in seconds.
    patience : int
        Number of successive steps without improvement that end the search; ``k`` in [Galleguillos2019, 3].
    deterministic : bool
        Whether ``first`` and ``total`` are in the solver's own reproducible unit (CP-SAT: about one second of one core;
        HiGHS: nodes of the search tree; CP Optimizer: branches). The wall time then has no influence.
    threads : int
        Threads of the solver; 1 if ``deterministic``.
    parameters : mapping of str to value
        Parameters of the solver, by its own names.
    """

    first: float
    total: float
    patience: int = PATIENCE
    deterministic: bool = False
    threads: int = 1
    parameters: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        backend: str,
        total: float,
        deterministic: bool,
        first: float | None,
        share: float,
        patience: int | None,
        threads: int,
        parameters: Mapping[str, Value] | None = None,
    ) -> Control:
        """Return the limits of a dispatcher; None: the first step has ``share`` of the limit, and the usual values."""
        if parameters is not None:
            usual = parameters
        else:
            usual = QUICK_SEARCH.get(backend, {})
        if patience is None:
            steps = PATIENCE
        else:
            steps = patience
        return cls(first or share * total, total, steps, deterministic, threads, usual)

    def limits(self, length: float, seed: int) -> Limits:
        """Return the limits of one step of this length; nobody reads the log of a step."""
        if self.deterministic:
            return Limits(None, 1, seed, deterministic=length, parameters=self.parameters, log=False)
        return Limits(length, self.threads, seed, parameters=self.parameters, log=False)

    def check(self, name: str) -> None:
        """Raise UnknownName, ValueError or TypeError if a backend does not take these parameters."""
        limits = self.limits(self.total, 0)
        if limits.parameters:
            require_obeyed(backend(name), limits)
            checked_limits(backend(name), limits)

    def reset(self) -> None:
        """Forget the decisions of an earlier replay: these limits are always the same."""

    def kept(self, jobs: Waiting) -> Waiting:
        """Return the jobs of the next model: all that the dispatcher has chosen."""
        return jobs

    def too_large(self, jobs: int) -> None:
        """Note that the model of this number of jobs was not ready in time: the next models have all jobs, too."""

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
        """Solve a model with ``jobs`` waiting jobs; see the function ``search``."""
        return search(compiled, model, warm, self, seed, deadline, origin=origin)


class SearchResult(NamedTuple):
    """The result of a search.

    ``best``: the best assignment, None if there is none. ``ended``: see ``moment.Ended``. ``gain``: relative
    improvement over the warm start, None without a warm start or if its objective is 0.
    """

    best: Assignment | None
    ended: Ended
    gain: float | None


def search(
    compiled: Compiled,
    model: Model,
    warm: Assignment | None,
    control: Control,
    seed: int,
    deadline: float,
    origin: float = 0,
) -> SearchResult:
    """Solve a model in steps, each from the best solution so far.

    Parameters
    ----------
    compiled : Compiled
        The model as the solver takes it.
    model : Model
        The same model, which checks the solutions.
    warm : Assignment or None
        The first solution.
    control : Control
        The limits.
    seed : int
        Seed of the first step; each further step adds 1.
    deadline : float
        Time on the clock ``time.perf_counter`` at which the search ends; ignored if ``control.deterministic``.
    origin : float
        The value of the objective from which the gain is measured: ``(start - end) / |start - origin|``.

    Returns
    -------
    SearchResult
        The best solution.

    Raises
    ------
    RuntimeError
        If the solver fails or does not support the model.
    Interrupted
        If the user interrupted the solver (Ctrl-C).
    """
    recorder = Recorder(model, model, compiled.exactness, Deadline(), None, None)
    if warm is not None:
        recorder.solution(warm)
    start = recorder.objective
    spent = 0.0
    stalled = 0
    step = 0
    length, ended = control.first, "limit"
    while stalled < control.patience:
        if control.deterministic:
            left = control.total - spent
        else:
            left = min(control.total, deadline - time.perf_counter())
        if left <= 0 or (left < SHORTEST and not control.deterministic):
            break
        before, least = recorder.objective, LEAST_GAIN
        outcome = compiled.run(recorder, control.limits(min(length, left), seed + step), recorder.best)
        check_outcome(recorder, outcome)
        if outcome.status in ("optimal", "infeasible"):
            ended = outcome.status
            break
        if outcome.running:  # the solver did not stop at its limit, so the compiled model cannot be used again
            break
        improved = recorder.objective is not None and (
            before is None or recorder.sign * (before - recorder.objective) > least * abs(before - origin)
        )
        if improved:
            stalled = 0
        else:
            stalled = stalled + 1
        spent = spent + length
        length = 2 * length
        step = step + 1
    else:
        ended = "no-gain"
    if recorder.best is None:
        return SearchResult(None, "infeasible" if ended == "infeasible" else "nothing", None)
    return SearchResult(recorder.best, ended, relative_gain(start, recorder.objective, recorder.sign, origin))  # type: ignore[arg-type]


def check_outcome(recorder: Recorder, outcome: Outcome) -> None:
    """Raise the error of a run that failed, and Interrupted if the user ended it."""
    if recorder.failure is not None:
        raise recorder.failure
    if outcome.message == INTERRUPTED:
        raise Interrupted
    if outcome.status in ("unavailable", "error", "unbounded"):
        raise SolverFailed(f"the solver ended with {outcome.status!r}: {outcome.message}")


def relative_gain(start: float | None, end: float | None, sign: int, origin: float) -> float | None:
    """Return ``(start - end) / |start - origin|`` of a minimized objective, at least 0; None if it is not defined."""
    if start is None or end is None:
        return None
    better = sign * (start - end)
    if better <= 0:
        return 0.0
    if start != origin:
        return better / abs(start - origin)
    return None


def limit_of(limit: float | None, deterministic: float | None) -> float:
    """Return the limit of one decision; raise WrongArgument or WrongValue if the two arguments do not give one."""
    if limit is not None and deterministic is not None:
        raise WrongArgument(f"limit and deterministic: {ONE_LIMIT}; give one")
    for name, value in (("limit", limit), ("deterministic", deterministic)):
        if value is not None and (isinstance(value, bool) or not 0 < value < float("inf")):
            raise WrongValue(f"{name} is {value!r} per decision; expected a number above 0")
    if limit is None and deterministic is None:
        return SECONDS
    return float(limit or deterministic or 0)


# --- The search of one decision under the adaptive limit: it replaces ``Control``.


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
        if deterministic:
            usual = AdaptiveLimit.scaled(k1, **more)
        else:
            usual = AdaptiveLimit(k1, longest=max(k1, 300.0), **more)
        self.total = length
        self.deterministic = deterministic
        if limit is None:
            self.limit = usual
        else:
            self.limit = limit
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
        attempts = _Attempts(compiled, Recorder(model, model, compiled.exactness, Deadline(), None, None), self, seed)
        if warm is not None:
            attempts.recorder.solution(warm)
        start = attempts.recorder.objective
        last = self.limit.search(attempts, jobs)
        recorder = attempts.recorder
        if recorder.best is None:
            return SearchResult(None, "infeasible" if attempts.ended == "infeasible" else "nothing", None)
        if last.found or attempts.ended == "optimal":
            ended = attempts.ended
        else:
            ended = "limit"
        return SearchResult(recorder.best, ended, relative_gain(start, recorder.objective, recorder.sign, origin))


class _Attempts:
    """The attempts of one decision on one compiled model, each from the best solution so far."""

    def __init__(self, compiled: Compiled, recorder: Recorder, control: AdaptiveControl, seed: int) -> None:
        self.compiled = compiled
        self.recorder = recorder
        self.control = control
        self.seed = seed
        self.ended: Ended = "limit"

    def __call__(self, limits: AttemptLimits) -> Attempt:
        began = time.perf_counter()
        left = limits.length
        stop = limits.first_only or left > limits.patience
        first, status, running = self._run(left, stop)
        if status in ("optimal", "infeasible"):
            if status == "optimal":
                self.ended = "optimal"
            else:
                self.ended = "infeasible"
            return Attempt(status == "optimal", self._known(first), True)
        has_answer = first is not None or status == "feasible"
        if not has_answer or limits.first_only or running:
            return Attempt(has_answer, self._known(first), running)
        # of a run that stopped at its first solution, the spent units are not known: a slice stands for them
        if self.control.deterministic:
            spent = limits.patience
        else:
            spent = time.perf_counter() - began
        self._improve(left - spent if stop else 0.0, limits.patience)
        return Attempt(True, self._known(first), self.ended == "optimal")

    def _improve(self, left: float, patience: float) -> None:
        """Run on in slices until one improves nothing (rule 3)."""
        shortest = 0.0
        if not self.control.deterministic:
            shortest = SHORTEST
        while left > shortest:
            before = self.recorder.objective
            began = time.perf_counter()
            _, status, running = self._run(min(left, patience), False)
            if status == "optimal":
                self.ended = "optimal"
                return
            if self.recorder.objective == before:
                self.ended = "no-gain"
                return
            if running:
                return
            if self.control.deterministic:
                left -= min(left, patience)
            else:
                left -= time.perf_counter() - began

    def _known(self, first: float | None) -> float | None:
        if self.control.deterministic:
            return None
        return first

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


Placed = Callable[[Ints], Schedule | None]
"""Places the waiting jobs of a decision, in an order of their indices, each at its earliest start; None if one fits nowhere."""

Begin = Callable[[], Schedule | None]
"""Returns a schedule to start from, or None; the same one at each call."""

USED = 0.95  # of the limit of a decision, until the solver stops: the rest is for its end and for the nodes
RELAXATION = "pool"  # the formulation whose starts order the jobs for a model with nodes
VARIABLES = 3000  # most numbers of units (jobs times nodes) per unit of the limit: each takes 15 us to model, 5 % of it
PURE_SHARE = 0.5  # of the limit of a decision: for the kept objectives together, in equal parts


class Solved(NamedTuple):
    """The solution of a problem.

    Parameters
    ----------
    schedule : Schedule or None
        The best schedule; without nodes if the model is a relaxation. None if there is none. If the model is not ready
        at the end of the limit, it is the warm start.
    relaxation : bool
        Whether the schedule is that of a relaxation.
    ended : Ended
        How the search ended.
    gain : float or None
        The relative improvement over the warm start.
    starting, modelling, solving : float
        Seconds for warm starts, for models and their lowering, and of the solver.
    """

    schedule: Schedule | None
    relaxation: bool
    ended: Ended
    gain: float | None
    starting: float
    modelling: float
    solving: float

    def after(self, starting: float, modelling: float, solving: float) -> Solved:
        """Return the solution with the seconds of earlier solves added."""
        return self._replace(
            starting=starting + self.starting, modelling=modelling + self.modelling, solving=solving + self.solving
        )


class FewJobs(NamedTuple):
    """The largest model of a decision.

    Parameters
    ----------
    most : int or None
        The largest number of waiting jobs in the model; None: all of them.
    waiting : int
        The number of waiting jobs, which are the first ones of the problem; the others have fixed starts.
    """

    most: int | None
    waiting: int


@dataclass(frozen=True)
class Solver:
    """A solver for the problem of one decision.

    Parameters
    ----------
    backend, formulation : str
        Names of the backend and of the formulation.
    control : Control or AdaptiveControl
        The limits of the decision.
    searched : bool
        Whether multi-search looks for a better warm start.
    """

    backend: str
    formulation: str
    control: Control | AdaptiveControl
    searched: bool

    def solve(
        self,
        problem: Dispatch,
        start: Begin,
        seed: int,
        deadline: float,
        jobs: int,
        pooled: Begin | None = None,
    ) -> Solved:
        """Solve a problem.

        Parameters
        ----------
        problem : Dispatch
            The problem.
        start : callable
            Returns a schedule to start from; called only if that of the pooled machine does not suffice.
        seed : int
            The seed of the solver.
        deadline : float
            Time on the clock ``time.perf_counter`` at which the search ends; ignored if the control is deterministic.
        jobs : int
            The number of waiting jobs in the problem.
        pooled : callable, optional
            Returns a schedule on the pooled machine, from which a search of the relaxation starts.
        """
        began = time.perf_counter()
        end = None
        if not self.control.deterministic:
            end = deadline
        begin = None
        if self.formulation == RELAXATION and pooled is not None:
            begin = pooled()
        on_pool = begin is not None
        if not on_pool:
            if self.searched:
                begin = best_start(problem, start(), end)
            else:
                begin = start()
        if begin is not None and is_best(problem, begin):
            return Solved(begin, on_pool, "optimal", 0.0, time.perf_counter() - began, 0.0, 0.0)
        modelling = time.perf_counter()
        made = modelled(problem, self.formulation, self.backend, end)
        if made is None:
            self.control.too_large(jobs)
            spent = modelling - began, time.perf_counter() - modelling, 0.0
            return Solved(start() if on_pool else begin, False, "limit", None, *spent)
        encoding, compiled = made
        warm = None
        if begin is not None:
            warm = encoding.write(begin)
        solving = time.perf_counter()
        answer = self.control.search(compiled, encoding.model, warm, seed, deadline, origin_of(problem), jobs)
        schedule = None
        if answer.best is not None:
            schedule = encoding.read(answer.best)
        spent = modelling - began, solving - modelling, time.perf_counter() - solving
        return Solved(schedule, encoding.relaxation, answer.ended, answer.gain, *spent)

    def solve_relaxed_first(
        self,
        problem: Dispatch,
        placed: Placed,
        start: Begin,
        seed: int,
        deadline: float,
        jobs: int,
        pooled: Begin | None = None,
    ) -> Solved:
        """Solve the pooled relaxation, place the jobs on nodes in the order of its starts, and improve that on the nodes.

        The model of the nodes is made only if it is small for the limit (``VARIABLES``): with more variables, its making
        takes the time, and the solver improves nothing in the rest. The order of the relaxation's starts does.

        Parameters
        ----------
        problem, start, seed, deadline, jobs, pooled
            As of ``solve``.
        placed : callable
            Places the waiting jobs in an order of their indices.

        Returns
        -------
        Solved
            Its schedule has nodes. "optimal": it costs no more than the optimum of the relaxation, or is proven on the nodes.
        """
        relaxed = replace(self, formulation=RELAXATION).solve(problem, start, seed, deadline, jobs, pooled)
        if not relaxed.relaxation or relaxed.schedule is None:  # no search was needed or possible, or no solution found
            if relaxed.ended == "infeasible":
                return relaxed
            return relaxed._replace(schedule=start(), relaxation=False)
        began = time.perf_counter()
        starts = column((relaxed.schedule.start[j.id] for j in problem.jobs[:jobs]), jobs)
        own = start()
        order = np.argsort(starts, kind="stable")
        tried = (own, placed(order)) if (np.diff(order) < 0).any() else (own,)  # else it is the order of priority
        known = [(cost_of(problem, s), s) for s in tried if s is not None]
        last, best = min(known, key=itemgetter(0), default=(None, None))
        first = None
        if own is not None:
            first = known[0][0]
        gain = relative_gain(first, last, 1, origin_of(problem))
        spent = relaxed.starting + time.perf_counter() - began, relaxed.modelling, relaxed.solving
        if relaxed.ended == "optimal" and last is not None and last <= cost_of(problem, relaxed.schedule):
            return Solved(best, False, "optimal", gain, *spent)
        if jobs * len(problem.platform.nodes) > VARIABLES * self.control.total:
            return Solved(best, False, "limit" if relaxed.ended == "limit" else "no-gain", gain, *spent)
        solved = self.solve(problem, lambda: best, seed, deadline, jobs)
        if solved.schedule is not None:
            gain = relative_gain(first, cost_of(problem, solved.schedule), 1, origin_of(problem))
        return solved._replace(gain=gain).after(*spent)

    def with_share(self, share: float) -> Solver:
        """Return the solver with a share of the limit of a decision; adaptive limits have no shares."""
        if isinstance(self.control, AdaptiveControl):
            raise WrongArgument("adaptive limits of decisions cannot be shared between objectives")
        total = share * self.control.total
        return replace(self, control=replace(self.control, first=min(self.control.first, total), total=total))

    def solve_keeping(
        self,
        problem: Dispatch,
        slack: Mapping[str, float],
        start: Begin,
        seed: int,
        deadline: float,
        jobs: int,
    ) -> Solved:
        """Solve a problem while other objectives are kept within a slack of their own optimum.

        Each kept objective is optimized alone, from the best schedule of multi-search for it; its value there, with the
        slack, is the limit for the last solve, which starts from the best known schedule that keeps all limits. If that
        ends without a schedule, the answer is the schedule of the kept objective that overruns the limits least.

        Parameters
        ----------
        problem : Dispatch
            The problem with its main objective.
        slack : mapping of str to float
            The slack of each kept objective, see ``models.dispatch.composite``; not empty.
        start, seed, deadline, jobs
            As of ``solve``; the deadline is that of all solves together.

        Returns
        -------
        Solved
            ``ended`` is that of the last solve.
        """
        share = PURE_SHARE / len(slack)
        begin = deadline - self.control.total
        known: dict[str, Schedule] = {}
        theta: dict[str, float] = {}
        spent = 0.0, 0.0, 0.0
        for k, name in enumerate(slack, 1):
            alone = problem.replace(objective=name)
            solved = self.with_share(share).solve(alone, start, seed, begin + k * share * self.control.total, jobs)
            solved = solved.after(*spent)
            spent = solved.starting, solved.modelling, solved.solving
            if solved.schedule is None:
                return solved
            known[name] = solved.schedule
            theta[name] = alone.value(solved.schedule)
        bounded = problem.replace(limits=limits_of(problem, theta, slack))
        own = start()
        if own is None:
            candidates = known
        else:
            candidates = {**known, "": own}
        if self.control.deterministic:
            last = self.with_share(1 - PURE_SHARE)
        else:
            last = self
        best = best_kept(bounded, candidates)
        solved = replace(last, searched=False).solve(bounded, lambda: best, seed, deadline, jobs)
        if solved.schedule is None:
            chosen = nearest(bounded, known)
            solved = solved._replace(schedule=None if chosen is None else known[chosen])
        return solved.after(*spent)

    def solve_few(
        self,
        problem: Dispatch,
        slack: Mapping[str, float],
        start: Begin,
        seed: int,
        deadline: float,
        few: FewJobs,
        placed: Placed | None = None,
        pooled: Begin | None = None,
    ) -> tuple[Solved, int]:
        """Solve a problem with a limited number of waiting jobs: those that multi-search starts first; the others follow.

        Parameters
        ----------
        problem, slack, start, seed, deadline, pooled
            As of ``solve_keeping`` and ``solve``; ``slack`` may be empty.
        few : FewJobs
            The largest number of waiting jobs in the model.
        placed : callable, optional
            As of ``solve_relaxed_first``, which is used if it is given.

        Returns
        -------
        tuple of Solved and int
            The solution, and the number of jobs in the model.
        """
        plan = None
        fixed = len(problem.jobs) - few.waiting
        if few.most is not None and few.waiting > few.most:
            plan = best_start(problem, start(), None if self.control.deterministic else deadline)
            if plan is not None:
                problem = planned_first(problem, plan, few.waiting, few.most)
                start = partial(Schedule, {j.id: plan.start[j.id] for j in problem.jobs}, plan.nodes)
        number = len(problem.jobs)
        if placed is not None:
            solved = self.solve_relaxed_first(problem, placed, start, seed, deadline, number - fixed, pooled)
        elif slack:
            solved = self.solve_keeping(problem, slack, start, seed, deadline, number - fixed)
        else:
            solved = self.solve(problem, start, seed, deadline, number - fixed, pooled)
        if plan is not None and solved.schedule is not None:
            solved = solved._replace(schedule=followed_by(solved.schedule, plan))
        return solved, number


@cache
def warm_up(backend: str, formulation: str) -> None:
    """Solve a tiny problem, so that imports of the solver and of kernels are no part of the first decision."""
    problem = tiny()
    deadline = time.perf_counter() + 1
    with suppress(SolverUnavailable):  # raised again by the first decision that needs the solver
        if (made := modelled(problem, formulation, backend, None)) is not None:
            search(made[1], made[0].model, None, Control(0.1, 1.0), 0, deadline)
    warm_up_kernels()


def modelled(
    problem: Dispatch,
    formulation: str,
    backend: str,
    deadline: float | None,
    adjust: Callable[[Encoding], None] | None = None,
) -> tuple[Encoding, Compiled] | None:
    """Return the model of a problem and its native form; None if they are not ready at the deadline.

    Parameters
    ----------
    problem : Dispatch
        The problem.
    formulation, backend : str
        Names of the formulation and of the backend.
    deadline : float or None
        Time on the clock ``time.perf_counter``; None: no limit.
    adjust : callable, optional
        Adds constraints to the model.
    """
    try:
        with within(Deadline.until(deadline)):
            encoding = problem.formulations[formulation]()
            if adjust is not None:
                adjust(encoding)
            return encoding, compile_model(encoding.model, backend)
    except OutOfTime:
        return None
