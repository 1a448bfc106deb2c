"""The report of how a log became a workload: repairs, unreadable lines and jobs that were left out; the error for an unusable log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..errors import SchedlabError
from ..models.comparing import hashable
from ..models.excerpt import shortened, visible
from ..models.words import how_many, how_many_of

REASONS = 5  # reasons for jobs left out that an error message lists


class WorkloadError(SchedlabError, ValueError):
    """The error for a log that cannot be used: unreadable, empty, or without a job that the platform can hold."""


@dataclass(frozen=True)
class BadLine:
    """A line of a log that could not be read: its file, its line number from 1, and what was expected."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return shortened(visible(f"{self.file}, line {self.line}: {self.message}"))


@hashable
@dataclass(frozen=True)
class Report:
    """How a log became a workload.

    ``repairs``: kind of repair -> number of jobs; ``bad_lines``: lines that could not be read; ``dropped``: (id,
    reason) of each job that was left out; ``skipped``: kind of row or record that is no job -> number of them;
    ``not_obeyed``: what jobs requested that a replay does not give -> number of jobs; ``notes``: sentences for the user.
    """

    repairs: Mapping[str, int] = field(default_factory=dict)
    bad_lines: tuple[BadLine, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    not_obeyed: Mapping[str, int] = field(default_factory=dict)

    def losses(self) -> str:
        """Return a text: the numbers of lost lines and jobs, then the first lost line and the most frequent reasons."""
        bad = f"; {how_many(len(self.bad_lines), 'line')} could not be read" if self.bad_lines else ""
        gone = f"; {how_many(len(self.dropped), 'job', verb='were')} left out" if self.dropped else ""
        gone += "".join(f"; {how_many_of(n, what)}" for what, n in self.skipped.items())
        reasons = Counter(why for _, why in self.dropped).most_common()
        details = [str(line) for line in self.bad_lines[:1]]
        details += [f"{how_many(n, 'job')}: {why}" for why, n in reasons[:REASONS]]
        details += (
            [f"{how_many(sum(n for _, n in reasons[REASONS:]), 'job')}: other reasons"]
            if len(reasons) > REASONS
            else []
        )
        return "\n  ".join([bad + gone, *details])

    def and_also(
        self,
        repairs: Mapping[str, int] | None = None,
        dropped: Iterable[tuple[str, str]] = (),
        notes: Iterable[str] = (),
        skipped: Mapping[str, int] | None = None,
        not_obeyed: Mapping[str, int] | None = None,
    ) -> Report:
        """Return a copy of this report with further repairs, dropped jobs, notes and so on."""
        return replace(
            self,
            repairs=_added(self.repairs, repairs or {}),
            dropped=(*self.dropped, *dropped),
            notes=(*self.notes, *notes),
            skipped=_added(self.skipped, skipped or {}),
            not_obeyed=_added(self.not_obeyed, not_obeyed or {}),
        )


def _added(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    total = dict(counts)
    for what, n in more.items():
        if n:
            total[what] = total.get(what, 0) + n
    return total
