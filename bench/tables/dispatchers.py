"""The table of the dispatchers on one workload, and what is printed below it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ...backends.gaps import relative_gap
from ..grid import BAD, DIM, MARK, Column, Grid, compact, milliseconds, number, percent, ratio, seconds, short
from ..records.store import Record
from .methods import trouble
from .replay_figures import (
    BOUNDED,
    bookings,
    changed_jobs,
    cycles,
    evictor_grid,
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
from .replay_results import RECORDED, DispatcherRow, ReplayResults

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
    dispatchers_grid(title, results, shown).show(console, explain, f"{MARK}: the best of its column.")
    if left_out:
        names = ", ".join(c.name for c in left_out)
        console.print(Text(f"Not shown, as the terminal is too narrow: {names} (bench plot shows them).", style=DIM))
    console.print(*summary(results), sep="\n", end="\n" if summary(results) else "")
    for grid in further_grids(results):
        if grid.rows:
            console.print()
            grid.show(console, explain)
    console.print()
    return [results.contradiction] if results.contradiction else []


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


def dispatcher_columns(results: ReplayResults) -> list[Column]:
    """Return the columns for some results; regret needs an offline schedule, the gap a bound."""
    weighted = results.objective_name == "weighted-wait"
    wqt = "WQT: sum over the jobs of wait / expected waiting time (ewt) of the queue"
    resource = next((r for r in ("cores", *used_resources(results)) if r in used_resources(results)), "cores")
    columns = [
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
    unit = "watt" if resource == "power" else resource.removesuffix("s")
    over = f"over desired: use above the desired profile, summed over the nodes, in {unit}-hours"
    unlike = f"dissimilarity: 0 if the {resource} in use are the desired ones times a constant, 1 if nothing is in use"
    return [
        metric("over\ndesired", f"desired_over_{resource}", meaning=over, best=min),
        metric("dissim\xad\nilarity", f"{WISHED}{resource}", ratio, unlike, best=min),
    ]


def _objective(row: DispatcherRow, results: ReplayResults) -> float | None:
    """Return the objective; if it is not known (the recorded schedule, jobs that left), the metric that is the same."""
    return row.metric("WQT") if row.objective is None and results.objective_name == "weighted-wait" else row.objective


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
    return (value - best) / best if best else 0.0


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
    calls = row.metric("decisions_solver") if row.records else None
    if calls is None:
        return ""
    if not calls:
        return "" if row.records[0]["solver"] == "schedlab" else f"{row.name}: no call used the solver"
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
    first = f"; jobs put first against starvation: {compact(urgent)} times" if urgent else ""
    return f"{row.name}: of {compact(calls)} calls that used the solver, " + ", ".join(parts) + first
