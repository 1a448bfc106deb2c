"""The texts of a model: JSON, and a listing for people with one declaration per line, in the notation of the language.

JSON has a version, the variables, the functions, the constraints, the objectives; docs/models.md has the schema. Variables
and functions are named by their positions in their lists. A function contains only functions before it, so that
expressions of any depth are read and written without recursion, and shared ones once. A constraint has the name of the
function that declares it as its ``type``, and the fields of its class; a class needs nothing else to be written and read.
Fields with their default values are left out.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields
from functools import cache, partial
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ..words import hint, how_many, how_many_of, one_line, visible
from . import calendars, functions, levels, sequences, structures
from .calendars import InDomain, Intensity
from .constraints import Constraint, OrderKind, Stated, expressions_of
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
    ModelError,
    Neighbours,
    Number,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
    atoms_below,
    linear,
    number,
)
from .structures import Isomorphism, Span, VariableCapacity, VariableDelay

if TYPE_CHECKING:
    from .constraints import ModelData

VERSION = 1
MARK = "schedlab_model"
KEYS = (MARK, "name", "horizon", "intervals", "integers", "functions", "constraints", "sense", "objectives")
T = TypeVar("T")
M = TypeVar("M")


# --- JSON, written.


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
    if v.optional:
        return {**entry, "optional": True}
    return entry


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
        constant = e.constant + 0  # -0.0, which is lost when terms are added to it, becomes 0.0
        if not e.terms:
            return constant
        if type(constant) is int and constant == 0:
            return {"terms": self.terms(e)}
        return {"terms": self.terms(e), "constant": constant}

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


# --- JSON, read.


def read(empty: Callable[[str, int | None], M], data: str | bytes | Mapping[str, Any]) -> M:
    """Return the model of a JSON text or of the dict that it contains; ``empty`` makes a model without content."""
    if isinstance(data, (str, bytes)):
        loaded = _loaded(data)
    else:
        loaded = data
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


def _check_version(data: Any) -> None:
    if not isinstance(data, Mapping) or MARK not in data:
        raise ModelError(f'the data are no model of schedlab: expected an object with "{MARK}": {VERSION}')
    version = data[MARK]
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

    def read(self, data: Mapping[str, Any]) -> None:
        """Add all parts of a model, in the order in which they refer to each other."""
        model = self.model
        for place, entry in _entries(data, "intervals"):
            with _at(place):
                self.interval(place, entry)
        for place, entry in _entries(data, "integers"):
            _check_keys(place, entry, ("name", "lo", "hi"))
            with _at(place):
                lo, hi = (_whole(f"{place}.{end}", entry[end]) for end in ("lo", "hi"))
                model.integer(_typed(f"{place}.name", entry["name"], str), lo, hi)
        for place, entry in _entries(data, "functions"):
            with _at(place):
                self.functions.append(self.function(place, entry))
        for place, entry in _entries(data, "constraints"):
            with _at(place):
                made = self.constraint(place, entry)
                model.add(made, _typed(f"{place}.name", entry["name"], str))
        sense = data["sense"]
        if sense not in ("minimize", "maximize"):
            raise ModelError(f'sense: expected "minimize" or "maximize", not {sense!r:.60}')
        objectives = [self.linear(place, entry) for place, entry in _entries(data, "objectives")]
        if objectives:
            (model.minimize if sense == "minimize" else model.maximize)(objectives)

    def interval(self, place: str, entry: Mapping[str, Any]) -> None:
        _check_keys(place, entry, ("name", "size"), ("start", "optional"))
        size = entry["size"]
        start = entry.get("start")
        ends = [_whole(f"{place}.size", s) for s in (size if isinstance(size, list) else [size])]
        if len(ends) > 2 or not ends:
            raise ModelError(f"{place}.size: expected a number or [lo, hi], not {size!r:.60}")
        windows = None
        if start is not None:
            windows = [tuple(w) for w in self.value(f"{place}.start", start, Windows)]
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
        declare: Callable[..., Constraint]
        if kind in DECLARED:
            declare = DECLARED[kind]
        else:
            declare = getattr(functions, kind)
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
        if wanted is float:
            return _number(place, value)
        return _typed(place, value, wanted)

    def comparison(self, place: str, entry: Any) -> Comparison:
        e = self.terms(place, entry)
        if entry.get("lo") is None and entry.get("hi") is None:
            raise ModelError(f"{place}: expected a number as lo or hi, or both")
        lo: Number = -math.inf
        hi: Number = math.inf
        if entry.get("lo") is not None:
            lo = _number(f"{place}.lo", entry["lo"]) - e.constant
        if entry.get("hi") is not None:
            hi = _number(f"{place}.hi", entry["hi"]) - e.constant
        return Comparison(Linear(e.terms), lo, hi)

    def truth(self, place: str, entry: Any) -> Comparison:
        """Return the comparison of a ``holds``, which is kept as it is written."""
        made = self.comparison(place, entry)
        functions.holds(made)  # raises ModelError for one without a truth value
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
        declare: Callable[..., Linear]
        if kind == "neighbours":
            declare = sequences.neighbours
        else:
            declare = getattr(functions, kind)
        return declare(*given.values())


DECLARED: dict[str, Callable[..., Constraint]] = {
    "level": levels.level,
    **{kind: partial(sequences.order, kind) for kind in get_args(OrderKind)},
    "direct_transitions": sequences.transitions,
    "no_idle": sequences.idle,
    "same_sequence": sequences.same,
    "state_function": levels.state_function,
    "intensity": calendars.intensity,
    "in_domain": calendars.in_domain,
    "span": structures.span,
    "isomorphism": structures.isomorphism,
    "variable_capacity": functions.cumulative,
    "variable_delay": functions.variable_delay,
}
"""The functions that declare constraints and are not in ``functions`` under the name of their type."""
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
    kind = None
    if isinstance(entry, Mapping):
        kind = entry.get("type")
    if kind not in known:
        raise ModelError(f"{place}.type: expected one of {', '.join(known)}, not {kind!r:.60}")
    return str(kind)


def _entries(data: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    return ((f"{key}[{k}]", entry) for k, entry in enumerate(_typed(key, data[key], list)))


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


# --- The listing.

WIDTH = 200  # characters of a line of a listing that is not complete
SHORT = 40  # characters of a function that is written out wherever it occurs

Section = tuple[str, list[Any], Callable[[Any], str]]


def kinds_of(constraint: type) -> tuple[str, ...]:
    """Return the types in JSON of a class of constraints: the values of its field ``kind``, or its name in snake case.

    Examples
    --------
    >>> from schedlab.models.language import NoOverlap, Precedence
    >>> kinds_of(NoOverlap), kinds_of(Precedence)[0]
    (('no_overlap',), 'end_before_start')
    """
    hints = get_type_hints(constraint)
    if "kind" in hints:
        return get_args(hints["kind"])
    return ("".join(f"_{c.lower()}" if c.isupper() else c for c in constraint.__name__).strip("_"),)


STATED = (InDomain, Intensity, Isomorphism, Span, VariableCapacity, VariableDelay)
OF_OTHERS = (c for c in get_args(Constraint) if c not in (Comparison, Stated))
CLASSES: dict[str, type] = {kind: c for c in (*OF_OTHERS, *STATED) for kind in kinds_of(c)}
"""The classes of constraints other than comparisons, by their types in JSON."""


@cache
def arguments(kind: str) -> tuple[tuple[Field[Any], Any], ...]:
    """Return the fields of a type of constraint with their annotations, without ``kind``."""
    hints = get_type_hints(CLASSES[kind])
    # an order of one interval has no other
    if kind in ("first", "last"):
        left_out = {"kind", "other"}
    else:
        left_out = {"kind"}
    return tuple((f, hints[f.name]) for f in fields(CLASSES[kind]) if f.name not in left_out)


def kind_and_values(constraint: Constraint) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the type of a constraint other than a comparison, its fields without and those with a default value.

    Fields that have their default value are left out.
    """
    kind: str = getattr(constraint, "kind", None) or kinds_of(type(constraint))[0]
    values = [(f, getattr(constraint, f.name)) for f, _ in arguments(kind)]
    required = {f.name: value for f, value in values if f.default is MISSING}
    return kind, required, {f.name: v for f, v in values if f.name not in required and v != f.default}


def functions_of(model: ModelData) -> list[Function]:
    """Return the functions in the constraints and objectives of a model; each one after those that it contains."""
    parts = [e for c in model.constraints for e in linears_of(c.constraint)]
    return [a for a in atoms_below([*parts, *model.objectives]) if isinstance(a, Function)]


def linears_of(constraint: Constraint) -> Iterator[Linear]:
    """Yield the expressions in the fields of a constraint."""
    yield from expressions_of(constraint)


def listing(model: ModelData, limit: int | None, describe: Callable[[Constraint], str]) -> str:
    """Return the text of a model: ``limit`` entries with at most 200 characters each, or everything if it is None.

    ``describe`` makes the names of constraints that were declared without one; the listing leaves these names out.
    """
    notation = Notation(model, None if limit is None else WIDTH)

    def constraint(entry: tuple[str, Constraint]) -> str:
        text = notation.constraint(entry[1])
        if entry[0] == describe(entry[1]):
            return text
        return f"{entry[0]}: {text}"

    sections: list[Section] = [
        ("objectives", model.objectives, notation.linear),
        ("intervals", model.intervals, _declared),
        ("integers", model.integers, lambda x: f"{x.name}: {_range(x.lo, x.hi)}"),
        ("functions", notation.named, lambda f: f"{notation.names[f]} = {notation.texts[f]}"),
        ("constraints", model.constraints, constraint),
    ]
    counted = [(len(items), title) for title, items, _ in sections if title != "functions"]
    counts = ", ".join(how_many_of(n, title, ",") for n, title in counted)
    lines = [f"Model {model.name!r}: {counts}; horizon {model.horizon}"]
    for (title, items, write), shown in zip(sections, _shares([len(s[1]) for s in sections], limit), strict=True):
        if items:
            lines.append(f"{model.sense if title == 'objectives' else title}:")
            lines += [f"  {_cut(write(item), notation.width)}" for item in itertools.islice(items, shown)]
        if shown < len(items):
            lines.append(f"  ... and {len(items) - shown:,} more")
    return "\n".join(lines)


def _shares(sizes: list[int], limit: int | None) -> list[int]:
    """Return how many entries of each section are listed: short sections are complete, long ones get equal shares.

    Examples
    --------
    >>> _shares([1, 1000, 500, 20], 101)
    [1, 40, 40, 20]
    """
    if limit is None:
        return sizes
    shares = list(sizes)
    left = max(0, limit)
    for position, k in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[k] = min(sizes[k], left // (len(sizes) - position))
        left -= shares[k]
    return shares


class Notation:
    """Texts of expressions and constraints in the notation of the language.

    A function of more than 40 characters that occurs several times gets a name, f1, f2, ..., and is in the list
    ``named``: written out, functions of shared functions could be exponentially long.

    Parameters
    ----------
    model : Model
        The model.
    width : int or None
        Texts may be cut after this number of characters. None: they are complete.
    """

    def __init__(self, model: ModelData, width: int | None) -> None:
        self.width = width
        self.texts: dict[Atom, str] = {}
        self.names: dict[Atom, str] = {}
        functions = functions_of(model)
        outer = [*model.objectives, *(e for c in model.constraints for e in linears_of(c.constraint))]
        inner = (e for f in functions for e in f.operands)
        uses = Counter(a for e in itertools.chain(outer, inner) for a in e.terms if isinstance(a, Function))
        for f in functions:
            self.texts[f] = _cut(self._function(f), width)
            if uses[f] > 1 and len(self.texts[f]) > SHORT:
                self.names[f] = f"f{len(self.names) + 1}"
        self.named = list(self.names)

    def linear(self, e: Linear) -> str:
        """Return the text of an expression."""
        length = 0
        terms: Iterable[tuple[str, int | float]] = ((self._atom(a), k) for a, k in e.terms.items())
        parts: list[str] = []
        for name, k in itertools.chain(terms, [("", e.constant)] if e.constant or not e.terms else []):
            times = ""
            if name:
                times = "*"
            if abs(k) == 1 and name:
                size = ""
            else:
                size = f"{abs(k)!r}{times}"
            if parts:
                sign = "+ "
                if k < 0:
                    sign = "- "
            else:
                sign = ""
                if k < 0:
                    sign = "-"
            parts.append(f"{sign}{size}{name}")
            length += len(parts[-1])
            if self.width is not None and length > self.width:
                break
        return " ".join(parts)

    def comparison(self, c: Comparison) -> str:
        """Return the text of a comparison."""
        e = self.linear(c.expr)
        if c.lo == c.hi:
            return f"{e} == {c.hi}"
        below = ""
        if c.lo != -math.inf:
            below = f"{c.lo} <= "
        if c.hi == math.inf:
            return f"{e} >= {c.lo}"
        return f"{below}{e} <= {c.hi}"

    def constraint(self, c: Constraint) -> str:
        """Return the text of a constraint: a comparison, or a call of the function that declares the constraint."""
        if isinstance(c, Comparison):
            return self.comparison(c)
        kind, required, optional = kind_and_values(c)
        if kind == "cumulative" and len(required["steps"]) == 1:
            required["steps"] = required["steps"][0][1]  # a constant capacity
        if kind == "variable_capacity":
            kind = "cumulative"
        if kind == "variable_delay":
            kind = required.pop("relation")
        given = [self._value(v) for v in required.values()] + [f"{k}={self._value(v)}" for k, v in optional.items()]
        return f"{kind}({', '.join(given)})"

    def _value(self, value: Any, nested: bool = False) -> str:
        if isinstance(value, tuple):
            inner = ", ".join(self._value(v, nested=True) for v in value[: self.width])
            if nested:
                return f"({inner})"
            return f"[{inner}]"
        if isinstance(value, Linear):
            return self.linear(value)
        if isinstance(value, Comparison):
            return self.comparison(value)
        if isinstance(value, (Interval, Integer)):
            return value.name
        return str(value)

    def _atom(self, a: Atom) -> str:
        if isinstance(a, Integer):
            return a.name
        if isinstance(a, Attribute):
            return f"{a.interval.name}.{a.field}"
        return self.names.get(a) or self.texts[a]

    def _function(self, f: Function) -> str:
        match f:
            case Holds():
                return f"holds({self.comparison(f.comparison)})"
            case Overlap():
                return f"overlap({f.interval.name}, {f.lo}, {f.hi})"
            case Element():
                return f"element({list(f.array[: self.width])}, {self.linear(f.operands[0])})"
            case Piecewise():
                return f"piecewise({self.linear(f.operands[0])}, {list(f.points[: self.width])})"
            case Entry():
                entries = ", ".join(self.linear(e) for e in f.entries[: self.width])
                return f"element([{entries}], {self.linear(f.operands[0])})"
            case Neighbours():
                given = (f.intervals, f.types, f.costs, f.first, f.last)
                return f"neighbours({', '.join(map(self._value, given))})"
        return f"{type(f).__name__.lower()}({', '.join(self.linear(e) for e in f.operands[: self.width])})"


def _declared(v: Interval) -> str:
    optional = ""
    if v.optional:
        optional = "optional, "
    return (
        f"{v.name}: {optional}size {_range(v.size_lo, v.size_hi)}, start {' or '.join(_range(*w) for w in v.windows)}"
    )


def _range(lo: int, hi: int) -> str:
    if lo == hi:
        return str(lo)
    return f"{lo} to {hi}"


def _cut(text: str, width: int | None) -> str:
    """Return a text on one line; of one that is longer than ``width`` the beginning.

    Examples
    --------
    >>> _cut("a sum of many terms", 10)
    'a sum o...'
    """
    if width is None:
        return visible(text)
    return one_line(text, width)
