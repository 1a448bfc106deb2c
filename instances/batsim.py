"""Workloads of the simulator Batsim, as JSON: jobs that ask for a number of resources, and profiles of what they do."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..models.platform import NodeGroup, Platform
from .lines import read_lines
from .repair import Logged, Trace
from .workload import Workload, WorkloadError

MOST = 10**7  # resources
NOTE = "a Batsim workload has no users, queues and program names; the names of profiles do not stand in: they tell the runtime"


def read_batsim(path: str | Path) -> Workload:
    """The jobs of a Batsim workload: ``res`` units of one core each, runtimes from profiles of type ``delay``.

    Jobs of other profiles are left out with a reason: how long they take depends on the simulated machine. Raises
    WorkloadError.
    """
    return batsim_trace(path).workload


def batsim_trace(path: str | Path) -> Trace:
    """The same before the repairs that are common to all formats, with the machine of ``nb_res`` nodes of one core."""
    values = _parsed(path)
    jobs = values.get("jobs")
    profiles = values.get("profiles", {})
    nodes = values.get("nb_res")
    if not isinstance(jobs, list) or not isinstance(profiles, dict):
        raise WorkloadError(f'{path}: a Batsim workload has a list "jobs" and an object "profiles"')
    if isinstance(nodes, bool) or not isinstance(nodes, int) or not 1 <= nodes <= MOST:
        raise WorkloadError(f'{path}: "nb_res" is {nodes!r:.60}; expected the number of resources, 1 to {MOST:,}')
    found = [_job(k, job, profiles) for k, job in enumerate(jobs, 1)]
    trace = Trace.of(Path(path).stem, "batsim", found, ("cores",), notes=[NOTE])
    return replace(trace, platform=Platform([NodeGroup("node", nodes, {"cores": 1})]))


def write_batsim(workload: Workload, nodes: int, path: str | Path) -> None:
    """Write jobs whose units ask for one core each as a Batsim workload for ``nodes`` resources.

    Raises WorkloadError for other requests: Batsim's resources are all alike, and a job has them whole.
    """
    cores = workload.resources.index("cores") if "cores" in workload.resources else None
    if cores is None or (workload.request[:, cores] != 1).any() or workload.request.sum() != len(workload):
        raise WorkloadError(f"{workload.name}: a Batsim workload holds only jobs that ask for one core per unit")
    rows = [workload.job(k) for k in range(len(workload))]
    profiles = {f"delay{j.runtime}": {"type": "delay", "delay": j.runtime} for j in rows}
    jobs = [
        {"id": j.id, "subtime": j.submit, "walltime": j.walltime, "res": j.units, "profile": f"delay{j.runtime}"}
        for j in rows
    ]
    text = json.dumps({"nb_res": nodes, "jobs": jobs, "profiles": profiles}, indent=1)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _parsed(path: str | Path) -> dict[str, Any]:
    try:
        values = json.loads("\n".join(read_lines(path)))
    except (ValueError, RecursionError) as e:
        raise WorkloadError(f"{path}: not a JSON file: {e}") from e
    if not isinstance(values, dict):
        raise WorkloadError(f'{path}: expected a JSON object with "nb_res", "jobs" and "profiles"')
    return values


def _job(place: int, job: object, profiles: Mapping[str, Any]) -> Logged:
    """An entry of the list of jobs; a fault is the reason why the job cannot be replayed."""
    if not isinstance(job, dict):
        return Logged(f"entry {place}", unusable=f"entry {place} of the jobs is {job!r:.60}; expected an object")
    name = str(job.get("id", f"entry {place}"))
    res = job.get("res")
    if isinstance(res, bool) or not isinstance(res, int) or not 1 <= res <= MOST:
        return Logged(name, unusable=f"its res is {res!r:.60}; expected a whole number, 1 to {MOST:,}")
    submit, walltime = (_seconds(job.get(key)) for key in ("subtime", "walltime"))
    for key, value in (("subtime", submit), ("walltime", walltime)):
        if value is None and key in job:
            return Logged(name, unusable=f"its {key} is {job[key]!r:.60}; expected a number of seconds")
    runtime, why = _runtime(job.get("profile"), profiles)
    return Logged(
        id=name,
        submit=math.nan if submit is None else submit,
        runtime=runtime,
        walltime=math.nan if walltime is None else walltime,
        units=res,
        request={"cores": 1},
        unusable=why,
    )


def _runtime(name: object, profiles: Mapping[str, Any]) -> tuple[float, str]:
    """What a profile takes in seconds, or why that cannot be said."""
    profile = profiles.get(name) if isinstance(name, str) else None
    if not isinstance(profile, dict):
        return math.nan, f"its profile {name!r:.60} is not among the profiles"
    if profile.get("type") != "delay":
        kind = f"{profile.get('type')!r:.60}"
        return (
            math.nan,
            f"its profile {name!r} is of type {kind}: how long it takes depends on a speed; only 'delay' can be replayed",
        )
    delay = _seconds(profile.get("delay"))
    if delay is None or delay < 0:
        return (
            math.nan,
            f"the delay of its profile {name!r} is {profile.get('delay')!r:.60}; expected a number of seconds",
        )
    return delay, ""


def _seconds(value: object) -> float | None:
    """A number of seconds, -1 for unknown among them; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e10:
        return None
    return float(value)
