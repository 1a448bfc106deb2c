"""The verification of records, and of schedules made by other programs, against the data of their instance."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from filecmp import cmp
from functools import cache
from itertools import pairwise, zip_longest
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from ...backends.base import Status
from ...backends.result import refutes
from ...heuristics import HEURISTICS
from ...instances import Instance
from ...instances import names as instances
from ...instances.classic import library_name
from ...instances.files.reading import content_of, number_of
from ...instances.log_preparation import arrived
from ...models.dispatch.objectives import find_objective
from ...models.dispatch.problem import Dispatch
from ...models.kind import names
from ...models.plugins import PluginError, UnnamedReference, only_named
from ...models.problem import Problem, Value, objective_of, violations_of
from ...models.words import excerpt, how_many
from ..errors import WrongUse
from ..kinds.base import bench_kind
from ..kinds.dispatch import bounded
from ..replays.case import (
    ReplayCase,
    limits_each_node,
    limits_of,
    replay_case,
    server_events,
    trace_name,
    with_jobs,
)
from ..replays.energy import energy_json, times_of
from ..replays.settings import ReplaySettings, with_files_in
from ..runs.process import KILL_AFTER
from ..runs.selection import Run, key_of
from ..runs.suites import FILE as BEST_KNOWN
from ..runs.suites import known_values
from ..runs.view import View
from .record import AGREE, agree, gap_of, plain, times
from .record import record as record_of
from .store import Record, dict_of, fault_of_schema, faults_of_manifest, jobs_file, read, read_json, some_files

if TYPE_CHECKING:
    from ...simulation.dispatchers.policy import Slurm
    from ...simulation.outputs import JobsTable
    from ...simulation.result import Simulation

# --- The walltimes that users have chosen during a stored replay, repeated for its verification.


def with_requests(
    case: ReplayCase, users: str, replayed: Simulation, table: JobsTable, partial: bool
) -> tuple[ReplayCase, list[str]]:
    """Return the case with the walltimes that users request given the starts, and where ``jobs.csv`` differs from them.

    With attempts that ended early, the starts that the users have seen are not in ``jobs.csv``, nor are they in a ``partial``
    replay; its walltimes are taken as they are then.

    Parameters
    ----------
    case : ReplayCase
        The workload with the walltimes of the log.
    users : str
        The name of the users.
    replayed : Simulation
        Starts and ends.
    table : JobsTable
        The stored jobs.
    partial : bool
        Whether the replay failed or was stopped.
    """
    from ...simulation.users import requested, users_of

    row = {name: k for k, name in enumerate(table.ids)}
    stored = np.array([table.walltime[row[name]] if name in row else 1 for name in case.workload.ids], np.int64)
    if partial or replayed.history is not None:
        return replace(case, workload=replace(case.workload, walltime=stored)), []
    if replayed.preemption is not None:
        on_demand = replayed.preemption.rows
    else:
        on_demand = ()
    workload = requested(users_of(users), case.workload, replayed.start, on_demand)
    other = np.flatnonzero(stored != workload.walltime).tolist()
    faults = [
        f"users {users}: job {excerpt(case.workload.ids[k])} has the walltime {stored[k]} s, "
        f"the users request {workload.walltime[k]} s"
        for k in other[:1]
    ]
    return replace(case, workload=workload), faults


# --- What a record claims beyond its schedule: status, bound, times and trace; what of it can be checked, and what cannot.
#
# A schedule and its objective are computed again from the instance. A bound, a proof of optimality or infeasibility, and the
# times are known to the machine that ran it alone. They can only contradict each other, the ability of the method, or a schedule
# of another record; what contradicts nothing remains a claim.

AnyRecord = Mapping[str, Any]
OVERRUN = 2 * KILL_AFTER  # seconds after its limit at which a run that was not killed is not believed
PROOFS = ("optimal", "infeasible", "unbounded")


def faults_of_claims(record: AnyRecord, problem: Problem) -> Iterator[str]:
    """Yield what a record of a run claims and cannot be true: its status, bound, times and trace."""
    if record["status"] == "optimal" and record["bound"] is None:
        yield "its status is optimal, but it has no bound that proves it"
    if record["status"] in ("infeasible", "unbounded") and record["schedule"] is not None:
        yield f"its status is {record['status']}, but it has a schedule"
    exactness = (record.get("exactness") or {}).get("kind")
    if exactness == "restriction" and record["status"] in PROOFS:
        yield f"its status is {record['status']}, but its formulation leaves out solutions and proves nothing"
    if _proves_nothing(record["method"], problem):
        if record["status"] in PROOFS:
            yield f"its status is {record['status']}, but {record['method']} proves nothing"
        if record["bound"] is not None:
            yield f"it has bound {record['bound']}, but {record['method']} computes no bounds"
    yield from faults_of_times(record)
    yield from _faults_of_trace(record)


def faults_of_replay_claims(record: AnyRecord) -> Iterator[str]:
    """Yield what the record of a replay claims and cannot be true: a replay proves nothing."""
    if record["status"] in PROOFS or record["bound"] is not None:
        yield f"it has status {record['status']} and bound {record['bound']}, but a replay proves nothing"
    yield from faults_of_times(record)


def faults_of_times(record: AnyRecord) -> Iterator[str]:
    """Yield impossible times: below 0, or long after the time limit of a run that nothing ended from outside."""
    for name, seconds in record["seconds"].items():
        if isinstance(seconds, (int, float)) and seconds < 0:
            yield f"it has {how_many(seconds, 'second')} of {name}"
    total = record["seconds"].get("total")
    most = record["time_limit"] + OVERRUN
    if record["cause"] is None and isinstance(total, (int, float)) and total > most:
        yield f"it took {total:g} s, its time limit is {record['time_limit']:g} s, and it was not killed"


def _faults_of_trace(record: AnyRecord) -> Iterator[str]:
    """Yield what in the trace of incumbents contradicts itself or the schedule."""
    trace = [event for event in record["incumbents"] if event["objective"] is not None]
    seconds = [event["seconds"] for event in record["incumbents"]]
    if any(later < earlier for earlier, later in pairwise([0.0, *seconds])):
        yield "the times of its incumbents are not in order"
    first, best = times(record["incumbents"], record["sense"])
    for name, true in (("first_solution_s", first), ("best_s", best)):
        if record[name] != true:
            yield f"it has {name} {record[name]}, its incumbents give {true}"
    values = [event["objective"] for event in trace]
    if any(refutes(earlier, later, record["sense"]) for earlier, later in pairwise(values)):
        yield "its incumbents become worse"
    objective = record["objective"]
    if not values or objective is None or record["cause"] is not None or agree(values[-1], objective):
        return
    yield f"its last incumbent has objective {values[-1]}, its schedule {objective}"


def _proves_nothing(method: str, problem: Problem) -> bool:
    """Return whether a method is a heuristic that computes no bounds of this problem."""
    name = method.partition("+")[0].partition(":")[0].partition("@")[0]
    heuristic = HEURISTICS.get(name)
    return heuristic is not None and problem.kind in heuristic.unproved


def contradictions(records: Sequence[tuple[str, AnyRecord]], known: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return pairs of a name and a fault: claims that a verified schedule of another record of the same problem refutes.

    Parameters
    ----------
    records
        Names and records whose schedules were checked.
    known
        Instance -> best-known value of the whole instance with its own objective.
    """
    groups: dict[str, list[tuple[str, AnyRecord]]] = {}
    for name, record in records:
        if (
            record["replay"] is None and record["view"].get("keep") is None
        ):  # a kept objective limits each run differently
            alike = (record["content"], record["kind"], record["drop_impossible"], sorted(record["view"].items()))
            groups.setdefault(repr(alike), []).append((name, record))
    return [fault for same in groups.values() for fault in _contradicted(same, known)]


def _contradicted(same: Sequence[tuple[str, AnyRecord]], known: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    solved = [(name, r) for name, r in same if r["verified"] and r["objective"] is not None]
    for name, r in same:
        if r["status"] == "infeasible" and solved:
            yield name, f"its status is infeasible, but {solved[0][0]} has a schedule of the same problem"
        if r["bound"] is None:
            continue
        better = next((other for other in solved if refutes(other[1]["objective"], r["bound"], r["sense"])), None)
        if better is not None:
            yield (
                name,
                f"its bound {r['bound']} is refuted by {better[0]}: its schedule has objective {better[1]['objective']}",
            )
        value = known.get(r["instance"])
        whole = all(v is None or (part, v) == ("durations", "walltime") for part, v in r["view"].items())
        if value is not None and whole and refutes(value, r["bound"], r["sense"]):
            yield name, f"its bound {r['bound']} contradicts the best-known value {value:g} of best_known.csv"


def claims(records: Iterable[AnyRecord]) -> Counter[str]:
    """Count what records claim and no check can show: bounds, proofs, times, traces, decisions, expected durations, machines."""
    counts: Counter[str] = Counter()
    for record in records:
        counts["bounds"] += record["bound"] is not None
        for status in PROOFS:
            counts[f"status {status}"] += record["status"] == status
        counts["times"] += record["seconds"].get("total") is not None
        counts["traces"] += bool(record["incumbents"])
        replayed = bool(record.get("metrics"))
        counts["decisions"] += replayed
        counts["expected durations"] += replayed and not _expected_is_known(record)
        counts["machines"] += record.get("host") is not None
    return +counts


OTHER_KEY = "its key does not match its instance, method, seed, limits and versions: the record was changed"
OTHER_INSTANCE = "its instance is not the one that was run: the files of the instance are different"
SHAPES = {
    "seconds": dict,
    "incumbents": list,
    "violations": list,
    "view": dict,
}  # types of fields that every record has
STATUSES = get_args(Status)


class NotHere(WrongUse):
    """The file of an instance is not where the record says, seen from the present folder and those above the records."""


class Checker:
    """A check of the records of a folder; each instance, view and trace is read only once.

    Parameters
    ----------
    folder
        Folder of the records.
    load
        Function that loads an instance from a path and the flag ``drop_impossible``.
    trace
        Path of the trace of replays, if it was moved.
    """

    def __init__(self, folder: Path, load: Load, trace: str | None = None) -> None:
        self.folder = folder
        self.trace = trace
        self._known = Instances(load)
        self._cases: dict[tuple[str, bool, View, ReplaySettings], ReplayCase] = {}

    def faults(self, record: Mapping[str, Any], path: str | None = None) -> list[str]:
        """Return all faults of a record; an empty list if it is valid. ``path``: where its instance or log is now, if elsewhere.

        Raises UnnamedReference if the check needs code that the record names and the user does not, NotHere if it needs a file
        that is elsewhere.
        """
        wrong = faults_of_form(record)
        try:
            return [*wrong, *self._faults(record, path)]
        except (UnnamedReference, NotHere):
            raise
        except (ValueError, LookupError, TypeError, AttributeError, WrongUse, PluginError, OSError) as e:
            return wrong or [str(e) if not isinstance(e, KeyError) else f"the field {e} is missing"]

    def reason(self, run: Run, record: Mapping[str, Any]) -> str:
        """Return why a record cannot be used for a run, "" if it can."""
        if key_of(record) != run.key or record["key"] != run.key:
            return OTHER_KEY
        return next(iter(self.faults(record, run.path)), "")

    def _faults(self, record: Mapping[str, Any], path: str | None) -> list[str]:
        found = self._in_its_folder(record if path is None else {**record, "path": path})
        if record.get("replay") is not None:
            return self._faults_of_replay(record, found, bool(path or self.trace))
        instance = self._known.instance(found)
        is_elsewhere = bool(path or self.trace)
        faults = self._identity(record, instance.path, instance.name, is_elsewhere)
        return faults + faults_of(record, self._known.problem(found))

    def _in_its_folder(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a record with paths that lead to its files, where they are not in this folder but above those of the records.

        Records have the paths as the user gave them, often relative to a folder that the records are below of.
        """
        above = self.folder.resolve().parents
        replay = record.get("replay")
        if replay is not None:
            record = {**record, "replay": asdict(with_files_in(ReplaySettings(**replay), above))}
        path = Path(str(record["path"]))
        if self.trace or path.is_absolute() or path.exists() or str(path) in instances():
            return record
        for folder in above:
            if (folder / path).exists() and self._known.unchanged(record, folder / path):
                return {**record, "path": str(folder / path)}
        is_nowhere = not any((folder / path).exists() for folder in above)
        if is_nowhere and path.suffix and replay is None and ":" not in str(path):
            raise NotHere(
                f"its instance {path} is not here; run the command in the folder where the study was made, or name the file "
                "with --instance"
            )
        return record

    def _faults_of_replay(
        self, original: Mapping[str, Any], record: Mapping[str, Any], is_elsewhere: bool
    ) -> list[str]:
        """Return the faults of the record of a replay; one that failed or was stopped is checked as far as it went.

        ``original``: as it was written, of which the key is; ``record``: with paths that lead to its files.
        """
        view = View(**record["view"])
        replay = ReplaySettings(**record["replay"])
        path = str(record["path"])
        drop = bool(record["drop_impossible"])
        instance = None
        if replay.trace:
            path = self.trace or path
            if not Path(path).is_file():
                raise WrongUse(f"its trace {path} does not exist; if it was moved, give its path with --instance")
        else:
            instance = self._known.instance(record)
        if instance is None:
            wrong = self._identity(original, Path(path), trace_name(str(original["path"])), is_elsewhere)
        else:
            wrong = self._identity(original, instance.path, instance.name, is_elsewhere)
        wrong += faults_of_replay_claims(record)
        if _broke_off(record) and record.get("jobs_csv") is None:
            return wrong
        alike = (path, drop, view, replay.workload)
        if alike not in self._cases:
            self._cases[alike] = replay_case(path, view, replay, instance=instance)
        return wrong + faults_of_replay(original, self.folder, self._cases[alike], replay)

    def _identity(self, record: Mapping[str, Any], path: Path | None, name: str, is_elsewhere: bool) -> list[str]:
        """Return faults of the key, of the content of the instance and of its name; ``name``: that of what was loaded, perhaps elsewhere."""
        faults = []
        if key_of(record) != record["key"]:
            faults = [OTHER_KEY]
        if path is not None and not self._known.unchanged(record, path):
            faults.append(OTHER_INSTANCE)
        own = str(record["path"])
        was_named = [own, self.trace or own] if is_elsewhere else []
        if record["instance"] != name and not any(_is_name_of(record["instance"], place) for place in was_named):
            faults.append(f"it has instance {record['instance']}, the name of {record['path']} is {name}")
        return faults


def _is_name_of(name: str, path: str) -> bool:
    """Return whether an instance or a log of a path that need not exist may have this name."""
    file = Path(path)
    return name in (file.name, file.parent.name, library_name(path), trace_name(path), path.replace(":", "."))


def faults_of_form(record: Mapping[str, Any]) -> list[str]:
    """Return faults in the form of a record: wrong schema, missing fields, impossible status or gap."""
    other = fault_of_schema(record)
    if other:
        return [other]
    missing = [name for name in _fields() if name not in record]
    if missing:
        return [f"missing fields: {', '.join(missing)}"]
    faults = [f"its {n} cannot be {record[n]!r}" for n, shape in SHAPES.items() if not isinstance(record[n], shape)]
    if record["status"] not in STATUSES:
        faults.append(f"its status cannot be {record['status']!r}")
    gap = gap_of(record["objective"], record["bound"])
    if gap != record["gap"] and not agree(gap, record["gap"]):
        faults.append(f"it has gap {record['gap']}, its objective and bound give {gap}")
    if record["status"] == "optimal" and isinstance(gap, float) and gap > 2 * AGREE:
        faults.append(f"its status is optimal, but its gap is {gap}")
    return faults


@cache
def _fields() -> tuple[str, ...]:
    """Return the fields that every record has; the records of schedlab 0.1.0 lack the host."""
    every = record_of(Run("", "", "", "", kind=names()[0]), {"status": "unknown"}, "")
    return tuple(name for name in every if name != "host")


def faults_of_replay(
    record: Mapping[str, Any], folder: Path, submitted: ReplayCase, settings: ReplaySettings
) -> list[str]:
    """Return the faults of the record of a replay: of its tables, and of all its values that follow from them.

    A replay that failed or was stopped is checked as far as it went; jobs that it did not start are no fault.

    Parameters
    ----------
    record
        The record, as it was written.
    folder
        Its folder.
    submitted
        What was replayed.
    settings
        Those of the record, with paths that lead to its files.
    """
    from ..replays.worker import outcome

    jobs = jobs_file(folder, record)
    missing = _missing_part(record, submitted, settings)
    if missing:
        return [missing]
    recorded = _replay_of(record, jobs, submitted, settings)
    replayed = recorded.replayed
    partial = _broke_off(record)
    faults = _faults_of_run(record, recorded.case, replayed, settings)
    case = replace(recorded.case, workload=arrived(recorded.case.workload, replayed.end))
    if settings.users is not None:
        case, wrong = with_requests(case, settings.users, replayed, recorded.jobs, partial)
        faults += wrong
    replayed = _as_replayed(record, case, settings, replayed)
    of_energy = {"energy": None if partial else energy_json(case, settings, replayed)}
    faults += _faults_of_values(record, of_energy)
    ended: dict[str, Any] = {}
    if not partial:
        ended = outcome(case, replayed, with_schedule=not settings.trace)
        faults += [f"{v['constraint']}: {v['message']}" for v in ended["violations"]]
        if record["verified"] is not (not faults):
            faults.append(
                f"it has verified: {json.dumps(record['verified'])}, the check gives {json.dumps(not faults)}"
            )
    if faults:
        return faults
    return [
        *_faults_of_values(record, {**_computed_again(record, submitted, replayed, settings, jobs), **ended}),
        *_faults_of_tables(jobs, replayed),
    ]


# --- What follows from the tables of a replay: computed again by the code that wrote the record, and compared value by value.
#
# All values are compared. What the tables do not tell, such as the wall time of the decisions, is named here and remains a claim.

OF_THE_DISPATCHER = ("decisions", "prediction_seconds")  # metrics, or the begins of their names
IN_WORDS = (("simulation", "notes"), ("simulation", "report", "notes"), ("simulation", "report", "first_bad_lines"))
NAMES_OF_OURS = ("walltime", "data-driven", "last-two", "real", "best-fit", "first-fit")  # of predictors and allocators
MOST_FAULTS = 10  # values of one record that are named
ABSENT = "absent"


def _as_replayed(
    record: Mapping[str, Any], case: ReplayCase, settings: ReplaySettings, replayed: Simulation
) -> Simulation:
    """Return a replay that was read with what its case and its record know of it beside its tables."""
    from ...simulation.predictors import PREDICTORS

    described = record.get("simulation") or {}
    predictor, allocator = settings.predictor, settings.allocator
    if predictor not in NAMES_OF_OURS:
        predictor = str(described.get("predictor"))
    if allocator not in NAMES_OF_OURS:
        allocator = str(described.get("allocator"))
    name = case.workload.name
    if not settings.trace:  # its folder may have another name now
        name = record["instance"]
    workload = replace(case.workload, running=replayed.workload.running, name=name)
    expected = None
    if _expected_is_known(record):
        expected = PREDICTORS.make(described["predictor"], kill_at_walltime=case.kill).begin(workload)
    return replace(
        replayed,
        workload=workload,
        desired=case.desired,
        expected=expected,
        predictor=predictor or "",
        allocator=allocator,
    )


def _expected_is_known(record: Mapping[str, Any]) -> bool:
    """Return whether the expected durations follow from the jobs alone: they never change, and each job runs once, as submitted."""
    described = record.get("simulation") or {}
    changed = (record.get("production"), record.get("preemption"), described.get("attempts_csv"))
    return described.get("predictor") in ("walltime", "real") and changed == (None, None, None)


def _computed_again(
    record: Mapping[str, Any], submitted: ReplayCase, replayed: Simulation, settings: ReplaySettings, jobs: Path
) -> dict[str, Any]:
    """Return the fields of a record that follow from its tables, as the worker writes them."""
    from ...simulation.metrics import Timing, overhead
    from ..replays.worker import fields_of_replay

    fields = fields_of_replay(record["method"], settings, submitted, replayed, jobs)
    metrics = fields["metrics"]
    known = dict_of(record.get("metrics"))
    told = {part: known.get(f"decisions_seconds_{part}") for part in ("mean", "max", "total")}
    metrics |= overhead(Timing(**told), metrics["makespan"])
    fields["simulation"]["options"] = record["replay"]  # the files may be elsewhere now
    return {**fields, "kind": Dispatch.kind, "sense": find_objective(submitted.objective).sense}


def _faults_of_values(record: Mapping[str, Any], true: Mapping[str, Any]) -> list[str]:
    """Return the values of some fields of a record that are not those of the check; the first of many."""
    known = _expected_is_known(record)
    recorded = {name: record.get(name) for name in true}
    found = [each for each in differences(recorded, plain(true)) if not _is_claimed(each.path, known)]
    faults = [_fault_of(each, true) for each in found[:MOST_FAULTS]]
    if len(found) > MOST_FAULTS:
        faults.append(f"{how_many(len(found) - MOST_FAULTS, 'further value')} of it are not those of the check")
    return faults


class Difference(NamedTuple):
    """A value of a record that is not that of the check: names and indices that lead to it, both values; ``ABSENT``: none."""

    path: tuple[str | int, ...]
    recorded: Any
    true: Any


def differences(recorded: Any, true: Any, path: tuple[str | int, ...] = ()) -> Iterator[Difference]:
    """Yield where two values of JSON differ; numbers are equal within 1e-9, as sums depend on the machine.

    >>> [tuple(each) for each in differences({"a": [1, 2.0], "b": 3}, {"a": [1, 2.1], "c": 3})]
    [(('a', 1), 2.0, 2.1), (('c',), 'absent', 3), (('b',), 3, 'absent')]
    """
    if isinstance(recorded, dict) and isinstance(true, dict):
        for name in {**true, **recorded}:
            yield from differences(recorded.get(name, ABSENT), true.get(name, ABSENT), (*path, name))
    elif isinstance(recorded, list) and isinstance(true, list) and len(recorded) == len(true):
        for k, (one, other) in enumerate(zip(recorded, true, strict=True)):
            yield from differences(one, other, (*path, k))
    elif not _alike(recorded, true):
        yield Difference(path, recorded, true)


def _alike(one: Any, other: Any) -> bool:
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (one, other))
    if numbers and (isinstance(one, float) or isinstance(other, float)):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return type(one) is type(other) and bool(one == other)


def _is_claimed(path: tuple[str | int, ...], expected_is_known: bool) -> bool:
    """Return whether the tables of a replay do not tell a value."""
    if any(path[: len(words)] == words for words in IN_WORDS):
        return True
    if len(path) < 2:
        return False
    first, name = path[0], str(path[1])
    if first == "metrics":
        told = OF_THE_DISPATCHER if expected_is_known else (*OF_THE_DISPATCHER, "accuracy")
        return any(name == each or name.startswith(f"{each}_") for each in told)
    if expected_is_known:
        return False
    return path[:2] == ("percentiles", "ratio") or (first == "groups" and path[3:4] == ("expected_ratio",))


def _fault_of(difference: Difference, true: Mapping[str, Any]) -> str:
    """Return the message about a value that is not that of the check."""
    path, recorded, value = difference
    where = ""
    for part in path:
        where += f"[{part}]" if isinstance(part, int) else f".{part}"
    name = where[1:]
    if path[0] == "groups" and len(path) == 2:
        name = f"groups by {path[1]}"
    elif path[0] == "groups" and len(path) == 5:
        _, by, _, column, index = path
        name = f"{column} of {by} {excerpt(true['groups'][by]['columns']['name'][index])}"
    if recorded == ABSENT:
        return f"it has no {name}; the check has {excerpt(value)}"
    if value == ABSENT:
        return f"it has {name} {excerpt(recorded)}, which the check has not"
    return f"it has {name} {_shown(recorded)}, the check gives {_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, (int, float)):
        return str(value)
    return excerpt(value)


def _faults_of_tables(jobs: Path, replayed: Simulation) -> list[str]:
    """Return where the tables of a replay are not those that are written for the starts, ends and nodes in them."""
    from ..replays.worker import write_tables

    with TemporaryDirectory() as folder:
        written = write_tables(replayed, Path(folder) / jobs.name)
        pairs = ((jobs.with_name(true.name), true) for true in written)
        return [fault for mine, true in pairs if (fault := _first_other_cell(mine, true))]


def _first_other_cell(path: Path, true: Path) -> str:
    """Return the message about the first cell of a table that another one has not; "" without one."""
    if cmp(path, true, shallow=False):
        return ""
    with path.open(encoding="utf-8", newline="") as found, true.open(encoding="utf-8", newline="") as due:
        mine, others = csv.reader(found), csv.reader(due)
        header = next(others, [])
        if next(mine, []) != header:
            return f"{path.name}: expected the columns {', '.join(header)}"
        for line, (row, other) in enumerate(zip_longest(mine, others), 2):
            if row is None or other is None or len(row) != len(other):
                return f"{path.name}, line {line}: expected {'no line' if other is None else 'the line ' + ','.join(other)}"
            for name, cell, value in zip(header, row, other, strict=True):
                number = number_of(cell)
                if cell != value and (number is None or not _alike(number, number_of(value))):
                    return f"{path.name}, line {line}: {name} of {excerpt(row[0])} is {excerpt(cell)}, the check gives {excerpt(value)}"
    return ""


def _missing_part(record: Mapping[str, Any], case: ReplayCase, settings: ReplaySettings) -> str:
    """Return the message about a part that the record of such a replay has, and this one lacks; "" if it has all."""
    if case.preemption is not None and record.get("preemption") is None:
        return "the field preemption is missing, in a replay with on-demand jobs or failures"
    has_production = bool(case.reservations or server_events(case.events))
    if has_production and record.get("production") is None and not _broke_off(record):
        return "the field production is missing, in a replay with reservations or events of the server"
    states_csv = (record.get("simulation") or {}).get("node_states_csv")
    if settings.node_policy is not None and states_csv is None:
        return "the field simulation.node_states_csv is missing, in a replay with a node policy"
    return ""


class RecordedReplay(NamedTuple):
    """The replay of a record, read from its files: its case with the jobs that came up, the replay, the table of its jobs."""

    case: ReplayCase
    replayed: Simulation
    jobs: JobsTable


def _slurm_of(dispatcher: str) -> Slurm | None:
    """Return the dispatcher of this name if it follows the rules of Slurm."""
    from ...simulation.dispatchers.registry import parse_dispatcher

    if re.match(r"slurm\b", dispatcher) is None:  # any other name may be that of code, which is not imported for this
        return None
    made: Slurm = parse_dispatcher(dispatcher).make()
    return made


def _as_submitted(case: ReplayCase, dispatcher: str) -> ReplayCase:
    """Return a case with the jobs as a dispatcher has them that does not take those of the log as they ran."""
    slurm = _slurm_of(dispatcher)
    if slurm is None:
        return case
    return replace(case, workload=slurm.jobs(case.workload, case.site))


def recorded_replay(record: Mapping[str, Any], folder: Path, case: ReplayCase) -> Simulation:
    """Return the replay of a record, with jobs that arrive when they did in it; ``case``: that of the record.

    Raises
    ------
    WrongValue
        If a file of the record is missing or wrong.
    """
    read = _replay_of(record, jobs_file(folder, record), case, ReplaySettings(**record["replay"]))
    return replace(read.replayed, workload=arrived(read.case.workload, read.replayed.end))


def _replay_of(record: Mapping[str, Any], jobs: Path, case: ReplayCase, settings: ReplaySettings) -> RecordedReplay:
    """Return the replay of a record, read from its files."""
    from ...simulation.outputs import attempts_file, node_states_file, read_attempts, read_jobs, read_node_states
    from ...simulation.preemption import requeue_of
    from ..replays.worker import read_preemption, read_production

    simulation = record.get("simulation") or {}
    history = None
    evicted = None
    case = _as_submitted(case, record["method"])
    preemption = case.preemption
    if preemption is not None:
        whole, _ = with_jobs(case.workload, case.platform, preemption)
        case = replace(case, workload=whole)
    if simulation.get("attempts_csv") is not None:
        whole, history = read_attempts(attempts_file(jobs), case.workload, case.platform)
        case = replace(case, workload=whole)
    if preemption is not None:
        row = {name: k for k, name in enumerate(case.workload.ids)}
        rows = tuple(row[j.id] for j in preemption.jobs)
        requeue = requeue_of(settings.requeue)
        evicted = read_preemption(record["preemption"], case.workload, preemption, rows, requeue)
        if history is not None:
            history = history.with_restarts(preemption.restart, rows)
    production = None
    if record.get("production") is not None:
        server = server_events(case.events)
        changed, production = read_production(record["production"], case.workload, case.reservations, server)
        case = replace(case, workload=changed)
    table = read_jobs(jobs)
    replayed = table.replay(case.workload, case.platform)
    replayed = replace(replayed, history=history, states=case.states, production=production, preemption=evicted)
    if simulation.get("node_states_csv") is not None:
        path = node_states_file(jobs)
        power = read_node_states(path, case.platform, settings.node_policy or "", times_of(settings))
        replayed = replace(replayed, power=power)
    return RecordedReplay(case, replayed, table)


def _faults_of_run(
    record: Mapping[str, Any], case: ReplayCase, replayed: Simulation, settings: ReplaySettings
) -> list[str]:
    """Return the rules that the runs of the jobs break, and whether the outages of the record are those of the events."""
    from ...simulation.features.site_limits import limits_of_site
    from ...simulation.features.site_reservations import reservations_of
    from ...simulation.preemption import requeue_of
    from ...simulation.settings import features_of
    from ...simulation.verify import violations
    from ...simulation.verify_features import PreemptionRules
    from ..replays.worker import outages_json

    slurm = _slurm_of(record["method"])
    within = limits_of(settings, case.platform, record["method"])
    added = features_of(settings.features or ())
    broken = violations(
        replayed,
        partial=_broke_off(record),
        within=within,
        on_each_node=bool(within) and limits_each_node(record["method"]),
        stops=[stop for feature in added for stop in feature.stops(replayed)],
        limits_of=None if case.site is None else limits_of_site(case.site),
        reserved_of=None if case.site is None else reservations_of(case.site),
        preempted=None if slurm is None else PreemptionRules(slurm.on(case.site), requeue_of(settings.requeue)),
    )
    broken += [v for feature in added for v in feature.check(replayed)]
    faults = [f"{v.constraint}: {v.message}" for v in broken]
    if record.get("outages") not in (None, outages_json(case.states)):
        faults.append("its outages are not those of the events")
    return faults


def _broke_off(record: Mapping[str, Any]) -> bool:
    return record["objective"] is None and record["verified"] is None


def faults_of(record: Mapping[str, Any], problem: Problem) -> list[str]:
    """Return the faults of a record: of its kind, sense, schedule, objective and bound."""
    wrong: list[str] = []
    for name, true in (("kind", problem.kind), ("sense", problem.sense)):
        if record.get(name) not in (None, true):
            wrong.append(f"it has {name} {record[name]}, its problem has {true}")
    value = None
    if record["schedule"] is not None:
        value, faults = check(problem, record["schedule"])
        wrong += faults
        if record["verified"] is not (not faults):
            wrong.append(f"it has verified: {json.dumps(record['verified'])}, the check gives {json.dumps(not faults)}")
    if value is None and record["objective"] is not None:
        wrong.append(f"it has objective {record['objective']}, but no valid schedule")
    elif value is not None and record["status"] != "error" and not agree(value, record["objective"]):
        wrong.append(f"it has objective {record['objective']}, its schedule has {value}")
    schedule = None
    if value is not None and record["objective"] is not None:  # without an objective, there are no fields of the kind
        schedule = problem.read(record["schedule"])
    wrong += bench_kind(problem.kind).faults(problem, record, schedule)
    bound = record["bound"]
    if value is not None and bound is not None and refutes(value, bound, problem.sense):
        wrong.append(f"its bound {bound} is wrong: its own schedule has the better objective {value}")
    return [*wrong, *faults_of_claims(record, problem)]


def check(problem: Problem, data: object) -> tuple[Value | None, list[str]]:
    """Return the objective of a schedule in JSON form (None if it is not valid) and its violations.

    Raises ValueError if the data have not the form of a schedule.
    """
    schedule = problem.read(data)
    broken = [f"{v.constraint}: {v.message}" for v in violations_of(problem, schedule)]
    return (None if broken else objective_of(problem, schedule)), broken


class Verified(NamedTuple):
    """The check of a folder of records.

    Attributes
    ----------
    records
        Their number.
    faults
        Pairs of a file name and a fault.
    unchecked
        Pairs of the file name of a record and why it was not checked.
    claims
        What cannot be checked and stands in the valid records: number of records by its name.
    """

    records: int
    faults: Sequence[tuple[str, str]]
    unchecked: Sequence[tuple[str, str]]
    claims: Mapping[str, int]


def verify_records(folder: Path, load: Load, trace: str | None = None, own: Sequence[str] = ()) -> Verified:
    """Check the records of a folder, whether they contradict each other, and its manifest.

    Parameters
    ----------
    folder
        The folder.
    load
        Function that loads an instance from a path and the flag ``drop_impossible``.
    trace
        Path of the trace of replays, if it was moved.
    own
        References ``module:attribute`` that the user trusts. No other code that a record names is imported.

    Raises
    ------
    WrongUse
        There is no such folder, or it has no records.
    """
    checker = Checker(folder, load, trace)
    failed: list[tuple[str, str]] = []
    unchecked: list[tuple[str, str]] = []
    valid: list[tuple[str, Record]] = []
    paths = some_files(folder)
    for path in paths:
        try:
            record = read(path)
            with only_named(own):
                faults = checker.faults(record)
        except (UnnamedReference, NotHere) as e:
            unchecked.append((path.name, str(e)))
            continue
        except ValueError as e:
            faults = [str(e)]
        failed += [(path.name, fault) for fault in faults]
        if not faults:
            valid.append((path.name, record))
    known: dict[str, float] = {}
    try:
        known = {name: best.value for name, best in known_values(folder).items()}
    except (WrongUse, ValueError) as e:
        failed.append((BEST_KNOWN, str(e)))
    failed += contradictions(valid, known)
    wrong = {name for name, _ in failed}
    claimed = claims(record for name, record in valid if name not in wrong)
    return Verified(len(paths), failed + faults_of_manifest(folder), unchecked, claimed)


def read_schedule(path: Path) -> object:
    """Return the schedule of a JSON file, which contains a schedule or a record. Raises WrongUse."""
    try:
        data = read_json(path)
    except ValueError as e:
        raise WrongUse(str(e)) from e
    if isinstance(data, dict) and "schedule" in data and "key" in data:
        return data["schedule"]
    return data


# --- The instances of records: each is read only once, and its files are compared with those that were run.


Load = Callable[[str, bool], Instance]


class Instances:
    """The instances and problems of records.

    Parameters
    ----------
    load
        Function that loads an instance from a path and the flag ``drop_impossible``.
    """

    def __init__(self, load: Load) -> None:
        self.load = load
        self._instances: dict[tuple[str, bool], Instance] = {}
        self._problems: dict[tuple[str, bool, View], Problem] = {}
        self._contents: dict[Path, str] = {}

    def instance(self, record: Mapping[str, Any]) -> Instance:
        """Return the instance of a record. Raises what ``load`` raises."""
        place = _place(record)
        if place not in self._instances:
            self._instances[place] = self.load(*place)
        return self._instances[place]

    def problem(self, record: Mapping[str, Any]) -> Problem:
        """Return the problem of a record: its view of its instance, with its limits if it has a composite objective."""
        alike = (*_place(record), View(**record["view"]))
        if alike not in self._problems:
            self._problems[alike] = alike[-1].of(self.instance(record))
        return bounded(self._problems[alike], record)

    def unchanged(self, record: Mapping[str, Any], path: Path) -> bool:
        """Return whether the files at ``path`` (an instance or a log) are those that were run. Raises OSError."""
        if path not in self._contents:
            self._contents[path] = content_of(path)
        return self._contents[path] == record.get("content")


def _place(record: Mapping[str, Any]) -> tuple[str, bool]:
    return str(record["path"]), bool(record["drop_impossible"])
