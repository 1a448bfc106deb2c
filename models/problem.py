"""The interface of every problem: plain data with an objective, which verify a schedule without a solver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, ClassVar, Literal, NoReturn, Protocol, TypeVar

from ..errors import MissingValue, WrongArgument, WrongValue
from .arguments import (
    all_texts,
    all_whole,
    checked,
    is_whole,
    named,
    no_text,
    one_of,
    shown,
    text_of,
    whole_amounts,
    wrong,
)
from .language import Assignment, Model, ModelError, Violation
from .platform import ProblemError
from .plugins import WrongAnswer, returned_number
from .words import excerpt, one_line, with_short_repr

Value = float | tuple[float, ...]


def part_name(job: str, k: int) -> str:
    """Return the name of chunk k of a job, as Slurm names the components of a heterogeneous job.

    Examples
    --------
    >>> part_name("j1", 0), part_name("j1", 2)
    ('j1', 'j1+2')
    """
    if k:
        return f"{job}+{k}"
    return job


@named
@dataclass(repr=False)
class Schedule:
    """The start of each job, and the number of its units on each node.

    In the schedule of a ``Project``, jobs are tasks, and nodes are modes: ``{task: {mode: 1}}``.

    Parameters
    ----------
    start : dict of str to int
        The start of each job in seconds.
    nodes : dict of str to dict of str to int, optional
        For each job, the number of its units on each node. For a heterogeneous job these are the units of its first
        chunk; those of chunk k have the key ``job+k``.

    Raises
    ------
    ProblemError
        If a start or a number of units is no whole number; the message names the job.

    Examples
    --------
    >>> Schedule(start={"j1": 0}, nodes={"j1": {"gpu-01": 2}}).as_json()
    {'j1': {'start': 0, 'nodes': {'gpu-01': 2}}}
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("job", "start", "nodes")  # of ``rows``

    start: dict[str, int]
    nodes: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self._all_whole():
            return
        for what, value in (("starts", self.start), ("nodes", self.nodes)):
            if not isinstance(value, Mapping):
                raise ProblemError(f"the {what} of a schedule are {shown(value)}; {{job: ...}} is expected")
        faults = [text for _, text in self.not_whole()]
        if faults:
            more = ""
            if len(faults) > 10:
                more = f"\n... and {len(faults) - 10} more"
            raise ProblemError("\n".join(faults[:10]) + more)
        self.start = {text_of(job) or "": int(start) for job, start in self.start.items()}
        self.nodes = {text_of(job) or "": whole_amounts(on, "units on")[0] for job, on in self.nodes.items()}

    def _all_whole(self) -> bool:
        """Return whether all starts and units are of type ``int``."""
        if type(self.start) is not dict or type(self.nodes) is not dict or not all_whole(self.start.values()):
            return False
        if not all_texts(self.start) or not all_texts(self.nodes):
            return False
        on = self.nodes.values()
        if not {dict}.issuperset(map(type, on)) or not all_texts(chain.from_iterable(on)):
            return False
        return all_whole(chain.from_iterable(map(dict.values, on)))

    def not_whole(self) -> list[tuple[str, str]]:
        """Return (job, message) for each start and number of units that is no whole number.

        A schedule can be changed after it was made; therefore the verification checks it again.
        """
        if self._all_whole():
            return []
        faults = [(j, f"job {j!r}: its start {wrong(s)}") for j, s in self.start.items() if not is_whole(s)]
        faults += [(str(j), f"a job {no_text(j)}") for j in {*self.start, *self.nodes} if text_of(j) is None]
        for job, on in self.nodes.items():
            faults += [(job, f"job {job!r}: {why}") for why in whole_amounts(on, "its number of units on")[1]]
        return faults

    def as_json(self) -> dict[str, Any]:
        """Return ``{job: {"start": s, "nodes": {node: units}}}``, the form of result records.

        A heterogeneous job has the nodes of its further chunks as well: ``"further_chunks": [{node: units}, ...]``.
        """
        entries: dict[str, Any] = {j: {"start": s, "nodes": self.nodes.get(j, {})} for j, s in self.start.items()}
        if len(self.nodes) > len(self.start):
            for j, entry in entries.items():
                if further := self.further_chunks(j):
                    entry["further_chunks"] = further
        return entries

    def further_chunks(self, job: str) -> list[dict[str, int]]:
        """Return {node: units} of each further chunk of a heterogeneous job; an empty list for other jobs.

        Examples
        --------
        >>> Schedule({"h": 0}, {"h": {"n-1": 2}, "h+1": {"n-2": 1}}).further_chunks("h")
        [{'n-2': 1}]
        """
        chunks: list[dict[str, int]] = []
        while (name := part_name(job, len(chunks) + 1)) in self.nodes and name not in self.start:
            chunks.append(self.nodes[name])
        return chunks

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of a table with the columns job, start and nodes; further chunks have rows of their own."""
        table = [{"job": j, "start": s, "nodes": self.nodes.get(j)} for j, s in self.start.items()]
        if len(self.nodes) <= len(self.start):
            return table
        return [
            row
            for first in table
            for row in (
                first,
                *(
                    {"job": part_name(str(first["job"]), k), "start": first["start"], "nodes": on}
                    for k, on in enumerate(self.further_chunks(str(first["job"])), 1)
                ),
            )
        ]

    def __repr__(self) -> str:
        first = ", ".join(f"{job}: {start}" for job, start in islice(self.start.items(), 3))
        more = ""
        if len(self.start) > 3:
            more = ", ..."
        return one_line(f"{type(self).__name__}({len(self.start):,} starts: {first}{more})")

    def _repr_html_(self) -> str:
        """Return the first rows as HTML, for notebooks."""
        from .tables import table

        return table(self.rows(), "jobs")

    @classmethod
    def from_json(cls, data: Any) -> Schedule:
        """Return the schedule of data in the form of ``as_json``; raise ValueError, with the job, if malformed.

        Examples
        --------
        >>> Schedule.from_json({"j1": {"start": 5, "nodes": {"gpu-01": 1}}}).start
        {'j1': 5}
        """
        if not isinstance(data, Mapping):
            raise WrongValue(f"a schedule is an object of jobs, not {type(data).__name__}")
        start, nodes = {}, {}
        for job, entry in data.items():
            where = f"job {job!r} of the schedule"
            if not isinstance(entry, Mapping) or "start" not in entry:
                raise WrongValue(f'{where}: expected {{"start": seconds, "nodes": {{node: units}}}}, found {entry!r}')
            on = entry.get("nodes", {})
            if not is_whole(entry["start"]) or not isinstance(on, Mapping) or not all(map(is_whole, on.values())):
                raise WrongValue(f"{where}: start and units must be whole numbers, found {entry!r}")
            start[str(job)] = int(entry["start"])
            nodes[str(job)] = {str(n): int(u) for n, u in on.items()}
            further = entry.get("further_chunks", [])
            if not isinstance(further, list) or not all(
                isinstance(on, Mapping) and all(map(is_whole, on.values())) for on in further
            ):
                raise WrongValue(f"{where}: further_chunks must be a list of {{node: units}}, found {further!r}")
            for k, on in enumerate(further, 1):
                nodes[part_name(str(job), k)] = {str(n): int(u) for n, u in on.items()}
        return cls(start, nodes)


def checked_schedule(schedule: object, function: str) -> Schedule:
    """Return a schedule as it is; raise WrongArgument for anything else, with the call that takes it.

    Examples
    --------
    >>> checked_schedule(None, "verify")
    Traceback (most recent call last):
    ...
    schedlab.errors.WrongArgument: schedule of verify is None; expected a Schedule, such as the schedule of a Result
    """
    if not isinstance(schedule, Schedule):
        raise WrongArgument(
            f"schedule of {function} is {shown(schedule)}; expected a Schedule, such as the schedule of a Result"
        )
    return schedule


V = TypeVar("V")


def value_of(
    schedule: object, names: Callable[[], Iterable[str]], value: Callable[[Schedule], V], what: str = "job"
) -> V:
    """Return a value of a schedule of all jobs; raise MissingValue, a KeyError, with the names of those without a start.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    names : callable
        Returns the names of all jobs.
    value : callable
        Computes the value.
    what : str
        "job" or "task", for the message.
    """
    checked = checked_schedule(schedule, "value")
    try:
        return value(checked)
    except MissingValue:
        raise
    except KeyError:
        missing = [name for name in names() if name not in checked.start]
        if not missing:
            raise
        more = ""
        if len(missing) > 1:
            more = f" ({len(missing)} of the {what}s have none)"
        raise MissingValue(
            f"{what} {missing[0]!r} has no start in the schedule{more}; the objective is that of all {what}s"
        ) from None


@with_short_repr
@checked
@dataclass
class Encoding:
    """A model of a problem, with the conversion between schedules and assignments.

    Parameters
    ----------
    model : Model
        The model.
    read : callable
        Converts an assignment to a schedule.
    write : callable
        Converts a schedule to an assignment.
    relaxation : bool, default False
        Whether the model leaves out constraints of the problem. Its bounds are valid; ``read`` then returns starts only
        (``Schedule.nodes`` is empty), and a separate step must allocate the nodes.
    ties : int, default 0
        Number of last objectives of the model that the problem does not have: they choose among equal answers.
    restriction : bool, default False
        Whether the model leaves out schedules of the problem, as one on a grid of times does. Its answers are schedules; its
        bounds and proofs are none of the problem, and are not reported.

    Raises
    ------
    WrongValue
        If it is a relaxation and a restriction: then neither its answers nor its bounds say anything.

    Examples
    --------
    >>> from schedlab.models import Project, Task
    >>> Project([Task.single("a", 3), Task.single("b", 2)], []).formulations["modes"]().model
    Model('project of 2 tasks': 2 intervals, 0 integers, 0 constraints)
    """

    model: Model
    read: Callable[[Assignment], Schedule]
    write: Callable[[Schedule], Assignment]
    relaxation: bool = False
    ties: int = 0
    restriction: bool = False

    def __copy__(self) -> Encoding:
        new = object.__new__(Encoding)  # not by its class: the checked functions would be checked once more
        new.__dict__.update(self.__dict__)
        return new

    def __reduce__(self) -> NoReturn:
        raise WrongArgument(
            "an Encoding holds functions of its problem, and can be neither pickled nor deeply copied; "
            "pickle the problem, and call its formulation again"
        )

    def __post_init__(self) -> None:
        if self.relaxation and self.restriction:
            raise WrongValue(
                "an Encoding is relaxation=True and restriction=True; expected at most one of them, as neither its answers "
                "nor its bounds would hold"
            )
        self.read, self.write = self._checked_read(self.read), self._checked_write(self.write)

    def _checked_read(self, read: Callable[[Assignment], Schedule]) -> Callable[[Assignment], Schedule]:
        """Return the function with checks of what goes in and comes out: users call it, and third parties write it."""

        def checked(assignment: Assignment) -> Schedule:
            if not isinstance(assignment, Assignment):
                raise WrongArgument(
                    f"assignment of read is {excerpt(assignment)}; expected an Assignment of {self.model!r}"
                )
            sizes = len(assignment.start), len(assignment.integer)
            if sizes != (len(self.model.intervals), len(self.model.integers)):
                raise ModelError(
                    f"assignment of read is one of model {assignment.model.name!r}; expected one of {self.model.name!r}"
                )
            schedule = read(assignment)
            if not isinstance(schedule, Schedule):
                raise WrongAnswer(
                    f"read of the model {self.model.name!r} returned {excerpt(schedule)}; expected a Schedule"
                )
            return schedule

        return checked

    def _checked_write(self, write: Callable[[Schedule], Assignment]) -> Callable[[Schedule], Assignment]:
        """Return the function with checks, as for ``read``; a KeyError for a job means that it has no start."""

        def checked(schedule: Schedule) -> Assignment:
            known = checked_schedule(schedule, "write")
            try:
                assignment = write(known)
            except KeyError as e:
                if not e.args or not isinstance(e.args[0], str) or e.args[0] in known.start:
                    raise  # a key of a mapping of the formulation
                raise MissingValue(f"{excerpt(e.args[0])} has no start in the schedule of write") from None
            if not isinstance(assignment, Assignment):
                raise WrongAnswer(
                    f"write of the model {self.model.name!r} returned {excerpt(assignment)}; expected an Assignment"
                )
            return assignment

        return checked


class Problem(Protocol):
    """The interface of a problem."""

    @property
    def kind(self) -> str:
        """The name of the kind of problem, as instance files use it."""

    @property
    def sense(self) -> Literal["minimize", "maximize"]:
        """Whether the objective is minimized or maximized."""

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """Functions that put the problem into the modelling language, by name; the first one is the default."""

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of a schedule, from the data alone."""

    def value(self, schedule: Schedule) -> Value:
        """Return the value of the objective for a schedule, from the data alone; a tuple for objectives in lexicographic order."""

    def read(self, data: Any) -> Schedule:
        """Return the schedule of JSON data in the form of ``Schedule.as_json``; raise ValueError if malformed."""


# --- What a problem of a third party returns: formulations, violations and objective values, checked where they enter.

SENSES = ("minimize", "maximize")


def check_problem(problem: Problem) -> None:
    """Raise WrongArgument or WrongValue if the kind, the sense or the formulations of a problem are not what is expected.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_problem(SimpleNamespace(kind="line", sense="min", formulations={}))
    Traceback (most recent call last):
        ...
    schedlab.errors.WrongValue: sense of the problem SimpleNamespace is 'min'; did you mean minimize?
    """
    who = f"the problem {type(problem).__name__}"
    if not isinstance(problem.kind, str) or not problem.kind:
        raise WrongArgument(f"kind of {who} is {excerpt(problem.kind)}; expected a text")
    one_of(f"sense of {who}", problem.sense, SENSES)
    formulations = problem.formulations
    if not isinstance(formulations, Mapping) or not all(
        isinstance(k, str) and callable(v) for k, v in formulations.items()
    ):
        raise WrongArgument(
            f"formulations of {who} is {excerpt(formulations)}; expected a mapping {{name: function}}, "
            "whose functions return an Encoding"
        )


def violations_of(problem: Problem, schedule: Schedule) -> list[Violation]:
    """Return the violations of a schedule; a text in place of a ``Violation`` is its message.

    Raises
    ------
    WrongAnswer
        If ``verify`` returns something else than a list of both.
    """
    violations: object = problem.verify(schedule)
    if type(violations) is list and {Violation}.issuperset(map(type, violations)):
        return violations
    who = f"verify of {problem.kind} problems"
    if not isinstance(violations, (list, tuple)):
        raise WrongAnswer(
            f"{who} returned {excerpt(violations)}; expected a list of texts or of Violation, empty if all holds"
        )
    wrong = [each for each in violations if not isinstance(each, (str, Violation))]
    if wrong:
        raise WrongAnswer(f"{who} returned a list with {excerpt(wrong[0])}; expected texts or Violation")
    return [Violation(problem.kind, 1, each) if isinstance(each, str) else each for each in violations]


def objective_of(problem: Problem, schedule: Schedule) -> Value:
    """Return the objective of a schedule: a finite number, or a tuple of them for ordered objectives.

    Raises
    ------
    WrongAnswer
        If ``value`` returns something else.
    """
    value: Any = problem.value(schedule)
    if type(value) is int:
        return value
    who = f"value of {problem.kind} problems"
    if isinstance(value, tuple):
        return tuple(returned_number(who, each) for each in value)
    return returned_number(who, value)
