"""The tables of the dispatchers on one workload: their figures, those of groups of jobs, energy, power caps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from ...backends import UnknownName
from ...backends.result import relative_gap
from ...simulation.metrics import CLASSES, GROUPINGS, LARGEST
from ..grid import (
    BAD,
    DIM,
    Column,
    Grid,
    Styled,
    compact,
    count,
    mean,
    milliseconds,
    number,
    percent,
    ratio,
    seconds,
    short,
)
from ..records.store import Record
from .methods import trouble
from .replays import (
    BOUNDED,
    RECORDED,
    DispatcherRow,
    ReplayResults,
    bookings,
    changed_jobs,
    cycles,
    evictor_grid,
    extract_replays,
    metric,
    models,
    network,
    phases,
    predictions,
    protocol,
    refusals,
    slashed,
    used_resources,
)

WISHED = "desired_dissimilarity_"


def show_dispatch(console: Console, title: str, results: ReplayResults, explain: bool = False) -> list[str]:
    """Print the tables of some replays with their legends and a summary.

    Parameters
    ----------
    console : rich.console.Console
        Where the tables are printed; its width decides how many columns they have.
    title : str
        The title of the first table.
    results : ReplayResults
        The replays of one workload.
    explain : bool
        Whether the meaning of every column is printed below each table.

    Returns
    -------
    list of str
        A message for each bound that a verified schedule refutes.
    """
    columns = dispatcher_columns(results)
    _, left_out = dispatchers_grid(title, results, columns).fitted(console.width)
    shown = [column for column in columns if column not in left_out]
    dispatchers_grid(title, results, shown).show(console, explain)
    if left_out:
        names = ", ".join(c.name for c in left_out)
        console.print(Text(f"Not shown, as the terminal is too narrow: {names} (bench plot shows them).", style=DIM))
    console.print(*summary(results), sep="\n", end="\n" if summary(results) else "")
    for grid in further_grids(results):
        if grid.rows:
            console.print()
            grid.show(console, explain)
    console.print()
    if results.contradiction:
        return [results.contradiction]
    return []


def further_grids(results: ReplayResults) -> list[Grid]:
    """Return the tables below the table of the dispatchers; those without rows are not shown."""
    evictors = evictor_grid(r for row in results.rows for r in row.records)
    figures = (bookings, changed_jobs, predictions, models, phases, cycles, protocol, network)
    return [evictors, *(grid_of(results) for grid_of in figures)]


def dispatchers_grid(title: str, results: ReplayResults, columns: Sequence[Column]) -> Grid:
    """Return the table of the dispatchers, with the best values of each column marked."""
    names = Column("dispatcher", lambda row: row.name, words=True)
    verdicts = Column("veri\xad\nfied", lambda row: row.verdict, words=True)
    return Grid.of(
        title, [names, *columns, verdicts], results.rows,
        style=lambda row: DIM if row.name == RECORDED else "",
        rival=lambda row: row.name != RECORDED,
    )  # fmt: skip


def _started(results: ReplayResults) -> list[Column]:
    """Return the column of the jobs that started; none for records that do not count them."""
    meaning = "jobs started: the other figures are of these jobs"
    if "started" in results.metrics:
        return [metric("jobs\nstarted", "started", meaning=meaning, spare=6)]
    return []


def dispatcher_columns(results: ReplayResults) -> list[Column]:
    """Return the columns for some results; regret needs an offline schedule, the gap a bound."""
    weighted = results.objective_name == "weighted-wait"
    wqt = "WQT: sum over the jobs of wait / expected waiting time (ewt) of the queue"
    resource = next((r for r in ("cores", *used_resources(results)) if r in used_resources(results)), "cores")
    columns = [
        *_started(results),
        metric("mean\nwait s", "wait_mean", meaning="wait: time from submission to start", best=min),
        metric("max\nwait s", "wait_max", best=min),
        metric("mean\nslow\xad\ndown", "slowdown_mean", short, "slowdown: (wait + duration) / duration", best=min),
        metric("bounded\nslow\xad\ndown", "bounded_slowdown_mean", short, BOUNDED.format(results.bsld_floor), best=min, spare=4),
        Column(
            "WQT" if weighted else results.objective_name.replace("-", "-\n"), lambda row: _objective(row, results), number,
            wqt if weighted else f"{results.objective_name}: the objective of the instance", best=min,
        ),
        metric("late\njobs", "NL", meaning="late: jobs that waited longer than the ewt of their queue", best=min, spare=2),
        metric(
            f"{resource}\nused", f"utilisation_{resource}", percent,
            "used: mean share of the machine in use, from the first submission to the end of the last job", best=max, spare=3,
        ),
        Column(
            "calls: made/\nsolver/opt/cut", decisions, spare=5,
            meaning="calls: decisions made / decisions that used the solver / of these proven optimal / stopped by the time limit",
        ),
        Column(
            "ms a call:\nmean/p99/max", call_times, spare=1,
            meaning="ms a call: milliseconds of a decision (compiled policies are timed as a whole, so only the mean is known)",
        ),
    ]  # fmt: skip
    if "late_starts_share" in results.metrics:
        meaning = "late starts: share of the jobs with a latest start that started after it"
        columns.append(metric("late\nstarts", "late_starts_share", percent, meaning, best=min))
    wished = [name.removeprefix(WISHED) for name in results.metrics if name.startswith(WISHED)]
    if wished:
        columns += _desired("cores" if "cores" in wished else wished[0])
    if results.best is not None:
        meaning = "regret: objective above that of the best offline schedule, which knows all jobs in advance, relative to the latter"
        columns.append(Column("regret", lambda row: regret(row.objective, results.best), percent, meaning))
    if results.bound is not None:
        meaning = "gap to bound: |objective - best bound| / max(|objective|, |best bound|); no schedule is better than the bound"
        columns.append(
            Column("gap to\nbound", lambda row: relative_gap(row.objective, results.bound), percent, meaning)
        )
    return columns


def _desired(resource: str) -> list[Column]:
    unit = "watt"
    if resource != "power":
        unit = resource.removesuffix("s")
    over = f"over desired: use above the desired profile, summed over the nodes, in {unit}-hours"
    unlike = f"dissimilarity: 0 if the {resource} in use are the desired ones times a constant, 1 if nothing is in use"
    return [
        metric("over\ndesired", f"desired_over_{resource}", meaning=over, best=min),
        metric("dissim\xad\nilarity", f"{WISHED}{resource}", ratio, unlike, best=min),
    ]


def _objective(row: DispatcherRow, results: ReplayResults) -> float | None:
    """Return the objective; if it is not known (the recorded schedule, jobs that left), the metric that is the same."""
    if row.objective is None and results.objective_name == "weighted-wait":
        return row.metric("WQT")
    return row.objective


def regret(value: float | None, best: float | None) -> float | None:
    """Return how much an objective is above that of the best offline schedule, relative to the latter.

    A negative value means that it is better. None: an objective is missing, or the division is by 0.

    Examples
    --------
    >>> regret(15.0, 10.0), regret(0.0, 0.0), regret(1.0, 0.0)
    (0.5, 0.0, None)
    """
    if value is None or best is None or (best == 0 and value != 0):
        return None
    if best:
        return (value - best) / best
    return 0.0


def decisions(row: DispatcherRow) -> str | None:
    """Return the counts: decisions made / that used the solver / of these proven optimal / stopped by the limit."""
    return slashed(row, (f"decisions_{name}" for name in ("made", "solver", "ended_optimal", "ended_limit")), compact)


def call_times(row: DispatcherRow) -> str | None:
    """Return the milliseconds of a decision: mean / 99th percentile / maximum; compiled policies have only the mean."""
    return slashed(row, (f"decisions_seconds_{name}" for name in ("mean", "p99", "max")), milliseconds)


def show_evictors(console: Console, records: Sequence[Record], explain: bool) -> None:
    """Print the figures of all dispatchers and evictors of replays with on-demand jobs in one table."""
    evictor_grid(records).show(console, explain)


def summary(results: ReplayResults) -> list[Text]:
    """Return the lines below the table: best offline schedule and bound, use of the solver, notes, reasons of failures."""
    lines = []
    offline = results.clairvoyant
    if offline.schedule is not None:
        best = f"{number(results.best)} by {offline.schedule['method']}"
        lines.append(Text(f"best offline schedule, every runtime known in advance: {best}, verified"))
    if offline.bound is not None:
        lines.append(Text(f"best true bound: {number(results.bound)} by {offline.bound['method']}"))
    if results.contradiction:
        lines.append(Text(results.contradiction, style=BAD))
    lines += [Text(text) for text in map(solver_calls, results.rows) if text]
    notes: dict[str, dict[str, None]] = {}
    for r in results.records:
        for note in () if r["cause"] else (r.get("simulation") or {}).get("notes", ()):
            notes.setdefault(note, {})[r["method"]] = None
    lines += [Text(f"{', '.join(names)}: {note}", style=DIM) for note, names in notes.items()]
    lines += [Text(f"{', '.join(names)}: {why}") for why, names in refusals(results).items()]
    reasons = {r["method"]: reason for r in [*results.records, *results.offline] if (reason := trouble(r))}
    return lines + [Text(f"{method}: {reason}", style=DIM) for method, reason in reasons.items()]


def solver_calls(row: DispatcherRow) -> str:
    """Return how the calls that used a solver ended, its gain over the warm start, and how often max_stretch acted."""
    calls = None
    if row.records:
        calls = row.metric("decisions_solver")
    if calls is None:
        return ""
    if not calls:
        if row.records[0]["solver"] == "schedlab":
            return ""
        return f"{row.name}: no call used the solver"
    ends = {
        "optimal": "proven optimal", "limit": "stopped by the limit", "no-gain": "stopped without further gain",
        "infeasible": "infeasible", "nothing": "without a schedule",
    }  # fmt: skip
    numbers = {text: row.metric(f"decisions_ended_{key}") for key, text in ends.items()}
    parts = [f"{100 * n / calls:.0f}% {text}" for text, n in numbers.items() if n]
    same = row.metric("decisions_gain_none")
    gain = row.metric("decisions_gain_mean")
    if same is not None and gain is not None:
        parts.append(f"{100 * same / calls:.0f}% kept the warm start, mean gain {100 * gain:.2f}%")
    p99 = row.metric("decisions_solver_seconds_p99")
    if p99 is not None:
        parts.append(f"99th percentile {seconds(p99)} s")
    urgent = row.metric("decisions_urgent")
    first = ""
    if urgent:
        first = f"; jobs put first against starvation: {compact(urgent)} times"
    return f"{row.name}: of {compact(calls)} calls that used the solver, " + ", ".join(parts) + first


# --- The tables of groups of jobs: waits and slowdowns per queue, user, partition and class, of each dispatcher.

CLASS = "class"
NAMELESS = "(none)"
LONGEST = 24  # characters of the name of a group
MEANING = (
    "The largest groups by number of jobs; jobs: those of the group in the replay; others: all jobs outside the {n} largest groups. wait: time from submission to start, s; "
    "share: sum of the waits of the group / sum of all waits; slowdown: (wait + duration) / duration; bsld: bounded slowdown, "
    "max(1, (wait + duration) / max(duration, {floor:g} s)); std: standard deviation; p95, p99: percentiles with linear "
    "interpolation; exp/run: mean of expected duration / duration."
)
STARTED_MEANING = (
    " started: jobs of the group that started, of which the figures are; the others never did, or were deleted."
)
SIZE_MEANINGS = {
    "units": " units: of logs that tell what jobs asked of their site, the CPUs that the job asked for, under every dispatcher.",
    "core-hours": " core-hours: cores of the job (those that it asked for, where the log tells) times its runtime.",
}
LATE_MEANING = " late starts: jobs that started after their latest start, and their share of the jobs that have one."
SPARE = {  # figure -> spare: of mean, std, median, p95, p99, max
    "wait": (0, 3, 6, 1, 9, 0),
    "slowdown": (0, 10, 12, 7, 13, 14),
    "bounded_slowdown": (0, 11, 15, 2, 8, 16),
}


class Line(NamedTuple):
    """The figures of a group under a dispatcher; ``first``: whether the lines of the group begin here."""

    group: str
    dispatcher: str
    first: bool
    figures: Mapping[str, Any]


def _figure(head: str, key: str, form: Any = count, spare: int = 0, title: str = "") -> Column:
    return Column(head, lambda line: line.figures.get(key), form, spare=spare, title=title)


def _spread(head: str, name: str, form: Any) -> list[Column]:
    parts = ("mean", "std", "median", "p95", "p99", "max")
    return [
        _figure(f"{head if k == 0 else ''}\n{part}", f"{name}_{part}", form, spare, f"{head} {part}")
        for k, (part, spare) in enumerate(zip(parts, SPARE[name], strict=True))
    ]


COLUMNS = (
    *_spread("wait", "wait", count),
    _figure("\nshare", "wait_share", percent, 4, "share of the waits"),
    *_spread("slowdown", "slowdown", short),
    *_spread("bsld", "bounded_slowdown", short),
    _figure("exp/\nrun", "expected_ratio", short, 5),
)
LATE_COLUMNS = (_figure("late\nstarts", "late_starts"), _figure("\nshare", "late_share", percent, 2, "late share"))


def parse_by(texts: Iterable[str]) -> list[str]:
    """Return the properties of jobs that ``--by`` names; ``class`` means the classes of units and of core-hours.

    Raises UnknownName.

    Examples
    --------
    >>> parse_by(["user,class"])
    ['user', 'units', 'core-hours']
    """
    names: list[str] = []
    for name in (part.strip() for text in texts for part in text.split(",") if part.strip()):
        if name not in (*GROUPINGS, CLASS):
            raise UnknownName("property of jobs", name, [*GROUPINGS, CLASS])
        if name == CLASS:
            names += CLASSES
        else:
            names += [name]
    return list(dict.fromkeys(names))


def show_groups(console: Console, records: Iterable[Record], by: Sequence[str], explain: bool = False) -> None:
    """Print a table per property: the figures of the largest groups under each dispatcher."""
    for title, results in extract_replays(records)[0]:
        for name in by:
            grid = groups_grid(results, name, f"{title}, by {name}")
            grid.show(console, explain)
            if not grid.rows:
                console.print(Text(f"by {name}: {_why_not(results, name)}", style=DIM))
            console.print()


def _why_not(results: ReplayResults, name: str) -> str:
    if any(r.get("groups") for r in results.records):
        return f"the log does not record the {name} of its jobs"
    return "no complete replay has these figures; records of an earlier version are replaced with --again"


def groups_grid(results: ReplayResults, by: str, title: str) -> Grid:
    """Return the figures of the largest groups by a property such as ``"user"`` under each dispatcher and as recorded.

    A row per group and dispatcher; no rows if the records have no such groups.
    """
    known = [(row, groups) for row in results.rows if row.records and (groups := _groups(row, by))]
    in_log = _recorded(results, by)
    named = [(row.name, {str(figures["name"]): figures for figures in groups}) for row, groups in known]
    lines = []
    for name in dict.fromkeys(name for _, groups in named for name in groups):
        of_group = [(who, groups[name]) for who, groups in named if name in groups]
        if name in in_log:
            of_group += [(RECORDED, in_log[name])]
        lines += [Line(_short_name(name), who, n == 0, figures) for n, (who, figures) in enumerate(of_group)]
    late = LATE_COLUMNS if any("late_starts" in line.figures for line in lines) else ()
    some_never = any(line.figures["started"] != line.figures["jobs"] for line in lines)
    started = (_figure("started", "started"),) if some_never else ()
    columns = [
        Column(by, lambda line: line.group if line.first else "", words=True),
        Column("jobs", lambda line: count(line.figures["jobs"]) if line.first else ""),
        Column("dispatcher", lambda line: line.dispatcher, words=True),
        *started,
        *COLUMNS,
        *late,
    ]
    floor = next((row.metric("bsld_floor") or 10.0 for row, _ in known), 10.0)
    meaning = MEANING.format(n=LARGEST, floor=floor)
    if started:
        meaning += STARTED_MEANING
    meaning += SIZE_MEANINGS.get(by, "")
    if late:
        meaning += LATE_MEANING
    return Grid.of(title, columns, lines, meaning)


def _short_name(name: str) -> str:
    name = name or NAMELESS
    if len(name) <= LONGEST:
        return name
    return f"{name[: LONGEST - 1]}…"


def group_grids(results: ReplayResults) -> list[Grid]:
    """Return the tables of all properties with more than one group."""
    grids = [groups_grid(results, by, f"by {by}") for by in GROUPINGS]
    return [grid for grid in grids if len({row[0] for row in grid.rows if row[0]}) > 1]


def _groups(row: DispatcherRow, by: str) -> list[dict[str, Any]]:
    """Return the figures of the largest groups and of the others, means over the seeds; [] if there are none."""
    if row.whole:
        tables = [(r.get("groups") or {}).get(by) for r in row.records]
    else:
        tables = [None]
    if not all(tables):
        return []
    seeds = [[*_largest(t["columns"]), *([t["others"]] if t["others"] else [])] for t in tables if t]
    return [_mean(same) for same in zip(*seeds, strict=True)]


def _recorded(results: ReplayResults, by: str) -> dict[str, dict[str, Any]]:
    """Return the figures of the starts in the log, by the name of the group; {} if the records have none."""
    told = ((r.get("simulation") or {}).get("recorded_groups") or {} for r in results.records)
    table = next((groups[by] for groups in told if by in groups), None)
    if table is None:
        return {}
    listed = [*_largest(table["columns"]), *([table["others"]] if table["others"] else [])]
    return {figures["name"]: figures for figures in listed}


def _largest(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    rows = list(zip(*columns.values(), strict=True))[:LARGEST]
    return [dict(zip(columns, values, strict=True)) for values in rows]


def _mean(same: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the means of the figures of one group over the seeds; None unless every seed has the figure."""
    figures: dict[str, Any] = {"name": same[0]["name"]}
    for key in same[0]:
        values = [seed[key] for seed in same]
        if key != "name":
            if None in values:
                figures[key] = None
            else:
                figures[key] = mean(values)
    return figures


# --- The energy accounts of replays.

EXPLAINED = (
    "from the begin of the replay to the last end of a job. jobs, idle, boot, cooling: energy of running jobs, of cores that "
    "are on and run nothing, of nodes that boot or shut down, and of the cooling, in kWh; cost, profit: euro; CO2: kg."
)


def show_energy(console: Console, records: Iterable[Record], explain: bool) -> None:
    """Print the energy accounts of all replays that have some."""
    grid = Grid.of(
        "energy of the replays, kWh", ENERGY_COLUMNS, [r for r in records if r.get("energy") is not None], EXPLAINED
    )
    grid.show(console, explain)


def _account(head: str, decimals: int, *names: str) -> Column:
    """Return the column of the sum of some amounts of the account at the end of a replay."""

    def total(record: Record) -> float | None:
        values = [record["energy"]["end"][name] for name in names]
        return None if None in values else sum(values)

    return Column(head, total, partial(amount, decimals=decimals))


def amount(value: float, decimals: int) -> str:
    """Return an amount with this many decimals, a small one with three figures.

    >>> [amount(v, 1) for v in (1502.71, 5.26, 0.0144, -0.00228, 0.0)]
    ['1,502.7', '5.3', '0.0144', '-0.00228', '0']
    """
    if abs(value) < 1:
        return f"{value:.3g}"
    return f"{value:,.{decimals}f}"


def _node_policy(record: Record) -> str:
    """Return the policy that switches nodes; a dispatcher may have one of its own."""
    switched = (record.get("simulation") or {}).get("node_states_csv") is not None
    return (record.get("replay") or {}).get("node_policy") or ("its own" if switched else "always-on")


ENERGY_COLUMNS = (
    Column("dispatcher", lambda r: r["method"], words=True),
    Column("nodes", _node_policy),
    _account("jobs", 1, "busy_kwh"),
    _account("idle", 1, "idle_kwh"),
    _account("boot", 1, "boot_kwh"),
    _account("cooling", 1, "cooling_kwh"),
    _account("all", 1, "busy_kwh", "idle_kwh", "boot_kwh", "cooling_kwh"),
    _account("cost\nEUR", 2, "cost"),
    _account("CO2\nkg", 1, "kg_co2"),
    _account("profit\nEUR", 2, "profit"),
    Column("mean\nwait s", lambda r: (r.get("metrics") or {}).get("wait_mean"), count),
)


# --- Slowdown and wait of each dispatcher against the power cap.

CAP_FIGURES = {
    "mean wait s": ("wait_mean", count),
    "p95 wait s": ("wait_p95", count),
    "mean bounded slowdown": ("bounded_slowdown_mean", short),
    "p95 bounded slowdown": ("bounded_slowdown_p95", short),
}


class CapPoint(NamedTuple):
    """The replays of one dispatcher under one power cap.

    Parameters
    ----------
    dispatcher : str
        Its name.
    cap : float or None
        Watts; None: no cap.
    row : DispatcherRow
        The records.
    """

    dispatcher: str
    cap: float | None
    row: DispatcherRow

    def figure(self, name: str) -> float | None:
        """Return a figure of ``Metrics.as_dict``, the mean over the seeds."""
        return self.row.metric(name)


def cap_points(records: Iterable[Record]) -> list[CapPoint]:
    """Return the points of all dispatchers, of each first without a cap, then from the greatest cap to the least."""
    groups: dict[tuple[str, float | None], list[Record]] = {}
    for record in records:
        groups.setdefault((record["method"], record["replay"].get("power_cap")), []).append(record)
    points = [CapPoint(name, cap, DispatcherRow(name, members)) for (name, cap), members in groups.items()]
    names = list(dict.fromkeys(p.dispatcher for p in points))
    return sorted(points, key=lambda p: (names.index(p.dispatcher), p.cap is not None, -(p.cap or 0)))


def cap_grid(points: Sequence[CapPoint]) -> Grid:
    """Return the table: a row per dispatcher and cap, with the change against the replay without a cap."""

    def without_cap(point: CapPoint, name: str) -> float | None:
        free = next((p for p in points if p.dispatcher == point.dispatcher and p.cap is None), None)
        if free is None:
            return None
        return free.figure(name)

    def to_peak(point: CapPoint) -> str:
        peak = without_cap(point, "power_peak")
        if point.cap is None or not peak:
            return ""
        return _change(point.cap, peak)

    def changed(point: CapPoint, name: str, form: Any) -> str | None:
        value = point.figure(name)
        before = without_cap(point, name)
        if value is None or point.cap is None or not value or not before:
            return None if value is None else form(value)
        return f"{form(value)} {_change(value, before)}"

    columns = [
        Column("dispatcher", lambda p: p.dispatcher, words=True),
        Column("cap\nkW", lambda p: "none" if p.cap is None else f"{p.cap / 1000:,.6g}"),
        Column("to the\npeak", to_peak),
        Column("greatest\nkW", lambda p: p.figure("power_peak"), lambda watts: f"{watts / 1000:,.1f}"),
        *(
            Column(head.replace(" ", "\n", 1), partial(changed, name=name, form=form))
            for head, (name, form) in CAP_FIGURES.items()
        ),
        Column("verified", lambda p: Styled(p.row.verdict.value, "")),
    ]
    meaning = (
        "to the peak: the cap against the greatest power of the same dispatcher without a cap; greatest: of the replay; "
        "percentages behind figures: change against the replay without a cap."
    )
    return Grid.of("wait and slowdown against the power cap", columns, points, meaning)


def _change(value: float, before: float) -> str:
    return f"{100 * (value / before - 1):+.1f}%"
