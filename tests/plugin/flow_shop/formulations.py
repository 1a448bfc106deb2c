"""A formulation of flow shops that the class of the problem does not have."""

from __future__ import annotations

from itertools import combinations

import schedlab as sl
from schedlab.models import Encoding, Schedule

from .problem import FlowShop


def orders(shop: FlowShop) -> Encoding:
    """Return a model with a binary variable for the order of each pair of jobs, the same on both machines.

    Parameters
    ----------
    shop : FlowShop
        The jobs.
    """
    longest = sum(a + b for a, b in shop.jobs.values())
    model = sl.Model("flow shop by orders")
    start = {f"{j} {k}": model.integer(f"{j} {k}", 0, longest) for j in shop.jobs for k in "12"}
    first = {pair: model.boolean(f"{pair[0]} before {pair[1]}") for pair in combinations(shop.jobs, 2)}
    for (i, j), before in first.items():
        for k in (0, 1):
            one = start[f"{i} {k + 1}"]
            other = start[f"{j} {k + 1}"]
            model.add(one + shop.jobs[i][k] <= other + longest - longest * before)
            model.add(other + shop.jobs[j][k] <= one + longest * before)
    end = model.integer("makespan", 0, longest)
    for j, (a, b) in shop.jobs.items():
        model.add(start[f"{j} 1"] + a <= start[f"{j} 2"])
        model.add(start[f"{j} 2"] + b <= end)
    model.minimize(end + 0)

    def write(schedule: Schedule) -> sl.Assignment:
        values = {variable: schedule.start[name] for name, variable in start.items()}
        earlier = {x: int(schedule.start[f"{i} 1"] < schedule.start[f"{j} 1"]) for (i, j), x in first.items()}
        return sl.Assignment(model, {**values, **earlier, end: int(shop.value(schedule))})

    return Encoding(model, lambda a: Schedule({name: a[v] for name, v in start.items()}), write)
