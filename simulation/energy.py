"""The energy accounts of a replay, recomputed from its jobs and the states of its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..instances.files.reading import WorkloadError
from ..models.arguments import is_number, shown
from ..models.array_types import Floats, Ints
from ..models.comparing import hashable
from ..models.platform import Platform, ProblemError
from ..models.profit.problem import Cooling, along, segments_between
from ..models.step_function import DAY, GRAMS, JOULES, StepFunction, Tariff, check_covers, integral
from ..models.words import how_many
from .node_policies import OFF
from .records import OffIntervals, ReplayData

# --- The IT power of a machine over time: jobs, idle cores of nodes that are on, and nodes that boot or shut down.
#
# ``P(t) = sum of the powers of the running jobs + idle * (cores of the nodes that are on - cores in use) + boot * (cores of
# the nodes that boot or shut down)``. [Bridi2018, 7] gives no idle power; its results need one, see docs/reference/profit.md.

IDLE = 3.9  # W per core: half of the least power of a job in [Bridi2018, 6.8.1]


@dataclass(frozen=True, eq=False)
class Runs:
    """The jobs of a replay that ran; arrays of shape (jobs,).

    Parameters
    ----------
    submit, start, end : array of int
        Times in seconds.
    cores : array of int
        The cores over all units.
    watts : array of float
        The power of the whole job in watts.
    """

    submit: Ints
    start: Ints
    end: Ints
    cores: Ints
    watts: Floats


@dataclass(frozen=True)
class Machine:
    """A machine and the powers of its cores that run no job.

    Parameters
    ----------
    platform : Platform
        The nodes; they have cores.
    idle_watts : float, default 3.9
        Watts of each core of a node that is on and runs no job.
    boot_watts : float, optional
        Watts of each core of a node that boots or shuts down. None: the idle power.

    Raises
    ------
    ProblemError
        If a power is no number of at least 0.
    """

    platform: Platform
    idle_watts: float = IDLE
    boot_watts: float | None = None

    def __post_init__(self) -> None:
        for what, value in (("idle", self.idle_watts), ("boot", self.boot_watts)):
            if value is not None and not (is_number(value) and value >= 0):
                raise ProblemError(f"the {what} power is {shown(value)} W per core; a number of at least 0 is expected")

    @property
    def booting(self) -> float:
        """The watts of each core of a node that boots or shuts down."""
        if self.boot_watts is None:
            return self.idle_watts
        return self.boot_watts


@dataclass(frozen=True)
class Power:
    """The use and the power of a machine over [begin, end), as step functions.

    Parameters
    ----------
    cores : StepFunction
        The cores in use.
    busy, idle, boot : StepFunction
        The watts of jobs, of idle cores, and of nodes that boot or shut down.
    """

    cores: StepFunction
    busy: StepFunction
    idle: StepFunction
    boot: StepFunction

    @property
    def it(self) -> StepFunction:
        """The IT power in watts; all parts have the same times."""
        values = np.sum([self.busy.values, self.idle.values, self.boot.values], axis=0)
        return StepFunction(self.busy.times, values.tolist(), self.busy.end)


def power_of(machine: Machine, runs: Runs, states: OffIntervals, begin: int, end: int) -> Power:
    """Return the use and the power of a machine over a period.

    Parameters
    ----------
    machine : Machine
        The machine.
    runs : Runs
        The jobs.
    states : OffIntervals
        When nodes were not on.
    begin, end : int
        The period in seconds, ``begin < end``.

    Returns
    -------
    Power
        The powers.

    Raises
    ------
    ProblemError
        If a job takes less power per core than an idle core, more cores are in use than are on, or two intervals of a
        node overlap.
    """
    _check(machine, runs, states)
    capacity = np.array([v[machine.platform.resources.index("cores")] for v in machine.platform.capacity.values()])
    if states.node.size:
        lost = capacity[states.node]
    else:
        lost = np.zeros(0, np.int64)
    moving = states.state != OFF
    times = np.unique(np.concatenate([[begin], runs.start, runs.end, states.begin, states.end]))
    times = times[(times >= begin) & (times < end)]
    used = _level(times, runs.start, runs.end, runs.cores)
    on = int(capacity.sum()) - _level(times, states.begin, states.end, lost)
    short = np.flatnonzero(used > on)
    if short.size:
        k = short[0]
        raise ProblemError(
            f"at {times[k]} s {how_many(used[k], 'core', 'g', verb='are')} in use, but only {on[k]:g} are on: a job runs on a node that is off"
        )
    busy = _level(times, runs.start, runs.end, runs.watts)
    boot = machine.booting * _level(times, states.begin[moving], states.end[moving], lost[moving])

    def steps(values: Floats) -> StepFunction:
        return StepFunction(times.tolist(), values.tolist(), end)

    return Power(steps(used), steps(busy), steps(machine.idle_watts * (on - used)), steps(boot))


def _level(times: Ints, begin: Ints, end: Ints, amount: Ints | Floats) -> Floats:
    """Return the sum of the amounts whose [begin, end) contains each of the times."""
    levels = np.zeros(len(times))
    for at, sign in ((begin, 1.0), (end, -1.0)):
        order = np.argsort(at, kind="stable")
        total = np.concatenate([[0.0], np.cumsum(amount[order].astype(np.float64))])
        levels += sign * total[np.searchsorted(at[order], times, side="right")]
    # sums of powers leave rounding where nothing runs
    count = np.searchsorted(np.sort(begin), times, "right") - np.searchsorted(np.sort(end), times, "right")
    return np.where(count > 0, levels, 0.0)


def _check(machine: Machine, runs: Runs, states: OffIntervals) -> None:
    per_core = runs.watts / np.maximum(1, runs.cores)
    low = np.flatnonzero((runs.cores > 0) & (per_core < machine.idle_watts * (1 - 1e-9)))
    if low.size:
        raise ProblemError(
            f"the idle power, {machine.idle_watts:g} W per core, is above that of a running job, "
            f"{per_core[low[0]]:g} W per core; give a smaller idle power"
        )
    order = np.lexsort((states.begin, states.node))
    node = states.node[order]
    begin = states.begin[order]
    end = states.end[order]
    wrong = np.flatnonzero((node[1:] == node[:-1]) & (begin[1:] < end[:-1]))
    if wrong.size:
        k = wrong[0]
        name = machine.platform.nodes[node[k]]
        raise ProblemError(
            f"node {name} has two states at {begin[k + 1]} s: one ends at {end[k]} s; intervals of a node may not overlap"
        )


# --- Energy, cost, carbon and profit of a replay, per day, at the last submission, and at the end.
#
# The cooling power of a segment follows from its mean IT power and its temperature, as in ``Profit`` [Bridi2018, 6.5.3].


@dataclass(frozen=True)
class EnergyAccount:
    """The account of the period [begin, end).

    Parameters
    ----------
    begin, end : int
        Seconds.
    core_hours, gain : float
        The core-hours of the jobs, and what they pay in euro.
    busy_kwh, idle_kwh, boot_kwh, cooling_kwh : float
        The energy of jobs, of idle cores, of nodes that boot or shut down, and of the cooling.
    cost : float
        The cost of all energy in euro.
    kg_co2 : float or None
        The carbon of all energy; None if the tariff does not know it.
    """

    begin: int
    end: int
    core_hours: float
    gain: float
    busy_kwh: float
    idle_kwh: float
    boot_kwh: float
    cooling_kwh: float
    cost: float
    kg_co2: float | None

    @property
    def it_kwh(self) -> float:
        """The energy of jobs, idle cores, and nodes that boot or shut down."""
        return self.busy_kwh + self.idle_kwh + self.boot_kwh

    @property
    def profit(self) -> float:
        """Gain less cost, in euro."""
        return self.gain - self.cost

    @property
    def pue(self) -> float | None:
        """Power usage effectiveness; None if no power is taken."""
        if self.it_kwh > 0:
            return 1 + self.cooling_kwh / self.it_kwh
        return None


@dataclass(frozen=True)
class Centre:
    """What a computing centre pays and earns.

    Parameters
    ----------
    cooling : Cooling
        The table of the cooling power.
    temperature : StepFunction
        The outside temperature in degrees Celsius.
    tariff : Tariff
        Price and carbon intensity of energy.
    price : float
        Euro per core-hour.
    """

    cooling: Cooling
    temperature: StepFunction
    tariff: Tariff
    price: float


def account(centre: Centre, power: Power, begin: int, end: int) -> EnergyAccount:
    """Return the account of a period.

    Parameters
    ----------
    centre : Centre
        Cooling, weather and prices.
    power : Power
        The use and power of the machine, which covers the period.
    begin, end : int
        The period in seconds.

    Returns
    -------
    EnergyAccount
        The account.

    Raises
    ------
    ProblemError
        If power, weather or prices do not cover the period, or the mean IT power of a segment is above the cooling table.
    """
    check_covers("temperatures", centre.temperature, begin, end)
    prices = centre.tariff.prices(begin, end)
    it = power.it
    cooling = euro = 0.0
    grams = None
    if centre.tariff.carbon is not None:
        grams = 0.0
    for s in segments_between(begin, end, centre.temperature, prices, centre.cooling):
        joules = integral(it, 1.0, s.begin, s.end)
        length = s.end - s.begin
        if joules > centre.cooling.most * length * (1 + 1e-9):
            raise ProblemError(
                f"the mean IT power from {s.begin} s to {s.end} s is {joules / length:,.0f} W, but cooling "
                f"{centre.cooling.name!r} is known up to {centre.cooling.most:g} W"
            )
        watts = along(s.curve, joules / length)
        cooling += watts * length
        euro += s.energy_price * (joules + watts * length) / JOULES
        if grams is not None and centre.tariff.carbon is not None:
            carbon = centre.tariff.carbon
            grams += integral(it, carbon, s.begin, s.end) / JOULES
            grams += integral(StepFunction.constant(watts, s.begin, s.end), carbon, s.begin, s.end) / JOULES
    core_hours = integral(power.cores, 1.0, begin, end) / 3600
    return EnergyAccount(
        begin=begin,
        end=end,
        core_hours=core_hours,
        gain=centre.price * core_hours,
        busy_kwh=integral(power.busy, 1.0, begin, end) / JOULES,
        idle_kwh=integral(power.idle, 1.0, begin, end) / JOULES,
        boot_kwh=integral(power.boot, 1.0, begin, end) / JOULES,
        cooling_kwh=cooling / JOULES,
        cost=euro,
        kg_co2=None if grams is None else grams / GRAMS,
    )


def daily(centre: Centre, power: Power, begin: int, end: int) -> Iterator[EnergyAccount]:
    """Yield the account of each day of a period, from midnight to midnight; they add up to that of the period.

    A segment of the cooling ends at midnight in any case, so that nothing depends on the division into days.

    Parameters
    ----------
    centre : Centre
        Cooling, weather and prices.
    power : Power
        The use and power of the machine, which covers the period.
    begin, end : int
        The period in seconds.

    Yields
    ------
    EnergyAccount
        The accounts, in order; the first and the last day may be cut.
    """
    for day in range(begin // DAY, -(-end // DAY)):
        yield account(centre, power, max(begin, day * DAY), min(end, (day + 1) * DAY))


def at_the_end(centre: Centre, power: Power, runs: Runs, begin: int) -> tuple[EnergyAccount, EnergyAccount]:
    """Return the accounts up to the last submission [Bridi2018, 6.8.3] and up to the last end of a job [Bridi2018, 7.6.1].

    Parameters
    ----------
    centre : Centre
        Cooling, weather and prices.
    power : Power
        The use and power of the machine, up to the last end of a job.
    runs : Runs
        The jobs, at least one.
    begin : int
        The begin of both periods in seconds.

    Returns
    -------
    tuple of EnergyAccount
        The two accounts.
    """
    last = int(runs.submit.max())
    end = int(runs.end.max())
    return account(centre, power, begin, last), account(centre, power, begin, end)


# --- The energy accounts of a replay: from its jobs and the states of its nodes.


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


def replay_energy(replay: ReplayData, centre: Centre, machine: Machine) -> ReplayEnergy:
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
    >>> from schedlab.instances.log_preparation import powered
    >>> from schedlab.models import StepFunction
    >>> from schedlab.models.step_function import Tariff
    >>> from schedlab.models.profit.problem import Cooling
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
    if replay.workload.begin is None:
        begin = int(runs.submit.min())
    else:
        begin = replay.workload.begin
    end = int(runs.end.max())
    if replay.power is None:
        states = OffIntervals.always_on()
    else:
        states = replay.power.intervals(end)
    # jobs without a runtime may make a replay in which no time passes; a step function covers at least a second
    power: Power = power_of(machine, runs, states, begin, max(end, begin + 1))
    last, whole = at_the_end(centre, power, runs, begin)
    return ReplayEnergy(last, whole, tuple(daily(centre, power, begin, end)))


def _runs(replay: ReplayData) -> Runs:
    """Return the jobs that ran, with those that ran at the begin and the attempts that ended early."""
    w, started = replay.workload, replay.start >= 0
    cores = w.job_arrays.amounts[:, w.resources.index("cores")]
    held = [r.job for r in w.running]
    unknown = [w.ids[k] for k in np.flatnonzero(started & np.isnan(w.power)).tolist()] + [
        j.id for j in held if j.power is None
    ]
    if unknown:
        raise WorkloadError(
            f"{w.name}: job {unknown[0]!r} has no power ({how_many(len(unknown), 'such job', ',')}); give watts per core for them "
            "(Workload.powered, bench simulate --watts-per-core)"
        )
    if not started.any():
        raise WorkloadError(f"{w.name}: no job has started, so there is no energy to account for")
    mine = [j.units * j.request.get("cores", 0) for j in held]
    none = np.zeros(0, np.int64)
    rows = none
    since = none
    until = none
    if replay.history is not None:
        rows = replay.history.rows
        since = replay.history.start
        until = replay.history.end
    return Runs(
        submit=np.concatenate([w.submit[started], np.full(len(held), w.submit[started].min()), w.submit[rows]]),
        start=np.concatenate([replay.start[started], np.array([r.start for r in w.running], np.int64), since]),
        end=np.concatenate([replay.end[started], np.array([r.true_end for r in w.running], np.int64), until]),
        cores=np.concatenate([cores[started], np.array(mine, np.int64), cores[rows]]),
        watts=np.concatenate([w.power[started], np.array([j.power or 0.0 for j in held]), w.power[rows]]),
    )
