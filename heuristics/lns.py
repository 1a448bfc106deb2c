"""A large-neighbourhood search of our own, for dispatching and profit problems.

Three ways to a better schedule take turns, by what each has gained per second of late:

- ``keys``: the order in which the first solution places the jobs is a sum of weighted features of a job (``keys.py``). Some
  weights change, some jobs get a number of their own on top; all jobs are placed anew.
- ``moves``: a job goes to another place of that order; the jobs behind are placed anew (``moves.py``).
- ``ruin``: jobs around an idle moment of some nodes, or that start one after another, leave the schedule with some that
  wait, and are put in again in one of several orders, all others staying where they are (``lns_kernels.py``).

``solver`` (where a backend is named) frees a few jobs of a window likewise, and lets the backend put them in.

Of a profit problem, what is placed is only what still earns: jobs that find no place before ``until`` are parked, and
placed after it at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..models import Dispatch, Profit, Schedule
from .arrays import Arrays, arrays
from .first_solution import NothingFound
from .kernels import LAST_END, PARKED, objective
from .keys import bulk_of, disturbed, drawn, features, keys_of
from .lns_kernels import DRAWS, MOST, Known, Places, new_room, pack, profile_of, ruin_and_recreate, unpark
from .moves import Answer, improve
from .profile import Floats, Ints

ROUNDS = 60  # turns where no time is given
TURN = 0.15  # seconds of a turn, as far as one trial is shorter
KEPT = 0.7  # of what is known of a way's gain per second, after a turn
STRAY = 0.2  # share of turns that go to any way
SLACK = 1e-5  # relative: how much worse a schedule may become on the way, in ruin and recreate


class Gain(NamedTuple):
    """What a way of searching did in all: turns, seconds, and what it improved the objective by."""

    turns: int
    seconds: float
    gain: float


@dataclass(frozen=True)
class Improved:
    """The best schedule found and its objective; ``trace``: (seconds, objective) of improvements; ``ways``: who made them."""

    schedule: Schedule
    objective: float
    trace: tuple[tuple[float, float], ...]
    ways: dict[str, Gain] = field(default_factory=dict)


def lns(
    problem: Dispatch | Profit,
    time_limit: float | None = None,
    seed: int = 0,
    on_incumbent: Callable[[float, float], Any] | None = None,
    rounds: int | None = None,
) -> Improved:
    """The best schedule of a large-neighbourhood search over orders and over windows of the schedule.

    ``time_limit`` in seconds (at least one order is placed); without it ``rounds`` turns are made (60), and the same seed
    gives the same schedule. ``on_incumbent(seconds, objective)`` returning False stops. Raises NothingFound if no order
    leads to a schedule.

    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, d, 1, {"cores": c}, "q") for n, d, c in (("a", 9, 2), ("b", 2, 1), ("c", 3, 1))]
    >>> p = Dispatch(Platform([NodeGroup("n", 1, {"cores": 2})]), jobs, [Queue("q", 60)], "waiting")
    >>> lns(p, rounds=3).objective
    3
    """
    search = Search(problem, time_limit, seed, on_incumbent)
    search.run(ROUNDS if rounds is None and time_limit is None else rounds)
    return search.result()


class Stopped(Exception):
    """The limit on the clock was reached, or the caller wants no more."""


class Search:
    """The best schedule so far, the order that the ways over orders work on, and the clock."""

    def __init__(
        self,
        problem: Dispatch | Profit,
        time_limit: float | None,
        seed: int,
        on_incumbent: Callable[[float, float], Any] | None,
    ) -> None:
        self.began = time.perf_counter()
        self.problem, self.limit, self.call = problem, time_limit, on_incumbent
        self.whole = arrays(problem)
        self.a = _within(self.whole, problem)
        self.rng = np.random.default_rng(seed)
        self.known, self.bulk = features(self.a), bulk_of(self.a)
        self.keys = np.zeros(self.a.jobs.units.size)
        self.answer = Answer(np.argsort(self.keys, kind="stable"), *self._room())
        self.value = self.best_value = np.inf
        self.best = Places(*self._room(), np.zeros(self.a.costs.ledger.euro_per_joule.size))
        self.trace: list[tuple[float, float]] = []
        self.trial_seconds = 0.0

    def _room(self) -> tuple[Ints, Ints]:
        jobs = self.a.jobs
        return np.full(jobs.units.size, PARKED, np.int64), np.zeros(int(jobs.first_unit[-1]), np.int64)

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.began

    def check(self, ahead: float = 0.0) -> None:
        """Raise Stopped if what takes so many seconds would end after the limit."""
        if self.limit is not None and self.trace and self.elapsed + ahead > self.limit:
            raise Stopped

    def keep(self, value: float, starts: Ints, nodes: Ints) -> None:
        """Note a schedule if it is the best."""
        if value >= self.best_value - 1e-12 * abs(value):
            return
        self.best_value = value
        self.best.starts[:], self.best.nodes[:] = starts, nodes
        self.trace.append((self.elapsed, self.a.sign * value))
        if self.call is not None and self.call(*self.trace[-1]) is False:
            raise Stopped

    def try_keys(self, keys: Floats) -> bool:
        """Place all jobs in the order of these keys; True, and it is the order to go on from, if it is no worse."""
        self.check(self.trial_seconds)
        a, began = self.a, time.perf_counter()
        order = np.argsort(keys, kind="stable")
        starts, nodes = self._room()
        complete = pack(a.machine, a.jobs, a.costs, order, starts, nodes)
        value = float(objective(a.costs, a.jobs, starts)) if complete else np.inf
        self.trial_seconds = max(0.5 * self.trial_seconds, time.perf_counter() - began)
        if not complete or value > self.value:
            return False
        self.keys, self.answer, self.value = keys, Answer(order, starts, nodes), value
        self.keep(value, starts, nodes)
        return True

    def run(self, rounds: int | None) -> None:
        """Look at the presets, then let the ways take turns to the limit or for so many rounds."""
        try:
            for keys in self.known.presets() or [self.keys]:
                self.try_keys(keys)
            if np.isfinite(self.best_value):
                self._take_turns(rounds, self.ways())
        except Stopped:
            pass

    def ways(self) -> Sequence[Way]:
        """The ways to a better schedule that fit the problem."""
        ruin = () if self.a.costs.mode == LAST_END else (Ruin(self),)
        return (Keys(self), Moves(self), *ruin)

    def _take_turns(self, rounds: int | None, ways: Sequence[Way]) -> None:
        self.made = ways
        fresh = list(ways)
        for _ in _count(rounds):
            way = fresh.pop(0) if fresh else self._next(ways)
            before, value, began = self.best_value, self.value, time.perf_counter()
            try:
                way.turn(None if self.limit is None else TURN)
            finally:
                took = max(1e-6, time.perf_counter() - began)
                gain = before - self.best_value
                way.note(took, gain, gain + 0.25 * max(0.0, value - self.value - gain))

    def _next(self, ways: Sequence[Way]) -> Way:
        """The way with the best gain per second of late, at times any."""
        if self.limit is None or self.rng.random() < STRAY:
            return ways[int(self.rng.integers(len(ways)))]
        return max(ways, key=lambda way: way.rate)

    def result(self) -> Improved:
        """The best schedule, what is parked placed at last. Raises NothingFound."""
        if not np.isfinite(self.best_value):
            raise NothingFound("no order of the jobs that was tried leads to a schedule")
        schedule = self.schedule()
        value = float(self.problem.objective(schedule))
        ways = {way.name: way.done for way in getattr(self, "made", ())}
        return Improved(schedule, value, tuple(self.trace), ways)

    def schedule(self) -> Schedule:
        """The best schedule so far as one of the problem."""
        w = self.whole
        places = Places(self.best.starts.copy(), self.best.nodes.copy(), self.best.joules)
        parked = np.flatnonzero(places.starts == PARKED)
        if parked.size and isinstance(self.problem, Profit):
            order = parked[np.argsort(w.costs.submit[parked], kind="stable")]
            profile = profile_of(w.machine, w.jobs, places)
            if unpark(profile, w.machine, w.jobs, places, order, self.problem.until) < order.size:
                raise NothingFound("a job finds no start after the last moment that counts")
        return w.schedule(places.starts, places.nodes)


def _count(rounds: int | None) -> Iterator[int]:
    k = 0
    while rounds is None or k < rounds:
        yield k
        k += 1


def _within(a: Arrays, problem: Dispatch | Profit) -> Arrays:
    """Of a profit problem, only starts that earn: who finds none may be parked, unless it has a deadline."""
    if not isinstance(problem, Profit):
        return a
    parks = np.array([j.deadline is None for j in problem.jobs], np.bool_)
    latest = np.where(parks, np.minimum(a.jobs.latest, problem.until - 1), a.jobs.latest)
    return Arrays(
        problem,
        a.jobs._replace(latest=latest),
        a.machine,
        a.costs._replace(parks=parks),
        a.shares,
        a.power,
        a.profit,
    )


class Way:
    """A way to a better schedule. ``rate``: its gain per second of late."""

    name = ""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.rate = 0.0
        self.done = Gain(0, 0.0, 0.0)

    def turn(self, seconds: float | None) -> None:
        """Search for so long, or as long as one trial takes; None: a fixed number of trials, without a clock."""
        raise AssertionError("each way has its own")

    def note(self, seconds: float, gain: float, worth: float) -> None:
        """What a turn took and brought."""
        self.done = Gain(self.done.turns + 1, self.done.seconds + seconds, self.done.gain + gain)
        self.rate = KEPT * self.rate + (1 - KEPT) * worth / seconds


class Keys(Way):
    """Other weights, other keys; all jobs placed anew."""

    name = "keys"

    def turn(self, seconds: float | None) -> None:
        until = None if seconds is None else time.perf_counter() + seconds
        s = self.search
        for k in _count(8):
            if k and until is not None and time.perf_counter() > until:
                break
            s.try_keys(disturbed(s.keys, s.known, s.bulk, s.rng))


class Moves(Way):
    """A job to another place of the order; those behind it placed anew."""

    name = "moves"
    each = 0.0  # seconds of a move

    def turn(self, seconds: float | None) -> None:
        s, n = self.search, self.search.keys.size
        if n < 2:
            return
        count = 10 if seconds is None else int(np.clip(seconds / max(1e-6, self.each or s.trial_seconds), 1, 400))
        s.check(count * (self.each or s.trial_seconds))
        began = time.perf_counter()
        order = s.answer.order.astype(np.int64)
        place = np.argsort(order)  # of each job; while a batch of moves goes on it is a little out of date
        moves = place[drawn(2 * count, s.bulk, s.rng)].reshape(count, 2)
        answer = Answer(order, s.answer.starts, s.answer.nodes)
        s.value = float(improve(s.a.machine, s.a.jobs, s.a.costs, answer, moves, s.value))
        self.each = (time.perf_counter() - began) / count
        s.keys, s.answer = keys_of(order, s.keys), answer
        s.keep(s.value, answer.starts, answer.nodes)


class Ruin(Way):
    """Jobs leave the best schedule and are put in again, all others staying where they are."""

    name = "ruin"
    each = 0.0  # seconds of a step

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        a, problem = search.a, search.problem
        self.places = Places(search.best.starts.copy(), search.best.nodes.copy(), search.best.joules.copy())
        self.room = new_room(a.machine, a.jobs, self.places)
        self.value = np.inf
        self.end = problem.until if isinstance(problem, Profit) else None

    def turn(self, seconds: float | None) -> None:
        s = self.search
        self._begin()
        each = self.each or 20 * s.trial_seconds / max(1, s.keys.size)
        count = 100 if seconds is None else int(np.clip(seconds / max(1e-7, each), 1, 2000))
        s.check(count * each)
        draws = s.rng.random((count, DRAWS + MOST))
        began = time.perf_counter()
        profile, change = ruin_and_recreate(
            s.a.machine, s.a.jobs, s.a.costs, self.places, self.profile, self._known(), self.room, draws, self._slack()
        )
        self.each = (time.perf_counter() - began) / count
        self.profile, self.value = profile, self.value + float(change)
        if self.value < s.best_value:
            exact = float(objective(s.a.costs, s.a.jobs, self.places.starts))
            s.keep(exact, self.places.starts, self.places.nodes)
            self.value = exact

    def _begin(self) -> None:
        """From the best schedule, where this way's own is far behind it."""
        s = self.search
        if self.value <= s.best_value + 10 * self._slack():
            return
        self.places.starts[:], self.places.nodes[:] = s.best.starts, s.best.nodes
        self.value = float(s.best_value)
        if self.places.joules.size:
            from .earnings import profit

            profit(s.a.costs.ledger, s.a.jobs.duration, self.places.starts, self.places.joules)
        self.profile = profile_of(s.a.machine, s.a.jobs, self.places)

    def _slack(self) -> float:
        return SLACK * abs(self.search.best_value)

    def _known(self) -> Known:
        s, starts = self.search, self.places.starts
        placed = np.flatnonzero(starts != PARKED)
        by_start = placed[np.argsort(starts[placed], kind="stable")]
        last = int(starts.max(initial=s.a.machine.now)) + 1
        return Known(by_start, s.a.shares, s.a.machine.now, last if self.end is None else self.end)
