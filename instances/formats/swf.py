"""The Standard Workload Format, version 2.x, of the Parallel Workloads Archive: reading and writing."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta, timezone, tzinfo
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from ...models.arguments import checked
from ...models.array_types import Bools, Floats, Ints
from ...models.words import how_many
from ..files.reading import WorkloadError, line_blocks, whole_of
from ..files.writing import whole_file
from ..logged import CANCELLED_WAITING, MISSING, NUMBERED, UNNAMED, Preceding, TextColumn, Trace
from ..site_columns import SiteColumns
from ..workload import UNKNOWN, BadLine, Report, Workload

# --- The header of a log in the Standard Workload Format.

MOST = 10**15


@dataclass
class Header:
    """The header comments of an SWF file, ``; Key: value``: start time, time zone, machine sizes, names."""

    unix_start: int | None = None
    zone: tzinfo = UTC
    sizes: dict[str, int] = field(default_factory=dict)
    queues: dict[int, str] = field(default_factory=dict)
    partitions: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Sequence[str]) -> Header:
        """Read the header from the lines of a file."""
        pairs: dict[str, str] = {}
        made = cls()
        for line in lines:
            if ";" in line:
                key, colon, value = line.strip().removeprefix(";").partition(":")
            else:
                key = ""
                colon = ""
                value = ""
            key = key.strip().lower()
            value = value.strip()
            if not colon or not line.lstrip().startswith(";") or not re.fullmatch(r"\w+", key):
                continue
            pairs.setdefault(key, value)
            names = {"queue": made.queues, "partition": made.partitions}.get(key)
            named = re.match(r"(\d{1,15})\s+(\S.*)", value, re.ASCII)
            code = None
            if named:
                code = whole_of(named[1], most=MOST)
            if named and code is not None and names is not None:
                names.setdefault(code, named[2])
        made.unix_start = _whole(pairs.get("unixstarttime"))
        for name, key in (("processors", "maxprocs"), ("nodes", "maxnodes")):
            size = _whole(pairs.get(key))
            if size is not None and size > 0:
                made.sizes[name] = size
        made._find_zone(pairs.get("timezonestring"), _whole(pairs.get("timezone")))
        return made

    def _find_zone(self, name: str | None, offset: int | None) -> None:
        if offset is not None and abs(offset) < 86400:
            fixed = timezone(timedelta(seconds=offset))
        else:
            fixed = UTC
        try:
            if name:
                self.zone = ZoneInfo(name)
            else:
                self.zone = fixed
        except (ValueError, LookupError, OSError):
            self.zone = fixed
            self.notes.append(f"the time zone {name!r} of the header is unknown; {fixed} is used for dates")

    def queue(self, code: int) -> str:
        """Return the name of a queue, with its number if another queue has the same name."""
        return _unique_name("queue", self.queues, code)

    def partition(self, code: int) -> str:
        """Return the name of a partition, with its number if another partition has the same name."""
        return _unique_name("partition", self.partitions, code)


def _unique_name(what: str, names: Mapping[int, str], code: int) -> str:
    name = names.get(code, f"{what} {code}")
    if list(names.values()).count(name) > 1:
        return f"{name} ({code})"
    return name


def _whole(text: str | None) -> int | None:
    match = re.match(r"-?\d{1,15}(?!\d)", text or "", re.ASCII)
    if match:
        return whole_of(match[0], -MOST, MOST)
    return None


# --- The lines of SWF logs as numbers, block after block, with what is wrong with damaged lines.

FIELDS = (
    "job number", "submit time", "wait time", "runtime", "allocated processors", "average CPU time", "used memory",
    "requested processors", "requested time", "requested memory", "status", "user", "group", "application", "queue",
    "partition", "preceding job", "think time",
)  # fmt: skip
JOB, SUBMIT, WAIT, RUNTIME, ALLOCATED, USED_MEMORY, REQUESTED, TIME, MEMORY, USER, GROUP, PROGRAM, QUEUE = (
    *range(5), *range(6, 10), *range(11, 15),
)  # fmt: skip
STATUS, PARTITION, PRECEDING, THINK = 10, *range(15, 18)
WHOLE = np.array([f not in ("submit time", "wait time", "runtime", "average CPU time", "used memory", "requested time",
                            "requested memory", "think time") for f in FIELDS])  # fmt: skip
# upper limits of valid numbers: identifiers up to 2**53 (exact in a float), times up to 1e10 s (317 years), 1e8
# processors; their products fit into 64 bits
LARGEST = np.where(WHOLE, 2.0**53, 1e10)
LARGEST[[ALLOCATED, REQUESTED]] = 1e8
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
SAMPLE = 200  # first jobs from which the number of fields per line is taken
MOST_BEFORE = 100_000  # lines among which these first jobs are looked for
PARSED_AT_ONCE = 8192  # lines parsed together; a chunk with a damaged line is parsed line by line


def _is_job(line: str) -> bool:
    return bool(line) and not line.isspace() and not line.lstrip().startswith(";")


class LogLines(NamedTuple):
    """The fields of the jobs of a file, shape (jobs, 18), the line of each, damaged lines, comments, fields per line."""

    table: Floats
    line: Ints
    bad: list[BadLine]
    comments: list[str]
    width: int

    @classmethod
    def read(cls, blocks: Iterable[list[str]], file: str) -> LogLines:
        """Parse blocks of lines one after the other, so that only the numbers of the jobs are in memory."""
        table = np.empty((PARSED_AT_ONCE, len(FIELDS)))
        jobs = 0
        lines = [np.zeros(0, np.int64)]
        bad: list[BadLine] = []
        comments: list[str] = []
        number = 0
        width = 0
        for block in _from_first_jobs(blocks):
            width = width or _width(block)
            comments += [line for line in block if ";" in line and line.lstrip().startswith(";")]
            for begin in range(0, len(block), PARSED_AT_ONCE):
                values, at, faults = _parsed(block[begin : begin + PARSED_AT_ONCE], width)
                if jobs + len(values) > len(table):  # in place: parts that are joined at the end need the memory twice
                    table.resize((jobs + len(values) + jobs // 8, len(FIELDS)), refcheck=False)
                table[jobs : jobs + len(values)] = values
                jobs += len(values)
                lines.append(at + number + begin + 1)
                bad += [BadLine(file, number + begin + k + 1, fault) for k, fault in faults]
            number += len(block)
        table.resize((jobs, len(FIELDS)), refcheck=False)
        return cls(table, np.concatenate(lines), bad, comments, width or len(FIELDS))


def _from_first_jobs(blocks: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield the blocks, the first ones together until they have SAMPLE jobs, from which the number of fields is taken."""
    first: list[str] = []
    rest = iter(blocks)
    for block in rest:
        first += block
        if sum(map(_is_job, first[: 2 * SAMPLE])) >= SAMPLE or len(first) >= MOST_BEFORE:
            break
    yield first
    yield from rest


def _width(lines: Sequence[str]) -> int:
    """Return the number of fields per line: 18, or more if most of the first jobs have more (extended formats)."""
    counts = Counter(len(line.split()) for line in islice(filter(_is_job, lines), SAMPLE))
    return max([len(FIELDS), *(n for n, _ in counts.most_common(1))])


def _parsed(lines: Sequence[str], width: int) -> tuple[Floats, Ints, list[tuple[int, str]]]:
    """Parse lines: the fields of the jobs, the index of the line of each, and (index, fault) of the damaged lines."""
    values = _at_once(lines, width)
    if values is not None:
        return values, np.arange(len(lines)), []
    rows = np.array([k for k, line in enumerate(lines) if _is_job(line)], np.int64)
    jobs = [lines[k] for k in rows.tolist()]
    values = _at_once(jobs, width)  # without comments and empty lines
    if values is not None:
        return values, rows, []
    values, faults = _one_by_one(jobs, width)
    damaged = [k for k, _ in faults]
    return values, np.delete(rows, damaged), [(int(rows[k]), fault) for k, fault in faults]


def _at_once(lines: Sequence[str], width: int) -> Floats | None:
    """Parse lines together; None if one of them is damaged or is not a job."""
    text = "\n".join(lines)
    if not _all_have(text, len(lines), width):
        return None
    for kind in (np.int64, np.float64):  # integers are parsed five times as fast as floats
        try:
            with warnings.catch_warnings():
                # older versions of NumPy only warn of invalid numbers
                warnings.simplefilter("error", DeprecationWarning)
                values = np.fromstring(text, dtype=kind, sep=" ").astype(np.float64)
        except (ValueError, DeprecationWarning):
            continue
        if values.size == len(lines) * width:
            values = values.reshape(-1, width)[:, : len(FIELDS)]
            if _wrong(values).any():
                return None
            return values
    return None


def _all_have(text: str, lines: int, width: int) -> bool:
    r"""Check that a text has ``lines`` lines of ``width`` words each; False also for text that is not plain ASCII.

    >>> _all_have("1 2\n 3\t4 ", 2, 2), _all_have("1 2 3\n4", 2, 2), _all_have("", 0, 18)
    (True, False, True)
    """
    if not lines:
        return True
    if not text.isascii():
        return False
    data = np.frombuffer(text.encode("ascii"), np.uint8)
    gap = data <= ord(" ")
    ends = np.append(np.flatnonzero(data == ord("\n")), len(data))
    usual = (data == ord(" ")) | (data == ord("\t"))
    if len(ends) != lines or np.count_nonzero(gap) != np.count_nonzero(usual) + lines - 1:
        return False
    begins = np.concatenate([[True], gap])[:-1] & ~gap  # of words
    words = np.add.reduceat(np.append(begins, False), np.concatenate([[0], ends[:-1]]), dtype=np.int64)
    return bool((words == width).all())


def _one_by_one(lines: Sequence[str], width: int) -> tuple[Floats, list[tuple[int, str]]]:
    """Parse lines one by one: the fields of the good lines, and (index, fault) of the damaged ones."""
    table = np.full((len(lines), len(FIELDS)), MISSING)
    for k, line in enumerate(lines):
        words = line.split()
        if len(words) == width:
            with suppress(ValueError):
                table[k] = list(map(float, words[: len(FIELDS)]))
    # Python accepts more than SWF allows: 1_000, or digits of other scripts
    odd = np.array([not line.isascii() or "_" in line for line in lines], np.bool_)
    doubtful = np.flatnonzero(_wrong(table).any(axis=1) | odd).tolist()
    faults = [(k, fault) for k in doubtful if (fault := _fault(lines[k], width))]
    return np.delete(table, [k for k, _ in faults], axis=0), faults


def _wrong(values: Floats) -> Bools:
    wrong: Bools = ~(np.abs(values) <= LARGEST) | (WHOLE & (values != np.floor(values)))
    return wrong


def _fault(line: str, width: int) -> str:
    """Describe the fault of a line; empty if it has none."""
    words = line.split()
    if len(words) != width:
        expected = "the lines of this file have"
        if width == len(FIELDS):
            expected = "a line of SWF has"
        return f"{how_many(len(words), 'field')}; {expected} {width}"
    for k, word in enumerate(words[: len(FIELDS)]):
        where = f"field {k + 1} ({FIELDS[k]}) is {word[:40]!r}"
        if not NUMBER.fullmatch(word):
            return f"{where}; expected a {'whole ' if WHOLE[k] else ''}number, -1 if unknown"
        value = float(word)
        if WHOLE[k] and value != np.floor(value):
            return f"{where}; expected a whole number, -1 if unknown"
        if not abs(value) <= LARGEST[k]:
            return f"{where}; expected at most {LARGEST[k]:.0f}"
    return ""


# --- The Standard Workload Format, version 2.x, of the Parallel Workloads Archive: 18 numbers per job, -1 for unknown.

KB_PER_MB = 1024
FROM_ALLOCATED = "requested processors missing, the allocated ones taken"
FROM_USED = "requested memory missing, the used one taken"
CANCELLED = 5  # of the status
PARTS = (2, 3, 4)  # of the status
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
        raise WorkloadError(f"{path}: nodes of {how_many(cores, 'core')} and {memory} MB; expected at least 1 of each")
    log = LogLines.read(line_blocks(path), str(path))
    table, line, joined, skipped = _whole_jobs(log.table, log.line)
    bad = log.bad
    width = log.width
    header = Header.of(log.comments)
    notes = list(header.notes)
    if width > len(FIELDS):
        notes.append(
            f"the lines have {how_many(width, 'field')}; those after the {how_many(len(FIELDS), 'field')} of SWF are ignored"
        )
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
        site=_waited(never & (table[:, WAIT] >= 0), submit + table[:, WAIT]),
    )


def _waited(never: Bools, until: Floats) -> SiteColumns | None:
    """Return the times at which jobs that never ran were cancelled, in s; None if there is no such job."""
    known = never & np.isfinite(until) & (until >= 0)
    if not known.any():
        return None
    times = np.where(known, np.rint(np.where(known, until, 0)), UNKNOWN).astype(np.int64)
    return replace(SiteColumns.unknown(len(never)), cancelled=times)


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
    requested = table[:, REQUESTED]
    allocated = table[:, ALLOCATED]
    processors = np.where(requested > 0, requested, np.maximum(allocated, 0)).astype(np.int64)
    units = -(-processors // cores)
    per_unit = -(-processors // np.maximum(units, 1))
    changed = {FROM_ALLOCATED: (requested <= 0) & (allocated > 0)}
    if memory is None:
        return units, per_unit.reshape(-1, 1), ("cores",), changed
    wanted = table[:, MEMORY]
    used = table[:, USED_MEMORY]
    kilobytes = np.where(wanted > 0, wanted, np.maximum(used, 0))
    megabytes = np.ceil(kilobytes * per_unit / KB_PER_MB)
    changed |= {FROM_USED: (wanted <= 0) & (used > 0), CAPPED: megabytes > memory}
    request = np.column_stack([per_unit, np.minimum(megabytes, memory).astype(np.int64)])
    return units, request, ("cores", "memory"), changed


def _named(codes: Floats, name: Callable[[int], str]) -> TextColumn:
    """Make a column of texts from numbers; ``name`` is called once per distinct number."""
    codes_in_use, index = _distinct(np.maximum(codes, -1).astype(np.int64))
    return TextColumn(index, tuple(name(code) for code in codes_in_use.tolist()))


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
        distinct_codes, index = np.unique(codes, return_inverse=True)
        return distinct_codes, index.reshape(-1).astype(np.int64)
    there = np.bincount(codes + 1) > 0  # small numbers, such as users: counting is faster than sorting
    return np.flatnonzero(there) - 1, (np.cumsum(there) - 1)[codes + 1]


def _programs(table: Floats) -> tuple[TextColumn, list[str]]:
    """Return the column used as program names, and a note: SWF has numbers only."""

    def text(code: int) -> str:
        if code > 0:
            return str(code)
        return ""

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


# --- Writing of workloads in the Standard Workload Format.

FORMATTED_AT_ONCE = 20_000  # jobs that are formatted together
LINE = "%d %d %d %d %d -1 -1 %d %d %d 1 %d -1 %d %d %d -1 -1\n"


def write_swf(workload: Workload, nodes: int, path: str | Path, cores: int = 1) -> None:
    r"""Write a workload as a log in the Standard Workload Format (SWF).

    A unit counts as ``cores`` processors: the log has whole nodes. Jobs get the numbers 1, 2, ... in the order of the
    workload, users, programs, queues and partitions the numbers from 1 on. Names of queues are in the header. Memory per
    unit becomes KB per processor, rounded up.

    Parameters
    ----------
    workload
        The jobs.
    nodes
        Number of nodes of the machine, for the header.
    path
        The file; an existing file is replaced.
    cores
        Processors per unit.

    Raises
    ------
    WorkloadError
        A job has properties that SWF does not have: start windows, several chunks, a preceding job.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from schedlab.instances.formats.swf import read_swf
    >>> from schedlab.instances import lublin_workload
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = lublin_workload(50, seed=1, nodes=64)
    ...     write_swf(made, 64, Path(folder, "log.swf"))
    ...     again = read_swf(Path(folder, "log.swf"))
    >>> bool((made.submit == again.submit).all() and (made.units == again.units).all())
    True
    """
    w = workload
    for what, jobs in (("start windows", w.windows), ("several chunks", w.chunks), ("a preceding job", w.after)):
        if jobs:
            raise WorkloadError(
                f"{w.name}: job {w.ids[min(jobs)]!r} has {what}, which this writer of SWF cannot express"
            )
    processors = w.units * cores
    memory = np.full(len(w), -1, np.int64)
    if "memory" in w.resources:
        memory = -(-w.request[:, w.resources.index("memory")] * KB_PER_MB // cores)
    wait = np.where(w.recorded_start == UNKNOWN, -1, w.recorded_start - w.submit)
    if w.partitions:
        partition = w.partition + 1
    else:
        partition = np.full(len(w), -1, np.int64)
    columns = (
        np.arange(1, len(w) + 1), w.submit, wait, w.runtime, processors, processors, w.walltime, memory, w.user + 1,
        w.program + 1, w.queue + 1, partition,
    )  # fmt: skip
    with whole_file(Path(path)) as out:
        out.write(f"; MaxNodes: {nodes}\n; MaxProcs: {nodes * cores}\n")
        if w.unix_start is not None:
            out.write(f"; UnixStartTime: {w.unix_start}\n")
        out.writelines(f"; Queue: {k} {q.name}\n" for k, q in enumerate(w.queues, 1))
        for begin in range(0, len(w), FORMATTED_AT_ONCE):
            rows = np.column_stack([values[begin : begin + FORMATTED_AT_ONCE] for values in columns])
            out.write(LINE * len(rows) % tuple(rows.ravel().tolist()))
