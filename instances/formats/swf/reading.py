"""The Standard Workload Format, version 2.x, of the Parallel Workloads Archive: 18 numbers per job, -1 for unknown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ....models.arguments import checked
from ...files.lines import line_blocks
from ...logged import CANCELLED_WAITING, MISSING, NUMBERED, UNNAMED, Bools, Preceding, TextColumn
from ...repair import Trace
from ...report import Report
from ...workload import Floats, Ints, Workload, WorkloadError
from .header import Header
from .parsing import (
    ALLOCATED,
    FIELDS,
    GROUP,
    JOB,
    MEMORY,
    PARTITION,
    PRECEDING,
    PROGRAM,
    QUEUE,
    REQUESTED,
    RUNTIME,
    STATUS,
    SUBMIT,
    THINK,
    TIME,
    USED_MEMORY,
    USER,
    WAIT,
    LogLines,
)

KB_PER_MB = 1024
FROM_ALLOCATED = "requested processors missing, the allocated ones taken"
FROM_USED = "requested memory missing, the used one taken"
CANCELLED, PARTS = 5, (2, 3, 4)  # of the status
COVERED = "lines of partial executions, which the lines of their whole jobs cover"
FURTHER = "lines of further partial executions, joined to the first one of their job"
JOINED = "partial executions joined to a job: runtimes added"
CAPPED = "memory above that of a node, capped"


@checked
def read_swf(path: str | Path, cores: int = 1, memory: int | None = None) -> Workload:
    r"""Read a log in the Standard Workload Format (SWF).

    A job of p processors becomes ceil(p / cores) units of equal size. Its memory (KB per processor in the file) becomes
    MB per unit. Submit times stay as in the file. Jobs that were cancelled before they started (status 5 without a runtime)
    are left out. Lines of partial executions (status 2, 3, 4) count only where the line of the whole job is missing.

    Parameters
    ----------
    path
        The log, plain or compressed (``.gz``).
    cores
        Cores of a node.
    memory
        Memory of a node in MB. None: the memory requests of the jobs are ignored.

    Returns
    -------
    Workload
        The jobs, times in s. Its ``report`` has the repairs, the unreadable lines and the jobs that were left out.

    Raises
    ------
    WorkloadError
        The file cannot be read, or has no job that can be replayed.

    References
    ----------
    .. [1] S. J. Chapin et al., "Benchmarks and standards for the evaluation of parallel job schedulers", JSSPP 1999,
       LNCS 1659, 67-90; version 2.2 at https://www.cs.huji.ac.il/labs/parallel/workload/swf.html

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "log.swf")
    ...     line = "1 0 10 60.5 24 -1 -1 24 3600 -1 1 5 1 -1 -1 -1 -1 -1"
    ...     _ = log.write_text(f"; UnixStartTime: 0\n{line}\n2 7 nothing\n")
    ...     w = read_swf(log, cores=16)
    >>> w.units.tolist(), w.request.tolist(), w.runtime.tolist(), w.report.bad_lines[0].message
    ([2], [[12]], [61], '3 fields; a line of SWF has 18')
    """
    return swf_trace(path, cores, memory).workload


def swf_trace(path: str | Path, cores: int = 1, memory: int | None = None) -> Trace:
    """Read an SWF log before the common repairs, with the time zone and the machine sizes of its header."""
    if cores < 1 or (memory is not None and memory < 1):
        raise WorkloadError(f"{path}: nodes of {cores} cores and {memory} MB; expected at least 1 of each")
    log = LogLines.read(line_blocks(path), str(path))
    table, line, joined, skipped = _whole_jobs(log.table, log.line)
    bad, width, header = log.bad, log.width, Header.of(log.comments)
    notes = list(header.notes)
    if width > len(FIELDS):
        notes.append(f"the lines have {width} fields; those after the {len(FIELDS)} fields of SWF are ignored")
    unix_start = header.unix_start
    if unix_start and len(table) and table[:, SUBMIT].min() >= 0.9 * unix_start > 1e8:
        notes.append("the submit times are Unix times already; UnixStartTime of the header is not added to them")
        unix_start = 0
    units, request, resources, changed = _geometry(table, cores, memory)
    changed[JOINED] = joined
    never = (table[:, STATUS] == CANCELLED) & (table[:, RUNTIME] <= 0)
    wait = np.where(never, MISSING, table[:, WAIT])
    submit = np.where(table[:, SUBMIT] == -1, MISSING, table[:, SUBMIT])  # no part of the trace keeps the whole table
    program, program_notes = _programs(table)
    notes += program_notes
    if not (table[:, QUEUE] >= 0).any():
        notes.append("the log has no queues: all jobs are in one queue, 'default'")
    return Trace(
        name=_stem(path),
        format="swf",
        ids=_ids(table[:, JOB].astype(np.int64), changed),
        submit=submit,
        start=np.where(wait >= 0, submit + wait, MISSING),
        runtime=np.where(table[:, RUNTIME] >= 0, table[:, RUNTIME], MISSING),
        walltime=np.where(table[:, TIME] > 0, table[:, TIME], MISSING),
        units=units,
        resources=resources,
        request=request,
        queue=_named(table[:, QUEUE], lambda code: header.queue(code) if code >= 0 else "default"),
        user=_named(table[:, USER], lambda code: f"user {code}" if code >= 0 else ""),
        program=program,
        partition=_partitions(table[:, PARTITION], header),
        partition_numbers={header.partition(c): str(c) for c in np.unique(table[:, PARTITION]).astype(int) if c >= 0},
        preceding=_preceding(table, line),
        power=np.full(len(table), MISSING),
        changed=changed,
        unusable={CANCELLED_WAITING: never},
        unix_start=unix_start,
        zone=header.zone,
        sizes=header.sizes,
        report=Report(bad_lines=tuple(bad), notes=tuple(notes), skipped=skipped),
    )


def _whole_jobs(table: Floats, line: Ints) -> tuple[Floats, Ints, Bools, dict[str, int]]:
    """Return the rows of whole jobs, the line of each, which were joined of parts, and kind -> lines left out.

    A job that was checkpointed and swapped out has a line for each partial execution (status 2, at last 3 or 4) beside
    the line of the whole job (status 0 or 1). Where that line is missing, the parts are joined: the submit time and the
    wait are those of the first one (later ones have no submit time), the runtime is the sum. Where the line of the whole
    job has no runtime, it is the sum too.
    """
    part = np.isin(table[:, STATUS], PARTS)
    if not part.any():
        return table, line, part, {}
    # lines without a number are jobs of their own
    number = np.where(table[:, JOB] < 0, -1 - np.arange(len(table), dtype=np.float64), table[:, JOB])
    covered = part & np.isin(number, number[~part])
    alone = np.flatnonzero(part & ~covered)
    submit = table[alone, SUBMIT]
    alone = alone[np.lexsort((np.where(submit < 0, np.inf, submit), number[alone]))]
    _, first, job = np.unique(number[alone], return_index=True, return_inverse=True)
    runtime = np.bincount(job.reshape(-1), np.maximum(table[alone, RUNTIME], 0), len(first))
    kept = ~part
    kept[alone[first]] = True
    table = table.copy()
    table[alone[first], RUNTIME] = runtime
    _complete_runtimes(table, number, np.flatnonzero(~part), np.flatnonzero(covered))
    skipped = {COVERED: int(covered.sum()), FURTHER: len(alone) - len(first)}
    several = np.zeros(len(table), np.bool_)
    several[alone[first]] = np.bincount(job.reshape(-1), minlength=len(first)) > 1
    return table[kept], line[kept], several[kept], {what: n for what, n in skipped.items() if n}


def _complete_runtimes(table: Floats, number: Floats, whole: Ints, parts: Ints) -> None:
    """Set the unknown runtimes of whole jobs, in place, to the sums of those of their parts; ``whole``, ``parts``: rows."""
    unknown = whole[(table[whole, RUNTIME] < 0) & np.isin(number[whole], number[parts])]
    if not len(unknown):
        return
    jobs, which = np.unique(number[parts], return_inverse=True)
    total = np.bincount(which.reshape(-1), np.maximum(table[parts, RUNTIME], 0), len(jobs))
    table[unknown, RUNTIME] = total[np.searchsorted(jobs, number[unknown])]


def _ids(numbers: Ints, changed: dict[str, Bools]) -> tuple[str, ...]:
    """Return the ids of the jobs; one without a number gets its position, as ``changed`` says."""
    missing = numbers < 0
    if not missing.any():
        return tuple(map(str, numbers.tolist()))
    changed[NUMBERED] = missing
    return tuple(f"job {k}" if number < 0 else str(number) for k, number in enumerate(numbers.tolist(), 1))


def _stem(path: str | Path) -> str:
    return Path(path).name.removesuffix(".gz").removesuffix(".swf")


def _geometry(table: Floats, cores: int, memory: int | None) -> tuple[Ints, Ints, tuple[str, ...], dict[str, Bools]]:
    """Return the number of units, the request per unit, the resource names, and repair -> mask of the jobs."""
    requested, allocated = table[:, REQUESTED], table[:, ALLOCATED]
    processors = np.where(requested > 0, requested, np.maximum(allocated, 0)).astype(np.int64)
    units = -(-processors // cores)
    per_unit = -(-processors // np.maximum(units, 1))
    changed = {FROM_ALLOCATED: (requested <= 0) & (allocated > 0)}
    if memory is None:
        return units, per_unit.reshape(-1, 1), ("cores",), changed
    wanted, used = table[:, MEMORY], table[:, USED_MEMORY]
    kilobytes = np.where(wanted > 0, wanted, np.maximum(used, 0))
    megabytes = np.ceil(kilobytes * per_unit / KB_PER_MB)
    changed |= {FROM_USED: (wanted <= 0) & (used > 0), CAPPED: megabytes > memory}
    request = np.column_stack([per_unit, np.minimum(megabytes, memory).astype(np.int64)])
    return units, request, ("cores", "memory"), changed


def _named(codes: Floats, name: Callable[[int], str]) -> TextColumn:
    """Make a column of texts from numbers; ``name`` is called once per distinct number."""
    found, index = _distinct(np.maximum(codes, -1).astype(np.int64))
    return TextColumn(index, tuple(name(code) for code in found.tolist()))


def _partitions(codes: Floats, header: Header) -> TextColumn | None:
    """Return the partition of each job, None if the log has no partitions."""
    if not (codes >= 0).any():
        return None
    return _named(codes, lambda code: header.partition(code) if code >= 0 else UNNAMED)


def _preceding(table: Floats, line: Ints) -> dict[str, Preceding]:
    """Return the preceding job of each job that has one, by job number; a job number 0 is none."""
    return {
        str(int(table[k, JOB])): Preceding(
            str(int(table[k, PRECEDING])), max(0, int(np.ceil(table[k, THINK]))), int(line[k])
        )
        for k in np.flatnonzero(table[:, PRECEDING] > 0).tolist()
    }


def _distinct(codes: Ints) -> tuple[Ints, Ints]:
    """Return the distinct numbers (all at least -1), sorted, and for each element the index of its number.

    >>> _distinct(np.array([7, -1, 7]))
    (array([-1,  7]), array([1, 0, 1]))
    """
    if len(codes) and codes.max() > 4 * len(codes) + 1000:
        found, index = np.unique(codes, return_inverse=True)
        return found, index.reshape(-1).astype(np.int64)
    there = np.bincount(codes + 1) > 0  # small numbers, such as users: counting is faster than sorting
    return np.flatnonzero(there) - 1, (np.cumsum(there) - 1)[codes + 1]


def _programs(table: Floats) -> tuple[TextColumn, list[str]]:
    """Return the column used as program names, and a note: SWF has numbers only."""

    def text(code: int) -> str:
        return str(code) if code > 0 else ""

    if (table[:, PROGRAM] > 0).any():
        return _named(table[:, PROGRAM], text), ["the log has no program names: the application number is used instead"]
    users, user = _distinct(np.maximum(table[:, USER], -1).astype(np.int64))
    of_user = np.zeros(len(users))
    of_user[user] = table[:, GROUP]
    if (table[:, GROUP] != of_user[user]).any():  # else the group has no more information than the user
        note = "the log has no program names and no application numbers: the group or project number is used instead"
        return _named(table[:, GROUP], text), [note]
    none = TextColumn(np.zeros(len(table), np.int64), ("",) if len(table) else ())
    return none, ["the log has no program names, and no numbers that could be used instead"]
