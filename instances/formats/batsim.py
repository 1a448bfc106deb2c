"""Workloads of the simulator Batsim (JSON): jobs that request a number of resources, and profiles of their execution.

The type names of Batsim 5 (``DelayProfile``) and of earlier versions (``delay``) are read. The runtime of a delay is in
the file; that of a sequence of delays is their sum. The runtime of other profiles (parallel tasks, transfers to a
storage, replays of traces) depends on the speed of the simulated machine, which is not in the file. Source:
documentation of Batsim, section "input workload".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...models.platform import LATEST, MOST_NODES, NodeGroup, Platform
from ..files.atomic import write_whole
from ..files.lines import read_json
from ..logged import Logged
from ..repair import Trace
from ..workload import Workload, WorkloadError

MOST = MOST_NODES  # resources
DELAYS = ("delay", "DelayProfile")
SEQUENCES = ("composed", "sequential_composition", "SequentialCompositionProfile")
ON_MACHINE = (
    "parallel", "parallel_homogeneous", "parallel_homogeneous_total", "parallel_homogeneous_pfs",
    "parallel_homogeneous_pfs_multiple_tiers", "data_staging", "send", "recv", "smpi", "usage_trace", "trace_replay",
    "PtaskProfile", "ParallelTaskProfile", "ParallelTaskHomogeneousProfile", "ParallelTaskOnStorageHomogeneousProfile",
    "ParallelTaskDataStagingBetweenStoragesProfile", "TraceReplayProfile", "ForkJoinCompositionProfile",
)  # fmt: skip  # profiles whose runtime depends on the simulated machine
DEEPEST = 50  # levels of nested sequences
NOTE = (
    "a Batsim workload has no users, queues and program names; profile names are not used as program names, "
    "because they reveal the runtime"
)


def read_batsim(path: str | Path) -> Workload:
    """Read a Batsim workload. A job has ``res`` units of one core each; its runtime comes from its profile.

    Jobs whose profile is not a delay or a sequence of delays are left out, with the reason: their runtime depends on
    the simulated machine.

    Parameters
    ----------
    path
        The JSON file, plain or compressed (``.gz``).

    Returns
    -------
    Workload
        The jobs, times in s.

    Raises
    ------
    WorkloadError
        The file cannot be read, is not a Batsim workload, or has no job that can be replayed.

    References
    ----------
    .. [1] Batsim documentation, input workload, https://batsim.readthedocs.io/en/latest/input-workload.html

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "w.json")
    ...     jobs = [{"id": "1", "subtime": 5, "walltime": 60, "res": 4, "profile": "short"}]
    ...     profiles = {"short": {"type": "delay", "delay": 20.5}}
    ...     _ = file.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    ...     w = read_batsim(file)
    >>> w.ids, w.units.tolist(), w.runtime.tolist()
    (('1',), [4], [21])
    """
    return batsim_trace(path).workload


def batsim_trace(path: str | Path) -> Trace:
    """Read a Batsim workload before the common repairs, with a platform of ``nb_res`` nodes of one core."""
    values = _parsed(path)
    jobs = values.get("jobs")
    profiles = values.get("profiles", {})
    nodes = values.get("nb_res")
    if not isinstance(jobs, list) or not isinstance(profiles, dict):
        raise WorkloadError(f'{path}: a Batsim workload has a list "jobs" and an object "profiles"')
    if isinstance(nodes, bool) or not isinstance(nodes, int) or not 1 <= nodes <= MOST:
        raise WorkloadError(f'{path}: "nb_res" is {nodes!r:.60}; expected the number of resources, 1 to {MOST:,}')
    known = Profiles(profiles)
    found = [_job(k, job, known) for k, job in enumerate(jobs, 1)]
    trace = Trace.of(Path(path).stem, "batsim", found, ("cores",), notes=[NOTE])
    return replace(trace, platform=Platform([NodeGroup("node", nodes, {"cores": 1})]))


def write_batsim(workload: Workload, nodes: int, path: str | Path) -> None:
    """Write jobs whose units request one core each as a Batsim workload.

    Parameters
    ----------
    workload
        The jobs.
    nodes
        Number of resources of the Batsim platform.
    path
        The JSON file to write.

    Raises
    ------
    WorkloadError
        A unit requests something else than one core: the resources of Batsim are identical and are not shared.
    """
    cores = workload.resources.index("cores") if "cores" in workload.resources else None
    if (
        cores is None
        or (workload.request[:, cores] != 1).any()
        or workload.request.sum() != len(workload)
        or workload.chunks
    ):
        raise WorkloadError(f"{workload.name}: a Batsim workload holds only jobs that request one core per unit")
    rows = [workload.job(k) for k in range(len(workload))]
    profiles = {f"delay{j.runtime}": {"type": "delay", "delay": j.runtime} for j in rows}
    jobs = [
        {"id": j.id, "subtime": j.submit, "walltime": j.walltime, "res": j.units, "profile": f"delay{j.runtime}"}
        for j in rows
    ]
    text = json.dumps({"nb_res": nodes, "jobs": jobs, "profiles": profiles}, indent=1)
    write_whole(Path(path), text + "\n")


def _parsed(path: str | Path) -> dict[str, Any]:
    values = read_json(path)
    if not isinstance(values, dict):
        raise WorkloadError(f'{path}: expected a JSON object with "nb_res", "jobs" and "profiles"')
    return values


def _job(place: int, job: object, profiles: Profiles) -> Logged:
    """Read an entry of the list of jobs; a fault becomes the reason why the job cannot be replayed."""
    if not isinstance(job, dict):
        return Logged(f"entry {place}", unusable=f"it is {job!r:.60}; expected an object")
    name = str(job.get("id", f"entry {place}"))
    res = job.get("res")
    if isinstance(res, bool) or not isinstance(res, int) or not 1 <= res <= MOST:
        return Logged(name, unusable=f"its res is {res!r:.60}; expected a whole number, 1 to {MOST:,}")
    submit, walltime = (_seconds(job.get(key)) for key in ("subtime", "walltime"))
    for key, value in (("subtime", submit), ("walltime", walltime)):
        if value is None and key in job:
            return Logged(name, unusable=f"its {key} is {job[key]!r:.60}; expected a number of seconds")
    runtime, why = profiles.runtime(job.get("profile"))
    return Logged(
        id=name,
        submit=math.nan if submit is None else submit,
        runtime=runtime,
        walltime=math.nan if walltime is None else walltime,
        units=res,
        request={"cores": 1},
        unusable=why,
    )


@dataclass
class Profiles:
    """The profiles of a workload, with the runtimes that do not depend on the simulated machine."""

    given: Mapping[str, Any]
    known: dict[str, tuple[float, str]] = field(default_factory=dict)

    def runtime(self, name: object, within: tuple[str, ...] = ()) -> tuple[float, str]:
        """Return the runtime of a profile in s, or NaN and the reason. ``within``: sequences that contain it."""
        if not isinstance(name, str) or not isinstance(self.given.get(name), dict):
            return math.nan, f"its profile {name!r:.60} is not among the profiles"
        if name not in self.known:
            found = self._found(name, self.given[name], within)
            if name in within or len(within) > DEEPEST:
                return found
            self.known[name] = found
        return self.known[name]

    def _found(self, name: str, profile: Mapping[str, Any], within: tuple[str, ...]) -> tuple[float, str]:
        kind = profile.get("type")
        if kind in DELAYS:
            delay = _seconds(profile.get("delay"))
            if delay is not None and delay >= 0:
                return delay, ""
            why = f"the delay of its profile {name!r:.60} is {profile.get('delay')!r:.60}; expected a number of seconds"
            return math.nan, why
        if kind in SEQUENCES:
            if name in within or len(within) > DEEPEST:
                return math.nan, f"its profile {name!r:.60} is a sequence that contains itself or has too many levels"
            return self._sequence(name, profile, (*within, name))
        if kind not in ON_MACHINE:
            known = ", ".join((DELAYS[1], SEQUENCES[2]))
            return math.nan, f"its profile {name!r:.60} is of the unknown type {kind!r:.60}; those replayed are {known}"
        return math.nan, (
            f"its profile is of type {kind!r:.60}: how long it takes depends on the simulated machine; "
            "only delays and sequences of delays can be replayed"
        )

    def _sequence(self, name: str, profile: Mapping[str, Any], within: tuple[str, ...]) -> tuple[float, str]:
        parts, repeat = profile.get("seq"), profile.get("repeat", 1)
        if not isinstance(parts, list) or not parts or isinstance(repeat, bool) or not isinstance(repeat, int):
            return (
                math.nan,
                f"its profile {name!r:.60} is a sequence without a list 'seq', or its 'repeat' is not a whole number",
            )
        total = 0.0
        for part in parts:
            seconds, why = self.runtime(part, within)
            if why:
                return math.nan, why
            total += seconds
        if not 1 <= repeat <= MOST or total * repeat > LATEST:
            return (
                math.nan,
                f"its profile {name!r:.60} repeats {repeat!r:.60} times; expected 1 to {MOST:,}, and at most {LATEST:,} s",
            )
        return total * repeat, ""


def _seconds(value: object) -> float | None:
    """Return a number of seconds (-1 for unknown is allowed); None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e10:
        return None
    return float(value)
