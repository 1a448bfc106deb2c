"""Numbers of tables as text."""

from __future__ import annotations

from typing import Any

NARROW = 110  # columns of a terminal below which the table leaves columns out


def number(value: Any) -> str:
    """An objective or bound to five digits, whole numbers whole; "-" where unknown.

    >>> number(19.5), number(2750.25), number(33), number(None)
    ('19.500', '2,750.2', '33', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, (list, tuple)):
        return " / ".join(map(number, value))
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:#.5g}" if abs(value) < 1000 else f"{value:,.1f}" if abs(value) < 1e5 else f"{value:,.0f}"


def percent(value: float | None) -> str:
    """A share as percent."""
    return "-" if value is None else f"{100 * value:.1f}%"


def seconds(value: float | None) -> str:
    """A duration: hundredths below ten seconds."""
    return "-" if value is None else f"{value:.2f}" if value < 9.995 else f"{value:.1f}"
