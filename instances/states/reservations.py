"""Reservations of the machine in a state file."""

from __future__ import annotations

from collections.abc import Mapping, Set

from ...models.production.reserved import Reserved
from .entries import Entry

Amounts = Mapping[str, int]


def reservations_of(
    top: Entry, capacity: Mapping[str, Amounts], queues: Set[str], now: int, shift: int
) -> tuple[Reserved, ...]:
    """Return the reservations of a state, by start; record the faults.

    Parameters
    ----------
    top
        The state file.
    capacity
        Node name -> what the node has.
    queues
        The names of the queues.
    now, shift
        The time of the state and the seconds that are added to the times of the file.
    """
    if "reservations" not in top.values:
        return ()
    names, found = set[str](), list[Reserved]()
    for entry in top.entries("reservations"):
        entry.only("name", "start", "end", "nodes", "queue")
        name, queue = entry.text("name"), entry.text("queue", "")
        if name in names:
            entry.add_fault("name", "each reservation once", name)
        names.add(name)
        if queue and queue not in queues:
            entry.add_fault("queue", f"one of the queues {', '.join(sorted(queues)) or '(none)'}", queue)
        start, end = entry.whole("start", 0) + shift, entry.whole("end", 0) + shift
        if end <= start:
            entry.add_fault("end", f"a time after its start, {start - shift}", end - shift)
        elif end <= now:
            entry.add_fault("end", f"a time after now, {now - shift}: the reservation is over", end - shift)
        found.extend(
            Reserved(name, queue, start, end, dict.fromkeys(members, 1), dict(amounts))
            for amounts, members in _parts(entry, capacity).items()
        )
    return tuple(sorted(found, key=lambda r: r.start))


def _parts(entry: Entry, capacity: Mapping[str, Amounts]) -> dict[tuple[tuple[str, int], ...], list[str]]:
    """Return the nodes of a reservation by the amounts that it holds on them."""
    found: dict[tuple[tuple[str, int], ...], list[str]] = {}
    uses = entry.entry("nodes")
    for node in uses.values:
        amounts = uses.amounts(node)
        if node not in capacity:
            entry.add_fault(f"nodes.{node}", "a node of the list nodes", node)
            continue
        for resource, amount in amounts.items():
            if resource not in capacity[node]:
                expected = f"a resource of the node: {', '.join(capacity[node])}"
                entry.add_fault(f"nodes.{node}.{resource}", expected, resource)
            elif amount > capacity[node][resource]:
                expected = f"at most the {capacity[node][resource]} {resource} that the node has"
                entry.add_fault(f"nodes.{node}.{resource}", expected, amount)
        found.setdefault(tuple(sorted((r, n) for r, n in amounts.items() if n)), []).append(node)
    found.pop((), None)
    if not found and isinstance(entry.values.get("nodes"), dict) and set(uses.values) <= set(capacity):
        entry.add_fault("nodes", "at least one node with the amounts that are reserved", entry.values.get("nodes"))
    return found
