"""The removable elements of a problem: what ``schedlab.explain`` may name as a cause of infeasibility."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ..excerpt import with_short_repr
from .words import MOST


@with_short_repr
@dataclass(frozen=True)
class Element:
    """One element of a problem that can be removed, so that the rest is easier to satisfy.

    Parameters
    ----------
    kind : str
        What it is, such as "job", "resource", "window", "deadline", "running job" or "limit".
    name : str
        Its name; no other element of the problem has the same kind and name.
    text : str
        What it requires, as part of a sentence.

    Examples
    --------
    >>> print(Element("deadline", "j12", "j12 ends by 09:00"))
    deadline: j12 ends by 09:00
    """

    kind: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class Elements(ABC):
    """The elements of one problem, and the problem without some of them.

    A kind of problem gives a function or class ``(problem) -> Elements`` and names it in ``ProblemKind.elements``.
    Removing an element must never make a feasible problem infeasible.

    Attributes
    ----------
    all : sequence of Element
        The elements. Those that are most likely part of a conflict come first: this saves time.
    harmless : frozenset of Element
        Elements that are in no conflict unless the objective is limited: they are removed at once.
    harmless_because : str
        The reason, for the message of a feasible problem.
    objectives : sequence of str
        Names of the objectives that can be limited, with their unit, such as "loss in node-seconds". Only objectives
        that no removal of an element makes worse can be limited; empty if there are none.
    maximized : bool
        Whether these objectives are maximized.
    """

    all: Sequence[Element] = ()
    harmless: frozenset[Element] = frozenset()
    harmless_because: str = ""
    objectives: Sequence[str] = ()
    maximized: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.all):,} elements)"

    @abstractmethod
    def part(self, kept: Collection[Element]) -> Any:
        """Return the problem, or the Model, that has the kept elements alone.

        Parameters
        ----------
        kept : collection of Element
            Some of ``all``. An element that belongs to a removed one, such as the deadline of a removed job, has no
            effect.

        Returns
        -------
        Problem or Model
        """

    def refuted(self, part: Any) -> bool:
        """Return whether the data show at once that a part has no solution; False where a solver must find out.

        Parameters
        ----------
        part : Problem or Model
            What ``part`` returned.

        Returns
        -------
        bool
        """
        return False

    def sentence(self, found: Sequence[Element]) -> str:
        """Return one sentence that says why these elements cannot hold together.

        Parameters
        ----------
        found : sequence of Element
            A set of elements without a solution, in the order of ``all``. A limit of the objective may follow.

        Returns
        -------
        str
        """
        return plain_sentence(found)


def plain_sentence(found: Sequence[Element]) -> str:
    """Return the sentence that lists elements.

    Examples
    --------
    >>> plain_sentence([Element("task", "a", "a takes 3"), Element("limit", "makespan", "the makespan is at most 2")])
    'these cannot hold together: a takes 3; the makespan is at most 2'
    """
    if not found:
        return "the problem has no solution even without all of its removable elements"
    if len(found) == 1:
        return f"this cannot hold: {found[0].text}"
    more = f"; and {len(found) - MOST} more" if len(found) > MOST else ""
    return f"these cannot hold together: {'; '.join(e.text for e in found[:MOST])}{more}"


def named(found: Sequence[Element], kind: str) -> list[str]:
    """Return the names of the elements of one kind.

    Examples
    --------
    >>> named([Element("task", "a", "a takes 3"), Element("limit", "makespan", "the makespan is at most 2")], "task")
    ['a']
    """
    return [e.name for e in found if e.kind == kind]
