"""The platform: groups of identical nodes with a capacity of each resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..errors import SchedlabError
from .arguments import Fields, checked, is_list, named, no_text, shown, whole_amounts, whole_records
from .comparing import hashable
from .words import UnknownName, with_short_repr

GROUP = Fields(one=("count",), amounts=("capacity",), names=("name",))
MOST_NODES = 2_000_000  # of a platform; the largest machines have a few hundred thousand nodes
MOST_CAPACITY = 10**12  # of one resource on one node; the total over MOST_NODES still fits 64 bits
LATEST = 10**10  # seconds, 317 years; Unix times are far below it


class ProblemError(SchedlabError, ValueError):
    """The data of a problem contradict each other; the message names the job, queue or node."""


@named
@with_short_repr
@hashable
@dataclass(frozen=True)
class NodeGroup:
    """A group of identical nodes.

    Parameters
    ----------
    name : str
        The name of the group; its nodes are ``name-1``, ``name-2``, ...
    count : int
        The number of nodes.
    capacity : mapping of str to int
        The amount of each resource on one node; a missing resource is 0. Memory is in MB.
    features : tuple of str, optional
        The features of its nodes, which jobs may ask for (``Job.features``).

    Examples
    --------
    >>> NodeGroup("gpu", count=2, capacity={"cores": 16, "gpus": 2}).nodes
    ('gpu-1', 'gpu-2')
    """

    name: str
    count: int
    capacity: Mapping[str, int]
    features: tuple[str, ...] = field(default=(), kw_only=True)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes, numbered from 1 with leading zeros.

        Examples
        --------
        >>> NodeGroup("gpu", 2, {"cores": 16}).nodes
        ('gpu-1', 'gpu-2')
        """
        width = len(str(self.count))
        return tuple(f"{self.name}-{i:0{width}d}" for i in range(1, self.count + 1))


@named
@with_short_repr
@hashable
@dataclass(frozen=True)
class NamedNodes(NodeGroup):
    """A group of identical nodes with names of their own, such as those of a real machine.

    Parameters
    ----------
    name : str
        The name of the group.
    count : int
        The number of nodes.
    capacity : mapping of str to int
        The amount of each resource on one node; a missing resource is 0.
    names : tuple of str
        The names of the nodes, ``count`` different ones; different from those of other groups, too.

    Examples
    --------
    >>> Platform([NamedNodes("thin", 2, {"cores": 16}, ("r1i0n0", "r1i0n1"))]).nodes
    ('r1i0n0', 'r1i0n1')
    """

    names: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return self.names


@checked(values=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class Platform:
    """All nodes of a machine.

    Parameters
    ----------
    groups : sequence of NodeGroup
        The groups of nodes.
    licences : mapping of str to int, optional
        The number of licences of the whole machine, by their names.

    Attributes
    ----------
    resources : tuple of str
        The names of the resources.
    nodes : tuple of str
        The names of the nodes, group after group.

    Raises
    ------
    ProblemError
        If a count, a capacity or a number of licences is wrong, two groups have the same name, or there are no nodes or too many.

    Examples
    --------
    >>> p = Platform([NodeGroup("gpu", 2, {"cores": 16, "gpus": 2}), NodeGroup("mic", 1, {"cores": 16, "mics": 2})])
    >>> p.resources, p.nodes, p.total("cores")
    (('cores', 'gpus', 'mics'), ('gpu-1', 'gpu-2', 'mic-1'), 48)
    """

    groups: Sequence[NodeGroup]
    licences: Mapping[str, int] = field(default_factory=dict)
    resources: tuple[str, ...] = field(init=False)
    nodes: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        groups, faults = whole_records(self.groups, GROUP, lambda g: f"node group {g.name!r}")
        if faults:
            raise ProblemError("\n".join(faults))
        object.__setattr__(self, "groups", tuple(map(_with_features, groups)))
        object.__setattr__(self, "licences", _whole_licences(self.licences))
        resources: dict[str, None] = {}
        if sum(group.count for group in self.groups if group.count > 0) > MOST_NODES:
            raise ProblemError(f"the platform has more than {MOST_NODES:,} nodes, which is the most that is supported")
        for group in self.groups:
            if group.count < 1:
                raise ProblemError(f"node group {group.name!r}: count is {group.count}, at least 1 is expected")
            for resource, amount in group.capacity.items():
                if amount < 0:
                    raise ProblemError(
                        f"node group {group.name!r}: the capacity of {resource} is {amount}; at least 0 is expected"
                    )
                if amount > MOST_CAPACITY:
                    raise ProblemError(
                        f"node group {group.name!r}: the capacity of {resource} is {amount:,}; "
                        f"at most {MOST_CAPACITY:,} is supported"
                    )
                resources[resource] = None
        names = [n for g in self.groups for n in g.nodes]
        if not names:
            raise ProblemError("the platform has no nodes")
        first: set[str] = set()  # names end with a number: two groups with one equal name have equal first names
        for group in self.groups:
            if group.nodes[0] in first:
                raise ProblemError(f"node {group.nodes[0]!r} is declared twice: two groups have the same name")
            first.add(group.nodes[0])
        wrong = next((n for n in names if type(n) is not str), "")
        if type(wrong) is not str:
            raise ProblemError(f"the name of a node {no_text(wrong)}")
        object.__setattr__(self, "resources", tuple(resources))
        object.__setattr__(self, "nodes", tuple(names))

    @cached_property
    def capacity(self) -> dict[str, tuple[int, ...]]:
        """The capacity of each node by its name: a tuple in the order of ``resources``."""
        return {n: vector for g in self.groups for vector in [self._vector(g)] for n in g.nodes}

    @cached_property
    def classes(self) -> dict[tuple[int, ...], tuple[str, ...]]:
        """The nodes of equal capacity, also of several groups: {capacity vector: node names}."""
        names_by_amounts: dict[tuple[int, ...], list[str]] = {}
        for group in self.groups:
            names_by_amounts.setdefault(self._vector(group), []).extend(group.nodes)
        return {vector: tuple(nodes) for vector, nodes in names_by_amounts.items()}

    def _vector(self, group: NodeGroup) -> tuple[int, ...]:
        return tuple(group.capacity.get(r, 0) for r in self.resources)

    def total(self, resource: str) -> int:
        """Return the capacity of the whole machine; raise UnknownName for a resource that it does not have."""
        if not isinstance(resource, str) or resource not in self.resources:
            raise UnknownName("resource", resource, self.resources)
        return sum(g.count * g.capacity.get(resource, 0) for g in self.groups)

    def units_on(self, vector: Sequence[int], request: Sequence[int]) -> int:
        """Return the number of units with this request that fit an empty node of this capacity.

        Both are in the order of ``resources``. If the request is 0 for all of them, the number is 2**31.
        """
        return min((c // r for c, r in zip(vector, request, strict=True) if r > 0), default=2**31)


def _with_features(group: NodeGroup) -> NodeGroup:
    """Return a group whose features are a tuple of texts; raise ProblemError if they are anything else."""
    if group.features == ():
        return group
    if is_list(group.features):
        listed = tuple(group.features)
    else:
        listed = (None,)
    if not all(isinstance(name, str) and name for name in listed):
        raise ProblemError(
            f"node group {group.name!r}: features is {shown(group.features)}; a tuple of names is expected, such as ('ib',)"
        )
    return replace(group, features=listed)


def _whole_licences(licences: Mapping[str, int]) -> dict[str, int]:
    """Return licences with Python's integers; raise ProblemError for a number that is not whole, below 0, or too large."""
    made, faults = whole_amounts(licences, "licences of")
    faults += [f"licences of {name!r} is {n}; at least 0 is expected" for name, n in made.items() if n < 0]
    faults += [
        f"licences of {name!r} is {n:,}; at most {MOST_CAPACITY:,} is supported"
        for name, n in made.items()
        if n > MOST_CAPACITY
    ]
    if faults:
        raise ProblemError("\n".join(faults))
    return made
