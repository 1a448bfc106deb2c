"""The offered load of a workload, and submit times that are rescaled to another load."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..models.platform import LATEST, Platform
from .report import WorkloadError
from .times import UNKNOWN, later

if TYPE_CHECKING:
    from .workload import Workload


def offered_load(workload: Workload, platform: Platform) -> float:
    """Return the offered load: work of the jobs / capacity of the platform.

    Work is the sum of units x cores x runtime; capacity is cores x time between first submission (or ``begin``) and
    last submission. Without a resource ``cores``, the first resource counts. Infinite if there is no such time.
    """
    w = workload
    resource = "cores" if "cores" in w.resources else w.resources[0]
    per_unit = w.request[:, w.resources.index(resource)]
    work = float((w.units.astype(np.float64) * per_unit * w.runtime).sum())  # int64 would overflow
    span = float(w.submit[-1] - _origin(w)) * platform.total(resource)
    return work / span if span > 0 else float("inf")


def at_load(workload: Workload, load: float, platform: Platform) -> Workload:
    """Return the same jobs with submit times (from ``begin`` on) rescaled so that the offered load is ``load``.

    Releases and latest starts move with the submit times; the recorded starts are lost. Raises WorkloadError if the
    load cannot be reached.
    """
    w = workload
    if not 0 < load < float("inf"):
        raise WorkloadError(f"an offered load of {load} cannot be reached; expected a number above 0, such as 1.2")
    before = offered_load(w, platform)
    if not np.isfinite(before) or before <= 0:
        raise WorkloadError(
            f"{w.name}: the offered load is undefined: all jobs have the same submit time, or none has work"
        )
    origin = _origin(w)
    if (w.submit[-1] - origin) * (before / load) > LATEST:
        raise WorkloadError(f"{w.name}: an offered load of {load:g} moves submit times beyond {LATEST:,} s (317 years)")
    elapsed = np.rint((w.submit - origin) * (before / load)).astype(np.int64)
    submit = np.where(w.submit < origin, w.submit, origin + elapsed)
    notes = (f"arrivals rescaled from an offered load of {before:.3f} to {load:g}",)
    return replace(
        w,
        submit=submit,
        release=submit + (w.release - w.submit),
        recorded_start=np.full(len(w), UNKNOWN, np.int64),
        report=w.report.and_also(notes=notes),
        latest_start=later(w.latest_start, submit - w.submit),
    )


def _origin(workload: Workload) -> int:
    return int(workload.submit[0]) if workload.begin is None else workload.begin
