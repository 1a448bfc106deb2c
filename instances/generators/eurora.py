"""Days of the Eurora supercomputer, generated as in Bridi's thesis, section 4.5.2.

What the thesis gives: 89 % of the jobs arrive uniformly between 8:00 and 18:00, the others uniformly in the rest of the
day; 27 % go to ``debug``, 72 % to ``parallel``, 1 % to ``np_longpar``; units (nodes) are uniform in 1..2 (debug) or
1..32, cores per unit uniform in 1..16; the walltime makes up the queue's average volume of utilization (equation 4.8,
table 4.10, core-seconds); GPUs, MICs and memory per unit follow tables 4.11 and 4.12; 20 % of the jobs run for exactly
their walltime W, the others uniformly in [0.20 W, W).

What is ours: all shares are fixed numbers of jobs, by largest remainders (shares that did not add up to 100 would be
normalised by this), dealt out by shuffling; fractions of a second are rounded up; ids follow the submit times. The
smallest walltime is 202 s (a debug job of 2 x 16 cores), so it needs no lower limit. What cannot run on the platform is
repaired before the walltime is computed: a job with GPUs gets no MICs, and units are capped at what the empty platform
holds. Random numbers come from ``random.Random(seed).random()`` alone, whose sequence Python keeps across versions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from ...models.dispatch.jobs import DAY, Job, Queue
from ...models.dispatch.problem import Dispatch
from ...models.platform import NodeGroup, Platform
from ..instance import Instance

VERSION = 1
SOURCE = "T. Bridi, PhD thesis, University of Bologna: section 4.5.2, tables 4.10 to 4.12"
MORNING, EVENING = 8 * 3600, 18 * 3600
DAYTIME, NIGHT = 89, 11
FULL_RUNTIME, SHORTER = 20, 80
CORES = 16
GB = 1024
T = TypeVar("T")


@dataclass(frozen=True, eq=False)  # hashed by identity: requests are dictionaries
class QueueProfile:
    """A queue's jobs: share in percent, most units, volume in core-seconds; percent of jobs per value of a request."""

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
    """Eurora: 32 nodes with GPUs, 32 with MICs and a login node; or the thesis's small one of 4 nodes, 2 of each kind.

    Raises ValueError for another number of nodes.
    """
    if nodes not in (4, 65):
        raise ValueError(f"Eurora has 65 nodes, or 4 in the small test of the thesis, not {nodes}")
    half = (nodes - nodes % 2) // 2
    groups = [
        NodeGroup("gpu", half, {"cores": CORES, "gpus": 2, "mics": 0, "memory": 16 * GB}),
        NodeGroup("mic", half, {"cores": CORES, "gpus": 0, "mics": 2, "memory": 16 * GB}),
    ]
    if nodes % 2:
        groups.append(NodeGroup("login", 1, {"cores": 12, "gpus": 0, "mics": 0, "memory": 16 * GB}))
    return Platform(groups)


def generate(jobs: int, seed: int, nodes: int = 65) -> Instance:
    """A day of ``jobs`` jobs on 65 (or 4) nodes; the same arguments give the same instance. Raises ValueError.

    >>> generate(jobs=330, seed=7).jobs[0].id
    'j001'
    """
    if jobs < 1:
        raise ValueError(f"a day has at least 1 job, not {jobs}")
    machine, random = platform(nodes), Random(seed)
    submits = sorted(_submit_times(jobs, random))
    profiles = _deal({p: p.share for p in PROFILES}, jobs, random)
    fully = _deal({True: FULL_RUNTIME, False: SHORTER}, jobs, random)
    requests = _requests(profiles, random)
    repairs = {"units_capped": 0, "mics_removed": 0}
    made = []
    for k, (submit, profile, full) in enumerate(zip(submits, profiles, fully, strict=True)):
        units, request = _repaired(machine, 1 + _below(profile.most_units, random), requests[k], repairs)
        walltime = math.ceil(profile.volume / (units * request["cores"]))
        shortest = math.ceil(walltime / 5)
        runtime = walltime if full else shortest + _below(walltime - shortest, random)
        name = f"j{k + 1:0{len(str(jobs))}d}"
        made.append(Job(name, submit, walltime, units, request, profile.queue.name, runtime=runtime))
    problem = Dispatch(machine, made, [p.queue for p in PROFILES], "weighted-wait")
    return Instance(
        name=f"eurora_{jobs}",
        kind="dispatch",
        problem=problem,
        description=f"A generated day of the Eurora supercomputer: {jobs} jobs, {nodes} nodes",
        source=SOURCE,
        generator={"name": "eurora", "version": VERSION, "seed": seed, "jobs": jobs, "nodes": nodes},
        repairs=repairs,
    )


def _below(n: int, random: Random) -> int:
    """Uniform in 0..n-1."""
    return int(random.random() * n)


def _deal(shares: dict[T, int], count: int, random: Random) -> list[T]:
    """``count`` values in the proportions of ``shares``, by largest remainders, in random order."""
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
    """Seconds of the day, in no order."""
    day = EVENING - MORNING
    found = []
    for in_daytime in _deal({True: DAYTIME, False: NIGHT}, count, random):
        second = _below(day if in_daytime else DAY - day, random)
        found.append((second + (MORNING if in_daytime else EVENING)) % DAY)
    return found


def _requests(profiles: Sequence[QueueProfile], random: Random) -> list[dict[str, int]]:
    """What a unit of each job asks for; within a queue every value has its fixed number of jobs."""
    found: list[dict[str, int]] = [{} for _ in profiles]
    for profile in PROFILES:
        members = [k for k, p in enumerate(profiles) if p is profile]
        columns = [_deal(shares, len(members), random) for shares in (profile.gpus, profile.mics, profile.memory)]
        for k, gpus, mics, memory in zip(members, *columns, strict=True):
            cores = 1 + _below(CORES, random)
            found[k] = {"cores": cores, "gpus": gpus, "mics": mics, "memory": memory * GB}
    return found


def _repaired(
    machine: Platform, units: int, request: dict[str, int], repairs: dict[str, int]
) -> tuple[int, dict[str, int]]:
    """Units and request that the empty platform can hold; changes are counted."""
    if request["gpus"] and request["mics"]:
        repairs["mics_removed"] += 1
        request = {**request, "mics": 0}
    wanted = [request[r] for r in machine.resources]
    room = sum(len(nodes) * machine.units_on(vector, wanted) for vector, nodes in machine.classes.items())
    if units > room:
        repairs["units_capped"] += 1
    return min(units, room), request
