"""The tables and figures of a report for a paper: LaTeX tables (booktabs), PDF figures, a CSV file behind each."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...instances.files.writing import to_csv, write_whole
from ...models.words import how_many
from ..errors import WrongUse
from ..grid import latex_text, number
from ..plots.statistics import draw_chart
from ..plots.svg import require_matplotlib, styled
from ..statistics.charts import ProfileChart
from .report import report_grids
from .tikz import LIBRARIES, MOST_BOXES, has_steps, is_drawn, rows_of_boxes, tikz

INCHES = (5.0, 2.3)  # of the width of a page, with the legend beside the axes
MOST_ROWS = 45  # of a table on a page
NEVER = (
    "Each curve begins at the axis and ends at its limit; a run that does not reach the goal is never counted as done."
)
OF_BOXES = ("row", "label", "group", "start", "end")  # of the CSV file behind a Gantt chart
WHOLE = "report.tex"  # the document with all tables and figures


def write_latex(folder: Path, content: Mapping[str, Any]) -> list[Path]:
    """Write the tables and figures of a report.

    Parameters
    ----------
    folder
        Where they are written; it is made if it does not exist. Files of an earlier call are replaced.
    content
        See ``report.content_of``.

    Returns
    -------
    list of Path
        The files: each table of ``report.report_grids`` as ``.tex`` and ``.csv``, the profiles of each problem kind as ``.pdf`` and
        ``.csv``, the Gantt chart of the best schedule of each problem as ``.tex`` (TikZ) and ``.csv``, and ``report.tex``: a document
        with all of them, the notes, the machines and the commands of the page.

    Raises
    ------
    WrongUse
        If a file cannot be written, or matplotlib is missing.
    """
    require_matplotlib()
    grids = report_grids(content)
    files: dict[str, str | bytes] = {f"{name}.tex": grid.as_latex() + "\n" for name, grid in grids.items()}
    files |= {f"{name}.csv": grid.as_csv() for name, grid in grids.items()}
    body = [
        grid.as_latex_float(rf"\input{{{name}}}")
        if len(grid.rows) <= MOST_ROWS
        else rf"\noindent {latex_text(grid.title)}: {len(grid.rows)} rows, in \texttt{{{name}.tex}} and \texttt{{{name}.csv}}."
        for name, grid in grids.items()
    ]
    for kind in content["kinds"]:
        for chart in map(ProfileChart.of_json, kind["charts"]):
            name = f"{chart.key}-{kind['name']}"
            points = [(line.name, x, y) for line in chart.lines for x, y in zip(line.x, line.y, strict=True)]
            files |= {
                f"{name}.pdf": _figure(name, chart),
                f"{name}.csv": to_csv(("method", chart.label, f"share of {chart.share.partition(',')[0]}"), points),
            }
            body.append(_floating(name, f"{chart.title} ({kind['name']}). {NEVER}"))
    for name, problem, drawn in _drawn(content):
        end = "makespan" if problem[1].startswith("project") else "end"
        files |= {
            f"{name}.tex": tikz(drawn["chart"], end) + "\n",
            f"{name}.csv": to_csv(OF_BOXES, rows_of_boxes(drawn["chart"])),
        }
        body.append(_gantt(name, problem[0], drawn))
    files[WHOLE] = _document(content, body)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_whole(folder / name, text)
    except OSError as e:
        raise WrongUse(f"--latex {folder}: cannot be written ({e.strerror})") from e
    return [folder / name for name in files]


def _drawn(content: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[Any], Mapping[str, Any]]]:
    """Yield the file name, the problem and the chart of each problem that has one of a size for a page."""
    for k, (problem, drawn) in enumerate(zip(content["problems"], content["charts"], strict=True), 1):
        if "chart" in drawn and is_drawn(drawn["chart"]):
            plain = re.sub(r"[^A-Za-z0-9]+", "-", problem[0]).strip("-")[:60]
            yield f"gantt-{k}-{plain}", problem, drawn


def _gantt(name: str, problem: str, drawn: Mapping[str, Any]) -> str:
    """Return the figure with a Gantt chart: what it shows, whose schedule it is, and its objective."""
    seed = "" if drawn["seed"] is None else f", seed {drawn['seed']}"
    title = drawn["chart"]["title"]
    what = f" Rows: {title}." if title else ""
    what += " 3.2: job 3, step 2." if has_steps(drawn["chart"]) else ""
    caption = f"{problem}: best schedule, by {drawn['method']}{seed}, objective {number(drawn['objective'])}.{what}"
    lines = [
        r"\begin{figure}",
        r"\centering",
        rf"\input{{{name}}}",
        rf"\caption{{{latex_text(caption)}}}",
        r"\end{figure}",
    ]
    return "\n".join(lines)


def _floating(name: str, caption: str) -> str:
    picture = rf"\includegraphics{{{name}.pdf}}"
    return "\n".join(
        [r"\begin{figure}", r"\centering", picture, rf"\caption{{{latex_text(caption)}}}", r"\end{figure}"]
    )


def _document(content: Mapping[str, Any], body: list[str]) -> str:
    """Return a document with the tables and figures, and what the page says in words."""
    head = [
        r"\documentclass{article}",
        r"\usepackage{booktabs,graphicx,tikz}",
        LIBRARIES,
        r"\usepackage[T1]{fontenc}",
        r"\begin{document}",
    ]
    large = sum("chart" in drawn and not is_drawn(drawn["chart"]) for drawn in content["charts"])
    notes = list(content["notes"])
    if large:
        notes.append(f"{how_many(large, 'Gantt chart')} of more than {MOST_BOXES:,} rectangles: on the page alone")
    words = [rf"\section*{{{latex_text(content['title'])}}}", *map(latex_text, notes)]
    for title, name in (("Machines and versions", "machines"), ("Commands that run it again", "commands")):
        words += [rf"\section*{{{title}}}", *(rf"\noindent {latex_text(line)}" for line in content[name])]
    return "\n\n".join(["\n".join(head), *words, *body, r"\end{document}"]) + "\n"


def _figure(name: str, chart: ProfileChart) -> bytes:
    """Return a profile as PDF."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    picture = io.BytesIO()
    with styled(name):
        figure = Figure(figsize=INCHES, layout="constrained")
        FigureCanvasPdf(figure)
        draw_chart(figure.subplots(), chart)
        figure.savefig(picture, format="pdf", metadata=dict.fromkeys(("Creator", "Producer", "CreationDate")))
    return picture.getvalue()
