"""Stopping criteria: the share of the search that is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ...models.arguments import checked
from ...models.excerpt import excerpt, with_short_repr
from ...models.returned import WrongAnswer
from ...models.whole_numbers import is_real


class Stopped(Exception):
    """The time limit was reached, or the callback returned False."""


@with_short_repr
class Progress(NamedTuple):
    """How far a search is.

    Parameters
    ----------
    seconds
        Seconds since the call.
    turns
        Number of turns that operators have taken.
    turns_without_gain
        Number of turns since the best objective improved.
    """

    seconds: float
    turns: int
    turns_without_gain: int


class Stopping(Protocol):
    """A stopping criterion; the search looks at it before each turn. ``time_limit`` also interrupts compiled code."""

    def over(self, progress: Progress) -> float:
        """Return the share of the search that is over, from 0; the search ends at 1 or more."""
        ...


@checked
@dataclass(frozen=True)
class Turns:
    """Stop after a number of turns.

    Parameters
    ----------
    most
        The number of turns.
    """

    most: int = 60

    def over(self, progress: Progress) -> float:
        """Return the turns divided by their number."""
        return progress.turns / self.most if self.most > 0 else 1.0


@checked
@dataclass(frozen=True)
class Seconds:
    """Stop after some seconds.

    Parameters
    ----------
    most
        Seconds since the call.
    """

    most: float

    def over(self, progress: Progress) -> float:
        """Return the seconds divided by their number."""
        return progress.seconds / self.most if self.most > 0 else 1.0


@checked
@dataclass(frozen=True)
class NoImprovement:
    """Stop after a number of turns without a better schedule.

    Parameters
    ----------
    turns
        The number of turns.
    """

    turns: int = 100

    def over(self, progress: Progress) -> float:
        """Return 1 at the end, else 0: the duration of the search is not known in advance."""
        return float(progress.turns_without_gain >= self.turns)


@with_short_repr
@checked
@dataclass(frozen=True)
class FirstOf:
    """Stop when the first one of some criteria stops.

    Parameters
    ----------
    criteria
        The criteria.
    """

    criteria: tuple[Stopping, ...]

    def over(self, progress: Progress) -> float:
        """Return the greatest share."""
        return max(_share_of(criterion, progress) for criterion in self.criteria)


def _share_of(criterion: Stopping, progress: Progress) -> float:
    """Return the share of the search that is over by a criterion; raise WrongAnswer if it returns none."""
    share = criterion.over(progress)
    if not is_real(share) or not share >= 0:
        why = f"over returned {excerpt(share)}; expected the share of the search that is over, a number of at least 0"
        raise WrongAnswer(f"stopping criterion {excerpt(criterion)}: {why}")
    return share
