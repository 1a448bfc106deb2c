"""A study with cases: its days are generated and replayed, and the dispatchers are compared day by day."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from ...backends import UnknownName
from ...errors import WrongValue
from ...instances import generators, load, write
from ..errors import WrongUse
from ..grid import Grid, short
from ..records.record import failed
from ..records.store import Record
from ..replays.carry_out import planned_runs
from ..replays.request import ReplayRequest
from ..runs.selection import Run
from ..runs.supervision import perform
from ..runs.task import RunTask
from ..tables.replays import DispatcherRow, ReplayResults
from .comparison import MISSING, Rows, by_name, compare, ours
from .study import Case, Order, Study

# --- Paired differences: two dispatchers on the same days, the mean difference and its confidence interval.
#
# Days differ far more from each other than dispatchers on one day. So the difference is taken day by day, and its mean has
# the interval of Student's t with n - 1 degrees of freedom.

LEVEL = 0.95


class Paired(NamedTuple):
    """The mean of differences, half the width of its confidence interval, and the number of days.

    ``half`` is None for a single day.
    """

    mean: float
    half: float | None
    days: int

    @property
    def verdict(self) -> str:
        """``yes`` if the interval is above 0, ``NO`` if it is below 0, else ``open``."""
        if self.half is None or abs(self.mean) <= self.half:
            return "open"
        return "yes" if self.mean > 0 else "NO"


def paired(better: Sequence[float], worse: Sequence[float]) -> Paired:
    """Return the mean of ``worse - better`` over days, with its 95 % confidence interval.

    Parameters
    ----------
    better, worse : sequence of float
        A value for each day, in the same order of days, at least one.

    Examples
    --------
    >>> found = paired([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    >>> found.mean, round(found.half, 3), found.verdict
    (2.0, 2.484, 'open')
    """
    differences = [b - a for a, b in zip(better, worse, strict=True)]
    n = len(differences)
    half = None if n < 2 else student(n - 1) * stdev(differences) / math.sqrt(n)
    return Paired(fmean(differences), half, n)


def student(degrees: int) -> float:
    """Return t with P(abs(T) <= t) = 0.95 for Student's distribution, by bisection.

    The probability is the finite sum of Abramowitz and Stegun, 26.7.3 and 26.7.4.

    Examples
    --------
    >>> [round(student(n), 3) for n in (1, 2, 4, 30)]
    [12.706, 4.303, 2.776, 2.042]
    """
    low = 0.0
    high = 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _inside(middle, degrees) < LEVEL else (low, middle)
    return (low + high) / 2


def _inside(t: float, degrees: int) -> float:
    angle = math.atan(t / math.sqrt(degrees))
    term, total = (math.cos(angle), math.cos(angle)) if degrees % 2 else (1.0, 1.0)
    for k in range(2 if degrees % 2 else 1, degrees - 2, 2):
        term *= k / (k + 1) * math.cos(angle) ** 2
        total += term
    if degrees % 2:
        return 2 / math.pi * (angle + math.sin(angle) * total * (degrees > 1))
    return math.sin(angle) * total


HEADS = (
    "where",
    "better",
    "worse",
    "figure",
    "better:\nours",
    "worse:\nours",
    "worse - better,\nmean and 95 %",
    "days",
    "holds",
)
MEANING = (
    "better, worse: by the text of the study; worse - better: mean difference over the days with its 95 % confidence "
    "interval (paired, Student's t); holds: open if the interval contains 0."
)  # fmt: skip


def replay_days(study: Study, request: ReplayRequest, task: RunTask, tables: Console, notes: Console) -> int:
    """Generate the days of a study, replay them, print its tables with paired differences, and return the exit code.

    Parameters
    ----------
    study
        A study with cases.
    request
        The settings of the replays; its path is not used. ``dispatchers``, if any, replace those of the study.
    task
        Limits and options of the runs. The days are written to the folder ``days`` in the folder of the records.
    tables, notes
        Where the tables, and the progress, are printed.
    """
    folder = Path("results") / study.reference.lower() if task.out is None else task.out
    runs: list[Run] = []
    for case in study.cases:
        chosen = replace(request, dispatchers=request.dispatchers or case.dispatchers or study.dispatchers)
        for seed in case.seeds:
            path = day_of(case, seed, folder)
            runs += planned_runs(path.name, str(path), path, chosen, task)
    records = perform([(folder, runs)], task, tables, notes)
    if isinstance(records, int):
        return records
    if not task.recording.as_json:
        for case in study.cases:
            names = {f"{case.name}-{seed}" for seed in case.seeds}
            print_case(study, case, [r for r in records if r["instance"] in names], tables, task.recording.explain)
        if study.conditions:
            tables.print(Text(f"[{study.reference}]: {' '.join(study.conditions)}"))
    notes.print(f"The records are in {folder}. To check them: bench verify {folder}", soft_wrap=True)
    return 1 if any(map(failed, records)) else 0


def day_of(case: Case, seed: int, folder: Path) -> Path:
    """Return the folder of a day; it is generated if it is not there yet. Raises UnknownName, WrongUse."""
    if case.generator not in generators:
        raise UnknownName("generator", case.generator, list(generators))
    path = folder / "days" / f"{case.name}-{seed}"
    if (path / "instance.toml").exists():
        load(str(path))
        return path
    try:
        write(generators[case.generator](case.jobs, seed, **case.options), path)
    except OSError as e:
        raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e
    except (TypeError, ValueError, WrongValue) as e:
        raise WrongUse(f"case {case.name}: {case.generator}: {e}") from e
    return path


def print_case(study: Study, case: Case, records: Sequence[Record], tables: Console, explain: bool) -> None:
    """Print the tables of a case, means over its days, and the paired differences of its orders."""
    mine = study.about(case.name)
    rows = ReplayResults(records).rows
    comparison = compare(replace(mine, orders=()), rows)
    grids = [*comparison.grids, *differences(case.name, mine.orders, by_name(rows))]
    for grid in grids:
        tables.print()
        tables.print(grid)
        tables.print(grid.key(explain))
    for line in comparison.differing:
        tables.print(Text(f"another order: {line}"))


def differences(case: str, orders: Sequence[Order], rows: Rows) -> Iterator[Grid]:
    """Yield the grid of the paired differences of all orders of a case."""
    lines = []
    for order in orders:
        for better, worse in pairwise(order.chain):
            for figure in order.figures:
                line = _difference(rows.get(better), rows.get(worse), figure)
                lines.append([order.where, better, worse, figure, *line])
    if lines:
        yield Grid.of_texts(f"{case}: differences, day by day", list(HEADS), lines, MEANING)


def _difference(better: DispatcherRow | None, worse: DispatcherRow | None, figure: str) -> list[str]:
    a = _by_day(better, figure)
    b = _by_day(worse, figure)
    days = [day for day in a if day in b]
    if not days:
        return [MISSING] * 5
    test = paired([a[day] for day in days], [b[day] for day in days])
    width = "" if test.half is None else f" ± {short(test.half)}"
    means = [sum(values[day] for day in days) / len(days) for values in (a, b)]
    fewer = sum(a[day] < b[day] for day in days)
    return [*map(short, means), f"{short(test.mean)}{width}", f"{fewer} of {len(days)}", test.verdict]


def _by_day(row: DispatcherRow | None, figure: str) -> dict[str, float]:
    """Return day -> value of the days whose replay ended; the mean over the seeds of the solver."""
    if row is None:
        return {}
    by_day = {}
    for day in dict.fromkeys(r["instance"] for r in row.records):
        value = ours(replace(row, records=[r for r in row.records if r["instance"] == day]), figure)
        if value is not None:
            by_day[day] = value
    return by_day
