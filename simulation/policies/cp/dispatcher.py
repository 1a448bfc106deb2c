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
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....backends import Compiled
from ....backends import backend as find_backend
from ....heuristics.kernels.profile import Floats
from ....models import Platform, Queue, Schedule
from ....models.dispatch.jobs import Window
from ....models.language import Assignment
from ....models.problem import Encoding
from ...engine.moment import Decision, Moment, Start
from .allocation import Allocation, NodeTimeline, Requests, asked_for
from .model import Machinery, end_of_horizon, latest_start, problem_of, uncollected, what_runs, windows_of
from .priority import by_queue, by_slowdown, ordered
from .search_control import Control, search
from .urgency import STRETCH, Guard, Held, by_walltime
from .waiting import Register, Waiting, can_start_now

Family = Literal["pcp", "hcp"]
FORMULATIONS = {"pcp": "counts", "hcp": "pool"}


class Modelled(NamedTuple):
    """The model of a moment as a solver takes it, and its warm start (None: what is reserved found no place in it)."""

    encoding: Encoding
    compiled: Compiled
    warm: Assignment | None


class CPDispatcher:
    """One dispatcher; ``limit`` and ``first_limit`` are seconds per decision (of the solver's own unit if ``deterministic``).

    ``m``: most jobs in a model; ``k``: steps without improvement that end a decision; ``max_stretch``: a job whose
    slowdown would pass it, and a job that has waited longer than is fair, goes first and, if it cannot start, holds a
    reservation (see ``urgency``; None: off; by default 50 in version 3).

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
        # a step begins with a presolve, which is long for the model of the nodes
        self.control = Control(first_limit or limit / (16 if family == "hcp" else 1), limit, k, deterministic, threads)
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
        self._guard = (
            None if self.max_stretch is None else Guard(self.max_stretch, platform.resources, self._register.totals)
        )

    def decide(self, moment: Moment) -> Decision:
        """What starts now."""
        began = time.perf_counter()
        everyone = self._register.look(moment)
        if self._guard is not None:
            self._guard.look(moment, everyone)
        able = can_start_now(moment.free, everyone)
        if not able.any():
            return Decision(())
        runs = what_runs(moment, self.naive)
        board, held = self._board(moment, everyone, runs)
        able &= held.rest
        if held.jobs.jobs:
            able = self._still_able(moment.now, everyone, able, board)
        if not able.any():
            return Decision(held.starts(self._nodes), urgent=len(held.placed))
        chosen = self._chosen(moment.now, everyone, able, held.rest)
        return self._decided(moment, chosen, runs, board, held, began)

    def _board(self, moment: Moment, everyone: Waiting, runs: Machinery) -> tuple[NodeTimeline, Held]:
        """The nodes, and what goes first on them; if anything does, all that runs ends by its walltime."""
        if self._guard is not None:
            board = NodeTimeline(self._capacity, moment.now, runs.bound)
            held = self._guard.hold(moment, everyone, board)
            if held.placed:
                return board, held
        nobody = everyone.some(np.array([], np.int64))
        return NodeTimeline(self._capacity, moment.now, runs.real), Held(
            nobody, [], np.ones(len(everyone.jobs), np.bool_), moment.now
        )

    def _priority(self, now: int, jobs: Waiting) -> Floats:
        return by_slowdown(now, jobs) if self.version >= 3 else by_queue(now, jobs)

    def _chosen(self, now: int, everyone: Waiting, able: NDArray[np.bool_], rest: NDArray[np.bool_]) -> Waiting:
        """The jobs of the model, by priority: from version 1 on the first m that can start now, before it all."""
        jobs = everyone.some(rest if self.version == 0 else able)
        order = ordered(self._priority(now, jobs), jobs)
        return jobs.some(order if self.version == 0 else order[: self.m])

    def _now(self, jobs: Waiting, now: int, held: bool) -> Requests:
        """The jobs as they would start now; beside reservations each for its walltime."""
        return asked_for(by_walltime(jobs) if held else jobs, [((now, now),)] * len(jobs.jobs), len(self._nodes))

    def _still_able(
        self, now: int, everyone: Waiting, able: NDArray[np.bool_], board: NodeTimeline
    ) -> NDArray[np.bool_]:
        """Who can start now beside the reservations."""
        index = np.flatnonzero(able)
        found = np.zeros_like(able)
        found[index] = board.fits_now(self._now(everyone.some(index), now, True)) > 0
        return found

    def _decided(
        self, moment: Moment, chosen: Waiting, runs: Machinery, board: NodeTimeline, held: Held, began: float
    ) -> Decision:
        """The decision about the chosen jobs; without the solver if all of them can start now."""
        first, urgent = held.starts(self._nodes), len(held.placed)
        asked = self._now(chosen, moment.now, urgent > 0)
        placed = board.copy().place(asked, np.arange(len(chosen.jobs)))
        if (placed.start >= 0).all():
            return Decision([*first, *self._starts(chosen, asked, placed)], urgent=urgent)
        windows = self._windows(moment, chosen, runs, held)
        if windows is None:
            return Decision(first, "infeasible", urgent=urgent)
        modelling = time.perf_counter()
        with uncollected():
            made = self._model(moment, chosen, windows, runs, held)
        solving = time.perf_counter()
        answer = search(
            made.compiled, made.encoding.model, made.warm, self.control, self.seed, began + self.control.total
        )
        allocating = time.perf_counter()
        seconds = {"model": solving - modelling, "solve": allocating - solving}
        if answer.best is None:
            return Decision(first, answer.ended, None, seconds, len(chosen.jobs), urgent)
        starts = self._read(made.encoding, answer.best, chosen, asked, board, held)
        seconds["allocate"] = time.perf_counter() - allocating
        return Decision([*first, *starts], answer.ended, answer.gain, seconds, len(chosen.jobs), urgent)

    def _model(
        self, moment: Moment, chosen: Waiting, windows: list[tuple[Window, ...]], runs: Machinery, held: Held
    ) -> Modelled:
        """The model of the chosen jobs beside those held, and the first solution in the order of priority."""
        wanted = asked_for(chosen, windows, len(self._nodes))
        seen = held.on(NodeTimeline(self._capacity, moment.now, runs.seen))
        placed = seen.place(wanted, np.arange(len(chosen.jobs)))
        jobs = chosen + held.jobs
        problem = problem_of(moment, jobs, [*windows, *held.windows], runs.seen, self.aim)
        encoding = problem.formulations[self.formulation]()
        compiled = find_backend(self.backend).compile(encoding.model)
        if (placed.start < 0).any():
            return Modelled(encoding, compiled, None)
        begins = [*placed.start.tolist(), *(w[0][0] for w in held.windows)]
        nodes = {j.id: dict(placed.nodes(wanted, i, self._nodes)) for i, j in enumerate(chosen.jobs)}
        start = Schedule(dict(zip([j.id for j in jobs.jobs], begins, strict=True)), nodes | held.nodes(self._nodes))
        return Modelled(encoding, compiled, encoding.write(start))

    def _read(
        self,
        encoding: Encoding,
        answer: Assignment,
        chosen: Waiting,
        asked: Requests,
        board: NodeTimeline,
        held: Held,
    ) -> list[Start]:
        """Return what starts now: on the nodes of an exact model; of a relaxation, or beside reservations, by priority."""
        schedule = encoding.read(answer)
        here = np.array([i for i, j in enumerate(chosen.jobs) if schedule.start[j.id] == board.now], np.int64)
        if not encoding.relaxation and not self.naive and not held.placed:
            ids = [chosen.jobs[i].id for i in here.tolist()]
            return [Start(i, schedule.nodes[i]) for i in ids]
        return self._starts(chosen, asked, board.copy().place(asked, here))

    def _windows(self, moment: Moment, chosen: Waiting, runs: Machinery, held: Held) -> list[tuple[Window, ...]] | None:
        """When each job may start; None if one cannot end before the end of the naive makespan."""
        if not self.naive:
            return windows_of(moment, chosen, latest_start(moment, chosen, runs.real, held.end()))
        last = end_of_horizon(moment, chosen)
        latest = (last - chosen.duration).tolist()
        whole = windows_of(moment, chosen, last)
        found = [tuple((lo, min(hi, to)) for lo, hi in w if lo <= to) for w, to in zip(whole, latest, strict=True)]
        if not all(found):
            return None
        if self.version == 0 and moment.running:  # those beyond the first m, at the very end
            late = chosen.duration[self.m :].tolist()
            found[self.m :] = [((max(moment.now, last - d), max(moment.now, last - d)),) for d in late]
        return found

    def _starts(self, jobs: Waiting, asked: Requests, placed: Allocation) -> list[Start]:
        found = np.flatnonzero(placed.start >= 0).tolist()
        return [Start(jobs.jobs[i].id, placed.nodes(asked, i, self._nodes)) for i in found]


def make(name: str, backend: str | None = None, **options: Any) -> CPDispatcher:
    """A dispatcher by its name, ``pcp`` to ``hcp3``; ``options`` as of ``CPDispatcher``.

    >>> make("pcp1", "highs").name
    'pcp1@highs'
    """
    family: Family = "pcp" if name.startswith("pcp") else "hcp"
    version = int(name.removeprefix(family) or 0)
    return CPDispatcher(family, version, backend or "cpsat", **options)
