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
) -> None:
    """Write a report as one HTML page that needs no network.

    It has sortable tables of methods, problems and runs, performance and data profiles, the objective over time on each
    problem, the machines and versions, and the commands that run everything again. With --latex, its tables and profiles
    are also written for a paper.

    Example: bench report results/classic --out report.html

    Example: bench report results/classic --latex paper/figures
    """
    from ...report.content import content_of
    from ...report.latex import write_latex
    from ...report.page import write_report
    from .reading import known_of, records_with

    path = out or results / "report.html"
    if not path.parent.is_dir():
        raise WrongUse(f"--out {path}: cannot be written (there is no folder {path.parent})")
    records = records_with(results, methods)
    content = content_of(records, known_of(results), results.resolve().name)
    size = write_report(path, content)
    say(f"{path}: {len(records):,} runs, {size / 1e6:.2f} MB")
    if latex is not None:
        say(f"{latex}: {len(write_latex(latex, content))} files")
