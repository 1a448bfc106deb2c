"""Generator of workloads of Cluster FING as in [Rocchetti2015, 5], and how accurately its users estimate runtimes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from ...errors import WrongValue
from ...models.dispatch.jobs import Job, Queue
from ...models.dispatch.problem import Dispatch
from ...models.platform import NodeGroup, Platform
from ...models.words import how_many
from ..instance import Instance

# --- How accurately users estimate runtimes: the groups and scenarios of [Rocchetti2015, 5].
#
# The accuracy of a job is runtime / walltime. Taken from [Rocchetti2015]: the six groups of users of Cluster FING, their
# shares, the four static scenarios, and the improvement of users who learn. Own assumptions: accuracies are uniform in the
# interval of a group; an accuracy of 0 would be an infinite walltime, so the least one is 0.01; numbers of users follow
# from the shares by largest remainders, in random order; walltimes are at most 10 days, the limit of the queue.

LEAST = 0.01
LONGEST = 10 * 86400  # seconds, the limit of the queue
Interval = tuple[float, float]
T = TypeVar("T")
FING: tuple[Interval, ...] = ((LEAST, 0.05), (0.05, 0.15), (0.15, 0.25), (0.25, 0.35), (0.35, 0.60), (0.60, 1.0))
SCENARIOS: dict[str, tuple[Sequence[Interval], Sequence[int]]] = {
    "be": ([(LEAST, 0.2)], [100]),
    "ge": ([(0.8, 1.0)], [100]),
    "cf": (FING, [21, 21, 18, 17, 19, 4]),
    "cfg": (FING, [12, 12, 9, 8, 10, 49]),
}
"""The static scenarios of [Rocchetti2015, table 2]: the groups of users and their shares in percent.

``be``: bad estimates, ``ge``: good estimates, ``cf``: Cluster FING, ``cfg``: Cluster FING with good estimates.
"""


def numbers_by_share(shares: Sequence[int], users: int) -> list[int]:
    """Return how many of the users are in each group, by largest remainders.

    Examples
    --------
    >>> numbers_by_share([21, 21, 18, 17, 19, 4], 20)
    [4, 4, 4, 3, 4, 1]
    """
    total = sum(shares)
    numbers = [users * share // total for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda k: -(users * shares[k] % total))
    for k in by_remainder[: users - sum(numbers)]:
        numbers[k] += 1
    return numbers


def intervals_of_users(scenario: str, users: int, random: Random) -> list[Interval]:
    """Return the interval of accuracies of each user of a static scenario, in random order."""
    if scenario not in SCENARIOS:
        raise WrongValue(f"scenario is {scenario!r}; expected one of {', '.join(SCENARIOS)}")
    groups, shares = SCENARIOS[scenario]
    dealt = [group for group, n in zip(groups, numbers_by_share(shares, users), strict=True) for _ in range(n)]
    shuffle(dealt, random)
    return dealt


def shuffle(values: list[T], random: Random) -> None:
    """Put values into random order (Fisher-Yates; ``random.shuffle`` may change between versions)."""
    for i in range(len(values) - 1, 0, -1):
        k = int(random.random() * (i + 1))
        values[i], values[k] = values[k], values[i]


def within(interval: Interval, x: float) -> float:
    """Return the point of an interval at the share ``x`` of its length."""
    return interval[0] + (interval[1] - interval[0]) * x


def improved(accuracy: float) -> float:
    """Return the accuracy after one improvement [Rocchetti2015, 5.2]; at most 1.

    Examples
    --------
    >>> [round(improved(a), 6) for a in (0.1, 0.5, 0.6, 0.95)]
    [0.19, 0.55, 0.66, 1.0]
    """
    return min(1.0, accuracy + 0.1 * (1 - accuracy if accuracy <= 0.5 else accuracy))


def walltime_of(runtime: int, accuracy: float, longest: int = LONGEST) -> int:
    """Return the walltime of a job of which the user's estimate has the accuracy: runtime / accuracy, rounded.

    Parameters
    ----------
    runtime : int
        Seconds.
    accuracy : float
        Above 0, at most 1.
    longest : int
        Greatest walltime in seconds, unless the runtime is longer.

    Examples
    --------
    >>> walltime_of(30, 0.4), walltime_of(86400, 0.05), walltime_of(0, 0.5)
    (75, 864000, 1)
    """
    return max(1, runtime, min(longest, round(runtime / accuracy)))


# --- The jobs and the machine.
#
# Taken from [Rocchetti2015, 5]: 37 nodes of 12 cores, a queue for jobs of up to 16 cores and up to 10 days; 1,000 jobs of 20
# users; numbers of cores are powers of two from 1 to 16; 49.3 % of the jobs take less than a minute.
#
# Own assumptions, as the paper gives no more: runtimes below a minute are uniform in 1..60 s, the others log-uniform from
# 60 s to 10 days. The five numbers of cores are equally frequent: in the trace only 6.5 % of the jobs are parallel, too few for
# jobs to wait as long as in the paper. A core is a unit of a job and may be on any node. The users have uneven shares: the number of jobs of a
# user is proportional to a number that is log-uniform from 1 to 8, and at least 5 if there are enough jobs. Submit times are
# uniform over a span (a Poisson process of which the number of jobs is given) that makes the offered load, work / (capacity of
# the machine x span), as requested. Shares are fixed numbers of jobs by largest remainders. All random numbers come from
# ``random.Random(seed).random()``; the same seed gives the same jobs at every load, and the same times but for their scale.

VERSION = 1
SOURCE = "N. Rocchetti, S. Iturriaga, S. Nesmachnow: Including accurate user estimates in HPC schedulers, section 5"
NODES = 37
CORES = 12  # of a node
SHORT = 493  # per mille of the jobs take at most a minute
SIZES = (1, 2, 4, 8, 16)  # cores
MINUTE = 60
EWT = 86400  # seconds; the paper gives no expected waiting time
UNEVEN = 8.0  # the greatest share of a user / the least
LEAST_JOBS = 5


def generate(
    jobs: int, seed: int, nodes: int = NODES, users: int = 20, load: float = 4.0, estimates: str = "cf"
) -> Instance:
    """Generate ``jobs`` jobs of ``users`` users on ``nodes`` nodes, reproducible by ``seed``.

    Parameters
    ----------
    jobs, seed, nodes, users : int
        Numbers of at least 1; the random seed.
    load : float
        Offered load, above 0. The jobs are few and long, so that jobs wait only at loads far above 1.
    estimates : str
        How the users estimate walltimes: a scenario of ``SCENARIOS``.

    Raises
    ------
    ValueError
        If a number is too small, or there is no such scenario.

    Examples
    --------
    >>> made = generate(jobs=1000, seed=1)
    >>> made.platform.total("cores"), len({job.user for job in made.dispatch.jobs})
    (444, 20)
    """
    for what, value in (("jobs", jobs), ("nodes", nodes), ("users", users)):
        if value < 1:
            raise WrongValue(f"{what} is {value}; expected at least 1")
    if not 0 < load < math.inf:
        raise WrongValue(f"load is {load:g}; expected a number above 0")
    if estimates not in SCENARIOS:
        raise WrongValue(f"estimates is {estimates!r}; expected one of {', '.join(SCENARIOS)}")
    if users > jobs:
        raise WrongValue(f"users is {users}; expected at most the number of jobs, {jobs}")
    if nodes * CORES < max(SIZES):
        raise WrongValue(f"nodes is {nodes}; expected at least 2, as jobs have up to 16 cores")
    random = Random(seed)
    runtimes = _runtimes(jobs, random)
    numbers = numbers_by_share([1] * len(SIZES), jobs)
    cores = [units for units, n in zip(SIZES, numbers, strict=True) for _ in range(n)]
    shuffle(cores, random)
    owners = _owners(jobs, users, random)
    work = sum(r * c for r, c in zip(runtimes, cores, strict=True))
    span = work / (load * nodes * CORES)
    submits = sorted(int(random.random() * span) for _ in range(jobs))
    intervals = intervals_of_users(estimates, users, random)
    digits = len(str(jobs))
    made = [
        Job(
            f"j{k + 1:0{digits}d}",
            submits[k],
            walltime_of(runtimes[k], within(intervals[owners[k]], random.random())),
            cores[k],
            {"cores": 1},
            "batch",
            runtime=runtimes[k],
            user=f"u{owners[k] + 1:0{len(str(users))}d}",
        )
        for k in range(jobs)
    ]
    problem = Dispatch(Platform([NodeGroup("n", nodes, {"cores": CORES})]), made, [Queue("batch", EWT)], "waiting")
    return Instance(
        name=f"fing_{jobs}",
        kind="dispatch",
        problem=problem,
        description=f"A generated workload of Cluster FING: {how_many(jobs, 'job')} of {how_many(users, 'user')}, {how_many(nodes, 'node')}, load {load:g}",
        source=SOURCE,
        generator={
            "name": "fing",
            "version": VERSION,
            "seed": seed,
            "jobs": jobs,
            "nodes": nodes,
            "users": users,
            "load": load,
            "estimates": estimates,
        },
    )


def _runtimes(jobs: int, random: Random) -> list[int]:
    """Draw the runtimes in seconds, in random order."""
    short = round(jobs * SHORT / 1000)
    runtimes = [1 + int(random.random() * MINUTE) for _ in range(short)]
    ratio = LONGEST / MINUTE
    runtimes += [min(LONGEST, math.ceil(MINUTE * ratio ** random.random())) for _ in range(jobs - short)]
    shuffle(runtimes, random)
    return runtimes


def _owners(jobs: int, users: int, random: Random) -> list[int]:
    """Draw the user of each job; the users have uneven shares."""
    least = min(LEAST_JOBS, jobs // users)
    parts = [round(1000 * UNEVEN ** random.random()) for _ in range(users)]
    numbers = [least + n for n in numbers_by_share(parts, jobs - least * users)]
    owners = [user for user, n in enumerate(numbers) for _ in range(n)]
    shuffle(owners, random)
    return owners
