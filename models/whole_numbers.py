"""The check that times, units, capacities and demands are whole numbers, made where a problem or a schedule is made.

Accepted are Python's ``int`` and NumPy's integers, which become ``int``. Everything else is refused: 10.9, NaN, infinity,
None, True, a text. 10.0 is refused, too, as the files of instances refuse it: a float may have been rounded before. Only the
modelling language takes 4.0 for 4 (``language.quantities.whole``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, NamedTuple, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

R = TypeVar("R")
INT = frozenset([int])
OPTIONAL = frozenset([int, type(None)])
LONGEST = 200  # letters of a value that are shown


class Fields(NamedTuple):
    """Fields of a record that hold whole numbers: one each; one or None; {name: number}; pairs of them."""

    one: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()


def is_whole(value: object) -> TypeGuard[int]:
    """Whether the value is an integer of Python or NumPy, and no bool.

    >>> import numpy as np
    >>> [is_whole(v) for v in (3, np.int32(3), 3.0, True, None)]
    [True, True, False, False, False]
    """
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def is_real(value: object) -> TypeGuard[float]:
    """Whether the value is a number, NaN and infinity included, and no bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether the value is a finite number, and no bool."""
    return is_real(value) and (isinstance(value, Integral | Fraction) or math.isfinite(value))


def all_whole(values: Iterable[object]) -> bool:
    """Whether all values are of type ``int`` exactly; fast."""
    return INT.issuperset(map(type, values))


def shown(value: object) -> str:
    """A value for a message, cut where it is long.

    >>> shown("x" * 500)[-5:], shown(10**9999)
    ('xx...', 'an integer of 33216 bits')
    """
    if isinstance(value, int) and value.bit_length() > LONGEST:
        return f"an integer of {value.bit_length()} bits"  # repr() refuses more than 4300 digits
    text = str(value) if isinstance(value, Real) else repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def wrong(value: object, or_none: bool = False) -> str:
    """What to say of a value that is no whole number.

    >>> wrong(10.9)
    'is 10.9; a whole number is expected'
    >>> wrong(10.0)
    'is 10.0, a float; a whole number is expected: write 10'
    """
    expected = "a whole number, or None," if or_none else "a whole number"
    if isinstance(value, Real) and not isinstance(value, Integral) and is_number(value) and value == int(value):
        kind = type(value).__name__
        return f"is {shown(value)}, a {kind}; {expected} is expected: write {shown(int(value))}"
    return f"is {shown(value)}; {expected} is expected"


def whole_records(records: Iterable[R], fields: Fields, where: Callable[[R], str]) -> tuple[tuple[R, ...], list[str]]:
    """The records (dataclasses) with Python's integers in these fields, and what is not a whole number in them.

    Parameters
    ----------
    records : iterable of dataclass instances
    fields : Fields
        Names of the fields that are checked.
    where : callable
        Of a record, its name in a message, such as ``job 'a'``.

    Returns
    -------
    tuple
        The records, and a sentence for each value that is no whole number.
    """
    kept = tuple(records)
    if _all_whole(kept, fields):
        return kept, []
    faults: list[str] = []
    made = []
    for record in kept:
        changes, found = examined(record, fields, where)
        faults += found
        made.append(replace(record, **changes) if changes and not found else record)  # type: ignore[type-var]
    return tuple(made), faults


def examined(record: R, fields: Fields, where: Callable[[R], str]) -> tuple[dict[str, Any], list[str]]:
    """The fields of one record that become Python's integers, by name, and what is not a whole number in it."""
    if _all_whole((record,), fields):
        return {}, []
    changes: dict[str, Any] = {}
    faults: list[str] = []
    for name in (*fields.one, *fields.maybe):
        value = getattr(record, name)
        if is_whole(value):
            changes[name] = int(value)
        elif value is not None or name in fields.one:
            faults.append(f"{where(record)}: {name} {wrong(value, name in fields.maybe)}")
    for name in fields.amounts:
        made, found = whole_amounts(getattr(record, name), f"{name} of")
        changes[name] = made
        faults += [f"{where(record)}: {why}" for why in found]
    for name in fields.pairs:
        value = getattr(record, name)
        pairs = whole_pairs(value)
        if pairs is None:
            faults.append(
                f"{where(record)}: {name} is {shown(value)}; pairs (first, last) of whole numbers are expected"
            )
        changes[name] = pairs
    return changes, faults


def whole_amounts(amounts: object, what: str) -> tuple[dict[Any, int], list[str]]:
    """{name: whole number} with Python's integers, and what is wrong with it; ``what``: the words before a name.

    >>> whole_amounts({"cores": 0.5}, "request of")[1]
    ["request of 'cores' is 0.5; a whole number is expected"]
    """
    if not isinstance(amounts, Mapping):
        return {}, [f"{what.rpartition(' ')[0]} is {shown(amounts)}; {{name: whole number}} is expected"]
    faults = [f"{what} {name!r} {wrong(value)}" for name, value in amounts.items() if not is_whole(value)]
    return ({} if faults else {name: int(value) for name, value in amounts.items()}), faults


def whole_array(values: object) -> tuple[NDArray[np.int64], tuple[int, object] | None]:
    """The values as integers of 64 bits, and one that is no whole number, or too great: (row, value).

    >>> whole_array([3, 4])[1], whole_array(np.array([3, 4.5]))[1]
    (None, (1, 4.5))
    """
    array = np.asarray(values)
    if array.dtype == np.int64:
        return array, None
    if array.dtype.kind not in "iu" or (array.size and int(array.max()) >= 2**63):
        rows = np.ndindex(array.shape)
        faults = [(at, array[at]) for at in rows if not is_whole(array[at]) or not -(2**63) <= array[at] < 2**63]
        if faults:  # in an array of floats all are; the one that no int could be says most
            at, value = next((f for f in faults if not (is_number(f[1]) and f[1] == int(f[1]))), faults[0])
            return np.zeros(array.shape, np.int64), (
                at[0] if at else 0,
                value.item() if array.dtype != object else value,
            )
    return array.astype(np.int64), None


def whole_pairs(value: object) -> tuple[tuple[int, int], ...] | None:
    """The pairs with Python's integers; None if they are none."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return None
    found = []
    for pair in value:
        sides = list(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else []
        if len(sides) != 2 or not all(map(is_whole, sides)):
            return None
        found.append((int(sides[0]), int(sides[1])))
    return tuple(found)


def _all_whole(records: Sequence[object], fields: Fields) -> bool:
    """Whether there is nothing to change, column by column: 33,000 jobs take a hundredth of a second."""
    if not all(all_whole(map(attrgetter(name), records)) for name in fields.one):
        return False
    if not all(OPTIONAL.issuperset(map(type, map(attrgetter(name), records))) for name in fields.maybe):
        return False
    for name in fields.amounts:
        column = list(map(attrgetter(name), records))
        if not {dict}.issuperset(map(type, column)):
            return False
        if not all_whole(chain.from_iterable(map(dict.values, column))):
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
