"""The log of jobs of Microsoft's Philly clusters: ``cluster_job_log``, a list of jobs in JSON, each with its attempts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

from ...errors import WrongValue
from ...models.dispatch.jobs import Recorded, RecordedAttempt, SiteRequest
from ..files.reading import WorkloadError, read_json, wrong
from ..logged import MISSING, NEVER_STARTED, JobColumns, Logged, Trace, merged
from ..workload import BadLine
from .slurm_values import moment

EXPECTED = "cluster_job_log of the Philly traces: a list of jobs with jobid, submitted_time and attempts"
BEGIN = 10_000  # characters by which the log is recognised
STATES = {"Pass": "COMPLETED", "Killed": "CANCELLED", "Failed": "FAILED"}


def is_philly(values: object) -> bool:
    """Check whether JSON values are those of the log: a list whose first job has its keys."""
    first = None
    if isinstance(values, list) and values:
        first = values[0]
    return isinstance(first, dict) and {"jobid", "submitted_time", "attempts"} <= first.keys()


def like_philly(lines: Sequence[str]) -> bool:
    """Check whether the first lines of a file look like those of the log."""
    begin = "".join(lines)[:BEGIN]
    return begin.startswith("[") and all(f'"{key}"' in begin for key in ("vc", "jobid", "attempts"))


def philly_trace(path: str | Path, zone: tzinfo = UTC) -> Trace:
    """Read the log before the common repairs.

    A unit is a server, with the GPUs that the job had there; servers with other numbers of GPUs are further chunks. Of
    several attempts the last one counts. The log has no walltimes, and neither cores nor memory.

    Parameters
    ----------
    path
        The file, plain or compressed (``.gz``).
    zone
        Time zone of its times, which have none. Default: UTC.

    Raises
    ------
    WorkloadError
        The file is something else.
    """
    values = read_json(path)
    if not is_philly(values):
        raise WorkloadError(f"{path}: expected {EXPECTED}")
    jobs = JobColumns(["gpus"])
    bad: list[BadLine] = []
    for place, job in enumerate(values, 1):
        try:
            jobs.append(_job(job, zone))
        except ValueError as e:
            bad.append(BadLine(str(path), place, f"entry {place} of the list of jobs: {e}"))
    trace = Trace.of_columns(Path(path).name.partition(".")[0], "philly", jobs, ["gpus"], bad)
    return replace(trace, unix_start=0, zone=zone, partition=trace.queue)


def _job(job: object, zone: tzinfo) -> Logged:
    """Read a job. Raises WrongValue."""
    if not isinstance(job, dict) or not isinstance(job.get("attempts"), list):
        raise wrong("the job", job, "an object with jobid, submitted_time and attempts")
    attempts = [each for each in job["attempts"] if isinstance(each, dict)]
    submit = _time(job, "submitted_time", zone)
    last: Mapping[str, Any] = {}
    if attempts:
        last = attempts[-1]
    start = _time(last, "start_time", zone)
    end = _time(last, "end_time", zone)
    chunks = merged((1, {"gpus": n}) for n in _gpus(last).values())
    state = STATES.get(str(job.get("status")), "")
    queue = str(job.get("vc") or "")
    return Logged(
        id=str(job.get("jobid") or ""),
        submit=submit,
        start=start,
        runtime=end - start if end >= start else MISSING,
        units=chunks[0].units if chunks else 0,
        request=chunks[0].request if chunks else {},
        chunks=tuple(chunks) if len(chunks) > 1 else (),
        queue=queue,
        user=str(job.get("user") or ""),
        unusable=NEVER_STARTED if math.isnan(start) else "",
        asked=SiteRequest(partitions=(queue,)) if queue else None,
        recorded=Recorded(
            nodes=",".join(_gpus(last)),
            state=state,
            attempts=tuple(_attempt(each, submit, zone) for each in attempts[:-1]),
        ),
    )


def _gpus(attempt: Mapping[str, Any]) -> dict[str, int]:
    """Return server -> number of GPUs of an attempt."""
    detail = attempt.get("detail")
    servers: Sequence[Any] = []
    if isinstance(detail, list):
        servers = detail
    return {
        str(each.get("ip")): len(each["gpus"])
        for each in servers
        if isinstance(each, dict) and isinstance(each.get("gpus"), list) and each["gpus"]
    }


def _attempt(attempt: Mapping[str, Any], submit: float, zone: tzinfo) -> RecordedAttempt:
    times = (submit, _time(attempt, "start_time", zone), _time(attempt, "end_time", zone))
    first, start, end = (-1 if math.isnan(t) else round(t) for t in times)
    return RecordedAttempt(first, start, end, "REQUEUED", ",".join(_gpus(attempt)))


def _time(values: Mapping[str, Any], key: str, zone: tzinfo) -> float:
    """Return a time in s; NaN if it is not known. Raises WrongValue."""
    text = values.get(key)
    try:
        return moment("" if text is None else str(text), zone)
    except WrongValue as e:
        raise WrongValue(f"{key} is {e}") from None
