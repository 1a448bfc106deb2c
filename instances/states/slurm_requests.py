"""What a pending job of Slurm asks for: amounts on each node, its nodes, and what forbids a start now.

A job starts only if all that it asks for is understood: what is not, holds it, and the reason is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import WrongValue
from ...models.platform import MOST_CAPACITY
from ..formats.slurm_values import count, generic, generic_in, memory, tres
from .hosts import hosts_of
from .node_sets import NodeSets
from .slurm_fields import job_words, names, number, text
from .slurm_nodes import SlurmNode

Values = Mapping[str, Any]
MAY_START = {"", "none", "resources", "priority"}  # pending reasons; with any other, Slurm does not start the job
GPUS = "gpus"
SIZES = ("sockets_per_node", "cores_per_socket", "threads_per_core")
NOT_EXCLUSIVE = {"no", "false", "0"}
SHOWN = 60  # characters of a part of a reason


def kinds_asked(jobs: Sequence[Values]) -> set[str]:
    """Return the generic resources that pending jobs ask for, by name or by name and type, other than GPUs of any type."""
    asked: set[str] = set()
    for job in jobs:
        if "PENDING" in job_words(job.get("job_state")):
            try:
                asked.update(kind for source in _sources(job) for kind in source)
            except WrongValue:  # it is held with this reason when its amounts are read
                continue
    return asked - {"gpu"}


def resource(kind: str) -> str:
    """Return our name of a generic resource.

    >>> [resource(kind) for kind in ("gpu", "gpu:a100", "shard")]
    ['gpus', 'gpus a100', 'shard']
    """
    name, _, of_type = kind.partition(":")
    return " ".join(filter(None, (GPUS if name == "gpu" else name, of_type)))


def _sources(job: Values) -> tuple[dict[str, int], ...]:
    """Return the generic resources of a job by way of asking: in all, per node, per job, per task, per socket."""
    total = generic_in(tres(text(job.get("tres_req_str"))))
    ways = ("tres_per_node", "tres_per_job", "tres_per_task", "tres_per_socket")
    return (total, *(generic(text(job.get(way))) for way in ways))


def amounts(job: Values, units: int) -> dict[str, int]:
    """Return what a pending job asks for on each of its ``units`` nodes. Raises WrongValue."""
    asked = tres(text(job.get("tres_req_str")))
    cores = _counted("cpu", asked["cpu"]) if "cpu" in asked else number(job.get("cpus")) or units
    on_node = {"cores": max(-(-cores // units), number(job.get("minimum_cpus_per_node")) or 1)}
    megabytes = memory(asked["mem"]).megabytes if "mem" in asked else 0.0
    on_node["memory"] = -(-int(-(-megabytes // 1)) // units)
    per_node, per_cpu = number(job.get("memory_per_node")) or 0, number(job.get("memory_per_cpu")) or 0
    if "mem" not in asked:
        on_node["memory"] = max(per_node, per_cpu * on_node["cores"])
    gres = _gres_on_node(job, units)
    for kind, each in _per_gres(job.get("cpus_per_tres")).items():
        on_node["cores"] = max(on_node["cores"], each * gres.get(kind, 0))
    for kind, each in _per_gres(job.get("memory_per_tres")).items():
        on_node["memory"] = max(on_node["memory"], each * gres.get(kind, 0))
    on_node |= {resource(kind): amount for kind, amount in gres.items()}
    too_much = next((name for name, amount in on_node.items() if amount > MOST_CAPACITY), None)
    if too_much is not None:
        raise WrongValue(f"{on_node[too_much]:,} {too_much} on a node are more than any machine has")
    return {name: amount for name, amount in on_node.items() if amount or "mem" in asked or name != "memory"}


def _counted(name: str, amount: str) -> int:
    try:
        return count(amount)
    except WrongValue as e:
        raise WrongValue(f"{name} of tres_req_str is {e}") from None


def _per_gres(value: Any) -> dict[str, int]:
    """Return what a job gets per generic resource; the kind is with or without its type."""
    return generic(text(value))


def _gres_on_node(job: Values, units: int) -> dict[str, int]:
    """Return the generic resources of a job on each node: the most that any way of asking gives."""
    total, per_node, per_job, per_task, per_socket = _sources(job)
    tasks = number(job.get("tasks_per_node")) or -(-(number(job.get("tasks")) or 1) // units)
    sockets = number(job.get("sockets_per_node")) or 1
    found: dict[str, int] = {}
    for source, factor, parts in (
        (total, 1, units), (per_node, 1, 1), (per_job, 1, units), (per_task, tasks, 1), (per_socket, sockets, 1),
    ):  # fmt: skip
        for kind, amount in source.items():
            found[kind] = max(found.get(kind, 0), -(-amount * factor // parts))
    for name in {kind.partition(":")[0] for kind in found}:
        of_types = sum(amount for kind, amount in found.items() if kind.startswith(f"{name}:"))
        found[name] = max(found.get(name, 0), of_types)
    return found


def takes_whole_nodes(job: Values) -> bool:
    """Return whether a job shares its nodes with no other job (``--exclusive``), or with those of its user alone."""
    exclusive = job.get("exclusive")
    words = [word.lower() for word in names(exclusive)] if not isinstance(exclusive, bool) else ["true"] * exclusive
    shared = [word.lower() for word in names(job.get("shared"))]
    return bool(set(words) - NOT_EXCLUSIVE) or bool({"none", "user", "mcs", "topo"} & set(shared))


def why_held(job: Values, known_reservations: Sequence[str]) -> str | None:
    """Return why a pending job must not start now; None if nothing forbids it."""
    words, reason = job_words(job.get("job_state")), text(job.get("state_reason")).strip("()")
    if reason.lower() == "reservation" and any(name in known_reservations for name in names(job.get("resv_name"))):
        reason = ""  # its queue is private to that reservation
    if reason.lower() not in MAY_START:
        return reason
    others = [word for word in words if word != "PENDING"]
    if others:
        return f"its state is {'+'.join(words)}"
    if job.get("hold") is True or number(job.get("priority")) == 0:
        return "JobHeld: its priority is 0"
    if re.search("unfulfilled|failed", text(job.get("dependency"))):
        return "Dependency"
    return None


def not_modelled(job: Values, units: int) -> str | None:
    """Return what a pending job asks for that cannot be represented; None if there is nothing."""
    for name, what in (
        ("licenses", "licences, whose free number is not known"),
        ("burst_buffer", "a burst buffer"),
        ("cluster_features", "features of clusters"),
    ):
        if text(job.get(name)):
            return f"asks for {what}: {text(job.get(name))[:SHOWN]}"
    for name in ("core_spec", "thread_spec"):
        if number(job.get(name)):
            return f"asks for specialized cores ({name}), which are not modelled"
    if units > 1 and job.get("contiguous") is True:
        return "asks for contiguous nodes, which are not modelled"
    if units > 1 and number(job.get("required_switches")):
        return "asks for a number of switches, which is not modelled"
    return None


def eligible_nodes(job: Values, units: int, nodes: Mapping[str, SlurmNode]) -> tuple[frozenset[str], str, str]:
    """Return the nodes on which a pending job may run, a label of this set, and the partition in which it waits.

    Raises
    ------
    WrongValue
        What it asks for cannot be represented, or there is no such node. The message is the reason to hold the job.
    """
    members, queue = _partition(job, units, nodes)
    label = f"in {queue}"
    for name in ("features", "batch_features"):
        expression = text(job.get(name))
        if expression:
            members = frozenset(n for n in members if _has_features(expression, nodes[n].features, units))
            label += f" with {expression[:SHOWN]}"
    excluded = _listed(job.get("excluded_nodes"))
    if excluded & members:
        members, label = members - excluded, f"{label} without {text(job.get('excluded_nodes'))[:SHOWN]}"
    required = _listed(job.get("required_nodes"))
    if required:
        if not required <= members:
            raise WrongValue(
                f"asks for the nodes {text(job.get('required_nodes'))[:SHOWN]}, not all of which it may use"
            )
        if len(required) != units:
            raise WrongValue(
                f"asks for the nodes {text(job.get('required_nodes'))[:SHOWN]} among others, which is not modelled"
            )
        members, label = required, f"{label} on {text(job.get('required_nodes'))[:SHOWN]}"
    for name in (*SIZES, "minimum_tmp_disk_per_node"):
        asked = number(job.get(name)) or 0
        ours = {"minimum_tmp_disk_per_node": "disk", "sockets_per_node": "sockets"}.get(name, name)
        enough = frozenset(n for n in members if nodes[n].has.get(ours, 0) >= asked)
        if asked and enough != members:
            members, label = enough, f"{label} with {ours} of at least {asked}"
    if not members:
        raise WrongValue(f"no node is {label}")
    return members, label, queue


def _listed(value: Any) -> frozenset[str]:
    return frozenset(name for part in (value if isinstance(value, list) else [value]) for name in hosts_of(text(part)))


def _partition(job: Values, units: int, nodes: Mapping[str, SlurmNode]) -> tuple[frozenset[str], str]:
    """Return the nodes of the partition of a job, and its name; of several partitions, what holds all their nodes.

    A job runs in one of its partitions. A job on one node may use any node of them; else the largest one must do.
    """
    listed = names(job.get("partition")) or ["default"]
    if not any(node.partitions for node in nodes.values()):
        return frozenset(nodes), listed[0]
    sets = {name: frozenset(n for n, node in nodes.items() if name in node.partitions) for name in listed}
    if units == 1:
        together = frozenset().union(*sets.values())
        if len(listed) > 1 and together:
            return together, "+".join(listed)
    largest = max(listed, key=lambda name: sum(nodes[n].state == "up" for n in sets[name]))
    return sets[largest], largest


def _has_features(expression: str, features: set[str], units: int) -> bool:
    """Return whether a node has the features of an expression with & or |. Raises WrongValue for other expressions."""
    alone = re.fullmatch(r"\[([^\[\]]*)\]", expression)
    inside = alone[1] if alone and units == 1 else expression  # [a|b]: all nodes have the same one
    if not re.fullmatch(r"[^\[\]()*&|,!]+(?:(?:&[^\[\]()*&|,!]+)*|(?:\|[^\[\]()*&|,!]+)*)", inside):
        raise WrongValue(f"asks for the features {expression[:SHOWN]}, an expression that is not modelled")
    check = any if "|" in inside else all
    return check(name.strip() in features for name in re.split("[&|]", inside))


def bound(
    sets: NodeSets, job: Values, name: str, units: int, request: Mapping[str, int], nodes: Mapping[str, SlurmNode],
    free: Mapping[str, Mapping[str, int]],
) -> tuple[dict[str, int], str]:  # fmt: skip
    """Return what binds the units of a pending job to its nodes, as resources, and the partition in which it waits.

    ``free``: node -> what is free there now. Raises WrongValue with the reason to hold the job.
    """
    members, label, queue = eligible_nodes(job, units, nodes)
    made = sets.only_on(members, label)
    if made is not None and takes_whole_nodes(job):
        made = made | sets.whole()
    elif made is not None and units > 1 and _twice_on_a_node(request, _up(members, nodes), free):
        own = sets.apart(name)
        made = None if own is None else made | own
    if made is None:
        raise WrongValue("asks for a set of nodes of its own, of which there are too many in this state")
    return made, queue


def _up(members: frozenset[str], nodes: Mapping[str, SlurmNode]) -> frozenset[str]:
    return frozenset(name for name in members if nodes[name].state == "up")


def _twice_on_a_node(
    request: Mapping[str, int], members: frozenset[str], free: Mapping[str, Mapping[str, int]]
) -> bool:
    """Return whether a node has room for two units of a job; Slurm gives each of them another node."""
    return any(all(2 * n <= free[name].get(r, 0) for r, n in request.items() if n) for name in members)
