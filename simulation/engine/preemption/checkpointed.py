"""The checkpoints of the jobs of a replay: intervals, and seconds of writing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from random import Random

import numpy as np

from ....errors import SchedlabError, WrongValue
from ....instances.workload import Ints, Workload
from ....models.eviction.jobs import checkpoint_seconds, exact
from ....models.plugins import PluginError
from ....models.whole_numbers import is_whole, shown
from ...preemption.settings import Preemption


@dataclass(frozen=True, eq=False)
class Checkpointed:
    """The checkpoints of all jobs; arrays of shape (jobs,).

    Parameters
    ----------
    interval : ndarray of int64
        Seconds of work between two application-level checkpoints; 0: the job writes none.
    system, application : ndarray of int64
        Seconds of writing a system-level and an application-level checkpoint, rounded up.
    mb_s : tuple of Fraction
        The bandwidth of the file system that the nodes of a job use while they write.
    """

    interval: Ints
    system: Ints
    application: Ints
    mb_s: tuple[Fraction, ...]

    @classmethod
    def of(cls, workload: Workload, settings: Preemption, on_demand: Collection[int]) -> Checkpointed:
        """Return the checkpoints of the jobs of a workload; ``on_demand``: rows of jobs without checkpoints."""
        storage, model, n = settings.storage, settings.checkpoints, len(workload)
        interval, system, application = np.zeros((3, n), np.int64)
        bandwidths = [Fraction(0)] * n
        fs, own = storage.file_system_mb_s, storage.node_mb_s
        for j, nodes in enumerate(workload.units.tolist()):
            if j in on_demand:
                continue
            # by id, so that a job has the same memory in every part of a log
            memory, share = storage.draw(Random(f"{storage.seed} {workload.ids[j]}"))
            writing = checkpoint_seconds(nodes, memory * exact(share), fs, own)
            application[j], system[j] = ceil(writing), ceil(checkpoint_seconds(nodes, memory, fs, own))
            bandwidths[j] = min(exact(fs), nodes * exact(own))
            try:
                seconds = model.interval(workload.ids[j], nodes, float(writing))
            except SchedlabError:
                raise
            except Exception as e:
                raise PluginError(f"checkpoints {model.name} raised in interval: {type(e).__name__}: {e}") from e
            if seconds is not None and not (is_whole(seconds) and 1 <= seconds < 2**62):
                raise WrongValue(
                    f"checkpoints {model.name}: interval of job {workload.ids[j]!r}: expected whole seconds of at least 1, "
                    f"or None, found {shown(seconds)}"
                )
            interval[j] = seconds or 0
        return cls(interval, system, application, tuple(bandwidths))

    def taken(self, j: int, worked: int) -> int:
        """Return the seconds of work at the last application-level checkpoint of an attempt that worked ``worked`` s."""
        every = int(self.interval[j])
        return max(0, worked) // every * every if every else 0

    def wait(self, j: int, worked: int) -> int | None:
        """Return the seconds until the next application-level checkpoint; None: there is none.

        ``worked``: seconds of work in this attempt, below 0 before the end of its restart.
        """
        every = int(self.interval[j])
        return self.taken(j, worked) + every - worked if every else None
