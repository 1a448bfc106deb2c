"""What a record claims beyond its schedule: status, bound, times and trace; what of it can be checked, and what cannot.

A schedule and its objective are computed again from the instance. A bound, a proof of optimality or infeasibility, and the
times are known to the machine that ran it alone. They can only contradict each other, the ability of the method, or a schedule
of another record; what contradicts nothing remains a claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...backends.gaps import refutes
from ...heuristics import HEURISTICS
from ...models.problem import Problem
from ..runs.selection import KILL_AFTER
from .record import agree, times

Record = Mapping[str, Any]
OVERRUN = 2 * KILL_AFTER  # seconds after its limit at which a run that was not killed is not believed
PROOFS = ("optimal", "infeasible", "unbounded")


def faults_of_claims(record: Record, problem: Problem) -> Iterator[str]:
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


def faults_of_replay_claims(record: Record) -> Iterator[str]:
    """Yield what the record of a replay claims and cannot be true: a replay proves nothing."""
    if record["status"] in PROOFS or record["bound"] is not None:
        yield f"it has status {record['status']} and bound {record['bound']}, but a replay proves nothing"
    yield from faults_of_times(record)


def faults_of_times(record: Record) -> Iterator[str]:
    """Yield impossible times: below 0, or long after the time limit of a run that nothing ended from outside."""
    for name, seconds in record["seconds"].items():
        if isinstance(seconds, (int, float)) and seconds < 0:
            yield f"it has {seconds} seconds of {name}"
    total = record["seconds"].get("total")
    most = record["time_limit"] + OVERRUN
    if record["cause"] is None and isinstance(total, (int, float)) and total > most:
        yield f"it took {total:g} s, its time limit is {record['time_limit']:g} s, and it was not killed"


def _faults_of_trace(record: Record) -> Iterator[str]:
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
    own = None if heuristic is None else heuristic.variant(problem)
    return own is not None and not own.proves


def contradictions(records: Sequence[tuple[str, Record]], known: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return pairs of a name and a fault: claims that a verified schedule of another record of the same problem refutes.

    Parameters
    ----------
    records
        Names and records whose schedules were checked.
    known
        Instance -> best-known value of the whole instance with its own objective.
    """
    groups: dict[str, list[tuple[str, Record]]] = {}
    for name, record in records:
        if (
            record["replay"] is None and record["view"].get("keep") is None
        ):  # a kept objective limits each run differently
            alike = (record["content"], record["kind"], record["drop_impossible"], sorted(record["view"].items()))
            groups.setdefault(repr(alike), []).append((name, record))
    return [fault for same in groups.values() for fault in _contradicted(same, known)]


def _contradicted(same: Sequence[tuple[str, Record]], known: Mapping[str, float]) -> Iterator[tuple[str, str]]:
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


def claims(records: Iterable[Record]) -> Counter[str]:
    """Count what records claim and no check can show: bounds, proofs, times and traces."""
    found: Counter[str] = Counter()
    for record in records:
        found["bounds"] += record["bound"] is not None
        for status in PROOFS:
            found[f"status {status}"] += record["status"] == status
        found["times"] += record["seconds"].get("total") is not None
        found["traces"] += bool(record["incumbents"])
    return +found
