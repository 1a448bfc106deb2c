"""Further tables of replays: groups of jobs, energy accounts, slowdown against a power cap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...backends import UnknownName
from ...simulation.groups import CLASSES, GROUPINGS, LARGEST
from ..records.store import Record
from ..show.instances import grid
from .methods import legend
from .replay_figures import TextGrid, Writer
from .replays import DispatcherRow, ReplayResults, count, extract_replays, share, short

# --- The tables of groups of jobs: waits and slowdowns per queue, user, partition and class, of each dispatcher.

CLASS = "class"
NAMELESS = "(none)"
HEADS = ("jobs", "dispatcher")
LONGEST = 24  # characters of the name of a group
MEANING = (
    "The largest groups by number of jobs; others: all jobs outside the {n} largest groups. wait: time from submission to start, s; "
    "share: sum of the waits of the group / sum of all waits; slowdown: (wait + duration) / duration; bsld: bounded slowdown, "
    "max(1, (wait + duration) / max(duration, {floor:g} s)); std: standard deviation; p95, p99: percentiles with linear "
    "interpolation; exp/run: mean of expected duration / duration."
)


class GroupColumn(NamedTuple):
    """A column: heading, key of the figure, its text, and what is left out first (the greatest number) if space is short."""

    head: str
    key: str
    written: Writer
    spare: int = 0


COLUMNS = (
    GroupColumn("wait\nmean", "wait_mean", count),
    GroupColumn("\nstd", "wait_std", count, 3),
    GroupColumn("\nmedian", "wait_median", count, 6),
    GroupColumn("\np95", "wait_p95", count, 1),
    GroupColumn("\np99", "wait_p99", count, 9),
    GroupColumn("\nmax", "wait_max", count),
    GroupColumn("\nshare", "wait_share", share, 4),
    GroupColumn("slowdown\nmean", "slowdown_mean", short),
    GroupColumn("\nstd", "slowdown_std", short, 10),
    GroupColumn("\nmedian", "slowdown_median", short, 12),
    GroupColumn("\np95", "slowdown_p95", short, 7),
    GroupColumn("\np99", "slowdown_p99", short, 13),
    GroupColumn("\nmax", "slowdown_max", short, 14),
    GroupColumn("bsld\nmean", "bounded_slowdown_mean", short),
    GroupColumn("\nstd", "bounded_slowdown_std", short, 11),
    GroupColumn("\nmedian", "bounded_slowdown_median", short, 15),
    GroupColumn("\np95", "bounded_slowdown_p95", short, 2),
    GroupColumn("\np99", "bounded_slowdown_p99", short, 8),
    GroupColumn("\nmax", "bounded_slowdown_max", short, 16),
    GroupColumn("exp/\nrun", "expected_ratio", short, 5),
)
LATE_COLUMNS = (GroupColumn("late\nstarts", "late_starts", count), GroupColumn("\nshare", "late_share", share, 2))
LATE_MEANING = " late starts: jobs that started after their latest start, and their share of the jobs that have one."


def parse_by(texts: Iterable[str]) -> list[str]:
    """Return the properties of jobs that ``--by`` names; ``class`` means the classes of units and of unit-hours.

    Raises UnknownName.

    Examples
    --------
    >>> parse_by(["user,class"])
    ['user', 'units', 'unit-hours']
    """
    found: list[str] = []
    for name in (part.strip() for text in texts for part in text.split(",") if part.strip()):
        if name not in (*GROUPINGS, CLASS):
            raise UnknownName("property of jobs", name, [*GROUPINGS, CLASS])
        found += CLASSES if name == CLASS else [name]
    return list(dict.fromkeys(found))


def show_groups(console: Console, records: Iterable[Record], by: Sequence[str], explain: bool = False) -> None:
    """Print a table per property: the figures of the largest groups under each dispatcher."""
    for title, results in extract_replays(records)[0]:
        for name in by:
            grid = groups_grid(results, name, f"{title}, by {name}", console.width)
            if grid.rows:
                console.print(_drawn(grid))
                console.print(legend(grid.meaning, explain))
            else:
                console.print(Text(f"by {name}: {_why_not(results, name)}", style="dim"))
            console.print()


def _drawn(grid: TextGrid) -> Table:
    made = Table(title=grid.title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    for head in grid.heads:
        words = head in (grid.heads[0], grid.heads[2])
        made.add_column(head, justify="left" if words else "right", no_wrap=True)
    for row in grid.rows:
        made.add_row(*map(Text, row))
    return made


def _why_not(results: ReplayResults, name: str) -> str:
    if any(r.get("groups") for r in results.records):
        return f"the log does not record the {name} of its jobs"
    return "no complete replay has these figures; records of an earlier version are replaced with --again"


def groups_grid(results: ReplayResults, by: str, title: str, width: int | None = None) -> TextGrid:
    """Return the figures of the largest groups under each dispatcher, as many columns as fit into ``width`` characters.

    Parameters
    ----------
    results : ReplayResults
        The replays of one workload.
    by : str
        The property of jobs, such as ``"user"``.
    title : str
        The title of the table.
    width : int, optional
        The width in characters; None: all columns.

    Returns
    -------
    TextGrid
        A row per group and dispatcher; no rows if the records have no such groups.
    """
    members = [(row, _rows(row, by)) for row in results.rows if row.records]
    members = [(row, found) for row, found in members if found]
    floor = next((row.metric("bsld_floor") or 10.0 for row, _ in members), 10.0)
    cells: list[tuple[list[str], Mapping[str, Any]]] = []
    for k, first in enumerate(members[0][1] if members else ()):
        for n, (row, found) in enumerate(members):
            name = str(first["name"]) or NAMELESS
            name = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
            head = [name, count(first["jobs"])] if n == 0 else ["", ""]
            cells.append(([*head, row.name], found[k]))
    columns = _fitting(by, cells, width)
    rows = [[*head, *(_cell(column, values) for column in columns)] for head, values in cells]
    heads = [by, *HEADS, *(column.head for column in columns)]
    meaning = MEANING.format(n=LARGEST, floor=floor)
    return TextGrid(title, heads, rows, meaning + (LATE_MEANING if set(columns) & set(LATE_COLUMNS) else ""))


def group_grids(results: ReplayResults) -> list[TextGrid]:
    """Return the grids of all properties with more than one group, with all columns."""
    grids = [groups_grid(results, by, f"by {by}") for by in GROUPINGS]
    return [grid for grid in grids if len({row[0] for row in grid.rows if row[0]}) > 1]


def _rows(row: DispatcherRow, by: str) -> list[dict[str, Any]]:
    """Return the figures of the largest groups and of the others, means over the seeds; [] if there are none."""
    tables = [(r.get("groups") or {}).get(by) for r in row.records] if row.whole else [None]
    if not all(tables):
        return []
    seeds = [[*_listed(t["columns"]), *([t["others"]] if t["others"] else [])] for t in tables if t]
    return [_mean(same) for same in zip(*seeds, strict=True)]


def _listed(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, values, strict=True)) for values in list(zip(*columns.values(), strict=True))[:LARGEST]]


def _mean(same: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the means of the figures of one group over the seeds; None unless every seed has the figure."""
    found: dict[str, Any] = {"name": same[0]["name"]}
    for key in same[0]:
        values = [figures[key] for figures in same]
        if key != "name":
            found[key] = None if any(v is None for v in values) else fmean(values)
    return found


def _cell(column: GroupColumn, values: Mapping[str, Any]) -> str:
    value = values.get(column.key)
    return "-" if value is None else column.written(value)


def _fitting(by: str, cells: Sequence[tuple[Sequence[str], Mapping[str, Any]]], width: int | None) -> list[GroupColumn]:
    """Return the columns that fit into ``width`` characters beside the first three."""
    late = any(LATE_COLUMNS[0].key in values for _, values in cells)
    shown = [*COLUMNS, *(LATE_COLUMNS if late else ())]
    if width is None or not cells:
        return shown
    names = sum(max([len(title), *(len(head[k]) for head, _ in cells)]) + 1 for k, title in enumerate((by, *HEADS)))
    size = {
        c.key: 1 + max([*map(len, c.head.split("\n")), *(len(_cell(c, values)) for _, values in cells)]) for c in shown
    }
    while names + sum(size[c.key] for c in shown) > width and any(c.spare for c in shown):
        shown.remove(max(shown, key=lambda c: c.spare))
    return shown


# --- The table of the energy accounts of replays.

EXPLAINED = (
    "from the begin of the replay to the last end of a job. jobs, idle, boot, cooling: energy of running jobs, of cores that "
    "are on and run nothing, of nodes that boot or shut down, and of the cooling, in kWh; cost, profit: euro; CO2: kg."
)


def show_energy(console: Console, records: Sequence[Record], explain: bool) -> None:
    """Print the energy accounts of all replays that have some."""
    rows = []
    for r in records:
        if r.get("energy") is None:
            continue
        a = r["energy"]["end"]
        watts = [a[f"{what}_kwh"] for what in ("busy", "idle", "boot", "cooling")]
        wait = (r.get("metrics") or {}).get("wait_mean")
        rows.append(
            [
                r["method"],
                (r.get("replay") or {}).get("node_policy") or ("its own" if _switched(r) else "always-on"),
                *(_amount(kwh, 1) for kwh in (*watts, sum(watts))),
                _amount(a["cost"], 2),
                "-" if a["kg_co2"] is None else _amount(a["kg_co2"], 1),
                _amount(a["profit"], 2),
                "-" if wait is None else f"{wait:,.0f}",
            ]
        )
    if not rows:
        return
    heads = [
        "dispatcher",
        "nodes",
        "jobs",
        "idle",
        "boot",
        "cooling",
        "all kWh",
        "cost",
        "CO2",
        "profit",
        "mean wait s",
    ]
    table = grid(*heads)
    for row in rows:
        table.add_row(*row)
    console.print("energy of the replays", style="bold")
    console.print(table)
    if explain:
        console.print(EXPLAINED, soft_wrap=True)


def _amount(value: float, digits: int) -> str:
    """Return an amount with this many decimals, a small one with three figures.

    >>> [_amount(v, 1) for v in (1502.71, 5.26, 0.0144, -0.00228, 0.0)]
    ['1,502.7', '5.3', '0.0144', '-0.00228', '0']
    """
    return f"{value:.3g}" if abs(value) < 1 else f"{value:,.{digits}f}"


def _switched(record: Record) -> bool:
    """Return whether nodes were switched in a replay, such as by the dispatcher's own policy."""
    return (record.get("simulation") or {}).get("node_states_csv") is not None


# --- Slowdown and wait of each dispatcher against the power cap.

NATURAL = "none"
FIGURES: dict[str, tuple[str, Callable[[float], str]]] = {
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
    found: dict[tuple[str, float | None], list[Record]] = {}
    for record in records:
        found.setdefault((record["method"], record["replay"].get("power_cap")), []).append(record)
    points = [CapPoint(name, cap, DispatcherRow(name, rs)) for (name, cap), rs in found.items()]
    names = list(dict.fromkeys(p.dispatcher for p in points))
    return sorted(points, key=lambda p: (names.index(p.dispatcher), p.cap is not None, -(p.cap or 0)))


def natural_peak(points: Iterable[CapPoint], dispatcher: str) -> float | None:
    """Return the greatest power in watts of the replay of a dispatcher without a cap."""
    free = next((p for p in points if p.dispatcher == dispatcher and p.cap is None), None)
    return None if free is None else free.figure("power_peak")


def cap_grid(points: list[CapPoint]) -> TextGrid:
    """Return the table: a row per dispatcher and cap, with the change against the replay without a cap."""
    rows = []
    for p in points:
        peak, free = (
            natural_peak(points, p.dispatcher),
            next((q for q in points if q.dispatcher == p.dispatcher and q.cap is None), None),
        )
        below = "" if p.cap is None or not peak else f"{100 * (p.cap / peak - 1):+.1f}%"
        power = p.figure("power_peak")
        cells = [p.dispatcher, NATURAL if p.cap is None else f"{p.cap / 1000:,.6g}", below]
        cells.append("-" if power is None else f"{power / 1000:,.1f}")
        for name, written in FIGURES.values():
            value, before = p.figure(name), None if free is None else free.figure(name)
            text = "-" if value is None else written(value)
            changed = p.cap is not None and value is not None and before
            cells.append(f"{text} {100 * (value / before - 1):+.1f}%" if changed and value and before else text)
        rows.append([*cells, p.row.verdict.plain])
    heads = [
        "dispatcher",
        "cap\nkW",
        "to the\npeak",
        "greatest\nkW",
        *(n.replace(" ", "\n", 1) for n in FIGURES),
        "verified",
    ]
    meaning = (
        "to the peak: the cap against the greatest power of the same dispatcher without a cap; greatest: of the replay; "
        "percentages behind figures: change against the replay without a cap."
    )
    return TextGrid("wait and slowdown against the power cap", heads, rows, meaning)
