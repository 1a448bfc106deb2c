"""Reservations and server events of replays as grids of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from .figures import NAMES, TextGrid
from .results import ReplayResults

DELETED = "deleted"


def production_grids(results: ReplayResults) -> list[TextGrid]:
    """Return what became of the reservations and of the jobs that server events changed; of the first seed of each."""
    kept = _kept(results)
    return [_bookings(kept), _jobs(kept)]


def _bookings(kept: Mapping[str, Mapping[str, Any]]) -> TextGrid:
    """Return a row for each repetition of a reservation, and for each of its fates if dispatchers differ."""
    rows: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for name, production in kept.items():
        runs = Counter(run["booking"] for run in production["private"])
        for k, b in enumerate(production["bookings"]):
            cells = (b["label"], f"{b['start']:,}", *_fate(b), f"{runs[k]:,}")
            rows.setdefault((k, cells), []).append(name)
    listed = [[*cells, ", ".join(names)] for (_, cells), names in sorted(rows.items(), key=lambda row: row[0][0])]
    meaning = (
        "requested: accepted or refused; started: the second in which its nodes were free for its jobs, in time for all that "
        "were accepted; ended: the second in which they were given back; runs: of jobs inside."
    )
    heads = ["reservation", "start s", "requested", "started", "ended", "runs", NAMES]
    return TextGrid("reservations", heads, listed, meaning)


def reasons(results: ReplayResults) -> dict[str, list[str]]:
    """Return why reservations were refused or cancelled -> the dispatchers."""
    found: dict[str, list[str]] = {}
    for name, production in _kept(results).items():
        for b in production["bookings"]:
            if b["why"]:
                text = b["why"] if b["outcome"] == "refused" else f"reservation {b['label']!r} was {b['why']}"
                found.setdefault(str(text), []).append(name)
    return found


def _kept(results: ReplayResults) -> dict[str, Mapping[str, Any]]:
    return {
        row.name: record["production"]
        for row in results.rows
        for record in row.records[:1]
        if record.get("production") is not None
    }


def _fate(booking: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return whether a booking was accepted, and when it started and ended."""
    accepted = booking["accepted"] is not None
    started = accepted and (booking["outcome"] in ("started", "over") or (booking["ended"] or 0) > booking["start"])
    answer = (
        "accepted" if accepted else {"refused": "refused", "cancelled": "cancelled"}.get(booking["outcome"], "open")
    )
    ended = "-" if booking["ended"] is None else f"{booking['ended']:,}"
    return answer, f"{booking['start']:,}" if started else "-", ended


def _jobs(kept: Mapping[str, Mapping[str, Any]]) -> TextGrid:
    """Return the numbers of jobs that left, moved or were changed, and of events that were not possible."""
    rows = [
        [
            name,
            str(sum(why == DELETED for why in p["left"].values())),
            str(sum(why != DELETED for why in p["left"].values())),
            *(str(len(p[part])) for part in ("moves", "walltimes", "refused")),
        ]
        for name, p in kept.items()
    ]
    heads = ["dispatcher", "deleted", "left", "moved", "new\nwalltimes", "events\nnot possible"]
    meaning = (
        "deleted: waiting jobs; left: jobs of private queues without a further reservation; moved to another queue; new "
        "walltimes; server events that were not possible at their time (jobs that had ended, and so on)."
    )
    return TextGrid(
        "jobs changed by the server", heads, rows if any(set(row[1:]) != {"0"} for row in rows) else [], meaning
    )
