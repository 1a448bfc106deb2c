"""The report of how a log became a workload: repairs, unreadable lines and jobs that were left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..models.excerpt import shortened, visible

REASONS = 5  # reasons for jobs left out that an error message lists


@dataclass(frozen=True)
class BadLine:
    """A line of a trace that could not be read: where, and what was expected."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return shortened(visible(f"{self.file}, line {self.line}: {self.message}"))


@dataclass(frozen=True)
class Report:
    """What was done to a trace: ``repairs`` (what -> how many jobs), lines that could not be read, jobs left out (id, why)."""

    repairs: Mapping[str, int] = field(default_factory=dict)
    bad_lines: tuple[BadLine, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def losses(self) -> str:
        """How many lines and jobs are not there, then the first such line and the commonest reasons, a line each."""
        bad = f"; {len(self.bad_lines)} lines could not be read" if self.bad_lines else ""
        gone = f"; {len(self.dropped)} jobs were left out" if self.dropped else ""
        reasons = Counter(why for _, why in self.dropped).most_common()
        told = [str(line) for line in self.bad_lines[:1]]
        told += [f"{n} job{'s' * (n != 1)}: {why}" for why, n in reasons[:REASONS]]
        told += [f"{sum(n for _, n in reasons[REASONS:])} jobs: other reasons"] if len(reasons) > REASONS else []
        return "\n  ".join([bad + gone, *told])

    def and_also(
        self,
        repairs: Mapping[str, int] | None = None,
        dropped: Iterable[tuple[str, str]] = (),
        notes: Iterable[str] = (),
    ) -> Report:
        """This report with more in it."""
        counts = dict(self.repairs)
        for what, n in (repairs or {}).items():
            if n:
                counts[what] = counts.get(what, 0) + n
        return replace(self, repairs=counts, dropped=(*self.dropped, *dropped), notes=(*self.notes, *notes))
