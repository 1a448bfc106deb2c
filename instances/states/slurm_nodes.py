"""Nodes in the JSON of Slurm: ``scontrol show nodes --json`` or ``sinfo -N --json``; their states and what they have.

A node takes jobs only if each word of its state is one that allows it (``TAKES_JOBS``): an unknown word is no permission. Nodes
that are powered down or booting take jobs, which start after the boot.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import WrongValue
from ..formats.slurm_values import generic
from .slurm_fields import names, number, text

Values = Mapping[str, Any]
# suffixes of the words of sinfo
SUFFIXES = {"*": "NOT_RESPONDING", "~": "POWERED_DOWN", "#": "POWERING_UP", "!": "POWER_DOWN", "%": "POWERING_DOWN",
            "$": "MAINT", "@": "REBOOT_REQUESTED", "^": "REBOOT_ISSUED", "-": "PLANNED"}  # fmt: skip
SHORT = {
    "ALLOC": "ALLOCATED", "MIX": "MIXED", "COMP": "COMPLETING", "DRNG": "DRAINING", "FAILG": "FAILING", "RESV": "RESERVED",
    "PLND": "PLANNED", "FUTR": "FUTURE", "UNK": "UNKNOWN", "INVAL": "INVALID", "NO_RESPOND": "NOT_RESPONDING",
    "POW_UP": "POWERING_UP", "POW_DN": "POWERED_DOWN", "POWER": "POWERED_DOWN", "POWER_SAVING": "POWERED_DOWN",
    "BOOT": "REBOOT_ISSUED", "REBOOT": "REBOOT_REQUESTED", "MAINTENANCE": "MAINT", "RES": "RESERVED", "BLOCK": "BLOCKED",
}  # fmt: skip
DOWN = {"DOWN", "ERROR", "UNKNOWN", "FUTURE", "FAIL", "INVALID", "INVALID_REG", "NOT_RESPONDING", "POWERING_DOWN",
        "DYNAMIC_FUTURE"}  # fmt: skip
BOOTS = {"POWERED_DOWN", "POWERING_UP"}  # a node that is off or boots does not respond, and takes jobs all the same
TAKES_JOBS = {"IDLE", "MIXED", "ALLOCATED", "COMPLETING", "PLANNED", "CLOUD", "POWER_UP", "DYNAMIC_NORM", "NET", "RESUME",
              "UNDRAIN", "CANCEL_REBOOT", "CONFIGURING", *BOOTS}  # fmt: skip
RESERVED = {"RESERVED", "MAINT"}  # of the nodes of reservations that have begun


@dataclass
class SlurmNode:
    """A node.

    Attributes
    ----------
    capacity
        Cores, memory in MB.
    generic
        Generic resources, by name and by name and type (``formats.slurm_values.generic``).
    taken
        The same names -> what is allocated; None: not known.
    words
        The words of its state.
    has
        What jobs may ask of a node by number: sockets, cores of a socket, threads of a core, MB of temporary disk.
    owned
        Whether its jobs are all of one user, who keeps it for himself.
    """

    name: str
    capacity: dict[str, int]
    generic: dict[str, int]
    taken: dict[str, int | None]
    words: set[str]
    partitions: set[str] = field(default_factory=set)
    features: set[str] = field(default_factory=set)
    has: dict[str, int] = field(default_factory=dict)
    owned: bool = False

    @property
    def state(self) -> str:
        """The state of the node in a state file."""
        words = self.words - {"NOT_RESPONDING"} if self.words & BOOTS else self.words
        if words & DOWN:
            return "down"
        if "RESERVED" in words and words - {"RESERVED"} <= TAKES_JOBS:
            return "reserved"
        return "up" if words and words <= TAKES_JOBS and not self.owned else "draining"

    @property
    def completes(self) -> bool:
        """Whether a job has ended there and is not yet cleaned up."""
        return "COMPLETING" in self.words


def node_words(*values: Any) -> set[str]:
    """Return the words of the state of a node: lists or texts such as "IDLE+DRAIN", "idle~", with Slurm's suffixes as words.

    >>> sorted(node_words("IDLE+CLOUD", ["POWERED_DOWN"])), sorted(node_words("mix#")), sorted(node_words("down*"))
    (['CLOUD', 'IDLE', 'POWERED_DOWN'], ['MIXED', 'POWERING_UP'], ['DOWN', 'NOT_RESPONDING'])
    """
    found: set[str] = set()
    for word in re.split(r"[+, ]", ",".join(map(text, values)).upper()):
        stem = word.rstrip("".join(SUFFIXES))
        found.update(SUFFIXES[sign] for sign in word[len(stem) :])
        found.update([SHORT.get(stem, stem)] if stem else [])
    return found


def nodes_of(values: Values) -> dict[str, SlurmNode]:
    """Return the nodes by name. Raises WrongValue if there are none, or a number is malformed."""
    found: dict[str, SlurmNode] = {}
    for each in values.get("nodes") or []:
        found[str(each["name"])] = _of_scontrol(each)
    for each in values.get("sinfo") or []:
        for node in _of_sinfo(each):
            found.setdefault(node.name, node).partitions.add(str(each["partition"]["name"]))
    if not found:
        raise WrongValue("there are no nodes; expected the output of scontrol show nodes --json or sinfo -N --json")
    return found


def _of_scontrol(each: Values) -> SlurmNode:
    cores = number(each.get("effective_cpus")) or number(each.get("cpus")) or 0
    spared = number(each.get("specialized_memory")) or 0
    drained = generic(text(each.get("gres_drained")))
    used = generic(text(each.get("gres_used")))
    active = names(each.get("active_features"))
    sizes = {"sockets": "sockets", "cores_per_socket": "cores", "threads_per_core": "threads", "disk": "temporary_disk"}
    return SlurmNode(
        name=str(each["name"]),
        capacity={"cores": cores, "memory": max(0, (number(each.get("real_memory")) or 0) - spared)},
        generic=generic(text(each.get("gres"))),
        taken={
            "cores": number(each.get("alloc_cpus")),
            "memory": number(each.get("alloc_memory")),
            **{name: used.get(name, 0) + drained.get(name, 0) for name in {*used, *drained}},
        },
        words=node_words(each.get("state"), each.get("state_flags")),
        partitions=set(names(each.get("partitions"))),
        features=set(active or names(each.get("features"))),
        has={ours: size for ours, theirs in sizes.items() if (size := number(each.get(theirs)))},
        owned=bool(text(each.get("owner"))),
    )


def _of_sinfo(each: Values) -> list[SlurmNode]:
    listed = [str(name) for name in each["nodes"]["nodes"]]
    cpus, memory, gres = each["cpus"], each["memory"], each.get("gres") or {}
    features = each.get("features") or {}
    sizes = {"sockets": "sockets", "cores_per_socket": "cores", "threads_per_core": "threads", "disk": "disk"}
    ranges = {ours: each.get(theirs) for ours, theirs in sizes.items()}
    alone = len(listed) == 1  # amounts of several nodes are sums
    taken: dict[str, int | None] = {}
    if alone:
        taken = {"cores": number(cpus.get("allocated")), "memory": number(memory.get("allocated"))}
        taken |= generic(text(gres.get("used")))
    return [
        SlurmNode(
            name=name,
            capacity={
                "cores": number(cpus["minimum" if "minimum" in cpus else "maximum"]) or 0,
                "memory": number(memory["minimum" if "minimum" in memory else "maximum"]) or 0,
            },
            generic=generic(text(gres.get("total"))),
            taken=dict(taken),
            words=node_words(each["node"]["state"]),
            features=set(names(features.get("active")) or names(features.get("total"))),
            has={k: size for k, v in ranges.items() if isinstance(v, dict) and (size := number(v.get("minimum")))},
        )
        for name in listed
    ]
