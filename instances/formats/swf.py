"""The Standard Workload Format, version 2.x, of the Parallel Workloads Archive: 18 numbers per job, -1 for unknown."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, timedelta, timezone, tzinfo
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from ..files.lines import read_lines
from ..logged import MISSING, Bools, TextColumn
from ..repair import Trace
from ..report import BadLine, Report
from ..workload import Floats, Ints, Workload, WorkloadError

FIELDS = (
    "job number", "submit time", "wait time", "runtime", "allocated processors", "average CPU time", "used memory",
    "requested processors", "requested time", "requested memory", "status", "user", "group", "application", "queue",
    "partition", "preceding job", "think time",
)  # fmt: skip
JOB, SUBMIT, WAIT, RUNTIME, ALLOCATED, USED_MEMORY, REQUESTED, TIME, MEMORY, USER, GROUP, PROGRAM, QUEUE = (
    *range(5), *range(6, 10), *range(11, 15),
)  # fmt: skip
WHOLE = np.array([f not in ("submit time", "wait time", "runtime", "average CPU time", "used memory", "requested time",
                            "requested memory", "think time") for f in FIELDS])  # fmt: skip
# beyond these a number is damage: names up to what a float holds exactly, 300 years, 1e8 processors; products of them
# still fit 64 bits
LARGEST = np.where(WHOLE, 2.0**53, 1e10)
LARGEST[[ALLOCATED, REQUESTED]] = 1e8
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
SAMPLE = 200  # jobs that tell how many fields the lines have
CHUNK = 8192  # lines; a damaged line makes its chunk be read line by line
KB_PER_MB = 1024
FROM_ALLOCATED = "requested processors missing, the allocated ones taken"
FROM_USED = "requested memory missing, the used one taken"
CAPPED = "memory above that of a node, capped"


def read_swf(path: str | Path, cores: int = 1, memory: int | None = None) -> Workload:
    """The jobs of an SWF file (.gz too) for nodes of ``cores`` cores and ``memory`` MB (None: memory plays no part).

    A job of p processors becomes ceil(p / cores) units of equal size; its memory (KB per processor in the file) becomes
    MB per unit. Submit times stay as in the file. What was repaired, the lines that could not be read and the jobs left
    out are in ``report``. Raises WorkloadError if the file cannot be read, or has no job that can be replayed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "log.swf")
    ...     line = "1 0 10 60.5 24 -1 -1 24 3600 -1 1 5 1 -1 -1 -1 -1 -1"
    ...     _ = log.write_text(f"; UnixStartTime: 0\\n{line}\\n2 7 nothing\\n")
    ...     w = read_swf(log, cores=16)
    >>> w.units.tolist(), w.request.tolist(), w.runtime.tolist(), w.report.bad_lines[0].message
    ([2], [[12]], [61], '3 fields; a line of SWF has 18')
    """
    return swf_trace(path, cores, memory).workload


def swf_trace(path: str | Path, cores: int = 1, memory: int | None = None) -> Trace:
    """The same before the repairs that are common to all formats, with the time zone and the sizes of the header."""
    if cores < 1 or (memory is not None and memory < 1):
        raise WorkloadError(f"{path}: nodes of {cores} cores and {memory} MB; at least 1 of each is expected")
    lines = read_lines(path)
    header = Header.of(lines)
    width = _width(lines)
    table, bad = _table(lines, str(path), width)
    notes = list(header.notes)
    if width > len(FIELDS):
        notes.append(f"the lines have {width} fields; what follows the {len(FIELDS)} of SWF is not read")
    unix_start = header.unix_start
    if unix_start and len(table) and table[:, SUBMIT].min() >= 0.9 * unix_start > 1e8:
        notes.append("the submit times are Unix times already; UnixStartTime of the header is not added to them")
        unix_start = 0
    units, request, resources, changed = _geometry(table, cores, memory)
    submit, wait = table[:, SUBMIT], table[:, WAIT]
    program, about = _programs(table)
    notes += about
    if not (table[:, QUEUE] >= 0).any():
        notes.append("the log has no queues: all jobs are in one, 'default'")
    return Trace(
        name=_stem(path),
        format="swf",
        ids=tuple(map(str, table[:, JOB].astype(np.int64).tolist())),
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
        power=np.full(len(table), MISSING),
        changed=changed,
        unix_start=unix_start,
        zone=header.zone,
        sizes=header.sizes,
        report=Report(bad_lines=tuple(bad), notes=tuple(notes)),
    )


@dataclass
class Header:
    """What the comments on top of the file say: ``; Key: value``."""

    unix_start: int | None = None
    zone: tzinfo = UTC
    sizes: dict[str, int] = field(default_factory=dict)
    queues: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Sequence[str]) -> Header:
        """The header of a file."""
        pairs: dict[str, str] = {}
        made = cls()
        for line in lines:
            key, colon, value = line.strip().removeprefix(";").partition(":") if ";" in line else ("", "", "")
            key, value = key.strip().lower(), value.strip()
            if not colon or not line.lstrip().startswith(";") or not re.fullmatch(r"\w+", key):
                continue
            pairs.setdefault(key, value)
            named = re.match(r"(\d{1,15})\s+(\S.*)", value, re.ASCII) if key == "queue" else None
            if named:
                made.queues.setdefault(int(named[1]), named[2])
        made.unix_start = _whole(pairs.get("unixstarttime"))
        for name, key in (("processors", "maxprocs"), ("nodes", "maxnodes")):
            size = _whole(pairs.get(key))
            if size is not None and size > 0:
                made.sizes[name] = size
        made._find_zone(pairs.get("timezonestring"), _whole(pairs.get("timezone")))
        return made

    def _find_zone(self, name: str | None, offset: int | None) -> None:
        fixed = timezone(timedelta(seconds=offset)) if offset is not None and abs(offset) < 86400 else UTC
        try:
            self.zone = ZoneInfo(name) if name else fixed
        except (ValueError, LookupError, OSError):
            self.zone = fixed
            self.notes.append(f"the time zone {name!r} of the header is not known here; {fixed} is used for dates")

    def queue(self, code: int) -> str:
        """The name of a queue, with its number if another queue has the same name."""
        name = self.queues.get(code, f"queue {code}")
        return f"{name} ({code})" if list(self.queues.values()).count(name) > 1 else name


def _whole(text: str | None) -> int | None:
    found = re.match(r"-?\d{1,15}(?!\d)", text or "", re.ASCII)
    return int(found[0]) if found else None


def _stem(path: str | Path) -> str:
    return Path(path).name.removesuffix(".gz").removesuffix(".swf")


def _is_job(line: str) -> bool:
    return bool(line) and not line.isspace() and not line.lstrip().startswith(";")


def _width(lines: Sequence[str]) -> int:
    """How many fields the lines have: 18, or more if the first jobs agree on it (extensions of the format)."""
    counts = Counter(len(line.split()) for line in islice(filter(_is_job, lines), SAMPLE))
    return max([len(FIELDS), *(n for n, _ in counts.most_common(1))])


def _table(lines: Sequence[str], file: str, width: int) -> tuple[Floats, list[BadLine]]:
    """The jobs, 18 columns, and the lines that are damaged."""
    parts, bad = [np.zeros((0, len(FIELDS)))], []
    for begin in range(0, len(lines), CHUNK):
        values = _at_once(lines[begin : begin + CHUNK], width)
        if values is None:  # a comment, an empty line, or damage
            rows = [(n, line) for n, line in enumerate(lines[begin : begin + CHUNK], begin + 1) if _is_job(line)]
            values = _at_once([line for _, line in rows], width)
        if values is None:
            values, told = _one_by_one([line for _, line in rows], width)
            bad += [BadLine(file, rows[k][0], fault) for k, fault in told]
        parts.append(values)
    return np.concatenate(parts), bad


def _at_once(lines: Sequence[str], width: int) -> Floats | None:
    """The numbers of lines without a fault; None if one has a fault, or is no job's."""
    text = "\n".join(lines)
    if not _all_have(text, len(lines), width):
        return None
    for kind in (np.int64, np.float64):  # whole numbers are read five times as fast
        try:
            with warnings.catch_warnings():
                # older versions of numpy only warn of what is no number
                warnings.simplefilter("error", DeprecationWarning)
                values = np.fromstring(text, dtype=kind, sep=" ").astype(np.float64)
        except (ValueError, DeprecationWarning):
            continue
        if values.size == len(lines) * width:
            values = values.reshape(-1, width)[:, : len(FIELDS)]
            return None if _wrong(values).any() else values
    return None


def _all_have(text: str, lines: int, width: int) -> bool:
    """Whether the text is so many lines, each of so many words; False also where only Python's split() could tell.

    >>> _all_have("1 2\\n 3\\t4 ", 2, 2), _all_have("1 2 3\\n4", 2, 2), _all_have("", 0, 18)
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
    """The numbers of the lines without a fault, and of the others which they are and what is wrong."""
    table = np.full((len(lines), len(FIELDS)), MISSING)
    for k, line in enumerate(lines):
        words = line.split()
        if len(words) == width:
            with suppress(ValueError):
                table[k] = list(map(float, words[: len(FIELDS)]))
    # what Python reads as a number is more than what SWF means by one: 1_000, or digits of other scripts
    odd = np.array([not line.isascii() or "_" in line for line in lines], np.bool_)
    doubtful = np.flatnonzero(_wrong(table).any(axis=1) | odd).tolist()
    told = [(k, fault) for k in doubtful if (fault := _fault(lines[k], width))]
    return np.delete(table, [k for k, _ in told], axis=0), told


def _wrong(values: Floats) -> Bools:
    wrong: Bools = ~(np.abs(values) <= LARGEST) | (WHOLE & (values != np.floor(values)))
    return wrong


def _fault(line: str, width: int) -> str:
    """What is wrong with a line; empty if nothing is."""
    words = line.split()
    if len(words) != width:
        whose = "a line of SWF has" if width == len(FIELDS) else "the lines of this file have"
        return f"{len(words)} field{'s' * (len(words) != 1)}; {whose} {width}"
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


def _geometry(table: Floats, cores: int, memory: int | None) -> tuple[Ints, Ints, tuple[str, ...], dict[str, Bools]]:
    """Units, what one of them asks for, over which resources; what had to be repaired for it."""
    asked, given = table[:, REQUESTED], table[:, ALLOCATED]
    processors = np.where(asked > 0, asked, np.maximum(given, 0)).astype(np.int64)
    units = -(-processors // cores)
    per_unit = -(-processors // np.maximum(units, 1))
    changed = {FROM_ALLOCATED: (asked <= 0) & (given > 0)}
    if memory is None:
        return units, per_unit.reshape(-1, 1), ("cores",), changed
    wanted, used = table[:, MEMORY], table[:, USED_MEMORY]
    kilobytes = np.where(wanted > 0, wanted, np.maximum(used, 0))
    megabytes = np.ceil(kilobytes * per_unit / KB_PER_MB)
    changed |= {FROM_USED: (wanted <= 0) & (used > 0), CAPPED: megabytes > memory}
    request = np.column_stack([per_unit, np.minimum(megabytes, memory).astype(np.int64)])
    return units, request, ("cores", "memory"), changed


def _named(codes: Floats, name: Callable[[int], str]) -> TextColumn:
    """The texts of numbers, each number's text made once."""
    found, index = _distinct(np.maximum(codes, -1).astype(np.int64))
    return TextColumn(index, tuple(name(code) for code in found.tolist()))


def _distinct(codes: Ints) -> tuple[Ints, Ints]:
    """The distinct numbers, all at least -1, in order, and of each place which one it has.

    >>> _distinct(np.array([7, -1, 7]))
    (array([-1,  7]), array([1, 0, 1]))
    """
    if len(codes) and codes.max() > 4 * len(codes) + 1000:
        found, index = np.unique(codes, return_inverse=True)
        return found, index.reshape(-1).astype(np.int64)
    there = np.bincount(codes + 1) > 0  # numbers of users are small: no need to sort
    return np.flatnonzero(there) - 1, (np.cumsum(there) - 1)[codes + 1]


def _programs(table: Floats) -> tuple[TextColumn, list[str]]:
    """What stands for the name of the program, and the note that says so: a log has numbers at best."""

    def text(code: int) -> str:
        return str(code) if code > 0 else ""

    if (table[:, PROGRAM] > 0).any():
        return _named(table[:, PROGRAM], text), ["the log has no program names: the application number stands in"]
    users, user = _distinct(np.maximum(table[:, USER], -1).astype(np.int64))
    of_user = np.zeros(len(users))
    of_user[user] = table[:, GROUP]
    if (table[:, GROUP] != of_user[user]).any():  # else a group says no more than the user
        note = "the log has no program names and no application numbers: the group or project number stands in"
        return _named(table[:, GROUP], text), [note]
    none = TextColumn(np.zeros(len(table), np.int64), ("",) if len(table) else ())
    return none, ["the log has no program names, and nothing that could stand in"]
