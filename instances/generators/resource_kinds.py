"""Machines with one to six kinds of resources, for the overhead of dispatchers [Bridi2018, 4.5.1, figure 4.5].

The thesis gives the number of kinds and no more. Own assumptions: the kinds are the first ones of ``KINDS``. Every node
has cores; each further kind is on half of the nodes and requested by 30 % of the jobs. The halves cross each other, so
that some nodes have all kinds and a job may request any of them together. The amount per unit is uniform from 1 to the
amount of a node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ...errors import WrongValue
from ...models.dispatch.jobs import Job
from ...models.platform import NodeGroup, Platform

ON_NODE = {"cores": 16, "memory": 16384, "gpus": 2, "mics": 2, "scratch": 100, "licence": 4}
"""Amount of each kind on a node that has it: memory in MB, scratch in GB."""
KINDS = tuple(ON_NODE)
ASKED = 30  # percent of the jobs that request a kind other than cores


def check_kinds(kinds: int) -> None:
    """Raise WrongValue unless there are so many kinds."""
    if not 1 <= kinds <= len(KINDS):
        raise WrongValue(f"kinds is {kinds}; expected 1 to {len(KINDS)}: the first of {', '.join(KINDS)}")


def platform_of_kinds(nodes: int, kinds: int) -> Platform:
    """Return a machine whose nodes have the first ``kinds`` kinds of resources.

    Further kind q (from 0) is on the nodes i whose bit ``q mod floor(log2(nodes))`` is 0: half of the nodes, or one more.

    Parameters
    ----------
    nodes
        Number of nodes, at least 2.
    kinds
        Number of kinds, 1 to 6.

    Returns
    -------
    Platform
        Groups of nodes with the same kinds, named by them.

    Examples
    --------
    >>> [(g.name, g.count) for g in platform_of_kinds(4, 3).groups]
    [('cores-memory-gpus', 1), ('cores-gpus', 1), ('cores-memory', 1), ('cores', 1)]
    """
    check_kinds(kinds)
    bits = nodes.bit_length() - 1
    counts: dict[tuple[str, ...], int] = defaultdict(int)
    for i in range(nodes):
        here = (name for q, name in enumerate(KINDS[1:kinds]) if not i >> q % bits & 1)
        counts["cores", *here] += 1
    return Platform(
        [
            NodeGroup("-".join(has), count, {name: ON_NODE[name] * (name in has) for name in KINDS[:kinds]})
            for has, count in counts.items()
        ]
    )


def with_first_kinds(machine: Platform, jobs: Sequence[Job], kinds: int) -> tuple[Platform, list[Job]]:
    """Return the machine with the first ``kinds`` kinds only, and the jobs with their requests of these."""
    kept = KINDS[:kinds]
    fewer = [replace(job, request={name: job.request[name] for name in kept}) for job in jobs]
    return platform_of_kinds(len(machine.nodes), kinds), fewer
