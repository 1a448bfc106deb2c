"""How objects of schedlab are compared and hashed: one rule for all classes.

- A record of plain values, such as a job or a platform, equals another one of its class with equal fields. If it is
  frozen, it has a hash, so it can be a key of a dict: ``hashable``.
- An object that holds arrays, such as a workload or a simulation, equals itself alone (``eq=False``); so does a result.
  ``numpy.array_equal(a.start, b.start)`` compares what is wanted of two of them. A named tuple of arrays that users meet
  is ``compared_by_identity``.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

T = TypeVar("T")


def hashable(record: type[T]) -> type[T]:
    """Give a frozen dataclass a hash although some of its fields hold dicts or lists, which have none.

    The hash is made of the other fields, so equal records have equal hashes.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @hashable
    ... @dataclass(frozen=True)
    ... class Task:
    ...     name: str
    ...     demands: dict
    >>> {Task("a", {"cores": 1}): "first"}[Task("a", {"cores": 1})]
    'first'
    """
    record.__hash__ = _hash  # type: ignore[method-assign, assignment]
    return record


def compared_by_identity(record: type[T]) -> type[T]:
    """Let an object of a class equal itself alone; for named tuples of arrays, whose ``==`` has no truth value.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> import numpy as np
    >>> @compared_by_identity
    ... class Pair(NamedTuple):
    ...     low: np.ndarray
    >>> pair = Pair(np.zeros(2))
    >>> pair == pair, pair == Pair(np.zeros(2)), pair != Pair(np.zeros(2)), len({pair, pair})
    (True, False, True, 1)
    """
    record.__eq__ = object.__eq__  # type: ignore[method-assign]
    record.__ne__ = object.__ne__  # type: ignore[method-assign]
    record.__hash__ = object.__hash__  # type: ignore[method-assign]
    return record


def _hash(record: Any) -> int:
    return hash((type(record).__name__, *(_part(getattr(record, f.name)) for f in fields(record) if f.compare)))


def _part(value: object) -> int:
    """Return the hash of a value; 0 if it has none, or holds something that has none."""
    try:
        return hash(value)
    except TypeError:
        return 0
