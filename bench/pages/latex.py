"""The tables and figures of a report for a paper: LaTeX tables (booktabs), PDF figures, a CSV file behind each."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...instances.files.writing import to_csv, write_whole
from ...models.words import how_many
from ..errors import WrongUse
from ..grid import latex_text, number
from ..statistics.measures import ProfileChart
from .figures import draw_chart
from .report import HATCHED, TALL, report_grids
from .svg import require_matplotlib, styled

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
    grey = dict.fromkeys(label for _, _, label, *_ in drawn["chart"]["closed"])
    what += f" Grey: {', '.join(grey)}." if grey else ""
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


# --- A Gantt chart of a report as a picture in TikZ, for papers: jobs, the unit of the axis, the end of the schedule.


WIDE = 10.0  # cm of the axis
LINE = 0.42  # cm of a row
HIGHEST = 16.0  # cm of all rows
MOST_BOXES = 1500  # rectangles of a picture; with more, LaTeX takes minutes
MOMENT = 0.1  # cm: half the width of a diamond
LETTER, LEAST = 0.13, 0.26  # cm: the width of a letter of a label, the height of a rectangle that has one
TICKS = 8  # about as many as the axis has
MOST_NAMES = 12  # of a legend
STEP = re.compile(r"job (\d+) step (\d+)\b", re.ASCII)  # of shops that are read from files
LIBRARIES = r"\usetikzlibrary{patterns}"


def is_drawn(chart: Mapping[str, Any]) -> bool:
    """Return whether a chart is small enough for a picture."""
    return sum(len(numbers) // 5 for _, _, numbers in chart["boxes"]) <= MOST_BOXES


def tikz(chart: Mapping[str, Any], end: str = "end") -> str:
    r"""Return the picture of a chart.

    Parameters
    ----------
    chart
        A chart as ``gantt.packed`` returns it.
    end
        The word at the line where the last rectangle ends, such as "makespan".

    Returns
    -------
    str
        An environment ``tikzpicture``; the document needs ``tikz`` and ``LIBRARIES``.

    Examples
    --------
    >>> from schedlab.bench.pages.report import packed
    >>> from schedlab.models.gantt import Bar, Gantt, Row
    >>> picture = tikz(packed(Gantt((Row("saw"),), (Bar(0, 0, 4, "a"), Bar(0, 4, 9, "b")), ("",), seconds=False)))
    >>> [line for line in picture.splitlines() if "end 9" in line]
    ['\\draw[dashed] (10,0) -- (10,-0.5) node[above left, at start, font=\\scriptsize] {end 9};']
    """
    return "\n".join([r"\begin{tikzpicture}", *_lines(chart, end), r"\end{tikzpicture}"])


def rows_of_boxes(chart: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return a row for each rectangle of a chart: row, label, group, start, end."""
    named = chart["rows"]
    rows = []
    for group, _, numbers in chart["boxes"]:
        name = chart["groups"][group][0] if group < len(chart["groups"]) else ""
        for time, length, top, height, label in _fives(numbers):
            middle = top + height / 2
            row = min(named, key=lambda each: abs(each[0] - middle), default=(0, ""))[1]
            text = chart["labels"][label] if label >= 0 else ""
            rows.append((row, text, name, chart["start"] + time, chart["start"] + time + length))
    return sorted(rows, key=lambda row: (row[3], row[4], str(row[0]), row[1]))


def _lines(chart: Mapping[str, Any], end: str) -> Iterator[str]:
    """Yield the lines of a picture: colours, closed periods, rectangles, names of rows, axis, marks, legend."""
    high = min(HIGHEST, max(1.0, LINE * chart["lines"]) if chart["lines"] != 1 else 0.5)
    colours = chart["colours"]
    for k, colour in enumerate(colours):
        yield rf"\definecolor{{schedlab{k}}}{{HTML}}{{{colour.removeprefix('#').upper()}}}"
    yield from _closed(chart, high, whole=True)
    for group, opacity, numbers in chart["boxes"]:
        style = _style(group, opacity)
        for box in _fives(numbers):
            yield from _box(chart, high, style, box)
    yield from _closed(chart, high, whole=False)
    for at, label in chart["rows"]:
        yield rf"\node[left, font=\scriptsize] at (0,{_y(high, at)}) {{{latex_text(str(label))}}};"
    yield from _axis(chart, high, end)
    yield from _legend(chart, high)


def _closed(chart: Mapping[str, Any], high: float, whole: bool) -> Iterator[str]:
    """Yield the closed periods of all rows, behind the rectangles, or those of single rows, over them."""
    style = "black!8" if whole else "black, opacity=0.25"
    for time, length, _, top, height in chart["closed"]:
        if (height == TALL) == whole:
            upper = f"({_x(chart, time)},{_y(high, top)})"
            yield rf"\fill[{style}] {upper} rectangle ({_x(chart, time + length)},{_y(high, top + height)});"


def _box(chart: Mapping[str, Any], high: float, style: str, box: Sequence[int]) -> Iterator[str]:
    """Yield a rectangle, and its label if there is room; a moment is a diamond."""
    time, length, top, height, label = box
    left, right = _x(chart, time), _x(chart, time + length)
    upper, lower = _y(high, top), _y(high, top + height)
    if not length:
        middle_of_row = _short((float(upper) + float(lower)) / 2)
        yield rf"\filldraw[{style}] ({left},{middle_of_row}) +(0,{MOMENT}) -- +({MOMENT},0) -- +(0,-{MOMENT}) -- +(-{MOMENT},0) -- cycle;"
        return
    yield rf"\filldraw[{style}] ({left},{upper}) rectangle ({right},{lower});"
    text = _fitting(chart["labels"][label] if label >= 0 else "", float(right) - float(left))
    if text and float(upper) - float(lower) >= LEAST:
        middle = _short((float(left) + float(right)) / 2), _short((float(upper) + float(lower)) / 2)
        yield rf"\node[font=\tiny] at ({middle[0]},{middle[1]}) {{{latex_text(text)}}};"


def _fitting(label: str, wide: float) -> str:
    """Return a label if it fits into so many cm, else ""; of a shop's step, in every rectangle alike, the numbers of job and step.

    >>> _fitting("weld", 3.0), _fitting("job 3 step 12 (fast)", 3.0), _fitting("job 3 step 12", 0.4)
    ('weld', '3.12', '')
    """
    step = STEP.match(label)
    text = ".".join(step.groups()) if step else label
    return text if LETTER * len(text) <= wide else ""


def has_steps(chart: Mapping[str, Any]) -> bool:
    """Return whether rectangles are steps of the jobs of a shop, which have the numbers of both alone as label."""
    return any(STEP.match(label) for label in chart["labels"])


def _style(group: int, opacity: float) -> str:
    """Return the style of a rectangle; what cannot be changed is hatched."""
    if opacity == HATCHED:
        return rf"draw=black!60, very thin, pattern=north east lines, pattern color=schedlab{group}"
    return rf"draw=black!60, very thin, fill=schedlab{group}!{round(80 * opacity)}"


def _axis(chart: Mapping[str, Any], high: float, end: str) -> Iterator[str]:
    """Yield the axis with its ticks and its unit, and lines at the marks and at the end of the last rectangle."""
    name, unit, zero = chart["unit"]
    low = _short(-high)
    yield rf"\draw (0,0) rectangle ({WIDE:g},{low});"
    first, last = ((chart["start"] + t - zero) / unit for t in (0, chart["length"]))
    step = _step(last - first)
    tick = math.ceil(first / step - 1e-9) * step
    while tick <= last + 1e-9:
        x = _short(WIDE * (tick - first) / max(last - first, 1e-9))
        yield rf"\draw ({x},{low}) -- ++(0,-0.08) node[below, font=\scriptsize] {{{number(round(tick, 9))}}};"
        tick += step
    yield rf"\node[below, font=\scriptsize] at ({WIDE / 2:g},{_short(-high - 0.4)}) {{time{f' ({name})' if name else ''}}};"
    for time, label in chart["marks"]:
        yield rf"\draw[red] ({_x(chart, time)},0) -- ({_x(chart, time)},{low}) node[above, at start, font=\scriptsize] {{{latex_text(label)}}};"
    ends = [time + length for _, _, numbers in chart["boxes"] for time, length, *_ in _fives(numbers)]
    if ends:
        at = _x(chart, max(ends))
        text = number(round((chart["start"] + max(ends) - zero) / unit, 2))
        yield rf"\draw[dashed] ({at},0) -- ({at},{low}) node[above left, at start, font=\scriptsize] {{{latex_text(end)} {text}}};"


def _legend(chart: Mapping[str, Any], high: float) -> Iterator[str]:
    """Yield the names of the groups below the axis; of many the first ones."""
    names = [(k, name) for k, (name, _) in enumerate(chart["groups"]) if name]
    shown = names[:MOST_NAMES]
    if len(names) < 2:
        return
    parts = [rf"\textcolor{{schedlab{k}}}{{\rule{{1ex}}{{1ex}}}}\,{latex_text(name)}" for k, name in shown]
    parts += [f"and {len(names) - len(shown)} more"] if len(names) > len(shown) else []
    text = r"\quad ".join(parts)
    at = f"{WIDE / 2:g},{_short(-high - 0.85)}"
    yield rf"\node[below, font=\scriptsize, text width={WIDE:g}cm, align=center] at ({at}) {{{text}}};"


def _step(span: float) -> float:
    """Return a round distance of about an eighth of a span.

    >>> _step(55), _step(1.2), _step(0.0)
    (10, 0.2, 1)
    """
    if span <= 0:
        return 1
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    step = next(power * k for k in (1, 2, 5, 10) if power * k * TICKS >= span)
    return int(step) if step >= 1 else step


def _fives(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[k : k + 5] for k in range(0, len(numbers), 5))


def _x(chart: Mapping[str, Any], time: int) -> str:
    return _short(WIDE * time / max(chart["length"], 1))


def _y(high: float, position: float) -> str:
    return _short(-high * position / TALL)


def _short(value: float) -> str:
    """Return a coordinate in cm, to hundredths of a millimetre.

    >>> _short(3.14159), _short(-0.0), _short(11.0)
    ('3.142', '0', '11')
    """
    return re.sub(r"\.?0+$", "", f"{value:.3f}").replace("-0", "0") if abs(value) < 0.0005 else f"{round(value, 3):g}"
