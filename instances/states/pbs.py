"""The state of a machine from the JSON of PBS: ``qstat -f -F json`` (``-t`` for subjobs) and ``pbsnodes -av -F json``.

A unit of a job is a chunk of its ``select``; chunks that differ make a heterogeneous job. What a running job uses
is in its ``exec_vnode``. A node that is exclusively used has nothing free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import tzinfo
from typing import Any

from ...errors import WrongValue
from ..formats.pbs import NAMES, duration, geometry
from .hosts import numbers
from .pbs_fields import amounts, amounts_on, moment
from .pbs_reservations import reservations_of

YEAR = 365 * 86400
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
    at = now if now is not None else jobs.get("timestamp")
    if at is None:
        raise WrongValue("the time of the state is not known: there is no timestamp; expected --now SECONDS")
    listed = nodes.get("nodes") or {}
    capacity = {name: amounts(node.get("resources_available") or {}) for name, node in listed.items()}
    if not capacity:
        raise WrongValue("there are no nodes; expected the output of pbsnodes -av -F json")
    kinds = [r for r in NAMES.values() if r == "cores" or any(c.get(r) for c in capacity.values())]
    used: dict[str, Counter[str]] = {name: Counter() for name in capacity}
    skipped: Counter[str] = Counter()
    reserved = reservations_of(reservations or "", capacity, at, zone, skipped)
    begun = {node for r in reserved if r["start"] <= at for node in r["nodes"]}
    running, waiting = [], []
    for name, job in (jobs.get("Jobs") or {}).items():
        letter = job.get("job_state")
        if letter in ("R", "E", "S", "U") and job.get("exec_vnode") and job.get("array") != "True":
            running.append(_running(name, job, listed, capacity, kinds, used, zone))
        elif letter in ("Q", "H", "W", "T", "B"):
            waiting.extend(_waiting(name, job, kinds, at, zone))
        else:
            skipped[f"job in state {letter}"] += 1
    queues = dict.fromkeys(
        [*(j["queue"] for j in waiting), *(j["queue"] for j in running), *(r["queue"] for r in reserved)]
    )
    made = [
        _node(name, node, {r: capacity[name].get(r, 0) for r in kinds}, used[name], name in begun)
        for name, node in listed.items()
    ]
    return {
        "schema": "schedlab-state", "version": 1, "now": at, "source": "PBS",
        "queues": [{"name": name, "ewt": ewt} for name in queues], "nodes": made, "running": running, "waiting": waiting,
    } | ({} if reservations is None else {"reservations": reserved}), skipped  # fmt: skip


def _node(name: str, node: Values, capacity: dict[str, int], used: Counter[str], begun: bool) -> dict[str, Any]:
    """Return a node; ``begun``: a known reservation has begun on it, which tells what is not free."""
    words = [STATES[word.strip()] for word in str(node.get("state") or "").split(",") if word.strip() in STATES]
    state = next((word for word in words if not (begun and word == "reserved")), "up")
    taken = amounts(node.get("resources_assigned") or {})
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
            left = capacity[node].get(r, 0) - used[node][r]
            held[r] = left if whole else min(held[r], left)
        used[node].update(held)
    start = moment(job, zone, "stime", "mtime", "qtime", "ctime") or 0
    return {
        "id": name, "submit": moment(job, zone, "ctime", "qtime") or start, "start": start, "walltime": _walltime(job),
        "queue": job.get("queue") or "default",
        "nodes": {node: {r: held[r] for r in kinds} for node, held in holds.items()},
    } | _texts(job)  # fmt: skip


def _waiting(name: str, job: Values, kinds: list[str], now: int, zone: tzinfo) -> list[dict[str, Any]]:
    """Return a waiting job; one for each remaining subjob of a job array."""
    listed = {f"Resource_List.{key}": str(value) for key, value in (job.get("Resource_List") or {}).items()}
    chunks: list[dict[str, Any]] = [
        {"units": max(1, c.units), "request": {r: n for r, n in c.request.items() if n or r in kinds}}
        for c in geometry(listed)
    ]
    made: dict[str, Any] = {
        "submit": moment(job, zone, "ctime", "qtime") or now, "walltime": _walltime(job),
        **(chunks[0] if len(chunks) == 1 else {"chunks": chunks}), "queue": job.get("queue") or "default",
    } | _texts(job)  # fmt: skip
    later = moment(job, zone, "Execution_Time")
    if later is not None and later > now:
        made["earliest_start"] = later
    if job.get("job_state") in ("H", "T") or job.get("Hold_Types", "n") != "n":
        made["held"] = f"held ({job.get('Hold_Types', 'n')})"
    if job.get("array") != "True":
        return [{"id": name} | made]
    left = str(job.get("array_indices_remaining") or "")
    return [{"id": name.replace("[]", f"[{k}]")} | made for k in (numbers(left) if left.strip("- ") else [])]
