"""Words of messages: lists, times of day, durations."""

from __future__ import annotations

from collections.abc import Sequence

from .counts import how_many

DAY = 86400  # seconds
CLOCKED = 366 * DAY  # later times are shown in seconds: they are no times of an instance that begins at midnight
MOST = 12  # names that a list shows


def listed(names: Sequence[str], most: int = MOST) -> str:
    """Return names as a list in words.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a', 'a, b and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    *others, last = names or [""]
    return f"{', '.join(others)} and {last}" if others else last


def clock(seconds: int) -> str:
    """Return seconds since midnight as a time of day; times after the first day have the number of the day in front.

    Examples
    --------
    >>> clock(43200), clock(86400 + 61)
    ('12:00', 'day 2 00:01:01')
    """
    day, left = divmod(seconds, DAY)
    text = f"{left // 3600:02d}:{left // 60 % 60:02d}" + (f":{left % 60:02d}" if left % 60 else "")
    return f"day {day + 1} {text}" if day else text


def moment(seconds: int) -> str:
    """Return a time of an instance as a time of day; negative times and those after a year in seconds.

    Examples
    --------
    >>> moment(32400), moment(1700000000)
    ('09:00', '1700000000 s')
    """
    return clock(seconds) if 0 <= seconds < CLOCKED else f"{seconds} s"


def duration(seconds: int) -> str:
    """Return a duration in hours, minutes and seconds.

    Examples
    --------
    >>> duration(5400), duration(60), duration(59), duration(0)
    ('1 h 30 min', '1 min', '59 s', '0 s')
    """
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s"))
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "0 s"


def windows(spans: Sequence[tuple[int, int]]) -> str:
    """Return windows, both ends included, in words.

    Examples
    --------
    >>> windows([(28800, 30600), (36000, 36000)])
    'between 08:00 and 08:30 or at 10:00'
    """
    texts = [f"at {moment(lo)}" if lo == hi else f"between {moment(lo)} and {moment(hi)}" for lo, hi in spans]
    return " or ".join(texts[:MOST]) + (
        f" or in {how_many(len(texts) - MOST, 'more window')}" if len(texts) > MOST else ""
    )
