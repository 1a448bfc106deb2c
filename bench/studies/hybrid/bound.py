"""A bound on the profit of every schedule and every node policy, idle energy included.

The account of a replay up to its last end has the energy of jobs, of idle cores and of nodes that boot. The energy of the
last two is at least 0, energy prices are at least 0, and the cooling power does not fall with the IT power; so the account is
at most that of the same starts with the power of the jobs alone. That is the profit of a schedule of ``Profit`` whose horizon
ends at any time at or after the last end, as no power needs no cooling. The fluid relaxation bounds it [docs/profit.md].
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import cast

from ....instances import Instance
from ....instances.files.atomic import write_whole
from ....instances.files.own_files import content_of
from ....models import Profit
from ....models.step_function import StepFunction
from ....solve import solve
from ...errors import WrongUse

METHOD = "highs:fluid@lp"


def check_valid(problem: Profit) -> None:
    """Raise WrongUse if the argument of this module does not hold for the data of a problem."""
    prices = problem.energy_price.values if isinstance(problem.energy_price, StepFunction) else (problem.energy_price,)
    if min(prices) < 0:
        raise WrongUse(f"the energy price falls to {min(prices):g} euro per kWh; the bound needs prices of at least 0")
    for row in problem.cooling.watts:
        if any(b < a - 1e-9 * max(row) for a, b in pairwise(row)):
            raise WrongUse(
                f"cooling {problem.cooling.name!r} falls with the IT power; the bound needs one that does not"
            )
    if any(row[0] != 0 for row in problem.cooling.watts) or problem.cooling.powers[0] != 0:
        raise WrongUse(f"cooling {problem.cooling.name!r} takes power without IT power; the bound needs 0")


def bound_of(folder: Path, instance: Instance, scenario: str, end: int) -> float | None:
    """Return the bound in euro on the profit of all schedules whose jobs have ended by ``end`` (s); None if it is unknown.

    Parameters
    ----------
    folder : Path
        The folder of the results; a bound in it is read.
    instance : Instance
        A profit instance.
    scenario : str
        The scenario.
    end : int
        The time by which the last job has ended, in seconds.

    Returns
    -------
    float or None
        The bound.

    Raises
    ------
    WrongUse
        If prices are negative, or the cooling falls with the IT power or takes power without any.
    """
    assert instance.path is not None
    content = content_of(instance.path)
    path = folder / f"{instance.name}.bound.{scenario.replace(',', '-')}.{end}.{content[:12]}.json"
    if path.exists():
        known: float | None = json.loads(path.read_text("utf-8"))["bound"]
        return known
    problem = cast(Profit, instance.scenario(scenario))
    check_valid(problem)
    price = problem.energy_price
    long = problem.replace(
        horizon_end=end,
        temperature=problem.temperature.lasting(end),
        energy_price=price.lasting(end) if isinstance(price, StepFunction) else price,
    )
    found = solve(long, METHOD, threads=1)
    bound = found.bound if isinstance(found.bound, float | int) else None
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"bound": bound, "status": found.status, "seconds": found.seconds["total"]}) + "\n")
    return bound
