"""The extra fields of the record of a profit problem.

- ``account``: ``horizon`` (up to the end of the horizon) and ``end`` (up to the end of the last job), each with ``begin``,
  ``end`` (s), ``core_hours``, ``gain``, ``work_cost``, ``cooling_cost``, ``cost``, ``profit`` (euro), ``it_kwh``,
  ``cooling_kwh``, ``energy_kwh``, ``utilisation`` (0 to 1), ``pue``.
- ``slope_change``: the PUE at the slope change of the cooling, as the mean over the segments of the horizon, weighted by time; None
  if the slope changes in none.
- ``makespan``: seconds from the begin of the problem to the end of the last job.
- ``daily``: the account of each day of the horizon, with ``celsius`` (mean temperature).
- ``operation``: curves over time: ``begin``, ``until`` (end of the horizon), ``end`` (s); ``segments`` with the lists ``end``
  (s), ``celsius``, ``watts`` (IT power), ``cooling`` (W); for intervals of ``step`` seconds, ``steps`` with the lists
  ``watts`` and ``utilisation``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from annotated_types import MinLen, Predicate
from numpy.typing import NDArray
from typing_extensions import TypedDict

from ...models import Profit, Schedule
from ...models.json_values import Number, Positive, Whole
from ...models.profit import problem as accounts
from ...models.profit.guide import slope_change_pue
from ...models.profit.problem import Segment
from ...models.step_function import HOUR
from ...models.words import how_many
from ..records.record import agree
from ..records.store import Record, equal_lengths, table

HORIZON = "horizon"  # the account up to the end of the horizon
END = "end"  # the account up to the end of the last job
STEPS = 2000  # most steps of a curve over time

MONEY = table(
    "Account",
    dict.fromkeys(("gain", "work_cost", "cooling_cost", "profit", "pue", "energy_kwh", "utilisation"), Number | None),
    others=Number | None,
)
DAY = table(
    "DailyAccount", dict.fromkeys(("celsius", "utilisation", "pue", "profit"), Number | None), others=Number | None
)


class SegmentCurves(TypedDict, closed=True):
    """Lists with an entry for each segment."""

    end: Annotated[list[Whole], MinLen(1)]
    celsius: list[Number]
    watts: list[Number]
    cooling: list[Number]


class StepCurves(TypedDict, closed=True):
    """Lists with an entry for each step."""

    watts: list[Number]
    utilisation: list[Number]


class Curves(TypedDict, closed=True):
    """The field ``operation``."""

    begin: Whole
    until: Whole
    end: Whole
    segments: Annotated[SegmentCurves, Predicate(equal_lengths)]
    step: Positive
    steps: StepCurves


FIELDS: Mapping[str, Any] = {
    "account": table("Accounts", {HORIZON: MONEY, END: MONEY}) | None,
    "slope_change": Number | None,
    "makespan": Number | None,
    "daily": list[DAY],  # type: ignore[valid-type]
    "operation": Curves,
}


def fields(problem: Profit, schedule: Schedule) -> Record:
    """Return the extra fields of a valid schedule."""
    end = accounts.makespan(problem, schedule)
    return {
        "account": {
            HORIZON: as_json(accounts.account(problem, schedule)),
            END: as_json(accounts.account(problem, schedule, end)),
        },
        "slope_change": slope_change_pue(problem, problem.segments),
        "makespan": end - problem.begin,
        "daily": list(days(problem, schedule)),
        "operation": operation(problem, schedule, max(end, problem.horizon_end)),
    }


def as_json(account: accounts.Account) -> dict[str, Any]:
    """Return all values of an account (euro, kWh, core-hours, seconds); ``pue`` is None if nothing ran."""
    derived = ("profit", "cost", "energy_kwh", "pue")
    return asdict(account) | {name: getattr(account, name) for name in derived}


def days(problem: Profit, schedule: Schedule) -> Iterator[dict[str, Any]]:
    """Yield the account of each day of the horizon, with its mean temperature (``celsius``)."""
    for day in accounts.daily(problem, schedule):
        of_it = [s for s in problem.segments if day.begin <= s.begin < day.end]
        yield as_json(day) | {"celsius": mean_celsius(of_it)}


def mean_celsius(segments: list[Segment] | tuple[Segment, ...]) -> float | None:
    """Return the mean temperature of segments, None if there are none."""
    length = sum(s.end - s.begin for s in segments)
    return sum(s.celsius * (s.end - s.begin) for s in segments) / length if length else None


def operation(problem: Profit, schedule: Schedule, end: int) -> dict[str, Any]:
    """Return curves over time from the begin to ``end`` (seconds): means of each segment and of each hour.

    The steps are longer than an hour if there would be more than ``STEPS``.
    """
    ran = accounts.operation(problem, schedule, end)
    step = max(HOUR, HOUR * -(-(end - problem.begin) // (STEPS * HOUR)))
    bounds = np.append(np.arange(problem.begin, end, step), end)
    lengths = np.maximum(1, np.diff(bounds))
    seconds, joules = _done(problem, schedule, bounds)
    there = problem.platform.total("cores") * lengths
    return {
        "begin": problem.begin,
        "until": problem.horizon_end,
        "end": end,
        "segments": {
            "end": [s.end for s in ran.segments],
            "celsius": [round(s.celsius, 2) for s in ran.segments],
            "watts": ran.watts.round(1).tolist(),
            "cooling": ran.cooling.round(1).tolist(),
        },
        "step": step,
        "steps": {
            "watts": (np.diff(joules) / lengths).round(1).tolist(),
            "utilisation": (np.diff(seconds) / there).round(4).tolist(),
        },
    }


def _done(
    problem: Profit, schedule: Schedule, bounds: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the core-seconds and joules of work done before each moment of ``bounds`` (seconds)."""
    running = problem.running
    starts = np.array([schedule.start[j.id] for j in problem.jobs], np.int64) - problem.begin
    at = bounds - problem.begin
    rates = np.stack([problem.cores, problem.watts], axis=1).astype(np.float64)
    begins, ends = (
        np.concatenate([x, y - problem.begin])
        for x, y in ((starts, np.full(len(running.ends), problem.begin)), (starts + problem.durations, running.ends))
    )
    rates = np.concatenate([rates, np.stack([running.cores, running.watts], axis=1)])
    amounts = np.zeros((bounds.size, 2))
    for moments, sign in ((begins, 1.0), (ends, -1.0)):
        order = np.argsort(moments, kind="stable")
        rate = np.concatenate([np.zeros((1, 2)), np.cumsum(rates[order], axis=0)])
        past = np.concatenate([np.zeros((1, 2)), np.cumsum(rates[order] * moments[order, None], axis=0)])
        k = np.searchsorted(moments[order], at, side="right")
        amounts += sign * (rate[k] * at[:, None] - past[k])
    return amounts[:, 0], amounts[:, 1]


def faults_of_account(problem: Profit, record: Mapping[str, Any], schedule: Schedule) -> list[str]:
    """Return the faults of the extra fields of a record: each value is compared with that of the schedule."""
    faults = []
    true = fields(problem, schedule)
    for when in (HORIZON, END):
        recorded = (record.get("account") or {}).get(when) or {}
        expected = true["account"][when]
        faults += [
            f"it has {name} {recorded.get(name)} up to the {when}, its schedule has {value}"
            for name, value in expected.items()
            if value != recorded.get(name) and not agree(value, recorded.get(name))
        ]
    slope = record.get("slope_change", true["slope_change"])  # records of earlier versions lack it
    if slope != true["slope_change"] and not agree(true["slope_change"], slope):
        faults.append(f"it has slope_change {slope}, its scenario has {true['slope_change']}")
    if not agree(true["makespan"], record.get("makespan")):
        faults.append(f"it has makespan {record.get('makespan')} s, its schedule has {true['makespan']} s")
    daily = record.get("daily") or []
    if len(daily) != len(true["daily"]):
        faults.append(f"it has accounts of {how_many(len(daily), 'day')}, the horizon has {len(true['daily'])}")
    for k, (recorded, expected) in enumerate(zip(daily, true["daily"], strict=False), 1):
        faults += [
            f"it has {name} {recorded.get(name)} of day {k}, its schedule has {value}"
            for name, value in expected.items()
            if value != recorded.get(name) and not agree(value, recorded.get(name))
        ]
    return faults
