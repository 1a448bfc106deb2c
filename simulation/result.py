"""The result of a replay: start, end and nodes of each job, statistics of the decisions, and its picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingPackage
from ..models import Schedule
from ..models.array_types import Ints
from ..models.dispatch.display import OTHERS, RUNNING, node_sections, on_nodes, queue_groups
from ..models.gantt import GREY, RED, Bar, Gantt, rectangles
from ..models.language import Violation
from ..models.node_states import node_states
from ..models.words import how_many, one_line
from .records import (
    Attempt,
    NodeRanges,
    ReplayData,
    attempts_of,
    chunk_requests,
    chunk_rows,
    running_as_replay,
    runs_of,
    schedule_of,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from .metrics import Metrics, Spread


@dataclass(eq=False)
class Simulation(ReplayData):
    """A replay: the result of ``simulate``, or what was read from its files.

    Arrays have one entry per job of ``workload``. Times are seconds on the clock of the trace.

    Parameters
    ----------
    workload : Workload
        The jobs that were replayed. Jobs that the platform cannot hold are in ``workload.report.dropped``.
    platform : Platform
        The machine.
    start, end : ndarray of int64, shape (jobs,)
        Start and end, -1 if the job was not started (only in the result of a replay that failed or was stopped).
    killed : ndarray of bool, shape (jobs,)
        Whether the job was killed at its walltime.
    placement : NodeRanges
        The nodes of each job.
    history : History, optional
        The attempts that ended early, such as those of jobs whose node went down; None if there are none. ``start``,
        ``end`` and ``placement`` are those of the last attempt of each job.
    states : NodeStates, optional
        The states of the nodes over time; None for a replay without events.
    production : ProductionRecord, optional
        What became of reservations and server events; None for a replay without them.
    preemption : PreemptionRecord, optional
        Evictions for on-demand jobs; None for a replay without them.
    power : PowerRecord, optional
        The states of the nodes that were switched off and on; None for a replay without a node policy.
    desired : DesiredProfile, optional
        The desired use, with which metrics compare the use.
    expected : ndarray of int64, shape (jobs,), optional
        The expected duration in seconds at the time of the start.
    decisions : Decisions, optional
        Statistics of the calls of the dispatcher.
    prediction_seconds : float, optional
        Wall time of the predictor in seconds, without what it does in compiled code (``last-two`` under ``easy++``).
    dispatcher, predictor, allocator : str
        Names of the dispatcher, the predictor and the allocator.
    seed : int, optional
        The seed given to ``simulate``.
    first_reserved : ndarray of int64, shape (jobs,), optional
        The start that a policy with several reservations first planned for the job, -1 for none. A job that started
        without waiting has its start here.
    seconds : float, optional
        Wall time of the replay in seconds, without reading and verification.
    verified : bool
        Whether the replay was verified; ``simulate`` does it.
    violations : list of Violation
        All faults that the verification of the replay found; empty if the replay is valid.
    notes : tuple of str
        Remarks, for example about users that the trace does not name, or that the replay was stopped.

    Notes
    -----
    The files of a replay have no expected durations, first reservations, statistics of decisions, and times of the
    replay and its predictor: after reading, ``expected``, ``first_reserved``, ``decisions``, ``seconds`` and
    ``prediction_seconds`` are None, and the metrics that need them are None. Names are empty and ``seed`` is None unless
    the reader knows them from elsewhere. A replay that was read is not verified: ``schedlab.simulation.violations`` does it.

    Examples
    --------
    >>> import schedlab as sl
    >>> run = sl.simulate("eurora_99", dispatcher="easy")
    >>> run
    Simulation(easy, 99 of 99 jobs, 0 violations)
    >>> run.metrics.started, len(run.schedule().start)
    (99, 99)

    The jobs written to a file and read again:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from schedlab.simulation import read_jobs, write_jobs
    >>> with TemporaryDirectory() as folder:
    ...     write_jobs(run, Path(folder) / "jobs.csv")
    ...     again = read_jobs(Path(folder) / "jobs.csv").replay(run.workload, run.platform)
    >>> again, (again.start == run.start).all(), again.metrics.wait == run.metrics.wait, again.decisions
    (Simulation(99 of 99 jobs, not verified), np.True_, True, None)
    """

    dispatcher: str = ""
    predictor: str = ""
    allocator: str = ""
    seed: int | None = None
    first_reserved: Ints | None = None
    seconds: float | None = None
    verified: bool = False
    violations: list[Violation] = field(default_factory=list)
    notes: tuple[str, ...] = ()

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

    def to_pandas(self, attempts: bool = False) -> pandas.DataFrame:
        """Return a table with one row per job, or per attempt of a job.

        Parameters
        ----------
        attempts : bool, default False
            Whether to return ``attempts``, a row per attempt, instead.

        Returns
        -------
        pandas.DataFrame
            The columns job, user, queue, submit, start, end, wait (start - submit, less the time in earlier attempts),
            slowdown ((end - submit) / d with d = max(1, work done), at least 1), units, walltime, expected, runtime,
            killed. Times in seconds; wait and slowdown are NaN for jobs that never started, slowdown also for jobs that
            did not come back after a failure; expected is NaN if the replay was read from files. If the log has them, also
            what the jobs asked of their site (``asked.account``, ...) and what was recorded (``recorded.start``, ...).

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> import schedlab as sl
        >>> run = sl.simulate("eurora_99", dispatcher="easy")
        >>> run.to_pandas().groupby("queue")["wait"].max().loc["debug"]
        np.float64(55375.0)
        >>> run.to_pandas(attempts=True)["why"].value_counts().to_dict()
        {'completed': 99}
        """
        if attempts:
            return self.attempts
        pandas = _pandas("to_pandas")
        from ..instances.formats.job_table import site_table

        w = self.workload
        h = self.history
        took = np.maximum(1, self.end - self.start)
        wait = self.wait
        started = self.start >= 0
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
            "expected": np.nan if self.expected is None else self.expected,
            "runtime": w.runtime,
            "killed": self.killed,
        }
        return pandas.DataFrame(columns | site_table(w, pandas.array))

    def plot(self, ax: Axes | None = None, *, legend: bool = True, labels: bool = True) -> Axes:
        """Draw the replay as a Gantt chart, by matplotlib.

        Rows are nodes, colours are queues. The height of a job on a node is the greatest share of a resource of the node
        that it uses. Attempts that ended early, jobs that run at the begin, and the times in which nodes are down or
        switched off have colours of their own. With more than 200 nodes or 3,000 jobs the chart is a grid, in which a row is
        a group of nodes and a cell mixes the colours of its jobs.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. None: a new figure.
        legend : bool, default True
            Whether to explain the colours, right of the axes.
        labels : bool, default True
            Whether to write the names of jobs into the bars that have room for them.

        Returns
        -------
        matplotlib.axes.Axes
            ``plot().figure.savefig("replay.png")`` saves the picture.

        Raises
        ------
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")  # without a screen
        >>> import schedlab as sl
        >>> sl.simulate("eurora_99", dispatcher="easy").plot().get_title(loc="left")
        '99 jobs on 4 nodes'
        """
        from ..models.gantt import draw, require_matplotlib
        from .result import gantt_of_replay

        require_matplotlib()
        return draw(gantt_of_replay(self), ax, legend=legend, labels=labels)

    def _repr_html_(self) -> str:
        """Return the main metrics as a table in HTML, for notebooks."""
        from ..models.tables import pairs

        m = self.metrics
        checked = "not verified"
        if self.verified:
            checked = how_many(len(self.violations), "violation")
        return pairs(
            [
                ("workload", self.workload.name),
                ("dispatcher", self.dispatcher),
                ("predictor", self.predictor),
                ("jobs", f"{m.started:,} of {m.jobs:,} started, {m.killed:,} killed at their walltime"),
                ("wait", _spread(m.wait, " s")),
                ("bounded slowdown", _spread(m.bounded_slowdown)),
                ("utilisation", ", ".join(f"{r} {u:.1%}" for r, u in m.utilisation.items() if u is not None)),
                ("makespan", None if m.makespan is None else f"{m.makespan / 3600:,.1f} h"),
                ("decisions", m.decisions.made),
                ("time of the replay", None if self.seconds is None else f"{self.seconds:,.2f} s"),
                ("verification", checked),
                ("notes", "; ".join(self.notes)),
            ]
        )

    def __repr__(self) -> str:
        done = int((self.start >= 0).sum())
        jobs = f"{done} of {how_many(len(self.workload), 'job')}"
        checked = "not verified"
        if self.verified:
            checked = how_many(len(self.violations), "violation")
        return f"Simulation({', '.join(filter(None, (one_line(self.dispatcher, 60), jobs, checked)))})"


def _spread(values: Spread, unit: str = "") -> str | None:
    if values.mean is None:
        return None
    return f"mean {values.mean:,.1f}{unit}, median {values.median:,.1f}{unit}, largest {values.max:,.1f}{unit}"


def _pandas(what: str) -> Any:
    try:
        import pandas
    except ImportError as e:
        raise MissingPackage(f"{what} needs pandas: pip install 'schedlab[pandas]'") from e
    return pandas


# --- The Gantt chart of a replay: rows are nodes, colours are queues.


EARLY, UNAVAILABLE = "ended early", "node down or off"
PALE_GREY = "#dddddd"


@dataclass(frozen=True, eq=False)
class _Placed:
    """What is drawn, one entry each: label, group, start and end in seconds, nodes, and request of one unit by resource."""

    labels: Sequence[str]
    groups: list[str]
    start: Ints
    end: Ints
    placement: NodeRanges
    requests: dict[str, Ints]


def gantt_of_replay(replay: ReplayData) -> Gantt:
    """Return the Gantt chart of a replay.

    The height of a job on a node is the greatest share of a resource of the node that it uses. Each chunk of each attempt is
    a bar. With many nodes or jobs the chart is a grid, in which a row is a group of nodes.
    """
    w, platform = replay.workload, replay.platform
    if w.begin is None:
        begin = int(w.submit.min())
    else:
        begin = w.begin
    jobs = _runs(replay)
    parts = [jobs]
    if w.running:
        at_begin = _runs(running_as_replay(replay))
        at_begin.groups[:] = [RUNNING] * len(at_begin.groups)
        parts.append(at_begin)
    end = max(begin + 1, *(int(part.end.max(initial=begin)) for part in parts))
    parts.append(_unavailable(replay, begin, end))
    placed = _together(parts)
    of_queues, _ = queue_groups([group for group in jobs.groups if group != EARLY])
    there = set(placed.groups)
    groups = [*of_queues, *(name for name in (RUNNING, EARLY, UNAVAILABLE) if name in there)]
    index = {name: k for k, name in enumerate(groups)}
    others = index.get(OTHERS, 0)
    group = np.array([index.get(name, others) for name in placed.groups], np.int64)
    left = int((replay.start < 0).sum())
    title = f"{how_many(len(w) - left, 'job', ',')} on {how_many(len(platform.nodes), 'node', ',')}"
    if left:
        title += f", {how_many(left, 'job', ',')} never started"
    colours = {OTHERS: GREY, EARLY: RED, UNAVAILABLE: PALE_GREY}
    chart = Gantt((), (), tuple(groups), colours, title, begin, end, node_sections(platform), distinct=True)

    def bars() -> Iterator[Bar]:
        for r in rectangles(placed, platform, placed.requests):
            row = int(r.top)
            yield Bar(row, r.start, r.end, placed.labels[r.job], groups[group[r.job]], r.top - row, r.bottom - row)

    return on_nodes(chart, platform, placed, placed.requests, group, bars)


def _runs(replay: ReplayData) -> _Placed:
    """Return the chunks of all runs that started; their groups are the queues, but for attempts that ended early."""
    runs = runs_of(replay)
    jobs = len(replay.workload)
    w = runs.workload
    chunks = chunk_rows(runs)
    p = runs.placement
    started = runs.started[chunks.job]
    queues = [queue.name for queue in w.queues]
    groups = [EARLY if job >= jobs else queues[queue] for job, queue in enumerate(w.queue.tolist())]
    return _Placed(
        chunks.names,
        [groups[job] for job in chunks.job.tolist()],
        np.where(started, runs.start[chunks.job], -1),
        np.where(started, runs.end[chunks.job], -1),
        NodeRanges(chunks.first, p.low, p.high, p.units),
        chunk_requests(runs, chunks),
    )


def _unavailable(replay: ReplayData, begin: int, end: int) -> _Placed:
    """Return the periods in which nodes are down, or switched off; each takes its whole node."""
    periods: list[tuple[int, int, int]] = []
    if replay.states is not None:
        known = node_states()
        periods += [
            (n, max(begin, since), end if until is None else until)
            for n, state, since, until in replay.states.outages()
            if not known[state].runs
        ]
    if replay.power is not None:
        off = replay.power.intervals(end)
        periods += zip(off.node.tolist(), off.begin.tolist(), off.end.tolist(), strict=True)
    node, since, until = np.array(periods, np.int64).reshape(-1, 3).T
    capacity = np.array(list(replay.platform.capacity.values()), np.int64)
    return _Placed(
        [""] * node.size,
        [UNAVAILABLE] * node.size,
        since,
        np.minimum(until, end),
        NodeRanges(np.arange(node.size + 1), node, node, np.ones_like(node)),
        {name: capacity[node, k] for k, name in enumerate(replay.platform.resources)},
    )


def _together(parts: Sequence[_Placed]) -> _Placed:
    def joined(arrays: Iterable[Ints]) -> Ints:
        return np.concatenate(list(arrays))

    places = [part.placement for part in parts]
    before = np.cumsum([0, *(p.low.size for p in places)])
    first = joined([*(p.first[:-1] + n for p, n in zip(places, before.tolist(), strict=False)), before[-1:]])
    resources = dict.fromkeys(name for part in parts for name in part.requests)
    return _Placed(
        [label for part in parts for label in part.labels],
        [group for part in parts for group in part.groups],
        joined(part.start for part in parts),
        joined(part.end for part in parts),
        NodeRanges(first, *(joined(getattr(p, name) for p in places) for name in ("low", "high", "units"))),
        {r: joined(part.requests.get(r, np.zeros_like(part.start)) for part in parts) for r in resources},
    )
