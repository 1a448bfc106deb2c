"""The fields of a record, and the check of their types before anything else reads them.

A record is a JSON object in a file of its own. Unknown values are null. Times are in seconds unless stated otherwise.

Every record, known before the run (they determine the key):

- ``schema``: version of the record format.
- ``key``: hash of everything that determines the outcome.
- ``instance``, ``path``, ``content``: name of the instance or log, its path as given by the user, hash of its files.
- ``kind``: kind of the problem.
- ``method``: method or dispatcher.
- ``seed``, ``time_limit``, ``threads``: as given to the method.
- ``solver``, ``version``: backend and its version (null: not installed); "schedlab" for methods without a solver.
- ``schedlab``: version of schedlab.
- ``memory_gb``: memory limit in GB (null: the default).
- ``drop_impossible``: whether jobs that can never fit are left out.
- ``view``: fields of ``runs.view.View``.
- ``replay``: fields of ``replays.settings.ReplaySettings`` (null: the method is not a dispatcher).
- ``source``: hash of the source of a third party's dispatcher, heuristic or backend; only if the method has one.

Every record, known after the run:

- ``status``: optimal, feasible, infeasible, unknown, ...
- ``objective``: recomputed from the schedule; a list for several ordered objectives.
- ``bound``, ``gap``: proven bound; relative gap (0.01 is 1 %); lists for several objectives.
- ``verified``: whether the schedule passed the check (null: no schedule).
- ``violations``: list of objects with ``constraint``, ``amount``, ``message``.
- ``sense``: minimize or maximize.
- ``warm_start``: object with ``fate``, ``reason``, ``returned``.
- ``first_solution_s``, ``best_s``: seconds to the first and to the best solution.
- ``seconds``: object with ``build``, ``lower``, ``solve``, ``total``.
- ``cause``: cause of an early end: timeout, out of memory, crash, unavailable, dispatcher.
- ``message``: explanation for people.
- ``exactness``: object with ``kind``, ``notes``: whether the solved model is exact.
- ``size``: size of the native model, such as numbers of variables and constraints.
- ``python``, ``started``: version of Python; date and time of the start, ISO 8601.
- ``host``: the machine: object with ``cpu`` (model), ``cores``, ``memory_gb``, ``system``, see ``records.record``. Records of
  schedlab 0.1.0 lack it.
- ``incumbents``: list of objects with ``seconds``, ``objective``, ``bound``.
- ``schedule``: in the JSON form of the problem.

Replays:

- ``metrics``: numbers by name, see ``simulation.metrics.Metrics``; times in seconds, utilisation from 0 to 1.
- ``groups``: the metrics per queue, user, partition and class of units, unit-hours, accuracy, accuracy of the user: object from the name of the property to
  an object with ``columns`` (object of lists of equal length, one value per group: ``name``, ``jobs``, ``wait_mean``, ...; largest
  groups first) and ``others`` (the values of all jobs outside the 10 largest groups; null: there are at most 10 groups).
- ``percentiles``: lists of the percentiles 0, 1, ..., 100 of ``wait`` (s), ``slowdown``, ``ratio`` (duration / expected duration).
- ``simulation``: object with ``dispatcher``, ``predictor``, ``allocator``, ``options``, ``objective``, ``jobs`` (number),
  ``platform`` (list of ``name``, ``count`` of nodes, ``capacity`` of a node), ``offline`` (whether offline methods solve the
  same problem), ``recorded`` (metrics of the starts in the log), ``notes``, ``report``.
- ``jobs_csv``: name of the file with the jobs, beside the record.
- ``production``: what became of reservations and server events, see ``simulation.outputs.records``; null: there are none.
- ``outages``: the times in which nodes take no starts, see ``outages_json`` there.
- ``preemption``: evictions for on-demand jobs, see ``simulation.outputs.records``; null: there are no on-demand jobs or failures.

The extra fields of a problem kind are described where its bench object names them: ``kinds.deadlines`` (eviction problems),
``kinds.accounts`` (profit problems), ``kinds.composites`` (dispatching problems).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from math import isfinite
from typing import Any, NamedTuple, get_args, get_type_hints

from ...models import kind as problem_kinds
from ...models.excerpt import excerpt
from ..kinds.find import bench_object
from ..replays.settings import SETTINGS, ReplaySettings
from ..runs.view import View

SCHEMA = 1  # version of the record format; it is increased when the meaning of a field changes
LARGEST = 2**53  # of integers: many JSON programs represent larger ones inexactly
PRESENT = "to be present"
MOST_NODES = 10**7  # in a group of nodes


class RecordFault(NamedTuple):
    """A wrong value: the field, the expected form, the value found."""

    where: str
    expected: str
    found: object

    def __str__(self) -> str:
        if self.expected == PRESENT:
            return f"the field {self.where} is missing"
        return f"{self.where}: expected {self.expected}, found {excerpt(self.found)}"


Form = Callable[[Any, str], Iterator[RecordFault]]


def first_fault(record: object) -> RecordFault | None:
    """Return the first wrong or missing value of a record, None if there is none.

    Examples
    --------
    >>> print(first_fault({"key": 1}))
    the field instance is missing
    """
    found = next(RECORD(record, ""), None)
    if found is None and isinstance(record, dict):
        found = next(_missing_of_replay(record), None) or next(_of_kind(record), None)
    return found


def fault_of_schema(record: Mapping[str, Any]) -> str:
    """Return why a record of another schema cannot be read, "" if it has the schema of this version."""
    if record.get("schema") == SCHEMA:
        return ""
    found = "no schema" if record.get("schema") is None else f"schema {excerpt(record['schema'])}"
    return f"it has {found}, this version of schedlab reads schema {SCHEMA}; run it again with --again"


def _is(test: Callable[[Any], bool], expected: str) -> Form:
    def form(value: Any, where: str) -> Iterator[RecordFault]:
        if not test(value):
            yield RecordFault(where or "the record", expected, value)

    return form


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and _finite(value)


def _finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False


def integer(least: int = -LARGEST, most: int = LARGEST) -> Form:
    """Return the form of an integer in a range."""
    limits = f" from {least} to {most}" if least > -LARGEST or most < LARGEST else ""
    return _is(lambda v: isinstance(v, int) and not isinstance(v, bool) and least <= v <= most, f"an integer{limits}")


def maybe(form: Form) -> Form:
    """Return a form that also allows null."""
    return lambda value, where: iter(()) if value is None else form(value, where)


def either(first: Form, second: Form) -> Form:
    """Return a form that allows one of two forms; a fault is that of the first."""

    def both(value: Any, where: str) -> Iterator[RecordFault]:
        if next(second(value, where), None) is not None:
            yield from first(value, where)

    return both


def several(form: Form) -> Form:
    """Return the form of a list whose values have one form."""

    def every(value: Any, where: str) -> Iterator[RecordFault]:
        if not isinstance(value, list):
            yield RecordFault(where, "a list", value)
            return
        for k, each in enumerate(value):
            yield from form(each, f"{where}[{k}]")

    return every


def row(*forms: Form) -> Form:
    """Return the form of a list of fixed length, with a form for each position."""

    def each(value: Any, where: str) -> Iterator[RecordFault]:
        if not isinstance(value, list) or len(value) != len(forms):
            yield RecordFault(where, f"a list of {len(forms)}", value)
            return
        for k, (form, cell) in enumerate(zip(forms, value, strict=True)):
            yield from form(cell, f"{where}[{k}]")

    return each


def mapping(form: Form) -> Form:
    """Return the form of an object whose values have one form."""
    return fields({}, rest=form)


def fields(needed: Mapping[str, Form], optional: Mapping[str, Form] | None = None, rest: Form | None = None) -> Form:
    """Return the form of an object with these fields; ``rest``: the form of all others, None if there must be none."""
    known = {**needed, **(optional or {})}

    def each(value: Any, where: str) -> Iterator[RecordFault]:
        if not isinstance(value, dict):
            yield RecordFault(where or "the record", "an object", value)
            return
        inside = f"{where}." if where else ""
        for name in needed:
            if name not in value:
                yield RecordFault(f"{inside}{name}", PRESENT, None)
        for name, found in value.items():
            form = known.get(name, rest)
            if form is None:
                yield RecordFault(where or "the record", f"only {', '.join(known)}", name)
            else:
                yield from form(found, f"{inside}{name[:80]}")

    return each


def anything(value: Any, where: str) -> Iterator[RecordFault]:
    """Accept any value: the bench does not read it."""
    return iter(())


TEXT = _is(lambda v: isinstance(v, str), "a text")
FLAG = _is(lambda v: isinstance(v, bool), "true or false")
NUMBER = _is(_number, "a number")
OBJECT = _is(lambda v: isinstance(v, dict), "an object")
VALUE = maybe(either(NUMBER, several(maybe(NUMBER))))  # one objective, several ordered objectives, or unknown
FIGURES = mapping(maybe(NUMBER))
SENSE = _is(lambda v: v in (None, "minimize", "maximize"), "minimize or maximize")


def columns(needed: Mapping[str, Form], rest: Form) -> Form:
    """Return the form of a table: an object with a list per column, all of the same length; no column: no row."""
    table = fields({}, {name: several(form) for name, form in needed.items()}, rest=several(rest))

    def each(value: Any, where: str) -> Iterator[RecordFault]:
        yield from table(value, where)
        if isinstance(value, dict) and value:
            yield from (RecordFault(f"{where}.{name}", PRESENT, None) for name in needed if name not in value)
            if len({len(column) for column in value.values() if isinstance(column, list)}) > 1:
                yield RecordFault(
                    where, "columns of equal length", {name: len(column) for name, column in value.items()}
                )

    return each


OF_GROUP = {"name": TEXT, "jobs": integer(0), "started": integer(0)}
GROUPS = mapping(
    fields({"columns": columns(OF_GROUP, maybe(NUMBER)), "others": maybe(fields(OF_GROUP, rest=maybe(NUMBER)))})
)


def form_of(kind: type[Any], narrower: Mapping[str, Form], needed: Sequence[str] = ()) -> Form:
    """Return the form of the fields of a dataclass: each field has the form of its type.

    Parameters
    ----------
    kind
        The dataclass; its fields are texts, numbers and flags, or None.
    narrower
        Fields with a narrower form than that of their type, such as a least value.
    needed
        Fields that must be present; records of earlier versions lack the others.
    """
    types = get_type_hints(kind)
    every = {
        field.name: narrower.get(field.name) or _form_of_type(types[field.name]) for field in dataclass_fields(kind)
    }
    return fields({name: every[name] for name in needed}, {name: f for name, f in every.items() if name not in needed})


def _form_of_type(kind: Any) -> Form:
    """Return the form of the values of a type: text, number, flag, a union of these, or None."""
    parts = [part for part in get_args(kind) or (kind,) if part is not type(None)]
    forms = [OF_TYPES.get(part, TEXT) for part in parts]  # TEXT: the values of a Literal
    form = forms[0]
    for other in forms[1:]:
        form = either(form, other)
    return maybe(form) if type(None) in get_args(kind) else form


OF_TYPES: Mapping[Any, Form] = {str: TEXT, int: integer(), float: NUMBER, bool: FLAG}
VIEW = form_of(
    View,
    {"first": maybe(integer(1)), "nodes_needed": maybe(integer(0)), "durations": TEXT},
    needed=("at", "first", "durations", "objective"),
)
REPLAY = form_of(
    ReplaySettings,
    {
        **{
            name: maybe(integer(s.setting.least, LARGEST if s.setting.most is None else s.setting.most))
            for name, s in SETTINGS.items()
            if s.setting.least is not None
        },
        "deterministic": maybe(either(NUMBER, FLAG)),
        "features": maybe(several(TEXT)),
    },
)
GROUP = fields({"name": TEXT, "count": integer(1, MOST_NODES), "capacity": mapping(integer(0))})
SIMULATION = fields(
    {
        "predictor": TEXT,
        "objective": TEXT,
        "offline": FLAG,
        "recorded": maybe(FIGURES),
        "platform": several(GROUP),
        "notes": several(TEXT),
    },
    rest=anything,
)
RECORD = fields(
    {
        **dict.fromkeys(("key", "instance", "kind", "path", "content", "method", "solver", "schedlab"), TEXT),
        **dict.fromkeys(("status", "message", "started"), TEXT),
        "seed": _is(lambda v: isinstance(v, int) and not isinstance(v, bool), "an integer"),
        "time_limit": NUMBER,
        "threads": integer(1),
        "version": maybe(TEXT),
        "memory_gb": maybe(NUMBER),
        "drop_impossible": FLAG,
        "view": VIEW,
        "replay": maybe(REPLAY),
        **dict.fromkeys(("objective", "bound", "gap"), VALUE),
        "verified": maybe(FLAG),
        "sense": SENSE,
        "warm_start": maybe(fields({"fate": TEXT, "returned": FLAG}, {"reason": TEXT}, rest=anything)),
        **dict.fromkeys(("first_solution_s", "best_s"), maybe(NUMBER)),
        "seconds": fields(dict.fromkeys(("build", "lower", "solve", "total"), maybe(NUMBER)), rest=anything),
        "cause": maybe(TEXT),
        "incumbents": several(fields({"seconds": NUMBER, "objective": VALUE}, rest=anything)),
        "schedule": maybe(OBJECT),
    },
    {
        "metrics": maybe(FIGURES),
        "groups": maybe(GROUPS),
        "percentiles": maybe(mapping(several(NUMBER))),
        "simulation": maybe(SIMULATION),
        "jobs_csv": maybe(TEXT),
        "host": fields({"cpu": TEXT, "cores": integer(1), "memory_gb": maybe(NUMBER), "system": TEXT}, rest=anything),
        "source": maybe(TEXT),
    },
    rest=anything,
)


def _missing_of_replay(record: Mapping[str, Any]) -> Iterator[RecordFault]:
    """Yield the missing fields of a complete replay."""
    if record["replay"] is not None and record["status"] == "feasible":
        for name in ("metrics", "simulation", "jobs_csv"):
            if record.get(name) is None:
                yield RecordFault(name, PRESENT, None)


def _of_kind(record: Mapping[str, Any]) -> Iterator[RecordFault]:
    """Yield an unknown kind of problem, and the wrong values of the extra fields of a known one."""
    if problem_kinds.known(record["kind"]) is None:
        yield RecordFault("kind", f"one of {', '.join(problem_kinds.names())}", record["kind"])
        return
    for name, form in bench_object(record["kind"]).record_fields.items():
        if name in record:
            yield from form(record[name], name)
