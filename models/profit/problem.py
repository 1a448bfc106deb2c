"""The profit of a schedule: the price of core-hours less the energy cost of work and cooling [Bridi2018, 6.5]."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked, unknown_keyword
from ..dispatch.jobs import Job
from ..dispatch.problem import Dispatch
from ..excerpt import with_short_repr
from ..language import Violation
from ..platform import Platform, ProblemError
from ..problem import Encoding, Schedule, checked_schedule, value_of
from ..step_function import StepFunction
from ..unknown_names import ByName
from ..whole_numbers import is_number, is_whole, shown, wrong
from .cooling import Cooling
from .running import RunningWork, cores
from .segments import JOULES, Segment, segments_between

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
            more = f"\n... and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
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
        left, total = float(self.platform.total("cores")), 0.0
        all_watts = np.concatenate([self.watts, self.running.watts])
        all_cores = np.concatenate([self.cores, self.running.cores])
        order = np.argsort(-all_watts / np.maximum(1, all_cores), kind="stable")
        for watts, n in zip(all_watts[order].tolist(), all_cores[order].tolist(), strict=True):
            if n > left:
                return float(total + watts * left / n)
            left, total = left - n, total + watts
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
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """The formulations of ``Dispatch`` with the profit as objective, and the relaxation ``fluid``."""
        from . import formulations as f

        made = {name: lambda make=make: make(self) for name, make in f.FORMULATIONS.items()}
        return ByName("formulation", made)

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
        from .accounting import account

        return value_of(schedule, lambda: (j.id for j in self.jobs), lambda s: account(self, s).profit)

    def read(self, data: Any) -> Schedule:
        """Return the schedule of JSON data; raise ValueError, with the name of the job, if the data are malformed."""
        return self.dispatch.read(data)


def _faults(p: Profit) -> list[str]:
    """Return a message for each contradiction in the data."""
    found = []
    if p.dispatch.limits:
        limited = ", ".join(p.dispatch.limits)
        found.append(
            f"the dispatching problem limits {limited}; a profit problem, which may postpone jobs, takes no limits"
        )
    if p.dispatch.desired is not None:
        found.append(
            "the dispatching problem has a desired profile; a profit problem, which may postpone jobs, takes none"
        )
    if "cores" not in p.platform.resources:
        found.append("the nodes have no resource 'cores', but the price is per core-hour")
    if not (is_number(p.price) and p.price >= 0):
        found.append(f"the price is {shown(p.price)} euro per core-hour; a number of at least 0 is expected")
    if not isinstance(p.energy_price, StepFunction) and not is_number(p.energy_price):
        found.append(
            f"the energy price is {shown(p.energy_price)} euro per kWh; a number or a StepFunction is expected"
        )
    if p.watts_per_core is not None and not is_number(p.watts_per_core):
        return [*found, f"watts_per_core is {shown(p.watts_per_core)}; a number, or None, is expected"]
    found.extend(
        f"job {job.id!r} has several chunks; a profit problem takes jobs of equal units only, Dispatch takes both"
        for job in p.jobs
        if job.chunks
    )
    found.extend(f"job {job.id!r}{fault}" for job in p.jobs if (fault := _power_fault(p, job)))
    for r in p.dispatch.running:
        if fault := _power_fault(p, r.job):
            found.append(f"running job {r.job.id!r}{fault}")
        if sum(r.nodes.values()) != r.job.units:
            found.append(
                f"running job {r.job.id!r}: {sum(r.nodes.values())} of its {r.job.units} units are on nodes; "
                "give the nodes of all of them"
            )
    if p.horizon_end <= p.begin:
        found.append(
            f"the period has no length: it begins at {p.begin} s and horizon_end is {p.horizon_end} s; "
            "if no job is submitted after the begin, give horizon_end, the time at which profit no longer counts"
        )
    return found or [*_uncovered(p)]


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
    found = [
        f"the {what} go from {s.begin} s to {s.end} s, which does not cover {p.begin} s to {p.horizon_end} s"
        for what, s in series.items()
        if s.begin > p.begin or s.end < p.horizon_end
    ]
    if p.most_power > p.cooling.most * (1 + 1e-9):
        found.append(
            f"cooling {p.cooling.name!r} is known up to {p.cooling.most:g} W of IT power, but the jobs can take "
            f"{p.most_power:.0f} W together; give a table up to a greater IT power, or scale it"
        )
    if not found:
        low, high = p.cooling.temperatures[0], p.cooling.temperatures[-1]
        found += [
            f"the temperature is {v:g} degrees at {a} s, but cooling {p.cooling.name!r} is known "
            f"from {low:g} to {high:g} degrees"
            for a, _, v in p.temperature.pieces(p.begin, p.horizon_end)
            if not low <= v <= high
        ]
    return found


__all__ = ["JOULES", "Profit", "Segment", "cores"]
