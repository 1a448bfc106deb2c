"""The removable elements of a problem, and the search for a minimal set that cannot hold together: the base of ``schedlab.explain``."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

from .language import Model
from .language.bounds import defined
from .language.constraints import NamedConstraint, expressions_of, intervals_of
from .language.expressions import Interval, atoms_below
from .words import MOST, how_many, with_short_repr

# --- The removable elements of a problem: what ``schedlab.explain`` may name as a cause of infeasibility.


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
        return f"{type(self).__name__}({how_many(len(self.all), 'element', ',')})"

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
    more = ""
    if len(found) > MOST:
        more = f"; and {len(found) - MOST} more"
    return f"these cannot hold together: {'; '.join(e.text for e in found[:MOST])}{more}"


def named(found: Sequence[Element], kind: str) -> list[str]:
    """Return the names of the elements of one kind.

    Examples
    --------
    >>> named([Element("task", "a", "a takes 3"), Element("limit", "makespan", "the makespan is at most 2")], "task")
    ['a']
    """
    return [e.name for e in found if e.kind == kind]


# --- The removable elements of a model, and of problems whose kind declares none.
#
# They are the constraints, the horizon if one is declared and some interval has no start windows, and the objectives that
# do not have a value for all values of the variables.


class ConstraintElements(Elements):
    """The constraints of a model; without its element, a constraint does not hold.

    Parameters
    ----------
    model : Model
        The model.

    Examples
    --------
    >>> m = Model("one"); x = m.integer("x", 0, 9); m.add(x >= 5, "at least 5")
    >>> [str(e) for e in ConstraintElements(m).all]
    ['constraint: at least 5']
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.objectives = ["objective", *(f"objective {k}" for k in range(2, len(model.objectives) + 1))]
        self.objectives = self.objectives[: len(model.objectives)]
        self.maximized = model.sense == "maximize"
        seen: Counter[str] = Counter()
        self._rows = []
        for constraint in model.constraints:
            seen[constraint.name] += 1
            number = seen[constraint.name]
            if number == 1:
                name = constraint.name
            else:
                name = f"{constraint.name} ({number})"
            self._rows.append(Element("constraint", name, name))
        self._values = {
            k: Element("value", name, f"the {name} has a value")
            for k, name in enumerate(self.objectives)
            if defined(model, k) is not None
        }
        limited = model.declared_horizon is not None and any(v.declared_windows is None for v in model.intervals)
        text = f"no interval without start windows starts after the horizon, {model.horizon} s"
        if not limited:
            self._horizon = None
        else:
            self._horizon = Element("horizon", "horizon", text)
        self.all = (*self._rows, *self._values.values(), *((self._horizon,) if self._horizon else ()))

    @cached_property
    def _unlimited(self) -> Model:
        """The same model without the horizon."""
        return self.model.with_horizon(None)

    def part(self, kept: Collection[Element]) -> Model:
        """Return the model with the kept elements alone; what an objective needs to have a value is a constraint."""
        wanted = set(kept)
        if self._horizon is None or self._horizon in wanted:
            whole = self.model
        else:
            whole = self._unlimited
        part = copy.copy(whole)
        part.constraints = [c for e, c in zip(self._rows, whole.constraints, strict=True) if e in wanted]
        for k, e in self._values.items():
            row = defined(whole, k)
            if e in wanted and row is not None:
                part.constraints.append(NamedConstraint(e.name, row))
        return part

    def sentence(self, found: Sequence[Element]) -> str:
        """Return the sentence that lists elements; of a model with a horizon, also the start windows that they meet."""
        text = plain_sentence(found)
        if self.model.declared_horizon is None:
            return text
        rows = zip(self._rows, self.model.constraints, strict=True)
        met = dict.fromkeys(v for e, row in rows if e in found for v in _intervals_below(row))
        windows = [f"{v.name} from {v.start_lo} to {v.start_hi}" for v in met if v.declared_windows is not None]
        if not windows:
            return text
        more = ""
        if len(windows) > MOST:
            more = f", and {len(windows) - MOST} more"
        return (
            f"{text}; the horizon of the model is {self.model.horizon}, and the start windows are "
            f"{', '.join(windows[:MOST])}{more}"
        )


def _intervals_below(row: NamedConstraint) -> list[Interval]:
    """Return the intervals of a constraint, also those of its expressions."""
    atoms = atoms_below(expressions_of(row.constraint))
    of_atoms = [v for v in (getattr(atom, "interval", None) for atom in atoms) if isinstance(v, Interval)]
    return [*intervals_of(row.constraint), *of_atoms]


# --- A minimal subset of elements that have no solution together: the algorithm QuickXplain [Junker2004].

T = TypeVar("T")


def minimal_set(
    elements: Sequence[T], refuted: Callable[[Sequence[T]], bool], on_smaller: Callable[[Sequence[T]], None]
) -> list[T]:
    """Return a subset without a solution; no element of it can be removed as far as ``refuted`` can prove it.

    With n elements and a subset of k it calls ``refuted`` about ``k * log2(n / k)`` times.

    Parameters
    ----------
    elements : sequence
        Elements that have no solution together. The first ones are preferred in the subset.
    refuted : callable
        Returns whether some of the elements are proven to have no solution. It may fail to prove it; the subset is then
        larger, but still has no solution.
    on_smaller : callable
        Called with each subset that has no solution, so that a search that is interrupted has an answer.

    Returns
    -------
    list

    Examples
    --------
    >>> minimal_set(range(10), lambda some: {3, 7} <= set(some), lambda some: None)
    [3, 7]
    """

    def needed(others: list[T], doubtful: Sequence[T], changed: bool) -> list[T]:
        """Return the part of ``doubtful`` that has no solution together with ``others``."""
        if changed and refuted(others):
            on_smaller(others)
            return []
        if len(doubtful) == 1:
            return list(doubtful)
        middle = (len(doubtful) + 1) // 2
        first, second = doubtful[:middle], doubtful[middle:]
        of_second = needed([*others, *first], second, True)
        on_smaller([*others, *first, *of_second])
        of_first = needed([*others, *of_second], first, bool(of_second))
        return [*of_first, *of_second]

    if elements:
        return needed([], list(elements), False)
    return []


# --- What ``schedlab.explain`` returns.

Answer = Literal["infeasible", "feasible", "unknown", "error"]


@with_short_repr
@dataclass(frozen=True)
class Progress:
    """The state of a call of ``explain``.

    Parameters
    ----------
    seconds : float
        Wall time since the call began.
    checks : int
        Number of parts of the problem that were checked.
    size : int or None
        Number of elements of the smallest infeasible set so far; None before the problem is proven infeasible.
    """

    seconds: float
    checks: int
    size: int | None


@dataclass(frozen=True)
class Explanation:
    """Why a problem is infeasible.

    Parameters
    ----------
    status : {"infeasible", "feasible", "unknown", "error"}
        "infeasible": proven, and ``elements`` cannot hold together. "feasible": a schedule was found and verified.
        "error": a verified solution contradicts the proof of the solver, so that nothing is known.
    elements : tuple of Element
        The elements of the problem that cannot hold together; empty if the status is not "infeasible".
    message : str
        The reason in one sentence.
    minimal : bool
        Whether it is proven that without any one of the elements the others can hold together.
    why : str
        Why the set is not proven minimal, or why the status is unknown or an error; else empty.
    seconds : float
        Wall time of the call.
    checks : int
        Number of parts of the problem that were checked.
    parts : Elements
        All elements of the problem; ``parts.part(elements)`` is the problem that has the given elements alone.
    """

    status: Answer
    elements: tuple[Element, ...]
    message: str
    minimal: bool
    why: str
    seconds: float
    checks: int
    parts: Elements = field(repr=False, compare=False)

    def __repr__(self) -> str:
        """Return one line with the status and the size of the set."""
        proof = ""
        if self.minimal:
            proof = ", minimal"
        size = ""
        if self.status == "infeasible":
            size = f", {how_many(len(self.elements), 'element')}{proof}"
        return f"Explanation({self.status}{size}, {self.seconds:.1f} s)"

    def __str__(self) -> str:
        """Return the message, and one line per element."""
        if self.status != "infeasible":
            return f"{self.status}: {self.message}"
        if not self.elements:
            return f"infeasible: {self.message}"
        one = len(self.elements) == 1
        few = "This cannot hold"
        if not one:
            few = f"These {len(self.elements)} cannot hold together"
        rest = "without any one of them, the others can"
        if one:
            rest = "without it there is a solution"
        if not self.minimal:
            rest = f"not proven minimal: {self.why}"
        lines = [f"infeasible: {self.message}", f"{few}; {rest}:", *(f"  {e}" for e in self.elements)]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as plain data, in the form that ``bench explain --json`` prints."""
        return {
            "status": self.status,
            "message": self.message,
            "minimal": self.minimal,
            "why": self.why,
            "elements": [{"kind": e.kind, "name": e.name, "text": e.text} for e in self.elements],
            "seconds": self.seconds,
            "checks": self.checks,
        }
