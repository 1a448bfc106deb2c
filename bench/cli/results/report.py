"""``bench report``: a folder of records as one HTML page without network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import WrongUse
from ...terminal import say
from .options import Folder, Methods


def report(
    results: Folder,
    out: Annotated[Path | None, typer.Option(help="HTML file to write; default: report.html in the folder")] = None,
    methods: Methods = None,
    latex: Annotated[
        Path | None,
        typer.Option(
            help="folder for LaTeX tables (booktabs), PDF figures, and a CSV file behind each; needs matplotlib"
        ),
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(help="Parquet file to write: a row per run with its measures; needs pyarrow")
    ] = None,
) -> None:
    """Write a report as one HTML page that needs no network.

    Runs of methods have sortable tables of methods, problems and runs, performance and data profiles, the objective over time on each
    problem with the Gantt chart of its best run; replays have the tables and pictures of bench plot. Then follow the machines and
    versions, and the commands that run everything again. With
    --latex, its tables and profiles are also written for a paper, with --parquet its runs for other programs.

    Example: bench report results/classic --out report.html

    Example: bench report results/classic --latex paper/figures --parquet runs.parquet
    """
    from ...plots.page import replay_sections
    from ...report.content import content_of
    from ...report.latex import write_latex
    from ...report.page import write_report
    from ...tables.runs import write_parquet
    from .reading import known_of, records_with

    path = out or results / "report.html"
    if path.suffix.lower() not in (".html", ".htm"):
        raise WrongUse(f"--out {path}: the report is a page; expected a name that ends in .html")
    if not path.parent.is_dir():
        raise WrongUse(f"--out {path}: cannot be written (there is no folder {path.parent})")
    records, known = records_with(results, methods), known_of(results)
    if parquet is not None:  # first: a missing library ends the command before the page is made
        say(f"{parquet}: {write_parquet(parquet, records, known):,} runs")
    content = content_of(records, known, results.resolve().name)
    if latex is not None and not content["problems"]:
        raise WrongUse(f"--latex: its tables are about runs of methods, and {results} has none; leave it out")
    replays = [r for r in records if r["replay"] is not None]
    size = write_report(path, content, replay_sections(results, replays))
    counts = [(len(records) - len(replays), "runs"), (len(replays), "replays")]
    say(f"{path}: {', '.join(f'{n:,} {what}' for n, what in counts if n)}, {size / 1e6:.2f} MB")
    if latex is not None:
        say(f"{latex}: {len(write_latex(latex, content))} files")
