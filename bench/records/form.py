"""The types of the fields of a record, and the check of a record against them, by pydantic, before anything else reads it.

A record is a JSON object in a file of its own. Unknown values are null. Times are in seconds unless stated otherwise. The check is
strict: no value is converted. pydantic takes 0.1 s to import and is imported when the first record is read.

The extra fields of a problem kind are described where its bench object names them: ``kinds.eviction``, ``kinds.accounts`` (profit
problems), ``kinds.dispatch``, ``kinds.project``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields as dataclass_fields
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NotRequired, get_args, get_type_hints

from annotated_types import Ge, Le, Predicate
from typing_extensions import TypedDict

from ...errors import WrongValue
from ...models import kind as problem_kinds
from ...models.excerpt import excerpt
from ...models.json_values import FINITE, LARGEST, Count, Figures, Number, Positive, Value, Whole
from ..kinds.find import bench_object
from ..replays.settings import SETTINGS, ReplaySettings
from ..runs.view import View

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA = 1  # version of the record format; it is increased when the meaning of a field changes
PRESENT = "to be present"


def table(name: str, needed: Mapping[str, Any], optional: Mapping[str, Any] | None = None, others: Any = None) -> Any:
    """Return the type of an object whose fields are known only at run time, or with a type for all other fields.

    Parameters
    ----------
    name : str
        The name of the type.
    needed, optional : mapping of str to type
        The fields.
    others : type, optional
        The type of all other fields; None: there are none.
    """
    every = {**needed, **{field: NotRequired[kind] for field, kind in (optional or {}).items()}}
    rest: dict[str, Any] = {"closed": True} if others is None else {"extra_items": others}
    return TypedDict(name, every, **rest)  # type: ignore[operator]


def form_of(kind: type[Any], narrower: Mapping[str, Any], needed: Sequence[str] = ()) -> Any:
    """Return the type of an object with the fields of a dataclass.

    Parameters
    ----------
    kind
        The dataclass; its fields are texts, numbers and flags, or None.
    narrower
        Fields with a narrower type than their own, such as a least value.
    needed
        Fields that must be present; records of earlier versions lack the others.
    """
    types = get_type_hints(kind)
    every = {f.name: narrower[f.name] if f.name in narrower else _plain(types[f.name]) for f in dataclass_fields(kind)}
    others = {name: form for name, form in every.items() if name not in needed}
    return table(kind.__name__, {name: every[name] for name in needed}, others)


def _plain(kind: Any) -> Any:
    """Return the type of the JSON values of a type: text, number, flag, a union of these, or None."""
    known: dict[Any, Any] = {int: Whole, float: Number, bool: bool, type(None): None}
    return reduce(or_, [known.get(part, str) for part in get_args(kind) or (kind,)])  # a text: also of a Literal


def equal_lengths(columns: Mapping[str, Any]) -> bool:
    """Raise ValueError, with what is expected, unless all columns have one length: a predicate of a type."""
    if len({len(column) for column in columns.values()}) > 1:
        raise WrongValue("columns of equal length")
    return True


# --- The fields of every record, known before the run (they determine the key).

VIEW = form_of(
    View,
    {"first": Positive | None, "nodes_needed": Count | None, "durations": str},
    needed=("at", "first", "durations", "objective"),
)


def _limited(least: int, most: int | None) -> Any:
    return Annotated[int, Ge(least), Le(LARGEST if most is None else most)] | None


REPLAY = form_of(
    ReplaySettings,
    {
        **{n: _limited(s.setting.least, s.setting.most) for n, s in SETTINGS.items() if s.setting.least is not None},
        "deterministic": Number | bool | None,
        "features": list[str] | None,
    },
)


class PlannedFields(TypedDict):
    """What is known before a run."""

    key: str  # hash of everything that determines the outcome
    instance: str  # name of the instance or log
    path: str  # its path as given by the user
    content: str  # hash of its files
    kind: str  # kind of the problem
    method: str  # method or dispatcher
    seed: int
    time_limit: Number
    threads: Positive
    solver: str  # the backend; "schedlab" for methods without a solver
    version: str | None  # of the solver (null: not installed)
    schedlab: str  # version of schedlab
    memory_gb: Number | None  # memory limit in GB (null: the default)
    drop_impossible: bool  # whether jobs that can never fit are left out
    view: VIEW  # type: ignore[valid-type]  # fields of ``runs.view.View``
    replay: REPLAY | None  # type: ignore[valid-type]  # fields of ``ReplaySettings`` (null: the method is not a dispatcher)
    source: NotRequired[str | None]  # hash of the source of a third party's method, dispatcher, heuristic or backend


# --- The fields of every record, known after the run.


class WarmStartFate(TypedDict):
    """What became of a warm start."""

    fate: str
    returned: bool
    reason: NotRequired[str]


class SecondsOfRun(TypedDict):
    """The parts of the time of a run."""

    build: Number | None
    lower: Number | None
    solve: Number | None
    total: Number | None


class Host(TypedDict):
    """The machine of a run, see ``records.record.host``."""

    cpu: str
    cores: Positive
    memory_gb: Number | None
    system: str


class IncumbentFields(TypedDict):
    """A better solution or bound of a run."""

    seconds: Number
    objective: Value


class AnswerFields(TypedDict):
    """What is known after a run."""

    status: str  # optimal, feasible, infeasible, unknown, ...
    objective: Value  # recomputed from the schedule; a list for several ordered objectives
    bound: Value  # proven; a list for several objectives
    gap: Value  # relative, 0.01 is 1 %
    verified: bool | None  # whether the schedule passed the check (null: no schedule)
    violations: NotRequired[Any]  # list of objects with constraint, amount, message
    sense: Literal["minimize", "maximize"] | None
    warm_start: WarmStartFate | None
    first_solution_s: Number | None  # seconds to the first and to the best solution
    best_s: Number | None
    seconds: SecondsOfRun
    cause: str | None  # of an early end: timeout, out of memory, crash, unavailable, dispatcher
    message: str  # explanation for people
    exactness: NotRequired[Any]  # object with kind, notes: whether the solved model is exact
    size: NotRequired[Any]  # of the native model, such as numbers of variables and constraints
    python: NotRequired[Any]  # version of Python
    started: str  # date and time, ISO 8601
    host: NotRequired[Host]  # records of schedlab 0.1.0 lack it
    incumbents: list[IncumbentFields]
    schedule: dict[str, Any] | None  # in the JSON form of the problem


# --- The fields of the records of replays.


def _columns(columns: Mapping[str, Any]) -> bool:
    """Raise ValueError unless an object without columns, or all needed ones and all of one length, are given."""
    missing = [name for name in OF_GROUP if columns and name not in columns]
    if missing:
        raise WrongValue(f"a column {missing[0]}")
    return not columns or equal_lengths(columns)


OF_GROUP: Mapping[str, Any] = {"name": str, "jobs": Count, "started": Count}
LISTS: Mapping[str, Any] = {"name": list[str], "jobs": list[Count], "started": list[Count]}
GroupColumns = table("GroupColumns", {}, LISTS, list[Number | None])
OtherJobs = table("OtherJobs", OF_GROUP, others=Number | None)


class GroupMetrics(TypedDict, closed=True):
    """The metrics of groups of jobs, largest groups first, and of all jobs outside of the 10 largest groups."""

    columns: Annotated[GroupColumns, Predicate(_columns)]  # type: ignore[valid-type]
    others: OtherJobs | None  # type: ignore[valid-type]


class NodesOfPlatform(TypedDict, closed=True):
    """A group of nodes of the platform of a replay."""

    name: str
    count: Annotated[int, Ge(1), Le(10**7)]
    capacity: dict[str, Count]  # of a node


class ReplayDescription(TypedDict):
    """The description of a replay, besides dispatcher, allocator, options, number of jobs, report."""

    predictor: str
    objective: str
    offline: bool  # whether offline methods solve the same problem
    recorded: Figures | None  # metrics of the starts in the log
    recorded_groups: NotRequired[dict[str, GroupMetrics] | None]  # the same of groups of jobs; older records lack it
    platform: list[NodesOfPlatform]
    notes: list[str]


class ReplayFields(TypedDict):
    """What only the records of replays have; further fields are in ``kinds.dispatch``."""

    metrics: NotRequired[Figures | None]  # see ``simulation.metrics.Metrics``
    groups: NotRequired[
        dict[str, GroupMetrics] | None
    ]  # by queue, user, partition, class of units, core-hours, accuracy
    percentiles: NotRequired[
        dict[str, list[Number]] | None
    ]  # 0, 1, ..., 100 of wait (s), slowdown, duration / expected
    simulation: NotRequired[ReplayDescription | None]
    jobs_csv: NotRequired[str | None]  # name of the file with the jobs, beside the record


class RunRecord(PlannedFields, AnswerFields, ReplayFields):
    """All fields of a record but those of the kind of its problem."""


# --- The check of a record.


class RecordFault(NamedTuple):
    """A wrong value: the field, the expected form, the value found."""

    where: str
    expected: str
    found: object

    def __str__(self) -> str:
        if self.expected == PRESENT:
            return f"the field {self.where} is missing"
        return f"{self.where}: expected {self.expected}, found {excerpt(self.found)}"


def first_fault(record: object) -> RecordFault | None:
    """Return the first wrong or missing value of a record, None if there is none.

    Examples
    --------
    >>> print(first_fault({"key": 1}))
    the field instance is missing
    """
    fault = fault_of(RunRecord, record)
    if fault is not None or not isinstance(record, dict):
        return fault
    if record["replay"] is not None and record["status"] == "feasible":
        for name in ("metrics", "simulation", "jobs_csv"):
            if record.get(name) is None:
                return RecordFault(name, PRESENT, None)
    if problem_kinds.known(record["kind"]) is None:
        return RecordFault("kind", f"one of {', '.join(problem_kinds.names())}", record["kind"])
    of_kind = bench_object(record["kind"]).record_fields
    return fault_of(_extra(tuple(of_kind.items())), {name: record[name] for name in of_kind if name in record})


@cache
def _extra(fields: tuple[tuple[str, Any], ...]) -> Any:
    return table("ExtraFields", {}, dict(fields))


def fault_of(kind: Any, value: object) -> RecordFault | None:
    """Return the first fault of a value of JSON that should have a type, None if there is none."""
    from pydantic import ValidationError

    try:
        _adapter(kind).validate_json(json.dumps(value), strict=True)  # of Python values a row would have to be a tuple
    except RecursionError:
        return RecordFault("the record", "fewer objects and lists within each other", "more")
    except ValidationError as e:
        faults = e.errors(include_url=False)
        return _fault(min(faults, key=lambda fault: fault["type"] != "missing"), value)
    return None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


EXPECTED = {  # by the type of an error of pydantic
    "missing": PRESENT,
    "extra_forbidden": "no such field",
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "json_invalid": "JSON that can be read ({error})",
    "too_short": "at least {min_length} values",
    "too_long": "a list of {max_length}",
    "literal_error": "{expected}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "value_error": "{error}",
}


def _fault(error: Any, value: object) -> RecordFault:
    """Return an error of pydantic with the place of the value in the record."""
    where = ""
    at: Any = value
    for part in error["loc"]:
        if isinstance(at, dict) and (part in at or error["type"] == "missing"):
            where += f".{part[:80]}" if where else part[:80]
            at = at.get(part)
        elif isinstance(at, list) and isinstance(part, int):
            if part >= len(at):  # a list of fixed length that is too short
                return RecordFault(where, f"a list of at least {part + 1}", at)
            where += f"[{part}]"
            at = at[part]
        # else: which part of a union, or no part of the value
    context = error.get("ctx", {})
    bound = context.get("ge", context.get("le"))
    if isinstance(bound, float) and abs(bound) == FINITE:
        return RecordFault(where, "a number", error["input"])
    expected = EXPECTED.get(error["type"])
    expected = error["msg"] if expected is None else expected.format(**context)
    return RecordFault(where or "the record", expected, error["input"])


def fault_of_schema(record: Mapping[str, Any]) -> str:
    """Return why a record of another schema cannot be read, "" if it has the schema of this version."""
    if record.get("schema") == SCHEMA:
        return ""
    schema = "no schema" if record.get("schema") is None else f"schema {excerpt(record['schema'])}"
    return f"it has {schema}, this version of schedlab reads schema {SCHEMA}; run it again with --again"
