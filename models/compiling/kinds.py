"""Who calls a compiled function, and how."""

from __future__ import annotations

from enum import Enum, auto


class Kind(Enum):
    """Who calls a compiled function, and how; see the functions of ``models.compiled``."""

    ENTRY = auto()
    VECTORIZED = auto()
    INTERNAL = auto()
    NATIVE = auto()
