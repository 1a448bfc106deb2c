"""Words of messages: counts ("1 job is", "2 jobs are"), lists, times of day, durations; and what messages show of values.

Texts have no control characters, and are never long. The names that exist are searched for similar ones in this file alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import MISSING, FrozenInstanceError, fields, is_dataclass
from typing import Any, NoReturn, TypeVar

from ..errors import SchedlabError

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
        if noun.endswith("ies"):
            noun = f"{noun[:-3]}y"
        else:
            noun = noun.removesuffix("s")
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
        if last.endswith(("s", "x", "ch", "sh")):
            word = f"{last}es"
        else:
            word = f"{last}s"
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
    if others:
        return f"{', '.join(others)} and {last}"
    return last


def clock(seconds: int) -> str:
    """Return seconds since midnight as a time of day; times after the first day have the number of the day in front.

    Examples
    --------
    >>> clock(43200), clock(86400 + 61)
    ('12:00', 'day 2 00:01:01')
    """
    day, left = divmod(seconds, DAY)
    text = f"{left // 3600:02d}:{left // 60 % 60:02d}" + (f":{left % 60:02d}" if left % 60 else "")
    if day:
        return f"day {day + 1} {text}"
    return text


def moment(seconds: int) -> str:
    """Return a time of an instance as a time of day; negative times and those after a year in seconds.

    Examples
    --------
    >>> moment(32400), moment(1700000000)
    ('09:00', '1700000000 s')
    """
    if 0 <= seconds < CLOCKED:
        return clock(seconds)
    return f"{seconds} s"


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


MOST_SHOWN = 200  # characters of one value in an error message
LONGEST = 1000  # characters of one line of an error message
WIDTH = 120  # characters of the repr of an object
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
VALUE = 40  # characters of one value in it
T = TypeVar("T")
SPACES = "\u00a0\u202f\u2009\u3000"  # spaces that Python does not regard as printable; harmless in a terminal


def visible(text: str, kept: str = "") -> str:
    r"""Return the text with each control character replaced by its Python escape.

    Terminals obey escape sequences, carriage returns and marks of the writing direction. A name in a file could use
    them to change colours, hide other text or write into another line.

    Parameters
    ----------
    text
        Any text, for instance from a file.
    kept
        Control characters that are not replaced, such as line ends.

    Returns
    -------
    str
        The same text if all its characters are printable.

    Examples
    --------
    >>> print(visible("a\x1b[31mb\rc\u202ed"))
    a\x1b[31mb\rc\u202ed
    >>> visible("two\nlines", kept="\n")
    'two\nlines'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept or c in SPACES else repr(c)[1:-1] for c in text)


def excerpt(value: object) -> str:
    r"""Return a value for an error message: on one line, as ``repr`` writes it, and at most 200 characters of it.

    Examples
    --------
    >>> print(excerpt("red\x1b[31m"), excerpt(3.5))
    'red\x1b[31m' 3.5
    >>> excerpt("x" * 5000)[-28:]
    "xxxxxxxx' ... (5,000 in all)"
    >>> print(excerpt(10**5000))
    a number of thousands of digits
    """
    if isinstance(value, str):
        if len(value) <= MOST_SHOWN:
            return repr(value)
        return f"{value[:MOST_SHOWN]!r} ... ({len(value):,} in all)"
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a number of thousands of digits"
    except RecursionError:
        return "a value that is nested too deeply"
    if len(text) <= MOST_SHOWN:
        return text
    return f"{text[:MOST_SHOWN]} ... ({len(text):,} in all)"


def shortened(message: str) -> str:
    """Return an error message without control characters, with long words and lines shortened; line ends are kept.

    Examples
    --------
    >>> len(shortened("there is no instance " + "x" * 100_000))
    242
    """
    lines = (re.sub(rf"\S{{{MOST_SHOWN + 1},}}", _cut_word, line) for line in message.split("\n"))
    return "\n".join(visible(_cut_line(line), kept="\t") for line in lines)


def _cut_word(found: re.Match[str]) -> str:
    word = found[0]
    return f"{word[:MOST_SHOWN]} ... ({len(word):,} in all)"


def _cut_line(line: str) -> str:
    """Return the beginning and the end of a long line: the expected value is often named at the end."""
    if len(line) <= LONGEST:
        return line
    return f"{line[: LONGEST - 300]} ... {line[-250:]}"


def one_line(text: str, most: int = WIDTH) -> str:
    r"""Return a text on one line, without control characters; of one longer than ``most`` characters the beginning.

    Examples
    --------
    >>> print(one_line("two\nlines and more", 12))
    two\nline...
    """
    shown = visible(text)
    if len(shown) <= most:
        return shown
    return f"{shown[: most - 3]}..."


# --- The ``repr`` of objects.


def with_short_repr(record: type[T]) -> type[T]:
    """Give a class a ``repr`` of one line with at most 120 characters: its name and its fields.

    The fields of a class that is neither a dataclass nor a named tuple are its ``name``, if it has one, and the
    parameters of its constructor that it keeps as attributes. A long value is replaced by its type or its length. If the
    fields do not fit, those with default values are left out first, then the last ones.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @with_short_repr
    ... @dataclass
    ... class Log:
    ...     name: str
    ...     lines: list
    >>> Log("a", [1, 2]), Log("b" * 99, list(range(5000)))
    (Log(name='a', lines=[1, 2]), Log(name='bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb...', lines=[5,000 int]))
    """
    record.__repr__ = _repr  # type: ignore[method-assign]
    if "__slots__" in vars(record) and "__setattr__" in vars(record):
        # of a frozen dataclass with slots; that of Python 3.11 ends in a TypeError for a name that is no field
        record.__setattr__ = _unchanged  # type: ignore[method-assign]
    return record


def _unchanged(record: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"{name} of this {type(record).__name__} cannot be set; make a new one")


def _repr(record: Any) -> str:
    name = type(record).__name__
    named = list(_fields(record))
    whole = f"{name}({', '.join(f'{field}={_short(value)}' for field, value, _ in named)})"
    if len(whole) <= WIDTH:
        return whole
    parts = [f"{field}={_short(value)}" for field, value, default in named if not default]
    kept = []
    length = len(name) + len("(...)")
    for part in parts:
        length += len(part) + 2
        if length > WIDTH:
            break
        kept.append(part)
    return f"{name}({', '.join([*kept, '...'])})"


def _fields(record: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield the name and the value of each field, and whether the value is the default."""
    if isinstance(record, tuple):
        known = getattr(record, "_field_defaults", {})
        names: Sequence[str] = getattr(record, "_fields", ())
        yield from ((name, value, name in known and known[name] is value) for name, value in zip(names, record))  # noqa: B905
        return
    if not is_dataclass(record):
        yield from _kept_arguments(record)
        return
    for f in fields(record):
        if f.repr:
            value = getattr(record, f.name, None)
            if f.default_factory is not MISSING:
                default = f.default_factory()
            else:
                default = f.default
            yield f.name, value, _is_default(default, value)


def _kept_arguments(record: object) -> Iterator[tuple[str, Any, bool]]:
    """Yield the name and the arguments that an object keeps, and whether they are the defaults."""
    from inspect import signature  # takes 10 ms, which `import schedlab` should not pay

    known = {name: p.default for name, p in signature(type(record)).parameters.items()}
    for name in dict.fromkeys(["name", *known]):
        if name in vars(record) or (name == "name" and isinstance(getattr(record, name, None), str)):
            value = getattr(record, name)
            yield name, value, name in known and _is_default(known[name], value)


def _is_default(default: Any, value: Any) -> bool:
    if hasattr(value, "shape"):  # an array: == compares its entries
        return False
    if isinstance(value, Mapping | list):  # comparing long ones takes time
        return value is default or (not value and type(value) is type(default) and not default)
    return value is default or (type(value) is type(default) and value == default)


def _short(value: Any) -> str:
    """Return a value in at most 40 characters; of a collection the items if they fit, else their number."""
    if isinstance(value, str):
        text = repr(value[:VALUE])
        if len(value) < VALUE and len(text) <= VALUE:
            return text
        return f"{text[: VALUE - 4]}...'"
    if isinstance(value, bytes):
        return how_many(len(value), "byte", ",")
    if isinstance(value, (Mapping, Sequence, Set)) and not hasattr(value, "_fields"):
        text = ""
        if len(value) <= VALUE // 2:
            text = repr(value)
        if isinstance(value, (Mapping, Set)):
            left, right = "{}"
        else:
            if isinstance(value, list):
                left, right = "[]"
            else:
                left, right = "()"
        kind = "items"
        if not isinstance(value, Mapping):
            kind = type(next(iter(value), None)).__name__
        if text and len(text) <= VALUE:
            return text
        return f"{left}{len(value):,} {kind}{right}"
    if hasattr(value, "shape"):  # an array
        return f"{type(value).__name__} of shape {value.shape}"[:VALUE]
    if hasattr(value, "__qualname__"):  # a function or a class
        return one_line(value.__qualname__, VALUE)
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a long number"
    if ADDRESS.search(text):
        return f"{type(value).__name__}(...)"
    if len(text) <= VALUE:
        return visible(text)
    return f"{type(value).__name__}(...)"


# --- Names that do not exist: the names that are similar, and the sentence that lists the known ones.

CUTOFF = 0.51  # least similarity of a name that is proposed, 0 to 1 (``difflib.SequenceMatcher.ratio``)
PROPOSED = 3  # names that are proposed at most
LISTED = 40  # known names that are listed at most


def similar(name: object, known: Iterable[object], most: int = PROPOSED, cutoff: float = CUTOFF) -> list[str]:
    """Return the known names that are similar to a name, the most similar one first.

    Parameters
    ----------
    name : object
        The unknown name; anything else than a text has no similar names.
    known : iterable of object
        The names that exist; those that are no texts are left out.
    most : int
        Greatest number of names.
    cutoff : float
        Least similarity, 0 to 1.

    Examples
    --------
    >>> similar("essy", ["easy", "fcfs"]), similar(3, ["easy"])
    (['easy'], [])
    """
    texts = [each for each in known if isinstance(each, str)]
    if not isinstance(name, str):
        return []
    lower = {each.lower(): each for each in texts}
    if name.lower() in lower:  # only upper and lower case differ
        return [lower[name.lower()]]
    import difflib  # 1 ms: for messages of errors alone

    return difflib.get_close_matches(name[:MOST_SHOWN], texts, n=most, cutoff=cutoff)


def hint(
    name: object, known: Iterable[object], listing: str = "known are", none: str = "there are none", both: bool = False
) -> str:
    """Return what a message says after an unknown name: the similar names, else all names, else that there are none.

    Parameters
    ----------
    name : object
        The unknown name.
    known : iterable of object
        The names that exist.
    listing : str
        The words before all names.
    none : str
        The words if there is no name.
    both : bool
        Whether all names are listed even if there are similar ones.

    Examples
    --------
    >>> hint("essy", ["easy", "fcfs"]), hint("x", ["easy", "fcfs"]), hint("x", [])
    ('did you mean easy?', 'known are easy, fcfs', 'there are none')
    """
    names = list(known)
    near = similar(name, names)
    if near and not both:
        return f"did you mean {' or '.join(near)}?"
    if not names:
        return none
    more = ""
    if len(names) > LISTED:
        more = f" and {len(names) - LISTED:,} more"
    proposed = ""
    if near:
        proposed = f"; did you mean {' or '.join(near)}?"
    return f"{listing} {', '.join(map(str, names[:LISTED]))}{more}{proposed}"


class ByName(dict[str, T]):
    """Objects by name; a name that does not exist raises `NoSuchName`, which names similar ones.

    Parameters
    ----------
    what : str
        What a name denotes, for the message: "formulation".
    objects : mapping of str to object
        The objects by name.

    Examples
    --------
    >>> ByName("formulation", {"counts": 1})["count"]
    Traceback (most recent call last):
    ...
    schedlab.models.words.NoSuchName: there is no formulation 'count'; did you mean counts?
    """

    def __init__(self, what: str, objects: Mapping[str, T]) -> None:
        super().__init__(objects)
        self.what = what

    def __repr__(self) -> str:
        return one_line(f"ByName({self.what}: {', '.join(self)})")

    def __missing__(self, name: object) -> NoReturn:
        raise NoSuchName(self.what, name, self)


class UnknownName(SchedlabError, LookupError):
    """Error of a name that is not known. The message gives similar names.

    Parameters
    ----------
    what : str
        What the name should denote, for example "backend".
    name : str
        The unknown name.
    known : iterable of str
        The names that exist.
    note : str
        What the message says after the name.

    Examples
    --------
    >>> print(UnknownName("backend", "cpsta", ["cpsat", "highs"]))
    there is no backend 'cpsta'; did you mean cpsat?
    """

    def __init__(self, what: str, name: object, known: Iterable[str], note: str = "") -> None:
        names = list(known)
        self.near = similar(name, names)
        super().__init__(f"there is no {what} {excerpt(name)}{note}; {hint(name, names)}")


class NoSuchName(UnknownName, KeyError):
    """Error of a mapping without this name."""

    __str__ = Exception.__str__  # that of KeyError adds quotes
