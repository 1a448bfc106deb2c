"""Every job of a replay as a row, from the first to the last event: jobs of the log, jobs that run at the begin, on-demand jobs.

The times, places and durations of the rows are in the arrays of the kernels (``TraceArrays``, ``State``). The ledger adds
the attempts that ended early, which rows take part in what, and the jobs as dispatchers in Python see them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..heuristics.kernels.events.entries import end_now
from ..heuristics.kernels.events.machine import of_chunks
from ..heuristics.kernels.events.state import NOW, RUNNING, SORTED, STARTED, UNSTARTED, WAITING, State, TraceArrays
from ..instances.workload import Workload
from ..models import Job, Platform, Running
from ..models.array_types import Bools, Ints, Small
from .records import Attempt, AttemptLog
from .timeline import Use


class Ledger:
    """The jobs of one replay.

    Parameters
    ----------
    workload : Workload
        All rows; walltimes and queues may change during the replay.
    platform : Platform
        The machine.
    trace, state
        The arrays of the kernels.
    begun : mapping of int to tuple of Running
        Row of a job that runs at the begin -> how its chunks run.

    Attributes
    ----------
    log : AttemptLog
        The attempts that ended early.
    durations : ndarray of int64 or None
        The expected durations of all rows in seconds, if they do not change as jobs end, shape (jobs,).
    killed : ndarray of bool, shape (jobs,)
        Whether each job ends at its walltime before its work is done.
    left : dict of int to str
        Row of a job that left the queue for good, without a start -> why.
    left_at : dict of int to int
        Row of such a job -> the second in which it left.
    held_back : dict of int to str
        Row of a job that no dispatcher may start -> why.
    waiting : dict of int to Job
        Row -> job, for the jobs in the queue that dispatchers see, in the order of the queue. Kept in replays event by event only, as
        ``running``, ``further`` and ``expected`` are.
    running : dict of int to Running
        Row -> the first chunk of a running job.
    further : dict of int to list of Running
        Row -> the further chunks of a running heterogeneous job.
    expected : dict of str to int
        Id of a waiting or running job -> expected duration in seconds.
    failed : list of int
        Rows of the jobs whose attempt has ended early at this event.
    shortened : bool
        Whether an expected duration has become shorter since the caller set this to False.
    """

    def __init__(
        self,
        workload: Workload,
        platform: Platform,
        trace: TraceArrays,
        state: State,
        begun: Mapping[int, tuple[Running, ...]],
    ) -> None:
        self.workload = workload
        self.platform = platform
        self.trace = trace
        self.state = state
        self.begun = begun
        self.log = AttemptLog(len(workload))
        self.durations: Ints | None = None
        self.killed: Bools = np.zeros(len(workload), np.bool_)
        self.left: dict[int, str] = {}
        self.left_at: dict[int, int] = {}
        self.held_back: dict[int, str] = {}
        self.failed: list[int] = []
        self.shortened = False
        self.waiting: dict[int, Job] = {}
        self.running: dict[int, Running] = {}
        self.further: dict[int, list[Running]] = {}
        self.expected: dict[str, int] = {}
        self.arrived: set[int] = set()
        self._by_user: dict[int, set[int]] = defaultdict(set)

    @cached_property
    def row(self) -> dict[str, int]:
        """Id of a job -> its row; made when it is asked for, as compiled policies do not need it."""
        return {name: j for j, name in enumerate(self.workload.ids)}

    @property
    def now(self) -> int:
        """The time in seconds."""
        return int(self.state.clock[NOW])

    def begin(self) -> None:
        """Show the jobs that run at the begin to dispatchers."""
        for j, parts in self.begun.items():
            shown = [replace(r, job=replace(r.job, runtime=None)) for r in parts]
            self.running[j] = shown[0]
            if len(shown) > 1:
                self.further[j] = shown[1:]
            self.expected[self.workload.ids[j]] = int(self.state.expected[j])
            self.arrived.add(j)

    def began_here(self, j: int) -> bool:
        """Return whether the last attempt of a row began in the replay, and not before."""
        return j not in self.begun or bool(self.log.counts[j])

    def runs(self, j: int) -> bool:
        """Return whether a row holds nodes now, as a job outside of reservations."""
        running: Ints = self.state.running[: self.state.clock[RUNNING]]
        return bool((running == j).any())

    def waiting_job(self, j: int) -> Job:
        """Return a job as a dispatcher sees it: without its runtime, and less the work of its earlier attempts."""
        return self.workload.waiting_job(j, self.log.less(j))

    def limit(self, j: int) -> int:
        """Return the walltime of a job in seconds, less the work of its earlier attempts, and with its restart."""
        return max(1, int(self.workload.walltime[j]) - self.log.less(j))

    def limits(self, rows: Ints) -> Ints:
        """Return ``limit`` of each of some rows."""
        limits: Ints = self.workload.walltime[rows] - self.log.saved[rows]
        if self.log.restart:
            limits += np.array([self.log.restart * bool(self.log.counts[j]) for j in rows.tolist()], np.int64)
        longest: Ints = np.maximum(1, limits)
        return longest

    def walltime_end(self, j: int) -> int:
        """Return the time by which a running job ends by its walltime, after now."""
        return max(self.now + 1, int(self.state.start[j]) + self.limit(j))

    def walltime_ends(self, rows: Ints) -> Ints:
        """Return ``walltime_end`` of each of some rows."""
        ends: Ints = np.maximum(self.now + 1, self.state.start[rows] + self.limits(rows))
        return ends

    def of_users(self, users: Iterator[int] | Sequence[int]) -> list[int]:
        """Return the waiting rows of some users."""
        return [j for user in users for j in self._by_user.get(user, ())]

    def arrive(self, j: int) -> None:
        """Show a job that has arrived, or comes back, in the queue."""
        self._by_user[int(self.workload.user[j])].add(j)
        self.waiting[j] = self.waiting_job(j)
        self.expected[self.workload.ids[j]] = int(self.state.expected[j])
        self.arrived.add(j)

    def dequeue(self, j: int) -> Job:
        """Remove a job from the queue that dispatchers see, and return it."""
        self._by_user[int(self.workload.user[j])].discard(j)
        return self.waiting.pop(j)

    def sort_queue(self) -> None:
        """Sort the queue by arrival: jobs that come back have their old places in it."""
        release = self.workload.release
        order = sorted(self.waiting, key=lambda j: (release[j], j))
        self.waiting = {j: self.waiting[j] for j in order}
        self.state.waiting[: len(order)] = order
        self.state.clock[SORTED] = 0

    def change_waiting(self, j: int, **fields: object) -> None:
        """Change the job that dispatchers see, if they see it."""
        if j in self.waiting:
            self.waiting[j] = replace(self.waiting[j], **fields)  # type: ignore[arg-type]

    def note_start(self, j: int, job: Job, nodes: Sequence[Mapping[str, int]]) -> None:
        """Show a job that has started now as running; ``nodes``: of each chunk."""
        now = self.now
        end = self.now + int(self.state.expected[j])
        parts = [Running(part, now, dict(on), end) for part, on in zip(job.parts, nodes, strict=True)]
        self.running[j] = parts[0]
        if len(parts) > 1:
            self.further[j] = parts[1:]
        self.expected[job.id] = int(self.state.expected[j])
        self.arrived.add(j)

    def note_end(self, j: int) -> None:
        """Show a job as running no longer."""
        ended = self.running.pop(j, None)
        self.further.pop(j, None)
        if ended is not None:
            self.expected.pop(ended.job.id, None)

    def shown_running(self) -> Iterator[Running]:
        """Yield the running jobs, then the further chunks of the heterogeneous ones."""
        yield from self.running.values()
        for parts in self.further.values():
            yield from parts

    def places_of(self, j: int) -> Small:
        """Return the numbers of the nodes of a running job."""
        first = int(self.trace.first[j])
        return self.state.place[first : first + int(self.state.pieces[j])]

    def nodes_of(self, j: int) -> list[dict[str, int]]:
        """Return {node: units} of each chunk of a job that has places."""
        first = int(self.trace.first[j])
        slots = slice(first, first + int(self.state.pieces[j]))
        place = self.state.place[slots].astype(np.int64)
        share = self.state.share[slots].astype(np.int64)
        chunks = self.workload.chunks.get(j, ())
        names = self.platform.nodes
        if not chunks:
            return [{names[n]: units for n, units in zip(place.tolist(), share.tolist(), strict=True)}]
        return of_chunks((np.array([0, place.size]), place, place, share), 0, [c.units for c in chunks], names)

    def uses_of(self, j: int, start: int, end: int, nodes: Sequence[Mapping[str, int]] | None = None) -> list[Use]:
        """Return what the chunks of a job use; ``nodes``: of each chunk, those of the running job if None."""
        names = self.platform.resources
        if self.trace.whole[j]:
            if nodes is None:
                listed = [name for part in self.nodes_of(j) for name in part]
            else:
                listed = [n for p in nodes for n in p]
            amounts = (self.platform.capacity[name] for name in listed)
            every = zip(listed, amounts, strict=True)
            return [Use({name: 1}, dict(zip(names, vector, strict=True)), start, end) for name, vector in every]
        rows = range(int(self.trace.first_further[j]), int(self.trace.first_further[j + 1]))
        chunks = [self.trace.request[j], *(self.trace.further_request[row] for row in rows)]
        requests = [dict(zip(names, request.tolist(), strict=False)) for request in chunks]
        if nodes is not None:
            on = nodes
        else:
            on = self.nodes_of(j)
        uses = [Use(n, q, start, end) for n, q in zip(on, requests, strict=False)]
        if len(self.trace.each_node) and self.trace.each_node[j].any():
            each = dict(zip(names, self.trace.each_node[j].tolist(), strict=False))
            uses += [Use(dict.fromkeys(part, 1), each, start, end) for part in on]
        return uses

    def start_of(self, j: int) -> int:
        """Return the start of the attempt of a running job in seconds."""
        return int(self.state.start[j])

    def end_attempt(self, j: int, why: str, kept: int, nodes: Sequence[Mapping[str, int]]) -> None:
        """Note that an attempt of a job ends now, with ``kept`` seconds of its work; the job is not running any more."""
        on, *further = nodes
        if not self.began_here(j):
            self.log.begun[j] = self.begun[j]
        number = self.log.counts[j] + 1
        attempt = Attempt(self.workload.ids[j], number, self.start_of(j), self.now, on, why, kept, tuple(further))
        self.failed.append(j)
        self.log.add(j, attempt)
        again = 0
        if number == 1:
            again = self.log.restart
        self.trace.runtime[j] += again - kept
        whole = int(self.state.expected[j]) + again - kept
        if self.durations is not None:
            whole = int(self.durations[j]) - self.log.less(j)
        self.state.expected[j] = max(1, whole)
        self.shortened = True
        if j not in self.begun or number > 1:
            self.state.clock[STARTED] -= 1  # counts the starts in the replay
        self.state.start[j] = UNSTARTED

    def put_back(self, j: int, why: str, kept: int) -> None:
        """End a running job now, and put it back into the queue with ``kept`` seconds of the work of this attempt."""
        nodes = self.nodes_of(j)
        end_now(self.trace, self.state, j)
        self.end_attempt(j, why, kept, nodes)
        self.requeue([j])

    def requeue(self, rows: Sequence[int]) -> None:
        """Add rows to the waiting jobs of the kernels; they are shown to dispatchers later (``arrive``)."""
        for j in rows:
            self.state.waiting[self.state.clock[WAITING]] = j
            self.state.clock[WAITING] += 1
            self.count(j, 1)

    def count(self, j: int, sign: int) -> None:
        """Count a row (sign 1), or count it no longer (-1), among the waiting jobs of its calendars."""
        for c in (int(self.trace.own[j]), int(self.trace.daily[j])):
            if c >= 0:
                self.state.opened[c] += sign

    def end_for_good(self, j: int, why: str) -> None:
        """End a running job now, before its work is done; it does not come back."""
        if not self.began_here(j):
            on, *further = self.nodes_of(j)
            attempt = Attempt(self.workload.ids[j], 1, self.start_of(j), self.now, on, why, 0, tuple(further))
            self.log.gone.append(attempt)
        else:
            self.log.dropped[j] = why
        self.failed.append(j)
        end_now(self.trace, self.state, j)
        self.trace.runtime[j] = self.state.clock[NOW] - self.state.start[j]

    def withdraw(self, rows: Sequence[int]) -> None:
        """Take jobs out of the queue of the kernels; the caller keeps them elsewhere."""
        state, clock = self.state, self.state.clock
        n = int(clock[WAITING])
        kept = ~np.isin(state.waiting[:n], list(rows))
        clock[SORTED] = int(kept[: clock[SORTED]].sum())
        left = state.waiting[:n][kept]
        state.waiting[: left.size], clock[WAITING] = left, left.size
        for j in rows:
            self.count(j, -1)
            state.reserved[j] = -1
            self.expected.pop(self.dequeue(j).id, None)
