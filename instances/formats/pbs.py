"""Accounting logs of PBS: lines ``MM/DD/YYYY HH:MM:SS;E;job;key=value key=value ...``, one E record per ended job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import Path

from ...errors import WrongValue
from ...models.dispatch.chunks.chunk import Chunk
from ..files.lines import each_line
from ..logged import MISSING, JobColumns, Logged, merged
from ..repair import Trace
from ..report import BadLine
from ..workload import Workload

STAMP = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d")
# words without = must match too: otherwise the search restarts at each of their characters, in quadratic time
PAIR = re.compile(r'([^\s=]+)(?:=("[^"]*"|\'[^\']*\'|\S*))?')
SIZE = re.compile(r"(\d+)([kmgtp]?)([bw]?)", re.ASCII | re.IGNORECASE)
DURATION = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+)", re.ASCII)
BYTES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4, "p": 1024**5}
WORD = 8  # bytes
NAMES = {"ncpus": "cores", "ngpus": "gpus", "nmics": "mics", "mem": "memory"}
RESOURCES = tuple(NAMES.values())
SUBJOB = re.compile(r"\[\d+\]", re.ASCII)  # 7[3].server is a job of the array 7[].server
MOST = 10**10


def read_pbs(path: str | Path, zone: tzinfo = UTC) -> Workload:
    r"""Read the ended jobs of a PBS accounting log.

    A unit is a chunk of ``Resource_List.select``; without ``select``, the entries ``nodes``, ``ncpus`` and ``mem`` are
    used. Chunks that differ make a heterogeneous job: ``select=2:ncpus=16:ngpus=2+1:ncpus=4``. Job arrays are left out,
    their subjobs are jobs.

    Parameters
    ----------
    path
        The log, plain or compressed (``.gz``).
    zone
        Time zone of the machine. It is used for windows of dates only: the times of the log are Unix times.

    Returns
    -------
    Workload
        The jobs. Times are Unix times in s; memory is in MB per unit.

    Raises
    ------
    WorkloadError
        The file cannot be read, or has no job that can be replayed.

    References
    ----------
    .. [1] Altair PBS Professional, Administrator's Guide, chapter "Accounting".

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "20120713")
    ...     resources = "Resource_List.select=2:ncpus=16 Resource_List.walltime=04:00:00"
    ...     _ = log.write_text(f"07/13/2012 00:10:01;E;1.server;ctime=1000 start=1100 end=1160 {resources}\n")
    ...     w = read_pbs(log)
    >>> w.units.tolist(), w.request.tolist(), w.runtime.tolist(), w.walltime.tolist()
    ([2], [[16]], [60], [14400])
    """
    return pbs_trace(path, zone).workload


def pbs_trace(path: str | Path, zone: tzinfo = UTC) -> Trace:
    """Read a PBS accounting log before the common repairs."""
    jobs = JobColumns(RESOURCES)
    bad: list[BadLine] = []
    others = 0
    for n, line in enumerate(each_line(path), 1):
        if not line.strip():
            continue
        try:
            parts = line.split(";", 3)
            if len(parts) < 4 or not STAMP.fullmatch(parts[0].strip()):
                raise WrongValue("expected MM/DD/YYYY HH:MM:SS;type;job;key=value ...")
            if parts[1] == "E":
                jobs.append(_job(parts[2].strip(), dict(_pairs(parts[3]))))
            else:
                others += 1
        except ValueError as e:
            bad.append(BadLine(str(path), n, str(e)))
    notes = [f"{others} records of other events than the end of a job are ignored"] if others else []
    resources = jobs.requested("cores")
    trace = Trace.of_columns(Path(path).name, "pbs", jobs, resources, bad, notes)
    return replace(trace, unix_start=0, zone=zone, partition=trace.queue)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for found in PAIR.finditer(text):
        key, value = found[1], found[2]
        if value is None:
            continue
        yield key, value[1:-1] if value[:1] in ("'", '"') and len(value) > 1 else value


def _job(name: str, values: Mapping[str, str]) -> Logged:
    """Read the record of an ended job. Raises ValueError."""
    if not name:
        raise WrongValue("the job has no id; expected one such as 123.server")
    submit = _moment(values, "ctime", "qtime")
    start, end = _moment(values, "start"), _moment(values, "end")
    start = start if start > 0 else MISSING
    chunks = geometry(values)
    units, request = chunks[0]
    limit = values.get("Resource_List.walltime", "")
    took = values.get("resources_used.walltime", "")
    why = ""
    if re.search(r"\[\]", name):
        why = "it is a job array, whose subjobs have records of their own"
    return Logged(
        id=name,
        submit=submit,
        start=start,
        runtime=end - start if end >= start else duration(took) if took else MISSING,
        walltime=duration(limit) if limit else MISSING,
        units=units,
        request=request,
        queue=values.get("queue", ""),
        user=values.get("user", ""),
        program=values.get("jobname", ""),
        unusable=why,
        chunks=tuple(chunks) if len(chunks) > 1 else (),
        array=SUBJOB.sub("[]", name) if SUBJOB.search(name) else "",
    )


def geometry(values: Mapping[str, str]) -> list[Chunk]:
    """Return the chunks of a job, at least one; those with equal requests are one."""
    listed = {key: values.get(f"Resource_List.{key}", "") for key in ("select", "nodes", "nodect", *NAMES)}
    if listed["select"] or listed["nodes"]:  # the older nodes=4:ppn=8+node7:ppn=16 may name hosts
        texts = (listed["select"] or listed["nodes"].replace("ppn=", "ncpus=")).split("+")
        chunks = merged(_chunk(text, hosts=not listed["select"]) for text in texts)
        if len(chunks) > 1 and not all(c.units for c in chunks):
            raise WrongValue(
                f"select is {'+'.join(texts)[:40]!r}; expected at least 1 unit in each chunk, as in 2:ncpus=4"
            )
        if listed["mem"] and not any(c.request["memory"] for c in chunks):
            memory = -(-amount_of("mem", listed["mem"]) // max(sum(c.units for c in chunks), 1))
            chunks = [Chunk(c.units, {**c.request, "memory": memory}) for c in chunks]
        return chunks
    units = amount_of("nodect", listed["nodect"]) if listed["nodect"] else 1 if listed["ncpus"] else 0
    total = {name: amount_of(key, listed[key]) if listed[key] else 0 for key, name in NAMES.items()}
    return [Chunk(units, {name: -(-amount // max(units, 1)) for name, amount in total.items()})]


def _chunk(text: str, hosts: bool) -> tuple[int, dict[str, int]]:
    """Return the number of chunks and the request of each, from a text such as "2:ncpus=16"; default: 1 core."""
    head, *rest = text.split(":")
    if "=" in head or (hosts and head and not head.isdecimal()):
        head, rest = "1", [head, *rest]
    amounts = dict(pair.split("=", 1) for pair in rest if "=" in pair)
    request = {name: amount_of(key, amounts[key]) if key in amounts else 0 for key, name in NAMES.items()}
    if "ncpus" not in amounts:
        request["cores"] = 1
    return amount_of("select", head), request


def amount_of(key: str, text: str) -> int:
    """Return a whole number; for memory in MB, rounded up."""
    found = SIZE.fullmatch(text) if key == "mem" else re.fullmatch(r"(\d+)", text, re.ASCII)
    value = int(found[1]) if found and len(found[1]) <= len(str(MOST)) else MOST
    if found and key == "mem":
        value = -(-value * BYTES[found[2].lower()] * (WORD if found[3].lower() == "w" else 1) // 1024**2)
    if value >= MOST:
        raise WrongValue(
            f"{key} is {text[:40]!r}; expected {'a size such as 14gb' if key == 'mem' else 'a whole number'}"
        )
    return value


def _moment(values: Mapping[str, str], *keys: str) -> float:
    """Return the first of these Unix times that the record has."""
    for key in keys:
        text = values.get(key, "")
        if text:
            if not (text.isascii() and text.isdigit() and int(text[:20]) < MOST):
                raise WrongValue(f"{key} is {text[:40]!r}; expected a Unix time in seconds")
            return float(text)
    return MISSING


def duration(text: str) -> float:
    """Convert HH:MM:SS, MM:SS or plain seconds to s."""
    found = DURATION.fullmatch(text) if len(text) <= 15 else None
    if found is None:
        raise WrongValue(f"walltime is {text[:40]!r}; expected a duration such as 04:00:00")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(3600 * hours + 60 * minutes + seconds)
