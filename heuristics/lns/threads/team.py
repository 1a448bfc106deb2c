"""A team of searches in threads: each has its own random numbers; all go on from the best order of them.

1. The first search tries the presets. The others begin with copies of its orders.
2. Each search takes some turns in a thread of its own. Compiled code runs without Python's global lock.
3. All wait for each other. The best order and the best schedule are given to those that have worse ones.
4. Repeat from step 2. Without a time limit an epoch has a fixed number of turns, so that the result depends on the seed,
   the threads and the rounds only.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..selection import Selection
    from .turns import TurnSearch

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
        end, done = member.elapsed + EPOCH_SECONDS, 0
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
