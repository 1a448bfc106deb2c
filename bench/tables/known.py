"""The tables that compare verified schedules with the best-known values of the literature."""

from __future__ import annotations

from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

from ...backends.gaps import close
from ..grid import Column, Grid, number
from ..statistics.measures import primal_gap
from ..statistics.sample import Outcome, Problem, Sample

MEANING = (
    "known: problems with a best-known value; better, equal, worse: problems on which the best verified schedule of the method, of "
    "all its seeds, is better than it, equal to it, worse; none: problems without a verified schedule; gap %: mean gap to it, "
    "below 0 if better, over the problems with a schedule."
)
MEANING_OF_BETTER = (
    "Verified schedules that are better than the best-known value of the list: a value of the list may be out of date, or that "
    "of another problem; check both before you claim it. gain %: |objective - best known| over the greater of the two."
)


class Against(NamedTuple):
    """A method against the best-known values; the problems of each outcome, and the mean gap (None without a schedule)."""

    method: str
    known: int
    better: int
    equal: int
    worse: int
    none: int
    gap: float | None


class Better(NamedTuple):
    """A problem on which a method has found more than the list knows."""

    problem: str
    method: str
    objective: float
    known: float
    gain: float


def best_of(problem: Problem, runs: list[Outcome]) -> float | None:
    """Return the best objective of some runs; None without a verified schedule."""
    values = [run.objective for run in runs if run.objective is not None]
    return min(values, key=lambda v: problem.sign * v, default=None)


def against(sample: Sample) -> list[Against]:
    """Return each method against the best-known values of the problems that have one."""
    rows = []
    for method in sample.methods:
        counts = dict.fromkeys(("better", "equal", "worse", "none"), 0)
        gaps = []
        listed = [(p, p.known) for p in sample.problems if p.known is not None]
        for p, known in listed:
            found = best_of(p, list(p.runs[method]))
            counts[_outcome(p, found, known)] += 1
            if found is not None:
                side = -1 if _outcome(p, found, known) == "better" else 1
                gaps.append(side * primal_gap(found, known))
        rows.append(Against(method, len(listed), **counts, gap=fmean(gaps) if gaps else None))
    return rows


def better_than_known(sample: Sample) -> list[Better]:
    """Return the schedules that are better than the best-known values, the best method of each problem first."""
    rows = []
    for p in sample.problems:
        own = [(method, best_of(p, list(p.runs[method]))) for method in sample.methods]
        known = p.known
        if known is None:
            continue
        better = [(m, v) for m, v in own if v is not None and _outcome(p, v, known) == "better"]
        sign = p.sign
        for method, value in sorted(better, key=lambda pair: sign * pair[1]):
            rows.append(Better(p.name, method, value, known, primal_gap(value, known)))
    return rows


def _outcome(problem: Problem, found: float | None, known: float) -> str:
    if found is None:
        return "none"
    if close(found, known):
        return "equal"
    return "better" if problem.sign * found < problem.sign * known else "worse"


def against_grid(title: str, sample: Sample) -> Grid:
    """Return the table of the methods against the best-known values."""
    columns = [
        Column("method", lambda r: r.method, words=True),
        *(Column(name, attrgetter(name)) for name in ("known", "better", "equal", "worse", "none")),
        Column("gap %", lambda r: None if r.gap is None else 100 * r.gap, "{:,.2f}".format),
    ]
    return Grid.of(title, columns, against(sample), MEANING)


def better_grid(title: str, sample: Sample) -> Grid:
    """Return the table of the schedules that are better than the best-known values."""
    columns = [
        Column("problem", lambda r: r.problem, words=True),
        Column("method", lambda r: r.method, words=True),
        Column("objective", lambda r: r.objective, number),
        Column("best known", lambda r: r.known, number),
        Column("gain %", lambda r: 100 * r.gain, "{:,.2f}".format),
    ]
    return Grid.of(title, columns, better_than_known(sample), MEANING_OF_BETTER)
