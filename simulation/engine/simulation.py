"""The result of a replay: when and where each job ran, how the decisions went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...instances.workload import Ints, Workload
from ...models import Platform, Schedule
from ...models.language import Violation

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]


class NodeRanges(NamedTuple):
    """Where units run: job k has the ranges ``first[k] .. first[k + 1] - 1``, each of the nodes ``low .. high`` (both
    included, as ``platform.nodes`` counts them) with ``units`` units on every one of them."""

    first: Ints
    low: Ints
    high: Ints
    units: Ints


@dataclass(frozen=True)
class Decisions:
    """The calls of a dispatcher. ``skipped``: calls not made, because no waiting job could have started.

    ``ended``: of ``moment.Ended``, how many calls; ``seconds``: "total", "model", "solve", "allocate", an entry per call
    (empty for compiled policies, which are timed as a whole); ``gains``: of the calls that reached a solver, the
    improvement over the warm start; ``urgent``: jobs that ``max_stretch`` put first.
    """

    made: int
    skipped: int = 0
    ended: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, Floats] = field(default_factory=dict)
    total_seconds: float = 0.0
    gains: Floats = field(default_factory=lambda: np.empty(0))
    urgent: int = 0


@dataclass
class Simulation:
    """A replay. Arrays have an entry per job of ``workload`` (jobs that the platform cannot hold are in its report).

    ``start``, ``end``: seconds, -1 if the job was not started (only in what a failed replay left); ``killed``: by its
    walltime; ``expected``: the duration reckoned with when it started; ``first_reserved``: the first reservation that a
    backfilling policy gave it, -1 for none; ``violations``: what the check of the whole run found; ``seconds``: of the
    replay, reading and checking aside.
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

    @property
    def metrics(self) -> Any:
        """Waits, slowdowns, utilisation, decisions: see ``dispatch.metrics.Metrics``."""
        from ..metrics import metrics

        return metrics(self)

    def schedule(self) -> Schedule:
        """Starts and nodes as the offline problems have them."""
        from ...heuristics.kernels.events.nodes import by_name  # reading a result needs no compiler, this does

        ids, nodes = self.workload.ids, by_name(self.placement, self.platform.nodes)
        started = np.flatnonzero(self.start >= 0).tolist()
        return Schedule({ids[k]: int(self.start[k]) for k in started}, {ids[k]: nodes[k] for k in started})

    def to_pandas(self) -> pandas.DataFrame:
        """A row per job: id, user, submit, start, end, wait, slowdown, units, walltime, expected, runtime, killed.

        Raises ImportError without pandas.
        """
        try:
            import pandas
        except ImportError as e:
            raise ImportError("a table needs pandas: pip install 'schedlab[pandas]'") from e
        w = self.workload
        took, wait = np.maximum(1, self.end - self.start), self.start - w.submit
        started = self.start >= 0
        columns = {
            "id": w.ids,
            "user": np.array(w.users, object)[w.user],
            "queue": np.array([q.name for q in w.queues], object)[w.queue],
            "submit": w.submit,
            "start": self.start,
            "end": self.end,
            "wait": np.where(started, wait, np.nan),
            "slowdown": np.where(started, (wait + took) / took, np.nan),
            "units": w.units,
            "walltime": w.walltime,
            "expected": self.expected,
            "runtime": w.runtime,
            "killed": self.killed,
        }
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        done = int((self.start >= 0).sum())
        return f"Simulation({self.dispatcher}, {done} of {len(self.workload)} jobs, {len(self.violations)} violations)"


class SimulationError(Exception):
    """A replay cannot go on: the dispatcher raised, answered what cannot be, or lets jobs wait for ever.

    ``job``, ``node``, ``time`` as far as they are concerned; ``partial``: what was replayed so far.
    """

    def __init__(
        self,
        message: str,
        job: str | None = None,
        node: str | None = None,
        time: int | None = None,
        partial: Simulation | None = None,
    ) -> None:
        super().__init__(message)
        self.job, self.node, self.time, self.partial = job, node, time, partial
