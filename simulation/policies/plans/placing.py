"""One job of a plan at its earliest start; compiled."""

from __future__ import annotations

from ....heuristics.kernels.earliest import Scratch
from ....heuristics.kernels.events.chunks import has_chunks
from ....heuristics.kernels.events.state import NOW, State, TraceArrays
from ....heuristics.kernels.profile import NEVER, Profile
from ....models.compiled import internal
from ..conservative import reserve
from .dominance import Known, not_before, remember

LAST = NEVER // 2  # the latest start that is looked for, in seconds


@internal
def place_one(
    profile: Profile, s: Scratch, known: Known, trace: TraceArrays, state: State, j: int, best: bool
) -> tuple[Profile, int]:
    """Place job j at its earliest start; return the profile or a larger copy, and the start (-1: none) in seconds."""
    kind, units, duration = trace.kind[j], trace.units[j], state.expected[j]
    alike = not has_chunks(trace, j)
    first = not_before(known, kind, units, duration, state.clock[NOW]) if alike else state.clock[NOW]
    profile = reserve(profile, s, trace, state, j, first, LAST, best)
    start = state.reserved[j]
    state.reserved[j] = -1
    if alike and trace.own[j] < 0 and trace.daily[j] < 0:  # else calendars may have delayed it
        remember(known, kind, units, duration, start if start >= 0 else LAST)
    return profile, start
