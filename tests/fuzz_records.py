"""Folders of records that the fuzzer damages: one of a solver's run, one of a replay with the jobs beside it."""

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import fuzz_seeds as seeds
from schedlab.backends import Incumbent, Result
from schedlab.bench import Run, RunRequest, RunTask, plan
from schedlab.bench.cli.app import main
from schedlab.bench.cli.run import Chosen, Part, carry_out_chosen
from schedlab.bench.records import Store, outcome, plain
from schedlab.bench.records.record import record
from schedlab.instances import load
from schedlab.instances.files import content_of
from schedlab.models import Schedule

METHOD = "multi-search"
ASKED = RunRequest(methods=[METHOD])


def _temporary() -> Path:
    folder = Path(mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _instance() -> Path:
    folder = _temporary() / "small"
    folder.mkdir()
    for name, data in seeds.DISPATCH.items():
        (folder / name).write_bytes(data)
    return folder


def _of(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if not p.name.startswith(".")}


@cache
def of_a_run() -> dict[str, bytes]:
    """The record of a run, made by hand."""
    instance = load(_instance())
    problem = instance.dispatch
    starts = {"a": 60, "b": 64800, "c": 90000}
    nodes = {"a": {"fat-1": 1, "fat-2": 1}, "b": {"fat-1": 1}, "c": {f"thin-{k:02}": 1 for k in range(1, 13)}}
    result = Result("feasible", METHOD, "1", problem=problem, incumbents=[Incumbent(0.5, 1.0, None)])
    result.schedule = Schedule(starts, nodes)
    result.objective = problem.value(result.schedule)
    out = _temporary()
    (run,) = plan(instance, str(_instance()), ASKED)
    assert isinstance(run, Run) and run.content == content_of(_instance())
    with Store(out) as store:
        store.write(record(run, plain(outcome(problem, result)), "2026-01-01T00:00:00+00:00"))
    return _of(out)


@cache
def of_a_replay() -> dict[str, bytes]:
    """The record of a replay, and its jobs."""
    log = _instance().parent / "log.swf"
    log.write_text(seeds.SWF)
    out = _temporary()
    try:
        main(["simulate", str(log), "--dispatchers", "fcfs", "--nodes", "4", "--cores", "16", "--out", str(out)])
    except SystemExit as e:
        assert not e.code
    return _of(out)


def resumed(folder: Path, console: object) -> int:
    """The run again, on the records of a folder, with a worker that does nothing. Returns the exit code."""
    task = RunTask([(str(_instance()), load(_instance()))], ASKED, folder, command=("true",))
    chosen = Chosen([Part(task.instances, ASKED)], [], None, [])
    return carry_out_chosen(chosen, task, console, console)  # type: ignore[arg-type]
