"""Reservations of Slurm: ``scontrol show reservations --json``.

The fields are those of Slurm's OpenAPI schema (``reservation_info``): ``name``, ``start_time``, ``end_time``, ``node_list``,
and ``core_specializations``, which lists the cores on the nodes of which only a part is reserved. Of such nodes only
cores are reserved.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...errors import WrongValue
from .hosts import hosts_of, numbers
from .slurm_fields import number

YEAR = 365 * 86400
Values = Mapping[str, Any]


def names_of(job: Values) -> list[str]:
    """Return the names of the reservations that a job requests; it takes one of them."""
    return [name.strip() for name in str(job.get("resv_name") or "").split(",") if name.strip()]


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
    found = []
    for each in values.get("reservations", []):
        name, start = str(each["name"]), number(each.get("start_time"))
        if start is None:
            raise WrongValue(f"reservation {name!r} has no start_time; expected scontrol show reservations --json")
        known_end = number(each.get("end_time"))
        end = start + YEAR if known_end is None else known_end
        held = _held(each, nodes)
        if end <= max(start, now):
            skipped["reservation in the past"] += 1
        elif not held:
            skipped["reservation without nodes of the list (such as licences)"] += 1
        else:
            found.append({"name": name, "start": start, "end": end, "nodes": held, "queue": f"reservation {name}"})
    return found


def _held(each: Values, nodes: Values) -> dict[str, dict[str, int]]:
    """Return node -> reserved amounts: all of the node, or cores if only some of them are reserved."""
    cores: Counter[str] = Counter()
    for part in each.get("core_specializations") or ():
        listed = re.sub(r"\s", "", str(part.get("core") or ""))
        if listed and part.get("node") in nodes:
            cores[part["node"]] += len(numbers(listed)) * nodes[part["node"]].get("threads", 1)
    found = {}
    for name in hosts_of(each.get("node_list") or ""):
        if name in nodes:
            capacity = {r: n for r, n in nodes[name]["capacity"].items() if n}
            some = 0 < cores[name] < capacity.get("cores", 0)
            held = {"cores": cores[name]} if some else capacity
            if held:
                found[name] = held
    return found
