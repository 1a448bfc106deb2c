"""Solves a model, or a problem by a method (start, formulation, backend, reading back)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .backends import Incumbent, Limits, Result, run
from .models.language import Model


def solve(
    model: Model,
    backend: str = "cpsat",
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    warm_start: Any = None,
    gap_limit: float | None = None,
    deterministic_limit: float | None = None,
    on_incumbent: Callable[[Incumbent], Any] | None = None,
    **options: Any,
) -> Result:
    """Solve a model on a backend."""
    began = time.perf_counter()
    limits = Limits(time_limit, threads, seed, gap_limit, deterministic_limit)
    return run(model, backend, limits, warm_start=warm_start, on_incumbent=on_incumbent, began=began, **options)
