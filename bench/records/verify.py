"""The verification of records, and of schedules made by other programs, against the data of their instance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from ...backends.base import Status
from ...backends.gaps import refutes
from ...instances.logs.dependencies import arrived
from ...models.excerpt import excerpt
from ...models.kind import names
from ...models.plugins import PluginError, UnnamedReference, only_named
from ...models.problem import Problem, Schedule, Value
from ...models.problem_answers import objective_of, violations_of
from ..errors import WrongUse
from ..kinds.base import bench_kind
from ..kinds.replays.case import TRACE_OBJECTIVE, ReplayCase, replay_case
from ..kinds.replays.energy import energy_faults, energy_json, times_of
from ..kinds.replays.preemption import with_jobs
from ..kinds.replays.production import server_events
from ..kinds.replays.profiles import figures_of, limits_of
from ..runs.replay_settings import USUAL_FLOOR, ReplaySettings
from ..runs.selection import Run, key_of
from ..runs.view import View
from ..suites.best_known import FILE as BEST_KNOWN
from ..suites.best_known import known_values
from .claims import claims, contradictions, faults_of_claims, faults_of_replay_claims
from .form import fault_of_schema
from .instances import Instances, Load
from .json_files import read_json
from .manifest import faults_of_manifest
from .record import AGREE, agree, gap_of
from .record import record as record_of
from .requests import with_requests
from .store import Record, files, jobs_file, read

if TYPE_CHECKING:
    from ...simulation.outputs.reading import Replayed

OTHER_KEY = "its key does not match its instance, method, seed, limits and versions: the record was changed"
OTHER_INSTANCE = "its instance is not the one that was run: the files of the instance are different"
SHAPES = {
    "seconds": dict,
    "incumbents": list,
    "violations": list,
    "view": dict,
}  # types of fields that every record has
STATUSES = get_args(Status)


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
        self.folder, self.trace, self._known = folder, trace, Instances(load)
        self._cases: dict[tuple[str, bool, View, ReplaySettings], ReplayCase] = {}

    def faults(self, record: Mapping[str, Any]) -> list[str]:
        """Return all faults of a record; an empty list if it is valid.

        Raises UnnamedReference if the check needs code that the record names and the user does not.
        """
        wrong = faults_of_form(record)
        try:
            return [*wrong, *self._faults(record)]
        except UnnamedReference:
            raise
        except (ValueError, LookupError, TypeError, AttributeError, WrongUse, PluginError, OSError) as e:
            return wrong or [str(e) if not isinstance(e, KeyError) else f"the field {e} is missing"]

    def reason(self, run: Run, record: Mapping[str, Any]) -> str:
        """Return why a record cannot be used for a run, "" if it can."""
        if key_of(record) != run.key or record["key"] != run.key:
            return OTHER_KEY
        return next(iter(self.faults({**record, "path": run.path})), "")

    def _faults(self, record: Mapping[str, Any]) -> list[str]:
        if record.get("replay") is not None:
            return self._faults_of_replay(record)
        found = self._identity(record, self._known.instance(record).path)
        return found + faults_of(record, self._known.problem(record))

    def _faults_of_replay(self, record: Mapping[str, Any]) -> list[str]:
        """Return the faults of the record of a replay; one that failed or was stopped is checked as far as it went."""
        view, replay = View(**record["view"]), ReplaySettings(**record["replay"])
        path, drop = str(record["path"]), bool(record["drop_impossible"])
        instance = None
        if replay.trace:
            path = self.trace or path
            if not Path(path).is_file():
                raise WrongUse(f"its trace {path} does not exist; if it was moved, give its path with --instance")
        else:
            instance = self._known.instance(record)
        found = self._identity(record, Path(path) if instance is None else instance.path)
        found += faults_of_replay_claims(record)
        if _broke_off(record) and record.get("jobs_csv") is None:
            return found
        alike = (path, drop, view, replay.workload)
        if alike not in self._cases:
            self._cases[alike] = replay_case(path, view, replay, instance=instance)
        return found + faults_of_replay(record, self.folder, self._cases[alike])

    def _identity(self, record: Mapping[str, Any], path: Path | None) -> list[str]:
        """Return faults of the key and of the content of the instance."""
        found = [] if key_of(record) == record["key"] else [OTHER_KEY]
        return found if path is None or self._known.unchanged(record, path) else [*found, OTHER_INSTANCE]


def faults_of_form(record: Mapping[str, Any]) -> list[str]:
    """Return faults in the form of a record: wrong schema, missing fields, impossible status or gap."""
    other = fault_of_schema(record)
    if other:
        return [other]
    missing = [name for name in _fields() if name not in record]
    if missing:
        return [f"missing fields: {', '.join(missing)}"]
    found = [f"its {n} cannot be {record[n]!r}" for n, shape in SHAPES.items() if not isinstance(record[n], shape)]
    if record["status"] not in STATUSES:
        found.append(f"its status cannot be {record['status']!r}")
    gap = gap_of(record["objective"], record["bound"])
    if gap != record["gap"] and not agree(gap, record["gap"]):
        found.append(f"it has gap {record['gap']}, its objective and bound give {gap}")
    if record["status"] == "optimal" and isinstance(gap, float) and gap > 2 * AGREE:
        found.append(f"its status is optimal, but its gap is {gap}")
    return found


@cache
def _fields() -> tuple[str, ...]:
    """Return the fields that every record has; the records of schedlab 0.1.0 lack the host."""
    every = record_of(Run("", "", "", "", kind=names()[0]), {"status": "unknown"}, "")
    return tuple(name for name in every if name != "host")


def faults_of_replay(record: Mapping[str, Any], folder: Path, case: ReplayCase) -> list[str]:
    """Return the faults of the record of a replay: of its jobs file, its objective and its mean wait.

    A replay that failed or was stopped is checked as far as it went; jobs that it did not start are no fault.
    """
    from ...simulation.outputs.attempts import attempts_file, read_attempts
    from ...simulation.outputs.node_states import node_states_file, read_node_states
    from ...simulation.outputs.preemption import read_preemption
    from ...simulation.outputs.production import outages_json, read_production
    from ...simulation.outputs.reading import read_jobs
    from ...simulation.verification import violations

    broke_off = _broke_off(record)
    jobs = jobs_file(folder, record)
    history = None
    evicted = None
    preemption = case.preemption
    if preemption is not None:
        if record.get("preemption") is None:
            return ["the field preemption is missing, in a replay with on-demand jobs or failures"]
        whole, _ = with_jobs(case.workload, case.platform, preemption)
        case = replace(case, workload=whole)
    if (record.get("simulation") or {}).get("attempts_csv") is not None:
        whole, history = read_attempts(attempts_file(jobs), case.workload, case.platform)
        case = replace(case, workload=whole)
    if preemption is not None:
        row = {name: k for k, name in enumerate(case.workload.ids)}
        rows = tuple(row[j.id] for j in preemption.jobs)
        evicted = read_preemption(record["preemption"], case.workload, preemption, rows)
        if history is not None:
            history = history.with_restarts(preemption.restart, rows)
    production = None
    if record.get("production") is not None:
        changed, production = read_production(
            record["production"], case.workload, case.reservations, server_events(case.events)
        )
        case = replace(case, workload=changed)
    elif not _broke_off(record) and (case.reservations or server_events(case.events)):
        return ["the field production is missing, in a replay with reservations or events of the server"]
    table = read_jobs(jobs)
    replayed = table.replay(case.workload, case.platform)
    replayed = replace(replayed, history=history, states=case.states, production=production, preemption=evicted)
    settings = ReplaySettings(**record["replay"])
    states_csv = (record.get("simulation") or {}).get("node_states_csv")
    if settings.node_policy is not None and states_csv is None:
        return ["the field simulation.node_states_csv is missing, in a replay with a node policy"]
    if states_csv is not None:
        power = read_node_states(node_states_file(jobs), case.platform, settings.node_policy or "", times_of(settings))
        replayed = replace(replayed, power=power)
    within = limits_of(settings, case.platform, record["method"])
    faults = [f"{v.constraint}: {v.message}" for v in violations(replayed, partial=broke_off, within=within)]
    if record.get("outages") not in (None, outages_json(case.states)):
        faults.append("its outages are not those of the events")
    if broke_off:
        return faults
    case = replace(case, workload=arrived(case.workload, replayed.end))
    if record["replay"].get("users") is not None:
        case, wrong = with_requests(case, record["replay"]["users"], replayed, table)
        faults += wrong
    faults += energy_faults(record.get("energy"), energy_json(case, settings, replayed))
    waited = replayed.start if history is None else replayed.start - history.ran_before
    complete = not faults and bool((replayed.start >= 0).all())
    value = case.weighted_wait(waited) if complete and case.objective == TRACE_OBJECTIVE else None
    if record["schedule"] is not None:
        problem, schedule = case.problem(), Schedule.from_json(record["schedule"])
        faults += [f"{v.constraint}: {v.message}" for v in violations_of(problem, schedule)]
        value = None if faults else problem.value(schedule)
        starts = dict(zip(case.workload.ids, replayed.start.tolist(), strict=True))
        if schedule.start != starts:
            faults.append(f"its schedule has different start times than {record['jobs_csv']}")
    found = list(faults)
    if record["verified"] is not (not faults):
        found.append(f"it has verified: {json.dumps(record['verified'])}, the check gives {json.dumps(not faults)}")
    if value is not None:
        claims = {"objective": (record["objective"], value), **_claims(record, case, replayed)}
        found += [
            f"it has {name} {recorded}, its start times give {true}"
            for name, (recorded, true) in claims.items()
            if true != recorded and not agree(true, recorded)
        ]
    return found


def _claims(record: Mapping[str, Any], case: ReplayCase, replayed: Replayed) -> dict[str, tuple[Any, Any]]:
    """Return the metrics that starts and ends determine, of all jobs and of each group: (value of the record, true value)."""
    from ...simulation.groups import ADDED, groups_of
    from ...simulation.late_starts import late_starts
    from ...simulation.metrics import job_figures
    from ...simulation.preemption.figures import preemption_figures
    from ...simulation.spread import Spread

    floor = record["replay"].get("bsld_floor") or USUAL_FLOOR
    figures = job_figures(case.workload, replayed.start, replayed.end, bsld_floor=floor, history=replayed.history)
    known = record["metrics"]
    found: dict[str, tuple[Any, Any]] = {"mean wait": (known["wait_mean"], float(figures.wait.mean()))}
    for kind in ("wait", "slowdown", "bounded_slowdown"):
        for part, true in asdict(Spread.of(getattr(figures, kind))).items():
            name = f"{kind}_{part}"
            if name in known:
                found[name] = (known[name], true)
    for part, known_late in late_starts(figures.late).items():
        if part != "tardiness" or "late_starts_tardiness" in known:  # records of earlier versions lack it
            found[f"late starts, {part}"] = (known.get(f"late_starts_{part}"), known_late)
    for name, true in figures_of(replayed, case.desired).items():
        if name in known:  # records of earlier versions lack them
            found[name] = (known[name], true)
    for name, true in preemption_figures(replayed, figures).items():
        found[f"preemption_{name}"] = (known.get(f"preemption_{name}"), true)
    recorded = record.get("groups") or {}
    for by, groups in groups_of(case.workload, figures).items() if recorded else ():
        if by in ADDED and by not in recorded:
            continue
        here, table = groups.as_dict()["columns"], recorded.get(by, {}).get("columns", {})
        if table.get("name") != here["name"]:
            found[f"groups by {by}"] = (table.get("name"), here["name"])
            continue
        for column in (c for c in here if c not in ("name", "expected_ratio")):
            for name, value, true in zip(
                here["name"], table.get(column, [None] * len(here["name"])), here[column], strict=True
            ):
                found[f"{column} of {by} {excerpt(name)}"] = (value, true)
    return found


def _broke_off(record: Mapping[str, Any]) -> bool:
    return record["objective"] is None and record["verified"] is None


def faults_of(record: Mapping[str, Any], problem: Problem) -> list[str]:
    """Return the faults of a record: of its kind, sense, schedule, objective and bound."""
    found: list[str] = []
    for name, true in (("kind", problem.kind), ("sense", problem.sense)):
        if record.get(name) not in (None, true):
            found.append(f"it has {name} {record[name]}, its problem has {true}")
    value = None
    if record["schedule"] is not None:
        value, faults = check(problem, record["schedule"])
        found += faults
        if record["verified"] is not (not faults):
            found.append(f"it has verified: {json.dumps(record['verified'])}, the check gives {json.dumps(not faults)}")
    if value is None and record["objective"] is not None:
        found.append(f"it has objective {record['objective']}, but no valid schedule")
    elif value is not None and record["status"] != "error" and not agree(value, record["objective"]):
        found.append(f"it has objective {record['objective']}, its schedule has {value}")
    schedule = None if value is None else problem.read(record["schedule"])
    found += bench_kind(problem.kind).faults(problem, record, schedule)
    bound = record["bound"]
    if value is not None and bound is not None and refutes(value, bound, problem.sense):
        found.append(f"its bound {bound} is wrong: its own schedule has the better objective {value}")
    return [*found, *faults_of_claims(record, problem)]


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
    found: list[tuple[str, str]] = []
    unchecked: list[tuple[str, str]] = []
    valid: list[tuple[str, Record]] = []
    paths = files(folder)
    if not paths:
        raise WrongUse(f"{folder}: there are no records; bench run and bench simulate write them")
    for path in paths:
        try:
            record = read(path)
            with only_named(own):
                faults = checker.faults(record)
        except UnnamedReference as e:
            unchecked.append((path.name, str(e)))
            continue
        except ValueError as e:
            faults = [str(e)]
        found += [(path.name, fault) for fault in faults]
        if not faults:
            valid.append((path.name, record))
    known: dict[str, float] = {}
    try:
        known = {name: best.value for name, best in known_values(folder).items()}
    except (WrongUse, ValueError) as e:
        found.append((BEST_KNOWN, str(e)))
    found += contradictions(valid, known)
    wrong = {name for name, _ in found}
    claimed = claims(record for name, record in valid if name not in wrong)
    return Verified(len(paths), found + faults_of_manifest(folder), unchecked, claimed)


def read_schedule(path: Path) -> object:
    """Return the schedule of a JSON file, which contains a schedule or a record. Raises WrongUse."""
    try:
        data = read_json(path)
    except ValueError as e:
        raise WrongUse(str(e)) from e
    if isinstance(data, dict) and "schedule" in data and "key" in data:
        return data["schedule"]
    return data
