"""When a large-neighbourhood search accepts a schedule, chooses an operator, and stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from ...models.arguments import checked, is_real
from ...models.array_types import Floats
from ...models.comparing import compared_by_identity, hashable
from ...models.excerpt import excerpt, with_short_repr
from ...models.plugins import WrongAnswer

# --- Acceptance criteria: how much worse than the current and the best schedule a new one may be.


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


# --- Stopping criteria: the share of the search that is over.


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


# --- Selection of the operator that takes the next turn.

REMEMBERED = 100  # turns; with the default memory, older ones count less than 1e-15


@with_short_repr
class Turn(NamedTuple):
    """A turn of an operator.

    Parameters
    ----------
    seconds
        Its time, above 0.
    gain
        Improvement of the best objective.
    """

    seconds: float
    gain: float


@with_short_repr
@dataclass
class History:
    """The turns of one operator.

    Parameters
    ----------
    name
        Name of the operator.
    turns
        Its turns, the oldest one first.
    seconds
        Time of all turns.
    gain
        Improvement of the best objective by all turns.
    """

    name: str
    turns: list[Turn] = field(default_factory=list)
    seconds: float = 0.0
    gain: float = 0.0

    def add(self, turn: Turn) -> None:
        """Add a turn."""
        self.turns.append(turn)
        self.seconds += turn.seconds
        self.gain += turn.gain

    def rate(self, memory: float) -> float:
        """Return the running average of the gain per second; ``memory`` is the weight of the old average after a turn."""
        rate = 0.0
        for turn in self.turns[-REMEMBERED:]:
            rate = memory * rate + (1 - memory) * turn.gain / turn.seconds
        return rate


class Selection(Protocol):
    """A rule that selects operators."""

    def select(self, operators: Sequence[History], over: float, rng: np.random.Generator) -> int:
        """Return the index of the operator that takes the next turn.

        Parameters
        ----------
        operators
            The operators and their turns so far.
        over
            Share of the search that is over, from 0 to 1.
        rng
            Random numbers.
        """
        ...


def due(operators: Sequence[History], since: Mapping[str, float], over: float) -> list[int]:
    """Return the indices of the operators that may take turns already; of all if there is none.

    Parameters
    ----------
    operators
        The operators and their turns so far.
    since
        Share of the search after which an operator takes its first turn, by its name; 0 where it is missing.
    over
        Share of the search that is over.
    """
    due_ones = [k for k, operator in enumerate(operators) if since.get(operator.name, 0.0) <= over]
    return due_ones or list(range(len(operators)))


@with_short_repr
@hashable
@checked
@dataclass(frozen=True)
class Alternate:
    """Select the operator with the fewest turns: no clock, no random numbers.

    Parameters
    ----------
    since
        Share of the search after which an operator takes its first turn, by its name; 0 where it is missing.
    """

    since: Mapping[str, float] = field(default_factory=dict)

    def select(self, operators: Sequence[History], over: float, rng: np.random.Generator) -> int:
        """Return the first one of the operators with the fewest turns."""
        return min(due(operators, self.since, over), key=lambda k: len(operators[k].turns))


@with_short_repr
@hashable
@checked
@dataclass(frozen=True)
class GainPerSecond:
    """Select the operator with the best recent gain per second, but give each one its share of the time.

    Parameters
    ----------
    share
        Share of the time that each operator gets at least.
    shares
        Other shares, by the name of the operator.
    since
        Share of the search after which an operator takes its first turn, by its name; 0 where it is missing.
    memory
        Weight of the old rate in the running average of the gain per second after a turn.
    """

    share: float = 0.15
    shares: Mapping[str, float] = field(default_factory=dict)
    since: Mapping[str, float] = field(default_factory=dict)
    memory: float = 0.7

    def select(self, operators: Sequence[History], over: float, rng: np.random.Generator) -> int:
        """Return an operator that has had less than its share of the time, else the one with the best rate."""
        among = due(operators, self.since, over)
        spent = sum(operator.seconds for operator in operators)
        for k in among:
            if operators[k].seconds < self.shares.get(operators[k].name, self.share) * spent:
                return k
        return max(among, key=lambda k: operators[k].rate(self.memory))


@with_short_repr
@hashable
@checked
@dataclass(frozen=True)
class RandomChoice:
    """Select operators at random.

    Parameters
    ----------
    weights
        Relative frequency of each operator, by its name; 1 where it is missing.
    """

    weights: Mapping[str, float] = field(default_factory=dict)

    def select(self, operators: Sequence[History], over: float, rng: np.random.Generator) -> int:
        """Return a random operator."""
        weights = np.array([self.weights.get(operator.name, 1.0) for operator in operators])
        return int(rng.choice(len(operators), p=weights / weights.sum()))
