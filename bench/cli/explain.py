"""``bench explain``: why a problem is infeasible, as text or JSON; its progress on the standard error."""

from __future__ import annotations

import json
import time
from typing import Annotated

import typer

from ...backends.solver_thread import INTERRUPTED
from ...explain import explain as explain_infeasible
from ...models.elements import Progress
from ...models.problem import Problem
from ...models.words import how_many
from ..errors import WrongUse
from ..replays.settings import PROBLEM
from ..terminal import say
from .options import InstanceName, Part, with_options

SECONDS = 1.0  # least time between two lines of progress


@with_options()
def explain(
    instance: InstanceName,
    *,
    part: Part,
    objective_limit: Annotated[
        str | None,
        typer.Option(
            help="why is no objective at least as good as this? several objectives: 3600,120", rich_help_panel=PROBLEM
        ),
    ] = None,
    backend: Annotated[str, typer.Option(help="the backend that checks parts of the problem")] = "cpsat",
    time_limit: Annotated[float, typer.Option(min=0.001, help="seconds")] = 60.0,
    threads: Annotated[int | None, typer.Option(min=1, help="threads of the solver; default: its own")] = None,
    seed: Annotated[int, typer.Option(min=0, help="random seed of the solver")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="print the answer as JSON")] = False,
) -> None:
    """Explain why an instance is infeasible.

    The answer is a minimal set of jobs, resources, windows and limits that cannot hold together. Exit code 0 if it was found,
    or if the instance is feasible; 1 if that was not decided in the time given, or if the
    solver was found to be wrong.

    Example: bench explain my_day --at 12:00

    Example: bench explain project_small --objective-limit 20
    """
    is_decided = explain_problem(part.problem(instance), objective_limit, backend, time_limit, threads, seed, as_json)
    raise typer.Exit(0 if is_decided else 1)


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
        explanation = explain_infeasible(
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
