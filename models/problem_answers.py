"""What a problem of a third party returns: formulations, violations and objective values, checked where they enter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import WrongArgument
from .arguments import one_of
from .excerpt import excerpt
from .language import Model, Violation
from .problem import Encoding, Problem, Schedule, Value
from .returned import WrongAnswer, returned_number
from .unknown_names import UnknownName

SENSES = ("minimize", "maximize")


def check_problem(problem: Problem) -> None:
    """Raise WrongArgument or WrongValue if the kind, the sense or the formulations of a problem are not what is expected.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_problem(SimpleNamespace(kind="line", sense="min", formulations={}))
    Traceback (most recent call last):
        ...
    schedlab.errors.WrongValue: sense of the problem SimpleNamespace is 'min'; did you mean minimize?
    """
    who = f"the problem {type(problem).__name__}"
    if not isinstance(problem.kind, str) or not problem.kind:
        raise WrongArgument(f"kind of {who} is {excerpt(problem.kind)}; expected a text")
    one_of(f"sense of {who}", problem.sense, SENSES)
    found = problem.formulations
    if not isinstance(found, Mapping) or not all(isinstance(k, str) and callable(v) for k, v in found.items()):
        raise WrongArgument(
            f"formulations of {who} is {excerpt(found)}; expected a mapping {{name: function}}, "
            "whose functions return an Encoding"
        )


def encoding_of(problem: Problem, name: str | None = None) -> Encoding:
    """Return the encoding of a formulation; None: of the first one.

    Raises
    ------
    WrongArgument
        If the problem has no formulations.
    UnknownName
        If the problem has no such formulation.
    WrongAnswer
        If the function of the formulation returns something else.
    """
    known = problem.formulations
    chosen = next(iter(known), None) if name is None else name
    if chosen is None:
        raise WrongArgument(f"{problem.kind} problems have no formulations; a heuristic may solve them")
    if chosen not in known:
        raise UnknownName(f"formulation of {problem.kind} problems", name, known)
    made: object = known[chosen]()
    if not isinstance(made, Encoding):
        hint = "Encoding(model, read, write)" if isinstance(made, Model) else "an Encoding"
        raise WrongAnswer(
            f"formulation {chosen!r} of {problem.kind} problems returned {excerpt(made)}; expected {hint}"
        )
    return made


def violations_of(problem: Problem, schedule: Schedule) -> list[Violation]:
    """Return the violations of a schedule; a text in place of a ``Violation`` is its message.

    Raises
    ------
    WrongAnswer
        If ``verify`` returns something else than a list of both.
    """
    found: object = problem.verify(schedule)
    if type(found) is list and {Violation}.issuperset(map(type, found)):
        return found
    who = f"verify of {problem.kind} problems"
    if not isinstance(found, (list, tuple)):
        raise WrongAnswer(
            f"{who} returned {excerpt(found)}; expected a list of texts or of Violation, empty if all holds"
        )
    wrong = [each for each in found if not isinstance(each, (str, Violation))]
    if wrong:
        raise WrongAnswer(f"{who} returned a list with {excerpt(wrong[0])}; expected texts or Violation")
    return [Violation(problem.kind, 1, each) if isinstance(each, str) else each for each in found]


def objective_of(problem: Problem, schedule: Schedule) -> Value:
    """Return the objective of a schedule: a finite number, or a tuple of them for ordered objectives.

    Raises
    ------
    WrongAnswer
        If ``value`` returns something else.
    """
    found: Any = problem.value(schedule)
    if type(found) is int:
        return found
    who = f"value of {problem.kind} problems"
    if isinstance(found, tuple):
        return tuple(returned_number(who, each) for each in found)
    return returned_number(who, found)
