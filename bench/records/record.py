"""The record of a run and of the machine it ran on. Unknown values are null, never 0 or infinity; ``records.store`` has the types of the fields."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...backends import Result
from ...backends.result import refutation, refutes, relative_gap
from ...instances.formats.slurm_values import hosts_of, names_of_hosts
from ...instances.workload import Report
from ...models.platform import NamedNodes, NodeGroup, Platform
from ...models.problem import Problem, objective_of, violations_of
from ..kinds.base import bench_kind
from ..replays.settings import ReplaySettings
from ..runs.process import machine_memory
from ..runs.selection import Run
from .store import SCHEMA, Record

if TYPE_CHECKING:
    from ...simulation.result import Simulation


# --- The machine that runs are performed on, for their records.

CPU_INFO = Path("/proc/cpuinfo")
NAMES = ("model name", "cpu model", "Hardware")  # of the field with the model: x86, MIPS and POWER, ARM


@cache
def host() -> dict[str, Any]:
    """Return the machine of this process.

    Returns
    -------
    dict
        ``cpu``: model of the processor; ``cores``: number of logical cores; ``memory_gb``: main memory in GB (2^30
        bytes), None if it cannot be read; ``system``: operating system, its release and the architecture.

    Examples
    --------
    >>> sorted(host())
    ['cores', 'cpu', 'memory_gb', 'system']
    """
    memory = machine_memory()
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 1,
        "memory_gb": None if memory is None else round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def cpu_model() -> str:
    """Return the model of the processor; the architecture if the model is not known.

    The platform module knows it on Windows and macOS; on Linux it returns the architecture only.
    """
    try:
        lines = CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return next((fields[name] for name in NAMES if fields.get(name)), platform.processor() or platform.machine())


# --- The description of a replay in its record, and the platform of a record.

RESERVED = "reserved"
CHECKPOINT = "checkpoint"
EVICTED = "evicted"
SHOWN = 10  # unreadable lines and left-out jobs that a record lists


def described(simulation: Simulation, replay: ReplaySettings) -> dict[str, Any]:
    """Return the description of a replay for its record."""
    return {
        "predictor": simulation.predictor,
        "allocator": simulation.allocator,
        "options": replay.fields,
        "jobs": len(simulation.workload),
        "platform": [_described_group(g) for g in simulation.platform.groups],
        "notes": list(simulation.notes),
        "report": report_as_json(simulation.workload.report),
    }


def report_as_json(report: Report) -> dict[str, Any]:
    """Return what was repaired or left out when a trace was read: counts, the first unreadable lines and left-out jobs."""
    return {
        "repairs": dict(report.repairs),
        "bad_lines": len(report.bad_lines),
        "first_bad_lines": [str(b) for b in report.bad_lines[:SHOWN]],
        "dropped": len(report.dropped),
        "first_dropped": [f"{job}: {why}" for job, why in report.dropped[:SHOWN]],
        **{
            name: dict(counts)
            for name, counts in (("skipped", report.skipped), ("not_obeyed", report.not_obeyed))
            if counts
        },
        "notes": list(report.notes),
    }


def _described_group(group: NodeGroup) -> dict[str, Any]:
    described: dict[str, Any] = {"name": group.name, "count": group.count, "capacity": dict(group.capacity)}
    if isinstance(group, NamedNodes):
        described["names"] = names_of_hosts(group.nodes)
    return described


def platform_of(groups: list[dict[str, Any]]) -> Platform:
    """Return the platform of a record."""
    return Platform([_group_of(g) for g in groups])


def _group_of(described: dict[str, Any]) -> NodeGroup:
    shared = {key: described[key] for key in ("name", "count", "capacity")}
    if "names" not in described:
        return NodeGroup(**shared)
    names = described["names"]
    return NamedNodes(**shared, names=tuple(hosts_of(names) if isinstance(names, str) else names))


class Area(NamedTuple):
    """A time in which a node is reserved, takes no starts, or is left by a job.

    Parameters
    ----------
    node : str
        The name of the node.
    start, end : int
        Seconds; the end is None if there is none.
    state : str
        ``RESERVED`` for a reservation, ``CHECKPOINT`` while a job writes one to leave, ``EVICTED`` where a job left, else
        the state of the node, such as "down".
    """

    node: str
    start: int
    end: int | None
    state: str


def areas_of(record: Mapping[str, Any]) -> Iterator[Area]:
    """Yield the reservations and outages of the record of a replay, node by node."""
    for b in (record.get("production") or {}).get("bookings", ()):
        if b["accepted"] is not None:
            for node in b["nodes"] if (b["ended"] or b["end"]) > b["start"] else ():
                yield Area(node, b["start"], b["ended"] or b["end"], RESERVED)
    for o in record.get("outages") or ():
        yield Area(o["node"], o["start"], o["end"], o["state"])


# --- The record of a run. Unknown values are null, never 0 or infinity. The fields are described in ``records.store``.

OF_REPLAYS = (
    "metrics",
    "groups",
    "percentiles",
    "simulation",
    "jobs_csv",
)  # fields that only the records of replays have
BROKEN_OFF = ("crash", "out of memory", "timeout")  # causes of runs that did not end by themselves
AGREE = 1e-6  # greatest relative difference of two equal objective values


def outcome(problem: Problem, result: Result) -> Record:
    """Return the fields of a record for a result; the schedule is verified and its objective recomputed from the data.

    A result with an error has no schedule that is an answer; one that violates the problem is kept as the evidence.
    """
    schedule = result.schedule
    violations = []
    if schedule is not None:
        violations = violations_of(problem, schedule)
    if result.status == "error" and not violations:
        schedule = None  # the start, or an earlier answer: that of the method was refused
    fields: Record = {
        "status": result.status,
        "objective": None,
        "bound": result.bound,
        "verified": None if schedule is None else not violations,
        "violations": [{"constraint": v.constraint, "amount": v.amount, "message": v.message} for v in violations],
        "sense": problem.sense,
        "warm_start": vars(result.warm_start),
        "seconds": {part: result.phases.get(part) for part in ("build", "lower", "solve", "total")},
        "message": result.message,
        "exactness": {"kind": result.exactness.kind, "notes": list(result.exactness.notes)},
        "size": dict(result.size),
        "incumbents": [i._asdict() for i in result.incumbents],
        "schedule": None if schedule is None else schedule.as_json(),
        "cause": "unavailable" if result.status == "unavailable" else None,
    }
    if violations:
        fields["status"] = "error"
        fields["message"] = f"the schedule violates the problem: {violations[0].message}"
    elif schedule is not None:
        fields["objective"] = objective_of(problem, schedule)
        if not agree(fields["objective"], result.objective):
            fields["status"] = "error"
            fields["message"] = (
                f"the method reported objective {result.objective}, its schedule has {fields['objective']}"
            )
        elif refutes(fields["objective"], fields["bound"], problem.sense):
            fields["status"] = "error"
            fields["message"] = refutation(fields["bound"], fields["objective"])
            fields["objective"] = fields["bound"] = None
    return fields


def gap_of(objective: Any, bound: Any) -> Any:
    """Return the relative gap, None if unknown; for several ordered objectives a list of gaps."""
    if isinstance(objective, (list, tuple)) and isinstance(bound, (list, tuple)):
        return [relative_gap(o, b) for o, b in zip(objective, bound, strict=True)]
    if isinstance(objective, (list, tuple)):
        return None
    return relative_gap(objective, bound)


def agree(one: Any, other: Any) -> bool:
    """Return whether two objective values are equal within 1e-6 relative; lists if all their values are."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, (list, tuple)):
        return False
    gap = None
    if isinstance(other, (int, float)):
        gap = relative_gap(one, other)
    return gap is not None and gap <= AGREE


def record(run: Run, found: Mapping[str, Any], started: str) -> Record:
    """Return the complete record of a run; unknown fields are null.

    Parameters
    ----------
    run
        The run.
    found
        Fields of its result, at least ``status``.
    started
        Time of its start, ISO 8601.

    Returns
    -------
    Record
        The record, as JSON can represent it.
    """
    trace = found.get("incumbents") or []
    first, best = times(trace, found.get("sense"))
    objective = found.get("objective")
    complete: Record = {
        "schema": SCHEMA,
        "key": run.key,
        **run.head,
        "status": found["status"],
        "objective": objective,
        "bound": found.get("bound"),
        "gap": gap_of(objective, found.get("bound")),
        "verified": found.get("verified"),
        "violations": found.get("violations", []),
        "sense": found.get("sense"),
        "warm_start": found.get("warm_start"),
        "first_solution_s": first,
        "best_s": best,
        "seconds": found.get("seconds") or dict.fromkeys(("build", "lower", "solve", "total")),
        "cause": found.get("cause"),
        "message": found.get("message", ""),
        "exactness": found.get("exactness"),
        "size": found.get("size"),
        "python": platform.python_version(),
        "host": host(),
        "started": started,
        "incumbents": trace,
        "schedule": found.get("schedule"),
        **{name: found[name] for name in (*OF_REPLAYS, *bench_kind(run.kind).record_fields) if name in found},
    }
    clean: Record = plain(complete)
    return clean


def times(trace: Sequence[Mapping[str, Any]], sense: str | None) -> tuple[float | None, float | None]:
    """Return the seconds to the first and to the best solution of a trace of incumbents; None without a solution."""
    first = best = value = None
    for event in trace:
        objective = event["objective"]
        if objective is None:
            continue
        if first is None:
            first = event["seconds"]
        if value is None or (objective > value if sense == "maximize" else objective < value):
            best = event["seconds"]
            value = objective
    return first, best


def plain(value: Any) -> Any:
    """Convert a value to JSON types: NumPy numbers to Python numbers, infinities and NaN to None, tuples to lists."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def failed(record: Mapping[str, Any]) -> bool:
    """Return whether a run failed: an error, a crash, a wrong schedule, or broken off without an answer."""
    if record["status"] == "error" or record["cause"] == "crash" or record["verified"] is False:
        return True
    return not answered(record)


def answered(record: Mapping[str, Any]) -> bool:
    """Return whether a run has an answer, or ended by itself without an error.

    An answer is a verified schedule, a bound, or a proof that there is no schedule. A solver that ends by itself without
    a solution (status ``unknown``, no cause) counts as answered; so do a replay that stopped at its time limit and left
    the jobs that it had started, and a solver that is ``unavailable``.
    """
    if record["cause"] not in BROKEN_OFF:
        return bool(record["status"] != "error")
    return any(record.get(name) is not None for name in ("objective", "bound", "jobs_csv"))


# --- The answer of a run: schedule, objective and bound are checked, and the fields of the kind of problem are added.


def answer(problem: Problem, result: Result) -> Record:
    """Return the fields of a record for a result, with the extra fields of the kind of problem."""
    record = outcome(problem, result)
    if result.schedule is None or record["objective"] is None:
        return record
    return record | bench_kind(problem.kind).extra_fields(problem, result.schedule)
