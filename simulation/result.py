"""The result of a replay: start, end and nodes of each job, and statistics of the decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingPackage, SchedlabError
from ..instances.workload import Workload
from ..models import DesiredProfile, NodeStates, Platform, Schedule
from ..models.array_types import Floats, Ints
from ..models.comparing import compared_by_identity
from ..models.excerpt import one_line, with_short_repr
from ..models.language import Violation
from .records import Attempt, History, ModelSizes, PowerRecord, PreemptionRecord, ProductionRecord, attempts_of

if TYPE_CHECKING:
    import pandas

    from .metrics import Metrics


@with_short_repr
@compared_by_identity
class NodeRanges(NamedTuple):
    """The nodes of all jobs, as ranges of node numbers.

    Job k has the ranges ``first[k] .. first[k + 1] - 1``.

    Parameters
    ----------
    first : ndarray of int64, shape (jobs + 1,)
        Index of the first range of each job; ``first[0]`` is 0, the last entry is the number of ranges.
    low, high : ndarray of int64, shape (ranges,)
        First and last node of the range, both included; indices into ``platform.nodes``.
    units : ndarray of int64, shape (ranges,)
        Units of the job on each single node of the range. A heterogeneous job has the ranges of its chunks one after
        the other; their units tell where a chunk ends.
    """

    first: Ints
    low: Ints
    high: Ints
    units: Ints


@with_short_repr
@dataclass(frozen=True, eq=False)
class Decisions:
    """Statistics of the calls of a dispatcher in one replay.

    Parameters
    ----------
    made : int
        Number of calls.
    skipped : int
        Number of events without a call, because no waiting job could have started.
    ended : mapping of str to int
        How the calls ended (``moment.Ended``) -> number of calls. Empty for policies.
    seconds : mapping of str to ndarray
        Wall time of each call in seconds, for the keys ``"total"``, ``"start"``, ``"model"``, ``"solve"``, ``"allocate"``. Empty for
        compiled replays, which are timed as a whole.
    total_seconds : float
        Wall time of all calls in seconds; for compiled replays, of the whole replay.
    gains : ndarray of float
        Relative improvement over the warm start, one entry per call that reported it (``Decision.gain``).
    urgent : int
        Sum of ``Decision.urgent``: how often ``max_stretch`` put a job before all others.
    models : ModelSizes
        Mean sizes of the models of these calls.
    phases : mapping of str to float
        Wall time in seconds of all calls in each part of ``Decision.seconds`` that is not in ``seconds``.
    used : mapping of str to int
        Name of a method (``Decision.used``) -> number of calls in which the dispatcher used it.
    counts : mapping of str to int
        The sums of ``Decision.counts``.
    """

    made: int
    skipped: int = 0
    ended: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, Floats] = field(default_factory=dict)
    total_seconds: float = 0.0
    gains: Floats = field(default_factory=lambda: np.empty(0))
    urgent: int = 0
    models: ModelSizes = field(default_factory=ModelSizes)
    phases: Mapping[str, float] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class Simulation:
    """The result of ``simulate``: the schedule of a replay and its statistics.

    Arrays have one entry per job of ``workload``. Times are seconds on the clock of the trace.

    Parameters
    ----------
    workload : Workload
        The jobs that were replayed. Jobs that the platform cannot hold are in ``workload.report.dropped``.
    platform : Platform
        The machine.
    dispatcher, predictor, allocator : str
        Names of the dispatcher, the predictor and the allocator.
    seed : int
        The seed given to ``simulate``.
    start, end : ndarray of int64, shape (jobs,)
        Start and end, -1 if the job was not started (only in the result of a replay that failed or was stopped).
    killed : ndarray of bool, shape (jobs,)
        Whether the job was killed at its walltime.
    expected : ndarray of int64, shape (jobs,)
        The expected duration in seconds at the time of the start.
    first_reserved : ndarray of int64, shape (jobs,)
        The start that a policy with several reservations first planned for the job, -1 for none. A job that started
        without waiting has its start here.
    placement : NodeRanges
        The nodes of each job.
    decisions : Decisions
        Statistics of the calls of the dispatcher.
    seconds : float
        Wall time of the replay in seconds, without reading and verification.
    violations : list of Violation
        All faults that the verification of the replay found; empty if the replay is valid.
    history : History, optional
        The attempts that ended early, such as those of jobs whose node went down; None if there are none. ``start``,
        ``end`` and ``placement`` are those of the last attempt of each job.
    states : NodeStates, optional
        The states of the nodes over time; None for a replay without events.
    production : ProductionRecord, optional
        What became of reservations and server events; None for a replay without them.
    desired : DesiredProfile, optional
        The desired use, with which metrics compare the use.
    preemption : PreemptionRecord, optional
        Evictions for on-demand jobs; None for a replay without them.
    power : PowerRecord, optional
        The states of the nodes that were switched off and on; None for a replay without a node policy.
    notes : tuple of str
        Remarks, for example about users that the trace does not name, or that the replay was stopped.
    prediction_seconds : float, optional
        Wall time of the predictor in seconds.

    Examples
    --------
    >>> import schedlab as sl
    >>> run = sl.simulate("eurora_99", dispatcher="easy")
    >>> run
    Simulation(easy, 99 of 99 jobs, 0 violations)
    >>> run.metrics.started, len(run.schedule().start)
    (99, 99)
    """

    workload: Workload
    platform: Platform
    dispatcher: str
    predictor: str
    allocator: str
    seed: int
    start: Ints
    end: Ints
    killed: NDArray[np.bool_]
    expected: Ints
    first_reserved: Ints
    placement: NodeRanges
    decisions: Decisions
    seconds: float
    violations: list[Violation] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    prediction_seconds: float | None = None
    history: History | None = None
    states: NodeStates | None = None
    production: ProductionRecord | None = None
    desired: DesiredProfile | None = None
    preemption: PreemptionRecord | None = None
    power: PowerRecord | None = None

    @property
    def metrics(self) -> Metrics:
        """Waits, slowdowns, utilisation, decisions; ``metrics.metrics(run, bsld_floor=60)`` for another floor."""
        from .metrics import metrics

        return metrics(self)

    @property
    def attempts(self) -> pandas.DataFrame:
        """All attempts of all jobs: a table with the columns job, number, start, end, nodes, why, work_done, lost.

        With heterogeneous jobs there is the column further: the nodes of their further chunks.

        See ``schedlab.simulation.records.Attempt``. Raises ImportError if pandas is not installed.
        """
        pandas = _pandas("attempts")
        listed = attempts_of(self)
        columns = [f.name for f in fields(Attempt) if f.name != "further" or any(a.further for a in listed)]
        rows = [(*(getattr(a, name) for name in columns), a.lost) for a in listed]
        return pandas.DataFrame(rows, columns=[*columns, "lost"])

    @property
    def wait(self) -> Ints:
        """Seconds that each job has waited, before all its attempts; arbitrary for jobs that never started."""
        before = 0 if self.history is None else self.history.ran_before
        return self.start - self.workload.submit - before

    def schedule(self) -> Schedule:
        """Return starts and nodes in the form that offline problems use; jobs that never started are left out."""
        # lazy: it imports numba, which reading a result needs not
        from ..heuristics.kernels.events.machine import by_name, named_parts

        ids, nodes = self.workload.ids, by_name(self.placement, self.platform.nodes)
        started = np.flatnonzero(self.start >= 0).tolist()
        several = [(k, ids[k], [c.units for c in cs]) for k, cs in self.workload.chunks.items() if self.start[k] >= 0]
        parts = named_parts(self.placement, several, self.platform.nodes)
        return Schedule({ids[k]: int(self.start[k]) for k in started}, {ids[k]: nodes[k] for k in started} | parts)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table with one row per job.

        Returns
        -------
        pandas.DataFrame
            The columns job, user, queue, submit, start, end, wait (start - submit, less the time in earlier attempts),
            slowdown ((end - submit) / d with d = max(1, work done), at least 1), units, walltime, expected, runtime,
            killed. Times in seconds; wait and slowdown are NaN for jobs that never started, slowdown also for jobs that
            did not come back after a failure.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas, w, h = _pandas("to_pandas"), self.workload, self.history
        took, wait, started = np.maximum(1, self.end - self.start), self.wait, self.start >= 0
        lost, saved = (0, 0) if h is None else (h.ran_before, h.saved)
        slowdown = np.where(started, (wait + lost + took) / (took + saved), np.nan)
        if h is not None:
            slowdown[list(h.dropped)] = np.nan
        columns = {
            "job": w.ids,
            "user": np.array(w.users, object)[w.user],
            "queue": np.array([q.name for q in w.queues], object)[w.queue],
            "submit": w.submit,
            "start": self.start,
            "end": self.end,
            "wait": np.where(started, wait, np.nan),
            "slowdown": slowdown,
            "units": w.job_arrays.all_units,
            "walltime": w.walltime,
            "expected": self.expected,
            "runtime": w.runtime,
            "killed": self.killed,
        }
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        done = int((self.start >= 0).sum())
        return f"Simulation({one_line(self.dispatcher, 60)}, {done} of {len(self.workload)} jobs, {len(self.violations)} violations)"


def _pandas(what: str) -> Any:
    try:
        import pandas
    except ImportError as e:
        raise MissingPackage(f"{what} needs pandas: pip install 'schedlab[pandas]'") from e
    return pandas


class SimulationError(SchedlabError, RuntimeError):
    """A replay that cannot continue.

    Reasons: the dispatcher raised an exception, its decision was not valid, it left jobs in the queue when no event was
    left, or a predictor returned something other than whole seconds.

    Parameters
    ----------
    message : str
        What is wrong, with the job, node and time.
    job, node : str, optional
        Id of the job and name of the node concerned.
    time : int, optional
        The simulated time in seconds.
    partial : Simulation, optional
        The replay so far; jobs that were not started have a start of -1.
    waiting : mapping of str to str
        Id of each job that waits although no event is left -> why it does not start.
    """

    def __init__(
        self,
        message: str,
        job: str | None = None,
        node: str | None = None,
        time: int | None = None,
        partial: Simulation | None = None,
        waiting: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.job, self.node, self.time, self.partial = job, node, time, partial
        self.waiting = dict(waiting or {})
