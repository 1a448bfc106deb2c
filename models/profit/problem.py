"""The profit of a schedule: what jobs pay for their cores, less the energy of their work and of its cooling (thesis 6.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..dispatch.jobs import Job
from ..dispatch.problem import Dispatch
from ..language import Violation
from ..platform import Platform, ProblemError
from ..problem import Encoding, Schedule
from ..step_function import StepFunction
from ..whole_numbers import is_number, is_whole, shown, wrong
from .cooling import Cooling
from .segments import JOULES, Segment, _segments

SHOWN = 10  # faults in a message


@dataclass(frozen=True)
class Profit:
    """The jobs of a ``Dispatch`` problem, to start for the greatest profit in euro up to ``horizon_end``.

    The profit is ``price`` (euro per core-hour, K1) times the core-hours that run in ``[dispatch.now, horizon_end)``, less
    ``energy_price`` (euro per kWh, K2; constant or a StepFunction, which may be negative) times the energy of the work and of
    its cooling. ``horizon_end``: the last submission, unless given. What cooling takes follows from the mean IT power of each
    segment and its temperature; IT power is that of the running jobs. Source: thesis 6.5.3, equations 6.3 and 6.4.

    ``watts_per_core``: the power of jobs that do not know theirs. Raises ProblemError for contradictions: temperatures
    or prices that do not cover the time, a negative price, a job without power, a cooling table that ends too early.

    >>> from schedlab.models import NodeGroup, Queue
    >>> job = Job("j1", submit=0, walltime=3600, units=1, request={"cores": 10}, queue="q", power=100.0)
    >>> jobs = Dispatch(Platform([NodeGroup("n", 1, {"cores": 10})]), [job], [Queue("q", 60)])
    >>> flat = Cooling("flat", (0, 40), (0, 1000), ((0, 500), (0, 500)))
    >>> p = Profit(jobs, StepFunction.constant(20, 0, 7200), flat, price=0.1, energy_price=0.5, horizon_end=7200)
    >>> round(p.objective(Schedule({"j1": 0}, {"j1": {"n-1": 1}})), 6)  # 1 euro, less 0.1 and 0.05 kWh
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
        """The machine."""
        return self.dispatch.platform

    @property
    def begin(self) -> int:
        """The first moment that counts."""
        return self.dispatch.now

    @cached_property
    def horizon(self) -> int:
        """A moment by which some optimal schedule has started everything; jobs may wait up to ``horizon_end``."""
        return self.dispatch.horizon_from(self.horizon_end)

    def power(self, job: Job) -> float:
        """The watts of a job: its own, or ``watts_per_core`` times its cores."""
        if job.power is not None:
            return float(job.power)
        return cores(job) * (math.nan if self.watts_per_core is None else self.watts_per_core)

    @cached_property
    def watts(self) -> NDArray[np.float64]:
        """The power of each job."""
        return np.array([self.power(j) for j in self.jobs], float)

    @cached_property
    def cores(self) -> NDArray[np.int64]:
        """The cores of each job, over all of its units."""
        return np.array([cores(j) for j in self.jobs], np.int64)

    @cached_property
    def durations(self) -> NDArray[np.int64]:
        """How long each job takes, in seconds."""
        return np.array([self.dispatch.duration(j) for j in self.jobs], np.int64)

    @cached_property
    def most_power(self) -> float:
        """Watts that the jobs on this machine never exceed: its cores, filled with those that take most per core."""
        left, total = float(self.platform.total("cores")), 0.0
        order = np.argsort(-self.watts / np.maximum(1, self.cores), kind="stable")
        for watts, n in zip(self.watts[order].tolist(), self.cores[order].tolist(), strict=True):
            if n > left:
                return float(total + watts * left / n)
            left, total = left - n, total + watts
        return total

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The segments from ``begin`` to ``horizon_end``."""
        return self.segments_to(self.horizon_end)

    def segments_to(self, end: int) -> tuple[Segment, ...]:
        """The segments from ``begin`` to any moment; where a series has ended, its last day repeats."""
        prices = self.energy_price
        if not isinstance(prices, StepFunction):
            prices = StepFunction.constant(prices, self.begin, max(end, self.begin + 1))
        return tuple(_segments(self.begin, end, self.temperature.lasting(end), prices.lasting(end), self.cooling))

    def replace(self, **changes: Any) -> Profit:
        """A copy with other fields; without an ``horizon_end`` of its own it stays what it is."""
        return replace(self, **changes)

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """Those of ``Dispatch`` with this objective (``classes`` and ``pool`` are relaxations), and ``fluid``, for bounds."""
        from . import formulations as f

        return {name: lambda make=make: make(self) for name, make in f.FORMULATIONS.items()}  # type: ignore[misc]

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Everything the schedule breaks, as of the ``Dispatch`` problem: profits forbid nothing."""
        return self.dispatch.verify(schedule)

    def objective(self, schedule: Schedule) -> float:
        """The profit in euro from ``begin`` to ``horizon_end``, from the data alone. Raises KeyError for a job without a start."""
        from .accounting import account

        return account(self, schedule, self.horizon_end).profit

    def read(self, data: Any) -> Schedule:
        """A schedule from JSON's form. Raises ValueError that names the job where the form is broken."""
        return self.dispatch.read(data)


def cores(job: Job) -> int:
    """The cores of all units of a job."""
    return job.units * job.request.get("cores", 0)


def _faults(p: Profit) -> list[str]:
    """What contradicts itself, with names."""
    found = []
    if "cores" not in p.platform.resources:
        found.append("the nodes have no 'cores': it is core-hours that are paid for")
    if not (is_number(p.price) and p.price >= 0):
        found.append(f"the price is {shown(p.price)} euro per core-hour; a number of at least 0 is expected")
    if not isinstance(p.energy_price, StepFunction) and not is_number(p.energy_price):
        found.append(
            f"the energy price is {shown(p.energy_price)} euro per kWh; a number or an hourly series is expected"
        )
    if p.watts_per_core is not None and not is_number(p.watts_per_core):
        return [*found, f"watts_per_core is {shown(p.watts_per_core)}; a number, or None, is expected"]
    for job in p.jobs:
        if job.power is not None and not is_number(job.power):
            found.append(f"job {job.id!r}: its power is {shown(job.power)} W; a number of at least 0 is expected")
            continue
        watts = p.power(job)
        if math.isnan(watts) and job.power is None:
            found.append(f"job {job.id!r} has no power; give it one in watts, or watts_per_core for all such jobs")
        elif not 0 <= watts < math.inf:
            found.append(f"job {job.id!r}: its power is {watts} W; a number of at least 0 is expected")
        elif watts > 0 and cores(job) == 0:
            found.append(f"job {job.id!r} takes {watts:g} W without any cores; it needs cores to be paid for")
    if p.dispatch.running:
        found.append(f"{len(p.dispatch.running)} jobs run already; the profit of a batch begins with an empty machine")
    if p.horizon_end <= p.begin:
        found.append(
            f"there is no time to earn: it ends at {p.horizon_end} s and begins at {p.begin} s; "
            "no job is submitted after the begin, so say until when profit counts"
        )
    return found or [*_uncovered(p)]


def _uncovered(p: Profit) -> list[str]:
    """Temperatures, prices and cooling that do not reach far enough."""
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
            f"{p.most_power:.0f} W together; take a table that goes further, or scale it"
        )
    if not found:
        low, high = p.cooling.temperatures[0], p.cooling.temperatures[-1]
        found += [
            f"it is {v:g} degrees at {a} s; cooling {p.cooling.name!r} is known from {low:g} to {high:g} degrees"
            for a, _, v in p.temperature.pieces(p.begin, p.horizon_end)
            if not low <= v <= high
        ]
    return found


__all__ = ["JOULES", "Profit", "Segment", "cores"]
