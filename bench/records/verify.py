"""The verification of records, and of schedules made by other programs, against the data of their instance."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from ...backends.base import Status
from ...backends.result import refutes
from ...heuristics import HEURISTICS
from ...instances import Instance
from ...instances import names as instances
from ...instances.files.reading import content_of
from ...instances.log_preparation import arrived
from ...models.kind import names
from ...models.plugins import PluginError, UnnamedReference, only_named
from ...models.problem import Problem, Schedule, Value, objective_of, violations_of
from ...models.words import excerpt, how_many
from ..errors import WrongUse
from ..kinds.base import bench_kind
from ..kinds.dispatch import bounded
from ..replays.case import (
    TRACE_OBJECTIVE,
    ReplayCase,
    figures_of,
    limits_each_node,
    limits_of,
    replay_case,
    server_events,
    with_jobs,
)
from ..replays.energy import energy_faults, energy_json, times_of
from ..replays.settings import USUAL_FLOOR, ReplaySettings, with_files_in
from ..runs.process import KILL_AFTER
from ..runs.selection import Run, key_of
from ..runs.suites import FILE as BEST_KNOWN
from ..runs.suites import known_values
from ..runs.view import View
from .record import AGREE, agree, gap_of, times
from .record import record as record_of
from .store import Record, fault_of_schema, faults_of_manifest, jobs_file, read, read_json, some_files

if TYPE_CHECKING:
    from ...simulation.dispatchers.policy import Slurm
    from ...simulation.outputs import JobsTable
    from ...simulation.result import Simulation

# --- The walltimes that users have chosen during a stored replay, repeated for its verification.


def with_requests(case: ReplayCase, users: str, replayed: Simulation, table: JobsTable) -> tuple[ReplayCase, list[str]]:
    """Return the case with the walltimes that users request given the starts, and where ``jobs.csv`` differs from them.

    With attempts that ended early, the starts that the users have seen are not in ``jobs.csv``; its walltimes are taken as
    they are then.

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
    """
    from ...simulation.users import requested, users_of

    row = {name: k for k, name in enumerate(table.ids)}
    stored = np.array([table.walltime[row[name]] if name in row else 1 for name in case.workload.ids], np.int64)
    if replayed.history is not None:
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
    """Count what records claim and no check can show: bounds, proofs, times and traces."""
    counts: Counter[str] = Counter()
    for record in records:
        counts["bounds"] += record["bound"] is not None
        for status in PROOFS:
            counts[f"status {status}"] += record["status"] == status
        counts["times"] += record["seconds"].get("total") is not None
        counts["traces"] += bool(record["incumbents"])
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
        found = self._in_its_folder(record)
        if record.get("replay") is not None:
            return self._faults_of_replay(record, found)
        faults = self._identity(record, self._known.instance(found).path)
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
        return record

    def _faults_of_replay(self, original: Mapping[str, Any], record: Mapping[str, Any]) -> list[str]:
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
        wrong = self._identity(original, Path(path) if instance is None else instance.path)
        wrong += faults_of_replay_claims(record)
        if _broke_off(record) and record.get("jobs_csv") is None:
            return wrong
        alike = (path, drop, view, replay.workload)
        if alike not in self._cases:
            self._cases[alike] = replay_case(path, view, replay, instance=instance)
        return wrong + faults_of_replay(record, self.folder, self._cases[alike])

    def _identity(self, record: Mapping[str, Any], path: Path | None) -> list[str]:
        """Return faults of the key and of the content of the instance."""
        faults = []
        if key_of(record) != record["key"]:
            faults = [OTHER_KEY]
        if path is None or self._known.unchanged(record, path):
            return faults
        return [*faults, OTHER_INSTANCE]


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


def faults_of_replay(record: Mapping[str, Any], folder: Path, case: ReplayCase) -> list[str]:
    """Return the faults of the record of a replay: of its jobs file, its objective and its mean wait.

    A replay that failed or was stopped is checked as far as it went; jobs that it did not start are no fault.
    """
    jobs = jobs_file(folder, record)
    settings = ReplaySettings(**record["replay"])
    missing = _missing_part(record, case, settings)
    if missing:
        return [missing]
    recorded = _replay_of(record, jobs, case, settings)
    replayed = recorded.replayed
    faults = _faults_of_run(record, recorded.case, replayed, settings)
    if _broke_off(record):
        return faults
    case = replace(recorded.case, workload=arrived(recorded.case.workload, replayed.end))
    if settings.users is not None:
        case, wrong = with_requests(case, settings.users, replayed, recorded.jobs)
        faults += wrong
    faults += energy_faults(record.get("energy"), energy_json(case, settings, replayed))
    value: Value | None = None
    if not faults:
        value = _weighted_wait(case, replayed)
    if record["schedule"] is not None:
        value, wrong = _value_of_schedule(record, case, replayed, sound=not faults)
        faults += wrong
    return [*faults, *_false_claims(record, case, replayed, value, sound=not faults)]


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


def _weighted_wait(case: ReplayCase, replayed: Simulation) -> float | None:
    """Return the objective of a replay without a schedule; None if it has another one, or not all jobs have started."""
    if case.objective != TRACE_OBJECTIVE or not (replayed.start >= 0).all():
        return None
    if replayed.history is None:
        waited = replayed.start
    else:
        waited = replayed.start - replayed.history.ran_before
    return case.weighted_wait(waited)


def _value_of_schedule(
    record: Mapping[str, Any], case: ReplayCase, replayed: Simulation, sound: bool
) -> tuple[Value | None, list[str]]:
    """Return the objective of the schedule of a record, None unless all is ``sound``, and the faults of the schedule."""
    problem = case.problem()
    schedule = Schedule.from_json(record["schedule"])
    faults = [f"{v.constraint}: {v.message}" for v in violations_of(problem, schedule)]
    value = None
    if sound and not faults:
        value = problem.value(schedule)
    starts = dict(zip(case.workload.ids, replayed.start.tolist(), strict=True))
    if schedule.start != starts:
        faults.append(f"its schedule has different start times than {record['jobs_csv']}")
    return value, faults


def _false_claims(
    record: Mapping[str, Any], case: ReplayCase, replayed: Simulation, value: Value | None, sound: bool
) -> list[str]:
    """Return what a record says of its replay and is not true: whether it is verified, its objective, its metrics."""
    faults: list[str] = []
    if record["verified"] is not sound:
        faults.append(f"it has verified: {json.dumps(record['verified'])}, the check gives {json.dumps(sound)}")
    if not sound:
        return faults
    claims = _claims(record, case, replayed)
    if value is not None:
        claims = {"objective": (record["objective"], value), **claims}
    faults += [
        f"it has {name} {recorded}, its start times give {true}"
        for name, (recorded, true) in claims.items()
        if true != recorded and not agree(true, recorded)
    ]
    return faults


def _claims(record: Mapping[str, Any], case: ReplayCase, replayed: Simulation) -> dict[str, tuple[Any, Any]]:
    """Return the metrics that starts and ends determine, of all jobs and of each group: (value of the record, true value)."""
    from ...simulation.metrics import ADDED, Spread, groups_of, job_figures, late_starts, preemption_figures

    floor = record["replay"].get("bsld_floor") or USUAL_FLOOR
    figures = job_figures(case.workload, replayed.start, replayed.end, bsld_floor=floor, history=replayed.history)
    known = record["metrics"]
    mean = None
    if figures.row.size:
        mean = float(figures.wait.mean())
    pairs: dict[str, tuple[Any, Any]] = {"mean wait": (known["wait_mean"], mean)}
    for kind in ("wait", "slowdown", "bounded_slowdown"):
        for part, true in asdict(Spread.of(getattr(figures, kind))).items():
            name = f"{kind}_{part}"
            if name in known:
                pairs[name] = (known[name], true)
    for part, known_late in late_starts(figures.late).items():
        if part != "tardiness" or "late_starts_tardiness" in known:  # records of earlier versions lack it
            pairs[f"late starts, {part}"] = (known.get(f"late_starts_{part}"), known_late)
    for name, true in figures_of(replayed, case.desired).items():
        if name in known:  # records of earlier versions lack them
            pairs[name] = (known[name], true)
    for name, true in preemption_figures(replayed, figures).items():
        pairs[f"preemption_{name}"] = (known.get(f"preemption_{name}"), true)
    recorded = record.get("groups") or {}
    for by, groups in groups_of(case.workload, figures).items() if recorded else ():
        if by in ADDED and by not in recorded:
            continue
        here = groups.as_dict()["columns"]
        table = recorded.get(by, {}).get("columns", {})
        if table.get("name") != here["name"]:
            pairs[f"groups by {by}"] = (table.get("name"), here["name"])
            continue
        for column in (c for c in here if c not in ("name", "expected_ratio")):
            for name, value, true in zip(
                here["name"], table.get(column, [None] * len(here["name"])), here[column], strict=True
            ):
                pairs[f"{column} of {by} {excerpt(name)}"] = (value, true)
    return pairs


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
        except UnnamedReference as e:
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
