"""Acceptance criteria: how much worse than the current and the best schedule a new one may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ...models.arguments import checked
from ...models.comparing import compared_by_identity
from ...models.excerpt import with_short_repr
from ..kernels.profile import Floats


@compared_by_identity
@with_short_repr
class Tolerances(NamedTuple):
    """What the objective of an accepted schedule may be worse by, in each of some steps; infinite: no condition.

    Parameters
    ----------
    over_current
        Greatest difference to the schedule that the step changes, shape (steps,).
    over_best
        Greatest difference to the best schedule of the search, shape (steps,).
    """

    over_current: Floats
    over_best: Floats


class Acceptance(Protocol):
    """An acceptance criterion; it works in compiled code, too, as it gives numbers for the next steps.

    A criterion that accepts with a probability draws a tolerance: ``SimulatedAnnealing`` is an example.
    """

    def tolerances(self, steps: int, best: float, over: float, rng: np.random.Generator) -> Tolerances:
        """Return the tolerances of the next steps.

        Parameters
        ----------
        steps
            Number of steps.
        best
            The best objective, to be minimized: for profits it is negative.
        over
            Share of the search that is over, from 0 to 1.
        rng
            Random numbers.
        """
        ...


@dataclass(frozen=True)
class HillClimbing:
    """Accept what is not worse than the current schedule."""

    def tolerances(self, steps: int, best: float, over: float, rng: np.random.Generator) -> Tolerances:
        """Return zeros."""
        return Tolerances(np.zeros(steps), np.full(steps, np.inf))


@checked
@dataclass(frozen=True)
class Threshold:
    """Accept what is at most slightly worse than the current schedule.

    Parameters
    ----------
    relative
        Tolerance as a share of the best objective.
    """

    relative: float = 1e-5

    def tolerances(self, steps: int, best: float, over: float, rng: np.random.Generator) -> Tolerances:
        """Return the same tolerance for all steps."""
        return Tolerances(np.full(steps, self.relative * abs(best)), np.full(steps, np.inf))


@checked
@dataclass(frozen=True)
class RecordToRecord:
    """Accept what is at most slightly worse than the best schedule; the tolerance shrinks [Santini2018].

    Parameters
    ----------
    first, last
        Tolerance as a share of the best objective at the begin and at the end of the search.
    """

    first: float = 1e-3
    last: float = 0.0

    def tolerances(self, steps: int, best: float, over: float, rng: np.random.Generator) -> Tolerances:
        """Return the same tolerance for all steps."""
        share = self.first + (self.last - self.first) * min(1.0, over)
        return Tolerances(np.full(steps, np.inf), np.full(steps, share * abs(best)))


@checked
@dataclass(frozen=True)
class SimulatedAnnealing:
    """Accept a worse schedule with probability exp(-difference / temperature); the temperature falls [Santini2018].

    Parameters
    ----------
    first, last
        Temperature as a share of the best objective at the begin and at the end of the search; both above 0. It falls
        exponentially.
    """

    first: float = 1e-4
    last: float = 1e-7

    def tolerances(self, steps: int, best: float, over: float, rng: np.random.Generator) -> Tolerances:
        """Return a random tolerance for each step: u <= exp(-d / t) if and only if d <= -t * log(u)."""
        temperature = self.first * (self.last / self.first) ** min(1.0, over) * abs(best)
        return Tolerances(temperature * rng.exponential(size=steps), np.full(steps, np.inf))
