"""The usual answers to what the bench needs to know about a problem kind; other kinds derive from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from rich.console import Console

from ...backends import Incumbent, names
from ...instances import Instance
from ...methods import Method
from ...models.gantt import Gantt
from ...models.knapsack import Knapsack
from ...models.model_problem import ModelProblem
from ...models.problem import Problem, Schedule
from ...models.words import how_many
from ...solve import solve
from ..records.record import answer
from ..records.store import Record
from ..runs.view import WHOLE, Default, Defaults, View
from .base import Drawing

LIMIT = 60.0  # seconds of a default run


class PlainKind:
    """A kind without views, extra fields of its records and plots: see ``BenchKind``.

    By default its first formulation is run on each backend, and its results are the table of methods.
    """

    view_options: Sequence[str] = ()
    replayed = compared_in_plots = guided = False
    nested_fields: Sequence[str] = ()

    @property
    def record_fields(self) -> Mapping[str, Any]:
        """No extra fields."""
        return {}

    def default_views(self, instance: Instance) -> Defaults:
        """Return the whole instance with the first formulation on each backend."""
        first = next(iter(instance.problem.formulations))
        return {WHOLE: [Default(f"{name}:{first}", LIMIT) for name in names()]}

    def is_empty(self, problem: Problem, view: View) -> bool:
        """Return False: without views there is nothing to be empty."""
        return False

    def problem(self, instance: Instance, view: View) -> Problem:
        """Return the problem of the instance."""
        return instance.problem

    def run(
        self,
        problem: Problem,
        method: Method,
        limits: Mapping[str, Any],
        on_incumbent: Callable[[Incumbent], Any],
        on_solved: Callable[[], None],
    ) -> Record:
        """Solve the problem once and check the answer."""
        result = solve(problem, method=method.text, on_incumbent=on_incumbent, **limits)
        on_solved()
        return answer(problem, result)

    def extra_fields(self, problem: Problem, schedule: Schedule) -> Record:
        """Return no extra fields."""
        return {}

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return no faults: there are no extra fields."""
        return []

    def show_results(self, console: Console, records: Iterable[Record], explain: bool) -> list[str]:
        """Print the table of methods for each view."""
        from ..tables.methods import show_methods

        return show_methods(console, records, explain)

    def draw(self, records: Iterable[Record], methods: Sequence[str]) -> Drawing:
        """Draw nothing."""
        return Drawing("")

    def chart(self, record: Mapping[str, Any]) -> Gantt | None:
        """Return None: the chart is drawn from the instance."""
        return None

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return "-" for the number of jobs and of nodes."""
        return "-", "-"

    def describe(self, console: Console, instance: Instance) -> None:
        """Print nothing more than ``bench show`` does for every kind."""


PLAIN = PlainKind()


# --- What the bench needs to know about knapsacks: sizes, a description.


class KnapsackKind(PlainKind):
    """0-1 knapsacks."""

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of items; a knapsack has no nodes."""
        return str(len(cast(Knapsack, problem).items)), "-"

    def describe(self, console: Console, instance: Instance) -> None:
        """Print the number of items, their weight and the capacity."""
        sack = cast(Knapsack, instance.problem)
        weight = sum(float(item.weight) for item in sack.items)
        console.print(f"{how_many(len(sack.items), 'item')} that weigh {weight:g}, capacity {float(sack.capacity):g}")


KNAPSACK = KnapsackKind()


# --- What the bench needs to know about models: a description.


class ModelKind(PlainKind):
    """Models in the modelling language."""

    def describe(self, console: Console, instance: Instance) -> None:
        """Print the beginning of the model."""
        console.print(cast(ModelProblem, instance.problem).model.listing(20), markup=False)


MODEL = ModelKind()
