"""The solution of the problem of one decision: the model, its warm start, the search; with kept objectives several of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from ....backends import Compiled, SolverUnavailable
from ....backends import compile as compile_model
from ....errors import WrongArgument
from ....heuristics.list_scheduling import tiny
from ....models import Dispatch, Schedule
from ....models.array_types import Ints
from ....models.deadline import Deadline, OutOfTime, within
from ....models.dispatch.arrays import column
from ....models.dispatch.composite import limits_of, nearest
from ....models.problem import Encoding
from ...dispatcher import Ended
from .control import AdaptiveControl, Control, relative_gain, search
from .model import best_kept, best_start, cost_of, followed_by, is_best, origin_of, planned_first
from .placing import warm_up_kernels

Placed = Callable[[Ints], Schedule | None]
"""Places the waiting jobs of a decision, in an order of their indices, each at its earliest start; None if one fits nowhere."""

Begin = Callable[[], Schedule | None]
"""Returns a schedule to start from, or None; the same one at each call."""

USED = 0.95  # of the limit of a decision, until the solver stops: the rest is for its end and for the nodes
RELAXATION = "pool"  # the formulation whose starts order the jobs for a model with nodes
VARIABLES = 3000  # most numbers of units (jobs times nodes) per unit of the limit: each takes 15 us to model, 5 % of it
PURE_SHARE = 0.5  # of the limit of a decision: for the kept objectives together, in equal parts


class Solved(NamedTuple):
    """The solution of a problem.

    Parameters
    ----------
    schedule : Schedule or None
        The best schedule; without nodes if the model is a relaxation. None if there is none. If the model is not ready
        at the end of the limit, it is the warm start.
    relaxation : bool
        Whether the schedule is that of a relaxation.
    ended : Ended
        How the search ended.
    gain : float or None
        The relative improvement over the warm start.
    starting, modelling, solving : float
        Seconds for warm starts, for models and their lowering, and of the solver.
    """

    schedule: Schedule | None
    relaxation: bool
    ended: Ended
    gain: float | None
    starting: float
    modelling: float
    solving: float

    def after(self, starting: float, modelling: float, solving: float) -> Solved:
        """Return the solution with the seconds of earlier solves added."""
        return self._replace(
            starting=starting + self.starting, modelling=modelling + self.modelling, solving=solving + self.solving
        )


class FewJobs(NamedTuple):
    """The largest model of a decision.

    Parameters
    ----------
    most : int or None
        The largest number of waiting jobs in the model; None: all of them.
    waiting : int
        The number of waiting jobs, which are the first ones of the problem; the others have fixed starts.
    """

    most: int | None
    waiting: int


@dataclass(frozen=True)
class Solver:
    """A solver for the problem of one decision.

    Parameters
    ----------
    backend, formulation : str
        Names of the backend and of the formulation.
    control : Control or AdaptiveControl
        The limits of the decision.
    searched : bool
        Whether multi-search looks for a better warm start.
    """

    backend: str
    formulation: str
    control: Control | AdaptiveControl
    searched: bool

    def solve(
        self,
        problem: Dispatch,
        start: Begin,
        seed: int,
        deadline: float,
        jobs: int,
        pooled: Begin | None = None,
    ) -> Solved:
        """Solve a problem.

        Parameters
        ----------
        problem : Dispatch
            The problem.
        start : callable
            Returns a schedule to start from; called only if that of the pooled machine does not suffice.
        seed : int
            The seed of the solver.
        deadline : float
            Time on the clock ``time.perf_counter`` at which the search ends; ignored if the control is deterministic.
        jobs : int
            The number of waiting jobs in the problem.
        pooled : callable, optional
            Returns a schedule on the pooled machine, from which a search of the relaxation starts.
        """
        began = time.perf_counter()
        end = None if self.control.deterministic else deadline
        begin = pooled() if self.formulation == RELAXATION and pooled is not None else None
        on_pool = begin is not None
        if not on_pool:
            begin = best_start(problem, start(), end) if self.searched else start()
        if begin is not None and is_best(problem, begin):
            return Solved(begin, on_pool, "optimal", 0.0, time.perf_counter() - began, 0.0, 0.0)
        modelling = time.perf_counter()
        made = modelled(problem, self.formulation, self.backend, end)
        if made is None:
            self.control.too_large(jobs)
            spent = modelling - began, time.perf_counter() - modelling, 0.0
            return Solved(start() if on_pool else begin, False, "limit", None, *spent)
        encoding, compiled = made
        warm = None if begin is None else encoding.write(begin)
        solving = time.perf_counter()
        answer = self.control.search(compiled, encoding.model, warm, seed, deadline, origin_of(problem), jobs)
        schedule = None if answer.best is None else encoding.read(answer.best)
        spent = modelling - began, solving - modelling, time.perf_counter() - solving
        return Solved(schedule, encoding.relaxation, answer.ended, answer.gain, *spent)

    def solve_relaxed_first(
        self,
        problem: Dispatch,
        placed: Placed,
        start: Begin,
        seed: int,
        deadline: float,
        jobs: int,
        pooled: Begin | None = None,
    ) -> Solved:
        """Solve the pooled relaxation, place the jobs on nodes in the order of its starts, and improve that on the nodes.

        The model of the nodes is made only if it is small for the limit (``VARIABLES``): with more variables, its making
        takes the time, and the solver improves nothing in the rest. The order of the relaxation's starts does.

        Parameters
        ----------
        problem, start, seed, deadline, jobs, pooled
            As of ``solve``.
        placed : callable
            Places the waiting jobs in an order of their indices.

        Returns
        -------
        Solved
            Its schedule has nodes. "optimal": it costs no more than the optimum of the relaxation, or is proven on the nodes.
        """
        relaxed = replace(self, formulation=RELAXATION).solve(problem, start, seed, deadline, jobs, pooled)
        if not relaxed.relaxation or relaxed.schedule is None:  # no search was needed or possible, or no solution found
            return relaxed if relaxed.ended == "infeasible" else relaxed._replace(schedule=start(), relaxation=False)
        began = time.perf_counter()
        starts = column((relaxed.schedule.start[j.id] for j in problem.jobs[:jobs]), jobs)
        own = start()
        order = np.argsort(starts, kind="stable")
        tried = (own, placed(order)) if (np.diff(order) < 0).any() else (own,)  # else it is the order of priority
        known = [(cost_of(problem, s), s) for s in tried if s is not None]
        last, best = min(known, key=itemgetter(0), default=(None, None))
        first = None if own is None else known[0][0]
        gain = relative_gain(first, last, 1, origin_of(problem))
        spent = relaxed.starting + time.perf_counter() - began, relaxed.modelling, relaxed.solving
        if relaxed.ended == "optimal" and last is not None and last <= cost_of(problem, relaxed.schedule):
            return Solved(best, False, "optimal", gain, *spent)
        if jobs * len(problem.platform.nodes) > VARIABLES * self.control.total:
            return Solved(best, False, "limit" if relaxed.ended == "limit" else "no-gain", gain, *spent)
        solved = self.solve(problem, lambda: best, seed, deadline, jobs)
        if solved.schedule is not None:
            gain = relative_gain(first, cost_of(problem, solved.schedule), 1, origin_of(problem))
        return solved._replace(gain=gain).after(*spent)

    def with_share(self, share: float) -> Solver:
        """Return the solver with a share of the limit of a decision; adaptive limits have no shares."""
        if isinstance(self.control, AdaptiveControl):
            raise WrongArgument("adaptive limits of decisions cannot be shared between objectives")
        total = share * self.control.total
        return replace(self, control=replace(self.control, first=min(self.control.first, total), total=total))

    def solve_keeping(
        self,
        problem: Dispatch,
        slack: Mapping[str, float],
        start: Begin,
        seed: int,
        deadline: float,
        jobs: int,
    ) -> Solved:
        """Solve a problem while other objectives are kept within a slack of their own optimum.

        Each kept objective is optimized alone, from the best schedule of multi-search for it; its value there, with the
        slack, is the limit for the last solve, which starts from the best known schedule that keeps all limits. If that
        ends without a schedule, the answer is the schedule of the kept objective that overruns the limits least.

        Parameters
        ----------
        problem : Dispatch
            The problem with its main objective.
        slack : mapping of str to float
            The slack of each kept objective, see ``models.dispatch.composite``; not empty.
        start, seed, deadline, jobs
            As of ``solve``; the deadline is that of all solves together.

        Returns
        -------
        Solved
            ``ended`` is that of the last solve.
        """
        share = PURE_SHARE / len(slack)
        begin = deadline - self.control.total
        known: dict[str, Schedule] = {}
        theta: dict[str, float] = {}
        spent = 0.0, 0.0, 0.0
        for k, name in enumerate(slack, 1):
            alone = problem.replace(objective=name)
            solved = self.with_share(share).solve(alone, start, seed, begin + k * share * self.control.total, jobs)
            solved = solved.after(*spent)
            spent = solved.starting, solved.modelling, solved.solving
            if solved.schedule is None:
                return solved
            known[name] = solved.schedule
            theta[name] = alone.value(solved.schedule)
        bounded = problem.replace(limits=limits_of(problem, theta, slack))
        own = start()
        candidates = known if own is None else {**known, "": own}
        last = self.with_share(1 - PURE_SHARE) if self.control.deterministic else self
        best = best_kept(bounded, candidates)
        solved = replace(last, searched=False).solve(bounded, lambda: best, seed, deadline, jobs)
        if solved.schedule is None:
            chosen = nearest(bounded, known)
            solved = solved._replace(schedule=None if chosen is None else known[chosen])
        return solved.after(*spent)

    def solve_few(
        self,
        problem: Dispatch,
        slack: Mapping[str, float],
        start: Begin,
        seed: int,
        deadline: float,
        few: FewJobs,
        placed: Placed | None = None,
        pooled: Begin | None = None,
    ) -> tuple[Solved, int]:
        """Solve a problem with a limited number of waiting jobs: those that multi-search starts first; the others follow.

        Parameters
        ----------
        problem, slack, start, seed, deadline, pooled
            As of ``solve_keeping`` and ``solve``; ``slack`` may be empty.
        few : FewJobs
            The largest number of waiting jobs in the model.
        placed : callable, optional
            As of ``solve_relaxed_first``, which is used if it is given.

        Returns
        -------
        tuple of Solved and int
            The solution, and the number of jobs in the model.
        """
        plan = None
        fixed = len(problem.jobs) - few.waiting
        if few.most is not None and few.waiting > few.most:
            plan = best_start(problem, start(), None if self.control.deterministic else deadline)
            if plan is not None:
                problem = planned_first(problem, plan, few.waiting, few.most)
                start = partial(Schedule, {j.id: plan.start[j.id] for j in problem.jobs}, plan.nodes)
        number = len(problem.jobs)
        if placed is not None:
            solved = self.solve_relaxed_first(problem, placed, start, seed, deadline, number - fixed, pooled)
        elif slack:
            solved = self.solve_keeping(problem, slack, start, seed, deadline, number - fixed)
        else:
            solved = self.solve(problem, start, seed, deadline, number - fixed, pooled)
        if plan is not None and solved.schedule is not None:
            solved = solved._replace(schedule=followed_by(solved.schedule, plan))
        return solved, number


@cache
def warm_up(backend: str, formulation: str) -> None:
    """Solve a tiny problem, so that imports of the solver and of kernels are no part of the first decision."""
    problem = tiny()
    deadline = time.perf_counter() + 1
    with suppress(SolverUnavailable):  # raised again by the first decision that needs the solver
        if (made := modelled(problem, formulation, backend, None)) is not None:
            search(made[1], made[0].model, None, Control(0.1, 1.0), 0, deadline)
    warm_up_kernels()


def modelled(
    problem: Dispatch,
    formulation: str,
    backend: str,
    deadline: float | None,
    adjust: Callable[[Encoding], None] | None = None,
) -> tuple[Encoding, Compiled] | None:
    """Return the model of a problem and its native form; None if they are not ready at the deadline.

    Parameters
    ----------
    problem : Dispatch
        The problem.
    formulation, backend : str
        Names of the formulation and of the backend.
    deadline : float or None
        Time on the clock ``time.perf_counter``; None: no limit.
    adjust : callable, optional
        Adds constraints to the model.
    """
    try:
        with within(Deadline.until(deadline)):
            encoding = problem.formulations[formulation]()
            if adjust is not None:
                adjust(encoding)
            return encoding, compile_model(encoding.model, backend)
    except OutOfTime:
        return None
