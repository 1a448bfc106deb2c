"""Names that do not exist: the one place that finds similar names, and the sentence that lists the known ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import NoReturn, TypeVar

from ..errors import SchedlabError
from .excerpt import MOST, excerpt, one_line

T = TypeVar("T")
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
    return difflib.get_close_matches(name[:MOST], texts, n=most, cutoff=cutoff)


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
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    proposed = f"; did you mean {' or '.join(near)}?" if near else ""
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
    schedlab.models.unknown_names.NoSuchName: there is no formulation 'count'; did you mean counts?
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
