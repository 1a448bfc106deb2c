"""Runs of PyJobShop on projects, each in a process of its own; every schedule is checked by the package."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from schedlab.instances.files.writing import write_whole
from schedlab.models import Project, Schedule

from ...environments import Unavailable

PACKAGE = "pyjobshop==0.0.9"
GRACE = 30.0  # seconds above the time limit for the start of Python, the model and the answer


class Answer(NamedTuple):
    """What PyJobShop found for one file and seed.

    Parameters
    ----------
    instance
        The name of the instance.
    seed
        The random seed.
    objective
        The makespan of the verified schedule; None without one.
    bound
        The bound of PyJobShop; None if unknown.
    proven
        Whether the schedule is verified and PyJobShop says that it is optimal.
    seconds
        Wall time of the model and the search.
    fault
        Why there is no verified schedule; empty if there is one.
    """

    instance: str
    seed: int
    objective: float | None
    bound: float | None
    proven: bool
    seconds: float
    fault: str


def data_of(project: Project, seconds: float, threads: int, seed: int) -> dict[str, Any]:
    """Return what ``child.py`` reads.

    A resource of capacity 1 that no mode needs without a duration is a machine: PyJobShop has one task at a time on it, and
    no demands. Modes whose demands exceed a capacity are left out.
    """
    number = {r.name: k for k, r in enumerate(project.resources)}
    at = {t.name: k for k, t in enumerate(project.tasks)}
    used_at_once = {r for t in project.tasks for m in t.modes if m.duration == 0 for r in m.demands}
    machines = {r.name for r in project.resources if r.renewable and r.capacity == 1} - used_at_once
    return {
        "machines": [r.name in machines for r in project.resources],
        "renewable": [r.renewable for r in project.resources],
        "capacities": [r.capacity for r in project.resources],
        "tasks": [
            [
                {
                    "duration": m.duration,
                    "resources": [number[r] for r, amount in m.demands.items() if amount > 0],
                    "demands": [0 if r in machines else amount for r, amount in m.demands.items() if amount > 0],
                }
                for m in project.possible(t)
            ]
            for t in project.tasks
        ],
        "links": [[at[before], at[after], delay] for before, after, delay in project.precedences],
        "seconds": seconds,
        "threads": threads,
        "seed": seed,
    }


def solve(python: Path, instance: str, project: Project, seconds: float, threads: int, seed: int) -> Answer:
    """Solve a project with PyJobShop and check the schedule.

    Parameters
    ----------
    python
        The interpreter of an environment with PyJobShop.
    instance, project
        The project and its name.
    seconds, threads, seed
        Time limit, threads and random seed of the solver.
    """
    command = [str(python), "-I", str(Path(__file__).with_name("child.py"))]
    given = json.dumps(data_of(project, seconds, threads, seed))
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=seconds + GRACE)
    except subprocess.TimeoutExpired:
        return Answer(instance, seed, None, None, False, seconds + GRACE, f"killed {GRACE:g} s after its time limit")
    except OSError as e:
        raise Unavailable(f"{python} cannot be run: {e}") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        return Answer(
            instance, seed, None, None, False, 0.0, said[-1] if said else f"it ended with exit code {done.returncode}"
        )
    return checked(instance, seed, project, json.loads(done.stdout))


def checked(instance: str, seed: int, project: Project, found: dict[str, Any]) -> Answer:
    """Return the answer with the makespan that the package computes, or with the first violation."""
    if found["starts"] is None:
        fault = f"no schedule: {found['status']}"
        return Answer(instance, seed, None, found["bound"], False, found["seconds"], fault)
    names = [t.name for t in project.tasks]
    modes = [project.possible(t)[k].name for t, k in zip(project.tasks, found["modes"], strict=True)]
    schedule = Schedule(
        dict(zip(names, found["starts"], strict=True)), {n: {m: 1} for n, m in zip(names, modes, strict=True)}
    )
    violations = project.verify(schedule)
    if violations:
        return Answer(instance, seed, None, found["bound"], False, found["seconds"], violations[0].message)
    makespan = float(project.value(schedule))
    proven = found["status"] == "Optimal" and makespan == found["objective"]
    return Answer(instance, seed, makespan, found["bound"], proven, found["seconds"], "")


def kept(folder: Path, answer: Answer, seconds: float, threads: int) -> None:
    """Write an answer to the folder."""
    text = json.dumps({**answer._asdict(), "time_limit": seconds, "threads": threads}, indent=1)
    write_whole(_path(folder, answer.instance, answer.seed, seconds, threads), text + "\n")


def known(folder: Path, instance: str, seed: int, seconds: float, threads: int) -> Answer | None:
    """Return the answer that an earlier call wrote; None if there is none."""
    path = _path(folder, instance, seed, seconds, threads)
    if not path.is_file():
        return None
    content = json.loads(path.read_text())
    return Answer(*(content[name] for name in Answer._fields))


def _path(folder: Path, instance: str, seed: int, seconds: float, threads: int) -> Path:
    return folder / f"{instance}-{seconds:g}s-{threads}t-{seed}.json"
