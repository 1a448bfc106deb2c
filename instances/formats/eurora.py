"""The recorded jobs of the Eurora supercomputer, spring 2014: a CSV made of the traces of PA-HPC-SIM (A. Borghesi)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

from ...errors import WrongValue
from ...models.dispatch.jobs import DAY, Running
from ...models.platform import NodeGroup, Platform
from ...models.words import how_many
from ..files.reading import WorkloadError, csv_rows, each_line, number, whole, whole_of, wrong
from ..log_preparation import at_begin, window_of
from ..logged import JobColumns, Logged, Trace
from ..workload import BadLine, Workload

EURORA_COLUMNS = (
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
    missing = [c for c in EURORA_COLUMNS if c not in header]
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
    midnight = 0
    if len(trace):
        midnight = int(trace.submit.min()) // DAY * DAY
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
    changed = []
    if any(len(set(values)) > 1 for values in amounts.values()):
        changed = [UNEQUAL]
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


# --- The three batches of two hours of [Bridi2018, 3.4].


class Batch(NamedTuple):
    """A batch: the begin of its two hours, which jobs belong to it, and its composition in the thesis.

    Parameters
    ----------
    begin : str
        Begin of the window, on the clock of the log.
    which : str
        Which jobs count: ``"queued"``: submitted before its end and started after its begin; ``"active"``: submitted
        before its end and ended after its begin; ``"started"``: those of them that started before its end.
    composition : mapping of str to int
        Row of table 3.6 -> number of jobs in the thesis.
    """

    begin: str
    which: str
    composition: Mapping[str, int]

    @property
    def window(self) -> str:
        """The window of the batch."""
        return f"{self.begin}:2h"


CORES = ("1 core", "2 cores", "4 cores", "5 cores", "6 cores", "8 cores", ">8 cores")
ROWS = ("all", "queue debug", "queue parallel", "queue np_longpar", "with gpus", "with mics", *CORES)


def _batch(begin: str, which: str, *numbers: int) -> Batch:
    return Batch(begin, which, dict(zip(ROWS, numbers, strict=True)))


BATCHES = {
    1: _batch("2014-04-02T15:26", "started", 437, 237, 130, 62, 85, 3, 298, 2, 1, 1, 6, 59, 70),
    2: _batch("2014-04-03T17:05", "queued", 434, 133, 240, 25, 203, 1, 197, 73, 4, 1, 2, 56, 101),
    3: _batch("2014-04-03T15:46", "active", 619, 127, 415, 12, 224, 1, 258, 38, 7, 0, 3, 187, 126),
}
"""The batches by their numbers."""


def batch_of(trace: Trace, number: int) -> Workload:
    """Return the jobs of a batch: those that wait at its begin, submitted then, later ones, and the running jobs.

    The running jobs, without nodes, end as recorded. They count in the composition of ``active`` and ``started``
    batches.

    Parameters
    ----------
    trace
        The log of Eurora.
    number
        1, 2 or 3.

    Returns
    -------
    Workload
        The jobs. Times are in s of the log.
    """
    batch = BATCHES[number]
    begin, end = window_of(batch.window, trace)
    kept = (trace.submit < end) & (trace.start + trace.runtime > begin)
    if batch.which == "started":
        kept &= trace.start < end
    return at_begin(trace.keep(kept).workload, begin, reset=True)


def recorded_nodes(path: str | Path) -> dict[str, dict[str, int]]:
    """Return id -> {node: units} as recorded; nodes 1 to 32 of the log have MICs, 33 to 64 GPUs.

    Nodes with other numbers are left out.
    """
    table = csv_rows(path, each_line(path))
    header = next(table)[1]
    job = header.index("job_id")
    used = header.index("nodes_used")
    names = {str(k): f"mic-{k:02d}" if k <= 32 else f"gpu-{k - 32:02d}" for k in range(1, 65)}
    rows = (cells for _, cells in table if len(cells) == len(header))
    return {cells[job]: dict(Counter(names[n] for n in cells[used].split() if n in names)) for cells in rows}


def on_recorded_nodes(
    running: Sequence[Running], recorded: Mapping[str, Mapping[str, int]], platform: Platform
) -> list[Running]:
    """Return running jobs on their recorded nodes, where these have room; the others are without nodes.

    The log has amounts for each node, schedlab one request per unit, the largest: rarely, a node is too full for it.
    """
    free = {node: list(vector) for node, vector in platform.capacity.items()}
    placed = []
    for r in sorted(running, key=lambda r: r.start):
        nodes = recorded.get(r.job.id, {})
        request = [r.job.request.get(name, 0) for name in platform.resources]
        left = {
            node: [f - units * q for f, q in zip(free[node], request, strict=True)] for node, units in nodes.items()
        }
        fits = sum(nodes.values()) == r.job.units and all(min(amounts) >= 0 for amounts in left.values())
        if fits:
            free |= left
        placed.append(replace(r, nodes=dict(nodes) if fits else {}))
    return placed
