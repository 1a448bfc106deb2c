"""The tables of groups of jobs: waits and slowdowns per queue, user, partition and class, of each dispatcher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from ...backends import UnknownName
from ...simulation.groups import CLASSES, GROUPINGS, LARGEST
from ..grid import DIM, Column, Grid, count, mean, percent, short
from ..records.store import Record
from .replay_results import RECORDED, DispatcherRow, ReplayResults, extract_replays

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
CORE_HOURS_MEANING = " core-hours: cores of the job times its runtime."
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


def _figure(head: str, key: str, form: Any = count, spare: int = 0) -> Column:
    return Column(head, lambda line: line.figures.get(key), form, spare=spare)


def _spread(head: str, name: str, form: Any) -> list[Column]:
    parts = ("mean", "std", "median", "p95", "p99", "max")
    return [
        _figure(f"{head if k == 0 else ''}\n{part}", f"{name}_{part}", form, spare)
        for k, (part, spare) in enumerate(zip(parts, SPARE[name], strict=True))
    ]


COLUMNS = (
    *_spread("wait", "wait", count),
    _figure("\nshare", "wait_share", percent, 4),
    *_spread("slowdown", "slowdown", short),
    *_spread("bsld", "bounded_slowdown", short),
    _figure("exp/\nrun", "expected_ratio", short, 5),
)
LATE_COLUMNS = (_figure("late\nstarts", "late_starts"), _figure("\nshare", "late_share", percent, 2))


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
        names += CLASSES if name == CLASS else [name]
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
    lines = []
    for same in zip(*(groups for _, groups in known), strict=True):
        name = str(same[0]["name"])
        of_group = [(row.name, figures) for (row, _), figures in zip(known, same, strict=True)]
        of_group += [(RECORDED, in_log[name])] if name in in_log else []
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
    meaning = MEANING.format(n=LARGEST, floor=floor) + (STARTED_MEANING if started else "")
    meaning += (CORE_HOURS_MEANING if by == "core-hours" else "") + (LATE_MEANING if late else "")
    return Grid.of(title, columns, lines, meaning)


def _short_name(name: str) -> str:
    name = name or NAMELESS
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def group_grids(results: ReplayResults) -> list[Grid]:
    """Return the tables of all properties with more than one group."""
    grids = [groups_grid(results, by, f"by {by}") for by in GROUPINGS]
    return [grid for grid in grids if len({row[0] for row in grid.rows if row[0]}) > 1]


def _groups(row: DispatcherRow, by: str) -> list[dict[str, Any]]:
    """Return the figures of the largest groups and of the others, means over the seeds; [] if there are none."""
    tables = [(r.get("groups") or {}).get(by) for r in row.records] if row.whole else [None]
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
            figures[key] = None if None in values else mean(values)
    return figures
