"""Generator of dispatching workloads after [Lublin2003]: rigid jobs on identical nodes, each node for one job.

Taken from [Lublin2003]: the distributions of the numbers of nodes (serial jobs, powers of two, a two-stage uniform
distribution of the logarithm), of the runtimes (logarithms from two gamma distributions, of which large jobs take the
longer one more often) and of the arrivals in a day (a gamma distribution over the half hours from 5:30 on), with the
parameters for all jobs together.

Own assumptions: runtimes outside of 1 s to ``longest`` are drawn again. Submit times are independent draws from the daily
cycle over a span that makes the offered load, work / (nodes x span), as requested; [Lublin2003] draws the times between
arrivals instead. A walltime is runtime / u with u uniform in (0, 1], as in the f-model of [Mualem2001], rounded up to a
time that users request, at most ``longest``. User k of the ``users`` submits with a probability proportional to 1 / k.
All numbers are drawn in arrays: a million jobs take about a second.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...models.array_types import Floats, Ints
from ...models.dispatch.jobs import DAY, Queue
from ...models.platform import NodeGroup, Platform
from ...models.words import how_many
from ..instance import Instance
from ..workload import UNKNOWN, Workload

VERSION = 1
SOURCE = (
    "U. Lublin, D. G. Feitelson: The workload on parallel supercomputers: modeling the characteristics of rigid jobs"
)
SERIAL = 0.244  # share of jobs on one node
POWERS = 0.576  # share of powers of two among all jobs
LEAST_LOG = 0.8  # log2 of nodes: the first stage ends 2.5 below the largest
BELOW_MOST = 2.5
LOW_STAGE = 0.86
SHORT_SHAPE = 4.2  # gamma distributions of ln(seconds)
SHORT_SCALE = 0.94
LONG_SHAPE = 312.0
LONG_SCALE = 0.03
# share of the first of these by the number of nodes
SHORT_SLOPE = -0.0054
SHORT_CONSTANT = 0.78
CYCLE_SHAPE = 8.1737  # gamma distribution of the half hour of arrival, 11 to 58
CYCLE_SCALE = 3.9631
CYCLE_FROM = 11
HALF_HOURS = 48
HALF_HOUR = 1800
LONGEST = DAY
USUAL = np.array([5, 10, 15, 30, 60, 120, 240, 360, 480, 720, 1080, 1440, 2880, 5760, 10080]) * 60  # s
EWT = 3600  # seconds; [Lublin2003] has no queues


def lublin_workload(
    jobs: int,
    seed: int,
    nodes: int = 512,
    load: float = 0.8,
    largest: int | None = None,
    longest: int = LONGEST,
    users: int = 100,
    cores: int = 1,
) -> Workload:
    """Generate jobs as arrays, reproducible by ``seed``; for logs of any size.

    Parameters
    ----------
    jobs, seed, nodes : int
        Number of jobs; random seed; number of nodes. At least 1.
    load : float
        Offered load: work of the jobs / capacity of the machine in the span of the submit times. Above 0.
    largest : int, optional
        Nodes of the largest job, at least 2. Default: all nodes.
    longest : int
        The longest runtime and walltime in s, at least 300.
    users : int
        Number of users, at least 1.
    cores : int
        Cores of a node, at least 1; each unit of a job requests all of them.

    Returns
    -------
    Workload
        The jobs, by submit time.

    Raises
    ------
    ValueError
        If a number is outside of its range.

    Examples
    --------
    >>> made = lublin_workload(10_000, seed=1, nodes=512)
    >>> platform = Platform([NodeGroup("n", 512, {"cores": 1})])
    >>> len(made), round(made.load(platform), 2), bool((made.runtime <= made.walltime).all())
    (10000, 0.8, True)
    """
    if largest is None:
        most = nodes
    else:
        most = largest
    for what, value, least in (
        ("jobs", jobs, 1), ("seed", seed, 0), ("nodes", nodes, 2), ("largest", most, 2), ("longest", longest, 300),
        ("users", users, 1), ("cores", cores, 1),
    ):  # fmt: skip
        if value < least:
            raise WrongValue(f"{what} is {value}; expected at least {least}")
    if most > nodes:
        raise WrongValue(f"largest is {most}; expected at most the number of nodes, {nodes}")
    if not 0 < load < math.inf:
        raise WrongValue(f"load is {load:g}; expected a number above 0")
    rng = np.random.default_rng(seed)
    units = _units(rng, jobs, most)
    runtime = _runtimes(rng, units, longest)
    span = float((units * runtime).sum()) / nodes / load
    submit = _submits(rng, jobs, span)
    digits = len(str(jobs))
    weight = (1 / np.arange(1, users + 1)).cumsum()
    return Workload(
        name=f"lublin_{jobs}",
        ids=tuple(map(f"j%0{digits}d".__mod__, range(1, jobs + 1))),
        submit=submit,
        runtime=runtime,
        walltime=_walltimes(rng, runtime, longest),
        units=units,
        resources=("cores",),
        request=np.full((jobs, 1), cores, np.int64),
        queue=np.zeros(jobs, np.int64),
        queues=(Queue("batch", EWT),),
        user=np.searchsorted(weight, rng.random(jobs) * weight[-1]).astype(np.int64),
        users=tuple(f"u{k + 1:0{len(str(users))}d}" for k in range(users)),
        program=np.zeros(jobs, np.int64),
        programs=("",),
        release=submit.copy(),
        recorded_start=np.full(jobs, UNKNOWN, np.int64),
        power=np.full(jobs, np.nan),
    )


def generate(
    jobs: int,
    seed: int,
    nodes: int = 512,
    load: float = 0.8,
    largest: int | None = None,
    longest: int = LONGEST,
    users: int = 100,
    cores: int = 1,
) -> Instance:
    """Generate the same jobs as an instance; the parameters are those of ``workload``.

    Raises
    ------
    ValueError
        If a number is outside of its range.

    Examples
    --------
    >>> made = generate(jobs=100, seed=1, nodes=64)
    >>> made.platform.total("cores"), len(made.jobs)
    (64, 100)
    """
    made = lublin_workload(jobs, seed, nodes, load, largest, longest, users, cores)
    sizes = {
        "nodes": nodes,
        "load": load,
        "largest": largest or nodes,
        "longest": longest,
        "users": users,
        "cores": cores,
    }
    return Instance(
        name=made.name,
        kind="dispatch",
        problem=made.dispatch(Platform([NodeGroup("n", nodes, {"cores": cores})])),
        description=f"A generated workload of rigid jobs: {how_many(jobs, 'job')} of {how_many(users, 'user')}, {how_many(nodes, 'node')}, load {load:g}",
        source=SOURCE,
        generator={"name": "lublin", "version": VERSION, "seed": seed, "jobs": jobs, **sizes},
    )


def _units(rng: np.random.Generator, jobs: int, most: int) -> Ints:
    """Draw the numbers of nodes."""
    high = math.log2(most)
    least = min(LEAST_LOG, high)
    middle = max(least, high - BELOW_MOST)
    first = rng.random(jobs) < LOW_STAGE
    log = np.where(first, rng.uniform(least, middle, jobs), rng.uniform(middle, high, jobs))
    kind = rng.random(jobs)
    power = (kind >= SERIAL) & (kind < SERIAL + POWERS)
    counted = np.exp2(np.where(power, np.rint(log), log))
    counted[kind < SERIAL] = 1
    return np.clip(np.rint(counted), 1, most).astype(np.int64)


def _runtimes(rng: np.random.Generator, units: Ints, longest: int) -> Ints:
    """Draw the runtimes in seconds; those outside of 1 to ``longest`` again."""
    short = np.clip(SHORT_SLOPE * units + SHORT_CONSTANT, 0, 1)
    runtimes = np.ones(units.size, np.int64)
    left = np.arange(units.size)
    while left.size:
        first = rng.random(left.size) < short[left]
        log = np.where(
            first, rng.gamma(SHORT_SHAPE, SHORT_SCALE, left.size), rng.gamma(LONG_SHAPE, LONG_SCALE, left.size)
        )
        log = np.where(log > math.log(longest), np.nan, log)
        inside = np.isfinite(log)
        runtimes[left[inside]] = np.clip(np.rint(np.exp(log[inside])), 1, longest)
        left = left[~inside]
    return runtimes


def _submits(rng: np.random.Generator, jobs: int, span: float) -> Ints:
    """Draw submit times in [0, span) with the daily cycle, sorted; in seconds."""
    slot = np.arange(CYCLE_FROM, CYCLE_FROM + HALF_HOURS) + 0.5
    density = slot ** (CYCLE_SHAPE - 1) * np.exp(-slot / CYCLE_SCALE)
    weight = np.empty(HALF_HOURS)
    weight[(np.arange(CYCLE_FROM, CYCLE_FROM + HALF_HOURS)) % HALF_HOURS] = density
    edges = np.append(np.arange(0, span, HALF_HOUR), span)
    share = np.diff(edges) * weight[np.arange(edges.size - 1) % HALF_HOURS]
    passed = np.append(0, share.cumsum())
    return np.sort(np.interp(rng.random(jobs) * passed[-1], passed, edges)).astype(np.int64)


def _walltimes(rng: np.random.Generator, runtime: Ints, longest: int) -> Ints:
    """Draw walltimes in seconds, at least the runtimes, at most ``longest``."""
    usual: NDArray[np.int64] = np.append(USUAL[longest > USUAL], longest)
    asked: Floats = runtime / (1 - rng.random(runtime.size))
    return usual[np.minimum(np.searchsorted(usual, asked), usual.size - 1)]
