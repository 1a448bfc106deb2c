"""The state of a machine from the JSON of Slurm: ``squeue --json`` with ``scontrol show nodes --json`` or ``sinfo -N --json``.

A unit of a job is what it has on one node: cores, memory, generic resources. Numbers are plain, or objects with ``set``,
``infinite`` and ``number`` (Slurm 23.02 and later); states are texts, or lists of texts. What a job asks for beyond amounts is in
``node_sets``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import WrongValue
from ...models.platform import MOST_CAPACITY
from ..formats.slurm_values import count, generic, generic_in, memory, tres
from .arrays import most_listed, waiting_tasks
from .hosts import hosts_of
from .node_sets import NodeSets
from .slurm_fields import job_words, number, of_job, text
from .slurm_nodes import RESERVED, SlurmNode, nodes_of
from .slurm_requests import amounts, bound, kinds_asked, not_modelled, resource, why_held
from .slurm_reservations import names_of, reservations_of

YEAR = 365 * 86400
LONGEST = 100 * YEAR  # of a limit
HOLDS_A_PLACE = {
    "RUNNING",
    "SUSPENDED",
    "COMPLETING",
    "CONFIGURING",
    "STOPPED",
}  # states that count for an array's limit
Values = Mapping[str, Any]
Made = dict[str, Any]


def state_from_slurm(
    jobs: Values, nodes: Values, now: int | None, ewt: int, reservations: Values | None = None
) -> tuple[Made, Counter[str]]:
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
    return _State(jobs.get("jobs") or [], nodes_of(nodes), at, ewt, reservations).made()


class _State:
    """The state that is being made."""

    def __init__(
        self, jobs: list[Values], nodes: dict[str, SlurmNode], now: int, ewt: int, reservations: Values | None
    ) -> None:
        self.jobs, self.nodes, self.now, self.ewt, self.reservations = jobs, nodes, now, ewt, reservations
        self.sets = NodeSets(nodes)
        self.kinds = kinds_asked(jobs)
        if any(node.generic.get("gpu") for node in nodes.values()):
            self.kinds.add("gpu")
        self.capacity = {name: self._capacity(node) for name, node in nodes.items()}
        self.used: dict[str, Counter[str]] = {name: Counter() for name in nodes}
        self.on_node: Counter[str] = Counter()  # running jobs
        self.skipped: Counter[str] = Counter()
        self.listed = 0  # tasks of arrays
        self.limits: dict[str, int] = {}  # array -> how many of its tasks may run at once

    def _capacity(self, node: SlurmNode) -> dict[str, int]:
        generic = {resource(kind): min(node.generic.get(kind, 0), MOST_CAPACITY) for kind in sorted(self.kinds)}
        return node.capacity | generic

    def made(self) -> tuple[Made, Counter[str]]:
        """Return the values of the state file, and what is left out."""
        listed = {
            name: {"capacity": self.capacity[name], "threads": node.has.get("threads_per_core", 1)}
            for name, node in self.nodes.items()
        }
        reserved = reservations_of(self.reservations or {}, listed, self.now, self.skipped)
        queue_of = _queues(reserved)
        for r in reserved:
            if r["start"] <= self.now:  # the nodes are up; the reservation tells what is not free
                for name in r["nodes"]:
                    self.nodes[name].words -= RESERVED
        running = []
        for job in self.jobs:
            if "RUNNING" in job_words(job.get("job_state")):
                with of_job(job.get("job_id")):
                    made = self._running(job) | queue_of(job)
                if made["nodes"]:
                    running.append(made)
                else:
                    self.skipped["job that runs on no node of the list"] += 1
        in_arrays = Counter(
            str(number(job.get("array_job_id")))
            for job in self.jobs
            if HOLDS_A_PLACE & {*job_words(job.get("job_state"))}
        )
        waiting = self._all_waiting(queue_of, [r["name"] for r in reserved])
        self.sets.shared(waiting)
        for job in running:
            for held in job["nodes"].values():
                held |= self.sets.of_a_job
        queues = dict.fromkeys(
            [*(j["queue"] for j in waiting), *(j["queue"] for j in running), *(r["queue"] for r in reserved)]
        )
        limits = {array: {"limit": n, "running": in_arrays[array]} for array, n in self.limits.items()}
        found = {
            "schema": "schedlab-state",
            "version": 1,
            "now": self.now,
            "source": "Slurm",
            "queues": [{"name": name, "ewt": self.ewt} for name in queues],
            "nodes": [self._node(name, node) for name, node in self.nodes.items()],
            "running": running,
            "waiting": waiting,
        }
        found |= {"arrays": [{"name": array} | n for array, n in limits.items()]} if limits else {}
        return found | ({} if self.reservations is None else {"reservations": reserved}), self.skipped

    def _all_waiting(self, queue_of: Callable[[Values], dict[str, str]], reservations: list[str]) -> list[Made]:
        waiting: list[Made] = []
        together: dict[int, list[Made]] = {}
        left = {name: self._left(name) for name in self.nodes}
        for job in self.jobs:
            states = job_words(job.get("job_state"))
            if "PENDING" in states:
                with of_job(job.get("job_id")):
                    made = self._waiting(job, left, reservations)
                    queue = queue_of(job)
                    made |= queue if "held" not in made or "held" not in queue else {}
                    leader = number(job.get("het_job_id"))
                    if leader:
                        made["id"] = _name(job)
                        offset = number(job.get("het_job_offset")) or 0
                        together.setdefault(leader, []).append({"offset": offset} | made)
                    else:
                        waiting.extend(self._tasks(job, made))
            elif "RUNNING" not in states:
                self.skipped[f"job in state {' '.join(states) or 'unknown'}"] += 1
        return [*waiting, *(_joined(leader, parts) for leader, parts in together.items())]

    def _left(self, name: str) -> dict[str, int]:
        """Return what is free on a node: neither of a running job nor allocated otherwise."""
        capacity, used = self.capacity[name], self.used[name]
        return {r: max(0, n - max(used[r], self._taken(name).get(r, 0))) for r, n in capacity.items()}

    def _taken(self, name: str) -> dict[str, int]:
        """Return what Slurm says is allocated on a node, by our names."""
        known = {"cores": "cores", "memory": "memory"} | {kind: resource(kind) for kind in self.kinds}
        taken = self.nodes[name].taken
        return {ours: n for theirs, ours in known.items() if (n := taken.get(theirs)) is not None}

    def _node(self, name: str, node: SlurmNode) -> Made:
        capacity, used = self.capacity[name], self.used[name]
        free = {
            r: max(0, min(capacity[r] - n, capacity[r] - used[r]))
            for r, n in self._taken(name).items()
            if n > used[r]  # jobs that end keep their nodes for a while
        }
        if node.completes or any(used[r] < n for r, n in self._taken(name).items()):
            free |= self.sets.free_beside_others(name, self.on_node[name])
        made = {"name": name, "state": node.state, "capacity": capacity | self.sets.capacity(name, self.on_node[name])}
        return made | ({"free": free} if free else {})

    def _running(self, job: Values) -> Made:
        """Return a running job, and add what it uses."""
        asked = {name: amounts for name, amounts in self._holds(job).items() if name in self.nodes}
        holds: dict[str, dict[str, int]] = {}
        for name, held in asked.items():
            known, used = self.capacity[name], self.used[name]
            holds[name] = {r: max(0, min(n, known[r] - used[r])) for r, n in held.items() if r in known}
            used.update(holds[name])
            self.on_node[name] += 1
        start = number(job.get("start_time")) or 0
        return {
            "id": _name(job), "submit": number(job.get("submit_time")) or start, "start": start,
            "walltime": _walltime(job), "queue": _queue(job), "nodes": holds,
        } | _texts(job)  # fmt: skip

    def _holds(self, job: Values) -> dict[str, dict[str, int]]:
        """Return node -> amounts that a running job holds, as allocated, else in equal parts."""
        listed = tres(text(job.get("tres_alloc_str")))
        gres = generic_in(listed)
        total = {"cores": number(job.get("cpus")) or 0}
        total |= {"cores": count(listed["cpu"])} if "cpu" in listed else {}
        total |= {"memory": int(memory(listed["mem"]).megabytes)} if "mem" in listed else {}
        total |= {resource(kind): n for kind, n in gres.items()}
        resources = job.get("job_resources") or {}
        inside = resources.get("nodes")
        parts = inside.get("allocation") if isinstance(inside, dict) else resources.get("allocated_nodes")
        holds: dict[str, dict[str, int]] = {}
        if parts and all("cpus" in each for each in parts):  # Slurm 24.05 and later
            for each in parts:
                megabytes = number((each.get("memory") or {}).get("allocated")) or 0
                holds[str(each["name"])] = {"cores": number(each["cpus"]["count"]) or 0, "memory": megabytes}
        elif parts and all(_cores_of(each) for each in parts):
            for each in parts:
                name = str(each.get("nodename"))
                threads = self.nodes[name].has.get("threads_per_core", 1) if name in self.nodes else 1
                holds[name] = {"cores": _cores_of(each) * threads, "memory": number(each.get("memory_allocated")) or 0}
            if sum(held["cores"] for held in holds.values()) != total["cores"]:
                holds = {}
        names = list(holds) or hosts_of(text(job.get("nodes")))
        holds = holds or {name: {} for name in names}
        detail = job.get("gres_detail") or []
        if isinstance(detail, list) and len(detail) == len(names):  # one text for each node
            for name, each in zip(names, detail, strict=True):
                holds[name] |= {resource(kind): n for kind, n in generic(text(each)).items()}
        known = {r for held in holds.values() for r in held}
        return _with_parts(holds, names, {r: n for r, n in total.items() if r not in known})

    def _waiting(self, job: Values, left: Mapping[str, Mapping[str, int]], reservations: list[str]) -> Made:
        """Return a pending job, or what the tasks of an array have in common."""
        units = max(1, number(job.get("node_count")) or 1)
        held = why_held(job, reservations) or not_modelled(job, units)
        request, queue = {"cores": 1}, _queue(job)
        try:
            request = amounts(job, units)
            inside, queue = bound(self.sets, job, _name(job), units, request, self.nodes, left)
            request |= inside
        except WrongValue as e:
            held = held or str(e)
        eligible = number(job.get("eligible_time")) or 0
        made: Made = {
            "submit": number(job.get("submit_time")) or self.now, "walltime": _walltime(job), "units": units,
            "request": request, "queue": queue,
        } | _texts(job)  # fmt: skip
        made |= {"earliest_start": eligible} if eligible > self.now else {}
        return made | ({"held": held} if held else {})

    def _tasks(self, job: Values, made: Made) -> list[Made]:
        """Return a pending job; one for each task of a job array, as many as the machine may start."""
        array, limit = number(job.get("array_job_id")), number(job.get("array_max_tasks"))
        listed = text(job.get("array_task_string"))
        if not listed:
            found = [{"id": _name(job)} | made]
        else:
            array = array or number(job.get("job_id")) or 0
            cores = sum(node.capacity["cores"] for node in self.nodes.values())
            try:
                tasks = waiting_tasks(listed, most_listed(cores, self.listed))
            except WrongValue as e:
                return [{"id": _name(job)} | made | {"held": str(e)}]
            self.listed += len(tasks.indices)
            limit = tasks.limit or limit
            if tasks.more:
                self.skipped[f"task of array {array} after the first {len(tasks.indices):,} that wait"] += tasks.more
            if tasks.cut:
                why = "whose list of tasks was cut by squeue (SLURM_BITSTR_LEN=0 prints it whole): the tasks after the cut"
                self.skipped[f"array {why}"] += 1
            found = [{"id": f"{array}_{task}"} | made for task in tasks.indices]
        if array and limit:
            self.limits[str(array)] = min(limit, self.limits.get(str(array), limit))
            found = [task | {"array": str(array)} for task in found]
        return found


def _queue(job: Values) -> str:
    return (text(job.get("partition")) or "default").split(",")[0]


def _queues(reserved: list[Made]) -> Callable[[Values], dict[str, str]]:
    """Return a function that gives the queue of a job in a reservation, and holds a job in another one."""
    queues = {r["name"]: r["queue"] for r in reserved}

    def queue_of(job: Values) -> dict[str, str]:
        names = names_of(job)
        known = [name for name in names if name in queues]
        if known:
            return {"queue": queues[known[0]]}
        return {"held": f"in reservation {names[0]}"} if names and "PENDING" in job_words(job.get("job_state")) else {}

    return queue_of


def _joined(leader: int, parts: list[Made]) -> Made:
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


def _name(job: Values) -> str:
    array, task = number(job.get("array_job_id")), number(job.get("array_task_id"))
    return f"{array}_{task}" if array and task is not None else str(job["job_id"])


def _texts(job: Values) -> dict[str, str]:
    found = {"user": text(job.get("user_name")), "name": text(job.get("name"))}
    return {key: value for key, value in found.items() if value}


def _walltime(job: Values) -> int:
    """Return the limit of a job in seconds; a year if there is none."""
    minutes = number(job.get("time_limit"))
    return YEAR if not minutes else min(max(60 * minutes, 1), LONGEST)


def _cores_of(node: Values) -> int:
    """Return the number of allocated cores in an entry of ``allocated_nodes`` (before Slurm 24.05); 0 if it is not known."""
    sockets = node.get("sockets")
    cores = [socket.get("cores") for socket in sockets.values()] if isinstance(sockets, dict) else []
    return sum(
        str(word).lower().startswith("alloc") for each in cores if isinstance(each, dict) for word in each.values()
    )


def _with_parts(
    holds: dict[str, dict[str, int]], names: list[str], total: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    """Add totals in equal parts; the first nodes get one more where they do not divide."""
    for name_of_resource, amount in total.items():
        for k, name in enumerate(names):
            holds[name][name_of_resource] = amount // len(names) + (k < amount % len(names))
    return holds
