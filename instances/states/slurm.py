"""The state of a machine from the JSON of Slurm: ``squeue --json`` with ``scontrol show nodes --json`` or ``sinfo -N --json``.

A unit of a job is what it has on one node: cores, memory, GPUs. Numbers are plain, or objects with ``set``, ``infinite`` and
``number`` (Slurm 23.02 and later); states are texts, or lists of texts. A partition without all nodes is a resource
``in NAME``, of which each unit of its jobs requests 1 and each of its nodes has plenty.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...errors import WrongValue
from .hosts import hosts_of, numbers
from .slurm_fields import gpus, number, tres, words
from .slurm_reservations import names_of, reservations_of

YEAR = 365 * 86400
PLENTY = 10**6  # of the resource of a partition, on each of its nodes
DOWN = {"DOWN", "FAIL", "FAILING", "ERROR", "UNKNOWN", "FUTURE", "NOT_RESPONDING", "NO_RESPOND", "POWERED_DOWN",
        "POWERING_DOWN", "POWERING_UP", "INVALID", "INVALID_REG"}  # fmt: skip
DRAINING = {"DRAIN", "DRAINED", "DRAINING", "MAINT", "MAINTENANCE", "REBOOT_REQUESTED", "REBOOT_ISSUED", "BLOCKED"}
RESERVED = {"RESERVED", "MAINT", "MAINTENANCE"}  # states of the nodes of reservations that have begun
HELD = ("Dependency", "DependencyNeverSatisfied", "JobHeldUser", "JobHeldAdmin", "JobArrayTaskLimit", "Reservation",
        "ReqNodeNotAvail", "BeginTime", "PartitionDown", "PartitionInactive", "AssociationJobLimit")  # fmt: skip
Values = Mapping[str, Any]


def state_from_slurm(
    jobs: Values, nodes: Values, now: int | None, ewt: int, reservations: Values | None = None
) -> tuple[dict[str, Any], Counter[str]]:
    """Return the state as the values of a state file, and the numbers of jobs and reservations left out by reason.

    Parameters
    ----------
    jobs
        The values of ``squeue --json``.
    nodes
        The values of ``scontrol show nodes --json`` or ``sinfo -N --json``.
    now
        Unix time in seconds; None: the time of the last update in ``jobs``.
    ewt
        Expected waiting time of each queue in seconds.
    reservations
        The values of ``scontrol show reservations --json``; None: not known.

    Raises
    ------
    WrongValue
        Data that are needed are missing or malformed.
    """
    at = now if now is not None else number(jobs.get("last_update"))
    if at is None:
        raise WrongValue("the time of the state is not known: squeue --json has no last_update; expected --now SECONDS")
    listed = _nodes(nodes)
    partitions = _partitions(listed.values())
    skipped: Counter[str] = Counter()
    reserved = reservations_of(reservations or {}, listed, at, skipped)
    queue_of = _queues(reserved)
    for r in reserved:
        if r["start"] <= at:  # the nodes are up; the reservation tells what is not free
            for name in r["nodes"]:
                listed[name]["state"] = [word for word in listed[name]["state"] if word not in RESERVED]
    running, waiting = [], list[dict[str, Any]]()
    together: dict[int, list[dict[str, Any]]] = {}
    used: dict[str, Counter[str]] = {name: Counter() for name in listed}
    for job in jobs.get("jobs", []):
        states = words(job.get("job_state"))
        if "RUNNING" in states:
            running.append(_running(job, listed, used) | queue_of(job))
        elif "PENDING" in states:
            made = [each | queue_of(job) for each in _waiting(job, partitions, at)]
            leader = number(job.get("het_job_id"))
            if leader:
                together.setdefault(leader, []).append({"offset": number(job.get("het_job_offset")) or 0} | made[0])
            else:
                waiting.extend(made)
        else:
            skipped[f"job in state {' '.join(states) or 'unknown'}"] += 1
    waiting.extend(_joined(leader, parts) for leader, parts in together.items())
    private = [r["queue"] for r in reserved]
    queues = dict.fromkeys([*(j["queue"] for j in waiting), *(j["queue"] for j in running), *private])
    found = {
        "schema": "schedlab-state",
        "version": 1,
        "now": at,
        "source": "Slurm",
        "queues": [{"name": name, "ewt": ewt} for name in queues],
        "nodes": [_node(node, used[name], partitions) for name, node in listed.items()],
        "running": running,
        "waiting": waiting,
    } | ({} if reservations is None else {"reservations": reserved})
    return found, skipped


def _nodes(values: Values) -> dict[str, dict[str, Any]]:
    """Return name -> capacity, allocated amounts (None: unknown), state, partitions."""
    found: dict[str, dict[str, Any]] = {}
    for each in values.get("nodes", []):
        capacity = {"cores": number(each.get("cpus")) or 0, "memory": number(each.get("real_memory")) or 0}
        taken = {"cores": number(each.get("alloc_cpus")), "memory": number(each.get("alloc_memory"))}
        capacity["gpus"], taken["gpus"] = gpus(each.get("gres") or ""), gpus(each.get("gres_used") or "")
        found[each["name"]] = {
            "name": each["name"],
            "capacity": capacity,
            "taken": taken,
            "threads": number(each.get("threads")) or 1,
            "state": words(each.get("state")),
            "partitions": set(each.get("partitions") or ()),
        }
    for each in values.get("sinfo", []):
        names = each["nodes"]["nodes"]
        cpus, memory, gres = each["cpus"], each["memory"], each.get("gres") or {}
        for name in names:
            taken = {
                "cores": cpus.get("allocated"),
                "memory": memory.get("allocated"),
                "gpus": gpus(gres.get("used") or ""),
            }
            entry = {
                "name": name,
                "capacity": {
                    "cores": cpus["maximum"],
                    "memory": memory["maximum"],
                    "gpus": gpus(gres.get("total") or ""),
                },
                "taken": taken if len(names) == 1 else {},
                "state": words(each["node"]["state"]),
                "partitions": set(),
            }
            found.setdefault(name, entry)["partitions"].add(each["partition"]["name"])
    if not found:
        raise WrongValue("there are no nodes; expected the output of scontrol show nodes --json or sinfo -N --json")
    if not any(node["capacity"]["gpus"] for node in found.values()):
        for node in found.values():
            del node["capacity"]["gpus"]
    return found


def _queues(reserved: list[dict[str, Any]]) -> Callable[[Values], dict[str, str]]:
    """Return a function that gives the queue of a job in a reservation, and holds a job in another one."""
    queues = {r["name"]: r["queue"] for r in reserved}

    def queue_of(job: Values) -> dict[str, str]:
        names = names_of(job)
        known = [name for name in names if name in queues]
        if known:
            return {"queue": queues[known[0]]}
        return {"held": f"in reservation {names[0]}"} if names and "PENDING" in words(job.get("job_state")) else {}

    return queue_of


def _joined(leader: int, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the pending components of a heterogeneous job as one job with chunks, in the order of their offsets."""
    parts = sorted(parts, key=lambda part: int(part["offset"]))
    made = parts[0] | {
        "id": str(leader),
        "submit": min(part["submit"] for part in parts),
        "walltime": max(part["walltime"] for part in parts),
        "chunks": [{"units": part["units"], "request": part["request"]} for part in parts],
    }
    later = [part["earliest_start"] for part in parts if "earliest_start" in part]
    made |= {"earliest_start": max(later)} if later else {}
    held = [part["held"] for part in parts if "held" in part]
    made |= {"held": held[0]} if held else {}
    return {key: value for key, value in made.items() if key not in ("offset", "units", "request")}


def _partitions(nodes: Iterable[Values]) -> set[str]:
    """Return the partitions that lack some of the nodes."""
    listed = [node["partitions"] for node in nodes]
    return {name for each in listed for name in each if not all(name in other for other in listed)}


def _node(node: Values, used: Counter[str], partitions: set[str]) -> dict[str, Any]:
    words = set(node["state"])
    state = "down" if words & DOWN else "draining" if words & DRAINING else "reserved" if "RESERVED" in words else "up"
    capacity = dict(node["capacity"])
    free = {
        r: max(0, min(capacity[r] - taken, capacity[r] - used[r]))
        for r, taken in node["taken"].items()
        if taken is not None and r in capacity and taken > used[r]  # jobs that end keep their nodes for a while
    }
    inside = {f"in {name}": PLENTY for name in sorted(node["partitions"] & partitions)}
    made = {"name": node["name"], "state": state, "capacity": capacity | inside}
    return made | ({"free": free} if free else {})


def _name(job: Values) -> str:
    array, task = number(job.get("array_job_id")), number(job.get("array_task_id"))
    return f"{array}_{task}" if array and task is not None else str(job["job_id"])


def _texts(job: Values) -> dict[str, str]:
    found = {"user": job.get("user_name") or "", "name": job.get("name") or ""}
    return {key: text for key, text in found.items() if text}


def _walltime(job: Values) -> int:
    """Return the limit of a job in seconds; a year if there is none."""
    minutes = number(job.get("time_limit"))
    return YEAR if not minutes else 60 * minutes


def _running(job: Values, nodes: Values, used: dict[str, Counter[str]]) -> dict[str, Any]:
    """Return a running job, and add what it uses."""
    holds = {name: amounts for name, amounts in _holds(job).items() if name in nodes}
    for name, amounts in holds.items():
        known = nodes[name]["capacity"]
        holds[name] = {r: min(n, known[r] - used[name][r]) for r, n in amounts.items() if r in known}
        used[name].update(holds[name])
    start = number(job.get("start_time")) or 0
    queue = (job.get("partition") or "default").split(",")[0]
    return {
        "id": _name(job), "submit": number(job.get("submit_time")) or start, "start": start, "walltime": _walltime(job),
        "queue": queue, "nodes": holds,
    } | _texts(job)  # fmt: skip


def _holds(job: Values) -> dict[str, dict[str, int]]:
    """Return node -> amounts that a running job holds, as allocated, else in equal parts."""
    total = tres(job.get("tres_alloc_str") or "")
    resources = job.get("job_resources") or {}
    inside = resources.get("nodes")
    listed = inside.get("allocation") if isinstance(inside, dict) else resources.get("allocated_nodes")
    if listed and all("cpus" in each for each in listed):  # Slurm 24.05 and later
        names = [each["name"] for each in listed]
        holds = {each["name"]: {"cores": int(each["cpus"]["count"])} for each in listed}
        for each in listed:
            memory = (each.get("memory") or {}).get("allocated")
            holds[each["name"]]["memory"] = int(memory if memory is not None else 0)
        return _with_parts(holds, names, {"gpus": total.get("gpus", 0)})
    names = hosts_of(job.get("nodes") or "")
    return _with_parts({name: {} for name in names}, names, {"cores": number(job.get("cpus")) or 0} | total)


def _with_parts(
    holds: dict[str, dict[str, int]], names: list[str], total: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    """Add totals in equal parts; the first nodes get one more where they do not divide."""
    for resource, amount in total.items():
        for k, name in enumerate(names):
            holds[name][resource] = amount // len(names) + (k < amount % len(names))
    return holds


def _waiting(job: Values, partitions: set[str], now: int) -> list[dict[str, Any]]:
    """Return a pending job; one for each task of a job array."""
    units = max(1, number(job.get("node_count")) or 1)
    total = {"cores": number(job.get("cpus")) or units} | tres(job.get("tres_req_str") or "")
    request = {resource: -(-amount // units) for resource, amount in total.items()}
    queue = (job.get("partition") or "default").split(",")[0]
    if queue in partitions:
        request[f"in {queue}"] = 1
    reason, eligible = job.get("state_reason") or "", number(job.get("eligible_time")) or 0
    made = {
        "submit": number(job.get("submit_time")) or now, "walltime": _walltime(job), "units": units,
        "request": request, "queue": queue,
    } | _texts(job)  # fmt: skip
    if eligible > now:
        made["earliest_start"] = eligible
    if reason.startswith(HELD) or (number(job.get("priority")) == 0 and job.get("hold")):
        made["held"] = reason or "held"
    tasks = re.sub(r"%\d+$", "", job.get("array_task_string") or "")
    if not tasks:
        return [{"id": _name(job)} | made]
    array = number(job.get("array_job_id")) or job["job_id"]
    return [{"id": f"{array}_{task}"} | made for task in numbers(tasks)]
