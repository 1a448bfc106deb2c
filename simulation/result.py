"""The result of a replay: start, end and nodes of each job, and statistics of the decisions."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingPackage
from ..instances.workload import Workload
from ..models import DesiredProfile, NodeStates, Platform, Schedule
from ..models.array_types import Ints
from ..models.counts import how_many
from ..models.excerpt import one_line
from ..models.language import Violation
from .records import (
    Attempt,
    Decisions,
    History,
    NodeRanges,
    PowerRecord,
    PreemptionRecord,
    ProductionRecord,
    attempts_of,
    schedule_of,
)

if TYPE_CHECKING:
    import pandas

    from .metrics import Metrics


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
        Wall time of the predictor in seconds, without what it does in compiled code (``last-two`` under ``easy++``).

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
        return schedule_of(self)

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
        return f"Simulation({one_line(self.dispatcher, 60)}, {done} of {how_many(len(self.workload), 'job')}, {how_many(len(self.violations), 'violation')})"


def _pandas(what: str) -> Any:
    try:
        import pandas
    except ImportError as e:
        raise MissingPackage(f"{what} needs pandas: pip install 'schedlab[pandas]'") from e
    return pandas
