"""What a waiting job of PBS asks for beyond amounts: ``place``, hosts and vnodes, resources of nodes; and what holds it.

A job starts only if all that it asks for is understood: what is not, holds it, and the reason is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...errors import WrongValue
from ..formats.pbs import NAMES, amount_of, geometry
from .node_sets import NodeSets

Values = Mapping[str, Any]
SHOWN = 60
# of a chunk: what processes see, not what nodes must have
NOT_OF_NODES = {"mpiprocs", "ompthreads", "nchunk"}
# of a whole job: limits of times and sizes, and what is repeated in select
NOT_OF_SERVERS = {
    "select", "place", "nodes", "nodect", "walltime", "min_walltime", "max_walltime", "soft_walltime", "cput", "pcput", "pmem",
    "pvmem", "vmem", "mpiprocs", "ompthreads", "nice", "file", "procs", "host", "vnode", "neednodes", "preempt_targets", *NAMES,
}  # fmt: skip
ARRANGEMENTS, SHARINGS = ("free", "pack", "scatter", "vscatter"), ("excl", "exclhost", "shared")
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
    return None if other is None else f"asks the server for {other[:SHOWN]}, of which it is not known what is free"


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
    words = [own | _words(part) for part in parts] if asked["select"] else [own | _node_words(asked.get("nodes", ""))]
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
        asked = words[k] if words else {}
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
        whole = sets.whole() if place.sharing in ("excl", "exclhost") else {}
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
