"""The description of a replay in its record, and the platform of a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...instances.report import Report
from ...models.platform import NodeGroup, Platform
from ..runs.replay_settings import ReplaySettings

if TYPE_CHECKING:
    from ...simulation.result import Simulation

RESERVED, CHECKPOINT, EVICTED = "reserved", "checkpoint", "evicted"
SHOWN = 10  # unreadable lines and left-out jobs that a record lists


def described(simulation: Simulation, replay: ReplaySettings) -> dict[str, Any]:
    """Return the description of a replay for its record."""
    return {
        "predictor": simulation.predictor,
        "allocator": simulation.allocator,
        "options": replay.fields,
        "jobs": len(simulation.workload),
        "platform": [
            {"name": g.name, "count": g.count, "capacity": dict(g.capacity)} for g in simulation.platform.groups
        ],
        "notes": list(simulation.notes),
        "report": report_as_json(simulation.workload.report),
    }


def report_as_json(report: Report) -> dict[str, Any]:
    """Return what was repaired or left out when a trace was read: counts, the first unreadable lines and left-out jobs."""
    return {
        "repairs": dict(report.repairs),
        "bad_lines": len(report.bad_lines),
        "first_bad_lines": [str(b) for b in report.bad_lines[:SHOWN]],
        "dropped": len(report.dropped),
        "first_dropped": [f"{job}: {why}" for job, why in report.dropped[:SHOWN]],
        **{
            name: dict(counts)
            for name, counts in (("skipped", report.skipped), ("not_obeyed", report.not_obeyed))
            if counts
        },
        "notes": list(report.notes),
    }


def platform_of(groups: list[dict[str, Any]]) -> Platform:
    """Return the platform of a record."""
    return Platform([NodeGroup(g["name"], g["count"], g["capacity"]) for g in groups])


class Area(NamedTuple):
    """A time in which a node is reserved, takes no starts, or is left by a job.

    Parameters
    ----------
    node : str
        The name of the node.
    start, end : int
        Seconds; the end is None if there is none.
    state : str
        ``RESERVED`` for a reservation, ``CHECKPOINT`` while a job writes one to leave, ``EVICTED`` where a job left, else
        the state of the node, such as "down".
    """

    node: str
    start: int
    end: int | None
    state: str


def areas_of(record: Mapping[str, Any]) -> Iterator[Area]:
    """Yield the reservations and outages of the record of a replay, node by node."""
    for b in (record.get("production") or {}).get("bookings", ()):
        if b["accepted"] is not None:
            for node in b["nodes"] if (b["ended"] or b["end"]) > b["start"] else ():
                yield Area(node, b["start"], b["ended"] or b["end"], RESERVED)
    for o in record.get("outages") or ():
        yield Area(o["node"], o["start"], o["end"], o["state"])
