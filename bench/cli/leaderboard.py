"""``bench leaderboard``: several logs are replayed under several dispatchers, which are ranked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ...backends import UnknownName
from ...instances.files.writing import to_csv, write_whole
from ...models.words import how_many
from ..errors import WrongUse, writing
from ..grid import DIM
from ..pages import Section, rendered
from ..processes import cores as number_of_cores
from ..records.record import failed
from ..replays.carry_out import prepared
from ..replays.settings import RESULTS, RUNS, SETTINGS
from ..runs.selection import RunRequest, parse_seeds
from ..runs.supervision import perform
from ..runs.task import Recording, RunTask
from ..tables.leaderboard import FIGURES, Standing, classes_grid, log_grid, ranking_grid, rows_of, standings
from ..terminal import console_for
from .options import Drop, First, with_options

HELP = """Rank dispatchers over logs.

Each log or instance is replayed under each dispatcher, and every start is checked, as by bench simulate. Printed are the
mean rank over the logs and, for each log, mean and 95th percentile of the bounded slowdown and of the wait, fairness over
the users, and the time of a decision. Intervals are from a bootstrap over weeks (days of short logs), the same for all
dispatchers, as waits of jobs near in time depend on each other.

The same command again runs only what has no valid record.

Exit code 1 if a replay failed.

Example: bench leaderboard eurora_99 eurora_700 --dispatchers fcfs,easy,conservative,easy++

Example: bench leaderboard january.sacct february.sacct --zone Europe/Rome --dispatchers easy,plan@lns --rank-by wait-p95 --page board.html
"""
OF_LOGS = (
    "site",
    "on_unknown",
    "cancelled",
    "format",
    "nodes",
    "cores",
    "memory",
    "per_node",
    "zone",
    "columns",
    "window",
    "queue_from",
    "partition",
)
OF_REPLAYS = ("predictor", "allocator", "kill", "bsld_floor", "decision_time", "deterministic")


@with_options(SETTINGS, names=(*OF_LOGS, *OF_REPLAYS))
def leaderboard(
    *,
    logs: Annotated[list[str], typer.Argument(help="logs, folders with instance.toml, or names of shipped instances")],
    dispatchers: Annotated[
        list[str], typer.Option(help="dispatchers, separated by commas, as of bench simulate", rich_help_panel=RUNS)
    ],
    rank_by: Annotated[
        str, typer.Option(help=f"the figure by which they are ranked: {', '.join(FIGURES)}", rich_help_panel=RESULTS)
    ] = "slowdown",
    page: Annotated[Path | None, typer.Option(help="HTML file to write", rich_help_panel=RESULTS)] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            help="CSV file to write: a row for each log and dispatcher, with intervals", rich_help_panel=RESULTS
        ),
    ] = None,
    first: First = None,
    drop_impossible: Drop = False,
    seeds: Annotated[
        str, typer.Option(help="random seeds: a list such as 1,2,3 or a range such as 1-5", rich_help_panel=RUNS)
    ] = "1",
    time_limit: Annotated[float, typer.Option(min=0.001, help="seconds for a whole replay", rich_help_panel=RUNS)] = (
        3600.0
    ),
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="number of replays at the same time; default: the cores", rich_help_panel=RUNS),
    ] = None,
    out: Annotated[Path, typer.Option(help="folder of the records", rich_help_panel=RESULTS)] = Path(
        "results/leaderboard"
    ),
    recording: Recording,
    **settings: Any,
) -> None:
    """Rank dispatchers over logs: the command; its help text is ``HELP``."""
    from ..replays.request import replay_request
    from ..runs.view import View

    if rank_by not in FIGURES:
        raise UnknownName("figure", rank_by, list(FIGURES))
    check_files({"--page": page, "--csv": csv})
    view = View(first=first, durations="runtime")
    requests = [replay_request(log, dispatchers, view, settings) for log in logs]
    limits = RunRequest(
        time_limit=time_limit,
        seeds=parse_seeds(seeds),
        jobs=jobs or number_of_cores(),
        drop_impossible=drop_impossible,
    )
    task = RunTask((), limits, out, recording)
    tables = console_for(stderr=recording.as_json)
    notes = console_for(stderr=True)
    plans = [prepared(request, task, notes).plan for request in requests]
    names = [runs[0].instance for _, runs in plans]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise WrongUse(f"two logs have the name {twice}; rename the file of one of them")
    records = perform(plans, task, tables, notes)
    if isinstance(records, int):
        raise typer.Exit(records)
    listed = standings(records, out)
    print_tables(listed, rank_by, tables, recording.explain)
    write_files(listed, rank_by, page, csv, notes)
    notes.print(f"The records are in {out}. To check them: bench verify {out}", soft_wrap=True)
    raise typer.Exit(1 if any(map(failed, records)) else 0)


def check_files(files: dict[str, Path | None]) -> None:
    """Raise WrongUse if a file cannot be written as its folder is missing."""
    for option, path in files.items():
        if path is not None and not path.parent.is_dir():
            raise WrongUse(f"{option} {path}: cannot be written (there is no folder {path.parent})")


def print_tables(listed: Sequence[Standing], rank_by: str, console: Console, explain: bool) -> None:
    """Print the table of each log, and then that of the ranks."""
    for log in dict.fromkeys(s.log for s in listed):
        grid = log_grid(log, listed)
        grid.show(console, explain)
        for note in grid.notes:
            console.print(note, style=DIM, soft_wrap=True)
        classes = classes_grid(log, listed)
        if len(classes.columns) > 2:
            console.print(classes)
        console.print()
    ranking_grid(listed, FIGURES[rank_by]).show(console, explain)


def write_files(listed: Sequence[Standing], rank_by: str, page: Path | None, csv: Path | None, notes: Console) -> None:
    """Write the page and the table that were requested."""
    if csv is not None:
        rows = rows_of(listed)
        with writing(csv, "--csv"):
            write_whole(csv, to_csv(list(rows[0]), [list(row.values()) for row in rows]))
        notes.print(f"{csv}: {how_many(len(rows), 'row')}", soft_wrap=True)
    if page is None:
        return
    logs = list(dict.fromkeys(s.log for s in listed))
    ranks = ranking_grid(listed, FIGURES[rank_by])
    sections = [Section(ranks.title, table=ranks, notes=(ranks.meaning,))]
    for log in logs:
        grid = log_grid(log, listed)
        sections.append(Section(log, grids=(grid, classes_grid(log, listed)), notes=tuple(grid.notes)))
    html = [section.html() for section in sections]
    with writing(page, "--page"):
        write_whole(page, rendered("plot.html", title="leaderboard", what=ranks.title, sections=html))
    notes.print(f"{page}: {how_many(len(logs), 'log')}", soft_wrap=True)
