"""Solve a problem with a composite objective: one objective is optimized, others stay near their own optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from .backends import Result
from .backends.base import Value
from .backends.solver_thread import INTERRUPTED
from .errors import WrongArgument
from .methods import Method
from .methods.run_solver import OnIncumbent, without_solver
from .methods.text import call_limits, chosen_method
from .models.arguments import checked
from .models.long_calls import Deadline
from .models.problem import Problem, Schedule
from .models.words import with_short_repr
from .solve import model_or_problem, solve

if TYPE_CHECKING:
    from .instances import Instance
    from .models import Dispatch

OnLimits = Callable[[dict[str, float], dict[str, float]], object]
PURE_SHARE = 0.5  # of the limit: for the kept objectives together; the composite gets all that is left


@with_short_repr
@dataclass(frozen=True, eq=False)
class Composite:
    """The result of ``composite``.

    Parameters
    ----------
    main : str
        The objective that was optimized.
    slack : mapping of str to float
        The slack of each kept objective.
    pure : mapping of str to Result
        The result of each kept objective alone.
    theta : mapping of str to float
        The value of each kept objective in its own result: the optimum, or the best value in the time given.
    limits : mapping of str to float
        The limits that follow from theta and the slack, with those of the problem; empty if a theta is missing.
    result : Result
        The result of the main objective with these limits; its ``problem`` has the limits.
    fallback : str or None
        If the composite ended without a schedule: the kept objective whose own schedule overruns the limits least, by the
        greatest value / limit; ties by the main objective.
    seconds : float
        Wall time of the call.
    """

    main: str
    slack: Mapping[str, float]
    pure: Mapping[str, Result]
    theta: Mapping[str, float]
    limits: Mapping[str, float]
    result: Result
    fallback: str | None = None
    seconds: float = field(default=0.0, compare=False)

    @property
    def statuses(self) -> dict[str, str]:
        """The status of each kept objective and of the composite, by the name of the objective; the main one is last."""
        found: dict[str, str] = {name: r.status for name, r in self.pure.items()}
        return {**found, self.main: self.result.status}

    @property
    def schedule(self) -> Schedule | None:
        """The schedule of the composite; if there is none, that of ``fallback``, which breaks a limit."""
        if self.result.schedule is not None or self.fallback is None:
            return self.result.schedule
        return self.pure[self.fallback].schedule


@checked(values=False, skip=("keep", "method"))
def composite(
    what: Problem | Instance | str,
    main: str,
    keep: Mapping[str, float],
    method: Method | str | None = None,
    *,
    time_limit: float | None = None,
    deterministic_limit: float | None = None,
    on_incumbent: OnIncumbent | None = None,
    on_limits: OnLimits | None = None,
    backend: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    threads: int | None = None,
    seed: int = 0,
    gap_limit: float | None = None,
    **options: Any,
) -> Composite:
    """Optimize one objective of a dispatching problem while others are kept near their own optimum.

    1. Each kept objective is optimized alone; theta is the value that is reached, within its share of the limits.
    2. Its limit is theta times its slack; a makespan is measured from the problem's ``now``.
    3. The main objective is optimized under these limits.

    Half of the time limit is for the kept objectives, in equal parts; the rest, with what they have left, is for the last
    step. A method that takes a start, and has none, starts from the usual heuristic of each kept objective, and in the
    last step from the best known schedule that keeps all limits; if there is none, from nothing.

    Parameters
    ----------
    what : Dispatch, Instance or str
        The problem; a text is the name of an instance, or the path of its folder. Its own limits are kept as well.
    main : str
        The objective that is optimized.
    keep : mapping of str to float
        The slack of each kept objective, at least 1: 1.1 allows 10 % above theta.
    method : Method, str or None
        As of ``solve``; used in all steps.
    time_limit : float or None
        Wall time of the whole call in seconds; None: no limit.
    deterministic_limit : float or None
        As of ``solve``, of all steps together.
    on_incumbent : callable or None
        Called with each Incumbent of the last step, which keeps all limits; as of ``solve``.
    on_limits : callable or None
        Called with theta and the limits, two dicts, before the last step.
    backend, parameters, threads, seed, gap_limit, **options
        As of ``solve``, for each step.

    Returns
    -------
    Composite
        If a kept objective ends without a schedule, ``result`` says so, and the last step is left out.

    Raises
    ------
    ProblemError
        If an objective is unknown, a slack is below 1, or the main objective or one that the problem limits is kept.
    TypeError
        If the problem has no named objectives, or as ``solve``.

    References
    ----------
    [Bridi2018, 3.3.1 to 3.4].

    Examples
    --------
    >>> import schedlab as sl
    >>> noon = sl.load("eurora_99").problem.at(12 * 3600, first=8)
    >>> found = sl.composite(noon, "makespan", {"late-jobs": 1.1, "weighted-tardiness": 1.2}, "multi-search")
    >>> found.theta["late-jobs"], found.result.problem.verify(found.schedule)
    (7, [])
    """
    problem: Any = model_or_problem(what)
    if not hasattr(problem, "limits") or problem.kind != "dispatch":
        raise WrongArgument(f"{what!r:.80} has no composite objectives; expected a dispatching problem")
    call_limits(time_limit, threads, seed, gap_limit, deterministic_limit, {})
    from .models.dispatch.composite import checked_slack

    slack = checked_slack(main, keep, problem.limits)
    steps = _Steps(
        cast("Dispatch", problem.replace(objective=main)),
        slack,
        chosen_method(method, backend, parameters, options, "cpsat"),
        time_limit,
        deterministic_limit,
        {"threads": threads, "seed": seed, "gap_limit": gap_limit},
    )
    return steps.run(on_incumbent, on_limits)


class _Steps:
    """The steps of one call."""

    def __init__(
        self,
        problem: Dispatch,
        slack: Mapping[str, float],
        method: Method,
        time_limit: float | None,
        deterministic: float | None,
        arguments: Mapping[str, Any],
    ) -> None:
        self.problem, self.slack, self.method = problem, slack, method
        self.deadline = Deadline(time_limit)
        self.deterministic = deterministic
        self.arguments = arguments
        self.pure: dict[str, Result] = {}
        self.theta: dict[str, float] = {}
        self.takes_start = "warm_start" in method.obeyed() and method.start is None

    def run(self, on_incumbent: OnIncumbent | None, on_limits: OnLimits | None) -> Composite:
        """Take all steps."""
        for name in self.slack:
            found = self._alone(name)
            if found.schedule is None or found.objective is None or found.message == INTERRUPTED:
                return self._made(self._ended(name, found), {})
            self.theta[name] = cast(float, found.objective)
        from .models.dispatch.composite import limits_of

        limits = limits_of(self.problem, self.theta, self.slack)
        if on_limits is not None:
            on_limits(dict(self.theta), dict(limits))
        return self._made(self._bounded(limits, on_incumbent), limits)

    def _alone(self, name: str) -> Result:
        """Optimize one kept objective."""
        share = PURE_SHARE / len(self.slack)
        start = None
        if self.takes_start and self.method.heuristic is None:
            start = "usual"
        self.pure[name] = self._solve(self.problem.replace(objective=name), share, self.deadline.limit, start)
        return self.pure[name]

    def _bounded(self, limits: Mapping[str, float], on_incumbent: OnIncumbent | None) -> Result:
        """Optimize the main objective under the limits."""
        from .models.dispatch.composite import best_kept

        bounded = self.problem.replace(limits=limits)
        known = None
        if "warm_start" in self.method.obeyed():
            known = best_kept(bounded, self._schedules())
        return self._solve(bounded, 1 - PURE_SHARE, self.deadline.remaining, known, on_incumbent, whole=True)

    def _solve(
        self,
        problem: Dispatch,
        share: float,
        seconds: float | None,
        start: Schedule | str | None,
        on_incumbent: OnIncumbent | None = None,
        whole: bool = False,
    ) -> Result:
        """Solve with a share of the limits; ``whole``: with all of the seconds."""
        return solve(
            problem,
            self.method,
            time_limit=seconds if seconds is None or whole else share * seconds,
            deterministic_limit=None if self.deterministic is None else share * self.deterministic,
            warm_start=start,
            on_incumbent=on_incumbent,
            **self.arguments,
        )

    def _schedules(self) -> dict[str, Schedule]:
        return {name: r.schedule for name, r in self.pure.items() if r.schedule is not None and not r.violations}

    def _ended(self, name: str, found: Result) -> Result:
        """Return the result of a call that ends with a kept objective."""
        why = found.message
        if why != INTERRUPTED:
            why = "; ".join(filter(None, [f"{name}, which is to be kept, ended as {found.status}", found.message]))
        result = without_solver(self.problem, self.method.text, self.deadline, why)
        if found.status in ("infeasible", "unavailable", "error"):
            result.status = found.status
        return result

    def _made(self, result: Result, limits: Mapping[str, float]) -> Composite:
        fallback = None
        if result.schedule is None and limits:
            from .models.dispatch.composite import nearest

            fallback = nearest(self.problem.replace(limits=limits), self._schedules())
        main = self.problem.objective
        seconds = self.deadline.elapsed
        return Composite(main, self.slack, self.pure, self.theta, dict(limits), result, fallback, seconds)


__all__ = ["Composite", "composite"]
