"""``make speed``: the cost of the modelling layer as ratios, the times of the compiled kernels, and the speed of replays."""

from __future__ import annotations

from schedlab.bench.terminal import console_for

from . import (
    benchmark,
    compiling,
    decide,
    evictions,
    groups,
    heuristics,
    lowering,
    placements,
    profit,
    replay,
    replays,
    scale,
    store,
)
from .benchmark import without_arguments


def main() -> None:
    """Print all measurements with their targets."""
    for measured in (
        lowering,
        heuristics,
        placements,
        profit,
        replay,
        groups,
        evictions,
        decide,
        store,
        compiling,
    ):
        measured.main()
    benchmark.main(replays.BENCHMARKS, [])
    scale.small(console_for())


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
