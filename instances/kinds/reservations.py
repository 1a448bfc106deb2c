"""The tables ``[[reservations]]`` of an ``instance.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...models.dispatch.jobs import Job, Queue
from ...models.platform import LATEST, MOST_CAPACITY, Platform, ProblemError
from ...models.production.contradictions import of_reservations
from ...models.production.reservations import MOST_REPETITIONS, PERIODS, WEEK_DAYS, Repeat, Reservation
from ..files.folder import Table

TIMES = ("submitted", "start", "duration")  # in seconds; in the file with the suffix _s


def read_reservations(
    settings: Table, platform: Platform, queues: Sequence[Queue], jobs: Sequence[Job]
) -> tuple[Reservation, ...]:
    """Return the reservations of an instance; mistakes and contradictions are recorded as faults."""
    if "reservations" not in settings.values:
        return ()
    tables = settings.tables("reservations")
    before = len(settings.folder.faults)
    found = [_reservation(table) for table in tables]
    if len(settings.folder.faults) > before:
        return ()
    listed = [r for r in found if r is not None]
    users = {j.user for j in jobs if j.user}
    for fault in of_reservations(listed, platform, queues, users):
        tables[fault.row].add_fault(_key(fault.field), fault.expected, fault.found)
    return tuple(listed)


def _key(field: str) -> str:
    return f"{field}_s" if field in TIMES else field


def _reservation(table: Table) -> Reservation | None:
    before = len(table.folder.faults)
    table.only("name", "queue", "users", "submitted_s", "start_s", "duration_s", "units", "request", "repeat")
    values: dict[str, Any] = {
        "name": table.text("name"),
        "queue": table.text("queue"),
        "users": _texts(table, "users"),
        "submitted": table.whole("submitted_s", -LATEST, 0, most=LATEST),
        "start": table.whole("start_s", -LATEST, most=LATEST),
        "duration": table.whole("duration_s", 1, most=LATEST),
        "units": table.whole("units", 1, most=MOST_CAPACITY),
        "request": table.wholes("request", most=MOST_CAPACITY),
        "repeat": _repeat(table),
    }
    if len(table.folder.faults) > before:
        return None
    try:
        return Reservation(**values)
    except ProblemError as e:
        _, field, text = str(e).split(": ", 2)
        expected, _, value = text.removeprefix("expected ").rpartition(", found ")
        table.add_fault(_key(field), expected, value)
        return None


def _repeat(table: Table) -> Repeat | None:
    if "repeat" not in table.values:
        return None
    inside, before = table.table("repeat"), len(table.folder.faults)
    inside.only("every", "count", "days", "second_0")
    every, count = inside.text("every"), inside.whole("count", 1, most=MOST_REPETITIONS)
    days, second_0 = _texts(inside, "days"), inside.text("second_0", WEEK_DAYS[0])
    if every and every not in PERIODS:
        inside.add_fault("every", f"one of {', '.join(PERIODS)}", every)
    for key, names in (("days", days), ("second_0", (second_0,))):
        for day in names:
            if day not in WEEK_DAYS:
                inside.add_fault(key, f"week days of {', '.join(WEEK_DAYS)}", day)
    return Repeat(every, count, days, second_0) if len(table.folder.faults) == before else None


def _texts(table: Table, key: str) -> tuple[str, ...]:
    value = table.values.get(key, [])
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    table.add_fault(key, "a list of texts", value)
    return ()


def reservation_tables(reservations: Sequence[Reservation]) -> dict[str, Any]:
    """Return the reservations as tables of ``instance.toml``."""
    return {"reservations": [_table(r) for r in reservations]} if reservations else {}


def _table(r: Reservation) -> dict[str, Any]:
    head = {"name": r.name, "queue": r.queue, "users": list(r.users), "submitted_s": r.submitted, "start_s": r.start}
    values = {**head, "duration_s": r.duration, "units": r.units, "request": dict(r.request)}
    if r.repeat is not None:
        pattern = r.repeat
        values["repeat"] = {
            "every": pattern.every, "count": pattern.count, "days": list(pattern.days), "second_0": pattern.second_0
        }  # fmt: skip
    return values
