"""The tables and figures of a report for a paper: LaTeX tables (booktabs), PDF figures, a CSV file behind each."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...instances.files.writing import to_csv, write_whole
from ..errors import WrongUse
from ..grid import latex_text
from ..plots.svg import GREY, curve_style, require_matplotlib, styled
from .page import report_grids

INCHES = (3.4, 2.4)  # a column of a paper
WHOLE = "report.tex"  # the document with all tables and figures


def write_latex(folder: Path, content: Mapping[str, Any]) -> list[Path]:
    """Write the tables and figures of a report.

    Parameters
    ----------
    folder
        Where they are written; it is made if it does not exist. Files of an earlier call are replaced.
    content
        See ``page.content_of``.

    Returns
    -------
    list of Path
        The files: each table of ``page.report_grids`` as ``.tex`` and ``.csv``, the profiles of each problem kind as ``.pdf`` and
        ``.csv``, and ``report.tex``: a document with all of them, the notes, the machines and the commands of the page.

    Raises
    ------
    WrongUse
        If a file cannot be written, or matplotlib is missing.
    """
    require_matplotlib()
    grids = report_grids(content)
    files: dict[str, str | bytes] = {f"{name}.tex": grid.as_latex() + "\n" for name, grid in grids.items()}
    files |= {f"{name}.csv": grid.as_csv() for name, grid in grids.items()}
    body = [grid.as_latex_float(rf"\input{{{name}}}") for name, grid in grids.items()]
    for kind in content["kinds"]:
        for chart in kind["curves"]:
            name = f"{_file_name(chart['title'])}-{kind['name']}"
            points = [(c["name"], x, y) for c in chart["curves"] for x, y in zip(c["x"], c["y"], strict=True)]
            files |= {
                f"{name}.pdf": _figure(name, chart),
                f"{name}.csv": to_csv(("method", chart["label"], "share"), points),
            }
            body.append(_floating(name, f"{chart['title']}, {kind['name']} problems"))
    files[WHOLE] = _document(content, body)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_whole(folder / name, text)
    except OSError as e:
        raise WrongUse(f"--latex {folder}: cannot be written ({e.strerror})") from e
    return [folder / name for name in files]


def _floating(name: str, caption: str) -> str:
    picture = rf"\includegraphics{{{name}.pdf}}"
    return "\n".join(
        [r"\begin{figure}", r"\centering", picture, rf"\caption{{{latex_text(caption)}}}", r"\end{figure}"]
    )


def _document(content: Mapping[str, Any], body: list[str]) -> str:
    """Return a document with the tables and figures, and what the page says in words."""
    head = [
        r"\documentclass{article}",
        r"\usepackage{booktabs,graphicx}",
        r"\usepackage[T1]{fontenc}",
        r"\begin{document}",
    ]
    words = [rf"\section*{{{latex_text(content['title'])}}}", *map(latex_text, content["notes"])]
    for title, name in (("Machines and versions", "machines"), ("Commands that run it again", "commands")):
        words += [rf"\section*{{{title}}}", *(rf"\noindent {latex_text(line)}" for line in content[name])]
    return "\n\n".join(["\n".join(head), *words, *body, r"\end{document}"]) + "\n"


def _figure(name: str, chart: Mapping[str, Any]) -> bytes:
    """Return a profile as PDF."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    picture = io.BytesIO()
    with styled(name):
        figure = Figure(figsize=INCHES, layout="constrained")
        FigureCanvasPdf(figure)
        _draw(figure.subplots(), chart)
        figure.savefig(picture, format="pdf", metadata=dict.fromkeys(("Creator", "Producer", "CreationDate")))
    return picture.getvalue()


def _draw(ax: Any, chart: Mapping[str, Any]) -> None:
    """Draw step functions; a logarithmic axis where all places of steps are positive."""
    last = max((c["x"][-1] for c in chart["curves"] if c["x"]), default=1)
    for k, c in enumerate(chart["curves"]):
        style = curve_style(k) | {"linewidth": 1.1}
        ax.step([*c["x"], last], [*c["y"], c["y"][-1] if c["y"] else 0], where="post", label=c["name"], **style)
    if all(x > 0 for c in chart["curves"] for x in c["x"]):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel(chart["label"])
    ax.set_ylabel("share of problems")
    ax.grid(color=GREY, alpha=0.25, linewidth=0.5)
    ax.legend(frameon=False, fontsize=6)


def _file_name(title: str) -> str:
    """Return a title as the name of a file: ``performance-profile-seconds-to-the-proof``."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
