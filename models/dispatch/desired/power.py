"""A hard desired power of the machine as a cumulative."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from ...language import Cumulative
from .over import MILLI, ROUNDING

if TYPE_CHECKING:
    from ..job_intervals import JobModel


def limit_power(b: JobModel, until: int) -> None:
    """Limit the power of the machine up to a time in seconds, in thousandths of a watt, if a hard profile wishes for it.

    Where the running jobs alone take more, the limit is their power.
    """
    p = b.problem
    if p.desired is None or p.over_cost is not None or p.desired.power is None:
        return
    running = [(r.end, _milli(r.job.power)) for r in p.running if r.end > p.now]
    pieces = list(p.desired.power.pieces(p.now, max(until, p.now + 1)))
    own = [_milli(j.power) for j in p.jobs]
    all_of_them = sum(own) + sum(w for _, w in running)
    steps: list[tuple[int, int]] = []
    begins = [a for a, _, _ in pieces]
    for t in sorted({*begins, *(end for end, _ in running if end < until)}):
        wish = pieces[int(np.searchsorted(begins, t, side="right")) - 1][2]
        level = int(wish * MILLI + ROUNDING) if isfinite(wish) else all_of_them
        level = max(min(level, all_of_them), sum(w for end, w in running if end > t))
        if not steps or steps[-1][1] != level:
            steps.append((t, level))
    demands = [*own, *(w for _, w in running)]
    intervals = [*b.jobs, *(b.until(end) for end, _ in running)]
    some = [(v, d) for v, d in zip(intervals, demands, strict=True) if d]
    if some and min(level for _, level in steps) < all_of_them:
        made = Cumulative(tuple(v for v, _ in some), tuple(d for _, d in some), tuple(steps))
        b.model.add(made, "power of the machine")


def _milli(power: float | None) -> int:
    return round(MILLI * (power or 0.0))
