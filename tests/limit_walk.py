"""Measure how far methods exceed their time limits; used by ``test_limits.py`` and ``known/time_limits.py``."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import schedlab as sl
from schedlab.backends import solver_thread
from schedlab.heuristics import HEURISTICS, fields_of, warm_up_for
from schedlab.instances import generators

LOWERINGS = ("pairwise", "lp", "900s", "900s-relax", "60s..3600s-lp", "600s..36000s-energy")
LINEAR = ("highs", "pyomo")
LARGE = "centre of 5,000 jobs"


@dataclass
class Measured:
    """One call of ``sl.solve``: what it was limited to, and what it took (s)."""

    method: str
    limit: float
    wall: float
    cpu: float
    late_cpu: float  # of it after the limit: on a busy machine, wall time alone says little
    stopped_after: float  # seconds after the call at which the last abandoned solver had stopped
    result: Any  # a Result, or the error that was raised

    @property
    def over(self) -> float:
        """Seconds beyond the limit."""
        return self.wall - self.limit

    @property
    def kept(self) -> bool:
        """Whether the call returned within its limit plus 5 % or 0.5 s."""
        return self.over <= max(0.5, 0.05 * self.limit)

    @property
    def excused(self) -> bool:
        """Whether the machine was so busy that the wall time says nothing, and little was computed after the limit."""
        return os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1) and self.late_cpu < 0.3

    def __str__(self) -> str:
        r = self.result
        what = f"{type(r).__name__}: {r}" if isinstance(r, Exception) else f"{r.status} {r.seconds} {r.message}"
        return (
            f"{'' if self.kept else 'OVER '}{self.method}: {self.over:+.2f} s of {self.limit:g} s, CPU {self.cpu:.2f} s, "
            f"{self.late_cpu:.2f} s of it late, stopped {self.stopped_after:.1f} s later, {what:.160}"
        )


@cache
def problem(name: str) -> Any:
    """Return the problem of a shipped instance, or a large generated one."""
    if name == LARGE:
        return generators["centre"](5_000, 7, nodes=128, days=7).problem.dispatch
    return sl.load(name).problem


def heuristics(p: Any) -> Iterator[str]:
    """Yield the methods without a solver, and those that use one."""
    for name, found in HEURISTICS.usable():
        if found.takes(p):
            yield f"{name}:{found.arguments()[0]}" if found.arguments() else name
            if fields_of(found, "backend"):
                yield from (f"{name}@{b}" for b in ("cpsat", "highs", "cpo"))


def backends(p: Any) -> Iterator[str]:
    """Yield every backend with every formulation and lowering, and the warm start of the first one."""
    for k, formulation in enumerate(p.formulations):
        for name in ("cpsat", "cpo"):
            yield f"{name}:{formulation}"
            if k == 0:
                yield f"{name}:{formulation}+warm"
        for name in LINEAR:
            yield from (f"{name}:{formulation}@{lowering}" for lowering in LOWERINGS)
            if k == 0:
                yield f"{name}:{formulation}@pairwise+warm"


def patiently(p: Any, method: str, limit: float) -> Measured:
    """Return the measurement of a method; a late one is repeated, at most twice, and the best one counts."""
    found = measure(p, method, limit)
    for _ in range(2):
        if not found.kept:
            found = min(found, measure(p, method, limit), key=lambda m: m.over)
    return found


def measure(p: Any, method: str, limit: float, threads: int | None = 1) -> Measured:
    """Solve with a time limit, after the compilation of kernels, and wait for solvers that have not stopped."""
    head = method.partition(":")[0].partition("@")[0]
    warm_up_for(p, head if head in HEURISTICS else None)
    at_limit: list[float] = []
    timer = threading.Timer(limit, lambda: at_limit.append(time.process_time()))
    wall, cpu = time.perf_counter(), time.process_time()
    timer.start()
    result: Any
    try:
        result = sl.solve(p, method=method, time_limit=limit, threads=threads, seed=1)
    except Exception as e:
        result = e.with_traceback(
            None
        )  # its frames hold models, which slow down the collector in the calls that follow
    ended = time.perf_counter()
    took, used = ended - wall, time.process_time() - cpu
    timer.cancel()
    late = cpu + used - at_limit[0] if at_limit else 0.0
    while solver_thread._abandoned and time.perf_counter() - ended < 60:
        time.sleep(0.05)
    return Measured(method, limit, took, used, late, time.perf_counter() - ended, result)
