"""The lines of SWF logs as numbers, block after block, with what is wrong with damaged lines."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

import numpy as np

from ...logged import MISSING, Bools
from ...report import BadLine
from ...workload import Floats, Ints

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
CHUNK = 8192  # lines parsed together; a chunk with a damaged line is parsed line by line


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
        table, jobs, lines = np.empty((CHUNK, len(FIELDS))), 0, [np.zeros(0, np.int64)]
        bad: list[BadLine] = []
        comments: list[str] = []
        number, width = 0, 0
        for block in _from_first_jobs(blocks):
            width = width or _width(block)
            comments += [line for line in block if ";" in line and line.lstrip().startswith(";")]
            for begin in range(0, len(block), CHUNK):
                values, at, faults = _parsed(block[begin : begin + CHUNK], width)
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
            return None if _wrong(values).any() else values
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
        expected = "a line of SWF has" if width == len(FIELDS) else "the lines of this file have"
        return f"{len(words)} field{'s' * (len(words) != 1)}; {expected} {width}"
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
