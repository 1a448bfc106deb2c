"""What was requested with ``bench simulate`` or ``dardis`` is replayed and printed, a published study beside its own figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby, pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from ...backends import UnknownName
from ...errors import WrongValue
from ...instances import generators, load, write
from ...instances.files.reading import content_of
from ...instances.files.writing import write_whole
from ...models import Dispatch
from ...models.words import how_many
from ..errors import WrongUse, writing
from ..grid import WARNING, Grid, short, time_text
from ..pages.figures import PANEL, bars, ecdf, figure
from ..pages.panels import Shape, draw_radar, require_matplotlib, side_by_side
from ..records.record import failed, platform_of
from ..records.store import Record, jobs_file
from ..runs.executors import RunTask
from ..runs.process import check_processes
from ..runs.selection import Run, replays
from ..runs.supervision import conclude, perform
from ..runs.view import open_instance
from ..tables.dispatchers import show_energy, show_evictors, show_groups
from ..tables.inputs import report_lines
from ..tables.replays import RECORDED, DispatcherRow, ReplayResults, extract_replays
from .case import ReplayCase, check_limits, check_preemption, replay_case, trace_name
from .energy import check_energy
from .request import Case, Exhibit, Order, Quantity, ReplayRequest, Study

SHOWN = 5  # partitions that a warning names
TIME_LIMIT = 3600.0  # seconds for a whole replay


class Prepared(NamedTuple):
    """A workload that was read and checked, and its replays: the folder of their records, and the runs."""

    case: ReplayCase
    plan: tuple[Path, Sequence[Run]]


def prepared(request: ReplayRequest, task: RunTask, notes: Console) -> Prepared:
    """Read a workload, print what was repaired, check whether it can be replayed as requested, and plan the replays.

    Parameters
    ----------
    request
        The replays.
    task
        Limits and options of the runs.
    notes
        Console for what was read.

    Raises
    ------
    ValueError, LookupError
        The workload has faults, or cannot be replayed with these settings.
    """
    settings = request.all_settings
    drop_impossible = task.request.drop_impossible
    name = trace_name(request.path)
    where = request.path
    instance = None
    if not request.replay.trace:
        instance = open_instance(request.path, drop_impossible)
        name = instance.name
        where = str(instance.path or request.path)
    case = replay_case(request.path, request.view, settings[0], drop_impossible, instance)
    print_workload(case, notes)
    check_rules(request.dispatchers, case)
    check_limits(case, request.caps)
    check_preemption(request.path, case, settings)
    if request.replay.network is not None:
        check_processes(request.replay.network, len(case.platform.nodes))
    check_energy(case, settings[0])
    folder = task.out or Path("results") / name
    return Prepared(case, (folder, planned_runs(name, request.path, where, request, task)))


def check_rules(dispatchers: Sequence[str], case: ReplayCase) -> None:
    """Raise WrongUse for a dispatcher that follows the rules of another kind of site than that of the replays, or of none."""
    from ...simulation.dispatchers.registry import check_dispatcher

    for name in dispatchers:
        named = check_dispatcher(name)
        if named.dispatcher.partition(":")[0] not in ("slurm", "pbs"):
            continue
        try:
            named.make().on(case.site)
        except WrongValue as e:
            raise WrongUse(f"--dispatchers: {e}") from e


def carry_out(request: ReplayRequest, task: RunTask, tables: Console, notes: Console) -> int:
    """Perform the replays, print the tables, write the start times, and return the exit code.

    Parameters
    ----------
    request
        The replays.
    task
        Limits and options of the runs.
    tables
        Console for the tables.
    notes
        Console for the progress and notes.

    Returns
    -------
    int
        The exit code.
    """
    ready = prepared(request, task, notes)
    plans = [ready.plan]
    folder, _ = ready.plan
    case = ready.case
    records = perform(plans, task, tables, notes)
    if isinstance(records, int):
        return records
    if request.starts is not None:
        without = write_starts(records, folder, case, request.starts)
        missing = ""
        if without:
            missing = f"; no start times of {', '.join(without)}"
        notes.print(f"start times: {request.starts}{missing}", soft_wrap=True)
    code = conclude(plans, records, task, tables, notes)
    if not task.recording.as_json:
        print_tables(request, records, folder, task, tables, notes)
    if request.study is not None:
        print_study(request.study, records, folder, tables, notes, task.recording.explain)
    return code


def print_tables(
    request: ReplayRequest, records: Sequence[Record], folder: Path, task: RunTask, tables: Console, notes: Console
) -> None:
    """Print the tables of energy, and those of groups of jobs, evictors and power caps that were requested."""
    explain = task.recording.explain
    show_energy(tables, records, explain)
    if request.by:
        show_groups(tables, records, request.by, explain)
    if len(request.evictors) > 1:
        show_evictors(tables, records, explain)
    if len(request.caps) > 1:
        from ..pages.figures import show_caps

        show_caps(tables, notes, records, folder)


def planned_runs(name: str, path: str, where: str | Path, request: ReplayRequest, task: RunTask) -> list[Run]:
    """Return the runs of a workload: ``name``: in the records; ``path``: as given; ``where``: its file or folder."""
    pattern = Run(name, path, content_of(Path(where)), "", kind=Dispatch.kind)
    pattern = replace(
        pattern,
        time_limit=task.request.time_limit or TIME_LIMIT,
        memory_gb=task.request.memory_gb,
        drop_impossible=task.request.drop_impossible,
        view=request.view,
    )
    return [
        run
        for settings in request.all_settings
        for text in request.dispatchers
        for run in replays(pattern, text, task.request, settings)
    ]


def print_workload(case: ReplayCase, notes: Console) -> None:
    """Print the size and load of a workload, and what was repaired or left out when it was read."""
    w = case.workload
    span = time_text(int(w.submit[-1]) - int(w.submit[0]))
    summary = f"{w.name}: {how_many(len(w), 'job', ',')} in {span} on {how_many(len(case.platform.nodes), 'node', ',')}"
    load = w.load(case.platform)
    if load < float("inf"):
        summary += f", offered load {load:.2f}"
    for text in (summary, *(f"  {line}" for line in report_lines(w.report, len(w)))):
        notes.print(text, soft_wrap=True)
    warning = unbound_partitions(case)
    if warning:
        notes.print(Text(f"  {warning}", style=WARNING), soft_wrap=True)


def unbound_partitions(case: ReplayCase) -> str:
    """Return a warning if the jobs ran in partitions, and nothing says which nodes these have; else an empty text."""
    w = case.workload
    names = w.partitions
    if not names and w.site is not None:  # of Slurm and PBS, the queues are the partitions
        names = tuple(queue.name for queue in w.queues)
    if not names or case.site is not None or any(queue.nodes for queue in w.queues):
        return ""
    listed = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    return (
        f"warning: the jobs ran in {how_many(len(names), 'partition')} ({listed}), and no site says which nodes a partition has: all "
        "jobs may use all nodes, and waits may be far from those recorded; give --site FILES (docs/site.md)"
    )


def _recorded_starts(case: ReplayCase) -> dict[str, int]:
    """Return the recorded start of each job that has one, in s of the replay."""
    known = zip(case.workload.ids, case.workload.recorded_start.tolist(), strict=True)
    return {name: start for name, start in known if start >= 0}


def write_starts(records: Sequence[Record], folder: Path, case: ReplayCase, out: Path) -> list[str]:
    """Write a CSV file ``job_id,fcfs,easy,...,recorded``: one row for each job, with its start in seconds in each replay.

    The last column has the starts that the log records, if it does. The cell of a job that was not started is empty. Jobs that do not fit on the machine are at the end.

    Parameters
    ----------
    records
        Records of the replays.
    folder
        Folder of the records.
    case
        The replayed workload.
    out
        The CSV file.

    Returns
    -------
    list of str
        Names of the replays that have no start times.

    Raises
    ------
    WrongUse
        The file cannot be written.
    """
    from ...simulation import outputs
    from ...simulation.result import Simulation

    runs: dict[str, Simulation | outputs.JobsTable] = {}
    without = []
    several = Counter(r["method"] for r in records)
    for r in records:
        if several[r["method"]] == 1:
            title = r["method"]
        else:
            title = f"{r['method']} seed {r['seed']}"
        if r.get("jobs_csv") is None:
            without.append(title)
        else:
            runs[title] = outputs.read_jobs(jobs_file(folder, r))
    ids = [*case.workload.ids, *(job for job, _ in case.workload.report.dropped)]
    with writing(out, "--starts"):
        out.parent.mkdir(parents=True, exist_ok=True)
        outputs.write_starts(runs, out, ids, _recorded_starts(case))
    return without


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
        if self.mean > 0:
            return "yes"
        return "NO"


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
    if n < 2:
        half = None
    else:
        half = student(n - 1) * stdev(differences) / math.sqrt(n)
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
        if _inside(middle, degrees) < LEVEL:
            low, high = (middle, high)
        else:
            low, high = (low, middle)
    return (low + high) / 2


def _inside(t: float, degrees: int) -> float:
    angle = math.atan(t / math.sqrt(degrees))
    if degrees % 2:
        term = math.cos(angle)
        total = math.cos(angle)
    else:
        term = 1.0
        total = 1.0
    for k in range(2 if degrees % 2 else 1, degrees - 2, 2):
        term *= k / (k + 1) * math.cos(angle) ** 2
        total += term
    if degrees % 2:
        return 2 / math.pi * (angle + math.sin(angle) * total * (degrees > 1))
    return math.sin(angle) * total


HEADS_OF_DAYS = (
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
    if task.out is None:
        folder = Path("results") / study.reference.lower()
    else:
        folder = task.out
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
    if any(map(failed, records)):
        return 1
    return 0


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
            for name in order.figures:
                line = _difference(rows.get(better), rows.get(worse), name)
                lines.append([order.where, better, worse, name, *line])
    if lines:
        yield Grid.of_texts(f"{case}: differences, day by day", list(HEADS_OF_DAYS), lines, MEANING)


def _difference(better: DispatcherRow | None, worse: DispatcherRow | None, figure: str) -> list[str]:
    a = _by_day(better, figure)
    b = _by_day(worse, figure)
    days = [day for day in a if day in b]
    if not days:
        return [MISSING] * 5
    test = paired([a[day] for day in days], [b[day] for day in days])
    width = ""
    if test.half is not None:
        width = f" ± {short(test.half)}"
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


# --- Our replays beside a published study: its tables and figures as grids, and the orders of dispatchers that differ.

Rows = Mapping[str, DispatcherRow]
MISSING = "-"
ALL_SECONDS = "decisions_seconds_total"
HEADS_OF_ORDERS = (
    "where",
    "better",
    "worse",
    "figure",
    "better:\nours",
    "worse:\nours",
    "less by:\nours",
    "less by:\nstudy",
)


class Comparison(NamedTuple):
    """The grids of a comparison, and a line for each order of dispatchers that differs from the study."""

    grids: list[Grid]
    differing: list[str]


def compare(study: Study, rows: Sequence[DispatcherRow]) -> Comparison:
    """Return the tables and figures of a study with our values, and which orders of dispatchers differ.

    The values of the study stand beside ours if the replays are on its machine. On another machine ours stand alone,
    and of the orders that the study states, those without the schedule of its log are checked.

    Parameters
    ----------
    study : Study
        The study.
    rows : sequence of DispatcherRow
        Our replays, by names of dispatchers as in the study; a backend in a name is ignored.

    Returns
    -------
    Comparison
        The grids and the orders that differ.
    """
    known = by_name(rows)
    same = on_its_machine(study, rows)
    grids = [
        _grid(e, known, same, study.reference) for e in study.exhibits if e.drawing != "radar"
    ]  # of a table's values
    grids += [_gains(exhibit, known) for exhibit in study.exhibits if exhibit.gain_over]
    orders = [order for order in study.orders if same or RECORDED not in order.chain]
    stated = [line for order in orders for line in _stated(order, known)]
    differing = [
        line
        for e in study.exhibits
        if same and e.drawing != "radar"
        for quantity in e.quantities
        for line in _other_order(e, quantity, known)
    ]
    meaning = (
        "better, worse: by the text of the study; less by: (worse - better) / worse; holds: the order is the same."
    )
    if stated:
        title = f"orders that [{study.reference}] states"
        grids.append(Grid.of_texts(title, [*HEADS_OF_ORDERS, "holds"], [line.cells for line in stated], meaning))
    return Comparison(grids, [*differing, *(line.differs for line in stated if line.differs)])


def by_name(rows: Sequence[DispatcherRow]) -> Rows:
    """Return rows by the names of their dispatchers without backends."""
    return {row.name.partition("@")[0]: row for row in rows}


def on_its_machine(study: Study, rows: Sequence[DispatcherRow]) -> bool:
    """Return whether the replays are on the machine of the study."""
    if not study.machine:
        return True
    groups = next((r["simulation"]["platform"] for row in rows for r in row.records if r.get("simulation")), None)
    if groups is None:
        return False
    platform = platform_of(groups)
    here = {"nodes": len(platform.nodes), **{r: platform.total(r) for r in platform.resources}}
    return all(here.get(name) == amount for name, amount in study.machine.items())


def ours(row: DispatcherRow | None, figure: str) -> float | None:
    """Return a figure of a dispatcher, the mean over the seeds; None if it is unknown."""
    if row is None:
        return None
    if figure.startswith("share."):
        part = row.metric(figure.removeprefix("share."))
        whole = row.metric(ALL_SECONDS)
        if part is None or not whole:
            return None
        return 100 * part / whole
    if not figure.startswith("seconds."):
        return row.metric(figure)
    values = [r["seconds"].get(figure.removeprefix("seconds.")) for r in row.records if row.whole]
    if values and None not in values:
        return fmean(values)
    return None


def in_its_unit(row: DispatcherRow | None, quantity: Quantity) -> float | None:
    """Return our value of a quantity in the unit of the study; None if it is unknown."""
    value = ours(row, quantity.figure)
    if row is None or value is None:
        return None
    if quantity.of_jobs:
        jobs = row.metric("started")
    else:
        jobs = 1.0
    if jobs is None:
        return None
    return value * quantity.scale * jobs


def _grid(exhibit: Exhibit, rows: Rows, same: bool, reference: str) -> Grid:
    """Return the grid of a table or figure: a row per dispatcher, ours and the study's value of each quantity."""
    heads = ["dispatcher"]
    for quantity in exhibit.quantities:
        if same and quantity.values:
            heads += [quantity.heading, "study"]
        else:
            heads += [quantity.heading]
    lines = []
    for name in exhibit.dispatchers:
        cells = [name]
        for quantity in exhibit.quantities:
            cells.append(_cell(rows.get(name), quantity))
            if same and quantity.values:
                theirs = quantity.values.get(name)
                cells.append(MISSING if theirs is None else short(theirs))
        if any(cell != MISSING for cell in cells[1:]):
            lines.append(cells)
    meaning = ""
    if "study" in heads:
        meaning = f"study: the value in [{reference}]; "
    spread = ""
    if any(q.spread for q in exhibit.quantities):
        spread = "a ± b: mean and standard deviation; "
    return Grid.of_texts(
        f"{exhibit.name}: {exhibit.caption}", heads, lines, f"{spread}{meaning}-: none, or the replay did not end."
    )


def _gains(exhibit: Exhibit, rows: Rows) -> Grid:
    """Return the grid of the gains over one dispatcher in percent, ours and the study's."""
    over = exhibit.gain_over
    listed = [q for q in exhibit.quantities if q.values.get(over)]
    heads = ["dispatcher", *(head for q in listed for head in (q.heading, "study"))]
    lines = []
    for name in (n for n in exhibit.dispatchers if n != over):
        cells = [name]
        for q in listed:
            cells += [
                _gain(in_its_unit(rows.get(over), q), in_its_unit(rows.get(name), q)),
                _gain(q.values[over], q.values.get(name)),
            ]
        lines.append(cells)
    title = f"{exhibit.name}: gain over {over} in percent"
    return Grid.of_texts(title, heads, lines, f"gain: ({over} - dispatcher) / {over}; below 0: a loss.")


def _gain(base: float | None, value: float | None) -> str:
    if not base or value is None:
        return MISSING
    return f"{100 * (base - value) / base:.1f}"


def _cell(row: DispatcherRow | None, quantity: Quantity) -> str:
    value = in_its_unit(row, quantity)
    if value is None:
        return MISSING
    spread = None
    if quantity.spread:
        spread = ours(row, quantity.spread)
    text = short(value)
    if spread is None:
        return text
    return f"{text} ± {short(spread * quantity.scale)}"


def _other_order(exhibit: Exhibit, quantity: Quantity, rows: Rows) -> Iterator[str]:
    """Yield a line with both orders if some two dispatchers are ordered otherwise than in the study; equal values order none."""
    ours_by_name = {name: ours(rows.get(name), quantity.figure) for name in quantity.values}
    mine = {name: value for name, value in ours_by_name.items() if value is not None}
    theirs = {name: quantity.values[name] for name in mine}
    if any((mine[a] - mine[b]) * (theirs[a] - theirs[b]) < 0 for a, b in combinations(mine, 2)):
        heading = quantity.heading.replace("-\n", "").replace("\n", " ")
        yield f"{exhibit.name}, {heading}: ours {_chain(mine)}; study {_chain(theirs)}"


def _chain(values: Mapping[str, float]) -> str:
    """Return names by ascending values.

    Examples
    --------
    >>> _chain({"a": 3.0, "b": 1.0, "c": 3.0})
    'b < a = c'
    """
    names = sorted(values, key=lambda name: values[name])
    return " < ".join(" = ".join(same) for _, same in groupby(names, key=lambda name: values[name]))


class _Line(NamedTuple):
    cells: list[str]
    differs: str


def _stated(order: Order, rows: Rows) -> Iterator[_Line]:
    """Yield a line for each two neighbours of a chain and each figure, if at least one of them has a value."""
    for better, worse in pairwise(order.chain):
        for name in order.figures:
            a = ours(rows.get(better), name)
            b = ours(rows.get(worse), name)
            if a is None and b is None:
                continue
            stated = order.reductions.get(name)
            if stated is None:
                theirs = MISSING
            else:
                theirs = f"{stated:g}%"
            written = [MISSING if value is None else short(value) for value in (a, b)]
            if a is None or b is None:
                yield _Line([order.where, better, worse, name, *written, MISSING, theirs, MISSING], "")
                continue
            if b:
                less = f"{100 * (b - a) / b:.0f}%"
            else:
                less = MISSING
            differs = f"{order.where}, {name}: {better} ({written[0]}) is not better than {worse} ({written[1]})"
            cells = [order.where, better, worse, name, *written, less, theirs, "yes" if a <= b else "NO"]
            yield _Line(cells, differs if a > b else "")


# --- The figures of a published study, drawn from our replays.


def draw_figures(study: Study, rows: Sequence[DispatcherRow], folder: Path) -> list[Path]:
    """Write the figures of a study as ``figure-1.svg``, ... into a folder.

    Parameters
    ----------
    study : Study
        The study.
    rows : sequence of DispatcherRow
        Our replays of one workload.
    folder : Path
        Where the pictures are written.

    Returns
    -------
    list of Path
        The pictures. A figure of whose dispatchers no replay ended is not drawn.

    Raises
    ------
    WrongUse
        If matplotlib is missing, or a file cannot be written.
    """
    require_matplotlib()
    written = []
    for exhibit in study.exhibits:
        svg = _drawn(exhibit, study, rows)
        if not svg:
            continue
        path = folder / f"{exhibit.name.lower().replace(' ', '-')}.svg"
        try:
            write_whole(path, side_by_side([(f"{exhibit.name}: {exhibit.caption}", svg)]))
        except OSError as e:
            raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e
        written.append(path)
    return written


def _drawn(exhibit: Exhibit, study: Study, rows: Sequence[DispatcherRow]) -> str:
    """Return a figure as an SVG element with the dispatchers in its order; "" if there is nothing to draw."""
    known = by_name(rows)
    if exhibit.drawing == "radar":
        return _radar(exhibit, study, rows)
    mine = [known[name] for name in exhibit.dispatchers if name in known]
    if exhibit.drawing == "ecdf":
        return ecdf(mine)
    if exhibit.drawing == "bars":
        return bars(mine, exhibit.classes)
    return ""


def _radar(exhibit: Exhibit, study: Study, rows: Sequence[DispatcherRow]) -> str:
    """Return our radar chart, beside that of the study if it is of the same machine; "" if a value is missing."""
    known = by_name(rows)
    names = [_without_unit(q.heading) for q in exhibit.quantities]
    values_by_name = {
        name: [in_its_unit(known.get(name), q) for q in exhibit.quantities] for name in exhibit.dispatchers
    }
    mine = {name: [v for v in values if v is not None] for name, values in values_by_name.items()}
    if not all(len(values) == len(names) for values in mine.values()):
        return ""
    charts: list[tuple[str, Shape]] = [("ours", mine)]
    if on_its_machine(study, rows) and all(set(exhibit.dispatchers) <= set(q.values) for q in exhibit.quantities):
        theirs = {name: [q.values[name] for q in exhibit.quantities] for name in exhibit.dispatchers}
        charts.append((f"[{study.reference}]", theirs))
    panels = [lambda ax, title=title, shapes=shapes: draw_radar(ax, shapes, names, title) for title, shapes in charts]
    return figure(f"{exhibit.name}: {exhibit.caption}", panels, len(panels), 1.55 * PANEL)


def _without_unit(heading: str) -> str:
    r"""Return a heading in one line, without its unit.

    Examples
    --------
    >>> _without_unit("tardi-\nness,\nyears")
    'tardiness'
    """
    return heading.replace("-\n", "").replace("\n", " ").partition(",")[0]


# --- What ``bench simulate --study`` prints and draws.


def print_study(
    study: Study, records: Sequence[Record], folder: Path, tables: Console, notes: Console, explain: bool
) -> None:
    """Print the tables and figures of a study with our values and the orders that differ, and draw its figures.

    Parameters
    ----------
    study : Study
        The study.
    records : sequence of Record
        Our replays of one workload.
    folder : Path
        Where the pictures are written.
    tables, notes : Console
        Where the tables and the notes are printed.
    explain : bool
        Whether the meaning of every column is printed.
    """
    rows = [row for _, results in extract_replays(records)[0] for row in results.rows]
    comparison = compare(study, rows)
    for grid in comparison.grids:
        tables.print()
        tables.print(grid)
        tables.print(grid.key(explain))
    tables.print()
    if study.conditions:
        tables.print(Text(f"[{study.reference}]: {' '.join(study.conditions)}"))
    head = f"orders that differ from [{study.reference}]: {len(comparison.differing)}"
    tables.print(Text("\n  ".join([head, *comparison.differing])))
    try:
        pictures = draw_figures(study, rows, folder)
    except WrongUse as e:
        notes.print(f"the figures are not drawn: {e}", soft_wrap=True)
    else:
        for path in pictures:
            notes.print(f"drawn: {path}", soft_wrap=True)
