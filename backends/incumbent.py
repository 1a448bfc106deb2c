"""One entry of the trace of a call: the best objective and bound at a moment, and on demand the solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..models.excerpt import with_short_repr
from ..models.language import Assignment
from ..models.problem import Schedule, Value
from .gaps import relative_gap

Bound = float | tuple[float | None, ...]
"""A bound or a gap: one number, or with several objectives a tuple with None for what is unknown."""
Offset = float | tuple[float, ...]
"""The constant offset of an objective, which no gap contains; with several objectives one for each."""


class _Moment(NamedTuple):
    seconds: float
    objective: Value | None
    bound: Bound | None


@with_short_repr
class Incumbent(_Moment):
    """A better solution or a better bound, at one moment of a call.

    Callbacks get it with its solution (``schedule``, ``assignment``). The trace of a result (``Result.incumbents``) does
    not keep the solutions.

    Parameters
    ----------
    seconds : float
        Wall time in seconds since the call began.
    objective : float, tuple of float or None
        The best objective value at this moment; None if no solution is known. With several objectives a tuple.
    bound : float, tuple or None
        The best bound at this moment; None if unknown. With several objectives a tuple, with None for unknown bounds.

    Attributes
    ----------
    placement : object or None
        The schedule as flat arrays, from searches that have it in this form. Unlike ``schedule()`` it costs no time.
    """

    _schedule: Callable[[], Schedule | None] | None = None
    _assignment: Callable[[], Assignment | None] | None = None
    placement: Any = None
    offset: Offset = 0.0

    @property
    def gap(self) -> Bound | None:
        """Relative gap between objective and bound, without the constant offset; None if one of them is unknown."""
        return gap_of(self.objective, self.bound, self.offset)

    def less(self, offset: Offset) -> Incumbent:
        """Return the same incumbent, whose gap is formed without a constant offset of the objective."""
        changed = Incumbent(*self)
        changed._schedule, changed._assignment, changed.placement = self._schedule, self._assignment, self.placement
        changed.offset = offset
        return changed

    def giving(
        self,
        schedule: Callable[[], Schedule | None] | None = None,
        assignment: Callable[[], Assignment | None] | None = None,
        placement: Any = None,
    ) -> Incumbent:
        """Return the same incumbent with its solution.

        Parameters
        ----------
        schedule, assignment : callable or None
            Return the solution of the problem and that of the model. They are called when the solution is needed. None:
            there is none.
        placement : object or None
            The schedule as flat arrays.

        Returns
        -------
        Incumbent
        """
        found = Incumbent(*self)
        found._schedule, found._assignment, found.placement = schedule, assignment, placement
        found.offset = self.offset
        return found

    def schedule(self) -> Schedule | None:
        """Return the schedule with this objective.

        The schedule is made at this call, from the current state of the search: call it within the callback.

        Returns
        -------
        Schedule or None
            None if there is no solution, or if a model is solved and not a problem.

        Examples
        --------
        >>> from schedlab import Schedule
        >>> Incumbent(0.5, 7, None).giving(lambda: Schedule({"a": 4})).schedule().start
        {'a': 4}
        """
        return None if self._schedule is None else self._schedule()

    def assignment(self) -> Assignment | None:
        """Return the values of the variables of the model with this objective; call it within the callback.

        Returns
        -------
        Assignment or None
            None if there is no solution, or if the method has no model, as most heuristics.
        """
        return None if self._assignment is None else self._assignment()


def gap_of(objective: Value | None, bound: Bound | None, offset: Offset = 0.0) -> Bound | None:
    """Return the relative gap, one for each objective, without a constant offset of the objective; None if unknown."""
    if isinstance(objective, tuple):
        bounds = bound if isinstance(bound, tuple) else (None,) * len(objective)
        offsets = offset[: len(objective)] if isinstance(offset, tuple) else (offset,) * len(objective)
        return tuple(relative_gap(o, b, less) for o, b, less in zip(objective, bounds, offsets, strict=True))
    if isinstance(bound, tuple):
        return None
    return relative_gap(objective, bound, 0.0 if isinstance(offset, tuple) else offset)
