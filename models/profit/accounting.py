"""Income, costs, energy and utilisation of a schedule, from the data alone.

``operation``, ``account`` and ``daily`` describe the period from the begin of the problem to a time ``end``. By default
it is ``horizon_end``, up to which profit counts: ``account(p, s).profit == p.value(s)``. Jobs that start later
(postponed jobs) are in no account up to ``horizon_end``; ``makespan`` gives the time by which all work is done. The work
of the jobs that run at the begin is part of all accounts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..arguments import expect
from ..excerpt import with_short_repr
from ..given import WithProblem, given_problem
from ..platform import ProblemError
from ..problem import Schedule, value_of
from ..step_function import DAY
from .cooling import along
from .segments import JOULES, Segment

if TYPE_CHECKING:
    from .problem import Profit

Floats = NDArray[np.float64]


@with_short_repr
@dataclass(frozen=True)
class Account:
    """Income, costs and energy of the period [begin, end).

    Parameters
    ----------
    begin, end : int
        The period in seconds.
    core_hours : float
        The core-hours of the jobs in the period.
    gain : float
        What the core-hours earn, in euro.
    it_kwh, cooling_kwh : float
        The energy of the jobs and of the cooling, in kWh.
    work_cost, cooling_cost : float
        The cost of these energies in euro.
    utilisation : float
        The core-hours of the jobs as a share of the core-hours of the machine.
    """

    begin: int
    end: int
    core_hours: float
    gain: float
    it_kwh: float
    cooling_kwh: float
    work_cost: float
    cooling_cost: float
    utilisation: float

    @property
    def profit(self) -> float:
        """Gain less costs, in euro."""
        return self.gain - self.work_cost - self.cooling_cost

    @property
    def cost(self) -> float:
        """The cost of all energy, in euro."""
        return self.work_cost + self.cooling_cost

    @property
    def energy_kwh(self) -> float:
        """The energy of work and cooling, in kWh."""
        return self.it_kwh + self.cooling_kwh

    @property
    def pue(self) -> float | None:
        """Power usage effectiveness: energy of work and cooling over that of work; None if nothing runs."""
        return 1 + self.cooling_kwh / self.it_kwh if self.it_kwh > 0 else None


@with_short_repr
@dataclass(frozen=True, eq=False)
class Operation:
    """The load of the machine in each segment.

    Parameters
    ----------
    segments : tuple of Segment
        The segments.
    core_seconds : array of float, shape (segments,)
        The core-seconds of the jobs.
    watts, cooling : array of float, shape (segments,)
        The mean IT power and the mean cooling power, in watts.
    """

    segments: tuple[Segment, ...]
    core_seconds: Floats
    watts: Floats
    cooling: Floats


def operation(problem: Profit, schedule: Schedule, end: int | None = None) -> Operation:
    """Return the load of each segment up to the time ``end``.

    Parameters
    ----------
    problem : Profit
        The problem.
    schedule : Schedule
        The start of each job.
    end : int, optional
        A time in seconds. None: ``horizon_end`` of the problem.

    Returns
    -------
    Operation
        The load.

    Raises
    ------
    KeyError
        If a job has no start.
    ProblemError
        If ``end`` is before the begin of the problem.
    """
    end = _end(problem, end)
    segments = problem.segments if end == problem.horizon_end else problem.segments_to(end)
    starts = np.array([schedule.start[j.id] for j in problem.jobs], np.int64)
    bounds = np.array([segments[0].begin, *(s.end for s in segments)] if segments else [problem.begin], np.int64)
    seconds, joules = np.zeros(bounds.size), np.zeros(bounds.size)
    for k, t in enumerate(bounds.tolist()):
        ran = np.clip(t - starts, 0, problem.durations)
        before = problem.running.by(t)
        seconds[k], joules[k] = ran @ problem.cores + before[0], ran @ problem.watts + before[1]
    watts = np.diff(joules) / np.maximum(1, np.diff(bounds))
    cooling = [along(s.curve, w) for w, s in zip(watts.tolist(), segments, strict=True)]
    return Operation(segments, np.diff(seconds), watts, np.array(cooling, float))


def account(problem: Profit | WithProblem | str, schedule: Schedule | None, end: int | None = None) -> Account:
    """Return income, costs and energy from the begin of the problem to the time ``end``.

    Parameters
    ----------
    problem : Profit, Instance or str
        The problem, an instance with it, or its name.
    schedule : Schedule or None
        The start of each job. None, which a Result without an answer has, is an error.
    end : int, optional
        A time in seconds. None: ``horizon_end`` of the problem. ``makespan(problem, schedule)``: the end of the last job.

    Returns
    -------
    Account
        The account. By default its profit is the objective of the problem.

    Raises
    ------
    KeyError
        If a job has no start.
    ProblemError
        If ``end`` is before the begin of the problem.

    Examples
    --------
    >>> import schedlab as sl
    >>> p = sl.load("profit_small").scenario("hybrid,summer,cheap")
    >>> s = sl.first_solution(p, "est")
    >>> sl.account(p, s).profit == p.value(s)
    True
    """
    p: Profit = given_problem(problem, ("profit",), "account")
    expect("end of account", end, int | None)
    last = _end(p, end)
    return value_of(
        schedule,
        lambda: (j.id for j in p.jobs),
        lambda s: _sum_up(p, operation(p, s, last), p.begin, last),
    )


def daily(problem: Profit, schedule: Schedule, end: int | None = None) -> Iterator[Account]:
    """Yield an account for each day up to the time ``end`` in seconds (None: ``horizon_end`` of the problem).

    The accounts of the days add up to ``account(problem, schedule, end)``; the first and the last day may be cut.
    """
    end = _end(problem, end)
    whole = operation(problem, schedule, end)
    for day in range(problem.begin // DAY, -(-end // DAY)):
        lo, hi = max(problem.begin, day * DAY), min(end, (day + 1) * DAY)
        at = [k for k, s in enumerate(whole.segments) if lo <= s.begin < hi]
        part = tuple(whole.segments[k] for k in at)
        yield _sum_up(problem, Operation(part, whole.core_seconds[at], whole.watts[at], whole.cooling[at]), lo, hi)


def makespan(problem: Profit, schedule: Schedule) -> int:
    """Return the end of the last job in seconds, those that run at the begin included."""
    ends = [schedule.start[j.id] + problem.dispatch.duration(j) for j in problem.jobs]
    return max(ends + problem.running.ends.tolist(), default=problem.begin)


def _end(problem: Profit, end: int | None) -> int:
    """Return the end of the period that an account describes."""
    if end is None:
        return problem.horizon_end
    if end < problem.begin:
        raise ProblemError(f"an account cannot end at {end} s, before the problem begins ({problem.begin} s)")
    return end


def _sum_up(problem: Profit, ran: Operation, begin: int, end: int) -> Account:
    length = np.array([s.end - s.begin for s in ran.segments], float)
    price = np.array([s.energy_price for s in ran.segments], float)
    work, cooling = ran.watts * length / JOULES, ran.cooling * length / JOULES
    hours = float(ran.core_seconds.sum()) / 3600
    available = problem.platform.total("cores") * max(1, end - begin) / 3600
    return Account(
        begin=begin,
        end=end,
        core_hours=hours,
        gain=problem.price * hours,
        it_kwh=float(work.sum()),
        cooling_kwh=float(cooling.sum()),
        work_cost=float(work @ price),
        cooling_cost=float(cooling @ price),
        utilisation=hours / available,
    )
