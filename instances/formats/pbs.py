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
from ..logged import AFTER_START, MISSING, NEVER_STARTED, SEVERAL_NODES, JobColumns, Logged, merged
from ..repair import Trace
from ..report import BadLine
from ..workload import Workload

STAMP = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d")
# words without = must match too: otherwise the search restarts at each of their characters, in quadratic time
PAIR = re.compile(r'([^\s=]+)(?:=("[^"]*"|\'[^\']*\'|\S*))?')
SIZE = re.compile(r"(\d+)([kmgtp]?)([bw]?)", re.ASCII | re.IGNORECASE)
DURATION = re.compile(r"(?:(?:(?:(\d+):)?(\d+):)?(\d+):)?(\d+)(?:\.\d+)?", re.ASCII)
BYTES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4, "p": 1024**5}
WORD = 8  # bytes
NAMES = {"ncpus": "cores", "ngpus": "gpus", "nmics": "mics", "mem": "memory"}
TORQUE = {"ppn": "ncpus", "gpus": "ngpus", "gpu": "ngpus", "mics": "nmics"}  # in nodes=2:ppn=8:gpus=1
RESOURCES = tuple(NAMES.values())
SUBJOB = re.compile(r"\[\d+\]|(?<=\d)-\d+(?=\.|$)", re.ASCII)  # 7[3].server, 7-3.server: of the array 7[].server
CORES_OF_HOST = re.compile(r"([^/]+)(?:/(\d+)(?:-(\d+))?(?:\*(\d+))?(?:,.*)?)?", re.ASCII)
OTHER_EVENTS = "records of other events than the end of a job"
DELETED = "it never started: it was deleted in the queue"
WHOLE_NODES = "requested whole nodes (place=excl), of which a replay gives only the requested share"
ONE_NODE = "requested one node for all chunks (place=pack), a replay may use several nodes"
MOST = 10**10


def read_pbs(path: str | Path, zone: tzinfo = UTC) -> Workload:
    r"""Read the ended jobs of a PBS accounting log.

    A unit is a chunk of ``Resource_List.select``; without ``select``, the entries ``nodes`` (Torque:
    ``2:ppn=8:gpus=1``), ``procs``, ``ncpus``, ``ngpus`` and ``mem`` are used, at last ``exec_host``. Chunks that differ make
    a heterogeneous job: ``select=2:ncpus=16:ngpus=2+1:ncpus=4``. Job arrays are left out, their subjobs are jobs. Jobs that
    were deleted in the queue are left out.

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
    deleted: dict[str, None] = {}  # jobs with a record of their deletion and none of their end
    others = 0
    for n, line in enumerate(each_line(path), 1):
        if not line.strip():
            continue
        try:
            parts = line.split(";", 3)
            if len(parts) < 4 or not STAMP.fullmatch(parts[0].strip()):
                raise WrongValue("expected MM/DD/YYYY HH:MM:SS;type;job;key=value ...")
            name = parts[2].strip()
            if parts[1] == "E":
                jobs.append(_job(name, dict(_pairs(parts[3]))))
                deleted.pop(name, None)
            else:
                others += 1
                if parts[1] == "D":
                    deleted[name] = None
        except ValueError as e:
            bad.append(BadLine(str(path), n, str(e)))
    for name in deleted:
        jobs.append(Logged(name, unusable=DELETED))
    resources = jobs.requested("cores")
    trace = Trace.of_columns(Path(path).name, "pbs", jobs, resources, bad)
    report = trace.report.and_also(skipped={OTHER_EVENTS: others})
    return replace(trace, unix_start=0, zone=zone, partition=trace.queue, report=report)


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
    submit, eligible = _moment(values, "ctime", "qtime"), _moment(values, "etime")
    start, end = _moment(values, "start"), _moment(values, "end")
    start = start if start > 0 else MISSING
    chunks = geometry(values)
    units, request = chunks[0]
    limit = values.get("Resource_List.walltime", "")
    took = values.get("resources_used.walltime", "")
    changed: tuple[str, ...] = ()
    if start < submit:
        submit, changed = start, (AFTER_START,)
    why = ""
    if re.search(r"\[\]", name):
        why = "it is a job array, whose subjobs have records of their own"
    elif start != start and not took:
        why = NEVER_STARTED
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
        array=SUBJOB.sub("[]", name, count=1) if SUBJOB.search(name) else "",
        changed=changed,
        not_obeyed=_placement(values, sum(c.units for c in chunks)),
        eligible=eligible if eligible > 0 else MISSING,
    )


def _placement(values: Mapping[str, str], units: int) -> tuple[str, ...]:
    """Return what a replay does not obey of the placement of a job: chunks on other nodes, on one node, on whole nodes."""
    place = re.split("[:=]", values.get("Resource_List.place", ""))
    several = "scatter" in place or "vscatter" in place
    if not values.get("Resource_List.select"):
        several = bool(values.get("Resource_List.nodes") or values.get("Resource_List.nodect"))
    asked = (
        (several and units > 1, SEVERAL_NODES),
        ("pack" in place and units > 1, ONE_NODE),
        ("excl" in place or "exclhost" in place, WHOLE_NODES),
    )
    return tuple(what for holds, what in asked if holds)


def geometry(values: Mapping[str, str]) -> list[Chunk]:
    """Return the chunks of a job, at least one; those with equal requests are one."""
    keys = ("select", "nodes", "nodect", "procs", *NAMES, *TORQUE)
    listed = {key: values.get(f"Resource_List.{key}", "") for key in keys}
    nodes = listed["nodes"]
    if not nodes and ":" in listed["nodect"]:  # some write the nodes there
        nodes = listed["nodect"]
    if listed["select"] or nodes:  # the older nodes=4:ppn=8+node7:ppn=16 may name hosts
        texts = (listed["select"] or _as_select(nodes)).split("+")
        chunks = merged(_chunk(text, hosts=not listed["select"]) for text in texts)
        if len(chunks) > 1 and not all(c.units for c in chunks):
            raise WrongValue(
                f"select is {'+'.join(texts)[:40]!r}; expected at least 1 unit in each chunk, as in 2:ncpus=4"
            )
        for resource, amount in _totals(listed).items():
            if resource != "cores" and amount and not any(c.request[resource] for c in chunks):
                share = -(-amount // max(sum(c.units for c in chunks), 1))
                chunks = [Chunk(c.units, {**c.request, resource: share}) for c in chunks]
        return chunks
    total = _totals(listed)
    if listed["procs"]:
        units, total["cores"] = (amount_of("procs", listed["procs"]),) * 2
    elif listed["nodect"]:
        units = amount_of("nodect", listed["nodect"])
    else:
        units = 1 if listed["ncpus"] else 0
    if not total["cores"] and values.get("exec_host"):
        hosts = [CORES_OF_HOST.fullmatch(part) for part in values["exec_host"].split("+")]
        total["cores"] = sum(_cores_on(host) for host in hosts if host)
        units = units or len({host[1] for host in hosts if host})
    return [Chunk(units, {name: -(-amount // max(units, 1)) for name, amount in total.items()})]


def _totals(listed: Mapping[str, str]) -> dict[str, int]:
    """Return the amounts that are listed for the whole job."""
    total = {name: amount_of(key, listed[key]) if listed[key] else 0 for key, name in NAMES.items()}
    for theirs, ours in TORQUE.items():
        if listed[theirs] and not total[NAMES[ours]]:
            total[NAMES[ours]] = amount_of(theirs, listed[theirs])
    return total


def _cores_on(host: re.Match[str]) -> int:
    """Return the cores of an entry of exec_host: ``n1/3``, ``n1/0*8`` (PBS), ``n1/0-7`` (Torque)."""
    if host[4]:
        return int(host[4])
    return int(host[3]) - int(host[2]) + 1 if host[3] else 1


def _as_select(nodes: str) -> str:
    """Return the chunks of Torque's ``nodes`` in the words of ``select``; flags after # are left out.

    >>> _as_select("2:ppn=8:gpus=1+node7:ppn=16#shared")
    '2:ncpus=8:ngpus=1+node7:ncpus=16'
    """
    chunks = []
    for text in nodes.partition("#")[0].split("+"):
        pairs = (part.partition("=") for part in text.split(":"))
        chunks.append(":".join(f"{TORQUE.get(key, key)}{sign}{value}" for key, sign, value in pairs))
    return "+".join(chunks)


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
    """Convert D:HH:MM:SS, HH:MM:SS, MM:SS or plain seconds to s."""
    match = DURATION.fullmatch(text) if len(text) <= 18 else None
    if match is None:
        raise WrongValue(f"walltime is {text[:40]!r}; expected a duration such as 04:00:00")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(86400 * days + 3600 * hours + 60 * minutes + seconds)
