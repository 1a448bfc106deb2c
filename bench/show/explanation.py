"""What ``bench explain`` prints: why a problem is infeasible, as text or JSON; its progress on the standard error."""

from __future__ import annotations

import json
import time

from ...backends.solver_thread import INTERRUPTED
from ...explain import explain
from ...models.elements import Progress
from ...models.problem import Problem
from ...models.words import how_many
from ..errors import WrongUse
from ..terminal import say

SECONDS = 1.0  # least time between two lines of progress


def explain_problem(
    problem: Problem,
    objective_limit: str | None,
    backend: str,
    time_limit: float,
    threads: int | None,
    seed: int,
    as_json: bool,
) -> bool:
    """Print why a problem is infeasible; return whether it was decided.

    Raises
    ------
    WrongUse
        The limit of the objective has not the expected form, or the objective cannot be limited.
    KeyboardInterrupt
        Ctrl-C, before the problem was proven infeasible.
    """
    try:
        explanation = explain(
            problem,
            objective_limit=None if objective_limit is None else parse_limits(objective_limit),
            backend=backend,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            on_progress=_Lines(),
        )
    except TypeError as e:
        raise WrongUse(str(e)) from e
    if explanation.status == "unknown" and explanation.why == INTERRUPTED:
        raise KeyboardInterrupt
    say(json.dumps(explanation.as_json(), indent=2) if as_json else str(explanation))
    return explanation.status in ("feasible", "infeasible")


def parse_limits(text: str) -> list[float | None]:
    """Return the limits of the objectives of "3600,120"; an empty part is no limit. Raises WrongUse.

    Examples
    --------
    >>> parse_limits("3600"), parse_limits(",120")
    ([3600.0], [None, 120.0])
    """
    try:
        return [float(part) if part.strip() else None for part in text.split(",")]
    except ValueError as e:
        raise WrongUse(
            f"--objective-limit {text}: expected a number, or one for each objective, such as 3600,120"
        ) from e


class _Lines:
    """Print a line of progress at most once per second, when the infeasible set has become smaller."""

    def __init__(self) -> None:
        self.size: int | None = None
        self.at = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        if progress.size != self.size and time.monotonic() - self.at > SECONDS:
            self.size = progress.size
            self.at = time.monotonic()
            say(f"{progress.seconds:.0f} s: {how_many(progress.size or 0, 'element')} cannot hold together", error=True)
