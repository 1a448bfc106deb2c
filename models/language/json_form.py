"""Models as JSON: a version, the variables, the functions, the constraints, the objectives; docs/models.md has the schema.

Variables and functions are named by their positions in their lists. A function contains only functions before it, so
that expressions of any depth are read and written without recursion, and shared ones once. A constraint has the name
of the function that declares it as its ``type``, and the fields of its class; a class needs nothing else to be written
and read. Fields with their default values are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING
from functools import partial
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin

from ..counts import how_many, how_many_of
from ..unknown_names import hint
from . import calendars, conditions, declarations, functions, levels, sequences, states, structures
from .constraints import Constraint, OrderKind
from .expressions import (
    Atom,
    Attribute,
    Comparison,
    Element,
    Entry,
    Function,
    Holds,
    Integer,
    Interval,
    Linear,
    Max,
    Min,
    Neighbours,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
    linear,
)
from .listing import CLASSES, arguments, functions_of, kind_and_values
from .quantities import ModelError, Number, number

if TYPE_CHECKING:
    from .data import ModelData

VERSION = 1
MARK = "schedlab_model"
KEYS = (MARK, "name", "horizon", "intervals", "integers", "functions", "constraints", "sense", "objectives")
T = TypeVar("T")
M = TypeVar("M")


# Writing


def write(model: ModelData) -> dict[str, Any]:
    """Return a model as a dict of lists, dicts, strings and numbers."""
    writer = _Writer()
    written = [writer.function(f) for f in functions_of(model)]
    return {
        MARK: VERSION,
        "name": str(model.name),
        "horizon": model.declared_horizon,
        "intervals": [_interval(v) for v in model.intervals],
        "integers": [{"name": str(x.name), "lo": x.lo, "hi": x.hi} for x in model.integers],
        "functions": written,
        "constraints": [{"name": str(c.name), **writer.constraint(c.constraint)} for c in model.constraints],
        "sense": model.sense,
        "objectives": [writer.linear(e) for e in model.objectives],
    }


def text(data: Mapping[str, Any]) -> str:
    """Return the JSON text of a dict: an entry of each list on a line of its own."""
    parts = []
    for key, value in data.items():
        shown = json.dumps(value, allow_nan=False)
        if isinstance(value, list) and value:
            entries = ",\n".join(f"  {json.dumps(entry, allow_nan=False)}" for entry in value)
            shown = f"[\n{entries}\n ]"
        parts.append(f" {json.dumps(key)}: {shown}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _interval(v: Interval) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": str(v.name),
        "size": v.size_lo if v.size_lo == v.size_hi else [v.size_lo, v.size_hi],
    }
    if v.declared_windows is not None:
        entry["start"] = [list(w) for w in v.declared_windows]
    return {**entry, "optional": True} if v.optional else entry


class _Writer:
    """Functions are numbered in the order in which they are written."""

    def __init__(self) -> None:
        self.index: dict[Atom, int] = {}

    def value(self, value: Any) -> Any:
        """Return a field of a constraint."""
        match value:
            case Interval() | Integer():
                return value.index
            case Linear():
                return self.linear(value)
            case Comparison():
                return self.comparison(value)
            case tuple():
                return [self.value(v) for v in value]
        return value

    def constraint(self, constraint: Constraint) -> dict[str, Any]:
        if isinstance(constraint, Comparison):
            return {"type": "comparison", **self.comparison(constraint)}
        kind, required, optional = kind_and_values(constraint)
        return {"type": kind, **{name: self.value(value) for name, value in (required | optional).items()}}

    def comparison(self, c: Comparison) -> dict[str, Any]:
        lo, hi = (None if math.isinf(b) else b - c.expr.constant for b in (c.lo, c.hi))
        return {"terms": self.terms(c.expr), "lo": lo, "hi": hi}

    def linear(self, e: Linear) -> dict[str, Any] | Number:
        """Return an expression: a number, or terms and a constant, which is left out if it is 0."""
        if not e.terms:
            return e.constant
        constant = {} if type(e.constant) is int and not e.constant else {"constant": e.constant}
        return {"terms": self.terms(e), **constant}

    def terms(self, e: Linear) -> list[list[Any]]:
        return [[k, *self.atom(a)] for a, k in e.terms.items()]

    def atom(self, a: Atom) -> tuple[str, int]:
        match a:
            case Integer():
                return "integer", a.index
            case Attribute():
                return a.field, a.interval.index
            case _:
                return "function", self.index[a]

    def function(self, f: Function) -> dict[str, Any]:
        of = [self.linear(e) for e in f.operands]
        self.index[f] = len(self.index)
        match f:
            case Max() | Min():
                return {"type": type(f).__name__.lower(), "operands": of}
            case Holds():
                return {"type": "holds", **self.comparison(f.comparison)}
            case Neighbours():
                given = (f.intervals, f.types, f.costs, f.first, f.last)
                return {"type": "neighbours", **dict(zip(FUNCTIONS["neighbours"], map(self.value, given), strict=True))}
            case Overlap():
                return {"type": "overlap", "interval": f.interval.index, "lo": f.lo, "hi": f.hi}
            case Element():
                return {"type": "element", "array": list(f.array), "index": of[0]}
            case Piecewise():
                return {"type": "piecewise", "x": of[0], "points": [list(p) for p in f.points]}
            case Entry():
                return {"type": "element", "array": of[1:], "index": of[0]}
            case Product() | Quotient() | Remainder():
                kind = type(f).__name__.lower()
                return {"type": kind, **dict(zip(FUNCTIONS[kind], of, strict=True))}
        raise ModelError(f"{type(f).__name__} cannot be written as JSON")


# Reading


def read(empty: Callable[[str, int | None], M], data: str | bytes | Mapping[str, Any]) -> M:
    """Return the model of a JSON text or of the dict that it contains; ``empty`` makes a model without content."""
    loaded = _loaded(data) if isinstance(data, (str, bytes)) else data
    _check_version(loaded)
    _check_keys("the model", loaded, KEYS)
    name = _typed("name", loaded.get("name"), str)
    horizon = loaded.get("horizon")
    with _at("horizon"):
        model = empty(name, None if horizon is None else _whole("horizon", horizon))
    _Reader(model).read(loaded)
    return model


def _loaded(data: str | bytes) -> Any:
    def refuse(name: str) -> None:
        raise ModelError(f"the JSON text of the model contains {name}; all numbers must be finite")

    try:
        return json.loads(data, parse_constant=refuse)
    except ModelError:
        raise
    except ValueError as e:
        raise ModelError(f"the model is no JSON text: {e}") from e
    except RecursionError as e:
        raise ModelError("the JSON text of the model is nested too deeply") from e


def _check_version(found: Any) -> None:
    if not isinstance(found, Mapping) or MARK not in found:
        raise ModelError(f'the data are no model of schedlab: expected an object with "{MARK}": {VERSION}')
    version = found[MARK]
    if type(version) is not int or version < 1:
        raise ModelError(f"{MARK}: expected the version as a whole number, {VERSION}, not {version!r:.60}")
    if version > VERSION:
        raise ModelError(
            f"{MARK}: the model has version {version} of the format, but this schedlab reads version {VERSION} alone; "
            "install a newer schedlab, or write the model with an older one"
        )


class _Reader:
    def __init__(self, model: Any) -> None:
        self.model = model
        self.functions: list[Linear] = []

    def read(self, found: Mapping[str, Any]) -> None:
        """Add all parts of a model, in the order in which they refer to each other."""
        model = self.model
        for place, entry in _entries(found, "intervals"):
            with _at(place):
                self.interval(place, entry)
        for place, entry in _entries(found, "integers"):
            _check_keys(place, entry, ("name", "lo", "hi"))
            with _at(place):
                lo, hi = (_whole(f"{place}.{end}", entry[end]) for end in ("lo", "hi"))
                model.integer(_typed(f"{place}.name", entry["name"], str), lo, hi)
        for place, entry in _entries(found, "functions"):
            with _at(place):
                self.functions.append(self.function(place, entry))
        for place, entry in _entries(found, "constraints"):
            with _at(place):
                made = self.constraint(place, entry)
                model.add(made, _typed(f"{place}.name", entry["name"], str))
        sense = found["sense"]
        if sense not in ("minimize", "maximize"):
            raise ModelError(f'sense: expected "minimize" or "maximize", not {sense!r:.60}')
        objectives = [self.linear(place, entry) for place, entry in _entries(found, "objectives")]
        if objectives:
            (model.minimize if sense == "minimize" else model.maximize)(objectives)

    def interval(self, place: str, entry: Mapping[str, Any]) -> None:
        _check_keys(place, entry, ("name", "size"), ("start", "optional"))
        size = entry["size"]
        start = entry.get("start")
        ends = [_whole(f"{place}.size", s) for s in (size if isinstance(size, list) else [size])]
        if len(ends) > 2 or not ends:
            raise ModelError(f"{place}.size: expected a number or [lo, hi], not {size!r:.60}")
        windows = None if start is None else [tuple(w) for w in self.value(f"{place}.start", start, Windows)]
        optional = _typed(f"{place}.optional", entry.get("optional", False), bool)
        self.model.interval(_typed(f"{place}.name", entry["name"], str), (ends[0], ends[-1]), windows, optional)

    def constraint(self, place: str, entry: Mapping[str, Any]) -> Constraint:
        kind = _kind(place, entry, ("comparison", *CLASSES))
        if kind == "comparison":
            _check_keys(place, entry, ("name", "type", "terms", "lo", "hi"))
            return self.comparison(place, entry)
        needed = [f.name for f, _ in arguments(kind) if f.default is MISSING]
        _check_keys(place, entry, ("name", "type", *needed), [f.name for f, _ in arguments(kind)])
        values = {
            f.name: self.value(f"{place}.{f.name}", entry[f.name], t) for f, t in arguments(kind) if f.name in entry
        }
        declare: Callable[..., Constraint] = DECLARED[kind] if kind in DECLARED else getattr(declarations, kind)
        required = [values.pop(name) for name in needed]
        return declare(*required, **values)

    def value(self, place: str, value: Any, wanted: Any) -> Any:
        """Return a value of the annotated type: an interval of its index, a tuple of a list, ..."""
        if get_origin(wanted) is Literal:
            if value not in get_args(wanted):
                raise ModelError(f"{place}: expected one of {', '.join(get_args(wanted))}, not {value!r:.60}")
            return value
        if get_origin(wanted) in (Union, UnionType):
            return self.value(place, value, _branch(value, get_args(wanted)))
        if get_origin(wanted) is tuple:
            items = _typed(place, value, list)
            inner = get_args(wanted)
            if inner[-1] is not Ellipsis and len(items) != len(inner):
                raise ModelError(f"{place}: expected {how_many(len(inner), 'value')}, not {len(items)}")
            types = [inner[0]] * len(items) if inner[-1] is Ellipsis else inner
            return tuple(self.value(f"{place}[{k}]", v, t) for k, (v, t) in enumerate(zip(items, types, strict=True)))
        if wanted is Interval:
            return _entry(place, value, self.model.intervals, "intervals")
        if wanted is Integer:
            return _entry(place, value, self.model.integers, "integers")
        if wanted is Linear:
            return self.linear(place, value)
        if wanted is Comparison:
            return self.comparison(place, value)
        if wanted is int:
            return _whole(place, value)
        return _number(place, value) if wanted is float else _typed(place, value, wanted)

    def comparison(self, place: str, entry: Any) -> Comparison:
        e = self.terms(place, entry)
        lo, hi = (None if entry.get(k) is None else _number(f"{place}.{k}", entry[k]) for k in ("lo", "hi"))
        if lo is None and hi is None:
            raise ModelError(f"{place}: expected a number as lo or hi, or both")
        c = e.constant
        return Comparison(Linear(e.terms), -math.inf if lo is None else lo - c, math.inf if hi is None else hi - c)

    def truth(self, place: str, entry: Any) -> Comparison:
        """Return the comparison of a ``holds``, which is kept as it is written."""
        made = self.comparison(place, entry)
        conditions.holds(made)  # raises ModelError for one without a truth value
        if not made.expr.terms:
            raise ModelError(f"{place}: expected at least one term")
        return made

    def linear(self, place: str, entry: Any) -> Linear:
        if isinstance(entry, (int, float)):
            return linear(_number(place, entry))
        terms = self.terms(place, entry)
        _check_keys(place, entry, ("terms",), ("constant",))
        return terms + _number(f"{place}.constant", entry.get("constant", 0))

    def terms(self, place: str, entry: Any) -> Linear:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("terms"), list):
            raise ModelError(f'{place}: expected a number or {{"terms": [...], "constant": ...}}, not {entry!r:.60}')
        factors, atoms = [], []
        for k, term in enumerate(entry["terms"]):
            if not isinstance(term, (list, tuple)) or len(term) != 3:
                raise ModelError(f'{place}.terms[{k}]: expected [coefficient, "start", interval], not {term!r:.60}')
            factors.append(_number(f"{place}.terms[{k}]", term[0]))
            atoms.append(self.atom(f"{place}.terms[{k}]", term[1], term[2]))
        return functions.sum(atoms, factors)

    def atom(self, place: str, field: Any, index: Any) -> Atom | Linear:
        match field:
            case "integer":
                integer: Integer = _entry(place, index, self.model.integers, "integers")
                return integer
            case "function":
                return _entry(place, index, self.functions, "functions before this one")
            case "start" | "end" | "size" | "presence":
                attribute: Attribute = getattr(_entry(place, index, self.model.intervals, "intervals"), field)
                return attribute
        raise ModelError(f"{place}: expected start, end, size, presence, integer or function, not {field!r:.60}")

    def function(self, place: str, entry: Mapping[str, Any]) -> Linear:
        kind = _kind(place, entry, tuple(FUNCTIONS))
        _check_keys(place, entry, ("type", *FUNCTIONS[kind]))
        if kind == "holds":
            return linear(Holds(self.truth(place, entry)))
        given = {name: self.value(f"{place}.{name}", entry[name], t) for name, t in FUNCTIONS[kind].items()}
        declare: Callable[..., Linear] = sequences.neighbours if kind == "neighbours" else getattr(functions, kind)
        return declare(*given.values())


DECLARED: dict[str, Callable[..., Constraint]] = {
    "level": levels.level,
    **{kind: partial(sequences.order, kind) for kind in get_args(OrderKind)},
    "direct_transitions": sequences.transitions,
    "no_idle": sequences.idle,
    "same_sequence": sequences.same,
    "state_function": states.state_function,
    "intensity": calendars.intensity,
    "in_domain": calendars.in_domain,
    "span": structures.span,
    "isomorphism": structures.isomorphism,
    "variable_capacity": declarations.cumulative,
    "variable_delay": declarations.variable_delay,
}
"""The functions that declare constraints and are not in ``declarations`` under the name of their type."""
Windows = tuple[tuple[int, int], ...]
Entries = tuple[float | Linear, ...]
# The arguments of each function in the order in which the language takes them
FUNCTIONS: dict[str, dict[str, Any]] = {
    "max": {"operands": tuple[Linear, ...]},
    "min": {"operands": tuple[Linear, ...]},
    "holds": {"terms": None, "lo": None, "hi": None},
    "overlap": {"interval": Interval, "lo": int, "hi": int},
    "element": {"array": Entries, "index": Linear},
    "piecewise": {"x": Linear, "points": tuple[tuple[float, float], ...]},
    "product": {"left": Linear, "right": Linear},
    "quotient": {"dividend": Linear, "divisor": Linear},
    "remainder": {"dividend": Linear, "divisor": Linear},
    "neighbours": {
        "intervals": tuple[Interval, ...],
        "types": tuple[int, ...],
        "costs": tuple[tuple[int, ...], ...],
        "first": tuple[int, ...],
        "last": tuple[int, ...],
    },
}


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Name the place in errors of the language that do not yet name it."""
    try:
        yield
    except ModelError as e:
        if str(e).startswith(place):
            raise
        raise ModelError(f"{place}: {e}") from e


def _check_keys(place: str, entry: Any, needed: Iterable[str], optional: Iterable[str] = ()) -> None:
    if not isinstance(entry, Mapping):
        raise ModelError(f"{place}: expected an object, not {entry!r:.60}")
    missing = [k for k in needed if k not in entry]
    if missing:
        raise ModelError(f"{place}: {', '.join(missing)} missing")
    unknown = [str(k) for k in entry if k not in (*needed, *optional)]
    if unknown:
        known = dict.fromkeys([*needed, *optional])
        raise ModelError(f"{place}: unknown key {', '.join(unknown)[:60]}; {hint(unknown[0], known, both=True)}")


def _kind(place: str, entry: Any, known: tuple[str, ...]) -> str:
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    if kind not in known:
        raise ModelError(f"{place}.type: expected one of {', '.join(known)}, not {kind!r:.60}")
    return str(kind)


def _entries(found: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    return ((f"{key}[{k}]", entry) for k, entry in enumerate(_typed(key, found[key], list)))


def _entry(place: str, index: Any, known: list[T], what: str) -> T:
    if type(index) is not int or not 0 <= index < len(known):
        raise ModelError(
            f"{place}: expected the position of one of the {how_many_of(len(known), what)}, not {index!r:.60}"
        )
    return known[index]


def _branch(value: Any, branches: tuple[Any, ...]) -> Any:
    """Return the type of a union to which a JSON value belongs; the first one if it belongs to none."""
    for wanted in branches:
        kind = get_origin(wanted) or wanted
        if (
            (value is None and kind is type(None))
            or (isinstance(value, Mapping) and kind in (Linear, Comparison))
            or (isinstance(value, list) and kind is tuple)
            or (isinstance(value, (int, float)) and kind in (int, float))
        ):
            return wanted
    return branches[0]


def _typed(place: str, value: Any, kind: type[T]) -> T:
    if isinstance(value, tuple) and kind is list:
        return list(value)  # type: ignore[return-value]
    if not isinstance(value, kind):
        names = {str: "a string", list: "a list", bool: "true or false", type(None): "null"}
        raise ModelError(f"{place}: expected {names.get(kind, kind.__name__)}, not {value!r:.60}")
    return value


def _number(place: str, value: Any) -> Number:
    if isinstance(value, bool):
        raise ModelError(f"{place}: expected a number, not {value!r}")
    return number(value, place)


def _whole(place: str, value: Any) -> int:
    if type(value) is not int:
        raise ModelError(f"{place}: expected a whole number, not {value!r:.60}")
    return value
