"""The replays of the study: workloads of Cluster FING at a stated load, and the waits of users and jobs by class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from schedlab.errors import WrongValue
from schedlab.instances import Instance, generators
from schedlab.models.array_types import Floats
from schedlab.models.words import how_many
from schedlab.simulation import Simulation, simulate, users_of
from schedlab.simulation.rankers import LAST
from schedlab.simulation.users import CLASSES, accuracy_class, request_accuracy

SCENARIOS = ("be", "ge", "cf", "cfg", "di", "hdi")
DYNAMIC = ("di", "hdi")
JOBS, USERS = 1000, 20
WAIT = 800 * 60  # seconds, the mean wait per user under EASY with good estimates, near that of GE in the paper
LOADS = (1.0, 256.0)  # between which the load is searched
STEPS = 12


class Waits(NamedTuple):
    """The result of one replay.

    Parameters
    ----------
    by_user : ndarray of float
        Mean wait of each user in seconds.
    user_class : ndarray of int64
        The class of each user, from 1 to 5.
    by_job : ndarray of int64
        Wait of each job in seconds.
    job_class : ndarray of int64
        The class of each job's own accuracy.
    slowdown : float
        Mean bounded slowdown.
    used : float
        Mean share of the cores in use, from the first submission to the end of the last job.
    """

    by_user: Floats
    user_class: NDArray[np.int64]
    by_job: NDArray[np.int64]
    job_class: NDArray[np.int64]
    slowdown: float
    used: float


def found_load(seed: int, wait: float = WAIT, jobs: int = JOBS) -> float:
    """Return the offered load at which the mean wait per user is ``wait`` s, under EASY with good estimates (``ge``).

    The interval of the logarithm of the load is halved ``STEPS`` times; the wait grows with the load but for small jumps.
    Raises WrongValue if no load that was tried gives that wait.
    """

    def waited(load: float) -> float:
        run = simulate(workload(seed, load, jobs), dispatcher="easy", users=users_of(f"ge:seed={seed}"))
        return float(mean_by_user(run).mean())

    low, high = map(math.log, LOADS)
    reached = False
    for _ in range(STEPS):
        middle = (low + high) / 2
        enough = waited(math.exp(middle)) >= wait
        low, high, reached = (low, middle, True) if enough else (middle, high, reached)
    if not reached and waited(LOADS[1]) < wait:
        raise WrongValue(
            f"seed {seed}: no load up to {LOADS[1]:g} gives a mean wait per user of {wait / 60:g} min with {how_many(jobs, 'job')}; "
            "give a load, or a shorter wait"
        )
    return float(f"{math.exp(high):.4g}")


def workload(seed: int, load: float, jobs: int = JOBS) -> Instance:
    """Return the generated workload of a seed."""
    return generators["fing"](jobs, seed, users=USERS, load=load)


def replay(instance: Instance, seed: int, scenario: str, dispatchers: Sequence[str]) -> list[Waits]:
    """Return the waits of one scenario under each dispatcher.

    The classes of users are those under the first dispatcher: in static scenarios of the mean accuracy of all jobs, in
    dynamic ones of the last ten jobs that have ended.
    """
    runs = [simulate(instance, dispatcher=name, users=users_of(f"{scenario}:seed={seed}")) for name in dispatchers]
    classes = accuracy_class(final_accuracy(runs[0], LAST if scenario in DYNAMIC else None))
    return [waits(run, classes) for run in runs]


def waits(run: Simulation, classes: NDArray[np.int64]) -> Waits:
    """Return the waits of a replay; ``classes``: of the users."""
    own = accuracy_class(request_accuracy(run.workload.runtime, run.workload.walltime))
    metrics = run.metrics
    slowdown = float(metrics.bounded_slowdown.mean or 0)
    used = float(metrics.utilisation["cores"] or 0)
    return Waits(mean_by_user(run), classes, run.wait, own, slowdown, used)


def mean_by_user(run: Simulation) -> Floats:
    """Return the mean wait of each user in seconds."""
    user = run.workload.user
    users = len(run.workload.users)
    average: Floats = np.bincount(user, run.wait, users) / np.maximum(1, np.bincount(user, minlength=users))
    return average


def final_accuracy(run: Simulation, last: int | None) -> Floats:
    """Return the mean accuracy of each user's jobs, or of the ``last`` ones that have ended."""
    w = run.workload
    accuracy = request_accuracy(w.runtime, w.walltime)
    order = np.argsort(run.end, kind="stable")
    last_accuracy = np.ones(len(w.users))
    for user in range(len(w.users)):
        mine = order[w.user[order] == user]
        if mine.size:
            last_accuracy[user] = accuracy[mine if last is None else mine[-last:]].mean()
    return last_accuracy


def means_of_classes(values: Floats | NDArray[np.int64], classes: NDArray[np.int64]) -> list[float | None]:
    """Return the mean of the values of each class, None for empty ones."""
    return [float(values[classes == k].mean()) if (classes == k).any() else None for k in range(1, CLASSES + 1)]
