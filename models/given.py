"""What a user gives in place of a problem: an instance, the name of one, or the path of its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from ..errors import WrongArgument
from .kind import resolve
from .problem import Problem

LOADER = "schedlab.instances.registry:load"  # of a higher layer: imported when a name is given


class WithProblem(Protocol):
    """What has a problem: an ``Instance``."""

    @property
    def problem(self) -> Any:
        """The problem."""


Given = Problem | WithProblem | str | Path
"""What stands for a problem: the problem, an instance, or the name or folder of an instance."""


def given_problem(what: object, kinds: tuple[str, ...] = (), function: str = "") -> Any:
    """Return the problem that a user means.

    Parameters
    ----------
    what : Problem, Instance, str or Path
        The problem, an instance with it, or the name or folder of an instance.
    kinds : tuple of str
        The kinds of problems that the function takes; empty: all.
    function : str
        The name of the function, for the message.

    Returns
    -------
    Problem

    Raises
    ------
    WrongArgument
        If it is no problem, or a problem of another kind.

    Examples
    --------
    >>> given_problem("eurora_99").kind
    'dispatch'
    """
    problem: Any = resolve(LOADER)(what) if isinstance(what, (str, Path)) else what
    if not is_problem(problem) and is_problem(getattr(problem, "problem", None)):
        problem = problem.problem
    of = f" of {function}" if function else ""
    expected = f"{' or '.join(kinds)} problem" if kinds else "problem"
    article = "an" if expected[0] in "aeiou" else "a"
    if not is_problem(problem):
        raise WrongArgument(f"the problem{of} is {what!r:.80}; expected {article} {expected}, an Instance or its name")
    if kinds and problem.kind not in kinds:
        raise WrongArgument(
            f"the problem{of} is of kind {problem.kind!r}: {problem!r:.80}; expected {article} {expected} "
            "(sl.solve takes problems of all kinds)"
        )
    return problem


def is_problem(what: object) -> bool:
    """Return whether an object has what a ``Problem`` has; a class has not."""
    parts = ("kind", "formulations", "verify", "value")
    return not isinstance(what, type) and all(hasattr(type(what), name) or hasattr(what, name) for name in parts)
