"""Generators of dispatching instances: days of the Eurora supercomputer as in [Bridi2018, 4.5.2], a week of it in production.

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

The week in production has reservations, outages, job arrays, heterogeneous jobs, a stopped queue. The jobs of each day are those
of ``generate`` (second 0 is a Monday, 0:00). What is added is our own:

- Sizes: on Saturday and Sunday 40 % of the jobs of other days; all walltimes and runtimes are ``LONGER`` times as long,
  so that a few hundred jobs fill the machine.
- Users ``u1`` to ``u12``; user k submits a share of the jobs proportional to 1 / k.
- 4 % of the rows are arrays of 2 to 6 equal jobs, each with a quarter of the walltime (these are further jobs).
- ``course``, a standing reservation: Monday, Wednesday and Friday, 10:00 to 12:00, for three users. Its jobs arrive in
  the hour before it; a third of them are heterogeneous (PBS: ``select=2:ncpus=8:ngpus=1+1:ncpus=4``). One job of each
  course is too long to end in time.
- ``demo``, requested on Tuesday at 9:00 for 20:00; ``benchmark``, requested in advance for the night to Friday, on all
  MICs, which is more than the nodes that are up; ``workshop`` on Friday, cancelled a day before.
- Outages: ``gpu-05`` and ``gpu-06`` fail on Tuesday for a day, ``mic-09`` on Thursday for two hours; maintenance of
  ``mic-01`` to ``mic-08`` on Saturday, which are drained before.
- The queue ``parallel`` is stopped on Wednesday from 18:00 to 21:00.
- Some jobs are deleted, moved to ``np_longpar``, or get a longer walltime, a while after their submission.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from ...errors import WrongValue
from ...models.dispatch.jobs import DAY, Job, Queue, impossible
from ...models.dispatch.problem import Dispatch
from ...models.node_states import NodeEvent
from ...models.platform import NodeGroup, Platform
from ...models.reservations import Repeat, Reservation
from ...models.server_events import ServerEvent
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
    factor = 1.0
    if units_factor is not None:
        factor = units_factor
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
    if kinds is None:
        requests = _requests(profiles, random)
    else:
        requests = _requests_of_kinds(jobs, random)
    repairs = {"units_capped": 0, "mics_removed": 0}
    made = []
    for k, (submit, profile, full) in enumerate(zip(submits, profiles, fully, strict=True)):
        drawn = 1 + _below(profile.most_units, random)
        units, request = _repaired(machine, drawn, requests[k], repairs, exclusive=kinds is None)
        walltime = math.ceil(profile.volume / (units * request["cores"]))
        shortest = math.ceil(walltime / 5)
        if full:
            runtime = walltime
        else:
            runtime = shortest + _below(walltime - shortest, random)
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


PRODUCTION_VERSION = 1
HOUR = 3600
DAYS = 7
WEEKEND = (5, 6)
WEEKEND_SHARE = 0.4
LONGER = 3
USERS = 12
STUDENTS = ("u2", "u5", "u9")
ARRAYS = 0.04
MOST_OF_ARRAY = 6
SHORTER_IN_PRODUCTION = 4
COURSE_JOBS = 6
LEAST = 50  # jobs
MON, TUE, WED, THU, FRI, SAT, _ = range(0, DAYS * DAY, DAY)


def generate_production(jobs: int, seed: int) -> Instance:
    """Generate a week with about ``jobs`` rows of jobs; the same arguments give the same instance.

    Parameters
    ----------
    jobs
        Number of rows of ``jobs.csv`` without those of the course, at least 50.
    seed
        Random seed.

    Raises
    ------
    ValueError
        If there are too few jobs.

    Examples
    --------
    >>> made = generate_production(60, 7)
    >>> [r.name for r in made.reservations]
    ['course', 'demo', 'benchmark', 'workshop']
    """
    if jobs < LEAST:
        raise WrongValue(f"jobs is {jobs}; expected at least {LEAST} jobs for a week")
    random = Random(seed)
    machine = platform()
    rows = sorted(_jobs(jobs, seed, random), key=lambda j: j.submit)
    made = [replace(j, id=f"j{k + 1:0{len(str(jobs))}d}") for k, j in enumerate(rows)]
    made = [each for job in made for each in _with_array(job, random)]
    made = sorted([*made, *_course_jobs(random)], key=lambda j: j.submit)
    assert not impossible(machine, made)
    queues = [
        *(p.queue for p in PROFILES),
        *(Queue(name, HOUR) for name in ("course", "demo", "test", "workshop")),
    ]
    events: list[NodeEvent | ServerEvent] = [*_outages(), *_server_events(made, random)]
    return Instance(
        name="eurora_production",
        kind="dispatch",
        problem=Dispatch(machine, made, queues, "weighted-wait"),
        description=f"A generated week of the Eurora supercomputer in production: {how_many(len(made), 'job')}, reservations, outages",
        source=f"{SOURCE}; reservations and events: own assumptions",
        generator={"name": "eurora-production", "version": PRODUCTION_VERSION, "seed": seed, "jobs": jobs},
        events=tuple(sorted(events, key=lambda e: e.time)),
        reservations=_reservations(machine),
    )


def _jobs(jobs: int, seed: int, random: Random) -> Iterator[Job]:
    """Yield the jobs of all days, without the final ids."""
    shares = [WEEKEND_SHARE if d in WEEKEND else 1.0 for d in range(DAYS)]
    ends = [round(jobs * sum(shares[: d + 1]) / sum(shares)) for d in range(DAYS)]
    weights = [1 / (k + 1) for k in range(USERS)]
    for d, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        for job in generate(end - begin, seed * DAYS + d).jobs:
            mark = random.random() * sum(weights)
            user = 0
            while mark >= weights[user] and user + 1 < USERS:
                mark = mark - weights[user]
                user = user + 1
            yield replace(
                job, submit=job.submit + d * DAY, walltime=LONGER * job.walltime, runtime=LONGER * (job.runtime or 0),
                user=f"u{user + 1}",
            )  # fmt: skip


def _with_array(job: Job, random: Random) -> list[Job]:
    """Return the job, or the jobs of an array that it becomes."""
    if random.random() >= ARRAYS:
        return [job]
    count = 2 + int(random.random() * (MOST_OF_ARRAY - 1))
    walltime = math.ceil(job.walltime / SHORTER_IN_PRODUCTION)
    runtime = min(walltime, math.ceil((job.runtime or 0) / SHORTER_IN_PRODUCTION))
    return [replace(job, id=f"{job.id}[{k}]", array=job.id, walltime=walltime, runtime=runtime) for k in range(count)]


def _course_jobs(random: Random) -> Iterator[Job]:
    """Yield the jobs of the three courses; the last one of each is too long for it."""
    none = {"gpus": 0, "mics": 0}
    for day, begin in zip(("mon", "wed", "fri"), (MON, WED, FRI), strict=True):
        for k in range(COURSE_JOBS):
            submit = begin + 9 * HOUR + int(random.random() * HOUR)
            if k == COURSE_JOBS - 1:
                walltime = 3 * HOUR
            else:
                walltime = 900 + 300 * int(random.random() * 9)
            chunks = [(2, {**none, "cores": 8, "gpus": 1, "memory": 4096})]
            if k % 3 == 0:
                chunks.append((1, {**none, "cores": 4, "memory": 1024}))
            runtime = math.ceil(walltime * (0.3 + 0.7 * random.random()))
            user = STUDENTS[k % len(STUDENTS)]
            yield Job.of_chunks(f"{day}{k + 1}", submit, walltime, chunks, "course", runtime=runtime, user=user)


def _reservations(machine: Platform) -> tuple[Reservation, ...]:
    gpu = {"cores": 16, "gpus": 2, "memory": 8192}
    mic = {"cores": 16, "mics": 2, "memory": 8192}
    weekly = Repeat("week", 3, ("mon", "wed", "fri"))
    mics = machine.total("mics") // 2
    return (
        Reservation("course", "course", MON + 10 * HOUR, 2 * HOUR, 4, gpu, STUDENTS, repeat=weekly),
        Reservation("demo", "demo", TUE + 20 * HOUR, HOUR, 2, {"cores": 8}, submitted=TUE + 9 * HOUR),
        Reservation("benchmark", "test", THU + 22 * HOUR, 4 * HOUR, mics, mic, submitted=THU + 13 * HOUR),
        Reservation("workshop", "workshop", FRI + 14 * HOUR, 3 * HOUR, 6, gpu, submitted=TUE + 12 * HOUR),
    )


def _outages() -> Iterator[NodeEvent]:
    maintained = [f"mic-0{k}" for k in range(1, 9)]
    yield NodeEvent(TUE + 11 * HOUR + 1800, "node-down", ["gpu-05", "gpu-06"])
    yield NodeEvent(WED + 11 * HOUR + 1800, "node-up", ["gpu-05", "gpu-06"])
    yield NodeEvent(THU + 12 * HOUR, "node-down", ["mic-09"])
    yield NodeEvent(THU + 14 * HOUR, "node-up", ["mic-09"])
    yield NodeEvent(SAT, "node-drain", maintained)
    yield NodeEvent(SAT + 8 * HOUR, "node-down", maintained)
    yield NodeEvent(SAT + 16 * HOUR, "node-up", maintained)


def _server_events(jobs: Sequence[Job], random: Random) -> Iterator[ServerEvent]:
    yield ServerEvent(WED + 18 * HOUR, "stop-queue", "parallel")
    yield ServerEvent(WED + 21 * HOUR, "start-queue", "parallel")
    yield ServerEvent(THU + 9 * HOUR, "cancel-reservation", "workshop")
    free = [j for j in jobs if j.queue == "parallel" and not j.array]
    drawn = [free[int(random.random() * len(free))] for _ in range(15)]
    for k, job in enumerate(dict.fromkeys(j.id for j in drawn)):
        chosen = next(j for j in drawn if j.id == job)
        time = chosen.submit + 60 + int(random.random() * HOUR)
        kind, value = (("delete", None), ("move", "np_longpar"), ("walltime", 2 * chosen.walltime))[k % 3]
        yield ServerEvent(time, kind, job, value)
