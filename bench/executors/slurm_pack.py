"""The process of an element of a job array: it performs the runs of its pack, one after another.

It prints an event as a line of JSON when a run begins and when its record is written. If SLURM starts the element again,
after its node failed or its job was preempted, it goes on with the runs that its log does not name.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...instances.files.writing import write_whole
from ..processes import cores
from ..records.store import Record, name_of
from ..runs.selection import Run
from .base import MOST_LOST, POLL
from .node import Needed, RunProcess, failed_record, lacking, run_of
from .slurm import NEED, SPARE_MB, Pack, of, read_pack

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
    return max(megabytes - SPARE_MB, megabytes // 2) / 1024 if megabytes > 0 else None


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
