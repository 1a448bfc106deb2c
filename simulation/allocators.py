"""Allocators: how compiled policies choose the nodes of a job; ``heuristics.kernels.events.state`` carries them out.

- ``first-fit``: the nodes in the order of the platform.
- ``best-fit``: the nodes in increasing order of ``sum over resources r of free[n, r] / capacity[n, r]``; ties in the
  order of the platform [Galleguillos2019, 2.2].
- one of a third party: the nodes in its own order.

All put as many units on a node as fit before they go to the next node.

Examples
--------
The nodes with most cores last:

>>> import schedlab as sl
>>> class SmallFirst:
...     name = "small-first"
...
...     def order(self, platform):
...         return sorted(platform.nodes, key=lambda node: platform.capacity[node])
>>> sl.simulate("eurora_99", "easy", allocator=SmallFirst()).allocator
'small-first'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..errors import SchedlabError
from ..models import Platform
from ..models.array_types import Ints
from ..models.excerpt import excerpt
from ..models.plugins import PluginError, WrongAnswer
from ..models.registry import Registry

FIRST_FIT, BEST_FIT = "first-fit", "best-fit"


class Allocator(Protocol):
    """The order in which nodes are filled.

    Attributes
    ----------
    name : str
        The allocator as a text.
    """

    @property
    def name(self) -> str:
        """The allocator as a text."""

    def order(self, platform: Platform) -> Sequence[str]:
        """Return the names of all nodes, those that are filled first first; called before the replay.

        Parameters
        ----------
        platform : Platform
            The machine.
        """


@dataclass(frozen=True)
class FirstFit:
    """The nodes in the order of the platform."""

    name = FIRST_FIT

    def order(self, platform: Platform) -> Sequence[str]:
        """Return the order of the platform."""
        return platform.nodes


@dataclass(frozen=True)
class BestFit:
    """The fullest nodes first, ties in the order of the platform [Galleguillos2019, 2.2]."""

    name = BEST_FIT

    def order(self, platform: Platform) -> Sequence[str]:
        """Return the order of nodes that are equally full."""
        return platform.nodes


ALLOCATORS: Registry[Allocator] = Registry(
    "allocator",
    "schedlab.allocators",
    {FIRST_FIT: FirstFit, BEST_FIT: BestFit},
    parts=("name", "order"),
    docs="docs/extending.md",
)
"""The allocators by name: an allocator, or a class or function that returns one."""


def allocator_of(what: str | Allocator | type[Allocator]) -> Allocator:
    """Return an allocator by its name, ``NAME[:OPTION=VALUE]...`` or ``module:attribute``; an object is checked and returned.

    Raises
    ------
    UnknownName
        If there is no such allocator or option; the message lists similar names.
    WrongOption
        If the value of an option is not allowed.
    PluginError
        If it cannot be imported or created, or lacks a part.

    Examples
    --------
    >>> allocator_of("first-fit")
    FirstFit()
    """
    return ALLOCATORS.make(what)


def rank_of(allocator: Allocator, platform: Platform) -> Ints | None:
    """Return the rank of each node in the order of a third party's allocator; None for those of schedlab.

    Raises
    ------
    PluginError, WrongAnswer
        If the allocator raises, or does not return each node once.
    """
    if isinstance(allocator, FirstFit | BestFit):
        return None
    try:
        order = list(allocator.order(platform))
    except SchedlabError:
        raise
    except Exception as e:
        raise PluginError(f"allocator {allocator.name} raised in order: {type(e).__name__}: {e}") from e
    number = {node: n for n, node in enumerate(platform.nodes)}
    if len(order) != len(number) or set(order) != set(number):
        raise WrongAnswer(
            f"allocator {allocator.name}: order returned {excerpt(order)}; expected the names of all {len(number)} nodes, "
            "each once"
        )
    rank = np.empty(len(order), np.int64)
    rank[[number[node] for node in order]] = np.arange(len(order))
    return rank
