"""The state of a machine from the JSON of PBS: ``qstat -f -F json`` (``-t`` for subjobs) and ``pbsnodes -av -F json``.

A unit of a job is a chunk of its ``select``; chunks that differ make a heterogeneous job. What a running job uses
is in its ``exec_vnode``. A node that is exclusively used has nothing free.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import tzinfo
from typing import Any

from ...errors import WrongValue
from ..files.numbers import json_whole_of, wrong
from ..formats.pbs import NAMES, amount_of, duration
from .arrays import most_listed, waiting_tasks
from .node_sets import NodeSets
from .pbs_fields import amounts, amounts_on, moment
from .pbs_requests import Nodes, bound, chunks_of, consumed, place_of, why_held
from .pbs_reservations import reservations_of
from .slurm_fields import of_job

YEAR = 365 * 86400
# values of "sharing" of a node; with default_excl a job that asks for place=shared would share it
NEVER_SHARED, ALWAYS_SHARED = ("force_excl", "force_exclhost", "default_excl", "default_exclhost"), "ignore_excl"
TAKES_JOBS = {
    "free",
    "job-busy",
    "job-exclusive",
    "job-sharing",
}  # any other word of a state, a new one too, forbids starts
STATES = {"down": "down", "stale": "down", "state-unknown": "down", "unresolvable": "down", "offline": "draining",
          "provisioning": "draining", "maintenance": "draining", "sleep": "down", "resv-exclusive": "reserved"}  # fmt: skip
Values = Mapping[str, Any]


def state_from_pbs(
    jobs: Values, nodes: Values, now: int | None, ewt: int, zone: tzinfo, reservations: str | None = None
) -> tuple[dict[str, Any], Counter[str]]:
    """Return the state as the values of a state file, and the numbers of jobs and reservations left out by reason.

    Parameters
    ----------
    jobs
        The values of ``qstat -f -F json``.
    nodes
        The values of ``pbsnodes -av -F json``.
    now
        Unix time in seconds; None: the timestamp of ``jobs``.
    ewt
        Expected waiting time of each queue in seconds.
    zone
        Time zone of the machine: PBS prints times such as "Fri Nov 11 17:57:05 2016".
    reservations
        The output of ``pbs_rstat -f``; None: not known.

    Raises
    ------
    WrongValue
        Data that are needed are missing or malformed.
    """
    given = jobs.get("timestamp")
    at = json_whole_of(given) if now is None else now
    if at is None and given is not None:
        raise wrong("timestamp", given, "seconds since 1970")
    if at is None:
        raise WrongValue("the time of the state is not known: there is no timestamp; expected --now SECONDS")
    listed = nodes.get("nodes") or {}
    capacity = {name: amounts(node.get("resources_available") or {}) for name, node in listed.items()}
    if not capacity:
        raise WrongValue("there are no nodes; expected the output of pbsnodes -av -F json")
    kinds = [r for r in NAMES.values() if r == "cores" or any(c.get(r) for c in capacity.values())]
    known = Nodes.of(listed)
    for kind in _numeric(jobs, known):
        kinds.append(kind)
        for name, has in known.has.items():
            capacity[name][kind] = amount_of(kind, has[kind]) if has.get(kind, "").isdecimal() else 0
    sets = NodeSets(listed)
    sharing = {name: str(node.get("sharing") or "") for name, node in listed.items()}
    sets.one_job = {name for name, word in sharing.items() if word in NEVER_SHARED}
    sets.always_shared = {name for name, word in sharing.items() if word == ALWAYS_SHARED}
    used: dict[str, Counter[str]] = {name: Counter() for name in capacity}
    limits: dict[str, int] = {}
    skipped: Counter[str] = Counter()
    reserved = reservations_of(reservations or "", capacity, at, zone, skipped)
    begun = {node for r in reserved if r["start"] <= at for node in r["nodes"]}
    running, waiting = [], []
    listed_tasks: list[int] = []
    for name, job in (jobs.get("Jobs") or {}).items():
        letter = job.get("job_state")
        if letter in ("R", "E", "S", "U") and job.get("exec_vnode") and job.get("array") != "True":
            with of_job(name):
                made_of_job = _running(name, job, listed, capacity, kinds, used, zone)
            if made_of_job["nodes"]:
                running.append(made_of_job)
            else:
                skipped["job that runs on no node of the list"] += 1
        elif letter in ("Q", "H", "W", "T", "B"):
            with of_job(name):
                waiting.extend(
                    _waiting(name, job, kinds, at, zone, sets, known, limits, skipped, capacity, listed_tasks)
                )
        else:
            skipped[f"job in state {letter}"] += 1
    sets.shared(waiting)
    on_node = Counter(node for job in running for node in job["nodes"])
    for job in running:
        for held in job["nodes"].values():
            held |= sets.of_a_job
    arrays = [
        {"name": array, "limit": limit, "running": sum(1 for job in running if _array(job["id"]) == array)}
        for array, limit in limits.items()
    ]
    queues = dict.fromkeys(
        [*(j["queue"] for j in waiting), *(j["queue"] for j in running), *(r["queue"] for r in reserved)]
    )
    made = [
        _node(name, node, {r: capacity[name].get(r, 0) for r in kinds}, used[name], name in begun)
        for name, node in listed.items()
    ]
    for node in made:
        jobs_there = on_node[node["name"]]
        node["capacity"] |= sets.capacity(node["name"], jobs_there)
        if node.get("free"):  # something is there that is no job of the list
            node["free"] |= sets.free_beside_others(node["name"], jobs_there)
    state = {
        "schema": "schedlab-state", "version": 1, "now": at, "source": "PBS",
        "queues": [{"name": name, "ewt": ewt} for name in queues], "nodes": made, "running": running, "waiting": waiting,
    }  # fmt: skip
    state |= {"arrays": arrays} if arrays else {}
    return state | ({} if reservations is None else {"reservations": reserved}), skipped


def _numeric(jobs: Values, nodes: Nodes) -> list[str]:
    """Return the resources beside cores, GPUs and memory of which waiting jobs ask for amounts on nodes."""
    found: dict[str, None] = {}
    for job in (jobs.get("Jobs") or {}).values():
        try:
            found |= dict.fromkeys(kind for words in chunks_of(job)[1] for kind in consumed(words, nodes))
        except WrongValue:  # it is held with this reason when it is read
            continue
    return list(found)


def _array(name: str) -> str:
    """Return the array of a subjob: ``3[].srv`` of ``3[7].srv``."""
    return re.sub(r"\[\d*\]", "[]", name, count=1)


def _node(name: str, node: Values, capacity: dict[str, int], used: Counter[str], begun: bool) -> dict[str, Any]:
    """Return a node; ``begun``: a known reservation has begun on it, which tells what is not free."""
    said = [word.strip() for word in str(node.get("state") or "").split(",") if word.strip()]
    words = [STATES.get(word, "draining") for word in said if word not in TAKES_JOBS]
    words.sort(key=lambda word: ("down", "draining", "reserved").index(word))
    state = next((word for word in words if not (begun and word == "reserved")), "up")
    assigned = node.get("resources_assigned") or {}
    taken = amounts(assigned) | {
        r: amount_of(r, str(n)) for r, n in assigned.items() if r in capacity and r not in NAMES
    }
    free = {r: max(0, capacity[r] - n) for r, n in taken.items() if r in capacity and n > used[r]}
    return {"name": name, "state": state, "capacity": capacity} | ({"free": free} if free else {})


def _walltime(job: Values) -> int:
    text = (job.get("Resource_List") or {}).get("walltime")
    return max(1, int(duration(str(text)))) if text else YEAR


def _texts(job: Values) -> dict[str, str]:
    found = {"user": str(job.get("Job_Owner") or "").partition("@")[0], "name": str(job.get("Job_Name") or "")}
    return {key: text for key, text in found.items() if text}


def _running(
    name: str, job: Values, nodes: Values, capacity: Mapping[str, Values], kinds: list[str],
    used: dict[str, Counter[str]], zone: tzinfo,
) -> dict[str, Any]:  # fmt: skip
    """Return a running job, and add what it uses."""
    holds = amounts_on(str(job["exec_vnode"]), capacity)
    for node, held in holds.items():
        whole = "exclusive" in str(nodes[node].get("state"))
        for r in kinds:
            left = max(0, capacity[node].get(r, 0) - used[node][r])
            held[r] = left if whole else min(held[r], left)
        used[node].update(held)
    start = moment(job, zone, "stime", "mtime", "qtime", "ctime") or 0
    return {
        "id": name, "submit": moment(job, zone, "ctime", "qtime") or start, "start": start, "walltime": _walltime(job),
        "queue": job.get("queue") or "default",
        "nodes": {node: {r: held[r] for r in kinds} for node, held in holds.items()},
    } | _texts(job)  # fmt: skip


def _waiting(
    name: str, job: Values, kinds: list[str], now: int, zone: tzinfo, sets: NodeSets, nodes: Nodes, limits: dict[str, int],
    skipped: Counter[str], capacity: Mapping[str, Mapping[str, int]], listed: list[int],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return a waiting job; one for each remaining subjob of a job array, as many as the machine may start.

    ``listed``: the subjobs of arrays that are listed so far; those of this job are added.
    """
    queue = str(job.get("queue") or "default")
    held = why_held(job)
    chunks: list[dict[str, Any]] = [{"units": 1, "request": {"cores": 1}}]
    try:
        chunks, words = chunks_of(job)
        chunks = bound(
            sets, name, queue, place_of(str((job.get("Resource_List") or {}).get("place") or "")), chunks, words, nodes
        )
    except WrongValue as e:
        held = held or str(e)
    for chunk in chunks:
        chunk["request"] = {r: n for r, n in chunk["request"].items() if n or r in kinds}
    made: dict[str, Any] = {
        "submit": moment(job, zone, "ctime", "qtime") or now, "walltime": _walltime(job),
        **(chunks[0] if len(chunks) == 1 else {"chunks": chunks}), "queue": queue,
    } | _texts(job)  # fmt: skip
    later = moment(job, zone, "Execution_Time")
    if later is not None and later > now:
        made["earliest_start"] = later
    if held:
        made["held"] = held
    if job.get("array") != "True":
        return [{"id": name} | made]
    left = str(job.get("array_indices_remaining") or "").strip("- ")
    cores = sum(each.get("cores", 0) for each in capacity.values())
    try:
        tasks = waiting_tasks(left, most_listed(cores, len(listed)))
    except WrongValue as e:
        return [{"id": name} | made | {"held": str(e)}]
    listed += tasks.indices
    if tasks.more:
        skipped[f"subjob of array {name} after the first {len(tasks.indices):,} that wait"] += tasks.more
    found = [{"id": name.replace("[]", f"[{k}]")} | made for k in tasks.indices]
    most_at_once = str(job.get("max_run_subjobs") or "0")
    limit = amount_of("max_run_subjobs", most_at_once) or tasks.limit
    if limit:
        limits[_array(name)] = limit
        found = [subjob | {"array": _array(name)} for subjob in found]
    return found
