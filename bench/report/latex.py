"""The tables and figures of a report for a paper: LaTeX tables (booktabs), PDF figures, a CSV file behind each."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ...instances.files.writing import write_whole
from ..errors import WrongUse
from ..plots.svg import COLOURS, GREY, LINES, require_matplotlib, styled

SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
PROBLEMS = ("problem", "kind", "limit s", "best", "bound", "best known")
INCHES = (3.4, 2.4)  # a column of a paper
Cell = str | float | int | None


def write_latex(folder: Path, content: Mapping[str, Any]) -> list[Path]:
    """Write the tables and figures of a report.

    Parameters
    ----------
    folder
        Where they are written; it is made if it does not exist. Files of an earlier call are replaced.
    content
        See ``content.content_of``.

    Returns
    -------
    list of Path
        The files: for each problem kind ``methods-KIND`` (statistics) and ``objectives-KIND`` (median objective of each method
        on each problem) as ``.tex`` and ``.csv``, and its profiles as ``.pdf`` and ``.csv``; ``problems.tex`` and ``.csv``.

    Raises
    ------
    WrongUse
        If a file cannot be written, or matplotlib is missing.
    """
    require_matplotlib()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = _table(folder, "problems", PROBLEMS, content["problems"])
        for kind in content["kinds"]:
            made += _table(folder, f"methods-{kind['name']}", kind["heads"], kind["rows"])
            made += _table(folder, f"objectives-{kind['name']}", *objectives(content, kind["name"]))
            for chart in kind["curves"]:
                made += _figure(folder, f"{_file_name(chart['title'])}-{kind['name']}", chart)
    except OSError as e:
        raise WrongUse(f"--latex {folder}: cannot be written ({e.strerror})") from e
    return made


def objectives(content: Mapping[str, Any], kind: str) -> tuple[list[str], list[list[Cell]]]:
    """Return the heads and rows of a table with the median objective over the seeds of each method on each problem.

    None unless every run has a verified schedule.
    """
    found: dict[tuple[int, int], list[float | None]] = {}
    for problem, method, _, _, objective, *_ in content["runs"]:
        found.setdefault((problem, method), []).append(objective)
    rows = [k for k, p in enumerate(content["problems"]) if p[1] == kind]
    columns = [m for m in range(len(content["methods"])) if any((k, m) in found for k in rows)]
    table = [[content["problems"][k][0], *(_median(found.get((k, m), [])) for m in columns)] for k in rows]
    return ["problem", *(content["methods"][m] for m in columns)], table


def _median(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return median(known) if known and len(known) == len(values) else None


def table_of(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    r"""Return a table in the form of the package booktabs; the first column is text.

    Examples
    --------
    >>> print(table_of(["method", "gap %"], [["cpsat:counts_1", 0.123456], ["lns", None]]))
    \begin{tabular}{lr}
    \toprule
    method & gap \% \\
    \midrule
    cpsat:counts\_1 & 0.1235 \\
    lns & -- \\
    \bottomrule
    \end{tabular}
    """
    lines = [" & ".join(map(escaped, heads)), *(" & ".join(map(shown, row)) for row in rows)]
    body = [line + r" \\" for line in lines]
    columns = "l" + "r" * (len(heads) - 1)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            body[0],
            r"\midrule",
            *body[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def escaped(text: str) -> str:
    """Return a text with the characters that LaTeX takes for commands written as text."""
    return "".join(SPECIAL.get(c, c) for c in text)


def shown(value: Cell) -> str:
    """Return a cell: texts escaped, numbers with four digits, integers with all, two hyphens (a dash) if unknown."""
    if value is None:
        return "--"
    if isinstance(value, str):
        return escaped(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def _table(folder: Path, name: str, heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[Path]:
    tex = folder / f"{name}.tex"
    write_whole(tex, table_of(heads, rows) + "\n")
    return [tex, _csv(folder, name, heads, rows)]


def _csv(folder: Path, name: str, heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Path:
    text, path = io.StringIO(), folder / f"{name}.csv"
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    write_whole(path, text.getvalue())
    return path


def _figure(folder: Path, name: str, chart: Mapping[str, Any]) -> list[Path]:
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    picture, pdf = io.BytesIO(), folder / f"{name}.pdf"
    with styled(name):
        figure = Figure(figsize=INCHES, layout="constrained")
        FigureCanvasPdf(figure)
        _draw(figure.subplots(), chart)
        figure.savefig(picture, format="pdf", metadata=dict.fromkeys(("Creator", "Producer", "CreationDate")))
    write_whole(pdf, picture.getvalue())
    rows = [(c["name"], x, y) for c in chart["curves"] for x, y in zip(c["x"], c["y"], strict=True)]
    return [pdf, _csv(folder, name, ("method", chart["label"], "share"), rows)]


def _draw(ax: Any, chart: Mapping[str, Any]) -> None:
    """Draw step functions; a logarithmic axis where all places of steps are positive."""
    last = max((c["x"][-1] for c in chart["curves"] if c["x"]), default=1)
    for k, c in enumerate(chart["curves"]):
        style = {"color": COLOURS[k % len(COLOURS)], "linestyle": LINES[k % len(LINES)], "linewidth": 1.1}
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
