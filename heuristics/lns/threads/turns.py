"""What all large-neighbourhood searches share: operators take turns until a stopping criterion, in one or more threads."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ....errors import WrongValue
from ....models import Problem, Schedule
from ....models.excerpt import excerpt, with_short_repr
from ....models.returned import WrongAnswer, returned_numbers
from ....models.whole_numbers import is_whole
from ...clock import Clock
from ...incumbents import Incumbents, OnIncumbent
from ..acceptance import Acceptance, Tolerances
from ..selection import History, Selection, Turn
from ..stopping import Progress, Stopped, Stopping, Turns
from .team import Team

S = TypeVar("S", bound="TurnSearch")


@with_short_repr
class Gain(NamedTuple):
    """The total effect of an operator.

    Parameters
    ----------
    turns
        Number of turns.
    seconds
        Time of all turns.
    gain
        Improvement of the best objective by all turns.
    """

    turns: int
    seconds: float
    gain: float


def as_text(gains: Mapping[str, Gain]) -> str:
    """Return the effect of the operators as a text for people."""
    return "; ".join(f"{name} {g.turns} turns, {g.seconds:.1f} s, {g.gain:.4g} better" for name, g in gains.items())


class TurnSearch(ABC):
    """The part of the state of a search that does not depend on the problem.

    Parameters
    ----------
    problem, time_limit, seed, warm_start, on_incumbent, acceptance, turn_seconds
        As for ``lns``.

    Attributes
    ----------
    seen
        The incumbents, with the callback and the start.
    clock
        The clock; ``clock.stop`` is for kernels.
    rng
        Random numbers.
    best_value
        The best objective, to be minimized.
    trial_seconds
        Time of the longest recent trial.
    histories
        The turns of each operator.
    """

    def __init__(
        self,
        problem: Problem,
        time_limit: float | None,
        seed: int,
        warm_start: Schedule | None,
        on_incumbent: OnIncumbent | None,
        acceptance: Acceptance | None,
        turn_seconds: float,
    ) -> None:
        self.seen = Incumbents(problem, "lns", on_incumbent, warm_start)
        self.clock = Clock(time_limit, self.seen.began)
        self.limit, self.acceptance, self.turn_seconds = time_limit, acceptance, turn_seconds
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.lock = Lock()  # of ``seen``, which the searches of a team share
        self.ended = False  # whether another search of a team has ended all of them
        self.best_value = np.inf
        self.trial_seconds = 0.0
        self.histories: list[History] = []
        self.team: Team | None = None
        self._turns: list[Callable[[float | None], None]] = []
        self._last_gain = 0  # turns until the last one that improved the best objective
        self.stopping: Stopping = Turns()
        self.threads = 1  # that may make the first schedules

    @property
    @abstractmethod
    def order_value(self) -> float:
        """The objective of the best order, which may be worse than that of the best schedule."""

    @property
    @abstractmethod
    def ready(self) -> bool:
        """Whether there is a schedule that operators can change."""

    @abstractmethod
    def look_around(self) -> None:
        """Make the first schedules."""

    @abstractmethod
    def adopt(self: S, schedule: S, order: S) -> None:
        """Take over the best schedule and the best order of two searches, if they are better than those here."""

    def companion(self: S, rng: np.random.Generator) -> S:
        """Return a search from the same schedules with random numbers of its own; both share clock and incumbents."""
        other = copy(self)
        other.rng, other.histories = rng, []
        return other

    @property
    def elapsed(self) -> float:
        """Seconds since the call."""
        return self.clock.elapsed

    @property
    def over(self) -> float:
        """The share of the search that is over, at most 1."""
        turns = sum(len(history.turns) for history in self.histories)
        share = self.stopping.over(Progress(self.elapsed, turns, turns - self._last_gain))
        return min(1.0, share)

    def tolerances(self, own: Acceptance, steps: int) -> Tolerances:
        """Return the tolerances of the next steps by the criterion of the search, or by the operator's own one."""
        criterion = self.acceptance or own
        given = criterion.tolerances(steps, float(self.best_value), self.over, self.rng)
        who = f"acceptance criterion {excerpt(criterion)}: tolerances"
        if not isinstance(given, tuple) or len(given) != 2:
            why = "expected Tolerances(over_current, over_best), two arrays with a number for each step"
            raise WrongAnswer(f"{who} returned {excerpt(given)}; {why}")
        return Tolerances(*(returned_numbers(who, part, steps, "steps") for part in given))

    def check(self, ahead: float = 0.0) -> None:
        """Raise Stopped if a trial of ``ahead`` seconds would end after the time limit."""
        if self.ended or ((self.seen.trace or np.isfinite(self.best_value)) and self.clock.left < ahead):
            raise Stopped

    def run(self, operators: Sequence[Any], selection: Selection, stopping: Stopping, threads: int = 1) -> None:
        """Make the first schedules, then let the operators take turns, in this number of threads. Raises ValueError."""
        names = [operator.name for operator in operators]
        if not names or len(set(names)) < len(names):
            raise WrongValue(f"lns needs operators with different names, not {names}")
        self.stopping, self.threads = stopping, threads
        try:
            with self.clock:
                self.look_around()
                if self.ready and threads > 1:
                    self.team = Team(self, threads)
                    self.team.run(operators, selection)
                elif self.ready:
                    self.begin_turns(operators)
                    while self.over < 1:
                        self.take_turn(selection)
        except Stopped:
            pass
        finally:
            if self.team is not None:
                self._gather(self.team)

    def _gather(self, team: Team) -> None:
        """Take the best schedule and the histories of all searches of the team."""
        best = min(team.members, key=lambda member: float(member.best_value))
        self.adopt(best, best)
        for member in team.members[1:]:
            for mine, other in zip(self.histories, member.histories, strict=True):
                for one in other.turns:
                    mine.add(one)

    @property
    def gains(self) -> dict[str, Gain]:
        """The effect of each operator, by its name."""
        return {h.name: Gain(len(h.turns), h.seconds, h.gain) for h in self.histories}

    def begin_turns(self, operators: Sequence[Any]) -> None:
        """Make the operators ready for this search."""
        self._turns = [operator.start(self) for operator in operators]
        for operator, turn in zip(operators, self._turns, strict=True):
            if not callable(turn):
                why = f"start returned {excerpt(turn)}; expected the function that takes turns"
                raise WrongAnswer(f"operator {operator.name!r}: {why}")
        self.histories = [History(operator.name) for operator in operators]

    def take_turn(self, selection: Selection) -> None:
        """Let an operator take a turn. Raises Stopped."""
        k = selection.select(self.histories, self.over, self.rng)
        if not is_whole(k) or not 0 <= k < len(self.histories):
            why = f"select returned {excerpt(k)}; expected the index of an operator, 0 to {len(self.histories) - 1}"
            raise WrongAnswer(f"selection {excerpt(selection)}: {why}")
        before, began = self.best_value, time.perf_counter()
        try:
            self._turns[k](None if self.limit is None else self.turn_seconds)
        finally:
            gain = before - self.best_value
            self.histories[k].add(Turn(max(1e-6, time.perf_counter() - began), gain))
            done = sum(len(history.turns) for history in self.histories)
            self._last_gain = done if gain > 0 else self._last_gain
