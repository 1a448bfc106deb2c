"""The lines about composite objectives below the table of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from ..records.store import Record
from .numbers import number

INCOMPARABLE = (
    "theta: the best value of a kept objective alone, in the time given. Each run has the limits of its own theta: their "
    "objectives and bounds are not compared."
)


def have_other_limits(records: Sequence[Record]) -> bool:
    """Return whether two records have different limits on kept objectives."""
    found = [_part(r, "limits") for r in records if r.get("composite")]
    return any(limits != found[0] for limits in found[1:])


def kept_lines(method: str, records: Sequence[Record]) -> list[str]:
    """Return the line with value, limit and theta of each kept objective, as means over the seeds; none without them."""
    names = dict.fromkeys(name for r in records for name in _part(r, "theta"))
    figures = {name: [number(_mean(records, part, name)) for part in ("values", "limits", "theta")] for name in names}
    texts = [f"{name} {value} (limit {limit}, theta {theta})" for name, (value, limit, theta) in figures.items()]
    return [f"{method} keeps {' and '.join(texts)}"] if texts else []


def _mean(records: Sequence[Record], part: str, name: str) -> float | None:
    known = [v for r in records if (v := _part(r, part).get(name)) is not None]
    return known[0] if len(known) == 1 else fmean(known) if known else None


def _part(record: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    return (record.get("composite") or {}).get(part) or {}
