"""Format the numbers in tables as text."""

from __future__ import annotations

from typing import Any

NARROW = 110  # characters: on a narrower terminal a table leaves columns out


def number(value: Any) -> str:
    """Return an objective or a bound with five significant digits, an integer with all its digits, and None as "-".

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
    """Return a share between 0 and 1 as percent with one decimal, and None as "-"."""
    return "-" if value is None else f"{100 * value:.1f}%"


def seconds(value: float | None) -> str:
    """Return seconds with two decimals below 10 s and one decimal above, and None as "-"."""
    return "-" if value is None else f"{value:.2f}" if value < 9.995 else f"{value:.1f}"
