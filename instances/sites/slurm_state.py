"""The state of a machine from the JSON of Slurm: ``squeue``, ``scontrol show nodes`` or ``sinfo -N``, ``scontrol show reservations``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from ...errors import WrongValue
from ...models.dispatch.arrays import alternative_features, read_features
from ...models.platform import MOST_CAPACITY, ProblemError
from ...models.site import resource_of as resource
from ...models.words import excerpt
from ..files.reading import json_number_of, whole_of
from ..formats.slurm_values import count, generic, generic_in, hosts_of, memory, numbers, tres, waiting_tasks
from .machine_state import NodeSets, most_listed

# --- Values in the JSON of Slurm that have several forms: numbers, texts, lists of names.

MOST = 10**15  # of any number in the JSON of Slurm
# INFINITE and NO_VAL of 32 and 64 bits, which old versions print where nothing is set
NO_VALUES = (2**32 - 1, 2**32 - 2, 2**64 - 1, 2**64 - 2)


@contextmanager
def of_job(name: object) -> Iterator[None]:
    """Add the id of a job to the errors in the block."""
    try:
        yield
    except WrongValue as e:
        raise WrongValue(f"job {name if isinstance(name, str) else excerpt(name)}: {e}") from None


@contextmanager
def as_wrong_value(expected: str) -> Iterator[None]:
    """Raise WrongValue in place of the errors of JSON that has another form than a scheduler gives it."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as e:
        raise WrongValue(
            f"a field is missing or has another form ({type(e).__name__}: {e}); expected {expected}"
        ) from e


def number(value: Any) -> int | None:
    """Return a number of Slurm; None if it is not set or infinite. Raises WrongValue for NaN and huge numbers.

    Examples
    --------
    >>> number({"set": True, "infinite": False, "number": 60}), number({"set": False, "number": 0}), number(7), number("7")
    (60, None, 7, 7)
    """
    if isinstance(value, dict):
        known = value.get("set") and not value.get("infinite")
        if known:
            return number(value.get("number"))
        return None
    if isinstance(value, str):
        return number(whole_of(value.strip(), -MOST, MOST))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value in NO_VALUES:
        return None
    value_in_json = json_number_of(value, -MOST, MOST)
    if value_in_json is None:
        raise WrongValue(f"the number {excerpt(value):.60}; expected one from {-MOST:,} to {MOST:,}")
    return int(value_in_json)


def text(value: Any) -> str:
    """Return a text without blanks around it; "" for null and Slurm's ``(null)``, and for a list its parts with commas.

    >>> text(None), text("(null)"), text(["a", "b"]), text(" x ")
    ('', '', 'a,b', 'x')
    """
    if value is None or isinstance(value, (bool, dict)):
        return ""
    if isinstance(value, list):
        joined = ",".join(map(str, value))
    else:
        joined = str(value)
    if joined.strip().lower() in ("(null)", "n/a", "none assigned"):
        return ""
    return joined.strip()


def names(value: Any) -> list[str]:
    """Return the names in a list, or in a text with commas.

    >>> names("a, b"), names(["a"]), names(None)
    (['a', 'b'], ['a'], [])
    """
    return [name.strip() for name in text(value).split(",") if name.strip()]


def job_words(value: Any) -> list[str]:
    """Return the words of the state of a job, a list or a text.

    >>> job_words("pending"), job_words(["COMPLETING", "PENDING"])
    (['PENDING'], ['COMPLETING', 'PENDING'])
    """
    return [word.upper() for word in text(value).replace("+", ",").replace(" ", ",").split(",") if word]


# --- Reservations of Slurm: ``scontrol show reservations --json``, or its text, the only form before version 23.02.
#
# The fields are those of Slurm's OpenAPI schema (``reservation_info``): ``name``, ``start_time``, ``end_time``, ``node_list``,
# and ``core_specializations``, which lists the cores on the nodes of which only a part is reserved. Of such nodes only
# cores are reserved.

YEAR = 365 * 86400
SHOWN = 60  # characters of a part of a message
WORDS = re.compile(r"(?:^|(?<=\s))([A-Za-z]+)=(\S*)")  # in the text of scontrol
Values = Mapping[str, Any]


def names_of(job: Values) -> list[str]:
    """Return the names of the reservations that a job requests; it takes one of them."""
    return [name.strip() for name in str(job.get("resv_name") or "").split(",") if name.strip()]


def reservations_in_text(text: str, zone: tzinfo) -> Values:
    """Return the reservations of the text of ``scontrol show reservations`` with the fields of its JSON.

    Parameters
    ----------
    text
        The output, with or without ``--oneliner``.
    zone
        The time zone of its times.

    Raises
    ------
    WrongValue
        If the text has no reservations, or a time is malformed.

    Examples
    --------
    >>> from datetime import timezone
    >>> text = "ReservationName=m StartTime=1970-01-01T01:00:00 EndTime=1970-01-01T02:00:00 Nodes=n[1-2] CoreCnt=8"
    >>> reservations_in_text(text, timezone.utc)["reservations"][0]["start_time"]
    3600
    """
    listed: list[dict[str, Any]] = []
    for key, value in WORDS.findall(text):
        if key == "ReservationName":
            listed.append({"name": value, "core_specializations": []})
        elif not listed:
            break
        elif key in ("StartTime", "EndTime"):
            listed[-1][{"StartTime": "start_time", "EndTime": "end_time"}[key]] = _time_in_text(key, value, zone)
        elif key == "Nodes":
            if value == "(null)":
                listed[-1]["node_list"] = ""
            else:
                listed[-1]["node_list"] = value
        elif key == "NodeName":
            listed[-1]["core_specializations"].append({"node": value})
        elif key == "CoreIDs" and listed[-1]["core_specializations"]:
            listed[-1]["core_specializations"][-1]["core"] = value
    if not listed and text.strip() and not text.startswith("No reservations"):
        raise WrongValue(f"{text.strip()[:SHOWN]!r} has no ReservationName; expected scontrol show reservations")
    return {"reservations": listed}


def _time_in_text(key: str, value: str, zone: tzinfo) -> int:
    try:
        return int(datetime.fromisoformat(value).replace(tzinfo=zone).timestamp())
    except ValueError:
        raise WrongValue(
            f"{key} of a reservation is {value[:SHOWN]!r}; expected a time such as 2026-01-31T08:00:00"
        ) from None


def reservations_of(values: Values, nodes: Values, now: int, skipped: Counter[str]) -> list[dict[str, Any]]:
    """Return the reservations of nodes that are not over, as entries of a state file; count the others by reason.

    Parameters
    ----------
    values
        The values of ``scontrol show reservations --json``.
    nodes
        Node name -> its ``capacity`` and its ``threads`` per core.
    now
        Unix time in seconds.
    skipped
        Reason -> number of reservations that are left out.
    """
    reservations = []
    for each in values.get("reservations", []):
        name = str(each["name"])
        start = number(each.get("start_time"))
        if start is None:
            raise WrongValue(f"reservation {name!r} has no start_time; expected scontrol show reservations --json")
        known_end = number(each.get("end_time"))
        if known_end is None:
            end = start + YEAR
        else:
            end = known_end
        held = _held(each, nodes)
        if end <= max(start, now):
            skipped["reservation in the past"] += 1
        elif not held:
            skipped["reservation without nodes of the list (such as licences)"] += 1
        else:
            reservations.append(
                {"name": name, "start": start, "end": end, "nodes": held, "queue": f"reservation {name}"}
            )
    return reservations


def _held(each: Values, nodes: Values) -> dict[str, dict[str, int]]:
    """Return node -> reserved amounts: all of the node, or cores if only some of them are reserved."""
    cores: Counter[str] = Counter()
    for part in each.get("core_specializations") or ():
        listed = re.sub(r"\s", "", str(part.get("core") or ""))
        if listed and part.get("node") in nodes:
            cores[part["node"]] += len(numbers(listed)) * nodes[part["node"]].get("threads", 1)
    amounts_by_node = {}
    for name in hosts_of(each.get("node_list") or ""):
        if name in nodes:
            capacity = {r: n for r, n in nodes[name]["capacity"].items() if n}
            some = 0 < cores[name] < capacity.get("cores", 0)
            if some:
                held = {"cores": cores[name]}
            else:
                held = capacity
            if held:
                amounts_by_node[name] = held
    return amounts_by_node


# --- Nodes in the JSON of Slurm: ``scontrol show nodes --json`` or ``sinfo -N --json``; their states and what they have.
#
# A node takes jobs only if each word of its state is one that allows it (``TAKES_JOBS``): an unknown word is no permission. Nodes
# that are powered down or booting take jobs, which start after the boot.

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
        if self.words & BOOTS:
            words = self.words - {"NOT_RESPONDING"}
        else:
            words = self.words
        if words & DOWN:
            return "down"
        if "RESERVED" in words and words - {"RESERVED"} <= TAKES_JOBS:
            return "reserved"
        if words and words <= TAKES_JOBS and not self.owned:
            return "up"
        return "draining"

    @property
    def completes(self) -> bool:
        """Whether a job has ended there and is not yet cleaned up."""
        return "COMPLETING" in self.words


def node_words(*values: Any) -> set[str]:
    """Return the words of the state of a node: lists or texts such as "IDLE+DRAIN", "idle~", with Slurm's suffixes as words.

    >>> sorted(node_words("IDLE+CLOUD", ["POWERED_DOWN"])), sorted(node_words("mix#")), sorted(node_words("down*"))
    (['CLOUD', 'IDLE', 'POWERED_DOWN'], ['MIXED', 'POWERING_UP'], ['DOWN', 'NOT_RESPONDING'])
    """
    words: set[str] = set()
    for word in re.split(r"[+, ]", ",".join(map(text, values)).upper()):
        stem = word.rstrip("".join(SUFFIXES))
        words.update(SUFFIXES[sign] for sign in word[len(stem) :])
        words.update([SHORT.get(stem, stem)] if stem else [])
    return words


def nodes_of(values: Values) -> dict[str, SlurmNode]:
    """Return the nodes by name. Raises WrongValue if there are none, or a number is malformed."""
    nodes: dict[str, SlurmNode] = {}
    for each in values.get("nodes") or []:
        nodes[str(each["name"])] = _of_scontrol(each)
    for each in values.get("sinfo") or []:
        for node in _of_sinfo(each):
            nodes.setdefault(node.name, node).partitions.add(str(each["partition"]["name"]))
    if not nodes:
        raise WrongValue("there are no nodes; expected the output of scontrol show nodes --json or sinfo -N --json")
    return nodes


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
    cpus = each["cpus"]
    memory = each["memory"]
    gres = each.get("gres") or {}
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


# --- What a pending job of Slurm asks for: amounts on each node, its nodes, and what forbids a start now.
#
# A job starts only if all that it asks for is understood: what is not, holds it, and the reason is said.

MAY_START = {"", "none", "resources", "priority"}  # pending reasons; with any other, Slurm does not start the job
SIZES = ("sockets_per_node", "cores_per_socket", "threads_per_core")
PER_NODE = ("tasks_per_node", "tasks_per_socket", "tasks_per_core", "memory_per_node", "required_switches")
NOT_EXCLUSIVE = {"no", "false", "0"}


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


def _sources(job: Values) -> tuple[dict[str, int], ...]:
    """Return the generic resources of a job by way of asking: in all, per node, per job, per task, per socket."""
    total = generic_in(tres(text(job.get("tres_req_str"))))
    ways = ("tres_per_node", "tres_per_job", "tres_per_task", "tres_per_socket")
    return (total, *(generic(text(job.get(way))) for way in ways))


def amounts(job: Values, units: int) -> dict[str, int]:
    """Return what a pending job asks for on each of its ``units`` nodes. Raises WrongValue."""
    asked = tres(text(job.get("tres_req_str")))
    if "cpu" in asked:
        cores = _counted("cpu", asked["cpu"])
    else:
        cores = number(job.get("cpus")) or units
    on_node = {"cores": max(-(-cores // units), number(job.get("minimum_cpus_per_node")) or 1)}
    megabytes = 0.0
    if "mem" in asked:
        megabytes = memory(asked["mem"]).megabytes
    on_node["memory"] = -(-int(-(-megabytes // 1)) // units)
    per_node = number(job.get("memory_per_node")) or 0
    per_cpu = number(job.get("memory_per_cpu")) or 0
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


def spread_tasks(job: Values) -> int:
    """Return the number of tasks of a pending job that Slurm may spread over any number of nodes; 0: it asks for nodes.

    Such a job asks for tasks alone (``sbatch -n 24``); ``node_count`` is then the fewest nodes that could hold them.
    """
    tasks = number(job.get("tasks")) or 0
    least = tres(text(job.get("tres_req_str"))).get("node")
    if tasks < 2 or least != "1" or number(job.get("max_nodes")):
        return 0
    cores = -(-(number(job.get("cpus")) or 0) // tasks)
    if cores < 1 or (number(job.get("minimum_cpus_per_node")) or 1) > cores:
        return 0
    asks_for_nodes = any(number(job.get(name)) for name in (*PER_NODE, *SIZES))
    asks_for_nodes = asks_for_nodes or any(_sources(job)) or takes_whole_nodes(job) or job.get("contiguous") is True
    one_partition = len(names(job.get("partition"))) < 2
    if asks_for_nodes or text(job.get("required_nodes")) or not one_partition:
        return 0
    return tasks


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
    amounts: dict[str, int] = {}
    for source, factor, parts in (
        (total, 1, units), (per_node, 1, 1), (per_job, 1, units), (per_task, tasks, 1), (per_socket, sockets, 1),
    ):  # fmt: skip
        for kind, amount in source.items():
            amounts[kind] = max(amounts.get(kind, 0), -(-amount * factor // parts))
    for name in {kind.partition(":")[0] for kind in amounts}:
        of_types = sum(amount for kind, amount in amounts.items() if kind.startswith(f"{name}:"))
        amounts[name] = max(amounts.get(name, 0), of_types)
    return amounts


def takes_whole_nodes(job: Values) -> bool:
    """Return whether a job shares its nodes with no other job (``--exclusive``), or with those of its user alone."""
    exclusive = job.get("exclusive")
    if not isinstance(exclusive, bool):
        words = [word.lower() for word in names(exclusive)]
    else:
        words = ["true"] * exclusive
    shared = [word.lower() for word in names(job.get("shared"))]
    return bool(set(words) - NOT_EXCLUSIVE) or bool({"none", "user", "mcs", "topo"} & set(shared))


def why_held(job: Values, known_reservations: Sequence[str], knows_licences: bool = False) -> str | None:
    """Return why a pending job must not start now; None if nothing forbids it.

    ``knows_licences``: whether it is known how many licences are free.
    """
    words = job_words(job.get("job_state"))
    reason = text(job.get("state_reason")).strip("()")
    if reason.lower() == "reservation" and any(name in known_reservations for name in names(job.get("resv_name"))):
        reason = ""  # its queue is private to that reservation
    if reason.lower() == "licenses" and knows_licences:
        reason = ""
    if reason.lower() not in MAY_START:
        return reason
    others = [word for word in words if word != "PENDING"]
    if others:
        return f"its state is {'+'.join(words)}"
    if number(job.get("priority")) == 0:
        return "JobHeld: its priority is 0"
    if job.get("hold") is True:
        return "JobHeld: its field hold is true"
    if re.search("unfulfilled|failed", text(job.get("dependency"))):
        return "Dependency"
    return None


LICENCE = re.compile(r"([\w.@/-]+)(?:[:*=](\d{1,9}))?", re.ASCII)


def licences_of(job: Values, known: Container[str]) -> dict[str, int]:
    """Return the licences that a pending job asks for. Raises WrongValue if the free number of one is not known.

    >>> licences_of({"licenses": "matlab:2,ansys@server"}, {"matlab", "ansys@server"})
    {'matlab': 2, 'ansys@server': 1}
    """
    listed: dict[str, int] = {}
    for part in filter(None, re.split("[,;]", text(job.get("licenses")))):
        match = LICENCE.fullmatch(part.strip())
        if match is None or match[1] not in known:
            raise WrongValue(f"asks for licences, whose free number is not known: {text(job.get('licenses'))[:SHOWN]}")
        listed[match[1]] = listed.get(match[1], 0) + int(match[2] or 1)
    return listed


def free_licences(text_of_scontrol: str) -> dict[str, int]:
    r"""Return the free number of each licence that ``scontrol show lic`` prints. Raises WrongValue.

    >>> free_licences("LicenseName=matlab\n    Total=20 Used=17 Free=3 Reserved=0 Remote=no")
    {'matlab': 3}
    """
    free: dict[str, int] = {}
    for entry in re.split(r"(?=LicenseName=)", text_of_scontrol)[1:]:
        values = dict(re.findall(r"(\w+)=(\S*)", entry))
        number_of = values.get("Free", "")
        if not re.fullmatch(r"\d{1,9}", number_of, re.ASCII):
            raise WrongValue(
                f"licence {values['LicenseName'][:SHOWN]!r}: Free is {number_of[:SHOWN]!r}; expected a number"
            )
        free[values["LicenseName"]] = int(number_of)
    return free


def not_modelled(job: Values, units: int) -> str | None:
    """Return what a pending job asks for that cannot be represented; None if there is nothing."""
    for name, what in (
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
            members = _with_features(members, expression, units, nodes)
            label += f" with {expression[:SHOWN]}"
    excluded = _listed(job.get("excluded_nodes"))
    if excluded & members:
        members = members - excluded
        label = f"{label} without {text(job.get('excluded_nodes'))[:SHOWN]}"
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
        members = required
        label = f"{label} on {text(job.get('required_nodes'))[:SHOWN]}"
    for name in (*SIZES, "minimum_tmp_disk_per_node"):
        asked = number(job.get(name)) or 0
        ours = {"minimum_tmp_disk_per_node": "disk", "sockets_per_node": "sockets"}.get(name, name)
        enough = frozenset(n for n in members if nodes[n].has.get(ours, 0) >= asked)
        if asked and enough != members:
            members = enough
            label = f"{label} with {ours} of at least {asked}"
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


def _with_features(
    members: frozenset[str], expression: str, units: int, nodes: Mapping[str, SlurmNode]
) -> frozenset[str]:
    """Return the nodes with the features that a job asks for. Raises WrongValue for expressions that are not modelled.

    Of several sets of features one of which all nodes of a job must have (``[a|b]``), a job on several nodes has that of most
    nodes that are up.
    """
    sets = []
    for choice in alternative_features(expression):
        try:
            asked = read_features(choice)
        except ProblemError:
            raise WrongValue(
                f"asks for the features {expression[:SHOWN]}, an expression that is not modelled"
            ) from None
        sets.append(frozenset(n for n in members if asked.holds(nodes[n].features)))
    if units == 1:
        return frozenset().union(*sets)
    return max(sets, key=lambda own: len(_up(own, nodes)))


def placed(job: Values, units: int, nodes: Mapping[str, SlurmNode], spread: bool) -> tuple[dict[str, Any], str]:
    """Return the fields of a pending job that say where it may run, and the partition in which it waits.

    ``spread``: its units may be on one node. Raises WrongValue with the reason to hold the job.
    """
    members, _, queue = eligible_nodes(job, units, nodes)
    fields: dict[str, Any] = {}
    if takes_whole_nodes(job):
        fields["whole_nodes"] = True
        members = frozenset(name for name in members if not nodes[name].completes)
        if not members:
            raise WrongValue("takes whole nodes, and a job is not yet cleaned up on each that it may use")
    if members != _partition(job, units, nodes)[0]:
        fields["nodes"] = [name for name in nodes if name in members]
    if units > 1 and not spread:
        fields["per_node"] = 1
    return fields, queue


def bound(
    sets: NodeSets, job: Values, name: str, units: int, request: Mapping[str, int], nodes: Mapping[str, SlurmNode],
    free: Mapping[str, Mapping[str, int]],
) -> tuple[dict[str, int], str]:  # fmt: skip
    """Return what binds the units of a component of a heterogeneous job, which has no such fields, to nodes, as resources.

    The second value is the partition. ``free``: node -> what is free there now. Raises WrongValue with the reason to hold the job.
    """
    members, label, queue = eligible_nodes(job, units, nodes)
    made = sets.only_on(members, label)
    if made is not None and takes_whole_nodes(job):
        made = made | sets.whole()
    elif made is not None and units > 1 and _twice_on_a_node(request, _up(members, nodes), free):
        own = sets.apart(name)
        if own is None:
            made = None
        else:
            made = made | own
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


# --- The state of a machine from the JSON of Slurm: ``squeue --json`` with ``scontrol show nodes --json`` or ``sinfo -N --json``.
#
# A unit of a job is what it has on one node: cores, memory, generic resources; of a job that asks for tasks alone, it is a
# task. Numbers are plain, or objects with ``set``, ``infinite`` and ``number`` (Slurm 23.02 and later); states are texts, or
# lists of texts. Where the chunks of heterogeneous jobs may run is said by resources (``NodeSets``).

LONGEST = 100 * YEAR  # of a limit
HOLDS_A_PLACE = {
    "RUNNING",
    "SUSPENDED",
    "COMPLETING",
    "CONFIGURING",
    "STOPPED",
}  # states that count for an array's limit
ENDED = {
    "COMPLETED",
    "CANCELLED",
    "FAILED",
    "TIMEOUT",
    "NODE_FAIL",
    "PREEMPTED",
    "BOOT_FAIL",
    "DEADLINE",
    "OUT_OF_MEMORY",
}
Made = dict[str, Any]


NOWHERE = "job that runs on no node of the list"  # why jobs, and parts of them, are left out of a state
ELSEWHERE = "part of running jobs, on nodes that are not in the list"


@as_wrong_value("the output of squeue --json and scontrol show nodes --json (or sinfo -N --json)")
def state_from_slurm(
    jobs: Values,
    nodes: Values,
    now: int | None,
    ewt: int,
    reservations: Values | None = None,
    licences: Mapping[str, int] | None = None,
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
    licences
        Licence -> how many are free (``free_licences``); None: not known.

    Raises
    ------
    WrongValue
        Data that are needed are missing or malformed.
    """
    at = now if now is not None else number(jobs.get("last_update"))
    if at is None:
        raise WrongValue("the time of the state is not known: squeue --json has no last_update; expected --now SECONDS")
    return _State(jobs.get("jobs") or [], nodes_of(nodes), at, ewt, reservations, licences or {}).made()


class _State:
    """The state that is being made."""

    def __init__(
        self,
        jobs: list[Values],
        nodes: dict[str, SlurmNode],
        now: int,
        ewt: int,
        reservations: Values | None,
        licences: Mapping[str, int],
    ) -> None:
        self.jobs = jobs
        self.nodes = nodes
        self.now = now
        self.ewt = ewt
        self.reservations = reservations
        self.licences = licences
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
        ended = [job for job in map(self._ended, self.jobs) if job is not None]
        running = self._all_running(queue_of)
        waiting = self._all_waiting(queue_of, [r["name"] for r in reserved])
        self.sets.shared(waiting)
        for job in running:
            for held in job["nodes"].values():
                held |= self.sets.of_a_job
        queues = dict.fromkeys(each["queue"] for each in (*waiting, *running, *reserved))
        fields: Made = {
            "schema": "schedlab-state",
            "version": 1,
            "now": self.now,
            "source": "Slurm",
            "queues": [self._queue(name) for name in queues],
            "nodes": [self._node(name, node) for name, node in self.nodes.items()],
            "running": running,
            "waiting": waiting,
        }
        if ended:
            fields["ended"] = ended
        if self.licences:
            fields["licences"] = dict(self.licences)
        if self.limits:
            fields["arrays"] = self._arrays()
        if self.reservations is not None:
            fields["reservations"] = reserved
        return fields, self.skipped

    def _arrays(self) -> list[Made]:
        """Return the job arrays with a limit, and how many of their tasks hold a place in it."""
        holding = [job for job in self.jobs if HOLDS_A_PLACE & {*job_words(job.get("job_state"))}]
        running = Counter(str(number(job.get("array_job_id"))) for job in holding)
        return [{"name": array, "limit": limit, "running": running[array]} for array, limit in self.limits.items()]

    def _queue(self, name: str) -> Made:
        """Return a queue with the nodes of its partition, or of several ("a+b"), unless these are all nodes."""
        partitions = {name, *name.split("+")}
        listed = [n for n, node in self.nodes.items() if node.partitions & partitions]
        queue: Made = {"name": name, "ewt": self.ewt}
        if 0 < len(listed) < len(self.nodes):
            queue["nodes"] = listed
        return queue

    def _all_running(self, queue_of: Callable[[Values], dict[str, str]]) -> list[Made]:
        running: list[Made] = []
        for job in self.jobs:
            if "RUNNING" not in job_words(job.get("job_state")):
                continue
            with of_job(job.get("job_id")):
                made = self._running(job) | queue_of(job)
            if made["nodes"]:
                running.append(made)
            else:
                self.skipped[NOWHERE] += 1
        return running

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
                    if "held" not in made or "held" not in queue:
                        made |= queue
                    leader = number(job.get("het_job_id"))
                    if leader:
                        made["id"] = _name(job)
                        offset = number(job.get("het_job_offset")) or 0
                        together.setdefault(leader, []).append({"offset": offset} | made)
                    else:
                        waiting.extend(self._tasks(job, made))
            elif "RUNNING" not in states and self._ended(job) is None:
                self.skipped[f"job in state {' '.join(states) or 'unknown'}"] += 1
        return [*waiting, *(_joined(leader, parts) for leader, parts in together.items())]

    def _ended(self, job: Values) -> Made | None:
        """Return when a job ran that has ended, which Slurm lists for a while (``MinJobAge``); None if it has not, or never ran."""
        states = job_words(job.get("job_state"))
        start = number(job.get("start_time"))
        end = number(job.get("end_time"))
        if not ENDED & {*states} or "PENDING" in states or not text(job.get("nodes")):
            return None
        if not start or end is None or not start <= end <= self.now:
            return None
        return {"id": _name(job), "start": start, "end": end}

    def _left(self, name: str) -> dict[str, int]:
        """Return what is free on a node: neither of a running job nor allocated otherwise."""
        used = self.used[name]
        taken = self._taken(name)
        return {r: max(0, n - max(used[r], taken.get(r, 0))) for r, n in self.capacity[name].items()}

    def _taken(self, name: str) -> dict[str, int]:
        """Return what Slurm says is allocated on a node, by our names."""
        known = {"cores": "cores", "memory": "memory"} | {kind: resource(kind) for kind in self.kinds}
        taken = self.nodes[name].taken
        return {ours: n for theirs, ours in known.items() if (n := taken.get(theirs)) is not None}

    def _node(self, name: str, node: SlurmNode) -> Made:
        capacity = self.capacity[name]
        used = self.used[name]
        beyond = {
            r: n for r, n in self._taken(name).items() if n > used[r]
        }  # jobs that end keep their nodes for a while
        free = {r: max(0, capacity[r] - n) for r, n in beyond.items()}
        jobs = self.on_node[name]
        if node.completes or beyond:
            free |= self.sets.free_beside_others(name, jobs)
        made: Made = {"name": name, "state": node.state, "capacity": capacity | self.sets.capacity(name, jobs)}
        if free:
            made["free"] = free
        return made

    def _running(self, job: Values) -> Made:
        """Return a running job, and add what it uses."""
        everywhere = self._holds(job)
        asked = {name: amounts for name, amounts in everywhere.items() if name in self.nodes}
        if 0 < len(asked) < len(everywhere):
            self.skipped[ELSEWHERE] += 1
        holds: dict[str, dict[str, int]] = {}
        for name, held in asked.items():
            known = self.capacity[name]
            used = self.used[name]
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
        total = _allocated(job)
        holds = self._allocated_on_nodes(job, total["cores"])
        names = list(holds) or hosts_of(text(job.get("nodes")))
        holds = holds or {name: {} for name in names}
        detail = job.get("gres_detail") or []
        if isinstance(detail, list) and len(detail) == len(names):  # one text for each node
            for name, each in zip(names, detail, strict=True):
                holds[name] |= {resource(kind): n for kind, n in generic(text(each)).items()}
        known = {r for held in holds.values() for r in held}
        return _with_parts(holds, names, {r: n for r, n in total.items() if r not in known})

    def _allocated_on_nodes(self, job: Values, cores: int) -> dict[str, dict[str, int]]:
        """Return node -> cores and memory that a running job of so many cores has there; {} if that is not known."""
        resources = job.get("job_resources") or {}
        inside = resources.get("nodes")
        if isinstance(inside, dict):
            parts = inside.get("allocation")
        else:
            parts = resources.get("allocated_nodes")
        holds: dict[str, dict[str, int]] = {}
        if parts and all("cpus" in each for each in parts):  # Slurm 24.05 and later
            for each in parts:
                megabytes = number((each.get("memory") or {}).get("allocated")) or 0
                holds[str(each["name"])] = {"cores": number(each["cpus"]["count"]) or 0, "memory": megabytes}
        elif parts and all(_cores_of(each) for each in parts):
            for each in parts:
                name = str(each.get("nodename"))
                threads = 1
                if name in self.nodes:
                    threads = self.nodes[name].has.get("threads_per_core", 1)
                holds[name] = {"cores": _cores_of(each) * threads, "memory": number(each.get("memory_allocated")) or 0}
            if sum(held["cores"] for held in holds.values()) != cores:
                return {}
        return holds

    def _waiting(self, job: Values, left: Mapping[str, Mapping[str, int]], reservations: list[str]) -> Made:
        """Return a pending job, or what the tasks of an array have in common."""
        spread = spread_tasks(job)
        units = spread or max(1, number(job.get("node_count")) or 1)
        held = why_held(job, reservations, bool(self.licences)) or not_modelled(job, units)
        request = {"cores": 1}
        queue = _queue(job)
        where: dict[str, Any] = {}
        licences: dict[str, int] = {}
        try:
            licences = licences_of(job, self.licences)
            request = amounts(job, units)
            if number(job.get("het_job_id")):
                inside, queue = bound(self.sets, job, _name(job), units, request, self.nodes, left)
                request |= inside
            else:
                where, queue = placed(job, units, self.nodes, bool(spread))
        except WrongValue as e:
            held = held or str(e)
        eligible = number(job.get("eligible_time")) or 0
        made: Made = {
            "submit": number(job.get("submit_time")) or self.now,
            "walltime": _walltime(job),
            "units": units,
            "request": request,
            "queue": queue,
            **where,
            **_texts(job),
        }
        if licences:
            made["licences"] = licences
        if eligible > self.now:
            made["earliest_start"] = eligible
        priority = number(job.get("priority"))
        if priority is not None:
            made["priority"] = priority
        if held:
            made["held"] = held
        return made

    def _tasks(self, job: Values, made: Made) -> list[Made]:
        """Return a pending job; one for each task of a job array, as many as the machine may start."""
        array = number(job.get("array_job_id"))
        limit = number(job.get("array_max_tasks"))
        listed = text(job.get("array_task_string"))
        if not listed:
            entries = [{"id": _name(job)} | made]
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
            entries = [{"id": f"{array}_{task}"} | made for task in tasks.indices]
        if array and limit:
            self.limits[str(array)] = min(limit, self.limits.get(str(array), limit))
            entries = [task | {"array": str(array)} for task in entries]
        return entries


def _allocated(job: Values) -> dict[str, int]:
    """Return the amounts that a running job has on all of its nodes together."""
    listed = tres(text(job.get("tres_alloc_str")))
    total = {"cores": number(job.get("cpus")) or 0}
    if "cpu" in listed:
        total["cores"] = count(listed["cpu"])
    if "mem" in listed:
        total["memory"] = int(memory(listed["mem"]).megabytes)
    return total | {resource(kind): n for kind, n in generic_in(listed).items()}


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
        if names and "PENDING" in job_words(job.get("job_state")):
            return {"held": f"in reservation {names[0]}"}
        return {}

    return queue_of


def _joined(leader: int, parts: list[Made]) -> Made:
    """Return the pending components of a heterogeneous job as one job with chunks, in the order of their offsets."""
    parts = sorted(parts, key=lambda part: int(part["offset"]))
    made = parts[0] | {
        "id": str(leader),
        "submit": min(part["submit"] for part in parts),
        "walltime": max(part["walltime"] for part in parts),
        "priority": max(part.get("priority", 0) for part in parts),
        "queue": "+".join(dict.fromkeys(part["queue"] for part in parts)),
        "chunks": [{"units": part["units"], "request": part["request"]} for part in parts],
    }
    later = [part["earliest_start"] for part in parts if "earliest_start" in part]
    if later:
        made["earliest_start"] = max(later)
    held = [part["held"] for part in parts if "held" in part]
    if held:
        made["held"] = held[0]
    return {key: value for key, value in made.items() if key not in ("offset", "units", "request")}


def _name(job: Values) -> str:
    array = number(job.get("array_job_id"))
    task = number(job.get("array_task_id"))
    if array and task is not None:
        return f"{array}_{task}"
    return str(job["job_id"])


def _texts(job: Values) -> dict[str, str]:
    texts = {"user": text(job.get("user_name")), "name": text(job.get("name"))}
    return {key: value for key, value in texts.items() if value}


def _walltime(job: Values) -> int:
    """Return the limit of a job in seconds; a year if there is none."""
    minutes = number(job.get("time_limit"))
    if not minutes:
        return YEAR
    return min(max(60 * minutes, 1), LONGEST)


def _cores_of(node: Values) -> int:
    """Return the number of allocated cores in an entry of ``allocated_nodes`` (before Slurm 24.05); 0 if it is not known."""
    sockets = node.get("sockets")
    cores = []
    if isinstance(sockets, dict):
        cores = [socket.get("cores") for socket in sockets.values()]
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
