"""One part of a replay for each group that texts name: each is a class or a function with one or two options."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import schedlab as sl
from schedlab.instances import Logged, Trace
from schedlab.instances.traces import Format
from schedlab.models.dispatch.objectives import Excess, Objective
from schedlab.models.registry import WholeSeconds
from schedlab.simulation import NodeDecision
from schedlab.simulation.forecasts import Persistence


@dataclass
class ByUnits:
    """A ranker: jobs of few units first, or of many."""

    first: Literal["narrow", "wide"] = "narrow"
    name = "by-units"

    def begin(self, platform: Any, queues: Any, users: Any, seed: int) -> None:
        """Keep nothing."""

    def learn(self, news: Any) -> None:
        """Learn nothing."""

    def rank(self, now: int, waiting: Any) -> Any:
        """Return the numbers of units."""
        return waiting.units if self.first == "narrow" else -waiting.units


@dataclass
class Share:
    """A predictor: a share of the walltime."""

    part: float = 0.5
    name, notes = "share", ()

    def begin(self, workload: Any) -> Any:
        """Return the expected durations."""
        self.walltime = workload.walltime
        return np.maximum(1, (workload.walltime * self.part).astype(np.int64))

    def predict(self, job: int) -> int:
        """Return the expected duration of one job."""
        return max(1, int(self.walltime[job] * self.part))

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Return no users."""
        return ()


@dataclass
class LastFirst:
    """An allocator: the last nodes of the platform first, without the first ``spared`` ones as long as possible."""

    spared: int = 0
    name = "last-first"

    def order(self, platform: sl.Platform) -> Sequence[str]:
        """Return the names of the nodes."""
        return [*platform.nodes[self.spared :][::-1], *platform.nodes[: self.spared]]


@dataclass
class Youngest:
    """An evictor: the candidates with the least loss are killed, and ``more`` of them than are needed."""

    more: int = 0
    name = "youngest"

    def decide(self, problem: sl.Eviction) -> sl.EvictionPlan:
        """Return the plan."""
        strategy, freed, more = dict.fromkeys((c.id for c in problem.candidates), "keep"), 0, self.more
        for c in sorted(problem.candidates, key=lambda c: c.loss):
            if freed >= problem.nodes_needed:
                if more == 0:
                    break
                more -= 1
            strategy[c.id], freed = "kill", freed + c.nodes
        return sl.EvictionPlan(strategy)


@dataclass
class OffAfter:
    """A node policy: off after some time."""

    after: WholeSeconds = 600
    name = "off-after"

    def begin(self, platform: Any, switching: Any, desired: Any) -> None:
        """Keep nothing."""

    def decide(self, moment: Any) -> NodeDecision:
        """Return the nodes that have been idle for long enough."""
        idle = moment.may_switch_off & (moment.idle_since + self.after <= moment.now)
        return NodeDecision(np.flatnonzero(idle))


class Sampled(Persistence):
    """A forecast: every k-th job of the last day."""

    def __init__(self, every: int = 1) -> None:
        super().__init__()
        self.name, self.every = "sampled", every

    def jobs(self, history: Any, now: int, end: int) -> Any:
        """Return the jobs."""
        found = super().jobs(history, now, end)
        return found.keep(np.arange(len(found)) % self.every == 0)


@dataclass
class Doubling:
    """Users who request a multiple of the runtime."""

    times: float = 2.0
    name = "doubling"

    def begin(self, workload: Any) -> None:
        """Keep the runtimes."""
        self.runtime = workload.runtime

    def request(self, now: int, jobs: Any, start: Any) -> Any:
        """Return the walltimes."""
        return np.maximum(1, (self.runtime[jobs] * self.times).astype(np.int64))


@dataclass
class Wider:
    """A checkpoint model: jobs of at least ``nodes`` nodes write a checkpoint every ``seconds``."""

    seconds: WholeSeconds = 1800
    nodes: int = 1
    name = "wider"

    def interval(self, job: str, nodes: int, writing: float) -> int | None:
        """Return the seconds."""
        return self.seconds if nodes >= self.nodes else None


@dataclass
class KeepShare:
    """A requeue rule: a share of the work is kept."""

    part: float = 0.5
    name = "keep-share"

    def kept(self, ran: int) -> int:
        """Return the seconds."""
        return int(ran * self.part)


def _ends(problem: Any) -> Excess:
    return Excess([1.0] * len(problem.jobs), [-j.submit - problem.duration(j) for j in problem.jobs])


def _value(problem: Any, schedule: sl.Schedule) -> int:
    return sum(schedule.start[job.id] + problem.duration(job) for job in problem.jobs)


TOTAL_ENDS = Objective("total-ends", "sum of the ends of the jobs", _ends, _value)


def _read(path: str | Path, reading: Any) -> Trace:
    with Path(path).open() as file:
        rows = [
            Logged(id=name, submit=float(submit), runtime=float(runtime), walltime=2 * float(runtime), units=1,
                   request={"cores": int(cores)})
            for name, submit, runtime, cores in csv.reader(file, delimiter="|")
        ]  # fmt: skip
    return Trace.of(Path(path).stem, "bars", rows, ["cores"])


BARS = Format("bars", "id|submit|runtime|cores", _read)
