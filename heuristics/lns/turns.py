"""What all large-neighbourhood searches share: operators take turns until a stopping criterion, in one or more threads."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...errors import WrongValue
from ...models import Problem, Schedule
from ...models.arguments import is_whole
from ...models.deadline import Deadline
from ...models.excerpt import excerpt, with_short_repr
from ...models.plugins import WrongAnswer, returned_numbers
from ..clock import Clock
from ..incumbents import Incumbents, OnIncumbent
from .control import Acceptance, History, Progress, Selection, Stopped, Stopping, Tolerances, Turn, Turns

# --- A team of searches in threads: each has its own random numbers; all go on from the best order of them.
#
# 1. The first search tries the presets. The others begin with copies of its orders.
# 2. Each search takes some turns in a thread of its own. Compiled code runs without Python's global lock.
# 3. All wait for each other. The best order and the best schedule are given to those that have worse ones.
# 4. Repeat from step 2. Without a time limit an epoch has a fixed number of turns, so that the result depends on the seed,
#    the threads and the rounds only.

EPOCH_TURNS = 4  # turns of each search between two exchanges, without a clock
EPOCH_SECONDS = 0.6


class Team:
    """Searches that share their best order.

    Parameters
    ----------
    leader
        The first search, after its presets.
    searches
        Number of searches in all.
    """

    def __init__(self, leader: TurnSearch, searches: int) -> None:
        streams = np.random.SeedSequence((leader.seed, searches)).spawn(searches - 1)
        self.members = [leader, *(leader.companion(np.random.default_rng(stream)) for stream in streams)]

    def run(self, operators: Sequence[Any], selection: Selection) -> None:
        """Let all searches take turns until the end. Raises Stopped, and what operators and the callback raise."""
        for member in self.members:
            member.begin_turns(operators)
        with ThreadPoolExecutor(len(self.members) - 1) as pool:
            while any(member.over < 1 for member in self.members):
                others = [pool.submit(self._epoch, member, selection) for member in self.members[1:]]
                try:
                    self._epoch(self.members[0], selection)
                except BaseException:  # a stop, an error or Ctrl-C in this thread ends the others, too
                    self.members[0].clock.stop[0] = 1
                    for member in self.members:
                        member.ended = True
                    raise
                finally:
                    failures = [future.exception() for future in others]
                    self._share()
                for failure in failures:
                    if failure is not None:
                        raise failure

    def _epoch(self, member: TurnSearch, selection: Selection) -> None:
        """Take the turns of one search until the next exchange."""
        end = member.elapsed + EPOCH_SECONDS
        done = 0
        timed = member.limit is not None
        while member.over < 1 and not member.ended and (member.elapsed < end if timed else done < EPOCH_TURNS):
            member.take_turn(selection)
            done += 1

    def _share(self) -> None:
        """Give the best schedule and the best order to the searches that have worse ones; the leader first."""
        schedule = min(self.members, key=lambda member: float(member.best_value))
        order = min(self.members, key=lambda member: member.order_value)
        for member in self.members:
            member.adopt(schedule, order)


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
        self.seen = Incumbents(problem, "lns", on_incumbent, warm_start, Deadline(time_limit))
        self.clock = Clock(self.seen.deadline)
        self.limit = time_limit
        self.acceptance = acceptance
        self.turn_seconds = turn_seconds
        self.seed = seed
        self.rng = np.random.default_rng(seed)
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
        other.rng = rng
        other.histories = []
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
        self.stopping = stopping
        self.threads = threads
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
        before = self.best_value
        began = time.perf_counter()
        try:
            self._turns[k](None if self.limit is None else self.turn_seconds)
        finally:
            gain = before - self.best_value
            self.histories[k].add(Turn(max(1e-6, time.perf_counter() - began), gain))
            done = sum(len(history.turns) for history in self.histories)
            self._last_gain = done if gain > 0 else self._last_gain
