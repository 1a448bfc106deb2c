"""What the bench needs to know about dispatching problems: views, runs, composite objectives, tables with those of replays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired, cast

from rich.console import Console
from typing_extensions import TypedDict

from ...backends import Incumbent
from ...composite import Composite, composite
from ...instances import Instance
from ...instances.files.profile_file import read_profile
from ...instances.files.reading import content_of
from ...methods import Method
from ...models.dispatch.composite import checked_slack, limits_of
from ...models.dispatch.jobs import Job
from ...models.dispatch.objectives import find_objective
from ...models.dispatch.problem import Dispatch
from ...models.platform import ProblemError
from ...models.problem import Problem, Schedule
from ..errors import WrongUse
from ..records.record import agree, answer
from ..records.store import Figures, Number, Record
from ..replays.energy import ENERGY
from ..runs.view import DAY_REPLAYED, NOON, SMALL, WHOLE, Default, Defaults, View
from .plain import PlainKind

# --- The run of a composite objective: one objective is optimized, others are kept near their own optimum.
#
# Extra field of the record:
#
# - ``composite``: object with ``theta`` (the value of each kept objective in its own solve), ``limits``, ``values`` (of the
#   kept objectives in the schedule), ``statuses`` (of each kept objective and of the composite), ``fallback`` (the kept
#   objective whose own schedule is nearest to the limits, if the composite has none), ``seconds`` (of each kept objective).
#   The slack is part of the view, ``keep``. ``values`` and what follows are missing if the run was broken off.


class CompositeForm(TypedDict, closed=True):
    """The field ``composite`` of a record."""

    theta: dict[str, Number]
    limits: dict[str, Number]
    values: NotRequired[Figures]
    statuses: NotRequired[dict[str, str]]
    fallback: NotRequired[str | None]
    seconds: NotRequired[Figures]


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
    composed = composite(
        dispatch,
        dispatch.objective,
        slack_of(keep),
        method,
        on_incumbent=on_incumbent,
        on_limits=lambda theta, most: on_limits({"theta": theta, "limits": most}),
        **limits,
    )
    on_solved()
    return answer(cast(Problem, composed.result.problem), composed.result) | {"composite": _fields(dispatch, composed)}


def _fields(problem: Dispatch, composed: Composite) -> Record:
    schedule = composed.result.schedule
    return {
        "theta": dict(composed.theta),
        "limits": dict(composed.limits),
        "values": {} if schedule is None else values(problem, composed.slack, schedule),
        "statuses": composed.statuses,
        "fallback": composed.fallback,
        "seconds": {name: r.seconds for name, r in composed.pure.items()},
    }


def values(problem: Dispatch, names: Mapping[str, Any] | Sequence[str], schedule: Schedule) -> dict[str, float]:
    """Return the values of objectives of a schedule of all jobs."""
    return {name: find_objective(name).value(problem, schedule) for name in names}


def bounded(problem: Problem, record: Mapping[str, Any]) -> Problem:
    """Return the problem with the limits of a record with a composite objective; the same problem for any other record."""
    recorded = record.get("composite")
    if not isinstance(recorded, dict) or not isinstance(recorded.get("limits"), dict):
        return problem
    dispatch = cast(Dispatch, problem)
    return dispatch.replace(limits={**dispatch.limits, **recorded["limits"]})


def faults(problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
    """Return the faults of the field ``composite``: limits that do not follow from theta and the slack, wrong values."""
    keep = record["view"].get("keep")
    recorded = record.get("composite")
    if keep is None or recorded is None:
        if keep is not None and schedule is not None:
            return ["it has no limits, but its view keeps objectives"]
        if keep is None and recorded is not None:
            return ["its view keeps nothing"]
        return []
    dispatch = cast(Dispatch, problem)
    slack = slack_of(keep)
    theta = recorded["theta"]
    result = [f"it keeps {name}, its view does not" for name in theta if name not in slack]
    if schedule is not None and set(theta) != set(slack):
        result.append(f"it has theta of {', '.join(theta)}, its view keeps {keep}")
    if result or not recorded["limits"]:
        return result
    own = {name: most for name, most in dispatch.limits.items() if name not in slack}
    true = limits_of(dispatch.replace(limits=own), theta, slack)
    for name, most in true.items():
        if not agree(most, recorded["limits"].get(name)):
            result.append(f"it has limit {recorded['limits'].get(name)} on {name}, theta and slack give {most}")
    reached = {}
    if schedule is not None:
        reached = values(dispatch, slack, schedule)
    result += [
        f"it has {name} {recorded['values'].get(name)}, its schedule has {value}"
        for name, value in reached.items()
        if recorded.get("values") and not agree(value, recorded["values"].get(name))
    ]
    return result


# --- What the bench needs to know about dispatching problems: views, default runs, tables with those of replays.

DISPATCHERS = (
    *(Default(name) for name in ("fcfs", "sjf", "rule:wt", "easy", "easy-r", "conservative")),
    *(Default(name) for name in ("pbs-fifo", "pbs-walltime")),
    *(Default(name, 120) for name in ("hcp3@cpsat", "hcp3-d@cpsat", "hcp3-r@cpsat", "pcp3@cpsat")),
)
BESIDE_RESERVATIONS = tuple(
    Default(name)
    for name in ("fcfs", "easy", "conservative", "pbs-fifo", "pbs-walltime", "hcp3@cpsat", "cpmodel@cpsat")
)
CLAIRVOYANT = (Default("multi-search"), Default("highs:pool@1800s..100000s-energy", 50))

LARGE_DISPATCH: Defaults = {
    NOON: (
        Default("auto"),
        Default("multi-search"),
        Default("cpsat:counts"),
        Default("cpsat:counts+warm"),
        Default("cpsat:classes+warm"),
        Default("cpsat:pool+warm"),
        Default("highs:pool@3600s+warm"),
        Default("cpo:pool"),
        Default("cpo:pool+warm"),
        Default("highs:pool@600s..36000s-energy", 20),
        Default("highs:classes@600s..36000s-energy", 40),
    ),
    WHOLE: (
        Default("auto"),
        Default("multi-search"),
        Default("cpsat:pool+warm"),
        Default("highs:pool@1800s..100000s-energy", 50),
    ),
    DAY_REPLAYED: (*DISPATCHERS, *CLAIRVOYANT),
}
SMALL_DISPATCH: Defaults = {
    WHOLE: (
        Default("auto"),
        Default("multi-search"),
        Default("cpsat:counts"),
        Default("cpsat:counts+warm"),
        Default("cpsat:classes+warm"),
        Default("highs:pool@3600s"),
        Default("highs:pool@3600s+warm"),
        Default("cpo:pool"),
        Default("cpo:pool+warm"),
        Default("highs:classes@600s..36000s-energy", 30),
    ),
    DAY_REPLAYED: (*DISPATCHERS, *CLAIRVOYANT),
}


class DispatchKind(PlainKind):
    """Dispatching problems: snapshots, the first jobs, other durations and objectives; replays under dispatchers."""

    view_options = ("at", "first", "durations", "objective", "keep", "desired", "desired_content", "over_cost")
    replayed = True

    @property
    def record_fields(self) -> Mapping[str, Any]:
        """The theta and limits of a composite objective, see ``composites``; reservations, see ``production``."""
        from ..replays.worker import OutageJson, PreemptionJson, ProductionJson

        return {
            "composite": CompositeForm | None,
            "production": ProductionJson | None,
            "outages": list[OutageJson],
            "preemption": PreemptionJson | None,
            "energy": ENERGY,
        }

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return the faults of a composite objective."""
        return faults(problem, record, schedule)

    def default_views(self, instance: Instance) -> Defaults:
        """Return a snapshot at noon (of a large instance), the whole day, and its replay if all runtimes are known."""
        problem = instance.dispatch
        if instance.reservations:
            return {DAY_REPLAYED: BESIDE_RESERVATIONS}
        if len(problem.platform.nodes) <= SMALL:
            usual = SMALL_DISPATCH
        else:
            usual = LARGE_DISPATCH
        known = all(j.runtime is not None for j in problem.jobs)
        return {view: methods for view, methods in usual.items() if view != DAY_REPLAYED or known}

    def is_empty(self, problem: Problem, view: View) -> bool:
        """Return whether no job is submitted by the time of the snapshot."""
        at = view.at
        return at is not None and all(j.submit > at for j in cast(Dispatch, problem).jobs)

    def problem(self, instance: Instance, view: View) -> Dispatch:
        """Return the problem of the snapshot, of the first jobs, with other durations or another objective."""
        problem = instance.dispatch
        if view.objective is None:
            objective = problem.objective
        else:
            objective = view.objective
        find_objective(objective)
        if view.keep is not None:
            check_keep(problem, objective, view.keep)
        own = {}
        if view.desired is not None:
            own = {"desired": None, "over_cost": None}
        chosen = problem.replace(durations=view.durations, objective=objective, **own)
        if view.at is not None:
            chosen = chosen.at(view.at, view.first)
        elif view.first is not None:
            chosen = chosen.replace(jobs=first_jobs(chosen, view.first))
        if not chosen.jobs:
            raise WrongUse(f"the view {view.label!r} has no jobs: none is submitted by that time")
        if view.desired is None:
            return chosen
        return _within(chosen, view, view.desired)

    def show_results(self, console: Console, records: Iterable[Record], explain: bool) -> list[str]:
        """Print the tables of the methods, then those of the replays with the offline runs on the same jobs."""
        from ..tables.dispatchers import show_dispatch
        from ..tables.methods import show_methods
        from ..tables.replays import extract_replays

        replayed, others = extract_replays(records)
        wrong = show_methods(console, others, explain)
        for title, results in replayed:
            wrong += show_dispatch(console, title, results, explain)
        return wrong

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of jobs and of nodes."""
        jobs = cast(Dispatch, problem)
        return str(len(jobs.jobs)), str(len(jobs.platform.nodes))

    def describe(self, console: Console, instance: Instance) -> None:
        """Print the objective, the platform, the queues and the demand."""
        from ..tables.instances import show_dispatch, show_production

        problem = instance.dispatch
        console.print(f"objective: {problem.objective} ({problem.sense})")
        show_dispatch(console, problem)
        show_production(console, instance.reservations, instance.events)


def _within(problem: Dispatch, view: View, file: str) -> Dispatch:
    """Return the problem with the desired use of a view. Raises WrongUse if the file or the problem does not allow it."""
    if content_of(Path(file)) != view.desired_content:
        raise WrongUse(f"--desired {file}: the file was changed after the run")
    profile = read_profile(file, problem.platform)
    try:
        return problem.replace(desired=profile, over_cost=view.over_cost)
    except ProblemError as e:
        raise WrongUse(f"--desired {file}: {e}") from e


def first_jobs(problem: Dispatch, n: int) -> list[Job]:
    """Return the first ``n`` jobs by submit time."""
    return sorted(problem.jobs, key=lambda j: j.submit)[:n]


DISPATCH = DispatchKind()
