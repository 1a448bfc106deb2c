"""A workload on a platform: the jobs that it can hold, the offered load, and submit times that are rescaled to a load."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..models.dispatch.job_arrays import distinct
from ..models.dispatch.problem import impossible
from ..models.platform import LATEST, Platform
from ..models.whole_numbers import is_number
from .report import WorkloadError
from .times import UNKNOWN, later

if TYPE_CHECKING:
    from .workload import Workload


def fitting(workload: Workload, platform: Platform) -> Workload:
    """Return the workload of the jobs that the empty platform can hold, with requests of its resources.

    The other jobs are in ``report.dropped``. Raises WorkloadError if no job is left.
    """
    w = workload
    columns = [w.request[:, w.resources.index(r)] if r in w.resources else np.zeros(len(w), np.int64)
               for r in platform.resources]  # fmt: skip
    foreign = [r for r in w.resources if r not in platform.resources]
    needs_foreign = np.zeros(len(w), np.bool_)
    for r in foreign:
        needs_foreign |= w.request[:, w.resources.index(r)] > 0
    for k, chunks in w.chunks.items():
        needs_foreign[k] |= any(c.request.get(r, 0) > 0 for c in chunks for r in foreign)
    here = replace(w, resources=platform.resources, request=np.column_stack(columns).astype(np.int64))
    shape = np.zeros(len(w), np.int64)
    shapes: dict[tuple[tuple[int, tuple[tuple[str, int], ...]], ...], int] = {}
    for k, chunks in w.chunks.items():
        key = tuple((c.units, tuple(sorted(c.request.items()))) for c in chunks)
        shape[k] = shapes.setdefault(key, len(shapes) + 1)
    kinds = distinct(np.column_stack([here.units, here.request, *([shape] if shapes else [])]))[1]
    _, samples = np.unique(kinds, return_index=True)
    why = {
        int(kinds[int(job.id)]): reason
        for job, reason in impossible(platform, [replace(here.job(int(k)), id=str(k)) for k in samples])
    }
    gone = np.isin(kinds, list(why)) | needs_foreign
    if not gone.any():
        return here
    dropped = [
        (here.ids[k], why.get(int(kinds[k]), f"requests {', '.join(foreign)}, which the platform does not have"))
        for k in np.flatnonzero(gone).tolist()
    ]
    report = w.report.and_also({"larger than the platform, left out": len(dropped)}, dropped)
    if gone.all():
        raise WorkloadError(f"{w.name}: the platform can hold none of the {len(w)} jobs; the first one {dropped[0][1]}")
    return here.keep(~gone, report)


def offered_load(workload: Workload, platform: Platform) -> float:
    """Return the offered load: work of the jobs / capacity of the platform.

    Work is the sum of units x cores x runtime; capacity is cores x time between first submission (or ``begin``) and
    last submission. Without a resource ``cores``, the first resource counts. Infinite if there is no such time.
    """
    w = workload
    resource = "cores" if "cores" in w.resources else w.resources[0]
    per_job = w.job_arrays.amounts[:, w.resources.index(resource)]
    work = float((per_job.astype(np.float64) * w.runtime).sum())  # int64 would overflow
    span = float(w.submit[-1] - _origin(w)) * platform.total(resource)
    return work / span if span > 0 else float("inf")


def at_load(workload: Workload, load: float, platform: Platform) -> Workload:
    """Return the same jobs with submit times (from ``begin`` on) rescaled so that the offered load is ``load``.

    Releases and latest starts move with the submit times; the recorded starts are lost. Raises WorkloadError if the
    load cannot be reached.
    """
    w = workload
    if not is_number(load) or not load > 0:
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
