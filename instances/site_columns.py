"""What the jobs of a log asked of their site and what its scheduler recorded of them: columns, one row per job.

Most jobs of a log ask for the same as others: a column holds an index into the distinct requests.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..models.array_types import Bools, Ints
from ..models.dispatch.arrays import kept_rows
from ..models.dispatch.site_request import NOTHING, NOTHING_RECORDED, Recorded, RecordedAttempt, SiteRequest

UNKNOWN = -1  # a time or a priority that is not recorded


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
    priority
        Last priority of each job; -1: unknown. Shape (jobs,).
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
        return cls((NOTHING,), none, never, never, never, ("",), none, none, none)

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

    def recorded(self, row: int, start: int = UNKNOWN) -> Recorded:
        """Return what was recorded of a job, with its recorded start in s (-1: unknown), which is kept elsewhere."""
        return Recorded(
            start=_known(start),
            eligible=_known(self.eligible[row]),
            cancelled=_known(self.cancelled[row]),
            priority=_known(self.priority[row]),
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
        self._times = array("q")  # eligible, cancelled, priority of each job
        self._words = array("i")  # nodes, state, reason of each job
        self._attempts: dict[int, tuple[RecordedAttempt, ...]] = {}

    def __len__(self) -> int:
        return len(self._index)

    def append(self, asked: SiteRequest | None, recorded: Recorded | None) -> None:
        """Append a job."""
        self._index.append(0)
        self._times.extend((UNKNOWN, UNKNOWN, UNKNOWN))
        self._words.extend((0, 0, 0))
        if asked is not None or recorded is not None:
            self[len(self) - 1] = (asked, recorded)

    def __setitem__(self, row: int, job: tuple[SiteRequest | None, Recorded | None]) -> None:
        asked = job[0] or NOTHING
        recorded = job[1] or NOTHING_RECORDED
        self._index[row] = self._requests.setdefault(asked, len(self._requests))
        for k, number in enumerate((recorded.eligible, recorded.cancelled, recorded.priority), 3 * row):
            self._times[k] = UNKNOWN if number is None else number
        for k, text in enumerate((recorded.nodes, recorded.state, recorded.reason), 3 * row):
            self._words[k] = self._texts.setdefault(text, len(self._texts))
        self._attempts.pop(row, None)
        if recorded.attempts:
            self._attempts[row] = recorded.attempts

    def columns(self) -> SiteColumns | None:
        """Return the columns; None if nothing is known of any job."""
        times = np.array(self._times, np.int64).reshape(-1, 3)
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
            texts=tuple(self._texts),
            nodes=words[:, 0],
            state=words[:, 1],
            reason=words[:, 2],
            attempts=self._attempts,
        )
        return made.keep(np.arange(len(self)))  # replaced rows can leave requests and texts without a job


def _known(number: int | np.int64) -> int | None:
    return None if number == UNKNOWN else int(number)


def _later(times: Ints, seconds: int) -> Ints:
    moved = times + seconds
    return np.where((times == UNKNOWN) | (moved < 0), UNKNOWN, moved)


def _one_later(time: int, seconds: int) -> int:
    return UNKNOWN if time == UNKNOWN or time + seconds < 0 else time + seconds
