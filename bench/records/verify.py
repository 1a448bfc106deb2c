"""Checks records, or a schedule that somebody else made, against their instance: on the data alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

from ...backends.base import Status
from ...backends.gaps import refutes
from ...instances import Instance
from ...instances.files.own_files import content_of
from ...models.eviction.problem import Eviction
from ...models.problem import Problem, Schedule, Value
from ...models.profit.problem import Profit
from ..errors import WrongUse
from ..kinds.eviction import faults_of_deadlines
from ..kinds.profit import faults_of_account
from ..kinds.replays import Scene, scene_of
from ..runs.replay_settings import ReplaySettings
from ..runs.selection import Run, key_of
from ..runs.view import View
from .record import AGREE, SCHEMA, agree, gap_of
from .record import record as whole
from .store import files, jobs_file, read, read_json

Load = Callable[[str, bool], Instance]
OTHER_KEY = "its key does not belong to its instance, method, seed, limits and versions: it was changed"
SHAPES = {"seconds": dict, "incumbents": list, "violations": list, "view": dict}  # of fields that are always there
STATUSES = get_args(Status)


class Checker:
    """Checks the records of a folder; each instance, view and trace is read once.

    ``trace``: where the trace of replays is, if it is not where it was.
    """

    def __init__(self, folder: Path, load: Load, trace: str | None = None) -> None:
        self.folder, self.load, self.trace = folder, load, trace
        self._instances: dict[tuple[str, bool], Instance] = {}
        self._problems: dict[tuple[str, bool, View], Problem] = {}
        self._scenes: dict[tuple[str, bool, View, ReplaySettings], Scene] = {}
        self._contents: dict[Path, str] = {}

    def faults(self, record: Mapping[str, Any]) -> list[str]:
        """Everything that is wrong with a record; empty if it holds."""
        try:
            return [*faults_of_form(record), *self._faults(record)]
        except (ValueError, LookupError, TypeError, AttributeError, WrongUse, OSError) as e:
            return [str(e) if not isinstance(e, KeyError) else f"the field {e} is missing"]

    def reason(self, run: Run, record: Mapping[str, Any]) -> str:
        """Why a record cannot stand for a run that it was found for; empty if it can."""
        if key_of(record) != run.key or record["key"] != run.key:
            return OTHER_KEY
        return next(iter(self.faults({**record, "path": run.path})), "")

    def _faults(self, record: Mapping[str, Any]) -> list[str]:
        if record.get("replay") is not None:
            return self._faults_of_replay(record)
        place = (str(record["path"]), bool(record["drop_impossible"]))
        instance, view = self._instance(place), View(**record["view"])
        if (*place, view) not in self._problems:
            self._problems[*place, view] = view.of(instance)
        found = self._identity(record, instance.path)
        return found + faults_of(record, self._problems[*place, view])

    def _faults_of_replay(self, record: Mapping[str, Any]) -> list[str]:
        """A replay that failed or was cut is checked as far as it went."""
        view, replay = View(**record["view"]), ReplaySettings(**record["replay"])
        path, drop = str(record["path"]), bool(record["drop_impossible"])
        instance = None
        if replay.trace:
            path = self.trace or path
            if not Path(path).is_file():
                raise WrongUse(f"its trace {path} is not there; say with --instance where it is now")
        else:
            instance = self._instance((path, drop))
        found = self._identity(record, Path(path) if instance is None else instance.path)
        if _broke_off(record) and record.get("jobs_csv") is None:
            return found
        alike = (path, drop, view, replay.workload)
        if alike not in self._scenes:
            self._scenes[alike] = scene_of(path, view, replay, instance=instance)
        return found + faults_of_replay(record, self.folder, self._scenes[alike])

    def _instance(self, place: tuple[str, bool]) -> Instance:
        if place not in self._instances:
            self._instances[place] = self.load(*place)
        return self._instances[place]

    def _identity(self, record: Mapping[str, Any], path: Path | None) -> list[str]:
        """Whether the key and the data are those of the run."""
        found = [] if key_of(record) == record["key"] else [OTHER_KEY]
        if path is None:
            return found
        if path not in self._contents:
            self._contents[path] = content_of(path)
        if self._contents[path] != record.get("content"):
            found.append("its instance is not the one that was run: the files of the instance are different")
        return found


def faults_of_form(record: Mapping[str, Any]) -> list[str]:
    """What is wrong with the form of a record: its schema, fields that it lacks, a status or gap that cannot be."""
    if record.get("schema") != SCHEMA:
        said = "says no schema" if record.get("schema") is None else f"has schema {record['schema']}"
        return [f"it {said}, this version of schedlab reads schema {SCHEMA}"]
    lacking = [name for name in _fields() if name not in record]
    if lacking:
        return [f"it lacks {', '.join(lacking)}"]
    found = [f"its {n} cannot be {record[n]!r}" for n, shape in SHAPES.items() if not isinstance(record[n], shape)]
    if record["status"] not in STATUSES:
        found.append(f"its status cannot be {record['status']!r}")
    gap = gap_of(record["objective"], record["bound"])
    if gap != record["gap"] and not agree(gap, record["gap"]):
        found.append(f"it says gap {record['gap']}, its objective and bound have {gap}")
    if record["status"] == "optimal" and isinstance(gap, float) and gap > 2 * AGREE:
        found.append(f"it says optimal, with a gap of {gap}")
    return found


@cache
def _fields() -> tuple[str, ...]:
    """The fields of every record."""
    return tuple(whole(Run("", "", "", ""), {"status": "unknown"}, ""))


def faults_of_replay(record: Mapping[str, Any], folder: Path, scene: Scene) -> list[str]:
    """What is wrong with the record of a replay: the jobs beside it, its objective, its mean wait.

    Of a replay that failed or was cut, what it did until then is checked, and it is not held to the jobs that it did not
    start.
    """
    from ...simulation.engine.verification import violations
    from ...simulation.outputs.reading import read_jobs

    broke_off = _broke_off(record)
    replayed = read_jobs(jobs_file(folder, record)).replay(scene.workload, scene.platform)
    faults = [f"{v.constraint}: {v.message}" for v in violations(replayed, partial=broke_off)]
    if broke_off:
        return faults
    value = None if faults else scene.weighted_wait(replayed.start)
    if record["schedule"] is not None:
        problem, schedule = scene.problem(), Schedule.from_json(record["schedule"])
        faults += [f"{v.constraint}: {v.message}" for v in problem.verify(schedule)]
        value = None if faults else problem.objective(schedule)
        starts = dict(zip(scene.workload.ids, replayed.start.tolist(), strict=True))
        if schedule.start != starts:
            faults.append(f"its schedule has other starts than {record['jobs_csv']}")
    found = list(faults)
    if record["verified"] is not (not faults):
        found.append(f"it says verified: {json.dumps(record['verified'])}, the check says {json.dumps(not faults)}")
    if value is not None:
        wait = float((replayed.start - scene.workload.submit).mean())
        claims = {"objective": (record["objective"], value), "mean wait": (record["metrics"]["wait_mean"], wait)}
        found += [
            f"it says {n} {said}, its starts have {is_}" for n, (said, is_) in claims.items() if not agree(is_, said)
        ]
    return found


def _broke_off(record: Mapping[str, Any]) -> bool:
    return record["objective"] is None and record["verified"] is None


def faults_of(record: Mapping[str, Any], problem: Problem) -> list[str]:
    """What is wrong with a record: its kind and sense, its schedule, its objective, its bound."""
    found: list[str] = []
    for name, true in (("kind", problem.kind), ("sense", problem.sense)):
        if record.get(name) not in (None, true):
            found.append(f"it says {name} {record[name]}, its problem has {true}")
    value = None
    if record["schedule"] is not None:
        value, faults = check(problem, record["schedule"])
        found += faults
        if record["verified"] is not (not faults):
            found.append(f"it says verified: {json.dumps(record['verified'])}, the check says {json.dumps(not faults)}")
    if value is None and record["objective"] is not None:
        found.append(f"it has objective {record['objective']}, but no schedule that holds")
    elif value is not None and record["status"] != "error" and not agree(value, record["objective"]):
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
    checker = Checker(folder, load, trace)
    found: list[tuple[str, str]] = []
    paths = files(folder)
    if not paths:
        raise WrongUse(f"{folder}: no records there; bench run and bench simulate write some")
    for path in paths:
        try:
            faults = checker.faults(read(path))
        except ValueError as e:
            faults = [str(e)]
        found += [(path.name, fault) for fault in faults]
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
