"""The energy accounts of a replay: from its jobs and the states of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...instances.workload import Workload, WorkloadError
from ...models.comparing import hashable
from ...models.platform import Platform
from .accounts import Centre, EnergyAccount, at_the_end, daily
from .power import Machine, NodeStates, Power, Runs, power_of

Ints = NDArray[np.int64]


class States(Protocol):
    """The states of nodes of a replay, such as ``Simulation.power``."""

    def intervals(self, end: int) -> NodeStates:
        """Return the intervals in which nodes are not on, up to ``end`` in seconds."""


class Attempts(Protocol):
    """The attempts of jobs that ended early, such as ``Simulation.history``."""

    @property
    def rows(self) -> Ints:
        """The row of the job of each attempt, shape (attempts,)."""

    @property
    def start(self) -> Ints:
        """Starts in seconds."""

    @property
    def end(self) -> Ints:
        """Ends in seconds."""


class Replayed(Protocol):
    """The part of a replay that the accounts need, such as a ``Simulation``."""

    @property
    def workload(self) -> Workload:
        """The jobs."""

    @property
    def platform(self) -> Platform:
        """The machine."""

    @property
    def start(self) -> Ints:
        """Starts in seconds; -1: never started."""

    @property
    def end(self) -> Ints:
        """Ends in seconds."""

    @property
    def history(self) -> Attempts | None:
        """The attempts that ended early; None if there are none."""

    @property
    def power(self) -> States | None:
        """The states of the nodes; None: always on."""


@hashable
@dataclass(frozen=True)
class ReplayEnergy:
    """The accounts of a replay.

    Parameters
    ----------
    last_submission : EnergyAccount
        From the begin to the last submission.
    end : EnergyAccount
        From the begin to the last end of a job.
    daily : sequence of EnergyAccount
        Of each day, up to the last end of a job.
    """

    last_submission: EnergyAccount
    end: EnergyAccount
    daily: Sequence[EnergyAccount]


def replay_energy(replay: Replayed, centre: Centre, machine: Machine) -> ReplayEnergy:
    """Return the energy accounts of a replay; attempts of jobs that failed count as well.

    A node that is down or drained takes the power of its state: idle power if it is on.

    Parameters
    ----------
    replay : Simulation
        The replay; every job has a power.
    centre : Centre
        Cooling, weather and prices.
    machine : Machine
        The machine, with the power of cores that are idle or boot.

    Returns
    -------
    ReplayEnergy
        The accounts.

    Raises
    ------
    WorkloadError
        If no job has started, or the power of one is unknown.
    ProblemError
        If weather or prices do not cover the replay, or an idle core takes more power than that of a job.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.instances.logs.powers import powered
    >>> from schedlab.models import StepFunction
    >>> from schedlab.models.energy import Tariff
    >>> from schedlab.models.profit.cooling import Cooling
    >>> run = sl.simulate("eurora_99", dispatcher="easy", node_policy="idle:30min")
    >>> run.workload = powered(run.workload, 10)  # W per core
    >>> last = max(run.end)
    >>> plant = Cooling("none", (-90, 65), (0, 1e9), ((0, 0), (0, 0)))
    >>> centre = Centre(plant, StepFunction.constant(20, 0, last), Tariff(0.13), price=0.013)
    >>> found = replay_energy(run, centre, Machine(run.platform))
    >>> found.end.it_kwh > found.end.busy_kwh > 0
    True
    """
    runs = _runs(replay)
    begin = int(runs.submit.min()) if replay.workload.begin is None else replay.workload.begin
    end = int(runs.end.max())
    states = NodeStates.always_on() if replay.power is None else replay.power.intervals(end)
    power: Power = power_of(machine, runs, states, begin, end)
    last, whole = at_the_end(centre, power, runs, begin)
    return ReplayEnergy(last, whole, tuple(daily(centre, power, begin, end)))


def _runs(replay: Replayed) -> Runs:
    """Return the jobs that ran, with those that ran at the begin and the attempts that ended early."""
    w, started = replay.workload, replay.start >= 0
    cores = w.job_arrays.amounts[:, w.resources.index("cores")]
    held = [r.job for r in w.running]
    unknown = [w.ids[k] for k in np.flatnonzero(started & np.isnan(w.power)).tolist()] + [
        j.id for j in held if j.power is None
    ]
    if unknown:
        raise WorkloadError(
            f"{w.name}: job {unknown[0]!r} has no power ({len(unknown):,} such jobs); give watts per core for them "
            "(Workload.powered, bench simulate --watts-per-core)"
        )
    if not started.any():
        raise WorkloadError(f"{w.name}: no job has started, so there is no energy to account for")
    mine = [j.units * j.request.get("cores", 0) for j in held]
    none = np.zeros(0, np.int64)
    rows, since, until = none, none, none
    if replay.history is not None:
        rows, since, until = replay.history.rows, replay.history.start, replay.history.end
    return Runs(
        submit=np.concatenate([w.submit[started], np.full(len(held), w.submit[started].min()), w.submit[rows]]),
        start=np.concatenate([replay.start[started], np.array([r.start for r in w.running], np.int64), since]),
        end=np.concatenate([replay.end[started], np.array([r.true_end for r in w.running], np.int64), until]),
        cores=np.concatenate([cores[started], np.array(mine, np.int64), cores[rows]]),
        watts=np.concatenate([w.power[started], np.array([j.power or 0.0 for j in held]), w.power[rows]]),
    )
