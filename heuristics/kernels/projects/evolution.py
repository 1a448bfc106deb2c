"""The evolution of schedules of a project: a step makes one new schedule from kept ones.

1. Take one of the kept schedules, the more often a good one the later it is.
2. Crossover: replace a part of its order by that of another kept one. Or destroy: give the tasks of a window of time, of a
   resource, or of a part of the network other keys, and perhaps other modes (``variation``).
3. Generate the schedule by the serial scheme, justify it twice (``generation``).
4. The new schedule replaces the one it was made from, if the acceptance criterion allows it and no other kept one has the
   same starts.
"""

from __future__ import annotations

from typing import NamedTuple

from ....models.compiled import compiled, internal_borrowing
from ..by_address import by_address
from ..profile import Floats, Ints
from .generation import justify, serial
from .tasks import Room, Tasks
from .variation import CROSSOVER, below, cross, destroy, draw, keep_budget, loosen, scatter


@by_address
class Kept(NamedTuple):
    """The schedules that a search keeps.

    Parameters
    ----------
    starts, modes
        Start and mode of each task in each of them, shape (schedules, tasks).
    value
        Makespan of each, shape (schedules,).
    """

    starts: Ints
    modes: Ints
    value: Ints


@by_address
class Child(NamedTuple):
    """Arrays of a new schedule.

    Parameters
    ----------
    keys
        Keys of the tasks, shape (tasks,).
    starts, modes
        Start and mode of each task, shape (tasks,).
    free, none
        Tasks that choose their mode; zeros. Shape (tasks,).
    found
        Destroyed tasks, shape (tasks,).
    """

    keys: Floats
    starts: Ints
    modes: Ints
    free: Ints
    none: Ints
    found: Ints


@internal_borrowing
def _parent(kept: Kept, state: Ints, over: float) -> int:
    """Return one of the kept schedules: a random one, or the best of four, the more often the later."""
    size = kept.value.size
    best = below(state, size)
    if draw(state) < over:
        for _ in range(3):
            other = below(state, size)
            if kept.value[other] < kept.value[best]:
                best = other
    return best


@internal_borrowing
def _is_new(kept: Kept, child: Child, value: int) -> bool:
    """Return whether no kept schedule has the starts and modes of the child."""
    for p in range(kept.value.size):
        if kept.value[p] == value:
            k, n = 0, child.starts.size
            while k < n and kept.starts[p, k] == child.starts[k] and kept.modes[p, k] == child.modes[k]:
                k += 1
            if k == n:
                return False
    return True


@internal_borrowing
def _vary(t: Tasks, room: Room, kept: Kept, child: Child, rules: Floats, state: Ints, kind: int, at: int) -> None:
    """Make the keys and modes of a child of the kept schedule ``at``."""
    n = t.rank.size
    for k in range(n):
        child.keys[k], child.modes[k], child.free[k] = float(kept.starts[at, k]), kept.modes[at, k], 0
    if kind == CROSSOVER:
        other = below(state, kept.value.size)
        cross(
            t, state, kept.starts[other], kept.modes[other], kept.starts[at], kept.modes[at],
            kept.value[other], child.keys, child.modes,
        )  # fmt: skip
        if not keep_budget(t, room, state, child.modes):
            for k in range(n):
                child.modes[k] = kept.modes[at, k]
        child.found[0] = below(state, n)
        loosen(t, room, state, child.found, 1, child.modes, child.free)
        return
    count = destroy(t, state, kind, kept.starts[at], kept.modes[at], kept.value[at], child.none, child.found)
    for k in range(n):
        child.none[k] = 0
    scatter(state, rules[below(state, rules.shape[0])], child.found, count, child.keys)
    loosen(t, room, state, child.found, count, child.modes, child.free)


@compiled
def evolve(
    t: Tasks,
    back: Tasks,
    room: Room,
    kept: Kept,
    child: Child,
    rules: Floats,
    kinds: Ints,
    over: float,
    over_current: Floats,
    over_best: Floats,
    best: int,
    state: Ints,
    stop: Ints,
) -> tuple[int, int]:
    """Make some steps; return their number and the index of the best schedule of them, -1 if none is better than ``best``.

    Parameters
    ----------
    t, back, room
        The project, the project in reversed time, arrays to overwrite.
    kept
        The kept schedules, which are changed.
    child
        Arrays to overwrite; ``none`` has zeros.
    rules
        Values of priority rules from 0 to 1, shape (rules, tasks).
    kinds
        What the steps may do, one of ``variation``; a step draws one of them.
    over
        Share of the search that is over, from 0 to 1.
    over_current, over_best
        What the makespan of an accepted schedule may be worse by than that of its parent and than the best one, shape
        (steps,).
    best
        Best makespan of the search; the steps end when a better schedule is found.
    state
        State of the random numbers, uint64, shape (1,).
    stop
        The steps end when it is not 0, shape (1,).
    """
    for step in range(over_current.size):
        if stop[0] != 0:
            return step, -1
        at = _parent(kept, state, over)
        _vary(t, room, kept, child, rules, state, kinds[below(state, kinds.size)], at)
        serial(t, room, child.keys, child.modes, child.free, child.starts)
        value = justify(t, back, room, child.keys, child.modes, child.none, child.starts)
        allowed = min(kept.value[at] + over_current[step], best + over_best[step])
        if value < best or (value <= allowed and _is_new(kept, child, value)):
            kept.value[at] = value
            for k in range(t.rank.size):
                kept.starts[at, k], kept.modes[at, k] = child.starts[k], child.modes[k]
            if value < best:
                return step + 1, at
    return over_current.size, -1
