"""What-if questions: a log is replayed on a site as it is and with changes, and each replay is kept in a file."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ... import __version__
from ...instances.files.lines import read_text
from ...instances.files.writing import to_csv, write_whole
from ...instances.log_preparation import cancellations
from ...instances.sites import site_text
from ...instances.sites.changes import with_changes
from ...instances.workload import Workload
from ...models.node_states import NodeEvent
from ...models.server_events import ServerEvent
from ...models.site import Site
from ...simulation.simulator import simulate
from ...simulation.slurm.calibration import priority_begin
from ...simulation.slurm.jobs import SlurmJob, slurm_jobs
from ...simulation.slurm.replay import SlurmReplay
from ..errors import WrongUse
from ..tables.whatif import Answer

SLURM = "slurm"
TOGETHER = "all together"
HEADS = ("job", "submit", "took")  # then the starts of each replay: start_1, ...


@dataclass(frozen=True)
class Variant:
    """A site with changes; ``change``: their text, empty for the site as it is."""

    change: str
    site: Site


def variants(site: Site, changes: Sequence[str]) -> list[Variant]:
    """Return the site as it is, with each change alone, and with all of them if there are several. Raises WrongChange."""
    alone = [Variant(change, with_changes(site, [change])) for change in changes]
    several = [Variant(TOGETHER, with_changes(site, changes))] if len(changes) > 1 else []
    return [Variant("", site), *alone, *several]


@dataclass(frozen=True)
class Question:
    """A log, and how it is replayed.

    Parameters
    ----------
    log : Workload
        The jobs, with those that were cancelled in the queue.
    content : str
        A hash of the file.
    folder : Path
        Where the replays are kept.
    replays : int
        Replays by the rules of Slurm, which differ in what no log records; a job's wait is the mean over them.
    seed : int
        Their seed.
    """

    log: Workload
    content: str
    folder: Path
    replays: int
    seed: int

    def file(self, variant: Variant, dispatcher: str) -> Path:
        """Return the file of a replay; its name has a hash of all that determines it."""
        parts = (__version__, self.content, site_text(variant.site), dispatcher, self.replays, self.seed)
        key = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]
        return self.folder / f"{dispatcher.replace(':', '_').replace('/', '_')}.{key}.csv"

    def answer(self, variant: Variant, dispatcher: str, on_step: Callable[[], None]) -> Answer:
        """Return a replay, from its file if there is one; ``on_step`` is called after each part of it."""
        path = self.file(variant, dispatcher)
        if path.exists():
            for _ in range(self.steps(dispatcher)):
                on_step()
            return _read(path, variant.change, dispatcher)
        if dispatcher == SLURM:
            answer = self._by_slurm(variant, on_step)
        else:
            answer = self._simulated(variant, dispatcher)
            on_step()
        self.folder.mkdir(parents=True, exist_ok=True)
        heads = [*HEADS, *(f"start_{k + 1}" for k in range(len(answer.start)))]
        columns = [answer.submit.tolist(), answer.took.tolist(), *answer.start.tolist()]
        write_whole(path, to_csv(heads, list(zip(answer.ids, *columns, strict=True))))
        return answer

    def steps(self, dispatcher: str) -> int:
        """Return the number of parts of a replay."""
        return self.replays if dispatcher == SLURM else 1

    def _by_slurm(self, variant: Variant, on_step: Callable[[], None]) -> Answer:
        """Return the replays by the rules of Slurm."""
        jobs = slurm_jobs(self.log)
        begin = priority_begin(jobs, variant.site)
        starts = []
        for k in range(self.replays):
            run = SlurmReplay(variant.site, jobs, seed=self.seed + k, begin=begin)
            run.run()
            first = run.first_starts()
            starts.append(np.where(np.isnan(first), -1, np.rint(first)).astype(np.int64))
            on_step()
        submit = np.array([job.submit for job in jobs], np.int64)
        took = np.array([_took(job) for job in jobs], np.int64)
        return Answer(variant.change, SLURM, [job.id for job in jobs], submit, took, np.array(starts))

    def _simulated(self, variant: Variant, dispatcher: str) -> Answer:
        """Return the replay under a dispatcher of ``simulate``."""
        events: list[NodeEvent | ServerEvent] = [*variant.site.events, *cancellations(self.log)]
        run = simulate(self.log, dispatcher=dispatcher, site=variant.site, seed=self.seed, events=events)
        took = np.where(run.start < 0, 0, run.end - run.start)
        return Answer(variant.change, dispatcher, run.workload.ids, run.workload.submit, took, run.start[None, :])


def _took(job: SlurmJob) -> int:
    """Return the seconds that a job ran, as recorded; its time limit if it never did."""
    if not job.attempts:
        return job.limit or 0
    return job.attempts[-1].end - job.attempts[-1].start


def _read(path: Path, change: str, dispatcher: str) -> Answer:
    """Return a replay that was kept. Raises WrongUse."""
    head, *lines = csv.reader(read_text(path).splitlines()) or [[]]
    try:
        columns = [np.array([int(line[k]) for line in lines], np.int64) for k in range(1, len(head))]
    except (ValueError, IndexError) as e:
        raise WrongUse(f"{path}: it is damaged ({e}); delete it, and run again") from e
    if tuple(head[:3]) != HEADS or len(head) < 4:
        raise WrongUse(f"{path}: its first line is not that of a replay; delete it, and run again")
    submit, took, *starts = columns
    return Answer(change, dispatcher, [line[0] for line in lines], submit, took, np.array(starts))


def groups_of(log: Workload) -> dict[str, dict[str, str]]:
    """Return the partition, the account and the user of each job, by the name of what they are."""
    jobs = slurm_jobs(log)
    return {
        "partition": {job.id: ",".join(job.request.partitions) for job in jobs},
        "account": {job.id: job.request.account for job in jobs},
        "user": {job.id: job.user for job in jobs},
    }
