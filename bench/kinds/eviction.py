"""What the bench needs to know about eviction problems: numbers of nodes, runs over all deadlines, tables, plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from rich.console import Console

from ...backends import Incumbent
from ...instances import Instance
from ...methods import Method
from ...models.eviction.problem import Eviction
from ...models.problem import Problem, Schedule
from ..records.form import Form
from ..records.store import Record
from ..runs.defaults import WHOLE, Default, Defaults
from ..runs.view import View
from . import deadlines
from .base import Drawing
from .plain import PlainKind

BY_HEURISTIC = (Default("auto", 30), Default("dp"), Default("greedy"), Default("backtracking", 30))
SERIAL_EVICTION = (*BY_HEURISTIC, *(Default(f"{name}:serial", 30) for name in ("cpsat", "highs", "cpo")))
SHARED_EVICTION = (*BY_HEURISTIC[:3], *(Default(f"{name}:shared+warm", 60) for name in ("cpsat", "cpo")))


class EvictionKind(PlainKind):
    """Eviction problems: a run answers the deadline of the problem and every earlier one."""

    view_options = ("nodes_needed",)

    @property
    def record_fields(self) -> Mapping[str, Form]:
        """The answers for all deadlines and their response times."""
        return deadlines.FORMS

    def default_views(self, instance: Instance) -> Defaults:
        """Return the instance with its own number of nodes to free, then with the numbers it is compared with."""
        shared = instance.eviction.shared_bandwidth
        others = [View(nodes_needed=n) for n in instance.nodes_compared if not shared]
        return dict.fromkeys((WHOLE, *others), SHARED_EVICTION if shared else SERIAL_EVICTION)

    def problem(self, instance: Instance, view: View) -> Eviction:
        """Return the problem with another number of nodes to free."""
        problem = instance.eviction
        return problem if view.nodes_needed is None else problem.replace(nodes_needed=view.nodes_needed)

    def run(
        self,
        problem: Problem,
        method: Method,
        limits: Mapping[str, Any],
        on_incumbent: Callable[[Incumbent], Any],
        on_solved: Callable[[], None],
    ) -> Record:
        """Answer the deadline of the problem and the earlier ones.

        ``on_solved`` is not called: answers and their checks alternate, and the time limit counts for both.
        """
        return deadlines.run_in_worker(cast(Eviction, problem), method, limits, on_incumbent)

    def extra_fields(self, problem: Problem, schedule: Schedule) -> Record:
        """Return the fields of an answer for the deadline of the problem only."""
        return deadlines.fields_of_one(cast(Eviction, problem), schedule)

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return the answers that contradict the exact optimum of their deadline."""
        return deadlines.faults_of_deadlines(cast(Eviction, problem), record)

    def show_results(self, console: Console, records: Iterable[Record], explain: bool) -> list[str]:
        """Print a table for each instance and number of nodes to free."""
        from ..tables import eviction as table

        wrong = []
        for title, results in table.eviction_results(records):
            wrong += table.show(console, title, results, explain)
        return wrong

    def draw(self, records: Iterable[Record], methods: Sequence[str]) -> Drawing:
        """Draw the least loss by deadline, the extra loss of greedy, and response times."""
        from ..plots.eviction import sections

        return Drawing("jobs to evict", *sections(records))

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of batch jobs and of the nodes they use."""
        of = cast(Eviction, problem)
        return str(len(of.jobs)), str(of.nodes_in_use)

    def describe(self, console: Console, instance: Instance) -> None:
        """Print the nodes to free, the deadline and the jobs."""
        from ..show.eviction import show_eviction

        show_eviction(console, instance.eviction)


EVICTION = EvictionKind()
