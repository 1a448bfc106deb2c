"""Priority rules for the tasks of a project [Kolisch1996b].

Task i has the duration d(i), the immediate successors S(i), all successors A(i), the demand q(i, r) of the renewable
resource r with the capacity C(r), the earliest start ES(i), and the latest finish time LF(i); both by longest paths
without resources. n(S) is the number of tasks in S. The task with the least value is first; ties are broken by the order
of the project.

========  ===============================  =========================================
rule      name                             value
========  ===============================  =========================================
``lft``   latest finish time               LF(i)
``lst``   latest start time                LF(i) - d(i)
``slack`` minimum slack                    LF(i) - d(i) - ES(i)
``est``   earliest start time              ES(i)
``mts``   most total successors            -n(A(i))
``mis``   most immediate successors        -n(S(i))
``grpw``  greatest rank positional weight  -(d(i) + sum of d(j) over j in S(i))
``grd``   greatest resource demand         -d(i) * (sum of q(i, r) / C(r) over all r)
``spt``   shortest processing time         d(i)
========  ===============================  =========================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...models.project.tasks import Mode
from .network import Network, heads, tails

Values = list[float]


def priorities(net: Network, rule: str, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    """Return the value of each task by a rule; the task with the least value is first.

    Parameters
    ----------
    net
        The tasks.
    rule
        Name of the rule, one of ``PRIORITY_RULES``.
    modes
        The mode of each task, which gives its duration and demands.
    capacity
        Capacity of each renewable resource.

    Returns
    -------
    list of float
        The value of each task.
    """
    return _RULES[rule](net, modes, capacity)


def _durations(modes: Sequence[Mode]) -> list[int]:
    return [m.duration for m in modes]


def _latest_finish(net: Network, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [-tail for tail in tails(net, _durations(modes))]  # relative to the end of the project


def _latest_start(net: Network, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [-tail - m.duration for tail, m in zip(tails(net, _durations(modes)), modes, strict=True)]


def _slack(net: Network, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    earliest = heads(net, _durations(modes))
    return [latest - es for latest, es in zip(_latest_start(net, modes, capacity), earliest, strict=True)]


def _earliest_start(net: Network, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [*heads(net, _durations(modes))]


def _total_successors(net: Network, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    reached = [0] * len(net.names)  # the bits of a number are the successors of a task
    for k in reversed(net.order):
        for j, _ in net.after[k]:
            reached[k] |= reached[j] | 1 << j
    return [-bits.bit_count() for bits in reached]


def _immediate_successors(net: Network, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [-len(after) for after in net.after]


def _rank_weight(net: Network, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [-(m.duration + sum(modes[j].duration for j, _ in a)) for m, a in zip(modes, net.after, strict=True)]


def _resource_demand(net: Network, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [-m.duration * sum(m.demands.get(r, 0) / c for r, c in capacity.items() if c) for m in modes]


def _shortest(net: Network, modes: Sequence[Mode], capacity: Mapping[str, int]) -> Values:
    return [*_durations(modes)]


_RULES: dict[str, Callable[[Network, Sequence[Mode], Mapping[str, int]], Values]] = {
    "lft": _latest_finish,
    "lst": _latest_start,
    "slack": _slack,
    "est": _earliest_start,
    "mts": _total_successors,
    "mis": _immediate_successors,
    "grpw": _rank_weight,
    "grd": _resource_demand,
    "spt": _shortest,
}
PRIORITY_RULES = tuple(_RULES)
