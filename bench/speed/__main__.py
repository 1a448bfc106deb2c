"""``make speed``: the cost of the modelling layer as ratios, the times of the compiled kernels, and the speed of replays."""

from __future__ import annotations

from ..terminal import console_for
from . import compiling, decide, evictions, groups, heuristics, profit, queues, replay, shared_nodes, store
from .lowering import ratios
from .scale import placements, replays


def main() -> None:
    """Print all measurements with their targets."""
    for measured in (
        ratios,
        heuristics,
        placements,
        profit,
        replay,
        queues,
        shared_nodes,
        groups,
        evictions,
        decide,
        store,
        compiling,
    ):
        measured.main()
    replays.small(console_for())


if __name__ == "__main__":
    main()
