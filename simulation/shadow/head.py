"""The reservation of EASY's head after a decision; compiled."""

from __future__ import annotations

from ...heuristics.kernels.events.chunks import choose_places, has_chunks
from ...heuristics.kernels.events.fit import spread
from ...heuristics.kernels.events.state import State, TraceArrays
from ...heuristics.kernels.profile import NEVER
from ...models.compiled import compiled
from ..policies.easy import shadow_of


@compiled
def place_head(trace: TraceArrays, state: State, head: int, best: bool) -> tuple[int, int]:
    """Return the shadow time of a waiting job (NEVER if there is none) and the number of its places.

    The places and the units on each are the first ones of ``state.chosen`` and ``state.put``.
    """
    shadow = shadow_of(trace, state, head)
    if shadow >= NEVER:
        return shadow, 0
    if has_chunks(trace, head):
        return shadow, choose_places(trace, state, state.extra, head, True)  # as EASY reserves them
    return shadow, spread(state.extra, trace.capacity, state.fit, trace.units[head], best, state.chosen, state.put)
