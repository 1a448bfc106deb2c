"""The state of a machine from the JSON of Slurm: ``squeue --json`` with ``scontrol show nodes --json`` or ``sinfo -N --json``.

A unit of a job is what it has on one node: cores, memory, GPUs. Numbers are plain, or objects with ``set``, ``infinite`` and
``number`` (Slurm 23.02 and later); states are texts, or lists of texts. A partition without all nodes is a resource
``in NAME``, of which each unit of its jobs requests 1 and each of its nodes has plenty.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import WrongValue
from .hosts import hosts_of, numbers

YEAR = 365 * 86400
PLENTY = 10**6  # of the resource of a partition, on each of its nodes
DOWN = {"DOWN", "FAIL", "FAILING", "ERROR", "UNKNOWN", "FUTURE", "NOT_RESPONDING", "NO_RESPOND", "POWERED_DOWN",
        "POWERING_DOWN", "POWERING_UP", "INVALID", "INVALID_REG"}  # fmt: skip
DRAINING = {"DRAIN", "DRAINED", "DRAINING", "MAINT", "MAINTENANCE", "REBOOT_REQUESTED", "REBOOT_ISSUED", "BLOCKED"}
HELD = ("Dependency", "DependencyNeverSatisfied", "JobHeldUser", "JobHeldAdmin", "JobArrayTaskLimit", "Reservation",
        "ReqNodeNotAvail", "BeginTime", "PartitionDown", "PartitionInactive", "AssociationJobLimit")  # fmt: skip
MEMORY = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}
Values = Mapping[str, Any]


def number(value: Any) -> int | None:
    """Return a number of Slurm; None if it is not set or infinite.

    Examples
    --------
    >>> number({"set": True, "infinite": False, "number": 60}), number({"set": False, "number": 0}), number(7)
    (60, None, 7)
    """
    if isinstance(value, dict):
        known = value.get("set") and not value.get("infinite")
        return number(value.get("number")) if known else None
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def tres(text: str) -> dict[str, int]:
    """Return cores, memory in MB and generic resources of a text of trackable resources.

    Examples
    --------
    >>> tres("cpu=4,mem=4G,node=1,billing=4,gres/gpu=2,gres/gpu:a100=2")
    {'cores': 4, 'memory': 4096, 'gpus': 2}
    """
    found = {}
    for name, amount in (pair.split("=", 1) for pair in text.split(",") if "=" in pair):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)[nc]?", amount)
        if match is None:
            continue
        if name == "cpu":
            found["cores"] = int(float(match[1]))
        elif name == "mem":
            found["memory"] = int(float(match[1]) * MEMORY[match[2] or "M"])
        elif name == "gres/gpu":
            found["gpus"] = int(float(match[1]))
    return found


def gpus(text: str) -> int:
    """Return the number of GPUs in a text of generic resources.

    Examples
    --------
    >>> gpus("tmpsize:7T,gpu:l40s:4(S:0-1),gpu:2")
    6
    """
    return sum(int(n) for n in re.findall(r"(?:^|,)gpu(?::[^:,()]+)?:(\d+)(?=$|[,(])", text))


def state_from_slurm(jobs: Values, nodes: Values, now: int | None, ewt: int) -> tuple[dict[str, Any], Counter[str]]:
    """Return the state as the values of a state file, and the numbers of jobs left out by reason.

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
    running, waiting = [], []
    used: dict[str, Counter[str]] = {name: Counter() for name in listed}
    for job in jobs.get("jobs", []):
        states = _words(job.get("job_state"))
        if "RUNNING" in states:
            running.append(_running(job, listed, used))
        elif "PENDING" in states:
            waiting.extend(_waiting(job, partitions, at))
        else:
            skipped[f"state {' '.join(states) or 'unknown'}"] += 1
    queues = dict.fromkeys([*(j["queue"] for j in waiting), *(j["queue"] for j in running)])
    found = {
        "schema": "schedlab-state",
        "version": 1,
        "now": at,
        "source": "Slurm",
        "queues": [{"name": name, "ewt": ewt} for name in queues],
        "nodes": [_node(node, used[name], partitions) for name, node in listed.items()],
        "running": running,
        "waiting": waiting,
    }
    return found, skipped


def _words(value: Any) -> list[str]:
    """Return the words of a state, which is a list or a text such as "IDLE+DRAIN"."""
    words = value if isinstance(value, list) else re.split(r"[+ ]", str(value or ""))
    return [str(word).upper().rstrip("*~#!%$@^-") for word in words if word]


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
            "state": _words(each.get("state")),
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
                "state": _words(each["node"]["state"]),
                "partitions": set(),
            }
            found.setdefault(name, entry)["partitions"].add(each["partition"]["name"])
    if not found:
        raise WrongValue("there are no nodes; expected the output of scontrol show nodes --json or sinfo -N --json")
    if not any(node["capacity"]["gpus"] for node in found.values()):
        for node in found.values():
            del node["capacity"]["gpus"]
    return found


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
