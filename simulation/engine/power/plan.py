"""The node policy of a replay, checked against its other options."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ....errors import WrongValue
from ....instances.workload import Workload
from ....models.arguments import expect
from ....models.dispatch.jobs import DAY
from ...node_policies import NodePolicy, Switching
from ...node_policies.registry import node_policy_of
from .record import PowerPlan

WHY = (
    "reservations, private queues and on-demand jobs must have their nodes at a given time, and nodes are not booted ahead of "
    "them"
)


def power_of(
    node_policy: str | NodePolicy | type[NodePolicy] | None,
    switching: Switching | None,
    dispatcher: object,
    workload: Workload,
    others: Mapping[str, object],
) -> PowerPlan | None:
    """Return the node policy of a replay; None if there is none.

    Parameters
    ----------
    node_policy : str or NodePolicy, optional
        As in ``simulate``. None: that of the dispatcher, if it has one.
    switching : Switching, optional
        The times of nodes; None: the usual ones.
    dispatcher : object
        The dispatcher.
    workload : Workload
        The jobs.
    others : mapping of str to object
        Options that cannot be combined with a node policy, by name; false values are not given.

    Raises
    ------
    WrongValue
        If the times are given without a policy, an option cannot be combined with it, or nodes need longer to come back
        than the replay lasts.
    """
    expect("switching of simulate", switching, Switching | None)
    chosen = getattr(dispatcher, "node_policy", None) if node_policy is None else node_policy
    if chosen is None:
        if switching is not None:
            raise WrongValue("switching: only with node_policy; give one, such as idle:30min")
        return None
    policy, times = node_policy_of(chosen), switching or Switching()
    given = next((name for name, value in others.items() if value), None)
    if given is not None:
        raise WrongValue(f"node_policy {policy.name} and {given} cannot be combined: {WHY}; leave one of them out")
    begin = int(workload.submit.min()) if workload.begin is None else workload.begin
    horizon = _last_end(workload, begin) - begin
    plan = PowerPlan(policy, times)
    if not plan.still and times.boot > horizon:
        raise WrongValue(
            f"boot is {times.boot} s, beyond the horizon: all jobs can end {horizon} s after the begin of the "
            "replay, and no node that is switched off would come back in time"
        )
    return plan


def _last_end(workload: Workload, begin: int) -> int:
    """Return the time in seconds by which all jobs can end, each as late as its start windows allow.

    A job without windows starts at its release, and in a queue with daily windows up to a day later.
    """
    start = np.maximum(workload.release, begin)
    daily = np.array([bool(queue.daily) for queue in workload.queues], np.bool_)
    start = start + np.where(daily[workload.queue], DAY, 0)
    for row, windows in workload.windows.items():
        start[row] = max(int(start[row]), max((last for _, last in windows), default=0))
    return max([int((start + workload.runtime).max()), *(r.true_end for r in workload.running)])
