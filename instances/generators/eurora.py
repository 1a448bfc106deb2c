"""Generator of dispatching instances: days of the Eurora supercomputer as in [Bridi2018, 4.5.2].

Taken from [Bridi2018, 4.5.2]: 89 % of the jobs arrive uniformly between 8:00 and 18:00, the others uniformly in the
rest of the day; 27 % go to ``debug``, 72 % to ``parallel``, 1 % to ``np_longpar``; units (nodes) are uniform in 1..2
(debug) or 1..32, cores per unit uniform in 1..16; the walltime follows from the average volume of utilization of the
queue (equation 4.8, table 4.10, core-seconds); GPUs, MICs and memory per unit follow tables 4.11 and 4.12; 20 % of the
jobs run for exactly their walltime W, the others uniformly in [0.20 W, W).

Own assumptions: each share is a fixed number of jobs, computed by largest remainders (this normalises shares that do
not add up to 100) and assigned in random order; fractions of a second are rounded up; ids follow the submit times. The
smallest walltime is 202 s (a debug job of 2 x 16 cores), so it needs no lower limit. Jobs that the platform cannot hold
are repaired before the walltime is computed: a job with GPUs gets no MICs, and the number of units is limited to that
of the empty platform. All random numbers come from ``random.Random(seed).random()``, whose sequence Python keeps across
versions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from ...errors import WrongValue
from ...models.dispatch.jobs import DAY, Job, Queue
from ...models.dispatch.problem import Dispatch
from ...models.platform import NodeGroup, Platform
from ...models.words import how_many
from ..instance import Instance

VERSION = 1
SOURCE = "T. Bridi, PhD thesis, University of Bologna: section 4.5.2, tables 4.10 to 4.12"
MORNING = 8 * 3600
EVENING = 18 * 3600
DAYTIME = 89
NIGHT = 11
FULL_RUNTIME = 20
SHORTER = 80
CORES = 16
MOST_FACTOR = 1000
GB = 1024
T = TypeVar("T")


@dataclass(frozen=True, eq=False)  # hashed by identity: requests are dictionaries
class QueueProfile:
    """The distribution of the jobs of a queue.

    ``share``: percent of all jobs; ``most_units``: largest number of units; ``volume``: core-seconds of a job;
    ``gpus``, ``mics``, ``memory`` (GB): amount per unit -> percent of the jobs of the queue.
    """

    queue: Queue
    share: int
    most_units: int
    volume: int
    gpus: dict[int, int]
    mics: dict[int, int]
    memory: dict[int, int]


PROFILES = (
    QueueProfile(
        Queue("debug", 3600),
        share=27,
        most_units=2,
        volume=6465,
        gpus={0: 96, 1: 3, 2: 1},
        mics={0: 99, 1: 0, 2: 1},
        memory={1: 5, 4: 77, 8: 3, 14: 15},
    ),
    QueueProfile(
        Queue("parallel", 18000),
        share=72,
        most_units=32,
        volume=147145,
        gpus={0: 31, 1: 4, 2: 65},
        mics={0: 99, 1: 1, 2: 0},
        memory={1: 22, 4: 17, 8: 55, 14: 6},
    ),
    QueueProfile(
        Queue("np_longpar", 86400, ((EVENING, MORNING + DAY),)),
        share=1,
        most_units=32,
        volume=111372,
        gpus={0: 19, 1: 0, 2: 81},
        mics={0: 100, 1: 0, 2: 0},
        memory={1: 88, 4: 0, 8: 4, 14: 8},
    ),
)


def platform(nodes: int = 65) -> Platform:
    """Return Eurora: 32 nodes with GPUs, 32 with MICs, a login node; or a small machine with 2 nodes of each kind.

    Raises ValueError unless ``nodes`` is 65 or 4.
    """
    if nodes not in (4, 65):
        raise WrongValue(f"nodes is {nodes}; Eurora has 65 nodes, or 4 in the small test of [Bridi2018]")
    half = (nodes - nodes % 2) // 2
    groups = [
        NodeGroup("gpu", half, {"cores": CORES, "gpus": 2, "mics": 0, "memory": 16 * GB}),
        NodeGroup("mic", half, {"cores": CORES, "gpus": 0, "mics": 2, "memory": 16 * GB}),
    ]
    if nodes % 2:
        groups.append(NodeGroup("login", 1, {"cores": 12, "gpus": 0, "mics": 0, "memory": 16 * GB}))
    return Platform(groups)


def generate(
    jobs: int, seed: int, nodes: int = 65, kinds: int | None = None, units_factor: float | None = None
) -> Instance:
    """Generate a day of ``jobs`` jobs; the same arguments give the same instance.

    Parameters
    ----------
    jobs
        Number of jobs.
    seed
        Random seed.
    nodes
        65, or 4 for the small machine of [Bridi2018, 4.5.1].
    kinds
        Number of kinds of resources, 1 to 6, as in the test of the overhead [Bridi2018, figure 4.5]; see
        `platform_of_kinds`. Instances that differ only in this number have the same jobs, except for their requests.
        None: cores, GPUs, MICs and memory as on Eurora.
    units_factor
        Factor of the number of units of each job, above 0; walltimes and runtimes stay as without it, so that the
        workload grows with the factor. Units are rounded, at least 1, and limited to what the empty platform holds.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> generate(jobs=330, seed=7).jobs[0].id
    'j001'
    >>> generate(jobs=100, seed=7, nodes=4, kinds=2).platform.resources
    ('cores', 'memory')
    """
    if jobs < 1:
        raise WrongValue(f"jobs is {jobs}; expected at least 1 job")
    factor = 1.0 if units_factor is None else units_factor
    if not 0 < factor <= MOST_FACTOR:
        raise WrongValue(f"units_factor is {factor:g}; expected a number above 0 and at most {MOST_FACTOR}")
    machine = platform(nodes)
    random = Random(seed)
    if kinds is not None:
        check_kinds(kinds)
        machine = platform_of_kinds(len(machine.nodes), len(KINDS))
    submits = sorted(_submit_times(jobs, random))
    profiles = _deal({p: p.share for p in PROFILES}, jobs, random)
    fully = _deal({True: FULL_RUNTIME, False: SHORTER}, jobs, random)
    requests = _requests(profiles, random) if kinds is None else _requests_of_kinds(jobs, random)
    repairs = {"units_capped": 0, "mics_removed": 0}
    made = []
    for k, (submit, profile, full) in enumerate(zip(submits, profiles, fully, strict=True)):
        drawn = 1 + _below(profile.most_units, random)
        units, request = _repaired(machine, drawn, requests[k], repairs, exclusive=kinds is None)
        walltime = math.ceil(profile.volume / (units * request["cores"]))
        shortest = math.ceil(walltime / 5)
        runtime = walltime if full else shortest + _below(walltime - shortest, random)
        if factor != 1:
            scaled = max(1, math.floor(drawn * factor + 0.5))
            units, request = _repaired(machine, scaled, request, repairs, exclusive=kinds is None)
        name = f"j{k + 1:0{len(str(jobs))}d}"
        made.append(Job(name, submit, walltime, units, request, profile.queue.name, runtime=runtime))
    options: dict[str, float] = {}
    if kinds is not None:
        machine, made = with_first_kinds(machine, made, kinds)
        options["kinds"] = kinds
    if units_factor is not None:
        options["units_factor"] = units_factor
    problem = Dispatch(machine, made, [p.queue for p in PROFILES], "weighted-wait")
    return Instance(
        name=f"eurora_{jobs}",
        kind="dispatch",
        problem=problem,
        description=f"A generated day of the Eurora supercomputer: {how_many(jobs, 'job')}, {how_many(nodes, 'node')}",
        source=SOURCE,
        generator={"name": "eurora", "version": VERSION, "seed": seed, "jobs": jobs, "nodes": nodes, **options},
        repairs=repairs,
    )


def _below(n: int, random: Random) -> int:
    """Draw a whole number uniformly from 0..n-1."""
    return int(random.random() * n)


def _deal(shares: dict[T, int], count: int, random: Random) -> list[T]:
    """Return ``count`` values in the proportions of ``shares``, by largest remainders, in random order."""
    total = sum(shares.values())
    numbers = {value: count * share // total for value, share in shares.items()}
    by_remainder = sorted(shares, key=lambda value: -(count * shares[value] % total))
    for value in by_remainder[: count - sum(numbers.values())]:
        numbers[value] += 1
    dealt = [value for value, n in numbers.items() for _ in range(n)]
    for i in range(count - 1, 0, -1):  # Fisher-Yates; random.shuffle may change between versions
        k = _below(i + 1, random)
        dealt[i], dealt[k] = dealt[k], dealt[i]
    return dealt


def _submit_times(count: int, random: Random) -> list[int]:
    """Draw submit times in seconds since midnight, unsorted."""
    day = EVENING - MORNING
    submit_times = []
    for in_daytime in _deal({True: DAYTIME, False: NIGHT}, count, random):
        second = _below(day if in_daytime else DAY - day, random)
        submit_times.append((second + (MORNING if in_daytime else EVENING)) % DAY)
    return submit_times


def _requests(profiles: Sequence[QueueProfile], random: Random) -> list[dict[str, int]]:
    """Draw the request per unit of each job; within a queue each value has its fixed number of jobs."""
    requests: list[dict[str, int]] = [{} for _ in profiles]
    for profile in PROFILES:
        members = [k for k, p in enumerate(profiles) if p is profile]
        columns = [_deal(shares, len(members), random) for shares in (profile.gpus, profile.mics, profile.memory)]
        for k, gpus, mics, memory in zip(members, *columns, strict=True):
            cores = 1 + _below(CORES, random)
            requests[k] = {"cores": cores, "gpus": gpus, "mics": mics, "memory": memory * GB}
    return requests


def _requests_of_kinds(count: int, random: Random) -> list[dict[str, int]]:
    """Draw requests of all six kinds: cores for each job, each further kind for its fixed share of the jobs."""
    asked = {name: _deal({True: ASKED, False: 100 - ASKED}, count, random) for name in KINDS[1:]}
    return [
        {"cores": 1 + _below(CORES, random)}
        | {name: (1 + _below(ON_NODE[name], random)) * asked[name][k] for name in KINDS[1:]}
        for k in range(count)
    ]


def _repaired(
    machine: Platform, units: int, request: dict[str, int], repairs: dict[str, int], exclusive: bool
) -> tuple[int, dict[str, int]]:
    """Return units and request that the empty platform can hold; changes are counted in ``repairs``.

    ``exclusive``: no node has GPUs and MICs.
    """
    if exclusive and request["gpus"] and request["mics"]:
        repairs["mics_removed"] += 1
        request = {**request, "mics": 0}
    wanted = [request[r] for r in machine.resources]
    room = sum(len(nodes) * machine.units_on(vector, wanted) for vector, nodes in machine.classes.items())
    if units > room:
        repairs["units_capped"] += 1
    return min(units, room), request


# --- Machines with one to six kinds of resources, for the overhead of dispatchers [Bridi2018, 4.5.1, figure 4.5].
#
# The thesis gives the number of kinds and no more. Own assumptions: the kinds are the first ones of ``KINDS``. Every node
# has cores; each further kind is on half of the nodes and requested by 30 % of the jobs. The halves cross each other, so
# that some nodes have all kinds and a job may request any of them together. The amount per unit is uniform from 1 to the
# amount of a node.

ON_NODE = {"cores": 16, "memory": 16384, "gpus": 2, "mics": 2, "scratch": 100, "licence": 4}
"""Amount of each kind on a node that has it: memory in MB, scratch in GB."""
KINDS = tuple(ON_NODE)
ASKED = 30  # percent of the jobs that request a kind other than cores


def check_kinds(kinds: int) -> None:
    """Raise WrongValue if the number of kinds is not from 1 to the number that exists."""
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
