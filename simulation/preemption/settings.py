"""The settings of on-demand jobs, checkpoints and failures in a replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...errors import WrongValue
from ...models import Checkpointing, NodeEvent
from ...models.arguments import expect
from ...models.excerpt import with_short_repr
from ...models.whole_numbers import is_number, is_whole, shown
from .checkpoints import CheckpointModel, checkpoints_of
from .evictors import Evictor, evictor_of
from .jobs import OnDemandJob, check_jobs


@with_short_repr
@dataclass(frozen=True)
class Preemption:
    """On-demand jobs in a batch machine, who leaves for them, and what jobs lose that leave or fail.

    Parameters
    ----------
    jobs : iterable of OnDemandJob
        The on-demand jobs.
    evictor : str or Evictor
        Who leaves: ``"none"``, ``"kill"``, ``"greedy"``, ``"dp"``, ``"dp-knee"``, ``"reserve:NODES"``, a method of
        eviction problems such as ``"cpsat:shared"``, or an object that follows ``evictors.Evictor``.
    checkpoints : str or CheckpointModel
        Application-level checkpoints: ``"fixed:SECONDS"``, ``"young:RATE"``, ``"daly:RATE"``, ``"none"``, ``"log:FILE"``,
        or an object that follows ``checkpoints.CheckpointModel``.
    restart : int, default 0
        Seconds at the begin of each later attempt of a job in which it makes no progress.
    storage : Checkpointing
        The bandwidths of file system and node, and the limits between which the memory of jobs and the share that
        applications write are drawn (``seed``). Its ``interval`` is not used.
    shared_bandwidth : bool, default False
        Whether checkpoints may be written in parallel within the bandwidth of the file system, else one after another.
    step : int, default 60
        Seconds of a time step of eviction problems.
    failures : tuple of NodeEvent
        Failures and repairs of nodes, as ``failures.failures_of`` returns them.

    Raises
    ------
    WrongValue, UnknownName, PluginError
        If a value is not valid.

    Examples
    --------
    >>> Preemption([OnDemandJob("scan", 3600, 512, 900, 1800)], "dp").evictor
    DynamicProgram(excess=None)
    """

    jobs: tuple[OnDemandJob, ...] = ()
    evictor: Evictor = "dp"  # type: ignore[assignment]
    checkpoints: CheckpointModel = "fixed:3600"  # type: ignore[assignment]
    restart: int = 0
    storage: Checkpointing = field(default_factory=Checkpointing)
    shared_bandwidth: bool = False
    step: int = 60
    failures: tuple[NodeEvent, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in (("jobs", OnDemandJob), ("failures", NodeEvent)):
            given = getattr(self, name)
            listed = tuple(given) if isinstance(given, Iterator) else given
            expect(f"{name} of Preemption", listed, Sequence[kind])  # type: ignore[valid-type]
            object.__setattr__(self, name, tuple(listed))
        expect("storage of Preemption", self.storage, Checkpointing)
        expect("shared_bandwidth of Preemption", self.shared_bandwidth, bool)
        check_jobs(self.jobs)
        object.__setattr__(self, "evictor", evictor_of(self.evictor))
        object.__setattr__(self, "checkpoints", checkpoints_of(self.checkpoints))
        for name, least in (("restart", 0), ("step", 1)):
            value = getattr(self, name)
            if not is_whole(value) or value < least:
                raise WrongValue(
                    f"preemption: {name}: expected whole seconds of at least {least}, found {shown(value)}"
                )
        for name in ("file_system_mb_s", "node_mb_s"):
            value = getattr(self.storage, name)
            if not is_number(value) or value <= 0:
                raise WrongValue(f"preemption: storage.{name}: expected more than 0 MB/s, found {shown(value)}")
        if getattr(self.evictor, "shared_bandwidth", False):
            object.__setattr__(self, "shared_bandwidth", True)

    @property
    def reserved(self) -> int:
        """Nodes that batch jobs may not use."""
        return int(getattr(self.evictor, "reserved", 0))
