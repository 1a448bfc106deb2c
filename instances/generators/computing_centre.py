"""Generator of profit instances: jobs of a computing centre, distributed as in a real log, on nodes of 32 cores.

Measured once on the log of the CEA Curie machine (2012, cleaned version of the Parallel Workloads Archive, 312,807
jobs, also used in [Bridi2018]):

- arrivals by hour of the day, on weekdays and on weekends (``HOURS``), and by day of the week (``WEEKDAYS``): half of
  the jobs are submitted between 9:00 and 18:00 on weekdays;
- 57 % of the jobs have the same user as the job before (``SAME_USER``), half of these within 13 s (``GAPS``); 80 % of
  them also have the same size and walltime (``REPEATED``), and most of these a runtime within a factor of 1.5;
- users: the share of the k-th of 582 users is proportional to 1 / (k + 3): about 5 % for the first user, about 27 % for
  the first ten;
- cores: 83 % of the jobs have a power of two (``SIZES``: for each size the share of jobs above half of it and up to it,
  and the part of these with exactly this size); of the other jobs above 64 cores half have multiples of 32, here all;
- runtimes by size (``RUNTIMES``: quantiles, linear in between): half of the jobs run for less than 2 minutes, a tenth
  for more than 4 hours, up to a day;
- walltimes (``WALLTIMES``): round numbers, most often a day, independent of the runtime; 2 % of the jobs use them up.

Own assumptions: day 1 is a Monday. A tenth of the jobs is submitted at second 0, because a machine with such a load has
a backlog (they count as work of the first day). Submissions of a session after the last day are moved to the beginning.
Jobs have at most half of the nodes. All runtimes are multiplied by one factor, such that the offered load (core-seconds
of the jobs / core-seconds of the machine from second 0 to the last submission) has the requested value, and limited to
a day. No job requests memory, which the log does not record. The power is uniform in 7.8 to 11.11 W per core
[Bridi2018, 6.8]. Option ``shortest`` selects the jobs of the log with at least this runtime; with option ``step`` all
times are multiples of it: submit times are rounded down, runtimes and walltimes up.

``profit_medium`` (seed 4) has jobs of all runtimes; ``profit_small`` (seed 25) has jobs of at least 10 minutes, in
whole minutes: fewer distinct times help exact solvers, and jobs of a few seconds would only enlarge the models. The
seeds were chosen before anything was solved: such that the work is spread over all days, and the factor of the runtimes
is near 1 (0.94 and 0.85).

Temperatures are synthetic (``instances/weather.py``), prices and plants are those of [Bridi2018]
(``thesis_scenarios``). All random numbers come from ``random.Random(seed).random()``; they are only added and
multiplied, so that the results are the same on every machine.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from random import Random

from ...errors import WrongValue
from ...models.dispatch.jobs import DAY, Job, Queue
from ...models.dispatch.problem import Dispatch
from ...models.platform import NodeGroup, Platform
from ...models.words import how_many
from ..instance import WATTS_PER_CORE, Instance, thesis_scenarios
from ..weather import SEASONS, Weather, synthetic

VERSION = 1
SOURCE = "distributions of the CEA Curie log of 2012 (Parallel Workloads Archive); T. Bridi, PhD thesis, section 6.8"
CORES = 32  # per node
MEMORY = 131072  # MB per node
HOUR = 3600
BACKLOG = 0.10
LONGEST = DAY
HOURS = (  # arrivals per hour of the day, in thousandths: weekdays; Saturdays and Sundays
    (22, 19, 16, 17, 16, 19, 23, 25, 34, 60, 74, 76, 58, 51, 71, 79, 82, 70, 54, 31, 23, 24, 29, 27),
    (47, 41, 30, 31, 32, 32, 37, 34, 39, 50, 49, 45, 42, 46, 43, 48, 39, 44, 44, 43, 51, 48, 45, 44),
)
WEEKDAYS = (135, 171, 187, 186, 187, 72, 62)  # arrivals per day of the week, in thousandths, from Monday on
SAME_USER = 0.57
REPEATED = 0.80
ALIKE = 1.5  # runtimes of repeated jobs differ at most by this factor
GAPS = ((0.0, 0), (0.1, 0), (0.25, 1), (0.5, 2), (0.75, 13), (0.9, 60), (0.95, 119), (1.0, 524))  # (quantile, s)
USERS = 582
FLAT = 3
GRAIN = 16  # cores of a node of Curie
SIZES = (  # (cores, share in thousandths, part of these with exactly this number of cores)
    (1, 211, 1.0), (2, 53, 1.0), (4, 31, 0.95), (8, 64, 0.95), (16, 89, 0.87), (32, 99, 0.83), (64, 65, 0.83),
    (128, 109, 0.79), (256, 88, 0.78), (512, 74, 0.65), (1024, 45, 0.45), (2048, 25, 0.54), (4096, 19, 0.69),
    (8192, 13, 0.56), (16384, 8, 0.44), (32768, 3, 0.86), (65536, 2, 0.47),
)  # fmt: skip
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
RUNTIMES = (  # (largest number of cores, quantiles of the runtime in s, at SHARES)
    (1, (1, 1, 2, 5, 11, 19, 84, 186, 295, 803, 2952, 5699, 49309, 86400)),
    (16, (1, 1, 2, 3, 6, 8, 14, 44, 241, 1467, 7225, 17049, 65149, 86400)),
    (64, (1, 2, 6, 19, 54, 138, 375, 823, 2009, 7188, 28728, 64486, 86387, 86400)),
    (256, (1, 1, 4, 6, 18, 91, 285, 614, 1239, 6416, 63149, 86027, 86399, 86400)),
    (1024, (1, 1, 1, 8, 20, 85, 287, 661, 1930, 5223, 18361, 57189, 86375, 86400)),
    (2**62, (1, 1, 3, 29, 48, 104, 261, 630, 1257, 6729, 35974, 55503, 86387, 86400)),
)
WALLTIMES = (  # (s, share in thousandths)
    (300, 30), (600, 70), (900, 60), (1800, 130), (3600, 90), (7200, 60), (10800, 30), (14400, 40), (18000, 30),
    (30000, 30), (43200, 30), (60000, 30), (86400, 370),
)  # fmt: skip
USED_UP = 0.02  # share of jobs that run for exactly their walltime


@dataclass
class Draft:
    """A job before its times are final: ``runtime`` in s, not rounded; ``walltime_quantile`` in [0, 1)."""

    submit: int
    user: int
    cores: int
    runtime: float
    walltime_quantile: float


def generate(
    jobs: int, seed: int, nodes: int = 60, days: int = 5, load: float = 1.5, shortest: int = 1, step: int = 1
) -> Instance:
    """Generate jobs of ``days`` days from a Monday on, with eight scenarios; the same arguments give the same instance.

    Parameters
    ----------
    jobs
        Number of jobs.
    seed
        Seed of the random numbers.
    nodes
        Number of nodes, of 32 cores each.
    days
        Number of days in which jobs are submitted.
    load
        Offered load.
    shortest
        Shortest runtime of a job, in s.
    step
        All times are multiples of this number of seconds.

    Returns
    -------
    Instance
        The instance.

    Raises
    ------
    ValueError
        A parameter is out of its range, or the jobs cannot have this offered load.

    Examples
    --------
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
            f"a synthetic {word}",
            f"schedlab.instances.weather, seed {seed}",
            synthetic(word, days, seed),
        )
        for word in SEASONS
    }
    centre = thesis_scenarios(batch, seasons)
    sizes = {"jobs": jobs, "nodes": nodes, "days": days, "load": load, "shortest": shortest, "step": step}
    return Instance(
        name=f"centre_{jobs}",
        kind="profit",
        problem=centre.problem(centre.default),
        description=f"A generated batch of a computing centre: {how_many(jobs, 'job')} in {how_many(days, 'day')}, {how_many(nodes, 'node')}",
        source=SOURCE,
        generator={"name": "centre", "version": VERSION, "seed": seed, **sizes},
        centre=centre,
    )


def offered_load(problem: Dispatch) -> float:
    """Return core-seconds of the jobs / core-seconds of the machine from ``now`` to the last submission.

    Infinite if all jobs are submitted at or before ``now``.
    """
    work = sum(problem.duration(j) * j.units * j.request.get("cores", 0) for j in problem.jobs)
    span = max((j.submit for j in problem.jobs), default=problem.now) - problem.now
    if span > 0:
        return work / (span * problem.platform.total("cores"))
    return float("inf")


def _check(jobs: int, nodes: int, days: int, load: float, shortest: int, step: int) -> None:
    for what, value, least, most in (
        ("jobs", jobs, 2, 10**6), ("nodes", nodes, 1, 10**5), ("days", days, 1, 366),
        ("shortest", shortest, 1, LONGEST // 2), ("step", step, 1, HOUR),
    ):  # fmt: skip
        if not least <= value <= most:
            raise WrongValue(f"{what} is {value}; expected {least} to {most}")
    if not 0 < load < float("inf"):
        raise WrongValue(f"the load is {load}; expected a number above 0, such as 1.5")


def _drafts(count: int, most: int, days: int, shortest: int, random: Random) -> list[Draft]:
    """Draw jobs, sorted by submit time, as sessions of one user each; the first sessions begin at second 0."""
    starts = _sessions_over(days)
    users = list(accumulate(1 / (k + FLAT) for k in range(1, USERS + 1)))
    drafts: list[Draft] = []
    waiting = max(1, round(BACKLOG * count))
    while len(drafts) < count:
        if len(drafts) < waiting:
            begin = 0
        else:
            begin = _in_hours(starts, random)
        user = bisect_left(users, random.random() * users[-1]) + 1
        last: Draft | None = None
        while len(drafts) < count and (last is None or random.random() < SAME_USER):
            gap = 0
            if last is not None:
                gap = round(_interpolated(GAPS, random.random()))
            last = _draft((begin + gap) % (days * DAY), user, last, most, shortest, random)
            drafts.append(last)
            begin = last.submit
    return sorted(drafts, key=lambda d: d.submit)


def _draft(submit: int, user: int, last: Draft | None, most: int, shortest: int, random: Random) -> Draft:
    """Draw a new job, or one that repeats the last job of the session."""
    if last is not None and random.random() < REPEATED:
        factor = 1 / ALIKE + random.random() * (ALIKE - 1 / ALIKE)
        return Draft(
            submit, user, last.cores, max(shortest, min(LONGEST, last.runtime * factor)), last.walltime_quantile
        )
    cores = _size(most, random)
    return Draft(submit, user, cores, _runtime(cores, shortest, random), random.random())


def _sessions_over(days: int) -> list[int]:
    """Return for each hour of all days the cumulative weight of the sessions that begin up to its end."""
    per_hour = (WEEKDAYS[d % 7] * h for d in range(days) for h in HOURS[d % 7 > 4])
    return list(accumulate(per_hour))


def _in_hours(starts: Sequence[int], random: Random) -> int:
    hour = bisect_left(starts, random.random() * starts[-1])
    return hour * HOUR + int(random.random() * HOUR)


def _size(most: int, random: Random) -> int:
    """Draw the number of cores of a job, at most ``most``."""
    classes = [(size, share, exact) for size, share, exact in SIZES if size // 2 < most]
    sums = list(accumulate(share for _, share, _ in classes))
    size, _, exact = classes[bisect_left(sums, random.random() * sums[-1])]
    if random.random() < exact and size <= most:
        return size
    grain = 1
    if size > CORES:
        grain = GRAIN
    if size > 2 * CORES:
        grain = CORES
    low = size // 2 // grain + 1
    high = min(size - 1, most) // grain
    return grain * (low + int(random.random() * max(1, high - low + 1)))


def _runtime(cores: int, shortest: int, random: Random) -> float:
    """Draw the runtime, in s, of a job with this number of cores, given that it is at least ``shortest``."""
    points = list(zip(SHARES, next(values for most, values in RUNTIMES if cores <= most), strict=True))
    below = _share_below(points, shortest)
    return max(float(shortest), _interpolated(points, below + random.random() * (1 - below)))


def _share_below(points: Sequence[tuple[float, int]], value: int) -> float:
    """Return the share of values below ``value``, from a table of quantiles."""
    for (a, x), (b, y) in pairwise(points):
        if x <= value < y:
            if value > x:
                return a + (b - a) * (value - x) / (y - x)
            return a
    return 0.0


def _interpolated(points: Sequence[tuple[float, int]], share: float) -> float:
    """Return the quantile at ``share``, by linear interpolation in a table of quantiles."""
    for (a, x), (b, y) in pairwise(points):
        if share <= b:
            return x + (y - x) * (share - a) / (b - a)
    return float(points[-1][1])


def _at_load(drafts: Sequence[Draft], work: float, shortest: int, step: int) -> list[int]:
    """Return runtimes in s, scaled by one factor to ``work`` core-seconds, in whole steps. Raises ValueError."""

    def times(factor: float) -> list[int]:
        return [_up(min(LONGEST, max(shortest, d.runtime * factor)), step) for d in drafts]

    def worth(factor: float) -> int:
        return sum(d.cores * t for d, t in zip(drafts, times(factor), strict=True))

    low = 0.0
    high = 1.0
    while worth(high) < work and high < LONGEST:
        high *= 2
    if not worth(low) <= work <= worth(high):
        span = work / max(1, worth(high))
        raise WrongValue(
            f"{how_many(len(drafts), 'job')} cannot have this offered load (their runtimes would be {span:.1f} times their upper "
            "limits, or below their lower limits); use other numbers of jobs, nodes or days, or another load"
        )
    for _ in range(60):
        middle = (low + high) / 2
        if worth(middle) < work:
            low, high = (middle, high)
        else:
            low, high = (low, middle)
    return times(high)


def _job(name: str, draft: Draft, runtime: int, step: int, random: Random) -> Job:
    units = next(u for u in range(-(-draft.cores // CORES), draft.cores + 1) if draft.cores % u == 0)
    low, high = WATTS_PER_CORE
    usual = [(w, share) for w, share in WALLTIMES if w >= runtime] or [(_up(runtime, step), 1)]
    sums = list(accumulate(share for _, share in usual))
    walltime = usual[bisect_left(sums, draft.walltime_quantile * sums[-1])][0]
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
    """Round up to a multiple of ``step``."""
    return int(-(-seconds // step)) * step
