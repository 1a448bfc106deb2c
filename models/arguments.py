"""Arguments of public functions and classes, checked before they are used: by their annotations, as whole numbers, as names, as times.

``checked`` makes a call raise ``WrongArgument`` for an argument of a wrong type, ``WrongValue`` for a value outside of
its limits, and ``WrongArgument`` with similar names for a keyword that the function does not have. ``named`` does only
the last of these; it costs 0.1 us and is for what is made a hundred thousand times, whose values are checked together.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from numbers import Integral, Real
from operator import attrgetter
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    overload,
)

import numpy as np
from numpy.typing import NDArray

from ..errors import WrongArgument, WrongValue
from .words import hint, how_many, one_line

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
LARGEST = 10**100  # of whole numbers: floats end at 1e308, and Python prints no more than 4,300 digits
WORDS: dict[Any, tuple[str, str]] = {  # one, and in a list
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    Fraction: ("a number", "numbers"),
    str: ("a text", "texts"),
    bool: ("True or False", "True or False"),
    Path: ("a path", "paths"),
    type(None): ("None", "None"),
}


class AtLeast(NamedTuple):
    """The least value of a number, as a part of its annotation: ``Annotated[int, AtLeast(1)]``."""

    least: float


Positive = Annotated[int, AtLeast(1)]
Natural = Annotated[int, AtLeast(0)]
NonNegative = Annotated[float, AtLeast(0)]


@overload
def checked(what: F) -> F: ...
@overload
def checked(*, values: bool = True, deep: bool = True, skip: tuple[str, ...] = ()) -> Callable[[F], F]: ...
def checked(what: Any = None, *, values: bool = True, deep: bool = True, skip: tuple[str, ...] = ()) -> Any:
    """Check the arguments of a function, or of the constructor of a class, by their annotations.

    What an annotation cannot say is not checked: protocols, and names that are imported for type checkers alone.
    Iterators become tuples, so that their items can be checked.

    Parameters
    ----------
    what : function or class
        What is decorated.
    values : bool
        False: numbers and choices are not checked, because the function does it with better words.
    deep : bool
        False: the items of lists and mappings are not checked.
    skip : tuple of str
        Arguments that are not checked.

    Examples
    --------
    >>> @checked
    ... def twice(text: str, times: Positive = 2) -> str: return text * times
    >>> for call in (lambda: twice(3), lambda: twice("a", times=0), lambda: twice("a", tims=3)):
    ...     try: call()
    ...     except (WrongArgument, WrongValue) as e: print(e)
    text of twice is 3; expected a text
    times of twice is 0; expected at least 1
    twice has no argument 'tims'; did you mean times?
    """
    if what is None:
        return functools.partial(checked, values=values, deep=deep, skip=skip)
    return _wrapped(what, lambda function, name: _with_types(function, name, _Depth(values, deep), skip))


def named(what: T) -> T:
    """Make a function, or the constructor of a class, refuse unknown keywords with similar names."""
    return _wrapped(what, _with_names)  # type: ignore[no-any-return]


def one_of(name: str, value: object, allowed: Iterable[str]) -> None:
    """Raise WrongValue if a value is none of the allowed texts.

    Examples
    --------
    >>> one_of("durations", "walltme", ["walltime", "runtime"])
    Traceback (most recent call last):
    ...
    schedlab.errors.WrongValue: durations is 'walltme'; did you mean walltime?
    """
    known = list(allowed)
    if not isinstance(value, str) or value not in known:
        raise WrongValue(f"{name} is {shown(value)}; {hint(value, known, 'expected one of')}")


def expect(name: str, value: object, kinds: Any, note: str = "") -> None:
    """Raise WrongArgument if a value is not of a type, or of one of several.

    Parameters
    ----------
    name : str
        The argument, for the message: "jobs of Dispatch".
    value : object
        Its value.
    kinds : type or annotation
        As in an annotation: ``Platform``, ``Sequence[Job] | None``.
    note : str
        What the message says at its end.

    Examples
    --------
    >>> expect("now", "noon", int | None)
    Traceback (most recent call last):
    ...
    schedlab.errors.WrongArgument: now is 'noon'; expected a whole number or None
    """
    fault = _fault(value, kinds, _Depth())
    if fault is not None:
        raise fault.error(name, kinds, note)


class _Depth(NamedTuple):
    """What is checked: numbers and choices, the items of lists and mappings."""

    values: bool = True
    deep: bool = True


class _Fault(NamedTuple):
    """What is wrong with a value: the place inside of it, and the value there."""

    place: str
    value: object
    expected: str
    limited: bool = False  # the type is right, the value is not

    def error(self, name: str, hint: Any, note: str = "") -> Exception:
        if self.place or self.limited:
            words = self.expected
        else:
            words = described(hint)
        if self.limited and _takes_none(hint):
            words += ", or None"
        choice = isinstance(self.value, str) and get_origin(hint) is Literal
        kind = WrongValue if self.limited or choice else WrongArgument
        argument, of, function = name.partition(" of ")
        return kind(f"{argument}{self.place}{of}{function} is {value_shown(self.value)}; expected {words}{note}")


def _wrapped(what: Any, wrap: Callable[[Callable[..., Any], str], Callable[..., Any]]) -> Any:
    if not isinstance(what, type):
        return wrap(what, what.__name__)
    what.__init__ = wrap(what.__init__, what.__name__)  # type: ignore[misc]
    return what


def _with_names(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as e:
            if e.__traceback__ is not None and e.__traceback__.tb_next is None:  # the call itself, not its body
                raise _wrong_call(function, name, args, kwargs, e) from None
            raise

    return call


def _with_types(function: Callable[..., Any], name: str, depth: _Depth, skip: tuple[str, ...]) -> Callable[..., Any]:
    signature = inspect.signature(function)
    of_class = name != function.__name__

    @functools.lru_cache(None)
    def hints() -> dict[str, Any]:
        return {each: told for each, told in _resolved(function, signature).items() if each not in skip}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as e:
            raise _wrong_call(function, name, args, kwargs, e) from None
        given = bound.arguments
        known = hints()
        for each, value in given.items():
            if each not in known:
                continue
            if isinstance(value, Iterator):
                given[each] = value = tuple(value)
            elif type(value) is int and not is_whole(value):
                raise WrongValue(f"{each} of {name} {wrong(value)}")
            fault = _fault(value, known[each], depth)
            if fault is not None:
                raise fault.error(f"{each} of {name}", known[each], _table(value, name if of_class else None))
        return function(*bound.args, **bound.kwargs)

    return call


def _wrong_call(
    function: Callable[..., Any], name: str, args: Sequence[Any], kwargs: Mapping[str, Any], error: TypeError
) -> Exception:
    """Return the error for a call that does not fit the signature."""
    taken = inspect.signature(function).parameters.values()
    if not any(p.kind is p.VAR_KEYWORD for p in taken):
        known = [p.name for p in taken if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name != "self"]
        for each in kwargs:
            if each not in known:
                return unknown_keyword(name, each, known)
    text = str(error).replace("__init__()", f"{name}()")
    return WrongArgument(text if name in text else f"{name}(): {text}")


def unknown_keyword(function: str, keyword: str, known: Iterable[str]) -> WrongArgument:
    """Return the error for a keyword that a function does not have."""
    return WrongArgument(
        f"{function} has no argument {keyword!r}; {hint(keyword, known, 'its arguments are', 'it has none')}"
    )


def refuse(function: Callable[..., Any], unknown: Mapping[str, Any]) -> NoReturn:
    """Raise WrongArgument for keywords that a function collected in ``**unknown``.

    This costs less than ``named``: the function declares ``**unknown: Never`` and calls this if it is not empty.
    """
    known = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    raise unknown_keyword(function.__name__, next(iter(unknown)), [name for name in known if name != "self"])


def value_shown(value: object) -> str:
    """Return a value for a message, on one line; of a table its size."""
    if hasattr(value, "itertuples") and hasattr(value, "shape"):
        return f"a {type(value).__name__} of {how_many(value.shape[0], 'row', ',')}"
    return one_line(shown(value), LONGEST)


def _table(value: object, name: str | None) -> str:
    """Return the end of the message about a table of pandas that is given in place of objects."""
    if name is None or not hasattr(value, "itertuples"):
        return ""
    if name in ("Dispatch", "Eviction", "Workload"):
        return f"; a table of pandas is read by {name}.from_pandas"
    return ""


def _resolved(function: Callable[..., Any], signature: inspect.Signature) -> dict[str, Any]:
    """Return the annotations that can be evaluated, by the names of the parameters."""
    space = getattr(inspect.unwrap(function), "__globals__", {})
    hints = {}
    for name, parameter in signature.parameters.items():
        told = parameter.annotation
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) or told is parameter.empty:
            continue
        if isinstance(told, str):
            try:
                told = eval(told, space)  # our own annotation
            except (NameError, AttributeError):  # a name for type checkers alone
                continue
        hints[name] = told
    return hints


def _fault(value: object, hint: Any, depth: _Depth) -> _Fault | None:
    """Return what is wrong with a value; None if it is what the annotation says."""
    origin = get_origin(hint)
    inner = get_args(hint)
    if origin is Annotated:
        return _fault(value, inner[0], depth) or _limit(value, inner[1:])
    if origin in (Union, types.UnionType):
        faults = [_fault(value, each, depth) for each in inner]
        if None in faults:
            return None
        deeper = [f for f in faults if f is not None and (f.place or f.limited)]
        if deeper:
            return deeper[0]
        return _Fault("", value, described(hint))
    if origin is Literal:
        allowed = not depth.values or any(value is each or value == each for each in inner if type(value) is type(each))
        if allowed:
            return None
        return _Fault("", value, described(hint))
    if origin is not None:
        return _collection_fault(value, hint, origin, inner, depth)
    if _is(value, hint, depth):
        return None
    return _Fault("", value, described(hint))


def _limit(value: object, limits: Sequence[Any]) -> _Fault | None:
    for limit in limits:
        if isinstance(limit, AtLeast) and isinstance(value, (int, float, Fraction)) and not value >= limit.least:
            return _Fault("", value, f"at least {limit.least}", True)
    return None


def plain_type(hint: Any) -> Any:
    """Return an annotation without the limits of its values.

    Examples
    --------
    >>> plain_type(Positive | None)
    int | None
    """
    if get_origin(hint) is Annotated:
        return get_args(hint)[0]
    if get_origin(hint) in (Union, types.UnionType):
        return functools.reduce(lambda a, b: a | b, map(plain_type, get_args(hint)))
    return hint


def _takes_none(hint: Any) -> bool:
    return type(None) in get_args(hint)


def _is(value: object, hint: Any, depth: _Depth) -> bool:
    """Return whether a value is of a plain type."""
    if hint is Any or hint is object or isinstance(hint, (TypeVar, str, typing.ForwardRef)):
        return True
    if hint is None or hint is type(None):
        return value is None
    if hint is int:
        if depth.values:
            return is_whole(value)
        return True
    if hint in (float, Fraction):
        if depth.values:
            return is_real(value) and not (isinstance(value, float) and math.isnan(value))
        return True
    if hint is bool:
        return isinstance(value, (bool, np.bool_))
    if not isinstance(hint, type):
        return True
    if getattr(hint, "_is_protocol", False):
        return (
            not isinstance(value, type)
            and not hasattr(value, "itertuples")
            and all(hasattr(value, each) for each in _members(hint))
        )
    return isinstance(value, hint)


@functools.lru_cache(None)
def _members(protocol: type) -> tuple[str, ...]:
    """Return the names of the parts that a protocol declares."""
    own = (each for each in protocol.__mro__ if getattr(each, "_is_protocol", False))
    return tuple(name for each in own for name in [*vars(each), *inspect.get_annotations(each)] if name[0] != "_")


def _collection_fault(value: object, hint: Any, origin: Any, inner: tuple[Any, ...], depth: _Depth) -> _Fault | None:
    wrong = _Fault("", value, described(hint))
    if origin is type:
        if isinstance(value, type):
            return None
        return wrong
    if origin is Callable or origin is typing.Callable:
        if callable(value):
            return None
        return wrong
    if not isinstance(origin, type):
        return None
    if issubclass(origin, np.ndarray):
        if isinstance(value, (np.ndarray, Sequence)) and not isinstance(value, str):
            return None
        return wrong
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return wrong
        if not depth.deep:
            return None
        return _items_fault(value.keys(), inner[0], depth, None) or _items_fault(
            value.values(), inner[1], depth, list(value)
        )
    if issubclass(origin, (Iterable, Sequence, Set)):
        return _sequence_fault(value, wrong, origin, inner, depth)
    if isinstance(value, origin):
        return None
    return wrong


def _sequence_fault(value: object, wrong: _Fault, origin: type, inner: tuple[Any, ...], depth: _Depth) -> _Fault | None:
    """Return what is wrong with a list; an array is one, a text, a mapping and a table are none."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable) or hasattr(value, "itertuples"):
        return wrong
    if isinstance(value, np.ndarray) and not value.shape:  # one number, which has no length
        return wrong
    if not isinstance(value, (Sequence, Set, np.ndarray)) and not (
        hasattr(value, "__len__") and hasattr(value, "__getitem__")  # a Series of pandas
    ):
        if issubclass(origin, Sequence):
            return wrong
        return None
    sized: Any = value
    if origin is tuple and not (len(inner) == 2 and inner[1] is Ellipsis):
        if len(sized) != len(inner):
            return wrong
        faults = (_fault(each, told, depth) for each, told in zip(value, inner, strict=True))
        if any(f is not None for f in faults):
            return wrong
        return None
    return _items_fault(value, inner[0], depth, range(len(sized)))


def _items_fault(values: Iterable[object], told: Any, depth: _Depth, places: Sequence[object] | None) -> _Fault | None:
    """Return the fault of the first wrong item; ``places``: the index or key of each item, None for keys."""
    if not depth.deep or _accepted(told, depth).issuperset(map(type, values)):  # fast: 100,000 items take 2 ms
        return None
    for k, each in enumerate(values):
        fault = _fault(each, told, depth)
        if fault is not None:
            place = ", where a key"
            if places is not None:
                place = f"[{places[k]!r}]{fault.place}"
            return _Fault(place, fault.value if places is not None else each, fault.expected, fault.limited)
    return None


def _accepted(told: Any, depth: _Depth) -> frozenset[type]:
    """Return types of which every value is right."""
    if get_origin(told) in (Union, types.UnionType):
        return frozenset().union(*(_accepted(each, depth) for each in get_args(told)))
    if told in (float, Fraction):
        return frozenset((int, Fraction) if depth.values else (int, float, Fraction))
    if isinstance(told, type):
        return frozenset([told])
    return frozenset()


def described(hint: Any) -> str:
    """Return an annotation in words.

    Examples
    --------
    >>> described(Sequence[str] | None), described(Mapping[str, int]), described(Positive)
    ('a list of texts or None', 'a mapping {text: whole number}', 'a whole number')
    """
    origin = get_origin(hint)
    inner = get_args(hint)
    if origin is Annotated:
        return described(inner[0])
    if origin in (Union, types.UnionType):
        words = list(dict.fromkeys(map(described, inner)))
        if len(words) == 1:
            return words[0]
        return f"{', '.join(words[:-1])} or {words[-1]}"
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is None:
        return _one(hint)
    if origin is Callable or origin is typing.Callable:
        return "a function"
    if isinstance(origin, type) and issubclass(origin, np.ndarray):
        return "an array"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a mapping {{{_bare(inner[0])}: {_bare(inner[1])}}}"
    if origin is tuple and not (len(inner) == 2 and inner[1] is Ellipsis):
        return f"({', '.join(map(_bare, inner))})"
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return f"a list of {_many(inner[0])}"
    return _one(origin)


def _one(hint: Any) -> str:
    if hint in WORDS:
        return WORDS[hint][0]
    if hint is None:
        return "None"
    name = getattr(hint, "__name__", str(hint))
    return f"{'an' if name[:1].upper() in 'AEIOU' else 'a'} {name}"


def _bare(hint: Any) -> str:
    words = described(hint)
    return words.removeprefix("a ").removeprefix("an ")


def _many(hint: Any) -> str:
    if hint in WORDS:
        return WORDS[hint][1]
    if get_origin(hint) in (Union, types.UnionType):
        parts = get_args(hint)
    else:
        parts = (hint,)
    if all(isinstance(each, type) and each not in WORDS for each in parts):
        return " or ".join(f"{each.__name__} objects" for each in parts)
    return _bare(hint)


# --- Checks that times, units, capacities and demands are whole numbers and names are texts, made with a problem or a schedule.
#
# Python's ``int`` and NumPy's integers are accepted; the latter become ``int``. All other values are refused: 10.9, NaN,
# infinity, None, True, texts. 10.0 is refused as well, as in instance files: a float may have been rounded before. Only
# the modelling language accepts 4.0 for 4 (``language.expressions.whole``).


R = TypeVar("R")
INT = frozenset([int])
TEXT = frozenset([str])
OPTIONAL = frozenset([int, type(None)])
Rational = int | Fraction
LONGEST = 200  # characters of a value in a message


class Fields(NamedTuple):
    """The names of the fields of a record that hold whole numbers.

    Parameters
    ----------
    one : tuple of str
        Fields with one number.
    maybe : tuple of str
        Fields with one number or None.
    amounts : tuple of str
        Fields with a dict {name: number}.
    pairs : tuple of str
        Fields with a tuple of pairs of numbers.
    names : tuple of str
        Fields with a name, which is a text.
    flags : tuple of str
        Fields that are True or False.
    """

    one: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def text_of(name: object) -> str | None:
    """Return a name as a text: a text as it is, an integer in digits; None for anything else.

    Examples
    --------
    >>> text_of(7), text_of("7"), text_of(7.0), text_of(True)
    ('7', '7', None, None)
    """
    if isinstance(name, str) or is_whole(name):
        return str(name)
    return None


def no_text(value: object) -> str:
    """Return the part of a message that says that the value is no name.

    Examples
    --------
    >>> no_text(None)
    'is None; a text is expected'
    """
    return f"is {shown(value)}; a text is expected"


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether the value is an integer of Python or NumPy, no bool, and not beyond 1e100.

    Examples
    --------
    >>> import numpy as np
    >>> [is_whole(v) for v in (3, np.int32(3), 3.0, True, None, 10**5000)]
    [True, True, False, False, False, False]
    """
    if type(value) is int:
        return -LARGEST <= value <= LARGEST
    return isinstance(value, Integral) and not isinstance(value, bool) and -LARGEST <= int(value) <= LARGEST


def is_real(value: object) -> TypeGuard[float]:
    """Return whether the value is a number and no bool; NaN and infinity are numbers."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether the value is a finite number and no bool."""
    return is_real(value) and (isinstance(value, Integral | Fraction) or math.isfinite(value))


@lru_cache(maxsize=4096)
def rational(x: float | Fraction) -> Rational:
    """Return the simple fraction whose nearest float is x, or the exact value of x if there is none.

    Examples
    --------
    >>> rational(1 / 3600), rational(2.0)
    (Fraction(1, 3600), 2)
    """
    if isinstance(x, int):
        return x
    near = Fraction(x).limit_denominator(10**7)
    if float(near) == x:
        exact = near
    else:
        exact = Fraction(x)
    if exact.denominator == 1:
        return exact.numerator
    return exact


def all_whole(values: Iterable[object]) -> bool:
    """Return whether all values are of the type ``int`` exactly, and not beyond 1e100; this check is fast."""
    numbers: list[Any] = list(values)
    if not INT.issuperset(map(type, numbers)):
        return False
    return not numbers or (min(numbers) >= -LARGEST and max(numbers) <= LARGEST)


def all_texts(values: Iterable[object]) -> bool:
    """Return whether all values are of the type ``str`` exactly; this check is fast."""
    return TEXT.issuperset(map(type, values))


def shown(value: object) -> str:
    """Return a value for a message, shortened if it is long.

    Examples
    --------
    >>> shown("x" * 500)[-5:], shown(10**9999)
    ('xx...', 'an integer of 33216 bits')
    """
    if isinstance(value, int) and value.bit_length() > LONGEST:
        return f"an integer of {how_many(value.bit_length(), 'bit')}"  # repr() refuses more than 4300 digits
    try:
        if isinstance(value, Real):
            text = str(value)
        else:
            text = repr(value)
    except ValueError:  # a collection with an integer of more than 4,300 digits
        return f"a {type(value).__name__} with a long integer"
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}..."


def wrong(value: object, or_none: bool = False) -> str:
    """Return the part of a message that says that the value is no whole number.

    Examples
    --------
    >>> wrong(10.9)
    'is 10.9; a whole number is expected'
    >>> wrong(10.0)
    'is 10.0, a float; a whole number is expected: write 10'
    >>> wrong(10**5000)
    'is an integer of 16610 bits; a whole number of at most 1e100 is expected'
    """
    expected = "a whole number"
    if isinstance(value, int) and abs(value) > LARGEST:
        expected += " of at most 1e100"
    if or_none:
        expected = "a whole number, or None,"
    if isinstance(value, Real) and not isinstance(value, Integral) and is_number(value) and value == int(value):
        kind = type(value).__name__
        return f"is {shown(value)}, a {kind}; {expected} is expected: write {shown(int(value))}"
    return f"is {shown(value)}; {expected} is expected"


def whole_records(records: Iterable[R], fields: Fields, where: Callable[[R], str]) -> tuple[tuple[R, ...], list[str]]:
    """Convert the numbers in these fields to Python's integers, and describe the values that have another type.

    Parameters
    ----------
    records : iterable of dataclass instances
        The records to check.
    fields : Fields
        The names of the fields to check.
    where : callable
        Returns the name of a record for a message, such as ``job 'a'``.

    Returns
    -------
    tuple
        The records, and a message for each value that is no whole number.
    """
    kept = tuple(records)
    if all_fields_whole(kept, fields):
        return kept, []
    faults: list[str] = []
    made = []
    for record in kept:
        changes, faults_of_record = examined(record, fields, where)
        faults += faults_of_record
        made.append(replace(record, **changes) if changes and not faults_of_record else record)  # type: ignore[type-var]
    return tuple(made), faults


def examined(record: R, fields: Fields, where: Callable[[R], str]) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of one record with Python's integers, and a message for each value that is not whole."""
    if all_fields_whole((record,), fields):
        return {}, []
    changes: dict[str, Any] = {}
    faults: list[str] = []
    for name in fields.names:
        text = text_of(getattr(record, name))
        if text is None:
            faults.append(f"{where(record)}: {name} {no_text(getattr(record, name))}")
        changes[name] = text
    for name in (*fields.one, *fields.maybe):
        value = getattr(record, name)
        if is_whole(value):
            changes[name] = int(value)
        elif value is not None or name in fields.one:
            faults.append(f"{where(record)}: {name} {wrong(value, name in fields.maybe)}")
    for name in fields.amounts:
        made, faults_of_amounts = whole_amounts(getattr(record, name), f"{name} of")
        changes[name] = made
        faults += [f"{where(record)}: {why}" for why in faults_of_amounts]
    for name in fields.pairs:
        value = getattr(record, name)
        pairs = whole_pairs(value)
        if pairs is None:
            faults.append(
                f"{where(record)}: {name} is {shown(value)}; pairs (first, last) of whole numbers are expected"
            )
        changes[name] = pairs
    for name in fields.flags:
        value = getattr(record, name)
        if isinstance(value, (bool, np.bool_)):
            changes[name] = bool(value)
        else:
            faults.append(f"{where(record)}: {name} is {shown(value)}; True or False is expected")
    return changes, faults


def whole_amounts(amounts: object, what: str) -> tuple[dict[Any, int], list[str]]:
    """Return {name: number} with Python's integers, and a message for each value that is not whole.

    ``what``: the words before a name in the message.

    Examples
    --------
    >>> whole_amounts({"cores": 0.5}, "request of")[1]
    ["request of 'cores' is 0.5; a whole number is expected"]
    """
    if not isinstance(amounts, Mapping):
        return {}, [f"{what.rpartition(' ')[0]} is {shown(amounts)}; {{name: whole number}} is expected"]
    faults = [f"{what} {name!r} {wrong(value)}" for name, value in amounts.items() if not is_whole(value)]
    texts = [text_of(name) for name in amounts]
    faults += [
        f"a name in the {what.rpartition(' ')[0]} {no_text(n)}"
        for n, t in zip(amounts, texts, strict=True)
        if t is None
    ]
    faults += [
        f"{what} {name!r} is given twice" for name, count in Counter(texts).items() if name is not None and count > 1
    ]
    pairs = zip(texts, amounts.values(), strict=True)
    return ({} if faults else {name: int(value) for name, value in pairs}), faults


def whole_array(values: object) -> tuple[NDArray[np.int64], tuple[int, object] | None]:
    """Return the values as 64-bit integers, and (row, value) of one value that is not whole or too large, or None.

    Examples
    --------
    >>> whole_array([3, 4])[1], whole_array(np.array([3, 4.5]))[1]
    (None, (1, 4.5))
    """
    array = np.asarray(values)
    if array.dtype == np.int64:
        return array, None
    if array.dtype.kind not in "iu" or (array.size and int(array.max()) >= 2**63):
        rows = np.ndindex(array.shape)
        faults = [(at, array[at]) for at in rows if not is_whole(array[at]) or not -(2**63) <= array[at] < 2**63]
        if faults:  # of an array of floats, name a value that equals no integer if there is one
            at, value = next((f for f in faults if not (is_number(f[1]) and f[1] == int(f[1]))), faults[0])
            place = 0
            if at:
                place = at[0]
            if array.dtype == object:
                shown_value = value
            else:
                shown_value = value.item()
            return np.zeros(array.shape, np.int64), (place, shown_value)
    return array.astype(np.int64), None


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether a value is a list, a tuple, an array or the like: no text, no mapping, no table, not one number."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable) or hasattr(value, "itertuples"):
        return False
    return not isinstance(value, np.ndarray) or bool(value.shape)


def whole_pairs(value: object) -> tuple[tuple[int, int], ...] | None:
    """Return the pairs with Python's integers; None if the value holds anything else."""
    if not is_list(value):
        return None
    pairs = []
    for pair in value:
        sides = []
        if is_list(pair):
            sides = list(pair)
        if len(sides) != 2 or not all(map(is_whole, sides)):
            return None
        pairs.append((int(sides[0]), int(sides[1])))
    return tuple(pairs)


def all_fields_whole(records: Sequence[object], fields: Fields) -> bool:
    """Return whether no value of these records must be converted; it checks column by column: 33,000 jobs take 0.01 s."""
    if not all(all_whole(map(attrgetter(name), records)) for name in fields.one):
        return False
    for name in fields.maybe:
        column = list(map(attrgetter(name), records))
        if not OPTIONAL.issuperset(map(type, column)) or not all_whole(x for x in column if x is not None):
            return False
    for name in fields.amounts:
        column = list(map(attrgetter(name), records))
        if not {dict}.issuperset(map(type, column)):
            return False
        if not all_whole(chain.from_iterable(map(dict.values, column))) or not all_texts(chain.from_iterable(column)):
            return False
    if not all(all_texts(map(attrgetter(name), records)) for name in fields.names):
        return False
    if not all({bool}.issuperset(map(type, map(attrgetter(name), records))) for name in fields.flags):
        return False
    for name in fields.pairs:
        column = list(map(attrgetter(name), records))
        if not {tuple}.issuperset(map(type, column)):
            return False
        pairs = list(chain.from_iterable(column))
        if not {tuple}.issuperset(map(type, pairs)) or not {2}.issuperset(map(len, pairs)):
            return False
        if not all_whole(chain.from_iterable(pairs)):
            return False
    return True


# --- Times that a user gives as a text, such as "12:00", as on the command line.

UNITS = (3600, 60, 1)  # seconds of hours, minutes, seconds


def seconds_of(text: str) -> int | None:
    """Return the seconds of a time of day, or of a number of seconds; None if the text is neither.

    Examples
    --------
    >>> seconds_of("12:00"), seconds_of("12:00:30"), seconds_of("43200"), seconds_of("noon")
    (43200, 43230, 43200, None)
    """
    parts = text.split(":")
    if not all(p.isascii() and p.isdigit() for p in parts) or len(parts) > 3 or any(int(p) > 59 for p in parts[1:]):
        return None
    if len(parts) == 1:
        return int(parts[0])
    return sum(int(p) * unit for p, unit in zip(parts, UNITS, strict=False))


def clock_seconds(time: object, name: str) -> int:
    """Return a time in seconds, given as a whole number or as a text.

    Parameters
    ----------
    time : int or str
        The time.
    name : str
        What it is, for the message.

    Raises
    ------
    WrongArgument, WrongValue
        If it is no time.

    Examples
    --------
    >>> clock_seconds(60, "t"), clock_seconds("00:01", "t")
    (60, 60)
    """
    if isinstance(time, str):
        seconds = seconds_of(time)
        if seconds is None:
            raise WrongValue(
                f"{name} is {shown(time)}; expected a time of day such as '12:00', or seconds such as 43200"
            )
        return seconds
    if not is_whole(time):
        raise WrongArgument(f"{name} {wrong(time)}, or a time of day such as '12:00'")
    return int(time)
