"""Reservations of PBS: ``pbs_rstat -f``, which has no JSON.

Each reservation is a paragraph of lines ``name = value`` after ``Resv ID: ...``. What it holds is in its ``resv_nodes``,
which has the form of the ``exec_vnode`` of jobs. Its jobs are in its own ``queue``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any

from ...errors import WrongValue
from ..formats.pbs import duration
from .pbs_fields import amounts_on, moment

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
    found = []
    for name, values in _paragraphs(text):
        start, end = moment(values, zone, "reserve_start"), moment(values, zone, "reserve_end")
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
            found.append({"name": name, "start": start, "end": end, "nodes": nodes, "queue": queue})
    return found


def _paragraphs(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (id, values) of each reservation; lines that begin with a tab continue the line before."""
    name, values = "", dict[str, str]()
    for line in text.replace("\n\t", "").splitlines():
        head = HEAD.match(line)
        if head is not None:
            if name:
                yield name, values
            name, values = head[1], {}
        elif " = " in line:
            key, value = line.split(" = ", 1)
            values[key.strip()] = value.strip()
        elif line.strip():
            raise WrongValue(f"the line {line[:60]!r} of the reservations; expected the output of pbs_rstat -f")
    if name:
        yield name, values
    elif values:
        raise WrongValue("the reservations begin without 'Resv ID: ...'; expected the output of pbs_rstat -f")
