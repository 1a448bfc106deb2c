"""What jobs ask of nodes beyond amounts: lists of hosts, tasks of arrays, sets of nodes, whole and different nodes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import chain, islice, product
from typing import Any, NamedTuple

from ...errors import WrongValue
from ...models.platform import MOST_CAPACITY
from ..files.lines import span_of, whole_of

# --- Lists of hosts in the notation of Slurm.

MOST_HOSTS = 100_000  # names in one list
SHOWN = 60  # characters of a list in a message
# ranges in brackets, the text between them, the comma between two entries, a bracket without its pair
PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\],]+)|(,)|([\[\]])")
Choices = list[list[str]]  # of an entry: the texts that may stand at each place


def hosts_of(text: str) -> list[str]:
    """Return the names in a list of hosts. Raises WrongValue if it is malformed.

    Examples
    --------
    >>> hosts_of("login,n[01-03,7]-ib")
    ['login', 'n01-ib', 'n02-ib', 'n03-ib', 'n7-ib']
    """
    return ["".join(words) for choices in _entries(text) for words in product(*choices)]


def count_of_hosts(text: str) -> int:
    """Return the number of names in a list of hosts. Raises WrongValue if it is malformed.

    >>> count_of_hosts("login,n[01-03,7]-ib")
    5
    """
    return sum(math.prod(map(len, choices)) for choices in _entries(text))


def _entries(text: str) -> list[Choices]:
    """Return the entries of a list; all of them together have at most MOST_HOSTS names. Raises WrongValue."""
    entries: list[Choices] = [[]]
    for ranges, plain, comma, bracket in PIECE.findall(text):
        if bracket:
            raise WrongValue(f"the list of hosts {text[:SHOWN]!r}: expected a ] for each [")
        if comma:
            entries.append([])
        else:
            entries[-1].append([plain] if plain else numbers(ranges))
    entries = [choices for choices in entries if choices]
    if sum(math.prod(map(len, choices)) for choices in entries) > MOST_HOSTS:
        raise WrongValue(f"a list of hosts with more than {MOST_HOSTS:,} names: {text[:SHOWN]!r}")
    return entries


def numbers(text: str) -> list[str]:
    """Return the numbers of a list of ranges, with their leading zeros. Raises WrongValue if it is malformed.

    Examples
    --------
    >>> numbers("08-10,20-30:5")
    ['08', '09', '10', '20', '25', '30']
    """
    texts: list[str] = []
    for part in text.split(","):
        listed = span_of(part.strip())
        if listed is None:
            raise WrongValue(f"the ranges {text[:SHOWN]!r}: expected numbers and ranges such as 1-4,8 or 0-20:5")
        if len(texts) + len(listed) > MOST_HOSTS:
            raise WrongValue(f"the ranges {text[:SHOWN]!r} have more than {MOST_HOSTS:,} numbers")
        width = len(part.strip().partition("-")[0])
        texts.extend(f"{n:0{width}d}" for n in listed)
    return texts


# --- Tasks of job arrays: those that still wait, and the number of them that may run at once.

FEWEST = 1000  # tasks of an array that are listed, if the machine has fewer cores
MOST_TASKS = 100_000  # tasks of all arrays of a state that are listed: each is a waiting job


class WaitingTasks(NamedTuple):
    """The waiting tasks of an array.

    Attributes
    ----------
    indices
        The indices of the first of them.
    more
        How many of the listed tasks are beyond these.
    limit
        How many tasks may run at once; None: no limit.
    cut
        Whether the list ends with "...": Slurm prints only so many characters (``SLURM_BITSTR_LEN``).
    """

    indices: list[int]
    more: int
    limit: int | None
    cut: bool


def most_listed(cores: int, listed: int) -> int:
    """Return how many tasks of a further array are listed: as many as the machine may start, in all at most MOST_TASKS.

    >>> most_listed(16, 0), most_listed(5000, 99_000), most_listed(10**12, MOST_TASKS)
    (1000, 1000, 0)
    """
    return min(max(FEWEST, cores), MOST_TASKS - listed)


def waiting_tasks(text: str, most: int) -> WaitingTasks:
    """Return the tasks of a text such as ``5-9,12%2``, at most ``most`` of them. Raises WrongValue if it is malformed.

    >>> waiting_tasks("1-1000000%7", 3)
    WaitingTasks(indices=[1, 2, 3], more=999997, limit=7, cut=False)
    >>> waiting_tasks("[1-3,8,...%2]", 9), waiting_tasks("0-20:10,35...", 9).indices
    (WaitingTasks(indices=[1, 2, 3, 8], more=0, limit=2, cut=True), [0, 10, 20])
    """
    listed, percent, limit = re.sub(r"[\[\]\s]", "", text).partition("%")
    most_at_once = whole_of(limit) if percent else None
    if percent and most_at_once is None:
        raise WrongValue(f"the tasks {text[:SHOWN]!r}: expected a number after %")
    listed, cut, rest = listed.partition("...")
    if rest:
        raise WrongValue(f"the tasks {text[:SHOWN]!r}: expected nothing after ...")
    words = listed.split(",")
    if cut:  # what stands before ... without a comma may be a part of a number
        words.pop()
    ranges = []
    for word in filter(None, words):
        listed_here = span_of(word)
        if listed_here is None:
            raise WrongValue(f"the tasks {text[:SHOWN]!r}: expected numbers and ranges such as 1-4,8 or 0-20:5")
        ranges.append(listed_here)
    indices = list(islice(chain.from_iterable(ranges), most))
    return WaitingTasks(indices, sum(map(len, ranges)) - len(indices), most_at_once or None, bool(cut))


# --- What jobs ask of nodes beyond amounts, as resources of nodes: a set of nodes, a whole node, different nodes for its units.
#
# A set of nodes is a resource of which each unit of its jobs requests 1 and each node of the set has plenty. A job that takes
# whole nodes requests all of the resource ``node``, of which every other job requests 1; a node that shares its jobs whatever
# they ask for has plenty of that. Where nodes are never shared, every job requests 1 of the resource ``job of its own``, of
# which such a node has 1. A job whose units must be on different nodes requests 1 of a resource of its own, of which each node
# has 1.

PLENTY = 10**6
SHARE = "node"
ALONE = "job of its own"
MOST_SETS = 400  # resources of nodes; each is a column of the arrays that dispatchers work on


class NodeSets:
    """The resources that stand for sets of nodes and the like, while a state is made.

    Parameters
    ----------
    nodes
        The names of all nodes.
    """

    def __init__(self, nodes: Iterable[str]) -> None:
        self.nodes = frozenset(nodes)
        self.members: dict[str, frozenset[str]] = {}
        self.each: dict[str, int] = {}
        self.whole_nodes = False
        self.one_job: set[str] = set()  # nodes that are never shared
        self.always_shared: set[str] = set()  # nodes that no job takes whole
        self._labels: dict[frozenset[str], str] = {}

    def only_on(self, members: frozenset[str], label: str) -> dict[str, int] | None:
        """Return the request that binds a unit to some nodes; None if there are too many sets of nodes."""
        if members >= self.nodes:
            return {}
        if members not in self._labels:
            if len(self.members) >= MOST_SETS:
                return None
            own = label
            k = 2
            while own in self.members:
                own = f"{label} ({k})"
                k += 1
            self._labels[members] = own
            self.members[own] = members
            self.each[own] = PLENTY
        return {self._labels[members]: 1}

    def apart(self, job: str) -> dict[str, int] | None:
        """Return the request that puts each unit of a job on a node of its own; None if there are too many."""
        if len(self.members) >= MOST_SETS:
            return None
        own = f"different nodes for {job}"
        self.members[own] = self.nodes
        self.each[own] = 1
        return {own: 1}

    def whole(self) -> dict[str, int]:
        """Return the request that takes a whole node, also of what it does not ask for."""
        self.whole_nodes = True
        return {SHARE: PLENTY}

    def capacity(self, node: str, jobs: int = 0) -> dict[str, int]:
        """Return the resources of a node on which so many jobs run; all waiting jobs must be known."""
        listed = {own: self.each[own] for own, members in self.members.items() if node in members}
        return listed | self._of_node(node, jobs)

    def free_beside_others(self, node: str, jobs: int) -> dict[str, int]:
        """Return what is free of the shares of a node on which something is beside so many jobs of the list."""
        return {own: max(0, n - jobs - 1) for own, n in self._of_node(node, jobs).items()}

    def _of_node(self, node: str, jobs: int) -> dict[str, int]:
        amounts = {}
        if self.whole_nodes:
            amounts[SHARE] = MOST_CAPACITY if node in self.always_shared else PLENTY
        if self.one_job:
            amounts[ALONE] = max(1, jobs) if node in self.one_job else PLENTY
        return amounts

    @property
    def of_a_job(self) -> dict[str, int]:
        """What a running job has of each of its nodes, and a waiting one requests of them if it does not take them whole."""
        amounts = {SHARE: 1} if self.whole_nodes else {}
        if self.one_job:
            amounts[ALONE] = 1
        return amounts

    def shared(self, jobs: Iterable[Mapping[str, Any]]) -> None:
        """Let every waiting job request its share of nodes."""
        for job in jobs:
            for part in job.get("chunks", [job]):
                for own, amount in self.of_a_job.items():
                    part["request"].setdefault(own, amount)
