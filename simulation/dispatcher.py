"""The protocol of dispatchers: the input (``Moment``) and the output (``Decision``) of one call.

How to write a dispatcher
-------------------------
A dispatcher is an object with an attribute ``name`` and two methods, ``begin`` and ``decide``. No base class is needed.
Pass the object to ``schedlab.simulate(..., dispatcher=...)``.

1. The simulator calls ``begin`` once, before the replay.
2. At each event (a job ends, a job arrives, a calendar opens, the state of a node changes, or a multiple of ``period``)
   it first ends jobs, then adds the new jobs to the queue, then calls ``decide`` once. It skips the call if no waiting
   job could start now, even alone on the free nodes. With ``charge_decisions``, the wall time of the call passes on the
   simulated clock before the jobs start, and ``decide`` is called again at the new time.
3. ``decide`` returns a ``Decision`` with the jobs that start now and their nodes. All other jobs stay in the queue.

What a dispatcher needs beyond the moment it declares in one set, such as ``needs = frozenset({"always", "log"})``; see
``NEEDS``. Without this attribute it needs nothing.

A dispatcher can ask for more calls, and can plan:

- If it needs ``"always"``, it is called at every event, also when no waiting job could start, or none waits.
- ``Decision.wake`` is a later time at which it is called as well. Each requested time counts, also if it is called
  earlier for another reason.
- ``Decision.plan`` has starts at later times. At each event, after the arrivals and before the call, the simulator makes
  the planned starts of this time without calling the dispatcher. A start that is not possible (the job has not arrived,
  its calendars are closed, a node is busy) leaves the plan, the job stays in the queue, and the dispatcher is called
  with the start and the reason in ``Moment.failed``. Other starts may use the nodes of a plan; the plan then fails.

- ``Decision.policy`` leaves a decision to a policy, such as ``POLICIES["easy"]``; only policies without a ranker.

The simulator checks each start, in the given order, against these rules:

- The job is in ``moment.waiting`` and its entry of ``moment.may_start`` is True. A job starts at most once.
- The numbers of units are whole, at least 1, and their sum is ``job.units``; for a heterogeneous job (``job.chunks``),
  the nodes of the other chunks are in ``Start.further``.
- Every node is in ``moment.platform.nodes``, takes starts (``moment.states``), and has enough free capacity after the
  starts before this one. The job may use it (the nodes of its queue, ``Job.nodes``, ``Job.features``), with at most
  ``Job.per_node`` units; with ``Job.whole_nodes`` nothing else is on it.
- By its walltime, no job runs into what a reservation of the machine holds (``moment.reserved``).

A planned start must name a job of the workload that has not started, all of its units, nodes that could hold them if
they were empty, and a time after now.

A start that breaks a rule, a result that is not a ``Decision``, and an exception in ``begin`` or ``decide`` end the
replay with ``SimulationError``. The same holds for jobs that are never started: the replay fails when no job runs, no
job arrives, all calendars of the waiting jobs have opened, and jobs still wait.

Times are whole seconds. A dispatcher never sees a runtime, only the walltime and the expected duration of a job.

Examples
--------
First come, first served, one job after the other, on nodes in the order of the platform:

>>> import schedlab as sl
>>> from schedlab.simulation import Decision, Moment, Start
>>> class FirstCome:
...     name = "first-come"
...
...     def begin(self, platform, queues, seed):
...         pass
...
...     def decide(self, moment: Moment) -> Decision:
...         free, starts = moment.free.copy(), []
...         for job, may_start in zip(moment.waiting, moment.may_start):
...             request = [job.request.get(r, 0) for r in moment.platform.resources]
...             nodes, left = {}, job.units
...             for n, name in enumerate(moment.platform.nodes):
...                 fits = min([left, *(f // q for f, q in zip(free[n], request) if q > 0)])
...                 if fits > 0:
...                     nodes[name], left = int(fits), left - int(fits)
...             if not may_start or left > 0:
...                 break  # later jobs do not overtake this job
...             for name, units in nodes.items():
...                 free[moment.platform.nodes.index(name)] -= [units * q for q in request]
...             starts.append(Start(job.id, nodes))
...         return Decision(starts)
>>> run = sl.simulate("eurora_99", dispatcher=FirstCome())
>>> run.violations, int((run.start >= 0).sum())
([], 99)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..models import Job, Platform, Queue, Running
from ..models.array_types import Ints

if TYPE_CHECKING:
    from ..models.reservations import Reserved


class Start(NamedTuple):
    """A waiting job that starts now, with the nodes of its units.

    Parameters
    ----------
    job : str
        The ``id`` of the job.
    nodes : mapping of str to int
        Node name -> number of units of the job on this node, at least 1. The numbers sum to ``job.units``.
    further : tuple of mapping, optional
        The same for each further chunk of a heterogeneous job (``job.chunks[1:]``).

    Examples
    --------
    >>> Start("job-1", {"gpu-1": 2, "gpu-2": 1})  # three units on two nodes
    Start(job='job-1', nodes={'gpu-1': 2, 'gpu-2': 1}, further=())
    """

    job: str
    nodes: Mapping[str, int]
    further: tuple[Mapping[str, int], ...] = ()


class PlannedStart(NamedTuple):
    """A start at a later time, which the simulator makes without calling the dispatcher.

    Parameters
    ----------
    job : str
        The ``id`` of the job. It may arrive later, but not after ``time``.
    nodes : mapping of str to int
        Node name -> number of units, as in ``Start``.
    time : int
        The time of the start in seconds, after now.
    further : tuple of mapping, optional
        As in ``Start``.

    Examples
    --------
    >>> PlannedStart("job-1", {"gpu-1": 3}, time=3600)
    PlannedStart(job='job-1', nodes={'gpu-1': 3}, time=3600, further=())
    """

    job: str
    nodes: Mapping[str, int]
    time: int
    further: tuple[Mapping[str, int], ...] = ()


class FailedStart(NamedTuple):
    """A planned start that was not possible at its time.

    Parameters
    ----------
    job : str
        The ``id`` of the job.
    nodes : mapping of str to int
        Node name -> number of units, as planned.
    time : int
        The planned time in seconds.
    why : str
        The reason, for people.
    """

    job: str
    nodes: Mapping[str, int]
    time: int
    why: str


@dataclass(frozen=True, eq=False)
class Moment:
    """The state of the machine and of the queue at one time: the input of ``Dispatcher.decide``.

    Parameters
    ----------
    now : int
        The current time in seconds, on the clock of the trace.
    platform : Platform
        All nodes of the machine, busy or free.
    queues : sequence of Queue
        The queues that the jobs name in ``Job.queue``.
    waiting : sequence of Job
        The jobs that have arrived (at ``Job.release``: the submit time, or the job's earliest start if that is later)
        and have not started, in order of arrival. ``Job.runtime`` is None. A start after ``Job.latest_start`` is allowed
        and counts as late.
    expected : mapping of str to int
        Job id -> expected duration in seconds, at least 1, from the predictor of the replay. It holds the waiting and
        the running jobs (not their further chunks). The simulator changes this mapping after the call: read it, do not modify it, copy it to keep
        it.
    may_start : ndarray of bool, shape (len(waiting),)
        Whether the calendars (the daily windows of the queue and the windows of the job), and the limits of the machine, of
        licences, users, accounts and QOS, allow the job to start now. Free nodes are not considered. Of the jobs that a
        decision starts, those that would exceed a limit stay in the queue.
    running : sequence of Running
        The jobs that run, in order of their starts; the further chunks of heterogeneous jobs (``Job.parts``) stand last.
        ``end`` is the start plus the duration that was expected at the
        start. It is in the past if the job runs longer than expected.
    free : ndarray of int64, shape (nodes, resources)
        The free amount of each resource on each node. Rows are in the order of ``platform.nodes``, columns in the order
        of ``platform.resources``; 0 on nodes where no job may start (enough for a job that requests nothing: see
        ``states``). The array is a copy, and the dispatcher may change it.
    planned : mapping of str to PlannedStart
        Job id -> planned start, for the jobs that are planned. The simulator changes this mapping after the call, as it
        does with ``expected``.
    failed : sequence of FailedStart
        The planned starts that were not possible at this event. They are no longer in ``planned``.
    states : tuple of str
        The state of each node, in the order of ``platform.nodes``: ``"up"``, ``"down"``, ``"draining"``,
        ``"reserved"``, ... (``schedlab.models.node_states``). Jobs may start only on nodes that are up. Later changes
        are not known.
    reserved : sequence of Reserved
        The accepted reservations of the machine that are not over, by start. What they hold now is not in ``free``. A
        start whose walltime runs into one is refused.
    changed : sequence of str
        The ids of the waiting jobs whose walltime or queue has changed since the call before.
    ready : ndarray of int64, shape (nodes,), optional
        In a replay with a node policy, the earliest time in seconds at which each node can be on: up to then, jobs
        cannot start there; ``now`` if it is on. None: all nodes are on. Nodes boot in time for planned starts from this
        time on.
    """

    now: int
    platform: Platform
    queues: Sequence[Queue]
    waiting: Sequence[Job]
    expected: Mapping[str, int]
    may_start: NDArray[np.bool_]
    running: Sequence[Running]
    free: Ints
    planned: Mapping[str, PlannedStart] = field(default_factory=dict)
    failed: Sequence[FailedStart] = ()
    states: tuple[str, ...] = ()
    reserved: Sequence[Reserved] = ()
    changed: Sequence[str] = ()
    ready: Ints | None = None


Ended = Literal["trivial", "optimal", "limit", "no-gain", "infeasible", "nothing"]
"""How one call of a dispatcher ended.

- ``trivial``: no solver was needed, as all candidates fit, or no job could start.
- ``optimal``: the solver proved its solution optimal.
- ``limit``: the time limit stopped the solver.
- ``no-gain``: the search stopped after several steps without improvement.
- ``infeasible``: the solver proved that the model has no solution.
- ``nothing``: the solver stopped without a solution and without a proof.
"""


@dataclass
class Decision:
    """The output of ``Dispatcher.decide``: the jobs that start now, and statistics of the call.

    Only ``starts``, ``wake``, ``plan``, ``withdrawn`` and ``policy`` change the replay. The other fields go into the statistics; leave them at their defaults if the
    dispatcher does not know them.

    Parameters
    ----------
    starts : iterable of Start
        The jobs that start now. An empty list starts no job.
    ended : str
        How the call ended, one of ``Ended``.
    gain : float, optional
        Relative improvement of the objective over the warm start, ``(start - end) / |start|``; 0 if the solver returned
        the warm start. None: unknown.
    seconds : mapping of str to float
        Wall time of the parts of the call, in seconds: ``"start"`` (warm starts), ``"model"`` (building and lowering),
        ``"solve"`` and ``"allocate"``, and other parts under names of your own, of which the sums are kept.
    jobs : int
        Number of waiting jobs in the model of this call.
    requested : mapping of str to int
        What these jobs request: resource -> sum of units * request per unit. Empty: no model, or its size is unknown.
    urgent : int
        Number of jobs that ``max_stretch`` put before all others.
    wake : int, optional
        A later time in seconds at which the dispatcher is called as well.
    plan : iterable of PlannedStart, optional
        Starts at later times. They replace the planned starts of the same jobs; those of other jobs stay. An empty list
        removes all planned starts. None: no change.
    withdrawn : collection of str, optional
        The ids of jobs whose planned starts are removed; jobs without one are ignored. The jobs stay in the queue.
    policy : Policy, optional
        A policy without a ranker that starts jobs now, before ``starts``; its reservations are kept until it is next
        given. None: no policy.
    used : str
        The name of the method that made this decision, if the dispatcher has several. The statistics count the names.
    counts : mapping of str to int
        Numbers under names of your own, such as those of messages, of which the sums are kept.
    """

    starts: Iterable[Start]
    ended: Ended = "trivial"
    gain: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    jobs: int = 0
    urgent: int = 0
    wake: int | None = None
    plan: Iterable[PlannedStart] | None = None
    withdrawn: Collection[str] = ()
    requested: Mapping[str, int] = field(default_factory=dict)
    policy: Any = None  # a Policy: its module is above this one
    used: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)


class DecisionFault(NamedTuple):
    """The first fault of an answer, and the id of the job and the name of the node concerned, if it names them."""

    why: str
    job: str | None = None
    node: str | None = None


NEEDS: Mapping[str, str] = {
    "always": "",
    "log": "prepare",
    "profile": "desired",
    "given-profile": "",
    "profile-limits": "",
    "node-policy": "node_policy",
    "one-chunk": "",
    "all-nodes": "",
    "reasons": "why_waiting",
}
"""What a dispatcher may need, and the attribute that it must then have.

- ``always``: ``decide`` is called at every event, also when no waiting job could start.
- ``log``: ``prepare(workload)`` is called before ``begin``, for parts that look at the past of the workload, such as
  forecasts, and for bounds.
- ``profile``: an attribute ``desired`` that is None is the desired profile of the replay, if there is one, from ``begin``
  to the end of the replay.
- ``given-profile``: the replay is refused without a desired profile.
- ``profile-limits``: the desired profile limits the starts; the verification examines it.
- ``node-policy``: the attribute ``node_policy`` is the node policy of the replay, unless ``simulate`` is given another.
- ``one-chunk``: workloads with heterogeneous jobs (``job.chunks``) are refused.
- ``all-nodes``: workloads are refused whose jobs may not use all nodes, as units are placed wherever they fit: queues with
  nodes of their own, ``Job.nodes``, ``features``, ``per_node`` and ``whole_nodes``.
- ``reasons``: ``why_waiting(job)`` is called with the id of a job that is left when no event is, though it fits on the idle
  nodes; it returns why the job was not started, for the message, or an empty text.
"""


class Dispatcher(Protocol):
    """An object that decides at each event which waiting jobs start now, and on which nodes.

    The module docstring gives the order of the calls, the rules for a valid decision, and an example. A dispatcher may
    keep data between calls.

    Attributes
    ----------
    name : str
        The name in results and error messages.
    needs : frozenset of str, optional
        What it needs beyond the moment, of ``NEEDS``. Default: nothing.
    """

    name: str

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay; called once before the first event.

        Discard everything that was kept from an earlier replay.

        Parameters
        ----------
        platform : Platform
            The machine of the replay.
        queues : sequence of Queue
            All queues of the workload.
        seed : int
            The seed for random choices; the argument ``seed`` of ``simulate``.
        """

    def decide(self, moment: Moment) -> Decision:
        """Return the jobs that start now.

        Parameters
        ----------
        moment : Moment
            The state of the machine and of the queue.

        Returns
        -------
        Decision
            The starts, and statistics of this call.
        """
