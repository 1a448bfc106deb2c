"""What parts of third parties see of a replay: data that they can read and not change; and their notes."""

from __future__ import annotations

import copy
from dataclasses import fields
from typing import Any, TypeVar, cast

import numpy as np

A = TypeVar("A", bound=np.ndarray[Any, Any])
Jobs = TypeVar("Jobs")  # a dataclass with arrays: a ``Workload``
OURS = f"{__name__.partition('.')[0]}."  # our parts change nothing, and compiled code has other types for data that cannot change


def seen_by(part: object, workload: Jobs) -> Jobs:
    """Return a workload whose arrays a part of a third party cannot change; it follows changes of the workload itself."""
    if _is_ours(part):
        return workload
    seen = copy.copy(workload)
    for field in fields(cast(Any, workload)):
        value = getattr(workload, field.name)
        if isinstance(value, np.ndarray):
            object.__setattr__(seen, field.name, only_read(part, value))
    return seen


def only_read(part: object, array: A) -> A:
    """Return a view of an array that a part of a third party cannot change."""
    if _is_ours(part):
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def notes_of(part: object) -> tuple[str, ...]:
    """Return the remarks of a part, its attribute ``notes``: texts, or one text."""
    notes = getattr(part, "notes", ())
    return (notes,) if isinstance(notes, str) else tuple(map(str, notes))


def _is_ours(part: object) -> bool:
    module = getattr(part, "__module__", None) or type(part).__module__
    return str(module).startswith(OURS)
