"""The nodes of a replay over time, as means of hours: on, in use, and the cores in use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from schedlab.instances import Instance
from schedlab.models.array_types import Floats, Ints
from schedlab.models.step_function import HOUR
from schedlab.simulation import Simulation
from schedlab.simulation.curves import busy_nodes
from schedlab.simulation.records import OffIntervals


def curves(run: Simulation, states: OffIntervals, instance: Instance) -> Mapping[str, Any]:
    """Return the hourly means: ``begin`` (s), and the lists ``on``, ``in_use`` (nodes), ``cores`` and ``watts`` of jobs.

    Parameters
    ----------
    run : Simulation
        The replay.
    states : OffIntervals
        When nodes were not on.
    instance : Instance
        The instance, for its number of nodes.
    """
    begin = int(run.workload.submit.min()) // HOUR * HOUR
    end = int(run.end.max())
    bounds = np.append(np.arange(begin, end, HOUR), end)
    nodes = len(instance.platform.nodes)
    w = run.workload
    cores = w.job_arrays.amounts[:, w.resources.index("cores")]
    away = hourly(states.begin, states.end, np.ones(states.begin.size), bounds)
    return {
        "begin": begin,
        "on": np.round(nodes - away, 3).tolist(),
        "in_use": np.round(_in_use(run, bounds), 3).tolist(),
        "cores": np.round(hourly(run.start, run.end, cores.astype(float), bounds), 3).tolist(),
        "watts": np.round(hourly(run.start, run.end, w.power, bounds), 1).tolist(),
    }


def hourly(begin: Ints, end: Ints, amount: Floats, bounds: Ints) -> Floats:
    """Return the mean of a sum of amounts, each in [begin, end), between consecutive bounds."""
    at = np.zeros(bounds.size)
    for time, sign in ((begin, 1.0), (end, -1.0)):
        order = np.argsort(time, kind="stable")
        total = np.concatenate([[0.0], np.cumsum(amount[order])])
        moment = np.concatenate([[0.0], np.cumsum(amount[order] * time[order])])
        k = np.searchsorted(time[order], bounds, side="right")
        at += sign * (total[k] * bounds - moment[k])
    per_hour: Floats = np.diff(at) / np.diff(bounds)
    return per_hour


def _in_use(run: Simulation, bounds: Ints) -> Floats:
    """Return the mean number of nodes that run a job."""
    p = run.placement
    begin, end = busy_nodes(run.start, run.end, p.first, p.low, p.high)
    return hourly(begin, end, np.ones(begin.size), bounds)
