"""The running jobs of an eviction problem: as the machine knows them, and as the problem needs them (equation 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from ..whole_numbers import Fields, is_number, whole_records

BATCH = Fields(one=("nodes", "start", "memory"), maybe=("last_checkpoint", "next_checkpoint"))
CANDIDATE = Fields(one=("nodes", "loss"))
Seconds = float | Fraction  # whole numbers as well


@dataclass(frozen=True)
class BatchJob:
    """A running job as the machine knows it. Times in seconds, on one clock.

    ``last_checkpoint``: of the application, None if it has taken none yet (its loss then counts from ``start``);
    ``next_checkpoint``: None if it takes none; ``memory``: MB in use on each of its nodes, which a system-level checkpoint
    writes; ``application_share``: the share of that, 0 to 1, which an application-level one writes.
    """

    id: str
    nodes: int
    start: int
    last_checkpoint: int | None
    next_checkpoint: int | None
    memory: int
    application_share: float

    def candidate(self, now: int, file_system_mb_s: float, node_mb_s: float) -> EvictionCandidate:
        """What the job loses and how long its checkpoints take, by equation 1 of the paper.

        >>> BatchJob("a", 4, start=0, last_checkpoint=600, next_checkpoint=1800, memory=7000, application_share=0.5
        ...         ).candidate(now=1000, file_system_mb_s=1000, node_mb_s=700)
        EvictionCandidate(id='a', nodes=4, loss=1600, system_s=28, application_s=814, wait_s=800, mb_s=1000)
        """
        since = self.start if self.last_checkpoint is None else self.last_checkpoint
        wait = None if self.next_checkpoint is None else self.next_checkpoint - now
        small = self.memory * exact(self.application_share)
        system = checkpoint_seconds(self.nodes, self.memory, file_system_mb_s, node_mb_s)
        application = (
            None if wait is None else wait + checkpoint_seconds(self.nodes, small, file_system_mb_s, node_mb_s)
        )
        draw = min(exact(file_system_mb_s), self.nodes * exact(node_mb_s))
        return EvictionCandidate(
            self.id,
            self.nodes,
            self.nodes * (now - since),
            _plain(system),
            _plain(application),
            wait or 0,
            _plain(draw),
        )


@dataclass(frozen=True)
class EvictionCandidate:
    """A running job as the problem needs it; without the last two, these are the numbers of the paper.

    ``loss``: node-seconds lost if it is killed; ``system_s``, ``application_s``: seconds from now to the end of a checkpoint,
    None if that kind is not possible; ``wait_s``: how much of ``application_s`` passes before the application writes;
    ``mb_s``: what its nodes draw of the file system's bandwidth while they write (only ``shared_bandwidth`` asks for it).
    """

    id: str
    nodes: int
    loss: int
    system_s: Seconds | None
    application_s: Seconds | None
    wait_s: Seconds = 0
    mb_s: Seconds | None = None


def checkpoint_seconds(nodes: int, mb: Seconds, file_system_mb_s: float, node_mb_s: float) -> Fraction:
    """Equation 1: ``nodes`` nodes write ``mb`` MB each, at the bandwidth of the file system or of a node, whichever binds.

    >>> checkpoint_seconds(500, 70_000, 250_000, 700), checkpoint_seconds(100, 70_000, 250_000, 700)
    (Fraction(140, 1), Fraction(100, 1))
    """
    size = exact(mb)
    return max(nodes * size / exact(file_system_mb_s), size / exact(node_mb_s))


def exact(value: Seconds) -> Fraction:
    """The number as it is written: 0.1 is a tenth, so that no rounding up is off by a step."""
    return value if isinstance(value, Fraction) else Fraction(str(value))


def _plain(value: Fraction | None) -> Seconds | None:
    return value if value is None or value.denominator != 1 else int(value)


def possible(c: EvictionCandidate) -> Iterator[tuple[str, Seconds]]:
    """The checkpoints that a job can take, the application's first."""
    if c.application_s is not None:
        yield "app", c.application_s
    if c.system_s is not None:
        yield "sys", c.system_s


def whole_steps(seconds: Seconds, step: int) -> int:
    """Whole steps that are not less."""
    if isinstance(seconds, int):
        return -(-seconds // step)
    return -int(-exact(seconds) // step)


class Wrong(NamedTuple):
    """What is wrong with one field of a job."""

    field: str
    expected: str
    found: object

    def of(self, job: str) -> str:
        """As a sentence."""
        return f"job {job!r}: {self.field} is {self.found!r}; expected is {self.expected}"


def whole_job(job: BatchJob | EvictionCandidate) -> tuple[BatchJob | EvictionCandidate, list[str]]:
    """The job with Python's integers, and what is not a whole number in it."""
    fields = BATCH if isinstance(job, BatchJob) else CANDIDATE
    (made,), faults = whole_records([job], fields, lambda j: f"job {j.id!r}")
    return made, faults


def job_faults(j: BatchJob | EvictionCandidate, now: int = 0) -> Iterator[Wrong]:
    """What is wrong with a job alone, at the moment ``now``."""
    if j.nodes < 1:
        yield Wrong("nodes", "a whole number of at least 1", j.nodes)
    yield from _physical_faults(j, now) if isinstance(j, BatchJob) else _candidate_faults(j)


def _physical_faults(j: BatchJob, now: int) -> Iterator[Wrong]:
    if j.memory < 0:
        yield Wrong("memory", "at least 0 MB per node", j.memory)
    if not is_number(j.application_share) or not 0 <= j.application_share <= 1:
        yield Wrong("application_share", "0 to 1", j.application_share)
    if j.start > now:
        yield Wrong("start", f"a moment up to now, {now}", j.start)
    last = j.start if j.last_checkpoint is None else j.last_checkpoint
    if not j.start <= last <= max(now, j.start):
        yield Wrong("last_checkpoint", f"a moment from its start, {j.start}, to now, {now}", last)
    if j.next_checkpoint is not None and j.next_checkpoint < max(last, now):
        yield Wrong("next_checkpoint", f"a moment from now, {now}, on and after the last one", j.next_checkpoint)


def _candidate_faults(c: EvictionCandidate) -> Iterator[Wrong]:
    if c.loss < 0:
        yield Wrong("loss", "whole node-seconds of at least 0", c.loss)
    for name in ("system_s", "application_s", "wait_s", "mb_s"):
        value = getattr(c, name)
        if (value is None and name == "wait_s") or (value is not None and not (is_number(value) and value >= 0)):
            yield Wrong(name, "a number of at least 0", value)
            return
    if c.application_s is not None and c.wait_s > c.application_s:
        yield Wrong("wait_s", f"at most application_s, {c.application_s}", c.wait_s)
