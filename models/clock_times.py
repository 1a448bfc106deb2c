"""Times that a user gives as a text, such as "12:00", as on the command line."""

from __future__ import annotations

from ..errors import WrongArgument, WrongValue
from .arguments import is_whole, shown, wrong

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
