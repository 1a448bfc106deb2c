"""The recorded jobs of the Eurora supercomputer, spring 2014: a CSV made of the traces of PA-HPC-SIM (A. Borghesi)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from ...errors import WrongValue
from ...models.dispatch.jobs import DAY
from ...models.platform import NodeGroup, Platform
from ...models.words import how_many
from ..files.lines import csv_rows, each_line, number, whole, whole_of, wrong
from ..logged import JobColumns, Logged
from ..repair import Trace
from ..report import BadLine, WorkloadError
from ..workload import Workload

COLUMNS = (
    "job_id", "queue", "submit", "start", "end", "req_nodes", "walltime_req_hhmm", "app_type", "cores_per_node",
    "gpus_per_node", "mics_per_node", "mem_per_node_raw", "power_pred_w",
)  # fmt: skip
RESOURCES = ("cores", "gpus", "mics", "memory")
PER_NODE = {"cores": "cores_per_node", "gpus": "gpus_per_node", "mics": "mics_per_node", "memory": "mem_per_node_raw"}
QUEUES = {"debug": 3600, "parallel": 21600, "np_longpar": DAY, "longpar": DAY, "R": 1800, "reservation": 1800}
ZONE = timezone(timedelta(hours=2), "Europe/Rome, summer")  # the whole trace is in summer time
KB_PER_MB = 1024
NODE_MEMORY = 32768  # MB; 33554432 KB in the configuration of 64 nodes of PA-HPC-SIM
UNEQUAL = "units of a job that differ, all replaced by the largest"
OTHER_NODES = "number of nodes requested differs from the number used, the number used is taken"


def eurora_platform() -> Platform:
    """Return the platform of Eurora as configured in PA-HPC-SIM.

    Returns
    -------
    Platform
        32 nodes with two GPUs each and 32 nodes with two MICs each; every node has 16 cores and 32 GB of memory.

    Examples
    --------
    >>> eurora_platform().total("cores")
    1024
    """
    half = {"cores": 16, "memory": NODE_MEMORY}
    return Platform(
        [
            NodeGroup("gpu", 32, {"cores": half["cores"], "gpus": 2, "mics": 0, "memory": half["memory"]}),
            NodeGroup("mic", 32, {"cores": half["cores"], "gpus": 0, "mics": 2, "memory": half["memory"]}),
        ]
    )


def read_eurora(path: str | Path) -> Workload:
    """Read the recorded jobs of Eurora (``eurora_jobs_unique.csv``).

    The request per unit of a job is the largest amount that it had on one of its nodes.

    Parameters
    ----------
    path
        The CSV file, plain or compressed (``.gz``).

    Returns
    -------
    Workload
        The jobs. Times are in s; second 0 is midnight (local time) before the first submission. Memory is in MB.

    Raises
    ------
    WorkloadError
        The file cannot be read, lacks a column, or has no job that can be replayed.

    References
    ----------
    .. [1] A. Borghesi, PA-HPC-SIM, traces of Eurora, 2014.

    Examples
    --------
    >>> workload = read_eurora("eurora_jobs_unique.csv")  # doctest: +SKIP
    >>> len(workload)  # doctest: +SKIP
    5930
    """
    return eurora_trace(path).workload


def eurora_trace(path: str | Path) -> Trace:
    """Read the recorded jobs of Eurora before the common repairs, with the platform."""
    table = csv_rows(path, each_line(path))
    header = next(table, (1, []))[1]
    missing = [c for c in COLUMNS if c not in header]
    if missing:
        raise WorkloadError(
            f"{path}, line 1: there is no column {', '.join(missing)}; the trace of Eurora has these columns"
        )
    jobs = JobColumns(RESOURCES)
    bad: list[BadLine] = []
    for line, cells in table:
        if not cells:
            continue
        try:
            if len(cells) != len(header):
                raise WrongValue(f"expected {how_many(len(header), 'field')}")
            jobs.append(_job(dict(zip(header, cells, strict=True))))
        except (ValueError, OverflowError) as e:
            bad.append(BadLine(str(path), line, str(e)))
    notes = [
        "the trace has no user and program names: all jobs belong to one user; app_type is used as program name",
        "the power of a job was predicted by a model, not measured",
    ]
    trace = Trace.of_columns(Path(path).stem, "eurora", jobs, RESOURCES, bad, notes)
    midnight = int(trace.submit.min()) // DAY * DAY if len(trace) else 0
    offset = int(ZONE.utcoffset(None).total_seconds())
    return replace(
        trace,
        submit=trace.submit - midnight,
        start=trace.start - midnight,
        ewt=QUEUES,
        unix_start=midnight - offset,
        zone=ZONE,
        platform=eurora_platform(),
    )


def _job(row: Mapping[str, str]) -> Logged:
    """Read a row; times are seconds since 1970 in local time. Raises ValueError."""
    submit, start, end = (_clock(row, c) for c in ("submit", "start", "end"))
    amounts = {r: [_whole(c, word) for word in row[c].split()] for r, c in PER_NODE.items()}
    units = len(amounts["cores"])
    for resource, column in PER_NODE.items():
        if len(amounts[resource]) != units:
            raise WrongValue(
                f"{column} is {row[column][:40]!r}; expected {how_many(units, 'number')}, one per node as in cores_per_node"
            )
    changed = [UNEQUAL] if any(len(set(values)) > 1 for values in amounts.values()) else []
    if units != _whole("req_nodes", row["req_nodes"]):
        changed.append(OTHER_NODES)
    request = {r: max(values, default=0) for r, values in amounts.items()}
    request["memory"] = math.ceil(request["memory"] / KB_PER_MB)
    power = row["power_pred_w"]
    return Logged(
        id=row["job_id"],
        submit=submit,
        start=start,
        runtime=end - start if end >= start else math.nan,
        walltime=_walltime(row["walltime_req_hhmm"]),
        units=units,
        request=request,
        queue=row["queue"],
        program=row["app_type"],
        power=number("power_pred_w", power, least=0) if power else math.nan,
        changed=tuple(changed),
    )


def _clock(row: Mapping[str, str], column: str) -> float:
    try:
        stamp = datetime.fromisoformat(row[column])
    except ValueError:
        raise WrongValue(f"{column} is {row[column][:40]!r}; expected a time such as 2014-03-31 08:51:10") from None
    return (stamp.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()


def _whole(column: str, text: str) -> int:
    number = whole_of(text)
    if number is None:
        raise wrong(column, text, "a whole number")
    return number


def _walltime(text: str) -> float:
    hours, colon, minutes = text.partition(":")
    if not colon or len(minutes) != 2:
        raise WrongValue(f"walltime_req_hhmm is {text[:40]!r}; expected hours and minutes such as 04:00")
    return 3600.0 * _whole("walltime_req_hhmm", hours) + 60 * whole("walltime_req_hhmm", minutes, most=59)
