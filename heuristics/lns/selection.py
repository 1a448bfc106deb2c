"""Selection of the operator that takes the next turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from ...models.arguments import checked
from ...models.comparing import hashable
from ...models.excerpt import with_short_repr

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
    found = [k for k, operator in enumerate(operators) if since.get(operator.name, 0.0) <= over]
    return found or list(range(len(operators)))


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
