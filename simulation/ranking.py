"""A ranker in a replay: the calls of its methods, and the order of the waiting jobs that its keys give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import SchedlabError
from ..heuristics.kernels.events.rules import Rules
from ..heuristics.kernels.events.state import NOW, SORTED, WAITING, State
from ..instances.workload import Workload
from ..models import Platform
from ..models.array_types import Floats, Ints
from ..models.excerpt import with_short_repr
from ..models.returned import WrongAnswer, returned_numbers
from .rankers import Columns, EndedJobs, News, RankedJobs, Ranker

NONE = np.empty(0, np.int64)
Refuse = Callable[[str], NoReturn]  # refuse(why) ends the replay with an error


@with_short_repr
class Ranking:
    """The order of the waiting jobs of a replay by a ranker.

    Parameters
    ----------
    ranker : Ranker
        The ranker.
    workload : Workload
        The jobs.
    state : State
        The state of the replay.
    runtime : ndarray of int64, shape (jobs,)
        The durations in the replay in seconds, which are shown only of jobs that have ended.
    by_count : bool
        Whether each unit has a node of its own, and nodes are only counted.
    refuse : callable
        Ends the replay with an error.
    """

    def __init__(
        self, ranker: Ranker, workload: Workload, state: State, runtime: Ints, by_count: bool, refuse: Refuse
    ) -> None:
        self.ranker = ranker
        self._state = state
        self._runtime = runtime
        self._refuse = refuse
        self._nodes = workload.units if by_count else state.pieces
        units, request = workload.units, workload.request
        if several := list(workload.chunks):  # a heterogeneous job counts as one unit with all that it requests
            units = units.copy()
            request = request.copy()
            units[several], request[several] = 1, workload.job_arrays.amounts[several]
        self._columns = Columns(
            workload.submit,
            workload.user,
            workload.queue,
            units,
            request,
            workload.walltime,
            state.expected,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks of the ranker on data that the trace lacks; none if it has no ``notes``."""
        return tuple(getattr(self.ranker, "notes", ()))

    def begin(self, platform: Platform, workload: Workload, seed: int) -> None:
        """Begin the ranker."""
        self._call("begin", platform, workload.queues, workload.users, seed)

    def learn(self, arrived: Ints, ended: Ints) -> None:
        """Pass on the jobs that have arrived, and those that have ended at this event."""
        if len(arrived) or len(ended):
            self._learn(arrived, NONE, ended)

    def started(self, rows: Ints) -> None:
        """Pass on the jobs that a decision has started."""
        if len(rows):
            self._learn(NONE, rows, NONE)

    def _learn(self, submitted: Ints, started: Ints, ended: Ints) -> None:
        took = self._runtime[ended]
        done = EndedJobs(ended, self._columns, took, self._state.start[ended] + took, self._nodes[ended])
        now = int(self._state.clock[NOW])
        jobs = self._columns
        self._call("learn", News(now, RankedJobs(submitted, jobs), RankedJobs(started, jobs), done))

    def sort(self, rules: Rules) -> Rules:
        """Sort the waiting jobs by rank, ties by the key of ``rules``; return rules that keep this order.

        If the order of the waiting jobs changes, their reservations are deleted.
        """
        state = self._state
        now = int(state.clock[NOW])
        n = int(state.clock[WAITING])
        waiting = state.waiting[:n]
        keys = self._keys(now, waiting.copy())
        own = rules.base[waiting] + rules.slope[waiting] * now if rules.dynamic else rules.base[waiting]
        order = np.argsort(keys, kind="stable")  # the queue is nearly sorted: twenty times as fast as lexsort
        if not _in_order(keys[order], own[order], waiting[order]):
            order = np.lexsort((waiting, own, keys))
        if (order[1:] < order[:-1]).any():
            waiting[:] = waiting[order]
            state.reserved[waiting] = -1
        state.clock[SORTED] = n
        return rules._replace(dynamic=False)

    def _keys(self, now: int, waiting: Ints) -> Floats:
        """Return the keys of the ranker, checked."""
        returned = self._call("rank", now, RankedJobs(waiting, self._columns))
        try:
            return returned_numbers(f"its ranker {self.ranker.name}: rank", returned, len(waiting), "waiting jobs")
        except WrongAnswer as e:
            self._refuse(str(e))

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self.ranker, method)(*arguments)
        except WrongAnswer as e:
            self._refuse(str(e))
        except SchedlabError:
            raise
        except Exception as e:
            self._refuse(f"its ranker {self.ranker.name} raised in {method}: {type(e).__name__}: {e}")


def _in_order(keys: Floats, own: Floats, rows: Ints) -> bool:
    """Return whether jobs with equal keys stand in the order of their own keys, then of their rows."""
    same: NDArray[np.bool_] = keys[1:] == keys[:-1]
    wrong = (own[1:] < own[:-1]) | ((own[1:] == own[:-1]) & (rows[1:] < rows[:-1]))
    return not (same & wrong).any()
