"""Slowdown and wait of each dispatcher against the power cap."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ...records.store import Record
from .columns import count, short
from .figures import TextGrid
from .results import DispatcherRow

NATURAL = "none"
FIGURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "mean wait s": ("wait_mean", count),
    "p95 wait s": ("wait_p95", count),
    "mean bounded slowdown": ("bounded_slowdown_mean", short),
    "p95 bounded slowdown": ("bounded_slowdown_p95", short),
}


class CapPoint(NamedTuple):
    """The replays of one dispatcher under one power cap.

    Parameters
    ----------
    dispatcher : str
        Its name.
    cap : float or None
        Watts; None: no cap.
    row : DispatcherRow
        The records.
    """

    dispatcher: str
    cap: float | None
    row: DispatcherRow

    def figure(self, name: str) -> float | None:
        """Return a figure of ``Metrics.as_dict``, the mean over the seeds."""
        return self.row.metric(name)


def cap_points(records: Iterable[Record]) -> list[CapPoint]:
    """Return the points of all dispatchers, of each first without a cap, then from the greatest cap to the least."""
    found: dict[tuple[str, float | None], list[Record]] = {}
    for record in records:
        found.setdefault((record["method"], record["replay"].get("power_cap")), []).append(record)
    points = [CapPoint(name, cap, DispatcherRow(name, rs)) for (name, cap), rs in found.items()]
    names = list(dict.fromkeys(p.dispatcher for p in points))
    return sorted(points, key=lambda p: (names.index(p.dispatcher), p.cap is not None, -(p.cap or 0)))


def natural_peak(points: Iterable[CapPoint], dispatcher: str) -> float | None:
    """Return the greatest power in watts of the replay of a dispatcher without a cap."""
    free = next((p for p in points if p.dispatcher == dispatcher and p.cap is None), None)
    return None if free is None else free.figure("power_peak")


def cap_grid(points: list[CapPoint]) -> TextGrid:
    """Return the table: a row per dispatcher and cap, with the change against the replay without a cap."""
    rows = []
    for p in points:
        peak, free = (
            natural_peak(points, p.dispatcher),
            next((q for q in points if q.dispatcher == p.dispatcher and q.cap is None), None),
        )
        below = "" if p.cap is None or not peak else f"{100 * (p.cap / peak - 1):+.1f}%"
        power = p.figure("power_peak")
        cells = [p.dispatcher, NATURAL if p.cap is None else f"{p.cap / 1000:,.6g}", below]
        cells.append("-" if power is None else f"{power / 1000:,.1f}")
        for name, written in FIGURES.values():
            value, before = p.figure(name), None if free is None else free.figure(name)
            text = "-" if value is None else written(value)
            changed = p.cap is not None and value is not None and before
            cells.append(f"{text} {100 * (value / before - 1):+.1f}%" if changed and value and before else text)
        rows.append([*cells, p.row.verdict.plain])
    heads = [
        "dispatcher",
        "cap\nkW",
        "to the\npeak",
        "greatest\nkW",
        *(n.replace(" ", "\n", 1) for n in FIGURES),
        "verified",
    ]
    meaning = (
        "to the peak: the cap against the greatest power of the same dispatcher without a cap; greatest: of the replay; "
        "percentages behind figures: change against the replay without a cap."
    )
    return TextGrid("wait and slowdown against the power cap", heads, rows, meaning)
