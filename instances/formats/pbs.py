"""Accounting logs of PBS: lines ``MM/DD/YYYY HH:MM:SS;E;job;key=value key=value ...``, one E record per ended job."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import NamedTuple

from ...errors import WrongValue
from ...models.dispatch.jobs import (
    NOTHING,
    NOTHING_RECORDED,
    Chunk,
    Dependency,
    Gres,
    Recorded,
    RecordedAttempt,
    SiteRequest,
)
from ..files.reading import each_line, seconds_of, whole_of, wrong
from ..logged import AFTER_START, MISSING, NEVER_STARTED, SEVERAL_NODES, JobColumns, Logged, Trace, merged
from ..site_columns import dependencies_of
from ..workload import BadLine, Workload

STAMP = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d")
# words without = must match too: otherwise the search restarts at each of their characters, in quadratic time
PAIR = re.compile(r'([^\s=]+)(?:=("[^"]*"|\'[^\']*\'|\S*))?')
SIZE = re.compile(r"(\d+)([kmgtp]?)([bw]?)", re.ASCII | re.IGNORECASE)
DURATION = re.compile(r"(?:(?:(?:(\d+):)?(\d+):)?(\d+):)?(\d+)(?:\.\d+)?", re.ASCII)
SIZES = ("mem", "pmem")
BYTES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4, "p": 1024**5}
WORD = 8  # bytes
NO_PROJECT = "_pbs_project_default"
NAMES = {"ncpus": "cores", "ngpus": "gpus", "nmics": "mics", "mem": "memory"}
TORQUE = {"ppn": "ncpus", "gpus": "ngpus", "gpu": "ngpus", "mics": "nmics"}  # in nodes=2:ppn=8:gpus=1
CRAY = ("size", "mppwidth", "mppnppn", "mppdepth")
RESOURCES = tuple(NAMES.values())
SUBJOB = re.compile(r"\[\d+\]|(?<=\d)-\d+(?=\.|$)", re.ASCII)  # 7[3].server, 7-3.server: of the array 7[].server
SLOTS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?(?:\*(\d{1,9}))?", re.ASCII)  # of an entry of exec_host
OTHER_EVENTS = "records of other events than the end of a job"
ATTEMPTS = "records of earlier attempts of a job that ran again"
REPEATED = "records that repeat a job"
STILL_RAN = "still running when the log ends, the runtime until then is used"
OTHER_SPAN = "end - start differs from resources_used.walltime (suspension, epilogue), resources_used.walltime is used"
NO_END = "there is a record of its start and none of its end, and its walltime is over"
DELETED = "it never started: it was deleted in the queue"
WHOLE_NODES = "requested whole nodes (place=excl), of which a replay gives only the requested share"
ONE_NODE = "requested one node for all chunks (place=pack), a replay may use several nodes"
MOST = 10**10


def read_pbs(path: str | Path, zone: tzinfo = UTC) -> Workload:
    r"""Read the ended jobs of a PBS accounting log.

    A unit is a chunk of ``Resource_List.select``; without ``select``, the entries ``nodes`` (Torque:
    ``2:ppn=8:gpus=1``), ``procs``, ``ncpus``, ``ngpus`` and ``mem`` are used, of a Cray ``size`` and ``mppwidth``, at last
    ``exec_host``. The time that a job used (``resources_used.walltime``) goes before the time from its start to its end.
    Chunks that differ make a heterogeneous job: ``select=2:ncpus=16:ngpus=2+1:ncpus=4``. Job arrays are left out, their subjobs are jobs. Jobs that
    were deleted in the queue are left out.

    Records of one job (the same id and ``ctime``) are its attempts: of a job that was run again (R records, several E
    records) the last attempt that ran counts. A job with a record of its start alone runs until the log ends.

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
    records = _Records()
    bad: list[BadLine] = []
    for n, line in enumerate(each_line(path), 1):
        if not line.strip():
            continue
        try:
            parts = line.split(";", 3)
            if len(parts) < 4 or not STAMP.fullmatch(parts[0].strip()):
                raise WrongValue("expected MM/DD/YYYY HH:MM:SS;type;job;key=value ...")
            records.add(parts[1], parts[2].strip(), parts[3])
        except ValueError as e:
            bad.append(BadLine(str(path), n, str(e)))
    records.end()
    jobs = records.jobs
    trace = Trace.of_columns(Path(path).name, "pbs", jobs, jobs.requested("cores"), bad)
    report = trace.report.and_also(skipped=records.skipped)
    if trace.site is not None:
        trace = replace(trace, site=replace(trace.site, attempts=records.earlier))
    return replace(trace, unix_start=0, zone=zone, partition=trace.queue, report=report)


class _Times(NamedTuple):
    """Unix times of a record that tell attempts of a job apart: ``ctime`` is that of the job; -1: unknown."""

    ctime: int
    start: int
    end: int

    @classmethod
    def of(cls, values: Mapping[str, str]) -> _Times:
        """Return the times of a record."""
        return cls(*(-1 if (time := whole_of(values.get(key, ""))) is None else time for key in cls._fields))


@dataclass
class _Records:
    """The jobs of the records, as they are read.

    ``rows``: id -> row of the last job with it; ``times``, ``ran``: of the attempt that counts so far, for each row, three
    and one; ``started``: id -> the last record of a start, until there is one of an end; ``deleted``: ids of jobs with a
    record of their deletion and none of their end; ``depends``: id -> the dependencies in the record of its submission;
    ``earlier``: row -> attempts before the last one.
    """

    jobs: JobColumns = field(default_factory=lambda: JobColumns(RESOURCES))
    rows: dict[str, int] = field(default_factory=dict)
    times: array[int] = field(default_factory=lambda: array("q"))
    ran: array[int] = field(default_factory=lambda: array("b"))
    started: dict[str, str] = field(default_factory=dict)
    deleted: dict[str, None] = field(default_factory=dict)
    depends: dict[str, str] = field(default_factory=dict)
    earlier: dict[int, tuple[RecordedAttempt, ...]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, name: str, text: str) -> None:
        """Add a record. Raises ValueError."""
        if self.depends and kind in "SER" and name in self.depends and "depend=" not in text:
            text = f"{text} depend={self.depends[name]}"
        if kind == "E":
            self._attempt(name, text)
            self.deleted.pop(name, None)
            self.started.pop(name, None)
            return
        if kind == "R":
            self.started.pop(name, None)
            if " end=" in text:  # Torque says only that the job was run again
                self._attempt(name, text)
            else:
                self.skipped[ATTEMPTS] += 1
            return
        self.skipped[OTHER_EVENTS] += 1
        if kind == "S":
            self.started[name] = text
        elif kind == "A":
            self.started.pop(name, None)
        elif kind == "D":
            self.deleted[name] = None
        elif kind == "Q" and (depend := dict(_pairs(text)).get("depend")):
            self.depends[name] = depend

    def _attempt(self, name: str, text: str) -> None:
        values = dict(_pairs(text))
        job = _job(name, values)
        times = _Times.of(values)
        row = self.rows.get(name)
        if row is None or self._times_of(row).ctime != times.ctime:
            self.rows[name] = len(self.jobs)
            self.jobs.append(job)
            self.times.extend(times)
            self.ran.append(not job.unusable)
            return
        before = self._times_of(row)
        self.skipped[REPEATED if times == before else ATTEMPTS] += 1
        if times != before:
            first = min(times, before, key=lambda each: each.start)
            attempt = RecordedAttempt(first.ctime, first.start, first.end, "REQUEUED", "")
            self.earlier[row] = (*self.earlier.get(row, ()), attempt)
        if (not job.unusable, times.start) >= (bool(self.ran[row]), before.start):
            self.jobs.chunks.pop(row, None)
            self.jobs[row] = job
            self.times[3 * row : 3 * row + 3] = array("q", times)
            self.ran[row] = not job.unusable

    def _times_of(self, row: int) -> _Times:
        return _Times(*self.times[3 * row : 3 * row + 3])

    def end(self) -> None:
        """Add the jobs that still run, and those that were deleted in the queue."""
        running: list[Logged] = []
        for name, text in self.started.items():
            values = dict(_pairs(text))
            row = self.rows.get(name)
            ended = row is not None and self._times_of(row).ctime == _Times.of(values).ctime
            if ended or not values.get("start"):
                continue
            try:
                running.append(_job(name, {**values, "resources_used.walltime": ""}))
            except ValueError:  # the record of its end would tell what is wrong
                continue
            self.deleted.pop(name, None)  # while it ran
        until = self._last_time(running)
        for job in running:
            lasts = until - job.start
            over = lasts > job.walltime  # false if the walltime is not known
            why = job.unusable or (NO_END if over else "")
            self.jobs.append(replace(job, runtime=lasts, unusable=why, changed=(*job.changed, STILL_RAN)))
        for name in self.deleted:
            self.jobs.append(Logged(name, unusable=DELETED))

    def _last_time(self, running: Iterable[Logged]) -> float:
        # the columns cannot grow while arrays refer to them: none may outlive this call
        submit, start, runtime, _ = self.jobs.times
        times = [*submit.tolist(), *(start + runtime).tolist(), *(job.start for job in running)]
        return max((t for t in times if math.isfinite(t)), default=MISSING)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for match in PAIR.finditer(text):
        key = match[1]
        value = match[2]
        if value is None:
            continue
        yield key, value[1:-1] if value[:1] in ("'", '"') and len(value) > 1 else value


def _job(name: str, values: Mapping[str, str]) -> Logged:
    """Read the record of an ended job. Raises ValueError."""
    if not name:
        raise WrongValue("the job has no id; expected one such as 123.server")
    submit = _moment(values, "ctime", "qtime")
    eligible = _moment(values, "etime")
    start = _moment(values, "start")
    end = _moment(values, "end")
    if not start > 0:
        start = MISSING
    chunks = geometry(values)
    units, request = chunks[0]
    limit = values.get("Resource_List.walltime", "")
    took = values.get("resources_used.walltime", "")
    changed: tuple[str, ...] = ()
    if start < submit:
        submit = start
        changed = (AFTER_START,)
    why = ""
    if re.search(r"\[\]", name):
        why = "it is a job array, whose subjobs have records of their own"
    elif start != start and not took:
        why = NEVER_STARTED
    runtime = _runtime(end - start, duration(took) if took else MISSING)
    if abs(end - start - runtime) > 1:
        changed += (OTHER_SPAN,)
    return Logged(
        id=name,
        submit=submit,
        start=start,
        runtime=runtime,
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
        asked=_asked(values, chunks),
        recorded=_recorded(values),
    )


def _runtime(span: float, used: float) -> float:
    """Return how long a job ran, in s: ``used`` of the machine, which no suspension is part of, before the time to its end.

    A job for which no time was measured, as its node was lost, ran until its end, and so did one that used more than this
    time: PBS adds what earlier attempts used.
    """
    if span >= 0 and not 0 < used <= span:
        return span
    return used


def _asked(values: Mapping[str, str], chunks: Sequence[Chunk]) -> SiteRequest | None:
    """Return what a job asked of the server beyond amounts of resources."""
    place = re.split("[:=]", values.get("Resource_List.place", ""))
    units = sum(chunk.units for chunk in chunks)
    parts = _torque_parts(values)
    apart = bool(parts) or "scatter" in place or "vscatter" in place
    nodes = units if apart and units else None
    if "pack" in place and not parts:
        nodes = 1
    per_node = chunks[0].request if len(chunks) == 1 else {}
    gpus = per_node.get("gpus", 0)
    exclusive = "excl" in place or "exclhost" in place
    conditions: tuple[Dependency, ...] = ()
    with suppress(WrongValue):  # conditions of other servers
        conditions = dependencies_of(values.get("depend") or values.get("Resource_List.depend") or "")[0]
    names = [part[0] for part in parts if part[0] and not part[0].isdecimal()]
    flags = [flag for part in parts for flag in part[1:] if "=" not in flag]
    asked = SiteRequest(
        account=_account(values),
        qos=values.get("qos", values.get("Resource_List.qos", "")),
        partitions=(values["queue"],) if values.get("queue") else (),
        min_nodes=nodes,
        max_nodes=nodes,
        cpus=sum(chunk.units * chunk.request.get("cores", 0) for chunk in chunks) or None,
        tasks=_processes(values),
        memory_per_node=per_node.get("memory") or None if apart else None,
        gres=(Gres("gpu", "", gpus, "node"),) if gpus and apart else (),
        exclusive="node" if exclusive else "",
        features="&".join(dict.fromkeys([*flags, *filter(None, [values.get("Resource_List.feature", "")])])),
        nodes=",".join(names),
        reservation=values.get("resvID", values.get("resvname", "")),
        dependencies=conditions,
    )
    if asked == NOTHING:
        return None
    return asked


def _torque_parts(values: Mapping[str, str]) -> list[list[str]]:
    """Return the parts of Torque's ``nodes``: number or host, then properties and resources; none for a ``select``."""
    if values.get("Resource_List.select"):
        return []
    text = values.get("Resource_List.nodes") or values.get("Resource_List.nodect", "")
    if not text or (text.isdecimal() and not values.get("Resource_List.nodes")):
        return []
    return [part.split(":") for part in text.partition("#")[0].split("+")]


def _account(values: Mapping[str, str]) -> str:
    """Return the account that is charged; of jobs without one, the project."""
    project = values.get("project", "")
    named = ""
    if project != NO_PROJECT:
        named = project
    return values.get("account") or values.get("Account_Name") or named


def _processes(values: Mapping[str, str]) -> int | None:
    """Return the number of processes: ``procs``, ``mppwidth``, ``mpiprocs`` of the chunks, or ``ppn`` of Torque's nodes."""
    for key in ("procs", "mppwidth"):
        procs = whole_of(values.get(f"Resource_List.{key}", ""))
        if procs:
            return procs
    total = 0
    for part in (values.get("Resource_List.select") or values.get("Resource_List.nodes") or "").split("+"):
        units = whole_of(part.partition(":")[0]) or 1
        each = re.search(r"(?:mpiprocs|ppn)=(\d{1,9})", part, re.ASCII)
        if each is None:
            return None
        total += units * int(each[1])
    return total or None


def _recorded(values: Mapping[str, str]) -> Recorded | None:
    """Return the hosts of a job, each once, and its state by its exit status."""
    hosts = dict.fromkeys(part.partition("/")[0] for part in values.get("exec_host", "").split("+"))
    status = values.get("Exit_status", "")
    state = "FAILED"
    if status == "0":
        state = "COMPLETED"
    recorded = Recorded(nodes=",".join(filter(None, hosts)), state=state if status else "")
    if recorded == NOTHING_RECORDED:
        return None
    return recorded


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
    keys = ("select", "nodes", "nodect", "procs", "pmem", *CRAY, *NAMES, *TORQUE)
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
        if listed["select"]:
            return chunks
        return [_with_memory_of_processes(c, listed["pmem"]) for c in chunks]
    total = _totals(listed)
    if listed["procs"]:
        units, total["cores"] = (amount_of("procs", listed["procs"]),) * 2
    elif not (listed["nodect"] or total["cores"]) and (listed["size"] or listed["mppwidth"]):
        units, total["cores"] = _of_cray(listed)
    elif listed["nodect"]:
        units = amount_of("nodect", listed["nodect"])
    else:
        units = 0
        if listed["ncpus"]:
            units = 1
    if not total["cores"] and values.get("exec_host"):
        hosts = [part.partition("/") for part in values["exec_host"].split("+")]
        total["cores"] = sum(_cores_of_slots(slots) for host, _, slots in hosts if host)
        units = units or len({host for host, _, _ in hosts if host})
    chunk = Chunk(units, {name: -(-amount // max(units, 1)) for name, amount in total.items()})
    return [_with_memory_of_processes(chunk, listed["pmem"])]


def _of_cray(listed: Mapping[str, str]) -> tuple[int, int]:
    """Return the units and cores of a job of a Cray: ``size`` cores, or ``mppwidth`` processes of ``mppdepth`` cores each.

    A unit has the ``mppnppn`` processes of a node, or one.
    """
    if listed["size"]:
        cores = amount_of("size", listed["size"])
        return cores, cores
    width = amount_of("mppwidth", listed["mppwidth"] or "1")
    depth = amount_of("mppdepth", listed["mppdepth"] or "1")
    per_node = amount_of("mppnppn", listed["mppnppn"] or "1")
    if not per_node:
        raise wrong("mppnppn", listed["mppnppn"], "at least 1")
    return -(-width // per_node), width * depth


def _with_memory_of_processes(chunk: Chunk, pmem: str) -> Chunk:
    """Return a chunk of Torque with ``pmem`` for each of its cores, where no other amount of memory is given."""
    if not pmem or chunk.request["memory"]:
        return chunk
    return Chunk(chunk.units, {**chunk.request, "memory": chunk.request["cores"] * amount_of("pmem", pmem)})


def _totals(listed: Mapping[str, str]) -> dict[str, int]:
    """Return the amounts that are listed for the whole job."""
    total = {name: amount_of(key, listed[key]) if listed[key] else 0 for key, name in NAMES.items()}
    for theirs, ours in TORQUE.items():
        if listed[theirs] and not total[NAMES[ours]]:
            total[NAMES[ours]] = amount_of(theirs, listed[theirs])
    return total


def _cores_of_slots(slots: str) -> int:
    """Return the cores of an entry of exec_host after its host: ``3``, ``0*8`` (PBS), ``0-7,12`` (Torque).

    >>> _cores_of_slots("3"), _cores_of_slots("0*8"), _cores_of_slots("0-7,12"), _cores_of_slots("")
    (1, 8, 9, 1)
    """
    cores = 0
    for part in slots.split(","):
        match = SLOTS.fullmatch(part)
        numbers = (None, None, None) if match is None else map(whole_of, match.groups(""))
        first, last, times = numbers
        if times is not None:
            cores += times
        elif first is not None and last is not None:
            cores += max(0, last - first + 1)
        else:
            cores += 1
    return cores


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
    if key not in SIZES:
        value = whole_of(text, most=MOST - 1)
        if value is None:
            raise wrong(key, text, "a whole number")
        return value
    match = SIZE.fullmatch(text)
    amount = None
    if match:
        amount = whole_of(match[1])
    if match is None or amount is None:
        raise wrong(key, text, "a size such as 14gb")
    size = amount * BYTES[match[2].lower()] * (WORD if match[3].lower() == "w" else 1)
    if size > MOST * BYTES["m"]:
        raise wrong(key, text, "a size such as 14gb, of less memory than any machine has")
    return -(-size // BYTES["m"])


def _moment(values: Mapping[str, str], *keys: str) -> float:
    """Return the first of these Unix times that the record has."""
    for key in keys:
        text = values.get(key, "")
        if text:
            seconds = whole_of(text)
            if seconds is None:
                raise wrong(key, text, "a Unix time in seconds")
            return float(seconds)
    return MISSING


def duration(text: str) -> float:
    """Convert D:HH:MM:SS, HH:MM:SS, MM:SS or plain seconds to s."""
    match = None
    if len(text) <= 18:
        match = DURATION.fullmatch(text)
    if match is None:
        raise WrongValue(f"walltime is {text[:40]!r}; expected a duration such as 04:00:00")
    days, hours, minutes, seconds = match.groups()
    return seconds_of(days, hours, minutes, seconds)
