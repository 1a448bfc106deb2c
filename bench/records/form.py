"""The form of a record: which fields a file of results must have, and of which type, before anything reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from ...models.excerpt import excerpt

LARGEST = 2**53  # of whole numbers: JSON of other programs holds no larger ones exactly
PRESENT = "to be there"
MOST_NODES = 10**7  # of a group of nodes in a record


class RecordFault(NamedTuple):
    """A value that is not of the form: where it stands, what was expected, what was found."""

    where: str
    expected: str
    found: object

    def __str__(self) -> str:
        if self.expected == PRESENT:
            return f"it lacks {self.where}"
        return f"{self.where}: expected {self.expected}, found {excerpt(self.found)}"


Form = Callable[[Any, str], Iterator[RecordFault]]


def first_fault(record: object) -> RecordFault | None:
    """The first value of a record that is not of the form, None if all are.

    Examples
    --------
    >>> print(first_fault({"key": 1}))
    it lacks instance
    """
    found = next(RECORD(record, ""), None)
    if found is None and isinstance(record, dict):
        found = next(_replay(record), None)
    return found


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


def whole(least: int = -LARGEST, most: int = LARGEST) -> Form:
    """A whole number in a range."""
    limits = f" from {least} to {most}" if least > -LARGEST or most < LARGEST else ""
    return _is(
        lambda v: isinstance(v, int) and not isinstance(v, bool) and least <= v <= most, f"a whole number{limits}"
    )


def maybe(form: Form) -> Form:
    """The form, or null."""
    return lambda value, where: iter(()) if value is None else form(value, where)


def either(first: Form, second: Form) -> Form:
    """One of two forms; the fault is that of the first."""

    def both(value: Any, where: str) -> Iterator[RecordFault]:
        if next(second(value, where), None) is not None:
            yield from first(value, where)

    return both


def several(form: Form) -> Form:
    """A list of values of one form."""

    def every(value: Any, where: str) -> Iterator[RecordFault]:
        if not isinstance(value, list):
            yield RecordFault(where, "a list", value)
            return
        for k, each in enumerate(value):
            yield from form(each, f"{where}[{k}]")

    return every


def row(*forms: Form) -> Form:
    """A list with a form per place."""

    def each(value: Any, where: str) -> Iterator[RecordFault]:
        if not isinstance(value, list) or len(value) != len(forms):
            yield RecordFault(where, f"a list of {len(forms)}", value)
            return
        for k, (form, cell) in enumerate(zip(forms, value, strict=True)):
            yield from form(cell, f"{where}[{k}]")

    return each


def mapping(form: Form) -> Form:
    """An object whose values have one form."""
    return fields({}, rest=form)


def fields(needed: Mapping[str, Form], optional: Mapping[str, Form] | None = None, rest: Form | None = None) -> Form:
    """An object with fields of these forms; ``rest``: of all others, None if there are to be none."""
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
    """No form: nothing reads it but people."""
    return iter(())


TEXT = _is(lambda v: isinstance(v, str), "a text")
FLAG = _is(lambda v: isinstance(v, bool), "true or false")
NUMBER = _is(_number, "a number")
OBJECT = _is(lambda v: isinstance(v, dict), "an object")
VALUE = maybe(either(NUMBER, several(maybe(NUMBER))))  # an objective, several ordered ones, or unknown
FIGURES = mapping(maybe(NUMBER))
SENSE = _is(lambda v: v in (None, "minimize", "maximize"), "minimize or maximize")

VIEW = fields(
    {"at": maybe(whole()), "first": maybe(whole(1)), "durations": TEXT, "objective": maybe(TEXT)},
    {"nodes_needed": maybe(whole(0)), "scenario": maybe(TEXT)},
)
REPLAY = fields(
    {},
    {
        **dict.fromkeys(("nodes", "cores", "memory", "period"), maybe(whole(1))),
        **dict.fromkeys(("format", "window"), maybe(TEXT)),
        **dict.fromkeys(("load", "decision_time"), maybe(NUMBER)),
        **dict.fromkeys(("trace", "kill", "charge"), FLAG),
        "deterministic": maybe(FLAG),
        "max_stretch": maybe(either(NUMBER, TEXT)),
        "allocator": TEXT,
    },
)
GROUP = fields({"name": TEXT, "count": whole(1, MOST_NODES), "capacity": mapping(whole(0))})
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
MONEY = dict.fromkeys(
    ("gain", "work_cost", "cooling_cost", "profit", "pue", "energy_kwh", "utilisation"), maybe(NUMBER)
)
ACCOUNT = fields(dict.fromkeys(("horizon", "end"), fields(MONEY, rest=maybe(NUMBER))))
DAILY = several(fields(dict.fromkeys(("celsius", "utilisation", "pue", "profit"), maybe(NUMBER)), rest=maybe(NUMBER)))
CURVES = fields(
    {
        **dict.fromkeys(("begin", "until", "end"), whole()),
        "segments": fields(
            {"end": several(whole()), **dict.fromkeys(("celsius", "watts", "cooling"), several(NUMBER))}
        ),
        "step": whole(1),
        "steps": fields(dict.fromkeys(("watts", "utilisation"), several(NUMBER))),
    }
)


def operation(value: Any, where: str) -> Iterator[RecordFault]:
    """Curves over time: as many values as segments, at least one."""
    fault = next(CURVES(value, where), None)
    if fault is not None:
        yield fault
        return
    lengths = {len(curve) for curve in value["segments"].values()}
    if len(lengths) != 1 or 0 in lengths:
        yield RecordFault(f"{where}.segments", "lists of the same length, at least 1", sorted(lengths))


RECORD = fields(
    {
        **dict.fromkeys(("key", "instance", "path", "content", "method", "solver", "schedlab"), TEXT),
        **dict.fromkeys(("status", "message", "started"), TEXT),
        "seed": _is(lambda v: isinstance(v, int) and not isinstance(v, bool), "a whole number"),
        "time_limit": NUMBER,
        "threads": whole(1),
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
        "simulation": maybe(SIMULATION),
        "jobs_csv": maybe(TEXT),
        "nodes_needed": maybe(whole(0)),
        "deadlines": several(row(whole(0), whole(0), whole(0))),
        "response_s": several(row(whole(0), NUMBER, TEXT)),
        "one_pass": FLAG,
        "all_deadlines_s": maybe(NUMBER),
        "account": maybe(ACCOUNT),
        "makespan": maybe(NUMBER),
        "daily": DAILY,
        "operation": operation,
    },
    rest=anything,
)


def _replay(record: Mapping[str, Any]) -> Iterator[RecordFault]:
    """What a replay that went to its end has beside the other fields."""
    if record["replay"] is not None and record["status"] == "feasible":
        for name in ("metrics", "simulation", "jobs_csv"):
            if record.get(name) is None:
                yield RecordFault(name, PRESENT, None)
