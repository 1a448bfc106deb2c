"""The record of a run. Unknown values are null, never 0 or infinity. The fields are described in ``records.form``."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from ...backends import Result
from ...backends.gaps import refutation, refutes, relative_gap
from ...models.problem import Problem
from ...models.problem_answers import objective_of, violations_of
from ..kinds.base import bench_kind
from ..runs.selection import Run
from .form import SCHEMA
from .host import host
from .store import Record

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
    """Return the fields of a record for a result; the schedule is verified and its objective recomputed from the data."""
    schedule = result.schedule
    violations = [] if schedule is None else violations_of(problem, schedule)
    found: Record = {
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
        found["status"] = "error"
        found["message"] = f"the schedule violates the problem: {violations[0].message}"
    elif schedule is not None and result.status != "error":
        found["objective"] = objective_of(problem, schedule)
        if not agree(found["objective"], result.objective):
            found["status"] = "error"
            found["message"] = (
                f"the method reported objective {result.objective}, its schedule has {found['objective']}"
            )
        elif refutes(found["objective"], found["bound"], problem.sense):
            found["status"], found["message"] = "error", refutation(found["bound"], found["objective"])
            found["objective"] = found["bound"] = None
    return found


def gap_of(objective: Any, bound: Any) -> Any:
    """Return the relative gap, None if unknown; for several ordered objectives a list of gaps."""
    if isinstance(objective, (list, tuple)) and isinstance(bound, (list, tuple)):
        return [relative_gap(o, b) for o, b in zip(objective, bound, strict=True)]
    return None if isinstance(objective, (list, tuple)) else relative_gap(objective, bound)


def agree(one: Any, other: Any) -> bool:
    """Return whether two objective values are equal within 1e-6 relative; lists if all their values are."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, (list, tuple)):
        return False
    gap = relative_gap(one, other) if isinstance(other, (int, float)) else None
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
        first = event["seconds"] if first is None else first
        if value is None or (objective > value if sense == "maximize" else objective < value):
            best, value = event["seconds"], objective
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
