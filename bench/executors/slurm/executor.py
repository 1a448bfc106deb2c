"""Runs in job arrays of SLURM, in packs of short runs. The arrays go on if the bench is killed; the same command finds them."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ....models.excerpt import with_short_repr
from ...errors import WrongUse
from ...records.store import name_of, read
from ..base import MOST_LOST, Setting, Task
from ..node import failed_record
from ..probe import Needed, needed
from .commands import SlurmError, cancel, ending, listed, ping, submit
from .packs import (
    PREFIX,
    UNSEEN,
    Pack,
    earlier,
    groups,
    identity,
    of,
    packed,
    read_pack,
    remove_batch,
    resources,
    script_of,
    write_batch,
)

PACK_SECONDS = 600.0  # usual length of a pack in the worst case
READ = 1.0  # seconds between two readings of the logs
CHECK = 5.0  # seconds between two questions to slurmctld
UNLISTED = 2  # successive answers of squeue without an element after which it has ended: shared file systems are late
SILENT = 600.0  # seconds without an answer of slurmctld after which the bench gives up
FAILED = "FAILED"  # state of a job whose process has ended by itself with an exit code


@with_short_repr
class SlurmExecutor:
    """Runs in job arrays; ``jobs``: most elements of an array that run at the same time.

    Options: ``pack``, the seconds of runs in one element, in the worst case; and options of sbatch.
    """

    options = ("pack", "account", "partition", "qos", "constraint", "reservation", "nice", "licenses")

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        options = dict(setting.options)
        self.seconds = _seconds(options.pop("pack", f"{PACK_SECONDS:g}"))
        self._own = [f"--{name}={value}" for name, value in options.items()]
        if setting.jobs is not None and setting.jobs < 1:
            raise WrongUse(f"--jobs {setting.jobs}: expected at least 1")
        self._need: Needed | None = None
        self._control = Path()
        self._most = 1
        self._waiting: list[Task] = []
        self._packs: list[Pack] = []  # those with tasks that are waited for
        self._adopted: dict[tuple[str, str], Pack] = {}
        self._lost: Counter[Task] = Counter()
        self._read_at = self._checked = self._answered = time.monotonic()

    def open(self, tasks: Sequence[Task]) -> None:
        """Ask SLURM for its limits, and find the arrays of an earlier bench that still wait or run."""
        self._most = ping()
        if not tasks:
            return
        with needed(tasks) as need:
            self._need = need
        self._control = tasks[0].folder
        folders = list(dict.fromkeys(task.folder for task in tasks))
        active = {(e.name, e.element): e.job for e in listed()}
        for batch in earlier(folders):
            mine = {index: job for (name, index), job in active.items() if name == PREFIX + batch.name}
            if not mine:
                remove_batch(batch)
            for index, job in mine.items():
                pack = Pack(batch, index, {}, job)
                ended = {of(event) for event in pack.news() if event["event"] == "ended"}
                specs = read_pack(batch, index)["specs"]
                here = {(spec["out"], stem_key(spec["stem"])): pack for spec in specs}
                self._adopted |= {name: pack for name in here if name not in ended}
        if self._adopted:
            self.setting.say(f"{len(self._adopted)} runs are waited for that an earlier bench has submitted to SLURM")

    def has_room(self) -> bool:
        """Return True: runs wait in the queue of SLURM."""
        return True

    def submit(self, task: Task) -> None:
        """Keep a task for the next array, unless an earlier array performs it."""
        pack = self._adopted.pop(identity(task), None)
        if pack is None:
            self._waiting.append(task)
            return
        pack.tasks[identity(task)] = task
        if pack not in self._packs:
            self._packs.append(pack)

    def events(self, seconds: float) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        """Submit the tasks that wait, unless more follow, and yield what the logs say."""
        if seconds > 0 and self._waiting:
            self._submit_all()
        time.sleep(seconds)
        now = time.monotonic()
        if now >= self._read_at + READ:
            self._read_at = now
            for pack in list(self._packs):
                yield from self._news(pack)
        if now >= self._checked + CHECK:
            self._checked = now
            yield from self._check()

    def _submit_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        for group in groups(waiting):
            packs = packed(group, self.seconds)
            for first in range(0, len(packs), self._most):
                self._submit_array(packs[first : first + self._most])

    def _submit_array(self, packs: Sequence[Sequence[Task]]) -> None:
        assert self._need is not None
        batch = write_batch(self._control, packs, self.setting.command, self._need)
        limit = "" if self.setting.jobs is None else f"%{self.setting.jobs}"
        arguments = [
            f"--job-name={PREFIX}{batch.name}", f"--array=0-{len(packs) - 1}{limit}", *resources(packs), *self._own,
            "--requeue", "--chdir=/", "--output=/dev/null", "--error=/dev/null",
        ]  # fmt: skip
        try:
            job = submit(script_of(batch, os.getcwd()), arguments)
        except WrongUse:
            remove_batch(batch)
            raise
        self._packs += [Pack(batch, k, {identity(t): t for t in pack}, job) for k, pack in enumerate(packs)]

    def _news(self, pack: Pack) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        for event in pack.news():
            if event["event"] == "lacking":
                raise WrongUse(event["fault"])
            task = pack.tasks.get(of(event))
            if task is None:
                continue
            if event["event"] == "ended":
                del pack.tasks[of(event)]
                path = task.folder / name_of({**task.run.head, "key": task.run.key})
                yield task, {"event": "ended", "record": read(path), "stored": True}
            else:
                yield task, {"event": event["event"]}
        if not pack.tasks:
            self._drop(pack)

    def _drop(self, pack: Pack) -> None:
        """Forget a pack, and remove the folder of its array if nothing in it is waited for."""
        self._packs.remove(pack)
        if not any(other.batch == pack.batch for other in [*self._packs, *self._adopted.values()]):
            remove_batch(pack.batch)

    def _check(self) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        """Ask which elements wait or run; the runs of those that have ended without their records begin again."""
        try:
            active = {(e.name, e.element) for e in listed()}
        except SlurmError as e:
            if time.monotonic() > self._answered + SILENT:
                raise WrongUse(f"SLURM does not answer: {e}; the arrays go on, give the same command again") from e
            return
        self._answered = time.monotonic()
        for pack in list(self._packs):
            pack.unlisted = 0 if (PREFIX + pack.batch.name, pack.index) in active else pack.unlisted + 1
            if pack.unlisted >= UNLISTED:
                yield from self._news(pack)
                if pack in self._packs:
                    yield from self._again(pack)

    def _again(self, pack: Pack) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        """Let the runs of an element begin again that ended before they did; give up one that ends its jobs every time."""
        state, code, nodes = ending(pack.job, pack.index)
        if state == FAILED and pack.begun is None:
            self._raise_fault(pack, code, nodes)
        said = f"exit code {code}: {pack.errors}" if state == FAILED else state
        self._drop(pack)
        guilty = pack.begun if pack.begun in pack.tasks else next(iter(pack.tasks))
        count = len(pack.tasks)
        self.setting.say(f"the SLURM job {pack.job}_{pack.index} ended ({said}) before {count} of its runs: run again")
        for name, task in pack.tasks.items():
            self._lost[task] += name == guilty
            if self._lost[task] < MOST_LOST:
                self._waiting.append(task)
                continue
            cause = "out of memory" if state == "OUT_OF_MEMORY" else "crash"
            message = f"its SLURM job was lost {MOST_LOST} times while it was running ({state})"
            yield task, {"event": "ended", "record": failed_record(task.run, cause, message)}

    def _raise_fault(self, pack: Pack, code: str, nodes: str) -> None:
        """Raise WrongUse with the reason why no run of an element began."""
        if code.partition(":")[0] == str(UNSEEN):
            raise WrongUse(
                f"the SLURM node {nodes} cannot see the folder {self._control} or the current folder: choose --out on a file "
                "system that all machines share"
            )
        said = pack.errors or "it printed nothing"
        raise WrongUse(f"the SLURM job {pack.job}_{pack.index} failed on {nodes} with exit code {code}: {said}")

    def close(self) -> None:
        """Cancel the arrays that are still waited for, and remove their folders."""
        cancel(sorted({pack.job for pack in self._packs}))
        for batch in {pack.batch for pack in self._packs}:
            remove_batch(batch)


def stem_key(text: str) -> str:
    """Return the key at the end of the name of a record."""
    return text.rpartition(".")[2]


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value < float("inf"):
        raise WrongUse(f"--slurm pack={text}: expected at least 1 second of runs in a job, such as pack=600")
    return value
