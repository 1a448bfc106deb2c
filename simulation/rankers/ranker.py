"""The protocol of rankers, and the jobs as a ranker sees them: arrays without runtimes.

A ranker orders the waiting jobs of a policy at each decision. It is an object with a ``name`` and three methods; no base
class is needed.

1. ``begin`` is called once, before the replay.
2. ``learn`` is called at each time at which jobs end or are submitted, and once more after a decision that starts jobs.
3. ``rank`` is called before each decision and returns a key for each waiting job. The least key goes first; the policy
   orders jobs with equal keys by its own key, then by the submit time.

If the ranker has an attribute ``notes``, texts about data that the trace lacks, they go to ``Simulation.notes``.

Examples
--------
Users whose jobs have ended with the fewest core-seconds first:

>>> import numpy as np
>>> import schedlab as sl
>>> from schedlab.simulation.policies.policy import by_submit
>>> class LeastUsed:
...     name = "least-used"
...
...     def begin(self, platform, queues, users, seed):
...         self.cores = platform.resources.index("cores")
...         self.used = np.zeros(len(users))
...
...     def learn(self, news):
...         ended = news.ended
...         np.add.at(self.used, ended.user, ended.units * ended.request[:, self.cores] * ended.took)
...
...     def rank(self, now, waiting):
...         return self.used[waiting.user]
>>> policy = sl.Policy("easy+least-used", by_submit, reservations=1, ranker=LeastUsed())
>>> run = sl.simulate("eurora_99", dispatcher=policy)
>>> run.violations, int((run.start >= 0).sum())
([], 99)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...models import Platform, Queue
from ...models.plugins import PluginError, check_parts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
PARTS = ("name", "begin", "learn", "rank")  # of a ranker


class Columns(NamedTuple):
    """The columns of all jobs of a replay that a ranker may see, shape (jobs,); ``request``: (jobs, resources)."""

    submit: Ints
    user: Ints
    queue: Ints
    units: Ints
    request: Ints
    walltime: Ints
    expected: Ints


@dataclass(frozen=True, repr=False, eq=False)
class RankedJobs:
    """Some jobs of a replay as arrays, one entry per job; copies, which a ranker may change.

    Parameters
    ----------
    rows : ndarray of int64
        The number of each job in the workload, by which a ranker recognises it. Later submitted jobs have larger ones.
    """

    rows: Ints
    _columns: Columns

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} jobs)"

    @property
    def submit(self) -> Ints:
        """Submit times in seconds."""
        return self._columns.submit[self.rows]

    @property
    def user(self) -> Ints:
        """Users, indices into the ``users`` of ``Ranker.begin``."""
        return self._columns.user[self.rows]

    @property
    def queue(self) -> Ints:
        """Queues, indices into the ``queues`` of ``Ranker.begin``."""
        return self._columns.queue[self.rows]

    @property
    def units(self) -> Ints:
        """Numbers of units; a heterogeneous job counts as one unit with all that it requests."""
        return self._columns.units[self.rows]

    @property
    def request(self) -> Ints:
        """Amounts per unit, shape (jobs, resources), in the order of ``platform.resources``."""
        return self._columns.request[self.rows]

    @property
    def walltime(self) -> Ints:
        """Walltimes in seconds."""
        return self._columns.walltime[self.rows]

    @property
    def expected(self) -> Ints:
        """Expected durations in seconds, from the predictor of the replay."""
        return self._columns.expected[self.rows]


@dataclass(frozen=True, repr=False, eq=False)
class EndedJobs(RankedJobs):
    """Jobs that have ended.

    Parameters
    ----------
    rows
        As in ``RankedJobs``.
    took : ndarray of int64
        The runtime of each job in seconds.
    end : ndarray of int64
        The end of each job in seconds: the time of ``News.now``, or before if decisions take simulated time.
    nodes : ndarray of int64
        The number of nodes that each job used.
    """

    took: Ints
    end: Ints
    nodes: Ints


class News(NamedTuple):
    """What has happened since the last call of ``Ranker.learn``.

    Parameters
    ----------
    now : int
        The time in seconds.
    submitted, started : RankedJobs
        The jobs that arrived, or that started, at this time.
    ended : EndedJobs
        The jobs that have ended.
    """

    now: int
    submitted: RankedJobs
    started: RankedJobs
    ended: EndedJobs


class Ranker(Protocol):
    """An object that learns during a replay and orders the waiting jobs; see the module docstring.

    Attributes
    ----------
    name : str
        The name in results and error messages.
    """

    @property
    def name(self) -> str:
        """The name in results and error messages."""

    def begin(self, platform: Platform, queues: Sequence[Queue], users: Sequence[str], seed: int) -> None:
        """Prepare for a replay; discard everything that was learned in an earlier replay.

        Parameters
        ----------
        platform : Platform
            The machine.
        queues : sequence of Queue
            All queues of the workload.
        users : sequence of str
            The names of all users of the workload.
        seed : int
            The argument ``seed`` of ``simulate``.
        """

    def learn(self, news: News) -> None:
        """Record what has happened.

        Parameters
        ----------
        news : News
            The jobs that were submitted, started or ended.
        """

    def rank(self, now: int, waiting: RankedJobs) -> Floats | Ints:
        """Return the keys of the waiting jobs, shape (len(waiting),); the least goes first.

        Parameters
        ----------
        now : int
            The time in seconds.
        waiting : RankedJobs
            The waiting jobs, in no particular order.

        Returns
        -------
        ndarray
            One number per job, not NaN.
        """


def lacking(found: Any) -> list[str]:
    """Return the parts of a ranker that an object lacks."""
    return [part for part in PARTS if not hasattr(found, part)]


def check_ranker(label: str, found: Any) -> None:
    """Raise PluginError, beginning with ``label``, if an object is no ranker."""
    if missing := lacking(found):
        raise PluginError(f"{label} is not a ranker: it has no {' and no '.join(missing)} (docs/simulation.md)")
    check_parts(label, found, PARTS[1:])
