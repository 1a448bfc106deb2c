"""The profit of a schedule: the price of core-hours less the energy cost of work and cooling [Bridi2018, 6.5].

The power of cooling is a table over temperatures and IT powers [Bridi2018, 6.5.3 and table 6.1].
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked, expect, is_number, is_real, is_whole, shown, unknown_keyword, wrong
from ..array_types import Floats, Ints
from ..comparing import hashable
from ..dispatch import display
from ..dispatch.arrays import column, is_placed_freely
from ..dispatch.display import DispatchElements
from ..dispatch.jobs import Job
from ..dispatch.problem import Dispatch
from ..gantt import Gantt, Mark
from ..kind import ProblemKind, WithProblem, formulations_of, given_problem
from ..language import Violation
from ..platform import Platform, ProblemError
from ..problem import Encoding, Schedule, checked_schedule, value_of
from ..step_function import DAY, StepFunction
from ..words import how_many, with_short_repr

Point = tuple[float, float]
"""IT power and the cooling power for it, both in watts."""
ROUNDING = 1e-6  # of the steepest slope: smaller changes of the slope are ignored


def along(points: Sequence[Point], x: float) -> float:
    """Return the value at x of the piecewise-linear function through the points; its first and last pieces continue.

    Parameters
    ----------
    points : sequence of (float, float)
        At least two points (x, y) with increasing x.
    x : float
        The argument.

    Returns
    -------
    float
        The value at x.

    Examples
    --------
    >>> along([(0, 0), (10, 5), (20, 20)], 12)
    8.0
    """
    k = min(max(1, bisect_right(points, x, key=lambda p: p[0])), len(points) - 1)
    a, c = points[k - 1]
    b, d = points[k]
    return c + (d - c) * (x - a) / (b - a)


@checked(values=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class Cooling:
    """The power of a cooling plant in watts, as a table over temperatures and IT powers.

    The cooling power is linear between two IT powers and between two temperatures; PUE = 1 + cooling / IT follows from
    it. It is not defined outside of the table.

    Parameters
    ----------
    name : str
        The name that messages use.
    temperatures : sequence of float
        Increasing temperatures in degrees Celsius.
    powers : sequence of float
        Increasing IT powers in watts; the first one is 0.
    watts : sequence of sequence of float, shape (temperatures, powers)
        The cooling power in watts, >= 0.

    Raises
    ------
    ProblemError
        If the table has gaps, the temperatures or IT powers do not increase, the IT powers do not begin at 0, or a
        cooling power is below 0 (a PUE below 1).

    Examples
    --------
    >>> c = Cooling("flat", (0, 40), (0, 1000), ((0, 100), (0, 400)))
    >>> c.power(500, 20), c.pue(500, 20)
    (125.0, 1.25)
    """

    name: str
    temperatures: Sequence[float] = field(repr=False)
    powers: Sequence[float] = field(repr=False)
    watts: Sequence[Sequence[float]] = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("temperatures", "powers"):
            object.__setattr__(self, name, self._floats(getattr(self, name)))
        object.__setattr__(self, "watts", tuple(map(self._floats, self.watts)))
        self._check_axis("temperatures", "degrees", self.temperatures)
        self._check_axis("IT powers", "W", self.powers)
        if self.powers[0] != 0 or len(self.powers) < 2:
            raise ProblemError(
                f"cooling {self.name!r}: its IT powers are {self.powers} W; at least two are expected, the first one 0"
            )
        if len(self.watts) != len(self.temperatures) or any(len(row) != len(self.powers) for row in self.watts):
            raise ProblemError(
                f"cooling {self.name!r}: the table has gaps; a value for each temperature and IT power is expected"
            )
        for t, row in zip(self.temperatures, self.watts, strict=True):
            for p, w in zip(self.powers, row, strict=True):
                if not isfinite(w) or w < 0:
                    raise ProblemError(
                        f"cooling {self.name!r}: {w:g} W at {t:g} degrees and {p:g} W of IT power, which is a PUE below 1"
                    )

    def _floats(self, values: Sequence[float]) -> tuple[float, ...]:
        for v in values:
            if not is_real(v):
                raise ProblemError(f"cooling {self.name!r}: the table has {shown(v)}; a number is expected")
        return tuple(map(float, values))

    def _check_axis(self, what: str, unit: str, values: Sequence[float]) -> None:
        if not values or not all(map(isfinite, values)):
            raise ProblemError(f"cooling {self.name!r}: its {what} are {values}; numbers are expected")
        for a, b in pairwise(values):
            if b <= a:
                raise ProblemError(
                    f"cooling {self.name!r}: its {what} must increase, but {b:g} {unit} follow {a:g} {unit}"
                )

    @property
    def most(self) -> float:
        """The greatest IT power of the table, in watts."""
        return self.powers[-1]

    def curve(self, temperature: float) -> tuple[Point, ...]:
        """Return the points (IT power, cooling power) in watts for a temperature in degrees Celsius.

        Raises
        ------
        ProblemError
            If the temperature is outside of the table.
        """
        ts = self.temperatures
        if not ts[0] <= temperature <= ts[-1]:
            raise ProblemError(
                f"cooling {self.name!r} is known from {ts[0]:g} to {ts[-1]:g} degrees; {temperature:g} is outside of it"
            )
        i = 0
        if len(ts) > 1:
            i = min(bisect_right(ts, temperature), len(ts) - 1) - 1
        share = 0.0
        if len(ts) > 1:
            share = (temperature - ts[i]) / (ts[i + 1] - ts[i])
        above = self.watts[min(i + 1, len(ts) - 1)]
        return tuple((p, a + share * (b - a)) for p, a, b in zip(self.powers, self.watts[i], above, strict=True))

    def power(self, it_watts: float, temperature: float) -> float:
        """Return the cooling power in watts; raise ProblemError for values outside of the table."""
        if not 0 <= it_watts <= self.most:
            raise ProblemError(
                f"cooling {self.name!r} is known up to {self.most:g} W of IT power, not for {it_watts:g} W"
            )
        return along(self.curve(temperature), it_watts)

    def pue(self, it_watts: float, temperature: float) -> float | None:
        """Return the power usage effectiveness, 1 + cooling / IT; None for an IT power of 0."""
        if it_watts > 0:
            return 1 + self.power(it_watts, temperature) / it_watts
        return None

    def slope_change(self, temperature: float, above: float = 0.5) -> float | None:
        """Return the IT power in watts at which the slope of the cooling power increases most.

        This is the power at which chillers start [Bridi2018, 6.8.3]. Of equal increases the first one is returned; if
        the slope never increases, None.

        Parameters
        ----------
        temperature : float
            Degrees Celsius.
        above : float, default 0.5
            Increases below this share of the greatest IT power are ignored: there the cooling itself starts.

        Returns
        -------
        float or None
            The IT power in watts.

        Raises
        ------
        ProblemError
            If the temperature is outside of the table.

        Examples
        --------
        >>> c = Cooling("chillers from 800 W", (20,), (0, 100, 800, 1000), ((0, 0, 70, 130),))
        >>> c.slope_change(20), c.pue(800, 20)
        (800.0, 1.0875)
        """
        points = self.curve(temperature)
        slopes = [(v - y) / (u - x) for (x, y), (u, v) in pairwise(points)]
        noise = ROUNDING * max(map(abs, slopes))
        best, at = noise, None
        for (power, _), (before, after) in zip(points[1:-1], pairwise(slopes), strict=True):
            if power >= above * self.most * (1 - ROUNDING) and after - before > best + noise:
                best = after - before
                at = power
        return at

    def scaled(self, factor: float) -> Cooling:
        """Return the plant of a machine ``factor`` times as large: the same PUE at ``factor`` times the IT power."""
        if not 0 < factor < float("inf"):
            raise ProblemError(
                f"cooling {self.name!r}: the factor of scaling is {factor}; a number above 0 is expected"
            )
        watts = tuple(tuple(w * factor for w in row) for row in self.watts)
        return replace(self, powers=tuple(p * factor for p in self.powers), watts=watts)


# --- Segments of a day with nearly constant temperature and a constant energy price, and their cooling curves.

WITHIN = 5.0  # degrees: the greatest difference of temperatures in a segment [Bridi2018, 6.5.3]
JOULES = 3.6e6  # in a kWh
STRAIGHT = 1e-10  # of the greatest cooling power: a smaller distance from a line is rounding, not a change of slope


@dataclass(frozen=True)
class Segment:
    """A part of a day with nearly constant temperature and a constant energy price.

    Parameters
    ----------
    begin, end : int
        The period [begin, end) in seconds.
    celsius : float
        The mean temperature in degrees Celsius.
    energy_price : float
        Euro per kWh.
    curve : tuple of (float, float)
        The points (IT power, cooling power) in watts.
    """

    begin: int
    end: int
    celsius: float
    energy_price: float
    curve: tuple[Point, ...] = field(repr=False)


def segments_between(
    begin: int, end: int, temperature: StepFunction, prices: StepFunction, cooling: Cooling
) -> Iterator[Segment]:
    """Yield consecutive segments, each as long as possible: within one day, at one price, within 5 degrees.

    Parameters
    ----------
    begin, end : int
        The period in seconds.
    temperature, prices : StepFunction
        Degrees Celsius, and euro per kWh.
    cooling : Cooling
        The table of the cooling power.
    """
    pieces: list[tuple[int, int, float]] = []
    at = math.nan  # the price of the pieces
    for lo, hi, price in prices.pieces(begin, end):
        for a, b, celsius in temperature.pieces(lo, hi):
            for first, last in _days(a, b):
                known = [c for *_, c in pieces] + [celsius]
                if pieces and (first == lo or first % DAY == 0 or max(known) - min(known) > WITHIN):
                    yield _segment(pieces, at, cooling)
                    pieces = []
                pieces.append((first, last, celsius))
                at = price
    if pieces:
        yield _segment(pieces, at, cooling)


def _days(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of [begin, end) between midnights."""
    while begin < end:
        midnight = (begin // DAY + 1) * DAY
        yield begin, min(end, midnight)
        begin = midnight


def _segment(pieces: Sequence[tuple[int, int, float]], price: float, cooling: Cooling) -> Segment:
    begin, end = pieces[0][0], pieces[-1][1]
    celsius = math.fsum((b - a) * c for a, b, c in pieces) / (end - begin)
    return Segment(begin, end, celsius, price, cooling.curve(celsius))


def points_to(problem: Profit, segment: Segment) -> list[tuple[float, float]]:
    """Return the points of a segment's cooling curve where its slope changes, up to the greatest power of the jobs."""
    most = problem.most_power
    inside = sum(p[0] < most for p in segment.curve)
    return _bends(
        segment.curve[: max(1, inside) + 1]
    )  # at least one piece, also for no jobs and for jobs without power


def _bends(curve: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the first and last point, and those at which the curve changes its slope."""
    off = STRAIGHT * max(abs(y) for _, y in curve)
    kept = [curve[0]]
    last = 0
    for k in range(2, len(curve)):
        (x0, y0), (x1, y1) = curve[last], curve[k]
        between = curve[last + 1 : k]
        if any(abs(y0 + (y1 - y0) * (x - x0) / (x1 - x0) - y) > off for x, y in between):
            last = k - 1
            kept.append(curve[last])
    return [*kept, curve[-1]]


# --- The work of the jobs that run at the begin of a profit problem: a constant part of every schedule's profit.
#
# A running job counts from the begin of the problem to its end, with all of its cores and its whole power. What it did
# before is no part of the problem.


def cores(job: Job) -> int:
    """Return the cores of all units of a job."""
    return job.units * job.request.get("cores", 0)


@with_short_repr
@dataclass(frozen=True, eq=False)
class RunningWork:
    """The running jobs of a profit problem that end after its begin, as arrays.

    Parameters
    ----------
    problem : Profit
        The problem.
    """

    problem: Profit

    @cached_property
    def ends(self) -> Ints:
        """The end of each job in seconds, shape (running,)."""
        return column(r.end for r in self.problem.dispatch.running if r.end > self.problem.begin)

    @cached_property
    def cores(self) -> Ints:
        """The cores of each job, over all of its units, shape (running,)."""
        return column(cores(r.job) for r in self.problem.dispatch.running if r.end > self.problem.begin)

    @cached_property
    def watts(self) -> Floats:
        """The power of each job in watts, shape (running,)."""
        p = self.problem
        return np.fromiter((p.power(r.job) for r in p.dispatch.running if r.end > p.begin), np.float64)

    def by(self, t: int) -> tuple[float, float]:
        """Return the core-seconds and the joules of the work from the begin of the problem to the time ``t``."""
        ran = np.clip(t, self.problem.begin, np.maximum(self.ends, self.problem.begin)) - self.problem.begin
        return float(ran @ self.cores), float(ran @ self.watts)

    @cached_property
    def joules(self) -> Floats:
        """The energy in each segment of the problem in joules, shape (segments,)."""
        bounds = [self.problem.begin, *(s.end for s in self.problem.segments)]
        return np.diff(np.array([self.by(t)[1] for t in bounds]))

    @cached_property
    def mean_watts(self) -> list[float]:
        """The mean power in each segment of the problem in watts."""
        length = np.array([s.end - s.begin for s in self.problem.segments], float)
        return (self.joules / length).tolist()  # type: ignore[no-any-return]

    @cached_property
    def euro(self) -> float:
        """The gain up to ``horizon_end`` less the cost of its energy, without cooling."""
        p = self.problem
        price = np.array([s.energy_price for s in p.segments], float) / JOULES
        return p.price / 3600 * self.by(p.horizon_end)[0] - float(self.joules @ price)


# --- Income, costs, energy and utilisation of a schedule, from the data alone.
#
# ``operation``, ``account`` and ``daily`` describe the period from the begin of the problem to a time ``end``. By default
# it is ``horizon_end``, up to which profit counts: ``account(p, s).profit == p.value(s)``. Jobs that start later
# (postponed jobs) are in no account up to ``horizon_end``; ``makespan`` gives the time by which all work is done. The work
# of the jobs that run at the begin is part of all accounts.


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
        if self.it_kwh > 0:
            return 1 + self.cooling_kwh / self.it_kwh
        return None


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
    if end == problem.horizon_end:
        segments = problem.segments
    else:
        segments = problem.segments_to(end)
    starts = np.array([schedule.start[j.id] for j in problem.jobs], np.int64)
    bounds = np.array([segments[0].begin, *(s.end for s in segments)] if segments else [problem.begin], np.int64)
    seconds = np.zeros(bounds.size)
    joules = np.zeros(bounds.size)
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
        lo = max(problem.begin, day * DAY)
        hi = min(end, (day + 1) * DAY)
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
    work = ran.watts * length / JOULES
    cooling = ran.cooling * length / JOULES
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


SHOWN = 10  # faults that a message lists


@checked(values=False)
@with_short_repr
@dataclass(frozen=True)
class Profit:
    """Start the jobs of a ``Dispatch`` problem so that the profit in euro up to ``horizon_end`` is greatest.

    The profit is ``price`` times the core-hours that run in [``dispatch.now``, ``horizon_end``), less the energy price
    times the energy of the work and of its cooling in the same period. The IT power is that of the jobs that run. The
    cooling power of a segment follows from its mean IT power and its temperature. Jobs that run at ``dispatch.now``
    keep their nodes until their ends; their work after that time counts as that of the others.

    Parameters
    ----------
    dispatch : Dispatch
        The jobs, the running jobs and the platform; its own objective is ignored.
    temperature : StepFunction
        The outside temperature in degrees Celsius.
    cooling : Cooling
        The table of the cooling power.
    price : float
        Euro per core-hour, >= 0 (K1).
    energy_price : StepFunction or float
        Euro per kWh (K2); it may be negative.
    horizon_end : int, default -1
        The time in seconds at which profit no longer counts. Negative: the last submit time.
    watts_per_core : float, optional
        The power per core in watts of jobs that have no power of their own.

    Raises
    ------
    ProblemError
        If the data contradict each other: temperatures or prices that do not cover the period, a negative price, a job
        without power, a running job without nodes, or a cooling table that ends below the possible IT power.

    References
    ----------
    [Bridi2018, 6.5.3], equations 6.3 and 6.4.

    Examples
    --------
    >>> from schedlab.models import NodeGroup, Queue
    >>> job = Job("j1", submit=0, walltime=3600, units=1, request={"cores": 10}, queue="q", power=100.0)
    >>> jobs = Dispatch(Platform([NodeGroup("n", 1, {"cores": 10})]), [job], [Queue("q", 60)])
    >>> flat = Cooling("flat", (0, 40), (0, 1000), ((0, 500), (0, 500)))
    >>> p = Profit(jobs, StepFunction.constant(20, 0, 7200), flat, price=0.1, energy_price=0.5, horizon_end=7200)
    >>> round(p.value(Schedule({"j1": 0}, {"j1": {"n-1": 1}})), 6)  # 1 euro, less 0.1 and 0.05 kWh
    0.925
    """

    dispatch: Dispatch
    temperature: StepFunction
    cooling: Cooling
    price: float
    energy_price: StepFunction | float
    horizon_end: int = -1
    watts_per_core: float | None = None

    kind: str = field(default="profit", init=False)
    sense: Literal["minimize", "maximize"] = field(default="maximize", init=False)

    def __post_init__(self) -> None:
        if not is_whole(self.horizon_end):
            raise ProblemError(f"horizon_end {wrong(self.horizon_end)}")
        object.__setattr__(self, "horizon_end", int(self.horizon_end))
        if self.horizon_end < 0:
            object.__setattr__(self, "horizon_end", max((j.submit for j in self.jobs), default=self.begin))
        faults = [*_faults(self)]
        if faults:
            more = ""
            if len(faults) > SHOWN:
                more = f"\n... and {len(faults) - SHOWN} more"
            raise ProblemError("\n".join(faults[:SHOWN]) + more)

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs."""
        return self.dispatch.jobs

    @property
    def platform(self) -> Platform:
        """The nodes."""
        return self.dispatch.platform

    @property
    def begin(self) -> int:
        """The time in seconds from which profit counts."""
        return self.dispatch.now

    @cached_property
    def horizon(self) -> int:
        """A time in seconds by which some optimal schedule has started all jobs; it is not before ``horizon_end``."""
        return self.dispatch.horizon_from(self.horizon_end)

    def power(self, job: Job) -> float:
        """Return the power of a job in watts: its own, or ``watts_per_core`` times its cores."""
        if job.power is not None:
            return float(job.power)
        return cores(job) * (math.nan if self.watts_per_core is None else self.watts_per_core)

    @cached_property
    def watts(self) -> NDArray[np.float64]:
        """The power of each job in watts."""
        return np.array([self.power(j) for j in self.jobs], float)

    @cached_property
    def cores(self) -> NDArray[np.int64]:
        """The cores of each job, over all of its units."""
        return np.array([cores(j) for j in self.jobs], np.int64)

    @cached_property
    def durations(self) -> NDArray[np.int64]:
        """The duration of each job in seconds."""
        return self.dispatch.job_arrays.duration

    @cached_property
    def running(self) -> RunningWork:
        """The work of the jobs that run at ``begin``."""
        return RunningWork(self)

    @cached_property
    def most_power(self) -> float:
        """An upper bound of the IT power in watts: all cores, filled with the jobs that need most power per core."""
        left = float(self.platform.total("cores"))
        total = 0.0
        all_watts = np.concatenate([self.watts, self.running.watts])
        all_cores = np.concatenate([self.cores, self.running.cores])
        order = np.argsort(-all_watts / np.maximum(1, all_cores), kind="stable")
        for watts, n in zip(all_watts[order].tolist(), all_cores[order].tolist(), strict=True):
            if n > left:
                return float(total + watts * left / n)
            left = left - n
            total = total + watts
        return total

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The segments from ``begin`` to ``horizon_end``."""
        return self.segments_to(self.horizon_end)

    def segments_to(self, end: int) -> tuple[Segment, ...]:
        """Return the segments from ``begin`` to a time in seconds; data that end earlier repeat their last day."""
        prices = self.energy_price
        if not isinstance(prices, StepFunction):
            prices = StepFunction.constant(prices, self.begin, max(end, self.begin + 1))
        return tuple(
            segments_between(self.begin, end, self.temperature.lasting(end), prices.lasting(end), self.cooling)
        )

    def replace(self, **changes: Any) -> Profit:
        """Return a copy with other fields; ``horizon_end`` does not change unless it is given."""
        names = [f.name for f in fields(self) if f.init]
        for name in changes:
            if name not in names:
                raise unknown_keyword("replace", name, names)
        return replace(self, **changes)

    @property
    def formulations(self) -> Mapping[str, Callable[..., Encoding]]:
        """The formulations of ``Dispatch`` with the profit as objective, and the relaxation ``fluid``."""
        return formulations_of(self, ".profit.formulations:FORMULATIONS")

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of the schedule; the constraints are those of the ``Dispatch`` problem."""
        return self.dispatch.verify(checked_schedule(schedule, "verify"))

    def value(self, schedule: Schedule) -> float:
        """Return the profit in euro from ``begin`` to ``horizon_end``, from the data alone.

        Raises
        ------
        KeyError
            If a job has no start.
        """
        return value_of(schedule, lambda: (j.id for j in self.jobs), lambda s: account(self, s).profit)

    def read(self, data: Any) -> Schedule:
        """Return the schedule of JSON data; raise ValueError, with the name of the job, if the data are malformed."""
        return self.dispatch.read(data)


def _faults(p: Profit) -> list[str]:
    """Return a message for each contradiction in the data."""
    faults = []
    if p.dispatch.limits:
        limited = ", ".join(p.dispatch.limits)
        faults.append(
            f"the dispatching problem limits {limited}; a profit problem, which may postpone jobs, takes no limits"
        )
    if p.dispatch.desired is not None:
        faults.append(
            "the dispatching problem has a desired profile; a profit problem, which may postpone jobs, takes none"
        )
    if "cores" not in p.platform.resources:
        faults.append("the nodes have no resource 'cores', but the price is per core-hour")
    if not (is_number(p.price) and p.price >= 0):
        faults.append(f"the price is {shown(p.price)} euro per core-hour; a number of at least 0 is expected")
    if not isinstance(p.energy_price, StepFunction) and not is_number(p.energy_price):
        faults.append(
            f"the energy price is {shown(p.energy_price)} euro per kWh; a number or a StepFunction is expected"
        )
    if p.watts_per_core is not None and not is_number(p.watts_per_core):
        return [*faults, f"watts_per_core is {shown(p.watts_per_core)}; a number, or None, is expected"]
    faults.extend(
        f"job {job.id!r} has several chunks; a profit problem takes jobs of equal units only, Dispatch takes both"
        for job in p.jobs
        if job.chunks
    )
    faults.extend(f"job {job.id!r}{fault}" for job in p.jobs if (fault := _power_fault(p, job)))
    for r in p.dispatch.running:
        if fault := _power_fault(p, r.job):
            faults.append(f"running job {r.job.id!r}{fault}")
        if sum(r.nodes.values()) != r.job.units:
            faults.append(
                f"running job {r.job.id!r}: {sum(r.nodes.values())} of its {how_many(r.job.units, 'unit', verb='are')} on nodes; "
                "give the nodes of all of them"
            )
    if p.horizon_end <= p.begin:
        faults.append(
            f"the period has no length: it begins at {p.begin} s and horizon_end is {p.horizon_end} s; "
            "if no job is submitted after the begin, give horizon_end, the time at which profit no longer counts"
        )
    if not is_placed_freely(p.dispatch):
        faults.append(
            "profit problems do not support nodes of queues, nodes and features of jobs, per_node, whole_nodes and licences; "
            "leave them out, or solve the dispatching problem"
        )
    return faults or [*_uncovered(p)]


def _power_fault(p: Profit, job: Job) -> str:
    """Return what is wrong with the power of a job, to follow its name; empty if nothing is."""
    if job.power is not None and not is_number(job.power):
        return f": its power is {shown(job.power)} W; a number of at least 0 is expected"
    watts = p.power(job)
    if math.isnan(watts) and job.power is None:
        return " has no power; give its power in watts, or watts_per_core for all such jobs"
    if not 0 <= watts < math.inf:
        return f": its power is {watts} W; a number of at least 0 is expected"
    if watts > 0 and cores(job) == 0:
        return f" takes {watts:g} W but has no cores; the price is per core-hour: give it cores or no power"
    return ""


def _uncovered(p: Profit) -> list[str]:
    """Return a message for each series or table that does not cover the period, the power or the temperatures."""
    series = {"temperatures": p.temperature}
    if isinstance(p.energy_price, StepFunction):
        series["energy prices"] = p.energy_price
    gaps = [
        f"the {what} go from {s.begin} s to {s.end} s, which does not cover {p.begin} s to {p.horizon_end} s"
        for what, s in series.items()
        if s.begin > p.begin or s.end < p.horizon_end
    ]
    if p.most_power > p.cooling.most * (1 + 1e-9):
        gaps.append(
            f"cooling {p.cooling.name!r} is known up to {p.cooling.most:g} W of IT power, but the jobs can take "
            f"{p.most_power:.0f} W together; give a table up to a greater IT power, or scale it"
        )
    if not gaps:
        low, high = p.cooling.temperatures[0], p.cooling.temperatures[-1]
        gaps += [
            f"the temperature is {v:g} degrees at {a} s, but cooling {p.cooling.name!r} is known "
            f"from {low:g} to {high:g} degrees"
            for a, _, v in p.temperature.pieces(p.begin, p.horizon_end)
            if not low <= v <= high
        ]
    return gaps


# --- What a profit problem takes from its dispatching problem: the Gantt chart, the table, and the removable elements.


def gantt(problem: Profit, schedule: Schedule) -> Gantt:
    """Return the Gantt chart of the jobs on nodes, with the time up to which profit counts."""
    return display.gantt(problem.dispatch, schedule, (Mark(problem.horizon_end, "profit counts up to here"),))


def rows(problem: Profit, schedule: Schedule) -> list[dict[str, Any]]:
    """Return a row for each job, as for a dispatching problem, with its power in watts (``watts``)."""
    watts = {j.id: w for j, w in zip(problem.jobs, problem.watts.tolist(), strict=True)}
    return [{**row, "watts": watts[row["job"]]} for row in display.rows(problem.dispatch, schedule)]


class ProfitElements(DispatchElements):
    """The elements of a profit problem; its parts are dispatching problems, as prices and cooling limit no start.

    The profit cannot be limited: a removed job would earn nothing, so that the rest would not become easier.

    Parameters
    ----------
    problem : Profit
        The problem.
    """

    def __init__(self, problem: Profit) -> None:
        super().__init__(problem.dispatch)
        self.objectives = ()


# --- The registration of profit problems.

PROFIT = ProblemKind(
    "profit",
    Profit,
    reader="..instances.files.profit_folder:read",
    writer="..instances.files.profit_folder:write",
    start="multi-search",
    portfolio="..methods.portfolio:profit_steps",
    warm_up=(".profit.formulations:warm_up",),
    solver_warm_up=("..heuristics.list_scheduling:warm_up_moves",),
    solver_warm_up_late=(
        "..heuristics.list_scheduling:warm_up_late",
        "..heuristics.list_scheduling:warm_up_moves_late",
    ),
    allocator="..heuristics.list_scheduling:Allocator",
    elements=".profit.problem:ProfitElements",
    formulations=("counts", "units", "classes", "pool", "fluid"),
    bench="..bench.kinds.profit:PROFIT",
    gantt=".profit.problem:gantt",
    rows=".profit.problem:rows",
    columns=(
        "job",
        "queue",
        "user",
        "submit",
        "start",
        "end",
        "wait",
        "duration",
        "units",
        "nodes",
        "node_list",
        "watts",
    ),
)
