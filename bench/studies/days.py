"""A study with cases: its days are generated and replayed, and the dispatchers are compared day by day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ...backends import UnknownName
from ...errors import WrongValue
from ...instances import generators, load, write
from ..errors import WrongUse
from ..records.record import failed
from ..records.store import Record
from ..runs.run import RunTask, perform
from ..runs.selection import Run
from ..runs.simulate import ReplayRequest, planned_runs
from ..tables.legend import legend
from ..tables.replays.columns import short
from ..tables.replays.figures import TextGrid
from ..tables.replays.report import drawn
from ..tables.replays.results import DispatcherRow, ReplayResults
from .comparison import MISSING, Rows, by_name, compare, ours
from .paired import paired
from .study import Case, Order, Study

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
    if not task.as_json:
        for case in study.cases:
            names = {f"{case.name}-{seed}" for seed in case.seeds}
            print_case(study, case, [r for r in records if r["instance"] in names], tables, task.explain)
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
    found = compare(replace(mine, orders=()), rows)
    grids = [*found.grids, *differences(case.name, mine.orders, by_name(rows))]
    for grid in grids:
        tables.print()
        tables.print(drawn(grid))
        tables.print(legend(grid.meaning, explain))
    for line in found.differing:
        tables.print(Text(f"another order: {line}"))


def differences(case: str, orders: Sequence[Order], rows: Rows) -> Iterator[TextGrid]:
    """Yield the grid of the paired differences of all orders of a case."""
    lines = []
    for order in orders:
        for better, worse in pairwise(order.chain):
            for figure in order.figures:
                line = _difference(rows.get(better), rows.get(worse), figure)
                lines.append([order.where, better, worse, figure, *line])
    if lines:
        yield TextGrid(f"{case}: differences, day by day", list(HEADS), lines, MEANING)


def _difference(better: DispatcherRow | None, worse: DispatcherRow | None, figure: str) -> list[str]:
    a, b = _by_day(better, figure), _by_day(worse, figure)
    days = [day for day in a if day in b]
    if not days:
        return [MISSING] * 5
    found = paired([a[day] for day in days], [b[day] for day in days])
    width = "" if found.half is None else f" ± {short(found.half)}"
    means = [sum(values[day] for day in days) / len(days) for values in (a, b)]
    fewer = sum(a[day] < b[day] for day in days)
    return [*map(short, means), f"{short(found.mean)}{width}", f"{fewer} of {len(days)}", found.verdict]


def _by_day(row: DispatcherRow | None, figure: str) -> dict[str, float]:
    """Return day -> value of the days whose replay ended; the mean over the seeds of the solver."""
    if row is None:
        return {}
    found = {}
    for day in dict.fromkeys(r["instance"] for r in row.records):
        value = ours(replace(row, records=[r for r in row.records if r["instance"] == day]), figure)
        if value is not None:
            found[day] = value
    return found
