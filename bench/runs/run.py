"""``bench run``: plans, says what it will do, supervises, prints the tables."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from ...instances import Instance, load
from ..records.record import BROKEN_OFF, failed
from ..records.store import Record, Store
from ..records.verify import Checker
from ..tables.report import show
from .how_long import how_long
from .progress import named, watch
from .runner import WORKER, supervise
from .selection import Run, RunRequest, plan

Plans = Sequence[tuple[Path, Sequence[Run]]]
Records = list[Record]


@dataclass(frozen=True)
class RunTask:
    """What ``bench run`` is asked: instances with the paths they were named by, and the options."""

    instances: Sequence[tuple[str, Instance]]
    asked: RunRequest
    out: Path | None = None
    dry_run: bool = False
    as_json: bool = False
    retry: bool = False
    again: bool = False
    command: Sequence[str] = WORKER
    explain: bool = False

    def keep(self, record: Record) -> bool:
        """Whether an earlier record counts."""
        return not self.again and not (self.retry and (record["cause"] in BROKEN_OFF or failed(record)))


def carry_out(task: RunTask, tables: Console, notes: Console) -> int:
    """Run it; tables go to one console, progress and notes to the other. Returns the exit code."""
    plans = [(_folder(task, i), plan(i, path, task.asked)) for path, i in task.instances]
    records = perform(plans, task, tables, notes)
    return records if isinstance(records, int) else conclude(plans, records, task, tables, notes)


def perform(plans: Plans, task: RunTask, tables: Console, notes: Console) -> Records | int:
    """Run plans, each with its folder, and return all records; an exit code where there is nothing more to do."""
    runs = [run for _, planned in plans for run in planned]
    notes.print(how_long(runs, task.asked.jobs), soft_wrap=True)
    if task.dry_run:
        _tell_plan(tables, runs)
        return 0
    records: list[Record] = []
    try:
        with ExitStack() as stack:
            stores: dict[Path, Store] = {}
            for folder, _ in plans:
                if folder not in stores:
                    stores[folder] = stack.enter_context(Store(folder))
            check = {folder: Checker(folder, partial(_loaded, task)) for folder in stores}
            audience = stack.enter_context(watch(runs, notes, task.as_json))
            for folder, planned in plans:
                records += supervise(
                    planned,
                    stores[folder],
                    audience,
                    jobs=task.asked.jobs,
                    command=task.command,
                    keep=task.keep,
                    fault=check[folder].reason,
                )
    except KeyboardInterrupt:
        notes.print(f"\nstopped; what is done is kept. To resume: {resume_command()}", soft_wrap=True)
        return 130
    return records


def conclude(plans: Plans, records: Records, task: RunTask, tables: Console, notes: Console) -> int:
    """Print the tables, unless records are wanted as JSON; 1 if a run failed or contradicts another one."""
    wrong = [] if task.as_json else show(tables, records, task.explain)
    for folder in dict.fromkeys(f for f, _ in plans):
        notes.print(f"records: {folder}; check them: bench verify {folder}", soft_wrap=True)
    return 1 if wrong or any(map(failed, records)) else 0


def _loaded(task: RunTask, path: str, drop_impossible: bool) -> Instance:
    """An instance of the task, which is loaded already, or one that is not."""
    here = dict(task.instances).get(path)
    return here if here is not None else load(path, drop_impossible=drop_impossible)


def _folder(task: RunTask, instance: Instance) -> Path:
    return Path("results") / instance.name if task.out is None else task.out


def _tell_plan(console: Console, runs: Sequence[Run]) -> None:
    for run in runs:
        threads = "1 thread" if run.threads == 1 else f"{run.threads} threads"
        console.print(f"{named(run)}, {run.time_limit:g} s, {threads}", soft_wrap=True)


def resume_command() -> str:
    """The command that was typed: given again, it goes on where it stopped."""
    words = [w for w in sys.argv[1:] if w != "--again"]
    return shlex.join(["bench", *words])
