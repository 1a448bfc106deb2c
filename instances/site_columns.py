"""What the jobs of a log asked of their site and what its scheduler recorded of them: as columns, and as cells of tables.

Most jobs of a log ask for the same as others: a column holds an index into the distinct requests.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import WrongValue
from ..models.array_types import Bools, Ints
from ..models.dispatch.arrays import kept_rows
from ..models.dispatch.jobs import (
    KINDS,
    MOST,
    NOTHING,
    NOTHING_RECORDED,
    PER,
    Dependency,
    Gres,
    Recorded,
    RecordedAttempt,
    SiteRequest,
)
from .files.reading import whole_of, wrong

KEPT_NUMBERS = ("eligible", "cancelled", "priority", "cpus")  # of what is recorded of a job
UNKNOWN = -1  # a number that is not recorded


@dataclass(frozen=True, eq=False)
class SiteColumns:
    """Requests to the site and records of its scheduler, one row per job.

    Attributes
    ----------
    requests, request
        The distinct requests; for each job the index of its request, shape (jobs,).
    eligible, cancelled
        Times in s from which the jobs could have started, and at which they left the queue without having run; -1:
        unknown, or they did not. Shape (jobs,).
    priority, cpus
        Last priority of each job; the CPUs that it had, where that is not what its units ask for. -1: unknown. Shape (jobs,).
    texts, nodes, state, reason
        The distinct texts; for each job the indices of its nodes (as written, ``n[1-4]``), its last state, and the reason
        for which it waited last. Shape (jobs,).
    attempts
        Row of a job -> its earlier attempts.

    Examples
    --------
    >>> asked = SiteRequest(account="chem", qos="high")
    >>> site = SiteColumns.of([(asked, Recorded(eligible=5, nodes="n1")), (asked, Recorded())])
    >>> len(site.requests), site.asked(1).qos, site.recorded(0).nodes, site.eligible.tolist()
    (1, 'high', 'n1', [5, -1])
    """

    requests: tuple[SiteRequest, ...]
    request: Ints
    eligible: Ints
    cancelled: Ints
    priority: Ints
    cpus: Ints
    texts: tuple[str, ...]
    nodes: Ints
    state: Ints
    reason: Ints
    attempts: Mapping[int, tuple[RecordedAttempt, ...]] = field(default_factory=dict)

    @classmethod
    def unknown(cls, jobs: int) -> SiteColumns:
        """Return the columns of some jobs of which nothing is known."""
        never = np.full(jobs, UNKNOWN, np.int64)
        none = np.zeros(jobs, np.int64)
        return cls((NOTHING,), none, never, never, never, never, ("",), none, none, none)

    @classmethod
    def of(cls, jobs: Iterable[tuple[SiteRequest | None, Recorded | None]]) -> SiteColumns | None:
        """Return the columns of some jobs; None if nothing is known of any."""
        known = list(jobs)
        if all(asked is None and recorded is None for asked, recorded in known):
            return None
        rows = SiteRows()
        for asked, recorded in known:
            rows.append(asked, recorded)
        return rows.columns()

    def __len__(self) -> int:
        return len(self.request)

    def asked(self, row: int) -> SiteRequest:
        """Return what a job asked for."""
        return self.requests[int(self.request[row])]

    def ran_before(self) -> Ints:
        """Return the seconds that each job ran before its last attempt; shape (jobs,)."""
        seconds = np.zeros(len(self), np.int64)
        for row, attempts in self.attempts.items():
            seconds[row] = sum(max(each.end - each.start, 0) for each in attempts if each.start >= 0)
        return seconds

    def recorded(self, row: int, start: int = UNKNOWN) -> Recorded:
        """Return what was recorded of a job, with its recorded start in s (-1: unknown), which is kept elsewhere."""
        return Recorded(
            start=_known(start),
            eligible=_known(self.eligible[row]),
            cancelled=_known(self.cancelled[row]),
            priority=_known(self.priority[row]),
            cpus=_known(self.cpus[row]),
            nodes=self.texts[int(self.nodes[row])],
            state=self.texts[int(self.state[row])],
            reason=self.texts[int(self.reason[row])],
            attempts=self.attempts.get(row, ()),
        )

    @property
    def of_queue(self) -> Bools:
        """Which jobs never ran, and left the queue at a known time; shape (jobs,)."""
        waiting: Bools = self.cancelled != UNKNOWN
        return waiting

    def keep(self, rows: Ints | Sequence[int]) -> SiteColumns:
        """Return the columns of some jobs, given by their indices, without requests and texts that none of them has."""
        index = np.asarray(rows, np.int64)
        used, request = np.unique(self.request[index], return_inverse=True)
        texts = np.concatenate([column[index] for column in (self.nodes, self.state, self.reason)])
        used_texts, code = np.unique(texts, return_inverse=True)
        nodes, state, reason = code.reshape(3, len(index))
        return SiteColumns(
            requests=tuple(self.requests[k] for k in used.tolist()),
            request=request.reshape(-1).astype(np.int64),
            eligible=self.eligible[index],
            cancelled=self.cancelled[index],
            priority=self.priority[index],
            cpus=self.cpus[index],
            texts=tuple(self.texts[k] for k in used_texts.tolist()),
            nodes=nodes,
            state=state,
            reason=reason,
            attempts=kept_rows(self.attempts, index.tolist()),
        )

    def later(self, seconds: int) -> SiteColumns:
        """Return the columns with all times later by some seconds; times before second 0 become unknown."""
        return replace(
            self,
            eligible=_later(self.eligible, seconds),
            cancelled=_later(self.cancelled, seconds),
            attempts={
                row: tuple(
                    each._replace(
                        submit=_one_later(each.submit, seconds),
                        start=_one_later(each.start, seconds),
                        end=_one_later(each.end, seconds),
                    )
                    for each in attempts
                )
                for row, attempts in self.attempts.items()
            },
        )

    def after(self, first: SiteColumns) -> SiteColumns:
        """Return the columns of other jobs, followed by these."""
        n = len(first.requests)
        words = len(first.texts)
        return SiteColumns(
            requests=(*first.requests, *self.requests),
            request=np.concatenate([first.request, self.request + n]),
            eligible=np.concatenate([first.eligible, self.eligible]),
            cancelled=np.concatenate([first.cancelled, self.cancelled]),
            priority=np.concatenate([first.priority, self.priority]),
            cpus=np.concatenate([first.cpus, self.cpus]),
            texts=(*first.texts, *self.texts),
            nodes=np.concatenate([first.nodes, self.nodes + words]),
            state=np.concatenate([first.state, self.state + words]),
            reason=np.concatenate([first.reason, self.reason + words]),
            attempts={**first.attempts, **{row + len(first): each for row, each in self.attempts.items()}},
        )

    def without_records(self) -> SiteColumns:
        """Return what the jobs asked for alone, for jobs whose submit times are not those of the log any more."""
        return replace(SiteColumns.unknown(len(self)), requests=self.requests, request=self.request)


class SiteRows:
    """The columns of jobs while a log is read: rows are appended, and may be replaced later."""

    def __init__(self) -> None:
        self._requests: dict[SiteRequest, int] = {NOTHING: 0}
        self._texts: dict[str, int] = {"": 0}
        self._index = array("i")
        self._times = array("q")  # eligible, cancelled, priority, CPUs of each job
        self._words = array("i")  # nodes, state, reason of each job
        self._attempts: dict[int, tuple[RecordedAttempt, ...]] = {}

    def __len__(self) -> int:
        return len(self._index)

    def append(self, asked: SiteRequest | None, recorded: Recorded | None) -> None:
        """Append a job."""
        self._index.append(0)
        self._times.extend([UNKNOWN] * len(KEPT_NUMBERS))
        self._words.extend((0, 0, 0))
        if asked is not None or recorded is not None:
            self[len(self) - 1] = (asked, recorded)

    def __setitem__(self, row: int, job: tuple[SiteRequest | None, Recorded | None]) -> None:
        asked = job[0] or NOTHING
        recorded = job[1] or NOTHING_RECORDED
        self._index[row] = self._requests.setdefault(asked, len(self._requests))
        for k, name in enumerate(KEPT_NUMBERS, len(KEPT_NUMBERS) * row):
            number = getattr(recorded, name)
            if number is None:
                self._times[k] = UNKNOWN
            else:
                self._times[k] = number
        for k, text in enumerate((recorded.nodes, recorded.state, recorded.reason), 3 * row):
            self._words[k] = self._texts.setdefault(text, len(self._texts))
        self._attempts.pop(row, None)
        if recorded.attempts:
            self._attempts[row] = recorded.attempts

    def columns(self) -> SiteColumns | None:
        """Return the columns; None if nothing is known of any job."""
        times = np.array(self._times, np.int64).reshape(-1, len(KEPT_NUMBERS))
        words = np.array(self._words, np.int64).reshape(-1, 3)
        index = np.array(self._index, np.int64)
        if not index.any() and not words.any() and not self._attempts and (times == UNKNOWN).all():
            return None
        made = SiteColumns(
            requests=tuple(self._requests),
            request=index,
            eligible=times[:, 0],
            cancelled=times[:, 1],
            priority=times[:, 2],
            cpus=times[:, 3],
            texts=tuple(self._texts),
            nodes=words[:, 0],
            state=words[:, 1],
            reason=words[:, 2],
            attempts=self._attempts,
        )
        return made.keep(np.arange(len(self)))  # replaced rows can leave requests and texts without a job


def _known(number: int | np.int64) -> int | None:
    if number == UNKNOWN:
        return None
    return int(number)


def _later(times: Ints, seconds: int) -> Ints:
    moved = times + seconds
    return np.where((times == UNKNOWN) | (moved < 0), UNKNOWN, moved)


def _one_later(time: int, seconds: int) -> int:
    if time == UNKNOWN or time + seconds < 0:
        return UNKNOWN
    return time + seconds


# --- What a job asked of its site and what was recorded of it, as cells of a table: columns ``asked.*`` and ``recorded.*``.
#
# The notations are Slurm's where it has one: ``afterok:12:13`` for dependencies, ``gpu:a100:2/node`` for two GPUs on each node.
# Instance folders, tables of jobs and pandas have the same columns; a table has only those in which a job has a value.


ASKED, RECORDED = "asked.", "recorded."
TEXTS = ("account", "qos", "exclusive", "features", "nodes", "excluded_nodes", "licences", "reservation")
NUMBERS = (
    "min_nodes", "max_nodes", "cpus", "tasks", "tasks_per_node", "cpus_per_task", "memory_per_cpu", "memory_per_node",
    "memory_per_gpu", "begin", "array_limit",
)  # fmt: skip
YES_OR_NO = ("contiguous", "held", "requeue")
ASKED_FIELDS = (*TEXTS[:2], "partitions", *NUMBERS, "gres", *TEXTS[2:], *YES_OR_NO, "nice", "dependencies")
RECORDED_NUMBERS = ("start", *KEPT_NUMBERS)
RECORDED_TEXTS = ("nodes", "state", "reason")
SITE_COLUMNS = (
    *(f"{ASKED}{name}" for name in ASKED_FIELDS),
    *(f"{RECORDED}{name}" for name in (*RECORDED_NUMBERS, *RECORDED_TEXTS, "attempts")),
)
_SITE_COLUMNS = frozenset(SITE_COLUMNS)
GRES = re.compile(rf"([^:/,]+)(?::([^/,]*))?:(\d{{1,15}})/({'|'.join(PER)})", re.ASCII)
ATTEMPT = re.compile(r"(-?\d{1,15})/(-?\d{1,15})/(-?\d{1,15})/([^/;]*)/([^/;]*)", re.ASCII)
EXPECTED_DEPENDENCIES = "conditions such as afterok:12:13,singleton"


def is_site_column(name: str) -> bool:
    """Check whether a column is one of these."""
    return name in SITE_COLUMNS


def is_number_column(name: str) -> bool:
    """Check whether the values of one of these columns are whole numbers."""
    return name.partition(".")[2] in (*NUMBERS, *YES_OR_NO, *RECORDED_NUMBERS, "nice")


def cells_of(asked: SiteRequest | None, recorded: Recorded | None) -> dict[str, Any]:
    """Return the cells of a job that have a value.

    >>> cells_of(SiteRequest(qos="high", gres=(Gres("gpu", "a100", 2, "node"),)), Recorded(start=5, nodes="n[1-2]"))
    {'asked.qos': 'high', 'asked.gres': 'gpu:a100:2/node', 'recorded.start': 5, 'recorded.nodes': 'n[1-2]'}
    """
    cells: dict[str, Any] = {}
    for name in ASKED_FIELDS if asked is not None and asked is not NOTHING else ():
        value = getattr(asked, name)
        if value != getattr(NOTHING, name):
            cells[f"{ASKED}{name}"] = _text_of(name, value, asked or NOTHING)
    for name in (*RECORDED_NUMBERS, *RECORDED_TEXTS) if recorded is not None else ():
        value = getattr(recorded, name)
        if value not in (None, ""):
            cells[f"{RECORDED}{name}"] = value
    if recorded is not None and recorded.attempts:
        attempts = ";".join("/".join(map(str, each)) for each in recorded.attempts)
        cells[f"{RECORDED}attempts"] = attempts
    return cells


def _text_of(name: str, value: Any, asked: SiteRequest) -> Any:
    if name == "partitions":
        return ",".join(value)
    if name == "gres":
        return ",".join(f"{each.name}:{each.type + ':' if each.type else ''}{each.number}/{each.per}" for each in value)
    if name == "dependencies":
        return dependency_text(asked)
    if name in YES_OR_NO:
        return int(value)
    return value


def columns_with_values(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the columns in which a job has a value, in their order."""
    used = {name for each in cells for name in each}
    return [name for name in SITE_COLUMNS if name in used]


def site_of(cells: Mapping[str, Any]) -> tuple[SiteRequest | None, Recorded | None]:
    """Return what a job asked for and what was recorded of it, None if there is nothing, from the cells of a row.

    Cells that are missing, empty or None are unknown. Raises WrongValue with the column.

    >>> site_of({"asked.dependencies": "afterok:7", "recorded.start": "5"})[0].dependencies
    (Dependency(kind='afterok', jobs=('7',), delay=0),)
    """
    if _SITE_COLUMNS.isdisjoint(cells):
        return None, None
    asked: dict[str, Any] = {}
    recorded: dict[str, Any] = {}
    for column in SITE_COLUMNS:
        value = cells.get(column)
        if _is_empty(value):
            continue
        kind, _, name = column.partition(".")
        if f"{kind}." == ASKED:
            asked |= _asked(column, name, value)
        else:
            recorded[name] = _recorded(column, name, value)
    request = None
    if asked:
        request = SiteRequest(**asked)
    if request == NOTHING:
        request = None
    records = None
    if recorded:
        records = Recorded(**recorded)
    if records == NOTHING_RECORDED:
        records = None
    return request, records


def _is_empty(value: object) -> bool:
    return value is None or value == "" or value != value


def _asked(column: str, name: str, value: Any) -> dict[str, Any]:
    if name == "partitions":
        return {name: tuple(filter(None, str(value).split(",")))}
    if name == "gres":
        return {name: tuple(_gres(column, part) for part in str(value).split(","))}
    if name == "dependencies":
        try:
            conditions, any_of = dependencies_of(str(value))
        except WrongValue:
            raise wrong(column, value, EXPECTED_DEPENDENCIES) from None
        return {name: conditions, "any_dependency": any_of}
    if name in YES_OR_NO:
        return {name: bool(_whole(column, value, 0, 1))}
    if name == "nice":
        return {name: _whole(column, value, -MOST)}
    return {name: _whole(column, value, 0) if name in NUMBERS else str(value)}


def _recorded(column: str, name: str, value: Any) -> Any:
    if name in RECORDED_NUMBERS:
        return _whole(column, value, 0)
    if name == "attempts":
        return tuple(_attempt(column, part) for part in str(value).split(";"))
    return str(value)


def _whole(column: str, value: Any, least: int, most: int = MOST) -> int:
    if isinstance(value, float) and value == int(value):
        text = str(int(value))
    else:
        text = str(value)
    number = whole_of(text.strip(), least, most)
    if number is None:
        raise wrong(column, value, f"a whole number from {least} to {most}, or an empty cell")
    return number


def _gres(column: str, text: str) -> Gres:
    match = GRES.fullmatch(text.strip())
    if match is None:
        raise wrong(column, text, f"resources such as gpu:a100:2/node or gpu:4/job, per {', '.join(PER)}")
    return Gres(match[1], match[2] or "", int(match[3]), match[4])


def _attempt(column: str, text: str) -> RecordedAttempt:
    match = ATTEMPT.fullmatch(text.strip())
    if match is None:
        raise wrong(column, text, "submit/start/end/state/nodes, with -1 for an unknown time")
    return RecordedAttempt(int(match[1]), int(match[2]), int(match[3]), match[4], match[5])


# --- Dependencies as Slurm writes them.


def dependencies_of(text: str) -> tuple[tuple[Dependency, ...], bool]:
    """Return the conditions of ``--dependency``, and whether one of them is enough. Raises WrongValue.

    ``squeue`` prints them too, each job with its state: ``afterok:12(unfulfilled)``.

    >>> dependencies_of("afterok:12:13,after:7+5")[0]
    (Dependency(kind='afterok', jobs=('12', '13'), delay=0), Dependency(kind='after', jobs=('7',), delay=300))
    >>> dependencies_of("afterany:1?singleton")[1]
    True
    """
    conditions: list[Dependency] = []
    plain = re.sub(r"\([^()]*\)", "", text)
    for part in filter(None, re.split("[,?]", plain)):
        kind, *jobs = part.strip().split(":")
        kind = kind.lower()
        if re.fullmatch(r"\d[\d_]*", kind, re.ASCII):  # the oldest form: ids alone
            conditions.append(Dependency("afterany", (kind, *jobs)))
            continue
        if kind not in KINDS:
            raise WrongValue(f"{text[:40]!r}; expected {EXPECTED_DEPENDENCIES}")
        conditions += _conditions(kind, [job for job in jobs if job])
    return tuple(conditions), "?" in plain


def _conditions(kind: str, jobs: Sequence[str]) -> list[Dependency]:
    """Return the conditions of one kind, one for each delay; only ``after`` has delays, in minutes: ``after:7+5``."""
    if not jobs:
        return [Dependency(kind)]
    if kind != "after":
        return [Dependency(kind, tuple(jobs))]
    by_delay: dict[int, list[str]] = {}
    for job in jobs:
        name, _, minutes = job.partition("+")
        delay = 60 * (whole_of(minutes) or 0)
        by_delay.setdefault(delay, []).append(name)
    return [Dependency(kind, tuple(names), delay) for delay, names in by_delay.items()]


def dependency_text(request: SiteRequest) -> str:
    """Return the conditions of a request as Slurm writes them.

    >>> dependency_text(SiteRequest(dependencies=dependencies_of("after:7+5,afterok:12:13")[0]))
    'after:7+5,afterok:12:13'
    """
    parts = []
    for kind, jobs, delay in request.dependencies:
        after = ""
        if delay:
            after = f"+{delay // 60}"
        parts.append(":".join([kind, *(f"{job}{after}" for job in jobs)]))
    return ("?" if request.any_dependency else ",").join(parts)
