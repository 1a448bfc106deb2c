"""The run of a composite objective: one objective is optimized, others are kept near their own optimum.

Extra field of the record:

- ``composite``: object with ``theta`` (the value of each kept objective in its own solve), ``limits``, ``values`` (of the
  kept objectives in the schedule), ``statuses`` (of each kept objective and of the composite), ``fallback`` (the kept
  objective whose own schedule is nearest to the limits, if the composite has none), ``seconds`` (of each kept objective).
  The slack is part of the view, ``keep``. ``values`` and what follows are missing if the run was broken off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from ...backends import Incumbent
from ...composite import Composite, composite
from ...methods import Method
from ...models.dispatch.costs.composite import checked_slack, limits_of
from ...models.dispatch.objectives import find_objective
from ...models.dispatch.problem import Dispatch
from ...models.problem import Problem, Schedule
from ..records.answer import answer
from ..records.form import FIGURES, NUMBER, TEXT, Form, fields, mapping, maybe
from ..records.record import agree
from ..records.store import Record

FORM = fields(
    {"theta": mapping(NUMBER), "limits": mapping(NUMBER)},
    {"values": FIGURES, "statuses": mapping(TEXT), "fallback": maybe(TEXT), "seconds": FIGURES},
)
FORMS: Mapping[str, Form] = {"composite": maybe(FORM)}


def slack_of(keep: str) -> dict[str, float]:
    """Return the slack of each kept objective of a view.

    >>> slack_of("late-jobs=1.1,weighted-tardiness=2")
    {'late-jobs': 1.1, 'weighted-tardiness': 2.0}
    """
    return {name: float(slack) for name, _, slack in (part.partition("=") for part in keep.split(","))}


def check_keep(problem: Dispatch, main: str, keep: str) -> None:
    """Raise ProblemError if the kept objectives do not suit the main one and the problem."""
    checked_slack(main, slack_of(keep), problem.limits)


def run_composite(
    keep: str,
    on_limits: Callable[[Record], Any],
    problem: Problem,
    method: Method,
    limits: Mapping[str, Any],
    on_incumbent: Callable[[Incumbent], Any],
    on_solved: Callable[[], None],
) -> Record:
    """Run a method with a composite objective, as ``BenchKind.run`` does; ``on_limits`` gets theta and the limits.

    Parameters
    ----------
    keep
        The kept objectives of the view.
    on_limits
        Called with the begin of the field ``composite`` before the composite itself is solved.
    problem, method, limits, on_incumbent, on_solved
        As of ``BenchKind.run``.

    Returns
    -------
    Record
        Fields of the record.
    """
    dispatch = cast(Dispatch, problem)
    found = composite(
        dispatch,
        dispatch.objective,
        slack_of(keep),
        method,
        on_incumbent=on_incumbent,
        on_limits=lambda theta, most: on_limits({"theta": theta, "limits": most}),
        **limits,
    )
    on_solved()
    return answer(cast(Problem, found.result.problem), found.result) | {"composite": _fields(dispatch, found)}


def _fields(problem: Dispatch, found: Composite) -> Record:
    schedule = found.result.schedule
    return {
        "theta": dict(found.theta),
        "limits": dict(found.limits),
        "values": {} if schedule is None else values(problem, found.slack, schedule),
        "statuses": found.statuses,
        "fallback": found.fallback,
        "seconds": {name: r.seconds for name, r in found.pure.items()},
    }


def values(problem: Dispatch, names: Mapping[str, Any] | Sequence[str], schedule: Schedule) -> dict[str, float]:
    """Return the values of objectives of a schedule of all jobs."""
    return {name: find_objective(name).value(problem, schedule) for name in names}


def bounded(problem: Problem, record: Mapping[str, Any]) -> Problem:
    """Return the problem with the limits of a record with a composite objective; the same problem for any other record."""
    found = record.get("composite")
    if not isinstance(found, dict) or not isinstance(found.get("limits"), dict):
        return problem
    dispatch = cast(Dispatch, problem)
    return dispatch.replace(limits={**dispatch.limits, **found["limits"]})


def faults(problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
    """Return the faults of the field ``composite``: limits that do not follow from theta and the slack, wrong values."""
    keep, found = record["view"].get("keep"), record.get("composite")
    if keep is None or found is None:
        missing = keep is not None and schedule is not None
        extra = keep is None and found is not None
        return (
            ["it has no limits, but its view keeps objectives"]
            if missing
            else ["its view keeps nothing"]
            if extra
            else []
        )
    dispatch, slack, theta = cast(Dispatch, problem), slack_of(keep), found["theta"]
    result = [f"it keeps {name}, its view does not" for name in theta if name not in slack]
    if schedule is not None and set(theta) != set(slack):
        result.append(f"it has theta of {', '.join(theta)}, its view keeps {keep}")
    if result or not found["limits"]:
        return result
    own = {name: most for name, most in dispatch.limits.items() if name not in slack}
    true = limits_of(dispatch.replace(limits=own), theta, slack)
    for name, most in true.items():
        if not agree(most, found["limits"].get(name)):
            result.append(f"it has limit {found['limits'].get(name)} on {name}, theta and slack give {most}")
    reached = {} if schedule is None else values(dispatch, slack, schedule)
    result += [
        f"it has {name} {found['values'].get(name)}, its schedule has {value}"
        for name, value in reached.items()
        if found.get("values") and not agree(value, found["values"].get(name))
    ]
    return result
