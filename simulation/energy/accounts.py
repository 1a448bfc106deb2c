"""Energy, cost, carbon and profit of a replay, per day, at the last submission, and at the end.

The cooling power of a segment follows from its mean IT power and its temperature, as in ``Profit`` [Bridi2018, 6.5.3].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...models.energy import Tariff, integral
from ...models.energy.tariff import GRAMS, JOULES, check_covers
from ...models.platform import ProblemError
from ...models.profit.cooling import Cooling, along
from ...models.profit.segments import segments_between
from ...models.step_function import DAY, StepFunction
from .power import Power, Runs


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
        return 1 + self.cooling_kwh / self.it_kwh if self.it_kwh > 0 else None


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
    prices, it = centre.tariff.prices(begin, end), power.it
    cooling = euro = 0.0
    grams = None if centre.tariff.carbon is None else 0.0
    for s in segments_between(begin, end, centre.temperature, prices, centre.cooling):
        joules, length = integral(it, 1.0, s.begin, s.end), s.end - s.begin
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
    last, end = int(runs.submit.max()), int(runs.end.max())
    return account(centre, power, begin, last), account(centre, power, begin, end)
