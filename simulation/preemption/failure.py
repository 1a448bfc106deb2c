"""A failure of a node."""

from __future__ import annotations

from typing import NamedTuple

YEAR = 365 * 86400  # seconds
REPAIR = 3600  # seconds


class Failure(NamedTuple):
    """A failure of a node: its time and the seconds until it is up again."""

    time: int
    node: str
    repair: int
