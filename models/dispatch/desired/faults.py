"""Contradictions between a desired profile and a dispatching problem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...platform import ProblemError
from ...whole_numbers import is_real, shown
from ..jobs import DAY, Job

if TYPE_CHECKING:
    from ..problem import Dispatch

Shape = tuple[tuple[int, tuple[int, ...]], ...]
MOST = 3  # jobs that are named
POWER_OF_MACHINE = ""


def desired_faults(p: Dispatch) -> list[str]:
    """Return a message for each contradiction between the profile of a problem and its other data."""
    from ...profiles.profile import DesiredProfile  # profiles are made from problems, too

    if p.desired is None:
        return [] if p.over_cost is None else ["over_cost is given without a desired profile; give both (desired=...)"]
    if not isinstance(p.desired, DesiredProfile):
        return [f"desired is {shown(p.desired)}; expected a DesiredProfile"]
    if p.desired.platform != p.platform:
        return [f"desired: a profile of {p.desired.platform!r}; expected one of {p.platform!r}"]
    if p.over_cost is not None and (not is_real(p.over_cost) or not 0 <= p.over_cost < math.inf):
        return [f"over_cost is {shown(p.over_cost)}; expected the cost of an amount-hour, a number of at least 0"]
    if p.desired.power is not None:
        without = [j.id for j in (*p.jobs, *(r.job for r in p.running)) if j.power is None]
        if without:
            return [
                f"the desired profile has a wish for power, but job {without[0]!r} has no power ({len(without)} such jobs)"
            ]
    if p.over_cost is None:
        never = list(_never(p))
        if never:
            return never
    try:
        last = p.replace(desired=None, over_cost=None).horizon  # that of the profile waits for its last step
        p.desired.check_covers(p.now, last, "problem")
    except ProblemError as e:
        return [str(e)]
    return []


def shape_of(job: Job, resources: tuple[str, ...]) -> Shape:
    """Return units and request of each chunk of a job."""
    return tuple((part.units, tuple(part.request.get(r, 0) for r in resources)) for part in job.parts)


def _never(p: Dispatch) -> list[str]:
    """Return a message for the jobs that the empty machine can hold at no time within the hard profile."""
    assert p.desired is not None
    empty, resources = p.desired.empty_machine, p.platform.resources
    known: dict[Any, bool] = {}
    found: list[Job] = []
    for job in p.jobs:
        shape, duration = shape_of(job, resources), p.duration(job)
        begin = 0 if p.desired.period else p.earliest(job)
        key = (shape, duration, begin)
        if key not in known:
            known[key] = empty.first_start(shape, duration, begin) is None
        if known[key]:
            found.append(job)
    if p.desired.power is not None:
        most = max(p.desired.power.amounts)
        found += [j for j in p.jobs if (j.power or 0.0) > most and j not in found]
    texts = [
        f"job {j.id!r}: {j.units} units of {dict(j.request)} for {p.duration(j)} s fit at no time within the desired profile, "
        "even on the empty machine"
        for j in found[:MOST]
    ]
    if found:
        texts.append(
            f"({len(found)} such jobs) shares are of each node: raise them, wish for some node groups only, or give the "
            "profile a cost (over_cost)"
        )
    return texts


def waits(p: Dispatch) -> tuple[int, int]:
    """Return how long a profile may delay the jobs although the machine is otherwise empty.

    A hard profile delays a job that the empty machine cannot hold at all times; an optimal schedule with a soft one also a
    job that alone uses more than is desired at some time. With a period, a job waits less than one period on an empty
    machine: else all later jobs could start a period earlier at the same cost.

    Returns
    -------
    tuple of int
        The time in seconds from which on a profile without period has no more steps (``now`` if there are none), and the
        sum of the greatest delays of the jobs in seconds.
    """
    if p.desired is None:
        return p.now, 0
    period, least = p.desired.period, _least_totals(p)
    resources = p.platform.resources
    known: dict[Shape, bool] = {}
    total, held = 0, False
    for job in p.jobs:
        shape = shape_of(job, resources)
        if shape not in known:
            known[shape] = p.desired.empty_machine.always(shape) and all(
                sum(units * request[k] for units, request in shape) <= least[r] for k, r in enumerate(resources)
            )
        if known[shape] and (job.power or 0.0) <= least[POWER_OF_MACHINE]:
            continue
        held = True
        if period is not None:
            total += math.lcm(period, DAY) if p.calendar(job) else period
    return (p.desired.last_change if held and period is None else p.now), total


def _least_totals(p: Dispatch) -> dict[str, float]:
    """Return for each resource the least desired amount of the machine; infinite for a power that is not wished."""
    assert p.desired is not None
    found = {
        r: sum(g.count * min(p.desired.of(g.name, r).amounts) for g in p.platform.groups) for r in p.platform.resources
    }
    power = math.inf if p.desired.power is None else min(p.desired.power.amounts)
    return {**found, POWER_OF_MACHINE: power}
