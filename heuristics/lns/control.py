"""What all large-neighbourhood searches share: acceptance, choice of operators, stopping, and turns in one or more threads."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ...errors import WrongValue
from ...models import Problem, Schedule
from ...models.arguments import checked, is_real, is_whole
from ...models.array_types import Floats
from ...models.comparing import compared_by_identity, hashable
from ...models.long_calls import Deadline
from ...models.plugins import WrongAnswer, calling, returned_numbers
from ...models.words import excerpt, with_short_repr
from ..search_parts import Clock, Incumbents, OnIncumbent

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
        if self.most > 0:
            return progress.turns / self.most
        return 1.0


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
        if self.most > 0:
            return progress.seconds / self.most
        return 1.0


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
    with calling(f"stopping criterion {excerpt(criterion)}: over"):
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


# --- Operators take turns until a stopping criterion.

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
        who = f"acceptance criterion {excerpt(criterion)}: tolerances"
        over = self.over
        with calling(who):
            given = criterion.tolerances(steps, float(self.best_value), over, self.rng)
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
        over = self.over
        with calling(f"selection {excerpt(selection)}: select"):
            k = selection.select(self.histories, over, self.rng)
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
            if gain > 0:
                self._last_gain = done
