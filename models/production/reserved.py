"""A reservation of the machine with its nodes, as dispatchers see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Reserved(NamedTuple):
    """A reservation of the machine that was accepted: jobs must not run into it by their walltimes.

    Parameters
    ----------
    name : str
        Its name, with the number of the repetition if it is repeated.
    queue : str
        Its private queue, whose jobs run inside of it and are not started by dispatchers. Empty: none.
    start, end : int
        Seconds.
    nodes : mapping of str to int
        Node name -> reserved units.
    request : mapping of str to int
        The reserved amount of each resource per unit.
    """

    name: str
    queue: str
    start: int
    end: int
    nodes: Mapping[str, int]
    request: Mapping[str, int]
