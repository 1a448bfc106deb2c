"""The search of one decision: the solver runs in steps with doubled limits, each from the best solution so far."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .....backends import INTERRUPTED, Compiled, Interrupted, Limits, Outcome, backend
from .....backends.parameters.limits import Value
from .....backends.parameters.obeyed import checked, require_obeyed
from .....backends.recorder import Recorder
from .....errors import SolverFailed, WrongArgument, WrongValue
from .....models.comparing import hashable
from .....models.language import Assignment, Model
from ....dispatcher import Ended
from ..waiting import Waiting

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
        usual = QUICK_SEARCH.get(backend, {}) if parameters is None else parameters
        steps = PATIENCE if patience is None else patience
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
            checked(backend(name), limits)

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
    recorder = Recorder(model, model, compiled.exactness, time.perf_counter(), None, None)
    if warm is not None:
        recorder.solution(warm)
    start, spent, stalled, step = recorder.objective, 0.0, 0, 0
    length, ended = control.first, "limit"
    while stalled < control.patience:
        left = control.total - spent if control.deterministic else min(control.total, deadline - time.perf_counter())
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
        stalled, spent, length, step = 0 if improved else stalled + 1, spent + length, 2 * length, step + 1
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
    return better / abs(start - origin) if start != origin else None


def limit_of(limit: float | None, deterministic: float | None) -> float:
    """Return the limit of one decision; raise WrongArgument or WrongValue if the two arguments do not give one."""
    if limit is not None and deterministic is not None:
        raise WrongArgument("limit (seconds) and deterministic (units of the solver) both limit a decision; give one")
    for name, value in (("limit", limit), ("deterministic", deterministic)):
        if value is not None and (isinstance(value, bool) or not 0 < value < float("inf")):
            raise WrongValue(f"{name} is {value!r} per decision; expected a number above 0")
    return SECONDS if limit is None and deterministic is None else float(limit or deterministic or 0)
