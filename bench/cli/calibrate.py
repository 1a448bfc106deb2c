"""``bench calibrate``: whether the rules of a site, as schedlab knows them, start jobs when its scheduler did."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ...instances.files.writing import to_csv, write_whole
from ...models.words import how_many
from ..errors import WrongUse, writing
from ..grid import DIM, WARNING
from ..missing_files import check_file
from ..pages import Section, rendered
from ..replays.settings import RESULTS, RUNS, SETTINGS, ReplaySettings, read_settings
from ..terminal import console_for
from .options import with_options


@with_options(SETTINGS, ("site", "on_unknown", "format", "zone", "columns"))
def calibrate(
    *,
    log: Annotated[Path, typer.Argument(help="log of the site, such as the output of sacct -D --parsable2 -o ALL")],
    replays: Annotated[
        int, typer.Option(min=1, help="free replays, which differ in what no log records", rich_help_panel=RUNS)
    ] = 8,
    seed: Annotated[int, typer.Option(min=0, help="random seed of the replays", rich_help_panel=RUNS)] = 0,
    page: Annotated[
        Path | None,
        typer.Option(help="HTML file to write, with pictures; needs matplotlib", rich_help_panel=RESULTS),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="CSV file to write: a row for each job with both waits", rich_help_panel=RESULTS)
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="print what each column means", rich_help_panel=RESULTS)
    ] = False,
    **settings: Any,
) -> None:
    """Compare what a Slurm did with what its rules would have done.

    One step: at each recorded event the recorded state is set, and asked what starts now. A wrong rule shows itself at once.

    Free: the whole log is replayed from its submissions on. One other decision moves all that follow, so several replays
    are made, and how far they are from each other is printed beside how far they are from the record.

    The verdict (exact, good, usable, not usable) says whether to believe what-if questions on this log. What the site has and
    the replay does not obey is listed.

    Example: bench calibrate jobs.txt --site slurm.conf,dump.cfg --zone Europe/Rome --page calibration.html
    """
    from ...simulation.slurm.calibration import calibrate as compare
    from ..replays.case import required_site
    from ..replays.open_log import log_on_site
    from ..show.logs import report_lines

    for option, path in {"--page": page, "--csv": csv}.items():
        if path is not None and not path.parent.is_dir():
            raise WrongUse(f"{option} {path}: cannot be written (there is no folder {path.parent})")
    check_file(log)
    values, _ = read_settings(settings)
    replay = ReplaySettings(trace=True, **values)
    described = required_site(replay, "bench calibrate")
    if described.kind != "slurm":
        raise WrongUse(f"--site: the site is one of {described.kind}; a calibration knows the rules of Slurm alone")
    notes = console_for(stderr=True)
    workload = log_on_site(log, replay, described)
    for line in (
        f"{workload.name}: {how_many(len(workload), 'job', ',')}",
        *report_lines(workload.report, len(workload)),
    ):
        notes.print(line, soft_wrap=True, markup=False, highlight=False)
    with notes.status("one step") as status:
        result = compare(
            workload,
            described,
            replays=replays,
            seed=seed,
            on_progress=lambda done, total: status.update(f"replay {done} of {total - 1}"),
        )
    show(result, console_for(), explain)
    if csv is not None:
        from ..calibration import HEADS, rows_of_jobs

        with writing(csv, "--csv"):
            write_whole(csv, to_csv(HEADS, list(rows_of_jobs(result))))
        notes.print(f"{csv}: {how_many(len(result.jobs), 'job', ',')}", soft_wrap=True)
    if page is not None:
        write_page(result, page, f"{workload.name} on {described.name}")
        notes.print(f"{page}: the verdict is {result.verdict}", soft_wrap=True)


def show(result: Any, console: Console, explain: bool) -> None:
    """Print the verdict and the tables."""
    from ..calibration import free_grid, one_step_grid, worst_grid, wrong_grid

    one_step_grid(result).show(console, explain)
    console.print()
    free_grid(result).show(console, explain)
    for grid in (wrong_grid(result), worst_grid(result)):
        if grid.rows:
            console.print()
            console.print(grid)
    console.print()
    if result.never:
        shown = ", ".join(result.never[:10])
        console.print(Text(f"{how_many(len(result.never), 'job')} started in one of record and replay alone: {shown}"))
    if result.not_modelled:
        console.print(Text(f"not modelled: {', '.join(result.not_modelled)}", style=WARNING))
    console.print(Text(f"{result}"))
    console.print(Text(result.rule, style=DIM))


def write_page(result: Any, page: Path, title: str) -> None:
    """Write the verdict, the tables and the pictures as one HTML page."""
    from ..calibration import calibration_cards, free_grid, one_step_grid, worst_grid, wrong_grid
    from ..plots.svg import require_matplotlib

    require_matplotlib()
    one = one_step_grid(result)
    free = free_grid(result)
    omitted = f"Not modelled: {', '.join(result.not_modelled)}." if result.not_modelled else ""
    sections = [
        Section(
            f"The verdict: {result.verdict}",
            lead=f"{result}. {omitted}",
            notes=(result.rule,),
            grids=(one, free),
            details="Where the rules differ from the record",
            folded=(wrong_grid(result), worst_grid(result)),
            cards=calibration_cards(result),
        )
    ]
    with writing(page, "--page"):
        text = rendered("plot.html", title=title, what="calibration", sections=[s.html() for s in sections])
        write_whole(page, text)
