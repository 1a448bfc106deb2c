"""Packs: the runs that one element of a job array performs one after another, and their files.

An array has a folder ``.slurm/TOKEN`` in the folder of the records, with the file of its packs and, for each of them, a log
of events that its process prints. The array goes on without the bench; the same command finds it by the name of its job.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from ....instances.files.atomic import write_whole
from ...runs.how_long import START_UP
from ...runs.process import START_LIMIT
from ...runs.selection import KILL_AFTER, Run
from ..base import Task
from ..node import spec_of
from ..probe import Needed

HIDDEN, PREFIX = ".slurm", "schedlab-"
PACKS, NEED = "packs.jsonl", "need.json"
UNSEEN = 3  # exit code of an element that cannot see the folder
SPARE_MB = 512  # memory of the process that supervises the runs
SCRIPT = """\
#!/bin/sh
test -r {batch}/{packs} && cd {cwd} || exit {unseen}
exec {python} -m schedlab.bench.executors.slurm.pack {batch} "$SLURM_ARRAY_TASK_ID" \
>>{batch}/"$SLURM_ARRAY_TASK_ID".log 2>>{batch}/"$SLURM_ARRAY_TASK_ID".err
"""


@dataclass(eq=False)
class Pack:
    """Runs of one element of an array.

    Parameters
    ----------
    batch
        Folder of the array.
    index
        Index of the element.
    tasks
        The tasks by folder and key that are waited for.
    job
        The id of the job.
    """

    batch: Path
    index: int
    tasks: dict[tuple[str, str], Task]
    job: str = ""
    unlisted: int = 0  # successive answers of squeue without it
    begun: tuple[str, str] | None = None  # the run that was the last to begin and has not ended
    _read: int = field(default=0, repr=False)

    @property
    def log(self) -> Path:
        """The file of its events."""
        return self.batch / f"{self.index}.log"

    @property
    def errors(self) -> str:
        """The last line of the standard error of its process."""
        try:
            lines = (self.batch / f"{self.index}.err").read_text(errors="replace").split("\n")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def news(self) -> list[dict[str, Any]]:
        """Return the events that were printed since the last call."""
        try:
            with self.log.open("rb") as f:
                f.seek(self._read)
                data = f.read()
        except OSError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        found = list(parsed(whole))
        for event in found:
            if event["event"] in ("begun", "ended"):
                self.begun = of(event) if event["event"] == "begun" else None
        return found


def parsed(lines: bytes) -> Iterator[dict[str, Any]]:
    """Yield the events of a log; a line that a killed process left half written is left out."""
    for line in lines.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def of(event: Mapping[str, Any]) -> tuple[str, str]:
    """Return the folder and the key of the run of an event."""
    return event["folder"], event["key"]


def identity(task: Task) -> tuple[str, str]:
    """Return what names a task in files: its folder and key."""
    return str(task.folder), task.run.key


def seconds_of(run: Run) -> float:
    """Return the most seconds that a run takes once its kernels are compiled."""
    return run.time_limit + KILL_AFTER + START_UP


def packed(tasks: Sequence[Task], seconds: float) -> list[list[Task]]:
    """Return packs of neighbouring tasks, each of at most ``seconds`` in the worst case, or of one task."""
    found: list[list[Task]] = []
    room = 0.0
    for task in tasks:
        room -= seconds_of(task.run)
        if room < 0 or not found:
            found.append([])
            room = seconds - seconds_of(task.run)
        found[-1].append(task)
    return found


def groups(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    """Yield the tasks of equal threads and memory, which one array can have."""
    found: dict[tuple[int, float | None], list[Task]] = {}
    for task in tasks:
        found.setdefault((task.run.threads, task.run.memory_gb), []).append(task)
    yield from found.values()


def write_batch(control: Path, packs: Sequence[Sequence[Task]], command: Sequence[str], need: Needed) -> Path:
    """Write the folder of an array and return it; ``control``: the folder of records in which it is."""
    batch = control / HIDDEN / uuid4().hex[:12]
    batch.mkdir(parents=True)
    token = batch / "token"
    write_whole(token, need.token)
    write_whole(batch / NEED, json.dumps(need._replace(tokens=[str(token)])))
    lines = [
        json.dumps({"command": list(command), "specs": [spec_of(t.run, t.folder) for t in pack]}) for pack in packs
    ]
    write_whole(batch / PACKS, "\n".join(lines) + "\n")
    return batch


def read_pack(batch: Path, index: int) -> dict[str, Any]:
    """Return the command and the inputs of the runs of a pack."""
    with (batch / PACKS).open(encoding="utf-8") as f:
        return next(json.loads(line) for k, line in enumerate(f) if k == index)


def earlier(folders: Sequence[Path]) -> list[Path]:
    """Return the folders of arrays that an earlier bench has submitted."""
    return [batch for folder in folders for batch in sorted((folder / HIDDEN).glob("*")) if (batch / PACKS).is_file()]


def remove_batch(batch: Path) -> None:
    """Remove the folder of an array, and the hidden folder above it if it was the last one."""
    shutil.rmtree(batch, ignore_errors=True)
    if batch.parent.is_dir() and not any(batch.parent.iterdir()):
        batch.parent.rmdir()


def script_of(batch: Path, cwd: str) -> str:
    """Return the batch script of an array."""
    words = {"batch": str(batch), "packs": PACKS, "cwd": cwd, "python": sys.executable}
    return SCRIPT.format(**{name: shlex.quote(text) for name, text in words.items()}, unseen=UNSEEN)


def resources(packs: Sequence[Sequence[Task]]) -> list[str]:
    """Return the options of sbatch for threads, memory and time of the runs of an array."""
    run = packs[0][0].run
    most = max(sum(seconds_of(task.run) for task in pack) for pack in packs) + START_LIMIT
    found = ["--ntasks=1", f"--cpus-per-task={run.threads}", f"--time={int(most // 60) + 1}"]
    if run.memory_gb is not None:
        found.append(f"--mem={int(run.memory_gb * 1024) + SPARE_MB}M")
    return found
