"""Checks records, or a schedule that somebody else made, against their instance: on the data alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..instances import Instance
from ..instances.own_files import content_of
from ..models.eviction import Eviction
from ..models.problem import Problem, Schedule, Value
from ..models.profit import Profit
from .dispatching import scene_of
from .evicting import faults_of_deadlines
from .faults import WrongUse
from .profiting import faults_of_account
from .record import agree, refutes
from .replay import Replay
from .selection import key_of
from .store import files, jobs_file, read, read_json
from .view import View

Load = Callable[[str, bool], Instance]


def faults_of_replay(
    record: Mapping[str, Any], folder: Path, instance: Instance | None, trace: str | None = None
) -> list[str]:
    """What is wrong with the record of a replay: its key, its data, the jobs beside it, its objective, its mean wait.

    ``instance``: None for a trace, which is read again, from where ``trace`` says or else the record. Of a replay that failed or was cut, what it did until then is
    checked, and it is not held to the jobs that it did not start.
    """
    from ..dispatch.outputs import read_jobs
    from ..dispatch.verification import violations

    path = trace or str(record["path"])
    if instance is None and not Path(path).is_file():
        raise WrongUse(f"its trace {path} is not there; say with --instance where it is now")
    found = _identity(record, Path(path) if instance is None else instance.path)
    broke_off = record["objective"] is None and record["verified"] is None
    if broke_off and record.get("jobs_csv") is None:
        return found
    scene = scene_of(path, View(**record["view"]), Replay(**record["replay"]), instance=instance)
    replayed = read_jobs(jobs_file(folder, record)).replay(scene.workload, scene.platform)
    faults = [f"{v.constraint}: {v.message}" for v in violations(replayed, partial=broke_off)]
    if broke_off:
        return found + faults
    value = None if faults else scene.weighted_wait(replayed.start)
    if record["schedule"] is not None:
        problem, schedule = scene.problem(), Schedule.from_json(record["schedule"])
        faults += [f"{v.constraint}: {v.message}" for v in problem.verify(schedule)]
        value = None if faults else problem.objective(schedule)
        starts = dict(zip(scene.workload.ids, replayed.start.tolist(), strict=True))
        if schedule.start != starts:
            faults.append(f"its schedule has other starts than {record['jobs_csv']}")
    found += faults
    if record["verified"] is not (not faults):
        found.append(f"it says verified: {json.dumps(record['verified'])}, the check says {json.dumps(not faults)}")
    if value is not None:
        wait = float((replayed.start - scene.workload.submit).mean())
        claims = {"objective": (record["objective"], value), "mean wait": (record["metrics"]["wait_mean"], wait)}
        found += [
            f"it says {n} {said}, its starts have {is_}" for n, (said, is_) in claims.items() if not agree(is_, said)
        ]
    return found


def _identity(record: Mapping[str, Any], path: Path | None) -> list[str]:
    """Whether the key and the data are those of the run."""
    found = []
    if key_of(record) != record["key"]:
        found.append("its key does not belong to its instance, method, seed, limits and versions: it was changed")
    if path is not None and content_of(path) != record.get("content"):
        found.append("its instance is not the one that was run: the files of the instance are different")
    return found


def faults_of(record: Mapping[str, Any], instance: Instance) -> list[str]:
    """What is wrong with a record: its key, its instance, its schedule, its objective, its bound."""
    found = _identity(record, instance.path)
    problem = View(**record["view"]).of(instance)
    value = None
    if record["schedule"] is not None:
        value, faults = check(problem, record["schedule"])
        found += faults
        if record["verified"] is not (not faults):
            found.append(f"it says verified: {json.dumps(record['verified'])}, the check says {json.dumps(not faults)}")
    if value is None and record["objective"] is not None:
        found.append(f"it has objective {record['objective']}, but no schedule that holds")
    elif value is not None and not agree(value, record["objective"]):
        found.append(f"it says objective {record['objective']}, its schedule has {value}")
    if isinstance(problem, Eviction):
        found += faults_of_deadlines(problem, record)
    if isinstance(problem, Profit) and value is not None:
        found += faults_of_account(problem, record, problem.read(record["schedule"]))
    bound = record["bound"]
    if value is not None and bound is not None and refutes(value, bound, problem.sense):
        found.append(f"its bound {bound} is refuted by its own schedule, which has {value}")
    return found


def check(problem: Problem, data: object) -> tuple[Value | None, list[str]]:
    """The objective of a schedule in JSON's form (None if it does not hold) and everything that it breaks.

    Raises ValueError where the form is broken.
    """
    schedule = problem.read(data)
    broken = [f"{v.constraint}: {v.message}" for v in problem.verify(schedule)]
    return (None if broken else problem.objective(schedule)), broken


def verify_records(folder: Path, load: Load, trace: str | None = None) -> tuple[int, list[tuple[str, str]]]:
    """How many records a folder has, and each fault with its file. Instances are loaded once.

    ``trace``: where the trace of replays is, if it is not where it was. Raises WrongUse: no folder, no records.
    """
    known: dict[tuple[str, bool], Instance] = {}
    found: list[tuple[str, str]] = []
    paths = files(folder)
    if not paths:
        raise WrongUse(f"{folder}: no records there; bench run and bench simulate write some")
    for path in paths:
        try:
            record = read(path)
            if (record.get("replay") or {}).get("trace"):
                found += [(path.name, fault) for fault in faults_of_replay(record, folder, None, trace)]
                continue
            place = (str(record["path"]), bool(record["drop_impossible"]))
            if place not in known:
                known[place] = load(*place)
            if record.get("replay") is not None:
                found += [(path.name, fault) for fault in faults_of_replay(record, folder, known[place])]
            else:
                found += [(path.name, fault) for fault in faults_of(record, known[place])]
        except (ValueError, LookupError, TypeError, WrongUse, OSError) as e:
            found.append((path.name, str(e) if not isinstance(e, KeyError) else f"the field {e} is missing"))
    return len(paths), found


def read_schedule(path: Path) -> object:
    """The schedule of a JSON file: the schedule itself, or the one of a record. Raises WrongUse."""
    try:
        data = read_json(path)
    except ValueError as e:
        raise WrongUse(str(e)) from e
    if isinstance(data, dict) and "schedule" in data and "key" in data:
        return data["schedule"]
    return data
