"""The work of the jobs that run at the begin of a profit problem: a constant part of every schedule's profit.

A running job counts from the begin of the problem to its end, with all of its cores and its whole power. What it did
before is no part of the problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..dispatch.job_arrays import column
from ..dispatch.jobs import Job
from ..excerpt import with_short_repr
from .segments import JOULES

if TYPE_CHECKING:
    from .problem import Profit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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
