"""Operators on orders, and the interface of all operators of the large-neighbourhood search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...models.excerpt import with_short_repr
from ..kernels.orders.moves import Mover, OrderResult
from .acceptance import Acceptance, HillClimbing, Tolerances
from .orders import Order
from .random_keys import KeyNoise, drawn, keys_of

if TYPE_CHECKING:
    from .state import LnsSearch


class Stopped(Exception):
    """The time limit was reached, or the callback returned False."""


class Operator(Protocol):
    """An operator of the search. One object can serve several searches: what a search needs is made by ``start``."""

    @property
    def name(self) -> str:
        """Its name in the results."""
        ...

    def start(self, search: LnsSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns of this operator in a search.

        The function gets the seconds of a turn (at least one trial is made), or None: a fixed number of trials, without
        a clock. It hands better schedules to ``search.keep`` or changed orders to ``search.follow``.

        Parameters
        ----------
        search
            The search: its problem, the best schedule, the kept orders, random numbers.
        """
        ...


def trials(most: int, seconds: float | None) -> Iterator[int]:
    """Yield 0, 1, 2, ..., at most ``most`` numbers, until ``seconds`` are over (None: no limit), but at least one."""
    end = None if seconds is None else time.perf_counter() + seconds
    for k in range(most):
        if k and end is not None and time.perf_counter() > end:
            return
        yield k


@with_short_repr
@dataclass(frozen=True)
class KeyChanges:
    """Operator "keys": change the random keys of a kept order; place all jobs anew.

    Parameters
    ----------
    noise
        The change of the keys.
    trials
        Most changes in a turn.
    acceptance
        When the new order replaces the one it was made from, if the search has no acceptance criterion for all operators.
    name
        Its name in the results.
    """

    noise: KeyNoise = field(default_factory=KeyNoise)
    trials: int = 8
    acceptance: Acceptance = field(default_factory=HillClimbing)
    name: str = "keys"

    def start(self, search: LnsSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns."""

        def turn(seconds: float | None) -> None:
            for _ in trials(self.trials, seconds):
                search.check(search.trial_seconds)
                parent = search.parent()
                child = search.place(self.noise.apply(parent.keys, search.features, search.bulk, search.rng))
                search.follow(parent, child, self.acceptance)

        return turn


@with_short_repr
@dataclass(frozen=True)
class OrderMoves:
    """Operator "moves": move a job to another place of the best order; place the jobs after it anew.

    Parameters
    ----------
    moves
        Moves in a turn without a clock.
    most_moves
        Most moves in a turn with a clock.
    acceptance
        When a move is kept, if the search has no acceptance criterion for all operators.
    name
        Its name in the results.
    """

    moves: int = 10
    most_moves: int = 400
    acceptance: Acceptance = field(default_factory=HillClimbing)
    name: str = "moves"

    def start(self, search: LnsSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns."""
        each = 0.0  # seconds of one move, measured
        a = search.arrays
        mover = Mover(a.machine, a.jobs, a.costs, search.same)

        def turn(seconds: float | None) -> None:
            nonlocal each
            best = search.orders[0]
            if best.keys.size < 2:
                return
            expected = each or search.trial_seconds
            number = self.moves
            if seconds is not None:
                number = int(np.clip(seconds / max(1e-6, expected), 1, self.most_moves))
            search.check()
            began = time.perf_counter()
            allowed = search.tolerances(self.acceptance, number)
            moved = self._moved(search, mover, best, number, allowed)
            if moved.value <= best.value + allowed.over_current.sum():  # the kernel ignores rounding errors
                search.replace(best, moved)
            each = (time.perf_counter() - began) / number

        return turn

    def _moved(self, search: LnsSearch, mover: Mover, order: Order, number: int, allowed: Tolerances) -> Order:
        """Return the order after some moves, each of which was accepted or undone."""
        place = np.argsort(order.answer.order)  # of each job; the moves of one batch make it slightly outdated
        moves = place[drawn(2 * number, search.bulk, search.rng)].reshape(number, 2)
        answer = OrderResult(*(part.copy() for part in order.answer))
        value, left, record = mover.improve(
            answer,
            moves,
            np.arange(number + 1),
            order.value,
            search.best_value,
            *allowed,
            search.clock.stop,
        )
        if left < search.best_value:
            search.keep(float(left), record.starts, record.nodes)
        return Order(float(value), keys_of(answer.order, order.keys), answer)
