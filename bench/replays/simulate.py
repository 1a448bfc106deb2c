"""``bench simulate``: replay an instance or a trace under dispatchers, and print the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from ...instances import Instance, UnknownInstance, load, read_events
from ...instances.files.folder import content_of
from ...models import Dispatch
from ...models.counts import how_many
from ..errors import WrongUse
from ..log_options import check_there
from ..records.store import Record, jobs_file
from ..runs.run import RunTask, conclude, perform
from ..runs.selection import Run, replays
from ..runs.view import View
from ..show.logs import report_lines
from ..studies.comparison import print_study
from ..studies.study import Study
from ..tables.replay_groups import show_energy, show_groups
from ..tables.replay_report import show_evictors
from ..terminal import say
from .case import (
    ReplayCase,
    check_desired,
    check_preemption,
    own_desired,
    preemption_settings,
    replay_case,
    settings_of_each,
)
from .case import check_limits as check_case
from .energy import check_dispatchers, check_energy, energy_settings
from .launch import check_processes
from .options import check_limits, check_objective, check_predictor, check_stretch, checked_users, with_sources
from .settings import SETTINGS, ReplaySettings, decision_limit, read_settings

TIME_LIMIT = 3600.0  # seconds for a whole replay
INSTANCE = "instance.toml"


@dataclass(frozen=True)
class ReplayRequest:
    """The replays that the user requests with ``bench simulate``.

    Parameters
    ----------
    path
        An instance or a trace.
    dispatchers
        Names such as ``easy``, ``hcp3-d@cpsat``.
    view
        The part of the instance that is replayed.
    replay
        Settings of the replays.
    starts
        CSV file for the start times, None for no file.
    study
        A published study, whose figures are printed beside those of the replays.
    by
        Properties of jobs by whose values further tables are printed, such as user.
    caps
        Power caps in watts, of which each is replayed. Several: there is also a replay without one.
    evictors
        Evictors for on-demand jobs, of which each is replayed.
    loads
        Offered loads, of which each is replayed; none: that of the workload.
    """

    path: str
    dispatchers: Sequence[str]
    view: View
    replay: ReplaySettings
    starts: Path | None = None
    study: Study | None = None
    by: Sequence[str] = ()
    caps: Sequence[float] = ()
    evictors: Sequence[str] = ()
    loads: Sequence[float] = ()

    @property
    def all_settings(self) -> list[ReplaySettings]:
        """The settings of the replays: one for each offered load, power cap and evictor."""
        caps: Sequence[float | None] = self.caps if len(self.caps) < 2 else (None, *sorted(self.caps, reverse=True))
        loads = self.loads or (None,)
        each = [replace(self.replay, load=load, power_cap=cap) for load in loads for cap in caps or (None,)]
        return [with_sources(settings) for one in each for settings in settings_of_each(one, self.evictors)]


def is_trace(path: str) -> bool:
    """Return whether a path is a trace: a file other than the settings file of an instance."""
    return Path(path).is_file() and Path(path).name != INSTANCE


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


def replay_request(
    path: str,
    dispatchers: Iterable[str],
    view: View,
    given: Mapping[str, Any],
    starts: Path | None = None,
    by: Sequence[str] = (),
) -> ReplayRequest:
    """Check the options of ``bench simulate`` and return the request.

    Parameters
    ----------
    path
        An instance or a trace.
    dispatchers
        Comma lists of dispatchers.
    view
        The part of the instance that is replayed.
    given
        The settings as a user gives them, by the names of ``ReplaySettings``; None: not given.
    starts
        CSV file for the start times, None for no file.
    by
        Properties of jobs by whose values further tables are printed.

    Returns
    -------
    ReplayRequest
        The request.

    Raises
    ------
    UnknownName, PluginError, WrongUse
        A dispatcher, an allocator or a value is not valid.
    """
    from ...simulation.allocators import allocator_of
    from ...simulation.dispatchers.registry import check_dispatcher
    from ...simulation.features.requeue import requeue_of

    names = list(dict.fromkeys(name.strip() for text in dispatchers for name in text.split(",") if name.strip()))
    if not names:
        raise WrongUse("--dispatchers: expected at least one dispatcher, such as easy")
    named = [check_dispatcher(name) for name in names]
    given, of_features = of_own(given)
    values, several = read_settings(given)
    values |= {"features": of_features}
    caps, loads = several.get("power_cap", ()), several.get("load", ())
    values |= decision_limit(values.get("decision_time"), values.get("deterministic"))
    preempting, evictors = preemption_settings(values, several.pop("evictor", ()))
    values |= preempting | energy_settings(values)
    check_there(path)
    replay = ReplaySettings(trace=is_trace(path), **values)
    allocator_of(replay.allocator)
    check_objective(replay.objective, named)
    check_stretch(replay.max_stretch, named)
    check_predictor(replay.predictor, named)
    requeue_of(replay.requeue)
    check_dispatchers(replay, named)
    if replay.desired is None and not replay.trace:
        replay = replace(replay, desired=own_desired(path))
    if replay.events is not None:
        read_events(replay.events)
        replay = replace(replay, events_content=content_of(Path(replay.events)))
    if replay.users is not None:
        replay = replace(replay, users_source=checked_users(replay.users, named, replay.predictor))
    if starts is not None and len(loads) > 1:
        raise WrongUse(f"--starts {starts}: for one offered load; --load has {len(loads)}")
    replay = replace(replay, desired_content=check_desired(replay), most_power=min(caps, default=None))
    check_limits(replay, caps, named)
    return ReplayRequest(path, names, view, replay, starts, by=by, caps=caps, evictors=evictors, loads=loads)


def of_own(given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the settings of ours that a user gives, and the features of third parties whose settings are given. Raises WrongUse."""
    from ...simulation.features.named import features_of, texts_of

    texts = texts_of({name: value for name, value in given.items() if name not in SETTINGS})
    features_of(texts)
    return {name: value for name, value in given.items() if name in SETTINGS}, texts


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
    instance = None if request.replay.trace else _instance(request.path, task.request.drop_impossible)
    first = request.all_settings[0]
    case = replay_case(request.path, request.view, first, task.request.drop_impossible, instance)
    print_workload(case, notes)
    check_case(case, request.caps)
    check_preemption(request.path, case, request.all_settings)
    if request.replay.network is not None:
        check_processes(request.replay.network, len(case.platform.nodes))
    check_energy(case, first)
    name = trace_name(request.path) if instance is None else instance.name
    where = request.path if instance is None or instance.path is None else str(instance.path)
    runs = planned_runs(name, request.path, where, request, task)
    folder = Path("results") / name if task.out is None else task.out
    plans = [(folder, runs)]
    records = perform(plans, task, tables, notes)
    if isinstance(records, int):
        return records
    if request.starts is not None:
        without = write_starts(records, folder, case, request.starts)
        missing = f"; no start times of {', '.join(without)}" if without else ""
        notes.print(f"start times: {request.starts}{missing}", soft_wrap=True)
    code = conclude(plans, records, task, tables, notes)
    if not task.as_json:
        show_energy(tables, records, task.explain)
    if request.by and not task.as_json:
        show_groups(tables, records, request.by, task.explain)
    if len(request.evictors) > 1 and not task.as_json:
        show_evictors(tables, records, task.explain)
    if len(request.caps) > 1 and not task.as_json:
        from ..plots.desired import show_caps

        show_caps(tables, notes, records, folder)
    if request.study is not None:
        print_study(request.study, records, folder, tables, notes, task.explain)
    return code


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


def _instance(path: str, drop_impossible: bool) -> Instance:
    try:
        found = load(path, drop_impossible=drop_impossible)
    except UnknownInstance as e:
        if Path(path).suffix:
            raise WrongUse(f"{path}: there is no such file and no instance with that name") from e
        raise
    for job, reason in found.dropped:
        say(f"{found.name}: job {job.id} is left out: {reason}")
    return found


def print_workload(case: ReplayCase, notes: Console) -> None:
    """Print the size and load of a workload, and what was repaired or left out when it was read."""
    w = case.workload
    span = (int(w.submit[-1]) - int(w.submit[0])) / 3600
    summary = f"{w.name}: {how_many(len(w), 'job', ',')} in {span:,.1f} h on {how_many(len(case.platform.nodes), 'node', ',')}"
    load = w.load(case.platform)
    summary += f", offered load {load:.2f}" if load < float("inf") else ""
    for text in (summary, *(f"  {line}" for line in report_lines(w.report))):
        notes.print(text, soft_wrap=True)


def write_starts(records: Sequence[Record], folder: Path, case: ReplayCase, out: Path) -> list[str]:
    """Write a CSV file ``job_id,fcfs,easy,...``: one row for each job, with its start in seconds in each replay.

    The cell of a job that was not started is empty. Jobs that do not fit on the machine are at the end.

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
    from ...simulation.outputs import reading, writing
    from ...simulation.result import Simulation

    runs: dict[str, Simulation | reading.JobsTable] = {}
    without = []
    several = Counter(r["method"] for r in records)
    for r in records:
        title = r["method"] if several[r["method"]] == 1 else f"{r['method']} seed {r['seed']}"
        if r.get("jobs_csv") is None:
            without.append(title)
        else:
            runs[title] = reading.read_jobs(jobs_file(folder, r))
    ids = [*case.workload.ids, *(job for job, _ in case.workload.report.dropped)]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        writing.write_starts(runs, out, ids)
    except OSError as e:
        raise WrongUse(f"--starts {out}: cannot be written ({e.strerror})") from e
    return without
