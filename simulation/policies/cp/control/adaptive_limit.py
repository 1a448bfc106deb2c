"""The overhead control of [Bridi2018, 4.4]: a limit of the solver that follows the time to its first solution.

The state is the limit ``delta``, at first ``k1``, and the number ``first_n`` of jobs in a model, at first all of them.
A decision with n jobs takes the first ``first_n`` of them and makes up to ``attempts`` attempts, each with limit
``delta``:

- An attempt without a solution is repeated with ``delta = min(longest, k2 * delta)``.
- After an attempt with a solution, ``delta = min(longest, t + k1)``, where t is its time to the first solution, and
  ``first_n`` grows by the factor ``growth``; by default it is all jobs again.
- If no attempt finds a solution, ``first_n = ceil(n / 2)``, and the next decision begins with the ``delta`` reached.

There are three stop rules:

1. ``delta`` saturates at ``longest``.
2. With ``delta > long``, an attempt stops at its first solution.
3. After the first solution an attempt runs on in slices of ``patience``; it ends with the first slice that improves
   nothing.

The thesis gives 300 s, 60 s and 10 s for ``longest``, ``long`` and ``patience``. It does not give ``k1``, ``k2`` and
``attempts``; the defaults are those of the same scheme in [Galleguillos2019, 5]: limits of 1, 2, 4, 8 and 16 s. Nor does
it say when ``first_n`` grows again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from .....errors import WrongValue

DOUBLINGS = 16  # the limit of the last of five attempts, in units of k1


class AttemptLimits(NamedTuple):
    """The limits of one attempt, in seconds or in units of the solver.

    Parameters
    ----------
    length : float
        Limit of the whole attempt.
    patience : float
        Length of a slice after the first solution (rule 3).
    first_only : bool
        Whether the attempt stops at its first solution (rule 2).
    """

    length: float
    patience: float
    first_only: bool


class Attempt(NamedTuple):
    """The end of one attempt.

    Parameters
    ----------
    found : bool
        Whether the solver found a solution.
    first : float, optional
        Time to its first solution, in the unit of the limits. None: no solution, or not known in this unit.
    final : bool
        Whether another attempt would find no more: the solver has proven its result, or cannot run again.
    """

    found: bool
    first: float | None = None
    final: bool = False


class AdaptiveLimit:
    """The limit of a solver and the number of jobs in its models, adapted from decision to decision.

    Parameters
    ----------
    k1 : float
        First limit, and what is added to the time to the first solution; above 0. This and the other times are seconds
        or units of the solver, as the attempts understand them.
    k2 : float
        Factor of the limit after an attempt without a solution, above 1.
    attempts : int
        Largest number of attempts in one decision; ``M`` in the thesis.
    longest : float
        Largest limit, at least ``k1``.
    long : float
        Limit above which an attempt stops at its first solution.
    patience : float
        Length of a slice after the first solution, above 0.
    growth : float
        Factor of ``first_n`` after a decision with a solution, above 1; infinity: all jobs again.

    Attributes
    ----------
    delta : float
        The limit of the next attempt.
    first_n : int or None
        Largest number of jobs in the next model; None: all.

    Raises
    ------
    WrongValue
        If a value is out of range.

    Examples
    --------
    A solver that needs 5 s for its first solution: attempts of 1, 2 and 4 s find nothing, the one of 8 s does.

    >>> limit, lengths = AdaptiveLimit(), []
    >>> def attempt(limits):
    ...     lengths.append(limits.length)
    ...     return Attempt(True, 5.0) if limits.length >= 5 else Attempt(False)
    >>> limit.search(attempt, jobs=100).found, lengths, limit.delta
    (True, [1.0, 2.0, 4.0, 8.0], 6.0)
    """

    def __init__(
        self,
        k1: float = 1.0,
        k2: float = 2.0,
        attempts: int = 5,
        longest: float = 300.0,
        long: float = 60.0,
        patience: float = 10.0,
        growth: float = math.inf,
    ) -> None:
        for name, value, least in (("k1", k1, 0.0), ("k2", k2, 1.0), ("long", long, 0.0), ("patience", patience, 0.0)):
            if not least < value < math.inf:
                raise WrongValue(f"adaptive limit: {name} is {value!r}; expected a number above {least:g}")
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise WrongValue(f"adaptive limit: attempts is {attempts!r}; expected a whole number of at least 1")
        if not k1 <= longest < math.inf:
            raise WrongValue(f"adaptive limit: longest is {longest!r}; expected a number of at least k1 = {k1:g}")
        if not growth > 1.0:
            raise WrongValue(f"adaptive limit: growth is {growth!r}; expected a number above 1")
        self.k1, self.k2, self.attempts, self.growth = k1, k2, attempts, growth
        self.longest, self.long, self.patience = longest, long, patience
        self.reset()

    @classmethod
    def scaled(cls, unit: float, attempts: int = 5, growth: float = math.inf) -> AdaptiveLimit:
        """Return a limit with ``k1 = unit`` whose other times have the same ratio to ``k1`` as in the thesis.

        For limits in units of a solver, which are no seconds.

        Examples
        --------
        >>> limit = AdaptiveLimit.scaled(0.01)
        >>> limit.k1, limit.longest, limit.long, limit.patience
        (0.01, 3.0, 0.6, 0.1)
        """
        return cls(unit, 2.0, attempts, 300 * unit, 60 * unit, 10 * unit, growth)

    def reset(self) -> None:
        """Return to the state before the first decision."""
        self.delta: float = self.k1
        self.first_n: int | None = None

    def kept(self, jobs: int) -> int:
        """Return how many of this number of jobs go into the model."""
        return jobs if self.first_n is None else min(jobs, self.first_n)

    def halve(self, jobs: int) -> None:
        """Note that a decision on this number of jobs found nothing: the next model has at most half of them."""
        self.first_n = max(1, math.ceil(jobs / 2))

    def search(self, attempt: Callable[[AttemptLimits], Attempt], jobs: int) -> Attempt:
        """Make the attempts of one decision, and adapt the limit and the number of jobs.

        Parameters
        ----------
        attempt : callable
            Runs the solver within the limits. It may go on from the attempts before.
        jobs : int
            Number of jobs in the model, at least 1.

        Returns
        -------
        Attempt
            The last attempt.
        """
        last = Attempt(False)
        for _ in range(self.attempts):
            used = self.delta
            last = attempt(AttemptLimits(used, self.patience, used > self.long))
            if last.found:
                # not known: the attempt before, of used / k2, found none, or would have been long enough
                first = used / self.k2 if last.first is None else last.first
                self.delta = min(self.longest, first + self.k1)
                self.first_n = self._grown(jobs)
                return last
            if last.final:
                break
            self.delta = min(self.longest, self.k2 * used)
        self.halve(jobs)
        return last

    def _grown(self, jobs: int) -> int | None:
        """Return the number of jobs in the next model, after a decision with a solution on this number of jobs."""
        if self.first_n is None or not math.isfinite(self.growth):
            return None
        return max(self.first_n, math.ceil(jobs * self.growth))
