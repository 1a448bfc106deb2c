"""Generator of a week of Eurora in production: reservations, outages, job arrays, heterogeneous jobs, a stopped queue.

The jobs of each day are those of ``eurora`` ([Bridi2018, 4.5.2]; second 0 is a Monday, 0:00). What is added is our own:

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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from ...errors import WrongValue
from ...models.dispatch.jobs import DAY, Job, Queue, impossible
from ...models.dispatch.problem import Dispatch
from ...models.node_states import NodeEvent
from ...models.platform import Platform
from ...models.reservations import Repeat, Reservation
from ...models.server_events import ServerEvent
from ...models.words import how_many
from ..instance import Instance
from . import eurora

VERSION = 1
HOUR = 3600
DAYS = 7
WEEKEND = (5, 6)
WEEKEND_SHARE = 0.4
LONGER = 3
USERS = 12
STUDENTS = ("u2", "u5", "u9")
ARRAYS = 0.04
MOST_OF_ARRAY = 6
SHORTER = 4
COURSE_JOBS = 6
LEAST = 50  # jobs
MON, TUE, WED, THU, FRI, SAT, _ = range(0, DAYS * DAY, DAY)


def generate(jobs: int, seed: int) -> Instance:
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
    >>> made = generate(60, 7)
    >>> [r.name for r in made.reservations]
    ['course', 'demo', 'benchmark', 'workshop']
    """
    if jobs < LEAST:
        raise WrongValue(f"jobs is {jobs}; expected at least {LEAST} jobs for a week")
    random = Random(seed)
    machine = eurora.platform()
    rows = sorted(_jobs(jobs, seed, random), key=lambda j: j.submit)
    made = [replace(j, id=f"j{k + 1:0{len(str(jobs))}d}") for k, j in enumerate(rows)]
    made = [each for job in made for each in _with_array(job, random)]
    made = sorted([*made, *_course_jobs(random)], key=lambda j: j.submit)
    assert not impossible(machine, made)
    queues = [
        *(p.queue for p in eurora.PROFILES),
        *(Queue(name, HOUR) for name in ("course", "demo", "test", "workshop")),
    ]
    events: list[NodeEvent | ServerEvent] = [*_outages(), *_server_events(made, random)]
    return Instance(
        name="eurora_production",
        kind="dispatch",
        problem=Dispatch(machine, made, queues, "weighted-wait"),
        description=f"A generated week of the Eurora supercomputer in production: {how_many(len(made), 'job')}, reservations, outages",
        source=f"{eurora.SOURCE}; reservations and events: own assumptions",
        generator={"name": "eurora-production", "version": VERSION, "seed": seed, "jobs": jobs},
        events=tuple(sorted(events, key=lambda e: e.time)),
        reservations=_reservations(machine),
    )


def _jobs(jobs: int, seed: int, random: Random) -> Iterator[Job]:
    """Yield the jobs of all days, without the final ids."""
    shares = [WEEKEND_SHARE if d in WEEKEND else 1.0 for d in range(DAYS)]
    ends = [round(jobs * sum(shares[: d + 1]) / sum(shares)) for d in range(DAYS)]
    weights = [1 / (k + 1) for k in range(USERS)]
    for d, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        for job in eurora.generate(end - begin, seed * DAYS + d).jobs:
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
    walltime = math.ceil(job.walltime / SHORTER)
    runtime = min(walltime, math.ceil((job.runtime or 0) / SHORTER))
    return [replace(job, id=f"{job.id}[{k}]", array=job.id, walltime=walltime, runtime=runtime) for k in range(count)]


def _course_jobs(random: Random) -> Iterator[Job]:
    """Yield the jobs of the three courses; the last one of each is too long for it."""
    none = {"gpus": 0, "mics": 0}
    for day, begin in zip(("mon", "wed", "fri"), (MON, WED, FRI), strict=True):
        for k in range(COURSE_JOBS):
            submit = begin + 9 * HOUR + int(random.random() * HOUR)
            walltime = 3 * HOUR if k == COURSE_JOBS - 1 else 900 + 300 * int(random.random() * 9)
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
