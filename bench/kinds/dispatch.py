"""What the bench needs to know about dispatching problems: views, default runs, tables with those of replays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from rich.console import Console

from ...backends import UnknownName
from ...instances import Instance
from ...instances.files.own_files import content_of
from ...instances.files.profile_file import read_profile
from ...models.dispatch.jobs import Job
from ...models.dispatch.objectives import objective_names
from ...models.dispatch.problem import Dispatch
from ...models.platform import ProblemError
from ...models.problem import Problem, Schedule
from ..errors import WrongUse
from ..records.form import Form
from ..records.store import Record
from ..runs.defaults import DAY_REPLAYED, NOON, SMALL, WHOLE, Default, Defaults
from ..runs.view import View
from .composites import FORMS, check_keep
from .composites import faults as composite_faults
from .plain import PlainKind
from .replays.energy import ENERGY
from .replays.preemption import PREEMPTION
from .replays.production import OUTAGES, PRODUCTION

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
    def record_fields(self) -> Mapping[str, Form]:
        """The theta and limits of a composite objective, see ``composites``; reservations, see ``production``."""
        return {**FORMS, "production": PRODUCTION, "outages": OUTAGES, "preemption": PREEMPTION, "energy": ENERGY}

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return the faults of a composite objective."""
        return composite_faults(problem, record, schedule)

    def default_views(self, instance: Instance) -> Defaults:
        """Return a snapshot at noon (of a large instance), the whole day, and its replay if all runtimes are known."""
        problem = instance.dispatch
        if instance.reservations:
            return {DAY_REPLAYED: BESIDE_RESERVATIONS}
        usual = SMALL_DISPATCH if len(problem.platform.nodes) <= SMALL else LARGE_DISPATCH
        known = all(j.runtime is not None for j in problem.jobs)
        return {view: methods for view, methods in usual.items() if view != DAY_REPLAYED or known}

    def is_empty(self, problem: Problem, view: View) -> bool:
        """Return whether no job is submitted by the time of the snapshot."""
        at = view.at
        return at is not None and all(j.submit > at for j in cast(Dispatch, problem).jobs)

    def problem(self, instance: Instance, view: View) -> Dispatch:
        """Return the problem of the snapshot, of the first jobs, with other durations or another objective."""
        problem = instance.dispatch
        objective = problem.objective if view.objective is None else view.objective
        if objective not in objective_names():
            raise UnknownName("objective", objective, list(objective_names()))
        if view.keep is not None:
            check_keep(problem, objective, view.keep)
        own = {} if view.desired is None else {"desired": None, "over_cost": None}
        chosen = problem.replace(durations=view.durations, objective=objective, **own)
        if view.at is not None:
            chosen = chosen.at(view.at, view.first)
        elif view.first is not None:
            chosen = chosen.replace(jobs=first_jobs(chosen, view.first))
        if not chosen.jobs:
            raise WrongUse(f"the view {view.label!r} has no jobs: none is submitted by that time")
        return chosen if view.desired is None else _within(chosen, view, view.desired)

    def show_results(self, console: Console, records: Iterable[Record], explain: bool) -> list[str]:
        """Print the tables of the methods, then those of the replays with the offline runs on the same jobs."""
        from ..tables.methods import show_methods
        from ..tables.replays.report import extract_replays, show_dispatch

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
        from ..show.dispatch import show_dispatch, show_production

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
