"""``bench simulate``: replays an instance or a trace under dispatchers, and tables what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from ...backends import UnknownName
from ...instances import Instance, UnknownInstance, load
from ...instances.files.own_files import content_of
from ...instances.report import Report
from ..errors import WrongUse
from ..kinds.replays import SHOWN, Scene, scene_of
from ..records.store import Record, jobs_file
from ..terminal import say
from .replay_settings import ReplaySettings
from .run import RunTask, conclude, perform
from .selection import Run, replays
from .view import View

TIME_LIMIT = 3600.0  # seconds of a whole replay
SETTINGS = "instance.toml"


@dataclass(frozen=True)
class ReplayRequest:
    """What ``bench simulate`` is asked beside the task: what to replay, under which dispatchers, where the starts go."""

    path: str
    dispatchers: Sequence[str]
    view: View
    replay: ReplaySettings
    starts: Path | None = None


def is_trace(path: str) -> bool:
    """Whether a path is that of a trace: a file that is no instance's."""
    return Path(path).is_file() and Path(path).name != SETTINGS


def trace_name(path: str) -> str:
    """A trace's name: its file's without the endings of its format.

    >>> trace_name("logs/CEA-Curie-2011-2.1-cln.swf.gz")
    'CEA-Curie-2011-2.1-cln'
    """
    name = Path(path).name
    for ending in (".gz", ".swf", ".json", ".csv", ".txt", ".log"):
        name = name.removesuffix(ending)
    return name or Path(path).name


def asked(
    path: str, dispatchers: Iterable[str], view: View, starts: Path | None, options: Mapping[str, Any]
) -> ReplayRequest:
    """What the command line asks for. Raises UnknownName, WrongUse."""
    from ...simulation.engine.allocators import ALLOCATORS
    from ...simulation.policies.registry import parse_dispatcher

    if options["allocator"] not in ALLOCATORS:
        raise UnknownName("allocator", options["allocator"], list(ALLOCATORS))
    names = list(dict.fromkeys(name.strip() for text in dispatchers for name in text.split(",") if name.strip()))
    if not names:
        raise WrongUse("--dispatchers: expected at least one, such as easy")
    for name in names:
        parse_dispatcher(name)
    replay = ReplaySettings(trace=is_trace(path), **options)
    if replay.load is not None and not 0 < replay.load < float("inf"):
        raise WrongUse(f"--load {replay.load}: expected an offered load above 0, such as 1.2")
    return ReplayRequest(path, names, view, replay, starts)


def carry_out(asked: ReplayRequest, task: RunTask, tables: Console, notes: Console) -> int:
    """ReplaySettings, table, write the starts. Returns the exit code."""
    instance = None if asked.replay.trace else _instance(asked.path, task.asked.drop_impossible)
    scene = scene_of(asked.path, asked.view, asked.replay, task.asked.drop_impossible, instance)
    tell_workload(scene, notes)
    name = trace_name(asked.path) if instance is None else instance.name
    where = asked.path if instance is None or instance.path is None else str(instance.path)
    pattern = Run(name, asked.path, content_of(Path(where)), "", time_limit=task.asked.time_limit or TIME_LIMIT)
    pattern = replace(
        pattern,
        memory_gb=task.asked.memory_gb,
        drop_impossible=task.asked.drop_impossible,
        view=asked.view,
        kind="dispatch",
    )
    runs = [run for text in asked.dispatchers for run in replays(pattern, text, task.asked, asked.replay)]
    folder = Path("results") / name if task.out is None else task.out
    plans = [(folder, runs)]
    records = perform(plans, task, tables, notes)
    if isinstance(records, int):
        return records
    if asked.starts is not None:
        without = write_starts(records, folder, scene, asked.starts)
        missing = f"; no starts of {', '.join(without)}" if without else ""
        notes.print(f"starts: {asked.starts}{missing}", soft_wrap=True)
    return conclude(plans, records, task, tables, notes)


def _instance(path: str, drop_impossible: bool) -> Instance:
    try:
        found = load(path, drop_impossible=drop_impossible)
    except UnknownInstance as e:
        if Path(path).suffix:
            raise WrongUse(f"{path}: there is no such file, and no instance of that name") from e
        raise
    for job, why in found.dropped:
        say(f"{found.name}: job {job.id} is left out: {why}")
    return found


def tell_workload(scene: Scene, notes: Console) -> None:
    """Say what is replayed, and what was done to it on the way in."""
    w = scene.workload
    span = (int(w.submit[-1]) - int(w.submit[0])) / 3600
    said = f"{w.name}: {len(w):,} jobs in {span:,.1f} h on {len(scene.platform.nodes):,} nodes"
    load = w.load(scene.platform)
    said += f", offered load {load:.2f}" if load < float("inf") else ""
    for text in (said, *report_lines(w.report)):
        notes.print(text, soft_wrap=True)


def report_lines(report: Report) -> Iterable[str]:
    """What was repaired, what could not be read and what was left out: the first ones by name, the rest as a number."""
    yield from (f"  {what}: {n:,}" for what, n in report.repairs.items() if n)
    yield from _first("line", [str(b) for b in report.bad_lines], "could not be read")
    yield from _first("job", [f"job {job}: {why}" for job, why in report.dropped], "left out")
    yield from (f"  {note}" for note in report.notes)


def _first(what: str, texts: Sequence[str], fate: str) -> Iterable[str]:
    if texts:
        yield f"  {len(texts):,} {what}{'s' if len(texts) > 1 else ''} {fate}:"
        yield from (f"    {text}" for text in texts[:SHOWN])
        if len(texts) > SHOWN:
            yield f"    ... and {len(texts) - SHOWN:,} more"


def write_starts(records: Sequence[Record], folder: Path, scene: Scene, out: Path) -> list[str]:
    """Write a CSV ``job_id,fcfs,easy,...``: a row per job of the trace, the start in seconds per replay.

    A cell is empty where a job was not started; jobs that the machine cannot hold stand at the end. Returns the
    dispatchers that left no starts. Raises WrongUse.
    """
    from ...simulation.engine.simulation import Simulation
    from ...simulation.outputs import reading, writing

    runs: dict[str, Simulation | reading.JobsTable] = {}
    without = []
    several = Counter(r["method"] for r in records)
    for r in records:
        title = r["method"] if several[r["method"]] == 1 else f"{r['method']} seed {r['seed']}"
        if r.get("jobs_csv") is None:
            without.append(title)
        else:
            runs[title] = reading.read_jobs(jobs_file(folder, r))
    ids = [*scene.workload.ids, *(job for job, _ in scene.workload.report.dropped)]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        writing.write_starts(runs, out, ids)
    except OSError as e:
        raise WrongUse(f"--starts {out}: cannot be written ({e.strerror})") from e
    return without


__all__ = ["ReplayRequest", "asked", "carry_out", "is_trace", "report_lines", "trace_name", "write_starts"]
