"""Workloads of the simulator Batsim (JSON): jobs that request a number of resources, and profiles of their execution.

The type names of Batsim 5 (``DelayProfile``), of its development versions (``ptask``) and of earlier versions (``delay``)
are read. The runtime of a delay is in the file; that of a sequence is the sum of its parts, that of a fork-join
composition the longest of its parts, which run at the same time. The runtime of other profiles (parallel tasks and their
merges, transfers to a storage, messages, replays of traces) depends on the simulated machine, which is not in the file.
Sources: documentation of Batsim, section "input workload"; its protocol, for fork-join compositions, which Batsim itself
does not run yet.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from ...models.dispatch.arrays import PLACE_FIELDS
from ...models.platform import LATEST, MOST_NODES, NodeGroup, Platform
from ...models.words import excerpt
from ..files.reading import WorkloadError, json_number_of, json_whole_of, read_json
from ..files.writing import write_whole
from ..logged import Logged, Trace
from ..workload import Workload

MOST = MOST_NODES  # resources
DELAYS = ("delay", "DelayProfile")
SEQUENCES = ("composed", "sequential_composition", "SequentialCompositionProfile")
FORKS = ("forkjoin_composition", "ForkJoinCompositionProfile")
PARTS = ("seq", "profile_ids")  # of compositions: names in workload files, and in the protocol of Batsim 5
REPEATS = ("repeat", "repetition_count")
ON_MACHINE = (
    "msg_par", "msg_par_hg", "msg_par_hg_tot", "msg_par_hg_pfs", "msg_par_hg_pfs_tiers",
    "parallel", "parallel_homogeneous", "parallel_homogeneous_total", "parallel_homogeneous_pfs",
    "parallel_homogeneous_pfs_multiple_tiers", "data_staging", "send", "recv", "smpi", "usage_trace", "trace_replay",
    "ptask", "ptask_homogeneous", "ptask_on_storage_homogeneous", "ptask_data_staging_between_storages",
    "ptask_merge_composition", "PtaskProfile", "ParallelTaskProfile", "ParallelTaskHomogeneousProfile",
    "ParallelTaskOnStorageHomogeneousProfile", "ParallelTaskDataStagingBetweenStoragesProfile",
    "ParallelTaskMergeCompositionProfile", "TraceReplayProfile",
)  # fmt: skip  # profiles whose runtime depends on the simulated machine
EXPECTED = "expected a delay, or a sequence or fork-join of delays"
DEEPEST = 50  # levels of nested compositions
NOTE = (
    "a Batsim workload has no users, queues and program names; profile names are not used as program names, "
    "because they reveal the runtime"
)


def read_batsim(path: str | Path) -> Workload:
    """Read a Batsim workload. A job has ``res`` units of one core each; its runtime comes from its profile.

    Jobs whose profile is not a delay or a composition of delays are left out, with the profile and the reason: their
    runtime depends on the simulated machine.

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
    if not isinstance(jobs, list) or not isinstance(profiles, dict):
        raise WorkloadError(f'{path}: a Batsim workload has a list "jobs" and an object "profiles"')
    nodes = json_whole_of(values.get("nb_res"), 1, MOST)
    if nodes is None:
        raise WorkloadError(
            f'{path}: "nb_res" is {excerpt(values.get("nb_res")):.60}; expected the number of resources, 1 to {MOST:,}'
        )
    known = Profiles(profiles)
    logged = [_job(k, job, known) for k, job in enumerate(jobs, 1)]
    trace = Trace.of(Path(path).stem, "batsim", logged, ("cores",), notes=[NOTE])
    return replace(trace, platform=Platform([NodeGroup("node", nodes, {"cores": 1})]))


def is_batsim(values: object) -> bool:
    """Check whether JSON values are those of a Batsim workload, perhaps one with faults."""
    if not isinstance(values, dict):
        return False
    jobs = values.get("jobs")
    first = None
    if isinstance(jobs, list) and jobs:
        first = jobs[0]
    return "nb_res" in values or "profiles" in values or (isinstance(first, dict) and "subtime" in first)


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
    cores = None
    if "cores" in workload.resources:
        cores = workload.resources.index("cores")
    if (
        cores is None
        or (workload.request[:, cores] != 1).any()
        or workload.request.sum() != len(workload)
        or workload.chunks
    ):
        raise WorkloadError(f"{workload.name}: a Batsim workload holds only jobs that request one core per unit")
    rows = [workload.job(k) for k in range(len(workload))]
    asks = next((j for j in rows if any(getattr(j, name) for name in PLACE_FIELDS)), None)
    if asks is not None or any(q.nodes for q in workload.queues):
        who = "a queue with nodes of its own"
        if asks is not None:
            who = f"job {asks.id!r}"
        raise WorkloadError(f"{workload.name}: {who} asks for nodes, features or licences, which Batsim does not have")
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
    units = json_whole_of(res, 1, MOST)
    if units is None:
        return Logged(name, unusable=f"its res is {res!r:.60}; expected a whole number, 1 to {MOST:,}")
    submit, walltime = (_seconds(job.get(key)) for key in ("subtime", "walltime"))
    for key, value in (("subtime", submit), ("walltime", walltime)):
        if value is None and key in job:
            return Logged(name, unusable=f"its {key} is {job[key]!r:.60}; expected a number of seconds")
    profile = job.get("profile")
    runtime = profiles.runtime(profile)
    return Logged(
        id=name,
        submit=math.nan if submit is None else submit,
        runtime=runtime.seconds,
        walltime=math.nan if walltime is None else walltime,
        units=units,
        request={"cores": 1},
        unusable=runtime.reason(profile),
    )


class Runtime(NamedTuple):
    """The runtime of a profile, or why it has none.

    Parameters
    ----------
    seconds
        The runtime in s; NaN if there is none.
    profile, why
        The profile that is the reason, which may be a part of a composition, and what is wrong with it.
    """

    seconds: float
    profile: object = None
    why: str = ""

    def reason(self, asked: object) -> str:
        """Return why a job with the profile ``asked`` cannot be replayed; "" if it can."""
        if not self.why:
            return ""
        if asked == self.profile:
            return f"its profile {asked!r:.60} {self.why}"
        return f"its profile {asked!r:.60} contains the profile {self.profile!r:.60}, which {self.why}"


@dataclass
class Profiles:
    """The profiles of a workload, with the runtimes that do not depend on the simulated machine."""

    given: Mapping[str, Any]
    known: dict[str, Runtime] = field(default_factory=dict)

    def runtime(self, name: object, within: tuple[str, ...] = ()) -> Runtime:
        """Return the runtime of a profile. ``within``: compositions that contain it."""
        if not isinstance(name, str) or not isinstance(self.given.get(name), dict):
            return Runtime(math.nan, name, "is not among the profiles")
        if name not in self.known:
            runtime = self._of_profile(name, self.given[name], within)
            if name in within or len(within) > DEEPEST:
                return runtime
            self.known[name] = runtime
        return self.known[name]

    def _of_profile(self, name: str, profile: Mapping[str, Any], within: tuple[str, ...]) -> Runtime:
        kind = profile.get("type")
        if kind in DELAYS:
            delay = _seconds(profile.get("delay"))
            if delay is not None and delay >= 0:
                return Runtime(delay)
            return Runtime(math.nan, name, f"has the delay {profile.get('delay')!r:.60}; expected a number of seconds")
        if kind in (*SEQUENCES, *FORKS):
            if name in within or len(within) > DEEPEST:
                why = f"is a composition that contains itself or has more than {DEEPEST} levels; expected a tree"
                return Runtime(math.nan, name, why)
            return self._composition(name, profile, (*within, name))
        if kind not in ON_MACHINE:
            return Runtime(math.nan, name, f"is of the unknown type {kind!r:.60}; {EXPECTED}")
        why = f"is of type {kind!r:.60}: how long it takes depends on the simulated machine; {EXPECTED}"
        return Runtime(math.nan, name, why)

    def _composition(self, name: str, profile: Mapping[str, Any], within: tuple[str, ...]) -> Runtime:
        """Return the runtime of a sequence or a fork-join composition."""
        parts = next((profile[key] for key in PARTS if key in profile), None)
        if not isinstance(parts, list) or not parts:
            return Runtime(math.nan, name, f"has the parts {parts!r:.60}; expected a list {PARTS[0]!r} of profiles")
        seconds = []
        for part in parts:
            runtime_of_part = self.runtime(part, within)
            if runtime_of_part.why:
                return runtime_of_part
            seconds.append(runtime_of_part.seconds)
        if profile["type"] in FORKS:
            return Runtime(max(seconds))
        given = next((profile[key] for key in REPEATS if key in profile), 1)
        total = sum(seconds)
        repeat = json_whole_of(given, 1, MOST)
        if repeat is None:
            why = f"has {REPEATS[0]!r} {given!r:.60}; expected a whole number from 1 to {MOST:,}"
            return Runtime(math.nan, name, why)
        if total * repeat > LATEST:
            return Runtime(math.nan, name, f"takes more than {LATEST:,} s; expected a shorter sequence")
        return Runtime(total * repeat)


def _seconds(value: object) -> float | None:
    """Return a number of seconds (-1 for unknown is allowed); None for any other value."""
    seconds = json_number_of(value)
    if seconds is None:
        return None
    return float(seconds)
