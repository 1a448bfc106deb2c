"""Accounting of Slurm: the output of ``sacct --parsable2`` with its header, columns in any order."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import NamedTuple

from ...errors import WrongValue
from ..files.lines import each_line
from ..logged import MISSING, UNLIMITED, JobColumns, Logged, merged
from ..repair import Trace
from ..report import BadLine
from ..workload import Workload, WorkloadError

NODES, CPUS = ("NNodes", "AllocNodes"), ("NCPUS", "AllocCPUS", "ReqCPUS")
NEEDED = (("JobID",), ("Submit",), ("Start",), ("End", "Elapsed"), ("Timelimit",), NODES, CPUS)
TRES = ("AllocTRES", "ReqTRES")
RESOURCES = ("cores", "gpus", "memory")
NO_TIME = ("", "Unknown", "None", "N/A", "INVALID")
NO_LIMIT = ("UNLIMITED", "Partition_Limit")
MOST = 10**10
DURATION = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)", re.ASCII)
MEMORY = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)([cn]?)", re.ASCII)
COMPONENT = re.compile(r"(.+)\+(\d{1,6})", re.ASCII)
MB = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
FIELDS = "JobID,Submit,Start,End,Timelimit,NNodes,NCPUS,User,JobName,Partition,State,ReqMem,AllocTRES"


def read_sacct(path: str | Path, zone: tzinfo = UTC) -> Workload:
    r"""Read the output of ``sacct --parsable2 --format=JobID,Submit,Start,End,Timelimit,NNodes,NCPUS,...``.

    Rows of job steps (``12.batch``) are ignored; tasks of a job array (``12_4``) are jobs; the components ``12+0``,
    ``12+1``, ... of a heterogeneous job are its chunks. A unit is a node, with an
    equal share of the cores, GPUs and memory of the job. Jobs that never started or had not ended are left out, with
    the reason.

    Parameters
    ----------
    path
        The file, plain or compressed (``.gz``).
    zone
        Time zone of the times in the file, which are local times. Default: UTC.

    Returns
    -------
    Workload
        The jobs. Times are Unix times in s; memory is in MB per unit.

    Raises
    ------
    WorkloadError
        The file cannot be read, lacks a necessary column, or has no job that can be replayed.

    References
    ----------
    .. [1] Slurm documentation, sacct, https://slurm.schedmd.com/sacct.html

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "jobs.txt")
    ...     head = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS"
    ...     row = "11|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|02:00:00|2|32"
    ...     _ = log.write_text(f"{head}\n{row}\n")
    ...     w = read_sacct(log)
    >>> w.units.tolist(), w.request.tolist(), w.runtime.tolist(), w.walltime.tolist()
    ([2], [[16]], [3600], [7200])
    """
    return sacct_trace(path, zone).workload


def sacct_trace(path: str | Path, zone: tzinfo = UTC) -> Trace:
    """Read the output of sacct before the common repairs."""
    lines = enumerate(each_line(path), 1)
    header = _header(path, lines)
    jobs = JobColumns(RESOURCES)
    parts: dict[str, _Parts] = {}
    bad: list[BadLine] = []
    steps = 0
    for n, line in lines:
        if not line.strip():
            continue
        cells = line.split("|")
        if len(cells) == len(header) + 1 and not cells[-1]:  # --parsable adds a | at the end of each line
            cells.pop()
        if len(cells) != len(header):
            bad.append(BadLine(str(path), n, f"{len(cells)} fields; the header has {len(header)}"))
            continue
        row = dict(zip(header, (c.strip() for c in cells), strict=True))
        if "." in row["JobID"]:
            steps += 1
            continue
        try:
            _add(_job(row, zone), jobs, parts)
        except ValueError as e:
            bad.append(BadLine(str(path), n, str(e)))
    for name, (row_of_job, components) in parts.items():
        jobs[row_of_job] = _whole_job(name, components)
    notes = [f"{steps} rows of job steps are ignored: the rows of their jobs cover them"] if steps else []
    for column, what in (("User", "users"), ("JobName", "program names")):
        if column not in header:
            notes.append(f"the log has no {what} (column {column})")
    trace = Trace.of_columns(Path(path).name, "sacct", jobs, jobs.requested("cores"), bad, notes)
    return replace(trace, unix_start=0, zone=zone, partition=trace.queue)


def _header(path: str | Path, lines: Iterator[tuple[int, str]]) -> list[str]:
    """Return the columns in the first line that is not empty."""
    first, line = next(((n, line) for n, line in lines if line.strip()), (0, ""))
    if not first:
        raise WorkloadError(f"{path}: the file is empty; expected what sacct --parsable2 --format={FIELDS} prints")
    header = [h.strip().split("%")[0] for h in line.rstrip("|").split("|")]
    for one_of in NEEDED:
        if not any(c in header for c in one_of):
            raise WorkloadError(
                f"{path}, line {first}: there is no column {' or '.join(one_of)}; "
                f"expected what sacct --parsable2 --format={FIELDS} prints"
            )
    return header


class _Parts(NamedTuple):
    """The components ``123+0``, ``123+1``, ... of a heterogeneous job, and the row of the first one in the file."""

    row: int
    components: list[Logged]


def _add(job: Logged, jobs: JobColumns, parts: dict[str, _Parts]) -> None:
    """Add a job; of a heterogeneous one its components are kept until the end of the file, with one row for all."""
    found = COMPONENT.fullmatch(job.id)
    if found is None or found[1] not in parts:
        jobs.append(job)
    if found is not None:
        parts.setdefault(found[1], _Parts(len(jobs) - 1, [])).components.append(job)


def _whole_job(name: str, components: list[Logged]) -> Logged:
    """Return the heterogeneous job of some components."""
    listed = sorted(components, key=lambda job: int(COMPONENT.fullmatch(job.id)[2]))  # type: ignore[index]
    chunks, first = merged((job.units, job.request) for job in listed), listed[0]
    unusable = next((job.unusable for job in listed if job.unusable), "")
    if not unusable and not all(job.units for job in listed):
        unusable = "one of its components has no nodes"
    runtimes = [job.runtime for job in listed if job.runtime == job.runtime]
    return replace(
        first,
        id=name,
        runtime=max(runtimes, default=MISSING),
        units=chunks[0].units,
        request=chunks[0].request,
        chunks=tuple(chunks) if len(chunks) > 1 else (),
        array=_array(name),
        unusable=unusable,
    )


def _array(name: str) -> str:
    """Return the name of the job array of a job such as ``123_4``; empty if it is in none."""
    found = re.fullmatch(r"(.+)_\d+", name, re.ASCII)
    return found[1] if found else ""


def _job(row: Mapping[str, str], zone: tzinfo) -> Logged:
    """Read the row of a job. Raises ValueError."""
    name = row["JobID"]
    if not name:
        raise WrongValue("JobID is empty; expected a job such as 123 or 123_4")
    submit, start, end = (_moment(row, column, zone) for column in ("Submit", "Start", "End"))
    nodes = max((_count(row, c) for c in NODES), default=0)
    cpus = next((n for c in CPUS if (n := _count(row, c)) > 0), 0)
    elapsed = _duration("Elapsed", row["Elapsed"]) if row.get("Elapsed", "") not in NO_TIME else MISSING
    runtime = end - start if end >= start else elapsed
    why = ""
    if math.isnan(start):
        why = "it never started"
    elif row.get("State", "").startswith(("RUNNING", "SUSPENDED")) or ("End" in row and math.isnan(end)):
        why = "it had not ended when the log was written"
    elif cpus == 0:
        why = "it has no CPUs, neither allocated nor requested"
    units = max(nodes, 1) if cpus else 0
    limit = row["Timelimit"]
    return Logged(
        id=name,
        submit=submit,
        start=start,
        runtime=runtime,
        walltime=UNLIMITED if limit in NO_LIMIT else MISSING if limit in NO_TIME else _duration("Timelimit", limit),
        units=units,
        request=_request(row, units, cpus) if units else {},
        queue=row.get("Partition", ""),
        user=row.get("User", ""),
        program=row.get("JobName", ""),
        unusable=why,
        array=_array(name),
    )


def _request(row: Mapping[str, str], units: int, cpus: int) -> dict[str, int]:
    """Return the request of a unit, that is, of one node of the job."""
    tres = [_tres(row.get(column, "")) for column in TRES]
    gpus = next((n for n in map(_gpus, tres) if n), 0)
    memory = row.get("ReqMem", "")
    if memory not in NO_TIME:
        found = MEMORY.fullmatch(memory)
        if found is None:
            raise WrongValue(f"ReqMem is {memory[:40]!r}; expected an amount such as 4000M, 4Gc or 16Gn")
        per = {"c": cpus / units, "n": 1.0, "": 1 / units}[found[3]]
        megabytes = float(found[1]) * MB[found[2]] * per
    else:
        total = next((t["mem"] for t in tres if "mem" in t), "0")
        found = MEMORY.fullmatch(total)
        megabytes = float(found[1]) * MB[found[2]] / units if found else 0.0
    if gpus > MOST or megabytes > MOST:
        raise WrongValue(f"{gpus} GPUs and {megabytes:.0f} MB per node are more than any machine has")
    return {"cores": -(-cpus // units), "gpus": -(-gpus // units), "memory": math.ceil(megabytes)}


def _tres(text: str) -> dict[str, str]:
    """Return the key-value pairs of a text such as "cpu=4,gres/gpu=2,mem=16G,node=1"."""
    return {key: value for key, sign, value in (pair.partition("=") for pair in text.split(",")) if sign}


def _gpus(tres: Mapping[str, str]) -> int:
    """Return the GPUs of the whole job: the total, or the sum over GPU models if only these are listed."""
    counts = {key: int(n) for key, n in tres.items() if n.isascii() and n.isdigit() and len(n) <= 15}
    return counts.get("gres/gpu", sum(n for key, n in counts.items() if key.startswith("gres/gpu:")))


def _count(row: Mapping[str, str], column: str) -> int:
    text = row.get(column, "")
    if text in NO_TIME:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise WrongValue(f"{column} is {text[:40]!r}; expected a whole number")
    return int(text)


def _moment(row: Mapping[str, str], column: str, zone: tzinfo) -> float:
    text = row.get(column, "")
    if text in NO_TIME:
        return MISSING
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError):  # OverflowError: year 1 or 9999 in another time zone
        raise WrongValue(
            f"{column} is {text[:40]!r}; expected a time such as 2024-05-01T12:00:00, or Unknown"
        ) from None


def _duration(column: str, text: str) -> float:
    """Convert D-HH:MM:SS, HH:MM:SS or MM:SS to s."""
    found = DURATION.fullmatch(text) if len(text) <= 20 else None
    if found is None:
        raise WrongValue(f"{column} is {text[:40]!r}; expected a duration such as 1-12:00:00 or 30:00")
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return 86400 * days + 3600 * hours + 60 * minutes + seconds
