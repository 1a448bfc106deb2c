"""Batches of a computing centre for profit problems: jobs as in a real log, on a machine of nodes of 32 cores.

What was measured, once, on the log of the CEA Curie machine (2012, the cleaned version of the Parallel Workloads Archive:
312,807 jobs, which the thesis uses too):

- arrivals by hour of the day, on weekdays and on Saturdays and Sundays (``HOURS``), and by weekday (``WEEKDAYS``): half of
  the jobs come between 9:00 and 18:00 on weekdays;
- 57 % of the jobs come from the user of the job before (``SAME_USER``), half of them within 13 s (``GAPS``); 80 % of those
  have its size and walltime too (``REPEATED``), and most of these a runtime within 1.5 times of its own;
- users: the k-th of 582 sends a share that goes as 1 / (k + 3): the first about 5 %, the first ten about 27 %;
- cores: 83 % of the jobs have a power of two (``SIZES``: the share of the jobs above half of a size and up to it, and of
  these the part of exactly that size); of the others above 64 cores half have multiples of 32, here all;
- runtimes by size (``RUNTIMES``: quantiles): half of the jobs take less than 2 minutes, a tenth more than 4 hours, up to a
  day; linear between the quantiles;
- walltimes (``WALLTIMES``): the usual round numbers, a day most often, whatever the job needs; 2 % use them up.

What is ours: day 1 is a Monday; a tenth of the jobs wait from second 0 on, as a machine under such a load has a queue
(they count as work of the first day); what a session would submit after the last day comes at the beginning; jobs have at
most half of the nodes; runtimes are multiplied by one factor so that the offered load (core-seconds of runtime over what
the machine offers from second 0 to the last submission) is what was asked for, and cut at a day; no job asks for memory,
of which the log tells nothing. Power is uniform in 7.8 to 11.11 W per core (thesis 6.8). ``shortest`` takes the jobs of
the log that run at least so long; with a ``step`` all times are multiples of it, submissions rounded down, runtimes and
walltimes up.

``profit_medium`` (seed 4) has all jobs of the log; ``profit_small`` (seed 25) those of at least 10 minutes, in whole
minutes: fewer distinct times help exact solvers, and jobs of seconds would only fill the models. The seeds were taken
before anything was solved: for work spread over all days, and a factor of the runtimes near 1 (0.94 and 0.85).

Temperatures are synthetic (``instances/climate.py``), prices and plants those of the thesis (``thesis_scenarios``).
Random numbers come from ``random.Random(seed).random()`` alone, and only sums and products are taken of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from random import Random

from ...models.dispatch.jobs import DAY, Job, Queue
from ...models.dispatch.problem import Dispatch
from ...models.platform import NodeGroup, Platform
from ..instance import Instance
from ..scenarios import WATTS_PER_CORE, thesis_scenarios
from ..weather import Weather
from .climate import SEASONS, synthetic

VERSION = 1
SOURCE = "distributions of the CEA Curie log of 2012 (Parallel Workloads Archive); T. Bridi, PhD thesis, section 6.8"
CORES, MEMORY = 32, 131072  # of a node; MB
HOUR = 3600
BACKLOG = 0.10
LONGEST = DAY
HOURS = (  # per thousand: weekdays, Saturdays and Sundays
    (22, 19, 16, 17, 16, 19, 23, 25, 34, 60, 74, 76, 58, 51, 71, 79, 82, 70, 54, 31, 23, 24, 29, 27),
    (47, 41, 30, 31, 32, 32, 37, 34, 39, 50, 49, 45, 42, 46, 43, 48, 39, 44, 44, 43, 51, 48, 45, 44),
)
WEEKDAYS = (135, 171, 187, 186, 187, 72, 62)  # per thousand, from Monday on
SAME_USER, REPEATED = 0.57, 0.80
ALIKE = 1.5  # runtimes of repeated jobs lie within this factor
GAPS = ((0.0, 0), (0.1, 0), (0.25, 1), (0.5, 2), (0.75, 13), (0.9, 60), (0.95, 119), (1.0, 524))  # share, s
USERS, FLAT = 582, 3
GRAIN = 16  # cores of a node of Curie
SIZES = (  # cores, share per thousand, of these exactly so many
    (1, 211, 1.0), (2, 53, 1.0), (4, 31, 0.95), (8, 64, 0.95), (16, 89, 0.87), (32, 99, 0.83), (64, 65, 0.83),
    (128, 109, 0.79), (256, 88, 0.78), (512, 74, 0.65), (1024, 45, 0.45), (2048, 25, 0.54), (4096, 19, 0.69),
    (8192, 13, 0.56), (16384, 8, 0.44), (32768, 3, 0.86), (65536, 2, 0.47),
)  # fmt: skip
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
RUNTIMES = (  # up to so many cores: seconds that a share of the jobs takes at most
    (1, (1, 1, 2, 5, 11, 19, 84, 186, 295, 803, 2952, 5699, 49309, 86400)),
    (16, (1, 1, 2, 3, 6, 8, 14, 44, 241, 1467, 7225, 17049, 65149, 86400)),
    (64, (1, 2, 6, 19, 54, 138, 375, 823, 2009, 7188, 28728, 64486, 86387, 86400)),
    (256, (1, 1, 4, 6, 18, 91, 285, 614, 1239, 6416, 63149, 86027, 86399, 86400)),
    (1024, (1, 1, 1, 8, 20, 85, 287, 661, 1930, 5223, 18361, 57189, 86375, 86400)),
    (2**62, (1, 1, 3, 29, 48, 104, 261, 630, 1257, 6729, 35974, 55503, 86387, 86400)),
)
WALLTIMES = (  # seconds, per thousand
    (300, 30), (600, 70), (900, 60), (1800, 130), (3600, 90), (7200, 60), (10800, 30), (14400, 40), (18000, 30),
    (30000, 30), (43200, 30), (60000, 30), (86400, 370),
)  # fmt: skip
USED_UP = 0.02


@dataclass
class Draft:
    """A job before its times are final: ``runtime`` is a real number, ``ask`` says which walltime its user takes."""

    submit: int
    user: int
    cores: int
    runtime: float
    ask: float


def generate(
    jobs: int, seed: int, nodes: int = 60, days: int = 5, load: float = 1.5, shortest: int = 1, step: int = 1
) -> Instance:
    """Jobs of ``days`` days from a Monday on, with eight scenarios; the same arguments give the same instance.

    ``load``: the offered load; ``shortest``: seconds that a job takes at least; ``step``: seconds of which all times are
    multiples. Raises ValueError for numbers that make no batch.

    >>> made = generate(jobs=60, seed=7, nodes=8, days=2, shortest=600, step=60)
    >>> made.scenarios[0], round(offered_load(made.profit.dispatch), 1)
    ('air,summer,cheap', 1.5)
    """
    _check(jobs, nodes, days, load, shortest, step)
    random = Random(seed)
    machine = Platform([NodeGroup("node", nodes, {"cores": CORES, "memory": MEMORY})])
    drafts = _drafts(jobs, nodes // 2 * CORES or CORES, days, shortest, random)
    for draft in drafts:
        draft.submit = draft.submit // step * step
    taken = _at_load(drafts, load * nodes * CORES * drafts[-1].submit, shortest, step)
    width = len(str(jobs))
    made = [
        _job(f"j{k + 1:0{width}d}", draft, seconds, step, random)
        for k, (draft, seconds) in enumerate(zip(drafts, taken, strict=True))
    ]
    batch = Dispatch(machine, made, [Queue("default", HOUR)], durations="runtime")
    seasons = {
        word: Weather(
            f"a synthetic {word}", f"schedlab.instances.generators.climate, seed {seed}", synthetic(word, days, seed)
        )
        for word in SEASONS
    }
    centre = thesis_scenarios(batch, seasons)
    sizes = {"jobs": jobs, "nodes": nodes, "days": days, "load": load, "shortest": shortest, "step": step}
    return Instance(
        name=f"centre_{jobs}",
        kind="profit",
        problem=centre.problem(centre.default),
        description=f"A generated batch of a computing centre: {jobs} jobs in {days} days, {nodes} nodes",
        source=SOURCE,
        generator={"name": "centre", "version": VERSION, "seed": seed, **sizes},
        centre=centre,
    )


def offered_load(problem: Dispatch) -> float:
    """Core-seconds that the jobs take over those that the machine offers from ``now`` to the last submission.

    Infinite if all jobs are there from the beginning.
    """
    work = sum(problem.duration(j) * j.units * j.request.get("cores", 0) for j in problem.jobs)
    span = max((j.submit for j in problem.jobs), default=problem.now) - problem.now
    return work / (span * problem.platform.total("cores")) if span > 0 else float("inf")


def _check(jobs: int, nodes: int, days: int, load: float, shortest: int, step: int) -> None:
    for what, value, least, most in (
        ("jobs", jobs, 2, 10**6), ("nodes", nodes, 1, 10**5), ("days", days, 1, 366),
        ("shortest", shortest, 1, LONGEST // 2), ("step", step, 1, HOUR),
    ):  # fmt: skip
        if not least <= value <= most:
            raise ValueError(f"{what} is {value}; {least} to {most} is expected")
    if not 0 < load < float("inf"):
        raise ValueError(f"the load is {load}; a number above 0 is expected, such as 1.5")


def _drafts(count: int, most: int, days: int, shortest: int, random: Random) -> list[Draft]:
    """Jobs by submission: sessions of one user, of which the first ones wait at second 0."""
    starts = _sessions_over(days)
    users = list(accumulate(1 / (k + FLAT) for k in range(1, USERS + 1)))
    found: list[Draft] = []
    waiting = max(1, round(BACKLOG * count))
    while len(found) < count:
        begin = 0 if len(found) < waiting else _in_hours(starts, random)
        user = bisect_left(users, random.random() * users[-1]) + 1
        last: Draft | None = None
        while len(found) < count and (last is None or random.random() < SAME_USER):
            gap = 0 if last is None else round(_interpolated(GAPS, random.random()))
            last = _draft((begin + gap) % (days * DAY), user, last, most, shortest, random)
            found.append(last)
            begin = last.submit
    return sorted(found, key=lambda d: d.submit)


def _draft(submit: int, user: int, last: Draft | None, most: int, shortest: int, random: Random) -> Draft:
    """A job of its own, or one like the last of the session."""
    if last is not None and random.random() < REPEATED:
        factor = 1 / ALIKE + random.random() * (ALIKE - 1 / ALIKE)
        return Draft(submit, user, last.cores, max(shortest, min(LONGEST, last.runtime * factor)), last.ask)
    cores = _size(most, random)
    return Draft(submit, user, cores, _runtime(cores, shortest, random), random.random())


def _sessions_over(days: int) -> list[int]:
    """For every hour of the days, how much has begun by its end."""
    per_hour = (WEEKDAYS[d % 7] * h for d in range(days) for h in HOURS[d % 7 > 4])
    return list(accumulate(per_hour))


def _in_hours(starts: Sequence[int], random: Random) -> int:
    hour = bisect_left(starts, random.random() * starts[-1])
    return hour * HOUR + int(random.random() * HOUR)


def _size(most: int, random: Random) -> int:
    """Cores of a job, at most ``most``."""
    classes = [(size, share, exact) for size, share, exact in SIZES if size // 2 < most]
    sums = list(accumulate(share for _, share, _ in classes))
    size, _, exact = classes[bisect_left(sums, random.random() * sums[-1])]
    if random.random() < exact and size <= most:
        return size
    grain = CORES if size > 2 * CORES else GRAIN if size > CORES else 1
    low, high = size // 2 // grain + 1, min(size - 1, most) // grain
    return grain * (low + int(random.random() * max(1, high - low + 1)))


def _runtime(cores: int, shortest: int, random: Random) -> float:
    """Seconds of a job of the log with so many cores that took at least ``shortest``."""
    points = list(zip(SHARES, next(values for most, values in RUNTIMES if cores <= most), strict=True))
    below = _share_below(points, shortest)
    return max(float(shortest), _interpolated(points, below + random.random() * (1 - below)))


def _share_below(points: Sequence[tuple[float, int]], value: int) -> float:
    """The share of the values of a table of quantiles that are below this one."""
    for (a, x), (b, y) in pairwise(points):
        if x <= value < y:
            return a + (b - a) * (value - x) / (y - x) if value > x else a
    return 0.0


def _interpolated(points: Sequence[tuple[float, int]], share: float) -> float:
    """The value that a table of quantiles has at a share, linear in between."""
    for (a, x), (b, y) in pairwise(points):
        if share <= b:
            return x + (y - x) * (share - a) / (b - a)
    return float(points[-1][1])


def _at_load(drafts: Sequence[Draft], work: float, shortest: int, step: int) -> list[int]:
    """Runtimes in whole steps, multiplied by one factor so that they make up ``work`` core-seconds. Raises ValueError."""

    def times(factor: float) -> list[int]:
        return [_up(min(LONGEST, max(shortest, d.runtime * factor)), step) for d in drafts]

    def worth(factor: float) -> int:
        return sum(d.cores * t for d, t in zip(drafts, times(factor), strict=True))

    low, high = 0.0, 1.0
    while worth(high) < work and high < LONGEST:
        high *= 2
    if not worth(low) <= work <= worth(high):
        span = work / max(1, worth(high))
        raise ValueError(
            f"{len(drafts)} jobs cannot make up this load (they would have to take {span:.1f} times what they can at "
            "most, or are too short); take other numbers of jobs, nodes or days, or another load"
        )
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(middle) < work else (low, middle)
    return times(high)


def _job(name: str, draft: Draft, runtime: int, step: int, random: Random) -> Job:
    units = next(u for u in range(-(-draft.cores // CORES), draft.cores + 1) if draft.cores % u == 0)
    low, high = WATTS_PER_CORE
    usual = [(w, share) for w, share in WALLTIMES if w >= runtime] or [(_up(runtime, step), 1)]
    sums = list(accumulate(share for _, share in usual))
    walltime = usual[bisect_left(sums, draft.ask * sums[-1])][0]
    return Job(
        id=name,
        submit=draft.submit,
        walltime=runtime if random.random() < USED_UP else _up(walltime, step),
        units=units,
        request={"cores": draft.cores // units, "memory": 0},
        queue="default",
        runtime=runtime,
        user=f"u{draft.user:03d}",
        power=round(draft.cores * (low + random.random() * (high - low)), 2),
    )


def _up(seconds: float, step: int) -> int:
    """Up to a whole number of steps."""
    return int(-(-seconds // step)) * step
