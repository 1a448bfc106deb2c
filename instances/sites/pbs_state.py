"""The state of a machine from PBS: ``qstat -f -F json``, ``pbsnodes -av -F json``, ``pbs_rstat -f``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, NamedTuple

from ...errors import WrongValue
from ..files.reading import json_whole_of, wrong
from ..formats.pbs import NAMES, amount_of, duration, geometry
from ..formats.slurm_values import waiting_tasks
from .machine_state import NodeSets, most_listed
from .slurm_state import ELSEWHERE, NOWHERE, as_wrong_value, of_job

# --- Values in the output of PBS: amounts of resources, times, nodes with amounts.

EXPECTED = "a time such as Fri Nov 11 17:57:05 2016"
Values = Mapping[str, Any]


def amounts(resources: Values) -> dict[str, int]:
    """Return cores, GPUs and so on of the resources of PBS."""
    return {ours: amount_of(theirs, str(resources[theirs])) for theirs, ours in NAMES.items() if theirs in resources}


def moment(job: Values, zone: tzinfo, *keys: str) -> int | None:
    """Return the first of these times that the job has, in seconds since 1970."""
    for key in keys:
        text = job.get(key)
        if not text:
            continue
        if not isinstance(text, str):
            seconds = json_whole_of(text)
            if seconds is None:
                raise wrong(key, text, EXPECTED)
            return seconds
        try:
            return int(datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=zone).timestamp())
        except (ValueError, OverflowError):  # OverflowError: year 1 or 9999 in another time zone
            raise wrong(key, text, EXPECTED) from None
    return None


def amounts_on(text: str, nodes: Container[str]) -> dict[str, Counter[str]]:
    """Return node -> amounts of a text such as ``(a:ncpus=2)+(a:ncpus=2+b:ncpus=1)``; other nodes are left out.

    Examples
    --------
    >>> amounts_on("(a:ncpus=2:mem=1gb)+(a:ncpus=1)+(c:ncpus=4)", {"a", "b"})
    {'a': Counter({'memory': 1024, 'cores': 3})}
    """
    by_node: dict[str, Counter[str]] = {}
    for chunk in re.findall(r"[^()+]+", text):
        node, *pairs = chunk.split(":")
        if node in nodes:
            asked = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
            others = {k: amount_of(k, v) for k, v in asked.items() if k not in NAMES and v.isascii() and v.isdigit()}
            by_node.setdefault(node, Counter()).update(amounts(asked) | others)
    return by_node


# --- Reservations of PBS: ``pbs_rstat -f``, which has no JSON.
#
# Each reservation is a paragraph of lines ``name = value`` after ``Resv ID: ...``. What it holds is in its ``resv_nodes``,
# which has the form of the ``exec_vnode`` of jobs. Its jobs are in its own ``queue``.

GONE = ("UNCONFIRMED", "FINISHED", "DELETED", "BEING_DELETED", "DELETING_JOBS")  # states without nodes
HEAD = re.compile(r"(?:Resv ID|Name):\s*(\S+)")


def reservations_of(
    text: str, capacity: Mapping[str, Mapping[str, int]], now: int, zone: tzinfo, skipped: Counter[str]
) -> list[dict[str, Any]]:
    """Return the confirmed reservations that are not over, as entries of a state file; count the others by reason.

    Parameters
    ----------
    text
        The output of ``pbs_rstat -f``.
    capacity
        Node name -> what the node has.
    now
        Unix time in seconds.
    zone
        Time zone of the machine.
    skipped
        Reason -> number of reservations that are left out.

    Raises
    ------
    WrongValue
        The text is not the output of pbs_rstat, or a time is malformed.
    """
    reservations = []
    for name, values in _paragraphs(text):
        start = moment(values, zone, "reserve_start")
        end = moment(values, zone, "reserve_end")
        if end is None and start is not None and "reserve_duration" in values:
            end = start + int(duration(values["reserve_duration"]))
        if start is None or end is None:
            raise WrongValue(f"reservation {name!r} has no reserve_start and reserve_end; expected pbs_rstat -f")
        state = values.get("reserve_state", "").removeprefix("RESV_")
        nodes = {}
        for node, held in amounts_on(values.get("resv_nodes", ""), capacity).items():
            kept = {r: min(n, capacity[node].get(r, 0)) for r, n in held.items()}
            nodes[node] = {r: n for r, n in kept.items() if n}
        nodes = {node: kept for node, kept in nodes.items() if kept}
        if state in GONE:
            skipped[f"reservation in state {state}"] += 1
        elif end <= max(start, now):
            skipped["reservation in the past"] += 1
        elif not nodes:
            skipped["reservation without nodes of the list"] += 1
        else:
            queue = values.get("queue") or name.partition(".")[0]
            reservations.append({"name": name, "start": start, "end": end, "nodes": nodes, "queue": queue})
    return reservations


def _paragraphs(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (id, values) of each reservation; lines that begin with a tab continue the line before."""
    name = ""
    values = dict[str, str]()
    for line in text.replace("\n\t", "").splitlines():
        head = HEAD.match(line)
        if head is not None:
            if name:
                yield name, values
            name = head[1]
            values = {}
        elif " = " in line:
            key, value = line.split(" = ", 1)
            values[key.strip()] = value.strip()
        elif line.strip():
            raise WrongValue(f"the line {line[:60]!r} of the reservations; expected the output of pbs_rstat -f")
    if name:
        yield name, values
    elif values:
        raise WrongValue("the reservations begin without 'Resv ID: ...'; expected the output of pbs_rstat -f")


# --- What a waiting job of PBS asks for beyond amounts: ``place``, hosts and vnodes, resources of nodes; and what holds it.
#
# A job starts only if all that it asks for is understood: what is not, holds it, and the reason is said.

SHOWN = 60
# of a chunk: what processes see, not what nodes must have
NOT_OF_NODES = {"mpiprocs", "ompthreads", "nchunk"}
# of a whole job: limits of times and sizes, and what is repeated in select
NOT_OF_SERVERS = {
    "select", "place", "nodes", "nodect", "walltime", "min_walltime", "max_walltime", "soft_walltime", "cput", "pcput", "pmem",
    "pvmem", "vmem", "mpiprocs", "ompthreads", "nice", "file", "procs", "host", "vnode", "neednodes", "preempt_targets", *NAMES,
}  # fmt: skip
ARRANGEMENTS = ("free", "pack", "scatter", "vscatter")
SHARINGS = ("excl", "exclhost", "shared")
# what the scheduler says of a job that waits for free resources only; after any other word, it is held
WAITS_FOR_RESOURCES = re.compile(
    r"insufficient amount|not enough|no available resources|would conflict|exclusive|ineligible state|placement set|"
    r"top job|starving|strict|host set|free nodes|resources? (?:are|is) (?:busy|in use)|draining|not been considered",
    re.IGNORECASE,
)


class Place(NamedTuple):
    """The parts of ``place``: how chunks are arranged, whether nodes are shared, and the resource that groups them."""

    arrangement: str = "free"
    sharing: str = "shared"
    group: str = ""


def place_of(text: str) -> Place:
    """Return the parts of a text such as ``scatter:excl``. Raises WrongValue for an unknown part.

    >>> place_of("scatter:excl"), place_of("group=switch").group
    (Place(arrangement='scatter', sharing='excl', group=''), 'switch')
    """
    place = Place()
    for word in filter(None, (part.strip() for part in text.split(":"))):
        name, sign, value = word.partition("=")
        if name in ARRANGEMENTS and not sign:
            place = place._replace(arrangement=name)
        elif name in SHARINGS and not sign:
            place = place._replace(sharing=name)
        elif name == "group" and value:
            place = place._replace(group=value)
        else:
            raise WrongValue(f"asks for place={text[:SHOWN]}, which is not modelled")
    return place


def why_held(job: Values) -> str | None:
    """Return why a waiting job must not start now; None if nothing forbids it."""
    kinds = str(job.get("Hold_Types") or "n")
    if job.get("job_state") in ("H", "T") or kinds != "n":
        return f"held ({kinds})"
    said = str(job.get("comment") or "")
    if re.match(r"\s*can never run", said, re.IGNORECASE):
        return said[:200]
    if re.match(r"\s*not running", said, re.IGNORECASE) and not WAITS_FOR_RESOURCES.search(said):
        return said[:200]
    depends = str(job.get("depend") or "")
    waits_for = [part for part in depends.split(",") if not re.match(r"\s*(before\w*|on:0|runone)", part)]
    if depends and any(part.strip() for part in waits_for):
        return f"Dependency: {depends[:SHOWN]}"
    asked = job.get("Resource_List") or {}
    other = next(
        (f"{k}={v}" for k, v in asked.items() if k not in NOT_OF_SERVERS and str(v) not in ("0", "False")), None
    )
    if other is None:
        return None
    return f"asks the server for {other[:SHOWN]}, of which it is not known what is free"


def chunks_of(job: Values) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """Return the chunks of a job, and what each asks for beside amounts of cores, GPUs and memory: name -> value.

    The chunks are those of ``schedselect``, in which the defaults of the queue are written out, else of ``select`` or
    ``nodes``. Chunks that ask for the same are one. Raises WrongValue.
    """
    asked = {key: str(value) for key, value in (job.get("Resource_List") or {}).items()}
    asked["select"] = str(job.get("schedselect") or asked.get("select") or "")
    together = _chunks(asked)
    own = {key: asked[key] for key in ("host", "vnode") if asked.get(key)}
    parts = asked["select"].split("+")
    if asked["select"]:
        words = [own | _words(part) for part in parts]
    else:
        words = [own | _node_words(asked.get("nodes", ""))]
    if all(each == words[0] for each in words):
        return together, [words[0] for _ in together]
    alone = [_chunks({"select": part})[0] for part in parts]
    for chunk in alone:  # amounts that are given for the whole job are shares of all chunks
        for resource in NAMES.values():
            if not any(other["request"].get(resource) for other in alone if other is not chunk):
                share = max(other["request"].get(resource, 0) for other in together)
                chunk["request"][resource] = max(chunk["request"].get(resource, 0), share)
    return alone, words


def _chunks(asked: Mapping[str, str]) -> list[dict[str, Any]]:
    listed = {f"Resource_List.{key}": value for key, value in asked.items()}
    return [{"units": max(1, c.units), "request": dict(c.request)} for c in geometry(listed)]


def _words(part: str) -> dict[str, str]:
    pairs = dict(pair.split("=", 1) for pair in part.split(":") if "=" in pair)
    return {k: v.strip("\"'") for k, v in pairs.items() if k not in NAMES and k not in NOT_OF_NODES}


def _node_words(nodes: str) -> dict[str, str]:
    """Return what ``nodes=2:ppn=4`` asks for beside amounts. Raises WrongValue for names and properties of nodes."""
    for part in filter(None, nodes.partition("#")[0].split("+")):
        head, *rest = part.split(":")
        if (not head.isdecimal() and "=" not in head) or any("=" not in word for word in rest):
            raise WrongValue(f"asks for nodes={nodes[:SHOWN]}, names or properties of nodes, which are not modelled")
    return {}


class Nodes(NamedTuple):
    """The nodes: what each has of each resource, as texts, and its state in a state file."""

    has: Mapping[str, Mapping[str, str]]
    queue: Mapping[str, str]

    @classmethod
    def of(cls, listed: Mapping[str, Values]) -> Nodes:
        """Return the nodes of the output of pbsnodes."""
        has = {
            name: {"vnode": name, "host": str(node.get("Mom") or name)}
            | {key: str(value) for key, value in (node.get("resources_available") or {}).items()}
            for name, node in listed.items()
        }
        return cls(has, {name: str(node["queue"]) for name, node in listed.items() if node.get("queue")})

    def several_on_a_host(self, members: Iterable[str]) -> bool:
        """Return whether two of these nodes are vnodes of one host."""
        hosts = [self.has[name]["host"] for name in members]
        return len(set(hosts)) < len(hosts)

    def of_queue(self, queue: str) -> frozenset[str]:
        """Return the nodes that a queue may use: its own if there are any, else those of no queue."""
        own = frozenset(name for name, of in self.queue.items() if of == queue)
        return own or frozenset(name for name in self.has if name not in self.queue)


def matches(asked: str, has: str | None) -> bool:
    """Return whether a node has what a chunk asks for: an equal word, or one of a list of words.

    >>> matches("ib", "eth,ib"), matches("True", "true"), matches("n1", "n1.site.org"), matches("x", None)
    (True, True, True, False)
    """
    if has is None:
        return False
    listed = [word.strip().lower() for word in has.split(",")]
    return asked.lower() in (*listed, has.lower(), has.lower().partition(".")[0])


def consumed(words: Mapping[str, str], nodes: Nodes) -> dict[str, int]:
    """Return what a chunk asks for as a number of a resource that nodes have as a number: name -> amount."""
    numeric = {
        key
        for key, value in words.items()
        if value.isdecimal() and any(has.get(key, "").isdecimal() for has in nodes.has.values())
    }
    return {key: amount_of(key, words[key]) for key in numeric - {"vnode", "host"}}


def bound(
    sets: NodeSets,
    name: str,
    queue: str,
    place: Place,
    chunks: list[dict[str, Any]],
    words: list[dict[str, str]],
    nodes: Nodes,
) -> list[dict[str, Any]]:
    """Return the chunks of a job with what binds them to nodes, as resources.

    Parameters
    ----------
    sets
        The resources that stand for sets of nodes.
    name, queue, place
        The id of the job, its queue, and its ``place``.
    chunks
        The chunks: ``units`` and ``request``.
    words
        What each chunk asks for beside amounts; of the same length, or empty.
    nodes
        The nodes.

    Raises
    ------
    WrongValue
        What it asks for cannot be represented, or there is no such node. The message is the reason to hold the job.
    """
    units = sum(chunk["units"] for chunk in chunks)
    allowed = nodes.of_queue(queue)
    if place.group and not (units == 1 or place.arrangement == "pack" or place.group == "host"):
        values = {nodes.has[n].get(place.group) for n in allowed}
        if len(values) > 1 or None in values:
            raise WrongValue(
                f"asks for place=group={place.group}: chunks with the same value of a resource are not modelled"
            )
    if place.arrangement == "pack" or (place.group == "host" and place.arrangement == "free"):
        chunks, words = _packed(chunks, words)
    made = []
    spread = place.arrangement in ("scatter", "vscatter") and units > 1
    apart = sets.apart(name) if spread and place.sharing == "shared" else {}
    for k, chunk in enumerate(chunks):
        asked = {}
        if words:
            asked = words[k]
        numbers = consumed(asked, nodes)
        members = frozenset(n for n in allowed if all(
            matches(value, nodes.has[n].get(key)) for key, value in asked.items() if key not in numbers
        ))  # fmt: skip
        said = ":".join(f"{key}={value}" for key, value in asked.items() if key not in numbers)[:SHOWN]
        if not members:
            raise WrongValue(f"no node of queue {queue} has {said or 'what it asks for'}")
        if (place.sharing == "exclhost" or place.arrangement == "scatter") and nodes.several_on_a_host(members):
            raise WrongValue(
                f"asks for whole or different hosts (place={place.arrangement}:{place.sharing}), which have several vnodes"
            )
        inside = sets.only_on(members, f"with {said}" if said else f"of queue {queue}")
        if inside is None or apart is None:
            raise WrongValue("asks for a set of nodes of its own, of which there are too many in this state")
        whole = {}
        if place.sharing in ("excl", "exclhost"):
            whole = sets.whole()
        made.append({"units": chunk["units"], "request": chunk["request"] | numbers | inside | apart | whole})
    return made


def _packed(
    chunks: list[dict[str, Any]], words: list[dict[str, str]]
) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """Return the one chunk of a job whose chunks all lie on one host. Raises WrongValue if they contradict each other."""
    request: dict[str, int] = {}
    for chunk in chunks:
        for resource, amount in chunk["request"].items():
            request[resource] = request.get(resource, 0) + chunk["units"] * amount
    together: dict[str, str] = {}
    for asked in words:
        for key, value in asked.items():
            if together.setdefault(key, value) != value:
                raise WrongValue(
                    f"asks for place=pack with chunks of {key}={together[key]} and {key}={value}, which is not modelled"
                )
    if any(value.isdecimal() for value in together.values()) and len(words) > 0:
        raise WrongValue("asks for place=pack with amounts of resources that are not modelled")
    return [{"units": 1, "request": request}], [together] if words else []


# --- The state of a machine from the JSON of PBS: ``qstat -f -F json`` (``-t`` for subjobs) and ``pbsnodes -av -F json``.
#
# A unit of a job is a chunk of its ``select``; chunks that differ make a heterogeneous job. What a running job uses
# is in its ``exec_vnode``. A node that is exclusively used has nothing free.

YEAR = 365 * 86400
# values of "sharing" of a node; with default_excl a job that asks for place=shared would share it
NEVER_SHARED = ("force_excl", "force_exclhost", "default_excl", "default_exclhost")
ALWAYS_SHARED = "ignore_excl"
# any other word of the state of a node, a new one too, forbids starts
TAKES_JOBS = {"free", "job-busy", "job-exclusive", "job-sharing"}
STATES = {"down": "down", "stale": "down", "state-unknown": "down", "unresolvable": "down", "offline": "draining",
          "provisioning": "draining", "maintenance": "draining", "sleep": "down", "resv-exclusive": "reserved"}  # fmt: skip


@as_wrong_value("the output of qstat -f -F json and pbsnodes -av -F json")
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
    at = _time_of(jobs, now)
    machine = _Machine.of(jobs, nodes.get("nodes") or {}, at, zone)
    reserved = reservations_of(reservations or "", machine.capacity, at, zone, machine.skipped)
    for name, job in (jobs.get("Jobs") or {}).items():
        machine.add(name, job)
    machine.share_nodes()
    begun = {node for r in reserved if r["start"] <= at for node in r["nodes"]}
    queues = dict.fromkeys(each["queue"] for each in (*machine.waiting, *machine.running, *reserved))
    state: dict[str, Any] = {
        "schema": "schedlab-state",
        "version": 1,
        "now": at,
        "source": "PBS",
        "queues": [{"name": name, "ewt": ewt} for name in queues],
        "nodes": machine.state_of_nodes(begun),
        "running": machine.running,
        "waiting": machine.waiting,
    }
    if machine.limits:
        state["arrays"] = machine.arrays()
    if reservations is not None:
        state["reservations"] = reserved
    return state, machine.skipped


def _time_of(jobs: Values, now: int | None) -> int:
    """Return the Unix time of a state in seconds. Raises WrongValue if it is not known."""
    if now is not None:
        return now
    given = jobs.get("timestamp")
    if given is None:
        raise WrongValue("the time of the state is not known: there is no timestamp; expected --now SECONDS")
    at = json_whole_of(given)
    if at is None:
        raise wrong("timestamp", given, "seconds since 1970")
    return at


@dataclass
class _Machine:
    """A machine while its state is made: its nodes, and its jobs, which are added one after another.

    ``listed``: node -> its values in the output of pbsnodes; ``kinds``: the resources of the state; ``used``: what the
    running jobs have of each node; ``limits``: job array -> how many of its subjobs may run at once; ``subjobs``: of arrays
    that are listed so far; ``skipped``: jobs and reservations left out, by reason.
    """

    now: int
    zone: tzinfo
    listed: Mapping[str, Values]
    nodes: Nodes
    capacity: dict[str, dict[str, int]]
    kinds: list[str]
    sets: NodeSets
    used: dict[str, Counter[str]]
    skipped: Counter[str] = field(default_factory=Counter)
    limits: dict[str, int] = field(default_factory=dict)
    subjobs: int = 0
    running: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, jobs: Values, listed: Mapping[str, Values], now: int, zone: tzinfo) -> _Machine:
        """Return the machine without its jobs, which tell the resources that count. Raises WrongValue without nodes."""
        capacity = {name: amounts(node.get("resources_available") or {}) for name, node in listed.items()}
        if not capacity:
            raise WrongValue("there are no nodes; expected the output of pbsnodes -av -F json")
        kinds = [r for r in NAMES.values() if r == "cores" or any(c.get(r) for c in capacity.values())]
        nodes = Nodes.of(listed)
        for kind in _numeric(jobs, nodes):
            kinds.append(kind)
            for name, has in nodes.has.items():
                if has.get(kind, "").isdecimal():
                    capacity[name][kind] = amount_of(kind, has[kind])
                else:
                    capacity[name][kind] = 0
        sets = NodeSets(listed)
        sharing = {name: str(node.get("sharing") or "") for name, node in listed.items()}
        sets.one_job = {name for name, word in sharing.items() if word in NEVER_SHARED}
        sets.always_shared = {name for name, word in sharing.items() if word == ALWAYS_SHARED}
        return cls(now, zone, listed, nodes, capacity, kinds, sets, {name: Counter() for name in capacity})

    def add(self, name: str, job: Values) -> None:
        """Add a job that runs or waits; any other is counted among those left out."""
        letter = job.get("job_state")
        if letter in ("R", "E", "S", "U") and job.get("exec_vnode") and job.get("array") != "True":
            with of_job(name):
                running = self._running(name, job)
            if running["nodes"]:
                self.running.append(running)
            else:
                self.skipped[NOWHERE] += 1
        elif letter in ("Q", "H", "W", "T", "B"):
            with of_job(name):
                self.waiting += self._waiting(name, job)
        else:
            self.skipped[f"job in state {letter}"] += 1

    def _running(self, name: str, job: Values) -> dict[str, Any]:
        """Return a running job, and count what it uses."""
        given = str(job["exec_vnode"])
        holds = amounts_on(given, self.capacity)
        if holds and any(chunk.split(":")[0] not in holds for chunk in re.findall(r"[^()+]+", given)):
            self.skipped[ELSEWHERE] += 1
        for node, held in holds.items():
            is_exclusive = "exclusive" in str(self.listed[node].get("state"))
            for r in self.kinds:
                left = max(0, self.capacity[node].get(r, 0) - self.used[node][r])
                if is_exclusive:
                    held[r] = left
                else:
                    held[r] = min(held[r], left)
            self.used[node].update(held)
        start = moment(job, self.zone, "stime", "mtime", "qtime", "ctime") or 0
        running = {
            "id": name,
            "submit": moment(job, self.zone, "ctime", "qtime") or start,
            "start": start,
            "walltime": _walltime(job),
            "queue": job.get("queue") or "default",
            "nodes": {node: {r: held[r] for r in self.kinds} for node, held in holds.items()},
        }
        return running | _texts(job)

    def _waiting(self, name: str, job: Values) -> list[dict[str, Any]]:
        """Return a waiting job; one for each remaining subjob of a job array, as many as the machine may start."""
        queue = str(job.get("queue") or "default")
        held = why_held(job)
        chunks: list[dict[str, Any]] = [{"units": 1, "request": {"cores": 1}}]
        try:
            chunks, words = chunks_of(job)
            place = place_of(str((job.get("Resource_List") or {}).get("place") or ""))
            chunks = bound(self.sets, name, queue, place, chunks, words, self.nodes)
        except WrongValue as e:
            held = held or str(e)
        for chunk in chunks:
            chunk["request"] = {r: n for r, n in chunk["request"].items() if n or r in self.kinds}
        waiting: dict[str, Any] = {
            "submit": moment(job, self.zone, "ctime", "qtime") or self.now,
            "walltime": _walltime(job),
            **(chunks[0] if len(chunks) == 1 else {"chunks": chunks}),
            "queue": queue,
            **_texts(job),
        }
        later = moment(job, self.zone, "Execution_Time")
        if later is not None and later > self.now:
            waiting["earliest_start"] = later
        if held:
            waiting["held"] = held
        if job.get("array") == "True":
            return self._subjobs(name, job, waiting)
        return [{"id": name} | waiting]

    def _subjobs(self, name: str, job: Values, waiting: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the remaining subjobs of a job array, all of which wait as ``waiting`` does."""
        left = str(job.get("array_indices_remaining") or "").strip("- ")
        cores = sum(each.get("cores", 0) for each in self.capacity.values())
        try:
            tasks = waiting_tasks(left, most_listed(cores, self.subjobs))
        except WrongValue as e:
            return [{"id": name} | waiting | {"held": str(e)}]
        self.subjobs += len(tasks.indices)
        if tasks.more:
            self.skipped[f"subjob of array {name} after the first {len(tasks.indices):,} that wait"] += tasks.more
        most_at_once = amount_of("max_run_subjobs", str(job.get("max_run_subjobs") or "0"))
        limit = most_at_once or tasks.limit
        if limit:
            self.limits[_array(name)] = limit
            waiting = waiting | {"array": _array(name)}
        return [{"id": name.replace("[]", f"[{k}]")} | waiting for k in tasks.indices]

    def share_nodes(self) -> None:
        """Give each job its share of the resources that stand for whole nodes; all jobs must have been added."""
        self.sets.shared(self.waiting)
        for job in self.running:
            for held in job["nodes"].values():
                held |= self.sets.of_a_job

    def arrays(self) -> list[dict[str, Any]]:
        """Return the job arrays with a limit, and how many of their subjobs run."""
        running = Counter(_array(job["id"]) for job in self.running)
        return [{"name": array, "limit": limit, "running": running[array]} for array, limit in self.limits.items()]

    def state_of_nodes(self, begun: Container[str]) -> list[dict[str, Any]]:
        """Return the nodes; ``begun``: those on which a known reservation has begun."""
        jobs_on = Counter(node for job in self.running for node in job["nodes"])
        states = []
        for name, node in self.listed.items():
            capacity = {r: self.capacity[name].get(r, 0) for r in self.kinds}
            state = _node(name, node, capacity, self.used[name], name in begun)
            state["capacity"] |= self.sets.capacity(name, jobs_on[name])
            if state.get("free"):  # something is there that is no job of the list
                state["free"] |= self.sets.free_beside_others(name, jobs_on[name])
            states.append(state)
        return states


def _numeric(jobs: Values, nodes: Nodes) -> list[str]:
    """Return the resources beside cores, GPUs and memory of which waiting jobs ask for amounts on nodes."""
    numeric: dict[str, None] = {}
    for job in (jobs.get("Jobs") or {}).values():
        try:
            numeric |= dict.fromkeys(kind for words in chunks_of(job)[1] for kind in consumed(words, nodes))
        except WrongValue:  # it is held with this reason when it is read
            continue
    return list(numeric)


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
    if text:
        return max(1, int(duration(str(text))))
    return YEAR


def _texts(job: Values) -> dict[str, str]:
    texts = {"user": str(job.get("Job_Owner") or "").partition("@")[0], "name": str(job.get("Job_Name") or "")}
    return {key: text for key, text in texts.items() if text}
