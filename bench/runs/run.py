"""The common part of ``bench run`` and ``bench simulate``: supervise the runs, print the tables."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console

from ...instances import Instance, load
from ..executors.registry import LOCAL, Where
from ..processes import UNREADABLE, is_memory_readable
from ..records.record import BROKEN_OFF, failed
from ..records.store import Record, Store
from ..records.verify import Checker
from ..tables.report import show
from .how_long import how_long
from .process import WORKER
from .progress import named, watch
from .runner import Plan, supervise_all
from .selection import Run, RunRequest

Plans = Sequence[tuple[Path, Sequence[Run]]]
Records = list[Record]


@dataclass(frozen=True)
class RunTask:
    """What ``bench run`` has to do.

    Parameters
    ----------
    instances
        Pairs of the path given by the user and the loaded instance.
    request
        Methods, limits and views of the runs.
    out
        Folder of the records; None: results/<instance>.
    dry_run
        Whether the runs are only printed.
    as_json
        Whether records are printed as JSON lines instead of tables.
    retry
        Whether failed and broken off runs are repeated.
    again
        Whether all runs are repeated.
    command
        Command that starts a worker.
    explain
        Whether the meaning of all columns is printed.
    where
        The executor.
    """

    instances: Sequence[tuple[str, Instance]]
    request: RunRequest
    out: Path | None = None
    dry_run: bool = False
    as_json: bool = False
    retry: bool = False
    again: bool = False
    command: Sequence[str] = WORKER
    explain: bool = False
    where: Where = field(default_factory=Where)

    def keep(self, record: Record) -> bool:
        """Return whether the record of an earlier run is used instead of a new run."""
        return not self.again and not (self.retry and (record["cause"] in BROKEN_OFF or failed(record)))


def perform(plans: Plans, task: RunTask, tables: Console, notes: Console) -> Records | int:
    """Run plans and return their records.

    Parameters
    ----------
    plans
        Pairs of a folder of records and the runs whose records go there.
    task
        The options.
    tables
        Console for the list of runs of a dry run.
    notes
        Console for the progress.

    Returns
    -------
    list of Record or int
        All records, in the order of the runs; an exit code after a dry run or Ctrl-C.
    """
    runs = [run for _, planned in plans for run in planned]
    notes.print(_how_long(runs, task), soft_wrap=True)
    if not is_memory_readable():
        notes.print(UNREADABLE, soft_wrap=True)
    if task.dry_run:
        _print_plan(tables, runs)
        return 0
    try:
        with ExitStack() as stack:
            stores: dict[Path, Store] = {}
            for folder, _ in plans:
                if folder not in stores:
                    stores[folder] = stack.enter_context(Store(folder))
            check = {folder: Checker(folder, partial(_loaded, task)) for folder in stores}
            executor = task.where.make(task.request.jobs, task.command, lambda line: notes.print(line, soft_wrap=True))
            display = stack.enter_context(watch(runs, notes, task.as_json))
            planned = [Plan(stores[folder], runs, check[folder].reason) for folder, runs in plans]
            return supervise_all(planned, display, executor, task.keep)
    except KeyboardInterrupt:
        notes.print(f"\nstopped; the finished runs are kept. To continue: {resume_command()}", soft_wrap=True)
        return 130


def conclude(plans: Plans, records: Records, task: RunTask, tables: Console, notes: Console) -> int:
    """Print the tables, unless records are printed as JSON, and return the exit code.

    Parameters
    ----------
    plans
        Pairs of a folder of records and its runs.
    records
        Records of all runs.
    task
        The options.
    tables
        Console for the tables.
    notes
        Console for notes.

    Returns
    -------
    int
        1 if a run failed, or if two runs contradict each other, else 0.
    """
    wrong = [] if task.as_json else show(tables, records, task.explain)
    for folder in dict.fromkeys(f for f, _ in plans):
        notes.print(f"The records are in {folder}. To check them: bench verify {folder}", soft_wrap=True)
    return 1 if wrong or any(map(failed, records)) else 0


def _how_long(runs: Sequence[Run], task: RunTask) -> str:
    """Return a text about the time that the runs take; on a cluster, the number of runs at the same time may be unknown."""
    if task.where.name == LOCAL or task.request.jobs is not None:
        return how_long(runs, task.request.jobs or 1)
    return f"{how_long(runs, 1)}, one after another; they are performed by the executor {task.where.name}"


def _loaded(task: RunTask, path: str, drop_impossible: bool) -> Instance:
    """Return an instance of the task, or load another one."""
    here = dict(task.instances).get(path)
    return here if here is not None else load(path, drop_impossible=drop_impossible)


def _print_plan(console: Console, runs: Sequence[Run]) -> None:
    for run in runs:
        threads = "1 thread" if run.threads == 1 else f"{run.threads} threads"
        console.print(f"{named(run)}, {run.time_limit:g} s, {threads}", soft_wrap=True)


def resume_command() -> str:
    """Return the command line of this process, which continues the runs if it is given again."""
    words = [w for w in sys.argv[1:] if w != "--again"]
    return shlex.join(["bench", *words])
