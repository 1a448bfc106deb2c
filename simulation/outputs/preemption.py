"""What a replay did for on-demand jobs as JSON data, for its record; writing and reading.

The data are an object with

- ``first_start``: on-demand job -> its first start (s);
- ``decisions``: ``job``, ``time``, ``busy``, ``seconds``, ``needed`` (nodes), ``deadline``, ``candidates`` (rows of id, nodes, loss,
  system_s, application_s, wait_s, mb_s) and ``plan`` (job -> strategy; null: no job leaves). ``candidates`` is null if the
  running jobs had too few nodes;
- ``departures``: ``job``, ``attempt``, ``cause``, ``strategy``, ``decided``, ``stop``, ``write``, ``end`` (s).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...instances.workload import Workload
from ...models import Eviction, EvictionCandidate, EvictionPlan
from ...models.excerpt import excerpt
from ..preemption.settings import Preemption
from ..records import Departure, EvictionDecision, PreemptionRecord
from .reading import JobsError

CANDIDATE = ("id", "nodes", "loss", "system_s", "application_s", "wait_s", "mb_s")
TIMES = ("decided", "stop", "write", "end")


def preemption_json(record: PreemptionRecord, workload: Workload) -> dict[str, Any]:
    """Return a record as JSON data."""
    ids = workload.ids
    return {
        "first_start": {ids[row]: start for row, start in record.first_start.items()},
        "decisions": [decision_json(d) for d in record.decisions],
        "departures": [
            {
                "job": ids[d.row],
                "attempt": d.attempt,
                "cause": d.cause,
                "strategy": d.strategy,
                **{name: getattr(d, name) for name in TIMES},
            }
            for d in record.departures
        ],
    }


def decision_json(decision: EvictionDecision) -> dict[str, Any]:
    """Return a decision as JSON data; jobs that stay are not part of its plan."""
    p, plan = decision.problem, decision.plan
    chosen = None
    if plan is not None:
        chosen = {job: what for job, what in plan.as_json().items() if plan.strategy[job] != "keep"}
    return {
        "job": decision.job,
        "time": decision.time,
        "busy": decision.busy,
        "seconds": decision.seconds,
        "needed": None if p is None else p.nodes_needed,
        "deadline": None if p is None else p.deadline_s,
        "candidates": None if p is None else [[getattr(c, name) for name in CANDIDATE] for c in p.candidates],
        "plan": chosen,
    }


def read_decision(data: Mapping[str, Any], settings: Preemption) -> EvictionDecision:
    """Read the data of ``decision_json``. Raises ProblemError, WrongValue."""
    problem = plan = None
    if data["candidates"] is not None:
        jobs = [EvictionCandidate(**dict(zip(CANDIDATE, row, strict=True))) for row in data["candidates"]]
        bandwidth, shared = settings.storage.file_system_mb_s, settings.shared_bandwidth
        problem = Eviction(
            jobs, data["needed"], data["deadline"], settings.step, data["time"], bandwidth, shared_bandwidth=shared
        )
    if data["plan"] is not None and problem is not None:
        plan = EvictionPlan.from_json({**dict.fromkeys((c.id for c in problem.candidates), "keep"), **data["plan"]})
    return EvictionDecision(data["job"], data["time"], data["busy"], problem, plan, data["seconds"])


def read_preemption(
    data: Mapping[str, Any], workload: Workload, settings: Preemption, rows: tuple[int, ...]
) -> PreemptionRecord:
    """Read the data of ``preemption_json``.

    Parameters
    ----------
    data : mapping
        The data.
    workload : Workload
        The jobs, with the on-demand ones.
    settings : Preemption
        The settings of the replay.
    rows : tuple of int
        The rows of the on-demand jobs.

    Raises
    ------
    JobsError
        If a job is unknown.
    ProblemError, WrongValue
        If an eviction problem or a plan is not valid.
    """
    row = {name: k for k, name in enumerate(workload.ids)}
    named = [*data["first_start"], *(d["job"] for d in data["departures"])]
    unknown = next((name for name in named if name not in row), None)
    if unknown is not None:
        raise JobsError(f"preemption: {excerpt(unknown)} is no job of the replay")
    departures = tuple(
        Departure(row[d["job"]], d["attempt"], d["cause"], d["strategy"], *(d[name] for name in TIMES))
        for d in data["departures"]
    )
    decisions = tuple(read_decision(d, settings) for d in data["decisions"])
    first = {row[name]: start for name, start in data["first_start"].items()}
    return PreemptionRecord(settings, rows, decisions, departures, first)
