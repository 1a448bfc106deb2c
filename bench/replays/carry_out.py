"""What was requested with ``bench simulate`` or ``dardis`` is replayed, and the tables are printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from ...instances.files.folder import content_of
from ...models import Dispatch
from ...models.words import how_many
from ..errors import writing
from ..grid import WARNING
from ..records.store import Record, jobs_file
from ..runs.selection import Run, replays
from ..runs.supervision import conclude, perform
from ..runs.task import RunTask
from ..runs.view import open_instance
from ..show.logs import report_lines
from ..studies.comparison import print_study
from ..tables.dispatchers import show_energy, show_evictors, show_groups
from .case import ReplayCase, check_limits, check_preemption, replay_case
from .energy import check_energy
from .launch import check_processes
from .request import ReplayRequest

SHOWN = 5  # partitions that a warning names
TIME_LIMIT = 3600.0  # seconds for a whole replay


def trace_name(path: str) -> str:
    """Return the name of a trace: its file name without the extensions of its format.

    Examples
    --------
    >>> trace_name("logs/CEA-Curie-2011-2.1-cln.swf.gz")
    'CEA-Curie-2011-2.1-cln'
    """
    name = Path(path).name
    for ending in (".gz", ".swf", ".json", ".csv", ".txt", ".log"):
        name = name.removesuffix(ending)
    return name or Path(path).name


class Prepared(NamedTuple):
    """A workload that was read and checked, and its replays: the folder of their records, and the runs."""

    case: ReplayCase
    plan: tuple[Path, Sequence[Run]]


def prepared(request: ReplayRequest, task: RunTask, notes: Console) -> Prepared:
    """Read a workload, print what was repaired, check whether it can be replayed as requested, and plan the replays.

    Parameters
    ----------
    request
        The replays.
    task
        Limits and options of the runs.
    notes
        Console for what was read.

    Raises
    ------
    ValueError, LookupError
        The workload has faults, or cannot be replayed with these settings.
    """
    settings = request.all_settings
    drop_impossible = task.request.drop_impossible
    name = trace_name(request.path)
    where = request.path
    instance = None
    if not request.replay.trace:
        instance = open_instance(request.path, drop_impossible)
        name = instance.name
        where = str(instance.path or request.path)
    case = replay_case(request.path, request.view, settings[0], drop_impossible, instance)
    print_workload(case, notes)
    check_limits(case, request.caps)
    check_preemption(request.path, case, settings)
    if request.replay.network is not None:
        check_processes(request.replay.network, len(case.platform.nodes))
    check_energy(case, settings[0])
    folder = task.out or Path("results") / name
    return Prepared(case, (folder, planned_runs(name, request.path, where, request, task)))


def carry_out(request: ReplayRequest, task: RunTask, tables: Console, notes: Console) -> int:
    """Perform the replays, print the tables, write the start times, and return the exit code.

    Parameters
    ----------
    request
        The replays.
    task
        Limits and options of the runs.
    tables
        Console for the tables.
    notes
        Console for the progress and notes.

    Returns
    -------
    int
        The exit code.
    """
    ready = prepared(request, task, notes)
    plans = [ready.plan]
    folder, _ = ready.plan
    case = ready.case
    records = perform(plans, task, tables, notes)
    if isinstance(records, int):
        return records
    if request.starts is not None:
        without = write_starts(records, folder, case, request.starts)
        missing = f"; no start times of {', '.join(without)}" if without else ""
        notes.print(f"start times: {request.starts}{missing}", soft_wrap=True)
    code = conclude(plans, records, task, tables, notes)
    if not task.recording.as_json:
        print_tables(request, records, folder, task, tables, notes)
    if request.study is not None:
        print_study(request.study, records, folder, tables, notes, task.recording.explain)
    return code


def print_tables(
    request: ReplayRequest, records: Sequence[Record], folder: Path, task: RunTask, tables: Console, notes: Console
) -> None:
    """Print the tables of energy, and those of groups of jobs, evictors and power caps that were requested."""
    explain = task.recording.explain
    show_energy(tables, records, explain)
    if request.by:
        show_groups(tables, records, request.by, explain)
    if len(request.evictors) > 1:
        show_evictors(tables, records, explain)
    if len(request.caps) > 1:
        from ..plots.statistics import show_caps

        show_caps(tables, notes, records, folder)


def planned_runs(name: str, path: str, where: str | Path, request: ReplayRequest, task: RunTask) -> list[Run]:
    """Return the runs of a workload: ``name``: in the records; ``path``: as given; ``where``: its file or folder."""
    pattern = Run(name, path, content_of(Path(where)), "", kind=Dispatch.kind)
    pattern = replace(
        pattern,
        time_limit=task.request.time_limit or TIME_LIMIT,
        memory_gb=task.request.memory_gb,
        drop_impossible=task.request.drop_impossible,
        view=request.view,
    )
    return [
        run
        for settings in request.all_settings
        for text in request.dispatchers
        for run in replays(pattern, text, task.request, settings)
    ]


def print_workload(case: ReplayCase, notes: Console) -> None:
    """Print the size and load of a workload, and what was repaired or left out when it was read."""
    w = case.workload
    span = (int(w.submit[-1]) - int(w.submit[0])) / 3600
    summary = f"{w.name}: {how_many(len(w), 'job', ',')} in {span:,.1f} h on {how_many(len(case.platform.nodes), 'node', ',')}"
    load = w.load(case.platform)
    summary += f", offered load {load:.2f}" if load < float("inf") else ""
    for text in (summary, *(f"  {line}" for line in report_lines(w.report, len(w)))):
        notes.print(text, soft_wrap=True)
    warning = unbound_partitions(case)
    if warning:
        notes.print(Text(f"  {warning}", style=WARNING), soft_wrap=True)


def unbound_partitions(case: ReplayCase) -> str:
    """Return a warning if the jobs ran in partitions, and nothing says which nodes these have; else an empty text."""
    w = case.workload
    names = w.partitions
    if not names and w.site is not None:  # of Slurm and PBS, the queues are the partitions
        names = tuple(queue.name for queue in w.queues)
    if not names or case.site is not None or any(queue.nodes for queue in w.queues):
        return ""
    listed = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    return (
        f"warning: the jobs ran in {how_many(len(names), 'partition')} ({listed}), and no site says which nodes a partition has: all "
        "jobs may use all nodes, and waits may be far from those recorded; give --site FILES (docs/site.md)"
    )


def _recorded_starts(case: ReplayCase) -> dict[str, int]:
    """Return the recorded start of each job that has one, in s of the replay."""
    known = zip(case.workload.ids, case.workload.recorded_start.tolist(), strict=True)
    return {name: start for name, start in known if start >= 0}


def write_starts(records: Sequence[Record], folder: Path, case: ReplayCase, out: Path) -> list[str]:
    """Write a CSV file ``job_id,fcfs,easy,...,recorded``: one row for each job, with its start in seconds in each replay.

    The last column has the starts that the log records, if it does. The cell of a job that was not started is empty. Jobs that do not fit on the machine are at the end.

    Parameters
    ----------
    records
        Records of the replays.
    folder
        Folder of the records.
    case
        The replayed workload.
    out
        The CSV file.

    Returns
    -------
    list of str
        Names of the replays that have no start times.

    Raises
    ------
    WrongUse
        The file cannot be written.
    """
    from ...simulation import outputs
    from ...simulation.result import Simulation

    runs: dict[str, Simulation | outputs.JobsTable] = {}
    without = []
    several = Counter(r["method"] for r in records)
    for r in records:
        title = r["method"] if several[r["method"]] == 1 else f"{r['method']} seed {r['seed']}"
        if r.get("jobs_csv") is None:
            without.append(title)
        else:
            runs[title] = outputs.read_jobs(jobs_file(folder, r))
    ids = [*case.workload.ids, *(job for job, _ in case.workload.report.dropped)]
    with writing(out, "--starts"):
        out.parent.mkdir(parents=True, exist_ok=True)
        outputs.write_starts(runs, out, ids, _recorded_starts(case))
    return without
