"""The CP dispatchers PCP and HCP, versions 0 to 3, on any backend (Galleguillos 2.2, 3 and 4).

PCP decides starts and nodes in one model (``counts`` or ``units``); HCP decides starts on the pooled resources and then
allocates what starts now by priority, best-fit. Version 1 leaves out what cannot start now, keeps the first ``m`` jobs,
and ends on proven infeasibility; version 2 lets a job that runs past its expected end last one more second; version 3
takes the slowdown as objective and as priority. The paper's search, schedule or postpone in the order of priority,
becomes the warm start: the first solution in that order; from there the solver improves within its limit.

Faults of the published programs that are not repeated here: priorities frozen when a job is first seen (they are computed
at every decision); the greatest expected wait taken with the wrong key (it is taken over all queues); cold restarts (each
step starts from the best so far); an infeasibility test that never fires (the solver's proof is read); jobs of the whole
machine waiting for ever (``max_stretch``).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..backends import backend as find_backend
from ..heuristics.profile import Floats, Ints
from ..models import Platform, Queue, Schedule
from ..models.dispatch import Window
from .cp_allocation import Board, Placed, asked_for
from .cp_model import Machinery, end_of_horizon, latest_start, problem_of, what_runs, windows_of
from .moment import Decision, Moment, Start
from .priority import by_queue, by_slowdown, ordered
from .search_control import Control, search
from .waiting import Register, Waiting, can_start_now

Family = Literal["pcp", "hcp"]
FORMULATIONS = {"pcp": "counts", "hcp": "pool"}
STRETCH = 50.0
RESERVED = 3  # urgent jobs that may hold a reservation at a time


@dataclass(frozen=True)
class Urgent:
    """What ``max_stretch`` decides before the solver is asked: starts, reserved jobs and their starts, who is left."""

    starts: list[Start]
    kept: Waiting
    windows: list[tuple[Window, ...]]
    left: NDArray[np.bool_]
    count: int


class CPDispatcher:
    """One dispatcher; ``limit`` and ``first_limit`` are seconds per decision (of the solver's own unit if ``deterministic``).

    ``m``: most jobs in a model; ``k``: steps without improvement that end a decision; ``max_stretch``: a job whose
    slowdown would pass it goes first and, if it cannot start, holds a reservation (None: off; by default 50 in version 3).

    >>> CPDispatcher("hcp", 3).name
    'hcp3@cpsat'
    """

    def __init__(
        self,
        family: Family,
        version: int = 3,
        backend: str = "cpsat",
        formulation: str | None = None,
        m: int = 100,
        first_limit: float | None = None,
        limit: float = 16.0,
        k: int = 2,
        max_stretch: float | Literal["default"] | None = "default",
        deterministic: bool = False,
        threads: int = 1,
        seed: int = 0,
    ) -> None:
        if limit <= 0:
            raise ValueError(f"the limit of a decision is {limit} s; more than 0 is expected")
        self.family, self.version, self.backend, self.m, self.seed = family, version, backend, m, seed
        self.name = f"{family}{version or ''}@{backend}"
        self.formulation = formulation or FORMULATIONS[family]
        self.max_stretch = (STRETCH if version >= 3 else None) if max_stretch == "default" else max_stretch
        self.control = Control(first_limit or limit / 16, limit, k, deterministic, threads)
        self.naive = version <= 1
        if version >= 3:
            self.aim = "slowdown"
        else:
            self.aim = "weighted-tardiness" if family == "pcp" else "queue-priority-wait"

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """A replay begins."""
        self.seed = seed
        self._register = Register(platform, queues)
        self._capacity = np.array(list(platform.capacity.values()), np.int64)
        self._nodes = platform.nodes

    def decide(self, moment: Moment) -> Decision:
        """What starts now."""
        began = time.perf_counter()
        everyone = self._register.look(moment)
        able = can_start_now(moment.free, everyone)
        if not able.any():
            return Decision(())
        runs = what_runs(moment, self.naive)
        board = Board(self._capacity, moment.now, runs.real)
        urgent = self._urgent(moment, everyone, runs, board)
        able &= urgent.left
        if urgent.count:
            able = self._still_able(moment, everyone, able, board)
        if not able.any():
            return Decision(urgent.starts, urgent=urgent.count)
        chosen = self._chosen(moment.now, everyone, able, urgent.left)
        return self._solved(moment, chosen, runs, board, urgent, began)

    def _priority(self, now: int, jobs: Waiting) -> Floats:
        return by_slowdown(now, jobs) if self.version >= 3 else by_queue(now, jobs)

    def _chosen(self, now: int, everyone: Waiting, able: NDArray[np.bool_], left: NDArray[np.bool_]) -> Waiting:
        """The jobs of the model, by priority: from version 1 on the first m that can start now, before it all."""
        jobs = everyone.some(left if self.version == 0 else able)
        order = ordered(self._priority(now, jobs), jobs)
        return jobs.some(order if self.version == 0 else order[: self.m])

    def _urgent(self, moment: Moment, everyone: Waiting, runs: Machinery, board: Board) -> Urgent:
        """Jobs that would pass the stretch, the worst first: they start, or hold a reservation on the board."""
        now, none = moment.now, np.array([], np.int64)
        left = np.ones(len(everyone.jobs), np.bool_)
        stretch = by_slowdown(now, everyone)
        late = none if self.max_stretch is None else np.flatnonzero(stretch > self.max_stretch)
        starts: list[Start] = []
        kept: list[int] = []
        windows: list[tuple[Window, ...]] = []
        for j in late[np.argsort(-stretch[late], kind="stable")].tolist():
            if len(windows) - len(starts) == RESERVED:
                break
            one = everyone.some(np.array([j]))
            asked = asked_for(one, windows_of(moment, one, latest_start(moment, everyone, runs.real)), len(self._nodes))
            placed = board.place(asked, np.arange(1))
            at = int(placed.start[0])
            if at < 0:
                continue
            left[j] = False
            kept.append(j)
            windows.append(((at, at),))
            if at == now:
                starts.append(Start(one.jobs[0].id, placed.nodes(asked, 0, self._nodes)))
        return Urgent(starts, everyone.some(np.array(kept, np.int64)), windows, left, len(kept))

    def _now(self, jobs: Waiting, now: int) -> Any:
        return asked_for(jobs, [((now, now),)] * len(jobs.jobs), len(self._nodes))

    def _still_able(
        self, moment: Moment, everyone: Waiting, able: NDArray[np.bool_], board: Board
    ) -> NDArray[np.bool_]:
        """Who can start now beside the reservations."""
        index = np.flatnonzero(able)
        found = np.zeros_like(able)
        found[index] = board.fits_now(self._now(everyone.some(index), moment.now)) > 0
        return found

    def _solved(
        self, moment: Moment, chosen: Waiting, runs: Machinery, board: Board, urgent: Urgent, began: float
    ) -> Decision:
        """The decision about the chosen jobs; without the solver if all of them can start now."""
        now, order = moment.now, np.arange(len(chosen.jobs))
        asked = self._now(chosen, now)
        placed = board.copy().place(asked, order)
        if (placed.start >= 0).all():
            return Decision([*urgent.starts, *self._starts(chosen, asked, placed)], urgent=urgent.count)
        windows = self._windows(moment, chosen, runs)
        if windows is None:
            return Decision(urgent.starts, "infeasible", urgent=urgent.count)
        placing = time.perf_counter()
        wanted = asked_for(chosen, windows, len(self._nodes))
        warm = self._seen(runs, board, urgent, now).place(wanted, order)
        modelling = time.perf_counter()
        jobs = _both(chosen, urgent.kept)
        problem = problem_of(moment, jobs, [*windows, *urgent.windows], runs.seen, self.aim, self.formulation == "pool")
        encoding = problem.formulations[self.formulation]()
        compiled = find_backend(self.backend).compile(encoding.model)
        start = None
        if (warm.start >= 0).all():
            fixed = {s.job: dict(s.nodes) for s in urgent.starts}
            begins = [*warm.start.tolist(), *(w[0][0] for w in urgent.windows)]
            nodes = {j.id: dict(warm.nodes(wanted, i, self._nodes)) for i, j in enumerate(chosen.jobs)}
            ids = [j.id for j in jobs.jobs]
            if self.formulation == "pool" or len(fixed) == len(urgent.kept.jobs):
                start = encoding.write(Schedule(dict(zip(ids, begins, strict=True)), nodes | fixed))
        solving = time.perf_counter()
        answer = search(compiled, encoding.model, start, self.control, self.seed, began + self.control.total)
        allocating = time.perf_counter()
        seconds = {"model": solving - modelling, "solve": allocating - solving}
        if answer.best is None:
            return Decision(urgent.starts, answer.ended, None, seconds, len(order), urgent.count)
        begin = encoding.read(answer.best).start
        here = np.array([i for i, j in enumerate(chosen.jobs) if begin[j.id] == now], np.int64)
        starts = [*urgent.starts, *self._starts(chosen, asked, board.copy().place(asked, here))]
        seconds["allocate"] = time.perf_counter() - allocating + modelling - placing
        return Decision(starts, answer.ended, answer.gain, seconds, len(order), urgent.count)

    def _windows(self, moment: Moment, chosen: Waiting, runs: Machinery) -> list[tuple[Window, ...]] | None:
        """When each job may start; None if none is left before the end of the naive makespan."""
        if not self.naive:
            return windows_of(moment, chosen, latest_start(moment, chosen, runs.real))
        last = end_of_horizon(moment, chosen)
        if last < moment.now:
            return None
        found = windows_of(moment, chosen, last)
        if (
            self.version == 0 and moment.running
        ):  # beyond the first m, at the very end; on an idle machine, when they fit
            late = chosen.duration[self.m :].tolist()
            found[self.m :] = [((max(moment.now, last - d), max(moment.now, last - d)),) for d in late]
        return found

    def _seen(self, runs: Machinery, board: Board, urgent: Urgent, now: int) -> Board:
        """The nodes as the model sees them, with what is reserved."""
        if not self.naive:
            return board.copy()
        seen = Board(self._capacity, now, runs.seen)
        if urgent.count:
            seen.place(asked_for(urgent.kept, urgent.windows, len(self._nodes)), np.arange(urgent.count))
        return seen

    def _starts(self, jobs: Waiting, asked: Any, placed: Placed) -> list[Start]:
        found = np.flatnonzero(placed.start >= 0).tolist()
        return [Start(jobs.jobs[i].id, placed.nodes(asked, i, self._nodes)) for i in found]


def _both(one: Waiting, other: Waiting) -> Waiting:
    """Two lists of waiting jobs, one after the other."""
    if not other.jobs:
        return one
    columns: list[Ints] = [np.concatenate([a, b]) for a, b in zip(one[1:-1], other[1:-1], strict=True)]
    return Waiting([*one.jobs, *other.jobs], *columns, one.requests)  # type: ignore[arg-type,call-arg]


def make(name: str, backend: str | None = None, **options: Any) -> CPDispatcher:
    """A dispatcher by its name, ``pcp`` to ``hcp3``; ``options`` as of ``CPDispatcher``.

    >>> make("pcp1", "highs").name
    'pcp1@highs'
    """
    family: Family = "pcp" if name.startswith("pcp") else "hcp"
    version = int(name.removeprefix(family) or 0)
    return CPDispatcher(family, version, backend or "cpsat", **options)
