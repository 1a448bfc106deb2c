"""Counts in texts: "1 job", "2 jobs", "1 job is", "2 jobs are"."""

from __future__ import annotations

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
