"""What the bench needs to know about a problem kind, and where it finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...models.problem import Problem, Schedule
from . import bench_object

if TYPE_CHECKING:
    from rich.console import Console

    from ...backends import Incumbent
    from ...instances import Instance
    from ...methods import Method
    from ...models.gantt import Gantt
    from ..records.store import Record
    from ..runs.view import Defaults, View


class Drawing(NamedTuple):
    """The part of the page of ``bench plot`` about one problem kind.

    Parameters
    ----------
    caption
        What is drawn, for the head of the page.
    sections
        HTML sections.
    runs
        Number of runs that are drawn.
    """

    caption: str
    sections: Sequence[str] = ()
    runs: int = 0


class BenchKind(Protocol):
    """What differs between problem kinds in the bench.

    ``plain.PlainKind`` is the usual implementation. A kind of a third party derives from it and overrides what differs;
    ``ProblemKind.bench`` names the object.
    """

    @property
    def view_options(self) -> Sequence[str]:
        """The fields of ``View`` that this kind takes, such as "first"; the command line refuses all others."""

    @property
    def replayed(self) -> bool:
        """Whether dispatchers can replay its instances."""

    @property
    def compared_in_plots(self) -> bool:
        """Whether ``bench plot --methods`` chooses the methods that are drawn."""

    @property
    def guided(self) -> bool:
        """Whether ``bench guide`` learns from its records."""

    @property
    def record_fields(self) -> Mapping[str, Any]:
        """The extra fields of its records, with the types of their values in JSON (``records.store``); a run without an answer lacks them."""

    @property
    def nested_fields(self) -> Sequence[str]:
        """The extra fields that are objects whose fields are columns of their own in ``read_results``."""

    def default_views(self, instance: Instance) -> Defaults:
        """Return the views that ``bench run`` runs by default, each with its methods and time limits."""

    def is_empty(self, problem: Problem, view: View) -> bool:
        """Return whether a view of a problem has no jobs, so that it is no default."""

    def problem(self, instance: Instance, view: View) -> Problem:
        """Return the problem of a view, in which only fields of ``view_options`` are set.

        Raises
        ------
        WrongUse, UnknownName
            A value of the view does not suit the instance.
        """

    def run(
        self,
        problem: Problem,
        method: Method,
        limits: Mapping[str, Any],
        on_incumbent: Callable[[Incumbent], Any],
        on_solved: Callable[[], None],
    ) -> Record:
        """Run a method in the worker process and return the fields of its record.

        Parameters
        ----------
        problem
            The problem.
        method
            The method.
        limits
            Arguments of ``solve``: ``time_limit`` (seconds), ``threads``, ``seed``.
        on_incumbent
            Callback for the incumbents.
        on_solved
            Called when the method has ended and only its answer is checked, which does not count as its time.

        Returns
        -------
        Record
            Fields of the record.
        """

    def extra_fields(self, problem: Problem, schedule: Schedule) -> Record:
        """Return the extra fields of a verified schedule; their names are in ``record_fields``."""

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return the faults of the extra fields of a record; ``schedule``: its schedule, None if there is no valid one."""

    def show_results(self, console: Console, records: Iterable[Record], explain: bool) -> list[str]:
        """Print the tables of records of this kind; return a message for each bound that a schedule refutes.

        ``explain``: whether the meaning of every column is printed below each table.
        """

    def draw(self, records: Iterable[Record], methods: Sequence[str]) -> Drawing:
        """Draw the records of this kind, apart from replays; ``methods``: given only if ``compared_in_plots``."""

    def chart(self, record: Mapping[str, Any]) -> Gantt | None:
        """Return the Gantt chart of a record that has all data for it; None if it needs the instance, or has no schedule."""

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of jobs and of nodes for ``bench list``, "-" if the kind has none."""

    def describe(self, console: Console, instance: Instance) -> None:
        """Print for ``bench show`` what an instance contains."""


def bench_kind(name: str) -> BenchKind:
    """Return what the bench needs to know about a problem kind, see ``bench_object``."""
    kind: BenchKind = bench_object(name)
    return kind


def by_kind(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Group records by their problem kind, in the order of their first record."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record["kind"], []).append(record)
    return groups


def show_results(console: Console, records: Iterable[Record], explain: bool = False) -> list[str]:
    """Print the tables of records of any problem kind, see ``BenchKind.show_results``."""
    wrong: list[str] = []
    for kind, members in by_kind(records).items():
        wrong += bench_kind(kind).show_results(console, members, explain)
    return wrong
