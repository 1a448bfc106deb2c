"""What the bench needs to know about profit problems: scenarios, default runs, accounts, tables, plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from rich.console import Console

from ...instances import Instance
from ...models.problem import Problem, Schedule
from ...models.profit.problem import Profit
from ..records.store import Record
from ..runs.view import SMALL, Default, Defaults, View
from . import accounts
from .base import Drawing
from .dispatch import first_jobs
from .plain import PlainKind

LARGE = 5000  # a problem with more jobs gets the defaults for large instances
RULES = tuple(f"rule:{key}{strict}" for key in ("est", "wt", "profit") for strict in ("", "-strict"))
SEARCHES = ("multi-search", "delay-search", "relaxation-search@cpsat", "lns", "lns@cpsat")
BOUND = "highs:fluid@lp"
COLD = (Default("cpsat:counts"), Default("cpsat:pool"), Default("cpo:pool"), Default(BOUND))
MEDIUM_PROFIT = (
    Default("auto", 20),
    *(Default(name, 2) for name in RULES),
    *(Default(name, 20) for name in SEARCHES),
    *COLD,
)
SMALL_PROFIT = (*MEDIUM_PROFIT, Default("highs:counts@pairwise", 20), Default("cpo:counts"))
LARGE_PROFIT = (
    Default("auto", 180),
    *(Default(name, 60) for name in RULES),
    *(Default(name, 180) for name in ("multi-search", "delay-search", "lns", BOUND)),
)


class ProfitKind(PlainKind):
    """Profit problems: scenarios, and records with the accounts of their schedules."""

    view_options = ("first", "scenario")
    compared_in_plots = guided = True
    nested_fields = ("account", "account.horizon", "account.end")

    @property
    def record_fields(self) -> Mapping[str, Any]:
        """The accounts, the makespan, the days and the curves over time."""
        return accounts.FIELDS

    def default_views(self, instance: Instance) -> Defaults:
        """Return the default scenario with rules, searches, solvers and a bound, by the size of the instance."""
        problem = instance.profit
        if len(problem.jobs) > LARGE:
            usual = LARGE_PROFIT
        elif len(problem.platform.nodes) <= SMALL:
            usual = SMALL_PROFIT
        else:
            usual = MEDIUM_PROFIT
        return {View(scenario=None if instance.centre is None else instance.centre.default): usual}

    def problem(self, instance: Instance, view: View) -> Profit:
        """Return the problem of the scenario, else of the default scenario; with ``first`` its horizon is unchanged."""
        problem = instance.profit if view.scenario is None else instance.scenario(view.scenario)
        if view.first is None:
            return problem
        return problem.replace(dispatch=problem.dispatch.replace(jobs=first_jobs(problem.dispatch, view.first)))

    def extra_fields(self, problem: Problem, schedule: Schedule) -> Record:
        """Return the accounts of a schedule."""
        return accounts.fields(cast(Profit, problem), schedule)

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return the values of the accounts that are not those of the schedule."""
        return [] if schedule is None else accounts.faults_of_account(cast(Profit, problem), record, schedule)

    def show_results(self, console: Console, records: Iterable[Record], explain: bool) -> list[str]:
        """Print a table for each scenario, and an overview of several scenarios."""
        from ..tables.profit import show_profits

        return show_profits(console, records, explain)

    def draw(self, records: Iterable[Record], methods: Sequence[str]) -> Drawing:
        """Draw schedules over time, the profit of each method, and when it was found."""
        from ..plots.profit_section import sections

        return Drawing("profits of the schedules", *sections(records, methods))

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of jobs and of nodes."""
        of = cast(Profit, problem)
        return str(len(of.jobs)), str(len(of.platform.nodes))

    def describe(self, console: Console, instance: Instance) -> None:
        """Print the platform, the queues, the demand, the prices and the scenarios."""
        from ..show.instances import show_dispatch, show_profit

        show_dispatch(console, instance.profit.dispatch)
        show_profit(console, instance)


PROFIT = ProfitKind()
