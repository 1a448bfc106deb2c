"""Reservations and server events of replays: the part of them that a replay has, and their form in records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....instances.workload import Workload
from ....models.node_states.events import NodeEvent
from ....models.platform import Platform
from ....models.production import Reservation, ServerEvent, server_event_kinds
from ...errors import WrongUse
from ...records.form import NUMBER, TEXT, either, fields, integer, mapping, maybe, several
from ...runs.replay_settings import ReplaySettings

if TYPE_CHECKING:
    from ....simulation.features.batch_server import Event

JOB_CHANGE = {"time": integer(), "job": TEXT}
PRODUCTION = maybe(
    fields(
        {
            "bookings": several(
                fields(
                    {
                        **dict.fromkeys(("label", "reservation", "outcome", "why"), TEXT),
                        **dict.fromkeys(("start", "end"), integer()),
                        "nodes": mapping(integer(1)),
                        **dict.fromkeys(("accepted", "ended"), maybe(integer())),
                    }
                )
            ),
            "left": mapping(TEXT),
            "refused": several(
                fields(
                    {
                        "time": integer(),
                        **dict.fromkeys(("kind", "subject", "why"), TEXT),
                        "value": maybe(either(NUMBER, TEXT)),
                    }
                )
            ),
            "moves": several(fields({**JOB_CHANGE, "before": TEXT, "after": TEXT})),
            "walltimes": several(fields({**JOB_CHANGE, "before": integer(1), "after": integer(1)})),
            "private": several(fields({"job": TEXT, "start": integer(), "booking": integer(0)})),
        },
        {"left_at": mapping(integer())},  # records of earlier versions have none
    )
)
"""The form of the field ``production`` of a record, see ``simulation.outputs.production``."""

OUTAGES = several(fields({**dict.fromkeys(("node", "state"), TEXT), "start": integer(), "end": maybe(integer())}))
"""The form of the field ``outages`` of a record, see ``simulation.outputs.production.outages_json``."""


def server_events(events: Sequence[Event]) -> list[ServerEvent]:
    """Return the events of the batch server."""
    return [e for e in events if isinstance(e, ServerEvent)]


def node_events(events: Sequence[Event]) -> list[NodeEvent]:
    """Return the events of nodes."""
    return [e for e in events if isinstance(e, NodeEvent)]


def of_part(events: Sequence[Event], workload: Workload) -> tuple[Event, ...]:
    """Return the events without those of jobs that are not in this part of a workload."""
    kinds, jobs = server_event_kinds(), {*workload.ids, *(name for name, _ in workload.report.dropped)}
    return tuple(e for e in events if isinstance(e, NodeEvent) or kinds[e.kind].subject != "job" or e.subject in jobs)


def with_production(
    workload: Workload,
    platform: Platform,
    events: Sequence[Event],
    reservations: Sequence[Reservation],
    replay: ReplaySettings,
) -> Workload:
    """Return the workload without jobs whose users may not use their private queue; check events and reservations.

    Raises
    ------
    WrongUse
        If they contradict the jobs, the machine or the settings of the replay.
    """
    server = server_events(events)
    if not server and not reservations:
        return workload
    from ....simulation.features.batch_server import batch_server

    if replay.load is not None:
        raise WrongUse(
            f"--load {replay.load:g}: changes the submit times, and the times of reservations and server events would not "
            "fit to them; leave it out"
        )
    try:
        made = batch_server(server, reservations, workload, platform, False)
        assert made is not None
        return made.jobs(workload, platform)
    except ValueError as e:
        raise WrongUse(str(e)) from e
