"""Runs in job arrays of SLURM, in packs of short runs. The arrays go on if the bench is killed; the same command finds them.

``python -m schedlab.bench.runs.slurm_executor FOLDER INDEX`` is the process of an element of an array.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from ...errors import SchedlabError
from ...instances.files.writing import write_whole
from ...models.words import how_many, with_short_repr
from ..errors import WrongUse
from ..records.store import Record, name_of, read
from .executors import (
    MOST_LOST,
    POLL,
    Needed,
    RunProcess,
    Setting,
    Task,
    failed_record,
    lacking,
    needed,
    run_of,
    spec_of,
)
from .process import KILL_AFTER, START_LIMIT, cores
from .progress import START_UP
from .selection import Run

# --- The commands of SLURM: sbatch, squeue, scontrol, scancel. None of them needs its accounting database.

TIMEOUT = 60.0  # seconds for a command; slurmctld answers slowly when it is busy
CONNECT = 10.0  # seconds to reach slurmctld at the start
USUAL_ARRAY = 1001  # MaxArraySize of SLURM if it is not configured


class SlurmError(SchedlabError, RuntimeError):
    """A command of SLURM failed; the message is what it printed."""


class Listed(NamedTuple):
    """An element of a job array that waits or runs."""

    name: str
    job: str
    element: int


def ping() -> int:
    """Return the most elements of a job array. Raises WrongUse if SLURM is not installed or does not answer."""
    try:
        text = _run(["scontrol", "show", "config"], timeout=CONNECT)
    except SlurmError as e:
        raise WrongUse(f"--executor slurm: SLURM does not answer: {e}") from e
    match = re.search(r"^MaxArraySize\s*=\s*(\d+)", text, re.MULTILINE)
    if match:
        return int(match[1])
    return USUAL_ARRAY


def submit(script: str, arguments: Sequence[str]) -> str:
    """Submit a batch script and return the id of its job. Raises WrongUse with the reason of SLURM."""
    try:
        return _run(["sbatch", "--parsable", *arguments], script).strip().partition(";")[0]
    except SlurmError as e:
        raise WrongUse(f"--executor slurm: sbatch refuses the runs: {e}") from e


def listed() -> list[Listed]:
    """Return the elements of the arrays of this user that wait, run or end. Raises SlurmError."""
    text = _run(["squeue", "--noheader", "--array", f"--user={getpass.getuser()}", "--format=%j|%F|%K"])
    rows = [line.split("|") for line in text.splitlines()]
    return [Listed(row[0], row[1], int(row[2])) for row in rows if len(row) == 3 and row[2].isdigit()]


def ending(job: str, index: int) -> tuple[str, str, str]:
    """Return the state, exit code and nodes of an ended element of an array; "unknown" if SLURM has forgotten it."""
    try:
        text = _run(["scontrol", "--oneliner", "show", "job", f"{job}_{index}"])
    except SlurmError:
        text = ""
    matches = [re.search(rf"\b{name}=(\S+)", text) for name in ("JobState", "ExitCode", "NodeList")]
    state, code, nodes = (field[1] if field else "unknown" for field in matches)
    return state, code, nodes


def cancel(jobs: Sequence[str]) -> None:
    """End jobs; those that have ended are no error."""
    if jobs:
        try:
            _run(["scancel", "--quiet", *jobs])
        except SlurmError as e:
            raise WrongUse(f"scancel {' '.join(jobs)}: {e}") from e


def _run(command: Sequence[str], text: str | None = None, timeout: float = TIMEOUT) -> str:
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=timeout, check=False)
    except FileNotFoundError:
        raise WrongUse(f"--executor slurm: there is no command {command[0]}: start bench where SLURM is") from None
    except subprocess.TimeoutExpired:
        raise SlurmError(f"{command[0]}: no answer within {timeout:g} s") from None
    if done.returncode:
        raise SlurmError(" ".join((done.stderr or done.stdout).split()) or f"{command[0]}: exit code {done.returncode}")
    return done.stdout


# --- Packs: the runs that one element of a job array performs one after another, and their files.
#
# An array has a folder ``.slurm/TOKEN`` in the folder of the records, with the file of its packs and, for each of them, a log
# of events that its process prints. The array goes on without the bench; the same command finds it by the name of its job.

HIDDEN = ".slurm"
PREFIX = "schedlab-"
PACKS = "packs.jsonl"
NEED = "need.json"
UNSEEN = 3  # exit code of an element that cannot see the folder
SPARE_MB = 512  # memory of the process that supervises the runs
SCRIPT = """\
#!/bin/sh
test -r {batch}/{packs} && cd {cwd} || exit {unseen}
exec {python} -m schedlab.bench.runs.slurm_executor {batch} "$SLURM_ARRAY_TASK_ID" \
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
        events = list(parsed(whole))
        for event in events:
            if event["event"] in ("begun", "ended"):
                if event["event"] == "begun":
                    self.begun = of(event)
                else:
                    self.begun = None
        return events


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
    packs: list[list[Task]] = []
    room = 0.0
    for task in tasks:
        room -= seconds_of(task.run)
        if room < 0 or not packs:
            packs.append([])
            room = seconds - seconds_of(task.run)
        packs[-1].append(task)
    return packs


def groups(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    """Yield the tasks of equal threads and memory, which one array can have."""
    alike: dict[tuple[int, float | None], list[Task]] = {}
    for task in tasks:
        alike.setdefault((task.run.threads, task.run.memory_gb), []).append(task)
    yield from alike.values()


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
    options = ["--ntasks=1", f"--cpus-per-task={run.threads}", f"--time={int(most // 60) + 1}"]
    if run.memory_gb is not None:
        options.append(f"--mem={int(run.memory_gb * 1024) + SPARE_MB}M")
    return options


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
            self.setting.say(
                f"{how_many(len(self._adopted), 'run', verb='are')} waited for that an earlier bench has submitted to SLURM"
            )

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
        waiting = self._waiting
        self._waiting = []
        for group in groups(waiting):
            packs = packed(group, self.seconds)
            for first in range(0, len(packs), self._most):
                self._submit_array(packs[first : first + self._most])

    def _submit_array(self, packs: Sequence[Sequence[Task]]) -> None:
        assert self._need is not None
        batch = write_batch(self._control, packs, self.setting.command, self._need)
        limit = ""
        if self.setting.jobs is not None:
            limit = f"%{self.setting.jobs}"
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
            if (PREFIX + pack.batch.name, pack.index) in active:
                pack.unlisted = 0
            else:
                pack.unlisted = pack.unlisted + 1
            if pack.unlisted >= UNLISTED:
                yield from self._news(pack)
                if pack in self._packs:
                    yield from self._again(pack)

    def _again(self, pack: Pack) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        """Let the runs of an element begin again that ended before they did; give up one that ends its jobs every time."""
        state, code, nodes = ending(pack.job, pack.index)
        if state == FAILED and pack.begun is None:
            self._raise_fault(pack, code, nodes)
        if state == FAILED:
            said = f"exit code {code}: {pack.errors}"
        else:
            said = state
        self._drop(pack)
        if pack.begun in pack.tasks:
            guilty = pack.begun
        else:
            guilty = next(iter(pack.tasks))
        count = len(pack.tasks)
        self.setting.say(f"the SLURM job {pack.job}_{pack.index} ended ({said}) before {count} of its runs: run again")
        for name, task in pack.tasks.items():
            self._lost[task] += name == guilty
            if self._lost[task] < MOST_LOST:
                self._waiting.append(task)
                continue
            cause = "crash"
            if state == "OUT_OF_MEMORY":
                cause = "out of memory"
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


# --- The process of an element of a job array: it performs the runs of its pack, one after another.


LACKING = 4  # exit code if this machine cannot perform the runs


def main() -> None:
    """Perform the pack of the array folder and index in the arguments."""
    batch = Path(sys.argv[1])
    index = int(sys.argv[2])
    sys.stdout.write("\n")  # ends the line that an earlier process was killed in
    need = Needed(*json.loads((batch / NEED).read_text(encoding="utf-8")))
    fault = lacking(need)
    if fault:
        _print(event="lacking", fault=f"the SLURM node {os.uname().nodename} {fault}")
        sys.exit(LACKING)
    before = Pack(batch, index, {}).news()
    starts = Counter(of(event) for event in before if event["event"] == "begun")
    ended = {of(event) for event in before if event["event"] == "ended"}
    pack = read_pack(batch, index)
    for spec in pack["specs"]:
        run = run_of(spec)
        folder = Path(spec["out"])
        here = (str(folder), run.key)
        if here in ended:
            continue
        if starts[here] >= MOST_LOST:
            record = failed_record(run, "crash", f"its SLURM job was lost {MOST_LOST} times while it was running")
        else:
            _print(event="begun", folder=here[0], key=here[1])
            record = perform(run, folder, pack["command"])
        _write(folder / name_of(record), json.dumps(record, indent=1, allow_nan=False) + "\n")
        _print(event="ended", folder=here[0], key=here[1])


def perform(run: Run, folder: Path, command: Sequence[str]) -> Record:
    """Perform a run within the memory of the job and return its record."""
    process = RunProcess(run, folder, command, min(1.0, run.threads / cores()), memory_of_job())
    try:
        while not process.over:
            select.select([process.out], [], [], POLL)
            for event in process.step():
                if event["event"] == "compiling":
                    _print(event="compiling", folder=str(folder), key=run.key)
        return process.end()
    finally:
        process.stop()


def memory_of_job() -> float | None:
    """Return the memory in GB that SLURM allows the runs of this job; None if it limits none."""
    whole = os.environ.get("SLURM_MEM_PER_NODE", "")
    each = os.environ.get("SLURM_MEM_PER_CPU", "")
    count = os.environ.get("SLURM_CPUS_ON_NODE", "1")
    megabytes = 0
    if whole.isdigit():
        megabytes = int(whole)
    elif each.isdigit():
        megabytes = int(each) * int(count)
    if megabytes > 0:
        return max(megabytes - SPARE_MB, megabytes // 2) / 1024
    return None


def _write(path: Path, text: str) -> None:
    """Write a record; once more if a bench that starts has taken its temporary file for one of a dead process."""
    try:
        write_whole(path, text, name_synced=False)
    except FileNotFoundError:
        write_whole(path, text)


def _print(**event: Any) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
