"""The base class of all errors of schedlab, and the errors of wrong arguments, which all layers raise."""

from __future__ import annotations

from typing import Any


class SchedlabError(Exception):
    """Base class of all errors that schedlab raises.

    Each of them derives from the built-in error that fits as well, so ``except ValueError`` catches a wrong value.

    Examples
    --------
    >>> import schedlab as sl
    >>> try:
    ...     sl.Model("m").integer("x", 3, 0)
    ... except sl.SchedlabError as e:
    ...     print(e)
    integer 'x': the lower bound 3 is above the upper bound 0
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to pickle the error: without a call of its constructor, whose arguments are not those of the message."""
        made = super().__reduce__()
        assert isinstance(made, tuple)  # that of an exception
        kind, args, *state = made
        return _restored, (kind, args), *state


def _restored(kind: type[SchedlabError], args: tuple[object, ...]) -> SchedlabError:
    """Return a pickled error, still without its attributes."""
    error = kind.__new__(kind, *args)
    error.args = args
    return error


class WrongArgument(SchedlabError, TypeError):
    """An argument has the wrong type, or the called function does not take it."""


class WrongValue(SchedlabError, ValueError):
    """An argument or a value in a file has the right type but is not allowed."""


class NoSolution(SchedlabError, LookupError):
    """A value of a solution is read, but there is no solution, or the solution has no such value."""


class LoweringTooLarge(SchedlabError, ValueError):
    """Error of a lowering whose predicted size is beyond the limit. Nothing was built.

    Parameters
    ----------
    rows, columns, nonzeros : int
        Predicted size of the matrix.
    limit : int
        The greatest number of non-zeros that the caller allows.
    advice : str
        What the user can do about it, for the message.
    """

    def __init__(self, rows: int, columns: int, nonzeros: int, limit: int, advice: str) -> None:
        self.rows, self.columns, self.nonzeros, self.limit = rows, columns, nonzeros, limit
        super().__init__(
            f"the lowering would have {rows:,} rows, {columns:,} columns and {nonzeros:,} non-zeros, "
            f"more than the {limit:,} non-zeros allowed; {advice}"
        )


class SolverUnavailable(SchedlabError, RuntimeError):
    """Error of a solver that is not installed or cannot take the model. The message gives the reason."""


class SolverFailed(SchedlabError, RuntimeError):
    """A solver ended with an error inside a larger computation."""


class MissingPackage(SchedlabError, ImportError):
    """An optional package is needed and not installed."""


class MissingValue(SchedlabError, KeyError):
    """A mapping lacks a value that is needed, such as the mode of a task."""

    def __str__(self) -> str:
        """Return the message as it is; KeyError would put it into quotation marks."""
        return str(self.args[0])


class ObjectiveDisagrees(SchedlabError, ValueError):
    """The value of an objective is not the one that its costs give, so that searches optimize something else."""
