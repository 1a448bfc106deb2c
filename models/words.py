"""Words of messages: counts ("1 job is", "2 jobs are"), lists, times of day, durations."""

from __future__ import annotations

from collections.abc import Sequence

IRREGULAR_VERBS = {"are": "is", "have": "has", "were": "was", "do": "does"}
IRREGULAR_NOUNS = {"leaf": "leaves", "criterion": "criteria"}


def how_many(number: float, noun: str, form: str = "", verb: str = "") -> str:
    """Return a number with its noun, and with its verb if there is one, in the singular or plural.

    Parameters
    ----------
    number : int or float
        The count.
    noun : str
        What is counted, in the singular.
    form : str
        How the number is written, as in ``format``.
    verb : str
        The verb in the plural, such as "are".

    Examples
    --------
    >>> how_many(1, "job"), how_many(2, "job"), how_many(1200, "entry", ","), how_many(0, "running job")
    ('1 job', '2 jobs', '1,200 entries', '0 running jobs')
    >>> how_many(1, "node", verb="are"), how_many(2, "node", verb="are"), how_many(1, "mode", verb="exceed")
    ('1 node is', '2 nodes are', '1 mode exceeds')
    """
    text = f"{number:{form}} {noun if number == 1 else plural(noun)}"
    if not verb:
        return text
    return f"{text} {verb if number != 1 else IRREGULAR_VERBS.get(verb, f'{verb}s')}"


def how_many_of(number: float, what: str, form: str = "") -> str:
    """Return a number with what is counted, given in the plural, whose first word is the noun.

    Parameters
    ----------
    number : int or float
        The count.
    what : str
        What is counted, such as "rows that repeat a job".
    form : str
        How the number is written, as in ``format``.

    Examples
    --------
    >>> how_many_of(2, "rows that repeat a job"), how_many_of(1, "rows that repeat a job"), how_many_of(1, "variables")
    ('2 rows that repeat a job', '1 row that repeats a job', '1 variable')
    """
    noun, *rest = what.split(" ")
    if number == 1:
        noun = f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")
        if len(rest) > 1 and rest[0] == "that":
            rest[1] = IRREGULAR_VERBS.get(rest[1], f"{rest[1]}s")
    return " ".join([f"{number:{form}}", noun, *rest])


def plural(noun: str) -> str:
    """Return the plural of a noun, of whose words the last one changes.

    Examples
    --------
    >>> plural("such job"), plural("day"), plural("query"), plural("batch"), plural("process"), plural("leaf")
    ('such jobs', 'days', 'queries', 'batches', 'processes', 'leaves')
    """
    *before, last = noun.split(" ")
    if last in IRREGULAR_NOUNS:
        word = IRREGULAR_NOUNS[last]
    elif last.endswith("y") and last[-2] not in "aeiou":
        word = f"{last[:-1]}ies"
    else:
        word = f"{last}es" if last.endswith(("s", "x", "ch", "sh")) else f"{last}s"
    return " ".join([*before, word])


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
